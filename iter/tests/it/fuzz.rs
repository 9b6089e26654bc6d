//! Random operands, built and walked: the walk visits what a naive index loop visits, whole or in parts, and what it
//! may do in parallel does not conflict. `MONOMORPH_FUZZ_ITERS` sets how many, `MONOMORPH_FUZZ_SEED` which.

use monomorph_core::{Category, DType};
use monomorph_iter::{Config, DimCounter, Flags, TensorIter, View, build_over};
use std::collections::HashMap;
use std::sync::Mutex;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

struct Random {
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dtype: DType,
    storage: Option<usize>,
    start: i64,
}

impl Random {
    fn view(&self) -> View<'_> {
        let category = if self.sizes.is_empty() { Category::ZeroDim } else { Category::Dimensioned };
        let view = View::new(self.dtype, &self.sizes, &self.strides);
        View { category, storage: self.storage, start: self.start, ..view }
    }
}

fn operand(rng: &mut Rng, sizes: Vec<i64>) -> Random {
    let n = sizes.len();
    let mut order: Vec<usize> = (0..n).rev().collect();
    if rng.chance(40) {
        for i in (1..n).rev() {
            order.swap(i, rng.below(i + 1));
        }
    }
    let mut strides = vec![0; n];
    let mut next = 1 + i64::from(rng.chance(10));
    for &d in &order {
        strides[d] = next;
        next *= sizes[d].max(1);
        next += i64::from(rng.chance(10));
    }
    for stride in &mut strides {
        match rng.below(100) {
            0..10 => *stride = 0,
            10..15 => *stride = rng.below(7) as i64,
            15..20 => *stride = -*stride,
            _ => {}
        }
    }
    let storage = rng.chance(70).then(|| rng.below(3));
    let start = if rng.chance(60) { 0 } else { 4 * rng.below(20) as i64 };
    Random { sizes, strides, dtype: DType::ALL[rng.below(DType::COUNT)], storage, start }
}

fn shrink(rng: &mut Rng, shape: &[i64]) -> Vec<i64> {
    let skip = if rng.chance(20) { rng.below(shape.len() + 1) } else { 0 };
    shape[skip..].iter().map(|&s| if rng.chance(20) { 1 } else { s }).collect()
}

/// Byte offsets of all operands at one index.
type Row = Vec<isize>;

/// The operands that a walk gives, as offsets from their bases.
fn rows(base: &[usize], p: &[*mut u8], s: &[isize], n0: usize, n1: usize, mut visit: impl FnMut(Row)) {
    let n = p.len();
    for j in 0..n1 as isize {
        for i in 0..n0 as isize {
            visit((0..n).map(|k| p[k].addr() as isize - base[k] as isize + s[k] * i + s[n + k] * j).collect());
        }
    }
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_unstable();
    rows
}

/// What an index loop over the broadcast shape visits.
fn naive(operands: &[Random], shape: &[i64]) -> Vec<Row> {
    let numel: i64 = shape.iter().product();
    (0..numel)
        .map(|mut rest| {
            let mut index = vec![0; shape.len()];
            for d in (0..shape.len()).rev() {
                index[d] = rest % shape[d];
                rest /= shape[d];
            }
            let offset = |op: &Random| {
                let missing = shape.len() - op.sizes.len();
                let at = |d: usize| if op.sizes[d] == 1 { 0 } else { index[d + missing] * op.strides[d] };
                ((0..op.sizes.len()).map(at).sum::<i64>() * op.dtype.size() as i64) as isize
            };
            operands.iter().map(offset).collect()
        })
        .collect()
}

/// True if two indices of a walk conflict: they write one byte, or one writes what the other reads.
fn conflicts(rows: &[Row], operands: &[Random], noutputs: usize) -> bool {
    let mut writer: HashMap<(usize, isize), usize> = HashMap::new();
    let bytes = |k: usize, row: &Row| {
        let op = &operands[k];
        // Storages of their own are told apart by the operand.
        let storage = op.storage.unwrap_or(100 + k);
        let first = op.start as isize + row[k];
        (first..first + op.dtype.size() as isize).map(move |b| (storage, b))
    };
    for (i, row) in rows.iter().enumerate() {
        for k in 0..noutputs {
            if bytes(k, row).any(|b| writer.insert(b, i).is_some_and(|other| other != i)) {
                return true;
            }
        }
    }
    rows.iter().enumerate().any(|(i, row)| {
        (noutputs..row.len()).any(|k| bytes(k, row).any(|b| writer.get(&b).is_some_and(|&other| other != i)))
    })
}

/// Pointers that are never accessed.
fn dangling(base: &[usize]) -> Vec<*mut u8> {
    base.iter().map(|&a| std::ptr::without_provenance_mut(a)).collect()
}

fn visited(iter: &TensorIter, base: &[usize], range: std::ops::Range<usize>) -> Vec<Row> {
    let mut seen = Vec::new();
    let pointers = dangling(base);
    // SAFETY: the loop computes with addresses and accesses nothing, so any base will do.
    unsafe { iter.serial_for_each(&pointers, range, |p, s, n0, n1| rows(base, p, s, n0, n1, |r| seen.push(r))) };
    seen
}

fn check(rng: &mut Rng, iter: &TensorIter, operands: &[Random], shape: &[i64], noutputs: usize) {
    let base: Vec<usize> = (0..operands.len()).map(|k| (k + 1) << 32).collect();
    let want = sorted(naive(operands, shape));
    let whole = visited(iter, &base, 0..iter.numel());
    assert_eq!(sorted(whole.clone()), want, "the walk differs from the index loop");
    assert_eq!(iter.numel(), want.len());

    let (a, b) = (rng.below(iter.numel() + 1), rng.below(iter.numel() + 1));
    let (a, b) = (a.min(b), a.max(b));
    let parts = [0..a, a..b, b..iter.numel()].map(|range| visited(iter, &base, range)).concat();
    assert_eq!(parts, whole, "ranges are not the whole in order");

    let parallel = Mutex::new(Vec::new());
    // SAFETY: as in `visited`.
    unsafe {
        iter.for_each(&dangling(&base), 7, |p, s, n0, n1| {
            let mut seen = Vec::new();
            rows(&base, p, s, n0, n1, |r| seen.push(r));
            parallel.lock().unwrap().extend(seen);
        });
    }
    assert_eq!(sorted(parallel.into_inner().unwrap()), want, "the parallel walk differs");

    if let Some(dim) = iter.dim_to_split() {
        let mut halves = Vec::new();
        for half in iter.split(dim).unwrap() {
            let bases = half.bases(&dangling(&base));
            // SAFETY: as in `visited`.
            unsafe {
                half.iter.serial_for_each(&bases, 0..half.iter.numel(), |p, s, n0, n1| {
                    rows(&base, p, s, n0, n1, |r| halves.push(r));
                });
            }
        }
        assert_eq!(sorted(halves), want, "the halves are not the whole");
    }
    if !iter.must_be_serial() && want.len() <= 256 {
        assert!(!conflicts(&whole, operands, noutputs), "a parallel walk would conflict");
    }
}

#[test]
fn walks_visit_what_an_index_loop_visits() {
    let iterations = std::env::var("MONOMORPH_FUZZ_ITERS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let seed = std::env::var("MONOMORPH_FUZZ_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(2026);
    let mut rng = Rng(seed);
    let (mut built, mut serial, mut merged) = (0, 0, 0);
    for i in 0..iterations {
        let ndim = rng.below(7);
        let shape: Vec<i64> = (0..ndim).map(|_| if rng.chance(4) { 0 } else { 1 + rng.below(4) as i64 }).collect();
        let noutputs = rng.below(3);
        let ninputs = rng.below(4).max(usize::from(noutputs == 0));
        let mut operands: Vec<Random> = Vec::new();
        for k in 0..noutputs + ninputs {
            let sizes = if k < noutputs { shape.clone() } else { shrink(&mut rng, &shape) };
            let mut op = operand(&mut rng, sizes);
            if k > 0 && rng.chance(25) && operands[0].sizes.len() == op.sizes.len() {
                op.strides = operands[0].strides.clone();
            }
            operands.push(op);
        }
        let flags = Flags::DEFAULT
            .with_overlap_check(rng.chance(50))
            .without_resizing()
            .with_dtype_check(false)
            .with_linear_order(rng.chance(10))
            .with_promotion(rng.chance(40));
        let given = rng.chance(10) || noutputs == 0;
        let config = Config { shape: given.then_some(&shape), ..Config::new(flags) };
        let views: Vec<View<'_>> = operands.iter().map(Random::view).collect();
        let (outputs, inputs) = views.split_at(noutputs);
        let Ok(iter) = build_over(&config, outputs, inputs) else { continue };
        built += 1;
        serial += usize::from(iter.must_be_serial());
        merged += usize::from(iter.ndim() < ndim);
        let run = std::panic::AssertUnwindSafe(|| check(&mut rng, &iter, &operands, &shape, noutputs));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("case {i}: {config:?}\n outputs {outputs:#?}\n inputs {inputs:#?}\n {iter:?}");
            std::panic::resume_unwind(panic);
        }
    }
    // The generator must keep reaching every kind of plan.
    assert!(built > iterations / 3 && serial > iterations / 50 && merged > iterations / 10);
}

#[test]
fn builds_survive_any_numbers() {
    const NUMBERS: [i64; 12] = [0, 1, 2, 3, 7, 1 << 20, 1 << 31, 1 << 40, 1 << 62, i64::MAX, i64::MIN, -1];
    let mut rng = Rng(7);
    for _ in 0..20_000 {
        let operands: Vec<Random> = (0..1 + rng.below(4))
            .map(|_| {
                let ndim = if rng.chance(3) { 70 } else { rng.below(5) };
                let sizes = (0..ndim).map(|_| NUMBERS[rng.below(if ndim > 5 { 2 } else { 12 })]).collect();
                let strides = (0..ndim + usize::from(rng.chance(3))).map(|_| NUMBERS[rng.below(12)]).collect();
                let dtype = DType::ALL[rng.below(DType::COUNT)];
                Random { sizes, strides, dtype, storage: Some(rng.below(2)), start: NUMBERS[rng.below(12)] }
            })
            .collect();
        let views: Vec<View<'_>> = operands.iter().map(Random::view).collect();
        let (outputs, inputs) = views.split_at(rng.below(2));
        let flags = [Flags::TERNARY, Flags::REDUCE_1, Flags::DEFAULT, Flags::NULLARY][rng.below(4)];
        // An error or a plan; neither a panic nor an overflow.
        if let Ok(iter) = build_over(&Config::new(flags), outputs, inputs) {
            let _ =
                (iter.dim_to_split(), iter.can_use_32bit_indexing(), iter.num_output_elements(), iter.is_contiguous());
        }
    }
}

#[test]
fn counter_steps_cover_the_range() {
    let mut rng = Rng(3);
    for _ in 0..5_000 {
        let shape: Vec<usize> = (0..rng.below(5)).map(|_| rng.below(5)).collect();
        let numel: usize = shape.iter().product();
        let (a, b) = (rng.below(numel + 2), rng.below(numel + 2));
        let range = a.min(b)..a.max(b);
        let mut counter = DimCounter::new(&shape, range.clone());
        let mut next = range.start.min(numel);
        while !counter.is_done() {
            assert_eq!(counter.offset(), next);
            let mut number = 0;
            for (value, size) in counter.values().iter().zip(&shape).rev() {
                assert!(value < size);
                number = number * size + value;
            }
            assert_eq!(number, next);
            let step = counter.max_2d_step();
            assert!(step[0] * step[1] > 0);
            next += step[0] * step[1];
            counter.advance();
        }
        assert_eq!(next, range.end.min(numel));
    }
}
