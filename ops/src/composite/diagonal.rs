//! Diagonals and triangles: diag and its relatives, tril, triu, trace; and the gradients of views, which are zero but
//! where the view is. Copies into views of a tensor of zeros.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Callees, Fillers};
use super::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

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

/// `tril`: the elements up to a diagonal, zeros above it.
pub fn tril<C: Fillers>(calls: &C, this: &C::Tensor, diagonal: i64) -> Result<C::Tensor> {
    let result = zeros_of_matrices(calls, this)?;
    copy_lower(calls, this, &result, diagonal)?;
    Ok(result)
}

/// `triu`: the elements from a diagonal on, zeros below it. They are the lower ones of the transposed matrix.
pub fn triu<C: Fillers>(calls: &C, this: &C::Tensor, diagonal: i64) -> Result<C::Tensor> {
    let result = zeros_of_matrices(calls, this)?;
    let last = C::any(this).ndim().saturating_sub(1);
    let [from, to] = [this, &result].map(|t| calls.transpose(t, last.saturating_sub(1), last));
    copy_lower(calls, &from?, &to?, diagonal.saturating_neg())?;
    Ok(result)
}

fn zeros_of_matrices<C: Fillers>(calls: &C, this: &C::Tensor) -> Result<C::Tensor> {
    let t = C::any(this);
    match t.ndim() {
        got @ 0..2 => Err(ErrorKind::DimCount { arg: "self", got, accepted: "2 or more" }.into()),
        _ => calls.full_like(this, t.sizes(), Scalar::Int(0)),
    }
}

/// Copies the elements of matrices up to a diagonal, in as few copies as their sizes have bits:
///
/// ```text
///   a a a b            whole rows and columns at once; of the triangle between them the diagonal, the blocks of
///   a a a c b          one element below it (c), those of two (d), of four (e), ...: blocks of a size lie at equal
///   a a a d d b        distances, so all of them are one view
///   a a a d d c b
/// ```
fn copy_lower<C: Fillers>(calls: &C, from: &C::Tensor, to: &C::Tensor, diagonal: i64) -> Result<()> {
    let &[.., rows, columns] = C::any(from).sizes() else { return Ok(()) };
    let last = C::any(from).ndim().saturating_sub(1);
    let copy = |part: &dyn Fn(&C::Tensor) -> Result<C::Tensor>| calls.copy_into(part(to)?, &part(from)?);
    // Rows before the first one are empty, those from the second one on are whole.
    let whole = columns.saturating_sub(diagonal).saturating_sub(1).clamp(0, rows);
    let first = diagonal.saturating_neg().clamp(0, whole);
    let rows_from =
        |t: &C::Tensor, start: i64, end: i64| calls.narrow(t, last.saturating_sub(1), start, end.saturating_sub(start));
    if whole < rows {
        copy(&|t| rows_from(t, whole, rows))?;
    }
    // The triangle has `n` rows, and begins behind columns that all of its rows have.
    let (n, left) = (whole.saturating_sub(first), first.saturating_add(diagonal));
    if n == 0 {
        return Ok(());
    }
    if left > 0 {
        copy(&|t| calls.narrow(&rows_from(t, first, whole)?, last, 0, left))?;
    }
    let corner = |t: &C::Tensor| calls.narrow(&rows_from(t, first, whole)?, last, left, n);
    let (from, to) = (corner(from)?, corner(to)?);
    let copy = |part: &dyn Fn(&C::Tensor) -> Result<C::Tensor>| calls.copy_into(part(&to)?, &part(&from)?);
    copy(&|t| calls.diagonal(t, 0, last.saturating_sub(1), last))?;
    let mut side = 1_i64;
    while side < n {
        let (pair, whole_pairs) = (side.saturating_mul(2), n.checked_div(side.saturating_mul(2)).unwrap_or(0));
        let start = whole_pairs.saturating_mul(pair);
        // A view of them all has a dimension more than the tensor.
        let together = if last.saturating_add(1) < strides::MAX_DIMS { whole_pairs } else { 1 };
        for block in (0..whole_pairs).step_by(together.max(1) as usize) {
            copy(&|t| blocks(calls, t, [together, side, side], block.saturating_mul(pair)))?;
        }
        let height = n.saturating_sub(start).saturating_sub(side);
        if height > 0 {
            copy(&|t| blocks(calls, t, [1, height, side], start))?;
        }
        side = pair;
    }
    Ok(())
}

/// Blocks of a size below the diagonal of matrices: as many as are said, the first one beside element `start` of the
/// diagonal, the others each two widths further.
fn blocks<C: Callees>(
    calls: &C,
    corner: &C::Tensor,
    [count, height, width]: [i64; 3],
    start: i64,
) -> Result<C::Tensor> {
    let t = C::any(corner);
    let (mut sizes, mut strides) = (DimVec::from_slice(t.sizes()), DimVec::from_slice(t.strides()));
    let (Some(down), Some(right)) = (strides.iter().rev().nth(1).copied(), strides.last().copied()) else {
        return Ok(corner.clone());
    };
    sizes.truncate(sizes.len().saturating_sub(2));
    strides.truncate(sizes.len());
    sizes.extend((count > 1).then_some(count));
    sizes.extend([height, width]);
    // Distances of elements of the matrix, which do not overflow.
    let along = down.wrapping_add(right);
    strides.extend((count > 1).then(|| along.wrapping_mul(width).wrapping_mul(2)));
    strides.extend([down, right]);
    let offset = t.offset().wrapping_add(along.wrapping_mul(start)).wrapping_add(down.wrapping_mul(width));
    calls.as_strided(corner, &sizes, &strides, offset)
}

/// `fill_diagonal_`: one number on the diagonal where all indices are equal; in a tall matrix again behind each square.
pub fn fill_diagonal_(calls: &Calls<'_>, this: &IValue, fill_value: Scalar, wrap: bool) -> Result<AnyTensor> {
    let t = tensor(this, "self")?;
    let (&[height, width, ..], numel) = (t.sizes(), t.numel() as i64) else {
        return Err(ErrorKind::DimCount { arg: "self", got: t.ndim(), accepted: "2 or more" }.into());
    };
    if t.ndim() > 2 && t.sizes().iter().any(|&size| size != height) {
        let (got, want) = (t.sizes().to_vec(), vec![height; t.ndim()]);
        return Err(ErrorKind::UnequalSizes { arg: "self", got, want }.into());
    }
    // Between elements of the tensor, whose offsets do not overflow.
    let step = t.strides().iter().copied().fold(0, i64::wrapping_add);
    let length = height.min(width);
    let fill = |length: i64, offset: i64| {
        let (size, stride) = (IValue::Ints(vec![length]), IValue::Ints(vec![step]));
        let diagonal = calls.tensor("as_strided", [t.clone().into(), size, stride, offset.into()])?;
        calls.tensor("fill_.Scalar", [diagonal.into(), fill_value.into()])
    };
    fill(length, t.offset())?;
    let square = width.saturating_add(1);
    if wrap && t.ndim() == 2 && height > square {
        let again = numel.saturating_add(width).checked_div(square).unwrap_or(0).saturating_sub(length);
        fill(again, t.offset().wrapping_add(t.strides()[0].wrapping_mul(square)))?;
    }
    Ok(t.clone())
}

/// Zeros of these sizes, but for the view `name`, which has the elements of `grad`.
fn scattered<const N: usize>(
    calls: &Calls<'_>,
    grad: &IValue,
    sizes: &[i64],
    name: &str,
    view: impl FnOnce(IValue) -> [IValue; N],
) -> Result<AnyTensor> {
    let grad = tensor(grad, "grad_output")?;
    let result = calls.full_like(grad, sizes, Scalar::Int(0))?;
    let place = calls.tensor(name, view(result.clone().into()))?;
    calls.copy_into(place, grad)?;
    Ok(result)
}

/// `select_backward`: the gradient of `select`.
pub fn select_backward(calls: &Calls<'_>, grad: &IValue, sizes: &[i64], dim: i64, index: i64) -> Result<AnyTensor> {
    scattered(calls, grad, sizes, "select.int", |t| [t, dim.into(), index.into()])
}

/// `slice_backward`: the gradient of `slice`.
pub fn slice_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    sizes: &[i64],
    dim: i64,
    start: i64,
    end: i64,
    step: i64,
) -> Result<AnyTensor> {
    scattered(calls, grad, sizes, "slice.Tensor", |t| [t, dim.into(), start.into(), end.into(), step.into()])
}

/// `diagonal_backward`: the gradient of `diagonal`.
pub fn diagonal_backward(
    calls: &Calls<'_>,
    grad: &IValue,
    sizes: &[i64],
    offset: i64,
    dim1: i64,
    dim2: i64,
) -> Result<AnyTensor> {
    scattered(calls, grad, sizes, "diagonal", |t| [t, offset.into(), dim1.into(), dim2.into()])
}

/// `trace`: the sum of the diagonal of a matrix.
pub fn trace(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    let t = tensor(this, "self")?;
    if t.ndim() != 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: t.ndim(), accepted: "2" }.into());
    }
    if t.dtype() == DType::Bool {
        let (what, accepted) = ("argument self has dtype", "all dtypes but bool");
        return Err(ErrorKind::DTypeNotSupported { what, got: DType::Bool, accepted }.into());
    }
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
    autogen: diag_embed.out, variants: function, composed: nonfunctional diag_embed;

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

    /// The lower triangle of matrices, a copy with 0 above a diagonal.
    ///
    /// The diagonal is part of it, and lies `diagonal` above the main one, 0 unless options say otherwise. Dimensions
    /// in front of the last two are a batch.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].tril()?.to_vec::<i32>()?, [1, 0, 3, 4]);
    /// ```
    func: tril(Tensor self, SymInt diagonal=0) -> Tensor,
    inplace: tril_, autogen: tril.out, variants: function, composed: explicit tril;

    /// The upper triangle of matrices, a copy with 0 below a diagonal.
    ///
    /// The diagonal is part of it, and lies `diagonal` above the main one, 0 unless options say otherwise. Dimensions
    /// in front of the last two are a batch.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].triu()?.to_vec::<i32>()?, [1, 2, 0, 4]);
    /// ```
    func: triu(Tensor self, SymInt diagonal=0) -> Tensor,
    inplace: triu_, autogen: triu.out, variants: function, composed: explicit triu;

    func: fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!),
    composite: implicit fill_diagonal_;

    func: select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor,
    autogen: select_backward.out, composite: nonfunctional select_backward;

    func: slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step)
        -> Tensor,
    autogen: slice_backward.out, composite: explicit slice_backward;

    func: diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor,
    autogen: diagonal_backward.out, composite: explicit diagonal_backward;

    func: trace(Tensor self) -> Tensor,
    autogen: trace.out, composite: explicit trace;
}
