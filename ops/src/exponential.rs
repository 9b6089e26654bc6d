//! Exponentials: exp.

use crate::algebra::Exponential;
use crate::pointwise::{Common, FloatComplex, Map, Rule, Same, pointwise};
use crate::record::record;

pointwise! { ExpFn "exp": FloatComplex, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Exponential> Map<V> for ExpFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.exp()
    }
}

record! { ExpFn "exp: x", Any within 2: float |[a], []| a.exp(), complex |[a], []| a.exp() }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __exponential_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [exp] (Tensor self) -> (Tensor) : formula ($crate::exponential::ExpFn) {
            functional exp; inplace exp_ [exp_]; out exp_out [exp.out];
        } }
    } };
}
