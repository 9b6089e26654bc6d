//! A row with an argument without a default behind one with a default.
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

    func: my::axpy(Tensor self, Tensor other=[], Scalar alpha) -> Tensor,
    variants: function, method, structured: Pointwise<Axpy>;
}

fn main() {}
