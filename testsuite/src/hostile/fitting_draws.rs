//! What suits operators that draw random numbers: probabilities, intervals, weights, and a source.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{Cpu, DType, IValue, Tensor};

/// The operators, without the `_` of forms in place.
const DRAWS: [&str; 29] = [
    "_sample_dirichlet",
    "_standard_gamma",
    "alpha_dropout",
    "bernoulli",
    "binomial",
    "cauchy",
    "dropout",
    "exponential",
    "feature_alpha_dropout",
    "feature_dropout",
    "geometric",
    "log_normal",
    "multinomial",
    "native_dropout",
    "normal",
    "normal_functional",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "random",
    "randperm",
    "rrelu",
    "rrelu_with_noise",
    "rrelu_with_noise_functional",
    "uniform",
];

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let name = schema.name().trim_end_matches('_');
    if !DRAWS.contains(&name) {
        return None;
    }
    let halves = |sizes: &[i64]| {
        let numel = sizes.iter().product::<i64>() as usize;
        Tensor::<Cpu>::from_slice(&vec![0.5f32; numel], sizes).ok().map(|t| IValue::from(t.into_any()))
    };
    match (arg.name(), arg.ty().base()) {
        ("p", Base::Tensor) | ("prob", _) => halves(&[3, 2]),
        ("self", Base::Tensor) if matches!(name, "bernoulli" | "_sample_dirichlet" | "_standard_gamma") => {
            halves(&[3, 2])
        }
        ("p", _) => Some(IValue::Float(0.5)),
        ("train" | "training", _) => Some(IValue::Bool(true)),
        ("from", Base::Float) => Some(IValue::Float(0.0)),
        ("high", Base::Tensor) => Tensor::<Cpu>::from_slice(&[9i64], ()).ok().map(|t| IValue::from(t.into_any())),
        ("to" | "high", Base::Int | Base::SymInt) => Some(IValue::Int(9)),
        ("lower", _) => Some(IValue::Float(0.1)),
        ("upper", _) => Some(IValue::Float(0.3)),
        ("out", _) if name == "multinomial" => Some(IValue::from(ramp(DType::I64, &[3, 1]))),
        ("out1", _) if name == "native_dropout" => Some(IValue::from(ramp(DType::Bool, &[3, 2]))),
        ("out", _) if name == "randperm" => Some(IValue::from(ramp(DType::F32, &[1]))),
        _ => None,
    }
}
