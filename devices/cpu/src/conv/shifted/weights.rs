//! The rows of a product, and the weights in their order: panel by panel, those of a panel's channels side by side.

use super::Shifted;
use crate::converted::zeroed;
use crate::tile_product::Number;
use monomorph_core::Result;
use smallvec::SmallVec;

impl<T: Number> Shifted<'_, T> {
    /// Finds where rows are. Gives where each row's weight is behind that of the first row, the same for every channel
    /// that is made.
    pub(super) fn places(&mut self) -> Vec<isize> {
        let taps = &self.lattice.taps;
        let channel = self.spread.channel as isize;
        let offsets: Vec<isize> = taps.iter().map(|tap| self.spread.offset(tap) as isize).collect();
        let row = |seen: usize, tap: usize| (seen as isize).wrapping_mul(channel).wrapping_add(offsets[tap]);
        let all: Vec<_> = match self.in_turn {
            true => (0..taps.len()).flat_map(|tap| (0..self.seen).map(move |seen| (seen, tap))).collect(),
            false => (0..self.seen).flat_map(|seen| (0..taps.len()).map(move |tap| (seen, tap))).collect(),
        };
        self.rows.extend(all.iter().map(|&(seen, tap)| row(seen, tap)));
        let start = self.job.weight::<T>(0, 0, 0, [0; 3]).addr() as isize;
        let place = |(seen, tap): (usize, usize)| {
            let at = self.job.weight::<T>(0, 0, seen, taps[tap].place).addr() as isize;
            at.wrapping_sub(start) / size_of::<T>() as isize
        };
        all.into_iter().map(place).collect()
    }

    /// The weights in the order of rows.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`.
    pub(super) unsafe fn laid_out(&self, places: &[isize]) -> Result<Vec<u128>> {
        let (tall, made, panels, depth) = (self.tall, self.made, self.panels(), places.len());
        let mut own = zeroed(self.job.plan.groups * panels * tall * depth, T::DTYPE)?;
        let to = own.as_mut_ptr().cast::<T>();
        for i in 0..self.job.plan.groups * panels {
            let (group, first) = (i / panels, i % panels * tall);
            let to = to.wrapping_add(i * tall * depth);
            let live = tall.min(made - first);
            let from = (first..first + live).map(|made| self.job.weight::<T>(group, made, 0, [0; 3]));
            let from: SmallVec<[_; 32]> = from.collect();
            for (k, &place) in places.iter().enumerate() {
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
