//! Tensors laid side by side and combined: repeat and tile, meshgrid, cartesian_prod. Each is a copy of expanded views,
//! or the views themselves.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::shape::each;
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::{AnyTensor, ErrorKind, MemoryFormat, Result, list};
use std::borrow::Borrow;

/// `repeat`: as often along each dimension as `repeats` says; counts in front make new dimensions.
///
/// ```text
/// [2, 3] repeated [2, 1, 4]:   source  [1, 2, 1, 3]  expanded to [2, 2, 4, 3]
///                              result  [2, 2, 12]    seen as     [2, 2, 4, 3]
/// ```
pub fn repeat<C: Callees>(calls: &C, this: &C::Tensor, repeats: &[i64]) -> Result<C::Tensor> {
    let t = C::any(this);
    let Some(lead) = repeats.len().checked_sub(t.ndim()) else {
        let (arg, got, want) = ("repeats", repeats.len(), t.ndim());
        return Err(ErrorKind::ListLength { arg, got, want }.into());
    };
    let size_of = |d: usize| d.checked_sub(lead).map_or(1, |d| t.sizes()[d]);
    let overflow = || ErrorKind::SizeOverflow { sizes: repeats.to_vec(), strides: Vec::new() };
    let mut sizes = DimVec::new();
    for (d, &count) in repeats.iter().enumerate() {
        let size = size_of(d).checked_mul(count).ok_or_else(overflow)?;
        if size < 0 {
            return Err(ErrorKind::NegativeSize { arg: "repeats", got: count }.into());
        }
        sizes.push(size);
    }
    let result = calls.empty(&sizes, t.dtype(), t.device(), MemoryFormat::Contiguous)?;
    if C::any(&result).numel() == 0 {
        return Ok(result);
    }
    // Only what is repeated has a dimension of its own for the copies.
    let (mut split, mut source) = (DimVec::new(), this.clone());
    for (d, &count) in repeats.iter().enumerate() {
        if d < lead || count > 1 {
            source = calls.unsqueeze(&source, split.len())?;
            split.push(count);
        }
        if d >= lead {
            split.push(size_of(d));
        }
    }
    let source = calls.expand(&source, &split)?;
    calls.copy_into(calls.view(&result, &split)?, &source)?;
    Ok(result)
}

/// `tile`: `repeat`, where counts that are missing in front are 1.
pub fn tile<C: Callees>(calls: &C, this: &C::Tensor, dims: &[i64]) -> Result<C::Tensor> {
    let missing = C::any(this).ndim().saturating_sub(dims.len());
    let repeats: DimVec = std::iter::repeat_n(1, missing).chain(dims.iter().copied()).collect();
    repeat(calls, this, &repeats)
}

/// `meshgrid`: each vector along a dimension of its own, all with the same sizes.
pub fn meshgrid<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<Vec<C::Tensor>> {
    meshgrid_indexed(calls, tensors, "ij")
}

/// `meshgrid.indexing`: the same; with `xy` the first two dimensions change places.
pub fn meshgrid_indexed<C: Callees, T: Borrow<C::Tensor>>(
    calls: &C,
    tensors: &[T],
    indexing: &str,
) -> Result<Vec<C::Tensor>> {
    let accepted = "ij and xy";
    let swaps = match indexing {
        "ij" => false,
        "xy" => tensors.len() > 1,
        got => return Err(ErrorKind::UnknownOption { arg: "indexing", got: got.into(), accepted }.into()),
    };
    let Some(first) = tensors.first().map(|t| C::any(t.borrow())) else {
        return Err(ErrorKind::ArgumentRule { rule: "argument tensors is empty; give at least one tensor" }.into());
    };
    let mut sizes = DimVec::new();
    for t in tensors.iter().map(|t| C::any(t.borrow())) {
        one_dtype(first, t)?;
        match t.sizes() {
            [] => sizes.push(1),
            [size] => sizes.push(*size),
            more => {
                return Err(ErrorKind::DimCount { arg: "tensors", got: more.len(), accepted: "0 or 1" }.into());
            }
        }
    }
    // The dimension that tensor `i` lies along.
    let place = |i: usize| if swaps && i < 2 { 1_usize.wrapping_sub(i) } else { i };
    let shape: DimVec = (0..sizes.len()).map(|d| sizes[place(d)]).collect();
    let mut grids = list::with_capacity(tensors.len())?;
    for (i, t) in tensors.iter().enumerate() {
        let mut along: DimVec = sizes.iter().map(|_| 1).collect();
        along[place(i)] = sizes[i];
        grids.push(calls.expand(&calls.reshape(t.borrow(), &along)?, &shape)?);
    }
    Ok(grids)
}

/// An error for a tensor of another dtype, or on another device.
pub(super) fn one_dtype(first: &AnyTensor, t: &AnyTensor) -> Result<()> {
    if t.device() != first.device() {
        let (got, want) = (t.device(), first.device());
        return Err(ErrorKind::DeviceMismatch { arg: "tensors".into(), got, want }.into());
    }
    if t.dtype() == first.dtype() {
        return Ok(());
    }
    let rule = "argument tensors has tensors of several dtypes; accepted is one, cast the others with .to(dtype)";
    Err(ErrorKind::ArgumentRule { rule }.into())
}

/// `cartesian_prod`: a row for each choice of one element of every vector; one vector is itself.
pub fn cartesian_prod<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<C::Tensor> {
    if let Some(t) = tensors.iter().map(|t| C::any(t.borrow())).find(|t| t.ndim() != 1) {
        return Err(ErrorKind::DimCount { arg: "tensors", got: t.ndim(), accepted: "1" }.into());
    }
    if let [one] = tensors {
        return Ok(one.borrow().clone());
    }
    let grids = meshgrid(calls, tensors)?;
    let columns = each(&grids, |grid: &C::Tensor| calls.reshape(grid, &[-1, 1]))?;
    calls.cat(columns, 1)
}

native! {
    family: Repeats, functions: crate::fill::Fills;

    /// Repeats the tensor along each dimension as often as `repeats` says.
    ///
    /// There are as many counts as dimensions, or more: those in front make new dimensions.
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// assert_eq!(x.repeat(2)?.to_vec::<i32>()?, [1, 2, 1, 2]);
    /// assert_eq!(x.repeat((3, 2))?.sizes(), [3, 4]);
    /// ```
    func: repeat(Tensor self, SymInt[] repeats) -> Tensor,
    autogen: repeat.out, variants: function, composed: explicit repeat;

    /// Repeats the tensor along each dimension as often as `dims` says, counted from the last one.
    ///
    /// [`repeat`](super::functions::repeat) with a count of 1 for each that is missing.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.tile((2,))?.to_vec::<i32>()?, [1, 2, 1, 2, 3, 4, 3, 4]);
    /// ```
    func: tile(Tensor self, SymInt[] dims) -> Tensor,
    variants: function, composed: implicit tile;

    /// A grid of coordinates: each vector along a dimension of its own, expanded to the sizes of all.
    ///
    /// All are views, of one dtype; a tensor without dimensions counts as a vector of one element.
    ///
    /// ```
    /// let (x, y) = (tensor![1, 2], tensor![3, 4, 5]);
    /// let grid = ops::meshgrid(&[&x, &y])?;
    /// assert_eq!(grid[0].to_vec::<i32>()?, [1, 1, 1, 2, 2, 2]);
    /// assert_eq!(grid[1].to_vec::<i32>()?, [3, 4, 5, 3, 4, 5]);
    /// ```
    func: meshgrid(Tensor[] tensors) -> Tensor[],
    variants: function, composed: implicit meshgrid, silent_view: true;

    /// [`meshgrid`](super::functions::meshgrid) with a choice of `indexing`: `ij`, or `xy`, where the first two
    /// dimensions change places.
    ///
    /// ```
    /// let (x, y) = (tensor![1, 2], tensor![3, 4, 5]);
    /// let grid = ops::meshgrid_indexed(&[&x, &y], "xy")?;
    /// assert_eq!(grid[0].to_vec::<i32>()?, [1, 2, 1, 2, 1, 2]);
    /// ```
    func: meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[],
    variants: function, name: meshgrid_indexed, composed: implicit meshgrid_indexed, silent_view: true;

    /// All choices of one element from each vector, as rows.
    ///
    /// Of one vector the result is that vector.
    ///
    /// ```
    /// let rows = ops::cartesian_prod(&[tensor![1, 2], tensor![3, 4]])?;
    /// assert_eq!(rows.to_vec::<i32>()?, [1, 3, 1, 4, 2, 3, 2, 4]);
    /// ```
    func: cartesian_prod(Tensor[] tensors) -> Tensor,
    variants: function, composed: implicit cartesian_prod, silent_view: true;
}
