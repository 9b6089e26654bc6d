//! Where the calls of a composition go: through the dispatcher by name, or straight to the typed functions of one
//! device. Owns the operators that compositions of views and copies are made of; what they are composed to is in
//! `join.rs` and `shape.rs`.

use super::IValue;
use crate::copies::reshape;
use crate::factory::empty;
use crate::view;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, Device, DeviceId, Geometry, MemoryFormat, Result, Tensor};
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

    /// `expand`.
    fn expand(&self, t: &Self::Tensor, sizes: &[i64]) -> Result<Self::Tensor>;

    /// `reshape`.
    fn reshape(&self, t: &Self::Tensor, sizes: &[i64]) -> Result<Self::Tensor>;

    /// `cat`.
    fn cat(&self, tensors: Vec<Self::Tensor>, dim: usize) -> Result<Self::Tensor>;
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
pub(crate) struct Typed<D>(PhantomData<D>);

impl<D> Typed<D> {
    pub(crate) const CALLEES: Typed<D> = Typed(PhantomData);
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

    fn expand(&self, t: &Tensor<D>, sizes: &[i64]) -> Result<Tensor<D>> {
        viewed(t, |g| view::expand(g, sizes, false))
    }

    fn reshape(&self, t: &Tensor<D>, sizes: &[i64]) -> Result<Tensor<D>> {
        reshape(t, sizes)
    }

    fn cat(&self, tensors: Vec<Tensor<D>>, dim: usize) -> Result<Tensor<D>> {
        super::join::cat(self, &tensors, dim as i64)
    }
}
