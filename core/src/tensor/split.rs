//! Splitting a tensor into two parts that can be written at the same time, as `split_at_mut` splits a slice.
//!
//! The parts are storages of their own over disjoint byte ranges of the split one, each with its own borrow state; the
//! split storage stays write-borrowed until both parts, and every clone and view of them, are gone. So no two borrow
//! states ever guard the same byte.
#![deny(clippy::arithmetic_side_effects)]

use super::{Raw, Tensor};
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::geometry::strides::{self, DimVec};
use crate::storage::{Device, Lent};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A part of a split tensor, borrowed from it.
pub struct TensorMut<'a, D: Device> {
    part: Tensor<D>,
    split: PhantomData<&'a mut Tensor<D>>,
}

impl<D: Device> Deref for TensorMut<'_, D> {
    type Target = Tensor<D>;
    fn deref(&self) -> &Tensor<D> {
        &self.part
    }
}

impl<D: Device> DerefMut for TensorMut<'_, D> {
    fn deref_mut(&mut self) -> &mut Tensor<D> {
        &mut self.part
    }
}

impl<D: Device> Tensor<D> {
    /// Splits dimension `dim` before `index` into two parts that can be written at the same time, from two threads if
    /// need be.
    ///
    /// Errors: no such dimension or index, parts that interleave in memory (split along the dimension with the largest
    /// stride), a meta tensor, a storage that is borrowed. The split storage is borrowed until every clone of a part is
    /// gone.
    pub fn split_at_mut(&mut self, dim: i64, index: i64) -> Result<(TensorMut<'_, D>, TensorMut<'_, D>)> {
        let [low, high] = halves(self.geometry(), dim, index)?;
        let (Some((low_start, low_end)), Some((high_start, high_end))) = (bytes(&low)?, bytes(&high)?) else {
            // A part without elements reaches no byte: any range will do.
            return self.lend([(low, (0, 0)), (high, (0, 0))]);
        };
        if low_start < high_end && high_start < low_end {
            let rule = "the two parts interleave in memory; split along the dimension with the largest stride";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        self.lend([(low, (low_start, low_end)), (high, (high_start, high_end))])
    }

    /// The two parts over their byte ranges, which are disjoint.
    fn lend(&mut self, parts: [(Geometry, (usize, usize)); 2]) -> Result<(TensorMut<'_, D>, TensorMut<'_, D>)> {
        let Some(handle) = self.raw().handle() else {
            return Err(ErrorKind::NoHostData { device: self.device() }.into());
        };
        let align = self.dtype().size();
        // `&mut self` is lent to nobody yet, so guards that were forgotten, and a freeze, end here if the storage is
        // unique.
        handle.header().borrow().heal();
        let lent = Lent::new(handle)?;
        let [low, high] = parts.map(|(g, (start, end))| -> Result<TensorMut<'_, D>> {
            // An empty part keeps its sizes; its range was left empty, and the other one's may be, too.
            let (start, end) = match bytes(&g)? {
                Some(range) => range,
                None => (start, end),
            };
            let local =
                Geometry::new(g.dtype(), g.sizes(), g.strides(), 0)?.with_conj(g.is_conj()).with_neg(g.is_neg());
            // SAFETY: T1: the geometry lies within the storage. Ranges begin at an element. They were found disjoint.
            let part = unsafe { lent.part(start, end.wrapping_sub(start), align) };
            Ok(TensorMut { part: Tensor::from_raw(Raw::over(part, local)), split: PhantomData })
        });
        Ok((low?, high?))
    }
}

/// The two sides of a dimension.
fn halves(g: &Geometry, dim: i64, index: i64) -> Result<[Geometry; 2]> {
    if g.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    let d = strides::wrap_dim(dim, g.ndim(), "dim")?;
    let size = g.sizes()[d];
    if !(0..=size).contains(&index) {
        return Err(ErrorKind::OutOfRange { arg: "index", got: index, low: 0, high: size }.into());
    }
    let side = |length: i64, first: i64| -> Result<Geometry> {
        let mut sizes = DimVec::from_slice(g.sizes());
        sizes[d] = length;
        // A part without elements may begin anywhere.
        let offset = if length == 0 || g.numel() == 0 { g.offset() } else { g.offset_at(d, first) };
        Ok(Geometry::new(g.dtype(), &sizes, g.strides(), offset)?.with_conj(g.is_conj()).with_neg(g.is_neg()))
    };
    Ok([side(index, 0)?, side(size.wrapping_sub(index), index)?])
}

/// The bytes of the storage from the first to the last element, `None` if there is no element.
fn bytes(g: &Geometry) -> Result<Option<(usize, usize)>> {
    let end = g.bytes_needed()?;
    Ok((end > 0).then(|| ((g.offset() as usize).wrapping_mul(g.dtype().size()), end)))
}
