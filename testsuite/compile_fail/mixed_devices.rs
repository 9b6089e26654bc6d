//! A tensor of another device type among the operands of a typed call.
use monomorph::prelude::*;

fn sum(a: &Tensor<Cpu>, shape: &Tensor<Meta>) -> monomorph::Result<Tensor<Cpu>> {
    a.add(shape)
}

fn main() {
    let _ = sum;
}
