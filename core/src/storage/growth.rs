//! A larger block for a storage: made before anything changes, put to use, and then either promised to everybody or
//! taken back. Owns the block that is not in use and frees it.
#![deny(clippy::arithmetic_side_effects)]

use super::{Block, Contents, Header, Owner, refusal};
use crate::error::{ErrorKind, Result};

/// How far a growth has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The larger block is not in use: not yet, no longer, or because the storage has grown as far already.
    Aside,
    /// The larger block is in use, and can still be taken back: nobody was told that it reaches further.
    InUse,
    /// The larger block is in use for good.
    Promised,
}

/// A larger block for a storage. It holds the block that is *not* in use (the new one before
/// [`commit`](Growth::commit), the old one after) and frees that when dropped.
///
/// Dropped between commit and either of the other two, as while a panic of a kernel unwinds, it keeps the larger block:
/// the geometry of the output that needs it is there already.
pub(crate) struct Growth<'h> {
    header: &'h Header,
    other: Block,
    /// Bytes of the larger block.
    bytes: usize,
    stage: Stage,
}

impl Header {
    /// Prepares a larger block that holds the present bytes followed by zeroes.
    ///
    /// # Safety
    ///
    /// The caller holds a write borrow until the growth is promised, taken back or dropped.
    pub(crate) unsafe fn prepare_growth(&self, bytes: usize) -> Result<Growth<'_>> {
        if self.lease.is_some() {
            // Growing would part the tensor from the storage that it was split off.
            return Err(ErrorKind::Borrowed { arg: "self", state: "split" }.into());
        }
        let device = self.device;
        if bytes > isize::MAX as usize {
            return Err(ErrorKind::Allocation { bytes, device }.into());
        }
        let data = (self.memory.allocate)(device.index, bytes, Contents::Zeroed)
            .ok_or_else(|| refusal(self.memory, device, bytes))?;
        Ok(Growth { header: self, other: Block { data, bytes, owner: Owner::Device }, bytes, stage: Stage::Aside })
    }
}

impl Growth<'_> {
    /// Puts the new block to use, unless the storage has grown at least as far meanwhile (for another output of the
    /// same call).
    ///
    /// # Safety
    ///
    /// The write borrow under which the growth was prepared still lasts, and no pointer into the old block is used
    /// again unless the growth is taken back.
    pub(crate) unsafe fn commit(&mut self) {
        let header = self.header;
        // SAFETY: the caller holds the write borrow.
        let block = unsafe { header.extent.block() };
        if self.bytes <= block.bytes {
            return;
        }
        if block.bytes > 0 {
            // SAFETY: M2: both blocks are live and distinct, and the new one is larger.
            unsafe { (header.memory.copy)(header.device.index, self.other.data, block.data, block.bytes) };
        }
        // SAFETY: the caller holds the write borrow.
        unsafe { header.extent.exchange(&mut self.other) };
        self.stage = Stage::InUse;
    }

    /// Keeps the growth: from now on views may reach as far as the new block does.
    pub(crate) fn promise(&mut self) {
        if self.stage == Stage::InUse {
            self.header.extent.promise(self.bytes);
            self.stage = Stage::Promised;
        }
    }

    /// Takes the growth back: the storage has its old block again, with what it held. Views that other threads have
    /// made meanwhile are not longer than that block, since nobody was promised more.
    ///
    /// # Safety
    ///
    /// The write borrow still lasts, no pointer into the new block is used again, and the geometry that needed it is
    /// not an output's any more. Growths of one storage are taken back in reverse order.
    pub(crate) unsafe fn undo(&mut self) {
        if self.stage == Stage::InUse {
            // SAFETY: the caller holds the write borrow; the old block has all bytes that were promised.
            unsafe { self.header.extent.exchange(&mut self.other) };
            self.stage = Stage::Aside;
        }
    }
}

impl Drop for Growth<'_> {
    fn drop(&mut self) {
        self.promise();
        // SAFETY: the block is this storage's, of its memory functions, and not in use.
        unsafe { self.other.free(self.header.memory, self.header.device.index) };
    }
}
