//! Kernels at every level of the host: exact operations are exact everywhere, so they agree bit by bit.

use super::formulas::{Axpy, Before, Choose, Less, Minus, Times};
use super::random::Random;
use monomorph_core::DType;
use monomorph_cpu::isa::Level;
use monomorph_cpu::pointwise::{Kernels, RowLayout, Traversal};
use monomorph_cpu::tuning::{Tuned, Tuning, TuningValues, Untuned};
use monomorph_ops::pointwise::{Here, Number, Prebuilt};

/// The bytes that a formula makes of random bytes.
fn output<F: Kernels<W>, W, P>(dtype: DType, level: Level, masks: usize, params: &P, in_place: bool) -> Vec<u8> {
    const N: usize = 1003;
    let mut random = Random(7 + dtype as u64);
    let mut bytes = |n: usize| (0..n).map(|_| random.below(256) as u8).collect::<Vec<u8>>();
    let mut inputs = [bytes(16 * N), bytes(16 * N), bytes(16 * N)];
    let kernel = F::lookup(dtype, level).unwrap();
    let mut out = vec![0u8; 16 * N];
    let mut ins = inputs.each_ref().map(|x| x.as_ptr());
    let to = if in_place { inputs[masks].as_mut_ptr() } else { out.as_mut_ptr() };
    if in_place {
        ins[masks] = to;
    }
    // SAFETY: K1: `lookup` asks the host. K2: every buffer has room for N elements of any dtype. K3: the buffers are
    // distinct, or the first operand is the output. K4: these are the parameters.
    assert!(unsafe { kernel(to, ins.as_ptr(), N, std::ptr::from_ref(params).cast(), Traversal::Dense) });
    if in_place {
        out = std::mem::take(&mut inputs[masks]);
        out[N * dtype.size()..].fill(0);
    }
    out
}

/// NaN made canonical: which NaN comes out of two is the processor's choice.
fn canonical(mut bytes: Vec<u8>, dtype: DType) -> Vec<u8> {
    let part = dtype.to_real();
    let nan = |x: &[u8]| match part {
        DType::F16 => half::f16::from_le_bytes([x[0], x[1]]).is_nan(),
        DType::BF16 => half::bf16::from_le_bytes([x[0], x[1]]).is_nan(),
        DType::F32 => f32::from_le_bytes(x.try_into().unwrap()).is_nan(),
        DType::F64 => f64::from_le_bytes(x.try_into().unwrap()).is_nan(),
        _ => false,
    };
    bytes.chunks_exact_mut(part.size()).filter(|x| nan(x)).for_each(|x| x.fill(0xff));
    bytes
}

#[test]
fn every_level_gives_the_same_bits() {
    for dtype in DType::ALL {
        let alpha = Number::default();
        let axpy = |level, in_place| canonical(output::<Axpy, Here, _>(dtype, level, 0, &alpha, in_place), dtype);
        let times = |level, in_place| canonical(output::<Times, Tuned, _>(dtype, level, 0, &(), in_place), dtype);
        let choose = |level, in_place| canonical(output::<Choose, Tuned, _>(dtype, level, 1, &(), in_place), dtype);
        let want = [axpy(Level::Portable, false), times(Level::Portable, false), choose(Level::Portable, false)];
        for level in Level::available() {
            for in_place in [false, true] {
                let got = [axpy(level, in_place), times(level, in_place), choose(level, in_place)];
                assert!(got == want, "{dtype} at {level}, in place: {in_place}");
            }
        }
    }
}

/// Every place that a run may begin and end within a line and a block: the same elements as by ordinary stores, and
/// nothing else is written.
#[test]
fn non_temporal_stores_write_the_same_elements() {
    fn check<F: Kernels<W>, W>(dtype: DType, level: Level) {
        const N: usize = 1100;
        let (size, kernel) = (dtype.size(), F::lookup(dtype, level).unwrap());
        let mut random = Random(11 + dtype as u64);
        let bytes: Vec<u8> = (0..4 * (N + 20) * size).map(|_| random.below(256) as u8).collect();
        let at = |k: usize| bytes[k * (N + 20) * size..].as_ptr();
        let run = |start: usize, n: usize, traversal: Traversal<'_>| {
            let mut out = vec![[0xa5u8; 64]; ((N + 20) * size).div_ceil(64)];
            let to = out.as_flattened_mut()[start * size..].as_mut_ptr();
            // SAFETY: K1: `lookup` asks the host. K2: every run has n elements. K3: they are different vectors. K4:
            // there are no parameters. K5: no input is the output, and no other thread reads it.
            assert!(unsafe {
                kernel(to, [at(0), at(1), at(2)].as_ptr(), n, std::ptr::from_ref(&()).cast(), traversal)
            });
            out
        };
        for start in 0..20 {
            for n in [0, 1, 5, 16, 127, 128, 129, 143, 256, 500, N] {
                let same = run(start, n, Traversal::NonTemporal) == run(start, n, Traversal::Dense);
                assert!(same, "{dtype} at {level}, {n} from {start} on");
            }
        }
    }
    for level in Level::available() {
        for dtype in [DType::U8, DType::BF16, DType::F16, DType::F32, DType::C128] {
            check::<Times, Tuned>(dtype, level);
            check::<Choose, Tuned>(dtype, level);
        }
    }
}

/// Three rows with gaps between them, on every dtype whose kernels take rows: the same elements as three calls give,
/// and nothing else is written. One operand goes backwards, one is the same row for all, or one element for each.
#[test]
fn rows_in_one_call_are_rows_one_by_one() {
    fn check<F: Kernels<W>, W>(dtype: DType, level: Level, n: usize, broadcasts: &[Option<usize>]) {
        const ROWS: usize = 3;
        let (size, kernel) = (dtype.size(), F::lookup(dtype, level).unwrap());
        let mut random = Random(3 + dtype as u64);
        let run: Vec<u8> = (0..ROWS * (n + 2) * size).map(|_| random.below(256) as u8).collect();
        let row = ((n + 2) * size) as isize;
        for &broadcast in broadcasts {
            let is_broadcast = |k: usize| broadcast == Some(k);
            let strides =
                [row, -row, 0].map(|stride| if stride == 0 && is_broadcast(1) { size as isize } else { stride });
            let at = |k: usize, i: usize| {
                let from = if k == 0 { (ROWS - 1) as isize * row } else { 0 };
                run.as_ptr().wrapping_offset(from + i as isize * strides[k + 1])
            };
            let fill = |k: usize, i: usize| -> Vec<u8> {
                // SAFETY: row `i` of operand `k` is in bounds of `run`: `n` elements, or one if it is broadcast.
                unsafe { std::slice::from_raw_parts(at(k, i), if is_broadcast(k) { size } else { n * size }) }
                    .repeat(if is_broadcast(k) { n } else { 1 })
            };
            let mut want = vec![0xa5u8; ROWS * row as usize];
            let mut got = want.clone();
            for (i, want) in want.chunks_exact_mut(row as usize).enumerate() {
                let ins = [fill(0, i), fill(1, i)];
                let ins = ins.each_ref().map(|x| x.as_ptr());
                // SAFETY: K1: `lookup` asks the host. K2: runs have n elements. K3: they are different vectors. K4:
                // there are no parameters.
                assert!(unsafe {
                    kernel(want.as_mut_ptr(), ins.as_ptr(), n, std::ptr::from_ref(&()).cast(), Traversal::Dense)
                });
            }
            let mut all = [0; 8];
            all[..3].copy_from_slice(&strides);
            let rows = RowLayout { count: ROWS, strides: all, broadcast };
            let ins = [at(0, 0), at(1, 0)];
            // SAFETY: K1: `lookup` asks the host. K2, K6: rows have n elements or, if broadcast, one, and the dtype's
            // kernels take such rows. K3: they are different vectors. K4: there are no parameters.
            assert!(unsafe {
                kernel(got.as_mut_ptr(), ins.as_ptr(), n, std::ptr::from_ref(&()).cast(), Traversal::Rows(&rows))
            });
            assert!(canonical(got, dtype) == canonical(want, dtype), "{n} {dtype} at {level}, {broadcast:?} broadcast");
        }
    }
    for level in Level::available() {
        let is_old = matches!(level, Level::Portable | Level::Sse2) && cfg!(target_arch = "x86_64");
        let broadcasts: &[_] = if is_old { &[None] } else { &[None, Some(0), Some(1)] };
        for n in [0, 1, 7, 64, 1001] {
            for dtype in [DType::U8, DType::I16, DType::I64, DType::F32, DType::F64] {
                check::<Minus, Tuned>(dtype, level, n, broadcasts);
            }
            for dtype in [DType::BF16, DType::F16, DType::C64, DType::C128] {
                check::<Minus, Tuned>(dtype, level, n, &[None]);
            }
            check::<Before, Tuned>(DType::F32, level, n, broadcasts);
            check::<Before, Tuned>(DType::I64, level, n, broadcasts);
            check::<Less, Here>(DType::Bool, level, n, &[None]);
        }
    }
}

#[test]
fn lookup_knows_the_domain() {
    let lookup = <Less as Kernels<Here>>::lookup;
    assert!(lookup(DType::C64, Level::Portable).is_none());
    assert!(lookup(DType::Bool, Level::Portable).is_some());
    // A level that the host lacks is answered by the best one below it, so this is safe to ask anywhere.
    assert!(lookup(DType::F32, Level::Avx512).is_some());
}

/// Prebuilt kernels are tuned by the formula if it is a `Tuning`, and by the defaults if not.
#[test]
fn prebuilt_kernels_take_the_tuning_that_there_is() {
    use monomorph_ops::arithmetic::{AddFn, DivTruncFn};
    const { assert!(Times::LIGHT && !Untuned::LIGHT) };
    let untuned = TuningValues::of::<Untuned>();
    assert_eq!(<Times as Kernels<Prebuilt>>::TUNING, TuningValues { light: true, ..untuned });
    assert_eq!(<AddFn as Kernels<Prebuilt>>::TUNING, TuningValues { light: true, ..untuned });
    for tuning in [<Axpy as Kernels<Prebuilt>>::TUNING, <DivTruncFn as Kernels<Prebuilt>>::TUNING] {
        assert_eq!(tuning, untuned);
    }
    assert_eq!(<Times as Kernels<Here>>::TUNING, untuned);
    let alpha = Number::default();
    assert!(
        output::<Axpy, Prebuilt, _>(DType::F32, Level::Portable, 0, &alpha, false)
            == output::<Axpy, Here, _>(DType::F32, Level::Portable, 0, &alpha, false)
    );
}
