//! Products and sums that go on, composed: addr of two vectors, _addmm_activation, _add_relu.
#![deny(clippy::arithmetic_side_effects)]

use crate::composite::callees::{Callees, Fillers};
use crate::composite::steps::Steps;
use crate::composite::{in_dtype, operand, tensor};
use crate::pointwise::common_dtype;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

/// The dtype in which `addr` computes, and its numbers in it.
fn check_number(number: Scalar, dtype: DType, arg: &'static str) -> Result<Scalar> {
    if dtype.is_integral(true) && matches!(number, Scalar::Float(_) | Scalar::Complex(_)) {
        return Err(ErrorKind::NumberRange { arg, got: number.to_string(), dtype }.into());
    }
    number.check_fits(dtype, arg)?;
    Ok(number)
}

/// `addr`: each element of one vector times each of another, and a tensor.
pub fn addr(
    calls: &Calls<'_>,
    this: &IValue,
    vec1: &IValue,
    vec2: &IValue,
    beta: Scalar,
    alpha: Scalar,
) -> Result<AnyTensor> {
    let (x, y) = (tensor(vec1, "vec1")?, tensor(vec2, "vec2")?);
    for (arg, t) in [("vec1", x), ("vec2", y)] {
        if t.ndim() != 1 {
            return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "1" }.into());
        }
    }
    let sizes = [x.sizes()[0], y.sizes()[0]];
    let mut base = match this.as_tensor() {
        Some(t) if t.sizes() == sizes => this.clone(),
        Some(t) => calls.expand(t, &sizes)?.into(),
        None => this.clone(),
    };
    let operands = [operand(this), operand(vec1), operand(vec2)];
    let dtype = common_dtype(&operands).unwrap_or(DType::F32);
    let beta = check_number(beta, dtype, "beta")?;
    let alpha = check_number(alpha, dtype, "alpha")?;
    let column = calls.unsqueeze(x, 1)?;
    let is = |number: Scalar, n: i64| number.to_complex() == Scalar::Int(n).to_complex();
    if dtype == DType::Bool {
        // Of truth values a product is true if both are, and a sum if either is.
        let mut both = calls.binary("logical_and", column, vec2.clone())?;
        if is(alpha, 0) {
            both = zeros(calls, &both.into())?;
        }
        if is(beta, 0) {
            base = zeros(calls, &base)?.into();
        }
        return calls.binary("logical_or", base, both);
    }
    let (column, row) = (scaled(calls, column, dtype, alpha)?, in_dtype(calls, vec2, dtype)?);
    let base = match base {
        base if is(beta, 0) => zeros(calls, &in_dtype(calls, &base, dtype)?)?.into(),
        base => scaled(calls, base, dtype, beta)?,
    };
    // In one pass where that gives what two do: of halves the product is rounded, too, and 1 + 0i times a complex
    // number may have other zeros.
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    if base.as_tensor().is_some() && !is_half && !dtype.is_complex() {
        return calls.tensor("addcmul", [base, column, row, 1i64.into()]);
    }
    let product = calls.mul(column, row)?;
    calls.add(base, product)
}

/// A tensor in a dtype, times a number that is rounded to it.
fn scaled(calls: &Calls<'_>, t: impl Into<IValue>, dtype: DType, by: Scalar) -> Result<IValue> {
    let t = in_dtype(calls, &t.into(), dtype)?;
    if by.to_complex() == Scalar::Int(1).to_complex() {
        return Ok(t);
    }
    let by = calls.full_like(tensor(&t, "self")?, &[], by)?;
    Ok(calls.mul(t, by)?.into())
}

/// Zeros in the place of a tensor's elements.
fn zeros(calls: &Calls<'_>, like: &IValue) -> Result<AnyTensor> {
    calls.tensor("zeros_like", [like.clone(), IValue::None, IValue::None, IValue::None, IValue::None, IValue::None])
}

/// `_addmm_activation`: relu, or gelu, of `addmm`.
pub fn addmm_activation(
    calls: &Calls<'_>,
    this: &IValue,
    mat1: &IValue,
    mat2: &IValue,
    beta: Scalar,
    alpha: Scalar,
    use_gelu: bool,
) -> Result<AnyTensor> {
    let sum = calls.tensor("addmm", [this.clone(), mat1.clone(), mat2.clone(), beta.into(), alpha.into()])?;
    match use_gelu {
        true => calls.tensor("gelu", [sum.into(), IValue::Str("none".into())]),
        false => calls.unary("relu", sum),
    }
}

/// `_add_relu.Tensor`: relu of a sum.
pub fn add_relu(calls: &Calls<'_>, this: &IValue, other: &IValue, alpha: Scalar) -> Result<AnyTensor> {
    let sum = calls.tensor("add.Tensor", [this.clone(), other.clone(), alpha.into()])?;
    calls.unary("relu", sum)
}

native! {
    family: AddedProducts, functions: crate::fill::Fills;

    func: addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor,
    inplace: addr_, out: addr.out, composite: explicit addr;

    func: _addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1,
        bool use_gelu=False) -> Tensor,
    autogen: _addmm_activation.out, composite: explicit addmm_activation;

    func: _add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor,
    inplace: _add_relu_.Tensor, out: _add_relu.out, composite: explicit add_relu;
}
