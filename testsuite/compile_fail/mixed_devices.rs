//! A tensor of another device type among the operands of a typed call.
use monomorph::{Cpu, Meta, Tensor, add};

fn sum(a: &Tensor<Cpu>, shape: &Tensor<Meta>) -> monomorph::Result<Tensor<Cpu>> {
    a.add(shape)
}

fn main() {
    let _ = sum;
}
