//! The walk of an index plan over memory: indices are turned into places block by block, checked on the way, and the
//! loops are given the blocks.
//!
//! ```text
//!   axes:   outer … │ lane: the last axis that an index steps with │ rows: axes that only base and values step with
//!                     places of up to BLOCK points, checked          one run at each place, or none: then points
//! ```

use super::kernels::{BLOCK, Loops, Values};
use super::lookup::Lookup;
use super::placed::product;
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
use smallvec::SmallVec;

/// One dimension of the walk, steps in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WalkAxis {
    pub(super) size: usize,
    pub(super) base: isize,
    pub(super) values: isize,
    pub(super) index: SmallVec<[isize; 2]>,
    /// Points that differ here are never one element of the base.
    pub(super) apart: bool,
}

/// A walk over memory.
///
/// Invariant: W1: from `base` and `values`, for every point of the axes, the steps lead to elements of the loops' size
/// in bounds, once the places of indices in range are added in the base; from the data of each lookup to an index.
#[derive(Clone)]
pub(super) struct Walk {
    pub(super) axes: SmallVec<[WalkAxis; 4]>,
    pub(super) lookups: SmallVec<[Lookup; 2]>,
    pub(super) base: *mut u8,
    pub(super) values: *mut u8,
    /// What values are multiplied by.
    pub(super) scale: *const u8,
    /// Bytes of an element.
    pub(super) size: usize,
}

/// A walk, shared by the threads that do it.
struct SharedWalk<'a>(&'a Walk);

// SAFETY: threads walk parts that write different elements: `part` cuts an axis of a gather, whose values lie apart,
// or one along which a scatter's elements do.
unsafe impl Sync for SharedWalk<'_> {}

impl SharedWalk<'_> {
    fn get(&self) -> &Walk {
        self.0
    }
}

impl Walk {
    /// Drops axes of one point, and merges neighbours that step as one.
    pub(super) fn coalesce(&mut self) {
        let mut merged: SmallVec<[WalkAxis; 4]> = SmallVec::new();
        for axis in self.axes.drain(..).filter(|axis| axis.size != 1) {
            let fits = |outer: &WalkAxis| {
                let whole = |inner: isize, outer: isize| inner.wrapping_mul(axis.size as isize) == outer;
                let indices = axis.index.iter().zip(&outer.index);
                outer.apart == axis.apart
                    && whole(axis.base, outer.base)
                    && whole(axis.values, outer.values)
                    && indices.into_iter().all(|(&inner, &outer)| whole(inner, outer))
            };
            match merged.last_mut().filter(|outer| fits(outer)) {
                Some(outer) => *outer = WalkAxis { size: outer.size.saturating_mul(axis.size), ..axis },
                None => merged.push(axis),
            }
        }
        self.axes = merged;
    }

    fn points(&self) -> usize {
        product(self.axes.iter().map(|axis| axis.size))
    }

    /// Walks all points; false if an index was out of range, and then some points were not walked.
    ///
    /// # Safety
    ///
    /// W1; V2; nobody else writes the base or the values, or reads what is written. `parallel` only if every axis that
    /// is `apart` is so.
    pub(super) unsafe fn run(&self, loops: Loops, parallel: bool) -> bool {
        let total = self.points();
        if total == 0 {
            return true;
        }
        let cut = self.axes.iter().position(|axis| axis.apart && axis.size >= 2);
        let Some(cut) = cut.filter(|_| parallel && is_parallel(total, GRAIN)) else {
            // SAFETY: the caller's promise.
            return unsafe { self.serial(loops) };
        };
        // The longest of those that can be cut, if the first is short.
        let longest = |&i: &usize| (self.axes[i].apart, self.axes[i].size);
        let cut = match self.axes[cut].size >= pieces() {
            true => cut,
            false => (0..self.axes.len()).rev().max_by_key(longest).unwrap_or(cut),
        };
        let size = self.axes[cut].size;
        let length = size.div_ceil(pieces().min(total.div_ceil(GRAIN)).max(1));
        let failed = std::sync::atomic::AtomicBool::new(false);
        let walk = SharedWalk(self);
        share(size.div_ceil(length), |piece| {
            let start = piece * length;
            let part = walk.get().part(cut, start, length.min(size - start));
            // SAFETY: a part of the walk that shares nothing written with the others.
            if !unsafe { part.serial(loops) } {
                failed.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        });
        !failed.into_inner()
    }

    /// The points whose coordinate in one axis is from `start` on.
    fn part(&self, cut: usize, start: usize, length: usize) -> Walk {
        let mut part = self.clone();
        let (axis, start) = (&mut part.axes[cut], start as isize);
        axis.size = length;
        part.base = part.base.wrapping_offset(start.wrapping_mul(axis.base));
        part.values = part.values.wrapping_offset(start.wrapping_mul(axis.values));
        for (lookup, &step) in part.lookups.iter_mut().zip(&axis.index) {
            lookup.data = lookup.data.wrapping_offset(start.wrapping_mul(step));
        }
        part
    }

    /// # Safety
    ///
    /// As for [`run`](Walk::run).
    unsafe fn serial(&self, loops: Loops) -> bool {
        let lane = self.axes.iter().rposition(|axis| axis.index.iter().any(|&step| step != 0));
        let one =
            WalkAxis { size: 1, base: 0, values: 0, index: self.lookups.iter().map(|_| 0).collect(), apart: false };
        let (outer, lane, rows) = match lane {
            Some(lane) => (&self.axes[..lane], &self.axes[lane], &self.axes[lane + 1..]),
            None => (&self.axes[..0], &one, &self.axes[..]),
        };
        let mut places = [0_isize; BLOCK];
        let outer_points = product(outer.iter().map(|axis| axis.size));
        let mut at = Cursor::new(self, outer.len());
        // One block of places that no outer axis changes is the same for all points of these.
        let is_same = lane.size <= BLOCK && outer.iter().all(|axis| axis.index.iter().all(|&step| step == 0));
        for point in 0..outer_points {
            for start in (0..lane.size).step_by(BLOCK) {
                let places = &mut places[..BLOCK.min(lane.size - start)];
                // SAFETY: W1 for points of this lane.
                if (point == 0 || !is_same) && !unsafe { self.place(&at, lane, start, places) } {
                    return false;
                }
                let values = at.values.wrapping_offset((start as isize).wrapping_mul(lane.values));
                // SAFETY: W1: all of them are in range.
                unsafe { self.block(loops, at.base, places, values, lane.values, rows) };
            }
            at.advance(outer);
        }
        true
    }

    /// The places of points of the lane, from the base of the cursor on; false if an index is out of range.
    ///
    /// # Safety
    ///
    /// W1 for these points.
    #[inline]
    unsafe fn place(&self, at: &Cursor, lane: &WalkAxis, start: usize, places: &mut [isize]) -> bool {
        let mut is_in_range = true;
        if self.lookups.is_empty() {
            places.fill(0);
        }
        for (k, lookup) in self.lookups.iter().enumerate() {
            let from = at.indices[k].wrapping_offset((start as isize).wrapping_mul(lane.index[k]));
            // SAFETY: W1: the lane has these indices.
            is_in_range &= unsafe { lookup.place(from, lane.index[k], places, k > 0) };
        }
        if lane.base != 0 {
            let first = (start as isize).wrapping_mul(lane.base);
            for (i, place) in places.iter_mut().enumerate() {
                *place = place.wrapping_add(first.wrapping_add((i as isize).wrapping_mul(lane.base)));
            }
        }
        is_in_range
    }

    /// Gives the loops one block of places.
    ///
    /// # Safety
    ///
    /// W1 for the points of the block, all of whose indices are in range.
    #[inline]
    unsafe fn block(
        &self,
        loops: Loops,
        base: *mut u8,
        places: &[isize],
        values: *mut u8,
        step: isize,
        rows: &[WalkAxis],
    ) {
        let Some((row, between)) = rows.split_last() else {
            // SAFETY: V1, V2, B1 by W1.
            return unsafe { (loops.points)(base, places, Values { data: values, step, scale: self.scale }) };
        };
        /// How many rows ahead the next ones are prefetched: where they begin the hardware cannot know.
        const AHEAD: usize = 4;
        /// Bytes of a row that are prefetched: as many rows as that fit in the first-level cache.
        const PREFETCHED: usize = 1 << 11;
        /// A base of so many bytes is expected in the second-level cache.
        const NEAR: usize = 1 << 18;
        let bytes = row.size * self.size;
        let is_far = self.lookups.iter().any(|lookup| lookup.reach() > NEAR);
        for (i, &place) in places.iter().enumerate() {
            if let Some(&next) = places.get(i + AHEAD).filter(|_| is_far) {
                crate::cache_lines::prefetch_run(base.wrapping_offset(next), bytes.min(PREFETCHED));
            }
            let (base, data) = (base.wrapping_offset(place), values.wrapping_offset((i as isize).wrapping_mul(step)));
            if between.is_empty() {
                let values = Values { data, step: row.values, scale: self.scale };
                // SAFETY: V1, V2, B1 by W1.
                unsafe { (loops.row)(base, row.base, row.size, values) };
                continue;
            }
            let mut at = Cursor { base, values: data, indices: SmallVec::new(), counts: SmallVec::new() };
            at.counts.resize(between.len(), 0);
            for _ in 0..product(between.iter().map(|axis| axis.size)) {
                let values = Values { data: at.values, step: row.values, scale: self.scale };
                // SAFETY: V1, V2, B1 by W1.
                unsafe { (loops.row)(at.base, row.base, row.size, values) };
                at.advance(between);
            }
        }
    }
}

/// A point of some axes.
struct Cursor {
    base: *mut u8,
    values: *mut u8,
    indices: SmallVec<[*const u8; 2]>,
    counts: SmallVec<[usize; 4]>,
}

impl Cursor {
    fn new(walk: &Walk, axes: usize) -> Cursor {
        let indices = walk.lookups.iter().map(|lookup| lookup.data).collect();
        let counts = (0..axes).map(|_| 0).collect();
        Cursor { base: walk.base, values: walk.values, indices, counts }
    }

    /// To the next point in row-major order.
    #[inline]
    fn advance(&mut self, axes: &[WalkAxis]) {
        for (axis, count) in axes.iter().zip(&mut self.counts).rev() {
            *count += 1;
            let (by, wraps) = if *count < axis.size { (1, false) } else { (1 - axis.size as isize, true) };
            self.base = self.base.wrapping_offset(axis.base.wrapping_mul(by));
            self.values = self.values.wrapping_offset(axis.values.wrapping_mul(by));
            for (at, &step) in self.indices.iter_mut().zip(&axis.index) {
                *at = at.wrapping_offset(step.wrapping_mul(by));
            }
            if !wraps {
                return;
            }
            *count = 0;
        }
    }
}
