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

    func: sinh(Tensor self) -> Tensor,
    inplace: sinh_, out: sinh.out, variants: function, method, structured: Pointwise<SinhFn>;

    func: cosh(Tensor self) -> Tensor,
    inplace: cosh_, out: cosh.out, variants: function, method, structured: Pointwise<CoshFn>;

    func: asinh(Tensor self) -> Tensor,
    inplace: asinh_, out: asinh.out, variants: function, method, structured: Pointwise<AsinhFn>;

    func: acosh(Tensor self) -> Tensor,
    inplace: acosh_, out: acosh.out, variants: function, method, structured: Pointwise<AcoshFn>;

    func: atanh(Tensor self) -> Tensor,
    inplace: atanh_, out: atanh.out, variants: function, method, structured: Pointwise<AtanhFn>;

    func: arcsinh(Tensor self) -> Tensor,
    inplace: arcsinh_, out: arcsinh.out, variants: function, method, structured: Pointwise<AsinhFn>;

    func: arccosh(Tensor self) -> Tensor,
    inplace: arccosh_, out: arccosh.out, variants: function, method, structured: Pointwise<AcoshFn>;

    func: arctanh(Tensor self) -> Tensor,
    inplace: arctanh_, out: arctanh.out, variants: function, method, structured: Pointwise<AtanhFn>;
}
