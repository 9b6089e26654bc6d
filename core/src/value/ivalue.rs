//! Values of the boxed calling convention: what an argument or a result is when its type is known only to the schema.

use super::{Generator, SharedTensor};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{DeviceId, Layout, MemoryFormat};
use crate::storage::Device;
use crate::tensor::{AnyTensor, Storage, Tensor};
use num_complex::Complex64;
use std::fmt;
use std::ops::Deref;

static_assertions::const_assert!(size_of::<IValue>() <= 32);

/// A value of any schema type.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum IValue {
    /// An absent optional, or an undefined tensor.
    #[default]
    None,
    /// `Tensor`. One word, so that values are small to move.
    Tensor(SharedTensor),
    /// `bool`, or a `Scalar` that is one.
    Bool(bool),
    /// `int`, `SymInt`, or a `Scalar` that is one.
    Int(i64),
    /// `float`, or a `Scalar` that is one.
    Float(f64),
    /// `complex`, or a `Scalar` that is one.
    Complex(Complex64),
    /// `str`.
    Str(Box<str>),
    /// `ScalarType`.
    DType(DType),
    /// `Layout`.
    Layout(Layout),
    /// `Device`.
    Device(DeviceId),
    /// `MemoryFormat`.
    MemoryFormat(MemoryFormat),
    /// `Storage`.
    Storage(Storage),
    /// `Generator`.
    Generator(Generator),
    /// `int[]`, `SymInt[]`.
    Ints(Vec<i64>),
    /// `float[]`.
    Floats(Vec<f64>),
    /// `bool[]`.
    Bools(Vec<bool>),
    /// `str[]`.
    Strs(Vec<Box<str>>),
    /// `Scalar[]`.
    Scalars(Vec<Scalar>),
    /// `Tensor[]`.
    Tensors(Vec<AnyTensor>),
    /// `Tensor?[]`.
    OptionalTensors(Vec<Option<AnyTensor>>),
    /// A list of another type.
    List(ItemList),
}

/// A list whose items have no list of their own among the variants of [`IValue`], such as `Device[]`; also the empty
/// list of any type.
///
/// No item is such a list itself. So values are two levels deep at most, and dropping, copying or printing one does not
/// recurse with its contents.
#[derive(Clone, Default)]
pub struct ItemList(Vec<IValue>);

impl ItemList {
    /// The empty list.
    pub const EMPTY: ItemList = ItemList(Vec::new());

    /// The items.
    pub fn into_vec(self) -> Vec<IValue> {
        self.0
    }
}

impl TryFrom<Vec<IValue>> for ItemList {
    type Error = Error;

    /// # Errors
    ///
    /// [`ErrorKind::ArgumentRule`] if an item is such a list itself.
    fn try_from(items: Vec<IValue>) -> Result<ItemList> {
        if items.iter().any(|item| matches!(item, IValue::List(_))) {
            let rule = "a list of values has such a list as an item; accepted are single values and lists of one type";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        Ok(ItemList(items))
    }
}

impl Deref for ItemList {
    type Target = [IValue];
    fn deref(&self) -> &[IValue] {
        &self.0
    }
}

impl fmt::Debug for ItemList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl IValue {
    /// What the value is, in words, for messages.
    pub fn kind_name(&self) -> &'static str {
        match self {
            IValue::None => "None",
            IValue::Tensor(_) => "a Tensor",
            IValue::Bool(_) => "a bool",
            IValue::Int(_) => "an int",
            IValue::Float(_) => "a float",
            IValue::Complex(_) => "a complex",
            IValue::Str(_) => "a str",
            IValue::DType(_) => "a ScalarType",
            IValue::Layout(_) => "a Layout",
            IValue::Device(_) => "a Device",
            IValue::MemoryFormat(_) => "a MemoryFormat",
            IValue::Storage(_) => "a Storage",
            IValue::Generator(_) => "a Generator",
            IValue::Ints(_) => "an int[]",
            IValue::Floats(_) => "a float[]",
            IValue::Bools(_) => "a bool[]",
            IValue::Strs(_) => "a str[]",
            IValue::Scalars(_) => "a Scalar[]",
            IValue::Tensors(_) => "a Tensor[]",
            IValue::OptionalTensors(_) => "a Tensor?[]",
            IValue::List(_) => "a list",
        }
    }

    /// The number, if the value is one.
    pub fn to_scalar(&self) -> Option<Scalar> {
        Some(match self {
            IValue::Bool(b) => Scalar::Bool(*b),
            IValue::Int(i) => Scalar::Int(*i),
            IValue::Float(f) => Scalar::Float(*f),
            IValue::Complex(c) => Scalar::Complex(*c),
            _ => return None,
        })
    }

    /// The tensor, if the value is one.
    pub fn as_tensor(&self) -> Option<&AnyTensor> {
        if let IValue::Tensor(t) = self { Some(t) } else { None }
    }

    /// The tensor to be written, if the value is one.
    pub fn as_tensor_mut(&mut self) -> Option<&mut AnyTensor> {
        if let IValue::Tensor(t) = self { Some(t.make_mut()) } else { None }
    }

    /// The value as a tensor, if it is one.
    pub fn into_tensor(self) -> Option<AnyTensor> {
        if let IValue::Tensor(t) = self { Some(t.into_tensor()) } else { None }
    }

    /// Every tensor in the value.
    pub fn tensors(&self) -> impl Iterator<Item = &AnyTensor> {
        let (one, many, some) = match self {
            IValue::Tensor(t) => (Some(&**t), &[][..], &[][..]),
            IValue::Tensors(ts) => (None, &ts[..], &[][..]),
            IValue::OptionalTensors(ts) => (None, &[][..], &ts[..]),
            _ => (None, &[][..], &[][..]),
        };
        one.into_iter().chain(many).chain(some.iter().flatten())
    }
}

impl From<Scalar> for IValue {
    fn from(s: Scalar) -> IValue {
        match s {
            Scalar::Bool(b) => IValue::Bool(b),
            Scalar::Int(i) => IValue::Int(i),
            Scalar::Float(f) => IValue::Float(f),
            Scalar::Complex(c) => IValue::Complex(c),
        }
    }
}

macro_rules! from_value {
    ($($t:ty => $variant:ident;)*) => {$(
        impl From<$t> for IValue {
            fn from(value: $t) -> IValue { IValue::$variant(value.into()) }
        }
    )*};
}
from_value! {
    AnyTensor => Tensor;
    SharedTensor => Tensor;
    bool => Bool;
    i64 => Int;
    f64 => Float;
    &str => Str;
    DType => DType;
    Layout => Layout;
    DeviceId => Device;
    MemoryFormat => MemoryFormat;
    Storage => Storage;
    Generator => Generator;
    Vec<i64> => Ints;
    Vec<AnyTensor> => Tensors;
}

impl<D: Device> From<Tensor<D>> for IValue {
    fn from(t: Tensor<D>) -> IValue {
        IValue::Tensor(t.into_any().into())
    }
}

impl<T: Into<IValue>> From<Option<T>> for IValue {
    fn from(value: Option<T>) -> IValue {
        value.map_or(IValue::None, Into::into)
    }
}
