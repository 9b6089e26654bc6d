//! Numbers at equal distances between two ends: linspace, and logspace, their powers. Those of linspace are PyTorch's
//! to the bit: a step, and its multiple added to an end by a fused multiply-add, in float32 for float32, complex64 and
//! halves, in float64 for all others. The exponents of powers are products and sums in float64, each rounded.

use crate::generate::{Options, Pattern, not_negative};
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::{
    Complex64, DEFAULT_FLOAT, DType, Device, DeviceId, Element, Error, ErrorKind, Layout, Result, Scalar, Tensor,
    observe, with_element,
};
use num_traits::Float;

/// What is asked for, but for the dtype.
#[derive(Clone, Copy)]
struct Spaced {
    start: Scalar,
    end: Scalar,
    steps: i64,
    /// The base whose powers are taken; none for the numbers themselves.
    base: Option<f64>,
}

impl Spaced {
    /// A new tensor for a call of `op`. Complex ends make it complex, and refuse any other dtype.
    fn make_between<D: Device>(self, op: &'static str, options: Options) -> Result<Tensor<D>> {
        let complex = [self.start, self.end].iter().any(|s| matches!(s, Scalar::Complex(_)));
        if let (true, Some(to)) = (complex, options.dtype.filter(|dtype| !dtype.is_complex())) {
            return Err(Error::from(ErrorKind::Cast { from: DEFAULT_FLOAT.to_complex(), to }).of(op));
        }
        self.make(op, if complex { DEFAULT_FLOAT.to_complex() } else { DEFAULT_FLOAT }, options)
    }

    /// The one element of a single step.
    fn only(&self, dtype: DType) -> Scalar {
        match self.base {
            None => self.start,
            Some(base) if dtype.is_complex() => Scalar::Complex(Complex64::from(base).powc(self.start.to_complex())),
            Some(base) => Scalar::Float(base.powf(self.start.to_f64())),
        }
    }
}

/// Numbers at equal distances, computed in `T`.
struct Line<T> {
    start: T,
    end: T,
    step: T,
    /// The number of the last one.
    last: i64,
}

impl<T: Float> Line<T> {
    fn new(start: T, end: T, last: i64) -> Line<T> {
        Line { start, end, step: (end - start) / Self::number(last), last }
    }

    fn number(i: i64) -> T {
        T::from(i).unwrap_or_else(T::nan)
    }

    /// Number `i`. Both ends are met exactly: the second half counts from the end.
    fn at(&self, i: i64) -> T {
        let Line { start, end, step, last } = *self;
        match i < (last + 1) / 2 {
            true => step.mul_add(Self::number(i), start),
            false => (-step).mul_add(Self::number(last - i), end),
        }
    }
}

/// The numbers from `start` to `end`, both of which a tensor of the dtype can hold.
fn line(dtype: DType, start: f64, end: f64, last: i64) -> impl Fn(i64) -> f64 {
    let is_single = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::C64);
    let single = Line::new(start as f32, end as f32, last);
    let double = Line::new(start, end, last);
    move |i| if is_single { f64::from(single.at(i)) } else { double.at(i) }
}

impl Pattern for Spaced {
    fn sizes(&self, dtype: DType) -> Result<DimVec> {
        not_negative("steps", self.steps)?;
        // PyTorch fills a single element, which in half precision overflows to infinity.
        if self.steps == 1 && !matches!(dtype, DType::F16 | DType::BF16) {
            self.only(dtype).check_fits(dtype, "start")?;
        }
        if self.steps > 1 {
            if dtype == DType::Bool {
                let (what, accepted) = ("the result has dtype", "integers, floats and complex; or at most one step");
                return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
            }
            self.start.check_fits(dtype, "start")?;
            self.end.check_fits(dtype, "end")?;
        }
        Ok(DimVec::from_slice(&[self.steps]))
    }

    fn elements(self, dtype: DType) -> impl FnMut(usize) -> Scalar {
        let held = |number| with_element!(dtype, T => T::from_scalar(number).to_scalar());
        let (start, end, only) = (held(self.start), held(self.end), self.only(dtype));
        let (last, halfway) = (self.steps - 1, self.steps / 2);
        let (first, second) = (start.to_complex(), end.to_complex());
        let re = line(dtype, first.re, second.re, last);
        let im = line(dtype, first.im, second.im, last);
        let base = self.base;
        // Of powers the ends are subtracted in the dtype, and all else is done in double.
        let way =
            if dtype.is_integral(false) { second - first } else { held(Scalar::Complex(second - first)).to_complex() };
        move |i| {
            let i = i as i64;
            if last == 0 {
                return only;
            }
            let Some(base) = base else {
                return if dtype.is_complex() { Complex64::new(re(i), im(i)).into() } else { re(i).into() };
            };
            // Both factors are complex, as in PyTorch: an infinite step makes imaginary parts that are no number.
            let times = |n: i64| way / last as f64 * Complex64::from(n as f64);
            let exponent = if i < halfway { first + times(i) } else { second - times(last - i) };
            if dtype.is_complex() {
                return Complex64::from(base).powc(exponent).into();
            }
            // PyTorch converts each power as it does elements.
            Scalar::Float(base.powf(exponent.re)).cast(dtype)
        }
    }
}

/// An end that is given as a tensor.
fn number<D: Device>(arg: &'static str, t: &Tensor<D>) -> Result<Scalar> {
    if t.ndim() != 0 {
        return Err(ErrorKind::DimCount { arg, got: t.ndim(), accepted: "0; take one element of it" }.into());
    }
    t.item()
}

/// An end of an interval: a number, or a tensor without dimensions.
pub trait End {
    /// The number; an error for a tensor with dimensions, or without data.
    fn number(self, arg: &'static str) -> Result<Scalar>;
}

impl End for Scalar {
    fn number(self, _: &'static str) -> Result<Scalar> {
        Ok(self)
    }
}

impl<D: Device> End for &Tensor<D> {
    fn number(self, arg: &'static str) -> Result<Scalar> {
        number(arg, self)
    }
}

/// The four overloads of an operator, each with its out= form: ends are numbers or tensors.
fn between(start: impl End, end: impl End, steps: i64, base: Option<f64>) -> Result<Spaced> {
    Ok(Spaced { start: start.number("start")?, end: end.number("end")?, steps, base })
}

/// `linspace`, with numbers or tensors without dimensions for its ends: `steps` numbers from `start` to `end`, both
/// included. Without a dtype: float32, or complex64 if an end is complex.
pub fn linspace<D: Device>(
    start: impl End,
    end: impl End,
    steps: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("linspace", []);
    let spaced = between(start, end, steps, None).map_err(|e: Error| e.of("linspace"))?;
    spaced.make_between("linspace", Options { dtype, device, pin_memory })
}

/// `linspace.out`: the same in the dtype of `out`, which becomes one-dimensional unless it has as many elements.
pub fn linspace_out<D: Device>(start: impl End, end: impl End, steps: i64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("linspace", [out.geometry()]);
    between(start, end, steps, None)?.write_sequence(out)
}

/// `logspace`, with numbers or tensors without dimensions for its ends: the powers of `base` whose exponents `linspace`
/// gives.
#[expect(clippy::too_many_arguments, reason = "the schema has as many")]
pub fn logspace<D: Device>(
    start: impl End,
    end: impl End,
    steps: i64,
    base: f64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("logspace", []);
    let spaced = between(start, end, steps, Some(base)).map_err(|e: Error| e.of("logspace"))?;
    spaced.make_between("logspace", Options { dtype, device, pin_memory })
}

/// `logspace.out`: the same in the dtype of `out`, which becomes one-dimensional unless it has as many elements.
pub fn logspace_out<D: Device>(
    start: impl End,
    end: impl End,
    steps: i64,
    base: f64,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("logspace", [out.geometry()]);
    between(start, end, steps, Some(base))?.write_sequence(out)
}

native! {
    family: Spaced, functions: crate::fill::Fills;

    /// `steps` numbers from `start` to `end`, which is included, the same distance apart.
    ///
    /// The dtype is float32 unless the option `dtype` says another one; a complex end gives complex64.
    ///
    /// ```
    /// assert_eq!(ops::linspace(0, 1, 5)?.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// ```
    func: linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: linspace;

    func: linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: linspace;

    func: linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: linspace;

    func: linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: linspace;

    /// [`linspace`](super::functions::linspace) into `out`.
    func: linspace.out(Scalar start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: linspace_out;

    func: linspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!),
    kernel: linspace_out;

    func: linspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!),
    kernel: linspace_out;

    func: linspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!),
    kernel: linspace_out;

    /// `steps` powers of `base`, 10 by default, whose exponents are those of [`linspace`](super::functions::linspace)
    /// from `start` to `end`.
    ///
    /// The dtype is float32 unless the option `dtype` says another one; a complex end gives complex64.
    ///
    /// ```
    /// let powers = ops::logspace_with(0, 3, 4, Logspace { base: 2.0, ..Default::default() })?;
    /// assert_eq!(powers.to_vec::<f32>()?, [1.0, 2.0, 4.0, 8.0]);
    /// ```
    func: logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: logspace;

    func: logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: logspace;

    func: logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: logspace;

    func: logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: logspace;

    /// [`logspace`](super::functions::logspace) into `out`.
    func: logspace.out(Scalar start, Scalar end, int steps, float base=10.0, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: logspace_out;

    func: logspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, float base=10.0, *,
        Tensor(a!) out) -> Tensor(a!),
    kernel: logspace_out;

    func: logspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, float base=10.0, *,
        Tensor(a!) out) -> Tensor(a!),
    kernel: logspace_out;

    func: logspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, float base=10.0, *,
        Tensor(a!) out) -> Tensor(a!),
    kernel: logspace_out;
}
