//! Operators fused into one: relu(a · b + c) in one pass over memory, with every form that an operator has and the bits
//! that the operators give in turn. Owns no formula and no unsafe code.
//!
//! `cargo run --release --example fused`

use monomorph::crates::ops::arithmetic::{AddFn, MulFn};
use monomorph::crates::ops::piecewise::ReluFn;
use monomorph::pointwise::Then;
use monomorph::{
    Cpu, Result, Tensor,
    crates::ops::Op,
    ops::{add, mul, relu},
};
use std::time::Instant;

// The arguments are the operands of each operator, but those that come from the one before; then their parameters.
type MulAddRelu = Then<Then<Op<MulFn>, Op<AddFn>>, Op<ReluFn>>;
monomorph::operators! {
    family: Mine;

    func: my::mul_add_relu(Tensor self, Tensor other, Tensor third, Scalar alpha) -> Tensor,
    inplace: my::mul_add_relu_, out: my::mul_add_relu.out, variants: function, method, operator: MulAddRelu;
}

fn main() -> Result<()> {
    let numbers: Vec<f32> = (0..1 << 22).map(|i| (i % 1000) as f32 * 1e-3).collect();
    let a = Tensor::<Cpu>::from_slice(&numbers, [2048, 2048])?;
    let row = Tensor::<Cpu>::from_slice(&numbers[..2048], [2048])?;

    let fused = mul_add_relu(&a, &row, &a, 1)?;
    let turns = relu(&add(&mul(&a, &row)?, &a)?)?;
    assert_eq!(fused.to_vec::<f32>()?, turns.to_vec::<f32>()?);

    // Other dtypes promote as they do in turn: int32 · float32 is float32, and float64 makes the sum and all behind it
    // that.
    let integers = Tensor::<Cpu>::from_slice(&[1i32, 2, 3], [3])?;
    let (single, double) =
        (Tensor::<Cpu>::from_slice(&[0.1f32; 3], [3])?, Tensor::<Cpu>::from_slice(&[0.1f64; 3], [3])?);
    let mixed = mul_add_relu(&integers, &single, &double, 1)?;
    assert_eq!(mixed.to_vec::<f64>()?, relu(&add(&mul(&integers, &single)?, &double)?)?.to_vec::<f64>()?);
    println!("{mixed}");

    let mut out = turns;
    let start = Instant::now();
    mul_add_relu_out(&a, &row, &a, 1, &mut out)?;
    println!("fused {:?}", start.elapsed());
    let start = Instant::now();
    out = relu(&add(&mul(&a, &row)?, &a)?)?;
    println!("in turn {:?}", start.elapsed());
    drop(out);

    let error = mul_add_relu(&a, &row, &integers, 1).unwrap_err();
    println!("error: {error}");
    Ok(())
}
