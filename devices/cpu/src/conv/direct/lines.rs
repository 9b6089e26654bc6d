//! A line of a channel, in blocks of pixels that see the same taps.

use super::Depthwise;
use super::sight::Line;
use crate::isa::Isa;
use crate::tile_product::Number;
use std::ops::Range;

impl<T: Number> Depthwise<'_, T> {
    /// Computes a line.
    ///
    /// # Safety
    ///
    /// A1; nobody else uses the line, which sees what `sight` says.
    #[inline(always)]
    pub(super) unsafe fn line<I: Isa>(&self, (image, group): (usize, usize), at: [usize; 2], sight: &Line) {
        let (from, to) = self.line_of(image, group, at);
        let taps = self.offsets.len();
        let weights = &self.weights[group * (taps + 1)..][..=taps];
        for run in &sight.runs {
            let pixels = Pixels { offsets: self.offsets, weights, taps: &run.taps, from, to, steps: self.steps() };
            match pixels.steps {
                // SAFETY: A1: the taps see an element for each of these pixels.
                [1, 1] => unsafe { pixels.all::<I, true>(&run.columns) },
                // SAFETY: A1: the taps see an element for each of these pixels.
                _ => unsafe { pixels.all::<I, false>(&run.columns) },
            }
        }
    }
}

/// Pixels of a line that see the same taps.
struct Pixels<'a, T> {
    offsets: &'a [isize],
    /// Those of the taps, and the bias.
    weights: &'a [T],
    taps: &'a [usize],
    from: *const T,
    to: *mut T,
    /// Steps of what is seen and of what is made.
    steps: [isize; 2],
}

impl<T: Number> Pixels<'_, T> {
    /// Computes pixels; `DENSE` if all steps are 1.
    ///
    /// # Safety
    ///
    /// What these pixels see is initialised, and they are nobody else's.
    #[inline(always)]
    unsafe fn all<I: Isa, const DENSE: bool>(&self, &Range { start, end }: &Range<usize>) {
        let mut column = start;
        while column < end {
            // What is left is part of a block that begins earlier, some of whose pixels are computed again.
            column = match (end - start, end - column) {
                (8.., ..8) => end - 8,
                (4..8, ..4) => end - 4,
                _ => column,
            };
            column += match end - column {
                // SAFETY: the block is one of these pixels.
                32.. => unsafe { self.block::<I, 32, DENSE>(column) },
                // SAFETY: the block is one of these pixels.
                16.. => unsafe { self.block::<I, 16, DENSE>(column) },
                // SAFETY: the block is one of these pixels.
                8.. => unsafe { self.block::<I, 8, DENSE>(column) },
                // SAFETY: the block is one of these pixels.
                4.. => unsafe { self.block::<I, 4, DENSE>(column) },
                // SAFETY: the block is one of these pixels.
                _ => unsafe { self.block::<I, 1, DENSE>(column) },
            };
        }
    }

    /// Computes `N` pixels.
    ///
    /// # Safety
    ///
    /// That of [`all`](Self::all).
    #[inline(always)]
    unsafe fn block<I: Isa, const N: usize, const DENSE: bool>(&self, column: usize) -> usize {
        let [seen, made] = if DENSE { [1; 2] } else { self.steps };
        let from = self.from.wrapping_offset((column as isize).wrapping_mul(seen));
        let mut sums = [self.weights[self.offsets.len()]; N];
        for &tap in self.taps {
            let (at, weight) = (from.wrapping_offset(self.offsets[tap]), self.weights[tap]);
            let x: [T; N] = if DENSE {
                // SAFETY: `N` elements are in bounds and initialised: the caller's promise.
                unsafe { at.cast::<[T; N]>().read_unaligned() }
            } else {
                std::array::from_fn(|lane| {
                    // SAFETY: the element is in bounds and initialised: the caller's promise.
                    unsafe { at.wrapping_offset((lane as isize).wrapping_mul(seen)).read() }
                })
            };
            for (sum, x) in sums.iter_mut().zip(x) {
                *sum = if I::FMA { sum.plus::<true>(x, weight) } else { sum.plus::<false>(x, weight) };
            }
        }
        let to = self.to.wrapping_offset((column as isize).wrapping_mul(made));
        if DENSE {
            // SAFETY: `N` elements are in bounds, and nobody else's.
            unsafe { to.cast::<[T; N]>().write_unaligned(sums) };
            return N;
        }
        for (lane, sum) in sums.into_iter().enumerate() {
            // SAFETY: the element is in bounds, and nobody else's.
            unsafe { to.wrapping_offset((lane as isize).wrapping_mul(made)).write(sum) };
        }
        N
    }
}
