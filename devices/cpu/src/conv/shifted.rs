//! A map or an image without a gathered matrix: every tap sees a block of pixels in a run of the spread-out channel
//! ([`Spread`]), so a product takes its rows from there.
//!
//! ```text
//!   panel of weights        rows: channel by channel, tap by tap        block of the output
//!   ┌ ─ column ─►┐          ┌──────────────┐ spread + offset            ┌──────────────┐
//!   │ M channels │     ×    │ pixels       │ of the tap        =        │ M × pixels   │  in registers to the end
//!   └────────────┘          └──────────────┘                            └──────────────┘
//! ```
//!
//! Where lines are shorter than a block, blocks go on across their edges, and what lies there is computed but not
//! stored. The loops are those of a matrix product in registers (Goto and van de Geijn, "Anatomy of high-performance
//! matrix multiplication", 2008) with rows by address, as in Dukhan, "The indirect convolution algorithm" (2019).

use super::lattice::Lattice;
use super::spread::Spread;
use super::tiles::{in_turn, scratch, share_fallible};
use super::{Array, Job};
use crate::isa::{Isa, Kernel, Level};
use crate::tile_product::Number;
use monomorph_core::{Result, list};
use monomorph_iter::{is_parallel, pieces};
use monomorph_ops::conv::Pass;
use std::ops::Range;

/// Channels of a panel: with two registers of pixels each, their sums are in registers.
const TALL: usize = 6;
/// Where that would leave too many rows unused.
const LOW: usize = 4;
/// Of groups of one channel: blocks are twice as wide.
const SINGLE: usize = 1;

/// Bytes of what a group of blocks sees, which stays in the first or second cache while panels change.
const SEEN: usize = 48 << 10;

/// Multiplications that are worth a piece of work for a thread.
const WORK: usize = 1 << 20;

/// Weights of a group up to which the sums of a block go through all rows at once. A product of matrices takes so many
/// in parts that stay in the cache.
const WEIGHTS: usize = 1 << 16;

/// Pixels of a block of `tall` channels at a level, for elements of so many bytes: two registers; four of one channel,
/// and half as many where sums of taps are kept apart, which takes as many again.
fn width(level: Level, size: usize, tall: usize, in_turn: bool) -> usize {
    let bytes = match level {
        Level::Avx512 => 128,
        Level::Avx2 => 64,
        Level::Portable | Level::Sse2 => 32,
    };
    let wide = if tall == SINGLE { 2 * bytes } else { bytes };
    wide / size / if in_turn { 2 } else { 1 }
}

/// Pixels that lie one behind the other: those of the block from `from` on, and where they go.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: usize,
    length: usize,
    to: isize,
}

/// Pixels that are computed together: where the first tap sees them, and which are stored.
#[derive(Clone, Copy, Debug)]
struct Block {
    at: usize,
    first_run: usize,
    runs: usize,
}

/// How a lattice is computed, the same for all groups and images.
struct Shifted<'a, T> {
    job: &'a Job<'a>,
    lattice: &'a Lattice,
    spread: Spread,
    seen: usize,
    made: usize,
    /// Channels of a panel.
    tall: usize,
    /// For each group and panel the weights of the rows, those of a panel's channels side by side.
    weights: Vec<T>,
    /// Where each row is, from the first channel on.
    rows: Vec<isize>,
    /// What each tap contributes is summed for itself.
    in_turn: bool,
    blocks: Vec<Block>,
    runs: Vec<Run>,
    /// Steps of the output between pixels of a run.
    step: isize,
}

/// Computes the lattice, or says that it is none of these.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output.
pub(super) unsafe fn run<T: Number>(job: &Job<'_>, lattice: &Lattice) -> Result<bool> {
    // SAFETY: A1: the caller's promise.
    let Some(shifted) = (unsafe { Shifted::<T>::new(job, lattice) })? else { return Ok(false) };
    let plan = job.plan;
    let parts = plan.batch * plan.groups;
    let part = |i: usize| (i / plan.groups, i % plan.groups);
    let size = shifted.seen.saturating_mul(shifted.spread.channel).saturating_add(shifted.slack());
    if parts >= pieces() || !is_parallel(parts.saturating_mul(shifted.work()), WORK) {
        // Each part on one thread, several after the other in the same memory.
        let together = parts.div_ceil(pieces()).max(1);
        share_fallible(parts.div_ceil(together), |piece| {
            let mut own = scratch::<T>(size)?;
            for i in piece * together..parts.min((piece + 1) * together) {
                let (image, group) = part(i);
                for channel in 0..shifted.seen {
                    // SAFETY: A1; the memory has room for the channels of a group, and is this piece's.
                    unsafe { shifted.copy((image, group), channel, own.as_mut_ptr()) };
                }
                let (blocks, panels) = (0..shifted.blocks.len(), 0..shifted.panels());
                // SAFETY: A1; the channels were just copied, and parts are apart.
                unsafe { shifted.enter((image, group), own.as_ptr(), blocks, panels) };
            }
            Ok(())
        })?;
        return Ok(true);
    }
    let mut own = scratch::<T>(size)?;
    let memory = Memory(own.as_mut_ptr());
    for (image, group) in (0..parts).map(part) {
        let memory = &memory;
        share_fallible(shifted.seen, |channel| {
            // SAFETY: A1; channels of the memory are apart.
            unsafe { shifted.copy((image, group), channel, memory.0) };
            Ok(())
        })?;
        let (blocks, panels) = shifted.cut();
        let across = shifted.panels().div_ceil(panels);
        share_fallible(shifted.blocks.len().div_ceil(blocks) * across, |piece| {
            let (block, panel) = (piece / across * blocks, piece % across * panels);
            let blocks = block..shifted.blocks.len().min(block + blocks);
            // SAFETY: A1; the channels were just copied, and blocks and panels are apart.
            unsafe { shifted.enter((image, group), memory.0, blocks, panel..shifted.panels().min(panel + panels)) };
            Ok(())
        })?;
    }
    Ok(true)
}

/// Memory that threads write and read in turn.
struct Memory<T>(*mut T);

// SAFETY: threads write channels of their own, and read when all have been written.
unsafe impl<T: Send> Sync for Memory<T> {}

impl<'a, T: Number> Shifted<'a, T> {
    /// # Safety
    ///
    /// A1 for elements of `T`.
    unsafe fn new(job: &'a Job<'a>, lattice: &'a Lattice) -> Result<Option<Self>> {
        let plan = job.plan;
        let (seen, made) = match plan.pass {
            Pass::Map => (plan.image_channels, plan.map_channels),
            _ => (plan.map_channels, plan.image_channels),
        };
        let depth = seen * lattice.taps.len();
        let source: &Array = &job.first;
        let bounds = lattice.lines.each_ref().map(|line| line.bound as usize);
        // Nothing would be gathered.
        let is_plain = lattice.is_identity() && lattice.counts() == bounds && source.pixel_step(bounds).is_some();
        // Where channels are last, a pixel's are a run.
        let by_pixel = source.steps[1] == 1 && seen > 1 && source.steps[4] != 1;
        let is_nothing = depth == 0 || plan.batch * plan.groups * made == 0;
        if is_nothing || plan.rounds || by_pixel || is_plain || made * depth > WEIGHTS {
            return Ok(None);
        }
        let in_turn = in_turn(plan, lattice);
        let spread = Spread::new(lattice);
        // A window that reaches far beyond the image, or moves far in it, would spread it over too much memory.
        let held: usize = bounds.iter().product::<usize>().saturating_add(lattice.pixels());
        if spread.channel > held.saturating_mul(4).saturating_add(1 << 12) {
            return Ok(None);
        }
        let tall = match made {
            1 if !in_turn => SINGLE,
            _ if made.next_multiple_of(TALL) * 8 > made.next_multiple_of(LOW) * 9 => LOW,
            _ => TALL,
        };
        let width = width(job.level, size_of::<T>(), tall, in_turn);
        let mut shifted = Shifted {
            job,
            lattice,
            spread,
            seen,
            made,
            tall,
            weights: scratch(plan.groups * made.next_multiple_of(tall) * depth)?,
            rows: list::with_capacity(depth)?,
            in_turn,
            blocks: list::with_capacity(lattice.pixels() / width + lattice.pixels() / lattice.counts()[2].max(1) + 2)?,
            runs: Vec::new(),
            step: (lattice.lines[2].step as isize).wrapping_mul(job.output.steps[4]),
        };
        // SAFETY: A1: the caller's promise.
        unsafe { shifted.lay_out() };
        shifted.block(width);
        Ok(Some(shifted))
    }

    /// Elements behind the last channel that blocks read and nobody stores.
    fn slack(&self) -> usize {
        width(self.job.level, size_of::<T>(), self.tall, false)
    }

    fn depth(&self) -> usize {
        self.rows.len()
    }

    fn panels(&self) -> usize {
        self.made.div_ceil(self.tall)
    }

    /// Multiplications of a group.
    fn work(&self) -> usize {
        self.lattice.pixels().saturating_mul(self.made).saturating_mul(self.depth())
    }

    /// Blocks and panels of a piece of work.
    fn cut(&self) -> (usize, usize) {
        let threads = pieces();
        let blocks = self.blocks.len().div_ceil(threads).max(1);
        let across = threads.div_ceil(self.blocks.len().div_ceil(blocks));
        (blocks, self.panels().div_ceil(across).max(1))
    }

    /// The places of rows, and the weights in their order.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`.
    unsafe fn lay_out(&mut self) {
        let taps = &self.lattice.taps;
        let channel = self.spread.channel as isize;
        let offsets: Vec<isize> = taps.iter().map(|tap| self.spread.offset(tap) as isize).collect();
        let row = |seen: usize, tap: usize| (seen as isize).wrapping_mul(channel).wrapping_add(offsets[tap]);
        let all: Vec<_> = match self.in_turn {
            true => (0..taps.len()).flat_map(|tap| (0..self.seen).map(move |seen| (seen, tap))).collect(),
            false => (0..self.seen).flat_map(|seen| (0..taps.len()).map(move |tap| (seen, tap))).collect(),
        };
        // Where each row's weight is behind that of the first row, the same for every channel that is made.
        let start = self.job.weight::<T>(0, 0, 0, [0; 3]).addr() as isize;
        let mut places = Vec::with_capacity(all.len());
        for (seen, tap) in all {
            let at = self.job.weight::<T>(0, 0, seen, taps[tap].place).addr() as isize;
            places.push(at.wrapping_sub(start) / size_of::<T>() as isize);
            self.rows.push(row(seen, tap));
        }
        let (tall, made, panels, depth) = (self.tall, self.made, self.panels(), places.len());
        for (i, panel) in self.weights.chunks_exact_mut(tall * depth).enumerate() {
            let (group, first) = (i / panels, i % panels * tall);
            for m in 0..tall.min(made - first) {
                let from = self.job.weight::<T>(group, first + m, 0, [0; 3]);
                for (weights, place) in panel.chunks_exact_mut(tall).zip(&places) {
                    // SAFETY: A1: an element of the weight.
                    weights[m] = unsafe { from.wrapping_offset(*place).read() };
                }
            }
        }
    }

    /// Cuts the pixels into blocks.
    fn block(&mut self, width: usize) {
        let [planes, lines, columns] = self.lattice.counts();
        let steps = self.job.output.steps;
        let spread = &self.spread;
        let to = |at: [usize; 3]| {
            let target = self.lattice.target(at);
            (0..3).fold(0_isize, |to, d| to.wrapping_add((target[d] as isize).wrapping_mul(steps[2 + d])))
        };
        for z in 0..planes {
            if columns >= width {
                for y in 0..lines {
                    for x in starts(columns, width) {
                        self.blocks.push(Block { at: spread.line([z, y]) + x, first_run: self.runs.len(), runs: 1 });
                        self.runs.push(Run { from: 0, length: width, to: to([z, y, x]) });
                    }
                }
                continue;
            }
            // Across the edges of lines, which are `extent` apart.
            let extent = spread.extents()[2];
            let all = (lines - 1) * extent + columns;
            for q in (0..all).step_by(width) {
                let first_run = self.runs.len();
                for y in q / extent..lines.min((q + width).div_ceil(extent)) {
                    let (low, high) = ((y * extent).max(q), (y * extent + columns).min(q + width));
                    if low < high {
                        let to = to([z, y, low - y * extent]);
                        self.runs.push(Run { from: low - q, length: high - low, to });
                    }
                }
                let runs = self.runs.len() - first_run;
                self.blocks.push(Block { at: spread.line([z, 0]) + q, first_run, runs });
            }
        }
    }

    /// Copies a channel of a part to its place in the memory.
    ///
    /// # Safety
    ///
    /// A1; the memory has room for the channels of a group, and nobody else uses this one.
    unsafe fn copy(&self, (image, group): (usize, usize), channel: usize, memory: *mut T) {
        let spread = &self.spread;
        let from = self.job.first.at::<T>(image, group * self.seen + channel, [0; 3]);
        // SAFETY: A1: the channel has the sizes of the bounds; the caller's promise.
        unsafe { spread.copy(self.lattice, &self.job.first, from, memory.wrapping_add(channel * spread.channel)) };
    }

    /// Computes blocks of panels.
    ///
    /// # Safety
    ///
    /// A1; the memory has the channels of this part; nobody else uses these pixels of the panels' channels.
    unsafe fn enter(&self, part: (usize, usize), memory: *const T, blocks: Range<usize>, panels: Range<usize>) {
        self.job.level.enter(Piece { of: self, part, from: memory, blocks, panels });
    }
}

/// The beginnings of blocks that cover so many pixels; the last one goes back where it would go beyond the end.
fn starts(pixels: usize, width: usize) -> impl Iterator<Item = usize> {
    (0..pixels.div_ceil(width)).map(move |i| (i * width).min(pixels - width))
}

/// Blocks of panels. Made only where what [`Shifted::enter`] asks for holds.
struct Piece<'a, T> {
    of: &'a Shifted<'a, T>,
    part: (usize, usize),
    from: *const T,
    blocks: Range<usize>,
    panels: Range<usize>,
}

impl<T: Number, I: Isa> Kernel<I> for Piece<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        // The widths of `width`.
        if const { matches!(I::LEVEL, Level::Avx512) } {
            if const { size_of::<T>() == 4 } { self.sized::<I, 64, 32, 16>() } else { self.sized::<I, 32, 16, 8>() }
        } else if const { matches!(I::LEVEL, Level::Avx2) } {
            if const { size_of::<T>() == 4 } { self.sized::<I, 32, 16, 8>() } else { self.sized::<I, 16, 8, 4>() }
        } else if const { size_of::<T>() == 4 } {
            self.sized::<I, 16, 8, 4>();
        } else {
            self.sized::<I, 8, 4, 2>();
        }
    }
}

impl<T: Number> Piece<'_, T> {
    #[inline(always)]
    fn sized<I: Isa, const WIDEST: usize, const WIDE: usize, const NARROW: usize>(self) {
        match (self.of.in_turn, self.of.tall) {
            (false, SINGLE) => self.blocks::<I, SINGLE, WIDEST, false>(),
            (false, LOW) => self.blocks::<I, LOW, WIDE, false>(),
            (false, _) => self.blocks::<I, TALL, WIDE, false>(),
            (true, LOW) => self.blocks::<I, LOW, NARROW, true>(),
            (true, _) => self.blocks::<I, TALL, NARROW, true>(),
        }
    }

    #[inline(always)]
    fn blocks<I: Isa, const M: usize, const W: usize, const TURN: bool>(self) {
        let Shifted { job, seen, made, .. } = *self.of;
        let (depth, (image, group)) = (self.of.depth(), self.part);
        let together = (SEEN / (seen * W * size_of::<T>()).max(1)).max(1);
        let blocks = &self.of.blocks[self.blocks.clone()];
        for blocks in blocks.chunks(together) {
            for panel in self.panels.clone() {
                let weights = self.of.weights[(group * self.of.panels() + panel) * M * depth..].as_ptr();
                let (first, live) = (panel * M, M.min(made - panel * M));
                let bias: [T; M] = std::array::from_fn(|m| match &job.bias {
                    // SAFETY: A1: the bias has an element for each channel.
                    Some(bias) if m < live => unsafe { bias.at::<T>(0, group * made + first + m, [0; 3]).read() },
                    _ => T::default(),
                });
                let to = job.output.at::<T>(image, group * made + first, [0; 3]);
                for block in blocks {
                    // SAFETY: rows lie `W` pixels from a block on within the channels of the part, or in the slack
                    // behind them; the panel has `M` weights for each.
                    let sums = unsafe { self.sums::<I, M, W, TURN>(weights, self.from.wrapping_add(block.at), &bias) };
                    for run in &self.of.runs[block.first_run..block.first_run + block.runs] {
                        let to = to.wrapping_offset(run.to);
                        for (m, sums) in sums.iter().enumerate() {
                            let to = to.wrapping_offset((m as isize).wrapping_mul(job.output.steps[1]));
                            if m >= live {
                                continue;
                            }
                            if run.length == W && self.of.step == 1 {
                                // SAFETY: the pixels of a run are elements of the output (A1), which nobody else uses.
                                unsafe { to.cast::<[T; W]>().write_unaligned(*sums) };
                                continue;
                            }
                            for (i, sum) in sums[run.from..run.from + run.length].iter().enumerate() {
                                let to = to.wrapping_offset((i as isize).wrapping_mul(self.of.step));
                                // SAFETY: as for the run as a whole.
                                unsafe { to.write(*sum) };
                            }
                        }
                    }
                }
            }
        }
    }

    /// The sums of a block: over all rows behind the bias, or tap by tap, and then the bias.
    ///
    /// # Safety
    ///
    /// For each row `W` elements from `from` on are initialised, and there are `M` weights.
    #[inline(always)]
    unsafe fn sums<I: Isa, const M: usize, const W: usize, const TURN: bool>(
        &self,
        weights: *const T,
        from: *const T,
        bias: &[T; M],
    ) -> [[T; W]; M] {
        let rows = &self.of.rows[..];
        if !TURN {
            // SAFETY: the caller's promise.
            return unsafe { products::<T, I, M, W>(bias.map(|bias| [bias; W]), rows, weights, from) };
        }
        let mut weights = weights;
        let mut sums = [[T::default(); W]; M];
        for (i, rows) in rows.chunks(self.of.seen).enumerate() {
            // SAFETY: the caller's promise, for the rows of a tap.
            let part = unsafe { products::<T, I, M, W>([[T::default(); W]; M], rows, weights, from) };
            weights = weights.wrapping_add(rows.len() * M);
            for (sums, part) in sums.iter_mut().zip(&part) {
                for (sum, x) in sums.iter_mut().zip(part) {
                    *sum = if i == 0 { *x } else { sum.sum(*x) };
                }
            }
        }
        if self.of.job.bias.is_some() {
            for (sums, bias) in sums.iter_mut().zip(bias) {
                sums.iter_mut().for_each(|sum| *sum = sum.sum(*bias));
            }
        }
        sums
    }
}

/// Adds to sums, for each row, its elements times its weights.
///
/// # Safety
///
/// For each row `W` elements from `from` on are initialised, and there are `M` weights.
#[inline(always)]
unsafe fn products<T: Number, I: Isa, const M: usize, const W: usize>(
    mut sums: [[T; W]; M],
    rows: &[isize],
    mut weights: *const T,
    from: *const T,
) -> [[T; W]; M] {
    for row in rows {
        let at = from.wrapping_offset(*row);
        // SAFETY: the caller's promise.
        let seen: [T; W] = unsafe { at.cast::<[T; W]>().read_unaligned() };
        for (m, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let weight = unsafe { weights.wrapping_add(m).read() };
            for (sum, x) in sums.iter_mut().zip(seen) {
                *sum = if I::FMA { sum.plus::<true>(x, weight) } else { sum.plus::<false>(x, weight) };
            }
        }
        weights = weights.wrapping_add(M);
    }
    sums
}
