//! Views: each is a function from a geometry to a geometry over the same storage, so that the view, its in-place form
//! and later its copying form are one definition. Nothing here touches a storage.
//!
//! Strides and offsets are computed modulo 2⁶⁴, as `monomorph_core::strides` explains: exact for elements that exist.
#![deny(clippy::arithmetic_side_effects)]

use crate::table::native;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{DType, ErrorKind, Geometry, Result};
use smallvec::SmallVec;

/// The same bits and names-free geometry with other sizes and strides.
pub(crate) fn reshaped(g: &Geometry, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Geometry> {
    Ok(Geometry::new(g.dtype(), sizes, strides, offset)?.with_conj(g.is_conj()).with_neg(g.is_neg()))
}

/// `view`: other sizes of the same elements in the same order, where the strides allow it. One size may be -1.
pub fn view(g: &Geometry, size: &[i64]) -> Result<Geometry> {
    let sizes = strides::infer_size(size, g.numel())?;
    match strides::view_strides(g.sizes(), g.strides(), &sizes) {
        Some(new) => reshaped(g, &sizes, &new, g.offset()),
        None => {
            let (old, strides) = (g.sizes().to_vec(), g.strides().to_vec());
            Err(ErrorKind::ImpossibleView { sizes: old, strides, want: sizes.to_vec() }.into())
        }
    }
}

/// `view.dtype`: the same bytes as elements of another dtype. A larger or smaller element changes the last size.
pub fn view_dtype(g: &Geometry, dtype: DType) -> Result<Geometry> {
    let rule = |rule| Err(ErrorKind::ArgumentRule { rule }.into());
    if g.is_conj() || g.is_neg() {
        return rule(
            "a tensor with its conj or neg bit set has no bytes of its own to view as another dtype; clone it first",
        );
    }
    let (old, new) = (g.dtype().size() as i64, dtype.size() as i64);
    if old == new {
        return Geometry::new(dtype, g.sizes(), g.strides(), g.offset());
    }
    let Some((&last_size, lead)) = g.sizes().split_last() else {
        return rule("a tensor without dimensions cannot be viewed as a dtype of another size");
    };
    if g.strides().last() != Some(&1) {
        return rule("the last dimension must have stride 1 to be viewed as a dtype of another size");
    }
    let mut sizes = DimVec::from_slice(g.sizes());
    let mut new_strides = DimVec::from_slice(g.strides());
    let last = lead.len();
    let lead = &mut new_strides[..last];
    // Elements of one dtype in one of the other: the sizes of dtypes are powers of two.
    let Some(ratio) = old.checked_div(new).filter(|ratio| *ratio > 0) else {
        let ratio = new.checked_div(old).unwrap_or(1);
        let is_whole = |n: i64| n.checked_rem(ratio) == Some(0);
        if !is_whole(last_size) {
            return rule("the last size times the element size must be a multiple of the new element size");
        }
        if !is_whole(g.offset()) {
            return rule("the storage offset must be a whole number of elements of the new dtype");
        }
        if !lead.iter().all(|&stride| is_whole(stride)) {
            return rule("the strides must be whole numbers of elements of the new dtype");
        }
        let shrunk = |n: i64| n.checked_div(ratio).unwrap_or(n);
        sizes[last] = shrunk(last_size);
        lead.iter_mut().for_each(|stride| *stride = shrunk(*stride));
        return Geometry::new(dtype, &sizes, &new_strides, shrunk(g.offset()));
    };
    sizes[last] = last_size.wrapping_mul(ratio);
    lead.iter_mut().for_each(|stride| *stride = stride.wrapping_mul(ratio));
    let offset = g.offset().wrapping_mul(ratio);
    Geometry::new(dtype, &sizes, &new_strides, offset)
}

/// `permute`: the dimensions in another order; each must be named once.
pub fn permute(g: &Geometry, dims: &[i64]) -> Result<Geometry> {
    if dims.len() != g.ndim() {
        return Err(ErrorKind::ListLength { arg: "dims", got: dims.len(), want: g.ndim() }.into());
    }
    let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, dims.len());
    let (mut sizes, mut new) = (DimVec::new(), DimVec::new());
    for &dim in dims {
        let d = strides::wrap_dim(dim, g.ndim(), "dims")?;
        if std::mem::replace(&mut seen[d], true) {
            return Err(ErrorKind::DimRepeated { arg: "dims", dim: d }.into());
        }
        sizes.push(g.sizes()[d]);
        new.push(g.strides()[d]);
    }
    reshaped(g, &sizes, &new, g.offset())
}

/// `transpose`: two dimensions exchanged.
pub fn transpose(g: &Geometry, dim0: i64, dim1: i64) -> Result<Geometry> {
    let a = strides::wrap_dim(dim0, g.ndim(), "dim0")?;
    let b = strides::wrap_dim(dim1, g.ndim(), "dim1")?;
    let (mut sizes, mut new) = (DimVec::from_slice(g.sizes()), DimVec::from_slice(g.strides()));
    if a != b {
        sizes.swap(a, b);
        new.swap(a, b);
    }
    reshaped(g, &sizes, &new, g.offset())
}

/// `expand`: dimensions of size 1 repeated with stride 0, new ones in front. -1 keeps a size.
pub fn expand(g: &Geometry, size: &[i64], _implicit: bool) -> Result<Geometry> {
    let Some(lead) = size.len().checked_sub(g.ndim()) else {
        return Err(ErrorKind::ListLength { arg: "size", got: size.len(), want: g.ndim() }.into());
    };
    strides::check_ndim(size.len())?;
    let mut sizes: DimVec = DimVec::from_elem(0, size.len());
    let mut new: DimVec = DimVec::from_elem(0, size.len());
    // The size and stride of the next dimension; a tensor without dimensions has no next one around which to make a new
    // one.
    let mut next = None;
    for d in (0..size.len()).rev() {
        let want = size[d];
        let old = d.checked_sub(lead).map(|s| (g.sizes()[s], g.strides()[s]));
        let target = match old {
            Some((old, _)) if want == -1 => old,
            _ if want < 0 => return Err(ErrorKind::NegativeSize { arg: "size", got: want }.into()),
            _ => want,
        };
        // A new dimension counts as one of size 1 around the next one.
        let (old, stride) =
            old.unwrap_or_else(|| (1, next.map_or(0, |(size, stride): (i64, i64)| size.wrapping_mul(stride))));
        if old != 1 && old != target {
            let (left, right) = (g.sizes().to_vec(), size.to_vec());
            return Err(ErrorKind::Broadcast { left, right, dim: d, left_size: old, right_size: target }.into());
        }
        sizes[d] = target;
        new[d] = if old == target { stride } else { 0 };
        next = (g.ndim() > 0).then_some((sizes[d], new[d]));
    }
    reshaped(g, &sizes, &new, g.offset())
}

/// `squeeze`: without the dimensions of size 1.
pub fn squeeze(g: &Geometry) -> Result<Geometry> {
    without(g, |d| g.sizes()[d] == 1)
}

/// `squeeze.dim`: without dimension `dim` if it has size 1.
pub fn squeeze_dim(g: &Geometry, dim: i64) -> Result<Geometry> {
    let dim = strides::wrap_dim(dim, g.ndim(), "dim")?;
    without(g, |d| d == dim && g.sizes()[d] == 1)
}

/// `squeeze.dims`: without those of the named dimensions that have size 1.
pub fn squeeze_dims(g: &Geometry, dim: &[i64]) -> Result<Geometry> {
    let mask = strides::wrap_dims(dim, g.ndim(), "dim")?;
    without(g, |d| is_in(mask, d) && g.sizes()[d] == 1)
}

/// Whether a mask of dimensions, as [`strides::wrap_dims`] makes them, has dimension `d`.
pub(crate) fn is_in(mask: u64, d: usize) -> bool {
    u32::try_from(d).ok().and_then(|d| mask.checked_shr(d)).is_some_and(|mask| mask & 1 == 1)
}

fn without(g: &Geometry, drop: impl Fn(usize) -> bool) -> Result<Geometry> {
    let kept = || (0..g.ndim()).filter(|&d| !drop(d));
    let sizes: DimVec = kept().map(|d| g.sizes()[d]).collect();
    let new: DimVec = kept().map(|d| g.strides()[d]).collect();
    reshaped(g, &sizes, &new, g.offset())
}

/// `unsqueeze`: a new dimension of size 1 before `dim`.
pub fn unsqueeze(g: &Geometry, dim: i64) -> Result<Geometry> {
    let n = (g.ndim() as i64).wrapping_add(1);
    let d = if dim < 0 { dim.wrapping_add(n) } else { dim };
    if !(0..n).contains(&d) {
        let (low, high) = (n.wrapping_neg(), n.wrapping_sub(1));
        return Err(ErrorKind::DimOutOfRange { arg: "dim", got: dim, ndim: g.ndim(), low, high }.into());
    }
    let d = d as usize;
    let stride = match (g.sizes().get(d), g.strides().get(d)) {
        (Some(size), Some(&stride)) => size.wrapping_mul(stride),
        _ => 1,
    };
    let (mut sizes, mut new) = (DimVec::from_slice(g.sizes()), DimVec::from_slice(g.strides()));
    sizes.insert(d, 1);
    new.insert(d, stride);
    reshaped(g, &sizes, &new, g.offset())
}

/// `select`: one index of a dimension, which disappears.
pub fn select(g: &Geometry, dim: i64, index: i64) -> Result<Geometry> {
    g.select(dim, index)
}

/// `slice`: indices `start..end` of a dimension in steps; both ends wrap and are clamped.
pub fn slice(g: &Geometry, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Geometry> {
    if g.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    let d = strides::wrap_dim(dim, g.ndim(), "dim")?;
    if step <= 0 {
        return Err(ErrorKind::OutOfRange { arg: "step", got: step, low: 1, high: i64::MAX }.into());
    }
    let size = g.sizes()[d];
    let wrap = |i: i64| if i < 0 { i.wrapping_add(size) } else { i };
    let start = wrap(start.unwrap_or(0)).clamp(0, size);
    let end = wrap(end.unwrap_or(i64::MAX)).clamp(start, size);
    let (mut sizes, mut new) = (DimVec::from_slice(g.sizes()), DimVec::from_slice(g.strides()));
    // At least 0, as `end` is clamped from below by `start`.
    sizes[d] = windows(end.wrapping_sub(start), 1, step);
    // A step so large that one element is left may make any stride, which nothing walks.
    new[d] = g.strides()[d].wrapping_mul(step);
    let offset = g.offset_at(d, start);
    reshaped(g, &sizes, &new, offset)
}

/// How many windows of `size` lie in `length` places, each `step` behind the one before. None if there is no room for
/// one.
pub(crate) fn windows(length: i64, size: i64, step: i64) -> i64 {
    match length.checked_sub(size) {
        Some(last @ 0..) => last.checked_div(step).unwrap_or(0).saturating_add(1),
        _ => 0,
    }
}

/// `narrow`: `length` indices of a dimension from `start`, which may count from the end.
pub fn narrow(g: &Geometry, dim: i64, start: i64, length: i64) -> Result<Geometry> {
    if g.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    let d = strides::wrap_dim(dim, g.ndim(), "dim")?;
    let size = g.sizes()[d];
    if length < 0 {
        return Err(ErrorKind::OutOfRange { arg: "length", got: length, low: 0, high: size }.into());
    }
    let first = if start < 0 { start.wrapping_add(size) } else { start };
    if !(0..=size).contains(&first) {
        return Err(ErrorKind::OutOfRange { arg: "start", got: start, low: size.wrapping_neg(), high: size }.into());
    }
    let high = size.wrapping_sub(first);
    if length > high {
        return Err(ErrorKind::OutOfRange { arg: "length", got: length, low: 0, high }.into());
    }
    slice(g, d as i64, Some(first), Some(first.wrapping_add(length)), 1)
}

/// `as_strided`: any sizes, strides and offset within the storage. The offset counts from the start of the storage;
/// without one, the tensor's own is kept.
pub fn as_strided(g: &Geometry, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Geometry> {
    reshaped(g, size, stride, storage_offset.unwrap_or(g.offset()))
}

/// `alias`: the same geometry.
pub fn alias(g: &Geometry) -> Result<Geometry> {
    Ok(g.clone())
}

native! {
    family: View, functions: crate::fill::Fills;

    /// Views the elements in other sizes, in the same order; one size may be -1 and follows from the others.
    ///
    /// The result shares the storage. The number of elements must stay, and each dimension of the new sizes must lie in
    /// dimensions of the tensor that are contiguous to one another; [`reshape`](super::functions::reshape) copies where
    /// they are not.
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4, 5, 6];
    /// let y = x.view((2, -1))?;
    /// assert_eq!(y.sizes(), [2, 3]);
    /// y.i((0, 0))?.fill_(7)?;
    /// assert_eq!(x.at::<i32>(0)?, 7);
    /// ```
    func: view(Tensor(a) self, SymInt[] size) -> Tensor(a),
    variants: function, method, view: view;

    /// Views the bytes of the elements in another dtype.
    ///
    /// The result shares the storage. A smaller element multiplies the last size, a larger one divides it; then the
    /// last stride must be 1, and the sizes, strides and offset must divide.
    ///
    /// ```
    /// let x = tensor![1.0f32, -2.0];
    /// assert_eq!(x.view_as_type(I32)?.to_vec::<i32>()?, [1065353216, -1073741824]);
    /// assert_eq!(x.view_as_type(U8)?.sizes(), [8]);
    /// ```
    func: view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a),
    copy: view_copy.dtype, copy_out: view_copy.dtype_out, variants: function, method, name: view_as_type,
    view: view_dtype;

    /// Views the dimensions in the order `dims`, which names each of them once.
    ///
    /// The result shares the storage.
    ///
    /// ```
    /// let x = ops::zeros((2, 3, 5), F32)?;
    /// assert_eq!(x.permute((2, 0, -2))?.sizes(), [5, 2, 3]);
    /// ```
    func: permute(Tensor(a) self, int[] dims) -> Tensor(a),
    copy: permute_copy, copy_out: permute_copy.out, variants: function, method, view: permute;

    /// Exchanges the dimensions `dim0` and `dim1`.
    ///
    /// The result shares the storage.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.transpose(0, 1)?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// ```
    func: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a),
    inplace: transpose_, copy: transpose_copy.int, copy_out: transpose_copy.int_out, variants: function, method,
    view: transpose;

    /// Broadcasts to the sizes `size` without a copy; -1 keeps a size.
    ///
    /// Only dimensions of size 1 grow, and new ones stand in front. The result shares the storage, with stride 0 where
    /// it grew, so that most operators refuse to write to it in place.
    ///
    /// ```
    /// let x = tensor![[1], [2]];
    /// let y = x.expand((2, 3))?;
    /// assert_eq!(y.to_vec::<i32>()?, [1, 1, 1, 2, 2, 2]);
    /// assert_eq!(y.strides(), [1, 0]);
    /// ```
    func: expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a),
    copy: expand_copy, copy_out: expand_copy.out, variants: function, method, view: expand;

    func: squeeze(Tensor(a) self) -> Tensor(a),
    inplace: squeeze_, copy: squeeze_copy, copy_out: squeeze_copy.out, view: squeeze;

    func: squeeze.dim(Tensor(a) self, int dim) -> Tensor(a),
    inplace: squeeze_.dim, copy: squeeze_copy.dim, copy_out: squeeze_copy.dim_out, view: squeeze_dim;

    /// Removes the dimensions `dim` that have size 1; `..` is all of them.
    ///
    /// Dimensions of other sizes stay and are no error. The result shares the storage.
    ///
    /// ```
    /// let x = ops::zeros((1, 2, 1), F32)?;
    /// assert_eq!(x.squeeze(..)?.sizes(), [2]);
    /// assert_eq!(x.squeeze((0, 1))?.sizes(), [2, 1]);
    /// ```
    func: squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a),
    inplace: squeeze_.dims, copy: squeeze_copy.dims, copy_out: squeeze_copy.dims_out, variants: function, method,
    view: squeeze_dims;

    /// Inserts a dimension of size 1 at `dim`, which is from `-ndim - 1` to `ndim`.
    ///
    /// The result shares the storage.
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// assert_eq!(x.unsqueeze(0)?.sizes(), [1, 2]);
    /// assert_eq!(x.unsqueeze(-1)?.sizes(), [2, 1]);
    /// ```
    func: unsqueeze(Tensor(a) self, int dim) -> Tensor(a),
    inplace: unsqueeze_, copy: unsqueeze_copy, copy_out: unsqueeze_copy.out, variants: function, method,
    view: unsqueeze;

    /// Selects the index `index` of the dimension `dim`, which goes.
    ///
    /// A negative index counts from the end; one out of range is an error. The result shares the storage.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.select(0, 1)?.to_vec::<i32>()?, [4, 5, 6]);
    /// assert_eq!(x.select(1, -1)?.to_vec::<i32>()?, [3, 6]);
    /// ```
    func: select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a),
    copy: select_copy.int, copy_out: select_copy.int_out, variants: function, method, view: select;

    /// Takes every `step`-th index of the dimension `dim` from `start` up to, but without, `end`.
    ///
    /// `None` is the first or the last. Negative ends count from the end, and ends outside of the dimension are cut to
    /// it, so that the result may be empty; `i` makes that an error. `step` is at least 1. The result shares the
    /// storage.
    ///
    /// ```
    /// let x = tensor![0, 1, 2, 3, 4];
    /// assert_eq!(x.slice(0, Some(1), None, 2)?.to_vec::<i32>()?, [1, 3]);
    /// assert_eq!(x.slice(0, Some(-2), Some(100), 1)?.to_vec::<i32>()?, [3, 4]);
    /// ```
    func: slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None,
        SymInt step=1) -> Tensor(a),
    copy: slice_copy.Tensor, copy_out: slice_copy.Tensor_out, variants: function, method,
    positional: [dim, start, end, step], view: slice;

    /// Takes `length` indices of the dimension `dim` from `start` on.
    ///
    /// A negative `start` counts from the end. Indices beyond the end are an error. The result shares the storage.
    ///
    /// ```
    /// let x = tensor![0, 1, 2, 3, 4];
    /// assert_eq!(x.narrow(0, 1, 3)?.to_vec::<i32>()?, [1, 2, 3]);
    /// ```
    func: narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a),
    copy: narrow_copy, copy_out: narrow_copy.out, variants: function, method, view: narrow;

    /// Views the storage with sizes and strides as they are given, in elements.
    ///
    /// The offset is that of the tensor unless `storage_offset` says another one. Strides must not be negative, and
    /// what they reach must lie in the storage. The result shares it.
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4];
    /// assert_eq!(x.as_strided((2, 3), (1, 1))?.to_vec::<i32>()?, [1, 2, 3, 2, 3, 4]);
    /// ```
    func: as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a),
    inplace: as_strided_, copy: as_strided_copy, copy_out: as_strided_copy.out, variants: function, method,
    view: as_strided;

    /// A second tensor of the same storage, sizes and strides.
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// x.alias()?.fill_(3)?;
    /// assert_eq!(x.to_vec::<i32>()?, [3, 3]);
    /// ```
    func: alias(Tensor(a) self) -> Tensor(a),
    copy: alias_copy, copy_out: alias_copy.out, variants: function, method, view: alias;
}
