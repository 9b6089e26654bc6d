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
use crate::stride2::every_second;
use crate::tile_product::Number;
use monomorph_core::{Result, list};
use smallvec::SmallVec;

/// Elements of the largest copy: more are in no memory, and places in it would overflow.
pub(super) const LARGEST: usize = isize::MAX as usize / 16;

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

    /// Whether the copy takes little more than what is seen and made: a window that reaches far beyond the image, or
    /// moves far in it, would spread it over too much memory.
    pub(super) fn is_compact(&self, lattice: &Lattice) -> bool {
        let seen: usize = lattice.lines.iter().map(|line| line.bound as usize).product();
        let held = seen.saturating_add(lattice.pixels());
        self.channel <= held.saturating_mul(4).saturating_add(1 << 12).min(LARGEST)
    }

    /// The lines that a copy consists of.
    pub(super) fn copies(&self, lattice: &Lattice, source: &Array) -> Result<Copies> {
        let steps = &source.steps[2..];
        let [a, b, c] = &self.along;
        // Where the element of a part lies in the channel, if it is one of it.
        let within = |d: usize, remainder: usize, i: usize| {
            let place = (i.wrapping_mul(self.along[d].moves).wrapping_add(remainder) as isize)
                .wrapping_sub(self.along[d].shift);
            (0..lattice.lines[d].bound).contains(&place).then(|| place.wrapping_mul(steps[d]))
        };
        // For each remainder the elements of a line that are some of the channel, and where the first one is.
        let visible = |&remainder: &usize| {
            let offset = (remainder as isize).wrapping_sub(c.shift);
            let (low, high) = lattice.lines[2].visible(offset, 0, c.extent);
            let first = (low.wrapping_mul(c.moves) as isize).wrapping_add(offset).wrapping_mul(steps[2]);
            (low, high - low, first)
        };
        let visible: SmallVec<[_; 4]> = c.remainders.iter().map(visible).collect();
        let all = (a.extent * a.remainders.len()).saturating_mul(b.extent * b.remainders.len() * visible.len());
        let mut lines = list::with_capacity(all)?;
        for ((i, plane), p) in a.remainders.iter().enumerate().flat_map(|at| (0..a.extent).map(move |p| (at, p))) {
            let Some(plane_at) = within(0, *plane, p) else { continue };
            for ((j, line), l) in b.remainders.iter().enumerate().flat_map(|at| (0..b.extent).map(move |l| (at, l))) {
                let Some(line_at) = within(1, *line, l) else { continue };
                lines.extend(visible.iter().enumerate().map(|(k, &(low, elements, first))| Copy {
                    from: plane_at.wrapping_add(line_at).wrapping_add(first),
                    to: self.part([i, j, k]) + self.line([p, l]) + low,
                    elements,
                }));
            }
        }
        Ok(Copies { is_dense: steps[2] == 1, ..Copies::new(lines, (c.moves as isize).wrapping_mul(steps[2]), None) })
    }
}

/// Elements of a line: where they are in a channel and in its copy.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) from: isize,
    pub(super) to: usize,
    pub(super) elements: usize,
}

/// How a channel is copied, the same for all, or all channels of a line.
#[derive(Debug)]
pub(super) struct Copies {
    lines: Vec<Copy>,
    /// From an element of a copied line to the next.
    step: isize,
    /// A line of the channel is a run.
    is_dense: bool,
    /// The channels of a pixel, of which so many are a run, are copied together, to places so far apart.
    together: Option<(usize, usize)>,
}

impl Copies {
    /// Copies of lines whose elements, or pixels of so many channels, are `step` elements apart.
    pub(super) fn new(lines: Vec<Copy>, step: isize, together: Option<(usize, usize)>) -> Copies {
        Copies { lines, step, is_dense: step == 1, together }
    }

    /// Pieces of a copy of so many channels: each is a channel, or a line of all.
    pub(super) fn pieces(&self, channels: usize) -> usize {
        if self.together.is_some() { self.lines.len() } else { channels }
    }

    /// Copies a piece of the channels that lie `from` elements apart, and `to` in the copy.
    ///
    /// # Safety
    ///
    /// `first` is the first element of channels that have the sizes of the lattice's bounds and the steps of the
    /// source, initialised, which nobody writes; `own` has room for the copy, of which nobody else uses this piece.
    pub(super) unsafe fn piece<T: Number>(
        &self,
        i: usize,
        (first, from): (*const T, isize),
        (own, to): (*mut T, usize),
    ) {
        let Some((channels, apart)) = self.together else {
            let first = first.wrapping_offset((i as isize).wrapping_mul(from));
            // SAFETY: the caller's promise, for channel `i`.
            return unsafe { self.run(first, own.wrapping_add(i * to)) };
        };
        let line = &self.lines[i];
        let (first, own) = (first.wrapping_offset(line.from), own.wrapping_add(line.to));
        if self.step == channels as isize && apart == channels {
            // SAFETY: pixels of the line lie one behind the other on both sides.
            return unsafe { own.copy_from_nonoverlapping(first, line.elements * channels) };
        }
        for x in 0..line.elements {
            let first = first.wrapping_offset((x as isize).wrapping_mul(self.step));
            // SAFETY: the channels of a pixel, which are a run on both sides.
            unsafe { copy_run(first, own.wrapping_add(x * apart), channels) };
        }
    }

    /// Copies a channel. What lies beyond its edges stays as it is: zeros.
    ///
    /// # Safety
    ///
    /// `from` is the first element of a channel that has the sizes of the lattice's bounds and the steps of the source,
    /// initialised, which nobody writes; `to` has room for the copy, which nobody else uses.
    #[inline(always)]
    pub(super) unsafe fn run<T: Number>(&self, from: *const T, to: *mut T) {
        for line in &self.lines {
            let (from, to) = (from.wrapping_offset(line.from), to.wrapping_add(line.to));
            match self.step {
                // SAFETY: the elements of a line of the channel, and their places in the copy, which is memory of its
                // own.
                1 => unsafe { copy_run(from, to, line.elements) },
                // SAFETY: the same, and those between are of the same line of the channel.
                2 if self.is_dense => unsafe { copy_every_second(from, to, line.elements) },
                step => {
                    for x in 0..line.elements {
                        // SAFETY: an element of the line of the channel.
                        let element = unsafe { from.wrapping_offset((x as isize).wrapping_mul(step)).read() };
                        // SAFETY: its place in the copy.
                        unsafe { to.wrapping_add(x).write(element) };
                    }
                }
            }
        }
    }
}

/// Elements that are copied together: a line is mostly a few of these.
const TOGETHER: usize = 8;

/// Copies a run; what is left behind blocks of elements is the end of a block that begins earlier.
///
/// # Safety
///
/// Of two runs of `n` elements that do not overlap the first is initialised, and nobody else uses the second.
#[inline(always)]
pub(super) unsafe fn copy_run<T: Number>(from: *const T, to: *mut T, n: usize) {
    if n >= 8 * TOGETHER {
        // SAFETY: the caller's promise.
        return unsafe { to.copy_from_nonoverlapping(from, n) };
    }
    let block = |i: usize| {
        // SAFETY: a block of the first run.
        let block = unsafe { from.wrapping_add(i).cast::<[T; TOGETHER]>().read_unaligned() };
        // SAFETY: a block of the second.
        unsafe { to.wrapping_add(i).cast::<[T; TOGETHER]>().write_unaligned(block) };
    };
    if n >= TOGETHER {
        (0..n / TOGETHER).for_each(|i| block(i * TOGETHER));
        return block(n - TOGETHER);
    }
    for i in 0..n {
        // SAFETY: element `i` of the first run.
        let element = unsafe { from.wrapping_add(i).read() };
        // SAFETY: element `i` of the second.
        unsafe { to.wrapping_add(i).write(element) };
    }
}

/// Copies every second element, `n` in all, to a run.
///
/// # Safety
///
/// The first `2 n - 1` elements of `from` are initialised; `to` has room for `n`, which do not overlap them and nobody
/// else uses.
#[inline(always)]
unsafe fn copy_every_second<T: Number>(from: *const T, to: *mut T, n: usize) {
    let block = |i: usize| {
        // SAFETY: of `2 n - 1` elements those of a block.
        let block: [T; TOGETHER] = unsafe { every_second(from.wrapping_add(2 * i)) };
        // SAFETY: elements `i` and on of the run.
        unsafe { to.wrapping_add(i).cast::<[T; TOGETHER]>().write_unaligned(block) };
    };
    if n >= TOGETHER {
        (0..n / TOGETHER).for_each(|i| block(i * TOGETHER));
        return block(n - TOGETHER);
    }
    for i in 0..n {
        // SAFETY: one of the `2 n - 1` elements.
        let element = unsafe { from.wrapping_add(2 * i).read() };
        // SAFETY: element `i` of the run.
        unsafe { to.wrapping_add(i).write(element) };
    }
}
