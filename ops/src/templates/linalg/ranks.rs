//! What is composed of singular values: pseudo-inverses and ranks, of which small values count as zero.
#![deny(clippy::arithmetic_side_effects)]

use crate::composite::callees::{Callees, Fillers};
use crate::composite::steps::Steps;
use crate::composite::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

/// The relative distance of the numbers of a dtype.
pub(super) fn epsilon(dtype: DType) -> f64 {
    match dtype.to_real() {
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// Rows and columns of a matrix of floating or complex numbers.
pub(super) fn matrix(this: &AnyTensor) -> Result<[i64; 2]> {
    let &[.., rows, columns] = this.sizes() else {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "2 or more" }.into());
    };
    match this.dtype() {
        got if got.is_integral(true) => {
            let (what, accepted) = ("argument self has dtype", "floating and complex dtypes");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
        _ => Ok([rows, columns]),
    }
}

/// An error if the elements are halves, which have no singular values, even if there are none.
fn check_single(this: &AnyTensor) -> Result<()> {
    match this.dtype() {
        got @ (DType::F16 | DType::BF16) => {
            let (what, accepted) = ("argument self has dtype", "float32, float64, complex64 and complex128");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
        _ => Ok(()),
    }
}

/// What values count as zero: those up to an absolute bound, or up to a relative one times the largest.
struct Bounds {
    absolute: AnyTensor,
    relative: AnyTensor,
}

impl Bounds {
    fn number(calls: &Calls<'_>, this: &AnyTensor, number: f64) -> Result<AnyTensor> {
        let double = calls.empty(&[], DType::F64, this.device(), MemoryFormat::Contiguous)?;
        calls.fill(double.clone(), Scalar::Float(number))?;
        Ok(double)
    }

    /// The relative bound where none is given: the larger side of the matrix times the rounding of its elements.
    fn default(this: &AnyTensor) -> Result<f64> {
        let [rows, columns] = matrix(this)?;
        check_single(this)?;
        Ok(epsilon(this.dtype()) * rows.max(columns) as f64)
    }

    fn of_numbers(calls: &Calls<'_>, this: &AnyTensor, absolute: Option<f64>, relative: Option<f64>) -> Result<Bounds> {
        matrix(this)?;
        let relative = match relative {
            Some(relative) => relative,
            None => Bounds::default(this).map(|bound| if absolute > Some(0.0) { 0.0 } else { bound })?,
        };
        let number = |number| Bounds::number(calls, this, number);
        Ok(Bounds { absolute: number(absolute.unwrap_or(0.0))?, relative: number(relative)? })
    }

    fn of_tensors(calls: &Calls<'_>, this: &AnyTensor, absolute: &IValue, relative: &IValue) -> Result<Bounds> {
        matrix(this)?;
        let given = |value: &IValue, what: &'static str| -> Result<Option<AnyTensor>> {
            match value.as_tensor() {
                Some(t) if t.dtype().is_complex() => {
                    Err(ErrorKind::DTypeNotSupported { what, got: t.dtype(), accepted: "real dtypes" }.into())
                }
                t => Ok(t.cloned()),
            }
        };
        let absolute = given(absolute, "argument atol has dtype")?;
        let relative = given(relative, "argument rtol has dtype")?;
        let number = |number| Bounds::number(calls, this, number);
        let relative = match (relative, &absolute) {
            (Some(relative), _) => relative,
            (None, None) => number(Bounds::default(this)?)?,
            (None, Some(absolute)) => {
                let is_positive = calls.binary("gt.Scalar", absolute.clone(), 0i64)?;
                let choices = [is_positive.into(), number(0.0)?.into(), number(Bounds::default(this)?)?.into()];
                calls.tensor("where.self", choices)?
            }
        };
        Ok(Bounds { absolute: absolute.map_or_else(|| number(0.0), Ok)?, relative })
    }

    /// The bound for each matrix, whose largest values these are.
    fn for_largest(&self, calls: &Calls<'_>, largest: AnyTensor) -> Result<AnyTensor> {
        let last = |t: &AnyTensor| calls.unsqueeze(t, t.ndim());
        let relative = calls.mul(last(&self.relative)?, largest)?;
        calls.tensor("maximum", [last(&self.absolute)?.into(), relative.into()])
    }
}

/// `mH`: a view.
pub(super) fn adjoint(calls: &Calls<'_>, t: &AnyTensor) -> Result<AnyTensor> {
    calls.tensor("mH", [t.clone().into()])
}

fn pseudo_inverse(calls: &Calls<'_>, this: &AnyTensor, bounds: &Bounds, hermitian: bool) -> Result<AnyTensor> {
    check_single(this)?;
    if this.numel() == 0 {
        let mut sizes = this.sizes().to_vec();
        let last = sizes.len().saturating_sub(1);
        sizes.swap(last.saturating_sub(1), last);
        return calls.empty(&sizes, this.dtype(), this.device(), MemoryFormat::Contiguous);
    }
    let (left, values, sizes, right) = if hermitian {
        let [values, vectors] = calls.several("linalg_eigh", [this.clone().into(), IValue::Str("L".into())])?;
        let sizes = calls.unary("abs", values.clone())?;
        (vectors.clone(), values, sizes, adjoint(calls, &vectors)?)
    } else {
        let arguments = [this.clone().into(), false.into(), IValue::None];
        let [u, values, vh] = calls.several("linalg_svd", arguments)?;
        (adjoint(calls, &vh)?, values.clone(), values, adjoint(calls, &u)?)
    };
    let bound = bounds.for_largest(calls, calls.reduced("amax", sizes.clone(), &[-1], true)?)?;
    let counts = calls.binary("gt.Tensor", sizes, bound)?;
    let zero = calls.full_like(&values, &[], Scalar::Int(0))?;
    let inverses = calls.unary("reciprocal", values)?;
    let inverses =
        calls.cast(calls.tensor("where.self", [counts.into(), inverses.into(), zero.into()])?, this.dtype())?;
    let scaled = calls.mul(left, calls.unsqueeze(&inverses, inverses.ndim().saturating_sub(1))?)?;
    calls.tensor("matmul", [scaled.into(), right.into()])
}

/// `linalg_pinv.atol_rtol_tensor`.
pub fn pinv_of_tensors(
    calls: &Calls<'_>,
    this: &IValue,
    atol: &IValue,
    rtol: &IValue,
    hermitian: bool,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    pseudo_inverse(calls, this, &Bounds::of_tensors(calls, this, atol, rtol)?, hermitian)
}

/// `linalg_pinv.atol_rtol_float`.
pub fn pinv_of_numbers(
    calls: &Calls<'_>,
    this: &IValue,
    atol: Option<f64>,
    rtol: Option<f64>,
    hermitian: bool,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    pseudo_inverse(calls, this, &Bounds::of_numbers(calls, this, atol, rtol)?, hermitian)
}

/// `linalg_pinv`: with a relative bound alone.
pub fn pinv(calls: &Calls<'_>, this: &IValue, rcond: f64, hermitian: bool) -> Result<AnyTensor> {
    pinv_of_numbers(calls, this, Some(0.0), Some(rcond), hermitian)
}

/// `linalg_pinv.rcond_tensor`.
pub fn pinv_of_tensor(calls: &Calls<'_>, this: &IValue, rcond: &IValue, hermitian: bool) -> Result<AnyTensor> {
    pinv_of_tensors(calls, this, &IValue::None, rcond, hermitian)
}

/// `pinverse`.
pub fn pinverse(calls: &Calls<'_>, this: &IValue, rcond: f64) -> Result<AnyTensor> {
    pinv(calls, this, rcond, false)
}

fn rank(calls: &Calls<'_>, this: &AnyTensor, bounds: &Bounds, hermitian: bool) -> Result<AnyTensor> {
    let batch = &this.sizes()[..this.ndim().saturating_sub(2)];
    if this.numel() == 0 {
        let format = MemoryFormat::Contiguous;
        let zeros = calls.empty(batch, DType::I64, this.device(), format)?;
        calls.fill(zeros.clone(), Scalar::Int(0))?;
        return Ok(zeros);
    }
    let sizes = if hermitian {
        let values = calls.tensor("linalg_eigvalsh", [this.clone().into(), IValue::Str("L".into())])?;
        calls.unary("abs", values)?
    } else {
        calls.tensor("linalg_svdvals", [this.clone().into(), IValue::None])?
    };
    let bound = bounds.for_largest(calls, calls.reduced("amax", sizes.clone(), &[-1], true)?)?;
    calls.sum(calls.binary("gt.Tensor", sizes, bound)?, &[-1], false)
}

/// `linalg_matrix_rank.atol_rtol_tensor`.
pub fn rank_of_tensors(
    calls: &Calls<'_>,
    this: &IValue,
    atol: &IValue,
    rtol: &IValue,
    hermitian: bool,
) -> Result<AnyTensor> {
    let this = tensor(this, "input")?;
    rank(calls, this, &Bounds::of_tensors(calls, this, atol, rtol)?, hermitian)
}

/// `linalg_matrix_rank.atol_rtol_float`.
pub fn rank_of_numbers(
    calls: &Calls<'_>,
    this: &IValue,
    atol: Option<f64>,
    rtol: Option<f64>,
    hermitian: bool,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    rank(calls, this, &Bounds::of_numbers(calls, this, atol, rtol)?, hermitian)
}

/// `linalg_matrix_rank`: with an absolute bound alone.
pub fn matrix_rank(calls: &Calls<'_>, this: &IValue, tol: f64, hermitian: bool) -> Result<AnyTensor> {
    rank_of_numbers(calls, this, Some(tol), Some(0.0), hermitian)
}

/// `linalg_matrix_rank.tol_tensor`.
pub fn rank_of_tensor(calls: &Calls<'_>, this: &IValue, tol: &IValue, hermitian: bool) -> Result<AnyTensor> {
    let this = tensor(this, "input")?;
    let bounds = Bounds { absolute: tensor(tol, "tol")?.clone(), relative: Bounds::number(calls, this, 0.0)? };
    matrix(this)?;
    rank(calls, this, &bounds, hermitian)
}

/// `svd`: `linalg_svd` with V itself, and zeros in place of vectors that are not asked for.
pub fn svd(calls: &Calls<'_>, this: &IValue, some: bool, vectors: bool) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
    let t = tensor(this, "self")?;
    let [rows, columns] = matrix(t)?;
    if vectors {
        let [u, values, vh] = calls.several("linalg_svd", [this.clone(), (!some).into(), IValue::None])?;
        return Ok((u, values, adjoint(calls, &vh)?));
    }
    let values = calls.tensor("linalg_svdvals", [this.clone(), IValue::None])?;
    let zeros = |size: i64| {
        let mut sizes = t.sizes()[..t.ndim().saturating_sub(2)].to_vec();
        sizes.extend([size, size]);
        calls.full_like(t, &sizes, Scalar::Int(0))
    };
    Ok((zeros(rows)?, values, adjoint(calls, &zeros(columns)?)?))
}

native! {
    family: PseudoInverses, functions: crate::fill::Fills;

    func: linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False)
        -> Tensor,
    out_cast: linalg_pinv.atol_rtol_tensor_out, composite: explicit pinv_of_tensors;

    func: linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False)
        -> Tensor,
    out_cast: linalg_pinv.atol_rtol_float_out, composite: implicit pinv_of_numbers;

    func: linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor,
    out_cast: linalg_pinv.out, composite: implicit pinv;

    func: linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor,
    out_cast: linalg_pinv.out_rcond_tensor, composite: implicit pinv_of_tensor;

    func: pinverse(Tensor self, float rcond=1e-15) -> Tensor, composite: implicit pinverse;

    func: linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None,
        bool hermitian=False) -> Tensor,
    out_cast: linalg_matrix_rank.atol_rtol_tensor_out, composite: implicit rank_of_tensors;

    func: linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None,
        bool hermitian=False) -> Tensor,
    out_cast: linalg_matrix_rank.atol_rtol_float_out, composite: implicit rank_of_numbers;

    func: linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor,
    out_cast: linalg_matrix_rank.out, composite: implicit matrix_rank;

    func: linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor,
    out_cast: linalg_matrix_rank.out_tol_tensor, composite: implicit rank_of_tensor;

    func: svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V),
    out: svd.U, composite: implicit svd;
}
