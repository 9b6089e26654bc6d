//! The control: what the other cases get wrong, right. It builds, so they fail for their own reasons.
use monomorph::pointwise::*;
use monomorph::{Cpu, Tensor, add, add_};

pointwise! { Larger "larger": Ordered, Same<2>; Number => Common; Rule::BINARY }
impl<V: monomorph::algebra::Ordered> Map<V> for Larger {
    fn eval([x, y]: [V; 2], _: V) -> V {
        V::select(x.lt(y), y, x)
    }
}
monomorph::operators! {
    { [my::larger] (Tensor self, Tensor other, Scalar scale) -> (Tensor) : formula (Larger) {
        functional larger; inplace larger_ [my::larger_]; out larger_out [my::larger.out];
    } }
}

fn main() -> monomorph::Result<()> {
    let mut a = Tensor::<Cpu>::from_slice(&[1.0f32], &[1])?;
    let b = a.add(&a)?.larger(&a, 1)?;
    a.add_(&b)?;
    Ok(())
}
