//! What distributions ask of their parameters and of the dtype that they fill, as PyTorch does.

use super::Distribution;
use monomorph_core::{DType, ErrorKind, Kind, Result, bf16, f16};

/// A rule about numbers, broken or not.
pub(super) fn holds(is_held: bool, rule: &'static str) -> Result<()> {
    if is_held { Ok(()) } else { Err(ErrorKind::ArgumentRule { rule }.into()) }
}

fn refuse(got: DType, accepted: &'static str) -> Result<()> {
    Err(ErrorKind::DTypeNotSupported { what: "the tensor to be filled has dtype", got, accepted }.into())
}

/// An error if the distribution has no numbers of this dtype.
pub(super) fn check_dtype(distribution: Distribution, dtype: DType) -> Result<()> {
    use Distribution::*;
    match distribution {
        Uniform { .. } | Normal { .. } if dtype.is_floating() || dtype.is_complex() => Ok(()),
        Uniform { .. } | Normal { .. } => refuse(dtype, "floating and complex dtypes"),
        LogNormal { .. } | Cauchy { .. } | Exponential { .. } | PoissonOf if dtype.is_floating() => Ok(()),
        LogNormal { .. } | Cauchy { .. } | Exponential { .. } | PoissonOf => refuse(dtype, "floating dtypes"),
        BinomialOf | GammaOf | SlopeOf { .. } if matches!(dtype, DType::F32 | DType::F64) => Ok(()),
        BinomialOf | GammaOf | SlopeOf { .. } => refuse(dtype, "float32 and float64"),
        Geometric { .. } | Permutation if dtype.is_complex() || dtype == DType::Bool => {
            refuse(dtype, "integers and floating dtypes")
        }
        Index { .. } if dtype != DType::I64 => refuse(dtype, "int64"),
        EveryInt64 if !matches!(dtype, DType::I64 | DType::F64 | DType::F32 | DType::BF16) => {
            refuse(dtype, "int64, float64, float32 and bfloat16")
        }
        _ if dtype.is_complex() => refuse(dtype, "bool, integers and floating dtypes"),
        _ => Ok(()),
    }
}

/// An error if a tensor of this dtype is no parameter of the distribution.
pub(super) fn check_parameter(distribution: Distribution, got: DType) -> Result<()> {
    let (is_accepted, accepted) = match distribution {
        Distribution::BinomialOf | Distribution::GammaOf => {
            (matches!(got, DType::F32 | DType::F64), "float32 and float64")
        }
        _ => (got.is_floating(), "floating dtypes"),
    };
    match is_accepted {
        true => Ok(()),
        false => Err(ErrorKind::DTypeNotSupported { what: "a tensor of parameters has dtype", got, accepted }.into()),
    }
}

/// The lowest and the largest number of a floating dtype.
fn bounds(dtype: DType) -> (f64, f64) {
    let most = match dtype.to_real() {
        DType::F16 => f64::from(f16::MAX),
        DType::BF16 => f64::from(bf16::MAX),
        DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    (-most, most)
}

/// What `uniform_` asks.
pub(super) fn check_uniform(dtype: DType, from: f64, to: f64) -> Result<()> {
    check_dtype(Distribution::Uniform { from, to }, dtype)?;
    let (least, most) = bounds(dtype);
    for (arg, got) in [("from", from), ("to", to)] {
        if !(least..=most).contains(&got) {
            return Err(ErrorKind::NumberRange { arg, got: format!("{got:?}"), dtype }.into());
        }
    }
    holds(from <= to, "argument from is above argument to; accepted is an interval [from, to)")?;
    holds(to - from <= most, "the distance from argument from to argument to is more than the dtype can hold")
}

/// Bits of the significand of a floating dtype: up to 2 to this power all whole numbers exist.
fn digits(dtype: DType) -> u32 {
    match dtype {
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => 24,
        _ => 53,
    }
}

/// A whole number as the nearest one of a floating dtype, as C++ converts it there and back.
fn rounded(value: i64, dtype: DType) -> i64 {
    match dtype {
        DType::F16 => f16::from_f32(value as f32).to_f32() as i64,
        DType::BF16 => bf16::from_f32(value as f32).to_f32() as i64,
        DType::F32 => value as f32 as i64,
        _ => value as f64 as i64,
    }
}

/// The distance of neighbours of a floating dtype near a whole number.
fn step(near: i64, dtype: DType) -> i64 {
    let exponent = near.unsigned_abs().checked_ilog2().unwrap_or(0);
    1i64.wrapping_shl(exponent.wrapping_sub(digits(dtype)).wrapping_add(1))
}

/// `from`, moved up so that no number below it is rounded to one of the interval.
fn raised(from: i64, dtype: DType) -> i64 {
    let next = rounded(from.wrapping_add(1), dtype);
    if next < from { next.wrapping_add(step(from.wrapping_add(1), dtype)) } else { from }
}

/// `to`, moved down so that no number of the interval is rounded to it.
fn lowered(to: i64, dtype: DType) -> i64 {
    let last = rounded(to.wrapping_sub(1), dtype);
    if last >= to { last.wrapping_sub(step(to.wrapping_sub(1), dtype)) } else { to }
}

/// The largest whole number of the integers of a dtype, and the least.
fn whole_bounds(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::Bool => (0, 1),
        DType::U8 => (0, i64::from(u8::MAX)),
        DType::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        DType::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// An error if the dtype does not reach from `from` to `last`.
fn check_within(from: i64, last: i64, dtype: DType) -> Result<()> {
    for (arg, got) in [("from", from), ("to", last)] {
        let is_held = match dtype.kind() {
            Kind::Float => {
                let (least, most) = bounds(dtype);
                (least..=most).contains(&(got as f64))
            }
            _ => {
                let (least, most) = whole_bounds(dtype);
                (least..=most).contains(&got)
            }
        };
        if !is_held {
            return Err(ErrorKind::NumberRange { arg, got: got.to_string(), dtype }.into());
        }
    }
    Ok(())
}

/// The whole numbers of a dtype from `from` up to and without `to`, or all from `from` on.
pub(super) fn range(dtype: DType, from: i64, to: Option<i64>) -> Result<Distribution> {
    let empty = "argument from is not below argument to, as they are or in the dtype; accepted is from < to";
    let is_float = dtype.is_floating();
    let is_complex = || ErrorKind::DTypeNotSupported {
        what: "the tensor to be filled has dtype",
        got: dtype,
        accepted: "bool, integers and floating dtypes",
    };
    let (from, last) = match to {
        Some(to) => {
            holds(from < to, empty)?;
            let (from, to) = if is_float { (raised(from, dtype), lowered(to, dtype)) } else { (from, to) };
            holds(from < to, empty)?;
            (from, to.wrapping_sub(1))
        }
        None if from == i64::MIN => return Ok(Distribution::EveryInt64),
        None if is_float => {
            let (from, last) = (raised(from, dtype), 1i64 << digits(dtype));
            holds(from < last, empty)?;
            (from, last)
        }
        None => (from, whole_bounds(dtype).1),
    };
    if dtype.is_complex() {
        return Err(is_complex().into());
    }
    check_within(from, last, dtype)?;
    Ok(Distribution::Range { range: (last as u64).wrapping_sub(from as u64).wrapping_add(1), base: from })
}

/// An error if the dtype does not have each number below `n`.
pub(super) fn check_permutation(n: i64, dtype: DType) -> Result<()> {
    let most = match dtype {
        _ if dtype.is_floating() => (1i64 << digits(dtype)) + 1,
        _ => whole_bounds(dtype).1,
    };
    if n > most {
        return Err(ErrorKind::NumberRange { arg: "n", got: n.to_string(), dtype }.into());
    }
    Ok(())
}
