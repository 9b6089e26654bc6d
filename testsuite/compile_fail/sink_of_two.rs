//! A sink of two outputs for an operator of one.
use monomorph::crates::core::structured::{Functional, call};
use monomorph::crates::ops::Op;
use monomorph::crates::ops::arithmetic::NegFn;
use monomorph::crates::ops::pointwise::PointwiseInputs;
use monomorph::{Cpu, Tensor};

fn main() -> monomorph::Result<()> {
    let a = Tensor::<Cpu>::from_slice(&[1.0f32], [1])?;
    let inputs = PointwiseInputs::<NegFn>::from_lists(&[(&a).into()], &[])?;
    call::<Op<NegFn>, Cpu, _>(&inputs, Functional::<Cpu, 2>::default())?;
    Ok(())
}
