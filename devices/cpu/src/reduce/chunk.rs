//! One chunk: elements from memory into lanes, in place or by way of a stage.

use super::body::{Bodies, Rows, TALL};
use super::lanes::Lanes;
use super::layout::{BESIDE, Dim, LANES, Layout, Way};
use super::parts::PART;
use super::walk::Runs;
use crate::staging::{STAGE_BLOCK_BYTES, StageBlock, StageBuffer, Stager, Tile};
use std::ops::Range;

/// Rows that are staged together: as many as a body folds in one pass.
const STAGED: usize = TALL;

/// Room for those rows, of as many lanes as are staged.
type Staged = StageBuffer<{ STAGED * STAGE_BLOCK_BYTES }>;

/// Room for one part of the accumulators of outputs beside each other.
type Beside = StageBuffer<{ BESIDE * PART }>;

/// The elements of a reduction and what folds them.
///
/// Invariants:
/// * H1: every element that the layout reaches from the operand's first is in bounds, and nobody writes any.
/// * H2: the bodies were chosen for the dtype that `lane` loads, and for this host (B1).
#[derive(Clone, Copy)]
pub(super) struct Chunks<'a> {
    pub(super) layout: &'a Layout,
    pub(super) bodies: &'a Bodies,
    pub(super) lane: &'a Stager,
}

/// Lanes of one output that are being filled.
struct Filling<'a> {
    bodies: &'a Bodies,
    lanes: Lanes,
    /// How many there are.
    row: usize,
    /// How many lanes hold an accumulator.
    filled: usize,
    /// [`Rows::ahead`] of whole rows.
    ahead: isize,
}

impl Chunks<'_> {
    /// Folds elements `range` of the outputs whose first element is at `at` into `width` lanes of `into`.
    ///
    /// # Safety
    ///
    /// H1 from `at`; `into` has `width` lanes, which nobody else uses, and the range is not empty.
    pub(super) unsafe fn fold(&self, at: *const u8, width: usize, range: Range<usize>, into: Lanes) {
        match self.layout.way {
            // SAFETY: H1 from `at`, the lanes of `into` and a range that is not empty are the caller's promise.
            Way::Across(_) => unsafe { self.across(at, range, into) },
            // SAFETY: H1 from `at`, the lanes of `into` and a range that is not empty are the caller's promise.
            Way::Along(dim, _) => unsafe { self.along(at, dim, width, range, into) },
            // SAFETY: H1 from `at`, the lanes of `into` and a range that is not empty are the caller's promise.
            Way::Beside(dim, _) => unsafe { self.beside(at, dim, width, range, into) },
        }
    }

    /// Dense runs of one output each, several at a time: each is folded as `across` would, but the bodies are called for all.
    /// Their lanes are then turned, so that those of different outputs lie beside each other:
    ///
    /// ```text
    /// a0 a1 a2 a3 b0 b1 b2 b3 ─► a0 b0 a1 b1 a2 b2 a3 b3 ─► collapsed, vector by vector ─► a b
    /// ```
    ///
    /// # Safety
    ///
    /// As for `fold`.
    unsafe fn beside(&self, at: *const u8, dim: Dim, width: usize, range: Range<usize>, into: Lanes) {
        let (mut first, mut second) = (Beside::NEW, Beside::NEW);
        let lanes = Lanes { first: first.data(), second: second.data() };
        let (row, size, n) = (self.layout.row(), self.lane.size(), range.len());
        let (bytes, rows) = ((row * size) as isize, n / row);
        let (tall, rest) = (rows / TALL, n - rows * row);
        let at = at.wrapping_add(range.start * size);
        let part = |done: usize, groups: usize, height: usize, lanes: usize| Rows {
            at: at.wrapping_add(done * size),
            stride: bytes,
            step: bytes.wrapping_mul(height as isize),
            groups,
            tall: height == TALL,
            lanes,
            index: [(range.start + done) as i64, if height == TALL { row as i64 } else { 0 }, (row * height) as i64, 1],
            fresh: done == 0,
            ahead: self.layout.ahead,
            outputs: width,
            next: (dim.input, row),
        };
        let folded = tall * TALL * row;
        let parts = [
            part(0, tall, TALL, row),
            part(folded, rows - tall * TALL, 1, row),
            part(rows * row, usize::from(rest > 0), 1, rest),
        ];
        for part in parts.iter().filter(|part| part.groups > 0) {
            // SAFETY: B1 by H2; B2: `width` outputs of `row` lanes are no more than BESIDE, which there is room for,
            // aligned for any part, and the first part opens all; B3 by H1 and H2: the runs are dense.
            unsafe { (self.bodies.absorb)(lanes, part) };
        }
        if width == 1 {
            // SAFETY: B1 by H2; B2: a row of lanes is filled, which are this function's own.
            unsafe { (self.bodies.collapse)(lanes, row, 1) };
            // SAFETY: both have room for a lane, and lie apart: `lanes` are this function's own. Stager 0 was just
            // filled.
            return unsafe { self.copy(lanes, into, 1) };
        }
        let (mut first, mut second) = (Beside::NEW, Beside::NEW);
        let turned = Lanes { first: first.data(), second: second.data() };
        let [first, second] = self.bodies.parts;
        for (from, to, part) in [(lanes.first, turned.first, first), (lanes.second, turned.second, second)] {
            if part > 0 {
                // SAFETY: V1, V2: both have room for so many parts, which were filled, and lie apart.
                unsafe { self.lane.transpose(from, row, width, to, part) };
            }
        }
        // SAFETY: B1 by H2; B2: so many lanes are filled, which are this function's own.
        unsafe { (self.bodies.collapse)(turned, row * width, width) };
        // SAFETY: both have room for the lanes of so many outputs, and lie apart: `turned` are this function's own.
        unsafe { self.copy(turned, into, width) };
    }

    /// Copies `n` accumulators.
    ///
    /// # Safety
    ///
    /// Both runs of lanes have room for them, and lie apart.
    unsafe fn copy(&self, from: Lanes, to: Lanes, n: usize) {
        let [first, second] = self.bodies.parts;
        for (from, to, bytes) in [(from.first, to.first, first * n), (from.second, to.second, second * n)] {
            match bytes {
                0 => {}
                // The accumulator of most: a call would take longer.
                // SAFETY: both runs have 8 bytes of parts, and lie apart, by the caller's promise.
                8 => unsafe { std::ptr::copy_nonoverlapping(from, to, 8) },
                // SAFETY: both runs have so many bytes of parts, and lie apart, by the caller's promise.
                _ => unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) },
            }
        }
    }

    /// # Safety
    ///
    /// As for `fold`.
    unsafe fn across(&self, at: *const u8, range: Range<usize>, into: Lanes) {
        let (mut first, mut second) = (StageBlock::NEW, StageBlock::NEW);
        // A block has room for LANES parts, of which `bodies` asserts that they have no more than PART bytes, and is
        // aligned for any; no row has more lanes.
        const { assert!(LANES * PART <= STAGE_BLOCK_BYTES && align_of::<StageBlock>() >= PART) };
        let lanes = Lanes { first: first.data(), second: second.data() };
        let (row, unit) = (self.layout.row(), self.layout.width());
        let ahead = if self.layout.in_place { self.layout.ahead } else { 0 };
        let mut filling = Filling { bodies: self.bodies, lanes, row, filled: 0, ahead };
        if let (true, [dim]) = (self.layout.in_place, &self.layout.reduced[..]) {
            let x = at.wrapping_offset(dim.input.wrapping_mul(range.start as isize));
            // SAFETY: H1, H2: a layout in place has dense runs of what the bodies take.
            unsafe { filling.absorb(x, range.len() * unit, range.start, self.lane.size()) };
        } else if self.layout.in_place {
            for run in Runs::new(&self.layout.reduced, range) {
                let x = at.wrapping_offset(run.offset);
                // SAFETY: H1, H2: a layout in place has dense runs of what the bodies take.
                unsafe { filling.absorb(x, run.len * unit, run.start, self.lane.size()) };
            }
        } else {
            // SAFETY: H1 from `at` is the caller's promise; the lanes of `filling` are this function's own.
            unsafe { self.staged(at, range, &mut filling) };
        }
        // SAFETY: B1 by H2; B2: so many lanes are filled, which are this function's own.
        unsafe { (self.bodies.collapse)(lanes, filling.filled, unit) };
        // SAFETY: both have room for `unit` lanes, and lie apart: `lanes` are this function's own.
        unsafe { self.copy(lanes, into, unit) };
    }

    /// Folds elements that do not lie side by side, or are of another dtype. Apart from `across`, whose frame would
    /// otherwise have room for the stage in every call.
    ///
    /// # Safety
    ///
    /// H1 from `at`.
    #[inline(never)]
    unsafe fn staged(&self, at: *const u8, range: Range<usize>, filling: &mut Filling<'_>) {
        let (mut stage, mut scratch) = ([const { StageBlock::NEW }; STAGED], StageBlock::NEW);
        let size = self.lane.size();
        let start_of = stage.as_mut_ptr().cast::<u8>();
        let (mut start, mut staged) = (range.start, 0);
        for run in Runs::new(&self.layout.reduced, range) {
            let mut done = 0;
            while done < run.len {
                // No more than LANES elements: a load takes as many as a block holds in either dtype.
                let len = (run.len - done).min(LANES).min(filling.row * STAGED - staged);
                let x = at.wrapping_offset(run.offset.wrapping_add(run.stride.wrapping_mul(done as isize)));
                let tile = Tile { cols: len, rows: 1, inner: run.stride, outer: 0 };
                // SAFETY: L1 and L3 by H1, L2: STAGED blocks have room for LANES elements of any dtype each.
                unsafe { self.lane.load(x, tile, start_of.wrapping_add(staged * size), scratch.data()) };
                (done, staged) = (done + len, staged + len);
                if staged == filling.row * STAGED {
                    // SAFETY: the stage was just filled with what the bodies take (H2).
                    unsafe { filling.absorb(start_of, staged, start, size) };
                    (start, staged) = (start + staged, 0);
                }
            }
        }
        // SAFETY: so many elements of the stage were filled with what the bodies take (H2) since it was last folded.
        unsafe { filling.absorb(start_of, staged, start, size) };
    }

    /// # Safety
    ///
    /// As for `fold`.
    unsafe fn along(&self, at: *const u8, dim: Dim, width: usize, range: Range<usize>, into: Lanes) {
        let mut fresh = true;
        let mut absorb = |at: *const u8, stride: isize, rows: usize, start: usize| {
            let (tall, height) = (rows / TALL, TALL as isize);
            let groups = Rows {
                at,
                stride,
                step: stride.wrapping_mul(height),
                groups: tall,
                tall: true,
                lanes: width,
                index: [start as i64, 1, TALL as i64, 0],
                fresh,
                ahead: if self.layout.fetches { stride.wrapping_mul(height) } else { 0 },
                outputs: 1,
                next: (0, 0),
            };
            let done = tall * TALL;
            let rest = Rows {
                at: at.wrapping_offset(stride.wrapping_mul(done as isize)),
                step: stride,
                groups: rows - done,
                tall: false,
                index: [(start + done) as i64, 0, 1, 0],
                fresh: fresh && done == 0,
                ..groups
            };
            for part in [groups, rest].iter().filter(|part| part.groups > 0) {
                // SAFETY: B1 by H2, B2 by the caller's promise, B3: the rows are in place (H1) or were just staged.
                unsafe { (self.bodies.absorb)(into, part) };
            }
            fresh = false;
        };
        if self.layout.in_place {
            for run in Runs::new(&self.layout.reduced, range) {
                absorb(at.wrapping_offset(run.offset), run.stride, run.len, run.start);
            }
            return;
        }
        let (mut stage, mut scratch) = (Staged::NEW, Staged::NEW);
        let size = self.lane.size();
        let (mut start, mut staged) = (range.start, 0);
        for run in Runs::new(&self.layout.reduced, range) {
            let mut done = 0;
            while done < run.len {
                let rows = (run.len - done).min(STAGED - staged);
                let x = at.wrapping_offset(run.offset.wrapping_add(run.stride.wrapping_mul(done as isize)));
                // All at once: where the rows lie closer together than the lanes, lines of memory are used up when
                // they are met.
                let tile = Tile { cols: width, rows, inner: dim.input, outer: run.stride };
                let to = stage.data().wrapping_add(staged * width * size);
                // SAFETY: L1 and L3 by H1, L2: staged rows have no more than LANES lanes, and the stage has room for
                // so many elements of any dtype in each of STAGED rows.
                unsafe { self.lane.load(x, tile, to, scratch.data()) };
                (done, staged) = (done + rows, staged + rows);
                if staged == STAGED {
                    absorb(stage.data(), (width * size) as isize, staged, start);
                    (start, staged) = (start + staged, 0);
                }
            }
        }
        if staged > 0 {
            absorb(stage.data(), (width * size) as isize, staged, start);
        }
    }
}

impl Filling<'_> {
    /// Folds a dense run of `n` elements, in rows of as many as there are lanes.
    ///
    /// # Safety
    ///
    /// B1 to B3 for the run and for the lanes of a row.
    unsafe fn absorb(&mut self, at: *const u8, n: usize, start: usize, size: usize) {
        let mut done = 0;
        // Where only some lanes are filled, a row is folded into those and opens the others.
        while done < n && self.filled > 0 && self.filled < self.row {
            let len = (n - done).min(self.row);
            let met = len.min(self.filled);
            // SAFETY: B1 to B3 by the caller's promise: these lanes are filled, and the run has as many elements from
            // `done` on.
            unsafe { self.row(at, done, 0..met, start, size, false) };
            // SAFETY: B1 to B3 by the caller's promise: these lanes are opened, and the run has elements for them
            // from `done` on.
            unsafe { self.row(at, done, met..len, start, size, true) };
            self.filled = self.filled.max(len);
            done += len;
        }
        let rows = (n - done) / self.row;
        if rows > 0 {
            // SAFETY: B1 to B3 by the caller's promise: the run has so many whole rows from `done` on, and all lanes
            // or none are filled.
            unsafe { self.rows(at, done, rows, start, size) };
            self.filled = self.row;
            done += rows * self.row;
        }
        let met = (n - done).min(self.filled);
        // SAFETY: B1 to B3 by the caller's promise: these lanes are filled, and the run has as many elements from
        // `done` on.
        unsafe { self.row(at, done, 0..met, start, size, false) };
        // SAFETY: B1 to B3 by the caller's promise: these lanes are opened, and the run has elements for them from
        // `done` on.
        unsafe { self.row(at, done, met..n - done, start, size, true) };
        self.filled = self.filled.max(n - done);
    }

    /// Folds whole rows: into all lanes, or into none that is filled.
    ///
    /// # Safety
    ///
    /// B1 to B3 for those rows.
    unsafe fn rows(&mut self, at: *const u8, done: usize, rows: usize, start: usize, size: usize) {
        let (row, tall) = (self.row, rows / TALL);
        let bytes = (row * size) as isize;
        let groups = Rows {
            at: at.wrapping_add(done * size),
            stride: bytes,
            step: bytes.wrapping_mul(TALL as isize),
            groups: tall,
            tall: true,
            lanes: row,
            index: [(start + done) as i64, row as i64, (row * TALL) as i64, 1],
            fresh: self.filled == 0,
            ahead: self.ahead,
            outputs: 1,
            next: (0, 0),
        };
        let done = done + tall * TALL * row;
        let rest = Rows {
            at: at.wrapping_add(done * size),
            step: bytes,
            groups: rows - tall * TALL,
            tall: false,
            index: [(start + done) as i64, 0, row as i64, 1],
            fresh: self.filled == 0 && tall == 0,
            ..groups
        };
        for part in [groups, rest].iter().filter(|part| part.groups > 0) {
            // SAFETY: B1 to B3 by the caller's promise: the parts are its rows, and the first of them opens lanes
            // that hold nothing.
            unsafe { (self.bodies.absorb)(self.lanes, part) };
        }
    }

    /// Folds some lanes of one row.
    ///
    /// # Safety
    ///
    /// B1 to B3 for those lanes.
    unsafe fn row(&mut self, at: *const u8, done: usize, lanes: Range<usize>, start: usize, size: usize, fresh: bool) {
        if lanes.is_empty() {
            return;
        }
        let [first, second] = self.bodies.parts;
        let into = Lanes {
            first: self.lanes.first.wrapping_add(lanes.start * first),
            second: self.lanes.second.wrapping_add(lanes.start * second),
        };
        let rows = Rows {
            at: at.wrapping_add((done + lanes.start) * size),
            stride: 0,
            step: 0,
            groups: 1,
            tall: false,
            lanes: lanes.len(),
            index: [(start + done + lanes.start) as i64, 0, 0, 1],
            fresh,
            ahead: 0,
            outputs: 1,
            next: (0, 0),
        };
        // SAFETY: B1 to B3 by the caller's promise: `into` and `rows` are those lanes and their elements.
        unsafe { (self.bodies.absorb)(into, &rows) };
    }
}
