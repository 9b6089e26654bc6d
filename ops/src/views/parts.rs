//! Views of a tensor part by part along a dimension: split, chunk, unbind and their relatives. One geometry to several
//! over the same storage. As many at most as a list of results may have, however large the dimension is.
#![deny(clippy::arithmetic_side_effects)]

use crate::table::native;
use crate::view::{select, slice, windows};
use monomorph_core::{DType, Device, Error, ErrorKind, Geometry, Result, Tensor, list, observe, strides};

/// The dimension to split; a tensor without dimensions has none.
fn dimension(g: &Geometry, dim: i64) -> Result<usize> {
    at_least(g, 1, "1 or more")?;
    strides::wrap_dim(dim, g.ndim(), "dim")
}

fn at_least(g: &Geometry, ndim: usize, accepted: &'static str) -> Result<()> {
    if g.ndim() < ndim {
        return Err(ErrorKind::DimCount { arg: "self", got: g.ndim(), accepted }.into());
    }
    Ok(())
}

fn positive(arg: &'static str, got: i64) -> Result<()> {
    if got <= 0 {
        return Err(ErrorKind::OutOfRange { arg, got, low: 1, high: i64::MAX }.into());
    }
    Ok(())
}

/// `count` parts that end where `ends` say, each beginning at the end of the one before.
fn at(g: &Geometry, d: usize, count: i64, ends: impl IntoIterator<Item = i64>) -> Result<Vec<Geometry>> {
    let mut parts = list::of_parts(count)?;
    let mut start = 0;
    for end in ends {
        parts.push(slice(g, d as i64, Some(start), Some(end), 1)?);
        start = end;
    }
    Ok(parts)
}

/// The length of a list of a caller's as a number of parts.
fn count_of(list: &[i64]) -> i64 {
    i64::try_from(list.len()).unwrap_or(i64::MAX)
}

/// `split.Tensor`: parts of `split_size`, the last with what is left.
pub fn split(g: &Geometry, split_size: i64, dim: i64) -> Result<Vec<Geometry>> {
    let d = dimension(g, dim)?;
    let size = g.sizes()[d];
    if split_size < 0 || split_size == 0 && size > 0 {
        let low = i64::from(size > 0);
        return Err(ErrorKind::OutOfRange { arg: "split_size", got: split_size, low, high: i64::MAX }.into());
    }
    // At least one part, which may be empty.
    let count = windows(size, 1, split_size).max(1);
    at(g, d, count, (1..=count).map(|i| i.saturating_mul(split_size).min(size)))
}

/// `split_with_sizes`, `split.sizes`: parts of these sizes, which must sum to that of the dimension.
pub fn split_with_sizes(g: &Geometry, split_sizes: &[i64], dim: i64) -> Result<Vec<Geometry>> {
    let d = dimension(g, dim)?;
    let mut sum = 0i64;
    for &size in split_sizes {
        if size < 0 {
            return Err(ErrorKind::NegativeSize { arg: "split_sizes", got: size }.into());
        }
        sum = sum.saturating_add(size);
    }
    if sum != g.sizes()[d] {
        return Err(ErrorKind::ArgumentRule { rule: "split_sizes must sum to the size of the dimension" }.into());
    }
    let ends = split_sizes.iter().scan(0i64, |end, &size| {
        *end = end.saturating_add(size);
        Some(*end)
    });
    at(g, d, count_of(split_sizes), ends)
}

/// `chunk`: at most `chunks` parts of one size, the last with what is left.
pub fn chunk(g: &Geometry, chunks: i64, dim: i64) -> Result<Vec<Geometry>> {
    let d = dimension(g, dim)?;
    positive("chunks", chunks)?;
    match windows(g.sizes()[d], 1, chunks) {
        // Nothing to share out: as many empty parts as were asked for.
        0 => at(g, d, chunks, (0..chunks).map(|_| 0)),
        each => split(g, each, d as i64),
    }
}

/// `tensor_split.sections`: as many parts, the first ones larger by one where the size does not divide.
pub fn tensor_split(g: &Geometry, sections: i64, dim: i64) -> Result<Vec<Geometry>> {
    let d = dimension(g, dim)?;
    positive("sections", sections)?;
    let size = g.sizes()[d];
    let (each, larger) = (size.checked_div(sections).unwrap_or(0), size.checked_rem(sections).unwrap_or(0));
    // No part ends behind the dimension.
    at(g, d, sections, (1..=sections).map(|i| i.wrapping_mul(each).wrapping_add(i.min(larger))))
}

/// `tensor_split.indices`: parts that end at these indices, and the rest.
pub fn tensor_split_indices(g: &Geometry, indices: &[i64], dim: i64) -> Result<Vec<Geometry>> {
    let d = dimension(g, dim)?;
    at(g, d, count_of(indices).saturating_add(1), indices.iter().copied().chain([g.sizes()[d]]))
}

/// `tensor_split.tensor_indices_or_sections`: the same, by an int64 tensor: one number of sections, or a list of
/// indices.
pub fn tensor_split_from<D: Device>(this: &Tensor<D>, by: &Tensor<D>, dim: i64) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("tensor_split", [this.geometry(), by.geometry()]);
    let make = || {
        let numbers = match (by.dtype(), by.ndim()) {
            (DType::I64, 0 | 1) => by.to_vec::<i64>()?,
            _ => {
                let rule = "tensor_indices_or_sections must be an int64 tensor of no or one dimension";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
        };
        let parts = match by.ndim() {
            0 => tensor_split(this.geometry(), numbers[0], dim)?,
            _ => tensor_split_indices(this.geometry(), &numbers, dim)?,
        };
        crate::table::shared_parts(this, parts)
    };
    make().map_err(|e: Error| e.of("tensor_split"))
}

/// Parts of equal size.
fn equally(g: &Geometry, sections: i64, d: usize) -> Result<Vec<Geometry>> {
    positive("sections", sections)?;
    if g.sizes()[d].checked_rem(sections) != Some(0) {
        return Err(ErrorKind::ArgumentRule { rule: "the size of the dimension must be a multiple of sections" }.into());
    }
    tensor_split(g, sections, d as i64)
}

/// The dimension that `hsplit` splits: the second, of a vector the first.
fn horizontal(g: &Geometry) -> Result<usize> {
    at_least(g, 1, "1 or more")?;
    Ok(usize::from(g.ndim() > 1))
}

/// `hsplit.int`: equal parts of the second dimension, of a vector of the first.
pub fn hsplit(g: &Geometry, sections: i64) -> Result<Vec<Geometry>> {
    equally(g, sections, horizontal(g)?)
}

/// `hsplit.array`: parts of it that end at these indices.
pub fn hsplit_indices(g: &Geometry, indices: &[i64]) -> Result<Vec<Geometry>> {
    tensor_split_indices(g, indices, horizontal(g)? as i64)
}

/// `vsplit.int`: equal parts of the first of at least two dimensions.
pub fn vsplit(g: &Geometry, sections: i64) -> Result<Vec<Geometry>> {
    at_least(g, 2, "2 or more")?;
    equally(g, sections, 0)
}

/// `vsplit.array`: parts of it that end at these indices.
pub fn vsplit_indices(g: &Geometry, indices: &[i64]) -> Result<Vec<Geometry>> {
    at_least(g, 2, "2 or more")?;
    tensor_split_indices(g, indices, 0)
}

/// `dsplit.int`: equal parts of the third dimension.
pub fn dsplit(g: &Geometry, sections: i64) -> Result<Vec<Geometry>> {
    at_least(g, 3, "3 or more")?;
    equally(g, sections, 2)
}

/// `dsplit.array`: parts of it that end at these indices.
pub fn dsplit_indices(g: &Geometry, indices: &[i64]) -> Result<Vec<Geometry>> {
    at_least(g, 3, "3 or more")?;
    tensor_split_indices(g, indices, 2)
}

/// `unbind.int`: each index of a dimension, which disappears.
pub fn unbind(g: &Geometry, dim: i64) -> Result<Vec<Geometry>> {
    let d = dimension(g, dim)?;
    let size = g.sizes()[d];
    let mut parts = list::of_parts(size)?;
    for i in 0..size {
        parts.push(select(g, d as i64, i)?);
    }
    Ok(parts)
}

/// The parts of a tensor, views of it as far as its elements are in memory: with its conj or neg bit set it is copied
/// first.
fn unsafe_parts<D: Device>(
    op: &'static str,
    this: &Tensor<D>,
    parts: impl FnOnce(&Geometry) -> Result<Vec<Geometry>>,
) -> Result<Vec<Tensor<D>>> {
    let make = || {
        let this = crate::copies::resolved(this)?;
        crate::table::shared_parts(&this, parts(this.geometry())?)
    };
    make().map_err(|e: Error| e.of(op))
}

/// `unsafe_split.Tensor`: as `split`, but the caller promises to use the parts alone, or the tensor alone.
pub fn unsafe_split<D: Device>(this: &Tensor<D>, split_size: i64, dim: i64) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("unsafe_split", [this.geometry()]);
    unsafe_parts("unsafe_split", this, |g| split(g, split_size, dim))
}

/// `unsafe_split_with_sizes`: as `split_with_sizes`, with the same promise.
pub fn unsafe_split_with_sizes<D: Device>(this: &Tensor<D>, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("unsafe_split_with_sizes", [this.geometry()]);
    unsafe_parts("unsafe_split_with_sizes", this, |g| split_with_sizes(g, split_sizes, dim))
}

/// `unsafe_chunk`: as `chunk`, with the same promise.
pub fn unsafe_chunk<D: Device>(this: &Tensor<D>, chunks: i64, dim: i64) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("unsafe_chunk", [this.geometry()]);
    unsafe_parts("unsafe_chunk", this, |g| chunk(g, chunks, dim))
}

native! {
    family: Parts, functions: crate::fill::Fills;

    /// Splits the dimension `dim` into parts of `split_size` indices, the last of which may be smaller.
    ///
    /// The parts are views. `split_size` may be 0 only where the dimension has size 0.
    ///
    /// ```
    /// let x = tensor![0, 1, 2, 3, 4];
    /// let parts = x.split(2)?;
    /// assert_eq!(parts.len(), 3);
    /// assert_eq!(parts[2].to_vec::<i32>()?, [4]);
    /// ```
    func: split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[],
    copy: split_copy.Tensor, copy_into: split_copy.Tensor_out, variants: function, method, views: split;

    func: split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[],
    views: split_with_sizes;

    /// Splits the dimension `dim` into parts of the sizes `split_sizes`, whose sum is its size.
    ///
    /// The parts are views.
    ///
    /// ```
    /// let x = tensor![0, 1, 2, 3, 4];
    /// let parts = x.split_with_sizes([1, 4])?;
    /// assert_eq!(parts[1].to_vec::<i32>()?, [1, 2, 3, 4]);
    /// ```
    func: split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[],
    copy: split_with_sizes_copy, copy_out: split_with_sizes_copy.out, variants: function, method,
    views: split_with_sizes;

    /// Splits the dimension `dim` into at most `chunks` parts of the same size, the last of which may be smaller.
    ///
    /// The size of a part is that of the dimension divided by `chunks`, rounded up, so that there may be fewer parts
    /// than `chunks`; [`tensor_split`](super::functions::tensor_split) gives as many as it is asked for. The parts are
    /// views.
    ///
    /// ```
    /// let x = ops::arange(5)?;
    /// assert_eq!(x.chunk(4)?.len(), 3);
    /// assert_eq!(x.chunk(2)?[1].to_vec::<i64>()?, [3, 4]);
    /// ```
    func: chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[],
    variants: function, method, views: chunk;

    /// Splits the dimension `dim` into `sections` parts whose sizes differ by at most 1, the larger ones first.
    ///
    /// The parts are views.
    ///
    /// ```
    /// let parts = ops::arange(5)?.tensor_split(3)?;
    /// assert_eq!(parts.iter().map(|part| part.sizes()[0]).collect::<Vec<_>>(), [2, 2, 1]);
    /// ```
    func: tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[],
    variants: function, method, views: tensor_split;

    /// Splits the dimension `dim` in front of each of the indices `indices`.
    ///
    /// There is a part more than there are indices; those that do not ascend, or lie beyond the end, give empty parts.
    /// The parts are views.
    ///
    /// ```
    /// let parts = ops::arange(5)?.tensor_split_indices([1, 3])?;
    /// assert_eq!(parts[1].to_vec::<i64>()?, [1, 2]);
    /// ```
    func: tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[],
    variants: function, method, name: tensor_split_indices, views: tensor_split_indices;

    func: tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections,
        int dim=0) -> Tensor(a)[],
    kernel: tensor_split_from;

    /// Splits as [`split`](super::functions::split) does, for whoever promises to write to no part while another one is
    /// in use.
    ///
    /// ```
    /// assert_eq!(ops::unsafe_split(&tensor![0, 1, 2], 2)?.len(), 2);
    /// ```
    func: unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[],
    variants: function, kernel: unsafe_split, silent_view: true;

    func: unsafe_split.Tensor_out(Tensor self, SymInt split_size, int dim=0, *, Tensor(a!)[] out) -> (),
    views: split;

    /// Splits as [`split_with_sizes`](super::functions::split_with_sizes) does, for whoever promises to write to no
    /// part while another one is in use.
    ///
    /// ```
    /// assert_eq!(ops::unsafe_split_with_sizes(&tensor![0, 1, 2], [1, 2])?.len(), 2);
    /// ```
    func: unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[],
    variants: function, kernel: unsafe_split_with_sizes, silent_view: true;

    func: unsafe_split_with_sizes.out(Tensor self, SymInt[] split_sizes, int dim=0, *, Tensor(a!)[] out) -> (),
    views: split_with_sizes;

    /// Splits as [`chunk`](super::functions::chunk) does, for whoever promises to write to no part while another one is
    /// in use.
    ///
    /// ```
    /// assert_eq!(ops::unsafe_chunk(&tensor![0, 1, 2], 2)?.len(), 2);
    /// ```
    func: unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[],
    variants: function, kernel: unsafe_chunk, silent_view: true;

    /// Splits the second dimension into `sections` parts of the same size, the first dimension of a tensor that has one
    /// only.
    ///
    /// `sections` must divide the size. The parts are views.
    ///
    /// ```
    /// let parts = tensor![[1, 2], [3, 4]].hsplit(2)?;
    /// assert_eq!(parts[0].to_vec::<i32>()?, [1, 3]);
    /// ```
    func: hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[],
    variants: function, method, views: hsplit;

    /// Splits the second dimension in front of each of the indices, the first dimension of a tensor that has one only.
    ///
    /// The parts are views, as those of [`tensor_split_indices`](super::functions::tensor_split_indices).
    ///
    /// ```
    /// let parts = tensor![1, 2, 3].hsplit_indices([1])?;
    /// assert_eq!(parts[1].to_vec::<i32>()?, [2, 3]);
    /// ```
    func: hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[],
    variants: function, method, name: hsplit_indices, views: hsplit_indices;

    /// Splits the first dimension into `sections` parts of the same size; there must be a second one.
    ///
    /// `sections` must divide the size. The parts are views.
    ///
    /// ```
    /// let parts = tensor![[1, 2], [3, 4]].vsplit(2)?;
    /// assert_eq!(parts[0].to_vec::<i32>()?, [1, 2]);
    /// ```
    func: vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[],
    variants: function, method, views: vsplit;

    /// Splits the first dimension in front of each of the indices; there must be a second one.
    ///
    /// The parts are views, as those of [`tensor_split_indices`](super::functions::tensor_split_indices).
    ///
    /// ```
    /// let parts = tensor![[1, 2], [3, 4], [5, 6]].vsplit_indices([1])?;
    /// assert_eq!(parts[1].sizes(), [2, 2]);
    /// ```
    func: vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[],
    variants: function, method, name: vsplit_indices, views: vsplit_indices;

    /// Splits the third dimension into `sections` parts of the same size.
    ///
    /// `sections` must divide the size. The parts are views.
    ///
    /// ```
    /// let parts = ops::zeros((2, 3, 4), F32)?.dsplit(2)?;
    /// assert_eq!(parts[0].sizes(), [2, 3, 2]);
    /// ```
    func: dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[],
    variants: function, method, views: dsplit;

    /// Splits the third dimension in front of each of the indices.
    ///
    /// The parts are views, as those of [`tensor_split_indices`](super::functions::tensor_split_indices).
    ///
    /// ```
    /// let parts = ops::zeros((2, 3, 4), F32)?.dsplit_indices([1])?;
    /// assert_eq!(parts[1].sizes(), [2, 3, 3]);
    /// ```
    func: dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[],
    variants: function, method, name: dsplit_indices, views: dsplit_indices;

    /// Takes the dimension `dim` apart: a view for each of its indices, without that dimension.
    ///
    /// ```
    /// let rows = tensor![[1, 2], [3, 4]].unbind(0)?;
    /// assert_eq!(rows[1].to_vec::<i32>()?, [3, 4]);
    /// ```
    func: unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[],
    copy: unbind_copy.int, copy_out: unbind_copy.int_out, variants: function, method, positional: [dim],
    views: unbind;
}
