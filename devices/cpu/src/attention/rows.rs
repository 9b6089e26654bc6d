//! What is done with rows of scores, in the frame of an instruction-set level.

use super::Array;
use crate::isa::{Isa, Kernel};
use crate::lane_tree::{LANES, merged};
use crate::scalar::Lane;
use crate::tile_product::Number;
use monomorph_ops::algebra::{Exponential, Logarithm};
use num_traits::Float;

/// Rows of which each pass is done before the next: a row does not wait for the largest score of the one before.
const TOGETHER: usize = 8;

/// float32 or float64.
pub(super) trait Real: Number + Float {
    /// e to the power of it.
    fn exp_at<I: Isa>(self) -> Self;

    /// The natural logarithm.
    fn log_at<I: Isa>(self) -> Self;

    /// The number nearest to `x`.
    fn of(x: f64) -> Self;
}

macro_rules! real {
    ($($t:ident)*) => {$(
        impl Real for $t {
            #[inline(always)]
            fn exp_at<I: Isa>(self) -> Self {
                Lane::<$t, I>::new(self).exp().get()
            }

            #[inline(always)]
            fn log_at<I: Isa>(self) -> Self {
                Lane::<$t, I>::new(self).log().get()
            }

            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
        }
    )*};
}
real! { f32 f64 }

/// Folds what `f` makes of each element, which it may change, many side by side.
#[inline(always)]
fn fold<T: Real>(row: &mut [T], start: T, f: impl Fn(&mut T) -> T, join: impl Fn(T, T) -> T) -> T {
    let mut lanes = [start; LANES];
    let mut chunks = row.chunks_exact_mut(LANES);
    for chunk in &mut chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = join(*lane, f(x));
        }
    }
    let rest = chunks.into_remainder();
    if !rest.is_empty() {
        // As a whole chunk, of which only what there is counts: single elements take about as long.
        let mut chunk = [T::zero(); LANES];
        chunk[..rest.len()].copy_from_slice(rest);
        for (i, (lane, x)) in lanes.iter_mut().zip(&mut chunk).enumerate() {
            let y = f(x);
            *lane = if i < rest.len() { join(*lane, y) } else { *lane };
        }
        rest.copy_from_slice(&chunk[..rest.len()]);
    }
    merged(lanes, join)
}

/// The larger one, NaN if one is.
#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    let larger = if b > a { b } else { a };
    if b.is_nan() { T::nan() } else { larger }
}

/// Where a block of scores lies: its first query and key, the batch and the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) batch: usize,
    pub(super) head: usize,
    pub(super) query: usize,
    pub(super) key: usize,
    pub(super) keys: usize,
    pub(super) causal: bool,
}

impl Block {
    /// How many keys of the block a query sees.
    #[inline(always)]
    fn visible(&self, row: usize) -> usize {
        if self.causal { (self.query + row + 1).saturating_sub(self.key).min(self.keys) } else { self.keys }
    }

    /// How many keys of the block are computed for a query that sees `visible` of them: whole chunks take no longer
    /// than parts of them.
    #[inline(always)]
    fn computed(&self, visible: usize) -> usize {
        visible.next_multiple_of(LANES).min(self.keys)
    }

    /// Scores of a row: products times `scale`, plus the mask; and the largest.
    ///
    /// # Safety
    ///
    /// A1 of the mask, for elements of `T`; the block is a part of it.
    #[inline(always)]
    unsafe fn scores<T: Real>(&self, row: usize, scores: &mut [T], scale: T, mask: Option<&Array>) -> T {
        if let Some(mask) = mask {
            let step = mask.steps[3];
            let first = mask.row::<T>(self.batch, self.head, self.query + row);
            let first = first.wrapping_offset((self.key as isize).wrapping_mul(step)).cast_const();
            if step == 1 {
                for (j, score) in scores.iter_mut().enumerate() {
                    // SAFETY: the element of the mask at this query and key (A1).
                    *score = *score * scale + unsafe { first.wrapping_add(j).read() };
                }
            } else {
                for (j, score) in scores.iter_mut().enumerate() {
                    // SAFETY: the element of the mask at this query and key (A1).
                    *score = *score * scale + unsafe { first.wrapping_offset((j as isize).wrapping_mul(step)).read() };
                }
            }
            return fold(scores, T::neg_infinity(), |score| *score, larger);
        }
        let scaled = |score: &mut T| {
            *score = *score * scale;
            *score
        };
        fold(scores, T::neg_infinity(), scaled, larger)
    }
}

/// A block of scores becomes powers of e, and what was summed before shrinks.
///
/// A1 holds for the mask, of which the block is a part.
pub(super) struct Soften<'a, T> {
    pub(super) block: Block,
    pub(super) scale: T,
    pub(super) mask: Option<&'a Array>,
    /// A row for each query.
    pub(super) scores: &'a mut [T],
    /// The largest score and the sum of powers of each query.
    pub(super) largest: &'a mut [T],
    pub(super) sums: &'a mut [T],
    /// The output of each query so far, of `width` elements.
    pub(super) output: &'a mut [T],
    pub(super) width: usize,
}

impl<T: Real, I: Isa> Kernel<I> for Soften<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Soften { block, scale, mask, scores, largest, sums, output, width } = self;
        let keys = block.keys.max(1);
        for (group, scores) in scores.chunks_mut(keys * TOGETHER).enumerate() {
            let mut tops = [T::neg_infinity(); TOGETHER];
            for (r, (scores, top)) in scores.chunks_exact_mut(keys).zip(&mut tops).enumerate() {
                let row = group * TOGETHER + r;
                let visible = block.visible(row);
                let (scores, beyond) = scores.split_at_mut(block.computed(visible));
                beyond.fill(T::zero());
                let Some(&first) = scores.first() else { continue };
                // Hidden ones do not change which is the largest, unless a mask would add to them.
                scores[visible..].fill(first);
                let scored = if mask.is_some() { visible } else { scores.len() };
                // SAFETY: the promise of the struct.
                let seen = unsafe { block.scores(row, &mut scores[..scored], scale, mask) };
                scores[visible..].fill(T::neg_infinity());
                *top = larger(largest[row], seen);
            }
            for (r, (scores, &top)) in scores.chunks_exact_mut(keys).zip(&tops).enumerate() {
                let row = group * TOGETHER + r;
                let scores = &mut scores[..block.computed(block.visible(row))];
                if top == T::neg_infinity() {
                    // Nothing is seen yet, or nothing more.
                    scores.fill(T::zero());
                    continue;
                }
                let power = |score: &mut T| {
                    *score = (*score - top).exp_at::<I>();
                    *score
                };
                let sum = fold(scores, T::zero(), power, |a, b| a + b);
                let before = std::mem::replace(&mut largest[row], top);
                if before == T::neg_infinity() {
                    // What is there is zero.
                    sums[row] = sum;
                    continue;
                }
                let shrinks = (before - top).exp_at::<I>();
                sums[row] = sums[row] * shrinks + sum;
                for x in &mut output[row * width..][..width] {
                    *x = *x * shrinks;
                }
            }
        }
    }
}

/// Outputs are divided by the sums of powers; those of a query that sees nothing are zeros.
pub(super) struct Normalize<'a, T> {
    pub(super) largest: &'a mut [T],
    pub(super) sums: &'a [T],
    pub(super) output: &'a mut [T],
    pub(super) width: usize,
}

impl<T: Real, I: Isa> Kernel<I> for Normalize<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        for (row, (largest, &sum)) in self.largest.iter_mut().zip(self.sums).enumerate() {
            let is_empty = sum == T::zero();
            *largest = if is_empty { T::zero() } else { *largest + sum.log_at::<I>() };
            let by = if is_empty { T::zero() } else { sum.recip() };
            for x in &mut self.output[row * self.width..][..self.width] {
                *x = if is_empty { T::zero() } else { *x * by };
            }
        }
    }
}

/// A block of scores becomes powers of e over the sums, and a block of the gradients of those becomes that of the
/// scores.
///
/// A1 holds for the mask, of which the block is a part.
pub(super) struct Slopes<'a, T> {
    pub(super) block: Block,
    pub(super) scale: T,
    pub(super) mask: Option<&'a Array>,
    /// A row for each query.
    pub(super) scores: &'a mut [T],
    pub(super) slopes: &'a mut [T],
    /// The logarithm of the sum of each query, and the product of its output and the gradient of that.
    pub(super) sums: &'a [T],
    pub(super) products: &'a [T],
}

impl<T: Real, I: Isa> Kernel<I> for Slopes<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Slopes { block, scale, mask, scores, slopes, sums, products } = self;
        let keys = block.keys.max(1);
        for (row, (scores, slopes)) in scores.chunks_exact_mut(keys).zip(slopes.chunks_exact_mut(keys)).enumerate() {
            let visible = block.visible(row);
            let n = block.computed(visible);
            // SAFETY: the promise of the struct.
            unsafe { block.scores(row, &mut scores[..n], scale, mask) };
            let (sum, product) = (sums[row], products[row]);
            for (score, slope) in scores[..n].iter_mut().zip(&mut slopes[..n]) {
                let power = (*score - sum).exp_at::<I>();
                *score = power;
                *slope = power * (*slope - product) * scale;
            }
            scores[visible..].fill(T::zero());
            slopes[visible..].fill(T::zero());
        }
    }
}
