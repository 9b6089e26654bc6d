//! The loops over blocks of panels, with pixels in lanes: sums in registers from the first row to the last.

use super::Shifted;
use super::layout::{LOW, Lanes, Layout, SINGLE, TALL};
use crate::conv::spread::copy_run;
use crate::isa::{Isa, Kernel, Level};
use crate::tile_product::Number;
use std::ops::Range;

/// Bytes of what a group of blocks sees, which stays in the second cache while panels change.
const SEEN: usize = 96 << 10;

/// Blocks of panels. Made only where what [`Shifted::enter`] asks for holds.
pub(super) struct Piece<'a, T> {
    pub(super) of: &'a Shifted<'a, T>,
    /// The image and the group.
    pub(super) part: (usize, usize),
    /// The channels of the part, spread out.
    pub(super) from: *const T,
    pub(super) blocks: Range<usize>,
    pub(super) panels: Range<usize>,
}

impl<T: Number, I: Isa> Kernel<I> for Piece<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Layout { lanes, in_turn, .. } = self.of.layout;
        if let Lanes::Channels(pixels, view) = lanes {
            // The sizes of `by_channels`, and blocks whose sums together are half of the first cache. Of smaller blocks
            // there is only one.
            if const { matches!(I::LEVEL, Level::Avx512) && size_of::<T>() == 4 } {
                match pixels {
                    _ if *in_turn => self.channels::<I, 8, 32, 8, true>(view),
                    2 => self.channels::<I, 2, 32, 1, false>(view),
                    4 => self.channels::<I, 4, 32, 1, false>(view),
                    _ => self.channels::<I, 8, 32, 16, false>(view),
                }
            } else if const { matches!(I::LEVEL, Level::Avx2) && size_of::<T>() == 4 } {
                match pixels {
                    _ if *in_turn => self.channels::<I, 6, 16, 16, true>(view),
                    2 => self.channels::<I, 2, 16, 1, false>(view),
                    4 => self.channels::<I, 4, 16, 1, false>(view),
                    _ => self.channels::<I, 6, 16, 32, false>(view),
                }
            }
            return;
        }
        // The widths of `width`.
        if const { matches!(I::LEVEL, Level::Avx512) } {
            if const { size_of::<T>() == 4 } { self.sized::<I, 64, 32, 16>() } else { self.sized::<I, 32, 16, 8>() }
        } else if const { matches!(I::LEVEL, Level::Avx2) } {
            if const { size_of::<T>() == 4 } { self.sized::<I, 32, 16, 8>() } else { self.sized::<I, 16, 8, 4>() }
        } else if const { size_of::<T>() == 4 } {
            self.sized::<I, 16, 8, 4>();
        } else {
            self.sized::<I, 8, 4, 2>();
        }
    }
}

impl<T: Number> Piece<'_, T> {
    /// What is added to channels of the group, of which there are `live`.
    #[inline(always)]
    pub(super) fn bias<const M: usize>(&self, first: usize, live: usize) -> [T; M] {
        let first = self.part.1 * self.of.made + first;
        // SAFETY: A1 (the struct's promise), and a channel of the group.
        std::array::from_fn(|m| if m < live { unsafe { self.of.job.bias(first + m) } } else { T::default() })
    }

    #[inline(always)]
    fn sized<I: Isa, const WIDEST: usize, const WIDE: usize, const NARROW: usize>(self) {
        match (self.of.in_turn, self.of.tall) {
            (false, SINGLE) => self.blocks::<I, SINGLE, WIDEST, false>(),
            (false, LOW) => self.blocks::<I, LOW, WIDE, false>(),
            (false, _) => self.blocks::<I, TALL, WIDE, false>(),
            (true, LOW) => self.blocks::<I, LOW, NARROW, true>(),
            (true, _) => self.blocks::<I, TALL, NARROW, true>(),
        }
    }

    #[inline(always)]
    fn blocks<I: Isa, const M: usize, const W: usize, const TURN: bool>(self) {
        let Layout { seen, made, ref lanes, .. } = *self.of.layout;
        let job = self.of.job;
        let Lanes::Pixels(all) = lanes else { return };
        let (image, group) = self.part;
        let together = (SEEN / (seen * W * size_of::<T>()).max(1)).max(1);
        for blocks in all.of(self.blocks.clone()).chunks(together) {
            for panel in self.panels.clone() {
                let weights = self.of.panel(group, panel);
                let (first, live) = (panel * M, M.min(made - panel * M));
                let bias = self.bias::<M>(first, live);
                let to = job.output.at::<T>(image, group * made + first, [0; 3]);
                for block in blocks {
                    // SAFETY: rows lie `W` pixels from a block on within the channels of the part, or in the slack
                    // behind them; the panel has `M` weights for each.
                    let sums = unsafe { self.sums::<I, M, W, TURN>(weights, self.from.wrapping_add(block.at), &bias) };
                    for run in all.runs(block) {
                        let to = to.wrapping_offset(run.to);
                        for (m, sums) in sums.iter().enumerate() {
                            let to = to.wrapping_offset((m as isize).wrapping_mul(job.output.steps[1]));
                            if m >= live {
                                continue;
                            }
                            if run.length == W && self.of.step == 1 {
                                // SAFETY: the pixels of a run are elements of the output (A1), which nobody else uses.
                                unsafe { to.cast::<[T; W]>().write_unaligned(*sums) };
                                continue;
                            }
                            let sums = &sums[run.from..run.from + run.length];
                            if self.of.step == 1 {
                                // SAFETY: as for the run as a whole; sums are memory of their own.
                                unsafe { copy_run(sums.as_ptr(), to, run.length) };
                                continue;
                            }
                            for (i, sum) in sums.iter().enumerate() {
                                let to = to.wrapping_offset((i as isize).wrapping_mul(self.of.step));
                                // SAFETY: as for the run as a whole.
                                unsafe { to.write(*sum) };
                            }
                        }
                    }
                }
            }
        }
    }

    /// The sums of a block: over all rows behind the bias, or tap by tap, and then the bias.
    ///
    /// # Safety
    ///
    /// For each row `W` elements from `from` on are initialised, and there are `M` weights.
    #[inline(always)]
    unsafe fn sums<I: Isa, const M: usize, const W: usize, const TURN: bool>(
        &self,
        weights: *const T,
        from: *const T,
        bias: &[T; M],
    ) -> [[T; W]; M] {
        let rows = &self.of.rows[..];
        if !TURN {
            // SAFETY: the caller's promise.
            return unsafe { products::<T, I, M, W>(std::array::from_fn(|m| [bias[m]; W]), rows, weights, from) };
        }
        let mut weights = weights;
        let mut sums = [[T::default(); W]; M];
        for (i, rows) in rows.chunks(self.of.seen).enumerate() {
            // SAFETY: the caller's promise, for the rows of a tap.
            let part = unsafe { products::<T, I, M, W>([[T::default(); W]; M], rows, weights, from) };
            weights = weights.wrapping_add(rows.len() * M);
            for (sums, part) in sums.iter_mut().zip(&part) {
                for (sum, x) in sums.iter_mut().zip(part) {
                    *sum = if i == 0 { *x } else { sum.sum(*x) };
                }
            }
        }
        if self.of.job.bias.is_some() {
            for (sums, bias) in sums.iter_mut().zip(bias) {
                sums.iter_mut().for_each(|sum| *sum = sum.sum(*bias));
            }
        }
        sums
    }
}

/// Adds to sums, for each row, its elements times its weights.
///
/// # Safety
///
/// For each row `W` elements from `from` on are initialised, and there are `M` weights.
#[inline(always)]
pub(in crate::conv) unsafe fn products<T: Number, I: Isa, const M: usize, const W: usize>(
    mut sums: [[T; W]; M],
    rows: &[isize],
    mut weights: *const T,
    from: *const T,
) -> [[T; W]; M] {
    for row in rows {
        let at = from.wrapping_offset(*row);
        // SAFETY: the caller's promise.
        let seen: [T; W] = unsafe { at.cast::<[T; W]>().read_unaligned() };
        // SAFETY: the caller's promise.
        add_outer::<T, I, M, W>(&mut sums, |m| unsafe { weights.wrapping_add(m).read() }, seen);
        weights = weights.wrapping_add(M);
    }
    sums
}

/// Adds an outer product: to line `m` of the sums a number of its own times a line.
#[inline(always)]
pub(super) fn add_outer<T: Number, I: Isa, const M: usize, const W: usize>(
    sums: &mut [[T; W]; M],
    number: impl Fn(usize) -> T,
    line: [T; W],
) {
    for (m, sums) in sums.iter_mut().enumerate() {
        let number = number(m);
        for (sum, x) in sums.iter_mut().zip(line) {
            *sum = if I::FMA { sum.plus::<true>(x, number) } else { sum.plus::<false>(x, number) };
        }
    }
}
