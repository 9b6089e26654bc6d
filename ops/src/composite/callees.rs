//! Where the calls of a composition go: through the dispatcher by name, or straight to the typed functions of one
//! device. Owns the operators that compositions of views and copies are made of; what they are composed to is in
//! `join.rs` and `shape.rs`.

use super::IValue;
use crate::copies::{clone_tensor, reshape};
use crate::factory::empty;
use crate::fill::Fills;
use crate::view;
use monomorph_core::dispatch::Calls;
use monomorph_core::{
    AnyTensor, DType, Device, DeviceId, Geometry, MemoryFormat, Rearrangement, Result, Scalar, Tensor,
};
use std::marker::PhantomData;

/// What a composition calls. Written over this, it is a composed kernel for all devices and a typed function, and both
/// are the same.
pub trait Callees {
    /// The type of its tensors: boxed ones, or those of a device.
    type Tensor: Clone;

    /// The tensor as one of any device, to look at its geometry.
    fn any(t: &Self::Tensor) -> &AnyTensor;

    /// `empty.memory_format`.
    fn empty(&self, sizes: &[i64], dtype: DType, device: DeviceId, format: MemoryFormat) -> Result<Self::Tensor>;

    /// `copy_`: writes the elements of `from` to `place`, which is a view of something.
    fn copy_into(&self, place: Self::Tensor, from: &Self::Tensor) -> Result<()>;

    /// `narrow`.
    fn narrow(&self, t: &Self::Tensor, dim: usize, start: i64, length: i64) -> Result<Self::Tensor>;

    /// `view`.
    fn view(&self, t: &Self::Tensor, sizes: &[i64]) -> Result<Self::Tensor>;

    /// `unsqueeze`.
    fn unsqueeze(&self, t: &Self::Tensor, dim: usize) -> Result<Self::Tensor>;

    /// `transpose.int`.
    fn transpose(&self, t: &Self::Tensor, dim0: usize, dim1: usize) -> Result<Self::Tensor>;

    /// `select.int`.
    fn select(&self, t: &Self::Tensor, dim: usize, index: i64) -> Result<Self::Tensor>;

    /// `slice.Tensor`: its start, end and step.
    fn sliced(&self, t: &Self::Tensor, dim: usize, places: [i64; 3]) -> Result<Self::Tensor>;

    /// `diagonal`.
    fn diagonal(&self, t: &Self::Tensor, offset: i64, dim1: usize, dim2: usize) -> Result<Self::Tensor>;

    /// `as_strided`.
    fn as_strided(&self, t: &Self::Tensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Self::Tensor>;

    /// `clone` in a format.
    fn cloned(&self, t: &Self::Tensor, format: MemoryFormat) -> Result<Self::Tensor>;

    /// `flip`.
    fn flip(&self, t: &Self::Tensor, dims: &[i64]) -> Result<Self::Tensor>;

    /// `expand`.
    fn expand(&self, t: &Self::Tensor, sizes: &[i64]) -> Result<Self::Tensor>;

    /// `reshape`.
    fn reshape(&self, t: &Self::Tensor, sizes: &[i64]) -> Result<Self::Tensor>;

    /// `cat`.
    fn cat(&self, tensors: Vec<Self::Tensor>, dim: usize) -> Result<Self::Tensor>;

    /// A new tensor of the elements of `t` at other places, if that is one pass over memory: devices that have no
    /// kernel for it, and calls by name, copy part by part.
    fn rearranged(
        &self,
        t: &Self::Tensor,
        how: impl FnOnce() -> Rearrangement,
        format: MemoryFormat,
    ) -> Result<Option<Self::Tensor>> {
        let _ = (t, how, format);
        Ok(None)
    }
}

/// The same with tensors of one number, which a device needs to know how to fill.
pub trait Fillers: Callees {
    /// `fill_.Scalar`: writes one number to all elements of `place`, which is a view of something or a new tensor.
    fn fill(&self, place: Self::Tensor, value: Scalar) -> Result<()>;

    /// A contiguous tensor of one number, like `t` but for the sizes.
    fn full_like(&self, t: &Self::Tensor, sizes: &[i64], value: Scalar) -> Result<Self::Tensor> {
        let (dtype, device) = (Self::any(t).dtype(), Self::any(t).device());
        let full = self.empty(sizes, dtype, device, MemoryFormat::Contiguous)?;
        self.fill(full.clone(), value)?;
        Ok(full)
    }
}

impl Fillers for Calls<'_> {
    fn fill(&self, place: AnyTensor, value: Scalar) -> Result<()> {
        self.tensor("fill_.Scalar", [place.into(), value.into()]).map(drop)
    }
}

impl<D: Fills> Fillers for Typed<D> {
    fn full_like(&self, t: &Tensor<D>, sizes: &[i64], value: Scalar) -> Result<Tensor<D>> {
        let (dtype, device) = (t.dtype(), t.device());
        let full = self.empty(sizes, dtype, device, MemoryFormat::Contiguous)?;
        // A new tensor is zero.
        if value != Scalar::Int(0) {
            self.fill(full.clone(), value)?;
        }
        Ok(full)
    }

    fn fill(&self, mut place: Tensor<D>, value: Scalar) -> Result<()> {
        crate::fill::fill_(&mut place, value).map(drop)
    }
}

impl Callees for Calls<'_> {
    type Tensor = AnyTensor;

    fn any(t: &AnyTensor) -> &AnyTensor {
        t
    }

    fn empty(&self, sizes: &[i64], dtype: DType, device: DeviceId, format: MemoryFormat) -> Result<AnyTensor> {
        let sizes = IValue::Ints(sizes.to_vec());
        let options = [sizes, dtype.into(), IValue::None, device.into(), IValue::None, format.into()];
        self.tensor("empty.memory_format", options)
    }

    fn copy_into(&self, place: AnyTensor, from: &AnyTensor) -> Result<()> {
        self.tensor("copy_", [place.into(), from.clone().into(), false.into()]).map(drop)
    }

    fn narrow(&self, t: &AnyTensor, dim: usize, start: i64, length: i64) -> Result<AnyTensor> {
        self.tensor("narrow", [t.clone().into(), (dim as i64).into(), start.into(), length.into()])
    }

    fn view(&self, t: &AnyTensor, sizes: &[i64]) -> Result<AnyTensor> {
        self.tensor("view", [t.clone().into(), IValue::Ints(sizes.to_vec())])
    }

    fn unsqueeze(&self, t: &AnyTensor, dim: usize) -> Result<AnyTensor> {
        self.tensor("unsqueeze", [t.clone().into(), (dim as i64).into()])
    }

    fn transpose(&self, t: &AnyTensor, dim0: usize, dim1: usize) -> Result<AnyTensor> {
        self.tensor("transpose.int", [t.clone().into(), (dim0 as i64).into(), (dim1 as i64).into()])
    }

    fn select(&self, t: &AnyTensor, dim: usize, index: i64) -> Result<AnyTensor> {
        self.tensor("select.int", [t.clone().into(), (dim as i64).into(), index.into()])
    }

    fn sliced(&self, t: &AnyTensor, dim: usize, [start, end, step]: [i64; 3]) -> Result<AnyTensor> {
        self.tensor("slice.Tensor", [t.clone().into(), (dim as i64).into(), start.into(), end.into(), step.into()])
    }

    fn diagonal(&self, t: &AnyTensor, offset: i64, dim1: usize, dim2: usize) -> Result<AnyTensor> {
        self.tensor("diagonal", [t.clone().into(), offset.into(), (dim1 as i64).into(), (dim2 as i64).into()])
    }

    fn as_strided(&self, t: &AnyTensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<AnyTensor> {
        let [sizes, strides] = [sizes, strides].map(|list| IValue::Ints(list.to_vec()));
        self.tensor("as_strided", [t.clone().into(), sizes, strides, offset.into()])
    }

    fn cloned(&self, t: &AnyTensor, format: MemoryFormat) -> Result<AnyTensor> {
        self.tensor("clone", [t.clone().into(), format.into()])
    }

    fn flip(&self, t: &AnyTensor, dims: &[i64]) -> Result<AnyTensor> {
        self.tensor("flip", [t.clone().into(), IValue::Ints(dims.to_vec())])
    }

    fn expand(&self, t: &AnyTensor, sizes: &[i64]) -> Result<AnyTensor> {
        self.tensor("expand", [t.clone().into(), IValue::Ints(sizes.to_vec()), false.into()])
    }

    fn reshape(&self, t: &AnyTensor, sizes: &[i64]) -> Result<AnyTensor> {
        self.tensor("reshape", [t.clone().into(), IValue::Ints(sizes.to_vec())])
    }

    fn cat(&self, tensors: Vec<AnyTensor>, dim: usize) -> Result<AnyTensor> {
        self.tensor("cat", [IValue::Tensors(tensors), (dim as i64).into()])
    }
}

/// The typed functions of a device.
#[derive(Debug)]
pub struct Typed<D>(PhantomData<D>);

impl<D> Typed<D> {
    /// They have no state.
    pub const CALLEES: Typed<D> = Typed(PhantomData);
}

fn viewed<D: Device>(t: &Tensor<D>, view: impl FnOnce(&Geometry) -> Result<Geometry>) -> Result<Tensor<D>> {
    t.with_geometry(view(t.geometry())?)
}

impl<D: Device> Callees for Typed<D> {
    type Tensor = Tensor<D>;

    fn any(t: &Tensor<D>) -> &AnyTensor {
        t.as_any()
    }

    fn empty(&self, sizes: &[i64], dtype: DType, device: DeviceId, format: MemoryFormat) -> Result<Tensor<D>> {
        empty(sizes, Some(dtype), None, Some(device), None, Some(format))
    }

    fn copy_into(&self, mut place: Tensor<D>, from: &Tensor<D>) -> Result<()> {
        place.copy_from(from)
    }

    fn narrow(&self, t: &Tensor<D>, dim: usize, start: i64, length: i64) -> Result<Tensor<D>> {
        viewed(t, |g| view::narrow(g, dim as i64, start, length))
    }

    fn view(&self, t: &Tensor<D>, sizes: &[i64]) -> Result<Tensor<D>> {
        viewed(t, |g| view::view(g, sizes))
    }

    fn unsqueeze(&self, t: &Tensor<D>, dim: usize) -> Result<Tensor<D>> {
        viewed(t, |g| view::unsqueeze(g, dim as i64))
    }

    fn transpose(&self, t: &Tensor<D>, dim0: usize, dim1: usize) -> Result<Tensor<D>> {
        viewed(t, |g| view::transpose(g, dim0 as i64, dim1 as i64))
    }

    fn select(&self, t: &Tensor<D>, dim: usize, index: i64) -> Result<Tensor<D>> {
        viewed(t, |g| view::select(g, dim as i64, index))
    }

    fn sliced(&self, t: &Tensor<D>, dim: usize, [start, end, step]: [i64; 3]) -> Result<Tensor<D>> {
        viewed(t, |g| view::slice(g, dim as i64, Some(start), Some(end), step))
    }

    fn diagonal(&self, t: &Tensor<D>, offset: i64, dim1: usize, dim2: usize) -> Result<Tensor<D>> {
        viewed(t, |g| crate::rearrange::diagonal(g, offset, dim1 as i64, dim2 as i64))
    }

    fn as_strided(&self, t: &Tensor<D>, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor<D>> {
        viewed(t, |g| view::as_strided(g, sizes, strides, Some(offset)))
    }

    fn cloned(&self, t: &Tensor<D>, format: MemoryFormat) -> Result<Tensor<D>> {
        clone_tensor(t, Some(format))
    }

    fn flip(&self, t: &Tensor<D>, dims: &[i64]) -> Result<Tensor<D>> {
        super::flip::flip(t, dims)
    }

    fn expand(&self, t: &Tensor<D>, sizes: &[i64]) -> Result<Tensor<D>> {
        viewed(t, |g| view::expand(g, sizes, false))
    }

    fn reshape(&self, t: &Tensor<D>, sizes: &[i64]) -> Result<Tensor<D>> {
        reshape(t, sizes)
    }

    fn cat(&self, tensors: Vec<Tensor<D>>, dim: usize) -> Result<Tensor<D>> {
        super::join::cat(self, &tensors, dim as i64)
    }

    fn rearranged(
        &self,
        t: &Tensor<D>,
        how: impl FnOnce() -> Rearrangement,
        format: MemoryFormat,
    ) -> Result<Option<Tensor<D>>> {
        match D::REARRANGE.is_some() || D::MEMORY.is_none() {
            true => t.rearranged(&how(), format),
            false => Ok(None),
        }
    }
}
