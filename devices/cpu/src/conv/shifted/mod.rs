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
//! stored. Where that is more than a few, and there are channels enough, these are in the lanes of registers instead of
//! pixels, of which any few make a block ([`channels`]). Each sum has the same terms in the same order either way.
//!
//! The loops are those of a matrix product in registers (Goto and van de Geijn, "Anatomy of high-performance matrix
//! multiplication", 2008) with rows by address, as in Dukhan, "The indirect convolution algorithm" (2019).

mod blocks;
mod channels;
mod kernel;
mod weights;

use super::lattice::Lattice;
use super::spread::{Copies, Spread};
use super::tiles::{in_turn, scratch, share_fallible};
use super::{Array, Job, Memory};
use crate::isa::Level;
use crate::tile_product::Number;
use blocks::Blocks;
use kernel::Piece;
pub(super) use kernel::products;
use monomorph_core::{Result, list};
use monomorph_iter::{is_parallel, pieces};
use monomorph_ops::conv::Pass;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::OnceLock;

/// Channels of a panel: with two registers of pixels each, their sums are in registers.
const TALL: usize = 6;
/// Where that would leave too many rows unused.
const LOW: usize = 4;
/// Of groups of one channel: blocks are twice as wide.
const SINGLE: usize = 1;

/// Multiplications that are worth a piece of work for a thread.
const WORK: usize = 1 << 20;

/// Weights of a group that stay in the second cache while blocks go by. More are read from farther away, in parts by a
/// product of matrices; that takes longer unless blocks reach much beyond the pixels.
const WEIGHTS: usize = 1 << 16;

/// Rows that take as long as it takes to turn a block of channels into pixels.
const TURNED: usize = 24;

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

/// Pixels and channels of a block where channels are in lanes: two registers of channels for each pixel.
fn by_channels(level: Level, size: usize) -> Option<(usize, usize)> {
    match (level, size) {
        (Level::Avx512, 4) => Some((8, 32)),
        (Level::Avx2, 4) => Some((6, 16)),
        _ => None,
    }
}

/// What is in the lanes of registers.
enum Lanes {
    /// Pixels: blocks of those that lie one behind the other.
    Pixels(Blocks),
    /// Channels of the panel: so many pixels are a block.
    Channels(usize),
}

/// How a lattice is computed, the same for all groups and images.
struct Shifted<'a, T> {
    job: &'a Job<'a>,
    lattice: &'a Lattice,
    spread: Spread,
    copies: Copies,
    seen: usize,
    made: usize,
    /// Channels of a panel.
    tall: usize,
    /// For each group and panel the weights of the rows, those of a panel's channels side by side.
    weights: Cow<'a, [u128]>,
    /// What the weights are.
    of: PhantomData<T>,
    /// Where each row is, from the first channel on.
    rows: Vec<isize>,
    /// What each tap contributes is summed for itself.
    in_turn: bool,
    lanes: Lanes,
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
    let threads = if is_parallel(parts.saturating_mul(shifted.work()), WORK) { pieces() } else { 1 };
    if parts >= threads {
        // Each part on one thread, several after the other in the same memory.
        let together = parts.div_ceil(threads).max(1);
        share_fallible(parts.div_ceil(together), |piece| {
            let mut own = scratch::<T>(size)?;
            for i in piece * together..parts.min((piece + 1) * together) {
                let (image, group) = part(i);
                for channel in 0..shifted.seen {
                    // SAFETY: A1; the memory has room for the channels of a group, and is this piece's.
                    unsafe { shifted.copy((image, group), channel, own.as_mut_ptr()) };
                }
                let (blocks, panels) = (0..shifted.blocks(), 0..shifted.panels());
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
        share_fallible(shifted.blocks().div_ceil(blocks) * across, |piece| {
            let (block, panel) = (piece / across * blocks, piece % across * panels);
            let blocks = block..shifted.blocks().min(block + blocks);
            // SAFETY: A1; the channels were just copied, and blocks and panels are apart.
            unsafe { shifted.enter((image, group), memory.0, blocks, panel..shifted.panels().min(panel + panels)) };
            Ok(())
        })?;
    }
    Ok(true)
}

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
        let is_nothing = depth == 0 || lattice.pixels() == 0 || plan.batch * plan.groups * made == 0;
        if is_nothing || plan.rounds || by_pixel || is_plain {
            return Ok(None);
        }
        let in_turn = in_turn(plan, lattice);
        let spread = Spread::new(lattice);
        if !spread.is_compact(lattice) {
            return Ok(None);
        }
        let mut tall = match made {
            1 if !in_turn => SINGLE,
            _ if made.next_multiple_of(TALL) * 8 > made.next_multiple_of(LOW) * 9 => LOW,
            _ => TALL,
        };
        let width = width(job.level, size_of::<T>(), tall, in_turn);
        let blocks = Blocks::new(lattice, &spread, &job.output, width)?;
        let (computed, pixels) = (blocks.len().saturating_mul(width), lattice.pixels());
        let sums = computed.saturating_mul(made.next_multiple_of(tall));
        let mut lanes = Lanes::Pixels(blocks);
        if let Some((few, wide)) = by_channels(job.level, size_of::<T>()).filter(|_| !in_turn) {
            // Results are turned round, which takes as long as so many rows.
            let own = pixels.next_multiple_of(few).saturating_mul(made.next_multiple_of(wide));
            if own.saturating_mul(depth.saturating_add(TURNED)) < sums.saturating_mul(depth) {
                (lanes, tall) = (Lanes::Channels(few), wide);
            }
        }
        let is_wasteful = computed > pixels.saturating_add(pixels / 8);
        if made * depth > WEIGHTS && is_wasteful && matches!(lanes, Lanes::Pixels(_)) {
            return Ok(None);
        }
        let mut shifted = Shifted {
            job,
            lattice,
            copies: spread.copies(lattice, source)?,
            spread,
            seen,
            made,
            tall,
            weights: Cow::Borrowed(&[]),
            of: PhantomData,
            rows: list::with_capacity(depth)?,
            in_turn,
            lanes,
            step: (lattice.lines[2].step as isize).wrapping_mul(job.output.steps[4]),
        };
        let places = shifted.places();
        shifted.weights = match job.kept.map(OnceLock::get) {
            Some(Some(kept)) => Cow::Borrowed(kept),
            // SAFETY: A1: the caller's promise.
            _ => Cow::Owned(unsafe { shifted.laid_out(&places) }?),
        };
        if let (Some(kept), Cow::Owned(own)) = (job.kept, &mut shifted.weights) {
            let own = std::mem::take(own);
            shifted.weights = Cow::Borrowed(kept.get_or_init(|| own));
        }
        Ok(Some(shifted))
    }

    /// Elements behind the last channel that blocks read and nobody stores.
    fn slack(&self) -> usize {
        match self.lanes {
            Lanes::Pixels(_) => width(self.job.level, size_of::<T>(), self.tall, false),
            Lanes::Channels(_) => 0,
        }
    }

    fn depth(&self) -> usize {
        self.rows.len()
    }

    fn blocks(&self) -> usize {
        match &self.lanes {
            Lanes::Pixels(blocks) => blocks.len(),
            Lanes::Channels(pixels) => self.lattice.pixels().div_ceil(*pixels),
        }
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
        let blocks = self.blocks().div_ceil(threads).max(1);
        let across = threads.div_ceil(self.blocks().div_ceil(blocks));
        (blocks, self.panels().div_ceil(across).max(1))
    }

    /// Copies a channel of a part to its place in the memory.
    ///
    /// # Safety
    ///
    /// A1; the memory has room for the channels of a group, and nobody else uses this one.
    unsafe fn copy(&self, (image, group): (usize, usize), channel: usize, memory: *mut T) {
        let from = self.job.first.at::<T>(image, group * self.seen + channel, [0; 3]);
        // SAFETY: A1: the channel has the sizes of the bounds; the caller's promise.
        unsafe { self.copies.run(from.cast_const(), memory.wrapping_add(channel * self.spread.channel)) };
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
