//! Gradients by query, key and value, of which scores are computed anew:
//!
//! ```text
//!   p  = e^(score - logarithm of the sum)        dv += pᵀ · dout
//!   dp = dout · valueᵀ                           ds  = p · (dp - Σ out · dout) · scale
//!   dq += ds · key                               dk += dsᵀ · query
//! ```

use super::forward::steps;
use super::rows::{Block, Real, Slopes};
use super::{Array, Job, KEYS, QUERIES};
use crate::conv::share_fallible;
use crate::scratch::{Scratch, scratch};
use crate::tile_product::{Matrix, multiply};
use monomorph_core::Result;

/// Computes all gradients; given are that of the output, the output and logarithms of sums.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the outputs.
pub(super) unsafe fn run<T: Real>(job: &Job<'_, 3>, given: [Array; 3]) -> Result<()> {
    let plan = job.plan;
    let [heads, key_heads, _] = plan.heads;
    let shared = heads / key_heads.max(1);
    share_fallible(plan.batch * key_heads, |piece| {
        let (batch, key_head) = (piece / key_heads, piece % key_heads);
        let (rows, keys) = (QUERIES.min(plan.queries), KEYS.min(plan.keys));
        let block = rows * keys;
        let mut own = Own::<T> {
            scores: scratch(block)?,
            slopes: scratch(block)?,
            sums: scratch(rows)?,
            products: scratch(rows)?,
        };
        // SAFETY: A1: an output of this piece.
        unsafe { zero::<T>(&job.outputs[1], batch, key_head, [plan.keys, plan.widths[0]]) };
        // SAFETY: A1: an output of this piece.
        unsafe { zero::<T>(&job.outputs[2], batch, key_head, [plan.keys, plan.widths[1]]) };
        for head in key_head * shared..(key_head + 1) * shared {
            // SAFETY: A1: an output of this piece.
            unsafe { zero::<T>(&job.outputs[0], batch, head, [plan.queries, plan.widths[0]]) };
            for start in (0..plan.queries).step_by(QUERIES) {
                // SAFETY: A1, and pieces are apart.
                unsafe { own.queries(job, &given, [batch, head, key_head], start) }?;
            }
        }
        Ok(())
    })
}

/// Zeros for the rows of a head.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses these rows.
unsafe fn zero<T: Real>(array: &Array, batch: usize, head: usize, [rows, width]: [usize; 2]) {
    for row in 0..rows {
        let first = array.row::<T>(batch, head, row);
        for i in 0..width as isize {
            // SAFETY: an element of the row.
            unsafe { first.wrapping_offset(i.wrapping_mul(array.steps[3])).write(T::zero()) };
        }
    }
}

/// Memory of a piece of work.
struct Own<T> {
    scores: Scratch<T>,
    slopes: Scratch<T>,
    sums: Scratch<T>,
    products: Scratch<T>,
}

impl<T: Real> Own<T> {
    /// Adds what a block of queries contributes.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`; nobody else uses the outputs of these heads, which are initialised.
    unsafe fn queries(
        &mut self,
        job: &Job<'_, 3>,
        [grad, out, sums]: &[Array; 3],
        [batch, head, key_head]: [usize; 3],
        start: usize,
    ) -> Result<()> {
        let plan = job.plan;
        let n = QUERIES.min(plan.queries - start);
        let [width, value_width] = plan.widths;
        for row in 0..n {
            // SAFETY: an element of the sums (A1).
            self.sums[row] = unsafe { sums.row::<T>(batch, head, start + row).read() };
            let (g, o) = (grad.row::<T>(batch, head, start + row), out.row::<T>(batch, head, start + row));
            self.products[row] = (0..value_width as isize).fold(T::zero(), |sum, i| {
                // SAFETY: an element of the gradient (A1).
                let g = unsafe { g.wrapping_offset(i.wrapping_mul(grad.steps[3])).read() };
                // SAFETY: an element of the output (A1).
                let o = unsafe { o.wrapping_offset(i.wrapping_mul(out.steps[3])).read() };
                sum + g * o
            });
        }
        // Rows of a tensor, as a matrix and as its transpose.
        let rows = |array: &Array, head: usize, row: usize| Matrix {
            data: array.row::<T>(batch, head, row).cast_const(),
            ..steps(array)
        };
        let across = |matrix: Matrix<*const T>| Matrix { data: matrix.data, row: matrix.column, column: matrix.row };
        let target = |array: &Array, head: usize, row: usize| {
            let [_, _, step, column] = array.steps;
            Matrix { data: array.row::<T>(batch, head, row), row: step, column }
        };
        let (query, of_output) = (rows(&job.query, head, start), rows(grad, head, start));
        let visible = job.visible(start + n);
        for key in (0..visible).step_by(KEYS) {
            let keys = KEYS.min(visible - key);
            let (of_keys, of_values) = (rows(&job.key, key_head, key), rows(&job.value, key_head, key));
            let (scores, slopes) = (&mut self.scores[..n * keys], &mut self.slopes[..n * keys]);
            let own = |data: *mut T| Matrix { data, row: keys as isize, column: 1 };
            // SAFETY: rows of queries and keys (A1), and memory of our own.
            unsafe { multiply([n, keys, width], query, across(of_keys), own(scores.as_mut_ptr()), false) }?;
            // SAFETY: rows of the gradient and of values (A1), and memory of our own.
            unsafe { multiply([n, keys, value_width], of_output, across(of_values), own(slopes.as_mut_ptr()), false) }?;
            let block = Block { batch, head, query: start, key, keys, causal: plan.causal };
            let (scale, mask) = (T::of(plan.scale), job.mask.as_ref());
            let (sums, products) = (&self.sums[..n], &self.products[..n]);
            job.level.enter(Slopes { block, scale, mask, scores, slopes, sums, products });
            let read = |data: &[T]| Matrix { data: data.as_ptr(), row: keys as isize, column: 1 };
            let (powers, slopes) = (read(scores), read(slopes));
            let [of_query, of_key, of_value] = &job.outputs;
            let (of_value, of_key) = (target(of_value, key_head, key), target(of_key, key_head, key));
            let of_query = target(of_query, head, start);
            // SAFETY: memory of our own, rows of the gradient, and rows of an output (A1), which are initialised.
            unsafe { multiply([keys, value_width, n], across(powers), of_output, of_value, true) }?;
            // SAFETY: memory of our own, rows of queries, and rows of an output (A1), which are initialised.
            unsafe { multiply([keys, width, n], across(slopes), query, of_key, true) }?;
            // SAFETY: memory of our own, rows of keys, and rows of an output (A1), which are initialised.
            unsafe { multiply([n, width, keys], slopes, of_keys, of_query, true) }?;
        }
        Ok(())
    }
}
