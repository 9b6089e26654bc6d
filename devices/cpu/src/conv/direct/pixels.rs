//! The channels of a pixel, many side by side.

use super::Depthwise;
use super::sight::Line;
use crate::isa::{Isa, Level};
use crate::tile_product::Number;
use smallvec::SmallVec;

/// Pixels that are summed together, so that weights are loaded once for all, and sums do not wait for each other.
const TOGETHER: usize = 4;

/// Channels that are summed side by side at a level, of pixels together: of float32, two registers.
const fn lanes(level: Level) -> usize {
    match level {
        Level::Avx512 => 32,
        _ => 16,
    }
}

impl<T: Number> Depthwise<'_, T> {
    /// Computes the pixels of a line.
    ///
    /// # Safety
    ///
    /// A1; nobody else uses the line, which sees what `sight` says.
    #[inline(always)]
    pub(super) unsafe fn pixels<I: Isa>(&self, image: usize, at: [usize; 2], sight: &Line) {
        let groups = self.job.plan.groups;
        let (from, to) = self.line_of(image, 0, at);
        let steps = self.steps();
        let weights = |tap: usize| self.weights[tap * groups..].as_ptr();
        let mut terms: SmallVec<[(*const T, *const T); 32]> = SmallVec::new();
        for run in &sight.runs {
            let mut column = run.columns.start;
            while column < run.columns.end {
                let [seen, made] = steps.map(|step| (column as isize).wrapping_mul(step));
                terms.clear();
                terms.extend(run.taps.iter().map(|&tap| {
                    let from = from.wrapping_offset(self.offsets[tap].wrapping_add(seen));
                    (from, weights(tap))
                }));
                let to = to.wrapping_offset(made);
                let sums = Channels { to, terms: &terms, bias: weights(self.offsets.len()), steps };
                let left = run.columns.end - column;
                // The taps see an element for each of these pixels (A1); weights and biases have one for each channel.
                column += match const { lanes(I::LEVEL) } {
                    // SAFETY: see above.
                    32 if left >= TOGETHER => unsafe { sums.all::<I, TOGETHER, 32>(groups) },
                    // SAFETY: see above.
                    32 => unsafe { sums.all::<I, 1, 64>(groups) },
                    // SAFETY: see above.
                    _ if left >= TOGETHER => unsafe { sums.all::<I, TOGETHER, 16>(groups) },
                    // SAFETY: see above.
                    _ => unsafe { sums.all::<I, 1, 32>(groups) },
                };
            }
        }
    }
}

/// Pixels: for each tap the first channel of the first one and its weight, the first bias, and where to; how far on the
/// next pixel sees and lies.
struct Channels<'a, T> {
    to: *mut T,
    terms: &'a [(*const T, *const T)],
    bias: *const T,
    steps: [isize; 2],
}

impl<T: Number> Channels<'_, T> {
    /// Sums `n` channels of `P` pixels, and gives their number.
    ///
    /// # Safety
    ///
    /// So many elements of each pixel are in bounds, of the terms initialised, and nobody else uses those that are
    /// written.
    #[inline(always)]
    unsafe fn all<I: Isa, const P: usize, const N: usize>(&self, n: usize) -> usize {
        let mut i = 0;
        while i + N <= n {
            // SAFETY: `N` elements from `i` on.
            unsafe { self.lanes::<I, P, N>(i) };
            i += N;
        }
        while i + 8 <= n {
            // SAFETY: 8 elements from `i` on.
            unsafe { self.lanes::<I, P, 8>(i) };
            i += 8;
        }
        while i < n {
            // SAFETY: element `i`.
            unsafe { self.lanes::<I, P, 1>(i) };
            i += 1;
        }
        P
    }

    /// Sums `N` channels from `i` on.
    ///
    /// # Safety
    ///
    /// That of [`all`](Self::all).
    #[inline(always)]
    unsafe fn lanes<I: Isa, const P: usize, const N: usize>(&self, i: usize) {
        let [seen, made] = self.steps;
        // SAFETY: there is a bias for each channel.
        let bias: [T; N] = unsafe { self.bias.wrapping_add(i).cast::<[T; N]>().read_unaligned() };
        let mut sums = [bias; P];
        for &(first, weights) in self.terms {
            // SAFETY: there is a weight for each channel.
            let weights: [T; N] = unsafe { weights.wrapping_add(i).cast::<[T; N]>().read_unaligned() };
            for (p, sums) in sums.iter_mut().enumerate() {
                let first = first.wrapping_offset((p as isize).wrapping_mul(seen)).wrapping_add(i);
                // SAFETY: in bounds and initialised: the caller's promise.
                let seen: [T; N] = unsafe { first.cast::<[T; N]>().read_unaligned() };
                for (sum, (x, weight)) in sums.iter_mut().zip(seen.into_iter().zip(weights)) {
                    *sum = if I::FMA { sum.plus::<true>(x, weight) } else { sum.plus::<false>(x, weight) };
                }
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            let to = self.to.wrapping_offset((p as isize).wrapping_mul(made)).wrapping_add(i);
            // SAFETY: in bounds, and nobody else's: the caller's promise.
            unsafe { to.cast::<[T; N]>().write_unaligned(*sums) };
        }
    }
}
