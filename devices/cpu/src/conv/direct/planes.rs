//! Maps of channels that are spread out ([`Spread`]): a plane is summed as one run, across the edges of its lines, and
//! the lines of it are copied.
//!
//! ```text
//!   0 0 0 0 0 0
//!   0 a b c d 0    the same taps, times the same weights,    s s s s - -            s s s s
//!   0 e f g h 0    for each element up to the last line's    s s s s - -    lines   s s s s
//!   0 i j k l 0    last pixel                                s s s s                s s s s
//!   0 0 0 0 0 0
//! ```

use super::{Weights, is_by_pixel};
use crate::conv::Job;
use crate::conv::lattice::Lattice;
use crate::conv::spread::{Copies, Spread, copy_run};
use crate::conv::tiles::share_fallible;
use crate::isa::{Isa, Kernel, Level};
use crate::scratch::scratch;
use crate::tile_product::Number;
use monomorph_core::{Result, list};
use monomorph_iter::{is_parallel, pieces};
use monomorph_ops::conv::Pass;
use std::ops::Range;

/// Multiplications that are worth a piece of work for a thread.
const WORK: usize = 1 << 18;

/// Elements of the widest block.
const WIDEST: usize = 64;

/// How a map is computed plane by plane.
#[derive(Debug)]
pub(in crate::conv) struct Planes {
    spread: Spread,
    copies: Copies,
    /// Where the first pixel sees each tap in a spread-out channel.
    offsets: Vec<usize>,
}

impl Planes {
    /// None for what is no map of rows, for a window of one element, and where channels would be spread over too much
    /// memory.
    pub(in crate::conv) fn new(job: &Job<'_>, lattice: &Lattice) -> Result<Option<Planes>> {
        let spread = Spread::new(lattice);
        let is_map = job.plan.pass == Pass::Map && !is_by_pixel(job);
        if !is_map || lattice.taps.len() <= 1 || !spread.is_compact(lattice) {
            return Ok(None);
        }
        let mut offsets = list::with_capacity(lattice.taps.len())?;
        offsets.extend(lattice.taps.iter().map(|tap| spread.offset(tap)));
        let copies = spread.copies(lattice, &job.first)?;
        Ok(Some(Planes { spread, copies, offsets }))
    }
}

/// A map of channels.
struct Map<'a, T> {
    job: &'a Job<'a>,
    lattice: &'a Lattice,
    by: &'a Planes,
    /// For each channel those of the taps, and the bias.
    weights: Weights<'a, T>,
}

/// Computes the map.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output; `by` is of this lattice.
pub(in crate::conv) unsafe fn by_planes<T: Number>(job: &Job<'_>, lattice: &Lattice, by: &Planes) -> Result<()> {
    let parts = job.plan.batch * job.plan.groups;
    if parts == 0 {
        return Ok(());
    }
    // SAFETY: A1: the caller's promise.
    let weights = unsafe { Weights::new(job, lattice, false) }?;
    let planes = Map::<T> { job, lattice, by, weights };
    let work = parts.saturating_mul(lattice.pixels()).saturating_mul(lattice.taps.len());
    let together = parts.div_ceil(if is_parallel(work, WORK) { pieces() } else { 1 });
    share_fallible(parts.div_ceil(together), |piece| {
        let channel = planes.by.spread.channel + WIDEST;
        let mut memory = scratch::<T>(channel + planes.plane().next_multiple_of(WIDEST))?;
        let (channel, sums) = memory.split_at_mut(channel);
        let parts = piece * together..parts.min((piece + 1) * together);
        job.level.enter(Channels { of: &planes, channel, sums, parts });
        Ok(())
    })
}

impl<T> Map<'_, T> {
    /// Elements from the first pixel of a plane to the last, as they are summed.
    fn plane(&self) -> usize {
        let [_, lines, columns] = self.lattice.counts();
        (lines - 1) * self.by.spread.extents()[2] + columns
    }
}

/// Channels of images, one after the other in the same memory. Made only where A1 holds for elements of `T`, and nobody
/// else uses these channels of the output.
struct Channels<'a, T> {
    of: &'a Map<'a, T>,
    /// A channel, spread out, and a block behind it; zeros beyond the edges.
    channel: &'a mut [T],
    /// A plane in whole blocks.
    sums: &'a mut [T],
    parts: Range<usize>,
}

impl<T: Number, I: Isa> Kernel<I> for Channels<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        // Four registers.
        let bytes = match I::LEVEL {
            Level::Avx512 => 256,
            Level::Avx2 => 128,
            Level::Portable | Level::Sse2 => 64,
        };
        match bytes / size_of::<T>() {
            WIDEST.. => self.all::<I, WIDEST>(),
            32.. => self.all::<I, 32>(),
            _ => self.all::<I, 16>(),
        }
    }
}

impl<T: Number> Channels<'_, T> {
    #[inline(always)]
    fn all<I: Isa, const N: usize>(mut self) {
        let Map { job, lattice, by: Planes { spread, copies, offsets }, weights } = self.of;
        for part in self.parts.clone() {
            let (image, group) = (part / job.plan.groups, part % job.plan.groups);
            let from = job.first.at::<T>(image, group, [0; 3]).cast_const();
            // SAFETY: A1; the channel is ours and has room for the copy.
            unsafe { copies.run(from, self.channel.as_mut_ptr()) };
            let weights = &weights[group * (offsets.len() + 1)..][..=offsets.len()];
            for plane in 0..lattice.counts()[0] {
                self.sum::<I, N>(spread.line([plane, 0]), weights);
                // SAFETY: A1, and nobody else uses the channel of the output.
                unsafe { self.store(image, group, plane) };
            }
        }
    }

    /// Sums a plane that begins there.
    #[inline(always)]
    fn sum<I: Isa, const N: usize>(&mut self, start: usize, weights: &[T]) {
        let (offsets, plane) = (&self.of.by.offsets[..], self.of.plane());
        let (taps, bias) = (&weights[..offsets.len()], weights[offsets.len()]);
        // A tap sees a channel from its offset to the last pixel's, and a block more.
        let last = offsets.iter().max().map_or(0, |last| start + last + plane.next_multiple_of(N));
        assert!(last <= self.channel.len(), "a block is behind each channel");
        let (blocks, _) = self.sums.as_chunks_mut::<N>();
        for (i, block) in blocks[..plane.div_ceil(N)].iter_mut().enumerate() {
            let from = self.channel.as_ptr().wrapping_add(start + i * N);
            let mut sums = [bias; N];
            for (&offset, &weight) in offsets.iter().zip(taps) {
                // SAFETY: `N` elements of the channel: they end before `last`.
                let x: [T; N] = unsafe { from.wrapping_add(offset).cast::<[T; N]>().read_unaligned() };
                for (sum, x) in sums.iter_mut().zip(x) {
                    *sum = if I::FMA { sum.plus::<true>(x, weight) } else { sum.plus::<false>(x, weight) };
                }
            }
            *block = sums;
        }
    }

    /// Stores the lines of a plane.
    ///
    /// # Safety
    ///
    /// A1; nobody else uses the plane.
    #[inline(always)]
    unsafe fn store(&self, image: usize, group: usize, plane: usize) {
        let Map { job, lattice, by: Planes { spread, .. }, .. } = self.of;
        let [_, lines, columns] = lattice.counts();
        let [line_step, step] = [1, 2].map(|d| (lattice.lines[d].step as isize).wrapping_mul(job.output.steps[2 + d]));
        let first = job.output.at::<T>(image, group, lattice.target([plane, 0, 0]));
        for (line, sums) in (0..lines as isize).zip(self.sums.chunks(spread.extents()[2])) {
            let to = first.wrapping_offset(line.wrapping_mul(line_step));
            let sums = &sums[..columns];
            if step == 1 {
                // SAFETY: a line of the output has so many elements (A1), which nobody else uses.
                unsafe { copy_run(sums.as_ptr(), to, columns) };
                continue;
            }
            for (i, sum) in sums.iter().enumerate() {
                // SAFETY: an element of the line.
                unsafe { to.wrapping_offset((i as isize).wrapping_mul(step)).write(*sum) };
            }
        }
    }
}
