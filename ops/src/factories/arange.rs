//! arange: evenly spaced numbers below an end; and range, which includes it.

use crate::generate::{Options, Pattern};
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::{DEFAULT_FLOAT, DType, Device, DeviceId, ErrorKind, Layout, Result, Scalar, Tensor, observe};

/// The errors of a range that has no sense, in this dtype.
fn checked(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<()> {
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
    Ok(())
}

/// A range, as it was asked for.
#[derive(Clone, Copy)]
struct Range {
    start: Scalar,
    end: Scalar,
    step: Scalar,
    /// The end is one of its elements if a step meets it.
    inclusive: bool,
}

impl Range {
    fn new(start: impl Into<Scalar>, end: impl Into<Scalar>, step: impl Into<Scalar>, inclusive: bool) -> Range {
        Range { start: start.into(), end: end.into(), step: step.into(), inclusive }
    }

    fn has_float(&self) -> bool {
        [self.start, self.end, self.step].iter().any(|s| matches!(s, Scalar::Float(_) | Scalar::Complex(_)))
    }
}

impl Pattern for Range {
    fn sizes(&self, dtype: DType) -> Result<DimVec> {
        let Range { start, end, step, inclusive } = *self;
        checked(start, end, step, dtype)?;
        let n = if inclusive { counted(start, end, step, dtype)? } else { length(start, end, step)? };
        Ok(DimVec::from_slice(&[n]))
    }

    /// By their place, computed in int64 for integers and in float64 for floats.
    fn elements(self, dtype: DType) -> impl FnMut(usize) -> Scalar {
        let Range { start, step, inclusive, .. } = self;
        let (first, by) = if inclusive {
            (in_computed(start, dtype), in_computed(step, dtype))
        } else {
            (start.to_f64(), step.to_f64())
        };
        move |i| {
            if dtype.is_integral(false) {
                return Scalar::Int(start.to_i64().wrapping_add(step.to_i64().wrapping_mul(i as i64)));
            }
            Scalar::Float(first + by * i as f64)
        }
    }
}

/// The number of elements of `start..end` in steps.
fn length(start: Scalar, end: Scalar, step: Scalar) -> Result<i64> {
    let integers = [start, end, step].iter().all(|s| matches!(s, Scalar::Int(_) | Scalar::Bool(_)));
    let count = if integers {
        // Exact where a double would round.
        let span = i128::from(end.to_i64()) - i128::from(start.to_i64());
        (span as f64 / step.to_i64() as f64).ceil()
    } else {
        ((end.to_f64() - start.to_f64()) / step.to_f64()).ceil()
    };
    if !(0.0..=i64::MAX as f64 / 16.0).contains(&count) {
        return Err(ErrorKind::SizeOverflow { sizes: vec![count as i64], strides: Vec::new() }.into());
    }
    Ok(count as i64)
}

/// `arange.start_step`: `start`, `start + step`, … below `end`. Without a dtype: int64, or float32 if an argument is a
/// float.
pub fn arange_start_step<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    step: impl Into<Scalar>,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("arange", []);
    let range = Range::new(start, end, step, false);
    let default = if range.has_float() { DEFAULT_FLOAT } else { DType::I64 };
    range.make("arange", default, Options { dtype, device, pin_memory })
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
    let _span = observe::operator("arange", []);
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
    let _span = observe::operator("arange", []);
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
    let _span = observe::operator("arange", [out.geometry()]);
    Range::new(start, end, step, false).write_sequence(out)
}

/// `arange.out`: 0, 1, … below `end` in the dtype of `out`.
pub fn arange_out<D: Device>(end: impl Into<Scalar>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("arange", [out.geometry()]);
    arange_start_out(0, end, 1, out)
}

/// What the floats of a dtype are computed in.
fn in_computed(x: Scalar, dtype: DType) -> f64 {
    rounded(x.to_f64(), dtype)
}

fn rounded(x: f64, dtype: DType) -> f64 {
    if dtype.size() == 2 { f64::from(x as f32) } else { x }
}

/// The number of elements of `range` in this dtype: of integers that were cut off, and of the floats that the dtype is
/// computed in.
fn counted(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<i64> {
    let overflow = |count: f64| ErrorKind::SizeOverflow { sizes: vec![count as i64], strides: Vec::new() };
    if dtype.is_integral(false) {
        let (s, e, d) = (start.to_i64(), end.to_i64(), step.to_i64());
        if d == 0 {
            let rule = "argument step must be nonzero as an integer, too, where the result has an integer dtype";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let count = (i128::from(e) - i128::from(s)) / i128::from(d) + 1;
        return Ok(i64::try_from(count).map_err(|_| overflow(count as f64))?);
    }
    let (s, e, d) = (in_computed(start, dtype), in_computed(end, dtype), in_computed(step, dtype));
    let count = rounded(rounded(rounded(e - s, dtype) / d, dtype) + 1.0, dtype);
    if count > i64::MAX as f64 / 16.0 {
        return Err(overflow(count).into());
    }
    Ok(count as i64)
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
    let _span = observe::operator("range", []);
    Range::new(start, end, step, true).make("range", DEFAULT_FLOAT, Options { dtype, device, pin_memory })
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
    let _span = observe::operator("range", []);
    range_step(start, end, 1, dtype, layout, device, pin_memory)
}

/// `range.out`: the same in the dtype of `out`, which becomes one-dimensional unless it has as many elements.
pub fn range_step_out<D: Device>(
    start: impl Into<Scalar>,
    end: impl Into<Scalar>,
    step: impl Into<Scalar>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("range", [out.geometry()]);
    Range::new(start, end, step, true).write_sequence(out)
}

/// `range.out_`: in steps of one.
pub fn range_out<D: Device>(start: impl Into<Scalar>, end: impl Into<Scalar>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("range", [out.geometry()]);
    range_step_out(start, end, 1, out)
}

native! {
    family: Arange, functions: crate::fill::Fills;

    func: arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: arange;

    func: arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: arange_start;

    /// The numbers from `start`, 0 by default, up to, but without, `end`, each `step` more than the one before it.
    ///
    /// There are `ceil((end - start) / step)` of them. Without the option `dtype`, integers give int64 and a float
    /// among the three gives float32. A step of 0, or one away from `end`, is an error.
    ///
    /// ```
    /// assert_eq!(ops::arange(3)?.to_vec::<i64>()?, [0, 1, 2]);
    /// let by_halves = Arange { start: 1.into(), step: 0.5.into(), ..Default::default() };
    /// assert_eq!(ops::arange_with(2, by_halves)?.to_vec::<f32>()?, [1.0, 1.5]);
    /// ```
    func: arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: arange, options: [start = 0], kernel: arange_start_step;

    func: arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!),
    kernel: arange_out;

    /// [`arange`](super::functions::arange) into `out`.
    func: arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, name: arange_out, options: [start = 0], kernel: arange_start_out;

    /// The numbers from `start` up to `end`, which is included, each `step` more than the one before it.
    ///
    /// There are `floor((end - start) / step) + 1` of them, float32 unless the option `dtype` says another one.
    /// [`arange`](super::functions::arange) leaves `end` out.
    ///
    /// ```
    /// assert_eq!(ops::range(1, 3)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// ```
    func: range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: range, kernel: range_step;

    func: range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: range;

    /// [`range`](super::functions::range) into `out`.
    func: range.out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, name: range_out, kernel: range_step_out;

    func: range.out_(Scalar start, Scalar end, *, Tensor(a!) out) -> Tensor(a!),
    kernel: range_out;
}
