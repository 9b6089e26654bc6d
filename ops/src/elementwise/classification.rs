//! What elements are: isnan, isinf, isfinite, isposinf, isneginf, isreal, isclose, and nan_to_num, which replaces what
//! is no number.

use crate::algebra::{Classify, Equal, Num, Ordered as HasOrder};
use crate::complex_view;
use crate::factory::ones_like;
use crate::fill::Fills;
use crate::functions;
use crate::kernels::{Classification, Comparison, Kernels, Sign};
use crate::pointwise::{
    AllDTypes, Common, FloatComplex, Integral, Map, Numbers, Ordered, Rule, Same, Truth, pointwise, run,
};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, ErrorKind, Kind, Result, Scalar, Tensor, observe};

pointwise! { IsinfFn "isinf": AllDTypes, Same<1>; () => Truth; Rule::UNARY_TRUTH.with_outputs_like::<Integral>(0) }
impl<V: Classify> Map<V> for IsinfFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        a.is_infinite()
    }
}

pointwise! {
    IsfiniteFn "isfinite": AllDTypes, Same<1>; () => Truth; Rule::UNARY_TRUTH.with_outputs_like::<Integral>(0)
}
impl<V: Num + Equal> Map<V> for IsfiniteFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        // What is not finite is NaN times zero.
        (a * V::zero()).eq(V::zero())
    }
}

pointwise! { IsposinfFn "isposinf": Ordered, Same<1>; () => Truth; Rule::UNARY_TRUTH }
impl<V: Classify + HasOrder> Map<V> for IsposinfFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        a.is_infinite() & a.gt(V::from_bool(false))
    }
}

pointwise! { IsneginfFn "isneginf": Ordered, Same<1>; () => Truth; Rule::UNARY_TRUTH }
impl<V: Classify + HasOrder> Map<V> for IsneginfFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Mask {
        a.is_infinite() & a.lt(V::from_bool(false))
    }
}

pointwise! {
    NanToNumFn "nan_to_num": FloatComplex, Same<1>; Numbers<3> => Common;
    Rule::UNARY.with_outputs_like::<FloatComplex>(0)
}
impl<V: Classify> Map<V> for NanToNumFn {
    #[inline(always)]
    fn eval([a]: [V; 1], [nan, positive, negative]: [V; 3]) -> V {
        a.finite_or(nan, positive, negative)
    }
}

/// `isnan`: what does not equal itself.
pub struct Isnan;

impl<'t, D: Comparison> Operator<'t, D, (Operand<'t>,)> for Isnan {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        run::<crate::comparison::NeFn, D, _, S>((a, a), sink)
    }
}

/// `nan_to_num`: 0 for NaN and the ends of the dtype for the infinities, unless other numbers are given. Integers are
/// copied.
pub struct NanToNum;

type Replacement = Option<f64>;

impl<'t, D: Classification + Sign> Operator<'t, D, (Operand<'t>, Replacement, Replacement, Replacement)> for NanToNum {
    fn call<S: ValueSink<'t, D>>(
        (a, nan, positive, negative): (Operand<'t>, Replacement, Replacement, Replacement),
        sink: S,
    ) -> Result<S::Value> {
        let dtype = a.dtype().unwrap_or(DType::F32);
        if dtype.is_integral(true) {
            // Each is its own conjugate.
            return run::<crate::sign::ConjFn, D, _, S>((a,), sink);
        }
        let largest = match dtype.to_real() {
            DType::F16 => 65504.0,
            DType::BF16 => f64::from_bits(0x47ef_e000_0000_0000),
            DType::F32 => f32::MAX.into(),
            _ => f64::MAX,
        };
        let [nan, positive, negative] =
            [(nan, 0.0), (positive, largest), (negative, -largest)].map(|(x, own)| Scalar::Float(x.unwrap_or(own)));
        run::<NanToNumFn, D, _, S>((a, nan, positive, negative), sink)
    }
}

/// `isreal`: whether the imaginary part is zero, as it is in what is not complex.
pub fn isreal<D: Kernels + Fills>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("isreal", [this.geometry()]);
    if this.dtype().is_complex() {
        return functions::eq(&this.with_geometry(complex_view::imag(this.geometry())?)?, 0);
    }
    ones_like(this, Some(DType::Bool), None, None, None, None).map_err(|e| e.of("isreal"))
}

/// `isclose`: equal, or no further apart than `atol` and the share `rtol` of `other`. NaN is close to NaN if asked.
pub fn isclose<D: Kernels>(
    this: &Tensor<D>,
    other: &Tensor<D>,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("isclose", [this.geometry(), other.geometry()]);
    check_close(this.dtype(), other.dtype(), rtol, atol)
        .map_err(|error| monomorph_core::Error::new(error).of("isclose"))?;
    let mut close = functions::eq(this, other)?;
    if equal_nan && this.dtype().kind() >= Kind::Float {
        let both = functions::bitwise_and(&functions::ne(this, this)?, &functions::ne(other, other)?)?;
        functions::bitwise_or_(&mut close, &both)?;
    }
    if rtol == 0.0 && atol == 0.0 {
        return Ok(close);
    }
    // Integers are compared as floats: an unsigned difference would wrap, and bools have none. A cast of `other` is
    // enough for integers, which promote with it.
    let as_float = |t: &Tensor<D>, cast| match cast {
        true => crate::copies::to_dtype(t, monomorph_core::DEFAULT_FLOAT, false, false, None),
        false => Ok(t.clone()),
    };
    let this = as_float(this, this.dtype() == DType::Bool)?;
    let other = as_float(other, other.dtype().is_integral(true))?;
    let allowed = functions::add(&functions::abs(&functions::mul(&other, rtol)?)?, atol)?;
    let actual = functions::abs(&functions::sub(&this, &other)?)?;
    let near = functions::bitwise_and(&functions::isfinite(&actual)?, &functions::le(&actual, &allowed)?)?;
    functions::bitwise_or_(&mut close, &near)?;
    Ok(close)
}

fn check_close(this: DType, other: DType, rtol: f64, atol: f64) -> std::result::Result<(), ErrorKind> {
    if this != other {
        return Err(ErrorKind::ArgumentRule {
            rule: "self and other must have one dtype to be compared; cast one of them",
        });
    }
    // NaN is not refused.
    if rtol < 0.0 || atol < 0.0 {
        return Err(ErrorKind::ArgumentRule { rule: "rtol and atol must not be negative" });
    }
    Ok(())
}

record! { IsinfFn "isinf: x", Any within 0: bool |[_], []| false, int |[_], []| false,
float |[a], []| a.is_infinite(), complex |[a], []| a.re.is_infinite() || a.im.is_infinite() }
record! { IsfiniteFn "isfinite: x", Any within 0: bool |[_], []| true, int |[_], []| true,
float |[a], []| a.is_finite(), complex |[a], []| a.is_finite() }
record! { IsposinfFn "isposinf: x", Any within 0:
bool |[_], []| false, int |[_], []| false, float |[a], []| a == f64::INFINITY }
record! { IsneginfFn "isneginf: x", Any within 0:
bool |[_], []| false, int |[_], []| false, float |[a], []| a == f64::NEG_INFINITY }
record! { NanToNumFn "-: x p p p", Any within 0: float |[a], [n, p, m]| reference::replaced(a, [n, p, m]),
complex |[a], [n, p, m]| reference::c_replaced(a, [n.re, p.re, m.re]) }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::Complex64;

    /// A number, or what stands for it.
    pub(super) fn replaced(x: f64, [nan, positive, negative]: [f64; 3]) -> f64 {
        match x {
            _ if x.is_nan() => nan,
            f64::INFINITY => positive,
            f64::NEG_INFINITY => negative,
            _ => x,
        }
    }

    /// The same of either part.
    pub(super) fn c_replaced(z: Complex64, by: [f64; 3]) -> Complex64 {
        Complex64::new(replaced(z.re, by), replaced(z.im, by))
    }
}

native! {
    family: Classification, functions: crate::Kernels + crate::fill::Fills;

    /// Whether each element is NaN.
    ///
    /// The result is bool, and false for integers. A complex number is NaN where a part of it is.
    ///
    /// ```
    /// let x = tensor![1.0f32, f32::NAN];
    /// assert_eq!(x.isnan()?.to_vec::<bool>()?, [false, true]);
    /// ```
    func: isnan(Tensor self) -> Tensor,
    autogen: isnan.out, variants: function, method, operator: Isnan;

    /// Whether each element is infinite.
    ///
    /// The result is bool, and false for integers. A complex number is infinite where a part of it is.
    ///
    /// ```
    /// let x = tensor![1.0f32, f32::INFINITY];
    /// assert_eq!(x.isinf()?.to_vec::<bool>()?, [false, true]);
    /// ```
    func: isinf(Tensor self) -> Tensor,
    autogen: isinf.out, variants: function, method, structured: Pointwise<IsinfFn>;

    /// Whether each element is finite, which neither infinities nor NaN are.
    ///
    /// The result is bool, and true for integers.
    ///
    /// ```
    /// let x = tensor![1.0f32, f32::INFINITY, f32::NAN];
    /// assert_eq!(x.isfinite()?.to_vec::<bool>()?, [true, false, false]);
    /// ```
    func: isfinite(Tensor self) -> Tensor,
    variants: function, method, structured: Pointwise<IsfiniteFn>;

    /// Whether each element is ∞.
    ///
    /// The result is bool. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![1.0f32, f32::INFINITY];
    /// assert_eq!(x.isposinf()?.to_vec::<bool>()?, [false, true]);
    /// ```
    func: isposinf(Tensor self) -> Tensor,
    out: isposinf.out, variants: function, method, structured: Pointwise<IsposinfFn>;

    /// Whether each element is -∞.
    ///
    /// The result is bool. Complex numbers are an error.
    ///
    /// ```
    /// let x = tensor![-f32::INFINITY, f32::INFINITY];
    /// assert_eq!(x.isneginf()?.to_vec::<bool>()?, [true, false]);
    /// ```
    func: isneginf(Tensor self) -> Tensor,
    out: isneginf.out, variants: function, method, structured: Pointwise<IsneginfFn>;

    /// Whether each element is real: the imaginary part is 0.
    ///
    /// The result is bool, and true for real dtypes.
    ///
    /// ```
    /// use monomorph::Complex32;
    /// let z = tensor![Complex32::new(1.0, 0.0), Complex32::new(0.0, 1.0)];
    /// assert_eq!(z.isreal()?.to_vec::<bool>()?, [true, false]);
    /// ```
    func: isreal(Tensor self) -> Tensor,
    variants: function, kernel: isreal;

    /// Whether elements are close: `|self - other| ≤ atol + rtol · |other|`, elementwise.
    ///
    /// The operands broadcast and have the same dtype; the result is bool. Equal infinities are close. NaN is close to
    /// NaN only with `equal_nan`.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// assert_eq!(x.isclose(&tensor![1.000001f32, 2.1])?.to_vec::<bool>()?, [true, false]);
    /// ```
    func: isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor,
    variants: function, kernel: isclose;

    /// Replaces NaN by `nan`, 0 by default, and infinities by `posinf` and `neginf`, elementwise.
    ///
    /// By default these are the largest and the smallest finite number of the dtype, which stays.
    ///
    /// ```
    /// let x = tensor![f32::NAN, f32::INFINITY];
    /// assert_eq!(x.nan_to_num()?.to_vec::<f32>()?, [0.0, f32::MAX]);
    /// let to_9 = NanToNum { posinf: Some(9.0), ..Default::default() };
    /// assert_eq!(x.nan_to_num_with(to_9)?.to_vec::<f32>()?, [0.0, 9.0]);
    /// ```
    func: nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor,
    inplace: nan_to_num_, out: nan_to_num.out, variants: function, method, operator: NanToNum;

    structured: Pointwise<NanToNumFn>;
}
