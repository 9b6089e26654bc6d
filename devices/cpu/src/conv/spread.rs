//! What the taps of a lattice see of a channel, spread out: one copy with its edges, in which every tap sees all pixels
//! at one distance, and neighbours in neighbours.
//!
//! ```text
//!    the channel          stride 1: with its edges         stride 2: apart by the remainder of the place
//!   ┌─────────┐               0 0 0 0 0 0                     0 0 0    0 0 0
//!   │ a b c d │               0 a b c d 0                     0 b d    a c 0    (and the same of odd lines)
//!   │ e f g h │               0 e f g h 0
//!   └─────────┘               0 0 0 0 0 0
//! ```
//!
//! A gathered matrix would hold each element once for every tap that sees it.

use super::Array;
use super::lattice::{Lattice, Tap};
use crate::tile_product::Number;
use smallvec::SmallVec;

/// One dimension: `place = element · moves + remainder - shift` is where an element of the copy lies in the channel.
#[derive(Debug)]
struct Along {
    moves: usize,
    shift: isize,
    /// The remainders that taps see, each with a part of the copy.
    remainders: SmallVec<[usize; 4]>,
    /// Elements of a part.
    extent: usize,
}

impl Along {
    fn new(lattice: &Lattice, d: usize) -> Along {
        let line = &lattice.lines[d];
        let offsets = || lattice.taps.iter().map(|tap| tap.offset[d]);
        let shift = offsets().min().unwrap_or(0).wrapping_neg();
        let mut along = Along { moves: line.moves as usize, shift, remainders: SmallVec::new(), extent: 0 };
        let mut reach = 0;
        for offset in offsets() {
            let (remainder, on) = along.split(offset);
            reach = reach.max(on);
            if !along.remainders.contains(&remainder) {
                along.remainders.push(remainder);
            }
        }
        along.extent = line.count.saturating_add(reach);
        along
    }

    /// The remainder that a tap sees, and how many elements on.
    fn split(&self, offset: isize) -> (usize, usize) {
        let place = offset.wrapping_add(self.shift) as usize;
        (place % self.moves, place / self.moves)
    }

    /// The part that a tap sees, and how many elements on.
    fn part(&self, offset: isize) -> (usize, usize) {
        let (remainder, on) = self.split(offset);
        (self.remainders.iter().position(|own| *own == remainder).unwrap_or(0), on)
    }
}

/// The copy of a channel.
#[derive(Debug)]
pub(super) struct Spread {
    along: [Along; 3],
    /// Elements of the copy; `usize::MAX` if there are more than memory.
    pub(super) channel: usize,
}

impl Spread {
    pub(super) fn new(lattice: &Lattice) -> Spread {
        let along = [0, 1, 2].map(|d| Along::new(lattice, d));
        let channel = along
            .iter()
            .fold(1_usize, |all, along| all.saturating_mul(along.extent).saturating_mul(along.remainders.len()));
        Spread { along, channel }
    }

    /// Elements of a part in each dimension.
    pub(super) fn extents(&self) -> [usize; 3] {
        self.along.each_ref().map(|along| along.extent)
    }

    /// How far behind the first element of the copy a tap sees the first pixel.
    pub(super) fn offset(&self, tap: &Tap) -> usize {
        let [z, y, x] = [0, 1, 2].map(|d| self.along[d].part(tap.offset[d]));
        self.part([z.0, y.0, x.0]) + self.line([z.1, y.1]) + x.1
    }

    /// Where a part begins.
    fn part(&self, [z, y, x]: [usize; 3]) -> usize {
        let [planes, lines, columns] = self.extents();
        let [_, b, c] = self.along.each_ref().map(|along| along.remainders.len());
        ((z * b + y) * c + x) * planes * lines * columns
    }

    /// Where a line of a part begins.
    pub(super) fn line(&self, [z, y]: [usize; 2]) -> usize {
        let [_, lines, columns] = self.extents();
        (z * lines + y) * columns
    }

    /// Copies a channel. What lies beyond its edges stays as it is: zeros.
    ///
    /// # Safety
    ///
    /// `from` is the first element of a channel that has the sizes of the lattice's bounds and the steps of `source`,
    /// initialised, which nobody writes; `to` has room for `channel` elements that nobody else uses.
    pub(super) unsafe fn copy<T: Number>(&self, lattice: &Lattice, source: &Array, from: *const T, to: *mut T) {
        let steps = &source.steps[2..];
        let [a, b, c] = &self.along;
        let within = |d: usize, remainder: usize, i: usize| {
            let place = (i.wrapping_mul(self.along[d].moves).wrapping_add(remainder) as isize)
                .wrapping_sub(self.along[d].shift);
            (0..lattice.lines[d].bound).contains(&place).then(|| place.wrapping_mul(steps[d]))
        };
        let step = (c.moves as isize).wrapping_mul(steps[2]);
        for (i, plane) in a.remainders.iter().enumerate().flat_map(|(i, r)| (0..a.extent).map(move |p| (i, (*r, p)))) {
            let Some(plane_at) = within(0, plane.0, plane.1) else { continue };
            for (j, line) in b.remainders.iter().enumerate().flat_map(|(j, r)| (0..b.extent).map(move |l| (j, (*r, l))))
            {
                let Some(line_at) = within(1, line.0, line.1) else { continue };
                for (k, &remainder) in c.remainders.iter().enumerate() {
                    let to = to.wrapping_add(self.part([i, j, k]) + self.line([plane.1, line.1]));
                    let offset = (remainder as isize).wrapping_sub(c.shift);
                    let (low, high) = lattice.lines[2].visible(offset, 0, c.extent);
                    let first = (low.wrapping_mul(c.moves) as isize).wrapping_add(offset).wrapping_mul(steps[2]);
                    let from = from.wrapping_offset(plane_at.wrapping_add(line_at).wrapping_add(first));
                    let to = to.wrapping_add(low);
                    if step == 1 {
                        // SAFETY: elements `low..high` of the line of the copy, which lie within the channel, one
                        // behind the other since the step is 1; the copy is memory of its own.
                        unsafe { to.copy_from_nonoverlapping(from, high - low) };
                        continue;
                    }
                    for x in 0..high - low {
                        // SAFETY: element `low + x` of the line lies within the channel.
                        let element = unsafe { from.wrapping_offset((x as isize).wrapping_mul(step)).read() };
                        // SAFETY: it is one of the line of the copy.
                        unsafe { to.wrapping_add(x).write(element) };
                    }
                }
            }
        }
    }
}
