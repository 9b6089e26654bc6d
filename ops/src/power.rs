//! Powers and roots: sqrt, rsqrt, pow.

use crate::algebra::{Power, Root};
use crate::kernels::Powers;
use crate::pointwise::{AllDTypes, Check, Common, FloatComplex, Map, Number, Numeric, Rule, Same, pointwise, run};
use crate::record::record;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{Complex64, DType, ErrorKind, Result, Scalar};

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

pointwise! { PowFn "pow": Numeric, Same<2>; () => Common; Rule::BINARY.with_linear_number() }
impl<V: Power> Map<V> for PowFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.pow(b)
    }
}

pointwise! { PowNumberFn "pow": AllDTypes, Same<1>; Number => Common; Rule::NUMBERS_PROMOTE_CAST, check = check_exponent }
impl<V: Power> Map<V> for PowNumberFn {
    #[inline(always)]
    fn eval([a]: [V; 1], exponent: V) -> V {
        a.pow_number(exponent)
    }
}

pointwise! { PowOfOneFn "pow": Numeric, Same<1>; Number => Common; Rule::NUMBERS_FILL }
impl<V: Power> Map<V> for PowOfOneFn {
    #[inline(always)]
    fn eval(_: [V; 1], _: V) -> V {
        V::one()
    }
}

/// Integers have no negative powers, whatever the elements are; a number as an exponent must be one that the common dtype
/// holds.
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

/// `pow` of a number: 1 to any power is 1, in the caller's output of any dtype.
pub struct PowOfNumber;

impl<'t, D: Powers> Operator<'t, D, (Scalar, Operand<'t>)> for PowOfNumber {
    fn call<S: ValueSink<'t, D>>((base, exponent): (Scalar, Operand<'t>), sink: S) -> Result<S::Value> {
        let is_one = !matches!(base, Scalar::Bool(_)) && base.to_complex() == Complex64::new(1.0, 0.0);
        if is_one {
            return run::<PowOfOneFn, D, _, S>((exponent, base), sink);
        }
        run::<PowFn, D, _, S>((Operand::from(base), exponent), sink)
    }
}

record! { SqrtFn "sqrt: x", Any within 2: float |[a], []| a.sqrt(), complex |[a], []| a.sqrt() }
record! { RsqrtFn "rsqrt: x", Any within 4: float |[a], []| 1.0 / a.sqrt(), complex |[a], []| 1.0 / a.sqrt() }
record! { PowFn "pow.Tensor_Tensor: x x", Any within 64:
int |[a, b], []| power(a, b), float |[a, b], []| a.powf(b), complex |[a, b], []| (b * a.ln()).exp() }
record! { PowNumberFn "pow.Tensor_Scalar: x p", Any within 64:
bool |[a], [b]| a | !b, int |[a], [b]| (b >= 0).then(|| power(a, b)),
float |[a], [b]| a.powf(b), complex |[a], [b]| (b * a.ln()).exp() }
record! { PowOfOneFn "pow.Scalar: p x", Any within 0:
int |[_], [_]| 1, float |[_], [_]| 1.0, complex |[_], [_]| Complex64::new(1.0, 0.0) }

/// An integer to the power of another, wrapped.
fn power(base: i64, exponent: i64) -> i64 {
    match (exponent, base) {
        (0.., _) => (0..64)
            .rev()
            .fold(1i64, |p, bit| p.wrapping_mul(p).wrapping_mul(if exponent >> bit & 1 == 1 { base } else { 1 })),
        (_, 1) => 1,
        (_, -1) => 1 - 2 * (exponent & 1),
        _ => 0,
    }
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __power_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [sqrt] (Tensor self) -> (Tensor) : formula ($crate::power::SqrtFn) {
            functional sqrt; inplace sqrt_ [sqrt_]; out sqrt_out [sqrt.out];
        } }
        { [rsqrt] (Tensor self) -> (Tensor) : formula ($crate::power::RsqrtFn) {
            functional rsqrt; inplace rsqrt_ [rsqrt_]; out rsqrt_out [rsqrt.out];
        } }
        { [pow.Tensor_Tensor] (Tensor self, Tensor exponent) -> (Tensor) : formula ($crate::power::PowFn) {
            functional pow; inplace pow_ [pow_.Tensor]; out pow_out [pow.Tensor_Tensor_out];
        } }
        { [pow.Tensor_Scalar] (Tensor self, Scalar exponent) -> (Tensor) : formula ($crate::power::PowNumberFn) {
            functional pow_number; inplace pow_number_ [pow_.Scalar]; out pow_number_out [pow.Tensor_Scalar_out];
        } }
        { [pow.Scalar] (Scalar self, Tensor exponent) -> (Tensor) : op ($crate::power::PowOfNumber) {
            functional pow_of_number; out pow_of_number_out [pow.Scalar_out];
        } }
        { [] () -> () : formula ($crate::power::PowOfOneFn) {} }
    } };
}
