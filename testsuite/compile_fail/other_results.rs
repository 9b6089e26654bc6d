//! A fold that gives two results where its declaration, by which outputs are allocated, says one.
use monomorph::algebra::{Ordered, Value};
use monomorph::crates::ops::reduce::*;
use monomorph::pointwise::{self, Common};

reduction! { Largest "largest": pointwise::Ordered, Common, NoIdentity => Common; ReduceRule::OWN }
impl<V: Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for Largest {
    fn one(x: V, _: X) -> V {
        x
    }
    fn merge(a: V, b: V) -> V {
        a.maximum(b)
    }
    fn finish(acc: V, _: X) -> (V, V) {
        (acc, acc)
    }
    fn identity() {}
}

fn main() {}
