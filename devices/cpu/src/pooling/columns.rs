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
use crate::stride2::every_second;

/// Lanes of a block where there are fewer.
const FEW: usize = 8;

/// Columns from which on those of a window are compared side by side.
const FEW_TAPS: i64 = FEW as i64;

/// Windows from which on there are too many for so few lanes.
const MANY: usize = FEW + 1;

/// Windows of fewer columns that are looked at side by side.
const GROUP: usize = 4;

/// Columns behind the last one that a block of windows reads, and does not use.
const BEHIND: usize = 2 * LANES;

/// Words of scratch memory for a row of so many columns.
pub(super) fn words(width: usize) -> usize {
    2 * (width + BEHIND)
}

/// # Safety
///
/// N1, N2; elements of `C`, and places in int64. There are no lanes, and the scratch memory has as many [`words`] as a
/// row of the input needs.
pub(super) unsafe fn largest<C: Lowest>(level: Level, row: &Row<'_>, scratch: &mut [u64])
where
    C::Repr: PartialOrd,
{
    let width = row.sizes[2] as usize;
    let length = width + BEHIND;
    let (values, offsets) = scratch.split_at_mut(length);
    let offsets: &mut [u32] = &mut bytemuck::cast_slice_mut(offsets)[..length];
    // SAFETY: a word is large enough for a number, and aligned; any bits are one, since maxima are of numbers.
    let values: &mut [C::Repr] = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), length) };
    if const { !C::IS_USUAL } {
        return level.enter(Columns::<C, false, true> { row, values, offsets });
    }
    // Apart, since each row is a call, which would set up the registers of all.
    let slides = row.runs.iter().any(|run| run.n >= FEW && (1..=2).contains(&run.distance));
    match (slides, row.places.is_null()) {
        (false, true) => level.enter(Columns::<C, false, false> { row, values, offsets }),
        (false, false) => level.enter(Columns::<C, false, true> { row, values, offsets }),
        (true, true) => level.enter(Columns::<C, true, false> { row, values, offsets }),
        (true, false) => level.enter(Columns::<C, true, true> { row, values, offsets }),
    }
}

/// The work on a row, of which many windows slide by a column or two if `SLIDES`; `PLACES` if these may be
/// wanted.
struct Columns<'a, C: Lowest, const SLIDES: bool, const PLACES: bool> {
    row: &'a Row<'a>,
    /// The largest element of each column of the windows, and how far behind the first line of these it is in the
    /// plane; behind those of the row zeros.
    values: &'a mut [C::Repr],
    offsets: &'a mut [u32],
}

impl<C: Lowest, I: Isa, const SLIDES: bool, const PLACES: bool> Kernel<I> for Columns<'_, C, SLIDES, PLACES>
where
    C::Repr: PartialOrd,
{
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(mut self, _: I) {
        let is_dense = self.row.strides[2] == size_of::<C::Stored>() as isize;
        match (is_dense, self.row.sizes[2] as usize) {
            (true, LANES..) => self.all_columns::<LANES, true>(),
            (true, FEW..) => self.all_columns::<FEW, true>(),
            (false, FEW..) => self.all_columns::<FEW, false>(),
            _ => self.all_columns::<1, false>(),
        }
        self.windows();
    }
}

impl<C: Lowest, const SLIDES: bool, const PLACES: bool> Columns<'_, C, SLIDES, PLACES>
where
    C::Repr: PartialOrd,
{
    /// The largest elements of all columns, of which there are `N` at least.
    #[inline(always)]
    fn all_columns<const N: usize, const DENSE: bool>(&mut self) {
        let width = self.row.sizes[2] as usize;
        // The last block goes back where it would go beyond the end: columns that are computed twice are the same.
        for i in 0..width.div_ceil(N) {
            self.columns::<N, DENSE>((i * N).min(width - N));
        }
    }

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
            match (count, run.n, run.distance) {
                (1.., MANY.., 1) if SLIDES => self.slide::<LANES, 1>(run),
                (1.., MANY.., 2) if SLIDES => self.slide::<LANES, 2>(run),
                (1.., FEW, 1) if SLIDES => self.slide::<FEW, 1>(run),
                (1.., FEW, 2) if SLIDES => self.slide::<FEW, 2>(run),
                (1..FEW_TAPS, GROUP.., _) => {
                    for i in 0..run.n.div_ceil(GROUP) {
                        self.group(run, (i * GROUP).min(run.n - GROUP) as i64);
                    }
                }
                (FEW_TAPS.., ..) if row.steps[2] == 1 => {
                    for i in 0..run.n as i64 {
                        let start = run.tap.start + i * run.distance;
                        let column = self.largest(start as usize, count as usize);
                        self.store(run.first + i, start, column as i64);
                    }
                }
                (1.., ..) if row.steps[2] == 1 => {
                    for i in 0..run.n as i64 {
                        self.narrow(run, i, count);
                    }
                }
                _ => {
                    for i in 0..run.n as i64 {
                        self.window(run, i, count);
                    }
                }
            }
        }
    }

    /// The largest of the columns of the windows of a run, which are `STRIDE` apart and not empty: `N` windows side by
    /// side, of which those behind the last one are not stored.
    #[inline(always)]
    fn slide<const N: usize, const STRIDE: usize>(&self, run: &Run) {
        let row = self.row;
        for first in (0..run.n).step_by(N) {
            let start = run.tap.start as usize + first * STRIDE;
            let mut values = spaced::<_, N, STRIDE>(&self.values[start..]);
            let mut offsets = if PLACES { spaced::<_, N, STRIDE>(&self.offsets[start..]) } else { [0; N] };
            let mut taps = [0_u32; N];
            for tap in 1..run.tap.count {
                let at = start + (tap * row.steps[2]) as usize;
                let x = spaced::<_, N, STRIDE>(&self.values[at..]);
                // Apart, so that each of these is a loop over lanes of one size.
                let mut taken = [false; N];
                if !PLACES {
                    for lane in 0..N {
                        taken[lane] = (x[lane] > values[lane]) | is_nan(x[lane]);
                        values[lane] = if taken[lane] { x[lane] } else { values[lane] };
                    }
                    continue;
                }
                let of_x = spaced::<_, N, STRIDE>(&self.offsets[at..]);
                for lane in 0..N {
                    taken[lane] = takes((x[lane], of_x[lane]), (values[lane], offsets[lane]));
                    values[lane] = if taken[lane] { x[lane] } else { values[lane] };
                }
                for lane in 0..N {
                    let mask = u32::from(taken[lane]).wrapping_neg();
                    offsets[lane] = (of_x[lane] & mask) | (offsets[lane] & !mask);
                    taps[lane] = (tap as u32 & mask) | (taps[lane] & !mask);
                }
            }
            let n = N.min(run.n - first);
            for (lane, &value) in values[..n].iter().enumerate() {
                // SAFETY: N2 for this element.
                unsafe { store::<C>(row_at(row, run.first + (first + lane) as i64), 0, value) };
            }
            if PLACES {
                for lane in 0..n {
                    let start = (start + lane * STRIDE) as i64;
                    let column = start + i64::from(taps[lane]) * row.steps[2];
                    self.store_place(run.first + (first + lane) as i64, start, offsets[lane], column);
                }
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

    /// The largest of the columns of window number `i` of the run, of which there are fewer than lanes, side by side.
    #[inline(always)]
    fn narrow(&self, run: &Run, i: i64, count: i64) {
        let start = run.tap.start + i * run.distance;
        let of = start as usize..start as usize + FEW;
        let (columns, offsets) = (&self.values[of.clone()], &self.offsets[of]);
        let (mut lanes, mut has_nan) = ([C::LOWEST; FEW], false);
        for (lane, (value, &column)) in lanes.iter_mut().zip(columns).enumerate() {
            *value = if (lane as i64) < count { column } else { C::LOWEST };
            has_nan |= is_nan(*value);
        }
        if has_nan {
            return self.window(run, i, count);
        }
        let largest = halved(lanes, |a, b| if b > a { b } else { a });
        // The offset of each that is as large, and its lane.
        let mut places = [u64::MAX; FEW];
        if PLACES {
            for lane in 0..FEW {
                let is_one = ((lane as i64) < count) & (lanes[lane] == largest);
                let place = u64::from(offsets[lane]) << 32 | lane as u64;
                places[lane] = if is_one { place } else { u64::MAX };
            }
        }
        // SAFETY: N2 for this element.
        unsafe { store::<C>(row_at(self.row, run.first + i), 0, largest) };
        if PLACES {
            let best = halved(places, |a, b| if b < a { b } else { a });
            self.store_place(run.first + i, start, (best >> 32) as u32, start + i64::from(best as u32));
        }
    }

    /// The largest of so many columns side by side, as many as lanes at least: the value first, which lanes find, and
    /// then where it is.
    #[inline(always)]
    fn largest(&self, start: usize, count: usize) -> usize {
        let (values, offsets) = (&self.values[start..start + count], &self.offsets[start..start + count]);
        let mut lanes: [C::Repr; FEW] = std::array::from_fn(|lane| values[lane]);
        for i in 1..count.div_ceil(FEW) {
            let at = (i * FEW).min(count - FEW);
            for (value, &x) in lanes.iter_mut().zip(&values[at..at + FEW]) {
                *value = if x > *value || is_nan(x) { x } else { *value };
            }
        }
        let largest = halved(lanes, |a, b| if b > a || is_nan(b) { b } else { a });
        if is_nan(largest) {
            let mut best = (0, 0);
            for (i, (x, offset)) in values.iter().zip(offsets).enumerate() {
                best = if is_nan(*x) && *offset >= best.0 { (*offset, i) } else { best };
            }
            return start + best.1;
        }
        // The offset of each that is as large, and its column.
        let mut places = [u64::MAX; FEW];
        for i in 0..count.div_ceil(FEW) {
            let at = (i * FEW).min(count - FEW);
            let (values, offsets) = (&values[at..at + FEW], &offsets[at..at + FEW]);
            for lane in 0..FEW {
                let place = u64::from(offsets[lane]) << 32 | (at + lane) as u64;
                let place = if values[lane] == largest { place } else { u64::MAX };
                places[lane] = if place < places[lane] { place } else { places[lane] };
            }
        }
        start + halved(places, |a, b| if b < a { b } else { a }) as u32 as usize
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

/// What `f` makes of all lanes: of the halves side by side, until there is one.
#[inline(always)]
fn halved<T: Copy>(mut lanes: [T; FEW], f: impl Fn(T, T) -> T) -> T {
    let mut half = FEW / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = f(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// `N` elements, each `STRIDE` behind the one before: 1 or 2.
#[inline(always)]
fn spaced<T: Copy, const N: usize, const STRIDE: usize>(from: &[T]) -> [T; N] {
    let from = &from[..(N - 1) * STRIDE + 1];
    match STRIDE {
        // SAFETY: `2 * N - 1` elements, which nobody writes meanwhile.
        2 => unsafe { every_second(from.as_ptr()) },
        _ => std::array::from_fn(|lane| from[lane]),
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
