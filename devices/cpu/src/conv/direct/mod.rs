//! Groups of one channel on either side: elements are summed where they lie, many side by side.
//!
//! ```text
//!   row-major       a line of a channel: neighbours see a tap in neighbours, times the same weight
//!   channels-last   the channels of a pixel: each sees a tap in itself, times a weight of its own  (`pixels`)
//! ```
//!
//! Lines are mostly short, so that channels of a map are spread out and summed as one run ([`planes`]). Others are
//! summed line by line (`lines`), once it is known which taps see something ([`sight`]).

mod lines;
mod pixels;
mod planes;
mod sight;

pub(super) use planes::{Planes, by_planes};

use super::lattice::Lattice;
use super::{Job, LaidOut};
use crate::converted::zeroed;
use crate::isa::{Isa, Kernel};
use crate::tile_product::Number;
use monomorph_core::{Result, list};
use monomorph_iter::share;
use sight::{Line, Sight};
use std::marker::PhantomData;
use std::ops::{Deref, Range};

/// Elements that are worth a piece of work for a thread.
const WORK: usize = 1 << 16;

/// How a lattice is computed line by line.
#[derive(Debug)]
pub(super) struct Lines {
    /// Where the first pixel sees each tap, from the first element of the channel on.
    offsets: Vec<isize>,
    sight: Sight,
}

impl Lines {
    pub(super) fn new(job: &Job<'_>, lattice: &Lattice) -> Result<Lines> {
        let mut offsets = list::with_capacity(lattice.taps.len())?;
        offsets.extend(lattice.taps.iter().map(|tap| {
            let steps = &job.first.steps[2..];
            tap.offset.iter().zip(steps).fold(0, |at: isize, (i, step)| at.wrapping_add(i.wrapping_mul(*step)))
        }));
        Ok(Lines { offsets, sight: Sight::new(lattice)? })
    }
}

/// Whether the channels of a pixel lie side by side.
fn is_by_pixel(job: &Job<'_>) -> bool {
    job.first.steps[1] == 1 && job.output.steps[1] == 1
}

/// Computes a lattice of the map or the image line by line.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output; `lines` are those of the lattice.
pub(super) unsafe fn by_lines<T: Number>(job: &Job<'_>, lattice: &Lattice, lines: &Lines) -> Result<()> {
    let by_pixel = is_by_pixel(job);
    // SAFETY: A1: the caller's promise.
    let weights = unsafe { Weights::new(job, lattice, by_pixel) }?;
    let depthwise = Depthwise::<T> { job, lattice, by_pixel, weights, offsets: &lines.offsets, sight: &lines.sight };
    let [planes, lines, columns] = lattice.counts();
    let groups = job.plan.groups;
    // Lines of all planes and, one channel after the other, of all channels.
    let (side, of_line) = if by_pixel { (1, columns * groups) } else { (groups, columns) };
    let all = job.plan.batch * side * planes * lines;
    let together = (WORK / (of_line * lattice.taps.len()).max(1)).clamp(1, all.max(1));
    share(all.div_ceil(together), |piece| {
        // Made where A1 holds (the caller's promise); lines are apart.
        job.level.enter(Piece { of: &depthwise, lines: piece * together..all.min((piece + 1) * together) });
    });
    Ok(())
}

/// One lattice of a call.
struct Depthwise<'a, T> {
    job: &'a Job<'a>,
    lattice: &'a Lattice,
    /// Channels of a pixel lie side by side.
    by_pixel: bool,
    /// By channel, or by tap where the channels of a pixel lie side by side.
    weights: Weights<'a, T>,
    offsets: &'a [isize],
    sight: &'a Sight,
}

impl<T: Number> Depthwise<'_, T> {
    /// What the first tap without an offset would see of a line, and where the line is stored.
    #[inline(always)]
    fn line_of(&self, image: usize, channel: usize, [i, j]: [usize; 2]) -> (*const T, *mut T) {
        let [outer, middle, _] = &self.lattice.lines;
        let [_, _, plane, line, _] = self.job.first.steps;
        let plane = (i as isize).wrapping_mul(outer.moves).wrapping_mul(plane);
        let line = (j as isize).wrapping_mul(middle.moves).wrapping_mul(line);
        let from = self.job.first.at::<T>(image, channel, [0; 3]).wrapping_offset(plane.wrapping_add(line));
        (from.cast_const(), self.job.output.at::<T>(image, channel, self.lattice.target([i, j, 0])))
    }

    /// The step of elements that neighbours see, and that between neighbours.
    #[inline(always)]
    fn steps(&self) -> [isize; 2] {
        let line = &self.lattice.lines[2];
        let (seen, made) = (self.job.first.steps[4], self.job.output.steps[4]);
        [line.moves.wrapping_mul(seen), (line.step as isize).wrapping_mul(made)]
    }
}

/// For each channel the weights of the taps and a bias, or for each tap, and for the bias, those of all channels.
struct Weights<'a, T> {
    words: LaidOut<'a>,
    of: PhantomData<T>,
}

impl<'a, T: Number> Weights<'a, T> {
    /// # Safety
    ///
    /// A1 for elements of `T`.
    unsafe fn new(job: &Job<'a>, lattice: &Lattice, by_tap: bool) -> Result<Self> {
        let (groups, taps) = (job.plan.groups, lattice.taps.len());
        let lay_out = || {
            let mut words = zeroed((taps + 1) * groups, T::DTYPE)?;
            let weights: &mut [T] = bytemuck::cast_slice_mut(&mut words);
            for group in 0..groups {
                for tap in 0..=taps {
                    let weight = match lattice.taps.get(tap) {
                        // SAFETY: A1: an element of the weight.
                        Some(tap) => unsafe { job.second.at::<T>(group, 0, tap.place).read() },
                        // SAFETY: A1, and a channel of the result.
                        None => unsafe { job.bias(group) },
                    };
                    weights[if by_tap { tap * groups + group } else { group * (taps + 1) + tap }] = weight;
                }
            }
            Ok(words)
        };
        let words = if job.bias_stays { job.laid_out(lay_out)? } else { LaidOut::Own(lay_out()?) };
        Ok(Weights { words, of: PhantomData })
    }
}

impl<T: Number> Deref for Weights<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.words)
    }
}

/// Lines of a lattice. Made only where A1 holds for elements of `T`, and nobody else uses these lines.
struct Piece<'a, T> {
    of: &'a Depthwise<'a, T>,
    lines: Range<usize>,
}

impl<T: Number, I: Isa> Kernel<I> for Piece<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let [planes, lines, _] = self.of.lattice.counts();
        let groups = self.of.job.plan.groups;
        for line in self.lines {
            let (of, line) = (line / (planes * lines), line % (planes * lines));
            let at = [line / lines, line % lines];
            let sight: &Line = self.of.sight.line(line);
            if self.of.by_pixel {
                // SAFETY: the lines are those of this piece (the struct's promise).
                unsafe { self.of.pixels::<I>(of, at, sight) };
            } else {
                // SAFETY: the lines are those of this piece (the struct's promise).
                unsafe { self.of.line::<I>((of / groups, of % groups), at, sight) };
            }
        }
    }
}
