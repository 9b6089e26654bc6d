//! Tensors joined to one: cat along a dimension that they have, stack along a new one, and their relatives. Each part
//! is copied into a view of the result.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::shape::{all_at_least, at_least, each};
use crate::table::native;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{AnyTensor, Category, DType, ErrorKind, MemoryFormat, Result, ResultType, list};
use std::borrow::Borrow;

/// A tensor of one dimension of size 0 is left out, whatever the dimensions of the others are.
fn is_left_out(t: &AnyTensor) -> bool {
    t.sizes() == [0]
}

/// The format that all prefer; contiguous where they differ.
fn common_format<'a>(tensors: impl IntoIterator<Item = &'a AnyTensor>) -> MemoryFormat {
    let mut formats = tensors.into_iter().map(|t| strides::suggest_format(t.sizes(), t.strides()));
    let first = formats.next().unwrap_or(MemoryFormat::Contiguous);
    if formats.all(|format| format == first) { first } else { MemoryFormat::Contiguous }
}

/// What `cat` gives, and where its parts are in it.
struct Joined {
    dim: usize,
    sizes: DimVec,
    dtype: DType,
}

fn joined<'a>(tensors: impl Iterator<Item = &'a AnyTensor> + Clone, dim: i64) -> Result<Joined> {
    let mut types = ResultType::default();
    for t in tensors.clone() {
        if t.ndim() == 0 {
            return Err(ErrorKind::DimCount { arg: "tensors", got: 0, accepted: "1 or more" }.into());
        }
        types.push(t.dtype(), Category::Dimensioned);
    }
    let Some(dtype) = types.dtype() else {
        return Err(ErrorKind::ArgumentRule { rule: "argument tensors is empty; give at least one tensor" }.into());
    };
    let mut parts = tensors.filter(|t| !is_left_out(t));
    let Some(first) = parts.next() else {
        return Ok(Joined { dim: 0, sizes: DimVec::from_slice(&[0]), dtype });
    };
    let dim = strides::wrap_dim(dim, first.ndim(), "dim")?;
    let mut sizes = DimVec::from_slice(first.sizes());
    for part in parts {
        let fits = part.ndim() == sizes.len()
            && part.sizes().iter().zip(&sizes).enumerate().all(|(d, (a, b))| d == dim || a == b);
        if !fits {
            let (got, want) = (part.sizes().to_vec(), first.sizes().to_vec());
            return Err(ErrorKind::UnequalSizes { arg: "tensors", got, want }.into());
        }
        let joined = sizes[dim].checked_add(part.sizes()[dim]);
        let overflow = || ErrorKind::SizeOverflow { sizes: part.sizes().to_vec(), strides: part.strides().to_vec() };
        sizes[dim] = joined.ok_or_else(overflow)?;
    }
    Ok(Joined { dim, sizes, dtype })
}

/// `cat`: along a dimension that all have.
pub fn cat<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T], dim: i64) -> Result<C::Tensor> {
    let any = || tensors.iter().map(|t| C::any(t.borrow()));
    let Joined { dim, sizes, dtype } = joined(any(), dim)?;
    let Some(first) = any().next() else { return Err(ErrorKind::EmptyInput.into()) };
    let result = calls.empty(&sizes, dtype, first.device(), common_format(any()))?;
    let mut start = 0;
    for part in tensors.iter().map(T::borrow).filter(|t| !is_left_out(C::any(t))) {
        let length = C::any(part).sizes()[dim];
        calls.copy_into(calls.narrow(&result, dim, start, length)?, part)?;
        // Within the size of the result, which was checked.
        start = start.saturating_add(length);
    }
    Ok(result)
}

fn not_empty<T>(tensors: &[T]) -> Result<&T> {
    let rule = "argument tensors is empty; give at least one tensor";
    tensors.first().ok_or_else(|| ErrorKind::ArgumentRule { rule }.into())
}

/// `stack`: along a new dimension. Where it is not the last, the parts lie one behind the other along the dimension
/// that follows it, so they are joined there, and that dimension is split.
pub fn stack<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T], dim: i64) -> Result<C::Tensor> {
    let first = C::any(not_empty(tensors)?.borrow());
    let dim = strides::wrap_dim(dim, first.ndim().saturating_add(1), "dim")?;
    if let Some(other) = tensors.iter().map(|t| C::any(t.borrow())).find(|t| t.sizes() != first.sizes()) {
        let (got, want) = (other.sizes().to_vec(), first.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "tensors", got, want }.into());
    }
    if dim < first.ndim() {
        let mut sizes = first.sizes().to_vec();
        sizes.insert(dim, tensors.len() as i64);
        let mut parts = list::with_capacity(tensors.len())?;
        parts.extend(tensors.iter().map(|t| t.borrow().clone()));
        let joined = calls.cat(parts, dim)?;
        return calls.view(&joined, &sizes);
    }
    calls.cat(each(tensors, |t| calls.unsqueeze(t, dim))?, dim)
}

/// `hstack`: side by side.
pub fn hstack<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<C::Tensor> {
    not_empty(tensors)?;
    let parts = all_at_least(calls, tensors, 1)?;
    let dim = usize::from(C::any(&parts[0]).ndim() > 1);
    calls.cat(parts, dim)
}

/// `vstack`: one below the other.
pub fn vstack<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<C::Tensor> {
    not_empty(tensors)?;
    calls.cat(all_at_least(calls, tensors, 2)?, 0)
}

/// `dstack`: one behind the other.
pub fn dstack<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<C::Tensor> {
    not_empty(tensors)?;
    calls.cat(all_at_least(calls, tensors, 3)?, 2)
}

/// `column_stack`: side by side, where a tensor of one dimension or none is a column.
pub fn column_stack<C: Callees, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<C::Tensor> {
    not_empty(tensors)?;
    let column = |t: &C::Tensor| match C::any(t).ndim() {
        0 | 1 => calls.reshape(t, &[C::any(t).numel() as i64, 1]),
        _ => at_least(calls, t, 1),
    };
    hstack(calls, &each(tensors, column)?)
}

native! {
    family: CompositeJoin, functions: crate::fill::Fills;

    /// Joins tensors along the dimension `dim`, the first by default.
    ///
    /// The other sizes must agree; a tensor of the sizes `[0]` is left out. The result has the dtype that all promote
    /// to. No tensors, and tensors of no dimensions, are an error: [`stack`](super::functions::stack) makes a new
    /// dimension.
    ///
    /// ```
    /// let (x, y) = (tensor![[1, 2]], tensor![[3, 4], [5, 6]]);
    /// assert_eq!(ops::cat(&[&x, &y])?.to_vec::<i32>()?, [1, 2, 3, 4, 5, 6]);
    /// let columns = ops::cat_with(&[&x, &x], Cat { dim: 1, ..Default::default() })?;
    /// assert_eq!(columns.sizes(), [1, 4]);
    /// ```
    func: cat(Tensor[] tensors, int dim=0) -> Tensor,
    out_apart: cat.out, variants: function, typed: crate::join::cat, composite: explicit cat;

    /// [`cat`](super::functions::cat) under another name.
    func: concat(Tensor[] tensors, int dim=0) -> Tensor,
    out: concat.out, variants: function, typed: crate::join::concat, redirect: cat;

    /// [`cat`](super::functions::cat) under another name.
    func: concatenate(Tensor[] tensors, int dim=0) -> Tensor,
    out: concatenate.out, variants: function, typed: crate::join::concatenate, redirect: cat;

    /// Joins tensors of the same sizes along a new dimension `dim`, the first by default.
    ///
    /// The result has the dtype that all promote to. No tensors are an error.
    ///
    /// ```
    /// let (x, y) = (tensor![1, 2], tensor![3, 4]);
    /// assert_eq!(ops::stack(&[&x, &y])?.to_vec::<i32>()?, [1, 2, 3, 4]);
    /// let columns = ops::stack_with(&[&x, &y], StackOptions { dim: 1, ..Default::default() })?;
    /// assert_eq!(columns.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// ```
    func: stack(Tensor[] tensors, int dim=0) -> Tensor,
    out_apart: stack.out, variants: function, typed: crate::join::stack, composite: explicit stack;

    func: _stack(Tensor[] tensors, int dim=0) -> Tensor,
    out_apart: _stack.out, composite: explicit stack;

    /// Joins tensors along the second dimension, along the first where they have one only.
    ///
    /// ```
    /// let (x, y) = (tensor![[1], [2]], tensor![[3], [4]]);
    /// assert_eq!(ops::hstack(&[&x, &y])?.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// ```
    func: hstack(Tensor[] tensors) -> Tensor,
    out_apart: hstack.out, variants: function, typed: crate::join::hstack, composite: implicit hstack;

    /// Joins tensors along the first dimension; one of one dimension becomes a row.
    ///
    /// ```
    /// let (x, y) = (tensor![1, 2], tensor![3, 4]);
    /// assert_eq!(ops::vstack(&[&x, &y])?.sizes(), [2, 2]);
    /// ```
    func: vstack(Tensor[] tensors) -> Tensor,
    out_apart: vstack.out, variants: function, typed: crate::join::vstack, composite: implicit vstack;

    /// [`vstack`](super::functions::vstack) under another name.
    func: row_stack(Tensor[] tensors) -> Tensor,
    out: row_stack.out, variants: function, typed: crate::join::row_stack, redirect: vstack;

    /// Joins tensors along the third dimension, after [`atleast_3d`](super::functions::atleast_3d).
    ///
    /// ```
    /// let (x, y) = (tensor![1, 2], tensor![3, 4]);
    /// assert_eq!(ops::dstack(&[&x, &y])?.sizes(), [1, 2, 2]);
    /// ```
    func: dstack(Tensor[] tensors) -> Tensor,
    out_apart: dstack.out, variants: function, typed: crate::join::dstack, composite: implicit dstack;

    /// Joins tensors along the second dimension; one of at most one dimension becomes a column.
    ///
    /// ```
    /// let (x, y) = (tensor![1, 2], tensor![3, 4]);
    /// assert_eq!(ops::column_stack(&[&x, &y])?.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// ```
    func: column_stack(Tensor[] tensors) -> Tensor,
    out_apart: column_stack.out, variants: function, typed: crate::join::column_stack,
    composite: implicit column_stack;
}
