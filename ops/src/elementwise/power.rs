//! Powers and roots: sqrt, rsqrt, reciprocal, square, hypot, pow, float_power.

use crate::algebra::{Format, Power, Root, TrueDivision};
use crate::fill::{Fills, fill_};
use crate::kernels::Powers;
use crate::pointwise::{
    AllDTypes, Check, Common, DomainSet, FloatComplex, Map, Number, Numeric, Reals, Rule, Same, common_dtype,
    pointwise, run,
};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::strides::strides_for;
use monomorph_core::structured::{Executes, Functional, Operand, Operator, Out, ValueSink};
use monomorph_core::{
    Complex64, DType, Element, Error, ErrorKind, MemoryFormat, Result, Scalar, Tensor, observe, with_element,
};

pointwise! { SqrtFn "sqrt": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Root> Map<V> for SqrtFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.sqrt()
    }
}

pointwise! { RsqrtFn "rsqrt": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Root> Map<V> for RsqrtFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.rsqrt()
    }
}

pointwise! { ReciprocalFn "reciprocal": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: TrueDivision> Map<V> for ReciprocalFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        V::one() / a
    }
}

pointwise! { HypotFn "hypot": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: Format> Map<V> for HypotFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.hypot(b)
    }
}

pointwise! { PowFn "pow": Numeric, Same<2>; () => Common; Rule::BINARY.with_linear_number() }
impl<V: Power> Map<V> for PowFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.pow(b)
    }
}

pointwise! {
    PowNumberFn "pow": AllDTypes, Same<1>; Number => Common; Rule::NUMBERS_PROMOTE_CAST, check = check_exponent
}
impl<V: Power> Map<V> for PowNumberFn {
    #[inline(always)]
    fn eval([a]: [V; 1], exponent: V) -> V {
        a.pow_number(exponent)
    }
}

/// Declares a formula for each number that [`Power::pow_number`] has a way of its own for: the same, with the number
/// known to the compiler, which then has no choice left in the loop. And the operator that chooses among them.
macro_rules! fixed_powers {
    ($($formula:ident $domain:ty: $number:literal;)+) => {
        $(
            pointwise! {
                $formula "pow": $domain, Same<1>; Number => Common; Rule::NUMBERS_PROMOTE_CAST, check = check_exponent
            }
            impl<V: Power> Map<V> for $formula {
                #[inline(always)]
                fn eval([a]: [V; 1], _exponent: V) -> V {
                    a.pow_number(V::from_f64($number))
                }
            }
            record! { $formula "-: x p", Any within 64:
            int |[a], [_p]| reference::power(a, $number as i64),
            float |[a], [_p]| reference::real_power(a, $number),
            complex |[a], [_p]| reference::complex_power(a, Complex64::new($number, 0.0)) }
        )+

        /// `pow` with a number as the exponent: by the formula for that number, if there is one.
        pub struct PowNumber;

        impl<'t, D: Powers, P: Into<Scalar>> Operator<'t, D, (Operand<'t>, P)> for PowNumber {
            fn call<S: ValueSink<'t, D>>((a, exponent): (Operand<'t>, P), sink: S) -> Result<S::Value> {
                let exponent = exponent.into();
                match fixed(a, exponent) {
                    $(Some((power, dtype)) if power == $number && has::<$domain>(dtype) => {
                        run::<$formula, D, _, S>((a, exponent), sink)
                    })+
                    _ => run::<PowNumberFn, D, _, S>((a, exponent), sink),
                }
            }
        }
    };
}
fixed_powers! {
    PowZeroFn Numeric: 0.0;
    PowOneFn Numeric: 1.0;
    PowTwoFn Numeric: 2.0;
    PowThreeFn Numeric: 3.0;
    PowHalfFn FloatComplex: 0.5;
    PowMinusHalfFn FloatComplex: -0.5;
    PowMinusOneFn FloatComplex: -1.0;
    PowMinusTwoFn FloatComplex: -2.0;
}

fn has<S: DomainSet>(dtype: DType) -> bool {
    (S::MASK >> dtype as usize) & 1 == 1
}

/// The exponent as the dtype that the power is computed in holds it, if it is real, and that dtype.
fn fixed(a: Operand<'_>, exponent: Scalar) -> Option<(f64, DType)> {
    let dtype = common_dtype(&[a, exponent.into()])?;
    // PyTorch rounds the number to the dtype; one that an integer does not hold is an error.
    let held = match dtype.is_integral(true) {
        true => exponent.to_complex(),
        false => with_element!(dtype, E => E::from_scalar(exponent).to_scalar()).to_complex(),
    };
    (held.im == 0.0).then_some((held.re, dtype))
}

/// `pow.Scalar`: the number `base` to the powers of `exponent`. One is one to any power: `exponent` gives sizes and
/// dtype only.
pub fn pow_scalar<D: Powered>(base: impl Into<Scalar>, exponent: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("pow", [exponent.geometry()]);
    let base = base.into();
    if !is_one(base) {
        let [powers] = run::<PowFn, D, _, _>((base, exponent), Functional::<D, 1>::default())?;
        return Ok(powers);
    }
    let make = || {
        let dtype = common_dtype(&[base.into(), exponent.into()]).unwrap_or(exponent.dtype());
        let strides = strides_for(exponent.sizes(), MemoryFormat::Contiguous)?;
        let mut out = Tensor::zeroed(dtype, exponent.sizes(), &strides, exponent.device().index)?;
        fill_(&mut out, 1)?;
        let names = exponent.names().cloned();
        out.with_geometry(out.geometry().clone().with_names(names)?)
    };
    make().map_err(|e: Error| e.of("pow"))
}

/// `pow.Scalar_out`: the same into `out`. One to any power fits any dtype, and an output whose elements share memory.
pub fn pow_scalar_out<D: Powered>(base: impl Into<Scalar>, exponent: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("pow", [exponent.geometry(), out.geometry()]);
    let base = base.into();
    if !is_one(base) {
        return run::<PowFn, D, _, _>((base, exponent), Out([out])).map(drop);
    }
    let write = |out: &mut Tensor<D>| fill_(out, 1).map(drop);
    crate::table::resized(out, exponent.sizes(), write).map_err(|e: Error| e.of("pow"))
}

/// `square`: `pow` with the number 2.
pub struct Square;

impl<'t, D: Powers> Operator<'t, D, (Operand<'t>,)> for Square {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        <PowNumber as Operator<'t, D, (Operand<'t>, i64)>>::call((a, 2), sink)
    }
}

/// `pow` of tensors, or of a tensor and a number on either side.
pub struct Pow;

impl<'t, D: Powers> Operator<'t, D, (Operand<'t>, Operand<'t>)> for Pow {
    fn call<S: ValueSink<'t, D>>((a, exponent): (Operand<'t>, Operand<'t>), sink: S) -> Result<S::Value> {
        match exponent {
            Operand::Number(number) => <PowNumber as Operator<'t, D, _>>::call((a, number.scalar()), sink),
            _ => run::<PowFn, D, _, S>((a, exponent), sink),
        }
    }
}

/// A device that computes powers, and fills.
pub trait Powered: Fills + Executes<Pointwise<PowFn>> {}
impl<D: Fills + Executes<Pointwise<PowFn>>> Powered for D {}

/// Whether a base has but one power. A bool is computed with, as PyTorch does.
fn is_one(base: Scalar) -> bool {
    !matches!(base, Scalar::Bool(_)) && base.to_complex() == Complex64::new(1.0, 0.0)
}

/// Integers have no negative powers, whatever the elements are; a number as an exponent must be one that the common
/// dtype holds.
fn check_exponent(call: &Check<'_, '_>) -> Result<()> {
    let (Some(base), [exponent]) = (call.operands.first().and_then(Operand::dtype), call.params) else { return Ok(()) };
    if base.is_integral(true) && matches!(exponent, Scalar::Int(..0)) {
        let rule = "argument exponent is a negative integer, and the base is integral; cast the base to a float";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    match call.common {
        // Wide floats take any number.
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => Ok(()),
        common => exponent.check_fits(common, "exponent"),
    }
}

record! { SqrtFn "sqrt: x", Any within 4: float |[a], []| a.sqrt(), complex |[a], []| a.sqrt() }
record! { RsqrtFn "rsqrt: x", Any within 4:
float |[a], []| 1.0 / a.sqrt(), complex |[a], []| reference::reciprocal(a.sqrt()) }
record! { ReciprocalFn "reciprocal: x", Any within 4:
float |[a], []| 1.0 / a, complex |[a], []| reference::reciprocal(a) }
record! { HypotFn "hypot: x x", Any within 1: float |[a, b], []| a.hypot(b) }
record! { PowFn "pow.Tensor_Tensor: x x", Any within 64:
int |[a, b], []| reference::power(a, b), float |[a, b], []| a.powf(b), complex |[a, b], []| (b * a.ln()).exp() }
record! { PowNumberFn "pow.Tensor_Scalar: x p", Any within 64:
bool |[a], [b]| a | !b, int |[a], [b]| reference::power(a, b),
float |[a], [b]| reference::real_power(a, b), complex |[a], [b]| reference::complex_power(a, b) }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::Complex64;

    /// 1 / z; of zero infinity, and a NaN.
    pub(super) fn reciprocal(z: Complex64) -> Complex64 {
        if z.norm() == 0.0 { Complex64::new(f64::INFINITY, f64::NAN) } else { z.inv() }
    }

    /// A real number to the power of a number: PyTorch's roots of what is below zero, and of -0, are the square root's.
    pub(super) fn real_power(x: f64, exponent: f64) -> f64 {
        match exponent {
            0.5 => x.sqrt(),
            -0.5 => 1.0 / x.sqrt(),
            _ => x.powf(exponent),
        }
    }

    /// A complex number to the power of a number.
    pub(super) fn complex_power(z: Complex64, exponent: Complex64) -> Complex64 {
        let real = |x: f64| exponent == Complex64::new(x, 0.0);
        match () {
            () if real(0.0) => Complex64::new(1.0, 0.0),
            () if real(0.5) => z.sqrt(),
            () if real(-0.5) => reciprocal(z.sqrt()),
            () if real(1.0) => z,
            () if real(2.0) => z * z,
            () if real(3.0) => z * z * z,
            () if real(-1.0) => reciprocal(z),
            () if real(-2.0) => reciprocal(z * z),
            () => (exponent * z.ln()).exp(),
        }
    }

    /// An integer to the power of another, wrapped.
    pub(super) fn power(base: i64, exponent: i64) -> i64 {
        match (exponent, base) {
            (0.., _) => (0..64)
                .rev()
                .fold(1i64, |p, bit| p.wrapping_mul(p).wrapping_mul(if exponent >> bit & 1 == 1 { base } else { 1 })),
            (_, 1) => 1,
            (_, -1) => 1 - 2 * (exponent & 1),
            _ => 0,
        }
    }
}

native! {
    family: Powers, functions: Powered;

    /// The square root elementwise.
    ///
    /// Integers and bool give float32. Of negative numbers it is NaN.
    ///
    /// ```
    /// let x = tensor![1, 4];
    /// assert_eq!(x.sqrt()?.to_vec::<f32>()?, [1.0, 2.0]);
    /// ```
    func: sqrt(Tensor self) -> Tensor,
    inplace: sqrt_, out: sqrt.out, variants: function, method, structured: Pointwise<SqrtFn>;

    /// The reciprocal of the square root elementwise: `1 / sqrt(self)`.
    ///
    /// Integers and bool give float32. Of 0 it is infinite, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![1, 4];
    /// assert_eq!(x.rsqrt()?.to_vec::<f32>()?, [1.0, 0.5]);
    /// ```
    func: rsqrt(Tensor self) -> Tensor,
    inplace: rsqrt_, out: rsqrt.out, variants: function, method, structured: Pointwise<RsqrtFn>;

    /// The reciprocal elementwise: `1 / self`.
    ///
    /// Integers and bool give float32. Of 0 it is infinite.
    ///
    /// ```
    /// let x = tensor![2, 4];
    /// assert_eq!(x.reciprocal()?.to_vec::<f32>()?, [0.5, 0.25]);
    /// ```
    func: reciprocal(Tensor self) -> Tensor,
    inplace: reciprocal_, out: reciprocal.out, variants: function, method, structured: Pointwise<ReciprocalFn>;

    /// The square elementwise: `self · self`.
    ///
    /// The dtype stays, but bool gives int64. Integers wrap.
    ///
    /// ```
    /// let x = tensor![-3, 4];
    /// assert_eq!(x.square()?.to_vec::<i32>()?, [9, 16]);
    /// ```
    func: square(Tensor self) -> Tensor,
    inplace: square_, out: square.out, variants: function, method, operator: Square,
    otherwise: implicit crate::composite::arithmetic::square;

    /// The length of the hypotenuse elementwise: `sqrt(self² + other²)` without overflow on the way.
    ///
    /// The operands broadcast; the result has the dtype that they promote to, which is a float.
    ///
    /// ```
    /// let x = tensor![3.0f32, 5.0];
    /// assert_eq!(x.hypot(&tensor![4.0f32, 12.0])?.to_vec::<f32>()?, [5.0, 13.0]);
    /// ```
    func: hypot(Tensor self, Tensor other) -> Tensor,
    inplace: hypot_, out: hypot.out, variants: function, method, structured: Pointwise<HypotFn>;

    /// Raises to the power `exponent` elementwise.
    ///
    /// Either operand may be a number. They broadcast; the result has the dtype that they promote to. A negative number
    /// as the exponent of integers is an error. Negative floats to a power that is no integer are NaN.
    /// [`float_power`](super::functions::float_power) computes in float64.
    ///
    /// ```
    /// let x = tensor![1.0f32, 4.0, 9.0];
    /// assert_eq!(x.pow(0.5)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// assert_eq!(ops::pow(2, &tensor![3, 4])?.to_vec::<i32>()?, [8, 16]);
    /// ```
    func: pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor,
    inplace: pow_.Tensor, out: pow.Tensor_Tensor_out, variants: function, method, typed: Pow,
    structured: Pointwise<PowFn>;

    func: pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor,
    inplace: pow_.Scalar, out: pow.Tensor_Scalar_out, operator: PowNumber;

    structured: Pointwise<PowNumberFn>;

    structured: Pointwise<PowZeroFn>;

    structured: Pointwise<PowOneFn>;

    structured: Pointwise<PowTwoFn>;

    structured: Pointwise<PowThreeFn>;

    structured: Pointwise<PowHalfFn>;

    structured: Pointwise<PowMinusHalfFn>;

    structured: Pointwise<PowMinusOneFn>;

    structured: Pointwise<PowMinusTwoFn>;

    func: pow.Scalar(Scalar self, Tensor exponent) -> Tensor,
    kernel: pow_scalar;

    func: pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!),
    kernel: pow_scalar_out;
}
