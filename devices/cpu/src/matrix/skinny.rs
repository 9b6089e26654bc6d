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
//! A product with few rows is one of the transposed matrices with few columns. Halves are widened in runs, but
//! dense rows of bfloat16 in registers (`bf16_rows.rs`).

use super::ending::Ending;
use super::summed::Summed;
use super::{Layout, Matrices, Product, panel};
use crate::cast::{Bits, Cast};
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel};
use crate::lane_tree::{LANES, merged};
use crate::staging::Stager;
use monomorph_core::DType;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The most columns.
pub(super) const FEW: usize = 8;

/// Elements of a run: four of float32, widened, and the runs of eight columns are in the first cache.
pub(super) const RUN: usize = 512;

/// Rows that wait for the next run of their sums.
const ROWS: usize = 64;

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
pub(super) unsafe fn multiply<C: CpuElement<Repr: Summed>>(product: &Product, at: Matrices) -> bool {
    let (product, at) = large_factor_first(product, at);
    let cast = match size_of::<C::Stored>() == size_of::<C::Repr>() {
        true => None,
        false => Stager::input(product.dtype, DType::F32, Bits::default(), product.level).only_cast(),
    };
    product.level.enter(Skinny { product: &product, at, cast, of: PhantomData::<C> });
    true
}

/// The product, or that of the transposed matrices, whose first factor is the large one.
pub(super) fn large_factor_first(product: &Product, at: Matrices) -> (Product, Matrices) {
    let Product { m, n, a, b, c, .. } = *product;
    if n <= FEW && is_run(a) {
        return (*product, at);
    }
    (Product { m: n, n: m, a: b.t(), b: a.t(), c: c.t(), ..*product }, Matrices { a: at.b, b: at.a, ..at })
}

struct Skinny<'a, C> {
    product: &'a Product,
    at: Matrices,
    /// What widens a run of elements, where they are not what sums are taken in.
    cast: Option<Cast>,
    of: PhantomData<C>,
}

impl<I: Isa, C: CpuElement<Repr: Summed>> Kernel<I> for Skinny<'_, C> {
    type Output = ();
    type Home = C;

    #[inline(always)]
    fn run(self, _: I) {
        // The token proves that the host has the level.
        match self.product.a.col {
            // SAFETY: M1 and M2, which `multiply` was promised, and nothing needs converting.
            _ if self.cast.is_none() && panel::suits(self.product) => unsafe {
                panel::multiply::<I, C>(self.product, self.at);
            },
            // SAFETY: M1 and M2, which `multiply` was promised, and the cast is that of the dtype.
            1 => unsafe { by_rows::<I, C>(self.product, self.at, self.cast) },
            // SAFETY: M1 and M2, which `multiply` was promised, and the cast is that of the dtype.
            _ => unsafe { by_columns::<I, C>(self.product, self.at, self.cast) },
        }
    }
}

/// A dense run as what sums are taken in: where it lies, or widened to `room`.
///
/// # Safety
///
/// `n` elements at `from` are in bounds and initialised, and `room` has as many; `cast` converts what needs converting.
#[inline(always)]
unsafe fn widened<R>(cast: Option<Cast>, from: *const u8, room: *mut R, n: usize) -> *const R {
    let Some(cast) = cast else { return from.cast() };
    // SAFETY: R1, R2: the caller's promise; the room is no operand.
    unsafe { cast.run(from, room.cast(), n) };
    room
}

/// An element of a matrix.
///
/// # Safety
///
/// It is in bounds and initialised.
#[inline(always)]
pub(super) unsafe fn element<C: CpuElement>(data: *const u8, layout: Layout, row: usize, col: usize) -> C::Repr {
    let bytes = layout.at(row, col).wrapping_mul(size_of::<C::Stored>() as isize);
    // SAFETY: the caller's promise.
    unsafe { load::<C>(data.wrapping_offset(bytes), 0) }
}

/// Writes `alpha * sum`, and `beta` times what there was, to the element of C at a place.
///
/// # Safety
///
/// It is in bounds, initialised unless beta is zero, and nobody else's.
#[inline(always)]
pub(super) unsafe fn finish<C: CpuElement<Repr: Summed>>(
    ending: &Ending<C::Repr>,
    c: *mut u8,
    place: isize,
    sum: C::Repr,
) {
    let at = c.wrapping_offset(place.wrapping_mul(size_of::<C::Stored>() as isize));
    // SAFETY: the caller's promise: it is initialised where it is asked for.
    let value = ending.element(sum, || unsafe { load::<C>(at, 0) });
    // SAFETY: the caller's promise.
    unsafe { store::<C>(at, 0, value) };
}

/// The same for a part of a column from a place on.
///
/// # Safety
///
/// That of [`finish`] for each of its elements.
#[inline(always)]
unsafe fn finish_column<C: CpuElement<Repr: Summed>>(
    ending: &Ending<C::Repr>,
    c: *mut u8,
    layout: Layout,
    [row, col]: [usize; 2],
    sums: &[C::Repr],
) {
    let first = layout.at(row, col);
    if layout.row == 1 {
        // A loop of its own, of vectors.
        for (i, sum) in sums.iter().enumerate() {
            // SAFETY: the caller's promise, for row `row + i`.
            unsafe { finish::<C>(ending, c, first.wrapping_add(i as isize), *sum) };
        }
        return;
    }
    for (i, sum) in sums.iter().enumerate() {
        // SAFETY: the caller's promise, for row `row + i`.
        unsafe { finish::<C>(ending, c, first.wrapping_add(layout.row.wrapping_mul(i as isize)), *sum) };
    }
}

/// Rows of A are dense runs.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], the host has the level, and `cast` converts what needs converting.
#[inline(always)]
unsafe fn by_rows<I: Isa, C: CpuElement<Repr: Summed>>(product: &Product, at: Matrices, cast: Option<Cast>) {
    let Product { m, n, k, a, b, .. } = *product;
    let (zero, ending) = (<C::Repr as Summed>::ZERO, Ending::of(product));
    // Columns of B are used where they lie if they are runs, too.
    let lies = cast.is_none() && b.row == 1;
    let mut columns = MaybeUninit::<[[C::Repr; RUN]; FEW]>::uninit();
    let columns = columns.as_mut_ptr().cast::<[C::Repr; RUN]>();
    let mut room = MaybeUninit::<[[C::Repr; RUN]; 4]>::uninit();
    let room = room.as_mut_ptr().cast::<[C::Repr; RUN]>();
    let mut sums = [[zero; ROWS]; FEW];
    for first in (0..m).step_by(ROWS) {
        let rows = ROWS.min(m - first);
        sums[..n].fill([zero; ROWS]);
        for from in (0..k).step_by(RUN) {
            let length = RUN.min(k - from);
            for col in 0..if lies { 0 } else { n } {
                let column = columns.wrapping_add(col).cast::<C::Repr>();
                if b.row == 1 {
                    let bytes = b.at(from, col).wrapping_mul(size_of::<C::Stored>() as isize);
                    // SAFETY: a part of a column of B, which is dense (M1); the room has `RUN` elements.
                    unsafe { widened(cast, at.b.wrapping_offset(bytes), column, length) };
                    continue;
                }
                for p in 0..length {
                    // SAFETY: an element of B (M1).
                    let x = unsafe { element::<C>(at.b, b, from + p, col) };
                    // SAFETY: `col` is below FEW and `p` below RUN, for which there is room.
                    unsafe { column.wrapping_add(p).write(x) };
                }
            }
            for row in (0..rows).step_by(4) {
                let count = 4.min(rows - row);
                let mut runs = [std::ptr::null(); 4];
                for (i, run) in runs.iter_mut().enumerate().take(count) {
                    let bytes = a.at(first + row + i, from).wrapping_mul(size_of::<C::Stored>() as isize);
                    let room = room.wrapping_add(i).cast();
                    // SAFETY: a part of a row of A, which is dense (M1); the room has `RUN` elements.
                    *run = unsafe { widened(cast, at.a.wrapping_offset(bytes), room, length) };
                }
                for (col, sums) in sums.iter_mut().enumerate().take(n) {
                    let bytes = b.at(from, col).wrapping_mul(size_of::<C::Stored>() as isize);
                    let x = match lies {
                        true => at.b.wrapping_offset(bytes).cast::<C::Repr>(),
                        false => columns.wrapping_add(col).cast::<C::Repr>().cast_const(),
                    };
                    if count == 4 {
                        // SAFETY: four runs of `length` elements, and a column of as many.
                        let dots = unsafe { four_dots::<I, C::Repr>(runs, x, length) };
                        for (sum, dot) in sums[row..].iter_mut().zip(dots) {
                            *sum = sum.plus(dot);
                        }
                        continue;
                    }
                    for (sum, run) in sums[row..].iter_mut().zip(runs).take(count) {
                        // SAFETY: a run of `length` elements, and a column of as many.
                        *sum = sum.plus(unsafe { one_dot::<I, C::Repr>(run, x, length) });
                    }
                }
            }
        }
        for (col, sums) in sums.iter().enumerate().take(n) {
            // SAFETY: as many elements of a column of C, which nobody else uses (M1, M2).
            unsafe { finish_column::<C>(&ending, at.c, product.c, [first, col], &sums[..rows]) };
        }
    }
}

/// The sums of products of four runs with one other. All steps of a lane stand in one loop over the lanes, which the
/// compiler makes vectors of; a loop within it over the runs would be unrolled to single elements, eight times slower.
///
/// # Safety
///
/// All have `n` initialised elements; the host has the level.
#[inline(always)]
unsafe fn four_dots<I: Isa, R: Summed>([r0, r1, r2, r3]: [*const R; 4], x: *const R, n: usize) -> [R; 4] {
    // Four arrays rather than one, so that lanes stay in registers until they are merged: half of a register that was
    // stored is loaded only when it is in the cache.
    let [mut s0, mut s1, mut s2, mut s3] = [[R::ZERO; LANES]; 4];
    // SAFETY: element `i` of a run: the callers below have `i < n`.
    let read = |run: *const R, i: usize| unsafe { run.wrapping_add(i).read() };
    let whole = n / LANES * LANES;
    let mut first = 0;
    while first < whole {
        for lane in 0..LANES {
            let x = read(x, first + lane);
            s0[lane] = read(r0, first + lane).fused::<I>(x, s0[lane]);
            s1[lane] = read(r1, first + lane).fused::<I>(x, s1[lane]);
            s2[lane] = read(r2, first + lane).fused::<I>(x, s2[lane]);
            s3[lane] = read(r3, first + lane).fused::<I>(x, s3[lane]);
        }
        first += LANES;
    }
    // SAFETY: the host has the level.
    let mut dots = unsafe { R::four_sums::<I>([s0, s1, s2, s3]) };
    for i in whole..n {
        let x = read(x, i);
        for (dot, run) in dots.iter_mut().zip([r0, r1, r2, r3]) {
            *dot = read(run, i).fused::<I>(x, *dot);
        }
    }
    dots
}

/// The sum of products of a run with another, as that of its four quarters.
///
/// # Safety
///
/// Both have `n` initialised elements; the host has the level.
#[inline(always)]
unsafe fn one_dot<I: Isa, R: Summed>(run: *const R, x: *const R, n: usize) -> R {
    let mut sums = [R::ZERO; 4 * LANES];
    // SAFETY: element `i` of a run: the callers below have `i < n`.
    let read = |run: *const R, i: usize| unsafe { run.wrapping_add(i).read() };
    let whole = n / (4 * LANES) * (4 * LANES);
    let mut first = 0;
    while first < whole {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = read(run, first + lane).fused::<I>(read(x, first + lane), *sum);
        }
        first += 4 * LANES;
    }
    let mut dot = R::ZERO;
    for quarter in 0..4 {
        dot = dot.plus(merged(std::array::from_fn(|lane| sums[quarter * LANES + lane]), R::plus));
    }
    for i in whole..n {
        dot = read(run, i).fused::<I>(read(x, i), dot);
    }
    dot
}

/// Columns of A are dense runs.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], the host has the level, and `cast` converts what needs converting.
#[inline(always)]
unsafe fn by_columns<I: Isa, C: CpuElement<Repr: Summed>>(product: &Product, at: Matrices, cast: Option<Cast>) {
    let Product { m, n, k, a, b, .. } = *product;
    let (zero, ending) = (<C::Repr as Summed>::ZERO, Ending::of(product));
    let mut room = MaybeUninit::<[[C::Repr; RUN]; 4]>::uninit();
    let room = room.as_mut_ptr().cast::<[C::Repr; RUN]>();
    let mut sums = MaybeUninit::<[[C::Repr; RUN]; FEW]>::uninit();
    let sums = sums.as_mut_ptr().cast::<[C::Repr; RUN]>();
    for first in (0..m).step_by(RUN) {
        let length = RUN.min(m - first);
        for col in 0..n {
            let sums = sums.wrapping_add(col).cast::<C::Repr>();
            for i in 0..length {
                // SAFETY: `col` is below FEW and `i` below RUN, for which there is room.
                unsafe { sums.wrapping_add(i).write(zero) };
            }
        }
        // SAFETY: `length` elements of a column were just written, and each column is used alone.
        let column =
            |col: usize| unsafe { std::slice::from_raw_parts_mut(sums.wrapping_add(col).cast::<C::Repr>(), length) };
        for from in (0..k).step_by(4) {
            let count = 4.min(k - from);
            let mut runs = [std::ptr::null(); 4];
            for (p, run) in runs.iter_mut().enumerate().take(count) {
                let bytes = a.at(first, from + p).wrapping_mul(size_of::<C::Stored>() as isize);
                let room = room.wrapping_add(p).cast();
                // SAFETY: a part of a column of A, which is dense (M1); the room has `RUN` elements.
                *run = unsafe { widened(cast, at.a.wrapping_offset(bytes), room, length) };
            }
            for col in 0..n {
                let sums = column(col);
                let mut x = [zero; 4];
                for (p, x) in x.iter_mut().enumerate().take(count) {
                    // SAFETY: an element of B (M1).
                    *x = unsafe { element::<C>(at.b, b, from + p, col) };
                }
                if count == 4 {
                    let [r0, r1, r2, r3] = runs;
                    for (i, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: `i < length`, which all runs have.
                        let read = |run: *const C::Repr| unsafe { run.wrapping_add(i).read() };
                        let two = read(r1).fused::<I>(x[1], read(r0).fused::<I>(x[0], *sum));
                        *sum = read(r3).fused::<I>(x[3], read(r2).fused::<I>(x[2], two));
                    }
                    continue;
                }
                for (run, x) in runs.iter().zip(x).take(count) {
                    for (i, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: `i < length`.
                        let y = unsafe { run.wrapping_add(i).read() };
                        *sum = y.fused::<I>(x, *sum);
                    }
                }
            }
        }
        for col in 0..n {
            // SAFETY: as many elements of a column of C, which nobody else uses (M1, M2).
            unsafe { finish_column::<C>(&ending, at.c, product.c, [first, col], column(col)) };
        }
    }
}
