//! The walk of an index plan over memory: indices are turned into places block by block, checked on the way, and the
//! loops are given the blocks.
//!
//! ```text
//!   axes:   outer … │ lane: the last axis that an index steps with │ rows: axes that only base and values step with
//!                     places of up to BLOCK points, checked          one run at each place, or none: then points
//! ```

use super::kernels::{BLOCK, Loops, Values};
use super::placed::Placed;
use monomorph_core::{DType, ErrorKind, Result};
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
use monomorph_ops::index::IndexRange;
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

/// A tensor of indices, and what they mean.
#[derive(Clone)]
pub(super) struct Lookup {
    pub(super) data: *const u8,
    pub(super) tensor: Placed,
    /// What indices are below.
    pub(super) size: i64,
    pub(super) range: IndexRange,
    /// Bytes in the base from one index to the next.
    pub(super) step: isize,
    pub(super) arg: &'static str,
    pub(super) dim: Option<usize>,
}

impl Lookup {
    /// The lowest index in range.
    fn low(&self) -> i64 {
        match self.range {
            IndexRange::FromStart => 0,
            IndexRange::FromBothEnds => -self.size,
            // Of size 0 none is.
            IndexRange::Modulo => {
                if self.size == 0 {
                    0
                } else {
                    i64::MIN
                }
            }
        }
    }

    /// True if indices are int64, not int32.
    fn is_wide(&self) -> bool {
        self.tensor.dtype == DType::I64
    }

    /// Writes, or adds, the places of `places.len()` indices; false if one is out of range.
    ///
    /// # Safety
    ///
    /// Index `i` lies `i * step` bytes from `from`, in bounds and initialised.
    unsafe fn place(&self, from: *const u8, step: isize, places: &mut [isize], adds: bool) -> bool {
        match (self.is_wide(), adds) {
            // SAFETY: the caller's promise; the tensor is of int64.
            (true, false) => unsafe { self.place_as::<i64, false>(from, step, places) },
            // SAFETY: the caller's promise; the tensor is of int64.
            (true, true) => unsafe { self.place_as::<i64, true>(from, step, places) },
            // SAFETY: the caller's promise; the tensor is of int32.
            (false, false) => unsafe { self.place_as::<i32, false>(from, step, places) },
            // SAFETY: the caller's promise; the tensor is of int32.
            (false, true) => unsafe { self.place_as::<i32, true>(from, step, places) },
        }
    }

    /// # Safety
    ///
    /// As for [`place`](Lookup::place), for indices of type `T`.
    #[inline(always)]
    unsafe fn place_as<T: Copy + Into<i64>, const ADDS: bool>(
        &self,
        from: *const u8,
        step: isize,
        places: &mut [isize],
    ) -> bool {
        let (low, size, base) = (self.low(), self.size, self.step as i64);
        let span = size.wrapping_sub(low) as u64;
        let modulo = self.range == IndexRange::Modulo;
        let mut bad = modulo && size == 0;
        let mut each = |place: &mut isize, index: i64| {
            let from_start = match modulo {
                // `bad` says so if the size is 0.
                true => index.checked_rem_euclid(size).unwrap_or(0),
                false => {
                    bad |= index.wrapping_sub(low) as u64 >= span;
                    index.wrapping_add(index >> 63 & size)
                }
            };
            let at = from_start.wrapping_mul(base) as isize;
            *place = if ADDS { place.wrapping_add(at) } else { at };
        };
        if step == size_of::<T>() as isize {
            for (i, place) in places.iter_mut().enumerate() {
                // SAFETY: index `i`, which is dense, is in bounds.
                each(place, unsafe { from.cast::<T>().wrapping_add(i).read_unaligned() }.into());
            }
        } else {
            for (i, place) in places.iter_mut().enumerate() {
                let at = from.wrapping_offset(i as isize * step).cast::<T>();
                // SAFETY: index `i` is in bounds.
                each(place, unsafe { at.read_unaligned() }.into());
            }
        }
        !bad
    }

    /// Looks at every index; an error names the first that is out of range.
    ///
    /// # Safety
    ///
    /// P1; nobody writes the tensor.
    pub(super) unsafe fn check(&self) -> Result<()> {
        let tensor = &self.tensor;
        let (n, numel) = (tensor.sizes.last().map_or(1, |&n| n as usize), tensor.numel());
        if numel == 0 {
            return Ok(());
        }
        let step = tensor.sizes.len().checked_sub(1).map_or(0, |last| tensor.step(last));
        let mut places = [0_isize; BLOCK];
        // One run where all lie side by side.
        let (n, step) = if tensor.is_contiguous() { (numel, tensor.dtype.size() as isize) } else { (n, step) };
        for row in 0..numel / n {
            let (mut at, mut left) = (self.data, row);
            for d in (0..tensor.sizes.len().saturating_sub(1)).rev().filter(|_| n != numel) {
                let size = tensor.sizes[d] as usize;
                at = at.wrapping_offset((left % size) as isize * tensor.step(d));
                left /= size;
            }
            for start in (0..n).step_by(BLOCK) {
                let from = at.wrapping_offset(start as isize * step);
                let places = &mut places[..BLOCK.min(n - start)];
                // SAFETY: indices of one row, which the tensor has (P1).
                if !unsafe { self.place(from, step, places, false) } {
                    let ok = |i: &usize| {
                        let at = from.wrapping_offset(*i as isize * step);
                        // SAFETY: one of them.
                        unsafe { self.place(at, step, &mut [0], false) }
                    };
                    let first = (0..places.len()).find(|i| !ok(i)).unwrap_or(0);
                    // SAFETY: one of them.
                    return Err(unsafe { self.error(from.wrapping_offset(first as isize * step)) });
                }
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// There is an index.
    #[cold]
    unsafe fn error(&self, at: *const u8) -> monomorph_core::Error {
        let got = match self.is_wide() {
            // SAFETY: an int64 (the caller's promise).
            true => unsafe { at.cast::<i64>().read_unaligned() },
            // SAFETY: an int32 (the caller's promise).
            false => unsafe { at.cast::<i32>().read_unaligned() }.into(),
        };
        let Lookup { arg, dim, size, .. } = *self;
        let low = self.low();
        ErrorKind::IndexOutOfRange { arg, got, dim, size, low }.into()
    }
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

// SAFETY: threads walk parts that write different elements: `part` cuts an axis of a gather, whose values lie apart, or
// one along which a scatter's elements do.
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
                Some(outer) => *outer = WalkAxis { size: outer.size * axis.size, ..axis },
                None => merged.push(axis),
            }
        }
        self.axes = merged;
    }

    fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.size).product()
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
        let outer_points: usize = outer.iter().map(|axis| axis.size).product();
        let mut at = Cursor::new(self, outer.len());
        for _ in 0..outer_points {
            for start in (0..lane.size).step_by(BLOCK) {
                let places = &mut places[..BLOCK.min(lane.size - start)];
                // SAFETY: W1 for points of this lane.
                if !unsafe { self.place(&at, lane, start, places) } {
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
        /// Rows of so many bytes are far enough from each other for the hardware to need telling.
        const AHEAD: usize = 2;
        let bytes = row.size * self.size;
        for (i, &place) in places.iter().enumerate() {
            if let Some(&next) = places.get(i + AHEAD) {
                crate::cache_lines::prefetch_run(base.wrapping_offset(next), bytes.min(512));
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
            for _ in 0..between.iter().map(|axis| axis.size).product() {
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
