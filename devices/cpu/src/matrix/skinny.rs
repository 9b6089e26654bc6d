//! Products with at most eight rows or columns, of which a product with a vector is one: they take as long as it takes
//! to read the large factor, so that is read once, where it lies.
//!
//! ```text
//!   rows of A are runs of memory            columns of A are
//!   ┌─────────────┐   ┌─┐                   ┌─┬─┬─┬─┬────┐
//!   │ ──────────► │   │x│  sums of          │ │ │ │ │    │   y += four columns at a time,
//!   │ ──────────► │ · │x│  products,        │ ▼ ▼ ▼ ▼    │   each times its element of x,
//!   │ ──────────► │   │x│  four rows at     │            │   in a run of y that stays in
//!   │ ──────────► │   └─┘  a time           └────────────┘   the first cache
//!   └─────────────┘
//! ```
//!
//! A product with few rows is one of the transposed matrices with few columns. Halves are widened in runs.

use super::{Layout, Matrices, Product};
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel};
use std::marker::PhantomData;

/// The most columns.
const FEW: usize = 8;

/// Elements of a run: four of float32, widened, and the runs of eight columns are in the first cache.
const RUN: usize = 512;

/// Rows that wait for the next run of their sums.
const ROWS: usize = 64;

/// Sums that are taken side by side, and added in the end.
const LANES: usize = 16;

/// What sums are taken in.
pub(super) trait Real: Copy + Send + Sync + 'static {
    const ZERO: Self;
    fn of(number: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `self * factor + addend`, in one instruction where the level has one.
    fn fused<I: Isa>(self, factor: Self, addend: Self) -> Self;
}

macro_rules! reals {
    ($($t:ty)*) => {$(
        impl Real for $t {
            const ZERO: $t = 0.0;
            fn of(number: f64) -> $t {
                number as $t
            }
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self + other
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self * other
            }
            #[inline(always)]
            fn fused<I: Isa>(self, factor: $t, addend: $t) -> $t {
                if I::FMA { self.mul_add(factor, addend) } else { self * factor + addend }
            }
        }
    )*};
}
reals! { f32 f64 }

fn is_run(layout: Layout) -> bool {
    layout.row == 1 || layout.col == 1
}

/// Whether a product of these sizes and layouts of A and B is one of these.
pub(super) fn suits([m, n, k]: [usize; 3], a: Layout, b: Layout) -> bool {
    k > 0 && (n <= FEW && is_run(a) || m <= FEW && is_run(b))
}

/// Computes a product.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype that is that of `C`; the product [`suits`].
pub(super) unsafe fn multiply<C: CpuElement<Repr: Real>>(product: &Product, at: Matrices) -> bool {
    let Product { m, n, a, b, c, level, .. } = *product;
    if n <= FEW && is_run(a) {
        level.enter(Skinny { product, at, of: PhantomData::<C> });
    } else {
        // The large factor comes first.
        let product = &Product { m: n, n: m, a: b.t(), b: a.t(), c: c.t(), ..*product };
        let at = Matrices { a: at.b, b: at.a, ..at };
        level.enter(Skinny { product, at, of: PhantomData::<C> });
    }
    true
}

struct Skinny<'a, C> {
    product: &'a Product,
    at: Matrices,
    of: PhantomData<C>,
}

impl<I: Isa, C: CpuElement<Repr: Real>> Kernel<I> for Skinny<'_, C> {
    type Output = ();
    type Home = C;

    #[inline(always)]
    fn run(self, _: I) {
        // SAFETY: `multiply` was promised M1 and M2, and the token proves that the host has the level.
        match self.product.a.col {
            1 => unsafe { by_rows::<I, C>(self.product, self.at) },
            _ => unsafe { by_columns::<I, C>(self.product, self.at) },
        }
    }
}

/// A dense run as what sums are taken in: where it lies, or widened to `room`.
///
/// # Safety
///
/// `n` elements at `from` are in bounds and initialised, and `room` has as many; the host has the level.
#[inline(always)]
unsafe fn widened<I: Isa, C: CpuElement>(from: *const u8, room: *mut C::Repr, n: usize) -> *const C::Repr {
    if size_of::<C::Stored>() == size_of::<C::Repr>() {
        return from.cast();
    }
    // SAFETY: R1, R2: the caller's promise; the room is no operand.
    unsafe { C::widen_run::<I>(from, room, n) };
    room
}

/// An element of a matrix.
///
/// # Safety
///
/// It is in bounds and initialised.
#[inline(always)]
unsafe fn element<C: CpuElement>(data: *const u8, layout: Layout, row: usize, col: usize) -> C::Repr {
    let bytes = layout.at(row, col).wrapping_mul(size_of::<C::Stored>() as isize);
    // SAFETY: the caller's promise.
    unsafe { load::<C>(data.wrapping_offset(bytes), 0) }
}

/// Writes `alpha * sum`, and `beta` times what there was, to an element of C.
///
/// # Safety
///
/// It is in bounds, initialised unless beta is zero, and nobody else's.
#[inline(always)]
unsafe fn finish<C: CpuElement<Repr: Real>>(product: &Product, c: *mut u8, row: usize, col: usize, sum: C::Repr) {
    let place = c.wrapping_offset(product.c.at(row, col).wrapping_mul(size_of::<C::Stored>() as isize));
    let mut value = sum.times(<C::Repr as Real>::of(product.alpha.to_f64()));
    if !product.overwrites() {
        // SAFETY: the caller's promise.
        let before = unsafe { load::<C>(place, 0) };
        value = value.plus(before.times(<C::Repr as Real>::of(product.beta.to_f64())));
    }
    // SAFETY: the caller's promise.
    unsafe { store::<C>(place, 0, value) };
}

/// Rows of A are dense runs.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], and the host has the level.
#[inline(always)]
unsafe fn by_rows<I: Isa, C: CpuElement<Repr: Real>>(product: &Product, at: Matrices) {
    let Product { m, n, k, a, b, .. } = *product;
    let zero = <C::Repr as Real>::ZERO;
    let mut columns = [[zero; RUN]; FEW];
    let mut room = [[zero; RUN]; 4];
    for first in (0..m).step_by(ROWS) {
        let rows = ROWS.min(m - first);
        let mut sums = [[zero; FEW]; ROWS];
        for from in (0..k).step_by(RUN) {
            let length = RUN.min(k - from);
            for (col, column) in columns.iter_mut().enumerate().take(n) {
                for (p, x) in column.iter_mut().enumerate().take(length) {
                    // SAFETY: an element of B (M1).
                    *x = unsafe { element::<C>(at.b, b, from + p, col) };
                }
            }
            let run = |row: usize, room: &mut [C::Repr; RUN]| {
                let bytes = a.at(first + row, from).wrapping_mul(size_of::<C::Stored>() as isize);
                // SAFETY: a part of a row of A, which is dense (M1); the room has `RUN` elements.
                unsafe { widened::<I, C>(at.a.wrapping_offset(bytes), room.as_mut_ptr(), length) }
            };
            let mut row = 0;
            while row + 4 <= rows {
                let [r0, r1, r2, r3] = &mut room;
                let runs = [run(row, r0), run(row + 1, r1), run(row + 2, r2), run(row + 3, r3)];
                for (col, column) in columns.iter().enumerate().take(n) {
                    // SAFETY: four runs of `length` elements, and a column of as many.
                    let dots = unsafe { dot::<I, C::Repr, 4>(runs, column.as_ptr(), length) };
                    for (i, dot) in dots.into_iter().enumerate() {
                        sums[row + i][col] = sums[row + i][col].plus(dot);
                    }
                }
                row += 4;
            }
            for row in row..rows {
                let runs = [run(row, &mut room[0])];
                for (col, column) in columns.iter().enumerate().take(n) {
                    // SAFETY: a run of `length` elements, and a column of as many.
                    let [dot] = unsafe { dot::<I, C::Repr, 1>(runs, column.as_ptr(), length) };
                    sums[row][col] = sums[row][col].plus(dot);
                }
            }
        }
        for (row, sums) in sums.iter().enumerate().take(rows) {
            for (col, sum) in sums.iter().enumerate().take(n) {
                // SAFETY: an element of C, which nobody else uses (M1, M2).
                unsafe { finish::<C>(product, at.c, first + row, col, *sum) };
            }
        }
    }
}

/// The sums of products of runs with one other.
///
/// # Safety
///
/// All have `n` initialised elements; the host has the level.
#[inline(always)]
unsafe fn dot<I: Isa, R: Real, const ROWS: usize>(runs: [*const R; ROWS], x: *const R, n: usize) -> [R; ROWS] {
    let mut sums = [[R::ZERO; LANES]; ROWS];
    let whole = n / LANES * LANES;
    for first in (0..whole).step_by(LANES) {
        for (run, sums) in runs.iter().zip(&mut sums) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `first + lane < n`.
                let x = unsafe { x.add(first + lane).read() };
                // SAFETY: `first + lane < n`.
                let y = unsafe { run.add(first + lane).read() };
                *sum = y.fused::<I>(x, *sum);
            }
        }
    }
    for i in whole..n {
        for (run, sums) in runs.iter().zip(&mut sums) {
            // SAFETY: `i < n`.
            let x = unsafe { x.add(i).read() };
            // SAFETY: `i < n`.
            let y = unsafe { run.add(i).read() };
            sums[i - whole] = y.fused::<I>(x, sums[i - whole]);
        }
    }
    sums.map(|mut lanes| {
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                lanes[i] = lanes[i].plus(lanes[i + width]);
            }
            width /= 2;
        }
        lanes[0]
    })
}

/// Columns of A are dense runs.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], and the host has the level.
#[inline(always)]
unsafe fn by_columns<I: Isa, C: CpuElement<Repr: Real>>(product: &Product, at: Matrices) {
    let Product { m, n, k, a, b, .. } = *product;
    let zero = <C::Repr as Real>::ZERO;
    let mut room = [[zero; RUN]; 4];
    let mut sums = [[zero; RUN]; FEW];
    for first in (0..m).step_by(RUN) {
        let length = RUN.min(m - first);
        for sums in sums.iter_mut().take(n) {
            sums[..length].fill(zero);
        }
        for from in (0..k).step_by(4) {
            let count = 4.min(k - from);
            let mut runs = [std::ptr::null(); 4];
            for (p, (run, room)) in runs.iter_mut().zip(&mut room).enumerate().take(count) {
                let bytes = a.at(first, from + p).wrapping_mul(size_of::<C::Stored>() as isize);
                // SAFETY: a part of a column of A, which is dense (M1); the room has `RUN` elements.
                *run = unsafe { widened::<I, C>(at.a.wrapping_offset(bytes), room.as_mut_ptr(), length) };
            }
            for (col, sums) in sums.iter_mut().enumerate().take(n) {
                let mut x = [zero; 4];
                for (p, x) in x.iter_mut().enumerate().take(count) {
                    // SAFETY: an element of B (M1).
                    *x = unsafe { element::<C>(at.b, b, from + p, col) };
                }
                if count == 4 {
                    for (i, sum) in sums.iter_mut().enumerate().take(length) {
                        for (run, x) in runs.iter().zip(x) {
                            // SAFETY: `i < length`.
                            let y = unsafe { run.add(i).read() };
                            *sum = y.fused::<I>(x, *sum);
                        }
                    }
                    continue;
                }
                for (run, x) in runs.iter().zip(x).take(count) {
                    for (i, sum) in sums.iter_mut().enumerate().take(length) {
                        // SAFETY: `i < length`.
                        let y = unsafe { run.add(i).read() };
                        *sum = y.fused::<I>(x, *sum);
                    }
                }
            }
        }
        for (col, sums) in sums.iter().enumerate().take(n) {
            for (row, sum) in sums.iter().enumerate().take(length) {
                // SAFETY: an element of C, which nobody else uses (M1, M2).
                unsafe { finish::<C>(product, at.c, first + row, col, *sum) };
            }
        }
    }
}
