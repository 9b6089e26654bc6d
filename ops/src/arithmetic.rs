//! Arithmetic: add, sub, rsub, mul, div with its rounding modes, neg, abs, under these names and the longer ones;
//! degrees and radians.

use crate::algebra::{Magnitude as HasMagnitude, Num, RoundedDivision, TrueDivision};
use crate::kernels::Arithmetic;
use crate::pointwise::{
    AllDTypes, Check, Common, FloatComplex, Magnitude, Map, Number, Numeric, Real, Rule, Same, pointwise, run,
};
use crate::record::record;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar};

pointwise! { AddFn "add": AllDTypes, Same<2>; Number => Common; Rule::BINARY, check = check_alpha, light = true }
impl<V: Num> Map<V> for AddFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], alpha: V) -> V {
        a.add_scaled(alpha, b)
    }
}

pointwise! { SubFn "sub": Numeric, Same<2>; Number => Common; Rule::BINARY, check = check_sub, light = true }
impl<V: Num> Map<V> for SubFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], alpha: V) -> V {
        a.add_scaled(-alpha, b)
    }
}

pointwise! { MulFn "mul": AllDTypes, Same<2>; () => Common; Rule::BINARY.with_wide_scalar(), light = true }
impl<V: Num> Map<V> for MulFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a * b
    }
}

pointwise! {
    DivFn "div": FloatComplex, Same<2>; () => Common;
    Rule::BINARY_FLOAT.with_wide_scalar(), light = true, halves_as_f32 = true
}
impl<V: TrueDivision> Map<V> for DivFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a / b
    }
}

pointwise! { DivTruncFn "div": Real, Same<2>; () => Common; Rule::BINARY, fault = true }
impl<V: RoundedDivision> Map<V> for DivTruncFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.div_trunc(b)
    }
    #[inline(always)]
    fn fault([_, b]: [V; 2]) -> V::Mask {
        V::faults(b)
    }
}

pointwise! {
    DivFloorFn "div": Real, Same<2>; () => Common; Rule::BINARY.with_wide_scalar(), fault = true, usual = true
}
impl<V: RoundedDivision> Map<V> for DivFloorFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.div_floor(b)
    }
    #[inline(always)]
    fn is_usual([a, b]: [V; 2]) -> V::Mask {
        a.has_small_quotient(b)
    }
    #[inline(always)]
    fn eval_usual([a, b]: [V; 2], (): ()) -> V {
        a.div_floor_small(b)
    }
    #[inline(always)]
    fn fault([_, b]: [V; 2]) -> V::Mask {
        V::faults(b)
    }
}

pointwise! { NegFn "neg": Numeric, Same<1>; () => Common; Rule::UNARY, light = true, exact = true }
impl<V: Num> Map<V> for NegFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        -a
    }
}

pointwise! { AbsFn "abs": Numeric, Same<1>; () => Magnitude; Rule::UNARY, light = true, exact = true }
impl<V: HasMagnitude> Map<V> for AbsFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Re {
        a.abs()
    }
}

/// The factor of the second operand must be a number of the common dtype's kind or a lower one.
fn check_alpha(call: &Check<'_, '_>) -> Result<()> {
    let [alpha] = call.params else { return Ok(()) };
    let rule = match alpha {
        // What it is unless it is given: it fits every dtype.
        Scalar::Int(1) => return Ok(()),
        Scalar::Bool(_) if call.common != DType::Bool => {
            "argument alpha is a bool, which only a bool result accepts; give 1"
        }
        Scalar::Float(_) if call.common.is_integral(true) => {
            "argument alpha is a float, but the result is integral; give an int"
        }
        Scalar::Complex(_) if !call.common.is_complex() => {
            "argument alpha is complex, but the result is real; give a real number"
        }
        _ => return alpha.check_fits(call.common, "alpha"),
    };
    Err(ErrorKind::ArgumentRule { rule }.into())
}

/// No operand of a subtraction may be bool, not even next to another dtype.
fn check_sub(call: &Check<'_, '_>) -> Result<()> {
    if call.operands.iter().any(|o| o.dtype() == Some(DType::Bool)) {
        let accepted = "all dtypes but bool; use logical_xor, or invert a mask with logical_not";
        return Err(ErrorKind::DTypeNotSupported { what: "an operand has dtype", got: DType::Bool, accepted }.into());
    }
    check_alpha(call)
}

/// `div` with a rounding mode: true division for none, else the quotient rounded to zero or down.
pub struct DivMode;

impl<'t, D: Arithmetic, A, B> Operator<'t, D, (A, B, Option<&'t str>)> for DivMode
where
    A: Into<Operand<'t>>,
    B: Into<Operand<'t>>,
{
    fn call<S: ValueSink<'t, D>>((a, b, mode): (A, B, Option<&'t str>), sink: S) -> Result<S::Value> {
        match mode {
            None => run::<DivFn, D, _, S>((a, b), sink),
            Some("trunc") => run::<DivTruncFn, D, _, S>((a, b), sink),
            Some("floor") => run::<DivFloorFn, D, _, S>((a, b), sink),
            Some(other) => {
                let accepted = "None (true division), \"trunc\" (towards zero) and \"floor\" (down)";
                let error = ErrorKind::UnknownOption { arg: "rounding_mode", got: other.to_owned(), accepted };
                Err(Error::new(error).of("div"))
            }
        }
    }
}

/// `rsub`: `sub` with its operands exchanged.
pub struct Rsub;

impl<'t, D: Arithmetic, B: Into<Operand<'t>>> Operator<'t, D, (Operand<'t>, B, Scalar)> for Rsub {
    fn call<S: ValueSink<'t, D>>((a, b, alpha): (Operand<'t>, B, Scalar), sink: S) -> Result<S::Value> {
        run::<SubFn, D, _, S>((b, a, alpha), sink)
    }
}

/// `deg2rad`: a product with the radians of a degree.
pub struct Deg2rad;
/// `rad2deg`: a product with the degrees of a radian.
pub struct Rad2deg;

impl<'t, D: Arithmetic> Operator<'t, D, (Operand<'t>,)> for Deg2rad {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        angle::<D, S>(a, std::f64::consts::PI / 180.0, sink).map_err(|e| e.of("deg2rad"))
    }
}

impl<'t, D: Arithmetic> Operator<'t, D, (Operand<'t>,)> for Rad2deg {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        angle::<D, S>(a, 180.0 / std::f64::consts::PI, sink).map_err(|e| e.of("rad2deg"))
    }
}

fn angle<'t, D: Arithmetic, S: ValueSink<'t, D>>(a: Operand<'t>, unit: f64, sink: S) -> Result<S::Value> {
    if let Some(got) = a.dtype().filter(|dtype| dtype.is_complex()) {
        let what = "argument self has dtype";
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "bool, integers and floats" }.into());
    }
    run::<MulFn, D, _, S>((a, Scalar::Float(unit)), sink)
}

record! { AddFn "add.Tensor: x x p", Any within 1:
bool |[a, b], [f]| a | (f & b), int |[a, b], [f]| a.wrapping_add(f.wrapping_mul(b)),
float |[a, b], [f]| f.mul_add(b, a), complex |[a, b], [f]| a + f * b }
record! { SubFn "sub.Tensor: x x p", Any within 1:
int |[a, b], [f]| a.wrapping_sub(f.wrapping_mul(b)),
float |[a, b], [f]| (-f).mul_add(b, a), complex |[a, b], [f]| a - f * b }
record! { MulFn "mul.Tensor: x x", Any within 0:
bool |[a, b], []| a & b, int |[a, b], []| a.wrapping_mul(b),
float |[a, b], []| a * b, complex |[a, b], []| a * b }
record! { DivFn "div.Tensor: x x", Any within 4:
float |[a, b], []| a / b, complex |[a, b], []| if b.norm() == 0.0 { a / 0.0 } else { a / b } }
record! { DivTruncFn "div.Tensor_mode: x x trunc", Small within 0:
int |[a, b], []| (b != 0).then(|| a.wrapping_div(b)), float |[a, b], []| (a / b).trunc() }
record! { DivFloorFn "div.Tensor_mode: x x floor", Small within 0:
int |[a, b], []| (b != 0).then(|| a.wrapping_div_euclid(b).wrapping_sub((b < 0 && a.wrapping_rem(b) != 0).into())),
float |[a, b], []| if b == 0.0 { a / b } else { floor_quotient(a, b) } }
record! { NegFn "neg: x", Any within 0:
int |[a], []| a.wrapping_neg(), float |[a], []| -a, complex |[a], []| -a }
record! { AbsFn "abs: x", Any within 1:
int |[a], []| a.wrapping_abs(), float |[a], []| a.abs(), complex |[a], []| a.norm() }

/// Python's quotient of floats rounded down.
fn floor_quotient(a: f64, b: f64) -> f64 {
    let rest = a % b;
    let floor = (a - rest) / b - f64::from(u8::from(rest != 0.0 && (rest < 0.0) != (b < 0.0)));
    if floor == 0.0 { floor.copysign(a / b) } else { floor }
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __arithmetic_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [add.Tensor] (Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor)
            : formula ($crate::arithmetic::AddFn) {
            functional add; inplace add_ [add_.Tensor]; out add_out [add.out]; functional_full add_alpha;
            inplace_full add_alpha_; out_full add_alpha_out;
        } }
        { [add.Scalar] (Tensor self, Scalar other, Scalar alpha=1) -> (Tensor)
            : op ($crate::Op<$crate::arithmetic::AddFn>) {
            functional -; inplace - [add_.Scalar]; autoout - [add.Scalar_out];
        } }
        { [sub.Tensor] (Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor)
            : formula ($crate::arithmetic::SubFn) {
            functional sub; inplace sub_ [sub_.Tensor]; out sub_out [sub.out]; functional_full sub_alpha;
            inplace_full sub_alpha_; out_full sub_alpha_out; or_explicit ($crate::composite::arithmetic::sub);
        } }
        { [sub.Scalar] (Tensor self, Scalar other, Scalar alpha=1) -> (Tensor)
            : op ($crate::Op<$crate::arithmetic::SubFn>) {
            functional -; inplace - [sub_.Scalar]; autoout - [sub.Scalar_out];
        } }
        { [mul.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::arithmetic::MulFn) {
            functional mul; inplace mul_ [mul_.Tensor]; out mul_out [mul.out];
        } }
        { [mul.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::arithmetic::MulFn>) {
            functional -; inplace - [mul_.Scalar]; autoout - [mul.Scalar_out];
        } }
        { [div.Tensor] (Tensor self, Tensor other) -> (Tensor) : formula ($crate::arithmetic::DivFn) {
            functional div; inplace div_ [div_.Tensor]; out div_out [div.out];
        } }
        { [div.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::arithmetic::DivFn>) {
            functional -; inplace - [div_.Scalar]; autoout - [div.Scalar_out];
        } }
        { [div.Tensor_mode] (Tensor self, Tensor other, *, str? rounding_mode) -> (Tensor)
            : op ($crate::arithmetic::DivMode) {
            functional div_mode; inplace div_mode_ [div_.Tensor_mode]; out div_mode_out [div.out_mode];
        } }
        { [div.Scalar_mode] (Tensor self, Scalar other, *, str? rounding_mode) -> (Tensor)
            : op ($crate::arithmetic::DivMode) {
            functional -; inplace - [div_.Scalar_mode]; autoout - [div.Scalar_mode_out];
        } }
        { [neg] (Tensor self) -> (Tensor) : formula ($crate::arithmetic::NegFn) {
            functional neg; inplace neg_ [neg_]; out neg_out [neg.out];
        } }
        { [abs] (Tensor self) -> (Tensor) : formula ($crate::arithmetic::AbsFn) {
            functional abs; inplace abs_ [abs_]; out abs_out [abs.out];
        } }
        { [subtract.Tensor] (Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor)
            : alias (sub = $crate::Op<$crate::arithmetic::SubFn>) {
            functional subtract; inplace subtract_ [subtract_.Tensor]; out subtract_out [subtract.out];
        } }
        { [subtract.Scalar] (Tensor self, Scalar other, Scalar alpha=1) -> (Tensor)
            : alias (sub = $crate::Op<$crate::arithmetic::SubFn>) {
            functional -; inplace - [subtract_.Scalar];
        } }
        { [rsub.Tensor] (Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor) : op ($crate::arithmetic::Rsub) {
            functional rsub; autoout - [rsub.Tensor_out]; or_explicit ($crate::composite::arithmetic::rsub);
        } }
        { [rsub.Scalar] (Tensor self, Scalar other, Scalar alpha=1) -> (Tensor) : op ($crate::arithmetic::Rsub) {
            functional -; autoout - [rsub.Scalar_out]; or_explicit ($crate::composite::arithmetic::rsub_number);
        } }
        { [multiply.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (mul = $crate::Op<$crate::arithmetic::MulFn>) {
            functional multiply; inplace multiply_ [multiply_.Tensor]; out multiply_out [multiply.out];
        } }
        { [multiply.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (mul = $crate::Op<$crate::arithmetic::MulFn>) {
            functional -; inplace - [multiply_.Scalar];
        } }
        { [divide.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (div = $crate::Op<$crate::arithmetic::DivFn>) {
            functional divide; inplace divide_ [divide_.Tensor]; out divide_out [divide.out];
        } }
        { [divide.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (div = $crate::Op<$crate::arithmetic::DivFn>) {
            functional -; inplace - [divide_.Scalar];
        } }
        { [true_divide.Tensor] (Tensor self, Tensor other) -> (Tensor) : alias (div = $crate::Op<$crate::arithmetic::DivFn>) {
            functional true_divide; inplace true_divide_ [true_divide_.Tensor]; out true_divide_out [true_divide.out];
        } }
        { [true_divide.Scalar] (Tensor self, Scalar other) -> (Tensor) : alias (div = $crate::Op<$crate::arithmetic::DivFn>) {
            functional -; inplace - [true_divide_.Scalar];
        } }
        { [divide.Tensor_mode] (Tensor self, Tensor other, *, str? rounding_mode) -> (Tensor)
            : alias (div = $crate::arithmetic::DivMode) {
            functional divide_mode; inplace divide_mode_ [divide_.Tensor_mode]; out divide_mode_out [divide.out_mode];
        } }
        { [divide.Scalar_mode] (Tensor self, Scalar other, *, str? rounding_mode) -> (Tensor)
            : alias (div = $crate::arithmetic::DivMode) {
            functional -; inplace - [divide_.Scalar_mode];
        } }
        { [negative] (Tensor self) -> (Tensor) : alias (neg = $crate::Op<$crate::arithmetic::NegFn>) {
            functional negative; inplace negative_ [negative_]; out negative_out [negative.out];
        } }
        { [absolute] (Tensor self) -> (Tensor) : alias (abs = $crate::Op<$crate::arithmetic::AbsFn>) {
            functional absolute; inplace absolute_ [absolute_]; out absolute_out [absolute.out];
        } }
        { [deg2rad] (Tensor self) -> (Tensor) : op ($crate::arithmetic::Deg2rad) {
            functional deg2rad; inplace deg2rad_ [deg2rad_]; out deg2rad_out [deg2rad.out];
        } }
        { [rad2deg] (Tensor self) -> (Tensor) : op ($crate::arithmetic::Rad2deg) {
            functional rad2deg; inplace rad2deg_ [rad2deg_]; out rad2deg_out [rad2deg.out];
        } }
        { [] () -> () : formula ($crate::arithmetic::DivTruncFn) {} }
        { [] () -> () : formula ($crate::arithmetic::DivFloorFn) {} }
    } };
}
