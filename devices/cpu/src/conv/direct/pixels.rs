//! The channels of a pixel, many side by side.

use super::Depthwise;
use super::sight::Line;
use crate::isa::Isa;
use crate::tile_product::Number;
use smallvec::SmallVec;

/// Channels that are summed side by side: of float32, two registers of AVX-512.
const LANES: usize = 32;

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
        let [seen, made] = self.steps();
        let weights = |tap: usize| self.weights[tap * groups..].as_ptr();
        let mut terms: SmallVec<[(*const T, *const T); 32]> = SmallVec::new();
        for run in &sight.runs {
            for column in run.columns.clone() {
                let on = |step: isize| (column as isize).wrapping_mul(step);
                let term =
                    |&tap: &usize| (from.wrapping_offset(self.offsets[tap].wrapping_add(on(seen))), weights(tap));
                terms.clear();
                terms.extend(run.taps.iter().map(term));
                let to = to.wrapping_offset(on(made));
                let sums = Channels { to, terms: &terms, bias: weights(self.offsets.len()) };
                // SAFETY: the taps see an element for this pixel (A1); weights and biases have an element for each
                // channel.
                unsafe { sums.all::<I>(groups) };
            }
        }
    }
}

/// A pixel: for each tap the first channel and its weight, the first bias, and where to.
struct Channels<'a, T> {
    to: *mut T,
    terms: &'a [(*const T, *const T)],
    bias: *const T,
}

impl<T: Number> Channels<'_, T> {
    /// Sums `n` channels.
    ///
    /// # Safety
    ///
    /// So many elements are in bounds, of the terms initialised, and nobody else uses those that are written.
    #[inline(always)]
    unsafe fn all<I: Isa>(&self, n: usize) {
        let mut i = 0;
        while i + LANES <= n {
            // SAFETY: `LANES` elements from `i` on.
            unsafe { self.lanes::<I, LANES>(i) };
            i += LANES;
        }
        while i + 8 <= n {
            // SAFETY: 8 elements from `i` on.
            unsafe { self.lanes::<I, 8>(i) };
            i += 8;
        }
        while i < n {
            // SAFETY: element `i`.
            unsafe { self.lanes::<I, 1>(i) };
            i += 1;
        }
    }

    /// Sums `N` channels from `i` on.
    ///
    /// # Safety
    ///
    /// That of [`all`](Self::all).
    #[inline(always)]
    unsafe fn lanes<I: Isa, const N: usize>(&self, i: usize) {
        // SAFETY: there is a bias for each channel.
        let mut sums: [T; N] = unsafe { self.bias.wrapping_add(i).cast::<[T; N]>().read_unaligned() };
        for &(seen, weights) in self.terms {
            // SAFETY: in bounds and initialised: the caller's promise.
            let seen: [T; N] = unsafe { seen.wrapping_add(i).cast::<[T; N]>().read_unaligned() };
            // SAFETY: there is a weight for each channel.
            let weights: [T; N] = unsafe { weights.wrapping_add(i).cast::<[T; N]>().read_unaligned() };
            for (sum, (x, weight)) in sums.iter_mut().zip(seen.into_iter().zip(weights)) {
                *sum = if I::FMA { sum.plus::<true>(x, weight) } else { sum.plus::<false>(x, weight) };
            }
        }
        // SAFETY: in bounds, and nobody else's: the caller's promise.
        unsafe { self.to.wrapping_add(i).cast::<[T; N]>().write_unaligned(sums) };
    }
}
