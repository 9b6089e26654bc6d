//! Tensors: a geometry over a storage. [`Tensor<D>`] knows its device as a type, [`AnyTensor`] as a value; both are the
//! same `Raw` in memory, so erasing and recovering the device costs a comparison.
//!
//! Invariants:
//! * T1: every element of the geometry lies inside the storage (checked at construction; storages never shrink while
//!   shared).
//! * T2: `Tensor<D>` only ever holds a `Raw` whose device is of kind `D::KIND`.

mod access;
mod apart;
mod data;
pub mod observe;
mod overwrite;
mod print;
mod resize;
mod set;
mod split;
mod transfer;

pub use access::Access;
pub(crate) use apart::{check_apart, check_itself};
pub use data::{Data, DataMut};
pub use overwrite::{Replacement, overwrite};
pub use set::Storage;
pub use split::TensorMut;

use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::geometry::{Geometry, Names};
use crate::options::DeviceId;
use crate::storage::{Contents, Device, Handle, Header};
use std::cell::Cell;
use std::marker::PhantomData;
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
    /// The geometry.
    #[inline]
    pub fn geometry(&self) -> &'t Geometry {
        self.geometry
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
    /// The storage is borrowed as long as the pointer is used (inside [`Executes`](crate::structured::Executes): E2), and has data.
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

/// A tensor whose device is known at run time.
#[derive(Clone)]
#[repr(transparent)]
pub struct AnyTensor(pub(crate) Raw);

/// A tensor on a device of type `D`. A clone or a view shares its storage.
#[repr(transparent)]
pub struct Tensor<D: Device> {
    raw: Raw,
    device: PhantomData<D>,
}

impl<D: Device> Clone for Tensor<D> {
    fn clone(&self) -> Tensor<D> {
        Tensor::from_raw(self.raw.clone())
    }
}

impl<D: Device> Tensor<D> {
    #[inline]
    pub(crate) fn from_raw(raw: Raw) -> Tensor<D> {
        debug_assert_eq!(raw.device().kind, D::KIND);
        // In parts: each is short enough to be copied by instructions, where the whole would be by a call.
        let Raw { geometry, store } = raw;
        Tensor { raw: Raw { geometry, store }, device: PhantomData }
    }

    #[inline]
    pub(crate) fn raw(&self) -> &Raw {
        &self.raw
    }

    #[inline]
    pub(crate) fn raw_mut(&mut self) -> &mut Raw {
        &mut self.raw
    }

    /// A tensor of zero bytes with its own storage on device `index`. Sizes and strides are checked.
    pub fn zeroed(dtype: DType, sizes: &[i64], strides: &[i64], index: u8) -> Result<Tensor<D>> {
        let geometry = Geometry::new(dtype, sizes, strides, 0)?;
        Ok(Tensor::from_raw(Raw::allocate::<D>(geometry, index, Contents::Zeroed)?))
    }

    /// A tensor with its own storage on device `index`, of which nothing is written but what lies between its elements.
    ///
    /// # Safety
    ///
    /// Every element is written before somebody reads it; a tensor of which one may not be is dropped.
    pub(crate) unsafe fn unwritten(dtype: DType, sizes: &[i64], strides: &[i64], index: u8) -> Result<Tensor<D>> {
        let geometry = Geometry::new(dtype, sizes, strides, 0)?;
        let dense = crate::geometry::strides::is_non_overlapping_and_dense(sizes, strides);
        let contents = if dense { Contents::Unspecified } else { Contents::Zeroed };
        Ok(Tensor::from_raw(Raw::allocate::<D>(geometry, index, contents)?))
    }

    /// Another geometry over the same storage; an error if it reaches outside. Offset counts from the start of the
    /// storage, in elements of the new dtype.
    pub fn view_as(&self, geometry: Geometry) -> Result<Tensor<D>> {
        Ok(Tensor::from_raw(self.raw.view(geometry)?))
    }

    /// Replaces the geometry of this tensor, keeping its storage.
    pub fn set_view(&mut self, geometry: Geometry) -> Result<()> {
        let view = self.raw.view(geometry)?;
        self.raw.set_geometry(view.geometry);
        Ok(())
    }

    /// The tensor with its device known at run time.
    pub fn into_any(self) -> AnyTensor {
        AnyTensor(self.raw)
    }

    /// The same by reference.
    pub fn as_any(&self) -> &AnyTensor {
        // SAFETY: AnyTensor and Tensor<D> are repr(transparent) over Raw.
        unsafe { &*std::ptr::from_ref(self).cast::<AnyTensor>() }
    }
}

impl AnyTensor {
    pub(crate) fn raw_mut(&mut self) -> &mut Raw {
        &mut self.0
    }

    /// A meta tensor of the same geometry, over a storage of its own of as many bytes.
    #[must_use]
    pub fn to_meta(&self) -> AnyTensor {
        let store = Store::Meta(MetaStore::new(self.0.storage_bytes()));
        AnyTensor(Raw { geometry: self.0.geometry.clone(), store })
    }

    /// Tensors with their devices known at run time, in the list that they are in.
    pub fn list<D: Device>(tensors: Vec<Tensor<D>>) -> Vec<AnyTensor> {
        let mut tensors = std::mem::ManuallyDrop::new(tensors);
        let (first, len, capacity) = (tensors.as_mut_ptr().cast::<AnyTensor>(), tensors.len(), tensors.capacity());
        // SAFETY: `first`, `len` and `capacity` are those of a vector that is not used or dropped any more. Its
        // elements are AnyTensors: both types are repr(transparent) over Raw, so they have one size, one alignment and
        // the same values.
        unsafe { Vec::from_raw_parts(first, len, capacity) }
    }

    /// The tensor as one of device type `D`, if it is on such a device.
    pub fn downcast<D: Device>(self) -> Option<Tensor<D>> {
        (self.0.device().kind == D::KIND).then(|| Tensor::from_raw(self.0))
    }

    /// The same by reference.
    pub fn downcast_ref<D: Device>(&self) -> Option<&Tensor<D>> {
        if self.0.device().kind != D::KIND {
            return None;
        }
        // SAFETY: both are repr(transparent) over Raw, and the device is of D's kind (T2).
        Some(unsafe { &*std::ptr::from_ref(self).cast::<Tensor<D>>() })
    }

    /// The same by mutable reference.
    pub fn downcast_mut<D: Device>(&mut self) -> Option<&mut Tensor<D>> {
        if self.0.device().kind != D::KIND {
            return None;
        }
        // SAFETY: both are repr(transparent) over Raw, and the device is of D's kind (T2).
        Some(unsafe { &mut *std::ptr::from_mut(self).cast::<Tensor<D>>() })
    }

    /// Replaces the geometry of this tensor, keeping its storage.
    pub fn set_view(&mut self, geometry: Geometry) -> Result<()> {
        let view = self.0.view(geometry)?;
        self.0.set_geometry(view.geometry);
        Ok(())
    }

    /// Another geometry over the same storage; an error if it reaches outside.
    pub fn view_as(&self, geometry: Geometry) -> Result<AnyTensor> {
        Ok(AnyTensor(self.0.view(geometry)?))
    }
}

macro_rules! accessors {
    ($([$($generics:tt)*] $t:ty, $raw:tt;)*) => {$(
        impl<$($generics)*> $t {
            /// Sizes, strides, offset, dtype, bits and names.
            #[inline]
            pub fn geometry(&self) -> &Geometry { self.$raw.geometry() }
            /// The sizes.
            #[inline]
            pub fn sizes(&self) -> &[i64] { self.geometry().sizes() }
            /// The strides, in elements.
            #[inline]
            pub fn strides(&self) -> &[i64] { self.geometry().strides() }
            /// The number of dimensions.
            pub fn ndim(&self) -> usize { self.geometry().ndim() }
            /// The number of elements.
            pub fn numel(&self) -> usize { self.geometry().numel() }
            /// Elements between the start of the storage and the first element.
            pub fn offset(&self) -> i64 { self.geometry().offset() }
            /// The dtype.
            #[inline]
            pub fn dtype(&self) -> DType { self.geometry().dtype() }
            /// True if the elements lie row-major without gaps.
            pub fn is_contiguous(&self) -> bool { self.geometry().is_contiguous() }
            /// True if the values are the conjugates of the stored ones.
            pub fn is_conj(&self) -> bool { self.geometry().is_conj() }
            /// True if the values are the negatives of the stored ones.
            pub fn is_neg(&self) -> bool { self.geometry().is_neg() }
            /// Names of the dimensions, if any has one.
            pub fn names(&self) -> Option<&Names> { self.geometry().names() }
            /// The device.
            pub fn device(&self) -> DeviceId { self.$raw.device() }
            /// The identity of the storage: equal for tensors that share memory.
            pub fn storage_id(&self) -> usize { self.$raw.storage_id() }
            /// Bytes of the storage.
            pub fn storage_bytes(&self) -> usize { self.$raw.storage_bytes() }
            /// How many operator calls have written the storage (for meta tensors: through this tensor).
            pub fn version(&self) -> u64 { self.$raw.version() }
            /// A reference for an operator call.
            #[inline]
            pub fn as_operand(&self) -> TensorRef<'_> { self.$raw.as_ref() }
            /// Makes the storage read-only, and reads of it cheaper, until its only tensor is written through `&mut`.
            /// An error while it is being written.
            pub fn freeze(&self) -> Result<()> {
                match self.$raw.header() {
                    Some(header) => {
                let written = |_| ErrorKind::Borrowed { arg: "self", state: "written" }.into();
                header.borrow().freeze().map_err(written)
            }
                    None => Ok(()),
                }
            }
            /// True after [`freeze`](Self::freeze).
            pub fn is_frozen(&self) -> bool {
                self.$raw.header().is_some_and(|header| header.borrow().is_frozen())
            }
        }
    )*};
}
accessors! {
    [D: Device] Tensor<D>, raw;
    [] AnyTensor, 0;
}

impl<D: Device> Tensor<D> {
    /// A contiguous tensor of zero bytes on the first device of the kind.
    pub fn zeros_contiguous(dtype: DType, sizes: &[i64]) -> Result<Tensor<D>> {
        let geometry = Geometry::contiguous(dtype, sizes)?;
        Ok(Tensor::from_raw(Raw::allocate::<D>(geometry, 0, Contents::Zeroed)?))
    }
}
