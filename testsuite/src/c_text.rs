//! What the checks of formulas as text share: the values to try, and how near results must be. Owns no compiler.

use crate::layout::{convert, samples};
use crate::naive::{distance, distance_beyond};
use monomorph::crates::core::with_element;
use monomorph::crates::ops::algebra::sym::Function;
use monomorph::crates::ops::record::{Inputs, Within};
use monomorph::{Complex64, Cpu, DType, Scalar, Tensor};
use monomorph_core::Element;

/// Values of a dtype, complex ones with every special part.
pub fn elements(dtype: DType) -> Vec<Scalar> {
    if !dtype.is_complex() {
        return samples(dtype, Inputs::Any);
    }
    let parts = [0.0, -0.0, 1.0, -2.5, 1.5607, 30.1, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-38];
    let pairs = parts.into_iter().flat_map(|re| parts.map(|im| Scalar::Complex(Complex64::new(re, im))));
    pairs.map(|z| convert(z, dtype)).collect()
}

/// A tensor of one dimension.
pub fn column(dtype: DType, column: impl Iterator<Item = Scalar>) -> Tensor<Cpu> {
    with_element!(dtype, E => {
        let data: Vec<E> = column.map(E::from_scalar).collect();
        Tensor::from_slice(&data, [data.len() as i64]).expect("a small tensor")
    })
}

/// So many numbers of a call. A product that rounds shows whether the sum is fused, as it is at every level.
pub fn numbers(count: usize, dtype: DType) -> Vec<Scalar> {
    let factor = match dtype {
        DType::Bool => Scalar::Bool(true),
        d if d.is_integral(false) => Scalar::Int(3),
        d if d.is_complex() => convert(Scalar::Complex(Complex64::new(0.7, -1.25)), d),
        d => convert(Scalar::Float(0.7), d),
    };
    match count {
        2 => vec![convert(Scalar::Int(1), dtype), convert(Scalar::Int(3), dtype)],
        n => vec![factor; n],
    }
}

/// Every pair of elements as operands, `masks` of which are bool; masks and third operands go round beside the pairs.
pub fn rows(dtype: DType, operands: usize, masks: usize) -> Vec<Vec<Scalar>> {
    let own = elements(dtype);
    let truths = samples(DType::Bool, Inputs::Any);
    let pairs = own.iter().flat_map(|&a| own.iter().map(move |&b| [a, b])).enumerate();
    let row = |(i, [a, b]): (usize, [Scalar; 2])| {
        let third = own[(i * 7 + i / own.len()) % own.len()];
        let mask = (masks == 1).then(|| truths[(i + i / own.len()) % 2]);
        mask.into_iter().chain([a, b, third]).take(operands).collect()
    };
    pairs.map(row).collect()
}

/// The functions of the continuum, which the C library computes in its own way, and products that a level fuses and the
/// text does not.
const FUNCTIONS: [&str; 37] = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "erf",
    "erfc",
    "erfinv",
    "gelu",
    "gelu_tanh",
    "rsqrt",
    "pow",
    "pow_number",
    "hypot",
    "lgamma",
    "digamma",
    "trigamma",
    "zeta",
    "igamma",
    "igammac",
    "mul_add",
];

/// How near the text must come to a formula whose record asks for so much: exactly, unless it calls functions that C
/// has.
pub fn within(record: Within, function: &Function) -> Within {
    let text = function.c_source("f");
    let dtypes = ["f32", "f64", "f16", "bf16", "c64", "c128"];
    let calls = |name: &&str| dtypes.iter().any(|dtype| text.contains(&format!("k_{name}_{dtype}(")));
    if FUNCTIONS.iter().any(calls) { record } else { Within::EXACT }
}

/// Units between two elements; of complex ones the worse part counts.
pub fn part_distance(dtype: DType, a: Scalar, b: Scalar, within: Within) -> u64 {
    if !dtype.is_complex() {
        return distance_beyond(dtype, within, a, b);
    }
    let (a, b) = (a.to_complex(), b.to_complex());
    let part = |x, y| distance(dtype.to_real(), Scalar::Float(x), Scalar::Float(y));
    part(a.re, b.re).max(part(a.im, b.im))
}
