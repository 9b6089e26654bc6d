//! Records: what each formula gives, said a second time over `bool`, `i64`, `f64` and complex numbers. Owns the form of
//! a record and the conversion of its arguments; refuses to judge: the test suite crosses records with dtypes, layouts
//! and forms, and does not compile if a formula of the table has none.
//!
//! Records are no part of the product: without the feature `record` neither this module nor any record is compiled.

mod gamma;

pub use gamma::{digamma, hurwitz, log_gamma, lower_gamma, trigamma};

use crate::pointwise::PointwiseFn;
use monomorph_core::{Complex64, DType, Kind, Scalar};

/// A second definition of a formula, to test the first one with.
#[derive(Clone, Copy)]
pub struct Record {
    /// How the formula is called by name: the functional overload (the only one, where there is none), then its
    /// arguments. `x` is the next operand, `p` the next parameter, `None` an absent argument, `False` itself, `self` a
    /// tensor that is only written, any other word a string. The name `-` is that of none: no overload takes these
    /// arguments.
    pub call: &'static str,
    /// One element of the result from one element of each operand, the parameters, and the dtype that the operator
    /// computes in; all are converted to that dtype. `None` where the operator refuses the data.
    pub reference: fn(DType, &[Scalar], &[Scalar]) -> Option<Scalar>,
    /// The elements on which reference and operator agree.
    pub inputs: Inputs,
    /// By how much they may differ.
    pub within: Within,
}

/// A distance between results.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// So many units in the last place.
    pub ulp: u64,
    /// Or so much, which the zeros of a function that oscillates need.
    pub absolute: f64,
}

impl Within {
    /// Equal.
    pub const EXACT: Within = Within::units(0);

    /// So many units in the last place, however small the result is.
    pub const fn units(ulp: u64) -> Within {
        Within { ulp, absolute: 0.0 }
    }
}

/// The elements that a record holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// All; complex numbers as far as neither overflows.
    Any,
    /// Multiples of one half up to 16, infinities and NaN: where float16 does not round what float64 would not.
    Small,
    /// Multiples of one half up to 4: where no step underflows or overflows in one dtype and not in another.
    Tame,
}

/// A formula with a record.
#[diagnostic::on_unimplemented(
    message = "the formula `{Self}` has no record",
    label = "no record",
    note = "write `record! {{ .. }}` at the end of its file: a reference, its inputs, its tolerance"
)]
pub trait Recorded: PointwiseFn {
    /// The record.
    const RECORD: Record;
}

/// What a reference may return.
pub trait Answer {
    /// The number; `None` where there is none.
    fn answer(self) -> Option<Scalar>;
}

macro_rules! answers {
    ($($t:ty)*) => {$(
        impl Answer for $t {
            fn answer(self) -> Option<Scalar> {
                Some(self.into())
            }
        }
        impl Answer for Option<$t> {
            fn answer(self) -> Option<Scalar> {
                self.map(Into::into)
            }
        }
    )*};
}
answers! { bool i64 f64 Complex64 }

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident: $kind:ident, $element:ty, |$s:ident| $convert:expr;)*) => {$(
        $(#[$doc])*
        pub fn $class<const N: usize, const P: usize, R: Answer>(
            dtype: DType,
            operands: &[Scalar],
            params: &[Scalar],
            reference: impl Fn([$element; N], [$element; P]) -> R,
        ) -> Option<Option<Scalar>> {
            let convert = |$s: &Scalar| -> $element { $convert };
            let operands: [$element; N] = operands.iter().map(convert).collect::<Vec<_>>().try_into().ok()?;
            let params: [$element; P] = params.iter().map(convert).collect::<Vec<_>>().try_into().ok()?;
            (dtype.kind() == Kind::$kind).then(|| reference(operands, params).answer())
        }
    )*};
}
classes! {
    /// Applies a reference over bools; `None` for another class of dtypes, or another number of operands.
    bool: Bool, bool, |s| s.to_bool();
    /// Applies a reference over integers; `None` for another class of dtypes, or another number of operands.
    int: Int, i64, |s| s.to_i64();
    /// Applies a reference over floats; `None` for another class of dtypes, or another number of operands.
    float: Float, f64, |s| s.to_f64();
    /// Applies a reference over complex numbers; `None` for another class of dtypes, or another number of operands.
    complex: Complex, Complex64, |s| s.to_complex();
}

/// The larger one; NaN if either is. Of equal values the second.
pub fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b || a.partial_cmp(&a).is_none() { a } else { b }
}

/// The smaller one; NaN if either is. Of equal values the second.
pub fn smaller<T: PartialOrd>(a: T, b: T) -> T {
    if a < b || a.partial_cmp(&a).is_none() { a } else { b }
}

/// a + a³/3 + a⁵/15 + …: the series whose terms are all of one sign, times which the normal density is what lies
/// between 0 and `a` (`square` is a²; G. Marsaglia, *Evaluating the Normal Distribution*, Journal of Statistical
/// Software 11, 2004).
fn normal_series(a: f64, square: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (a, 0.0, 1.0);
    while sum + term != sum {
        sum += term;
        odd += 2.0;
        term *= square / odd;
    }
    sum
}

/// The error function.
pub fn error_function(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 {
        return x;
    }
    if x.abs() > 6.0 {
        return 1f64.copysign(x);
    }
    let a = x * std::f64::consts::SQRT_2;
    (-x * x).exp() * normal_series(a, 2.0 * x * x) * (2.0 / std::f64::consts::PI).sqrt()
}

/// A complex number whose imaginary part has the sign of another, as on the sides of a branch cut.
pub fn im_signed(z: Complex64, sign: f64) -> Complex64 {
    Complex64::new(z.re, z.im.abs().copysign(sign))
}

/// A complex number whose real part has the sign of another, as on the sides of a branch cut.
pub fn re_signed(z: Complex64, sign: f64) -> Complex64 {
    Complex64::new(z.re.abs().copysign(sign), z.im)
}

/// The integral from 0 to 1 by the double exponential formula (H. Takahasi, M. Mori, 1974).
pub fn integral(f: impl Fn(f64) -> f64) -> f64 {
    use std::f64::consts::PI;
    let step = 0.02;
    let term = |k: i32| {
        let u = step * f64::from(k);
        let s = 1.0 / (1.0 + (-PI * u.sinh()).exp());
        f(s) * PI * u.cosh() * s * (1.0 - s)
    };
    (-190..=190).map(term).sum::<f64>() * step
}

/// The complement of the error function; relatively exact on the positive side.
pub fn error_function_complement(x: f64) -> f64 {
    if x.is_nan() || x < 0.5 {
        return 1.0 - error_function(x);
    }
    if x > 28.0 {
        return 0.0;
    }
    let square = x * x;
    let end = (20.0 / x).min(6.5);
    let share = integral(|s| (-(end * s) * (end * s + 2.0 * x)).exp()) * end;
    (-square).exp() * (1.0 - x.mul_add(x, -square)) * share * std::f64::consts::FRAC_2_SQRT_PI
}

/// The inverse of the error function: S. Winitzki's approximation (2008), then steps of Halley's.
pub fn inverse_error_function(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a >= 1.0 {
        return if a == 1.0 { x * f64::INFINITY } else { f64::NAN };
    }
    if a < 1e-20 {
        return x / std::f64::consts::FRAC_2_SQRT_PI;
    }
    let log = (-a).ln_1p() + a.ln_1p();
    let c = 2.0 / (0.147 * std::f64::consts::PI) + 0.5 * log;
    let first = ((c * c - log / 0.147).sqrt() - c).sqrt();
    let result = (0..4).fold(first, |y, _| {
        let off = if a > 0.5 { (1.0 - a) - error_function_complement(y) } else { error_function(y) - a };
        let step = off / std::f64::consts::FRAC_2_SQRT_PI * (y * y).exp();
        y - step / (1.0 + y * step)
    });
    result.copysign(x)
}

/// The logistic function, 1 / (1 + e^-x).
pub fn logistic(x: f64) -> f64 {
    let small = (-x.abs()).exp();
    if x < 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) }
}

/// The same of a complex number.
pub fn c_logistic(z: Complex64) -> Complex64 {
    1.0 / (1.0 + (-z).exp())
}

/// The exponential of a complex number less one; NaN where the imaginary part is not finite.
pub fn c_exp_m1(z: Complex64) -> Complex64 {
    if z.im.is_finite() { z.exp() - 1.0 } else { Complex64::new(f64::NAN, f64::NAN) }
}

/// The probability that a normal variable is below `x`; relatively exact on the negative side.
pub fn normal_probability(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 10.0 {
        return 1.0;
    }
    if x < -40.0 {
        return 0.0;
    }
    let square = x * x;
    let density = (-0.5 * square).exp() * (1.0 - 0.5 * x.mul_add(x, -square)) / (2.0 * std::f64::consts::PI).sqrt();
    if x > -2.0 {
        return 0.5 + density * normal_series(x, square);
    }
    // Mills' ratio as a continued fraction.
    density / (1..=200).rev().fold(-x, |below, k| -x + f64::from(k) / below)
}

/// Declares the record of a formula, class by class of its domain.
///
/// `record! { MulFn "mul.Tensor: x x", Any within 0: int |[a, b], []| a.wrapping_mul(b), float |[a, b], []| a * b }`
/// expands to
///
/// ```text
/// impl Recorded for MulFn {
///     const RECORD: Record =
///         Record { call: "mul.Tensor: x x", inputs: Inputs::Any, within: .., reference: |dtype, x, p| .. };
/// }
/// ```
///
/// Where a reference depends on the dtype that the operator computes in, `of dtype` behind the distance names it.
///
/// A reference is a closure, or calls functions of this module or of a `mod reference` beside the formula, behind
/// `#[cfg(feature = "record")]`.
///
/// A crate of one's own writes records in the same way (`monomorph::ops::record!`) and needs no feature for them: they
/// exist where tests have `monomorph-testsuite` as a dependency, which enables the feature `record` of `monomorph-ops`,
/// and the macro expands to nothing where the feature is off. What a reference needs is then in its closure.
#[macro_export]
macro_rules! record {
    (
        $formula:ident $call:literal, $inputs:ident within $ulp:literal $(or $absolute:literal)?: $($references:tt)+
    ) => {
        $crate::record! {
            $formula $call, $inputs within $ulp $(or $absolute)?, of dtype: $($references)+
        }
    };
    (
        $formula:ident $call:literal, $inputs:ident within $ulp:literal $(or $absolute:literal)?, of $dtype:ident:
        $($class:ident $reference:expr),+ $(,)?
    ) => {
        impl $crate::record::Recorded for $formula {
            const RECORD: $crate::record::Record = $crate::record::Record {
                call: $call,
                inputs: $crate::record::Inputs::$inputs,
                within: $crate::record::Within { ulp: $ulp, absolute: 0.0 $(+ $absolute)? },
                reference: |$dtype, operands, params| {
                    $(if let Some(answer) = $crate::record::$class($dtype, operands, params, $reference) {
                        return answer;
                    })+
                    None
                },
            };
        }
    };
}
