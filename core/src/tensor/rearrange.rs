//! Tensors made of another one's elements at other places, by devices that have a kernel for it.
#![deny(clippy::arithmetic_side_effects)]

use super::Tensor;
use crate::error::Result;
use crate::geometry::strides;
use crate::options::MemoryFormat;
use crate::storage::{Device, Rearrangement};

impl<D: Device> Tensor<D> {
    /// A new tensor of this one's elements at other places, dense in a memory format; `None`, with nothing done, where
    /// the device has [no kernel](Device::REARRANGE) for it, a conj or neg bit is set, or the tensor has no such
    /// places. On the meta device there are only sizes, strides and dtype.
    ///
    /// # Errors
    ///
    /// Sizes that do not fit, a format for another number of dimensions, memory that cannot be had, a storage that is
    /// being written.
    pub fn rearranged(&self, how: &Rearrangement, format: MemoryFormat) -> Result<Option<Tensor<D>>> {
        let rearrange = match (D::REARRANGE, D::MEMORY) {
            (None, Some(_)) => return Ok(None),
            _ if self.is_conj() || self.is_neg() => return Ok(None),
            (rearrange, _) => rearrange,
        };
        let Some(sizes) = how.sizes(self.sizes()) else { return Ok(None) };
        strides::numel(&sizes)?;
        let strides = strides::strides_for(&sizes, format)?;
        // SAFETY: every element is written, or it is dropped.
        let mut made = unsafe { Tensor::<D>::unwritten(self.dtype(), &sizes, &strides, self.device().index) }?;
        let Some(rearrange) = rearrange else { return Ok(Some(made)) };
        let (how, from_sizes) = (how.clone(), strides::DimVec::from_slice(self.sizes()));
        made.write_over(
            [("self", self)],
            [strides::DimVec::from_slice(self.strides())],
            move |index, _, to, [from]| {
                // SAFETY: the target is new and dense and has the sizes that `how` gives for `from_sizes`; both are
                // borrowed meanwhile by who calls this, and without lazy bits.
                unsafe { rearrange(index, &from_sizes, to, from, &how) }
            },
        )?;
        Ok(Some(made))
    }
}
