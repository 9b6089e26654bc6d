//! Exponentials: exp.

use crate::algebra::Exponential;
use crate::pointwise::{Common, FloatComplex, Map, Rule, Same, pointwise};

pointwise! { ExpFn "exp": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Exponential> Map<V> for ExpFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.exp()
    }
}
