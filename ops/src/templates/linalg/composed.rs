//! What is composed of factorizations: powers, inverses and equations of tensors, names that PyTorch has beside these.
#![deny(clippy::arithmetic_side_effects)]

use super::call::sizes_differ;
use crate::composite::callees::{Callees, Fillers};
use crate::composite::rule;
use crate::composite::steps::Steps;
use crate::composite::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::wrap_dim;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar, strides};

/// `linalg_inv`.
fn inverse(calls: &Calls<'_>, this: &AnyTensor) -> Result<AnyTensor> {
    calls.tensor("linalg_inv", [this.clone().into()])
}

/// `matmul`.
fn product(calls: &Calls<'_>, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
    calls.tensor("matmul", [a.clone().into(), b.clone().into()])
}

/// An error unless the last two dimensions are of one size.
fn check_square(this: &AnyTensor) -> Result<()> {
    match this.sizes() {
        [.., rows, columns] if rows == columns => Ok(()),
        [batch @ .., rows, _] => {
            let want: Vec<i64> = batch.iter().copied().chain([*rows; 2]).collect();
            Err(sizes_differ("self", this.sizes(), &want))
        }
        other => Err(ErrorKind::DimCount { arg: "self", got: other.len(), accepted: "2 or more" }.into()),
    }
}

/// `linalg_matrix_power`: by squaring.
pub fn matrix_power(calls: &Calls<'_>, this: &IValue, n: i64) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    check_square(this)?;
    if n == 0 {
        let ones = calls.full_like(this, this.sizes(), Scalar::Int(0))?;
        let last = this.ndim().saturating_sub(1);
        calls.fill(calls.diagonal(&ones, 0, last.saturating_sub(1), last)?, Scalar::Int(1))?;
        return Ok(ones);
    }
    let base = if n < 0 { inverse(calls, this)? } else { this.clone() };
    let mut left = n.unsigned_abs();
    if left == 1 {
        return if n < 0 { Ok(base) } else { calls.cloned(&base, MemoryFormat::Contiguous) };
    }
    let (mut square, mut power) = (base.clone(), None);
    if left == 3 {
        return product(calls, &product(calls, &base, &base)?, &base);
    }
    loop {
        if left & 1 == 1 {
            power = Some(match &power {
                None => square.clone(),
                Some(power) => product(calls, power, &square)?,
            });
        }
        left >>= 1;
        if left == 0 {
            return Ok(power.unwrap_or(square));
        }
        square = product(calls, &square, &square)?;
    }
}

/// `logdet`: the logarithm of the determinant; of a negative one NaN.
pub fn logdet(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    check_square(this)?;
    let [sign, logarithm] = calls.several("linalg_slogdet", [this.clone().into()])?;
    if sign.dtype().is_complex() {
        return calls.add(calls.unary("log", sign)?, logarithm);
    }
    let is_negative = calls.binary("eq.Scalar", sign, -1i64)?;
    let nan = calls.full_like(&logarithm, &[], Scalar::Float(f64::NAN))?;
    calls.tensor("where.self", [is_negative.into(), nan.into(), logarithm.into()])
}

/// `cholesky_solve`: the solution of systems whose matrices were factored.
pub fn cholesky_solve(calls: &Calls<'_>, this: &IValue, factors: &IValue, upper: bool) -> Result<AnyTensor> {
    calls.tensor("_cholesky_solve_helper", [this.clone(), factors.clone(), upper.into()])
}

fn numel(sizes: &[i64]) -> Result<i64> {
    Ok(strides::numel(sizes)? as i64)
}

/// `linalg_tensorinv`: the inverse of a tensor as a matrix, whose rows are the first `ind` dimensions.
pub fn tensorinv(calls: &Calls<'_>, this: &IValue, ind: i64) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    if ind <= 0 {
        return Err(ErrorKind::OutOfRange { arg: "ind", got: ind, low: 1, high: i64::MAX }.into());
    }
    let (rows, columns) = this.sizes().split_at((ind as usize).min(this.ndim()));
    let (count, other) = (numel(rows)?, numel(columns)?);
    if count != other {
        return Err(rule(
            "argument self has dimensions before ind with more or fewer elements than those from it on; accepted are \
             as many",
        ));
    }
    let matrix = inverse(calls, &calls.reshape(this, &[count, other])?)?;
    calls.reshape(&matrix, &[columns, rows].concat())
}

/// `linalg_tensorsolve`: the solution of a tensor as a matrix, whose rows are as many as `other` has elements.
pub fn tensorsolve(calls: &Calls<'_>, this: &IValue, other: &IValue, dims: Option<&[i64]>) -> Result<AnyTensor> {
    let (this, other) = (tensor(this, "self")?, tensor(other, "other")?);
    let ndim = this.ndim();
    let mut moved = this.clone();
    if let Some(dims) = dims {
        let ends = (0..dims.len()).map(|i| ndim.saturating_sub(dims.len()).saturating_add(i) as i64);
        let lists = [dims.to_vec(), ends.collect()].map(IValue::Ints);
        let [from, to] = lists;
        moved = calls.tensor("movedim.intlist", [this.clone().into(), from, to])?;
    }
    let (rows, columns) = moved.sizes().split_at(other.ndim().min(ndim));
    let unknowns = numel(columns)?;
    if unknowns.checked_mul(unknowns) != Some(this.numel() as i64) {
        return Err(rule(
            "argument self has more or fewer elements in the dimensions of the unknowns than in those of other; \
             accepted are as many",
        ));
    }
    if unknowns != other.numel() as i64 {
        return Err(sizes_differ("other", other.sizes(), rows));
    }
    let columns = columns.to_vec();
    let matrix = calls.reshape(&moved, &[unknowns, unknowns])?;
    let solution = calls.tensor("linalg_solve", [matrix.into(), calls.reshape(other, &[-1])?.into(), true.into()])?;
    calls.reshape(&solution, &columns)
}

/// `linalg_vander`: the powers of each element from 0 on, along a new last dimension.
pub fn vander(calls: &Calls<'_>, x: &IValue, count: Option<i64>) -> Result<AnyTensor> {
    let x = tensor(x, "x")?;
    if let got @ (DType::Bool | DType::F16 | DType::BF16) = x.dtype() {
        let (what, accepted) = ("argument x has dtype", "all dtypes but bool, float16 and bfloat16");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let x = if x.ndim() == 0 { calls.unsqueeze(x, 0)? } else { x.clone() };
    let count = count.or_else(|| x.sizes().last().copied()).unwrap_or(1);
    if count <= 1 {
        return Err(ErrorKind::OutOfRange { arg: "N", got: count, low: 2, high: i64::MAX }.into());
    }
    let last = x.ndim();
    let mut sizes = x.sizes().to_vec();
    sizes.push(count.saturating_sub(1));
    let repeated = calls.expand(&calls.unsqueeze(&x, last)?, &sizes)?;
    let powers = calls.tensor("cumprod", [repeated.into(), IValue::Int(-1), IValue::None])?;
    sizes[last] = 1;
    let ones = calls.full_like(&powers, &sizes, Scalar::Int(1))?;
    calls.cat(vec![ones, powers], wrap_dim(-1, last.saturating_add(1), "dim")?)
}

native! {
    family: MatrixFunctions, functions: crate::fill::Fills;

    func: det(Tensor self) -> Tensor, redirect: linalg_det;

    func: logdet(Tensor self) -> Tensor, composite: implicit logdet;

    func: slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet),
    out: slogdet.out, redirect: linalg_slogdet;

    func: inverse(Tensor self) -> Tensor,
    out: inverse.out, redirect: linalg_inv;

    func: linalg_matrix_power(Tensor self, int n) -> Tensor,
    autogen: linalg_matrix_power.out, composite: implicit matrix_power;

    func: matrix_power(Tensor self, int n) -> Tensor,
    autogen: matrix_power.out, redirect: linalg_matrix_power;

    func: _lu_with_info(Tensor self, bool pivot=True, bool check_errors=True)
        -> (Tensor LU, Tensor pivots, Tensor info),
    redirect: linalg_lu_factor_ex;

    func: cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor,
    out_cast: cholesky_solve.out, composite: explicit cholesky_solve;

    func: linalg_tensorinv(Tensor self, int ind=2) -> Tensor,
    out_cast: linalg_tensorinv.out, composite: implicit tensorinv;

    func: linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor,
    out_cast: linalg_tensorsolve.out, composite: implicit tensorsolve;

    func: linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor, composite: implicit vander;
}
