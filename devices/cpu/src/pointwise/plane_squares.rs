//! Planes in squares, for operands whose neighbours in memory lie across rows, as `b.t()` in `a + b.t()`.
//!
//! ```text
//! a:  rows are dense     ┌─ 64 ─┐           b.t(): columns are dense   ┌─┬─┬─┐
//!                        ├──────┤                                      │ │ │ │
//!                        └──────┘                                      └─┴─┴─┘
//! ```
//!
//! Walked along `a`, every element of `b.t()` would touch another cache line. A square of both fits the first-level
//! cache, so each line is used up while it is there: the transposed operand is staged square by square, and the next
//! square is prefetched meanwhile. 4096² float32 against PyTorch: 0.94 row by row, 3.45 in squares with prefetch of the
//! transposed operand, 7.2 with prefetch of all (decision 0010).

use super::kernel_fn::Traversal;
use super::operand_base::MAX_OPERANDS;
use super::planes::{Plane, PlaneLoop};
use crate::cache_lines::prefetch_run;
use crate::staging::StageBuffer;
use crate::tile_copy::{SQUARE_SIDE, Tile};

/// Bytes of the block that a square of one operand is staged in: 64 × 64 elements of four bytes.
const SQUARE_BYTES: usize = 16384;

/// The most operands that are staged in squares.
const MAX_STAGED: usize = 3;

impl PlaneLoop<'_> {
    /// True if an operand that must be staged is dense across rows, or nearly.
    pub(super) fn suits_squares(&self, plane: &Plane<'_>) -> bool {
        let across = |k: usize| plane.tile(k).suits_squares();
        let is_staged = |k: &usize| plane.staged >> k & 1 == 1;
        (0..self.stagers.len()).filter(is_staged).any(across)
            && (0..self.stagers.len()).filter(is_staged).count() <= MAX_STAGED
    }

    /// Computes in squares. Only what is staged is moved square by square; the kernel is still called for each row of
    /// one.
    #[inline(never)]
    pub(super) fn squares(&self, plane: &Plane<'_>) -> bool {
        let mut blocks = [const { StageBuffer::<SQUARE_BYTES>::NEW }; MAX_STAGED];
        let mut scratch = StageBuffer::<SQUARE_BYTES>::NEW;
        let scratch = scratch.data();
        let mut free = blocks.iter_mut();
        let n = self.stagers.len();
        // The block of each staged operand, null for the others.
        let mut block = [std::ptr::null_mut::<u8>(); MAX_OPERANDS];
        for (k, block) in block.iter_mut().enumerate().take(n) {
            if plane.staged >> k & 1 == 1
                && let Some(stage) = free.next()
            {
                *block = stage.data();
            }
        }
        let capacity = self.stagers.iter().map(|stager| stager.capacity_of(SQUARE_BYTES)).min().unwrap_or(1);
        let side = SQUARE_SIDE.min(plane.cols);
        let height = (capacity / SQUARE_SIDE).min(SQUARE_SIDE).min(plane.rows);
        let mut ins = [std::ptr::null::<u8>(); MAX_OPERANDS];
        for row in (0..plane.rows).step_by(height) {
            for col in (0..plane.cols).step_by(side) {
                let (rows, cols) = (height.min(plane.rows - row), side.min(plane.cols - col));
                let tile = |k: usize| Tile { cols, rows, inner: plane.inner[k], outer: plane.outer[k] };
                for k in (1..n).filter(|&k| !block[k].is_null()) {
                    let from = plane.element(k, row, col).cast_const();
                    // SAFETY:
                    // * L1: the square is part of the plane (PL1);
                    // * L2: a square has at most `side * height <= capacity` elements; `scratch` is another block;
                    // * L3: nobody else writes the operand (PL1), and this thread writes after it has read (I4).
                    unsafe { self.stagers[k].load(from, tile(k), block[k], scratch) };
                    let (row, col) = if col + side < plane.cols { (row, col + side) } else { (row + height, 0) };
                    if row < plane.rows {
                        self.stagers[k].prefetch(plane.element(k, row, col), tile(k));
                    }
                }
                let at = |k: usize, r: usize| {
                    let staged = block[k].wrapping_add(r * cols * self.stagers[k].size());
                    if block[k].is_null() { plane.element(k, row + r, col) } else { staged }
                };
                let unstaged = |k: &usize| block[*k].is_null();
                for r in 0..rows {
                    // The runs of a square are too short for the hardware prefetcher to follow.
                    for k in (0..n).filter(unstaged) {
                        prefetch_run(plane.element(k, row + r, col + side), side * self.stagers[k].size());
                    }
                    for (k, to) in ins.iter_mut().enumerate().take(n - 1) {
                        *to = at(k + 1, r).cast_const();
                    }
                    // SAFETY:
                    // * K1 by D2; K4: `plane` was promised it; K5 and K6 don't apply;
                    // * K2: staged operands are dense in their blocks, the others are dense runs of `cols` elements in
                    //   memory (PL1);
                    // * K3: blocks are locals of their own, and operands in memory are the output or apart from it
                    //   (I4).
                    if !unsafe { (self.kernel)(at(0, r), ins.as_ptr(), cols, self.params, Traversal::Dense) } {
                        return false;
                    }
                }
                if !block[0].is_null() {
                    let to = plane.element(0, row, col);
                    // SAFETY:
                    // * L1: the square is part of the plane (PL1);
                    // * L2: a square has at most `side * height <= capacity` elements; `scratch` is another block;
                    // * the kernel filled the block, and nobody else uses these elements of the output (PL1).
                    unsafe { self.stagers[0].store(block[0], to, tile(0), scratch) };
                }
            }
        }
        true
    }
}
