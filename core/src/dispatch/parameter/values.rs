//! Forms of everything that is no tensor: numbers, text, lists, and what describes tensors.

use super::{Canonical, Kind, Parameter};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::options::{DeviceId, Layout, MemoryFormat};
use crate::schema::Base;
use crate::value::IValue;

/// Declares the form of a schema type that is passed as it is, the form of its optional, and both as parameters.
macro_rules! passed {
    ($($name:ident $maybe:ident $value:ty, $param:ty, $kind:expr,
        |$v:ident| $get:expr, |$x:ident| $lend:expr $(, device $device:expr)?;)*) => {$(
        #[doc = concat!("The form of `", stringify!($param), "`.")]
        #[derive(Debug)]
        pub struct $name;
        impl Canonical for $name {
            type Value<'a> = $value;
            const KIND: Kind = $kind;
            fn unbox($v: &mut IValue) -> Option<Self::Value<'_>> { $get }
            fn enbox($x: &Self::Value<'_>) -> IValue { $lend }
            $(fn device(value: &DeviceId) -> Option<DeviceId> { $device(*value) })?
        }
        impl Parameter for $param {
            type Canonical = $name;
            type Item<'a> = $value;
            #[inline]
            fn convert<'a>(value: $value, _: usize) -> Result<$value> where 'a: 'a { Ok(value) }
        }

        #[doc = concat!("The form of an optional `", stringify!($param), "`.")]
        #[derive(Debug)]
        pub struct $maybe;
        impl Canonical for $maybe {
            type Value<'a> = Option<$value>;
            const KIND: Kind = $name::KIND.optional();
            fn unbox(value: &mut IValue) -> Option<Self::Value<'_>> {
                match value {
                    IValue::None => Some(None),
                    other => $name::unbox(other).map(Some),
                }
            }
            fn enbox(value: &Self::Value<'_>) -> IValue {
                value.as_ref().map_or(IValue::None, $name::enbox)
            }
            $(fn device(value: &Option<DeviceId>) -> Option<DeviceId> { value.and_then($device) })?
        }
        impl Parameter for Option<$param> {
            type Canonical = $maybe;
            type Item<'a> = Option<$value>;
            #[inline]
            fn convert<'a>(value: Option<$value>, _: usize) -> Result<Option<$value>> where 'a: 'a { Ok(value) }
        }
    )*};
}

passed! {
    Number MaybeNumber Scalar, Scalar, Kind::of(Base::Scalar), |v| v.to_scalar(), |x| (*x).into();
    Int MaybeInt i64, i64, Kind::of(Base::Int),
        |v| if let IValue::Int(i) = v { Some(*i) } else { None }, |x| IValue::Int(*x);
    Float MaybeFloat f64, f64, Kind::of(Base::Float),
        |v| match v { IValue::Float(f) => Some(*f), IValue::Int(i) => Some(*i as f64), _ => None },
        |x| IValue::Float(*x);
    Truth MaybeTruth bool, bool, Kind::of(Base::Bool),
        |v| if let IValue::Bool(b) = v { Some(*b) } else { None }, |x| IValue::Bool(*x);
    Type MaybeType DType, DType, Kind::of(Base::ScalarType),
        |v| if let IValue::DType(d) = v { Some(*d) } else { None }, |x| IValue::DType(*x);
    Place MaybePlace DeviceId, DeviceId, Kind::of(Base::Device),
        |v| if let IValue::Device(d) = v { Some(*d) } else { None }, |x| IValue::Device(*x), device Some;
    Arrangement MaybeArrangement Layout, Layout, Kind::of(Base::Layout),
        |v| if let IValue::Layout(l) = v { Some(*l) } else { None }, |x| IValue::Layout(*x);
    Format MaybeFormat MemoryFormat, MemoryFormat, Kind::of(Base::MemoryFormat),
        |v| if let IValue::MemoryFormat(m) = v { Some(*m) } else { None }, |x| IValue::MemoryFormat(*x);
    Text MaybeText &'a str, &str, Kind::of(Base::Str),
        |v| if let IValue::Str(s) = v { Some(&**s) } else { None }, |x| IValue::Str((*x).into());
    Ints MaybeInts &'a [i64], &[i64], Kind::of(Base::Int).list(),
        |v| match v {
            IValue::Ints(list) => Some(list),
            IValue::Int(i) => Some(std::slice::from_ref(i)),
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }, |x| IValue::Ints(x.to_vec());
    Floats MaybeFloats &'a [f64], &[f64], Kind::of(Base::Float).list(),
        |v| match v {
            IValue::Floats(list) => Some(list),
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }, |x| IValue::Floats(x.to_vec());
    Truths MaybeTruths &'a [bool], &[bool], Kind::of(Base::Bool).list(),
        |v| match v {
            IValue::Bools(list) => Some(list),
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }, |x| IValue::Bools(x.to_vec());
}
