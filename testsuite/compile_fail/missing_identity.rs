//! A fold that promises a result of no element, and does not give the accumulator that it is made of.
use monomorph::algebra::{Ordered, Value};
use monomorph::crates::ops::reduce::*;
use monomorph::pointwise::{self, Common};

reduction! { Largest "largest": pointwise::Ordered, Common, WithIdentity => Common; ReduceRule::OWN }
impl<V: Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for Largest {
    fn one(x: V, _: X) -> V {
        x
    }
    fn merge(a: V, b: V) -> V {
        a.maximum(b)
    }
    fn finish(acc: V, _: X) -> V {
        acc
    }
    fn identity() {}
}

fn main() {}
