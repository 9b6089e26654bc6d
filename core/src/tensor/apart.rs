//! Where tensors lie in memory, and the errors of outputs that lie where they may not. How two places overlap is judged
//! by [`overlap`](crate::overlap).
#![deny(clippy::arithmetic_side_effects)]

use super::TensorRef;
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::geometry::overlap::{Internal, Place, Shared, internal, shared};

impl<'a> Place<'a> {
    /// Where a tensor lies with this geometry.
    pub fn of(tensor: TensorRef<'_>, geometry: &'a Geometry) -> Place<'a> {
        let element = geometry.dtype().size();
        let start = geometry.offset().saturating_mul(element as i64);
        let end = geometry.bytes_needed().map_or(start, |bytes| (bytes as i64).max(start));
        let (sizes, strides) = (geometry.sizes(), geometry.strides());
        Place { storage: tensor.storage_id(), start, bytes: end.saturating_sub(start), element, sizes, strides }
    }
}

/// An error if output number `output` reaches an element twice.
pub(crate) fn check_itself(output: usize, to: &TensorRef<'_>) -> Result<()> {
    let g = to.geometry();
    if internal(g.sizes(), g.strides()) == Internal::Yes {
        let (sizes, strides) = (g.sizes().to_vec(), g.strides().to_vec());
        return Err(ErrorKind::InternalOverlap { index: output, sizes, strides }.into());
    }
    Ok(())
}

/// An error if output number `output` and another tensor share some bytes and are not the same elements; how they
/// share, otherwise.
pub(crate) fn check_apart(
    output: usize,
    other: &'static str,
    to: &TensorRef<'_>,
    from: &TensorRef<'_>,
) -> Result<Shared> {
    match shared(&Place::of(*to, to.geometry()), &Place::of(*from, from.geometry())) {
        Shared::Partial => Err(ErrorKind::PartialOverlap { output, other: other.into() }.into()),
        shared => Ok(shared),
    }
}
