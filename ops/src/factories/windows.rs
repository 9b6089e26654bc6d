//! Window functions of signal processing: the steps of PyTorch's compositions, each rounded to the dtype as its
//! operators would.

use crate::generate::{Options, Pattern, not_negative};
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::{
    DEFAULT_FLOAT, DType, Device, DeviceId, Element, ErrorKind, Layout, Result, Scalar, Tensor, observe, with_element,
};
use std::f64::consts::{PI, TAU};

/// A window's shape over its support, 0 to 1.
#[derive(Clone, Copy)]
enum Shape {
    Bartlett,
    Blackman,
    /// `alpha - beta cos(2πx)`: Hann's with 0.5 and 0.5, Hamming's with 0.54 and 0.46.
    Cosine(f64, f64),
    Kaiser(f64),
}

const HANN: Shape = Shape::Cosine(0.5, 0.5);
const HAMMING: Shape = Shape::Cosine(0.54, 0.46);
const KAISER: Shape = Shape::Kaiser(12.0);

impl Shape {
    /// Element `i` of a symmetric window whose last is number `last`.
    fn at(self, i: usize, last: i64, to: Rounding) -> f64 {
        let (i, n) = (to.element(i as f64), last as f64);
        match self {
            Shape::Bartlett => {
                let rising = to.product(i, 2.0 / n);
                if i as i64 <= last >> 1 { rising } else { to.element(2.0 - rising) }
            }
            Shape::Blackman => {
                let turn = to.product(i, PI / n);
                let (once, twice) = (to.product(turn, 2.0), to.product(turn, 4.0));
                let cosine = |x: f64, by| to.product(to.element(x.cos()), by);
                to.sum(to.element(cosine(twice, 0.08) - cosine(once, 0.5)), 0.42)
            }
            Shape::Cosine(alpha, beta) => {
                let turn = to.product(i, TAU / n);
                to.sum(to.product(to.element(turn.cos()), -beta), alpha)
            }
            // One operator, which rounds once.
            Shape::Kaiser(beta) => {
                let side = 2.0 * i / n - 1.0;
                let arm = beta.abs() * (1.0 - side * side).max(0.0).sqrt();
                // exp brings the scaled Bessel functions back to their quotient, which neither overflows.
                scaled_i0(arm) / scaled_i0(beta.abs()) * (arm - beta.abs()).exp()
            }
        }
    }
}

/// How operators on a dtype round: results to the dtype, and so a number that takes part.
#[derive(Clone, Copy)]
struct Rounding(DType);

impl Rounding {
    fn element(self, x: f64) -> f64 {
        with_element!(self.0, T => T::from_scalar(Scalar::Float(x)).to_scalar().to_f64())
    }

    fn product(self, x: f64, number: f64) -> f64 {
        self.element(x * self.element(number))
    }

    fn sum(self, x: f64, number: f64) -> f64 {
        self.element(x + self.element(number))
    }
}

/// The modified Bessel function I₀(x)·exp(-x) for x of 0 or more: its power series (Abramowitz and Stegun 9.6.12), all
/// of whose terms are positive, and from 30 on its asymptotic one (9.7.1).
fn scaled_i0(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    if x < 30.0 {
        let quarter = x * x / 4.0;
        for k in 1..200 {
            term *= quarter / f64::from(k * k);
            sum += term;
        }
        return sum * (-x).exp();
    }
    // Its terms shrink up to the 60th, far below what a double resolves.
    for k in 1..30 {
        term *= f64::from((2 * k - 1) * (2 * k - 1)) / (8.0 * x * f64::from(k));
        sum += term;
    }
    sum / (2.0 * PI * x).sqrt()
}

/// One call.
#[derive(Clone, Copy)]
struct Window {
    shape: Shape,
    length: i64,
    periodic: bool,
}

impl Pattern for Window {
    fn sizes(&self, dtype: DType) -> Result<DimVec> {
        // Of a window that is computed the elements are real; PyTorch makes the others in complex dtypes, too.
        if !(dtype.is_complex() && self.length <= 1) {
            floating(dtype)?;
        }
        not_negative("window_length", self.length)?;
        Ok(DimVec::from_slice(&[self.length]))
    }

    /// A periodic window is a symmetric one that is longer by one element, without that.
    fn elements(self, dtype: DType) -> impl FnMut(usize) -> Scalar {
        let last = if self.periodic { self.length } else { self.length - 1 };
        move |i| Scalar::Float(if self.length == 1 { 1.0 } else { self.shape.at(i, last, Rounding(dtype)) })
    }
}

pub(crate) fn floating(dtype: DType) -> Result<()> {
    if dtype.is_floating() {
        return Ok(());
    }
    let (what, accepted) = ("the result has dtype", "floating dtypes");
    Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into())
}

/// The functions of a window: by its length alone, and with further arguments; each with its out= form.
macro_rules! windows {
    ($($(#[$doc:meta])* $name:ident $out:ident ($($arg:ident: $ty:ty),*) $of:literal $shape:expr,
        $periodic:expr;)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "the schema has as many")]
        pub fn $name<D: Device>(
            window_length: i64,
            $($arg: $ty,)*
            dtype: Option<DType>,
            _layout: Option<Layout>,
            device: Option<DeviceId>,
            pin_memory: Option<bool>,
        ) -> Result<Tensor<D>> {
            let _span = observe::operator($of, []);
            Window { shape: $shape, length: window_length, periodic: $periodic }
                .make($of, DEFAULT_FLOAT, Options { dtype, device, pin_memory })
        }

        /// The same in the dtype of `out`.
        pub fn $out<D: Device>(window_length: i64, $($arg: $ty,)* out: &mut Tensor<D>) -> Result<()> {
            let _span = observe::operator($of, [out.geometry()]);
            Window { shape: $shape, length: window_length, periodic: $periodic }.write(out)
        }
    )*};
}
windows! {
    /// `bartlett_window`: a triangle.
    bartlett_window bartlett_window_out () "bartlett_window" Shape::Bartlett, true;
    /// `bartlett_window.periodic`: the same, periodic or symmetric.
    bartlett_window_periodic bartlett_window_periodic_out (periodic: bool) "bartlett_window" Shape::Bartlett, periodic;
    /// `blackman_window`: Blackman's, of two cosines.
    blackman_window blackman_window_out () "blackman_window" Shape::Blackman, true;
    /// `blackman_window.periodic`: the same, periodic or symmetric.
    blackman_window_periodic blackman_window_periodic_out (periodic: bool) "blackman_window" Shape::Blackman, periodic;
    /// `hann_window`: Hann's, a raised cosine.
    hann_window hann_window_out () "hann_window" HANN, true;
    /// `hann_window.periodic`: the same, periodic or symmetric.
    hann_window_periodic hann_window_periodic_out (periodic: bool) "hann_window" HANN, periodic;
    /// `hamming_window`: Hamming's, a cosine on a step.
    hamming_window hamming_window_out () "hamming_window" HAMMING, true;
    /// `hamming_window.periodic`: the same, periodic or symmetric.
    hamming_window_periodic hamming_window_periodic_out (periodic: bool) "hamming_window" HAMMING, periodic;
    /// `hamming_window.periodic_alpha`: with another mean.
    hamming_window_alpha hamming_window_alpha_out (periodic: bool, alpha: f64) "hamming_window"
        Shape::Cosine(alpha, 0.46), periodic;
    /// `hamming_window.periodic_alpha_beta`: with another mean and amplitude.
    hamming_window_alpha_beta hamming_window_alpha_beta_out (periodic: bool, alpha: f64, beta: f64) "hamming_window"
        Shape::Cosine(alpha, beta), periodic;
    /// `kaiser_window`: Kaiser's, with 12 for its beta.
    kaiser_window kaiser_window_out () "kaiser_window" KAISER, true;
    /// `kaiser_window.periodic`: the same, periodic or symmetric.
    kaiser_window_periodic kaiser_window_periodic_out (periodic: bool) "kaiser_window" KAISER, periodic;
    /// `kaiser_window.beta`: with another beta.
    kaiser_window_beta kaiser_window_beta_out (periodic: bool, beta: f64) "kaiser_window" Shape::Kaiser(beta), periodic;
}

native! {
    family: Windows, functions: crate::fill::Fills;

    func: bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: bartlett_window;

    func: bartlett_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!),
    kernel: bartlett_window_out;

    /// The Bartlett window of `window_length` samples: a triangle.
    ///
    /// It is `1 - |2n / (N - 1) - 1|`, where N is the length and, for a window that is `periodic`, as it is by default,
    /// one more. The dtype is float32 unless the option `dtype` says another float.
    ///
    /// ```
    /// assert_eq!(ops::bartlett_window(4)?.to_vec::<f32>()?, [0.0, 0.5, 1.0, 0.5]);
    /// ```
    func: bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: bartlett_window, options: [periodic = true], kernel: bartlett_window_periodic;

    func: bartlett_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!),
    kernel: bartlett_window_periodic_out;

    func: blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: blackman_window;

    func: blackman_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!),
    kernel: blackman_window_out;

    /// The Blackman window of `window_length` samples.
    ///
    /// It is `0.42 - 0.5 cos(2πn / (N - 1)) + 0.08 cos(4πn / (N - 1))`, where N is the length and, for a window that is
    /// `periodic`, as it is by default, one more. The dtype is float32 unless the option `dtype` says another float.
    ///
    /// ```
    /// let window = ops::blackman_window(4)?;
    /// assert!(window.at::<f32>(0)?.abs() < 1e-6 && (window.at::<f32>(2)? - 1.0).abs() < 1e-6);
    /// ```
    func: blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: blackman_window, options: [periodic = true], kernel: blackman_window_periodic;

    func: blackman_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!),
    kernel: blackman_window_periodic_out;

    func: hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: hann_window;

    func: hann_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!),
    kernel: hann_window_out;

    /// The Hann window of `window_length` samples.
    ///
    /// It is `0.5 - 0.5 cos(2πn / (N - 1))`, where N is the length and, for a window that is `periodic`, as it is by
    /// default, one more. The dtype is float32 unless the option `dtype` says another float.
    ///
    /// ```
    /// assert_eq!(ops::hann_window(4)?.to_vec::<f32>()?, [0.0, 0.5, 1.0, 0.5]);
    /// let symmetric = HannWindow { periodic: false, ..Default::default() };
    /// assert_eq!(ops::hann_window_with(3, symmetric)?.to_vec::<f32>()?, [0.0, 1.0, 0.0]);
    /// ```
    func: hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: hann_window, options: [periodic = true], kernel: hann_window_periodic;

    func: hann_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!),
    kernel: hann_window_periodic_out;

    func: hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: hamming_window;

    func: hamming_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!),
    kernel: hamming_window_out;

    func: hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: hamming_window_periodic;

    func: hamming_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!),
    kernel: hamming_window_periodic_out;

    func: kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: kaiser_window;

    func: kaiser_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!),
    kernel: kaiser_window_out;

    func: kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: kaiser_window_periodic;

    func: kaiser_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!),
    kernel: kaiser_window_periodic_out;

    func: hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: hamming_window_alpha;

    func: hamming_window.periodic_alpha_out(int window_length, bool periodic, float alpha, *,
        Tensor(a!) out) -> Tensor(a!),
    kernel: hamming_window_alpha_out;

    /// The Hamming window of `window_length` samples.
    ///
    /// It is `alpha - beta cos(2πn / (N - 1))`, where N is the length and, for a window that is `periodic`, as it is by
    /// default, one more. The dtype is float32 unless the option `dtype` says another float.
    ///
    /// ```
    /// let window = ops::hamming_window(4)?;
    /// assert!((window.at::<f32>(0)? - 0.08).abs() < 1e-6 && (window.at::<f32>(2)? - 1.0).abs() < 1e-6);
    /// ```
    func: hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *,
        ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: hamming_window, options: [periodic = true, alpha = 0.54, beta = 0.46],
    kernel: hamming_window_alpha_beta;

    func: hamming_window.periodic_alpha_beta_out(int window_length, bool periodic, float alpha, float beta, *,
        Tensor(a!) out) -> Tensor(a!),
    kernel: hamming_window_alpha_beta_out;

    /// The Kaiser window of `window_length` samples and the shape `beta`.
    ///
    /// It is `I₀(beta · sqrt(1 - (2n / (N - 1) - 1)²)) / I₀(beta)`, where N is the length and, for a window that is
    /// `periodic`, as it is by default, one more. The dtype is float32 unless the option `dtype` says another float.
    ///
    /// ```
    /// let flat = KaiserWindow { beta: 0.0, ..Default::default() };
    /// assert_eq!(ops::kaiser_window_with(3, flat)?.to_vec::<f32>()?, [1.0; 3]);
    /// ```
    func: kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: kaiser_window, options: [periodic = true, beta = 12.0], kernel: kaiser_window_beta;

    func: kaiser_window.beta_out(int window_length, bool periodic, float beta, *, Tensor(a!) out) -> Tensor(a!),
    kernel: kaiser_window_beta_out;
}
