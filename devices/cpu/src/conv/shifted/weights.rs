//! The weights in the order of rows: panel by panel, those of a panel's channels side by side.

use super::Shifted;
use crate::converted::zeroed;
use crate::tile_product::Number;
use monomorph_core::Result;
use smallvec::SmallVec;

impl<T: Number> Shifted<'_, T> {
    /// The weights in the order of rows.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`.
    pub(super) unsafe fn laid_out(&self) -> Result<Vec<u128>> {
        let (tall, made, panels, depth) = (self.tall, self.made, self.panels(), self.depth());
        let mut own = zeroed(self.job.plan.groups * panels * tall * depth, T::DTYPE)?;
        let to = own.as_mut_ptr().cast::<T>();
        for i in 0..self.job.plan.groups * panels {
            let (group, first) = (i / panels, i % panels * tall);
            let to = to.wrapping_add(i * tall * depth);
            let live = tall.min(made - first);
            let from = (first..first + live).map(|made| self.job.weight::<T>(group, made, 0, [0; 3]));
            let from: SmallVec<[_; 32]> = from.collect();
            for (k, &place) in self.places.iter().enumerate() {
                for (m, from) in from.iter().enumerate() {
                    // SAFETY: A1: an element of the weight.
                    let weight = unsafe { from.wrapping_offset(place).read() };
                    // SAFETY: there is room for `tall` weights in each row of each panel.
                    unsafe { to.wrapping_add(k * tall + m).write(weight) };
                }
            }
        }
        Ok(own)
    }

    /// The weights of a panel.
    pub(super) fn panel(&self, group: usize, panel: usize) -> *const T {
        self.weights.as_ptr().cast::<T>().wrapping_add((group * self.panels() + panel) * self.tall * self.depth())
    }
}
