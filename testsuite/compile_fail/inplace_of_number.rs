//! A row with an in-place form whose first argument is no tensor.
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

    func: my::axpy(Scalar alpha, Tensor self, Tensor other) -> Tensor,
    inplace: my::axpy_, structured: Pointwise<Axpy>;
}

fn main() {}
