//! Questions about tensors: dtype, sizes, strides, place in the storage, promotion. Owns what looks at no element; what
//! does is in `equality.rs`. Called by name; in Rust these are methods of a tensor and functions of a dtype.

use super::{operand, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::structured::Operand;
use monomorph_core::{
    AnyTensor, Category, DType, ErrorKind, IValue, MemoryFormat, Result, ResultType, Scalar, list, strides,
};

type Asked<'a, 'c> = &'a Calls<'c>;

/// `is_floating_point`.
pub fn is_floating_point(_: Asked<'_, '_>, this: &IValue) -> Result<bool> {
    Ok(tensor(this, "self")?.dtype().is_floating())
}

/// `is_complex`.
pub fn is_complex(_: Asked<'_, '_>, this: &IValue) -> Result<bool> {
    Ok(tensor(this, "self")?.dtype().is_complex())
}

/// `is_conj`: whether the elements are the conjugates of those in memory.
pub fn is_conj(_: Asked<'_, '_>, this: &IValue) -> Result<bool> {
    Ok(tensor(this, "self")?.is_conj())
}

/// `is_neg`: whether the elements are the negatives of those in memory.
pub fn is_neg(_: Asked<'_, '_>, this: &IValue) -> Result<bool> {
    Ok(tensor(this, "self")?.is_neg())
}

/// `is_signed`: whether the dtype has numbers below zero.
pub fn is_signed(_: Asked<'_, '_>, this: &IValue) -> Result<bool> {
    Ok(!matches!(tensor(this, "self")?.dtype(), DType::U8 | DType::Bool))
}

/// `is_same_size`.
pub fn is_same_size(_: Asked<'_, '_>, this: &IValue, other: &IValue) -> Result<bool> {
    Ok(tensor(this, "self")?.sizes() == tensor(other, "other")?.sizes())
}

/// `is_set_to`: whether both are the same part of the same storage.
pub fn is_set_to(_: Asked<'_, '_>, this: &IValue, other: &IValue) -> Result<bool> {
    let (a, b) = (tensor(this, "self")?, tensor(other, "tensor")?);
    let place = |t: &AnyTensor| (t.storage_id(), t.offset());
    Ok(place(a) == place(b) && (a.sizes(), a.strides()) == (b.sizes(), b.strides()))
}

/// `is_contiguous`.
pub fn is_contiguous(_: Asked<'_, '_>, this: &IValue) -> Result<bool> {
    Ok(tensor(this, "self")?.is_contiguous())
}

/// `sym_is_contiguous`, `is_contiguous.memory_format`: whether the elements lie in memory in this format.
pub fn is_contiguous_in(_: Asked<'_, '_>, this: &IValue, format: MemoryFormat) -> Result<bool> {
    let t = tensor(this, "self")?;
    Ok(match format {
        MemoryFormat::Contiguous | MemoryFormat::Preserve => t.is_contiguous(),
        format => strides::is_channels_last(t.sizes(), t.strides(), format),
    })
}

/// `numel`.
pub fn numel(_: Asked<'_, '_>, this: &IValue) -> Result<i64> {
    Ok(tensor(this, "self")?.numel() as i64)
}

/// `dim`: how many dimensions there are.
pub fn dim(_: Asked<'_, '_>, this: &IValue) -> Result<i64> {
    Ok(tensor(this, "self")?.ndim() as i64)
}

/// `storage_offset`.
pub fn storage_offset(_: Asked<'_, '_>, this: &IValue) -> Result<i64> {
    Ok(tensor(this, "self")?.offset())
}

/// `size.int`.
pub fn size(_: Asked<'_, '_>, this: &IValue, dim: i64) -> Result<i64> {
    let t = tensor(this, "self")?;
    Ok(t.sizes()[dimension(t, dim)?])
}

/// `stride.int`.
pub fn stride(_: Asked<'_, '_>, this: &IValue, dim: i64) -> Result<i64> {
    let t = tensor(this, "self")?;
    Ok(t.strides()[dimension(t, dim)?])
}

/// A dimension that the tensor has.
fn dimension(t: &AnyTensor, dim: i64) -> Result<usize> {
    match t.ndim() {
        0 => Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into()),
        ndim => strides::wrap_dim(dim, ndim, "dim"),
    }
}

/// `_shape_as_tensor`: the sizes as an int64 tensor on the CPU.
pub fn shape_as_tensor(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    // The default device is the CPU; named, it would be that of tensors on it.
    let sizes = tensor(this, "self")?.sizes();
    let options = || [DType::I64.into(), IValue::None, IValue::None, IValue::None];
    if sizes.is_empty() {
        let [dtype, layout, device, pin_memory] = options();
        let size = IValue::Ints(vec![0]);
        return calls.tensor("empty.memory_format", [size, dtype, layout, device, pin_memory, IValue::None]);
    }
    let one = |size: i64| {
        let [dtype, layout, device, pin_memory] = options();
        calls.tensor("full", [IValue::Ints(vec![1]), size.into(), dtype, layout, device, pin_memory])
    };
    let mut all = list::with_capacity(sizes.len())?;
    for &size in sizes {
        all.push(one(size)?);
    }
    calls.tensor("cat", [IValue::Tensors(all), 0.into()])
}

/// What operands of these dtypes and categories promote to.
pub(super) fn promoted<const N: usize>(operands: [Operand<'_>; N]) -> Result<DType> {
    let mut types = ResultType::default();
    for operand in operands {
        let category = match operand.sizes() {
            _ if operand.is_wrapped() => Category::Number,
            [] => Category::ZeroDim,
            _ => Category::Dimensioned,
        };
        if let Some(dtype) = operand.dtype() {
            types.push(dtype, category);
        }
    }
    types.dtype().ok_or_else(|| ErrorKind::EmptyInput.into())
}

/// `result_type.Tensor`.
pub fn result_type(_: Asked<'_, '_>, one: &IValue, other: &IValue) -> Result<DType> {
    promoted([operand(one), operand(other)])
}

/// `result_type.Scalar`.
pub fn result_type_with_number(_: Asked<'_, '_>, one: &IValue, other: Scalar) -> Result<DType> {
    promoted([operand(one), Operand::from(other)])
}

/// `result_type.Scalar_Tensor`.
pub fn result_type_of_number(_: Asked<'_, '_>, number: Scalar, other: &IValue) -> Result<DType> {
    promoted([Operand::from(number), operand(other)])
}

/// `result_type.Scalar_Scalar`.
pub fn result_type_of_numbers(_: Asked<'_, '_>, one: Scalar, other: Scalar) -> Result<DType> {
    promoted([Operand::from(one), Operand::from(other)])
}

/// `can_cast`.
pub fn can_cast(_: Asked<'_, '_>, from: DType, to: DType) -> Result<bool> {
    Ok(from.can_cast(to))
}

/// `promote_types`.
pub fn promote_types(_: Asked<'_, '_>, one: DType, other: DType) -> Result<DType> {
    Ok(one.promote(other))
}

/// Functions `_cast_*`: conversions to one dtype.
macro_rules! casts {
    ($($name:ident $dtype:ident;)*) => {$(
        #[doc = concat!("The tensor in the dtype ", stringify!($dtype), "; itself if it has it.")]
        pub fn $name(calls: &Calls<'_>, this: &IValue, _non_blocking: bool) -> Result<AnyTensor> {
            match super::in_dtype(calls, this, DType::$dtype)? {
                IValue::Tensor(t) => Ok(t.into_tensor()),
                number => tensor(&number, "self").cloned(),
            }
        }
    )*};
}
casts! { cast_u8 U8; cast_i8 I8; cast_f64 F64; cast_f32 F32; cast_i32 I32; cast_i64 I64; cast_i16 I16; cast_f16 F16; }

native! {
    family: Queries, functions: crate::fill::Fills;

    func: is_floating_point(Tensor self) -> bool, composite: implicit is_floating_point;
    func: is_complex(Tensor self) -> bool, composite: implicit is_complex;
    func: is_conj(Tensor self) -> bool, composite: implicit is_conj;
    func: is_neg(Tensor self) -> bool, composite: implicit is_neg;
    func: is_signed(Tensor self) -> bool, composite: implicit is_signed;
    func: is_same_size(Tensor self, Tensor other) -> bool, composite: explicit is_same_size;
    func: is_set_to(Tensor self, Tensor tensor) -> bool, composite: explicit is_set_to;
    func: is_contiguous(Tensor self) -> bool, composite: implicit is_contiguous;
    func: is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool,
    composite: implicit is_contiguous_in;
    func: sym_is_contiguous(Tensor self, MemoryFormat memory_format=contiguous_format) -> SymBool,
    composite: implicit is_contiguous_in;
    func: numel(Tensor self) -> int, composite: implicit numel;
    func: sym_numel(Tensor self) -> SymInt, composite: implicit numel;
    func: dim(Tensor self) -> int, composite: implicit dim;
    func: storage_offset(Tensor self) -> int, composite: implicit storage_offset;
    func: sym_storage_offset(Tensor self) -> SymInt, composite: implicit storage_offset;
    func: size.int(Tensor self, int dim) -> int, composite: implicit size;
    func: sym_size.int(Tensor self, int dim) -> SymInt, composite: implicit size;
    func: stride.int(Tensor self, int dim) -> int, composite: implicit stride;
    func: sym_stride.int(Tensor self, int dim) -> SymInt, composite: implicit stride;
    func: _shape_as_tensor(Tensor self) -> Tensor, composite: implicit shape_as_tensor;

    func: result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType, composite: implicit result_type;
    func: result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType, composite: implicit result_type_with_number;
    func: result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType,
    composite: implicit result_type_of_number;
    func: result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType,
    composite: implicit result_type_of_numbers;
    func: can_cast(ScalarType from_, ScalarType to) -> bool, composite: implicit can_cast;
    func: promote_types(ScalarType type1, ScalarType type2) -> ScalarType, composite: implicit promote_types;

    func: _cast_Byte(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_u8, silent_view: true;
    func: _cast_Char(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_i8, silent_view: true;
    func: _cast_Double(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_f64, silent_view: true;
    func: _cast_Float(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_f32, silent_view: true;
    func: _cast_Int(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_i32, silent_view: true;
    func: _cast_Long(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_i64, silent_view: true;
    func: _cast_Short(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_i16, silent_view: true;
    func: _cast_Half(Tensor self, bool non_blocking=False) -> Tensor,
    composite: implicit cast_f16, silent_view: true;
}
