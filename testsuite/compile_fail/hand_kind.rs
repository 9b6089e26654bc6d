//! A row of a function written by hand that takes another kind of argument.
use monomorph::core::{Device, Result, Tensor};

fn twice<D: Device>(x: &Tensor<D>, _times: i64) -> Result<Tensor<D>> {
    Ok(x.clone())
}

monomorph::operators! {
    { [my::twice] (Tensor self, bool times) -> (Tensor) : hand (twice) { functional twice; } }
}

fn main() {}
