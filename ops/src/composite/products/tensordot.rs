//! Sums of products over chosen dimensions: tensordot, inner, linalg_vecdot, and kron, which sums over none.
#![deny(clippy::arithmetic_side_effects)]

use super::{Multiplies, volume};
use crate::composite::callees::Callees;
use crate::composite::rule;
use crate::composite::steps::Steps;
use crate::composite::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{DimVec, wrap_dim};
use monomorph_core::{AnyTensor, ErrorKind, IValue, Result};

/// Both of one dtype.
fn check_dtypes(arg: &'static str, a: &AnyTensor, b: &AnyTensor) -> Result<()> {
    let (want, got) = (a.dtype(), b.dtype());
    if got == want { Ok(()) } else { Err(ErrorKind::DTypeMismatch { arg, got, want }.into()) }
}

/// `tensordot`: the sum over pairs of dimensions, as a product of matrices; those that are left come in their order.
pub fn tensordot(
    calls: &Calls<'_>,
    this: &IValue,
    other: &IValue,
    this_dims: &[i64],
    other_dims: &[i64],
) -> Result<AnyTensor> {
    let (mut a, mut b) = (tensor(this, "self")?.clone(), tensor(other, "other")?.clone());
    if this_dims.len() != other_dims.len() {
        let (got, want) = (other_dims.len(), this_dims.len());
        return Err(ErrorKind::ListLength { arg: "dims_other", got, want }.into());
    }
    check_dtypes("other", &a, &b)?;
    let (mut a_summed, mut b_summed, mut count) = (Vec::new(), Vec::new(), 1_i64);
    for (&a_dim, &b_dim) in this_dims.iter().zip(other_dims) {
        let i = wrap_dim(a_dim, a.ndim(), "dims_self")?;
        let j = wrap_dim(b_dim, b.ndim(), "dims_other")?;
        let (m, n) = (a.sizes()[i], b.sizes()[j]);
        // A dimension of size 1 is multiplied with the sum of the other.
        match (m, n) {
            (_, 1) if m != 1 => a = calls.tensor("sum.dim_IntList", summed(&a, i))?,
            (1, _) if n != 1 => b = calls.tensor("sum.dim_IntList", summed(&b, j))?,
            _ if m == n => count = volume(&[count, m])?,
            _ => return Err(ErrorKind::UnequalSizes { arg: "other", got: vec![n], want: vec![m] }.into()),
        }
        for (arg, dims, dim) in [("dims_self", &mut a_summed, i), ("dims_other", &mut b_summed, j)] {
            if dims.contains(&dim) {
                return Err(ErrorKind::DimRepeated { arg, dim }.into());
            }
            dims.push(dim);
        }
    }
    let left = |t: &AnyTensor, summed: &[usize]| (0..t.ndim()).filter(|d| !summed.contains(d)).collect::<Vec<_>>();
    let (a_left, b_left) = (left(&a, &a_summed), left(&b, &b_summed));
    let sizes = |t: &AnyTensor, dims: &[usize]| dims.iter().map(|&d| t.sizes()[d]).collect::<DimVec>();
    let (a_sizes, b_sizes) = (sizes(&a, &a_left), sizes(&b, &b_left));
    let turned = |t: &AnyTensor, first: &[usize], second: &[usize], sizes: [i64; 2]| {
        let order = first.iter().chain(second).map(|&d| d as i64).collect();
        let turned = calls.tensor("permute", [t.clone().into(), IValue::Ints(order)])?;
        calls.reshape(&turned, &sizes)
    };
    let a = turned(&a, &a_left, &a_summed, [volume(&a_sizes)?, count])?;
    let b = turned(&b, &b_summed, &b_left, [count, volume(&b_sizes)?])?;
    let result: DimVec = a_sizes.iter().chain(&b_sizes).copied().collect();
    calls.reshape(&calls.mm(&a, &b)?, &result)
}

/// The arguments of a sum that keeps the dimension, and the dtype.
fn summed(t: &AnyTensor, dim: usize) -> [IValue; 4] {
    [t.clone().into(), IValue::Ints(vec![dim as i64]), true.into(), t.dtype().into()]
}

/// `inner`: the sum over the last dimension of both; a number is a factor.
pub fn inner(calls: &Calls<'_>, this: &IValue, other: &IValue) -> Result<AnyTensor> {
    let (a, b) = (tensor(this, "self")?, tensor(other, "other")?);
    let (Some(m), Some(n)) = (a.sizes().last(), b.sizes().last()) else {
        return calls.mul(this.clone(), other.clone());
    };
    if m != n {
        let (got, want) = (b.sizes().to_vec(), vec![*m]);
        return Err(ErrorKind::UnequalSizes { arg: "other", got, want }.into());
    }
    tensordot(calls, this, other, &[-1], &[-1])
}

/// `linalg_vecdot`: the sum along a dimension of the products, those of the first conjugated.
pub fn vecdot(calls: &Calls<'_>, this: &IValue, other: &IValue, dim: i64) -> Result<AnyTensor> {
    let (a, b) = (tensor(this, "x")?, tensor(other, "y")?);
    if a.dtype().is_integral(true) {
        let (what, accepted) = ("argument x has dtype", "floating and complex dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got: a.dtype(), accepted }.into());
    }
    check_dtypes("y", a, b)?;
    if a.ndim() == 1 && b.ndim() == 1 {
        return calls.tensor("vdot", [this.clone(), other.clone()]);
    }
    let conjugate = calls.unary("conj", this.clone())?;
    let products = calls.mul(conjugate, other.clone())?;
    calls.sum(products, &[dim], false)
}

/// `kron`: every element of one times the other tensor.
pub fn kron(calls: &Calls<'_>, this: &IValue, other: &IValue) -> Result<AnyTensor> {
    let (a, b) = (tensor(this, "self")?, tensor(other, "other")?);
    let ndim = a.ndim().max(b.ndim());
    let size = |t: &AnyTensor, d: usize| {
        let missing = ndim.saturating_sub(t.ndim());
        d.checked_sub(missing).map_or(1, |d| t.sizes()[d])
    };
    let (mut a_sizes, mut b_sizes, mut sizes) = (DimVec::new(), DimVec::new(), DimVec::new());
    for d in 0..ndim {
        let (m, n) = (size(a, d), size(b, d));
        a_sizes.extend([m, 1]);
        b_sizes.extend([1, n]);
        sizes.push(volume(&[m, n])?);
    }
    if a_sizes.len() > monomorph_core::strides::MAX_DIMS {
        return Err(rule("the tensors have more than half of the dimensions that a tensor may have"));
    }
    let view =
        |t: &AnyTensor, sizes: &[i64]| calls.tensor("_unsafe_view", [t.clone().into(), IValue::Ints(sizes.to_vec())]);
    let product = calls.mul(view(a, &a_sizes)?, view(b, &b_sizes)?)?;
    view(&product, &sizes)
}

native! {
    family: SumsOfProducts, functions: crate::fill::Fills;

    func: tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor,
    autogen: tensordot.out, composite: implicit tensordot;

    func: inner(Tensor self, Tensor other) -> Tensor,
    autogen: inner.out, composite: implicit inner;

    func: linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor,
    autogen: linalg_vecdot.out, composite: implicit vecdot;

    func: kron(Tensor self, Tensor other) -> Tensor,
    out: kron.out, composite: implicit kron;
}
