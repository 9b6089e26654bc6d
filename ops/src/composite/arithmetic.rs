//! Arithmetic composed of arithmetic: what sub, rsub, square, addcmul, addcdiv, lerp, softplus, ne, relu and
//! logical_not are on devices without kernels of their own. Their rows are beside their formulas.

use super::{in_dtype, operand};
use crate::pointwise::common_dtype;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// `rsub`: the second operand minus `alpha` times the first.
pub fn rsub(calls: &Calls<'_>, this: &IValue, other: &IValue, alpha: Scalar) -> Result<AnyTensor> {
    calls.tensor("sub.Tensor", [other.clone(), this.clone(), alpha.into()])
}

/// `rsub.Scalar`: a number minus `alpha` times the tensor.
pub fn rsub_number(calls: &Calls<'_>, this: &IValue, other: Scalar, alpha: Scalar) -> Result<AnyTensor> {
    rsub(calls, this, &other.into(), alpha)
}

/// `sub`: the sum with `alpha` negated. Integers wrap, so this is what a subtraction gives also without a sign.
pub fn sub(calls: &Calls<'_>, this: &IValue, other: &IValue, alpha: Scalar) -> Result<AnyTensor> {
    let minus = match alpha {
        Scalar::Bool(b) => Scalar::Int(-i64::from(b)),
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::Float(f) => Scalar::Float(-f),
        Scalar::Complex(c) => Scalar::Complex(-c),
    };
    calls.tensor("add.Tensor", [this.clone(), other.clone(), minus.into()])
}

/// `ne`: not equal.
pub fn ne(calls: &Calls<'_>, this: &IValue, other: &IValue) -> Result<AnyTensor> {
    let equal = calls.tensor("eq.Tensor", [this.clone(), other.clone()])?;
    calls.tensor("logical_not", [equal.into()])
}

/// `logical_not`: equal to zero.
pub fn logical_not(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    calls.tensor("eq.Scalar", [this.clone(), 0i64.into()])
}

/// `relu`: zero or more.
pub fn relu(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    calls.tensor("clamp", [this.clone(), 0i64.into(), IValue::None])
}

/// `square`: the second power.
pub fn square(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    calls.tensor("pow.Tensor_Scalar", [this.clone(), 2i64.into()])
}

/// The dtype in which kernels compute what has this dtype: a composition rounds after each of its steps, a kernel once.
const fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        dtype => dtype,
    }
}

/// The operands in the dtype to compute in.
fn widened<const N: usize>(calls: &Calls<'_>, values: [&IValue; N], dtype: DType) -> Result<[IValue; N]> {
    let mut widened = values.map(|_| IValue::None);
    for (to, value) in widened.iter_mut().zip(values) {
        *to = in_dtype(calls, value, wide(dtype))?;
    }
    Ok(widened)
}

/// The result in the dtype that the operands have in common.
fn narrowed(calls: &Calls<'_>, result: AnyTensor, dtype: DType) -> Result<AnyTensor> {
    if result.dtype() == dtype {
        return Ok(result);
    }
    calls.tensor("to.dtype", [result.into(), dtype.into(), false.into(), false.into(), IValue::None])
}

/// `addcmul`: `self + value · tensor1 · tensor2`.
pub fn addcmul(
    calls: &Calls<'_>,
    this: &IValue,
    tensor1: &IValue,
    tensor2: &IValue,
    value: Scalar,
) -> Result<AnyTensor> {
    let dtype = common_dtype(&[this, tensor1, tensor2].map(operand)).unwrap_or(DType::F32);
    if dtype == DType::Bool {
        return Err(unsupported(dtype, "integer, floating and complex dtypes"));
    }
    let [this, tensor1, tensor2] = widened(calls, [this, tensor1, tensor2], dtype)?;
    let product = calls.tensor("mul.Tensor", [tensor1, tensor2])?;
    let sum = calls.tensor("add.Tensor", [this, product.into(), of_dtype(value, dtype).into()])?;
    narrowed(calls, sum, dtype)
}

/// `addcdiv`: `self + value · tensor1 / tensor2`.
pub fn addcdiv(
    calls: &Calls<'_>,
    this: &IValue,
    tensor1: &IValue,
    tensor2: &IValue,
    value: Scalar,
) -> Result<AnyTensor> {
    let integral = |v: &IValue| operand(v).dtype().is_some_and(|d| d.is_integral(true));
    if integral(tensor1) && integral(tensor2) {
        let rule = "tensor1 and tensor2 are integral; cast one to a floating dtype for a true division, or call div \
                    with rounding_mode";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let dtype = common_dtype(&[this, tensor1, tensor2].map(operand)).unwrap_or(DType::F32);
    let [this, tensor1, tensor2] = widened(calls, [this, tensor1, tensor2], dtype)?;
    let quotient = calls.tensor("div.Tensor", [tensor1, tensor2])?;
    let sum = calls.tensor("add.Tensor", [this, quotient.into(), of_dtype(value, dtype).into()])?;
    narrowed(calls, sum, dtype)
}

/// A factor as kernels of the dtype take it: where the result is integral, without a fraction.
fn of_dtype(value: Scalar, dtype: DType) -> Scalar {
    match value {
        Scalar::Float(f) if dtype.is_integral(true) => Scalar::Int(f as i64),
        Scalar::Bool(b) => Scalar::Int(b.into()),
        value => value,
    }
}

/// `lerp.Scalar`: from `self` to `end`, by the weight. From the end that is nearer, so that both ends are exact.
pub fn lerp_number(calls: &Calls<'_>, this: &IValue, end: &IValue, weight: Scalar) -> Result<AnyTensor> {
    let dtype = one_floating_dtype(&[this, end])?;
    let [this, end] = widened(calls, [this, end], dtype)?;
    let way = calls.tensor("sub.Tensor", [end.clone(), this.clone()])?;
    let (near, rest) = match weight {
        Scalar::Complex(w) if dtype.is_complex() => (w.norm_sqr() < 0.25, Scalar::Complex(1.0 - w)),
        Scalar::Complex(_) => {
            return Err(
                ErrorKind::ArgumentRule { rule: "weight is complex, but self is not; give a real weight" }.into()
            );
        }
        Scalar::Float(w) => (w.abs() < 0.5, Scalar::Float(1.0 - w)),
        Scalar::Int(w) => (w == 0, Scalar::Float(1.0 - w as f64)),
        Scalar::Bool(w) => (!w, Scalar::Float(f64::from(!w))),
    };
    let result = match near {
        true => calls.tensor("add.Tensor", [this, way.into(), of_dtype(weight, dtype).into()]),
        false => calls.tensor("sub.Tensor", [end, way.into(), rest.into()]),
    };
    narrowed(calls, result?, dtype)
}

/// `lerp.Tensor`: from `self` to `end`, by weights.
pub fn lerp(calls: &Calls<'_>, this: &IValue, end: &IValue, weight: &IValue) -> Result<AnyTensor> {
    let dtype = one_floating_dtype(&[this, end])?;
    let [this, end, weight] = widened(calls, [this, end, weight], dtype)?;
    let way: IValue = calls.tensor("sub.Tensor", [end.clone(), this.clone()])?.into();
    let size = calls.tensor("abs", [weight.clone()])?;
    let near = calls.tensor("lt.Scalar", [size.into(), 0.5.into()])?;
    let step = calls.tensor("mul.Tensor", [weight.clone(), way.clone()])?;
    let from_start = calls.tensor("add.Tensor", [this, step.into()])?;
    let rest = calls.tensor("rsub.Scalar", [weight, 1i64.into()])?;
    let back = calls.tensor("mul.Tensor", [way, rest.into()])?;
    let from_end = calls.tensor("sub.Tensor", [end, back.into()])?;
    let result = calls.tensor("where.self", [near.into(), from_start.into(), from_end.into()])?;
    narrowed(calls, result, dtype)
}

/// The dtype that all have, which must be floating or complex.
fn one_floating_dtype(values: &[&IValue]) -> Result<DType> {
    let mut dtypes = values.iter().filter_map(|v| operand(v).dtype());
    let want = dtypes.next().unwrap_or(DType::F32);
    if let Some(got) = dtypes.find(|d| *d != want) {
        return Err(ErrorKind::DTypeMismatch { arg: "end", got, want }.into());
    }
    if want.is_integral(true) { Err(unsupported(want, "floating and complex dtypes")) } else { Ok(want) }
}

#[cold]
fn unsupported(got: DType, accepted: &'static str) -> monomorph_core::Error {
    ErrorKind::DTypeNotSupported { what: "the operands promote to", got, accepted }.into()
}

/// `softplus`: `log(1 + exp(β x)) / β`, and `x` itself where `β x` is above the threshold, so that nothing overflows.
///
/// The logarithm is that of a number near 1 whose distance `u` from 1 would be lost in the sum: `log(w) · u / (w - 1)`
/// with `w = 1 + u` as it is rounded makes up for it (W. Kahan; Hewlett-Packard HP-15C Advanced Functions Handbook,
/// 1982).
pub fn softplus(calls: &Calls<'_>, this: &IValue, beta: Scalar, threshold: Scalar) -> Result<AnyTensor> {
    let dtype = match operand(this).dtype() {
        Some(dtype) if dtype.is_floating() => dtype,
        dtype => return Err(unsupported(dtype.unwrap_or(DType::I64), "floating dtypes")),
    };
    let [this] = widened(calls, [this], dtype)?;
    let number = |name: &str, t: &IValue, n: Scalar| calls.tensor(name, [t.clone(), n.into()]).map(IValue::from);
    let one = Scalar::Int(1);
    let scaled = number("mul.Scalar", &this, beta)?;
    let straight: IValue = calls.tensor("lt.Tensor", [threshold.into(), scaled.clone()])?.into();
    let u: IValue = calls.tensor("exp", [scaled])?.into();
    let w = number("add.Scalar", &u, one)?;
    let lost = number("eq.Scalar", &w, one)?;
    let log: IValue = calls.tensor("log", [w.clone()])?.into();
    let corrected: IValue = calls.tensor("mul.Tensor", [log, u.clone()])?.into();
    let rest = number("sub.Scalar", &w, one)?;
    let log1p: IValue = calls.tensor("div.Tensor", [corrected, rest])?.into();
    let log1p: IValue = calls.tensor("where.self", [lost, u, log1p])?.into();
    let curved = number("div.Scalar", &log1p, beta)?;
    let result = calls.tensor("where.self", [straight, this, curved])?;
    narrowed(calls, result, dtype)
}
