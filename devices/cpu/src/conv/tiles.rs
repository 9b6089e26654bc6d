//! A map or an image of many weights, or of halves that are rounded term by term: for each tile of its pixels the
//! product of the weight with what taps see there.

use super::gather;
use super::lattice::Lattice;
use super::{Array, Job};
use crate::scratch::{Scratch, scratch};
use crate::tile_product::{Matrix, Number, multiply};
use monomorph_core::{DeviceId, ErrorKind, Result, list};
use monomorph_iter::share;
use monomorph_ops::conv::{ConvPlan, Pass};
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements of a tile of the seen side: 256 KiB of float32, which stays in the second-level cache beside what the
/// product packs.
const TILE: usize = 1 << 16;

/// A product of fewer pixels leaves registers unused, and one of more gains nothing.
const FEW_PIXELS: usize = 64;
const MANY_PIXELS: usize = 1024;

/// Multiplications that are worth a piece of work for a thread.
const WORK: usize = 1 << 21;

/// Calls `f` for pieces of work, from several threads, and says whether one of them had no memory.
pub(crate) fn share_fallible(pieces: usize, f: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let failed = AtomicBool::new(false);
    share(pieces, |piece| {
        if f(piece).is_err() {
            failed.store(true, Ordering::Relaxed);
        }
    });
    match failed.into_inner() {
        false => Ok(()),
        true => Err(ErrorKind::Allocation { bytes: TILE, device: DeviceId::CPU }.into()),
    }
}

/// Whether what taps contribute to an image is added tap by tap, as PyTorch adds columns: where terms cancel, only the
/// same order of roundings gives the same result.
pub(super) fn in_turn(plan: &ConvPlan, lattice: &Lattice) -> bool {
    plan.pass == Pass::Image && (lattice.taps.len() > 1 || plan.rounds)
}

/// How a lattice is computed, the same for all groups and images.
struct Tiles<'a, T> {
    job: &'a Job<'a>,
    lattice: Cow<'a, Lattice>,
    /// Channels of a group on the seen and on the computed side.
    seen: usize,
    made: usize,
    /// Channels of a pixel lie one behind the other, so tiles have a row for each pixel.
    by_pixel: bool,
    /// Columns of the weight are all channels of one tap after the other.
    by_tap: bool,
    /// What each tap contributes is summed for itself ([`in_turn`]).
    in_turn: bool,
    /// The weights of a group as a matrix: where they lie in the weight, or in a copy.
    packed: Vec<T>,
    /// Columns of the weight that a tile has, and pixels.
    columns: usize,
    pixels: usize,
    /// What is seen is the tile.
    is_identity: Option<isize>,
    /// The step from one pixel to the next on the computed side, if there is one.
    target: Option<isize>,
}

/// Computes a lattice of the map or the image.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output.
pub(super) unsafe fn run<T: Number>(job: &Job<'_>, lattice: &Lattice) -> Result<()> {
    // SAFETY: A1: the caller's promise.
    let tiles = unsafe { Tiles::<T>::new(job, lattice) }?;
    let per_image = tiles.lattice.pixels().div_ceil(tiles.pixels);
    let all = job.plan.batch * job.plan.groups * per_image;
    let work = tiles.pixels.saturating_mul(tiles.made).saturating_mul(tiles.depth().max(1));
    let together = (WORK / work.max(1)).clamp(1, all.max(1));
    share_fallible(all.div_ceil(together), |piece| {
        let mut buffers = tiles.buffers()?;
        for tile in piece * together..all.min((piece + 1) * together) {
            let (of, tile) = (tile / per_image, tile % per_image);
            // SAFETY: A1, and tiles are apart.
            unsafe { tiles.tile(of / job.plan.groups, of % job.plan.groups, tile * tiles.pixels, &mut buffers) }?;
        }
        Ok(())
    })
}

impl<'a, T: Number> Tiles<'a, T> {
    /// # Safety
    ///
    /// A1 for elements of `T`.
    unsafe fn new(job: &'a Job<'a>, lattice: &'a Lattice) -> Result<Self> {
        let plan = job.plan;
        let mut lattice = Cow::Borrowed(lattice);
        if job.plan.rounds && job.output.steps[1] == 1 {
            // Where channels are last PyTorch goes through the map, not through the taps.
            lattice.to_mut().taps.reverse();
        }
        let (seen, made) = match plan.pass {
            Pass::Map => (plan.image_channels, plan.map_channels),
            _ => (plan.map_channels, plan.image_channels),
        };
        let source = &job.first;
        let bounds = lattice.lines.each_ref().map(|line| line.bound as usize);
        let is_identity =
            if lattice.is_identity() && lattice.counts() == bounds { source.pixel_step(bounds) } else { None };
        let is_unit = source.steps[1] == 1 && seen > 1;
        let depth = seen * lattice.taps.len();
        let all = lattice.pixels();
        let in_turn = in_turn(plan, &lattice);
        let least = if in_turn { seen } else { depth };
        let fitting = (TILE / least.max(1)).clamp(FEW_PIXELS, MANY_PIXELS) / 16 * 16;
        let target =
            job.output.pixel_step(lattice.counts()).filter(|_| lattice.lines.iter().all(|line| line.step == 1));
        let mut tiles = Tiles {
            job,
            seen,
            made,
            by_pixel: is_unit && is_identity.is_none(),
            by_tap: is_unit && is_identity.is_none() || in_turn,
            in_turn,
            packed: Vec::new(),
            columns: 0,
            pixels: fitting.min(all),
            is_identity,
            target,
            lattice,
        };
        tiles.columns = match is_identity {
            Some(_) => depth,
            None if in_turn => seen,
            None => (TILE / tiles.pixels).min(depth),
        };
        if tiles.matrix(0).is_none() {
            // SAFETY: A1: the caller's promise.
            tiles.packed = unsafe { tiles.pack() }?;
        }
        Ok(tiles)
    }

    /// Columns of the weight: what one element of the computed side is a sum of.
    fn depth(&self) -> usize {
        self.seen * self.lattice.taps.len()
    }

    /// Steps of the weight from one channel to the next on the computed and on the seen side.
    fn weight_steps(&self) -> [isize; 2] {
        let [map, image, ..] = self.job.second.steps;
        if self.job.plan.pass == Pass::Map { [map, image] } else { [image, map] }
    }

    /// Channel and tap of a column.
    fn column(&self, column: usize) -> (usize, usize) {
        let taps = self.lattice.taps.len();
        if self.by_tap { (column % self.seen, column / self.seen) } else { (column / taps, column % taps) }
    }

    /// The weights of a group as a matrix, if there is one step from each column to the next, or they are packed.
    fn matrix(&self, group: usize) -> Option<Matrix<*const T>> {
        let (depth, [row, seen]) = (self.depth(), self.weight_steps());
        if !self.packed.is_empty() {
            let data = self.packed[group * self.made * depth..].as_ptr();
            return Some(Matrix { data, row: depth as isize, column: 1 });
        }
        let taps = &self.lattice.taps;
        let first = self.job.weight::<T>(group, 0, 0, taps.first()?.place);
        let offset = |tap: usize| {
            let at: isize = (self.job.weight::<T>(group, 0, 0, taps[tap].place).addr() as isize)
                .wrapping_sub(first.addr() as isize);
            at / size_of::<T>() as isize
        };
        // From one tap to the next, and from one channel to the next.
        let tap = if taps.len() > 1 { Some(offset(1)) } else { None };
        if (1..taps.len()).any(|i| Some(offset(i)) != tap.map(|tap| tap.wrapping_mul(i as isize))) {
            return None;
        }
        let channel = if self.seen > 1 { Some(seen) } else { None };
        let (column, other, times) = if self.by_tap { (channel, tap, self.seen) } else { (tap, channel, taps.len()) };
        let column = match (column, other) {
            (Some(column), Some(other)) if other != column.wrapping_mul(times as isize) => return None,
            (Some(column), _) => column,
            (None, other) => other.unwrap_or(1),
        };
        Some(Matrix { data: first, row, column })
    }

    /// A copy of the weights, a matrix for each group.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`.
    unsafe fn pack(&self) -> Result<Vec<T>> {
        let depth = self.depth();
        let mut packed = list::with_capacity(self.job.plan.groups * self.made * depth)?;
        for group in 0..self.job.plan.groups {
            for made in 0..self.made {
                packed.extend((0..depth).map(|column| {
                    let (seen, tap) = self.column(column);
                    // SAFETY: A1: an element of the weight.
                    unsafe { self.job.weight::<T>(group, made, seen, self.lattice.taps[tap].place).read() }
                }));
            }
        }
        Ok(packed)
    }

    /// Memory for a tile of what is seen and, where pixels have no common step, of what is computed.
    fn buffers(&self) -> Result<[Scratch<T>; 3]> {
        let seen = if self.is_identity.is_some() { 0 } else { self.columns * self.pixels };
        let made = if self.target.is_some() { 0 } else { self.made * self.pixels };
        let part = if self.in_turn { self.made * self.pixels } else { 0 };
        Ok([scratch(seen)?, scratch(made)?, scratch(part)?])
    }

    /// Computes the pixels of a group from `start` on.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`; nobody else uses these pixels.
    unsafe fn tile(&self, image: usize, group: usize, start: usize, buffers: &mut [Scratch<T>; 3]) -> Result<()> {
        let n = self.pixels.min(self.lattice.pixels() - start);
        let [seen, made, part] = buffers;
        let c = match self.target {
            Some(step) => {
                let first = self.job.output.at::<T>(image, group * self.made, [0; 3]);
                let data = first.wrapping_offset((start as isize).wrapping_mul(step));
                Matrix { data, row: self.job.output.steps[1], column: step }
            }
            None => Matrix { data: made.as_mut_ptr(), row: self.pixels as isize, column: 1 },
        };
        let depth = self.depth();
        let has_bias = self.job.bias.is_some() && !self.in_turn;
        if has_bias || depth == 0 {
            // SAFETY: A1; the matrix has room for these pixels of each channel.
            unsafe { self.fill(group, n, c) };
        }
        let Some(a) = self.matrix(group).filter(|_| depth > 0) else {
            // SAFETY: A1; what is stored was just filled.
            unsafe { self.store(image, group, (start, n), c) };
            return Ok(());
        };
        let mut column = 0;
        while column < depth {
            let columns = self.columns.min(depth - column);
            // SAFETY: A1; the buffer has room for a tile of so many columns and pixels.
            let b = unsafe { self.seen(image, group, (start, n), (column, columns), seen.as_mut_ptr()) };
            let a = Matrix { data: a.data.wrapping_offset((column as isize).wrapping_mul(a.column)), ..a };
            if !self.in_turn {
                // SAFETY: the matrices are parts of the weight, the tile and the output or memory of our own (A1), of
                // which the last is initialised where it is added to.
                unsafe { multiply([self.made, n, columns], a, b, c, has_bias || column > 0) }?;
            } else {
                let part = Matrix { data: part.as_mut_ptr(), row: n as isize, column: 1 };
                // SAFETY: the matrices are parts of the weight and the tile (A1), and memory of our own, which has room
                // for so many channels and pixels.
                unsafe { multiply([self.made, n, columns], a, b, part, false) }?;
                // SAFETY: the part was just computed, and the output is initialised from the first one on.
                unsafe { self.add(group, n, (part, column + columns == depth), (c, column > 0)) };
            }
            column += columns;
        }
        // SAFETY: A1; what is stored was just computed.
        unsafe { self.store(image, group, (start, n), c) };
        Ok(())
    }

    /// Adds what one tap contributes, rounded as the result is if terms are, and behind the last one the bias.
    ///
    /// # Safety
    ///
    /// A1; both matrices have room for `n` pixels of each channel; the first is initialised, the second if `adds`.
    unsafe fn add(
        &self,
        group: usize,
        n: usize,
        (part, is_last): (Matrix<*mut T>, bool),
        (c, adds): (Matrix<*mut T>, bool),
    ) {
        let dtype = if self.job.plan.rounds { self.job.dtype } else { T::DTYPE };
        for m in 0..self.made {
            // SAFETY: A1, and a channel of the group.
            let bias =
                (is_last && self.job.bias.is_some()).then(|| unsafe { self.job.bias::<T>(group * self.made + m) });
            let (row, from) = (c.data.wrapping_offset((m as isize).wrapping_mul(c.row)), part.data.wrapping_add(m * n));
            for p in 0..n {
                let to = row.wrapping_offset((p as isize).wrapping_mul(c.column));
                // SAFETY: pixel `p` of the part.
                let mut sum = unsafe { from.wrapping_add(p).read() }.rounded(dtype);
                if adds {
                    // SAFETY: pixel `p` of the output, which is initialised.
                    sum = unsafe { to.read() }.sum(sum).rounded(dtype);
                }
                if let Some(bias) = bias {
                    sum = sum.sum(bias).rounded(dtype);
                }
                // SAFETY: pixel `p` of the output.
                unsafe { to.write(sum) };
            }
        }
    }

    /// The bias of each channel, or zeros.
    ///
    /// # Safety
    ///
    /// A1; `c` has room for `n` pixels of each channel.
    unsafe fn fill(&self, group: usize, n: usize, c: Matrix<*mut T>) {
        for m in 0..self.made {
            // SAFETY: A1, and a channel of the group.
            let bias: T = unsafe { self.job.bias(group * self.made + m) };
            let row = c.data.wrapping_offset((m as isize).wrapping_mul(c.row));
            if c.column == 1 {
                // SAFETY: a run of `n` pixels, which nobody else uses.
                unsafe { std::slice::from_raw_parts_mut(row.cast::<MaybeUninit<T>>(), n) }.fill(MaybeUninit::new(bias));
                continue;
            }
            for p in 0..n as isize {
                // SAFETY: there is room for it.
                unsafe { row.wrapping_offset(p.wrapping_mul(c.column)).write(bias) };
            }
        }
    }

    /// A tile of what is seen: rows are columns of the weight.
    ///
    /// # Safety
    ///
    /// A1; `to` has room for as many elements.
    unsafe fn seen(
        &self,
        image: usize,
        group: usize,
        (start, n): (usize, usize),
        (first, columns): (usize, usize),
        to: *mut T,
    ) -> Matrix<*const T> {
        let source: &Array = &self.job.first;
        let channel = |c: usize| source.at::<T>(image, group * self.seen + c, [0; 3]).cast_const();
        if let Some(step) = self.is_identity {
            let data = channel(first).wrapping_offset((start as isize).wrapping_mul(step));
            return Matrix { data, row: source.steps[1], column: step };
        }
        if !self.by_pixel {
            for i in 0..columns {
                let (c, tap) = self.column(first + i);
                let (tap, to) = (&self.lattice.taps[tap], to.wrapping_add(i * n));
                // SAFETY: A1: the channel has the sizes of the bounds; the tile has room for a row of `n` pixels.
                unsafe { gather::row(&self.lattice, tap, channel(c), &source.steps[2..], (start, n), to) };
            }
            return Matrix { data: to, row: n as isize, column: 1 };
        }
        let mut done = 0;
        while done < columns {
            let (c, tap) = self.column(first + done);
            let channels = (self.seen - c).min(columns - done);
            let (tap, to) = (&self.lattice.taps[tap], to.wrapping_add(done));
            // SAFETY: A1: the channels have the sizes of the bounds and lie one behind the other; the tile has room for
            // `n` rows of `columns` elements, of which these are a part.
            unsafe {
                gather::pixels(
                    &self.lattice,
                    tap,
                    (channel(c), channels),
                    &source.steps[2..],
                    (start, n),
                    (to, columns),
                );
            }
            done += channels;
        }
        Matrix { data: to, row: 1, column: columns as isize }
    }

    /// Writes what was computed in a buffer to its places.
    ///
    /// # Safety
    ///
    /// A1; `c` has `n` pixels of each channel.
    unsafe fn store(&self, image: usize, group: usize, (start, n): (usize, usize), c: Matrix<*mut T>) {
        if self.target.is_some() {
            return;
        }
        let output = &self.job.output;
        let step = (self.lattice.lines[2].step as isize).wrapping_mul(output.steps[4]);
        self.lattice.runs(start, n, |at, length, done| {
            for m in 0..self.made {
                let to = output.at::<T>(image, group * self.made + m, self.lattice.target(at));
                let from = c.data.wrapping_offset((m as isize).wrapping_mul(c.row)).wrapping_add(done);
                for i in 0..length {
                    // SAFETY: pixel `done + i` of the channel in the buffer.
                    let x = unsafe { from.wrapping_add(i).read() };
                    // SAFETY: the element of the output where the pixel lies (A1), which nobody else uses.
                    unsafe { to.wrapping_offset((i as isize).wrapping_mul(step)).write(x) };
                }
            }
        });
    }
}
