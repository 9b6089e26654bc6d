//! Storage: a reference-counted block of device memory with borrow state and version. Owns every raw allocation of the
//! crate; hands out pointers only under a borrow.
//!
//! ```text
//! host devices, one allocation:   [ Header (whole 64-byte lines) | data ....... ]
//! other devices:                  [ Header ] on the host, data on the device
//! after growth:                   [ Header | dead .. ]      [ data ............ ]
//! of a vector:                    [ Header ]                [ its buffer ...... ]
//! ```
//!
//! Invariants:
//! * S1: the block's `data` points to `block.bytes` bytes of live, initialised device memory (or dangles if `bytes` is
//!   0).
//! * S2: the block changes only under a write borrow, and never has fewer bytes than were promised (`extent.rs`), so a
//!   geometry that was checked against the promised bytes stays inside it.
//! * S3: a handle keeps its header alive; an operator call never replaces the handle of an argument.

pub(crate) mod arena;
mod blocks;
pub mod borrow;
mod device;
pub(crate) mod elementwise;
pub mod extent;
mod groups;
mod growth;
mod held;
mod lent;
pub(crate) mod lifetimes;
pub mod list;
mod owned;
mod rearrangement;
pub(crate) mod recorder;
pub(crate) mod recording;

pub(crate) use device::on_host;
pub use device::{Contents, DefaultDevice, Device, DeviceHandle, Memory, Meta, Reach, Rearrange, Standard, Strided};
pub(crate) use growth::Growth;
pub(crate) use held::Held;
pub(crate) use lent::Lent;
pub use rearrangement::{Part, Rearrangement, Segment, SegmentSource};

use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::options::DeviceId;
use borrow::{BorrowState, Home};
use extent::Extent;
use lent::Lease;
use std::alloc::{Layout, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// What every block is aligned to (M1).
const BLOCK_ALIGN: usize = 16;

/// Whole cache lines, so that data begins with a line where the allocation does.
const HEADER_BYTES: usize = size_of::<Header>().next_multiple_of(64);

#[derive(Clone, Copy)]
struct Block {
    data: NonNull<u8>,
    bytes: usize,
    owner: Owner,
}

/// Whose allocation a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// Another's: the header's, whose tail it is, or that of a storage that it is a part of. Also of no bytes.
    Other,
    /// Its own, made by the device's memory functions.
    Device,
    /// Its own, made by a vector that was full: `bytes` bytes with this alignment, of Rust's allocator.
    Vec { align: u8 },
}

impl Block {
    /// Frees the block if it is an allocation of its own.
    ///
    /// # Safety
    ///
    /// It is live, made by `memory` on device `index` if it is the device's, and nobody uses it any more.
    unsafe fn free(self, memory: &Memory, index: u8) {
        match self.owner {
            Owner::Other => {}
            // SAFETY: M2: the block is one of `memory` of `bytes` bytes.
            Owner::Device => unsafe { (memory.free)(index, self.data, self.bytes) },
            Owner::Vec { align } => {
                // SAFETY: the vector's buffer had this layout, so it is one.
                let layout = unsafe { Layout::from_size_align_unchecked(self.bytes, align.into()) };
                // SAFETY: the buffer was allocated with this layout, and nobody uses it any more.
                unsafe { dealloc(self.data.as_ptr(), layout) };
            }
        }
    }
}

/// The shared part of a storage that has data.
pub(crate) struct Header {
    borrow: BorrowState,
    version: AtomicU64,
    extent: Extent<Block>,
    memory: &'static Memory,
    device: DeviceId,
    /// Bytes of the allocation that begins with this header; 0 if the header is a `Box`.
    own_bytes: usize,
    /// Set if the block is a part of another storage's. Such a header is a `Box`.
    lease: Option<Lease>,
}

// SAFETY: the address of device memory, which any thread may use under a borrow, and free (M2 names no thread).
unsafe impl Send for Block {}
// SAFETY: a block is only described here; what it describes is reached under a borrow.
unsafe impl Sync for Block {}

/// A counted reference to a storage with data.
pub(crate) struct Handle(NonNull<Header>);

// SAFETY: a handle is a reference count over a `Sync + Send` header.
unsafe impl Send for Handle {}
// SAFETY: a shared handle gives a shared header, which is `Sync`, and clones, which any thread may have since a handle
// is `Send`.
unsafe impl Sync for Handle {}

impl Handle {
    /// Allocates `bytes` bytes on device `index` of `D`.
    pub(crate) fn allocate<D: Device>(index: u8, bytes: usize, contents: Contents) -> Result<Handle> {
        let device = DeviceId { kind: D::KIND, index };
        let memory = D::MEMORY.ok_or(ErrorKind::NoHostData { device })?;
        Handle::allocate_with(memory, device, bytes, contents)
    }

    pub(crate) fn allocate_with(
        memory: &'static Memory,
        device: DeviceId,
        bytes: usize,
        contents: Contents,
    ) -> Result<Handle> {
        if !memory.reach.is_host() {
            return Handle::allocate_elsewhere(memory, device, bytes, contents);
        }
        if recorder::is_recording() {
            return recorder::storage(memory, device, bytes, contents, || {
                Handle::on_host(memory, device, bytes, contents)
            });
        }
        Handle::on_host(memory, device, bytes, contents)
    }

    /// Memory of the host that is no part of what is being recorded, of no particular contents.
    pub(crate) fn unrecorded(memory: &'static Memory, device: DeviceId, bytes: usize) -> Result<Handle> {
        Handle::on_host(memory, device, bytes, Contents::Zeroed)
    }

    /// [`allocate_with`](Handle::allocate_with) for memory that the host can reach: the header is in front of the data.
    #[inline]
    fn on_host(memory: &'static Memory, device: DeviceId, bytes: usize, contents: Contents) -> Result<Handle> {
        let refused = || Error::new(ErrorKind::Allocation { bytes, device });
        let own_bytes = bytes.checked_add(HEADER_BYTES).filter(|&n| n <= isize::MAX as usize).ok_or_else(refused)?;
        let start = (memory.allocate)(device.index, own_bytes, contents).ok_or_else(refused)?;
        // SAFETY: the allocation has HEADER_BYTES + bytes bytes (M1), so the data begins inside or one past its end.
        let data = unsafe { start.add(HEADER_BYTES) };
        let place = start.cast::<Header>();
        // For `Handle::of`.
        start.as_ptr().expose_provenance();
        // SAFETY: `start` is aligned to 16 (M1), which covers Header, and has room for it.
        unsafe { place.write(Header::new(memory, device, Block { data, bytes, owner: Owner::Other }, own_bytes)) };
        Ok(Handle(place))
    }

    /// [`allocate_with`](Handle::allocate_with) for memory that the host cannot reach: the header is a `Box`.
    #[inline(never)]
    fn allocate_elsewhere(
        memory: &'static Memory,
        device: DeviceId,
        bytes: usize,
        contents: Contents,
    ) -> Result<Handle> {
        if bytes > isize::MAX as usize {
            return Err(ErrorKind::Allocation { bytes, device }.into());
        }
        let data = if bytes == 0 {
            NonNull::dangling()
        } else {
            (memory.allocate)(device.index, bytes, contents).ok_or_else(|| refusal(memory, device, bytes))?
        };
        let owner = if bytes == 0 { Owner::Other } else { Owner::Device };
        Ok(Handle::boxed(memory, device, Block { data, bytes, owner }))
    }

    /// A storage whose block is not behind its header.
    fn boxed(memory: &'static Memory, device: DeviceId, block: Block) -> Handle {
        Handle::boxed_header(Header::new(memory, device, block, 0))
    }

    /// A storage whose header is a `Box`.
    fn boxed_header(header: Header) -> Handle {
        let place = Box::into_raw(Box::new(header));
        // For `Handle::of`.
        place.expose_provenance();
        // SAFETY: a box is not null.
        Handle(unsafe { NonNull::new_unchecked(place) })
    }

    /// A storage that takes a vector's buffer; the vector itself if its buffer is empty or not aligned as blocks are
    /// (M1). Spare capacity is given back first.
    pub(crate) fn from_vec<D: Device, T: Element>(data: Vec<T>) -> std::result::Result<Handle, Vec<T>>
    where
        Standard: DefaultDevice<D>,
    {
        // May move the elements, so the address is asked for afterwards.
        let full = data.into_boxed_slice();
        let (Some(memory), true) = (D::MEMORY, is_block(full.as_ptr().addr(), full.len())) else {
            return Err(full.into_vec());
        };
        let device = DeviceId { kind: D::KIND, index: 0 };
        let bytes = size_of_val(&*full);
        let data = NonNull::from(Box::leak(full)).cast::<u8>();
        Ok(Handle::boxed(memory, device, Block { data, bytes, owner: Owner::Vec { align: align_of::<T>() as u8 } }))
    }

    /// The buffer of the vector that the storage was made of, if it is all of it, of elements of this alignment, and
    /// this is the only handle; else the handle.
    pub(crate) fn into_vec<T: Element>(self) -> std::result::Result<Vec<T>, Handle> {
        // Its bytes may be other than 0 and 1.
        if T::DTYPE == DType::Bool {
            return Err(self);
        }
        let header = self.header();
        let unique = header.borrow.is_unique();
        let Ok(held) = Held::write(header, unique, "self") else { return Err(self) };
        let mut block = Block { data: NonNull::dangling(), bytes: 0, owner: Owner::Other };
        // SAFETY: `held` is a write borrow.
        let present = unsafe { header.extent.block() };
        let len = present.bytes / size_of::<T>();
        let fits =
            present.owner == Owner::Vec { align: align_of::<T>() as u8 } && len * size_of::<T>() == present.bytes;
        if !unique || !fits {
            drop(held);
            return Err(self);
        }
        // SAFETY: `held` is a write borrow, and no view relies on the bytes any more: this is the only handle, which is
        // dropped below.
        unsafe { header.extent.exchange(&mut block) };
        drop(held);
        drop(self);
        // SAFETY: the buffer of a full vector of `len` elements of this size and alignment, which is initialised
        // (S1). Of every element type but bool, every bit pattern is a value (`Stored` is the type itself). The block
        // was taken out of the storage, so that it has one owner.
        Ok(unsafe { Vec::from_raw_parts(block.data.as_ptr().cast::<T>(), len, len) })
    }

    /// One more handle of a storage.
    pub(crate) fn of(header: &Header) -> Handle {
        header.borrow.retain();
        // Not the reference: a handle reaches the data behind the header, and frees both.
        let place = std::ptr::with_exposed_provenance_mut(std::ptr::from_ref(header).addr());
        // SAFETY: the address of a reference is not null.
        Handle(unsafe { NonNull::new_unchecked(place) })
    }

    /// The header.
    #[inline]
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: a handle keeps its header alive (S3).
        unsafe { self.0.as_ref() }
    }

    /// The header with a lifetime of the caller's choice.
    ///
    /// # Safety
    ///
    /// Some handle of the storage lives for all of `'t`.
    #[inline]
    pub(crate) unsafe fn header_for<'t>(&self) -> &'t Header {
        // SAFETY: the caller keeps the header alive.
        unsafe { self.0.as_ref() }
    }
}

static_assertions::const_assert!(align_of::<Header>() <= BLOCK_ALIGN);

/// Whether a vector's buffer of `len` elements can be a storage's block.
fn is_block(address: usize, len: usize) -> bool {
    len > 0 && address.is_multiple_of(BLOCK_ALIGN)
}

impl Clone for Handle {
    fn clone(&self) -> Handle {
        self.header().borrow.retain();
        Handle(self.0)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.header().borrow.release() {
            return;
        }
        let header = self.header();
        let (memory, index, own_bytes) = (header.memory, header.device.index, header.own_bytes);
        // SAFETY: this was the last reference, so nobody else reads the block.
        let block = unsafe { header.extent.block() };
        // SAFETY: the block is this storage's, of its memory functions, and this was the last reference.
        unsafe { block.free(memory, index) };
        if own_bytes == 0 {
            // SAFETY: `own_bytes == 0` marks a header made by `Box`.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        } else {
            // SAFETY: M2: the allocation that begins with the header has `own_bytes` bytes. Such a header needs no
            // drop: only a boxed one has a lease.
            unsafe { (memory.free)(index, self.0.cast(), own_bytes) };
        }
    }
}

impl Header {
    /// The header of a storage that was just made.
    #[inline(always)]
    fn new(memory: &'static Memory, device: DeviceId, block: Block, own_bytes: usize) -> Header {
        Header {
            borrow: BorrowState::new(Home::here()),
            version: AtomicU64::new(0),
            extent: Extent::new(block, block.bytes),
            memory,
            device,
            own_bytes,
            lease: None,
        }
    }

    /// The device of the data.
    pub(crate) fn device(&self) -> DeviceId {
        self.device
    }

    /// True if the host can reach the data.
    pub(crate) fn is_host(&self) -> bool {
        self.memory.reach.is_host()
    }

    /// Bytes of the storage, as far as everybody may rely on them.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.extent.bytes()
    }

    /// How many times the storage was written by an operator.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Counts a write. The caller holds the write borrow, so nobody else counts one meanwhile, and no locked
    /// instruction is needed.
    #[inline]
    pub(crate) fn bump_version(&self) {
        self.version.store(self.version.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The largest element that the storage is aligned for: any, unless it is a part of another one.
    pub(crate) fn max_align(&self) -> usize {
        self.lease.as_ref().map_or(usize::MAX, |lease| lease.align)
    }

    /// The borrow state.
    pub(crate) fn borrow(&self) -> &BorrowState {
        &self.borrow
    }

    /// The first byte of the data.
    ///
    /// # Safety
    ///
    /// The caller holds a borrow of the storage, and uses the pointer only while it does.
    #[inline]
    pub(crate) unsafe fn data(&self) -> *mut u8 {
        // SAFETY: the caller holds a borrow.
        let block = unsafe { self.extent.block() };
        block.data.as_ptr()
    }

    /// Copies bytes from `start` on to the host.
    ///
    /// # Safety
    ///
    /// The caller holds a borrow, and the storage has that many bytes from `start` on.
    pub(crate) unsafe fn read(&self, start: usize, to: &mut [u8]) -> Result<()> {
        // SAFETY: the caller holds a borrow.
        let from = unsafe { self.data() }.wrapping_add(start).cast_const();
        match self.memory.reach {
            // SAFETY: M3, S1; `to` is borrowed by the caller alone, so it is no part of a storage that it borrows.
            Reach::Host => unsafe { to.as_mut_ptr().copy_from_nonoverlapping(from, to.len()) },
            // SAFETY: M4, S1.
            Reach::Transfer { read, .. } => unsafe { read(self.device.index, to.as_mut_ptr(), from, to.len()) }?,
        }
        Ok(())
    }

    /// Copies bytes of the host to those from `start` on.
    ///
    /// # Safety
    ///
    /// The caller holds a write borrow, and the storage has that many bytes from `start` on.
    pub(crate) unsafe fn write(&self, start: usize, from: &[u8]) -> Result<()> {
        // SAFETY: the caller holds a borrow.
        let to = unsafe { self.data() }.wrapping_add(start);
        match self.memory.reach {
            // SAFETY: M3, S1; nobody reads a storage that the caller write-borrows, so `from` is no part of it.
            Reach::Host => unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) },
            // SAFETY: M4, S1.
            Reach::Transfer { write, .. } => unsafe { write(self.device.index, to, from.as_ptr(), from.len()) }?,
        }
        Ok(())
    }
}

/// Why there is no block.
#[cold]
fn refusal(memory: &Memory, device: DeviceId, bytes: usize) -> Error {
    let told = match memory.reach {
        Reach::Host => None,
        Reach::Transfer { refusal, .. } => refusal(device.index),
    };
    told.unwrap_or_else(|| ErrorKind::Allocation { bytes, device }.into())
}

#[cfg(test)]
mod tests {
    use super::is_block;

    #[test]
    fn only_aligned_buffers_with_elements_are_blocks() {
        assert!(is_block(4096, 1) && is_block(4112, 3));
        assert!(!is_block(4104, 1), "aligned to 8");
        assert!(!is_block(4096, 0), "a dangling address");
    }
}
