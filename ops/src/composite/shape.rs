//! Shapes composed of views: broadcast_tensors, flatten, ravel, reshape_as, atleast_*, outer, type_as.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::{operand, tensor};
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{AnyTensor, ErrorKind, IValue, MemoryFormat, Result, list};
use std::borrow::Borrow;

/// `broadcast_tensors`: all expanded to the sizes that they broadcast to; those that have them already are themselves.
pub fn broadcast_tensors<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<Vec<C::Tensor>> {
    let mut all = tensors.iter().map(|t| C::any(t.borrow()).sizes());
    let Some(first) = all.next() else { return Ok(Vec::new()) };
    let sizes = all.try_fold(DimVec::from_slice(first), |sizes, t| strides::broadcast_sizes(&sizes, t))?;
    let expanded = |t: &C::Tensor| match C::any(t).sizes() == sizes.as_slice() {
        true => Ok(t.clone()),
        false => calls.expand(t, &sizes),
    };
    each(tensors, expanded)
}

/// What `make` makes of each tensor.
pub(crate) fn each<T: Borrow<A>, A, B>(tensors: &[T], make: impl Fn(&A) -> Result<B>) -> Result<Vec<B>> {
    let mut made = list::with_capacity(tensors.len())?;
    for tensor in tensors {
        made.push(make(tensor.borrow())?);
    }
    Ok(made)
}

/// The sizes of a tensor whose dimensions from `start_dim` to `end_dim` are one; none if it has them already.
pub(crate) fn flat_sizes(sizes: &[i64], start_dim: i64, end_dim: i64) -> Result<Option<DimVec>> {
    let first = strides::wrap_dim(start_dim, sizes.len(), "start_dim")?;
    let last = strides::wrap_dim(end_dim, sizes.len(), "end_dim")?;
    if first > last {
        return Err(ErrorKind::ArgumentRule { rule: "start_dim must not come after end_dim" }.into());
    }
    if sizes.is_empty() {
        return Ok(Some(DimVec::from_slice(&[1])));
    }
    if first == last {
        return Ok(None);
    }
    let mut merged = DimVec::from_slice(&sizes[..first]);
    merged.push(strides::numel(&sizes[first..=last])? as i64);
    merged.extend(sizes.iter().skip(last).skip(1).copied());
    Ok(Some(merged))
}

/// `flatten.using_ints`: the dimensions from `start_dim` to `end_dim` as one.
pub fn flatten(calls: &Calls<'_>, this: &IValue, start_dim: i64, end_dim: i64) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    match flat_sizes(this.sizes(), start_dim, end_dim)? {
        None => Ok(this.clone()),
        Some(sizes) => calls.reshape(this, &sizes),
    }
}

/// `ravel`: all elements in one dimension.
pub fn ravel(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    let contiguous = calls.tensor("contiguous", [this.clone(), MemoryFormat::Contiguous.into()])?;
    calls.reshape(&contiguous, &[-1])
}

/// `reshape_as`: the sizes of another tensor.
pub fn reshape_as(calls: &Calls<'_>, this: &IValue, other: &IValue) -> Result<AnyTensor> {
    calls.reshape(tensor(this, "self")?, operand(other).sizes())
}

/// The tensor with `n` dimensions or more: those that are missing have size 1.
pub(crate) fn at_least<C: Callees>(calls: &C, this: &C::Tensor, n: usize) -> Result<C::Tensor> {
    let missing: &[usize] = match (n, C::any(this).ndim()) {
        (1, 0) => &[0],
        (2, 0) => &[0, 0],
        (2, 1) => &[0],
        (3, 0) => &[0, 0, 0],
        (3, 1) => &[0, 2],
        (3, 2) => &[2],
        _ => &[],
    };
    missing.iter().try_fold(this.clone(), |t, dim| calls.unsqueeze(&t, *dim))
}

pub(crate) fn all_at_least<C: Callees, T: Borrow<C::Tensor>>(
    calls: &C,
    tensors: &[T],
    n: usize,
) -> Result<Vec<C::Tensor>> {
    each(tensors, |t| at_least(calls, t, n))
}

/// `atleast_1d`.
pub fn atleast_1d(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    at_least(calls, tensor(this, "self")?, 1)
}

/// `atleast_2d`.
pub fn atleast_2d(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    at_least(calls, tensor(this, "self")?, 2)
}

/// `atleast_3d`.
pub fn atleast_3d(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    at_least(calls, tensor(this, "self")?, 3)
}

/// `atleast_1d.Sequence`.
pub fn all_atleast_1d(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<Vec<AnyTensor>> {
    all_at_least(calls, tensors, 1)
}

/// `atleast_2d.Sequence`.
pub fn all_atleast_2d(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<Vec<AnyTensor>> {
    all_at_least(calls, tensors, 2)
}

/// `atleast_3d.Sequence`.
pub fn all_atleast_3d(calls: &Calls<'_>, tensors: &[AnyTensor]) -> Result<Vec<AnyTensor>> {
    all_at_least(calls, tensors, 3)
}

/// The first vector of `outer` as a column.
pub(crate) fn column<C: Callees>(calls: &C, this: &C::Tensor, vec2: &[i64]) -> Result<C::Tensor> {
    let sizes = C::any(this).sizes();
    for (arg, got) in [("self", sizes.len()), ("vec2", vec2.len())] {
        if got != 1 {
            return Err(ErrorKind::DimCount { arg, got, accepted: "1" }.into());
        }
    }
    calls.reshape(this, &[sizes[0], 1])
}

/// `outer`: each element of one vector times each of another.
pub fn outer(calls: &Calls<'_>, this: &IValue, vec2: &IValue) -> Result<AnyTensor> {
    let column = column(calls, tensor(this, "self")?, operand(vec2).sizes())?;
    calls.tensor("mul.Tensor", [column.into(), vec2.clone()])
}

/// `type_as`: in the dtype and on the device of another tensor.
pub fn type_as(calls: &Calls<'_>, this: &IValue, other: &IValue) -> Result<AnyTensor> {
    calls.tensor("to.other", [this.clone(), other.clone(), false.into(), false.into(), IValue::None])
}

native! {
    family: CompositeShape, functions: crate::fill::Fills;

    /// Expands tensors to the sizes that they broadcast to, as views.
    ///
    /// ```
    /// let (x, y) = (tensor![[1], [2]], tensor![1, 2, 3]);
    /// let all = ops::broadcast_tensors(&[&x, &y])?;
    /// assert_eq!(all[0].to_vec::<i32>()?, [1, 1, 1, 2, 2, 2]);
    /// ```
    func: broadcast_tensors(Tensor[] tensors) -> Tensor[],
    variants: function, typed: crate::join::broadcast_tensors, composite: implicit broadcast_tensors,
    silent_view: true;

    /// Gives a tensor of no dimensions one of size 1; others stay.
    ///
    /// ```
    /// assert_eq!(ops::scalar_tensor(2)?.atleast_1d()?.sizes(), [1]);
    /// ```
    func: atleast_1d(Tensor self) -> Tensor,
    variants: function, typed: crate::join::atleast_1d, composite: implicit atleast_1d, silent_view: true;

    /// Gives a tensor of fewer than two dimensions new ones of size 1 in front; others stay.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].atleast_2d()?.sizes(), [1, 2]);
    /// ```
    func: atleast_2d(Tensor self) -> Tensor,
    variants: function, typed: crate::join::atleast_2d, composite: implicit atleast_2d, silent_view: true;

    /// Gives a tensor of fewer than three dimensions new ones of size 1; others stay.
    ///
    /// A vector becomes `[1, n, 1]`, a matrix `[m, n, 1]`.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].atleast_3d()?.sizes(), [1, 2, 1]);
    /// ```
    func: atleast_3d(Tensor self) -> Tensor,
    variants: function, typed: crate::join::atleast_3d, composite: implicit atleast_3d, silent_view: true;

    /// [`atleast_1d`](super::functions::atleast_1d) of each tensor.
    ///
    /// ```
    /// let all = ops::all_atleast_1d(&[ops::scalar_tensor(2)?, ops::ones(3, F32)?])?;
    /// assert_eq!(all[0].sizes(), [1]);
    /// ```
    func: atleast_1d.Sequence(Tensor[] tensors) -> Tensor[],
    variants: function, name: all_atleast_1d, typed: crate::join::all_atleast_1d, composite: implicit all_atleast_1d,
    silent_view: true;

    /// [`atleast_2d`](super::functions::atleast_2d) of each tensor.
    ///
    /// ```
    /// let all = ops::all_atleast_2d(&[tensor![1, 2], tensor![3]])?;
    /// assert_eq!(all[0].sizes(), [1, 2]);
    /// ```
    func: atleast_2d.Sequence(Tensor[] tensors) -> Tensor[],
    variants: function, name: all_atleast_2d, typed: crate::join::all_atleast_2d, composite: implicit all_atleast_2d,
    silent_view: true;

    /// [`atleast_3d`](super::functions::atleast_3d) of each tensor.
    ///
    /// ```
    /// let all = ops::all_atleast_3d(&[tensor![1, 2], tensor![3]])?;
    /// assert_eq!(all[0].sizes(), [1, 2, 1]);
    /// ```
    func: atleast_3d.Sequence(Tensor[] tensors) -> Tensor[],
    variants: function, name: all_atleast_3d, typed: crate::join::all_atleast_3d, composite: implicit all_atleast_3d,
    silent_view: true;

    /// The outer product of two vectors: `self[i] · vec2[j]`.
    ///
    /// The sizes are `[n, m]`, the dtype is the one that both promote to.
    ///
    /// ```
    /// let (x, y) = (tensor![1, 2], tensor![3, 4, 5]);
    /// assert_eq!(x.outer(&y)?.to_vec::<i32>()?, [3, 4, 5, 6, 8, 10]);
    /// ```
    func: outer(Tensor self, Tensor vec2) -> Tensor,
    out: outer.out, variants: function, typed: crate::join::outer for crate::kernels::Arithmetic,
    composite: implicit outer;

    /// [`outer`](super::functions::outer) under another name.
    func: ger(Tensor self, Tensor vec2) -> Tensor,
    out: ger.out, variants: function, typed: crate::join::ger for crate::kernels::Arithmetic, redirect: outer;

    /// Converts to the dtype of `other`; a tensor that has it is itself.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].type_as(&tensor![0.5f32])?.dtype(), F32);
    /// ```
    func: type_as(Tensor self, Tensor other) -> Tensor,
    variants: function, typed: crate::join::type_as, composite: implicit type_as, silent_view: true;
}
