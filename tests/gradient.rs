//! A gradient is a row like others: typed in every form, and by name.

use monomorph::algebra::{Hyperbolic, Real};
use monomorph::pointwise::*;
use monomorph::prelude::*;
use monomorph::{Result, Stack};

pointwise! { Swish "my_swish": Reals, Same<1>; Number => Common; Rule::UNARY }
impl<V: Real + Hyperbolic> Map<V> for Swish {
    #[inline(always)]
    fn eval([x]: [V; 1], beta: V) -> V {
        x * (beta * x).sigmoid()
    }
}
pointwise! { Product "my_product": Reals, Same<2>; () => Common; Rule::BINARY }
impl<V: Real> Map<V> for Product {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a * b * b
    }
}
monomorph::operators! {
    family: Gradients;

    func: my::swish(Tensor self, Scalar beta) -> Tensor,
    inplace: my::swish_, variants: function, method, structured: Pointwise<Swish>;

    func: my::swish_backward(Tensor self, Tensor grad, Scalar beta) -> Tensor,
    out: my::swish_backward.out, variants: function, method, structured: Pointwise<Gradient<Swish, 0>>;

    func: my::product_backward(Tensor self, Tensor other, Tensor grad) -> Tensor,
    variants: function, method, structured: Pointwise<Gradient<Product, 1>>;
}

#[test]
fn a_gradient_is_a_row() -> Result<()> {
    let (x, grad) = (tensor![-2.0f64, -0.5, 0.0, 1.5], tensor![1.0f64, 2.0, 3.0, -1.0]);
    let slope = x.swish_backward(&grad, 1.5)?.to_vec::<f64>()?;
    for (i, (&x, &grad)) in x.to_vec::<f64>()?.iter().zip(&grad.to_vec::<f64>()?).enumerate() {
        let s = 1.0 / (1.0 + (-1.5 * x).exp());
        let want = grad * (s + 1.5 * x * s * (1.0 - s));
        assert!((slope[i] - want).abs() < 1e-14, "{} and {want}", slope[i]);
    }
    let mut out = x.deep_clone()?;
    swish_backward_out(&x, &grad, 1.5, &mut out)?;
    assert_eq!(out.to_vec::<f64>()?, slope);
    assert_eq!(meta::swish_backward(&x, &grad, 1.5)?.sizes(), [4]);
    let dispatcher = monomorph::Dispatcher::new();
    let mut library = dispatcher.library("my");
    register(&mut library)?;
    let mut stack: Stack = vec![x.clone().into(), grad.clone().into(), 1.5.into()];
    dispatcher.call("my::swish_backward", &mut stack)?;
    let named = stack.pop().and_then(monomorph::IValue::into_tensor).and_then(|t| t.downcast::<Cpu>());
    assert_eq!(named.expect("a tensor on the CPU").to_vec::<f64>()?, slope);
    // The second operand's: 2ab.
    let got = x.product_backward(&grad, &x)?.to_vec::<f64>()?;
    let want: Vec<f64> = x.to_vec::<f64>()?.iter().zip(grad.to_vec::<f64>()?).map(|(x, b)| 2.0 * x * b * x).collect();
    assert_eq!(got, want);
    Ok(())
}
