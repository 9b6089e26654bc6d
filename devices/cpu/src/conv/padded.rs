//! What taps see where channels are in lanes: the image itself, if no tap is ever beyond an edge, or a copy of it with
//! its edges.
//!
//! ```text
//!    the image             the copy, channels first          the copy, channels last
//!   ┌─────────┐               0 0 0 0 0 0
//!   │ a b c d │               0 a b c d 0                     (0…) (a…) (b…) (c…) (d…) (0…)
//!   │ e f g h │               0 e f g h 0                     a run of all channels for each pixel
//!   └─────────┘               0 0 0 0 0 0
//! ```
//!
//! Pixels are reached one by one, so they need not lie one behind the other, as those of a
//! [`spread`](super::spread)-out channel do.

use super::Array;
use super::lattice::{Lattice, Tap};
use super::shifted::is_last;
use super::spread::{Copies, Copy, LARGEST};
use crate::cache_lines::CACHE_LINE;
use monomorph_core::{Result, list};
use std::ops::Range;

/// Where elements are, from the first pixel of the first channel on: elements between channels, and between places.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) channel: isize,
    steps: [isize; 3],
    shift: [isize; 3],
}

impl View {
    /// Where the first pixel sees a tap.
    pub(super) fn tap(&self, tap: &Tap) -> isize {
        self.place(std::array::from_fn(|d| tap.offset[d].wrapping_add(self.shift[d])))
    }

    /// How far on another pixel sees all taps.
    pub(super) fn pixel(&self, lattice: &Lattice, at: [usize; 3]) -> isize {
        self.place(std::array::from_fn(|d| (at[d] as isize).wrapping_mul(lattice.lines[d].moves)))
    }

    fn place(&self, place: [isize; 3]) -> isize {
        place.iter().zip(self.steps).fold(0, |at, (i, step)| at.wrapping_add(i.wrapping_mul(step)))
    }
}

/// What the taps of a lattice see, and how it is copied if it is.
#[derive(Debug)]
pub(super) struct Padded {
    pub(super) view: View,
    /// Elements of the copy of a group; none if the image is seen where it lies.
    pub(super) size: usize,
    pub(super) copies: Option<Copies>,
}

impl Padded {
    /// Where the `seen` channels of a group, of elements of so many bytes, are seen; none if the copy would be much
    /// larger than the image: then windows reach far beyond it.
    pub(super) fn new(lattice: &Lattice, source: &Array, seen: usize, bytes: usize) -> Result<Option<Padded>> {
        let window = Window::new(lattice);
        if window.is_inside() {
            let [_, channel, steps @ ..] = source.steps;
            let view = View { channel, steps, shift: [0; 3] };
            return Ok(Some(Padded { view, size: 0, copies: None }));
        }
        let extents = window.extents();
        let channel = extents.iter().fold(1_usize, |all, &extent| all.saturating_mul(extent));
        let held: usize = window.bounds.iter().map(|&bound| bound as usize).product();
        let is_last = is_last(source, seen);
        let pitch = if is_last { apart(seen, bytes) } else { 1 };
        let size = channel.saturating_mul(if is_last { pitch } else { seen });
        // Where an image is one element again and again, it may be larger than memory.
        let most = held.saturating_add(lattice.pixels()).saturating_mul(4).saturating_add(1 << 12);
        if channel > most || size > LARGEST {
            return Ok(None);
        }
        let [_, lines, columns] = extents;
        let view = View {
            channel: if is_last { 1 } else { channel as isize },
            steps: [lines * columns * pitch, columns * pitch, pitch].map(|step| step as isize),
            shift: window.low.map(isize::wrapping_neg),
        };
        let together = is_last.then_some((seen, pitch));
        let copies = Copies::new(window.lines(&source.steps[2..], pitch)?, source.steps[4], together);
        Ok(Some(Padded { view, size, copies: Some(copies) }))
    }
}

/// All that the pixels of a lattice see, in each dimension.
struct Window {
    /// What the first pixel sees first, and last.
    low: [isize; 3],
    high: [isize; 3],
    /// How far on the last pixel sees all of that.
    last: [isize; 3],
    /// Elements of the image.
    bounds: [isize; 3],
}

impl Window {
    fn new(lattice: &Lattice) -> Window {
        let offsets = |d: usize| lattice.taps.iter().map(move |tap| tap.offset[d]);
        Window {
            low: [0, 1, 2].map(|d| offsets(d).min().unwrap_or(0)),
            high: [0, 1, 2].map(|d| offsets(d).max().unwrap_or(0)),
            last: lattice.lines.each_ref().map(|line| (line.count as isize - 1).saturating_mul(line.moves)),
            bounds: lattice.lines.each_ref().map(|line| line.bound),
        }
    }

    /// Whether nothing beyond an edge is seen.
    fn is_inside(&self) -> bool {
        (0..3).all(|d| self.low[d] >= 0 && self.high[d].saturating_add(self.last[d]) < self.bounds[d])
    }

    /// How many elements are seen, those beyond edges and between taps too.
    fn extents(&self) -> [usize; 3] {
        [0, 1, 2].map(|d| {
            let reach = self.high[d].saturating_sub(self.low[d]).saturating_add(self.last[d]);
            reach.saturating_add(1) as usize
        })
    }

    /// Those elements that are some of the image.
    fn inside(&self, d: usize) -> Range<usize> {
        let extent = self.extents()[d] as isize;
        let first = self.low[d].wrapping_neg().clamp(0, extent);
        first as usize..self.bounds[d].saturating_sub(self.low[d]).clamp(first, extent) as usize
    }

    /// The lines of the image that are seen, to be copied to pixels that are `pitch` elements apart.
    fn lines(&self, steps: &[isize], pitch: usize) -> Result<Vec<Copy>> {
        let [_, rows, columns] = self.extents();
        let [planes, lines, inside] = [0, 1, 2].map(|d| self.inside(d));
        let mut copied = list::with_capacity(planes.len().saturating_mul(lines.len()))?;
        for z in planes {
            copied.extend(lines.clone().map(|y| {
                let place = [z, y, inside.start].into_iter().zip(self.low);
                let place = place.map(|(i, low)| (i as isize).wrapping_add(low));
                Copy {
                    from: place.zip(steps).fold(0, |at, (i, step)| at.wrapping_add(i.wrapping_mul(*step))),
                    to: ((z * rows + y) * columns + inside.start) * pitch,
                    elements: inside.len(),
                }
            }));
        }
        Ok(copied)
    }
}

/// Elements from one pixel of a copy to the next: as many as channels, and a cache line more where pixels would lie
/// large powers of two apart, so that the first cache had room for few of them at the same time.
fn apart(channels: usize, bytes: usize) -> usize {
    if (channels * bytes).is_multiple_of(8 * CACHE_LINE) { channels + CACHE_LINE / bytes } else { channels }
}
