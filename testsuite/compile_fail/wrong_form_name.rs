//! A form under a name that PyTorch has for no operator.
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

    func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor,
    out: add.outt, structured: Pointwise<Axpy>;
}

fn main() {}
