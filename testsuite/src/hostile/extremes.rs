//! Single values at the edges: one of every kind, and the extreme ones of each schema type. Owns no tensor geometry.

use super::fitting::ramp;
use monomorph::crates::core::Layout as StridedLayout;
use monomorph::crates::core::schema::{Argument, Base};
use monomorph::{Complex64, DType, DeviceId, IValue, MemoryFormat, Meta, Scalar, Tensor};

/// One value of every kind.
pub fn every_kind() -> Vec<IValue> {
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
        IValue::Generator(monomorph::Generator::new(1)),
        IValue::Ints(vec![2, -1]),
        IValue::Floats(vec![0.5]),
        IValue::Bools(vec![true]),
        IValue::Strs(vec!["x".into()]),
        IValue::Scalars(vec![Scalar::Int(1)]),
        IValue::Tensors(vec![ramp(DType::F32, &[2])]),
        IValue::OptionalTensors(vec![None]),
        IValue::List(vec![IValue::Int(1)].try_into().expect("an int is no list")),
    ]
}

/// Values of the argument's own type at the edges of it. None makes an allocation that a machine could grant but not
/// hold.
pub fn extremes(arg: &Argument) -> Vec<IValue> {
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
