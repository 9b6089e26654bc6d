//! Forms of tensors: to be read, to be written, optional, in lists; and the Rust types that stand for them.

use super::{Canonical, Kind, Parameter};
use crate::dispatch::set::KeySet;
use crate::error::{ErrorKind, Result};
use crate::options::DeviceId;
use crate::schema::Base;
use crate::storage::Device;
use crate::tensor::{AnyTensor, Tensor};
use crate::value::IValue;

/// The keys of a tensor.
#[inline]
fn keys_of(tensor: &AnyTensor) -> KeySet {
    KeySet::of_device(tensor.device().kind)
}

#[cold]
fn elsewhere<D: Device>(got: DeviceId, position: usize) -> crate::error::Error {
    let want = DeviceId { kind: D::KIND, index: 0 };
    ErrorKind::DeviceMismatch { arg: format!("number {position}").into(), got, want }.into()
}

/// `Tensor`.
#[derive(Debug)]
pub struct Read;
impl Canonical for Read {
    type Value<'a> = &'a AnyTensor;
    const KIND: Kind = Kind::of(Base::Tensor);
    fn unbox(value: &mut IValue) -> Option<&AnyTensor> {
        value.as_tensor()
    }
    fn enbox(value: &&AnyTensor) -> IValue {
        (*value).clone().into()
    }
    fn tensors(value: &&AnyTensor, visit: &mut dyn FnMut(&AnyTensor)) {
        visit(value);
    }
    #[inline]
    fn keys(value: &&AnyTensor) -> KeySet {
        keys_of(value)
    }
}

/// `Tensor(a!)`.
#[derive(Debug)]
pub struct Written;
impl Canonical for Written {
    type Value<'a> = &'a mut AnyTensor;
    const KIND: Kind = Kind::of(Base::Tensor).written();
    fn unbox(value: &mut IValue) -> Option<&mut AnyTensor> {
        value.as_tensor_mut()
    }
    fn enbox(value: &&mut AnyTensor) -> IValue {
        (**value).clone().into()
    }
    fn restore(value: &mut &mut AnyTensor, result: &IValue) {
        if let Some(tensor) = result.as_tensor() {
            **value = tensor.clone();
        }
    }
    fn tensors(value: &&mut AnyTensor, visit: &mut dyn FnMut(&AnyTensor)) {
        visit(value);
    }
    #[inline]
    fn keys(value: &&mut AnyTensor) -> KeySet {
        keys_of(value)
    }
}

/// `Tensor?`.
#[derive(Debug)]
pub struct Maybe;
impl Canonical for Maybe {
    type Value<'a> = Option<&'a AnyTensor>;
    const KIND: Kind = Kind::of(Base::Tensor).optional();
    fn unbox(value: &mut IValue) -> Option<Option<&AnyTensor>> {
        match value {
            IValue::None => Some(None),
            other => other.as_tensor().map(Some),
        }
    }
    fn enbox(value: &Option<&AnyTensor>) -> IValue {
        value.map_or(IValue::None, |t| t.clone().into())
    }
    fn tensors(value: &Option<&AnyTensor>, visit: &mut dyn FnMut(&AnyTensor)) {
        value.iter().for_each(|t| visit(t));
    }
    #[inline]
    fn keys(value: &Option<&AnyTensor>) -> KeySet {
        value.map_or(KeySet::EMPTY, keys_of)
    }
}

/// `Tensor[]`.
#[derive(Debug)]
pub struct List;
impl Canonical for List {
    type Value<'a> = &'a [AnyTensor];
    const KIND: Kind = Kind::of(Base::Tensor).list();
    fn unbox(value: &mut IValue) -> Option<&[AnyTensor]> {
        match value {
            IValue::Tensors(list) => Some(list),
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }
    fn enbox(value: &&[AnyTensor]) -> IValue {
        IValue::Tensors(value.to_vec())
    }
    fn tensors(value: &&[AnyTensor], visit: &mut dyn FnMut(&AnyTensor)) {
        value.iter().for_each(visit);
    }
    fn keys(value: &&[AnyTensor]) -> KeySet {
        value.iter().fold(KeySet::EMPTY, |keys, t| keys | keys_of(t))
    }
}

impl Parameter for &AnyTensor {
    type Canonical = Read;
    type Item<'a> = &'a AnyTensor;
    #[inline]
    fn convert<'a>(value: &'a AnyTensor, _: usize) -> Result<&'a AnyTensor>
    where
        'a: 'a,
    {
        Ok(value)
    }
}

impl Parameter for &mut AnyTensor {
    type Canonical = Written;
    type Item<'a> = &'a mut AnyTensor;
    #[inline]
    fn convert<'a>(value: &'a mut AnyTensor, _: usize) -> Result<&'a mut AnyTensor>
    where
        'a: 'a,
    {
        Ok(value)
    }
}

impl Parameter for Option<&AnyTensor> {
    type Canonical = Maybe;
    type Item<'a> = Option<&'a AnyTensor>;
    #[inline]
    fn convert<'a>(value: Option<&'a AnyTensor>, _: usize) -> Result<Option<&'a AnyTensor>>
    where
        'a: 'a,
    {
        Ok(value)
    }
}

impl Parameter for &[AnyTensor] {
    type Canonical = List;
    type Item<'a> = &'a [AnyTensor];
    #[inline]
    fn convert<'a>(value: &'a [AnyTensor], _: usize) -> Result<&'a [AnyTensor]>
    where
        'a: 'a,
    {
        Ok(value)
    }
}

impl<D: Device> Parameter for &Tensor<D> {
    type Canonical = Read;
    type Item<'a> = &'a Tensor<D>;
    #[inline]
    fn convert<'a>(value: &'a AnyTensor, position: usize) -> Result<&'a Tensor<D>>
    where
        'a: 'a,
    {
        value.downcast_ref().ok_or_else(|| elsewhere::<D>(value.device(), position))
    }
}

impl<D: Device> Parameter for &mut Tensor<D> {
    type Canonical = Written;
    type Item<'a> = &'a mut Tensor<D>;
    #[inline]
    fn convert<'a>(value: &'a mut AnyTensor, position: usize) -> Result<&'a mut Tensor<D>>
    where
        'a: 'a,
    {
        let device = value.device();
        value.downcast_mut().ok_or_else(|| elsewhere::<D>(device, position))
    }
}

impl<D: Device> Parameter for Option<&Tensor<D>> {
    type Canonical = Maybe;
    type Item<'a> = Option<&'a Tensor<D>>;
    #[inline]
    fn convert<'a>(value: Option<&'a AnyTensor>, position: usize) -> Result<Option<&'a Tensor<D>>>
    where
        'a: 'a,
    {
        value.map(|t| <&Tensor<D>>::convert(t, position)).transpose()
    }
}
