//! Rounding: ceil, floor, trunc, round to an integer or a decimal place, and what is cut off.

use crate::algebra::{Real as HasReal, Rounding as HasRounding};
use crate::kernels::Rounding;
use crate::pointwise::{Common, Map, Numbers, Real, Reals, Rule, Same, pointwise, run};
use crate::record::record;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{Error, ErrorKind, Result};

pointwise! { CeilFn "ceil": Real, Same<1>; () => Common; Rule::UNARY, light = true, exact = true, halves_as_f32 = true }
impl<V: HasRounding> Map<V> for CeilFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.ceil()
    }
}

pointwise! {
    FloorFn "floor": Real, Same<1>; () => Common; Rule::UNARY, light = true, exact = true, halves_as_f32 = true
}
impl<V: HasRounding> Map<V> for FloorFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.floor()
    }
}

pointwise! {
    TruncFn "trunc": Real, Same<1>; () => Common; Rule::UNARY, light = true, exact = true, halves_as_f32 = true
}
impl<V: HasRounding> Map<V> for TruncFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.trunc()
    }
}

pointwise! {
    RoundFn "round": Real, Same<1>; () => Common; Rule::UNARY, light = true, exact = true, halves_as_f32 = true
}
impl<V: HasRounding> Map<V> for RoundFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.round()
    }
}

// The power of ten, and whether places before the point are meant.
pointwise! { RoundDecimalsFn "round": Reals, Same<1>; Numbers<2> => Common; Rule::UNARY, halves_as_f32 = true }
impl<V: HasReal> Map<V> for RoundDecimalsFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [scale, before]: [V; 2]) -> V {
        let before = before.truth();
        let whole = V::select(before, a / scale, a * scale).round();
        V::select(before, whole * scale, whole / scale)
    }
}

pointwise! { FracFn "frac": Reals, Same<1>; () => Common; Rule::UNARY, halves_as_f32 = true }
impl<V: HasReal> Map<V> for FracFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a - a.trunc()
    }
}

/// `round` to a number of decimal places, before the point if it is negative. Floats only, even where it is 0.
pub struct RoundDecimals;

impl<'t, D: Rounding> Operator<'t, D, (Operand<'t>, i64)> for RoundDecimals {
    fn call<S: ValueSink<'t, D>>((a, decimals): (Operand<'t>, i64), sink: S) -> Result<S::Value> {
        if let Some(got) = a.dtype().filter(|dtype| dtype.is_integral(true)) {
            let what = "argument self has dtype";
            let error = ErrorKind::DTypeNotSupported { what, got, accepted: "floating dtypes; integers are round" };
            return Err(Error::new(error).of("round"));
        }
        if decimals == 0 {
            return run::<RoundFn, D, _, S>((a,), sink);
        }
        // Beyond the exponents of float64 every power is infinite.
        let scale = 10f64.powi(i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX));
        run::<RoundDecimalsFn, D, _, S>((a, scale.into(), (decimals < 0).into()), sink)
    }
}

record! { CeilFn "ceil: x", Any within 0: int |[a], []| a, float |[a], []| a.ceil() }
record! { FloorFn "floor: x", Any within 0: int |[a], []| a, float |[a], []| a.floor() }
record! { TruncFn "trunc: x", Any within 0: int |[a], []| a, float |[a], []| a.trunc() }
record! { RoundFn "round: x", Any within 0: int |[a], []| a, float |[a], []| a.round_ties_even() }
record! { RoundDecimalsFn "-: x p p", Small within 1: float |[a], [scale, before]|
if before == 0.0 { (a * scale).round_ties_even() / scale } else { (a / scale).round_ties_even() * scale } }
record! { FracFn "frac: x", Any within 0: float |[a], []| a - a.trunc() }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __rounding_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [ceil] (Tensor self) -> (Tensor) : formula ($crate::rounding::CeilFn) {
            functional ceil; inplace ceil_ [ceil_]; out ceil_out [ceil.out];
        } }
        { [floor] (Tensor self) -> (Tensor) : formula ($crate::rounding::FloorFn) {
            functional floor; inplace floor_ [floor_]; out floor_out [floor.out];
        } }
        { [trunc] (Tensor self) -> (Tensor) : formula ($crate::rounding::TruncFn) {
            functional trunc; inplace trunc_ [trunc_]; out trunc_out [trunc.out];
        } }
        { [round] (Tensor self) -> (Tensor) : formula ($crate::rounding::RoundFn) {
            functional round; inplace round_ [round_]; out round_out [round.out];
        } }
        { [frac] (Tensor self) -> (Tensor) : formula ($crate::rounding::FracFn) {
            functional frac; inplace frac_ [frac_]; out frac_out [frac.out];
        } }
        { [fix] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::rounding::TruncFn>) {
            functional fix; inplace fix_ [fix_]; out fix_out [fix.out];
        } }
        { [round.decimals] (Tensor self, *, int decimals) -> (Tensor) : op ($crate::rounding::RoundDecimals) {
            functional round_decimals; inplace round_decimals_ [round_.decimals];
            out round_decimals_out [round.decimals_out];
        } }
        { [special_round] (Tensor self, *, int decimals=0) -> (Tensor) : op ($crate::rounding::RoundDecimals) {
            functional -; out - [special_round.out];
        } }
        { [] () -> () : formula ($crate::rounding::RoundDecimalsFn) {} }
    } };
}
