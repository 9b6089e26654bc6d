//! What follows from the singular values of matrices: their spectral and nuclear norms, `nuclear_norm`, `linalg_cond`.
//! Refuses condition numbers by other norms, which need the inverse.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Callees, Fillers};
use super::matrix_norms::{matrix_norm_by_name, real};
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::reductions::vector_norm::check_dtype;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

/// The largest singular value, or the smallest.
pub(super) fn extreme(largest: bool) -> impl Fn(&Calls<'_>, AnyTensor, bool) -> Result<AnyTensor> {
    move |calls, values, keepdim| match largest {
        // The largest of no values is 0.
        true if values.sizes().last() == Some(&0) => calls.sum(values, &[-1], keepdim),
        true => calls.reduced("amax", values, &[-1], keepdim),
        false => calls.reduced("amin", values, &[-1], keepdim),
    }
}

/// A norm that is a reduction of the singular values of the matrices in two dimensions.
pub(super) fn norm(
    calls: &Calls<'_>,
    this: &AnyTensor,
    [rows, columns]: [usize; 2],
    (keepdim, dtype): (bool, Option<DType>),
    reduce: impl Fn(&Calls<'_>, AnyTensor, bool) -> Result<AnyTensor>,
) -> Result<AnyTensor> {
    let got = this.dtype();
    if matches!(got, DType::F16 | DType::BF16) {
        let (what, accepted) = ("argument self has dtype", "float32, float64, complex64 and complex128");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    check_dtype(got, dtype)?;
    let this = calls.cast(this.clone(), dtype.unwrap_or(got))?;
    let others = (0..this.ndim()).filter(|dim| ![rows, columns].contains(dim));
    let order: Vec<usize> = others.chain([rows, columns]).collect();
    let permuted = |t: AnyTensor, order: Vec<i64>| calls.tensor("permute", [t.into(), IValue::Ints(order)]);
    let matrices = permuted(this, order.iter().map(|&dim| dim as i64).collect())?;
    let norms = reduce(calls, calls.tensor("linalg_svdvals", [matrices.into(), IValue::None])?, keepdim)?;
    if !keepdim {
        return Ok(norms);
    }
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(from, &to)| back[to] = from as i64);
    let last = norms.ndim();
    permuted(calls.unsqueeze(&norms, last)?, back)
}

/// `nuclear_norm`: the sum of the singular values.
pub fn nuclear_norm(calls: &Calls<'_>, this: &IValue, keepdim: bool) -> Result<AnyTensor> {
    nuclear_norm_dim(calls, this, &[-2, -1], keepdim)
}

/// `nuclear_norm.dim`: of the matrices in two dimensions.
pub fn nuclear_norm_dim(calls: &Calls<'_>, this: &IValue, dims: &[i64], keepdim: bool) -> Result<AnyTensor> {
    matrix_norm_by_name(calls, this, "nuc", dims, keepdim, None)
}

/// `linalg_cond`: the ratio of the largest singular value to the smallest, or the other way round for order -2.
pub fn linalg_cond(calls: &Calls<'_>, this: &IValue, order: Option<Scalar>) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    let [batch @ .., _, _] = this.sizes() else {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "2 or more" }.into());
    };
    let order = order.map_or(Ok(2.0), real)?;
    if ![1.0, 2.0, f64::INFINITY].contains(&order.abs()) {
        return Err(rule("argument p is none of 1, -1, 2, -2, inf and -inf"));
    }
    if this.numel() == 0 {
        let zeros = calls.empty(batch, this.dtype().to_real(), this.device(), MemoryFormat::Contiguous)?;
        calls.fill(zeros.clone(), Scalar::Int(0))?;
        return Ok(zeros);
    }
    if order.abs() != 2.0 {
        return product_of_norms(calls, this, |matrix| {
            let arguments = [matrix.into(), order.into(), IValue::Ints(vec![-2, -1]), false.into(), IValue::None];
            calls.tensor("linalg_matrix_norm", arguments)
        });
    }
    let values = calls.tensor("linalg_svdvals", [this.clone().into(), IValue::None])?;
    let (last, count) = (values.ndim().saturating_sub(1), values.sizes().last().copied().unwrap_or(0));
    let largest = calls.narrow(&values, last, 0, 1)?;
    let smallest = calls.narrow(&values, last, count.saturating_sub(1), 1)?;
    let ratio = if order > 0.0 { calls.div(largest, smallest)? } else { calls.div(smallest, largest)? };
    calls.tensor("squeeze.dim", [ratio.into(), IValue::Int(-1)])
}

/// The norm of a matrix times that of its inverse, whose elements are infinite where there is none.
fn product_of_norms(
    calls: &Calls<'_>,
    this: &AnyTensor,
    norm: impl Fn(AnyTensor) -> Result<AnyTensor>,
) -> Result<AnyTensor> {
    let [inverse, info] = calls.several("linalg_inv_ex", [this.clone().into(), false.into()])?;
    let has_none = calls.binary("gt.Scalar", info, 0i64)?;
    let has_none = calls.unsqueeze(&calls.unsqueeze(&has_none, has_none.ndim())?, has_none.ndim().saturating_add(1))?;
    let infinite = Scalar::Float(f64::INFINITY);
    let inverse = calls.tensor("masked_fill.Scalar", [inverse.into(), has_none.into(), infinite.into()])?;
    calls.mul(norm(this.clone())?, norm(inverse)?)
}

/// `linalg_cond.p_str`: by the root of the sum of squares, for `fro`, or the sum of singular values, for `nuc`.
pub fn linalg_cond_by_name(calls: &Calls<'_>, this: &IValue, order: &str) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    let &[ref batch @ .., rows, columns] = this.sizes() else {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "2 or more" }.into());
    };
    if rows != columns {
        return Err(rule("argument self has matrices with more or fewer columns than rows; accepted are as many"));
    }
    if !matches!(order, "fro" | "nuc") {
        return Err(rule("argument p is neither 'fro' nor 'nuc'"));
    }
    match order {
        _ if this.numel() == 0 => calls.full_like(&calls.unary("abs", this.clone())?, batch, Scalar::Int(0)),
        "nuc" => {
            let values = calls.tensor("linalg_svdvals", [this.clone().into(), IValue::None])?;
            let inverses = calls.unary("reciprocal", values.clone())?;
            calls.mul(calls.sum(values, &[-1], false)?, calls.sum(inverses, &[-1], false)?)
        }
        _ => product_of_norms(calls, this, |matrix| {
            let fro = IValue::Str("fro".into());
            let arguments = [matrix.into(), fro, IValue::Ints(vec![-2, -1]), false.into(), IValue::None];
            calls.tensor("linalg_matrix_norm.str_ord", arguments)
        }),
    }
}

native! {
    family: SpectralNorms, functions: crate::fill::Fills;

    func: nuclear_norm(Tensor self, bool keepdim=False) -> Tensor,
    autogen: nuclear_norm.out, composite: implicit nuclear_norm;

    func: nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor,
    autogen: nuclear_norm.dim_out, composite: implicit nuclear_norm_dim;

    func: linalg_cond(Tensor self, Scalar? p=None) -> Tensor,
    out_cast: linalg_cond.out, composite: implicit linalg_cond;

    func: linalg_cond.p_str(Tensor self, str p) -> Tensor,
    out_cast: linalg_cond.p_str_out, composite: implicit linalg_cond_by_name;
}
