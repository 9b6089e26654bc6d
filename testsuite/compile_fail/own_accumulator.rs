//! A fold that accumulates in a type of its own, which has no room where devices keep accumulators.
use monomorph::algebra::{Ordered, Value};
use monomorph::crates::ops::reduce::*;
use monomorph::pointwise::{self, Common};

#[derive(Clone, Copy)]
struct Large([u64; 1024]);

reduction! { Largest "largest": pointwise::Ordered, Large, NoIdentity => Common; ReduceRule::OWN }
impl<V: Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for Largest {
    fn one(_: V, _: X) -> Large {
        Large([0; 1024])
    }
    fn merge(a: Large, _: Large) -> Large {
        a
    }
    fn finish(acc: Large, _: X) -> V {
        V::from_i64(acc.0[0] as i64)
    }
    fn identity() {}
}

fn main() {}
