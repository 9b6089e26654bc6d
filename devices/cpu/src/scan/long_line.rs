//! A single long line: cut into segments that are scanned side by side, in chunks of which several threads may have
//! some.

use super::kernels::{ACCUMULATOR, Pass, Prefix, ScanKernels};
use super::{Axis, BLOCK, LANES, LaneAccumulators, Place, Ready, Rows, SEGMENT};
use crate::staging::StageBuffer;
use monomorph_core::{Result, list};
use monomorph_iter::{GRAIN, is_parallel, share};

/// Elements of a line that one thread works on.
const CHUNK: usize = 64 * BLOCK;

impl Ready {
    /// Scans one line, in chunks of which several threads may have some.
    ///
    /// # Safety
    ///
    /// C1, C2 for this line, which nobody else writes.
    pub(super) unsafe fn long_line(&self, at: Place) -> Result<()> {
        let Some(kernels) = &self.kernels else { return Ok(()) };
        let chunks = self.line.size.div_ceil(CHUNK);
        if self.serial || !is_parallel(self.line.size, GRAIN) {
            let mut before = One::NEW;
            // SAFETY: room for an accumulator of ours.
            unsafe { (kernels.begin)(before.data(), 1) };
            for chunk in 0..chunks {
                let mut total = One::NEW;
                // SAFETY: C1, C2 for a chunk of the line; `before` holds an accumulator.
                unsafe { self.chunk(kernels, at, chunk, before.data(), Some(total.data())) };
                // SAFETY: L2: both hold an accumulator and are ours.
                unsafe { (kernels.prefix)(Prefix { totals: total.data(), lanes: 1, carry: before.data() }) };
            }
            return Ok(());
        }
        let mut totals: Vec<One> = list::with_capacity(chunks)?;
        totals.resize_with(chunks, || One::NEW);
        let each = Shared(totals.as_mut_ptr());
        share(chunks, |chunk| {
            // SAFETY: chunk `chunk < chunks` has a total of its own.
            let total = unsafe { &mut *each.get().wrapping_add(chunk) };
            // SAFETY: C1, C2 for reading a chunk of the line.
            unsafe { self.total(kernels, at, chunk, total.data()) };
        });
        let mut carry = One::NEW;
        // SAFETY: room for an accumulator of ours.
        unsafe { (kernels.begin)(carry.data(), 1) };
        for total in &mut totals {
            // SAFETY: L2: both hold an accumulator and are ours.
            unsafe { (kernels.prefix)(Prefix { totals: total.data(), lanes: 1, carry: carry.data() }) };
        }
        share(chunks, |chunk| {
            // SAFETY: chunk `chunk < chunks` has an accumulator of its own: what comes before it.
            let before = unsafe { &mut *each.get().wrapping_add(chunk) };
            // SAFETY: C1, C2 for a chunk that no other piece has; `before` holds an accumulator.
            unsafe { self.chunk(kernels, at, chunk, before.data(), None) };
        });
        Ok(())
    }

    /// The tiles of a chunk of a long line: the first element of each, and how many segments it has; the last may be
    /// a single short one.
    fn tiles(&self, chunk: usize) -> impl Iterator<Item = (usize, Rows)> + '_ {
        let first = chunk * CHUNK;
        let end = self.line.size.min(first + CHUNK);
        let lane = Axis {
            size: LANES,
            input: self.line.input.wrapping_mul(SEGMENT as isize),
            output: self.line.output.wrapping_mul(SEGMENT as isize),
        };
        (first..end).step_by(BLOCK).map(move |start| {
            let left = end - start;
            let (rows, lanes) = if left >= BLOCK { (SEGMENT, LANES) } else { (left, 1) };
            (start, Rows { rows, lanes, row: self.line, lane })
        })
    }

    /// Scans a chunk of a long line behind what `before` holds; `total`, if it is asked for, becomes the accumulator
    /// of the chunk alone.
    ///
    /// # Safety
    ///
    /// C1, C2 for the chunk, which nobody else writes; `before` holds an accumulator.
    unsafe fn chunk(&self, kernels: &ScanKernels, at: Place, chunk: usize, before: *mut u8, total: Option<*mut u8>) {
        let mut carry = One::NEW;
        // SAFETY: an accumulator is `Copy` and no larger than this.
        unsafe { std::ptr::copy_nonoverlapping(before, carry.data(), ACCUMULATOR) };
        if let Some(total) = total {
            // SAFETY: room for an accumulator of ours.
            unsafe { (kernels.begin)(total, 1) };
        }
        for (start, tile) in self.tiles(chunk) {
            let scan = |block: *mut u8| {
                let mut lanes = LaneAccumulators::NEW;
                let pass = Pass { from: block, block, rows: tile.rows, lanes: tile.lanes, accumulators: lanes.data() };
                // SAFETY: room for LANES accumulators of ours.
                unsafe { (kernels.begin)(pass.accumulators, tile.lanes) };
                // SAFETY: L1: the tile was loaded; L2: the lanes were just written.
                unsafe { (kernels.total)(pass) };
                if let Some(total) = total {
                    let mut copy = LaneAccumulators::NEW;
                    // SAFETY: both are buffers of this size; accumulators are `Copy`.
                    unsafe { std::ptr::copy_nonoverlapping(lanes.data(), copy.data(), LANES * ACCUMULATOR) };
                    // SAFETY: L2: lanes and total hold accumulators.
                    unsafe { (kernels.prefix)(Prefix { totals: copy.data(), lanes: tile.lanes, carry: total }) };
                }
                // SAFETY: L2: lanes and carry hold accumulators.
                unsafe { (kernels.prefix)(Prefix { totals: lanes.data(), lanes: tile.lanes, carry: carry.data() }) };
                // SAFETY: L1: the tile was loaded; L2: the lanes hold what comes before each segment.
                unsafe { (kernels.scan)(pass) };
            };
            // SAFETY: C1, C2 for a part of the chunk, of at most BLOCK elements.
            unsafe { self.tile(at.along(&self.line, start), &tile, scan, true) };
        }
    }

    /// The accumulator of a chunk of a long line alone.
    ///
    /// # Safety
    ///
    /// C1 for the chunk, which nobody writes meanwhile; room for an accumulator.
    unsafe fn total(&self, kernels: &ScanKernels, at: Place, chunk: usize, total: *mut u8) {
        // SAFETY: room for an accumulator: the caller's promise.
        unsafe { (kernels.begin)(total, 1) };
        for (start, tile) in self.tiles(chunk) {
            let sum = |block: *mut u8| {
                let mut lanes = LaneAccumulators::NEW;
                let pass = Pass { from: block, block, rows: tile.rows, lanes: tile.lanes, accumulators: lanes.data() };
                // SAFETY: room for LANES accumulators of ours.
                unsafe { (kernels.begin)(pass.accumulators, tile.lanes) };
                // SAFETY: L1: the tile was loaded; L2: the lanes were just written.
                unsafe { (kernels.total)(pass) };
                // SAFETY: L2: lanes and total hold accumulators.
                unsafe { (kernels.prefix)(Prefix { totals: lanes.data(), lanes: tile.lanes, carry: total }) };
            };
            // SAFETY: C1 for a part of the chunk, of at most BLOCK elements; nothing is written.
            unsafe { self.tile(at.along(&self.line, start), &tile, sum, false) };
        }
    }
}

/// Room for one accumulator.
type One = StageBuffer<ACCUMULATOR>;

/// A pointer that the threads of a call share.
struct Shared<T>(*mut T);

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

// SAFETY: each thread uses what no other does: see where it is used.
unsafe impl<T> Sync for Shared<T> {}
