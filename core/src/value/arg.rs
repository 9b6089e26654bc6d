//! Argument types of schemas as Rust types: for each, what an operator takes and how a boxed value turns into it.

use super::std_ops::StdOperand;
use super::{Generator, IValue};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::options::{DeviceId, Layout, MemoryFormat};
use crate::storage::Device;
use crate::structured::Operand;
use crate::tensor::{AnyTensor, Storage, Tensor};
use std::marker::PhantomData;

/// A tensor argument of a typed call: a tensor on `D`, or a Rust number.
#[derive(Clone, Copy)]
pub struct Arg<'t, D: Device>(Operand<'t>, PhantomData<&'t Tensor<D>>);

impl<'t, D: Device> Arg<'t, D> {
    /// The argument as operators see it.
    pub fn operand(self) -> Operand<'t> {
        self.0
    }
}

/// What a typed call on device `D` takes for a tensor: a tensor on `D` by reference, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of a call on tensors of `{D}`",
    label = "neither a reference to a `Tensor<{D}>` nor a number",
    note = "all tensors of one call are on one device: bring the others over with `to_device`, first"
)]
pub trait IntoArg<'t, D: Device> {
    /// The argument.
    fn into_arg(self) -> Arg<'t, D>;
}

impl<'t, D: Device> IntoArg<'t, D> for Arg<'t, D> {
    fn into_arg(self) -> Arg<'t, D> {
        self
    }
}

impl<'t, D: Device> IntoArg<'t, D> for &'t Tensor<D> {
    fn into_arg(self) -> Arg<'t, D> {
        Arg(Operand::from(self), PhantomData)
    }
}

impl<'t, D: Device> IntoArg<'t, D> for &'t mut Tensor<D> {
    fn into_arg(self) -> Arg<'t, D> {
        Arg(Operand::from(&*self), PhantomData)
    }
}

impl<'t, D: Device> IntoArg<'t, D> for Option<&'t Tensor<D>> {
    fn into_arg(self) -> Arg<'t, D> {
        Arg(self.map_or(Operand::Absent, Operand::from), PhantomData)
    }
}

macro_rules! from_numbers {
    ($($t:ty)*) => {$(
        impl<'t, D: Device> IntoArg<'t, D> for $t {
            fn into_arg(self) -> Arg<'t, D> { Arg(Operand::from(Scalar::from(self)), PhantomData) }
        }
        impl<D: Device> From<$t> for TensorOrNumber<'_, D> {
            fn from(number: $t) -> Self { TensorOrNumber::Number(number.into()) }
        }
        impl<D: Device> StdOperand<D> for $t {
            #[inline]
            fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> { call(self.into_arg()) }
        }
    )*};
}
from_numbers! {
    bool u8 i8 u16 i16 u32 i32 i64 usize isize f32 f64 Scalar num_complex::Complex32 num_complex::Complex64
}

/// A tensor, or a number in its place.
pub enum TensorOrNumber<'t, D: Device> {
    /// A tensor.
    Tensor(&'t Tensor<D>),
    /// A number.
    Number(Scalar),
}

impl<'t, D: Device> From<&'t Tensor<D>> for TensorOrNumber<'t, D> {
    fn from(tensor: &'t Tensor<D>) -> Self {
        TensorOrNumber::Tensor(tensor)
    }
}

/// A schema type as a Rust type.
pub trait ArgType {
    /// The type of the argument's value in an operator. Varies with the schema type: operands, numbers, lists.
    type Value<'t>;

    /// The value, if the boxed one is of this type.
    fn get(value: &IValue) -> Option<Self::Value<'_>>;

    /// The value for a shorter time.
    fn shorten<'s, 'long: 's>(value: Self::Value<'long>) -> Self::Value<'s>;

    /// The value that an operand is, for types whose values are operands.
    fn from_operand(_operand: Operand<'_>) -> Option<Self::Value<'_>> {
        None
    }
}

macro_rules! shortens {
    () => {
        #[inline(always)]
        fn shorten<'s, 'long: 's>(value: Self::Value<'long>) -> Self::Value<'s> {
            value
        }
    };
}

macro_rules! arg_types {
    ($($(#[$doc:meta])* $name:ident => $value:ty, |$v:ident| $get:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl ArgType for $name {
            type Value<'t> = $value;
            fn get($v: &IValue) -> Option<$value> { $get }
            shortens! {}
        }
    )*};
}
arg_types! {
    /// `Scalar`.
    ScalarArg => Scalar, |v| v.to_scalar();
    /// `int`, `SymInt`.
    IntArg => i64, |v| match v { IValue::Int(i) => Some(*i), _ => None };
    /// `float`; an int is accepted.
    FloatArg => f64, |v| match v { IValue::Float(f) => Some(*f), IValue::Int(i) => Some(*i as f64), _ => None };
    /// `bool`.
    BoolArg => bool, |v| match v { IValue::Bool(b) => Some(*b), _ => None };
    /// `ScalarType`.
    DTypeArg => DType, |v| match v { IValue::DType(d) => Some(*d), _ => None };
    /// `Layout`.
    LayoutArg => Layout, |v| match v { IValue::Layout(l) => Some(*l), _ => None };
    /// `Device`.
    DeviceArg => DeviceId, |v| match v { IValue::Device(d) => Some(*d), _ => None };
    /// `MemoryFormat`.
    MemoryFormatArg => MemoryFormat, |v| match v { IValue::MemoryFormat(m) => Some(*m), _ => None };
}

/// `Tensor`; a number is accepted and becomes a wrapped number.
pub struct TensorArg;
impl ArgType for TensorArg {
    type Value<'t> = Operand<'t>;
    fn get(value: &IValue) -> Option<Operand<'_>> {
        match value {
            IValue::Tensor(t) => Some(Operand::from(&**t)),
            other => other.to_scalar().map(Operand::from),
        }
    }
    shortens! {}
    fn from_operand(operand: Operand<'_>) -> Option<Operand<'_>> {
        Some(operand)
    }
}

/// `Tensor?`.
pub struct OptionalTensorArg;
impl ArgType for OptionalTensorArg {
    type Value<'t> = Operand<'t>;
    fn get(value: &IValue) -> Option<Operand<'_>> {
        match value {
            IValue::None => Some(Operand::Absent),
            other => TensorArg::get(other),
        }
    }
    shortens! {}
    fn from_operand(operand: Operand<'_>) -> Option<Operand<'_>> {
        Some(operand)
    }
}

/// `Tensor[]`.
pub struct TensorsArg;
impl ArgType for TensorsArg {
    type Value<'t> = &'t [AnyTensor];
    fn get(value: &IValue) -> Option<&[AnyTensor]> {
        match value {
            IValue::Tensors(list) => Some(list),
            // An empty list has no type of its own.
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }
    shortens! {}
}

/// The tensors of a `Tensor?[]` argument, some of which may be absent.
#[derive(Clone, Copy, Debug)]
pub enum OptionalTensors<'t> {
    /// None is absent.
    All(&'t [AnyTensor]),
    /// Each is there or not.
    Some(&'t [Option<AnyTensor>]),
}

impl<'t> OptionalTensors<'t> {
    /// How many there are, absent ones included.
    pub fn len(&self) -> usize {
        match self {
            OptionalTensors::All(list) => list.len(),
            OptionalTensors::Some(list) => list.len(),
        }
    }

    /// True if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tensor `i`; `None` if it is absent, or there are not as many.
    pub fn get(&self, i: usize) -> Option<&'t AnyTensor> {
        match self {
            OptionalTensors::All(list) => list.get(i),
            OptionalTensors::Some(list) => list.get(i)?.as_ref(),
        }
    }
}

/// `Tensor?[]`.
pub struct OptionalTensorsArg;
impl ArgType for OptionalTensorsArg {
    type Value<'t> = OptionalTensors<'t>;
    fn get(value: &IValue) -> Option<OptionalTensors<'_>> {
        match value {
            IValue::OptionalTensors(list) => Some(OptionalTensors::Some(list)),
            other => TensorsArg::get(other).map(OptionalTensors::All),
        }
    }
    shortens! {}
}

/// `Generator`.
pub struct GeneratorArg;
impl ArgType for GeneratorArg {
    type Value<'t> = &'t Generator;
    fn get(value: &IValue) -> Option<&Generator> {
        match value {
            IValue::Generator(generator) => Some(generator),
            _ => None,
        }
    }
    shortens! {}
}

/// `str`.
pub struct StrArg;
impl ArgType for StrArg {
    type Value<'t> = &'t str;
    fn get(value: &IValue) -> Option<&str> {
        match value {
            IValue::Str(s) => Some(s),
            _ => None,
        }
    }
    shortens! {}
}

/// `int[]`, `SymInt[]`; `int[N]` also takes a bare int.
pub struct IntsArg;
impl ArgType for IntsArg {
    type Value<'t> = &'t [i64];
    fn get(value: &IValue) -> Option<&[i64]> {
        match value {
            IValue::Ints(list) => Some(list),
            IValue::Int(i) => Some(std::slice::from_ref(i)),
            // An empty list has no type of its own.
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }
    shortens! {}
}

/// `bool[]`; `bool[N]` also takes a bare bool.
pub struct BoolsArg;
impl ArgType for BoolsArg {
    type Value<'t> = &'t [bool];
    fn get(value: &IValue) -> Option<&[bool]> {
        match value {
            IValue::Bools(list) => Some(list),
            IValue::Bool(b) => Some(std::slice::from_ref(b)),
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }
    shortens! {}
}

/// `Storage`.
pub struct StorageArg;
impl ArgType for StorageArg {
    type Value<'t> = &'t Storage;
    fn get(value: &IValue) -> Option<&Storage> {
        match value {
            IValue::Storage(storage) => Some(storage),
            _ => None,
        }
    }
    shortens! {}
}

/// `Scalar[]`.
pub struct ScalarsArg;
impl ArgType for ScalarsArg {
    type Value<'t> = &'t [Scalar];
    fn get(value: &IValue) -> Option<&[Scalar]> {
        match value {
            IValue::Scalars(list) => Some(list),
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }
    shortens! {}
}

/// `float[]`.
pub struct FloatsArg;
impl ArgType for FloatsArg {
    type Value<'t> = &'t [f64];
    fn get(value: &IValue) -> Option<&[f64]> {
        match value {
            IValue::Floats(list) => Some(list),
            IValue::List(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }
    shortens! {}
}

/// `T?`.
pub struct Optional<T>(PhantomData<T>);
impl<T: ArgType> ArgType for Optional<T> {
    type Value<'t> = Option<T::Value<'t>>;
    fn get(value: &IValue) -> Option<Option<T::Value<'_>>> {
        match value {
            IValue::None => Some(None),
            other => T::get(other).map(Some),
        }
    }
    #[inline(always)]
    fn shorten<'s, 'long: 's>(value: Self::Value<'long>) -> Self::Value<'s> {
        value.map(T::shorten)
    }
}
