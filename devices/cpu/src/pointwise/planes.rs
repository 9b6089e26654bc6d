//! The walk of a driver over what is not one dense run.
//!
//! A *plane* is what `for_each` hands out: rows of elements. It is walked
//!
//! * row by row without staging, if every operand is a dense run in each row, and rows are long or there is but one;
//! * by one call of the body, if it goes through such rows itself ([`Rows`]): light formulas;
//! * in tiles of part of a row, if rows are long;
//! * in tiles of many rows, if rows are short, or not long and nothing but broadcast operands needs staging for it: an
//!   operand that is dense across rows needs none then;
//! * in squares, if some operand is dense across rows while others are dense within them, as in `a + b.t()`: every line of
//!   memory is then used up when it is met;
//! * element by element, if operands may overlap in a way that nobody could analyse.
//!
//! A tile is read completely before any of it is written, and what it writes is read by no other tile (I4 of `TensorIter`).
//! A staged input is not staged again while its source stays where it is: a number is converted once, a broadcast row once.

use super::body::{Body, Going};
use super::driver::{Driver, MAX, STAGE};
use super::rows::{LONG, Rows, SHORT, Walks};
use super::streaming;
use crate::lane::{Lane, Stage};
use crate::lines::{end_stream, prefetch_run};
use crate::moves::{SIDE, Tile};
use monomorph_iter::TensorIter;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of the block that a square is staged in.
const SQUARE: usize = 16384;

/// Operands that squares can stage.
const SQUARES: usize = 3;

/// One run of a driver, shared by the threads that do it.
pub(super) struct Planes<'d> {
    body: Body,
    lanes: &'d [Lane],
    first: usize,
    serial: bool,
    /// An element takes longer to move than to compute.
    light: bool,
    /// The rows that the body takes (K6).
    walks: Walks,
    /// No cache will keep the output.
    streams: bool,
    /// Bit `k` is set if operand `k` is staged whatever its strides.
    staged: u32,
    /// Elements that a block holds of every operand.
    capacity: usize,
    params: *const (),
    /// Set by the first body that finds data without a result; everyone else then stops.
    pub(super) fault: AtomicBool,
}

// SAFETY: `params` points to parameters, which are `Sync`; everything else is so by itself.
unsafe impl Sync for Planes<'_> {}

impl<'d> Planes<'d> {
    pub(super) fn new(driver: &Driver, iter: &TensorIter, lanes: &'d [Lane], params: *const ()) -> Planes<'d> {
        let bit = |(k, lane): (usize, &Lane)| u32::from(!lane.is_direct()) << k;
        Planes {
            body: driver.body,
            lanes,
            first: driver.first,
            serial: iter.must_be_serial(),
            light: driver.light,
            walks: driver.walks,
            streams: driver.light && !iter.must_be_serial() && streaming::pays(iter.numel() * lanes[0].size()),
            staged: lanes.iter().enumerate().map(bit).sum(),
            capacity: lanes.iter().map(|lane| lane.capacity_of(STAGE)).min().unwrap_or(1),
            params,
            fault: AtomicBool::new(false),
        }
    }

    /// Computes `rows` rows of `cols` elements. `strides` are those within a row, then those from row to row.
    ///
    /// The loop of `for_each`: called within its contract, W1 and W2, and under D1 and D2.
    pub(super) fn plane(&self, at: &[*mut u8], strides: &[isize], cols: usize, rows: usize) {
        if self.fault.load(Ordering::Relaxed) {
            return;
        }
        let (inner, outer) = strides.split_at(self.lanes.len());
        let mut staged = self.staged;
        for (k, lane) in self.lanes.iter().enumerate() {
            let dense = inner[k] == lane.size() as isize;
            // A body looks for its output among its inputs in one place only; found elsewhere it would run one element at a
            // time, which costs more than a copy.
            let other = k != 0 && k != self.first && at[k] == at[0];
            staged |= u32::from(!dense || other) << k;
        }
        let plane = Plane { at, inner, outer, cols, rows, staged };
        let done = if self.repeats(&plane) { self.repeated(&plane) } else { self.walk(&plane) };
        if self.streams {
            end_stream();
        }
        if !done {
            self.fault.store(true, Ordering::Relaxed);
        }
    }

    /// False if the data has no result, here and below.
    fn walk(&self, plane: &Plane<'_>) -> bool {
        let &Plane { cols, rows, staged, .. } = plane;
        if self.serial {
            self.tiles(plane, 1, 1)
        } else if let Some(rows) = self.by_rows(plane) {
            self.row(plane, 0, Going::Rows(&rows))
        } else if self.is_square(plane) {
            self.squares(plane)
        } else if let Some(staged) = self.joined(plane) {
            self.tiles(&Plane { staged, ..*plane }, cols, rows.min(self.capacity / cols))
        } else if staged == 0 {
            let going = if self.streams { Going::Streamed } else { Going::Along };
            (0..plane.rows).all(|row| self.row(plane, row, going))
        } else {
            self.tiles(plane, cols.min(self.capacity), 1)
        }
    }

    /// True if every row is the same, and copying one costs less than computing it.
    fn repeats(&self, plane: &Plane<'_>) -> bool {
        let &Plane { outer, cols, rows, .. } = plane;
        let same = rows > 1 && !self.serial && !self.light && outer[0] != 0 && outer[1..].iter().all(|&step| step == 0);
        same && (cols >= SHORT || self.lanes[0].is_dense(&plane.tile(0)))
    }

    /// One row, copied to all others.
    fn repeated(&self, plane: &Plane<'_>) -> bool {
        let &Plane { at, inner, cols, rows, .. } = plane;
        if !self.walk(&Plane { rows: 1, ..*plane }) {
            return false;
        }
        let lane = &self.lanes[0];
        let is_dense = lane.is_dense(&plane.tile(0));
        let mut row = 1;
        while row < rows {
            // Of a dense plane as many rows as there are already, as long as the first-level cache keeps them.
            let more = if is_dense { row.min((self.capacity / cols).max(1)).min(rows - row) } else { 1 };
            let to = plane.element(0, row, 0);
            // SAFETY: W1: both rows are the output's, and they lie apart (no two elements of an output share memory); the
            // first rows are computed.
            unsafe { lane.copy(at[0], to, inner[0], more * cols) };
            row += more;
        }
        true
    }

    /// What is staged if tiles take several rows; `None` if they had better not.
    fn joined(&self, plane: &Plane<'_>) -> Option<u32> {
        let &Plane { inner, outer, cols, rows, .. } = plane;
        if rows == 1 || cols > self.capacity / 2 {
            return None;
        }
        let bits = |holds: &dyn Fn(usize) -> bool| (0..inner.len()).map(|k| u32::from(holds(k)) << k).sum::<u32>();
        let uneven = bits(&|k| outer[k] != inner[k] * cols as isize);
        // One row for all is staged once.
        let dear = uneven & !plane.staged & !bits(&|k| k != 0 && outer[k] == 0);
        (cols < SHORT || dear == 0).then_some(plane.staged | uneven)
    }

    /// True if an operand is dense across rows, or nearly, and must be staged.
    fn is_square(&self, plane: &Plane<'_>) -> bool {
        let across = |k: usize| plane.tile(k).takes_squares();
        let is_staged = |k: &usize| plane.staged >> k & 1 == 1;
        (0..self.lanes.len()).filter(is_staged).any(across)
            && (0..self.lanes.len()).filter(is_staged).count() <= SQUARES
    }

    /// The rows as the body takes them, if it does and joining them would not be faster.
    fn by_rows(&self, plane: &Plane<'_>) -> Option<Rows> {
        let is_apart = plane.at[1..].iter().all(|&at| at != plane.at[0]);
        if self.walks == Walks::One || self.streams || self.staged != 0 || !is_apart {
            return None;
        }
        let operand = |k: usize| (self.lanes[k].size(), [plane.inner[k], plane.outer[k]]);
        let rows = Rows::of(self.walks, [plane.cols, plane.rows], self.lanes.len(), operand)?;
        let is_worth =
            rows.still.is_some() || plane.cols * self.lanes[0].size() >= LONG || self.joined(plane).is_none();
        is_worth.then_some(rows)
    }

    /// A row, nothing staged, or all rows from it on.
    fn row(&self, plane: &Plane<'_>, row: usize, going: Going<'_>) -> bool {
        let mut ins = [std::ptr::null(); MAX];
        for (k, to) in ins.iter_mut().enumerate().take(self.lanes.len() - 1) {
            *to = plane.element(k + 1, row, 0).cast_const();
        }
        let out = plane.element(0, row, 0);
        // SAFETY: K1, K2 by D2 and W1 (every operand is a dense run of its row, or stands still in it, K6), K3 by I4, K4 by the
        // contract of `run`.
        unsafe { self.dense(out, &ins, plane.cols, going) }
    }

    /// A dense run, past the caches only if no input is the output.
    ///
    /// # Safety
    ///
    /// K1 to K4 and K6 of `body.rs`.
    #[inline]
    unsafe fn dense(&self, out: *mut u8, ins: &[*const u8; MAX], n: usize, going: Going<'_>) -> bool {
        let is_input = || ins[..self.lanes.len() - 1].iter().any(|&at| std::ptr::eq(at, out));
        let going = if matches!(going, Going::Streamed) && is_input() { Going::Along } else { going };
        // SAFETY: passed on; K5: no input is the output, and `plane` ends the stream.
        unsafe { (self.body)(out, ins.as_ptr(), n, self.params, going) }
    }

    /// In tiles of `rows` rows of `cols` elements.
    fn tiles(&self, plane: &Plane<'_>, cols: usize, rows: usize) -> bool {
        let mut blocks = [const { Stage::<STAGE>::NEW }; MAX];
        let mut scratch = Stage::<STAGE>::NEW;
        let scratch = scratch.data();
        // What each block was last filled from, and with how many elements.
        let mut held = [(std::ptr::null::<u8>(), 0); MAX];
        let mut ins = [std::ptr::null::<u8>(); MAX];
        for row in (0..plane.rows).step_by(rows) {
            for col in (0..plane.cols).step_by(cols) {
                let (rows, cols) = (rows.min(plane.rows - row), cols.min(plane.cols - col));
                let tile = |k: usize| Tile { cols, rows, inner: plane.inner[k], outer: plane.outer[k] };
                for k in 1..self.lanes.len() {
                    let from = plane.element(k, row, col).cast_const();
                    if plane.staged >> k & 1 == 0 {
                        ins[k - 1] = from;
                        continue;
                    }
                    let block = blocks[k].data();
                    ins[k - 1] = block;
                    if self.serial || held[k].0 != from || held[k].1 < rows * cols {
                        // SAFETY: L1 by W1, L2 since a tile has no more elements than every block holds, L3 by I4.
                        unsafe { self.lanes[k].load(from, tile(k), block, scratch) };
                        held[k] = (from, rows * cols);
                    }
                }
                let to = plane.element(0, row, col);
                let is_staged = plane.staged & 1 == 1;
                let out = if is_staged { blocks[0].data() } else { to };
                let going = if self.streams && !is_staged { Going::Streamed } else { Going::Along };
                // SAFETY: K1, K2 by D2 and W1 (staged operands are dense in their blocks, the others in memory), K3 by I4
                // or because the tile is one element, K4 by the contract of `run`.
                if !unsafe { self.dense(out, &ins, rows * cols, going) } {
                    return false;
                }
                if is_staged {
                    // SAFETY: L1 by W1, L2 as above; the body filled the block; no other tile uses these elements (I4), or
                    // all tiles are done by this thread.
                    unsafe { self.lanes[0].store(out, to, tile(0), scratch) };
                }
            }
        }
        true
    }
}

impl Planes<'_> {
    /// In squares. Only what is staged is moved by squares; a body still takes row by row of one.
    #[inline(never)]
    fn squares(&self, plane: &Plane<'_>) -> bool {
        let mut blocks = [const { Stage::<SQUARE>::NEW }; SQUARES];
        let mut scratch = Stage::<SQUARE>::NEW;
        let scratch = scratch.data();
        let mut free = blocks.iter_mut();
        let n = self.lanes.len();
        // The block of each staged operand, null for the others.
        let mut block = [std::ptr::null_mut::<u8>(); MAX];
        for (k, block) in block.iter_mut().enumerate().take(n) {
            if plane.staged >> k & 1 == 1
                && let Some(stage) = free.next()
            {
                *block = stage.data();
            }
        }
        let capacity = self.lanes.iter().map(|lane| lane.capacity_of(SQUARE)).min().unwrap_or(1);
        let (side, height) = (SIDE.min(plane.cols), (capacity / SIDE).min(SIDE).min(plane.rows));
        let mut ins = [std::ptr::null::<u8>(); MAX];
        for row in (0..plane.rows).step_by(height) {
            for col in (0..plane.cols).step_by(side) {
                let (rows, cols) = (height.min(plane.rows - row), side.min(plane.cols - col));
                let tile = |k: usize| Tile { cols, rows, inner: plane.inner[k], outer: plane.outer[k] };
                for k in (1..n).filter(|&k| !block[k].is_null()) {
                    let from = plane.element(k, row, col).cast_const();
                    // SAFETY: L1 by W1, L2 since a square has no more elements than every block holds, L3 by I4.
                    unsafe { self.lanes[k].load(from, tile(k), block[k], scratch) };
                    let (row, col) = if col + side < plane.cols { (row, col + side) } else { (row + height, 0) };
                    if row < plane.rows {
                        self.lanes[k].prefetch(plane.element(k, row, col), tile(k));
                    }
                }
                let at = |k: usize, r: usize| {
                    let staged = block[k].wrapping_add(r * cols * self.lanes[k].size());
                    if block[k].is_null() { plane.element(k, row + r, col) } else { staged }
                };
                let unstaged = |k: &usize| block[*k].is_null();
                for r in 0..rows {
                    // The runs of a square are too short for the processor to see where they lead.
                    for k in (0..n).filter(unstaged) {
                        prefetch_run(plane.element(k, row + r, col + side), side * self.lanes[k].size());
                    }
                    for (k, to) in ins.iter_mut().enumerate().take(n - 1) {
                        *to = at(k + 1, r).cast_const();
                    }
                    // SAFETY: K1, K2 by D2 and W1 (staged operands are dense in their blocks, the others in memory), K3 by
                    // I4, K4 by the contract of `run`.
                    if !unsafe { (self.body)(at(0, r), ins.as_ptr(), cols, self.params, Going::Along) } {
                        return false;
                    }
                }
                if !block[0].is_null() {
                    let to = plane.element(0, row, col);
                    // SAFETY: L1 by W1, L2 as above; the body filled the block; no other square uses these elements (I4).
                    unsafe { self.lanes[0].store(block[0], to, tile(0), scratch) };
                }
            }
        }
        true
    }
}

/// What `for_each` hands out.
struct Plane<'p> {
    at: &'p [*mut u8],
    inner: &'p [isize],
    outer: &'p [isize],
    cols: usize,
    rows: usize,
    /// Bit `k` is set if operand `k` is staged.
    staged: u32,
}

impl Plane<'_> {
    fn tile(&self, k: usize) -> Tile {
        Tile { cols: self.cols, rows: self.rows, inner: self.inner[k], outer: self.outer[k] }
    }

    fn element(&self, k: usize, row: usize, col: usize) -> *mut u8 {
        self.at[k].wrapping_offset(row as isize * self.outer[k] + col as isize * self.inner[k])
    }
}
