//! Tensors over memory that another value owns: weights in the map of a file. Owns the face of it; the storages are
//! those of `storage/owned.rs`.

use super::{Raw, Tensor};
use crate::dtype::DType;
use crate::error::Result;
use crate::geometry::Geometry;
use crate::storage::{DefaultDevice, Device, Handle, Standard};
use std::ops::Range;

impl<D: Device> Tensor<D> {
    /// A tensor of bytes over each part of a memory, which is not copied. `owner` is dropped with the last tensor that
    /// shares one of the storages.
    ///
    /// A tensor of another dtype and other strides over the same bytes is made by
    /// [`with_geometry`](Tensor::with_geometry). Such a storage can be written, but does not grow.
    ///
    /// # Errors
    ///
    /// The parts are not inside the memory, ascending and apart from each other; one begins at an address that is no
    /// multiple of 16.
    pub fn from_owner<O>(owner: O, parts: &[Range<usize>]) -> Result<Vec<Tensor<D>>>
    where
        O: AsMut<[u8]> + Send + 'static,
        Standard: DefaultDevice<D>,
    {
        let handles = Handle::of_owner::<D, O>(owner, parts).map_err(|e| e.of("from_owner"))?;
        let whole = |(handle, part): (Handle, &Range<usize>)| {
            let bytes = part.end.saturating_sub(part.start) as i64;
            let mut raw = Raw::pending(Geometry::contiguous(DType::U8, &[bytes])?);
            raw.settle(handle);
            Ok(Tensor::from_raw(raw))
        };
        handles.into_iter().zip(parts).map(whole).collect()
    }
}
