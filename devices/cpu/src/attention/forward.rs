//! Outputs and logarithms of sums.

use super::rows::{Block, Normalize, Real, Soften};
use super::{Job, KEYS, QUERIES};
use crate::conv::share_fallible;
use crate::scratch::{Scratch, scratch};
use crate::tile_product::{Matrix, multiply};
use monomorph_core::Result;

/// Multiplications that are worth a piece of work for a thread.
const WORK: usize = 1 << 20;

/// Computes all outputs.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the outputs.
pub(super) unsafe fn run<T: Real>(job: &Job<'_, 2>) -> Result<()> {
    let plan = job.plan;
    let blocks = plan.queries.div_ceil(QUERIES);
    let all = plan.batch * plan.heads[0] * blocks;
    let work = QUERIES.min(plan.queries).saturating_mul(plan.keys).saturating_mul(plan.widths[0] + plan.widths[1]);
    let together = (WORK / work.max(1)).clamp(1, all.max(1));
    share_fallible(all.div_ceil(together), |piece| {
        let rows = QUERIES.min(plan.queries);
        let mut own = Own::<T> {
            scores: scratch(rows * KEYS.min(plan.keys))?,
            output: scratch(rows * plan.widths[1])?,
            largest: scratch(rows)?,
            sums: scratch(rows)?,
        };
        for block in piece * together..all.min((piece + 1) * together) {
            let (of, block) = (block / blocks, block % blocks);
            let (batch, head) = (of / plan.heads[0], of % plan.heads[0]);
            // SAFETY: A1, and blocks are apart.
            unsafe { own.queries(job, batch, head, block * QUERIES) }?;
        }
        Ok(())
    })
}

/// Memory of a piece of work.
struct Own<T> {
    scores: Scratch<T>,
    output: Scratch<T>,
    largest: Scratch<T>,
    sums: Scratch<T>,
}

impl<T: Real> Own<T> {
    /// Computes a block of queries.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`; nobody else uses the outputs of these queries.
    unsafe fn queries(&mut self, job: &Job<'_, 2>, batch: usize, head: usize, start: usize) -> Result<()> {
        let plan = job.plan;
        let n = QUERIES.min(plan.queries - start);
        let [width, value_width] = plan.widths;
        let [key_head, value_head] = job.seen(head);
        let (largest, sums) = (&mut self.largest[..n], &mut self.sums[..n]);
        let output = &mut self.output[..n * value_width];
        largest.fill(T::neg_infinity());
        sums.fill(T::zero());
        output.fill(T::zero());
        let query = Matrix { data: job.query.row::<T>(batch, head, start).cast_const(), ..steps(&job.query) };
        let visible = job.visible(start + n);
        for key in (0..visible).step_by(KEYS) {
            let keys = KEYS.min(visible - key);
            let scores = &mut self.scores[..n * keys];
            let [_, _, row, column] = job.key.steps;
            let of_keys =
                Matrix { data: job.key.row::<T>(batch, key_head, key).cast_const(), row: column, column: row };
            let to = Matrix { data: scores.as_mut_ptr(), row: keys as isize, column: 1 };
            // SAFETY: rows of queries and of keys (A1), and memory of our own.
            unsafe { multiply([n, keys, width], query, of_keys, to, false) }?;
            let block = Block { batch, head, query: start, key, keys, causal: plan.causal };
            let (scale, mask, width) = (T::of(plan.scale), job.mask.as_ref(), value_width);
            job.level.enter(Soften { block, scale, mask, scores, largest, sums, output, width });
            let powers = Matrix { data: scores.as_ptr(), row: keys as isize, column: 1 };
            let values = Matrix { data: job.value.row::<T>(batch, value_head, key).cast_const(), ..steps(&job.value) };
            let to = Matrix { data: output.as_mut_ptr(), row: value_width as isize, column: 1 };
            // SAFETY: rows of values (A1), and memory of our own, which is initialised.
            unsafe { multiply([n, value_width, keys], powers, values, to, true) }?;
        }
        job.level.enter(Normalize { largest, sums, output, width: value_width });
        let [to, of_sums] = &job.outputs;
        for row in 0..n {
            let place = to.row::<T>(batch, head, start + row);
            for (i, &x) in output[row * value_width..][..value_width].iter().enumerate() {
                // SAFETY: an element of the output (A1), which nobody else uses.
                unsafe { place.wrapping_offset((i as isize).wrapping_mul(to.steps[3])).write(x) };
            }
            // SAFETY: an element of the other output (A1), which nobody else uses.
            unsafe { of_sums.row::<T>(batch, head, start + row).write(largest[row]) };
        }
        Ok(())
    }
}

/// Rows of a tensor as a matrix, without its place.
pub(super) fn steps<T>(array: &super::Array) -> Matrix<*const T> {
    Matrix { data: std::ptr::null(), row: array.steps[2], column: array.steps[3] }
}
