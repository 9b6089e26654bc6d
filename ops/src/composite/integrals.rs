//! Integrals by the trapezoid rule: trapezoid, cumulative_trapezoid, trapz.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::steps::Steps;
use super::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{DimVec, wrap_dim};
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, Result, Scalar};

const END: i64 = i64::MAX;

/// The samples of an integral and the dimension along which they lie.
fn samples(y: &IValue, dim: i64) -> Result<(&AnyTensor, usize)> {
    let y = tensor(y, "y")?;
    if y.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "y", got: 0, accepted: "1 or more" }.into());
    }
    Ok((y, wrap_dim(dim, y.ndim(), "dim")?))
}

/// Bools are neither added nor subtracted.
fn check_numbers(tensors: &[&AnyTensor]) -> Result<()> {
    if tensors.iter().all(|t| t.dtype() != DType::Bool) {
        return Ok(());
    }
    let what = "an argument has dtype";
    Err(ErrorKind::DTypeNotSupported { what, got: DType::Bool, accepted: "all dtypes but bool" }.into())
}

/// The real number that a distance is.
fn distance(dx: Scalar) -> Result<f64> {
    match dx {
        Scalar::Complex(_) | Scalar::Bool(_) => {
            Err(ErrorKind::ArgumentRule { rule: "argument dx is complex or bool; accepted is a real number" }.into())
        }
        dx => Ok(dx.to_f64()),
    }
}

/// The distances of neighbouring points, with the dimensions of the samples.
fn distances(calls: &Calls<'_>, y: &AnyTensor, x: &AnyTensor, dim: usize) -> Result<AnyTensor> {
    let mut sizes = DimVec::from_elem(1, y.ndim());
    let x = match x.ndim() {
        1 => {
            let (got, want) = (x.sizes()[0], y.sizes()[dim]);
            if got != want {
                return Err(ErrorKind::UnequalSizes { arg: "x", got: vec![got], want: vec![want] }.into());
            }
            sizes[dim] = got;
            calls.view(x, &sizes)?
        }
        ndim if ndim < y.ndim() => {
            let given = sizes.len().saturating_sub(ndim);
            sizes[given..].copy_from_slice(x.sizes());
            calls.view(x, &sizes)?
        }
        _ => x.clone(),
    };
    calls.sub(calls.slice(&x, dim as i64, 1, END)?, calls.slice(&x, dim as i64, 0, -1)?)
}

/// The sums of neighbours.
fn pairs(calls: &Calls<'_>, y: &AnyTensor, dim: usize) -> Result<AnyTensor> {
    calls.add(calls.slice(y, dim as i64, 0, -1)?, calls.slice(y, dim as i64, 1, END)?)
}

/// Zeros without the dimension, the integral of no samples.
fn no_integral(calls: &Calls<'_>, y: &AnyTensor, dim: usize) -> Result<AnyTensor> {
    let mut sizes = y.sizes().to_vec();
    sizes.remove(dim);
    let options = [y.dtype().into(), IValue::None, y.device().into(), IValue::None];
    let [dtype, layout, device, pin_memory] = options;
    calls.tensor("zeros", [IValue::Ints(sizes), dtype, layout, device, pin_memory])
}

/// `trapezoid.x`.
pub fn trapezoid(calls: &Calls<'_>, y: &IValue, x: &IValue, dim: i64) -> Result<AnyTensor> {
    let (x, (y, dim)) = (tensor(x, "x")?, samples(y, dim)?);
    if y.sizes()[dim] == 0 {
        return no_integral(calls, y, dim);
    }
    check_numbers(&[y, x])?;
    let areas = calls.mul(pairs(calls, y, dim)?, distances(calls, y, x, dim)?)?;
    calls.div(calls.sum(areas, &[dim as i64], false)?, 2.0)
}

/// `trapezoid.dx`.
pub fn trapezoid_by_step(calls: &Calls<'_>, y: &IValue, dx: Scalar, dim: i64) -> Result<AnyTensor> {
    let (y, dim) = samples(y, dim)?;
    if y.sizes()[dim] == 0 {
        return no_integral(calls, y, dim);
    }
    check_numbers(&[y])?;
    let ends = calls.add(calls.at(y, dim as i64, 0)?, calls.at(y, dim as i64, -1)?)?;
    let area = calls.sub(calls.sum(y.clone(), &[dim as i64], false)?, calls.mul(ends, 0.5)?)?;
    calls.mul(area, distance(dx)?)
}

/// `trapz.dx`.
pub fn trapz_by_step(calls: &Calls<'_>, y: &IValue, dx: f64, dim: i64) -> Result<AnyTensor> {
    trapezoid_by_step(calls, y, Scalar::Float(dx), dim)
}

fn cumulated(calls: &Calls<'_>, areas: AnyTensor, dim: usize) -> Result<AnyTensor> {
    calls.tensor("cumsum", [areas.into(), (dim as i64).into(), IValue::None])
}

/// `cumulative_trapezoid.x`.
pub fn cumulative_trapezoid(calls: &Calls<'_>, y: &IValue, x: &IValue, dim: i64) -> Result<AnyTensor> {
    let (x, (y, dim)) = (tensor(x, "x")?, samples(y, dim)?);
    check_numbers(&[y, x])?;
    let areas = calls.mul(pairs(calls, y, dim)?, distances(calls, y, x, dim)?)?;
    calls.div(cumulated(calls, areas, dim)?, 2.0)
}

/// `cumulative_trapezoid.dx`.
pub fn cumulative_trapezoid_by_step(calls: &Calls<'_>, y: &IValue, dx: Scalar, dim: i64) -> Result<AnyTensor> {
    let (y, dim) = samples(y, dim)?;
    check_numbers(&[y])?;
    let areas = calls.mul(pairs(calls, y, dim)?, distance(dx)? / 2.0)?;
    cumulated(calls, areas, dim)
}

native! {
    family: Integrals, functions: crate::fill::Fills;

    func: trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor,
    composite: implicit trapezoid;

    func: trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor,
    composite: implicit trapezoid_by_step;

    func: trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor,
    composite: implicit trapezoid;

    func: trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor,
    composite: implicit trapz_by_step;

    func: cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor,
    composite: implicit cumulative_trapezoid;

    func: cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor,
    composite: implicit cumulative_trapezoid_by_step;
}
