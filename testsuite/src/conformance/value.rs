//! The values of a case: tensors, numbers, lists, dtypes, as the recorded files write them. Owns their types and their
//! reading from JSON; whether a tensor fits its storage is `case.rs`'s question.

use monomorph_core::DType;
use serde_json::Value as Json;

use super::json::{self, At, Fit, Unfit, get, get_if, list};

/// A number with the type it had in the call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Real and imaginary part.
    Complex(f64, f64),
}

/// Whether an output is an argument or only shares its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasKind {
    /// It is that very tensor (in-place and out= calls).
    Same,
    /// It is another tensor over the argument's storage.
    View,
}

/// The memory that an output shares with an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The argument, `self` or, in a list, `tensors[1]`.
    pub arg: String,
    /// How it shares.
    pub kind: AliasKind,
}

/// A tensor: its storage by name and its geometry. Strides and offset count elements of `dtype`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// The storage's name, `None` where only the metadata is part of the contract.
    pub storage: Option<String>,
    /// The element type.
    pub dtype: DType,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// The stride of each dimension.
    pub strides: Vec<isize>,
    /// The first element's place in the storage.
    pub offset: usize,
    /// The conjugate bit: values are the conjugates of what the storage holds.
    pub conj: bool,
    /// The negative bit: values are the negatives of what the storage holds.
    pub neg: bool,
    /// The argument whose memory this result shares; `None` means new memory. Always `None` for arguments.
    pub alias: Option<Alias>,
}

impl TensorSpec {
    /// How many elements the sizes make, `None` if that overflows.
    pub fn numel(&self) -> Option<usize> {
        self.sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size))
    }

    /// How many bytes a storage must hold for this tensor, `None` if an element lies before its start or the arithmetic
    /// overflows. A tensor without elements needs none, wherever its offset points.
    pub fn bytes_needed(&self) -> Option<usize> {
        extent(&self.sizes, &self.strides, self.offset).and_then(|end| end.checked_mul(self.dtype.size()))
    }
}

/// The elements up to and including the last one that `sizes` and `strides` reach from `offset`.
pub(super) fn extent(sizes: &[usize], strides: &[isize], offset: usize) -> Option<usize> {
    if sizes.len() != strides.len() {
        return None;
    }
    if sizes.contains(&0) {
        return Some(0);
    }
    let (mut low, mut high) = (isize::try_from(offset).ok()?, isize::try_from(offset).ok()?);
    for (&size, &stride) in sizes.iter().zip(strides) {
        let reach = isize::try_from(size - 1).ok()?.checked_mul(stride)?;
        if reach < 0 {
            low = low.checked_add(reach)?;
        } else {
            high = high.checked_add(reach)?;
        }
    }
    if low < 0 { None } else { usize::try_from(high).ok()?.checked_add(1) }
}

/// How the elements of a new tensor are to be laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryFormat {
    /// Row-major.
    Contiguous,
    /// As the input's.
    Preserve,
    /// NHWC.
    ChannelsLast,
    /// NDHWC.
    ChannelsLast3d,
}

/// One argument or result. The variants are the keys of the format.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `Tensor`.
    Tensor(TensorSpec),
    /// `Tensor[]`.
    Tensors(Vec<TensorSpec>),
    /// `Tensor?[]`.
    OptionalTensors(Vec<Option<TensorSpec>>),
    /// A plain number in the place of a `Tensor`: 0-dim, lowest priority in type promotion.
    WrappedNumber(Number),
    /// `Scalar`.
    Scalar(Number),
    /// `Scalar[]`.
    Scalars(Vec<Number>),
    /// `int` or `SymInt`.
    Int(i64),
    /// `bool`.
    Bool(bool),
    /// `str`.
    Str(String),
    /// `float`.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// `int[]`.
    Ints(Vec<i64>),
    /// `bool[]`.
    Bools(Vec<bool>),
    /// `float[]`.
    Floats(Vec<f64>),
    /// `str[]`.
    Strs(Vec<String>),
    /// `ScalarType`.
    DType(DType),
    /// `Layout`, by name.
    Layout(String),
    /// `Device`, by name.
    Device(String),
    /// `MemoryFormat`.
    MemoryFormat(MemoryFormat),
    /// An absent optional, an undefined tensor.
    None,
    /// Results only: any other list.
    List(Vec<Value>),
}

impl Value {
    /// The format's key for this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Tensor(_) => "tensor",
            Value::Tensors(_) => "tensors",
            Value::OptionalTensors(_) => "optional_tensors",
            Value::WrappedNumber(_) => "wrapped_number",
            Value::Scalar(_) => "scalar",
            Value::Scalars(_) => "scalars",
            Value::Int(_) => "int",
            Value::Bool(_) => "bool",
            Value::Str(_) => "str",
            Value::Float(_) => "float",
            Value::Complex(..) => "complex",
            Value::Ints(_) => "ints",
            Value::Bools(_) => "bools",
            Value::Floats(_) => "floats",
            Value::Strs(_) => "strs",
            Value::DType(_) => "dtype",
            Value::Layout(_) => "layout",
            Value::Device(_) => "device",
            Value::MemoryFormat(_) => "memory_format",
            Value::None => "none",
            Value::List(_) => "list",
        }
    }

    /// Every tensor in the value with its path below `name`: `self` alone, `tensors[1]` in a list.
    pub fn tensors(&self, name: &str) -> Vec<(String, &TensorSpec)> {
        match self {
            Value::Tensor(spec) => vec![(name.to_owned(), spec)],
            Value::Tensors(specs) => specs.iter().enumerate().map(|(i, spec)| (format!("{name}[{i}]"), spec)).collect(),
            Value::OptionalTensors(specs) => specs
                .iter()
                .enumerate()
                .filter_map(|(i, spec)| spec.as_ref().map(|spec| (format!("{name}[{i}]"), spec)))
                .collect(),
            Value::List(values) => {
                values.iter().enumerate().flat_map(|(i, value)| value.tensors(&format!("{name}[{i}]"))).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn read(json: &Json) -> Fit<Value> {
        let (key, inner) = single(json)?;
        let value = match key {
            "tensor" => TensorSpec::read(inner).map(Value::Tensor),
            "tensors" => list(inner, TensorSpec::read).map(Value::Tensors),
            "optional_tensors" => {
                list(inner, |item| if item.is_null() { Ok(None) } else { TensorSpec::read(item).map(Some) })
                    .map(Value::OptionalTensors)
            }
            "wrapped_number" => Number::read(inner).map(Value::WrappedNumber),
            "scalar" => Number::read(inner).map(Value::Scalar),
            "scalars" => list(inner, Number::read).map(Value::Scalars),
            "int" => json::int(inner).map(Value::Int),
            "bool" => json::boolean(inner).map(Value::Bool),
            "str" => json::string(inner).map(|text| Value::Str(text.to_owned())),
            "float" => json::float(inner).map(Value::Float),
            "complex" => complex(inner).map(|(re, im)| Value::Complex(re, im)),
            "ints" => list(inner, json::int).map(Value::Ints),
            "bools" => list(inner, json::boolean).map(Value::Bools),
            "floats" => list(inner, json::float).map(Value::Floats),
            "strs" => list(inner, |item| json::string(item).map(str::to_owned)).map(Value::Strs),
            "dtype" => dtype(inner).map(Value::DType),
            "layout" => json::string(inner).map(|text| Value::Layout(text.to_owned())),
            "device" => json::string(inner).map(|text| Value::Device(text.to_owned())),
            "memory_format" => memory_format(inner).map(Value::MemoryFormat),
            "none" => Ok(Value::None),
            "list" => list(inner, Value::read).map(Value::List),
            _ => Err(Unfit::new(json, VALUE)),
        };
        value.at(key)
    }
}

const VALUE: &str = "an object with one key of tensor, tensors, optional_tensors, wrapped_number, scalar, scalars, \
     int, bool, str, float, complex, ints, bools, floats, strs, dtype, layout, device, memory_format, none, list";

const NUMBER: &str = "an object with one key of int, float, bool, complex";

/// The one key of an object and what is under it.
fn single(json: &Json) -> Fit<(&str, &Json)> {
    let mut entries = json.as_object().ok_or_else(|| Unfit::new(json, VALUE))?.iter();
    match (entries.next(), entries.next()) {
        (Some((key, inner)), None) => Ok((key, inner)),
        _ => Err(Unfit::new(json, VALUE)),
    }
}

fn complex(json: &Json) -> Fit<(f64, f64)> {
    match list(json, json::float)?[..] {
        [re, im] => Ok((re, im)),
        _ => Err(Unfit::new(json, "two floats: real, imaginary")),
    }
}

fn dtype(json: &Json) -> Fit<DType> {
    let accepted = "bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128";
    json.as_str().and_then(DType::from_name).ok_or_else(|| Unfit::new(json, accepted))
}

fn memory_format(json: &Json) -> Fit<MemoryFormat> {
    match json.as_str() {
        Some("contiguous_format") => Ok(MemoryFormat::Contiguous),
        Some("preserve_format") => Ok(MemoryFormat::Preserve),
        Some("channels_last") => Ok(MemoryFormat::ChannelsLast),
        Some("channels_last_3d") => Ok(MemoryFormat::ChannelsLast3d),
        _ => Err(Unfit::new(json, "contiguous_format, preserve_format, channels_last, channels_last_3d")),
    }
}

impl Number {
    fn read(json: &Json) -> Fit<Number> {
        let (key, inner) = single(json).map_err(|_| Unfit::new(json, NUMBER))?;
        let number = match key {
            "int" => json::int(inner).map(Number::Int),
            "float" => json::float(inner).map(Number::Float),
            "bool" => json::boolean(inner).map(Number::Bool),
            "complex" => complex(inner).map(|(re, im)| Number::Complex(re, im)),
            _ => Err(Unfit::new(json, NUMBER)),
        };
        number.at(key)
    }
}

impl TensorSpec {
    pub(super) fn read(json: &Json) -> Fit<TensorSpec> {
        let object = json::object(json)?;
        const KEYS: [&str; 8] = ["storage", "dtype", "sizes", "strides", "offset", "conj", "neg", "alias"];
        json::only(object, &KEYS, "storage, dtype, sizes, strides, offset, conj, neg, alias")?;
        let name = |json| if Json::is_null(json) { Ok(None) } else { json::string(json).map(|s| Some(s.to_owned())) };
        let spec = TensorSpec {
            storage: get(object, "storage", "a storage's name or null", name)?,
            dtype: get(object, "dtype", "a dtype's name", dtype)?,
            sizes: get(object, "sizes", "an array", |json| list(json, json::length))?,
            strides: get(object, "strides", "an array", |json| list(json, json::stride))?,
            offset: get(object, "offset", "an integer of at least 0", json::length)?,
            conj: get_if(object, "conj", json::boolean)?.unwrap_or(false),
            neg: get_if(object, "neg", json::boolean)?.unwrap_or(false),
            alias: get_if(object, "alias", Alias::read)?,
        };
        if spec.sizes.len() != spec.strides.len() {
            return Err(Unfit::new(json, "as many strides as sizes"));
        }
        Ok(spec)
    }
}

impl Alias {
    fn read(json: &Json) -> Fit<Alias> {
        let object = json::object(json)?;
        json::only(object, &["arg", "kind"], "arg, kind")?;
        let kind = |json: &Json| match json.as_str() {
            Some("same") => Ok(AliasKind::Same),
            Some("view") => Ok(AliasKind::View),
            _ => Err(Unfit::new(json, "same, view")),
        };
        Ok(Alias {
            arg: get(object, "arg", "an argument's name", json::string)?.to_owned(),
            kind: get(object, "kind", "same, view", kind)?,
        })
    }
}
