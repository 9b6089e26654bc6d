//! Views: each is a function from a geometry to a geometry over the same storage, so that the view, its in-place form and
//! later its copying form are one definition. Nothing here touches a storage.

use monomorph_core::strides::{self, Dims};
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
    let (old, new) = (g.dtype().size(), dtype.size());
    if old == new {
        return Geometry::new(dtype, g.sizes(), g.strides(), g.offset());
    }
    let Some((&last_size, lead)) = g.sizes().split_last() else {
        return rule("a tensor without dimensions cannot be viewed as a dtype of another size");
    };
    if g.strides()[lead.len()] != 1 {
        return rule("the last dimension must have stride 1 to be viewed as a dtype of another size");
    }
    let mut sizes = Dims::from_slice(g.sizes());
    let mut new_strides = Dims::from_slice(g.strides());
    let offset = if old > new {
        let ratio = (old / new) as i64;
        let too_large = || ErrorKind::SizeOverflow { sizes: g.sizes().to_vec(), strides: g.strides().to_vec() };
        let scale = |x: i64| x.checked_mul(ratio).ok_or_else(too_large);
        sizes[lead.len()] = scale(last_size)?;
        for stride in &mut new_strides[..lead.len()] {
            *stride = scale(*stride)?;
        }
        scale(g.offset())?
    } else {
        let ratio = (new / old) as i64;
        if last_size % ratio != 0 {
            return rule("the last size times the element size must be a multiple of the new element size");
        }
        if g.offset() % ratio != 0 {
            return rule("the storage offset must be a whole number of elements of the new dtype");
        }
        if new_strides[..lead.len()].iter().any(|s| s % ratio != 0) {
            return rule("the strides must be whole numbers of elements of the new dtype");
        }
        sizes[lead.len()] = last_size / ratio;
        for stride in &mut new_strides[..lead.len()] {
            *stride /= ratio;
        }
        g.offset() / ratio
    };
    Geometry::new(dtype, &sizes, &new_strides, offset)
}

/// `permute`: the dimensions in another order; each must be named once.
pub fn permute(g: &Geometry, dims: &[i64]) -> Result<Geometry> {
    if dims.len() != g.ndim() {
        return Err(ErrorKind::ListLength { arg: "dims", got: dims.len(), want: g.ndim() }.into());
    }
    let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, dims.len());
    let (mut sizes, mut new) = (Dims::new(), Dims::new());
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
    let (mut sizes, mut new) = (Dims::from_slice(g.sizes()), Dims::from_slice(g.strides()));
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
    let mut sizes: Dims = Dims::from_elem(0, size.len());
    let mut new: Dims = Dims::from_elem(0, size.len());
    for d in (0..size.len()).rev() {
        let want = size[d];
        let old = d.checked_sub(lead).map(|s| (g.sizes()[s], g.strides()[s]));
        let target = match old {
            Some((old, _)) if want == -1 => old,
            _ if want < 0 => return Err(ErrorKind::NegativeSize { arg: "size", got: want }.into()),
            _ => want,
        };
        // A new dimension counts as one of size 1 around the next one; a tensor without dimensions has no next one.
        let (old, stride) = match (old, sizes.get(d + 1)) {
            (Some(old), _) => old,
            (None, Some(&next)) if g.ndim() > 0 => (1, next.saturating_mul(new[d + 1])),
            (None, _) => (1, 0),
        };
        if old != 1 && old != target {
            let (left, right) = (g.sizes().to_vec(), size.to_vec());
            return Err(ErrorKind::Broadcast { left, right, dim: d, left_size: old, right_size: target }.into());
        }
        sizes[d] = target;
        new[d] = if old == target { stride } else { 0 };
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
    without(g, |d| mask >> d & 1 == 1 && g.sizes()[d] == 1)
}

fn without(g: &Geometry, drop: impl Fn(usize) -> bool) -> Result<Geometry> {
    let kept = || (0..g.ndim()).filter(|&d| !drop(d));
    let sizes: Dims = kept().map(|d| g.sizes()[d]).collect();
    let new: Dims = kept().map(|d| g.strides()[d]).collect();
    reshaped(g, &sizes, &new, g.offset())
}

/// `unsqueeze`: a new dimension of size 1 before `dim`.
pub fn unsqueeze(g: &Geometry, dim: i64) -> Result<Geometry> {
    let n = g.ndim() as i64 + 1;
    if dim < -n || dim >= n {
        return Err(ErrorKind::DimOutOfRange { arg: "dim", got: dim, ndim: g.ndim(), low: -n, high: n - 1 }.into());
    }
    let d = if dim < 0 { dim + n } else { dim } as usize;
    let stride = match g.sizes().get(d) {
        Some(size) => size
            .checked_mul(g.strides()[d])
            .ok_or_else(|| ErrorKind::SizeOverflow { sizes: g.sizes().to_vec(), strides: g.strides().to_vec() })?,
        None => 1,
    };
    let (mut sizes, mut new) = (Dims::from_slice(g.sizes()), Dims::from_slice(g.strides()));
    sizes.insert(d, 1);
    new.insert(d, stride);
    reshaped(g, &sizes, &new, g.offset())
}

/// `select`: one index of a dimension, which disappears.
pub fn select(g: &Geometry, dim: i64, index: i64) -> Result<Geometry> {
    if g.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    let d = strides::wrap_dim(dim, g.ndim(), "dim")?;
    let size = g.sizes()[d];
    if index < -size || index >= size {
        return Err(ErrorKind::OutOfRange { arg: "index", got: index, low: -size, high: size - 1 }.into());
    }
    let index = if index < 0 { index + size } else { index };
    let offset = g.offset() + index * g.strides()[d];
    let g = reshaped(g, g.sizes(), g.strides(), offset)?;
    without(&g, |e| e == d)
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
    let wrap = |i: i64| if i < 0 { i + size } else { i };
    let start = wrap(start.unwrap_or(0)).clamp(0, size);
    let end = wrap(end.unwrap_or(i64::MAX)).clamp(start, size);
    let (mut sizes, mut new) = (Dims::from_slice(g.sizes()), Dims::from_slice(g.strides()));
    let length = end - start;
    sizes[d] = length / step + i64::from(length % step != 0);
    let overflow = || ErrorKind::SizeOverflow { sizes: g.sizes().to_vec(), strides: g.strides().to_vec() };
    let offset = start.checked_mul(g.strides()[d]).and_then(|o| o.checked_add(g.offset())).ok_or_else(overflow)?;
    // A step so large that one element is left makes a stride that nothing walks.
    new[d] = g.strides()[d].saturating_mul(step);
    reshaped(g, &sizes, &new, offset)
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
    if start < -size || start > size {
        return Err(ErrorKind::OutOfRange { arg: "start", got: start, low: -size, high: size }.into());
    }
    let start = if start < 0 { start + size } else { start };
    if length > size - start {
        return Err(ErrorKind::OutOfRange { arg: "length", got: length, low: 0, high: size - start }.into());
    }
    slice(g, d as i64, Some(start), Some(start + length), 1)
}

/// `as_strided`: any sizes, strides and offset within the storage. The offset counts from the start of the storage; without
/// one, the tensor's own is kept.
pub fn as_strided(g: &Geometry, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Geometry> {
    reshaped(g, size, stride, storage_offset.unwrap_or(g.offset()))
}

/// `alias`: the same geometry.
pub fn alias(g: &Geometry) -> Result<Geometry> {
    Ok(g.clone())
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __view_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [view] (Tensor(a) self, SymInt[] size) -> (Tensor(a)) : view ($crate::view::view) { functional view; copy view_copy [view_copy]; copyout - [view_copy.out]; } }
        { [view.dtype] (Tensor(a) self, ScalarType dtype) -> (Tensor(a)) : view ($crate::view::view_dtype) {
            functional view_dtype; copy view_dtype_copy [view_copy.dtype]; copyout - [view_copy.dtype_out];
        } }
        { [permute] (Tensor(a) self, int[] dims) -> (Tensor(a)) : view ($crate::view::permute) {
            functional permute; copy permute_copy [permute_copy]; copyout - [permute_copy.out];
        } }
        { [transpose.int] (Tensor(a) self, int dim0, int dim1) -> (Tensor(a)) : view ($crate::view::transpose) {
            functional transpose; inplace transpose_ [transpose_];
            copy transpose_copy [transpose_copy.int]; copyout - [transpose_copy.int_out];
        } }
        { [expand] (Tensor(a) self, SymInt[] size, *, bool implicit=False) -> (Tensor(a))
            : view ($crate::view::expand) {
            functional expand; copy expand_copy [expand_copy]; copyout - [expand_copy.out];
        } }
        { [squeeze] (Tensor(a) self) -> (Tensor(a)) : view ($crate::view::squeeze) {
            functional squeeze; inplace squeeze_ [squeeze_];
            copy squeeze_copy [squeeze_copy]; copyout - [squeeze_copy.out];
        } }
        { [squeeze.dim] (Tensor(a) self, int dim) -> (Tensor(a)) : view ($crate::view::squeeze_dim) {
            functional squeeze_dim; inplace squeeze_dim_ [squeeze_.dim];
            copy squeeze_dim_copy [squeeze_copy.dim]; copyout - [squeeze_copy.dim_out];
        } }
        { [squeeze.dims] (Tensor(a) self, int[] dim) -> (Tensor(a)) : view ($crate::view::squeeze_dims) {
            functional squeeze_dims; inplace squeeze_dims_ [squeeze_.dims];
            copy squeeze_dims_copy [squeeze_copy.dims]; copyout - [squeeze_copy.dims_out];
        } }
        { [unsqueeze] (Tensor(a) self, int dim) -> (Tensor(a)) : view ($crate::view::unsqueeze) {
            functional unsqueeze; inplace unsqueeze_ [unsqueeze_];
            copy unsqueeze_copy [unsqueeze_copy]; copyout - [unsqueeze_copy.out];
        } }
        { [select.int] (Tensor(a) self, int dim, SymInt index) -> (Tensor(a)) : view ($crate::view::select) {
            functional select; copy select_copy [select_copy.int]; copyout - [select_copy.int_out];
        } }
        { [slice.Tensor] (Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> (Tensor(a))
            : view ($crate::view::slice) {
            functional slice; copy slice_copy [slice_copy.Tensor]; copyout - [slice_copy.Tensor_out];
        } }
        { [narrow] (Tensor(a) self, int dim, SymInt start, SymInt length) -> (Tensor(a))
            : view ($crate::view::narrow) {
            functional narrow; copy narrow_copy [narrow_copy]; copyout - [narrow_copy.out];
        } }
        { [as_strided] (Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> (Tensor(a))
            : view ($crate::view::as_strided) {
            functional as_strided; inplace as_strided_ [as_strided_];
            copy as_strided_copy [as_strided_copy]; copyout - [as_strided_copy.out];
        } }
        { [alias] (Tensor(a) self) -> (Tensor(a)) : view ($crate::view::alias) {
            functional alias; copy alias_copy [alias_copy]; copyout - [alias_copy.out];
        } }
    } };
}
