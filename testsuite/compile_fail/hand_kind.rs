//! A row of a function written by hand that takes another kind of argument.
use monomorph::crates::core::{Device, Result, Tensor};

fn twice<D: Device>(x: &Tensor<D>, _times: i64) -> Result<Tensor<D>> {
    Ok(x.clone())
}

monomorph::operators! {
    family: Mine;

    func: my::twice(Tensor self, bool times) -> Tensor,
    variants: function, kernel: twice;
}

fn main() {}
