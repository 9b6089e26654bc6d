//! Results of one's own, by which a device would write what it did not allocate.
use monomorph::algebra::Value;
use monomorph::crates::ops::reduce::*;

struct Pairs;
impl Results for Pairs {
    const KINDS: &'static [ResultKind] = &[ResultKind::Truth];
    type Of<V: Value, X: Value<Mask = V::Mask>> = (V, V);
}

fn main() {}
