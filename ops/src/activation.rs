//! Activations of neural networks: relu, gelu.

use crate::algebra::{Gaussian, Num, Ordered as HasOrder};
use crate::kernels::Activation;
use crate::pointwise::{Common, Map, Real, Reals, Rule, Same, pointwise, run};
use crate::record::{normal_probability, record};
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{Error, ErrorKind, Result};

pointwise! { ReluFn "relu": Real, Same<1>; () => Common; Rule::UNARY, light = true }
impl<V: Num + HasOrder> Map<V> for ReluFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        // NaN and -0 stay.
        V::select(a.lt(V::zero()), V::zero(), a)
    }
}

pointwise! { GeluFn "gelu": Reals, Same<1>; () => Common; Rule::UNARY, halves_as_f32 = true }
impl<V: Gaussian> Map<V> for GeluFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.gelu()
    }
}

pointwise! { GeluTanhFn "gelu": Reals, Same<1>; () => Common; Rule::UNARY, halves_as_f32 = true }
impl<V: Gaussian> Map<V> for GeluTanhFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a.gelu_tanh()
    }
}

/// `gelu`, exact or approximated.
pub struct Gelu;

impl<'t, D: Activation, A: Into<Operand<'t>>> Operator<'t, D, (A, &'t str)> for Gelu {
    fn call<S: ValueSink<'t, D>>((a, approximate): (A, &'t str), sink: S) -> Result<S::Value> {
        match approximate {
            "none" => run::<GeluFn, D, _, S>((a,), sink),
            "tanh" => run::<GeluTanhFn, D, _, S>((a,), sink),
            other => {
                let accepted = "\"none\" (exact) and \"tanh\" (the approximation)";
                let error = ErrorKind::UnknownOption { arg: "approximate", got: other.to_owned(), accepted };
                Err(Error::new(error).of("gelu"))
            }
        }
    }
}

record! { ReluFn "relu: x", Any within 0:
int |[a], []| a.max(0), float |[a], []| if a < 0.0 { 0.0 } else { a } }
record! { GeluFn "gelu: x none", Any within 64: float |[a], []| a * normal_probability(a) }
record! { GeluTanhFn "gelu: x tanh", Any within 1024: float |[a], []| {
    let scaled = 1.595_769_121_605_730_8 * (a + 0.044_715 * a * a * a);
    let small = (-scaled.abs()).exp();
    if scaled < 0.0 { a * (small / (1.0 + small)) } else { a / (1.0 + small) }
} }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __activation_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [relu] (Tensor self) -> (Tensor) : formula ($crate::activation::ReluFn) {
            functional relu; inplace relu_ [relu_]; autoout - [relu.out];
        } }
        { [gelu] (Tensor self, *, str approximate="none") -> (Tensor) : op ($crate::activation::Gelu) {
            functional gelu; inplace gelu_ [gelu_]; out gelu_out [gelu.out]; functional_full gelu_approximate;
            inplace_full gelu_approximate_; out_full gelu_approximate_out;
        } }
        { [] () -> () : formula ($crate::activation::GeluFn) {} }
        { [] () -> () : formula ($crate::activation::GeluTanhFn) {} }
    } };
}
