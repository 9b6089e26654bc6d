//! Products of a matrix of bfloat16, whose rows are dense, with at most eight columns: a decoder's step.
//!
//! Two neighbours are read as one word of 32 bits, which a shift and a mask widen to two float32 in registers; the
//! columns are widened once, even and odd elements apart. By way of widened copies of the rows, as `skinny.rs` does it
//! for float16, each element would be stored and loaded once more.
//!
//! ```text
//!   a row       │ a1 a0 │ a3 a2 │ a5 a4 │ …         words
//!   << 16       │   a0  │   a2  │   a4  │ …    ·    even elements of a column
//!   & ffff0000  │   a1  │   a3  │   a5  │ …    ·    odd elements
//! ```

use super::ending::Ending;
use super::skinny::{self, FEW, element, finish};
use super::summed::Summed;
use super::{Layout, Matrices, Product};
use crate::isa::{Isa, Kernel};
use crate::lane_tree::{LANES, four_sums, merged};
use half::bf16;
use std::mem::MaybeUninit;

/// Words of all columns that are widened at a time, 16 KiB of even and as much of odd elements.
const ROOM: usize = 4096;

/// Rows that wait for the next run of their sums. Columns are widened anew for so many.
const ROWS: usize = 256;

/// Computes a product.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for bfloat16; [`skinny::suits`] is true of the product.
pub(super) unsafe fn multiply(product: &Product, at: Matrices) -> bool {
    let (product, at) = skinny::large_factor_first(product, at);
    // The first of two elements is the low half of a word on little-endian machines.
    if product.a.col != 1 || cfg!(target_endian = "big") {
        // SAFETY: the caller's promise; the product is the same one.
        return unsafe { skinny::multiply::<bf16>(&product, at) };
    }
    product.level.enter(Rows { product: &product, at });
    true
}

struct Rows<'a> {
    product: &'a Product,
    at: Matrices,
}

impl<I: Isa> Kernel<I> for Rows<'_> {
    type Output = ();
    type Home = bf16;

    #[inline(always)]
    fn run(self, _: I) {
        // SAFETY: M1 and M2, which `multiply` was promised; the token proves that the host has the level.
        unsafe { by_rows::<I>(self.product, self.at) };
    }
}

/// The first of the two elements of a word.
#[inline(always)]
fn low(word: u32) -> f32 {
    f32::from_bits(word << 16)
}

/// The second one.
#[inline(always)]
fn high(word: u32) -> f32 {
    f32::from_bits(word & 0xffff_0000)
}

/// # Safety
///
/// Word `i` of the run is in bounds and initialised.
#[inline(always)]
unsafe fn word(run: *const u32, i: usize) -> u32 {
    // SAFETY: the caller's promise; rows begin at any element, so a word need not be aligned.
    unsafe { run.wrapping_add(i).read_unaligned() }
}

/// A part of a column, widened: its even and its odd elements.
#[derive(Clone, Copy)]
struct Column {
    even: *mut f32,
    odd: *mut f32,
}

impl Column {
    /// Widens elements `from..from + length` of column `col` of B; what an odd number lacks is zero.
    ///
    /// # Safety
    ///
    /// They are in bounds and initialised; there is room for `length / 2` even and odd elements, rounded up.
    #[inline(always)]
    unsafe fn widen(self, b: *const u8, layout: Layout, [from, col]: [usize; 2], length: usize) {
        let mut done = 0;
        if layout.row == 1 {
            let run = b.wrapping_offset(layout.at(from, col).wrapping_mul(2)).cast::<u32>();
            done = length / 2;
            for i in 0..done {
                // SAFETY: word `i < length / 2` of a dense column is in bounds.
                let word = unsafe { word(run, i) };
                // SAFETY: there is room for `length / 2` even elements.
                unsafe { self.even.wrapping_add(i).write(low(word)) };
                // SAFETY: there is room for `length / 2` odd elements.
                unsafe { self.odd.wrapping_add(i).write(high(word)) };
            }
        }
        for i in done..length.div_ceil(2) {
            // SAFETY: `2 * i < length`.
            let even = unsafe { element::<bf16>(b, layout, from + 2 * i, col) };
            // SAFETY: there is room for so many even elements.
            unsafe { self.even.wrapping_add(i).write(even) };
            let odd = match 2 * i + 1 < length {
                // SAFETY: it is below `length`.
                true => unsafe { element::<bf16>(b, layout, from + 2 * i + 1, col) },
                false => 0.0,
            };
            // SAFETY: there is room for as many odd elements.
            unsafe { self.odd.wrapping_add(i).write(odd) };
        }
    }

    /// # Safety
    ///
    /// Word `i` was widened.
    #[inline(always)]
    unsafe fn word(self, i: usize) -> [f32; 2] {
        // SAFETY: the caller's promise.
        let even = unsafe { self.even.wrapping_add(i).read() };
        // SAFETY: the caller's promise.
        [even, unsafe { self.odd.wrapping_add(i).read() }]
    }
}

/// # Safety
///
/// M1 and M2 of [`Product::run`] for bfloat16, rows of A are dense, and the host has the level.
#[inline(always)]
unsafe fn by_rows<I: Isa>(product: &Product, at: Matrices) {
    let Product { m, n, k, a, b, .. } = *product;
    let ending = Ending::<f32>::of(product);
    let mut evens = [const { MaybeUninit::<f32>::uninit() }; ROOM];
    let mut odds = [const { MaybeUninit::<f32>::uninit() }; ROOM];
    let (evens, odds) = (evens.as_mut_ptr().cast::<f32>(), odds.as_mut_ptr().cast::<f32>());
    // By the number of columns alone, so that sums are the same however the product is cut.
    let words = ROOM / n / LANES * LANES;
    let columns = |col: usize| Column { even: evens.wrapping_add(col * words), odd: odds.wrapping_add(col * words) };
    for first in (0..m).step_by(ROWS) {
        let rows = ROWS.min(m - first);
        let mut sums = [[0.0; FEW]; ROWS];
        for from in (0..k).step_by(2 * words) {
            let length = (2 * words).min(k - from);
            // They are there still if this is the only run.
            for col in 0..if first == 0 || k > 2 * words { n } else { 0 } {
                // SAFETY: elements of B (M1); the room of a column has `words`.
                unsafe { columns(col).widen(at.b, b, [from, col], length) };
            }
            let run = |row: usize| at.a.wrapping_offset(a.at(first + row, from).wrapping_mul(2)).cast::<u32>();
            for row in (0..rows / 4 * 4).step_by(4) {
                let runs = [run(row), run(row + 1), run(row + 2), run(row + 3)];
                for col in 0..n {
                    // SAFETY: four runs of `length` elements (M1), and a column of as many, which were widened.
                    let dots = unsafe { four_dots::<I>(runs, columns(col), length) };
                    for (sums, dot) in sums[row..].iter_mut().zip(dots) {
                        sums[col] += dot;
                    }
                }
            }
            for (row, sums) in sums.iter_mut().enumerate().take(rows).skip(rows / 4 * 4) {
                for (col, sum) in sums.iter_mut().enumerate().take(n) {
                    // SAFETY: a run of `length` elements (M1), and a column of as many, which were widened.
                    *sum += unsafe { one_dot::<I>(run(row), columns(col), length) };
                }
            }
        }
        for (row, sums) in sums.iter().enumerate().take(rows) {
            for (col, sum) in sums.iter().enumerate().take(n) {
                // SAFETY: an element of C, which nobody else uses (M1, M2).
                unsafe { finish::<bf16>(&ending, at.c, product.c.at(first + row, col), *sum) };
            }
        }
    }
}

/// `dot`, and the last element of a run of an odd number of them times that of the column.
///
/// # Safety
///
/// Both have `n` elements.
#[inline(always)]
unsafe fn with_last<I: Isa>(dot: f32, run: *const u32, x: Column, n: usize) -> f32 {
    if n.is_multiple_of(2) {
        return dot;
    }
    // SAFETY: half of word `n / 2` is the last element.
    let last = unsafe { run.wrapping_add(n / 2).cast::<u16>().read() };
    // SAFETY: the word of the column was widened.
    low(u32::from(last)).fused::<I>(unsafe { x.word(n / 2) }[0], dot)
}

/// `sum`, and the products of a word with one of a column.
#[inline(always)]
fn accumulated<I: Isa>(word: u32, [even, odd]: [f32; 2], sum: f32) -> f32 {
    high(word).fused::<I>(odd, low(word).fused::<I>(even, sum))
}

/// The sums of products of four runs with a column.
///
/// # Safety
///
/// All have `n` initialised elements; the host has the level.
#[inline(always)]
unsafe fn four_dots<I: Isa>(runs: [*const u32; 4], x: Column, n: usize) -> [f32; 4] {
    // Four arrays, and all steps of a lane in one loop, as in `skinny.rs`.
    let [mut s0, mut s1, mut s2, mut s3] = [[0.0; LANES]; 4];
    let [r0, r1, r2, r3] = runs;
    let whole = n / 2 / LANES * LANES;
    let mut first = 0;
    while first < whole {
        for lane in 0..LANES {
            let i = first + lane;
            // SAFETY: word `i < n / 2` of the column was widened.
            let x = unsafe { x.word(i) };
            // SAFETY: `i < n / 2`.
            s0[lane] = accumulated::<I>(unsafe { word(r0, i) }, x, s0[lane]);
            // SAFETY: `i < n / 2`.
            s1[lane] = accumulated::<I>(unsafe { word(r1, i) }, x, s1[lane]);
            // SAFETY: `i < n / 2`.
            s2[lane] = accumulated::<I>(unsafe { word(r2, i) }, x, s2[lane]);
            // SAFETY: `i < n / 2`.
            s3[lane] = accumulated::<I>(unsafe { word(r3, i) }, x, s3[lane]);
        }
        first += LANES;
    }
    // SAFETY: the host has the level.
    let mut dots = unsafe { four_sums::<I>([s0, s1, s2, s3]) };
    for (dot, run) in dots.iter_mut().zip(runs) {
        for i in whole..n / 2 {
            // SAFETY: `i < n / 2`, and word `i` of the column was widened.
            *dot = accumulated::<I>(unsafe { word(run, i) }, unsafe { x.word(i) }, *dot);
        }
        // SAFETY: both have `n` elements.
        *dot = unsafe { with_last::<I>(*dot, run, x, n) };
    }
    dots
}

/// The sum of products of a run with a column, as that of its four quarters.
///
/// # Safety
///
/// Both have `n` initialised elements; the host has the level.
#[inline(always)]
unsafe fn one_dot<I: Isa>(run: *const u32, x: Column, n: usize) -> f32 {
    let mut sums = [0.0; 4 * LANES];
    let whole = n / 2 / (4 * LANES) * (4 * LANES);
    let mut first = 0;
    while first < whole {
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: word `first + lane < n / 2` of the column was widened.
            let x = unsafe { x.word(first + lane) };
            // SAFETY: `first + lane < n / 2`.
            *sum = accumulated::<I>(unsafe { word(run, first + lane) }, x, *sum);
        }
        first += 4 * LANES;
    }
    let mut dot = 0.0;
    for quarter in 0..4 {
        dot += merged(std::array::from_fn(|lane| sums[quarter * LANES + lane]), |a, b| a + b);
    }
    for i in whole..n / 2 {
        // SAFETY: `i < n / 2`, and word `i` of the column was widened.
        dot = accumulated::<I>(unsafe { word(run, i) }, unsafe { x.word(i) }, dot);
    }
    // SAFETY: both have `n` elements.
    unsafe { with_last::<I>(dot, run, x, n) }
}
