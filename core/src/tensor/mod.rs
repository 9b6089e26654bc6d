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
pub mod dlpack;
mod elements;
#[cfg(feature = "ndarray")]
mod ndarray;
mod nested;
pub mod observe;
mod overwrite;
mod owned;
mod print;
mod raw;
mod rearrange;
mod resize;
mod reverse;
mod rows;
mod set;
mod split;
pub(crate) mod traced;
mod transfer;

pub use access::Access;
pub(crate) use apart::{check_apart, check_itself};
pub use data::{Data, DataMut};
#[cfg(feature = "ndarray")]
pub use ndarray::NdarrayData;
pub use nested::Nested;
pub use overwrite::{Replacement, overwrite};
pub(crate) use raw::Raw;
pub use raw::TensorRef;
pub use rows::Rows;
pub use set::Storage;
pub use split::TensorMut;

use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::geometry::{Geometry, Names};
use crate::options::DeviceId;
use crate::storage::{Contents, Device};
use std::marker::PhantomData;

/// A tensor whose device is known at run time.
#[derive(Clone)]
#[repr(transparent)]
pub struct AnyTensor(pub(crate) Raw);

/// A tensor on a device of type `D`. A clone or a view shares its storage.
///
/// A tensor is `Send` and `Sync` where its device is, as the CPU is: threads may call operators on tensors that share a
/// storage. Reads go side by side; a call that would write what another is reading or writing is an `Err` of the one
/// that came later, never a race.
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
        Tensor { raw: raw.in_parts(), device: PhantomData }
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
    pub fn with_geometry(&self, geometry: Geometry) -> Result<Tensor<D>> {
        Ok(Tensor::from_raw(self.raw.view(geometry)?))
    }

    /// Replaces the geometry of this tensor, keeping its storage.
    pub fn set_view(&mut self, geometry: Geometry) -> Result<()> {
        self.raw.set_view(geometry)
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
        AnyTensor(self.0.to_meta())
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
        self.0.set_view(geometry)
    }

    /// Another geometry over the same storage; an error if it reaches outside.
    pub fn with_geometry(&self, geometry: Geometry) -> Result<AnyTensor> {
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
