//! Rounding: ceil, floor, trunc, round to an integer or a decimal place, and what is cut off.

use crate::algebra::{Real as HasReal, Rounding as HasRounding};
use crate::kernels::Rounding;
use crate::pointwise::{Common, Map, Numbers, Real, Reals, Rule, Same, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{Error, ErrorKind, Result};

pointwise! { CeilFn "ceil": Real, Same<1>; () => Common; Rule::UNARY }
impl<V: HasRounding> Map<V> for CeilFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.ceil()
    }
}

pointwise! { FloorFn "floor": Real, Same<1>; () => Common; Rule::UNARY }
impl<V: HasRounding> Map<V> for FloorFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.floor()
    }
}

pointwise! { TruncFn "trunc": Real, Same<1>; () => Common; Rule::UNARY }
impl<V: HasRounding> Map<V> for TruncFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.trunc()
    }
}

pointwise! { RoundFn "round": Real, Same<1>; () => Common; Rule::UNARY }
impl<V: HasRounding> Map<V> for RoundFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.round()
    }
}

// The power of ten, and whether places before the point are meant.
pointwise! { RoundDecimalsFn "round": Reals, Same<1>; Numbers<2> => Common; Rule::UNARY }
impl<V: HasReal> Map<V> for RoundDecimalsFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [scale, before]: [V; 2]) -> V {
        let before = before.truth();
        let whole = V::select(before, a / scale, a * scale).round();
        V::select(before, whole * scale, whole / scale)
    }
}

pointwise! { FracFn "frac": Reals, Same<1>; () => Common; Rule::UNARY }
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

native! {
    family: Rounding;

    /// Rounds up to integers elementwise.
    ///
    /// The dtype stays; integers are themselves. Bool and complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-1.5f32, 0.2];
    /// assert_eq!(x.ceil()?.to_vec::<f32>()?, [-1.0, 1.0]);
    /// ```
    func: ceil(Tensor self) -> Tensor,
    inplace: ceil_, out: ceil.out, variants: function, method, structured: Pointwise<CeilFn>;

    /// Rounds down to integers elementwise.
    ///
    /// The dtype stays; integers are themselves. Bool and complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-1.5f32, 0.2];
    /// assert_eq!(x.floor()?.to_vec::<f32>()?, [-2.0, 0.0]);
    /// ```
    func: floor(Tensor self) -> Tensor,
    inplace: floor_, out: floor.out, variants: function, method, structured: Pointwise<FloorFn>;

    /// Rounds towards zero to integers elementwise.
    ///
    /// The dtype stays; integers are themselves. Bool and complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-1.5f32, 1.5];
    /// assert_eq!(x.trunc()?.to_vec::<f32>()?, [-1.0, 1.0]);
    /// ```
    func: trunc(Tensor self) -> Tensor,
    inplace: trunc_, out: trunc.out, variants: function, method, structured: Pointwise<TruncFn>;

    /// Rounds to the nearest integers elementwise; halves go to the even one.
    ///
    /// The dtype stays; integers are themselves. Bool and complex numbers are an error. `round_with` keeps decimals.
    ///
    /// ```
    /// let x = tensor![0.5f32, 1.5, 2.6];
    /// assert_eq!(x.round()?.to_vec::<f32>()?, [0.0, 2.0, 3.0]);
    /// ```
    func: round(Tensor self) -> Tensor,
    inplace: round_, out: round.out, variants: function, method, structured: Pointwise<RoundFn>;

    /// The part behind the point, elementwise: `self - trunc(self)`, which has the sign of `self`.
    ///
    /// Only floats have one; other dtypes are an error.
    ///
    /// ```
    /// let x = tensor![-1.5f32, 2.25];
    /// assert_eq!(x.frac()?.to_vec::<f32>()?, [-0.5, 0.25]);
    /// ```
    func: frac(Tensor self) -> Tensor,
    inplace: frac_, out: frac.out, variants: function, method, structured: Pointwise<FracFn>;

    /// [`trunc`](super::functions::trunc) under another name.
    func: fix(Tensor self) -> Tensor,
    inplace: fix_, out: fix.out, variants: function, method, structured: Pointwise<TruncFn>;

    /// Rounds to `decimals` places behind the point elementwise; halves go to the even digit.
    ///
    /// Negative `decimals` round in front of the point. The elements are scaled by a power of ten, rounded and scaled
    /// back. Floats only.
    ///
    /// ```
    /// let x = tensor![1.25f32, 17.5];
    /// assert_eq!(x.round_with(Round { decimals: 1, ..Default::default() })?.to_vec::<f32>()?, [1.2, 17.5]);
    /// ```
    func: round.decimals(Tensor self, *, int decimals) -> Tensor,
    inplace: round_.decimals, out: round.decimals_out, variants: function, method, name: round_with,
    options: [decimals = 0], operator: RoundDecimals;

    func: special_round(Tensor self, *, int decimals=0) -> Tensor,
    out: special_round.out, operator: RoundDecimals;

    structured: Pointwise<RoundDecimalsFn>;
}
