//! The weights in the order of rows: panel by panel, those of a panel's channels side by side.

use super::Shifted;
use crate::conv::Memory;
use crate::converted::room;
use crate::scratch::Scratch;
use crate::tile_copy::{Tile, TileCopier};
use crate::tile_product::Number;
use monomorph_core::Result;
use monomorph_iter::{GRAIN, is_parallel, share};
use smallvec::SmallVec;

impl<T: Number> Shifted<'_, T> {
    /// The weights in the order of rows; those of channels that do not exist are zeros.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`.
    pub(super) unsafe fn laid_out(&self) -> Result<Scratch<u128>> {
        let panels = self.job.plan.groups * self.panels();
        let panel = self.tall * self.depth();
        let mut own = room(panels * panel, T::DTYPE)?;
        let to = Memory(own.as_mut_ptr().cast::<T>());
        let together = if is_parallel(panels * panel, GRAIN) { GRAIN.div_ceil(panel.max(1)) } else { panels.max(1) };
        let to = &to;
        share(panels.div_ceil(together), |piece| {
            for i in piece * together..panels.min((piece + 1) * together) {
                // SAFETY: A1; there is room for each panel, and nobody else has this piece's.
                unsafe { self.lay_out(i, to.0.wrapping_add(i * panel)) };
            }
        });
        Ok(own)
    }

    /// Lays out a panel.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`; there is room for the panel, which nobody else uses.
    unsafe fn lay_out(&self, panel: usize, to: *mut T) {
        let (group, first) = (panel / self.panels(), panel % self.panels() * self.tall);
        let live = self.tall.min(self.made - first);
        let from: SmallVec<[_; 32]> =
            (first..first + live).map(|made| self.job.weight::<T>(group, made, 0, [0; 3])).collect();
        // Channels at equal distances, of which each has its weights in a run: a matrix, which is transposed.
        let step = from.get(1).map_or(0, |next| next.addr().wrapping_sub(from[0].addr()) as isize);
        let are_runs = self.places.iter().zip(0..).all(|(&place, k)| place == k);
        if live == self.tall && live > 1 && are_runs {
            let tile = Tile { cols: live, rows: self.depth(), inner: step, outer: size_of::<T>() as isize };
            let copier = TileCopier::at(self.job.level);
            // SAFETY: V1, V2: A1 for the weights, whose steps are the same from channel to channel; there is room for
            // the panel, which is apart from them.
            return unsafe { copier.gather(from[0].cast(), &tile, to.cast(), size_of::<T>()) };
        }
        for (k, &place) in self.places.iter().enumerate() {
            for m in 0..self.tall {
                // SAFETY: A1: an element of the weight.
                let weight = from.get(m).map_or_else(T::default, |from| unsafe { from.wrapping_offset(place).read() });
                // SAFETY: there is room for `tall` weights in each row of the panel.
                unsafe { to.wrapping_add(k * self.tall + m).write(weight) };
            }
        }
    }

    /// The weights of a panel.
    pub(super) fn panel(&self, group: usize, panel: usize) -> *const T {
        self.weights.as_ptr().cast::<T>().wrapping_add((group * self.panels() + panel) * self.tall * self.depth())
    }
}
