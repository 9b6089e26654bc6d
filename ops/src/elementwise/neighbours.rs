//! Numbers as their format has them: nextafter, frexp.

use crate::algebra::Format;
use crate::copies::to_dtype;
use crate::kernels::Neighbours;
use crate::pointwise::{Common, Map, Reals, Rule, Same, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use crate::table::{OutLayout, write_pair};
use monomorph_core::structured::Functional;
use monomorph_core::{DType, Result, Tensor, observe};

pointwise! { NextafterFn "nextafter": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: Format> Map<V> for NextafterFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.next_after(b)
    }
}

pointwise! { MantissaFn "frexp": Reals, Same<1>; () => Common; Rule::UNARY.with_outputs_like::<Reals>(0) }
impl<V: Format> Map<V> for MantissaFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.mantissa()
    }
}

pointwise! { ExponentFn "frexp": Reals, Same<1>; () => Common; Rule::UNARY.with_outputs_like::<Reals>(0) }
impl<V: Format> Map<V> for ExponentFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.exponent()
    }
}

/// `frexp.Tensor`: mantissas from a half up to 1, and exponents of two as int32.
pub fn frexp<D: Neighbours>(this: &Tensor<D>) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("frexp", [this.geometry()]);
    let [mantissa] = run::<MantissaFn, D, _, _>((this,), Functional::<D, 1>::default())?;
    Ok((mantissa, exponents(this)?))
}

/// `frexp.Tensor_out`.
pub fn frexp_out<D: Neighbours>(this: &Tensor<D>, mantissa: &mut Tensor<D>, exponent: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("frexp", [this.geometry(), mantissa.geometry(), exponent.geometry()]);
    let (mantissas, exponents) = frexp(this)?;
    let pair = [(&mantissas, mantissa, OutLayout::Kept), (&exponents, exponent, OutLayout::Kept)];
    write_pair(this, pair).map_err(|e| e.of("frexp"))
}

/// The exponents fit every floating dtype exactly.
fn exponents<D: Neighbours>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let [exponent] = run::<ExponentFn, D, _, _>((this,), Functional::<D, 1>::default())?;
    to_dtype(&exponent, DType::I32, false, false, None)
}

record! { NextafterFn "nextafter: x x", Any within 0, of dtype: float |[a, b], []| reference::next(dtype, a, b) }
record! { MantissaFn "-: x", Any within 0: float |[a], []| reference::parts(a).0 }
record! { ExponentFn "-: x", Any within 0: float |[a], []| reference::parts(a).1 }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::{DType, bf16, f16};

    /// The number behind `a` on the way to `b`.
    pub(super) fn next(dtype: DType, a: f64, b: f64) -> f64 {
        let half = 1 << 15;
        match dtype {
            DType::F16 => {
                step(a, b, half, |x| f16::from_f64(x).to_bits().into(), |y| f16::from_bits(y as u16).to_f64())
            }
            DType::BF16 => {
                step(a, b, half, |x| bf16::from_f64(x).to_bits().into(), |y| bf16::from_bits(y as u16).to_f64())
            }
            DType::F32 => step(a, b, 1 << 31, |x| (x as f32).to_bits().into(), |y| f32::from_bits(y as u32).into()),
            _ => step(a, b, 1 << 63, f64::to_bits, f64::from_bits),
        }
    }

    /// The same in a format whose sign is the bit `sign`.
    fn step(a: f64, b: f64, sign: u64, bits: impl Fn(f64) -> u64, number: impl Fn(u64) -> f64) -> f64 {
        match () {
            () if a.is_nan() || b.is_nan() => f64::NAN,
            () if a == b => b,
            () if a == 0.0 => number(1 | if b < 0.0 { sign } else { 0 }),
            () if (a < b) == (a > 0.0) => number(bits(a) + 1),
            () => number(bits(a) - 1),
        }
    }

    /// Mantissa and exponent, by halving and doubling.
    pub(super) fn parts(x: f64) -> (f64, f64) {
        let (mut mantissa, mut exponent) = (x, 0.0);
        while x.is_finite() && mantissa.abs() >= 1.0 {
            (mantissa, exponent) = (mantissa / 2.0, exponent + 1.0);
        }
        while x != 0.0 && mantissa.abs() < 0.5 {
            (mantissa, exponent) = (mantissa * 2.0, exponent - 1.0);
        }
        (mantissa, exponent)
    }
}

native! {
    family: Neighbours;

    /// The float next to `self` in the direction of `other`, elementwise.
    ///
    /// Floats only. The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// assert_eq!(tensor![1.0f32].nextafter(2.0)?.to_vec::<f32>()?, [1.0 + f32::EPSILON]);
    /// ```
    func: nextafter(Tensor self, Tensor other) -> Tensor,
    inplace: nextafter_, out: nextafter.out, variants: function, method, structured: Pointwise<NextafterFn>;

    /// Splits floats into a mantissa, whose absolute value is from 0.5 up to 1, and an int32 exponent: `mantissa ·
    /// 2^exponent`.
    ///
    /// Floats only.
    ///
    /// ```
    /// let (mantissa, exponent) = tensor![6.0f32].frexp()?;
    /// assert_eq!((mantissa.to_vec::<f32>()?, exponent.to_vec::<i32>()?), (vec![0.75], vec![3]));
    /// ```
    func: frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent),
    variants: function, kernel: frexp;

    /// [`frexp`](super::functions::frexp) into `mantissa` and `exponent`.
    func: frexp.Tensor_out(Tensor self, *, Tensor(a!) mantissa, Tensor(b!) exponent) -> (Tensor(a!) mantissa,
        Tensor(b!) exponent),
    variants: function, kernel: frexp_out;

    structured: Pointwise<MantissaFn>;

    structured: Pointwise<ExponentFn>;
}
