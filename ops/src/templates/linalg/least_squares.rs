//! Least squares, composed of singular values: `linalg_lstsq`.
#![deny(clippy::arithmetic_side_effects)]

use super::call::sizes_differ;
use super::ranks::{adjoint, epsilon, matrix};
use crate::composite::callees::{Callees, Fillers};
use crate::composite::rule;
use crate::composite::steps::Steps;
use crate::composite::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar, strides};

/// LAPACK's routines, which differ in what they return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    /// For matrices of full rank: no rank.
    Gels,
    /// By QR with exchanged columns: no residuals.
    Gelsy,
    /// By singular values, which are returned.
    Gelsd,
}

impl Driver {
    fn named(name: Option<&str>) -> Result<Driver> {
        match name {
            None | Some("gelsy") => Ok(Driver::Gelsy),
            Some("gels") => Ok(Driver::Gels),
            Some("gelsd" | "gelss") => Ok(Driver::Gelsd),
            Some(_) => Err(rule("argument driver is none of 'gels', 'gelsy', 'gelsd' and 'gelss'")),
        }
    }
}

/// The right-hand sides as matrices, and whether they were vectors.
fn as_matrices(calls: &Calls<'_>, this: &AnyTensor, other: &AnyTensor) -> Result<(AnyTensor, bool)> {
    let [rows, _] = matrix(this)?;
    if this.dtype() != other.dtype() {
        let (what, got) = ("argument b has dtype", other.dtype());
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "that of self" }.into());
    }
    let is_vector = other.ndim().saturating_add(1) == this.ndim();
    if !is_vector && other.ndim() != this.ndim() {
        let accepted = "as many as self has, or one less";
        return Err(ErrorKind::DimCount { arg: "b", got: other.ndim(), accepted }.into());
    }
    let last = other.ndim();
    let matrices = if is_vector { calls.unsqueeze(other, last)? } else { other.clone() };
    match matrices.sizes() {
        [.., got, _] if *got == rows => Ok((matrices, is_vector)),
        _ => Err(sizes_differ("b", other.sizes(), &[rows])),
    }
}

/// A tensor of no elements.
fn nothing(calls: &Calls<'_>, dtype: DType, like: &AnyTensor) -> Result<AnyTensor> {
    calls.empty(&[0], dtype, like.device(), MemoryFormat::Contiguous)
}

/// The transpose of the last two dimensions, which need not have the same elements.
fn transposed(calls: &Calls<'_>, t: &AnyTensor) -> Result<AnyTensor> {
    let last = t.ndim().saturating_sub(1);
    calls.transpose(t, last.saturating_sub(1), last)
}

/// The first rows of matrices of `height` rows that lie column by column: as PyTorch's, which solves in a copy of the
/// right-hand sides.
fn in_place_of_right_hand_sides(calls: &Calls<'_>, solution: &AnyTensor, height: i64) -> Result<AnyTensor> {
    let last = solution.ndim().saturating_sub(1);
    let [rows, columns] = matrix(solution)?;
    let mut sizes = solution.sizes()[..last.saturating_sub(1)].to_vec();
    sizes.extend([columns, height]);
    let whole = transposed(calls, &calls.full_like(solution, &sizes, Scalar::Int(0))?)?;
    let first = calls.narrow(&whole, last.saturating_sub(1), 0, rows)?;
    calls.copy_into(first.clone(), solution)?;
    Ok(first)
}

/// `linalg_lstsq`: X of the least norm of those for which A X is nearest to B, the sums of squares of what is left, and
/// the ranks and singular values of A, as far as the driver has them.
///
/// All is computed in float64 or complex128. Where a driver has residuals, they are there whatever the rank: their size
/// must not depend on elements.
pub fn lstsq(
    calls: &Calls<'_>,
    this: &IValue,
    other: &IValue,
    rcond: Option<f64>,
    driver: Option<&str>,
) -> Result<(AnyTensor, AnyTensor, AnyTensor, AnyTensor)> {
    let (this, other) = (tensor(this, "self")?, tensor(other, "b")?);
    let driver = Driver::named(driver)?;
    let (dtype, [rows, columns]) = (this.dtype(), matrix(this)?);
    let (b, is_vector) = as_matrices(calls, this, other)?;
    let (real, wide) = (dtype.to_real(), if dtype.is_complex() { DType::C128 } else { DType::F64 });
    let batch = |t: &AnyTensor| t.sizes()[..t.ndim().saturating_sub(2)].to_vec();
    let mut sizes = strides::broadcast_sizes(&batch(this), &batch(&b))?.to_vec();
    sizes.extend([rows, b.sizes().last().copied().unwrap_or(1)]);
    let (a, b) = (calls.cast(this.clone(), wide)?, calls.expand(&calls.cast(b, wide)?, &sizes)?);
    let [u, values, vh] = calls.several("linalg_svd", [a.clone().into(), false.into(), IValue::None])?;
    let last = values.ndim().saturating_sub(1);
    let count = rows.min(columns);
    // Those that count; of a matrix of full rank, all.
    let relative = match driver {
        Driver::Gels => 0.0,
        _ => rcond.unwrap_or_else(|| epsilon(dtype) * rows.max(columns) as f64),
    };
    let bound = calls.mul(calls.narrow(&values, last, 0, count.min(1))?, relative)?;
    let counts = calls.binary("gt.Tensor", values.clone(), bound)?;
    let inverses = calls.unary("reciprocal", values.clone())?;
    let zero = calls.full_like(&values, &[], Scalar::Int(0))?;
    let inverses = calls.tensor("where.self", [counts.clone().into(), inverses.into(), zero.into()])?;
    let along = calls.tensor("matmul", [adjoint(calls, &u)?.into(), b.clone().into()])?;
    let along = calls.mul(along, calls.unsqueeze(&inverses, inverses.ndim())?)?;
    let solution = calls.tensor("matmul", [adjoint(calls, &vh)?.into(), along.into()])?;
    let residuals = match rows > columns && driver != Driver::Gelsy {
        true => {
            let product = calls.tensor("matmul", [a.into(), solution.clone().into()])?;
            let left = calls.unary("abs", calls.sub(b, product)?)?;
            calls.cast(calls.sum(calls.mul(left.clone(), left)?, &[-2], false)?, real)?
        }
        false => nothing(calls, real, this)?,
    };
    let rank = match driver {
        Driver::Gels => nothing(calls, DType::I64, this)?,
        _ => calls.sum(counts, &[-1], false)?,
    };
    let values = if driver == Driver::Gelsd { calls.cast(values, real)? } else { nothing(calls, real, this)? };
    let solution = in_place_of_right_hand_sides(calls, &calls.cast(solution, dtype)?, rows.max(columns))?;
    let solution = if is_vector { calls.tensor("squeeze.dim", [solution.into(), IValue::Int(-1)])? } else { solution };
    Ok((solution, residuals, rank, values))
}

native! {
    family: LeastSquares, functions: crate::fill::Fills;

    func: linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None)
        -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values),
    out_matrix: linalg_lstsq.out, composite: explicit lstsq;
}
