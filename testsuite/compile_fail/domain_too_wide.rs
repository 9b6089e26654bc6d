//! A domain with complex dtypes for a formula that needs an order.
use monomorph::pointwise::*;

pointwise! { Larger "larger": AllDTypes, Same<2>; () => Common; Rule::BINARY }
impl<V: monomorph::algebra::Ordered> Map<V> for Larger {
    fn eval([x, y]: [V; 2], (): ()) -> V {
        V::select(x.lt(y), y, x)
    }
}

fn main() {}
