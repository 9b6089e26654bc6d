//! A declaration without a namespace of an operator that PyTorch does not have.
use monomorph::algebra::Num;
use monomorph::pointwise::*;

pointwise! { Axpy "axpy": Numeric, Same<2>; Number => Common; Rule::BINARY }
impl<V: Num> Map<V> for Axpy {
    fn eval([x, y]: [V; 2], alpha: V) -> V {
        alpha * x + y
    }
}
monomorph::operators! {
    family: Mine;

    func: axpi(Tensor self, Tensor other, Scalar alpha) -> Tensor,
    variants: function, structured: Pointwise<Axpy>;
}

fn main() {}
