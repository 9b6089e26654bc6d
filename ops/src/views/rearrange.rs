//! Views that rearrange, merge or slide over dimensions, and their copying forms. Geometry to geometry, as in
//! `view.rs`, which owns the elementary ones; so is their arithmetic.
#![deny(clippy::arithmetic_side_effects)]

use crate::table::native;
use crate::view::{expand, is_in, reshaped, transpose, view, windows};
use monomorph_core::strides::{self, DimVec};
use monomorph_core::structured::Operand;
use monomorph_core::{DType, ErrorKind, Geometry, Result};
use smallvec::SmallVec;

/// `t`: a matrix with its dimensions exchanged; up to two dimensions are accepted.
pub fn t(g: &Geometry) -> Result<Geometry> {
    match g.ndim() {
        0 | 1 => Ok(g.clone()),
        2 => transpose(g, 0, 1),
        got => Err(ErrorKind::DimCount { arg: "self", got, accepted: "2 or fewer" }.into()),
    }
}

/// `numpy_T`: the dimensions in reverse order.
pub fn numpy_t(g: &Geometry) -> Result<Geometry> {
    let reversed = |of: &[i64]| -> DimVec { of.iter().rev().copied().collect() };
    reshaped(g, &reversed(g.sizes()), &reversed(g.strides()), g.offset())
}

/// `mT`: the last two dimensions exchanged.
pub fn matrices_t(g: &Geometry) -> Result<Geometry> {
    match g.ndim() {
        0 => Ok(g.clone()),
        1 => Err(ErrorKind::DimCount { arg: "self", got: 1, accepted: "0, 2 or more" }.into()),
        _ => transpose(g, -2, -1),
    }
}

/// `adjoint`, `mH`: the last two dimensions exchanged, complex elements conjugated.
pub fn adjoint(g: &Geometry) -> Result<Geometry> {
    crate::complex_view::conj(&matrices_t(g)?)
}

/// `matrix_H`: the same for one matrix.
pub fn matrix_h(g: &Geometry) -> Result<Geometry> {
    match g.ndim() {
        0 | 2 => adjoint(g),
        got => Err(ErrorKind::DimCount { arg: "self", got, accepted: "0 or 2" }.into()),
    }
}

/// `movedim`, `moveaxis`: dimension `source[i]` becomes dimension `destination[i]`; the others keep their order.
pub fn movedim(g: &Geometry, source: &[i64], destination: &[i64]) -> Result<Geometry> {
    if source.len() != destination.len() {
        let (got, want) = (destination.len(), source.len());
        return Err(ErrorKind::ListLength { arg: "destination", got, want }.into());
    }
    let moved = strides::wrap_dims(source, g.ndim(), "source")?;
    strides::wrap_dims(destination, g.ndim(), "destination")?;
    if g.ndim() == 0 {
        return Ok(g.clone());
    }
    let mut order: SmallVec<[Option<usize>; 8]> = SmallVec::from_elem(None, g.ndim());
    for (&from, &to) in source.iter().zip(destination) {
        let to = strides::wrap_dim(to, g.ndim(), "destination")?;
        order[to] = Some(strides::wrap_dim(from, g.ndim(), "source")?);
    }
    let mut others = (0..g.ndim()).filter(|&d| !is_in(moved, d));
    let order: SmallVec<[usize; 8]> = order.into_iter().filter_map(|d| d.or_else(|| others.next())).collect();
    let pick = |of: &[i64]| -> DimVec { order.iter().map(|&d| of[d]).collect() };
    reshaped(g, &pick(g.sizes()), &pick(g.strides()), g.offset())
}

/// `movedim.int`, `moveaxis.int`: one dimension.
pub fn movedim_int(g: &Geometry, source: i64, destination: i64) -> Result<Geometry> {
    movedim(g, &[source], &[destination])
}

/// `diagonal`: the elements at which two dimensions have indices that differ by `offset`, as a last dimension.
pub fn diagonal(g: &Geometry, offset: i64, dim1: i64, dim2: i64) -> Result<Geometry> {
    let (a, b) = (strides::wrap_dim(dim1, g.ndim(), "dim1")?, strides::wrap_dim(dim2, g.ndim(), "dim2")?);
    if a == b {
        return Err(ErrorKind::DimRepeated { arg: "dim2", dim: a }.into());
    }
    let (rows, columns) = (g.sizes()[a], g.sizes()[b]);
    let length = if offset >= 0 {
        rows.min(columns.saturating_sub(offset)).max(0)
    } else {
        columns.min(rows.saturating_add(offset)).max(0)
    };
    // Where the diagonal begins: as many columns, or rows, behind the first.
    let begin = match length {
        0 => g.offset(),
        _ if offset >= 0 => g.offset_at(b, offset),
        _ => g.offset_at(a, offset.wrapping_neg()),
    };
    let kept = |of: &[i64]| -> DimVec { (0..g.ndim()).filter(|&d| d != a && d != b).map(|d| of[d]).collect() };
    let (mut sizes, mut new) = (kept(g.sizes()), kept(g.strides()));
    sizes.push(length);
    new.push(g.strides()[a].wrapping_add(g.strides()[b]));
    reshaped(g, &sizes, &new, begin)
}

/// `unfold`: every window of `size` neighbours in a dimension, `step` apart; the window is a new last dimension.
pub fn unfold(g: &Geometry, dimension: i64, size: i64, step: i64) -> Result<Geometry> {
    let d = strides::wrap_dim(dimension, g.ndim(), "dimension")?;
    let (length, stride) = match g.ndim() {
        0 => (1, 1),
        _ => (g.sizes()[d], g.strides()[d]),
    };
    if size < 0 || size > length {
        return Err(ErrorKind::OutOfRange { arg: "size", got: size, low: 0, high: length }.into());
    }
    if step <= 0 {
        return Err(ErrorKind::OutOfRange { arg: "step", got: step, low: 1, high: i64::MAX }.into());
    }
    let (mut sizes, mut new) = (DimVec::from_slice(g.sizes()), DimVec::from_slice(g.strides()));
    if g.ndim() > 0 {
        sizes[d] = windows(length, size, step);
        new[d] = stride.wrapping_mul(step);
    }
    sizes.push(size);
    new.push(stride);
    reshaped(g, &sizes, &new, g.offset())
}

/// `unflatten.int`: one dimension as several whose product it is. One size may be -1.
pub fn unflatten(g: &Geometry, dim: i64, sizes: &[i64]) -> Result<Geometry> {
    if sizes.is_empty() {
        return Err(ErrorKind::ArgumentRule { rule: "sizes must name at least one dimension" }.into());
    }
    if g.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    let d = strides::wrap_dim(dim, g.ndim(), "dim")?;
    let parts = strides::infer_size(sizes, g.sizes()[d] as usize)?;
    let mut all = DimVec::from_slice(&g.sizes()[..d]);
    all.extend(parts);
    all.extend(g.sizes().iter().skip(d).skip(1).copied());
    view(g, &all)
}

/// `expand_as`: expanded to the sizes of another tensor.
pub fn expand_as(g: &Geometry, other: Operand<'_>) -> Result<Geometry> {
    expand(g, other.sizes(), false)
}

/// `view_as`: viewed with the sizes of another tensor.
pub fn view_as(g: &Geometry, other: Operand<'_>) -> Result<Geometry> {
    view(g, other.sizes())
}

/// `broadcast_to`: expanded.
pub fn broadcast_to(g: &Geometry, size: &[i64]) -> Result<Geometry> {
    expand(g, size, false)
}

/// `_reshape_alias`: sizes and strides that the caller knows to be a view.
pub fn reshape_alias(g: &Geometry, size: &[i64], stride: &[i64]) -> Result<Geometry> {
    reshaped(g, size, stride, g.offset())
}

/// `slice_inverse`: what `src` is, over the storage that a slice of it was taken from.
pub fn slice_inverse(
    g: &Geometry,
    src: Operand<'_>,
    _dim: i64,
    _start: Option<i64>,
    _end: Option<i64>,
    _step: i64,
) -> Result<Geometry> {
    let Some(base) = src.geometry() else {
        return Err(ErrorKind::ArgumentRule { rule: "argument src must be a tensor" }.into());
    };
    reshaped(g, base.sizes(), base.strides(), base.offset())
}

/// `positive`: the tensor itself; not of bools.
pub fn positive(g: &Geometry) -> Result<Geometry> {
    if g.dtype() == DType::Bool {
        let (what, accepted) = ("argument self has dtype", "integers, floats and complex");
        return Err(ErrorKind::DTypeNotSupported { what, got: DType::Bool, accepted }.into());
    }
    Ok(g.clone())
}

native! {
    family: Rearrange, functions: crate::fill::Fills;

    /// Transposes a matrix; a tensor of fewer dimensions stays as it is.
    ///
    /// More than two dimensions are an error: use [`mt`](super::functions::mt) or
    /// [`transpose`](super::functions::transpose). The result shares the storage.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.t()?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// ```
    func: t(Tensor(a) self) -> Tensor(a),
    inplace: t_, copy: t_copy, copy_out: t_copy.out, variants: function, method, view: t;

    /// Reverses the dimensions, as `T` of a tensor does in PyTorch.
    ///
    /// The result shares the storage.
    ///
    /// ```
    /// assert_eq!(ops::zeros((2, 3, 5), F32)?.numpy_t()?.sizes(), [5, 3, 2]);
    /// ```
    func: numpy_T(Tensor(a) self) -> Tensor(a),
    variants: function, method, name: numpy_t, view: numpy_t;

    /// Exchanges the last two dimensions, so that each matrix of a batch is transposed.
    ///
    /// A tensor of one dimension is an error. The result shares the storage.
    ///
    /// ```
    /// assert_eq!(ops::zeros((2, 3, 5), F32)?.mt()?.sizes(), [2, 5, 3]);
    /// ```
    func: mT(Tensor(a) self) -> Tensor(a),
    variants: function, method, name: mt, view: matrices_t;

    /// [`adjoint`](super::functions::adjoint) under another name.
    func: mH(Tensor(a) self) -> Tensor(a),
    variants: function, method, name: mh, view: adjoint;

    /// Exchanges the last two dimensions and conjugates complex numbers.
    ///
    /// A tensor of one dimension is an error. The result shares the storage; the conjugate is computed where it is
    /// read.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![[Complex32::new(1.0, 2.0), Complex32::new(3.0, 4.0)]];
    /// assert_eq!(z.adjoint()?.sizes(), [2, 1]);
    /// assert_eq!(z.adjoint()?.at::<Complex32>((1, 0))?, Complex32::new(3.0, -4.0));
    /// ```
    func: adjoint(Tensor(a) self) -> Tensor(a),
    variants: function, method, view: adjoint;

    /// Transposes a matrix and conjugates complex numbers.
    ///
    /// It is [`adjoint`](super::functions::adjoint), which also takes batches. The result shares the storage. Tensors
    /// of one dimension and of more than two are an error.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].matrix_h()?.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// ```
    func: matrix_H(Tensor(a) self) -> Tensor(a),
    variants: function, method, name: matrix_h, view: matrix_h;

    /// [`transpose`](super::functions::transpose) under another name.
    func: swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a),
    inplace: swapaxes_, variants: function, method, view: crate::view::transpose;

    /// [`transpose`](super::functions::transpose) under another name.
    func: swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a),
    inplace: swapdims_, variants: function, method, view: crate::view::transpose;

    /// Moves the dimensions `source` to the places `destination`; the others keep their order.
    ///
    /// The result shares the storage.
    ///
    /// ```
    /// let x = ops::zeros((2, 3, 5), F32)?;
    /// assert_eq!(x.movedim(0, -1)?.sizes(), [3, 5, 2]);
    /// assert_eq!(x.movedim((0, 1), (1, 2))?.sizes(), [5, 2, 3]);
    /// ```
    func: movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a),
    variants: function, method, view: movedim;

    func: movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a),
    view: movedim_int;

    /// [`movedim`](super::functions::movedim) under another name.
    func: moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a),
    variants: function, method, view: movedim;

    func: moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a),
    view: movedim_int;

    /// The diagonal of the dimensions `dim1` and `dim2`, as a last dimension in place of both.
    ///
    /// A positive `offset` is above the main diagonal, a negative one below; outside of the matrix the diagonal is
    /// empty. The result shares the storage.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.diagonal()?.to_vec::<i32>()?, [1, 5]);
    /// let above = Diagonal { offset: 1, ..Default::default() };
    /// assert_eq!(x.diagonal_with(above)?.to_vec::<i32>()?, [2, 6]);
    /// ```
    func: diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a),
    copy: diagonal_copy, copy_out: diagonal_copy.out, variants: function, method, view: diagonal;

    /// Windows of `size` indices of `dimension`, each `step` behind the one before it.
    ///
    /// The dimension becomes that of the windows, and what is in a window is a new last dimension. The result shares
    /// the storage, and windows may overlap. A `size` beyond the dimension is an error.
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4, 5];
    /// let windows = x.unfold(0, 3, 2)?;
    /// assert_eq!(windows.sizes(), [2, 3]);
    /// assert_eq!(windows.to_vec::<i32>()?, [1, 2, 3, 3, 4, 5]);
    /// ```
    func: unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a),
    copy: unfold_copy, copy_out: unfold_copy.out, variants: function, method, view: unfold;

    /// Splits the dimension `dim` into dimensions of the sizes `sizes`, one of which may be -1.
    ///
    /// The result shares the storage.
    ///
    /// ```
    /// assert_eq!(ops::arange(12)?.unflatten(0, (3, -1))?.sizes(), [3, 4]);
    /// ```
    func: unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a),
    variants: function, method, view: unflatten;

    /// Broadcasts to the sizes of `other` without a copy, as [`expand`](super::functions::expand).
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// assert_eq!(x.expand_as(&ops::zeros((3, 2), F32)?)?.sizes(), [3, 2]);
    /// ```
    func: expand_as(Tensor(a) self, Tensor other) -> Tensor(a),
    variants: function, method, view: expand_as;

    /// Views the elements in the sizes of `other`, as [`view`](super::functions::view).
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4];
    /// assert_eq!(x.view_as(&tensor![[0, 0], [0, 0]])?.sizes(), [2, 2]);
    /// ```
    func: view_as(Tensor(a) self, Tensor other) -> Tensor(a),
    variants: function, method, view: view_as;

    /// [`expand`](super::functions::expand) under another name.
    func: broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a),
    variants: function, method, view: broadcast_to;

    /// [`as_strided`](super::functions::as_strided) under another name, for strides that
    /// [`reshape`](super::functions::reshape) has computed.
    func: _reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a),
    copy: _reshape_alias_copy, copy_out: _reshape_alias_copy.out, variants: function, method, view: reshape_alias;

    /// Views the elements in other sizes, as [`view`](super::functions::view), for a tensor that nobody else uses.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2, 3, 4].unsafe_view((2, 2))?.sizes(), [2, 2]);
    /// ```
    func: _unsafe_view(Tensor self, SymInt[] size) -> Tensor,
    copy_out: _unsafe_view.out, variants: function, method, view: crate::view::view, silent_view: true;

    /// The tensor that `self` is a slice of: a view of the storage with the sizes and strides of `src`.
    ///
    /// ```
    /// let x = tensor![0, 1, 2, 3];
    /// let part = x.slice(0, Some(1), Some(3), 1)?;
    /// let all = part.slice_inverse_with(&x, SliceInverse { start: Some(1), end: Some(3), ..Default::default() })?;
    /// assert_eq!(all.sizes(), [4]);
    /// ```
    func: slice_inverse(Tensor(a) self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None,
        SymInt step=1) -> Tensor(a),
    variants: function, method, view: slice_inverse;

    /// A second tensor of the same storage; there is no gradient that it could be detached from.
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// x.detach()?.fill_(3)?;
    /// assert_eq!(x.to_vec::<i32>()?, [3, 3]);
    /// ```
    func: detach(Tensor(a) self) -> Tensor(a),
    inplace: detach_, copy: detach_copy, copy_out: detach_copy.out, variants: function, method,
    view: crate::view::alias;

    /// [`alias`](super::functions::alias) of a tensor that was just made.
    func: lift_fresh(Tensor(a) self) -> Tensor(a),
    copy: lift_fresh_copy, copy_out: lift_fresh_copy.out, variants: function, method, view: crate::view::alias;

    /// The tensor itself, as a view; bool is an error.
    ///
    /// ```
    /// assert_eq!(tensor![-1, 2].positive()?.to_vec::<i32>()?, [-1, 2]);
    /// ```
    func: positive(Tensor(a) self) -> Tensor(a),
    variants: function, method, view: positive;
}
