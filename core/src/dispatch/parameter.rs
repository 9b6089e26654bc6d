//! Parameters of unboxed kernels: which Rust types stand for which schema types. Each schema type has one form in which both
//! sides of an unboxed call pass it, so that a kernel over `&Tensor<Cpu>` can be called by a caller who has `&AnyTensor`.
//! Owns the mapping of one argument; lists of them are in `signature.rs`.

use super::set::KeySet;
use crate::device::{Device, DeviceId};
use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::format::{Layout, MemoryFormat};
use crate::ivalue::IValue;
use crate::scalar::Scalar;
use crate::schema::{Base, Type};
use crate::tensor::{AnyTensor, Tensor};
use std::fmt;

/// The schema type that a parameter stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    base: Base,
    optional: bool,
    list: bool,
    write: bool,
}

impl Kind {
    pub(super) const fn of(base: Base) -> Kind {
        Kind { base, optional: false, list: false, write: false }
    }

    pub(super) const fn optional(self) -> Kind {
        Kind { optional: true, ..self }
    }

    pub(super) const fn list(self) -> Kind {
        Kind { list: true, ..self }
    }

    const fn written(self) -> Kind {
        Kind { write: true, ..self }
    }

    /// True if this is what a schema declares: the same base, where an `int` may be symbolic, the same `?` and `[]`, and the
    /// same mark of a write. The length of a list and the names of alias sets are the schema's alone.
    pub fn fits(self, ty: &Type) -> bool {
        let base = match ty.base() {
            Base::SymInt => Base::Int,
            Base::SymBool => Base::Bool,
            base => base,
        };
        let write = ty.alias().is_some_and(|alias| alias.is_write());
        let same = (self.base, self.optional, self.list, self.write);
        (base, ty.is_optional(), ty.is_list(), write) == same && ty.wraps().len() <= 2
    }

    /// True if a result that a schema declares is of this kind. Its alias annotation says where it comes from, not what it is.
    pub(super) fn fits_result(self, ty: &Type) -> bool {
        let base = if ty.base() == Base::SymInt { Base::Int } else { ty.base() };
        (base, ty.is_optional(), ty.is_list()) == (self.base, self.optional, self.list)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.name())?;
        f.write_str(if self.write { "(a!)" } else { "" })?;
        f.write_str(if self.list { "[]" } else { "" })?;
        f.write_str(if self.optional { "?" } else { "" })
    }
}

/// The form in which both sides of an unboxed call pass an argument of one schema type.
pub trait Canonical: 'static {
    /// The argument.
    type Value<'a>;
    /// The schema type.
    const KIND: Kind;

    /// The argument in a boxed value, if it is one of this type.
    fn unbox(value: &mut IValue) -> Option<Self::Value<'_>>;

    /// The argument as a boxed value. A tensor shares its storage.
    fn enbox(value: &Self::Value<'_>) -> IValue;

    /// Gives a written tensor the geometry that a boxed kernel left it with.
    fn restore(_value: &mut Self::Value<'_>, _result: &IValue) {}

    /// The dispatch keys that the argument brings.
    #[inline]
    fn keys(_value: &Self::Value<'_>) -> KeySet {
        KeySet::EMPTY
    }

    /// Visits the tensors of the argument.
    fn tensors(_value: &Self::Value<'_>, _visit: &mut dyn FnMut(&AnyTensor)) {}

    /// The device that the argument names where no tensor gives one.
    fn device(_value: &Self::Value<'_>) -> Option<DeviceId> {
        None
    }
}

/// A type that a kernel may have as a parameter.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot have a parameter of type `{Self}`",
    label = "no schema type is passed as this",
    note = "tensors: `&AnyTensor` or `&Tensor<D>`, `&mut ..` if the schema marks a write, `Option<&AnyTensor>`, `&[AnyTensor]`",
    note = "numbers: `i64` for int, `f64` for float, `bool`, `Scalar`; narrower ones lose values that a schema allows",
    note = "lists and text are borrowed: `&[i64]`, `&[f64]`, `&[bool]`, `&str`, not `Vec` or `String`",
    note = "others: `DType`, `Layout`, `DeviceId`, `MemoryFormat`; and `Option` of each that is not a tensor to be written"
)]
pub trait Parameter {
    /// What both sides pass.
    type Canonical: Canonical;
    /// The parameter's own type, for a call of lifetime `'a`.
    type Item<'a>;

    /// The parameter; an error if a tensor is on another device than the parameter's.
    fn convert<'a>(value: <Self::Canonical as Canonical>::Value<'a>, position: usize) -> Result<Self::Item<'a>>
    where
        'a: 'a;
}

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

/// Forms of tensors.
pub mod tensors {
    use super::*;

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
}

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

/// Forms of everything else.
pub mod values {
    use super::*;

    passed! {
        Number MaybeNumber Scalar, Scalar, Kind::of(Base::Scalar), |v| v.to_scalar(), |x| (*x).into();
        Int MaybeInt i64, i64, Kind::of(Base::Int),
            |v| if let IValue::Int(i) = v { Some(*i) } else { None }, |x| IValue::Int(*x);
        Float MaybeFloat f64, f64, Kind::of(Base::Float),
            |v| match v { IValue::Float(f) => Some(*f), IValue::Int(i) => Some(*i as f64), _ => None }, |x| IValue::Float(*x);
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
}
