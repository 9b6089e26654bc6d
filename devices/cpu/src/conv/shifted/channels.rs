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
use crate::isa::Isa;
use crate::tile_product::Number;

/// Bytes of weights that go over blocks before the next ones do: half of the first cache.
const WEIGHTS: usize = 16 << 10;

/// The pixels of a block: where the first tap sees each, and where it goes.
#[derive(Clone, Copy)]
struct Pixels<const P: usize> {
    at: [usize; P],
    to: [isize; P],
    /// How many there are.
    live: usize,
    /// They lie one behind the other.
    is_run: bool,
}

impl<T: Number> Piece<'_, T> {
    /// Computes the blocks, of `P` pixels and `L` channels, `G` together.
    #[inline(always)]
    pub(super) fn channels<I: Isa, const P: usize, const L: usize, const G: usize>(self) {
        let Layout { made, ref rows, .. } = *self.of.layout;
        let parts = (rows.len() * L * size_of::<T>()).div_ceil(WEIGHTS);
        let part = rows.len().div_ceil(parts);
        for first in self.blocks.clone().step_by(G) {
            let blocks = G.min(self.blocks.end - first);
            let pixels: [Pixels<P>; G] = std::array::from_fn(|i| self.pixels(first + i.min(blocks - 1)));
            let pixels = &pixels[..blocks];
            for panel in self.panels.clone() {
                let (first, live) = (panel * L, L.min(made - panel * L));
                let bias: [T; L] = self.bias(first, live);
                let mut sums = [[bias; P]; G];
                let mut weights = self.of.panel(self.part.1, panel);
                for rows in rows.chunks(part) {
                    for (pixels, sums) in pixels.iter().zip(&mut sums) {
                        let at = pixels.at.map(|at| self.from.wrapping_add(at));
                        // SAFETY: each row of each pixel is an element of the part's channels, and there are `L`
                        // weights for it.
                        unsafe { add_products::<T, I, P, L>(sums, rows, weights, at) };
                    }
                    weights = weights.wrapping_add(rows.len() * L);
                }
                for (pixels, sums) in pixels.iter().zip(&sums) {
                    self.store((first, live), pixels, sums);
                }
            }
        }
    }

    /// The pixels of a block.
    fn pixels<const P: usize>(&self, block: usize) -> Pixels<P> {
        let Layout { lattice, spread, .. } = self.of.layout;
        let output = &self.of.job.output;
        let (mut at, mut to) = ([0; P], [0_isize; P]);
        let live = P.min(lattice.pixels() - block * P);
        lattice.runs(block * P, live, |[z, y, x], length, done| {
            let target = lattice.target([z, y, x]);
            let first =
                (0..3).fold(0_isize, |to, d| to.wrapping_add((target[d] as isize).wrapping_mul(output.steps[2 + d])));
            for i in 0..length {
                at[done + i] = spread.line([z, y]) + x + i;
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

/// Adds to the sums of pixels, for each row, its weights times the pixel's element.
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
) {
    // Pixel by pixel, so that each is in registers of its own.
    let mut own: [[T; L]; P] = std::array::from_fn(|p| sums[p]);
    for row in rows {
        // SAFETY: the caller's promise.
        let weight: [T; L] = unsafe { weights.cast::<[T; L]>().read_unaligned() };
        // SAFETY: the caller's promise.
        add_outer::<T, I, P, L>(&mut own, |p| unsafe { at[p].wrapping_offset(*row).read() }, weight);
        weights = weights.wrapping_add(L);
    }
    for (sums, own) in sums.iter_mut().zip(own) {
        *sums = own;
    }
}
