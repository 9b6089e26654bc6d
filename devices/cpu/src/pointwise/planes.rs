//! Planes of elements through a kernel: which of six ways suits a plane, and the loops over rows and tiles.
//!
//! A *plane* is what `TensorIter::for_each` hands out: `rows` rows of `cols` elements, each operand with a stride
//! within rows (`inner`) and one from row to row (`outer`). It is computed, in this order of preference,
//!
//! * element by element, if operands may overlap in a way that nobody could analyse;
//! * by one call of the kernel, if that takes such rows itself ([`RowLayout`]): light formulas;
//! * in squares (`plane_squares.rs`), if some operand is dense across rows while others are dense within them, as in
//!   `a + b.t()`;
//! * in tiles of many rows, if rows are short, or not long and nothing but broadcast operands needs staging for it: an
//!   operand that is dense across rows needs none then;
//! * row by row without staging, if every operand is a dense run in each row;
//! * in tiles of a part of a row.
//!
//! If every row is the same, one is computed in the way above and copied to the others.
//!
//! A tile is read completely before any of it is written, and no other tile reads what it writes (I4 of `TensorIter`).
//! A staged input is not staged again while its source stays the same: a number is converted once, a broadcast row
//! once.

use super::kernel_fn::{KernelFn, Traversal};
use super::non_temporal;
use super::operand_base::MAX_OPERANDS;
use super::row_layout::{LONG_ROW_BYTES, RowLayout, RowMode, SHORT_ROW};
use crate::cache_lines::store_fence;
use crate::staging::{StageBuffer, Stager};
use crate::tile_copy::Tile;
use monomorph_iter::TensorIter;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of the block that a tile of one operand is staged in. Larger blocks save calls of the kernel; those of three
/// operands still stay in a first-level cache of 32 KiB (decision 0010).
pub(super) const STAGE_BYTES: usize = 8192;

/// One run of a driver, shared by the threads that do it. D1 and D2 are those of [`Driver`](super::driver::Driver).
pub(super) struct PlaneLoop<'d> {
    pub(super) kernel: KernelFn,
    pub(super) stagers: &'d [Stager],
    /// The operand that the kernel compares with its output.
    pub(super) first_value: usize,
    /// Elements must be computed one by one, in order.
    pub(super) serial: bool,
    /// An element takes longer to move than to compute.
    pub(super) light: bool,
    /// The rows that the kernel takes (K6).
    row_mode: RowMode,
    /// The output is too large for any cache.
    pub(super) non_temporal: bool,
    /// Bit `k` is set if operand `k` is staged whatever its strides: it is converted, conjugated or negated.
    pub(super) always_staged: u32,
    /// Elements that a staging block holds of every operand.
    pub(super) capacity: usize,
    pub(super) params: *const (),
    /// Set by the first thread that finds operands without a result; all others then stop.
    pub(super) fault: AtomicBool,
}

// SAFETY: `params` points to a formula's parameters, which are `Sync` and only read; every other field is `Sync` by
// itself.
unsafe impl Sync for PlaneLoop<'_> {}

impl<'d> PlaneLoop<'d> {
    pub(super) fn new(
        kernel: KernelFn,
        first_value: usize,
        light: bool,
        row_mode: RowMode,
        iter: &TensorIter,
        stagers: &'d [Stager],
        params: *const (),
    ) -> PlaneLoop<'d> {
        let bit = |(k, stager): (usize, &Stager)| u32::from(!stager.is_direct()) << k;
        let serial = iter.must_be_serial();
        PlaneLoop {
            kernel,
            stagers,
            first_value,
            serial,
            light,
            row_mode,
            non_temporal: light && !serial && non_temporal::is_worthwhile(iter.numel() * stagers[0].size()),
            always_staged: stagers.iter().enumerate().map(bit).sum(),
            capacity: stagers.iter().map(|stager| stager.capacity_of(STAGE_BYTES)).min().unwrap_or(1),
            params,
            fault: AtomicBool::new(false),
        }
    }

    /// Computes a plane: `rows` rows of `cols` elements; `inner` strides within a row, `outer` ones from row to row.
    ///
    /// # Safety
    ///
    /// * PL1 of [`Plane`] for these.
    /// * D1 and D2 of the driver; K4 for the parameters.
    pub(super) unsafe fn plane(&self, at: &[*mut u8], inner: &[isize], outer: &[isize], cols: usize, rows: usize) {
        if self.fault.load(Ordering::Relaxed) {
            return;
        }
        let mut staged = self.always_staged;
        for (k, stager) in self.stagers.iter().enumerate() {
            let dense = inner[k] == stager.size() as isize;
            // A kernel looks for its output in one input only. As another input it would fail the loop's overlap check
            // and run one element at a time, which costs more than a copy.
            let other = k != 0 && k != self.first_value && at[k] == at[0];
            staged |= u32::from(!dense || other) << k;
        }
        let plane = Plane { at, inner, outer, cols, rows, staged };
        let done = if self.repeats_one_row(&plane) { self.compute_row_and_copy(&plane) } else { self.compute(&plane) };
        if self.non_temporal {
            store_fence();
        }
        if !done {
            self.fault.store(true, Ordering::Relaxed);
        }
    }

    /// Computes a plane in the way that suits it. False if some operands have no result, here and below.
    fn compute(&self, plane: &Plane<'_>) -> bool {
        let &Plane { cols, rows, staged, .. } = plane;
        if self.serial {
            self.tiles(plane, 1, 1)
        } else if let Some(rows) = self.rows_for_kernel(plane) {
            self.call_for_row(plane, 0, Traversal::Rows(&rows))
        } else if self.suits_squares(plane) {
            self.squares(plane)
        } else if let Some(staged) = self.staged_in_joined_rows(plane) {
            self.tiles(&Plane { staged, ..*plane }, cols, rows.min(self.capacity / cols))
        } else if staged == 0 {
            let traversal = if self.non_temporal { Traversal::NonTemporal } else { Traversal::Dense };
            (0..plane.rows).all(|row| self.call_for_row(plane, row, traversal))
        } else {
            self.tiles(plane, cols.min(self.capacity), 1)
        }
    }

    /// True if every row is the same, and copying one costs less than computing it.
    fn repeats_one_row(&self, plane: &Plane<'_>) -> bool {
        let &Plane { outer, cols, rows, .. } = plane;
        let same = rows > 1 && !self.serial && !self.light && outer[0] != 0 && outer[1..].iter().all(|&step| step == 0);
        same && (cols >= SHORT_ROW || self.stagers[0].is_dense(&plane.tile(0)))
    }

    /// Computes the first row and copies it to all others.
    fn compute_row_and_copy(&self, plane: &Plane<'_>) -> bool {
        let &Plane { at, inner, cols, rows, .. } = plane;
        if !self.compute(&Plane { rows: 1, ..*plane }) {
            return false;
        }
        let stager = &self.stagers[0];
        let is_dense = stager.is_dense(&plane.tile(0));
        let mut row = 1;
        while row < rows {
            // A dense plane is doubled, as many rows at a time as there are already, while the first-level cache holds
            // them.
            let more = if is_dense { row.min((self.capacity / cols).max(1)).min(rows - row) } else { 1 };
            let to = plane.element(0, row, 0);
            // SAFETY:
            // * in bounds: `row + more <= rows`, and `more > 1` only if the rows are one dense run (PL1);
            // * apart: both sides are different rows of an output, no two elements of which share memory;
            // * initialised: the first `row >= more` rows are computed; nobody else uses the output (PL1).
            unsafe { stager.copy(at[0], to, inner[0], more * cols) };
            row += more;
        }
        true
    }

    /// The operands to be staged if tiles take several rows; `None` if they had better not.
    fn staged_in_joined_rows(&self, plane: &Plane<'_>) -> Option<u32> {
        let &Plane { inner, outer, cols, rows, .. } = plane;
        if rows == 1 || cols > self.capacity / 2 {
            return None;
        }
        let bits = |holds: &dyn Fn(usize) -> bool| (0..inner.len()).map(|k| u32::from(holds(k)) << k).sum::<u32>();
        let uneven = bits(&|k| outer[k] != inner[k] * cols as isize);
        // A row that is broadcast is staged once for the whole plane; any other operand once for every tile.
        let expensive = uneven & !plane.staged & !bits(&|k| k != 0 && outer[k] == 0);
        (cols < SHORT_ROW || expensive == 0).then_some(plane.staged | uneven)
    }

    /// The rows as the kernel takes them, if it does and joining them into tiles would not be faster.
    fn rows_for_kernel(&self, plane: &Plane<'_>) -> Option<RowLayout> {
        let is_apart = plane.at[1..].iter().all(|&at| at != plane.at[0]);
        if self.row_mode == RowMode::Single || self.non_temporal || self.always_staged != 0 || !is_apart {
            return None;
        }
        let operand = |k: usize| (self.stagers[k].size(), [plane.inner[k], plane.outer[k]]);
        let rows = RowLayout::of(self.row_mode, [plane.cols, plane.rows], self.stagers.len(), operand)?;
        let is_faster = rows.broadcast.is_some()
            || plane.cols * self.stagers[0].size() >= LONG_ROW_BYTES
            || self.staged_in_joined_rows(plane).is_none();
        is_faster.then_some(rows)
    }

    /// Calls the kernel for a row of which nothing is staged, or, by [`Traversal::Rows`], for all rows from it on.
    fn call_for_row(&self, plane: &Plane<'_>, row: usize, traversal: Traversal<'_>) -> bool {
        let mut ins = [std::ptr::null(); MAX_OPERANDS];
        for (k, to) in ins.iter_mut().enumerate().take(self.stagers.len() - 1) {
            *to = plane.element(k + 1, row, 0).cast_const();
        }
        let out = plane.element(0, row, 0);
        // SAFETY:
        // * K1 by D2;
        // * K2: nothing is staged, so every operand is a dense run of `cols` elements in its row, in bounds by PL1;
        // * K3: the iteration is not serial, so inputs are the output or apart from it (I4);
        // * K4: `plane` was promised it;
        // * K6: rows come from `rows_for_kernel`, which asks for a mode that takes them and for inputs that are not the
        //   output.
        unsafe { self.call_kernel(out, &ins, plane.cols, traversal) }
    }

    /// Calls the kernel for dense operands, with non-temporal stores only if no input is the output.
    ///
    /// # Safety
    ///
    /// K1 to K4 and K6 of `kernel_fn.rs`.
    #[inline]
    pub(super) unsafe fn call_kernel(
        &self,
        out: *mut u8,
        ins: &[*const u8; MAX_OPERANDS],
        n: usize,
        traversal: Traversal<'_>,
    ) -> bool {
        let is_input = || ins[..self.stagers.len() - 1].iter().any(|&at| std::ptr::eq(at, out));
        let traversal =
            if matches!(traversal, Traversal::NonTemporal) && is_input() { Traversal::Dense } else { traversal };
        // SAFETY:
        // * K1 to K4 and K6: the caller promises them;
        // * K5: no input is the output where stores are non-temporal, and `plane` ends with a fence.
        unsafe { (self.kernel)(out, ins.as_ptr(), n, self.params, traversal) }
    }

    /// Computes in tiles of `rows` rows of `cols` elements.
    fn tiles(&self, plane: &Plane<'_>, cols: usize, rows: usize) -> bool {
        let mut blocks = [const { StageBuffer::<STAGE_BYTES>::NEW }; MAX_OPERANDS];
        let mut scratch = StageBuffer::<STAGE_BYTES>::NEW;
        let scratch = scratch.data();
        // What each block was last filled from, and with how many elements.
        let mut filled = [(std::ptr::null::<u8>(), 0); MAX_OPERANDS];
        let mut ins = [std::ptr::null::<u8>(); MAX_OPERANDS];
        for row in (0..plane.rows).step_by(rows) {
            for col in (0..plane.cols).step_by(cols) {
                let (rows, cols) = (rows.min(plane.rows - row), cols.min(plane.cols - col));
                let tile = |k: usize| Tile { cols, rows, inner: plane.inner[k], outer: plane.outer[k] };
                for k in 1..self.stagers.len() {
                    let from = plane.element(k, row, col).cast_const();
                    if plane.staged >> k & 1 == 0 {
                        ins[k - 1] = from;
                        continue;
                    }
                    let block = blocks[k].data();
                    ins[k - 1] = block;
                    if self.serial || filled[k].0 != from || filled[k].1 < rows * cols {
                        // SAFETY:
                        // * L1: the tile is part of the plane (PL1);
                        // * L2: a tile has at most `capacity` elements, which every block holds; `scratch` is another
                        //   block;
                        // * L3: nobody else writes the operand (PL1), and this thread writes after it has read (I4).
                        unsafe { self.stagers[k].load(from, tile(k), block, scratch) };
                        filled[k] = (from, rows * cols);
                    }
                }
                let to = plane.element(0, row, col);
                let is_staged = plane.staged & 1 == 1;
                let out = if is_staged { blocks[0].data() } else { to };
                let traversal = if self.non_temporal && !is_staged { Traversal::NonTemporal } else { Traversal::Dense };
                // SAFETY:
                // * K1 by D2; K4: `plane` was promised it; K6 doesn't apply;
                // * K2: staged operands are dense in their blocks, the others are dense runs of the tile's elements in
                //   memory (PL1);
                // * K3: blocks are locals of their own, and operands in memory are the output or apart from it (I4),
                //   unless the iteration is serial, where the tile is one element.
                if !unsafe { self.call_kernel(out, &ins, rows * cols, traversal) } {
                    return false;
                }
                if is_staged {
                    // SAFETY:
                    // * L1: the tile is part of the plane (PL1);
                    // * L2: a tile has at most `capacity` elements, which every block holds; `scratch` is another
                    //   block;
                    // * the kernel filled the block, and nobody else uses these elements of the output (PL1).
                    unsafe { self.stagers[0].store(out, to, tile(0), scratch) };
                }
            }
        }
        true
    }
}

/// What `for_each` hands out.
///
/// Invariants:
/// * PL1: `element(k, row, col)` of operand `k` is in bounds for every `row < rows` and `col < cols`, and initialised
///   if the operand is an input. Nobody else writes these elements, or reads those of the output (W1, W2 of
///   `for_each`).
pub(super) struct Plane<'p> {
    at: &'p [*mut u8],
    pub(super) inner: &'p [isize],
    pub(super) outer: &'p [isize],
    pub(super) cols: usize,
    pub(super) rows: usize,
    /// Bit `k` is set if operand `k` is staged.
    pub(super) staged: u32,
}

impl Plane<'_> {
    /// Operand `k`, all of it.
    pub(super) fn tile(&self, k: usize) -> Tile {
        Tile { cols: self.cols, rows: self.rows, inner: self.inner[k], outer: self.outer[k] }
    }

    /// The address of an element of operand `k`.
    pub(super) fn element(&self, k: usize, row: usize, col: usize) -> *mut u8 {
        self.at[k].wrapping_offset(row as isize * self.outer[k] + col as isize * self.inner[k])
    }
}
