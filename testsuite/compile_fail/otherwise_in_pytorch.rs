//! A declaration of an operator that PyTorch has with other arguments.
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

    func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor,
    variants: function, structured: Pointwise<Axpy>;
}

fn main() {}
