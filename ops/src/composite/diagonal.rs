//! Diagonals: diag and its relatives, fill_diagonal_, trace; and the gradients of views, which are zero but where the
//! view is. Copies into views of a tensor of zeros.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Callees, Fillers};
use super::tensor;
use crate::fill::Fills;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{
    AnyTensor, DType, Error, ErrorKind, Geometry, IValue, MemoryFormat, Result, Scalar, Tensor, observe,
};
use smallvec::SmallVec;

/// `diag_embed`: the last dimension as a diagonal of two new ones, zeros elsewhere.
pub fn diag_embed<C: Fillers>(calls: &C, this: &C::Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<C::Tensor> {
    let t = C::any(this);
    let Some((&length, others)) = t.sizes().split_last() else {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    };
    let ndim = t.ndim().saturating_add(1);
    let (a, b) = (strides::wrap_dim(dim1, ndim, "dim1")?, strides::wrap_dim(dim2, ndim, "dim2")?);
    if a == b {
        return Err(ErrorKind::DimRepeated { arg: "dim2", dim: a }.into());
    }
    let overflow = || ErrorKind::SizeOverflow { sizes: t.sizes().to_vec(), strides: t.strides().to_vec() };
    let side = offset.checked_abs().and_then(|offset| offset.checked_add(length)).ok_or_else(overflow)?;
    let mut sizes = DimVec::from_slice(others);
    sizes.insert(a.min(b), side);
    sizes.insert(a.max(b), side);
    let result = calls.full_like(this, &sizes, Scalar::Int(0))?;
    calls.copy_into(calls.diagonal(&result, offset, a, b)?, this)?;
    Ok(result)
}

/// `diag`: a matrix with this diagonal, or the diagonal of a matrix, as a copy.
pub fn diag<C: Fillers>(calls: &C, this: &C::Tensor, diagonal: i64) -> Result<C::Tensor> {
    match C::any(this).ndim() {
        1 => diag_embed(calls, this, diagonal, 0, 1),
        2 => calls.cloned(&calls.diagonal(this, diagonal, 0, 1)?, MemoryFormat::Contiguous),
        got => Err(ErrorKind::DimCount { arg: "self", got, accepted: "1 and 2" }.into()),
    }
}

/// `diagflat`: a matrix whose diagonal has all elements in row-major order.
pub fn diagflat<C: Fillers>(calls: &C, this: &C::Tensor, offset: i64) -> Result<C::Tensor> {
    let flat = calls.reshape(this, &[C::any(this).numel() as i64])?;
    diag_embed(calls, &flat, offset, 0, 1)
}

/// `fill_diagonal_`: one number on the diagonal where all indices are equal; in a tall matrix again behind each square.
pub fn fill_diagonal_<D: Fills>(
    this: &mut Tensor<D>,
    fill_value: impl Into<Scalar>,
    wrap: bool,
) -> Result<&mut Tensor<D>> {
    let _span = observe::operator("fill_diagonal_", [this.geometry()]);
    let fill_value = fill_value.into();
    diagonals(this.geometry(), wrap)
        .and_then(|diagonals| {
            let whole = this.geometry().clone();
            // Not through a view: it would be a second tensor of a storage that may have to be the only one's. The
            // last diagonal reaches furthest: of a column-major matrix perhaps past the storage, which is an error
            // before any is filled.
            let filled = diagonals.last().map_or(Ok(()), |last| this.set_view(last.clone())).and_then(|()| {
                diagonals.into_iter().try_for_each(|diagonal| {
                    this.set_view(diagonal)?;
                    crate::fill::fill_(this, fill_value).map(drop)
                })
            });
            this.set_view(whole)?;
            filled
        })
        .map_err(|e: Error| e.of("fill_diagonal_"))?;
    Ok(this)
}

/// The views that `fill_diagonal_` fills.
fn diagonals(g: &Geometry, wrap: bool) -> Result<SmallVec<[Geometry; 2]>> {
    let &[height, width, ..] = g.sizes() else {
        return Err(ErrorKind::DimCount { arg: "self", got: g.ndim(), accepted: "2 or more" }.into());
    };
    if g.ndim() > 2 && g.sizes().iter().any(|&size| size != height) {
        let (got, want) = (g.sizes().to_vec(), vec![height; g.ndim()]);
        return Err(ErrorKind::UnequalSizes { arg: "self", got, want }.into());
    }
    // Between elements of the tensor, whose offsets do not overflow.
    let step = g.strides().iter().copied().fold(0, i64::wrapping_add);
    let length = height.min(width);
    let diagonal = |length: i64, offset: i64| crate::view::as_strided(g, &[length], &[step], Some(offset));
    let mut diagonals = SmallVec::from_elem(diagonal(length, g.offset())?, 1);
    let square = width.saturating_add(1);
    if wrap && g.ndim() == 2 && height > square {
        let all = (g.numel() as i64).saturating_add(width).checked_div(square).unwrap_or(0);
        let offset = g.offset().wrapping_add(g.strides()[0].wrapping_mul(square));
        diagonals.push(diagonal(all.saturating_sub(length), offset)?);
    }
    Ok(diagonals)
}

/// Zeros of these sizes, but for a view, which has the elements of `grad`.
fn scattered<C: Fillers>(
    calls: &C,
    grad: &C::Tensor,
    sizes: &[i64],
    view: impl FnOnce(&C::Tensor) -> Result<C::Tensor>,
) -> Result<C::Tensor> {
    let result = calls.full_like(grad, sizes, Scalar::Int(0))?;
    calls.copy_into(view(&result)?, grad)?;
    Ok(result)
}

/// `select_backward`: the gradient of `select`.
pub fn select_backward<C: Fillers>(
    calls: &C,
    grad: &C::Tensor,
    sizes: &[i64],
    dim: i64,
    index: i64,
) -> Result<C::Tensor> {
    scattered(calls, grad, sizes, |t| calls.select(t, strides::wrap_dim(dim, sizes.len(), "dim")?, index))
}

/// `slice_backward`: the gradient of `slice`.
pub fn slice_backward<C: Fillers>(
    calls: &C,
    grad: &C::Tensor,
    sizes: &[i64],
    dim: i64,
    start: i64,
    end: i64,
    step: i64,
) -> Result<C::Tensor> {
    scattered(calls, grad, sizes, |t| calls.sliced(t, strides::wrap_dim(dim, sizes.len(), "dim")?, [start, end, step]))
}

/// `diagonal_backward`: the gradient of `diagonal`.
pub fn diagonal_backward<C: Fillers>(
    calls: &C,
    grad: &C::Tensor,
    sizes: &[i64],
    offset: i64,
    dim1: i64,
    dim2: i64,
) -> Result<C::Tensor> {
    scattered(calls, grad, sizes, |t| {
        let dim = |dim: i64, arg| strides::wrap_dim(dim, sizes.len(), arg);
        calls.diagonal(t, offset, dim(dim1, "dim1")?, dim(dim2, "dim2")?)
    })
}

/// An error for what has no trace.
pub(crate) fn check_trace(sizes: &[i64], dtype: DType) -> Result<()> {
    if sizes.len() != 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: sizes.len(), accepted: "2" }.into());
    }
    if dtype == DType::Bool {
        let (what, accepted) = ("argument self has dtype", "all dtypes but bool");
        return Err(ErrorKind::DTypeNotSupported { what, got: DType::Bool, accepted }.into());
    }
    Ok(())
}

/// `trace`: the sum of the diagonal of a matrix.
pub fn trace(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    let t = tensor(this, "self")?;
    check_trace(t.sizes(), t.dtype())?;
    let diagonal = Callees::diagonal(calls, t, 0, 0, 1)?;
    calls.tensor("sum", [diagonal.into(), IValue::None])
}

native! {
    family: Diagonals, functions: crate::fill::Fills;

    /// The last dimension as a diagonal of two new ones, and 0 elsewhere.
    ///
    /// The diagonal is `offset` above the main one of the dimensions `dim1` and `dim2`: 0, and the last two unless
    /// options say otherwise.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].diag_embed()?.to_vec::<i32>()?, [1, 0, 0, 2]);
    /// ```
    func: diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor,
    autogen: diag_embed.out, variants: function, direct: true, composed: nonfunctional diag_embed;

    /// A matrix with this vector on its diagonal, or a copy of the diagonal of a matrix.
    ///
    /// With the option `diagonal` it is the one so far above the main diagonal.
    ///
    /// ```
    /// let x = tensor![1, 2].diag()?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 0, 0, 2]);
    /// assert_eq!(x.diag()?.to_vec::<i32>()?, [1, 2]);
    /// ```
    func: diag(Tensor self, int diagonal=0) -> Tensor,
    autogen: diag.out, variants: function, composed: implicit diag;

    /// A matrix whose diagonal has all elements of the tensor, in row-major order.
    ///
    /// ```
    /// assert_eq!(tensor![[1], [2]].diagflat()?.to_vec::<i32>()?, [1, 0, 0, 2]);
    /// ```
    func: diagflat(Tensor self, int offset=0) -> Tensor,
    variants: function, composed: implicit diagflat;

    func: fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!),
    kernel: fill_diagonal_;

    func: select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor,
    autogen: select_backward.out, direct: true, composed: nonfunctional select_backward;

    func: slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step)
        -> Tensor,
    autogen: slice_backward.out, direct: true, composed: explicit slice_backward;

    func: diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor,
    autogen: diagonal_backward.out, direct: true, composed: explicit diagonal_backward;
}
