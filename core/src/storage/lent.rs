//! Storages over parts of another storage, which stays write-borrowed as long as one of them lives. Owns the loan; that
//! parts lie apart is its callers' affair.

use super::borrow::{BorrowState, Home, WriteProof};
use super::extent::Extent;
use super::held::borrow_error;
use super::{Block, Handle, Header, Owner};
use crate::error::Result;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A part of another storage's block, lent out until every part is gone.
pub(super) struct Lease {
    pub(super) _whole: Arc<dyn Send + Sync>,
    /// The alignment of the part's first byte that its elements need, and all that it is sure to have.
    pub(super) align: usize,
}

/// A storage whose parts are lent: it stays write-borrowed as long as one of them lives.
pub(crate) struct Lent {
    whole: Handle,
    proof: Option<WriteProof>,
}

impl Lent {
    /// Borrows the storage for writing, by the mark even if it is unique: the parts may outlive the tensor that was
    /// split.
    pub(crate) fn new(whole: &Handle) -> Result<Arc<Lent>> {
        let proof = whole.header().borrow.begin_write(false).map_err(|refused| borrow_error(refused, "self"))?;
        Ok(Arc::new(Lent { whole: whole.clone(), proof: Some(proof) }))
    }

    /// A storage of its own over bytes `start..start + bytes`, whose elements need alignment `align`.
    ///
    /// # Safety
    ///
    /// The range lies within the block, `start` is a multiple of `align`, and whoever has another part of this loan
    /// with bytes of it does nothing with that part as long as somebody uses this one.
    pub(crate) unsafe fn part(self: &Arc<Lent>, start: usize, bytes: usize, align: usize) -> Handle {
        let whole = self.whole.header();
        // SAFETY: the storage is write-borrowed by this loan, which the part keeps alive.
        let base = unsafe { whole.data() };
        // Not `add`: what a device calls an address need not be one that the host may do arithmetic with.
        let first = base.wrapping_add(start);
        // SAFETY: S1: a block's data is not null, and neither is what lies inside or at the end of it.
        let data = unsafe { NonNull::new_unchecked(first) };
        let header = Header {
            borrow: BorrowState::new(Home::here()),
            version: AtomicU64::new(whole.version()),
            extent: Extent::new(Block { data, bytes, owner: Owner::Other }, bytes),
            memory: whole.memory,
            device: whole.device,
            own_bytes: 0,
            lease: Some(Lease { _whole: self.clone(), align }),
        };
        Handle::boxed_header(header)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let header = self.whole.header();
        header.bump_version();
        if let Some(proof) = self.proof.take() {
            header.borrow.end_write(proof);
        }
    }
}
