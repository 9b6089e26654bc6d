//! The control: what the other cases get wrong, right. It builds, so they fail for their own reasons.
use monomorph::algebra::Value;
use monomorph::crates::core::structured::{Functional, Operator};
use monomorph::crates::ops::reduce::{self, Fold, Here, NoIdentity, Reduce, ReduceRule, Takes, reduction};
use monomorph::pointwise::*;
use monomorph::prelude::*;

pointwise! { Larger "larger": Ordered, Same<2>; Number => Common; Rule::BINARY }
impl<V: monomorph::algebra::Ordered> Map<V> for Larger {
    fn eval([x, y]: [V; 2], _: V) -> V {
        V::select(x.lt(y), y, x)
    }
}
monomorph::operators! {
    family: Mine;

    func: my::larger(Tensor self, Tensor other, Scalar scale) -> Tensor,
    inplace: my::larger_, out: my::larger.out, variants: function, method, structured: Pointwise<Larger>;
}

reduction! { Largest "largest": Ordered, Common, NoIdentity => Common; ReduceRule::OWN }
impl Takes<reduce::Whole> for Largest {}
impl<V: monomorph::algebra::Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for Largest {
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

fn main() -> monomorph::Result<()> {
    let mut a = Tensor::<Cpu>::from_slice(&[1.0f32], [1])?;
    let b = a.add(&a)?.larger(&a, 1)?;
    a.add_(&b)?;
    Reduce::<Largest, Here>::call((&a,), Functional::<Cpu, 1>::default())?;
    Ok(())
}
