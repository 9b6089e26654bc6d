//! Angles: sine, cosine, tangent, their inverses, atan2, angle, and sinc. Arguments of any size are reduced exactly.

use crate::algebra::{Coordinate, Trigonometric, TrueDivision, Value};
use crate::pointwise::{Common, FloatComplex, Magnitude, Map, Reals, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use std::f64::consts::PI;

pointwise! { SinFn "sin": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Trigonometric> Map<V> for SinFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.sin()
    }
}

pointwise! { CosFn "cos": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Trigonometric> Map<V> for CosFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.cos()
    }
}

pointwise! { TanFn "tan": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Trigonometric> Map<V> for TanFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.tan()
    }
}

pointwise! { AsinFn "asin": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Trigonometric> Map<V> for AsinFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.asin()
    }
}

pointwise! { AcosFn "acos": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Trigonometric> Map<V> for AcosFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.acos()
    }
}

pointwise! { AtanFn "atan": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Trigonometric> Map<V> for AtanFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.atan()
    }
}

pointwise! { Atan2Fn "atan2": Reals, Same<2>; () => Common; Rule::BINARY_FLOAT }
impl<V: Coordinate> Map<V> for Atan2Fn {
    #[inline(always)]
    fn eval([y, x]: [V; 2], (): ()) -> V {
        y.atan2(x)
    }
}

pointwise! { AngleFn "angle": FloatComplex, Same<1>; () => Magnitude; Rule::UNARY_FLOAT }
impl<V: Trigonometric> Map<V> for AngleFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Re {
        a.angle()
    }
}

pointwise! { SincFn "sinc": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl SincFn {
    /// sin(πx) / (πx), and 1 at zero, by this sine.
    #[inline(always)]
    pub fn with_sine<V: Value + TrueDivision>(x: V, sine: impl FnOnce(V) -> V) -> V {
        let turned = V::from_f64(PI) * x;
        V::select(x.truth(), sine(turned) / turned, V::one())
    }
}
impl<V: Trigonometric + TrueDivision> Map<V> for SincFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        SincFn::with_sine(a, V::sin)
    }
}

record! { SinFn "sin: x", Any within 4: float |[a], []| a.sin(), complex |[a], []| a.sin() }
record! { CosFn "cos: x", Any within 4: float |[a], []| a.cos(), complex |[a], []| a.cos() }
record! { TanFn "tan: x", Any within 4: float |[a], []| a.tan(), complex |[a], []| a.tan() }
record! { AsinFn "asin: x", Any within 64:
float |[a], []| a.asin(), complex |[a], []| record::im_signed(a.asin(), a.im) }
record! { AcosFn "acos: x", Any within 64:
float |[a], []| a.acos(), complex |[a], []| record::im_signed(a.acos(), -a.im) }
record! { AtanFn "atan: x", Any within 4:
float |[a], []| a.atan(), complex |[a], []| record::re_signed(a.atan(), a.re) }
record! { Atan2Fn "atan2: x x", Any within 4: float |[y, x], []| y.atan2(x) }
record! { AngleFn "angle: x", Any within 4:
float |[a], []| if a < 0.0 { PI } else if a.is_nan() { a } else { 0.0 }, complex |[a], []| a.im.atan2(a.re) }
record! { SincFn "sinc: x", Any within 4, of dtype:
float |[a], []| reference::sinc(dtype, a), complex |[a], []| reference::c_sinc(dtype, a) }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::{Complex64, DType};
    use std::f64::consts::PI;

    /// πx, which float32 rounds, as PyTorch does: next to whole numbers that decides about the sine.
    fn turned(dtype: DType, x: f64) -> f64 {
        let wide = dtype.to_real() == DType::F64;
        let round = |x: f64| if wide { x } else { f64::from(x as f32) };
        round(round(PI) * x)
    }

    pub(super) fn sinc(dtype: DType, a: f64) -> f64 {
        let x = turned(dtype, a);
        if a == 0.0 { 1.0 } else { x.sin() / x }
    }

    pub(super) fn c_sinc(dtype: DType, a: Complex64) -> Complex64 {
        let x = Complex64::new(turned(dtype, a.re), turned(dtype, a.im));
        if a == Complex64::ZERO { Complex64::ONE } else { x.sin() / x }
    }
}

native! {
    family: Trigonometric;

    /// The sine elementwise, of angles in radians.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0f32, -0.0];
    /// assert_eq!(x.sin()?.to_vec::<f32>()?, [0.0, -0.0]);
    /// ```
    func: sin(Tensor self) -> Tensor,
    inplace: sin_, out: sin.out, variants: function, method, structured: Pointwise<SinFn>;

    /// The cosine elementwise, of angles in radians.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0.0, std::f64::consts::PI].cos()?.to_vec::<f64>()?, [1.0, -1.0]);
    /// ```
    func: cos(Tensor self) -> Tensor,
    inplace: cos_, out: cos.out, variants: function, method, structured: Pointwise<CosFn>;

    /// The tangent elementwise, of angles in radians.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0f32, -0.0];
    /// assert_eq!(x.tan()?.to_vec::<f32>()?, [0.0, -0.0]);
    /// ```
    func: tan(Tensor self) -> Tensor,
    inplace: tan_, out: tan.out, variants: function, method, structured: Pointwise<TanFn>;

    /// The inverse of the sine elementwise: from -π/2 to π/2.
    ///
    /// Integers and bool give float32. Beyond -1 and 1 it is NaN.
    ///
    /// ```
    /// assert_eq!(tensor![0, 1].asin()?.to_vec::<f32>()?, [0.0, std::f32::consts::FRAC_PI_2]);
    /// ```
    func: asin(Tensor self) -> Tensor,
    inplace: asin_, out: asin.out, variants: function, method, structured: Pointwise<AsinFn>;

    /// The inverse of the cosine elementwise: from 0 to π.
    ///
    /// Integers and bool give float32. Beyond -1 and 1 it is NaN.
    ///
    /// ```
    /// assert_eq!(tensor![1, -1].acos()?.to_vec::<f32>()?, [0.0, std::f32::consts::PI]);
    /// ```
    func: acos(Tensor self) -> Tensor,
    inplace: acos_, out: acos.out, variants: function, method, structured: Pointwise<AcosFn>;

    /// The inverse of the tangent elementwise: from -π/2 to π/2.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0, 1.0];
    /// assert_eq!(x.atan()?.to_vec::<f64>()?, [0.0, std::f64::consts::FRAC_PI_4]);
    /// ```
    func: atan(Tensor self) -> Tensor,
    inplace: atan_, out: atan.out, variants: function, method, structured: Pointwise<AtanFn>;

    /// [`asin`](super::functions::asin) under another name.
    func: arcsin(Tensor self) -> Tensor,
    inplace: arcsin_, out: arcsin.out, variants: function, method, structured: Pointwise<AsinFn>;

    /// [`acos`](super::functions::acos) under another name.
    func: arccos(Tensor self) -> Tensor,
    inplace: arccos_, out: arccos.out, variants: function, method, structured: Pointwise<AcosFn>;

    /// [`atan`](super::functions::atan) under another name.
    func: arctan(Tensor self) -> Tensor,
    inplace: arctan_, out: arctan.out, variants: function, method, structured: Pointwise<AtanFn>;

    /// The angle of the point whose ordinate is `self` and whose abscissa is `other`, elementwise: from -π to π.
    ///
    /// The operands broadcast; integers and bool give float32. Complex numbers are an error.
    ///
    /// ```
    /// let (y, x) = (tensor![0.0f32, 1.0], tensor![-1.0f32, 0.0]);
    /// assert_eq!(y.atan2(&x)?.to_vec::<f32>()?, [std::f32::consts::PI, std::f32::consts::FRAC_PI_2]);
    /// ```
    func: atan2(Tensor self, Tensor other) -> Tensor,
    inplace: atan2_, out: atan2.out, variants: function, method, structured: Pointwise<Atan2Fn>;

    /// [`atan2`](super::functions::atan2) under another name.
    func: arctan2(Tensor self, Tensor other) -> Tensor,
    inplace: arctan2_, out: arctan2.out, variants: function, method, structured: Pointwise<Atan2Fn>;

    /// The angle of complex numbers in radians, elementwise; of real ones 0, or π where they are negative.
    ///
    /// Complex numbers give the dtype of their parts, integers and bool float32. NaN stays.
    ///
    /// ```
    /// assert_eq!(tensor![2.0f32, -2.0].angle()?.to_vec::<f32>()?, [0.0, std::f32::consts::PI]);
    /// ```
    func: angle(Tensor self) -> Tensor,
    out: angle.out, variants: function, method, structured: Pointwise<AngleFn>;

    /// The normalised cardinal sine elementwise: `sin(π · self) / (π · self)`, 1 of 0.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].sinc()?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: sinc(Tensor self) -> Tensor,
    inplace: sinc_, out: sinc.out, variants: function, method, structured: Pointwise<SincFn>;

    /// [`sinc`](super::functions::sinc) under another name.
    func: special_sinc(Tensor self) -> Tensor,
    out: special_sinc.out, variants: function, method, structured: Pointwise<SincFn>;
}
