//! arange: evenly spaced numbers below an end; and range, which includes it.

use crate::generate::{Place, generated, generated_like, write_sequence};
use monomorph_core::{DEFAULT_FLOAT, DType, Device, DeviceId, Error, ErrorKind, Layout, Result, Scalar, Tensor};

/// The number of elements of `start..end` in steps, and the errors of a range that has no sense.
fn length(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<usize> {
    let rule = |rule| Err(ErrorKind::ArgumentRule { rule }.into());
    if dtype == DType::Bool || dtype.is_complex() {
        let accepted = "integers and floats";
        return Err(ErrorKind::DTypeNotSupported { what: "the result has dtype", got: dtype, accepted }.into());
    }
    let (s, e, d) = (start.to_f64(), end.to_f64(), step.to_f64());
    if d == 0.0 || d.is_nan() {
        return rule("argument step must be nonzero");
    }
    if !s.is_finite() || !e.is_finite() {
        return rule("arguments start and end must be finite");
    }
    if (d > 0.0 && e < s) || (d < 0.0 && e > s) {
        return rule("the sign of step leads from start away from end");
    }
    let integers = [start, end, step].iter().all(|s| matches!(s, Scalar::Int(_) | Scalar::Bool(_)));
    let count = if integers {
        // Exact where a double would round.
        let span = i128::from(end.to_i64()) - i128::from(start.to_i64());
        (span as f64 / step.to_i64() as f64).ceil()
    } else {
        ((e - s) / d).ceil()
    };
    if !(0.0..=i64::MAX as f64 / 16.0).contains(&count) {
        return Err(ErrorKind::SizeOverflow { sizes: vec![count as i64], strides: Vec::new() }.into());
    }
    Ok(count as usize)
}

/// Elements by their place, computed in int64 for integers and in float64 for floats.
fn elements(start: Scalar, step: Scalar, dtype: DType) -> impl Fn(usize) -> Scalar {
    move |i| {
        if dtype.is_integral(false) {
            return Scalar::Int(start.to_i64().wrapping_add(step.to_i64().wrapping_mul(i as i64)));
        }
        Scalar::Float(start.to_f64() + step.to_f64() * i as f64)
    }
}

/// `arange.start_step`: `start`, `start + step`, … below `end`. Without a dtype: int64, or float32 if an argument is a float.
pub fn arange_start_step<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    step: impl Into<Scalar>,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let (start, end, step) = (start.into(), end.into(), step.into());
    let any_float = [start, end, step].iter().any(|s| matches!(s, Scalar::Float(_) | Scalar::Complex(_)));
    let dtype = dtype.unwrap_or(if any_float { DEFAULT_FLOAT } else { DType::I64 });
    let make = || {
        let n = length(start, end, step, dtype)? as i64;
        generated(&[n], Place { dtype, device, pin_memory }, elements(start, step, dtype))
    };
    make().map_err(|e: Error| e.of("arange"))
}

/// `arange.start`: `start`, `start + 1`, … below `end`.
pub fn arange_start<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    arange_start_step(start, end, 1, dtype, layout, device, pin_memory)
}

/// `arange`: 0, 1, … below `end`.
pub fn arange<D: Device>(
    end: impl Into<Scalar>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    arange_start_step(0, end, 1, dtype, layout, device, pin_memory)
}

/// `arange.start_out`: the range in the dtype of `out`, which becomes one-dimensional unless it has the right number of
/// elements.
pub fn arange_start_out<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    step: impl Into<Scalar>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let (start, end, step) = (start.into(), end.into(), step.into());
    let n = length(start, end, step, out.dtype())? as i64;
    let values = generated_like(&[n], out, elements(start, step, out.dtype()))?;
    write_sequence(&values, out)
}

/// `arange.out`: 0, 1, … below `end` in the dtype of `out`.
pub fn arange_out<D: Device>(end: impl Into<Scalar>, out: &mut Tensor<D>) -> Result<()> {
    arange_start_out(0, end, 1, out)
}

/// The number of elements of `range` in this dtype, and its start and step in it: integers are cut off before anything is computed.
fn inclusive(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<(i64, Scalar, Scalar)> {
    let rule = |rule| Err(ErrorKind::ArgumentRule { rule }.into());
    if dtype == DType::Bool || dtype.is_complex() {
        let accepted = "integers and floats";
        return Err(ErrorKind::DTypeNotSupported { what: "the result has dtype", got: dtype, accepted }.into());
    }
    if !start.to_f64().is_finite() || !end.to_f64().is_finite() {
        return rule("arguments start and end must be finite");
    }
    let away = "the sign of step leads from start away from end";
    let overflow = |count: f64| ErrorKind::SizeOverflow { sizes: vec![count as i64], strides: Vec::new() };
    if dtype.is_integral(false) {
        let (s, e, d) = (start.to_i64(), end.to_i64(), step.to_i64());
        if d == 0 {
            return rule("argument step must be nonzero, also as an integer where the result has an integer dtype");
        }
        let span = i128::from(e) - i128::from(s);
        if span != 0 && (span > 0) != (d > 0) {
            return rule(away);
        }
        let count = span / i128::from(d) + 1;
        let count = i64::try_from(count).map_err(|_| overflow(count as f64))?;
        return Ok((count, Scalar::Int(s), Scalar::Int(d)));
    }
    let (s, e, d) = (start.to_f64(), end.to_f64(), step.to_f64());
    if d == 0.0 || d.is_nan() {
        return rule("argument step must be nonzero");
    }
    if (d > 0.0 && e < s) || (d < 0.0 && e > s) {
        return rule(away);
    }
    let count = (e - s) / d + 1.0;
    if count > i64::MAX as f64 / 16.0 {
        return Err(overflow(count).into());
    }
    Ok((count as i64, Scalar::Float(s), Scalar::Float(d)))
}

/// `range.step`: `start`, `start + step`, … up to and with `end`. Without a dtype: float32.
pub fn range_step<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    step: impl Into<Scalar>,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let dtype = dtype.unwrap_or(DEFAULT_FLOAT);
    let make = || {
        let (n, start, step) = inclusive(start.into(), end.into(), step.into(), dtype)?;
        generated(&[n], Place { dtype, device, pin_memory }, elements(start, step, dtype))
    };
    make().map_err(|e: Error| e.of("range"))
}

/// `range`: `start`, `start + 1`, … up to and with `end`.
pub fn range<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    range_step(start, end, 1, dtype, layout, device, pin_memory)
}

/// `range.out`: the same in the dtype of `out`, which becomes one-dimensional unless it has as many elements.
pub fn range_step_out<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    step: impl Into<Scalar>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let dtype = out.dtype();
    let (n, start, step) = inclusive(start.into(), end.into(), step.into(), dtype)?;
    let values = generated_like(&[n], out, elements(start, step, dtype))?;
    write_sequence(&values, out)
}

/// `range.out_`: in steps of one.
pub fn range_out<D: Device>(start: impl Into<Scalar>, end: impl Into<Scalar>, out: &mut Tensor<D>) -> Result<()> {
    range_step_out(start, end, 1, out)
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __arange_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [arange] (Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> (Tensor)
            : hand ($crate::arange::arange) {
            functional arange;
        } }
        { [arange.start] (Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> (Tensor)
            : hand ($crate::arange::arange_start) {
            functional arange_start;
        } }
        { [arange.start_step] (Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor)
            : hand ($crate::arange::arange_start_step) {
            functional arange_start_step;
        } }
        { [arange.out] (Scalar end) -> (Tensor) : hand ($crate::arange::arange_out) { out arange_out [arange.out]; } }
        { [arange.start_out] (Scalar start, Scalar end, Scalar step=1) -> (Tensor)
            : hand ($crate::arange::arange_start_out) {
            out arange_start_out [arange.start_out];
        } }
        { [range.step] (Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> (Tensor)
            : hand ($crate::arange::range_step) {
            functional range_step;
        } }
        { [range] (Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> (Tensor)
            : hand ($crate::arange::range) {
            functional range;
        } }
        { [range.out] (Scalar start, Scalar end, Scalar step=1) -> (Tensor) : hand ($crate::arange::range_step_out) {
            out range_step_out [range.out];
        } }
        { [range.out_] (Scalar start, Scalar end) -> (Tensor) : hand ($crate::arange::range_out) {
            out range_out [range.out_];
        } }
    } };
}
