//! The inverse of views: a copy of a tensor in which the elements of a view are those of another tensor.
#![deny(clippy::arithmetic_side_effects)]

use crate::fill::clone_with_strides;
use crate::rearrange::diagonal;
use crate::table::native;
use crate::view::{as_strided, select, slice};
use monomorph_core::{Device, Error, ErrorKind, Geometry, Result, Tensor, observe};

/// A copy of `this`, with its strides, in which what `view` reaches holds the elements of `src`.
fn scattered<D: Device>(
    this: &Tensor<D>,
    src: &Tensor<D>,
    view: impl FnOnce(&Geometry) -> Result<Geometry>,
) -> Result<Tensor<D>> {
    let out = clone_with_strides(this)?;
    let mut part = out.with_geometry(view(out.geometry())?)?;
    if part.sizes() != src.sizes() {
        return Err(ErrorKind::OutputSize { index: 0, got: src.sizes().to_vec(), want: part.sizes().to_vec() }.into());
    }
    part.copy_from(src)?;
    Ok(out)
}

/// `select_scatter`: `src` in place of one index of a dimension.
pub fn select_scatter<D: Device>(this: &Tensor<D>, src: &Tensor<D>, dim: i64, index: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("select_scatter", [this.geometry(), src.geometry()]);
    scattered(this, src, |g| select(g, dim, index)).map_err(|e: Error| e.of("select_scatter"))
}

/// `slice_scatter`: `src` in place of the indices `start..end` of a dimension in steps.
pub fn slice_scatter<D: Device>(
    this: &Tensor<D>,
    src: &Tensor<D>,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("slice_scatter", [this.geometry(), src.geometry()]);
    scattered(this, src, |g| slice(g, dim, start, end, step)).map_err(|e: Error| e.of("slice_scatter"))
}

/// `diagonal_scatter`: `src` in place of a diagonal.
pub fn diagonal_scatter<D: Device>(
    this: &Tensor<D>,
    src: &Tensor<D>,
    offset: i64,
    dim1: i64,
    dim2: i64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("diagonal_scatter", [this.geometry(), src.geometry()]);
    scattered(this, src, |g| diagonal(g, offset, dim1, dim2)).map_err(|e: Error| e.of("diagonal_scatter"))
}

/// `as_strided_scatter`: `src` in place of any elements of the storage. Where sizes and strides reach an element twice,
/// the copy is an error.
pub fn as_strided_scatter<D: Device>(
    this: &Tensor<D>,
    src: &Tensor<D>,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("as_strided_scatter", [this.geometry(), src.geometry()]);
    let view = |g: &Geometry| as_strided(g, size, stride, storage_offset);
    scattered(this, src, view).map_err(|e: Error| e.of("as_strided_scatter"))
}

native! {
    family: Scatter, functions: crate::fill::Fills;

    /// A copy in which `src` is at the index `index` of the dimension `dim`.
    ///
    /// It is what writing to [`select`](super::functions::select) in place makes of a copy; `src` has the sizes of that
    /// view.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.select_scatter(&tensor![8, 9], 0, 1)?.to_vec::<i32>()?, [1, 2, 8, 9]);
    /// ```
    func: select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor,
    autogen: select_scatter.out, variants: function, kernel: select_scatter,
    otherwise: nonfunctional crate::composite::scatter::select_scatter;

    /// A copy in which `src` is at the indices of the dimension `dim` that [`slice`](super::functions::slice) takes.
    ///
    /// ```
    /// let x = tensor![0, 1, 2, 3];
    /// let place = SliceScatter { start: Some(1), end: Some(3), ..Default::default() };
    /// let src = tensor![8, 9];
    /// assert_eq!(x.slice_scatter_with(&src, place)?.to_vec::<i32>()?, [0, 8, 9, 3]);
    /// ```
    func: slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None,
        SymInt step=1) -> Tensor,
    autogen: slice_scatter.out, variants: function, kernel: slice_scatter,
    otherwise: nonfunctional crate::composite::scatter::slice_scatter;

    /// A copy in which `src` is on the diagonal that [`diagonal`](super::functions::diagonal) takes.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// let src = tensor![8, 9];
    /// assert_eq!(x.diagonal_scatter(&src)?.to_vec::<i32>()?, [8, 2, 3, 9]);
    /// ```
    func: diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor,
    autogen: diagonal_scatter.out, variants: function, kernel: diagonal_scatter,
    otherwise: nonfunctional crate::composite::scatter::diagonal_scatter;

    /// A copy in which `src` is at the elements that [`as_strided`](super::functions::as_strided) takes.
    ///
    /// ```
    /// let (x, src) = (tensor![0, 1, 2, 3], tensor![8, 9]);
    /// assert_eq!(x.as_strided_scatter(&src, 2, 2)?.to_vec::<i32>()?, [8, 1, 9, 3]);
    /// ```
    func: as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride,
        SymInt? storage_offset=None) -> Tensor,
    autogen: as_strided_scatter.out, variants: function, kernel: as_strided_scatter;
}
