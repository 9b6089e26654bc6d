//! The rows of a call, one after the other: what changes from row to row is looked up, the rest stays.

use super::fractional::is_fractional;
use super::kernel::{Row, RowKernel, Tap};
use super::{Ready, Way, columns};
use crate::index::placed::{Own, Placed, product};
use crate::scratch::scratch;
use monomorph_core::Result;
use monomorph_ops::pooling::{Fold, WindowPlan};
use std::ops::Range;

/// A call, shared by the threads that do it.
pub(super) struct Call<'a> {
    pub(super) ready: &'a Ready,
    pub(super) plan: &'a WindowPlan,
    pub(super) targets: &'a [(Own, Placed)],
    /// The dimension of channels, where these are lanes.
    pub(super) lanes: Option<usize>,
}

// SAFETY: threads read the input, which nobody writes, and write different rows of the outputs, which lie apart.
unsafe impl Sync for Call<'_> {}

/// A dimension that there is not.
const WHOLE: Tap = Tap { start: 0, count: 1 };

impl Call<'_> {
    /// How many rows there are: all but the last dimension is counted, and the channels where these are lanes.
    pub(super) fn rows(&self) -> usize {
        let values = &self.targets[0].1;
        let counted = (0..values.sizes.len() - 1).filter(|d| Some(*d) != self.lanes);
        product(counted.map(|d| values.sizes[d] as usize))
    }

    /// Computes these rows.
    ///
    /// # Safety
    ///
    /// P1; nobody else uses these rows of the outputs, and the kernel is that of the call.
    pub(super) unsafe fn compute(&self, rows: Range<usize>, kernel: RowKernel) -> Result<()> {
        let (ready, plan) = (self.ready, self.plan);
        let (n, dims) = (plan.axes.len(), ready.input.sizes.len());
        let values = &self.targets[0].1;
        // Zeros, since blocks of windows read some of them behind the last column.
        let mut room = scratch::<u64>(match ready.way {
            Way::Columns => columns::words(ready.input.sizes[dims - 1] as usize),
            _ => 0,
        })?;
        // Rows of a plane: of two dimensions the first of three has one place.
        let size = |d: usize| (d + n).checked_sub(3).map_or(1, |k| values.sizes[dims - n + k] as usize);
        let heights = [size(0), size(1)];
        let steps = |t: &Placed| [if n == 3 { t.step(dims - 3) } else { 0 }, t.step(dims - 2)];
        let to_rows = [Some(values), self.targets.get(1).map(|t| &t.1)].map(|t| t.map_or([0; 2], steps));
        let (per_plane, mut row) = (heights[0] * heights[1], rows.start);
        while row < rows.end {
            let plane = row / per_plane;
            let mut line = self.plane(plane);
            let starts = [line.values, line.places];
            let end = rows.end.min((plane + 1) * per_plane);
            while row < end {
                let at = [row % per_plane / heights[1], row % heights[1]];
                for (d, &at) in at.iter().enumerate() {
                    (line.taps[d], line.counts[d]) = self.window(d, plane, at);
                }
                let behind = |steps: [isize; 2]| {
                    let [depth, height] = [0, 1].map(|d| (at[d] as isize).wrapping_mul(steps[d]));
                    depth.wrapping_add(height)
                };
                line.values = starts[0].wrapping_offset(behind(to_rows[0]));
                line.places = starts[1].wrapping_offset(behind(to_rows[1]));
                // SAFETY: N1, N2: P1, windows lie within the input, and the row is of the outputs.
                unsafe { kernel(ready.level, &line, &mut room) };
                let left = (heights[1] - at[1]).min(end - row);
                let equal = self.equal(&line, ready.outer[1].get(at[1]..).unwrap_or_default(), left);
                if equal > 1 {
                    // SAFETY: so many rows of the output follow, which are this call's.
                    unsafe { repeat(line.values, self.row_bytes(), to_rows[0][1], equal) };
                }
                row += equal;
            }
        }
        Ok(())
    }

    /// How many rows, from the one that was computed on, are equal: gradients of places that the same windows cover.
    /// One where rows are not runs of bytes.
    fn equal(&self, row: &Row<'_>, windows: &[(Tap, i64)], left: usize) -> usize {
        let size = self.targets[0].1.dtype.size() as isize;
        let is_dense = match row.lanes {
            Some(lanes) => row.width == 1 || row.to[0] == size * lanes as isize,
            None => row.width == 1 || row.to[0] == size,
        };
        if !matches!(self.plan.fold, Fold::Spread(_)) || !is_dense {
            return 1;
        }
        windows.iter().take(left).take_while(|(tap, _)| *tap == row.taps[1]).count().max(1)
    }

    /// Bytes of a row that is one run.
    fn row_bytes(&self) -> usize {
        let values = &self.targets[0].1;
        let lanes = self.lanes.map_or(1, |d| values.sizes[d] as usize);
        values.sizes[values.sizes.len() - 1] as usize * lanes * values.dtype.size()
    }

    /// The window of place `o` of dimension `d` of three, and what it counts in a divisor.
    fn window(&self, d: usize, plane: usize, o: usize) -> (Tap, i64) {
        let axis = (d + self.plan.axes.len()).checked_sub(3);
        match axis {
            Some(k) if is_fractional(self.plan) => (self.ready.starts.window(self.plan, k, plane, o as i64), 1),
            _ => self.ready.outer[d].get(o).copied().unwrap_or((WHOLE, 1)),
        }
    }

    /// A row of a plane, at the plane's first element.
    fn plane(&self, plane: usize) -> Row<'_> {
        let Call { ready, plan, targets, .. } = self;
        let input = &ready.input;
        let (n, dims) = (plan.axes.len(), input.sizes.len());
        let (values, places) = (&targets[0].1, targets.get(1).map(|t| &t.1));
        let (mut from, mut to, mut to_place, mut rest) = (0_isize, 0_isize, 0_isize, plane);
        for d in (0..dims - n).rev().filter(|d| Some(*d) != self.lanes) {
            let size = values.sizes[d] as usize;
            let at = (rest % size) as isize;
            rest /= size;
            from = from.wrapping_add(at.wrapping_mul(input.step(d)));
            to = to.wrapping_add(at.wrapping_mul(values.step(d)));
            to_place = to_place.wrapping_add(places.map_or(0, |p| at.wrapping_mul(p.step(d))));
        }
        let step = |k: usize| {
            plan.axes.get(k).map_or(1, |axis| match plan.fold {
                Fold::Spread(_) => 1,
                _ => axis.step(),
            })
        };
        let inner = |k: usize| input.step(dims - n + k);
        let size = |k: usize| input.sizes[dims - n + k];
        let (steps, strides, sizes) = match n {
            2 => ([1, step(0), step(1)], [0, inner(0), inner(1)], [1, size(0), size(1)]),
            _ => ([step(0), step(1), step(2)], [inner(0), inner(1), inner(2)], [size(0), size(1), size(2)]),
        };
        let along = |t: &Placed| [t.step(dims - 1), self.lanes.map_or(0, |d| t.step(d))];
        let width = values.sizes[dims - 1] as usize;
        Row {
            input: input.data.wrapping_offset(from),
            values: values.data.wrapping_offset(to),
            places: places.map_or(std::ptr::null_mut(), |p| p.data.wrapping_offset(to_place)),
            lanes: self.lanes.map(|d| input.sizes[d] as usize),
            taps: [WHOLE; 2],
            counts: [1; 2],
            steps,
            strides,
            sizes,
            runs: match is_fractional(plan) {
                true => ready.runs.chunks(width).nth(plane).unwrap_or_default(),
                false => &ready.runs,
            },
            divisors: [&ready.divisors[0], &ready.divisors[1], &ready.divisors[2]],
            covered: &ready.covered,
            tiles: ready.tiles,
            width,
            to: along(values),
            to_place: places.map_or([0; 2], along),
            fold: plan.fold,
        }
    }
}

/// Copies the row at `to` to those that follow it, `rows` in all and `step` bytes apart: where they lie side by side,
/// as many at once as there are already.
///
/// # Safety
///
/// Each row is a run of as many bytes, apart from the others and nobody else's; the first one is initialised.
unsafe fn repeat(to: *mut u8, bytes: usize, step: isize, rows: usize) {
    let mut done = 1;
    while done < rows {
        let more = if step == bytes as isize { done.min(rows - done) } else { 1 };
        let next = to.wrapping_offset(step.wrapping_mul(done as isize));
        // SAFETY: rows from the first one on, which are initialised, and rows behind those (the caller's promise).
        unsafe { std::ptr::copy_nonoverlapping(to, next, more * bytes) };
        done += more;
    }
}
