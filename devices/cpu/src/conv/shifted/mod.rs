//! A map or an image without a gathered matrix: every tap sees a block of pixels in a run of the spread-out channel
//! ([`Spread`](super::spread::Spread)), so a product takes its rows from there.
//!
//! ```text
//!   panel of weights        rows: channel by channel, tap by tap        block of the output
//!   ┌ ─ column ─►┐          ┌──────────────┐ spread + offset            ┌──────────────┐
//!   │ M channels │     ×    │ pixels       │ of the tap        =        │ M × pixels   │  in registers to the end
//!   └────────────┘          └──────────────┘                            └──────────────┘
//! ```
//!
//! A window of one element sees the channels of the image as such rows already, so that few weights copy nothing.
//!
//! Where lines are shorter than a block, blocks go on across their edges, and what lies there is computed but not
//! stored. Where that is more than a few, or where channels are last, and there are enough of them, these are in the
//! lanes of registers instead of pixels, of which any few make a block ([`channels`]). Each sum has the same terms in
//! the same order either way.
//!
//! The loops are those of a matrix product in registers (Goto and van de Geijn, "Anatomy of high-performance matrix
//! multiplication", 2008) with rows by address, as in Dukhan, "The indirect convolution algorithm" (2019).

mod blocks;
mod channels;
mod kernel;
mod layout;
mod weights;

use super::tiles::share_fallible;
use super::{Job, LaidOut, Memory};
use crate::scratch::scratch;
use crate::tile_product::Number;
use kernel::Piece;
pub(super) use kernel::products;
use layout::{Lanes, width};
pub(super) use layout::{Layout, is_last};
use monomorph_core::Result;
use monomorph_iter::{is_parallel, pieces};
use std::marker::PhantomData;
use std::ops::{Deref, Range};

/// Multiplications that are worth a piece of work for a thread.
const WORK: usize = 1 << 20;

/// A lattice with the weights of a call.
struct Shifted<'a, T> {
    job: &'a Job<'a>,
    layout: &'a Layout,
    /// For each group and panel the weights of the rows, those of a panel's channels side by side.
    weights: LaidOut<'a>,
    /// What the weights are.
    of: PhantomData<T>,
}

impl<T> Deref for Shifted<'_, T> {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        self.layout
    }
}

/// Computes a lattice of the job.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output; the layout was made for this job.
pub(super) unsafe fn run<T: Number>(job: &Job<'_>, layout: &Layout) -> Result<()> {
    // SAFETY: A1: the caller's promise.
    let shifted = unsafe { Shifted::<T>::new(job, layout) }?;
    let plan = job.plan;
    let parts = plan.batch * plan.groups;
    let part = |i: usize| (i / plan.groups, i % plan.groups);
    let size = if shifted.copies.is_some() { shifted.size.saturating_add(shifted.slack()) } else { 0 };
    let threads = if is_parallel(parts.saturating_mul(shifted.work()), WORK) { pieces() } else { 1 };
    if parts >= threads {
        // Each part on one thread, several after the other in the same memory.
        let together = parts.div_ceil(threads).max(1);
        share_fallible(parts.div_ceil(together), |piece| {
            let mut own = scratch::<T>(size)?;
            for i in piece * together..parts.min((piece + 1) * together) {
                for copied in 0..shifted.copied() {
                    // SAFETY: A1; the memory has room for the channels of a group, and is this piece's.
                    unsafe { shifted.copy(part(i), copied, own.as_mut_ptr()) };
                }
                let (blocks, panels) = (0..shifted.blocks(), 0..shifted.panels());
                // SAFETY: A1; channels that are copied just were, and parts are apart.
                unsafe { shifted.enter(part(i), own.as_ptr(), blocks, panels) };
            }
            Ok(())
        })?;
        return Ok(());
    }
    let mut own = scratch::<T>(size)?;
    let memory = Memory(own.as_mut_ptr());
    for part in (0..parts).map(part) {
        let memory = &memory;
        share_fallible(shifted.copied(), |copied| {
            // SAFETY: A1; pieces of the copy are apart.
            unsafe { shifted.copy(part, copied, memory.0) };
            Ok(())
        })?;
        let (blocks, panels) = shifted.cut();
        let across = shifted.panels().div_ceil(panels);
        share_fallible(shifted.blocks().div_ceil(blocks) * across, |piece| {
            let (block, panel) = (piece / across * blocks, piece % across * panels);
            let blocks = block..shifted.blocks().min(block + blocks);
            // SAFETY: A1; channels that are copied just were, and blocks and panels are apart.
            unsafe { shifted.enter(part, memory.0, blocks, panel..shifted.panels().min(panel + panels)) };
            Ok(())
        })?;
    }
    Ok(())
}

impl<'a, T: Number> Shifted<'a, T> {
    /// # Safety
    ///
    /// A1 for elements of `T`; the layout was made for this job.
    unsafe fn new(job: &'a Job<'a>, layout: &'a Layout) -> Result<Self> {
        let mut shifted = Shifted { job, layout, weights: LaidOut::Kept(&[]), of: PhantomData };
        // SAFETY: A1: the caller's promise.
        shifted.weights = job.laid_out(|| unsafe { shifted.laid_out() })?;
        Ok(shifted)
    }

    /// Pieces that the channels of a part are copied in.
    fn copied(&self) -> usize {
        self.copies.as_ref().map_or(0, |copies| copies.pieces(self.seen))
    }

    /// Elements behind the last channel that blocks read and nobody stores.
    fn slack(&self) -> usize {
        match self.lanes {
            Lanes::Pixels(_) => width(self.job.level, size_of::<T>(), self.tall, false),
            Lanes::Channels(..) => 0,
        }
    }

    /// Multiplications of a group.
    fn work(&self) -> usize {
        self.lattice.pixels().saturating_mul(self.made).saturating_mul(self.depth())
    }

    /// Blocks and panels of a piece of work. Pieces have pixels of their own; where the weights are much more than what
    /// is seen, panels, so that the weights are read once.
    fn cut(&self) -> (usize, usize) {
        let threads = pieces();
        let cut = |first: usize, second: usize| {
            let together = first.div_ceil(threads).max(1);
            let across = threads.div_ceil(first.div_ceil(together).max(1));
            (together, second.div_ceil(across).max(1))
        };
        let (blocks, panels) = (self.blocks(), self.panels());
        if self.made.saturating_mul(self.depth()) / 2 > self.size {
            let (panels, blocks) = cut(panels, blocks);
            return (blocks, panels);
        }
        cut(blocks, panels)
    }

    /// Copies a piece of a part's channels to its place in the memory.
    ///
    /// # Safety
    ///
    /// A1; the memory has room for the channels of a group, and nobody else uses this piece.
    unsafe fn copy(&self, part: (usize, usize), piece: usize, memory: *mut T) {
        let Some(copies) = &self.copies else { return };
        let from = (self.first(part), self.job.first.steps[1]);
        // SAFETY: A1: the channels have the sizes of the bounds; the caller's promise.
        unsafe { copies.piece(piece, from, (memory, self.size / self.seen)) };
    }

    /// The first element of a part's channels.
    fn first(&self, (image, group): (usize, usize)) -> *const T {
        self.job.first.at::<T>(image, group * self.seen, [0; 3]).cast_const()
    }

    /// Computes blocks of panels.
    ///
    /// # Safety
    ///
    /// A1; the memory has the copied channels of this part; nobody else uses these pixels of the panels' channels.
    unsafe fn enter(&self, part: (usize, usize), memory: *const T, blocks: Range<usize>, panels: Range<usize>) {
        let from = if self.copies.is_some() { memory } else { self.first(part) };
        self.job.level.enter(Piece { of: self, part, from, blocks, panels });
    }
}
