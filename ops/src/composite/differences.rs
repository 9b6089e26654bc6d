//! Differences of neighbours and what is made of them: diff, gradient.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::steps::Steps;
use super::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::wrap_dim;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar, list};

const END: i64 = i64::MAX;

/// `diff`: differences of neighbours along a dimension, taken `n` times.
pub fn diff(
    calls: &Calls<'_>,
    this: &IValue,
    n: i64,
    dim: i64,
    prepend: &IValue,
    append: &IValue,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    if this.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    if n < 0 {
        return Err(ErrorKind::OutOfRange { arg: "n", got: n, low: 0, high: i64::MAX }.into());
    }
    if n == 0 && prepend.as_tensor().or(append.as_tensor()).is_none() {
        return calls.cloned(this, MemoryFormat::Preserve);
    }
    let mut parts = Vec::new();
    let wrapped = wrap_dim(dim, this.ndim(), "dim")?;
    for (arg, part) in [("prepend", prepend), ("self", &IValue::None), ("append", append)] {
        let Some(part) = part.as_tensor() else {
            parts.extend((arg == "self").then(|| this.clone()));
            continue;
        };
        if part.ndim() != this.ndim() {
            let accepted = "as many as self has";
            return Err(ErrorKind::DimCount { arg, got: part.ndim(), accepted }.into());
        }
        let differs = |(d, (a, b)): (usize, (&i64, &i64))| d != wrapped && a != b;
        if part.sizes().iter().zip(this.sizes()).enumerate().any(differs) {
            let (got, want) = (part.sizes().to_vec(), this.sizes().to_vec());
            return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
        }
        parts.push(part.clone());
    }
    if n == 0 {
        return calls.cloned(this, MemoryFormat::Preserve);
    }
    let mut result = if parts.len() == 1 { this.clone() } else { Callees::cat(calls, parts, wrapped)? };
    let name = if result.dtype() == DType::Bool { "logical_xor" } else { "sub.Tensor" };
    let size = result.sizes()[wrapped];
    if size == 0 {
        return Ok(result);
    }
    for left in (0..size).rev().take(usize::try_from(n).unwrap_or(usize::MAX)) {
        let (high, low) = (calls.narrow(&result, wrapped, 1, left)?, calls.narrow(&result, wrapped, 0, left)?);
        result = match name {
            "sub.Tensor" => calls.sub(high, low)?,
            name => calls.binary(name, high, low)?,
        };
    }
    Ok(result)
}

/// The dims of a gradient: those that are named, or all.
fn gradient_dims(this: &AnyTensor, dims: Option<&[i64]>) -> Vec<i64> {
    dims.map_or_else(|| (0..this.ndim() as i64).collect(), <[i64]>::to_vec)
}

/// What is wrong with the arguments of a gradient; the dims, wrapped.
fn check_gradient(this: &AnyTensor, spacings: usize, dims: Option<&[i64]>, edge_order: i64) -> Result<Vec<usize>> {
    if this.dtype() == DType::U8 {
        let accepted = "all dtypes but uint8 and bool";
        return Err(ErrorKind::DTypeNotSupported { what: "argument self has dtype", got: DType::U8, accepted }.into());
    }
    let named = gradient_dims(this, dims);
    if spacings != named.len() {
        return Err(ErrorKind::ListLength { arg: "spacing", got: spacings, want: named.len() }.into());
    }
    if !matches!(edge_order, 1 | 2) {
        return Err(ErrorKind::OutOfRange { arg: "edge_order", got: edge_order, low: 1, high: 2 }.into());
    }
    let mut wrapped = Vec::new();
    for dim in named {
        let dim = wrap_dim(dim, this.ndim(), "dim")?;
        if wrapped.contains(&dim) {
            return Err(ErrorKind::DimRepeated { arg: "dim", dim }.into());
        }
        if this.sizes().get(dim).is_some_and(|&size| size <= edge_order) {
            let rule = "a dimension is too short for a gradient; accepted are edge_order + 1 elements or more";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        wrapped.push(dim);
    }
    Ok(wrapped)
}

/// Factors times three neighbours, added.
fn weighted(calls: &Calls<'_>, factors: [IValue; 3], parts: [AnyTensor; 3]) -> Result<AnyTensor> {
    let ([a, b, c], [x, y, z]) = (factors, parts);
    let sum = calls.add(calls.mul(a, x)?, calls.mul(b, y)?)?;
    calls.add(sum, calls.mul(c, z)?)
}

/// The gradient along one dimension at points of equal distance.
fn even_gradient(calls: &Calls<'_>, t: &AnyTensor, step: Scalar, dim: usize, edge_order: i64) -> Result<AnyTensor> {
    let slice = |start, end| calls.slice(t, dim as i64, start, end);
    let per_step = |x: AnyTensor| calls.div(x, step);
    let center = calls.div(per_step(calls.sub(slice(2, END)?, slice(0, -2)?)?)?, 2i64)?;
    let (first, last) = if edge_order == 1 {
        (calls.sub(slice(1, 2)?, slice(0, 1)?)?, calls.sub(slice(-1, END)?, slice(-2, -1)?)?)
    } else {
        let times = |x: AnyTensor, factor: f64| calls.mul(x, factor);
        let head = calls.add(times(slice(0, 1)?, -1.5)?, times(slice(1, 2)?, 2.0)?)?;
        let tail = calls.sub(times(slice(-3, -2)?, 0.5)?, times(slice(-2, -1)?, 2.0)?)?;
        (calls.sub(head, times(slice(2, 3)?, 0.5)?)?, calls.add(tail, times(slice(-1, END)?, 1.5)?)?)
    };
    Callees::cat(calls, vec![per_step(first)?, center, per_step(last)?], dim)
}

/// The gradient along one dimension at points of these coordinates.
fn uneven_gradient(calls: &Calls<'_>, t: &AnyTensor, at: &AnyTensor, dim: usize, edge_order: i64) -> Result<AnyTensor> {
    if at.ndim() != 1 {
        return Err(ErrorKind::DimCount { arg: "spacing", got: at.ndim(), accepted: "1 for each tensor" }.into());
    }
    let steps = diff(calls, &at.clone().into(), 1, 0, &IValue::None, &IValue::None)?;
    let mut shape = vec![1; t.ndim()];
    shape[dim] = -1;
    let slice = |start, end| calls.slice(t, dim as i64, start, end);
    let value = |x: AnyTensor| -> Result<IValue> { Ok(x.into()) };
    let spread = |x: AnyTensor| value(calls.reshape(&x, &shape)?);
    let negative = |x: AnyTensor| calls.unary("neg", x);
    let (before, after) = (calls.slice(&steps, 0, 0, -1)?, calls.slice(&steps, 0, 1, END)?);
    let both = calls.add(before.clone(), after.clone())?;
    let a = calls.div(negative(after.clone())?, calls.mul(before.clone(), both.clone())?)?;
    let b = calls.div(calls.sub(after.clone(), before.clone())?, calls.mul(before.clone(), after.clone())?)?;
    let c = calls.div(before, calls.mul(after, both)?)?;
    let parts = [slice(0, -2)?, slice(1, -1)?, slice(2, END)?];
    let center = weighted(calls, [spread(a)?, spread(b)?, spread(c)?], parts)?;
    let step = |index| calls.at(&steps, 0, index);
    let (first, last) = if edge_order == 1 {
        let first = calls.div(calls.sub(slice(1, 2)?, slice(0, 1)?)?, step(0)?)?;
        (first, calls.div(calls.sub(slice(-1, END)?, slice(-2, -1)?)?, step(-1)?)?)
    } else {
        // Of three points, the slope at the outermost: the nearer step, the one behind it, and their sum.
        let edge = |near: AnyTensor, far: AnyTensor, sign: f64, parts: [AnyTensor; 3]| {
            let both = calls.add(near.clone(), far.clone())?;
            let twice = calls.add(calls.mul(near.clone(), 2.0)?, far.clone())?;
            let outer = calls.div(calls.mul(twice, -sign)?, calls.mul(near.clone(), both.clone())?)?;
            let middle = calls.div(calls.mul(both.clone(), sign)?, calls.mul(near.clone(), far.clone())?)?;
            let inner = calls.div(calls.mul(near, -sign)?, calls.mul(far, both)?)?;
            // In the order of the points, as PyTorch adds.
            let ([a, b, c], [x, y, z]) = ([value(outer)?, value(middle)?, value(inner)?], parts);
            let forward = sign > 0.0;
            weighted(calls, if forward { [a, b, c] } else { [c, b, a] }, if forward { [x, y, z] } else { [z, y, x] })
        };
        let head = [slice(0, 1)?, slice(1, 2)?, slice(2, 3)?];
        let tail = [slice(-1, END)?, slice(-2, -1)?, slice(-3, -2)?];
        (edge(step(0)?, step(1)?, 1.0, head)?, edge(step(-1)?, step(-2)?, -1.0, tail)?)
    };
    Callees::cat(calls, vec![first, center, last], dim)
}

/// Gradients along dimensions, with a distance of points for each.
fn gradients(
    calls: &Calls<'_>,
    this: &IValue,
    steps: &[Scalar],
    dims: Option<&[i64]>,
    edge_order: i64,
) -> Result<Vec<AnyTensor>> {
    let this = tensor(this, "self")?;
    let dims = check_gradient(this, steps.len(), dims, edge_order)?;
    let mut made = list::with_capacity(dims.len())?;
    for (&dim, &step) in dims.iter().zip(steps) {
        made.push(even_gradient(calls, this, step, dim, edge_order)?);
    }
    Ok(made)
}

/// `gradient.scalarint`: points of one distance, along one dimension or all.
pub fn gradient(
    calls: &Calls<'_>,
    this: &IValue,
    spacing: Option<Scalar>,
    dim: Option<i64>,
    edge_order: i64,
) -> Result<Vec<AnyTensor>> {
    let count = if dim.is_some() { 1 } else { tensor(this, "self")?.ndim() };
    let steps = vec![spacing.unwrap_or(Scalar::Int(1)); count];
    gradients(calls, this, &steps, dim.as_ref().map(std::slice::from_ref), edge_order)
}

/// `gradient.scalararray`: points of one distance, along these dimensions.
pub fn gradient_along(
    calls: &Calls<'_>,
    this: &IValue,
    spacing: Scalar,
    dims: &[i64],
    edge_order: i64,
) -> Result<Vec<AnyTensor>> {
    gradients(calls, this, &vec![spacing; dims.len()], Some(dims), edge_order)
}

/// `gradient.scalarrayint`: a distance for each dimension, or for one.
pub fn gradient_by_steps(
    calls: &Calls<'_>,
    this: &IValue,
    spacing: &[Scalar],
    dim: Option<i64>,
    edge_order: i64,
) -> Result<Vec<AnyTensor>> {
    gradients(calls, this, spacing, dim.as_ref().map(std::slice::from_ref), edge_order)
}

/// `gradient.scalarrayarray`: a distance for each of these dimensions.
pub fn gradient_along_by_steps(
    calls: &Calls<'_>,
    this: &IValue,
    spacing: &[Scalar],
    dims: &[i64],
    edge_order: i64,
) -> Result<Vec<AnyTensor>> {
    gradients(calls, this, spacing, Some(dims), edge_order)
}

/// `gradient.tensorarray`: coordinates of the points along each of these dimensions.
pub fn gradient_at(
    calls: &Calls<'_>,
    this: &IValue,
    spacing: &[AnyTensor],
    dims: &[i64],
    edge_order: i64,
) -> Result<Vec<AnyTensor>> {
    let this = tensor(this, "self")?;
    let dims = check_gradient(this, spacing.len(), Some(dims), edge_order)?;
    let mut made = list::with_capacity(dims.len())?;
    for (&dim, at) in dims.iter().zip(spacing) {
        made.push(uneven_gradient(calls, this, at, dim, edge_order)?);
    }
    Ok(made)
}

native! {
    family: Differences, functions: crate::fill::Fills;

    func: diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor,
    out: diff.out, composite: implicit diff;

    func: gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[],
    composite: implicit gradient;

    func: gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[],
    composite: implicit gradient_along;

    func: gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[],
    composite: implicit gradient_by_steps;

    func: gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[],
    composite: implicit gradient_along_by_steps;

    func: gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[],
    composite: implicit gradient_at;
}
