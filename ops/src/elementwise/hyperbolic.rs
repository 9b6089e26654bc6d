//! The hyperbolic functions besides tanh, which is with the exponentials, and their inverses.

use crate::algebra::Hyperbolic;
use crate::pointwise::{Common, FloatComplex, Map, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;

pointwise! { SinhFn "sinh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Hyperbolic> Map<V> for SinhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.sinh()
    }
}

pointwise! { CoshFn "cosh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Hyperbolic> Map<V> for CoshFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.cosh()
    }
}

pointwise! { AsinhFn "asinh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Hyperbolic> Map<V> for AsinhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.asinh()
    }
}

pointwise! { AcoshFn "acosh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Hyperbolic> Map<V> for AcoshFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.acosh()
    }
}

pointwise! { AtanhFn "atanh": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Hyperbolic> Map<V> for AtanhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.atanh()
    }
}

record! { SinhFn "sinh: x", Any within 4: float |[a], []| a.sinh(), complex |[a], []| a.sinh() }
record! { CoshFn "cosh: x", Any within 4: float |[a], []| a.cosh(), complex |[a], []| a.cosh() }
record! { AsinhFn "asinh: x", Any within 64:
float |[a], []| a.asinh(), complex |[a], []| record::re_signed(a.asinh(), a.re) }
record! { AcoshFn "acosh: x", Any within 64: float |[a], []| a.acosh(),
complex |[a], []| record::re_signed(record::im_signed(a.acosh(), a.im), 1.0) }
record! { AtanhFn "atanh: x", Any within 4:
float |[a], []| a.atanh(), complex |[a], []| record::im_signed(a.atanh(), a.im) }

native! {
    family: Hyperbolic;

    /// The hyperbolic sine elementwise: `(e^self - e^-self) / 2`.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].sinh()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: sinh(Tensor self) -> Tensor,
    inplace: sinh_, out: sinh.out, variants: function, method, structured: Pointwise<SinhFn>;

    /// The hyperbolic cosine elementwise: `(e^self + e^-self) / 2`.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].cosh()?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: cosh(Tensor self) -> Tensor,
    inplace: cosh_, out: cosh.out, variants: function, method, structured: Pointwise<CoshFn>;

    /// The inverse of the hyperbolic sine elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].asinh()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: asinh(Tensor self) -> Tensor,
    inplace: asinh_, out: asinh.out, variants: function, method, structured: Pointwise<AsinhFn>;

    /// The inverse of the hyperbolic cosine elementwise, not negative.
    ///
    /// Integers and bool give float32. Below 1 it is NaN.
    ///
    /// ```
    /// assert_eq!(tensor![1].acosh()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: acosh(Tensor self) -> Tensor,
    inplace: acosh_, out: acosh.out, variants: function, method, structured: Pointwise<AcoshFn>;

    /// The inverse of the hyperbolic tangent elementwise.
    ///
    /// Integers and bool give float32. Of 1 it is infinite, beyond -1 and 1 NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1.0];
    /// assert_eq!(x.atanh()?.to_vec::<f32>()?, [0.0, f32::INFINITY]);
    /// ```
    func: atanh(Tensor self) -> Tensor,
    inplace: atanh_, out: atanh.out, variants: function, method, structured: Pointwise<AtanhFn>;

    /// [`asinh`](super::functions::asinh) under another name.
    func: arcsinh(Tensor self) -> Tensor,
    inplace: arcsinh_, out: arcsinh.out, variants: function, method, structured: Pointwise<AsinhFn>;

    /// [`acosh`](super::functions::acosh) under another name.
    func: arccosh(Tensor self) -> Tensor,
    inplace: arccosh_, out: arccosh.out, variants: function, method, structured: Pointwise<AcoshFn>;

    /// [`atanh`](super::functions::atanh) under another name.
    func: arctanh(Tensor self) -> Tensor,
    inplace: arctanh_, out: arctanh.out, variants: function, method, structured: Pointwise<AtanhFn>;
}
