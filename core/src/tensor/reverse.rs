//! Copies of tensors with their elements in reverse order along some dimensions. Owns the one layout that no tensor
//! has: strides below zero, which a copy may read and nobody else sees.
//!
//! ```text
//! from:  data ───────────────► a b c d      strides [1]
//!        data + 3 ───────────► d c b a      strides [-1]: the same elements
//! ```
#![deny(clippy::arithmetic_side_effects)]

use super::Tensor;
use crate::error::Result;
use crate::geometry::strides::{self, DimVec};
use crate::storage::{Device, Strided};

impl<D: Device> Tensor<D> {
    /// A new tensor whose elements are those of this one, in reverse order along each dimension that `is_reversed`
    /// names. Its strides are those that a copy in preserve format has.
    ///
    /// # Errors
    ///
    /// Memory that cannot be had, a storage that is being written.
    pub fn reversed(&self, is_reversed: impl Fn(usize) -> bool) -> Result<Tensor<D>> {
        let index = self.device().index;
        let dims: DimVec =
            (0..self.ndim()).filter(|&d| self.sizes()[d] > 1 && is_reversed(d)).map(|d| d as i64).collect();
        let strides = strides::preserve_strides(self.sizes(), self.strides());
        // SAFETY: every element is copied, or it is dropped.
        let mut reversed = unsafe { Tensor::<D>::unwritten(self.dtype(), self.sizes(), &strides, index) }?;
        if D::REVERSES || dims.is_empty() || self.numel() == 0 || D::MEMORY.is_none() {
            reversed.write_from([("self", self)], move |index, sizes, to, [from]| {
                let strides = backwards(from.strides, &dims);
                let data = from.data.wrapping_offset(last_of(sizes, &from, &dims));
                let from = Strided { data, strides: &strides, ..from };
                // SAFETY: C1: T1 for both, borrowed meanwhile by who calls this; the source's elements are those of the
                // tensor, counted from their ends. Only devices that take strides below zero get such. C2: the target
                // is new.
                unsafe { D::copy(index, sizes, to, from) }
            })?;
            return Ok(reversed);
        }
        let mut parts = self.clone();
        for &dim in &dims {
            let next = Tensor::<D>::zeroed(self.dtype(), self.sizes(), &strides, index)?;
            let size = self.sizes()[dim as usize];
            for place in 0..size {
                // Not below zero: `place` is less than `size`.
                let last = size.saturating_sub(1).saturating_sub(place);
                next.slab(dim as usize, place)?.copy_from(&parts.slab(dim as usize, last)?)?;
            }
            parts = next;
        }
        Ok(parts)
    }

    /// The view of one place of a dimension, which stays.
    fn slab(&self, dim: usize, place: i64) -> Result<Tensor<D>> {
        let g = self.geometry();
        let mut sizes = DimVec::from_slice(g.sizes());
        sizes[dim] = 1;
        // Within the tensor, whose offsets do not overflow.
        let offset = g.offset().wrapping_add(place.wrapping_mul(g.strides()[dim]));
        let part = crate::geometry::Geometry::new(g.dtype(), &sizes, g.strides(), offset)?;
        self.with_geometry(part.with_conj(g.is_conj()).with_neg(g.is_neg()))
    }
}

/// The strides with which some dimensions are walked from their ends.
fn backwards(strides: &[i64], dims: &[i64]) -> DimVec {
    let stride = |(d, stride): (usize, &i64)| if dims.contains(&(d as i64)) { stride.wrapping_neg() } else { *stride };
    strides.iter().enumerate().map(stride).collect()
}

/// How far from the first element, in bytes, the one lies that is last along some dimensions. It is an element of a
/// tensor, so nothing overflows (T1).
fn last_of(sizes: &[i64], from: &Strided<'_>, dims: &[i64]) -> isize {
    let span = |&d: &i64| sizes[d as usize].wrapping_sub(1).wrapping_mul(from.strides[d as usize]);
    let elements = dims.iter().map(span).fold(0, i64::wrapping_add);
    (elements as isize).wrapping_mul(from.dtype.size() as isize)
}
