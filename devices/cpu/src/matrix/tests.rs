//! The products against three nested loops, over dtypes, layouts, numbers and cuts.

use super::*;
use half::{bf16, f16};
use monomorph_core::{Element, scalar_bytes};

/// Numbers that every dtype holds exactly, small enough that sums are exact in float32.
fn number(i: usize, is_signed: bool) -> i64 {
    let n = (i.wrapping_mul(2654435761) >> 7) as i64 % 5;
    if is_signed { n - 2 } else { n }
}

/// A matrix of `rows × cols` in memory: by rows, by columns, or every second element by rows.
struct Stored {
    bytes: Vec<u128>,
    layout: Layout,
    values: Vec<i64>,
    cols: usize,
}

impl Stored {
    fn new(dtype: DType, rows: usize, cols: usize, how: usize, seed: usize) -> Stored {
        let layout = match how {
            0 => Layout { row: cols as isize, col: 1 },
            1 => Layout { row: 1, col: rows as isize },
            _ => Layout { row: 2 * cols as isize + 3, col: 2 },
        };
        let size = dtype.size();
        let reach = rows * (2 * cols + 3) + 2 * cols;
        let mut stored =
            Stored { bytes: vec![0; (reach * size).div_ceil(16)], layout, values: vec![0; rows * cols], cols };
        for row in 0..rows {
            for col in 0..cols {
                let value = number(seed + row * cols + col, dtype != DType::U8);
                stored.values[row * cols + col] = value;
                let place = layout.at(row, col) as usize * size;
                let bytes: &mut [u8] = bytemuck_bytes(&mut stored.bytes);
                bytes[place..][..size].copy_from_slice(&scalar_bytes(Scalar::Int(value), dtype)[..size]);
            }
        }
        stored
    }

    fn value(&self, row: usize, col: usize) -> i64 {
        self.values[row * self.cols + col]
    }

    fn data(&self) -> *const u8 {
        self.bytes.as_ptr().cast()
    }

    fn get(&self, dtype: DType, row: usize, col: usize) -> Vec<u8> {
        let place = self.layout.at(row, col) as usize * dtype.size();
        self.bytes.iter().flat_map(|word| word.to_ne_bytes()).skip(place).take(dtype.size()).collect()
    }
}

fn bytemuck_bytes(words: &mut [u128]) -> &mut [u8] {
    // SAFETY: words are bytes, sixteen each, and the borrow is passed on.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 16) }
}

fn number_bytes(dtype: DType, value: i64) -> Vec<u8> {
    let scalar = match dtype {
        DType::U8 => Scalar::Int(i64::from(value as u8)),
        _ => Scalar::Int(value),
    };
    scalar_bytes(scalar, dtype)[..dtype.size()].to_vec()
}

/// Zero, whatever its sign, where zero is expected.
fn without_sign(dtype: DType, got: Vec<u8>, want: i64) -> Vec<u8> {
    let is_zero = |part: &[u8]| part.iter().rev().enumerate().all(|(i, byte)| *byte == 0 || i == 0 && *byte == 128);
    let parts = got.chunks(dtype.to_real().size());
    let zeroed = parts.flat_map(|part| if is_zero(part) { vec![0; part.len()] } else { part.to_vec() });
    if dtype.is_floating() && want != 0 {
        got.clone()
    } else if dtype.is_integral(true) {
        got
    } else {
        zeroed.collect()
    }
}

const DTYPES: [DType; 11] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

#[test]
fn products_are_those_of_three_loops() {
    let sizes = [
        [1, 1, 1],
        [3, 5, 0],
        [1, 9, 4],
        [9, 1, 4],
        [8, 7, 33],
        [20, 24, 17],
        [13, 33, 16],
        [20, 70, 29],
        [70, 3, 40],
        [130, 140, 5],
        [3, 600, 20],
        // With vectors, also of more terms than a run has.
        [1, 1, 70],
        [70, 1, 40],
        [1, 40, 33],
        [3, 1, 600],
    ];
    for dtype in DTYPES {
        // Halves hold integers exactly up to 256 and 2048.
        let most = match dtype {
            DType::BF16 => 30,
            DType::F16 => 100,
            _ => usize::MAX,
        };
        for [m, n, k] in sizes.into_iter().filter(|[_, _, k]| *k < most) {
            for how in 0..27 {
                if m > 100 && how % 5 > 0 {
                    continue;
                }
                compare(dtype, [m, n, k], how);
            }
        }
    }
}

/// Holds a product against three loops; `how` chooses the layouts and the numbers.
fn compare(dtype: DType, [m, n, k]: [usize; 3], how: usize) {
    let [a_how, b_how, c_how] = [how % 3, how / 3 % 3, how / 9];
    let a = Stored::new(dtype, m, k, a_how, 1);
    let b = Stored::new(dtype, k, n, b_how, 1000);
    let mut c = Stored::new(dtype, m, n, c_how, 2000);
    let beta = [0, 1, 2][how % 3];
    let alpha = [1, -1, 2][how / 3 % 3];
    let product = Product::new(
        dtype,
        [m, n, k],
        [a.layout, b.layout, c.layout],
        [Bits::default(), Bits::default()],
        [Scalar::Int(alpha), Scalar::Int(beta)],
    )
    .expect("a level");
    let matrices = Matrices { a: a.data(), b: b.data(), c: c.bytes.as_mut_ptr().cast() };
    // SAFETY: M1, M2: three matrices of these layouts, in memory of their own.
    unsafe { product.run(matrices) }.expect("memory");
    for row in 0..m {
        for col in 0..n {
            let sum: i64 = (0..k).map(|p| a.value(row, p) * b.value(p, col)).sum();
            let want = beta * c.value(row, col) + alpha * sum;
            // No product gives -0 that was not asked for; -1 times 0 does.
            let got = without_sign(dtype, c.get(dtype, row, col), want);
            let place = format!("{dtype} {m}x{n}x{k} layouts {how} at ({row}, {col})");
            assert_eq!(got, number_bytes(dtype, want), "{place}: want {want}");
        }
    }
}

/// More rows, columns and terms than a block of tiles has, and such that leave a part of a panel. Sums are exact in
/// float32, so that bfloat16 is rounded once.
#[test]
fn products_of_many_tiles_are_those_of_three_loops() {
    for dtype in [DType::I64, DType::BF16] {
        for (i, sizes) in
            [[515, 9, 300], [17, 401, 131], [16, 64, 257], [9, 33, 1], [12, 200, 520]].into_iter().enumerate()
        {
            for how in (i % 2..27).step_by(2) {
                compare(dtype, sizes, how);
            }
        }
    }
}

/// Runs of an odd number of elements, several runs in a row, rows that are not aligned to words, and a last one alone.
#[test]
fn rows_of_bfloat16_are_those_of_three_loops() {
    for sizes in [[9, 1, 1], [9, 1, 33], [70, 3, 1401], [5, 8, 1030], [1, 1, 131], [4, 1, 8195], [2, 130, 8258]] {
        (0..27).for_each(|how| compare(DType::BF16, sizes, how));
    }
}

/// Around the ends of 32 bits, where words that hold small integers are multiplied as half of their bits.
#[test]
fn words_of_64_bits_wrap_whatever_they_hold() {
    let ends = [0, 1, -1, 1 << 31, (1 << 31) - 1, -(1 << 31), -(1 << 31) - 1, 1 << 32, i64::MAX, i64::MIN];
    for first in 0..ends.len() {
        for second in 0..ends.len() {
            // One element of each factor is at an end; the others are small.
            let (mut a, mut b) = (vec![3_i64; 5 * 40], vec![-7_i64; 40 * 150]);
            (a[2 * 40 + 33], b[33 * 150 + 141]) = (ends[first], ends[second]);
            let layouts = [40, 150, 150].map(|row| Layout { row, col: 1 });
            let numbers = [Scalar::Int(1), Scalar::Int(0)];
            let product = Product::new(DType::I64, [5, 150, 40], layouts, [Bits::default(); 2], numbers);
            let mut c = vec![1_i64; 5 * 150];
            let at = Matrices { a: a.as_ptr().cast(), b: b.as_ptr().cast(), c: c.as_mut_ptr().cast() };
            // SAFETY: M1, M2: three matrices of these layouts, in memory of their own.
            unsafe { integers::multiply(&product.expect("a level"), at) };
            for (row, col) in [(2, 141), (2, 0), (0, 141), (4, 149)] {
                let terms = (0..40).map(|p| a[row * 40 + p].wrapping_mul(b[p * 150 + col]));
                let sum = terms.fold(0, i64::wrapping_add);
                assert_eq!(c[row * 150 + col], sum, "{} and {} at ({row}, {col})", ends[first], ends[second]);
            }
        }
    }
}

#[test]
fn what_is_overwritten_is_not_read() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::F16, DType::C64] {
        let (a, b) = (Stored::new(dtype, 20, 30, 0, 1), Stored::new(dtype, 30, 35, 0, 2));
        let mut c = vec![u128::MAX; 20 * 35];
        let (rows, zero) = (Layout { row: 35, col: 1 }, Scalar::Float(0.0));
        let layouts = [a.layout, b.layout, rows];
        let product = Product::new(dtype, [20, 35, 30], layouts, [Bits::default(); 2], [Scalar::Int(1), zero]);
        let matrices = Matrices { a: a.data(), b: b.data(), c: c.as_mut_ptr().cast() };
        // SAFETY: M1, M2: three matrices of these layouts, in memory of their own.
        unsafe { product.expect("a level").run(matrices) }.expect("memory");
        let first = bytemuck_bytes(&mut c)[..dtype.size()].to_vec();
        let sum: i64 = (0..30).map(|p| a.value(0, p) * b.value(p, 0)).sum();
        assert_eq!(first, number_bytes(dtype, sum), "{dtype}");
    }
}

/// Floats whose sums round, so that another order of them shows.
fn rough<T: Element>(n: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    (0..n).map(|_| T::from_scalar(Scalar::Complex(monomorph_core::Complex::new(next(), next())))).collect()
}

#[test]
fn neither_cuts_nor_packing_change_results() {
    fn check<T: Element>(m: usize, n: usize, k: usize) {
        let (a, b): (Vec<T>, Vec<T>) = (rough(m * k, 1), rough(k * n, 2));
        for how in [0, 2, 3, 5] {
            let rows = |cols: usize| Layout { row: cols as isize, col: 1 };
            let layout = |r: usize, c: usize, turned: bool| if turned { rows(r).t() } else { rows(c) };
            let layouts = [layout(m, k, how & 1 > 0), layout(k, n, how & 2 > 0), layout(m, n, how & 4 > 0)];
            let numbers = [Scalar::Float(0.3), Scalar::Float(0.7)];
            let product = Product::new(T::DTYPE, [m, n, k], layouts, [Bits::default(); 2], numbers).expect("a level");
            let results = [(1, false), (3, false), (64, false), (1, true), (3, true)].map(|(wanted, packs)| {
                let mut c: Vec<T> = rough(m * n, 3);
                let at = Matrices { a: a.as_ptr().cast(), b: b.as_ptr().cast(), c: c.as_mut_ptr().cast() };
                let cut = Cut::new(m, n, wanted);
                // SAFETY: M1: a matrix of this layout.
                let panels = if packs { unsafe { product.pack(at) }.expect("memory") } else { None };
                // SAFETY: M1, M2: three matrices of these layouts, in memory of their own; the panels are those of B.
                unsafe { product.run_cut(1, |_| at, cut, wanted > 1, panels.as_deref()) }.expect("memory");
                // SAFETY: elements are plain bytes, and the vector lives until they are copied.
                unsafe { std::slice::from_raw_parts(c.as_ptr().cast::<u8>(), m * n * size_of::<T>()) }.to_vec()
            });
            for (i, result) in results.iter().enumerate().skip(1) {
                let at = results[0].iter().zip(result).position(|(x, y)| x != y);
                assert_eq!(at, None, "{} {m}x{n}x{k}, layouts {how}, cut {i}", T::DTYPE);
            }
        }
    }
    check::<f32>(290, 300, 600);
    check::<f32>(9, 700, 600);
    check::<f32>(192, 270, 40);
    // Eight pieces: were seven of them 160 rows long, the last would have one.
    check::<f32>(1121, 40, 256);
    check::<f64>(23, 533, 66);
    check::<f32>(8, 1100, 600);
    check::<f64>(1100, 5, 600);
    check::<f32>(700, 10, 600);
    check::<f32>(1100, 70, 3);
    check::<f64>(300, 290, 520);
    check::<Complex<f32>>(270, 300, 300);
    check::<Complex<f64>>(300, 60, 200);
    check::<bf16>(300, 270, 600);
    check::<bf16>(700, 3, 1401);
    check::<bf16>(1, 300, 8195);
    check::<f16>(300, 300, 9);
}

#[test]
fn conjugates_and_negatives_are_those_of_the_elements() {
    type C = Complex<f64>;
    let (a, b): (Vec<C>, Vec<C>) = (rough(12 * 11, 1), rough(11 * 10, 2));
    for how in 0..16 {
        let bit = |i: usize| how >> i & 1 > 0;
        let bits = [0, 2].map(|i| Bits { conj: bit(i), neg: bit(i + 1) });
        let layouts = [Layout { row: 11, col: 1 }, Layout { row: 10, col: 1 }, Layout { row: 10, col: 1 }];
        let numbers = [Scalar::Int(1), Scalar::Int(0)];
        let product = Product::new(DType::C128, [12, 10, 11], layouts, bits, numbers).expect("a level");
        let mut c = vec![C::default(); 120];
        let at = Matrices { a: a.as_ptr().cast(), b: b.as_ptr().cast(), c: c.as_mut_ptr().cast() };
        // SAFETY: M1, M2: three matrices of these layouts, in memory of their own.
        unsafe { product.run(at) }.expect("memory");
        let value = |x: C, bits: Bits| {
            let x = if bits.conj { x.conj() } else { x };
            if bits.neg { -x } else { x }
        };
        for row in 0..12 {
            for col in 0..10 {
                let sum: C = (0..11).map(|p| value(a[row * 11 + p], bits[0]) * value(b[p * 10 + col], bits[1])).sum();
                assert!((c[row * 10 + col] - sum).norm() < 1e-14, "bits {how} at ({row}, {col})");
            }
        }
    }
}
