//! The derivative of every formula of the table that has one, through dual numbers, against central differences in
//! float64; and the operator that comes of it, in its forms.

use monomorph::algebra::{Dual, Value};
use monomorph::crates::core::structured::{Executes, Functional, Out, call};
use monomorph::crates::ops::arithmetic::MulFn;
use monomorph::crates::ops::exponential::TanhFn;
use monomorph::pointwise::{
    Gradient, LiftOperands, LiftParams, LoweredOutput, Map, MaskAndTwo, Operands, OutOf, OutputKind, Params, Pointwise,
    PointwiseFn, PointwiseInputs, Same,
};
use monomorph::{Cpu, DType, Device, Meta, Scalar, Tensor};
use monomorph_cpu::isa::Portable;
use monomorph_cpu::scalar::Lane;
use monomorph_testsuite::formulas::formulas;
use monomorph_testsuite::layout::Random;
use std::collections::BTreeMap;
use std::marker::PhantomData;

type Float = Lane<f64, Portable>;

/// What is known of one formula at one point.
type Slope = fn(x: &[f64], params: &[Scalar], variable: usize) -> [f64; 2];

/// Operands from numbers; a mask holds.
trait FromValues: Operands {
    fn from_values(x: &[f64]) -> Self::Of<Float>;
}
impl<const N: usize> FromValues for Same<N> {
    fn from_values(x: &[f64]) -> [Float; N] {
        std::array::from_fn(|i| Float::new(x[i]))
    }
}
impl FromValues for MaskAndTwo {
    fn from_values(x: &[f64]) -> (<Float as Value>::Mask, [Float; 2]) {
        (Lane::new(true), std::array::from_fn(|i| Float::new(x[i])))
    }
}

/// The value of a formula, and its slope along an operand.
fn slope<F>(x: &[f64], params: &[Scalar], variable: usize) -> [f64; 2]
where
    F: Map<Dual<Float>> + PointwiseFn<Operands: LiftOperands + FromValues, Params: LiftParams, Out: LoweredOutput>,
{
    let params = F::Params::from_scalars(params).expect("as many parameters as the formula has");
    let lifted = F::Operands::lift::<Float>(F::Operands::from_values(x), variable);
    let result: OutOf<F, Dual<Float>> = F::eval(lifted, params.bind::<Dual<Float>>());
    let result = F::Out::lower::<Float>(result);
    [result.value.get(), result.slope.get()]
}

/// A formula of the table, asked whether it has a derivative: the first trait answers where its bounds hold, else the
/// second, which takes one more reference.
struct Probe<F>(PhantomData<F>);

trait Differentiable {
    fn slope(&self) -> Option<Slope>;
}
impl<F> Differentiable for Probe<F>
where
    F: Map<Dual<Float>> + PointwiseFn<Operands: LiftOperands + FromValues, Params: LiftParams, Out: LoweredOutput>,
{
    fn slope(&self) -> Option<Slope> {
        Some(slope::<F>)
    }
}
trait Other {
    fn slope(&self) -> Option<Slope>;
}
impl<F> Other for &Probe<F> {
    fn slope(&self) -> Option<Slope> {
        None
    }
}

/// Formulas over floats with a result that has a slope, which have no derivative nevertheless, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("ZetaFn", "the derivative by the exponent is no function of the algebra, nor of PyTorch"),
    ("IgammaFn", "the derivative by the shape is no function of the algebra, nor of PyTorch"),
    ("IgammacFn", "the derivative by the shape is no function of the algebra, nor of PyTorch"),
];

/// Parameters to try, by their number.
fn parameters(count: usize) -> Vec<Vec<Scalar>> {
    match count {
        0 => vec![vec![]],
        1 => [0.7, 2.0, -1.0, 3.0, 0.0].map(|p| vec![Scalar::Float(p)]).to_vec(),
        n => vec![(0..n).map(|k| Scalar::Float(k as f64 * 2.5 - 1.25)).collect()],
    }
}

#[test]
fn every_formula_has_the_derivative_that_its_values_show() {
    let mut slopes = BTreeMap::new();
    macro_rules! push {
        ($formula:ty, $name:literal) => {
            slopes.insert($name, (&Probe::<$formula>(PhantomData)).slope());
        };
    }
    monomorph::crates::ops::for_each_kernel! { Pointwise push }
    let mut random = Random::new(11);
    for formula in formulas().into_iter().filter(|formula| formula.operands > 0) {
        let name = formula.path.rsplit("::").next().unwrap().trim();
        let smooth = formula.rule.check_domain(DType::F64).is_ok() && formula.rule.output() != OutputKind::Truth;
        let exception = EXCEPTIONS.iter().find(|(exception, _)| *exception == name);
        let Some(slope) = slopes[formula.path] else {
            assert!(!smooth || exception.is_some(), "{name} has no derivative");
            continue;
        };
        assert!(exception.is_none(), "{name} has a derivative now");
        let mut total = 0;
        for params in parameters(formula.params) {
            let (mut checked, mut finite) = (0, 0);
            for variable in 0..formula.operands - formula.masks {
                for _ in 0..200 {
                    // Apart from the kinks: operands and their differences that are multiples of one quarter.
                    let mut x: Vec<f64> = (0..formula.operands - formula.masks)
                        .map(|_| random.below(24) as f64 * 0.25 - 3.0 + 0.05 + random.below(150) as f64 * 1e-3)
                        .collect();
                    let is_kink = |difference: f64| (difference * 4.0 - (difference * 4.0).round()).abs() < 4e-3;
                    if x.iter().enumerate().any(|(k, a)| x[..k].iter().any(|b| is_kink(a - b))) {
                        continue;
                    }
                    let [value, got] = slope(&x, &params, variable);
                    let step = 1e-4;
                    let at = x[variable];
                    let mut probe = |offset: f64| {
                        x[variable] = at + offset * step;
                        slope(&x, &params, variable)[0]
                    };
                    // Two differences whose errors in step² cancel (L. F. Richardson, 1911).
                    let (near, far) = (probe(1.0) - probe(-1.0), probe(2.0) - probe(-2.0));
                    let want = (8.0 * near - far) / (12.0 * step);
                    // Where the two do not agree, something jumps between the points.
                    let smooth = (2.0 * near - far).abs() <= 1e-3 * (near.abs() + far.abs());
                    finite += usize::from(value.is_finite());
                    if value.is_finite() && want.is_finite() && smooth {
                        let scale = 1.0 + want.abs() + value.abs();
                        assert!(
                            (got - want).abs() < 1e-8 * scale,
                            "{name} by {variable} at {x:?} {params:?}: {got}, want {want}"
                        );
                        checked += 1;
                    }
                }
            }
            // Parameters may leave no number at all.
            assert!(checked > 20 || finite == 0, "{name} {params:?}: {checked} points");
            total += checked;
        }
        assert!(total > 20, "{name}: {total} points");
    }
}

/// The operator that comes of a derivative.
fn backward<F: PointwiseFn, D: Device + Executes<Pointwise<F>>>(
    operands: &[&Tensor<D>],
) -> monomorph::Result<Tensor<D>> {
    let operands: Vec<_> = operands.iter().map(|&operand| operand.into()).collect();
    let inputs = PointwiseInputs::<F>::from_lists(&operands, &[])?;
    let [out] = call::<Pointwise<F>, D, _>(&inputs, Functional::<D, 1>::default())?;
    Ok(out)
}

#[test]
fn a_derivative_is_an_operator_in_every_form() {
    let [x, y, grad] = [[-1.5f32, 0.25, 3.0], [2.0, -0.5, 1.0], [1.0, 10.0, -2.0]]
        .map(|data| Tensor::<Cpu>::from_slice(&data, [3]).unwrap());
    let tanh: Vec<f32> =
        [(-1.5f32, 1.0), (0.25, 10.0), (3.0, -2.0)].map(|(x, g)| g * (1.0 - x.tanh() * x.tanh())).into();
    let got = backward::<Gradient<TanhFn, 0>, Cpu>(&[&x, &grad]).unwrap().to_vec::<f32>().unwrap();
    assert!(got.iter().zip(&tanh).all(|(got, want)| (got - want).abs() <= 1e-6 * want.abs()), "{got:?}, want {tanh:?}");
    // By the second factor: the first one, times the gradient.
    let got = backward::<Gradient<MulFn, 1>, Cpu>(&[&x, &y, &grad]).unwrap();
    assert_eq!(got.to_vec::<f32>().unwrap(), [-1.5, 2.5, -6.0]);

    let mut out = Tensor::<Cpu>::zeros_contiguous(DType::F64, &[3]).unwrap();
    let operands = [&x, &y, &grad].map(Into::into);
    let inputs = PointwiseInputs::<Gradient<MulFn, 0>>::from_lists(&operands, &[]).unwrap();
    call::<Pointwise<_>, Cpu, _>(&inputs, Out([&mut out])).unwrap();
    assert_eq!(out.to_vec::<f64>().unwrap(), [2.0, -5.0, -2.0]);

    let shape = |tensor: &Tensor<Cpu>| Tensor::<Meta>::zeros_contiguous(tensor.dtype(), tensor.sizes()).unwrap();
    let meta = backward::<Gradient<MulFn, 1>, Meta>(&[&shape(&x), &shape(&y), &shape(&grad)]).unwrap();
    assert_eq!((meta.dtype(), meta.sizes()), (DType::F32, &[3][..]));
    let whole = Tensor::<Cpu>::from_slice(&[1i64, 2, 3], [3]).unwrap();
    let refused = backward::<Gradient<TanhFn, 0>, Cpu>(&[&whole, &whole]).unwrap_err().to_string();
    assert!(refused.contains("tanh") && refused.contains("int64") && refused.contains("floating"), "{refused}");
}
