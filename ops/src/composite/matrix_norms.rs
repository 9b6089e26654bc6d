//! What is composed of norms of vectors: norms of matrices, linalg_norm, norm_except_dim, dist. Orders that need
//! singular values are in `spectral.rs`.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::spectral;
use super::steps::Steps;
use super::tensor;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::wrap_dim;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

/// An order that is a real number.
pub(super) fn real(order: Scalar) -> Result<f64> {
    match order {
        Scalar::Complex(_) => {
            Err(ErrorKind::ArgumentRule { rule: "found a complex number; the order of a norm is real" }.into())
        }
        order => Ok(order.to_f64()),
    }
}

/// The dimensions of matrices: two, and not the same.
pub(super) fn matrix_dims(this: &AnyTensor, dims: &[i64]) -> Result<[usize; 2]> {
    if this.ndim() < 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "2 or more" }.into());
    }
    let &[rows, columns] = dims else {
        return Err(ErrorKind::ListLength { arg: "dim", got: dims.len(), want: 2 }.into());
    };
    let (rows, columns) = (wrap_dim(rows, this.ndim(), "dim")?, wrap_dim(columns, this.ndim(), "dim")?);
    if rows == columns {
        return Err(ErrorKind::DimRepeated { arg: "dim", dim: rows }.into());
    }
    Ok([rows, columns])
}

/// `linalg_matrix_norm`: the largest or smallest sum of absolute values of a column or a row.
pub fn matrix_norm(
    calls: &Calls<'_>,
    this: &IValue,
    order: Scalar,
    dims: &[i64],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    let order = real(order)?;
    let [rows, columns] = match order.abs() {
        1.0 => matrix_dims(this, dims)?,
        f64::INFINITY => {
            let [rows, columns] = matrix_dims(this, dims)?;
            [columns, rows]
        }
        2.0 => {
            let dims = matrix_dims(this, dims)?;
            return spectral::norm(calls, this, dims, (keepdim, dtype), spectral::extreme(order > 0.0));
        }
        _ => return Err(rule("argument ord is none of 1, -1, 2, -2, inf and -inf")),
    };
    let sums = calls.norm(this.clone(), Scalar::Int(1), Some(&[rows as i64]), keepdim, dtype)?;
    let left = if !keepdim && rows < columns { columns.saturating_sub(1) } else { columns } as i64;
    match (this.sizes()[columns], order > 0.0) {
        // The largest of no sums is 0.
        (0, true) => calls.sum(sums, &[left], keepdim),
        (_, true) => calls.reduced("amax", sums, &[left], keepdim),
        (_, false) => calls.reduced("amin", sums, &[left], keepdim),
    }
}

/// `linalg_matrix_norm.str_ord`: the root of the sum of squares, for `fro`.
pub fn matrix_norm_by_name(
    calls: &Calls<'_>,
    this: &IValue,
    order: &str,
    dims: &[i64],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    if !matches!(order, "fro" | "nuc") {
        return Err(rule("argument ord is neither 'fro' nor 'nuc'"));
    }
    let dims = matrix_dims(this, dims)?;
    if order == "nuc" {
        return spectral::norm(calls, this, dims, (keepdim, dtype), |calls, values, keepdim| {
            calls.sum(values, &[-1], keepdim)
        });
    }
    let dims = dims.map(|dim| dim as i64);
    calls.norm(this.clone(), Scalar::Int(2), Some(&dims), keepdim, dtype)
}

/// What `linalg_norm` takes as dimensions: one or two, or those of a vector or a matrix.
fn check_dims(this: &AnyTensor, dims: Option<&[i64]>, has_order: bool) -> Result<()> {
    match dims {
        Some(dims) if !matches!(dims.len(), 1 | 2) => {
            Err(rule("argument dim names neither one dimension nor two; accepted is a vector's or a matrix's"))
        }
        None if has_order && !matches!(this.ndim(), 1 | 2) => {
            let accepted = "1 and 2 where ord is given and dim is not";
            Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted }.into())
        }
        _ => Ok(()),
    }
}

/// `linalg_norm`: of matrices where an order is given and there are two dimensions, else of vectors.
pub fn linalg_norm(
    calls: &Calls<'_>,
    this: &IValue,
    order: Option<Scalar>,
    dims: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<AnyTensor> {
    let t = tensor(this, "self")?;
    check_dims(t, dims, order.is_some())?;
    match order {
        Some(order) if dims.map_or(t.ndim(), <[i64]>::len) == 2 => {
            matrix_norm(calls, this, order, dims.unwrap_or(&[0, 1]), keepdim, dtype)
        }
        order => calls.norm(t.clone(), order.unwrap_or(Scalar::Int(2)), dims, keepdim, dtype),
    }
}

/// `linalg_norm.ord_str`: of matrices.
pub fn linalg_norm_by_name(
    calls: &Calls<'_>,
    this: &IValue,
    order: &str,
    dims: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<AnyTensor> {
    check_dims(tensor(this, "self")?, dims, true)?;
    matrix_norm_by_name(calls, this, order, dims.unwrap_or(&[0, 1]), keepdim, dtype)
}

/// `dist`: the norm of the difference.
pub fn dist(calls: &Calls<'_>, this: &IValue, other: &IValue, order: Scalar) -> Result<AnyTensor> {
    let difference = calls.sub(this.clone(), other.clone())?;
    calls.norm(difference, order, None, false, None)
}

/// The dimension along which a vector product is, of operands that have one.
pub(crate) fn dim_of_cross(a: &AnyTensor, b: &AnyTensor, dim: i64) -> Result<usize> {
    if a.ndim() != b.ndim() || a.ndim() == 0 {
        let accepted = "1 or more, as many as self has";
        return Err(ErrorKind::DimCount { arg: "other", got: b.ndim(), accepted }.into());
    }
    let d = wrap_dim(dim, a.ndim(), "dim")?;
    for (arg, t) in [("self", a), ("other", b)] {
        if t.sizes()[d] != 3 {
            return Err(ErrorKind::UnequalSizes { arg, got: vec![t.sizes()[d]], want: vec![3] }.into());
        }
    }
    if a.dtype() != b.dtype() {
        return Err(rule("self and other are of two dtypes; convert one"));
    }
    if a.dtype() == DType::Bool {
        let accepted = "all dtypes but bool";
        return Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got: DType::Bool, accepted }.into());
    }
    Ok(d)
}

/// `linalg_cross`: the vector product along a dimension of size 3.
pub fn linalg_cross(calls: &Calls<'_>, this: &IValue, other: &IValue, dim: i64) -> Result<AnyTensor> {
    let (a, b) = (tensor(this, "self")?, tensor(other, "other")?);
    let d = dim_of_cross(a, b, dim)?;
    let turned = |t: &AnyTensor, by: i64| {
        let head = calls.narrow(t, d, by, 3_i64.saturating_sub(by))?;
        Callees::cat(calls, vec![head, calls.narrow(t, d, 0, by)?], d)
    };
    let product = |i, j| calls.mul(turned(a, i)?, turned(b, j)?);
    let result = calls.sub(product(1, 2)?, product(2, 1)?)?;
    if result.geometry().is_canonical() { Ok(result) } else { calls.cloned(&result, MemoryFormat::Contiguous) }
}

/// `cross`: along the first dimension of size 3 where none is named.
pub fn cross(calls: &Calls<'_>, this: &IValue, other: &IValue, dim: Option<i64>) -> Result<AnyTensor> {
    let first = || tensor(this, "self").map(|t| t.sizes().iter().position(|&size| size == 3));
    let dim = match dim {
        Some(dim) => dim,
        None => first()?.ok_or_else(|| rule("argument self has no dimension of size 3"))? as i64,
    };
    calls.tensor("linalg_cross", [this.clone(), other.clone(), dim.into()])
}

/// `_foreach_norm.Scalar`: the norm of each tensor.
pub fn foreach_norm(
    calls: &Calls<'_>,
    tensors: &[AnyTensor],
    order: Scalar,
    dtype: Option<DType>,
) -> Result<Vec<AnyTensor>> {
    if tensors.is_empty() {
        return Err(rule("the list is empty; give at least one tensor"));
    }
    super::shape::each(tensors, |t: &AnyTensor| calls.norm(t.clone(), order, None, false, dtype))
}

/// `norm_except_dim`: the norm along all dimensions but one, each of which becomes 1; along all of them for -1.
pub fn norm_except_dim(calls: &Calls<'_>, v: &IValue, order: i64, dim: i64) -> Result<AnyTensor> {
    let v = tensor(v, "v")?;
    let norm = |t: AnyTensor, dims: Option<&[i64]>| calls.norm(t, Scalar::Int(order), dims, false, None);
    if dim == -1 {
        return norm(v.clone(), None);
    }
    let Some(last) = v.ndim().checked_sub(1) else {
        return Err(ErrorKind::DimCount { arg: "v", got: 0, accepted: "1 or more" }.into());
    };
    let dim = wrap_dim(dim, v.ndim(), "dim")?;
    let (size, mut sizes) = (v.sizes()[dim], vec![1; v.ndim()]);
    if dim == last && dim != 0 {
        sizes[dim] = size;
        return calls.reshape(&norm(calls.reshape(v, &[-1, size])?, Some(&[0]))?, &sizes);
    }
    sizes[0] = size;
    let rows = calls.reshape(&calls.transpose(v, 0, dim)?, &[size, -1])?;
    let norms = calls.reshape(&norm(rows, Some(&[1]))?, &sizes)?;
    calls.transpose(&norms, 0, dim)
}

native! {
    family: MatrixNorms, functions: crate::fill::Fills;

    func: linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None)
        -> Tensor,
    autogen: linalg_matrix_norm.out, composite: implicit matrix_norm;

    func: linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2,-1], bool keepdim=False, *,
        ScalarType? dtype=None) -> Tensor,
    autogen: linalg_matrix_norm.str_ord_out, composite: implicit matrix_norm_by_name;

    func: linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
        -> Tensor,
    autogen: linalg_norm.out, composite: implicit linalg_norm;

    func: linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
        -> Tensor,
    autogen: linalg_norm.ord_str_out, composite: implicit linalg_norm_by_name;

    func: dist(Tensor self, Tensor other, Scalar p=2) -> Tensor,
    autogen: dist.out, composite: explicit dist;

    func: norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor, composite: implicit norm_except_dim;

    func: cross(Tensor self, Tensor other, int? dim=None) -> Tensor,
    autogen: cross.out, composite: implicit cross;

    func: _foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[],
    autogen: _foreach_norm.Scalar_out, composite: explicit foreach_norm;
}
