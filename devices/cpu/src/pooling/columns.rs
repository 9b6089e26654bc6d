//! Maxima in two steps where windows are many and differ, or rows are short: of the columns of windows first, side by
//! side, and of those of each window then.
//!
//! ```text
//!   input      . . . . . . . .        the lines that the windows of a row of the output cover
//!              . . . . . . . .
//!   columns    m m m m m m m m        the largest of each column, and its line: all lanes are used
//!              └─┬─┘ └──┬──┘
//!   output       M      M             the largest of these
//! ```
//!
//! In row-major order the first of equals is the one of the first line, and of those the one of the first column; the
//! last NaN is the one of the last line, and of those the one of the last column. So lines are compared where values
//! are equal, and the result is that of one walk over the window.

use super::kernel::{LANES, Row, Run};
use super::numbers::Lowest;
use crate::element::{load, store};
use crate::isa::{Isa, Kernel, Level};

/// Lanes of a block where there are fewer.
const FEW: usize = 8;

/// Columns from which on those of a window are compared side by side.
const FEW_TAPS: i64 = FEW as i64;

/// Windows of fewer columns that are looked at side by side.
const GROUP: usize = 4;

/// # Safety
///
/// N1, N2; elements of `C`, and places in int64. There are no lanes, and the scratch memory has two words for each
/// place of a row of the input.
pub(super) unsafe fn largest<C: Lowest>(level: Level, row: &Row<'_>, scratch: &mut [u64])
where
    C::Repr: PartialOrd,
{
    let width = row.sizes[2] as usize;
    let (values, offsets) = scratch.split_at_mut(width);
    let offsets: &mut [u32] = &mut bytemuck::cast_slice_mut(offsets)[..width];
    // SAFETY: a word is large enough for a number, and aligned; any bits are one, since maxima are of numbers.
    let values: &mut [C::Repr] = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), width) };
    level.enter(Columns::<C> { row, values, offsets });
}

struct Columns<'a, C: Lowest> {
    row: &'a Row<'a>,
    /// The largest element of each column of the windows, and how far behind the first line of these it is in the
    /// plane.
    values: &'a mut [C::Repr],
    offsets: &'a mut [u32],
}

impl<C: Lowest, I: Isa> Kernel<I> for Columns<'_, C>
where
    C::Repr: PartialOrd,
{
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(mut self, _: I) {
        let width = self.values.len();
        let is_dense = self.row.strides[2] == size_of::<C::Stored>() as isize;
        // The last block goes back where it would go beyond the end: columns that are computed twice are the same.
        let starts = |of: usize| (0..width.div_ceil(of)).map(move |i| (i * of).min(width - of));
        match (is_dense, width) {
            (true, LANES..) => starts(LANES).for_each(|at| self.columns::<LANES, true>(at)),
            (true, FEW..) => starts(FEW).for_each(|at| self.columns::<FEW, true>(at)),
            (false, FEW..) => starts(FEW).for_each(|at| self.columns::<FEW, false>(at)),
            _ => starts(1).for_each(|at| self.columns::<1, false>(at)),
        }
        self.windows();
    }
}

impl<C: Lowest> Columns<'_, C>
where
    C::Repr: PartialOrd,
{
    /// The largest elements of `N` columns, which lie side by side if `DENSE`.
    #[inline(always)]
    fn columns<const N: usize, const DENSE: bool>(&mut self, first: usize) {
        let row = self.row;
        let step = if DENSE { size_of::<C::Stored>() as isize } else { row.strides[2] };
        let along = |d: usize, i: i64| (i as isize).wrapping_mul(row.strides[d]);
        let (rows, plane) = (row.steps[1] * row.sizes[2], row.steps[0] * row.sizes[1] * row.sizes[2]);
        let (mut values, mut offsets) = ([C::LOWEST; N], [0_u32; N]);
        let [depths, lines] = row.taps;
        for d in 0..depths.count {
            for h in 0..lines.count {
                let (depth, line) = (depths.start + d * row.steps[0], lines.start + h * row.steps[1]);
                let at = row.input.wrapping_offset(along(0, depth).wrapping_add(along(1, line)));
                let offset = (d * plane + h * rows) as u32;
                let mut elements = [C::LOWEST; N];
                for (lane, element) in elements.iter_mut().enumerate() {
                    let column = ((first + lane) as isize).wrapping_mul(step);
                    // SAFETY: N1: an element of a line of the windows.
                    *element = unsafe { load::<C>(at.wrapping_offset(column), 0) };
                }
                // Apart, so that each of these is a loop over lanes of one size.
                let mut takes = [false; N];
                for lane in 0..N {
                    let x = elements[lane];
                    takes[lane] = x > values[lane] || is_nan(x);
                    values[lane] = if takes[lane] { x } else { values[lane] };
                }
                for lane in 0..N {
                    let mask = u32::from(takes[lane]).wrapping_neg();
                    offsets[lane] = (offset & mask) | (offsets[lane] & !mask);
                }
            }
        }
        self.values[first..first + N].copy_from_slice(&values);
        self.offsets[first..first + N].copy_from_slice(&offsets);
    }

    /// The largest of the columns of each window.
    #[inline(always)]
    fn windows(&self) {
        let row = self.row;
        let is_empty = row.taps.iter().any(|tap| tap.count < 1);
        for run in row.runs {
            let count = if is_empty { 0 } else { run.tap.count };
            match (count, run.n) {
                (1..FEW_TAPS, GROUP..) => {
                    for i in (0..run.n.div_ceil(GROUP)).map(|i| (i * GROUP).min(run.n - GROUP)) {
                        self.group(run, i as i64);
                    }
                }
                (FEW_TAPS.., _) if row.steps[2] == 1 => {
                    for i in 0..run.n as i64 {
                        let start = run.tap.start + i * run.distance;
                        let column = self.largest(start as usize, count as usize);
                        self.store(run.first + i, start, column as i64);
                    }
                }
                _ => (0..run.n as i64).for_each(|i| self.window(run, i, count)),
            }
        }
    }

    /// The largest of the columns of `GROUP` windows from number `i` of the run on, side by side.
    #[inline(always)]
    fn group(&self, run: &Run, i: i64) {
        let start = |lane: usize| run.tap.start + (i + lane as i64) * run.distance;
        let mut columns: [usize; GROUP] = std::array::from_fn(|lane| start(lane) as usize);
        let (mut values, mut offsets) = (columns.map(|c| self.values[c]), columns.map(|c| self.offsets[c]));
        for tap in 1..run.tap.count {
            for lane in 0..GROUP {
                let column = (start(lane) + tap * self.row.steps[2]) as usize;
                let (x, offset) = (self.values[column], self.offsets[column]);
                let takes = takes((x, offset), (values[lane], offsets[lane]));
                values[lane] = if takes { x } else { values[lane] };
                offsets[lane] = if takes { offset } else { offsets[lane] };
                columns[lane] = if takes { column } else { columns[lane] };
            }
        }
        for (lane, column) in columns.into_iter().enumerate() {
            self.store(run.first + i + lane as i64, start(lane), column as i64);
        }
    }

    /// The largest of the columns of window number `i` of the run.
    #[inline(always)]
    fn window(&self, run: &Run, i: i64, count: i64) {
        let start = run.tap.start + i * run.distance;
        if count < 1 {
            let at = row_at(self.row, run.first + i);
            // SAFETY: N2 for this element.
            unsafe { store::<C>(at, 0, C::LOWEST) };
            return self.store_place(run.first + i, start, 0, start);
        }
        let mut best = start as usize;
        for tap in 1..count {
            let column = (start + tap * self.row.steps[2]) as usize;
            let at = |column: usize| (self.values[column], self.offsets[column]);
            best = if takes(at(column), at(best)) { column } else { best };
        }
        self.store(run.first + i, start, best as i64);
    }

    /// The largest of so many columns side by side: the value first, which lanes find, and then where it is.
    #[inline(always)]
    fn largest(&self, start: usize, count: usize) -> usize {
        let (values, offsets) = (&self.values[start..start + count], &self.offsets[start..start + count]);
        let mut lanes: [C::Repr; FEW] = std::array::from_fn(|lane| values[lane]);
        for at in (1..count.div_ceil(FEW)).map(|i| (i * FEW).min(count - FEW)) {
            for (lane, value) in lanes.iter_mut().enumerate() {
                let x = values[at + lane];
                *value = if x > *value || is_nan(x) { x } else { *value };
            }
        }
        let larger = |a: C::Repr, b: C::Repr| if b > a || is_nan(b) { b } else { a };
        let largest = lanes.into_iter().reduce(larger).unwrap_or(C::LOWEST);
        let mut best = (u32::MAX, 0);
        if is_nan(largest) {
            best = (0, 0);
            for (i, (x, offset)) in values.iter().zip(offsets).enumerate() {
                best = if is_nan(*x) && *offset >= best.0 { (*offset, i) } else { best };
            }
        } else {
            for (i, (x, offset)) in values.iter().zip(offsets).enumerate() {
                best = if *x == largest && *offset < best.0 { (*offset, i) } else { best };
            }
        }
        start + best.1
    }

    /// Stores the largest element of a window that begins at a column, and its place.
    #[inline(always)]
    fn store(&self, o: i64, start: i64, column: i64) {
        // SAFETY: N2 for this element.
        unsafe { store::<C>(row_at(self.row, o), 0, self.values[column as usize]) };
        self.store_place(o, start, self.offsets[column as usize], column);
    }

    /// Stores the place of the column `column`, so far behind the first line of the window.
    #[inline(always)]
    fn store_place(&self, o: i64, start: i64, offset: u32, column: i64) {
        let row = self.row;
        if row.places.is_null() {
            return;
        }
        // Modulo 2^64: a window without places may begin anywhere.
        let line = row.taps[0].start.wrapping_mul(row.sizes[1]).wrapping_add(row.taps[1].start);
        let first = line.wrapping_mul(row.sizes[2]).wrapping_add(start);
        let place = first.wrapping_add(i64::from(offset)).wrapping_add(column.wrapping_sub(start));
        let at = row.places.wrapping_offset(row.to_place[0].wrapping_mul(o as isize));
        // SAFETY: N2 for this element of the second output, which is of int64.
        unsafe { at.cast::<i64>().write_unaligned(place) };
    }
}

/// Element `o` of the row of the output.
#[inline(always)]
fn row_at(row: &Row<'_>, o: i64) -> *mut u8 {
    row.values.wrapping_offset(row.to[0].wrapping_mul(o as isize))
}

/// True if a later column with this largest element, so far behind the first line, is taken instead of another.
#[inline(always)]
fn takes<T: PartialOrd + Copy>((x, offset): (T, u32), (value, of_value): (T, u32)) -> bool {
    (x > value) | ((x == value) & (offset < of_value)) | (is_nan(x) & (!is_nan(value) | (offset >= of_value)))
}

#[inline(always)]
fn is_nan<T: PartialOrd>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}
