//! The loops over blocks of panels, with channels in lanes: any pixels are a block, so none is computed that is not
//! stored.
//!
//! ```text
//!   a row of the panel      a pixel of the row, of each block
//!   ┌ L channels ─┐    ×    [ p p p p p p ]      =   P × L sums in registers
//! ```
//!
//! The weights of a panel are more than the first cache holds: a part of them goes over a few blocks, whose sums wait
//! in memory, before the next part does. All at once takes up to half as long again.

use super::kernel::{Piece, add_outer};
use super::layout::Layout;
use crate::cache_lines::{CACHE_LINE, prefetch_line};
use crate::conv::padded::View;
use crate::conv::spread::copy_run;
use crate::isa::Isa;
use crate::tile_product::Number;

/// Bytes of weights that go over blocks before the next ones do: half of the first cache.
const WEIGHTS: usize = 16 << 10;

/// The pixels of a block: how far on each sees a tap, and where it goes.
#[derive(Clone, Copy)]
struct Pixels<const P: usize> {
    at: [isize; P],
    to: [isize; P],
    /// How many there are.
    live: usize,
    /// They lie one behind the other.
    is_run: bool,
}

impl<T: Number> Piece<'_, T> {
    /// Computes the blocks, of `P` pixels and `L` channels, `G` together; `TURN` says that taps are summed in turn.
    #[inline(always)]
    pub(super) fn channels<I: Isa, const P: usize, const L: usize, const G: usize, const TURN: bool>(
        self,
        view: &View,
    ) {
        let Layout { seen, made, ref rows, .. } = *self.of.layout;
        // What is summed for itself: the rows of a tap, or all.
        let sum = if TURN { seen } else { rows.len() };
        let part = sum.div_ceil((sum * L * size_of::<T>()).div_ceil(WEIGHTS));
        for first in self.blocks.clone().step_by(G) {
            let blocks = G.min(self.blocks.end - first);
            let pixels: [Pixels<P>; G] = std::array::from_fn(|i| self.pixels(view, first + i.min(blocks - 1)));
            let pixels = &pixels[..blocks];
            // While some weights go over the blocks the next ones come, a line for so many rows.
            let every = (blocks * CACHE_LINE / const { L * size_of::<T>() }).max(1);
            for panel in self.panels.clone() {
                let (first, live) = (panel * L, L.min(made - panel * L));
                let bias: [T; L] = self.bias(first, live);
                let mut sums = [[if TURN { [T::default(); L] } else { bias }; P]; G];
                let mut all = sums;
                let mut weights = self.of.panel(self.part.1, panel);
                for (i, rows) in rows.chunks(sum).enumerate() {
                    for rows in rows.chunks(part) {
                        let mut next = weights.wrapping_add(rows.len() * L).cast::<u8>();
                        for (pixels, sums) in pixels.iter().zip(&mut sums) {
                            let at = pixels.at.map(|at| self.from.wrapping_offset(at));
                            // SAFETY: each row of each pixel is an element of the part's channels, and there are `L`
                            // weights for it.
                            unsafe { add_products::<T, I, P, L>(sums, rows, weights, at, (next, every)) };
                            next = next.wrapping_add(rows.len().div_ceil(every) * CACHE_LINE);
                        }
                        weights = weights.wrapping_add(rows.len() * L);
                    }
                    if TURN {
                        let of = all[..blocks].as_flattened_mut().iter_mut().zip(sums.as_flattened_mut());
                        of.for_each(|(all, sums)| add_tap(all, sums, i == 0));
                    }
                }
                if TURN {
                    sums = all;
                    let has_bias = self.of.job.bias.is_some();
                    sums.as_flattened_mut().iter_mut().filter(|_| has_bias).for_each(|sums| add_to(sums, &bias));
                }
                for (pixels, sums) in pixels.iter().zip(&sums) {
                    self.store((first, live), pixels, sums);
                }
            }
        }
    }

    /// The pixels of a block.
    fn pixels<const P: usize>(&self, view: &View, block: usize) -> Pixels<P> {
        let Layout { lattice, .. } = self.of.layout;
        let output = &self.of.job.output;
        let (mut at, mut to) = ([0_isize; P], [0_isize; P]);
        let live = P.min(lattice.pixels() - block * P);
        lattice.runs(block * P, live, |[z, y, x], length, done| {
            let target = lattice.target([z, y, x]);
            let first =
                (0..3).fold(0_isize, |to, d| to.wrapping_add((target[d] as isize).wrapping_mul(output.steps[2 + d])));
            for i in 0..length {
                at[done + i] = view.pixel(lattice, [z, y, x + i]);
                to[done + i] = first.wrapping_add((i as isize).wrapping_mul(self.of.step));
            }
        });
        // Those that do not exist see what the first one does.
        let first = at[0];
        at[live..].fill(first);
        let is_run = live == P && (1..P).all(|p| to[p] == to[p - 1].wrapping_add(1));
        Pixels { at, to, live, is_run }
    }

    /// Writes the sums of a block to their places.
    #[inline(always)]
    fn store<const P: usize, const L: usize>(
        &self,
        (first, live): (usize, usize),
        pixels: &Pixels<P>,
        sums: &[[T; L]; P],
    ) {
        let output = &self.of.job.output;
        let to = output.at::<T>(self.part.0, self.part.1 * self.of.made + first, [0; 3]);
        if output.steps[1] == 1 {
            for (sums, place) in sums.iter().zip(pixels.to).take(pixels.live) {
                let to = to.wrapping_offset(place);
                match live {
                    // SAFETY: the channels of a pixel of the output (A1), which nobody else uses.
                    _ if live == L => unsafe { to.cast::<[T; L]>().write_unaligned(*sums) },
                    // SAFETY: so many channels of it; sums are memory of their own.
                    _ => unsafe { copy_run(sums.as_ptr(), to, live) },
                }
            }
            return;
        }
        for m in 0..live {
            let to = to.wrapping_offset((m as isize).wrapping_mul(output.steps[1]));
            let line = sums.each_ref().map(|channels| channels[m]);
            if pixels.is_run {
                // SAFETY: the pixels of a run are elements of the output (A1), which nobody else uses.
                unsafe { to.wrapping_offset(pixels.to[0]).cast::<[T; P]>().write_unaligned(line) };
                continue;
            }
            for (sum, place) in line.iter().zip(pixels.to).take(pixels.live) {
                // SAFETY: an element of the output (A1), which nobody else uses.
                unsafe { to.wrapping_offset(place).write(*sum) };
            }
        }
    }
}

/// Adds what a tap contributes to what those before it did, and begins the next one's.
#[inline(always)]
fn add_tap<T: Number, const L: usize>(all: &mut [T; L], own: &mut [T; L], is_first: bool) {
    if is_first {
        *all = *own;
    } else {
        add_to(all, own);
    }
    *own = [T::default(); L];
}

#[inline(always)]
fn add_to<T: Number, const L: usize>(all: &mut [T; L], own: &[T; L]) {
    for (all, own) in all.iter_mut().zip(own) {
        *all = all.sum(*own);
    }
}

/// Adds to the sums of pixels, for each row, its weights times the pixel's element, and prefetches a line from `next`
/// on for so many rows.
///
/// # Safety
///
/// For each row the elements `at` each pixel are initialised, and there are `L` weights.
#[inline(always)]
unsafe fn add_products<T: Number, I: Isa, const P: usize, const L: usize>(
    sums: &mut [[T; L]; P],
    rows: &[isize],
    mut weights: *const T,
    at: [*const T; P],
    (mut next, every): (*const u8, usize),
) {
    // Pixel by pixel, so that each is in registers of its own.
    let mut own: [[T; L]; P] = std::array::from_fn(|p| sums[p]);
    for rows in rows.chunks(every) {
        prefetch_line(next);
        next = next.wrapping_add(CACHE_LINE);
        for row in rows {
            // SAFETY: the caller's promise.
            let weight: [T; L] = unsafe { weights.cast::<[T; L]>().read_unaligned() };
            // SAFETY: the caller's promise.
            add_outer::<T, I, P, L>(&mut own, |p| unsafe { at[p].wrapping_offset(*row).read() }, weight);
            weights = weights.wrapping_add(L);
        }
    }
    for (sums, own) in sums.iter_mut().zip(own) {
        *sums = own;
    }
}
