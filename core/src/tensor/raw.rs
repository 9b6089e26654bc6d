//! What all tensors are in memory: a geometry, and where the elements live. Owns the check of one against the other
//! (T1 of the tensors).

mod reference;

pub use reference::TensorRef;

use crate::dtype::{DType, Element};
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::options::DeviceId;
use crate::storage::{Contents, Device, Handle, Header};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a tensor's elements live.
#[derive(Clone)]
pub(crate) enum Store {
    /// In a storage with data.
    Data(Handle),
    /// Nowhere: a meta tensor. The identity lets views be recognised; the byte count bounds `as_strided`.
    Meta(MetaStore),
}

impl Store {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Store::Data(handle) => handle.header().bytes(),
            Store::Meta(meta) => meta.bytes,
        }
    }

    #[inline]
    pub(crate) fn device(&self) -> DeviceId {
        match self {
            Store::Data(handle) => handle.header().device(),
            Store::Meta(_) => DeviceId::META,
        }
    }

    pub(crate) fn id(&self) -> usize {
        match self {
            Store::Data(handle) => std::ptr::from_ref(handle.header()).addr(),
            // Headers are aligned, so odd numbers are free for meta storages.
            Store::Meta(meta) => (meta.id as usize) << 1 | 1,
        }
    }
}

/// The storage of a meta tensor, kept inline so that meta calls allocate nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetaStore {
    id: u64,
    bytes: usize,
    version: u64,
}

impl MetaStore {
    #[inline]
    fn new(bytes: usize) -> MetaStore {
        MetaStore { id: next_id(), bytes, version: 0 }
    }
}

/// A number that no other meta storage of the process has. Threads take them in lots, since a counter that all share
/// costs a meta call a tenth of its time.
#[inline]
fn next_id() -> u64 {
    const LOT: u64 = 1 << 16;
    static NEXT: AtomicU64 = AtomicU64::new(LOT);
    thread_local! {
        static ID: Cell<u64> = const { Cell::new(0) };
    }
    ID.with(|id| {
        let next = match id.get() {
            used_up if used_up % LOT == 0 => NEXT.fetch_add(LOT, Ordering::Relaxed),
            next => next,
        };
        id.set(next + 1);
        next
    })
}

/// The representation that all tensors share.
#[derive(Clone)]
pub(crate) struct Raw {
    geometry: Geometry,
    store: Store,
}

impl Raw {
    /// A new tensor over its own storage, which has just the bytes that the geometry reaches.
    pub(crate) fn allocate<D: Device>(geometry: Geometry, index: u8, contents: Contents) -> Result<Raw> {
        let bytes = geometry.bytes_needed()?;
        let store = match D::MEMORY {
            None => Store::Meta(MetaStore::new(bytes)),
            Some(_) => Store::Data(Handle::allocate::<D>(index, bytes, contents)?),
        };
        Ok(Raw { geometry, store })
    }

    /// The buffer of the vector that the storage was made from, if this is its only handle; the tensor is left
    /// without a storage then, and as it was otherwise.
    pub(super) fn take_vec<T: Element>(&mut self) -> Option<Vec<T>> {
        let none = Store::Meta(MetaStore { id: 0, bytes: 0, version: 0 });
        match std::mem::replace(&mut self.store, none) {
            Store::Data(handle) => match handle.into_vec() {
                Ok(data) => return Some(data),
                Err(handle) => self.store = Store::Data(handle),
            },
            store => self.store = store,
        }
        None
    }

    /// The same, moved in parts: each is short enough to be copied by instructions, where the whole would be by a call.
    #[inline(always)]
    pub(super) fn in_parts(self) -> Raw {
        let Raw { geometry, store } = self;
        Raw { geometry, store }
    }

    /// A meta tensor of the same geometry, over a storage of its own of as many bytes.
    pub(super) fn to_meta(&self) -> Raw {
        let store = Store::Meta(MetaStore::new(self.storage_bytes()));
        Raw { geometry: self.geometry.clone(), store }
    }

    /// A tensor that has no storage yet.
    #[inline(always)]
    pub(crate) fn pending(geometry: Geometry) -> Raw {
        Raw { geometry, store: Store::Meta(MetaStore { id: 0, bytes: 0, version: 0 }) }
    }

    /// Makes a pending tensor a meta tensor.
    #[inline]
    pub(crate) fn become_meta(&mut self) {
        let bytes = self.geometry.dense_bytes().or_else(|| self.geometry.bytes_needed().ok()).unwrap_or(0);
        self.store = Store::Meta(MetaStore::new(bytes));
    }

    /// Gives a pending tensor a storage that was checked to hold its geometry.
    #[inline]
    pub(crate) fn settle(&mut self, handle: Handle) {
        debug_assert!(self.geometry.bytes_needed().is_ok_and(|n| n <= handle.header().bytes()));
        self.store = Store::Data(handle);
    }

    /// Another geometry over the same storage.
    pub(crate) fn view(&self, geometry: Geometry) -> Result<Raw> {
        let need = geometry.bytes_needed()?;
        let have = self.storage_bytes();
        if need > have {
            return Err(ErrorKind::OutOfStorage {
                sizes: geometry.sizes().to_vec(),
                strides: geometry.strides().to_vec(),
                offset: geometry.offset(),
                need: need as u128,
                have,
            }
            .into());
        }
        self.check_aligned(&geometry)?;
        Ok(Raw { geometry, store: self.store.clone() })
    }

    /// Replaces the geometry by another over the same storage.
    pub(super) fn set_view(&mut self, geometry: Geometry) -> Result<()> {
        let view = self.view(geometry)?;
        self.set_geometry(view.geometry);
        Ok(())
    }

    /// An error if the storage is not aligned for elements of the geometry's dtype.
    pub(crate) fn check_aligned(&self, geometry: &Geometry) -> Result<()> {
        if self.header().is_some_and(|h| geometry.dtype().size() > h.max_align()) {
            let rule = "a part of a split tensor can only be viewed as dtypes no larger than the split tensor's";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        Ok(())
    }

    /// A tensor over a storage that was checked to hold the geometry.
    pub(crate) fn over(handle: Handle, geometry: Geometry) -> Raw {
        debug_assert!(geometry.bytes_needed().is_ok_and(|n| n <= handle.header().bytes()));
        Raw { geometry, store: Store::Data(handle) }
    }

    #[inline]
    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Replaces the geometry by one that was checked against the storage (T1).
    pub(crate) fn set_geometry(&mut self, geometry: Geometry) {
        debug_assert!(geometry.bytes_needed().is_ok_and(|n| n <= self.storage_bytes()));
        self.geometry = geometry;
    }

    /// Exchanges the geometry with one for which the storage has grown, or which it had before (T1).
    #[inline]
    pub(crate) fn swap_geometry(&mut self, geometry: &mut Geometry) {
        std::mem::swap(&mut self.geometry, geometry);
    }

    pub(crate) fn storage_bytes(&self) -> usize {
        self.store.bytes()
    }

    #[inline]
    pub(crate) fn device(&self) -> DeviceId {
        self.store.device()
    }

    pub(crate) fn storage_id(&self) -> usize {
        self.store.id()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// A tensor of no elements over a storage.
    pub(crate) fn without_elements(store: Store, dtype: DType) -> Result<Raw> {
        Ok(Raw { geometry: Geometry::contiguous(dtype, &[0])?, store })
    }

    pub(crate) fn version(&self) -> u64 {
        match &self.store {
            Store::Data(handle) => handle.header().version(),
            Store::Meta(meta) => meta.version,
        }
    }

    #[inline]
    pub(crate) fn bump_version(&mut self) {
        match &mut self.store {
            // Under a write borrow.
            Store::Data(handle) => handle.header().bump_version(),
            Store::Meta(meta) => meta.version += 1,
        }
    }

    /// Records that a meta storage grew.
    pub(crate) fn grow_meta(&mut self, bytes: usize) {
        if let Store::Meta(meta) = &mut self.store {
            meta.bytes = meta.bytes.max(bytes);
        }
    }

    /// The storage's handle, if it has data.
    #[inline]
    pub(crate) fn handle(&self) -> Option<&Handle> {
        match &self.store {
            Store::Data(handle) => Some(handle),
            Store::Meta(_) => None,
        }
    }

    #[inline]
    pub(crate) fn header(&self) -> Option<&Header> {
        self.handle().map(Handle::header)
    }
}
