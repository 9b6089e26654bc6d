//! One chunk: elements from memory into lanes, in place or by way of a stage.

use super::body::{Bodies, Rows};
use super::lanes::Lanes;
use super::layout::{Dim, LANES, Layout, Way};
use super::walk::Runs;
use crate::lane::{BLOCK, Block, Lane, Tile};
use std::ops::Range;

/// Rows that are staged together: as many as a body folds in one pass.
const STAGED: usize = 8;

/// The elements of a reduction and what folds them.
///
/// Invariants:
/// * H1: every element that the layout reaches from the operand's first is in bounds, and nobody writes any.
/// * H2: the bodies were chosen for the dtype that `lane` loads, and for this host (B1).
#[derive(Clone, Copy)]
pub(super) struct Chunks<'a> {
    pub(super) layout: &'a Layout,
    pub(super) bodies: &'a Bodies,
    pub(super) lane: &'a Lane,
}

/// Lanes of one output that are being filled.
struct Filling<'a> {
    bodies: &'a Bodies,
    lanes: Lanes,
    /// How many lanes hold an accumulator.
    filled: usize,
}

impl Chunks<'_> {
    /// Folds elements `range` of the outputs whose first element is at `at` into `width` lanes of `into`.
    ///
    /// # Safety
    ///
    /// H1 from `at`; `into` has `width` lanes, which nobody else uses, and the range is not empty.
    pub(super) unsafe fn fold(&self, at: *const u8, width: usize, range: Range<usize>, into: Lanes) {
        match self.layout.way {
            // SAFETY: passed on.
            Way::Across => unsafe { self.across(at, range, into) },
            // SAFETY: passed on.
            Way::Along(dim, _) => unsafe { self.along(at, dim, width, range, into) },
        }
    }

    /// # Safety
    ///
    /// As for `fold`.
    unsafe fn across(&self, at: *const u8, range: Range<usize>, into: Lanes) {
        let (mut first, mut second) = (Block::NEW, Block::NEW);
        // A block has room for LANES parts of any size, and is aligned for any.
        const { assert!(LANES * size_of::<u128>() <= BLOCK) };
        let lanes = Lanes { first: first.data(), second: second.data() };
        let mut filling = Filling { bodies: self.bodies, lanes, filled: 0 };
        if self.layout.in_place {
            for run in Runs::new(&self.layout.reduced, range) {
                let x = at.wrapping_offset(run.offset);
                // SAFETY: H1, H2: a layout in place has dense runs of what the bodies take.
                unsafe { filling.absorb(x, run.len, run.start, self.lane.size()) };
            }
        } else {
            let (mut stage, mut scratch) = ([const { Block::NEW }; STAGED], Block::NEW);
            let size = self.lane.size();
            let start_of = stage.as_mut_ptr().cast::<u8>();
            let (mut start, mut staged) = (range.start, 0);
            for run in Runs::new(&self.layout.reduced, range) {
                let mut done = 0;
                while done < run.len {
                    // No more than LANES elements: a load takes as many as a block holds in either dtype.
                    let len = (run.len - done).min(LANES).min(LANES * STAGED - staged);
                    let x = at.wrapping_offset(run.offset + run.stride * done as isize);
                    let tile = Tile { cols: len, rows: 1, inner: run.stride, outer: 0 };
                    // SAFETY: L1 and L3 by H1, L2: STAGED blocks have room for LANES elements of any dtype each.
                    unsafe { self.lane.load(x, tile, start_of.wrapping_add(staged * size), scratch.data()) };
                    (done, staged) = (done + len, staged + len);
                    if staged == LANES * STAGED {
                        // SAFETY: the stage was just filled with what the bodies take (H2).
                        unsafe { filling.absorb(start_of, staged, start, size) };
                        (start, staged) = (start + staged, 0);
                    }
                }
            }
            // SAFETY: as above.
            unsafe { filling.absorb(start_of, staged, start, size) };
        }
        // SAFETY: B1 by H2, B2: so many lanes are filled.
        unsafe { (self.bodies.collapse)(lanes, filling.filled) };
        let [first, second] = self.bodies.parts;
        // SAFETY: both have room for one part, and lie apart.
        unsafe { std::ptr::copy_nonoverlapping(lanes.first, into.first, first) };
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(lanes.second, into.second, second) };
    }

    /// # Safety
    ///
    /// As for `fold`.
    unsafe fn along(&self, at: *const u8, dim: Dim, width: usize, range: Range<usize>, into: Lanes) {
        let mut fresh = true;
        let mut absorb = |at: *const u8, stride: isize, rows: usize, start: usize| {
            let index = [start as i64, 1, 0];
            // SAFETY: B1 by H2, B2 by the caller's promise, B3: the rows are in place (H1) or were just staged.
            unsafe { (self.bodies.absorb)(into, &Rows { at, stride, rows, lanes: width, index, fresh }) };
            fresh = false;
        };
        if self.layout.in_place {
            for run in Runs::new(&self.layout.reduced, range) {
                absorb(at.wrapping_offset(run.offset), run.stride, run.len, run.start);
            }
            return;
        }
        let (mut stage, mut scratch) = ([const { Block::NEW }; STAGED], Block::NEW);
        let (mut start, mut staged) = (range.start, 0);
        for run in Runs::new(&self.layout.reduced, range) {
            for i in 0..run.len {
                let x = at.wrapping_offset(run.offset + run.stride * i as isize);
                let tile = Tile { cols: width, rows: 1, inner: dim.input, outer: 0 };
                // SAFETY: L1 and L3 by H1, L2: a block has room for LANES elements of any dtype, and staged rows have no
                // more lanes than that.
                unsafe { self.lane.load(x, tile, stage[staged].data(), scratch.data()) };
                staged += 1;
                if staged == STAGED {
                    absorb(stage[0].data(), BLOCK as isize, staged, start);
                    (start, staged) = (start + staged, 0);
                }
            }
        }
        if staged > 0 {
            absorb(stage[0].data(), BLOCK as isize, staged, start);
        }
    }
}

impl Filling<'_> {
    /// Folds a dense run of `n` elements, in rows of `LANES`.
    ///
    /// # Safety
    ///
    /// B1 to B3 for the run and the lanes.
    unsafe fn absorb(&mut self, at: *const u8, n: usize, start: usize, size: usize) {
        let row = |r: usize| (at.wrapping_add(r * LANES * size), start + r * LANES);
        let mut r = 0;
        // Where only some lanes are filled, a row is folded into those and opens the others.
        while r * LANES < n && (self.filled != LANES || n - r * LANES < LANES) {
            let (x, index) = row(r);
            let len = (n - r * LANES).min(LANES);
            if self.filled == 0 && n - r * LANES >= LANES {
                // SAFETY: passed on.
                unsafe { self.rows(x, (n - r * LANES) / LANES, 0..LANES, index, size, true) };
                r += (n - r * LANES) / LANES;
                self.filled = LANES;
                continue;
            }
            let met = len.min(self.filled);
            // SAFETY: passed on.
            unsafe { self.rows(x, 1, 0..met, index, size, false) };
            // SAFETY: passed on.
            unsafe { self.rows(x, 1, met..len, index, size, true) };
            self.filled = self.filled.max(len);
            r += 1;
        }
        if r * LANES < n {
            let (x, index) = row(r);
            let rows = (n - r * LANES) / LANES;
            // SAFETY: passed on.
            unsafe { self.rows(x, rows, 0..LANES, index, size, false) };
            let (x, index) = row(r + rows);
            // SAFETY: passed on.
            unsafe { self.rows(x, 1, 0..n - (r + rows) * LANES, index, size, false) };
        }
    }

    /// Folds part of each of some rows.
    ///
    /// # Safety
    ///
    /// B1 to B3 for those lanes.
    unsafe fn rows(&mut self, at: *const u8, rows: usize, lanes: Range<usize>, start: usize, size: usize, fresh: bool) {
        if lanes.is_empty() {
            return;
        }
        let [first, second] = self.bodies.parts;
        let into = Lanes {
            first: self.lanes.first.wrapping_add(lanes.start * first),
            second: self.lanes.second.wrapping_add(lanes.start * second),
        };
        let rows = Rows {
            at: at.wrapping_add(lanes.start * size),
            stride: (LANES * size) as isize,
            rows,
            lanes: lanes.len(),
            index: [(start + lanes.start) as i64, LANES as i64, 1],
            fresh,
        };
        // SAFETY: passed on.
        unsafe { (self.bodies.absorb)(into, &rows) };
    }
}
