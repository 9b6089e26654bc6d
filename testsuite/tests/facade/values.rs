//! Boxed values by schema type: ones that fit, random ones, one of every kind, extreme ones. And what a call must not change.

use monomorph::core::schema::{Argument, Base, Schema};
use monomorph::core::{Layout as StridedLayout, with_element};
use monomorph::{
    AnyTensor, Complex64, Cpu, DType, DeviceId, Geometry, IValue, MemoryFormat, Meta, Scalar, Stack, Tensor,
};
use monomorph_core::Element;
use monomorph_testsuite::layout::{Random, tensor};

fn ramp(dtype: DType, sizes: &[i64]) -> AnyTensor {
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
            "start" => Tensor::<Cpu>::from_slice(&[1i64], &[]).unwrap().into_any(),
            "value" => Tensor::<Cpu>::from_slice(&[2.5f32], &[]).unwrap().into_any(),
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
pub(crate) fn fitting_stack(schema: &Schema) -> Stack {
    schema.args().map(|arg| fitting(schema, arg)).collect()
}

/// One value of every kind.
pub(crate) fn every_kind() -> Vec<IValue> {
    vec![
        IValue::None,
        IValue::from(ramp(DType::F64, &[2])),
        IValue::from(Tensor::<Meta>::zeros_contiguous(DType::C64, &[2, 2]).unwrap().into_any()),
        IValue::Bool(true),
        IValue::Int(-3),
        IValue::Float(0.5),
        IValue::Complex(Complex64::new(1.0, -1.0)),
        IValue::Str("trunc".into()),
        IValue::Str("a mode that nobody has".into()),
        IValue::DType(DType::BF16),
        IValue::Layout(StridedLayout::Strided),
        IValue::Device(DeviceId::META),
        IValue::MemoryFormat(MemoryFormat::ChannelsLast),
        IValue::MemoryFormat(MemoryFormat::Preserve),
        IValue::Storage(ramp(DType::F32, &[2]).storage()),
        IValue::Ints(vec![2, -1]),
        IValue::Floats(vec![0.5]),
        IValue::Bools(vec![true]),
        IValue::Strs(vec!["x".into()]),
        IValue::Scalars(vec![Scalar::Int(1)]),
        IValue::Tensors(vec![ramp(DType::F32, &[2])]),
        IValue::OptionalTensors(vec![None]),
        IValue::List(vec![IValue::Int(1)].try_into().expect("no list in it")),
    ]
}

/// Values of the argument's own type at the edges of it. None makes an allocation that a machine could grant but not hold.
pub(crate) fn extremes(arg: &Argument) -> Vec<IValue> {
    const INTS: [i64; 9] = [i64::MIN, i64::MIN + 1, -1 << 60, -1, 0, 1 << 60, i64::MAX - 1, i64::MAX, i64::MAX / 2 + 1];
    match (arg.ty().base(), arg.ty().is_list()) {
        (Base::Int | Base::SymInt, false) => INTS.map(IValue::Int).to_vec(),
        (Base::Int | Base::SymInt, true) => {
            let one = INTS.map(|i| vec![i]).to_vec();
            let two = INTS.into_iter().flat_map(|i| [vec![i, 2], vec![3, i], vec![i, i], vec![0, i], vec![i, 0]]);
            let long = [vec![], vec![1; 70], vec![0; 65], vec![i64::MAX; 65], vec![2; 64], vec![1, 3, 1, 2, 1, 1, 1]];
            one.into_iter().chain(two).chain(long).map(IValue::Ints).collect()
        }
        (Base::Scalar, _) => INTS
            .map(IValue::Int)
            .into_iter()
            .chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -0.0, 1e-320].map(IValue::Float))
            .chain([IValue::Bool(true), IValue::Complex(Complex64::new(f64::NAN, f64::INFINITY))])
            .collect(),
        _ => Vec::new(),
    }
}

/// A value as far as a failed call must leave it alone; `bytes` says whether its memory counts, too.
pub(crate) fn describe(value: &IValue, bytes: bool) -> String {
    let mut text = value.kind_name().to_owned();
    for t in value.tensors() {
        text += &format!(" {:?} in {}", t.geometry(), t.storage_id());
        if bytes {
            text += &format!(" version {} {:?}", t.version(), t.storage_to_vec().ok());
        }
    }
    if value.tensors().next().is_none() {
        text += &format!(" {value:?}");
    }
    text
}

/// A tensor of any dtype and any geometry over random bytes.
pub(crate) fn random_tensor(random: &mut Random) -> AnyTensor {
    let dtype = random.pick(&DType::ALL);
    let ndim = random.below(5);
    let sizes: Vec<i64> = (0..ndim).map(|_| random.pick(&[0, 1, 1, 2, 2, 3, 4])).collect();
    let strides: Vec<i64> = sizes.iter().map(|_| random.pick(&[0, 1, 1, 2, 3, 4, 6, 12])).collect();
    let strides = if random.one_in(2) { monomorph_core::strides::contiguous_strides(&sizes).to_vec() } else { strides };
    let geometry = Geometry::new(dtype, &sizes, &strides, random.below(3) as i64).unwrap();
    let geometry = geometry.with_conj(random.one_in(4)).with_neg(random.one_in(6) && dtype != DType::Bool);
    let bytes = geometry.bytes_needed().unwrap();
    if random.one_in(12) {
        let whole = Tensor::<Meta>::zeroed(DType::U8, &[bytes as i64], &[1], 0).unwrap();
        return whole.view_as(geometry).unwrap().into_any();
    }
    if random.one_in(2) {
        let values: Vec<Scalar> = (0..7).map(|_| Scalar::Int(random.below(4) as i64)).collect();
        return tensor(geometry, &values).into_any();
    }
    let raw: Vec<u8> = (0..bytes + random.below(9)).map(|_| random.below(256) as u8).collect();
    Tensor::<Cpu>::from_storage(&raw, geometry).unwrap().into_any()
}

/// A value for the argument: mostly of its type, tensors from the pool.
pub(crate) fn random_value(arg: &Argument, pool: &[AnyTensor], random: &mut Random) -> IValue {
    if random.one_in(60) {
        return random.pick(&every_kind());
    }
    if random.one_in(12)
        && let values @ [_, ..] = &extremes(arg)[..]
    {
        return random.pick(values);
    }
    if arg.ty().is_optional() && random.one_in(2) {
        return IValue::None;
    }
    let int = |random: &mut Random| random.below(7) as i64 - 2;
    match (arg.ty().base(), arg.ty().is_list()) {
        (Base::Tensor, false) if !random.one_in(15) || arg.is_mutable() => IValue::from(random.pick(pool)),
        (Base::Tensor | Base::Scalar, false) => match random.below(4) {
            0 => IValue::Bool(random.one_in(2)),
            1 => IValue::Int(int(random)),
            2 => IValue::Float(random.pick(&[0.0, 0.5, -1.5, 3.0, f64::NAN])),
            _ => IValue::Complex(Complex64::new(0.5, 2.0)),
        },
        (Base::Tensor, true) => IValue::Tensors((0..random.below(3)).map(|_| random.pick(pool)).collect()),
        (Base::Int | Base::SymInt, false) => IValue::Int(int(random)),
        (Base::Int | Base::SymInt, true) => {
            let n = random.below(5);
            IValue::Ints((0..n).map(|_| int(random)).collect())
        }
        (Base::Float, true) => IValue::Floats(vec![random.pick(&[0.5, 1.0, 2.0])]),
        (Base::Float, false) => IValue::Float(random.pick(&[0.5, 1.0, 2.0])),
        (Base::Bool, _) => IValue::Bool(random.one_in(2)),
        (Base::Str, _) => IValue::Str(random.pick(&["trunc", "floor", "round"]).into()),
        (Base::ScalarType, _) => IValue::DType(random.pick(&DType::ALL)),
        (Base::Device, _) => IValue::Device(random.pick(&[DeviceId::CPU, DeviceId::CPU, DeviceId::META])),
        (Base::MemoryFormat, _) => IValue::MemoryFormat(random.pick(&[
            MemoryFormat::Contiguous,
            MemoryFormat::Preserve,
            MemoryFormat::ChannelsLast,
            MemoryFormat::ChannelsLast3d,
        ])),
        (Base::Storage, _) => IValue::Storage(random.pick(pool).storage()),
        (Base::Layout, _) => IValue::Layout(StridedLayout::Strided),
        _ => random.pick(&every_kind()),
    }
}
