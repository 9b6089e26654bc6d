//! Tensors by reference, as operator calls see them: a geometry and a storage whose `&mut` may be an output's.

use super::{MetaStore, Raw, Store};
use crate::geometry::Geometry;
use crate::options::DeviceId;
use crate::storage::Header;
use crate::tensor::AnyTensor;

impl Raw {
    /// A reference for an operator call.
    #[inline]
    pub(crate) fn as_ref(&self) -> TensorRef<'_> {
        TensorRef { geometry: &self.geometry, store: self.store_ref() }
    }

    /// The store without the geometry, for an in-place call whose geometry was copied.
    #[inline]
    fn store_ref(&self) -> StoreRef<'_> {
        match &self.store {
            Store::Data(handle) => StoreRef::Data(handle.header()),
            Store::Meta(meta) => StoreRef::Meta(meta),
        }
    }

    /// What a reference needs whose geometry is a copy and whose storage lives independently of the borrow of `self`.
    ///
    /// # Safety
    ///
    /// `self` lives for all of `'t` and its store is not replaced meanwhile (S3).
    pub(crate) unsafe fn detached<'t>(&self) -> Detached<'t> {
        let store = match &self.store {
            // SAFETY: `self` keeps its handle for 't, by the caller's promise.
            Store::Data(handle) => DetachedStore::Data(unsafe { handle.header_for() }),
            Store::Meta(meta) => DetachedStore::Meta(*meta),
        };
        Detached { geometry: self.geometry.clone(), store }
    }
}

/// A copy of a tensor's geometry, and its storage: the input of an in-place call, beside the `&mut` of its output.
pub(crate) struct Detached<'t> {
    geometry: Geometry,
    store: DetachedStore<'t>,
}

enum DetachedStore<'t> {
    Data(&'t Header),
    Meta(MetaStore),
}

impl Detached<'_> {
    /// The tensor by reference.
    pub(crate) fn as_ref(&self) -> TensorRef<'_> {
        let store = match &self.store {
            DetachedStore::Data(header) => StoreRef::Data(header),
            DetachedStore::Meta(meta) => StoreRef::Meta(meta),
        };
        TensorRef { geometry: &self.geometry, store }
    }
}

#[derive(Clone, Copy)]
enum StoreRef<'t> {
    Data(&'t Header),
    Meta(&'t MetaStore),
}

/// What an operator sees of an input: its geometry and its storage, by reference.
///
/// An in-place operator's `self` is such a reference next to the `&mut` of its output, which is why this is not
/// `&Tensor`.
#[derive(Clone, Copy)]
pub struct TensorRef<'t> {
    geometry: &'t Geometry,
    store: StoreRef<'t>,
}

impl<'t> TensorRef<'t> {
    /// The tensor itself, if it has no data and so nothing that a reference guards.
    pub(crate) fn to_meta(self) -> Option<AnyTensor> {
        match self.store {
            StoreRef::Data(_) => None,
            StoreRef::Meta(meta) => Some(AnyTensor(Raw { geometry: self.geometry.clone(), store: Store::Meta(*meta) })),
        }
    }

    /// The geometry.
    #[inline]
    pub fn geometry(&self) -> &'t Geometry {
        self.geometry
    }

    /// Whether its storage was [frozen](crate::AnyTensor::freeze): its elements stay as they are while it is borrowed.
    pub fn is_frozen(&self) -> bool {
        matches!(self.store, StoreRef::Data(header) if header.borrow().is_frozen())
    }

    /// The device.
    #[inline]
    pub fn device(&self) -> DeviceId {
        match self.store {
            StoreRef::Data(header) => header.device(),
            StoreRef::Meta(..) => DeviceId::META,
        }
    }

    /// The identity of the storage: equal for tensors that share memory.
    #[inline]
    pub fn storage_id(&self) -> usize {
        match self.store {
            StoreRef::Data(header) => std::ptr::from_ref(header).addr(),
            StoreRef::Meta(meta) => (meta.id as usize) << 1 | 1,
        }
    }

    /// The identity of the storage, and the device as one number.
    #[inline(always)]
    pub(crate) fn whereabouts(&self) -> (usize, u16) {
        match self.store {
            StoreRef::Data(header) => (std::ptr::from_ref(header).addr(), header.device().bits()),
            StoreRef::Meta(meta) => ((meta.id as usize) << 1 | 1, DeviceId::META.bits()),
        }
    }

    /// True if both are the same elements of the same storage.
    #[inline]
    pub fn is_same(&self, other: &TensorRef<'_>) -> bool {
        self.storage_id() == other.storage_id() && self.geometry.same_elements(other.geometry)
    }

    #[inline]
    pub(crate) fn header(&self) -> Option<&'t Header> {
        match self.store {
            StoreRef::Data(header) => Some(header),
            StoreRef::Meta(..) => None,
        }
    }
}

impl TensorRef<'_> {
    /// The first element.
    ///
    /// # Safety
    ///
    /// The storage is borrowed as long as the pointer is used (inside [`Executes`](crate::structured::Executes): E2),
    /// and has data.
    pub unsafe fn data(&self) -> *mut u8 {
        match self.header() {
            // SAFETY: the caller holds a borrow.
            Some(header) => unsafe { first_element(header, self.geometry()) },
            None => std::ptr::null_mut(),
        }
    }
}

/// The first element of a geometry in a storage.
///
/// # Safety
///
/// The caller holds a borrow of the storage, and the geometry was checked against it (T1).
unsafe fn first_element(header: &Header, geometry: &Geometry) -> *mut u8 {
    // SAFETY: the caller holds a borrow.
    let base = unsafe { header.data() };
    // An empty tensor may have an offset beyond the storage; nothing is accessed through it then.
    base.wrapping_add((geometry.offset() as usize).wrapping_mul(geometry.dtype().size()))
}
