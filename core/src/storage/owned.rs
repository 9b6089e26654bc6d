//! Storages over memory that a value of another crate owns, such as the map of a file. Owns that value and drops it
//! behind the last storage; whose memory it is, it does not know.

use super::borrow::{BorrowState, Home};
use super::extent::Extent;
use super::lent::Lease;
use super::{BLOCK_ALIGN, Block, DefaultDevice, Device, Handle, Header, Owner, Standard};
use crate::error::{ErrorKind, Result};
use crate::options::DeviceId;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A value that was boxed and is never looked at again but by its drop.
struct Kept<O>(NonNull<O>);

// SAFETY: the value is `Send`, so any thread may drop it, and nothing else is done to it.
unsafe impl<O: Send> Send for Kept<O> {}
// SAFETY: `&Kept` gives access to nothing.
unsafe impl<O: Send> Sync for Kept<O> {}

impl<O> Drop for Kept<O> {
    fn drop(&mut self) {
        // SAFETY: the pointer is that of a leaked box, and this is its only owner. The slice that the value lent was
        // used by storages alone, each of which kept `self` alive.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Handle {
    /// A storage for each part of the memory that `owner` lends.
    ///
    /// # Errors
    ///
    /// A part that is not inside the memory, has a byte of the part before it, or begins at an address that is no
    /// multiple of 16.
    pub(crate) fn of_owner<D, O>(owner: O, parts: &[Range<usize>]) -> Result<Vec<Handle>>
    where
        D: Device,
        O: AsMut<[u8]> + Send + 'static,
        Standard: DefaultDevice<D>,
    {
        let device = DeviceId { kind: D::KIND, index: 0 };
        let memory = D::MEMORY.ok_or(ErrorKind::NoHostData { device })?;
        let kept = Kept(NonNull::from(Box::leak(Box::new(owner))));
        // SAFETY: the box is leaked, so the value is live, and nobody else has its address. It is not touched again
        // before its drop, so that the slice, which may borrow from it, stays valid until then.
        let value = unsafe { &mut *kept.0.as_ptr() };
        let whole: &mut [u8] = value.as_mut();
        let (first, len) = (whole.as_mut_ptr(), whole.len());
        let mut end = 0;
        for part in parts {
            if part.start < end || part.end < part.start || part.end > len {
                let rule = "the parts of one memory are to lie inside it, ascending and apart";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
            if !(first.addr() + part.start).is_multiple_of(BLOCK_ALIGN) {
                let rule = "a part of a memory begins at an address that is no multiple of 16; copy it";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
            end = part.end;
        }
        let kept: Arc<dyn Send + Sync> = Arc::new(kept);
        let storage = |part: &Range<usize>| {
            // SAFETY: `part` lies inside the slice, as was checked, and so does its first byte or its end.
            let start = unsafe { first.add(part.start) };
            // SAFETY: a pointer into a slice is not null.
            let data = unsafe { NonNull::new_unchecked(start) };
            // S1: the slice has initialised bytes, which live as long as `kept`. No other storage has a byte of this
            // one's: the parts lie apart, and a mutable slice has no other user.
            let block = Block { data, bytes: part.end - part.start, owner: Owner::Other };
            let header = Header {
                borrow: BorrowState::new(Home::here()),
                version: AtomicU64::new(0),
                extent: Extent::new(block, block.bytes),
                memory,
                device,
                own_bytes: 0,
                lease: Some(Lease { _whole: kept.clone(), align: BLOCK_ALIGN }),
            };
            Handle::boxed_header(header)
        };
        Ok(parts.iter().map(storage).collect())
    }
}
