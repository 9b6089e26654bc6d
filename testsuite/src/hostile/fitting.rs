//! Arguments with which an overload returns: what hostile arguments are made from, one change at a time, so that every
//! operator is attacked behind its first checks. Owns what suits which operator; changes nothing.

use super::{
    fitting_convolutions, fitting_draws, fitting_folds, fitting_fourier, fitting_indexing, fitting_linalg,
    fitting_order, fitting_products, fitting_quantized, fitting_rearranged, fitting_rows, fitting_sequences,
    fitting_windows,
};
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::crates::core::with_element;
use monomorph::{AnyTensor, Cpu, DType, DeviceId, IValue, MemoryFormat, Scalar, Stack, Tensor};
use monomorph_core::Element;

/// A tensor of 1, 2, 3, ...
pub(super) fn ramp(dtype: DType, sizes: &[i64]) -> AnyTensor {
    let numel = sizes.iter().product::<i64>();
    with_element!(dtype, E => {
        let data: Vec<E> = (1..=numel).map(|i| E::from_scalar(Scalar::Int(i))).collect();
        Tensor::<Cpu>::from_slice(&data, sizes).unwrap().into_any()
    })
}

/// Operators of complex tensors only.
const COMPLEX: [&str; 5] = ["_conj", "_conj_copy", "imag", "view_as_real", "view_as_real_copy"];

/// Operators whose output must be bool.
const TRUTH: [&str; 5] = ["signbit", "isnan", "isinf", "isposinf", "isneginf"];

/// A value that suits the argument, so that the call with all of them returns.
fn fitting(schema: &Schema, arg: &Argument) -> IValue {
    let own = [
        fitting_windows::fitting,
        fitting_rearranged::fitting,
        fitting_indexing::fitting,
        fitting_folds::fitting,
        fitting_fourier::fitting,
        fitting_linalg::fitting,
        fitting_order::fitting,
        fitting_products::fitting,
        fitting_quantized::fitting,
        fitting_rows::fitting,
        fitting_sequences::fitting,
        fitting_convolutions::fitting,
        fitting_draws::fitting,
    ];
    if let Some(value) = own.iter().find_map(|fitting| fitting(schema, arg)) {
        return value;
    }
    let bits = ["bitwise", "__", "gcd", "lcm"].iter().any(|start| schema.name().starts_with(start));
    let needed = schema.name().starts_with("cl") && arg.name() == "min" || arg.name() == "output_size";
    if arg.ty().is_optional() && !needed {
        return IValue::None;
    }
    match (arg.ty().base(), arg.ty().is_list()) {
        (Base::Tensor, true) => {
            // One part of two columns, or one column each.
            let parts = if schema.name().contains("with_sizes") { 1 } else { 2 };
            IValue::Tensors((0..parts).map(|_| ramp(DType::F32, &[3, 1])).collect())
        }
        (Base::Tensor, false) => IValue::from(match arg.name() {
            "self" if COMPLEX.contains(&schema.name()) => ramp(DType::C64, &[3, 2]),
            "out" if matches!(schema.name(), "_conj_copy" | "view_as_complex_copy" | "complex" | "polar") => {
                ramp(DType::C64, &[3])
            }
            "self" | "vec2" if matches!(schema.name(), "outer" | "ger") => ramp(DType::F32, &[3]),
            "self" if schema.name() == "dsplit" => ramp(DType::F32, &[3, 2, 1]),
            "tensor_indices_or_sections" => ramp(DType::I64, &[1]),
            "condition" | "mask" => ramp(DType::Bool, &[3, 2]),
            // Two ends of an interval, and the part that a scatter replaces.
            "start" | "end" if schema.name().ends_with("space") => ramp(DType::F32, &[]),
            "out" if matches!(schema.name(), "tril_indices" | "triu_indices") => ramp(DType::I64, &[3, 2]),
            "src" if schema.name() == "select_scatter" => ramp(DType::F32, &[3]),
            "src" if schema.name() == "slice_scatter" => ramp(DType::F32, &[3, 2]),
            "src" if schema.name() == "diagonal_scatter" => ramp(DType::F32, &[2]),
            "start" => Tensor::<Cpu>::from_slice(&[1i64], ()).unwrap().into_any(),
            "value" => Tensor::<Cpu>::from_slice(&[2.5f32], ()).unwrap().into_any(),
            "out" if ["eq", "lt", "logical_not", "any"].contains(&schema.name()) || TRUTH.contains(&schema.name()) => {
                ramp(DType::Bool, &[3, 2])
            }
            "exponent" if schema.name() == "frexp" => ramp(DType::I32, &[3, 2]),
            "out" if schema.name() == "float_power" => ramp(DType::F64, &[3, 2]),
            "self" if schema.name() == "float_power_" => ramp(DType::F64, &[3, 2]),
            "grad_output" if schema.name() == "glu_backward" => ramp(DType::F32, &[3, 1]),
            "exponent" if schema.name() == "frexp" => ramp(DType::I32, &[3, 2]),
            "weight" if schema.name() == "prelu" => ramp(DType::F32, &[1]),
            "out" if schema.name() == "argmax" => ramp(DType::I64, &[3, 2]),
            "self" | "input" if schema.name().starts_with("upsample") => ramp(DType::F32, &[1, 3, 2]),
            _ => ramp(if bits { DType::I32 } else { DType::F32 }, &[3, 2]),
        }),
        (Base::Scalar, false) => IValue::Int(2),
        (Base::Scalar, true) => IValue::Scalars(vec![Scalar::Int(2), Scalar::Float(0.5)]),
        (Base::Int | Base::SymInt, false) => IValue::Int(i64::from(arg.name() != "dim2")),
        (Base::Int | Base::SymInt, true) => IValue::Ints(match arg.name() {
            "size" | "shape" => vec![3, 2],
            "stride" => vec![1, 3],
            "dims" | "physical_layout" => vec![1, 0],
            "sizes" | "split_size" | "split_sizes" => vec![2],
            _ => vec![1],
        }),
        (Base::Float, false) => IValue::Float(2.0),
        (Base::Storage, false) => IValue::Storage(ramp(DType::F32, &[3, 2]).storage()),
        (Base::Bool, false) => IValue::Bool(false),
        (Base::ScalarType, false) => IValue::DType(DType::F32),
        (Base::Device, false) => IValue::Device(DeviceId::CPU),
        (Base::Str, false) => IValue::Str("none".into()),
        (Base::MemoryFormat, false) => IValue::MemoryFormat(MemoryFormat::Contiguous),
        (base, list) => panic!("{schema}: no value for {base:?}, list: {list}"),
    }
}

/// Arguments with which the overload returns.
pub fn fitting_stack(schema: &Schema) -> Stack {
    schema.args().map(|arg| fitting(schema, arg)).collect()
}
