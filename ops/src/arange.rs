//! arange: evenly spaced numbers.

use monomorph_core::{
    DEFAULT_FLOAT, DType, Device, DeviceId, Error, ErrorKind, Layout, Result, Scalar, Tensor, with_element,
};

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

/// Element `i`, computed in int64 for integers and in float64 for floats.
fn element(start: Scalar, step: Scalar, i: usize, dtype: DType) -> Scalar {
    if dtype.is_integral(false) {
        return Scalar::Int(start.to_i64().wrapping_add(step.to_i64().wrapping_mul(i as i64)));
    }
    Scalar::Float(start.to_f64() + step.to_f64() * i as f64)
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
        let n = length(start, end, step, dtype)?;
        let mut out = crate::factory::empty::<D>(&[n as i64], Some(dtype), None, device, pin_memory, None)?;
        write(&mut out, start, step)?;
        Ok(out)
    };
    make().map_err(|e: Error| e.of("arange"))
}

fn write<D: Device>(out: &mut Tensor<D>, start: Scalar, step: Scalar) -> Result<()> {
    if D::MEMORY.is_none() {
        return Ok(());
    }
    let dtype = out.dtype();
    with_element!(dtype, T => {
        use monomorph_core::Element;
        for (i, to) in out.data_mut::<T>()?.iter_mut().enumerate() {
            *to = T::from_scalar(element(start, step, i, dtype)).store();
        }
        Ok(())
    })
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
    let n = length(start, end, step, out.dtype())?;
    let mut values = Tensor::<D>::zeros_contiguous(out.dtype(), &[n as i64])?;
    write(&mut values, start, step)?;
    if out.numel() != n {
        crate::table::resize(out, &[n as i64])?;
    }
    let values = values.view_as(crate::view::view(values.geometry(), out.sizes())?)?;
    out.copy_from(&values)
}

/// `arange.out`: 0, 1, … below `end` in the dtype of `out`.
pub fn arange_out<D: Device>(end: impl Into<Scalar>, out: &mut Tensor<D>) -> Result<()> {
    arange_start_out(0, end, 1, out)
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
    } };
}
