//! Operators fused into one: relu(a · b + c) in one pass over memory, with every form that an operator has and the bits
//! that the operators give in turn; and squared distances, whose differences are never in memory. Owns a formula for
//! squares, and no unsafe code.
//!
//! `cargo run --release --example fused`

use monomorph::algebra::Num;
use monomorph::crates::ops::arithmetic::{AddFn, MulFn, SubFn};
use monomorph::crates::ops::piecewise::ReluFn;
use monomorph::crates::ops::reduce::{DimsDtype, Sum, ThenReduce};
use monomorph::pointwise::{Common, Here, Map, Numeric, Pointwise, Rule, Same, Then, pointwise};
use monomorph::{
    Cpu, Result, Tensor,
    crates::ops::Op,
    ops::{add, mul, relu, square, sub, sum},
};
use std::time::Instant;

// The arguments are the operands of each operator, but those that come from the one before; then their parameters.
type MulAddRelu = Then<Then<Op<MulFn>, Op<AddFn>>, Op<ReluFn>>;

pointwise! { SquareFn "square": Numeric, Same<1>; () => Common; Rule::UNARY }
impl<V: Num> Map<V> for SquareFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        a * a
    }
}
// Behind them those of a reduction: the operands of sub, its alpha, and what sum takes.
type SquaredDistance = ThenReduce<Then<Op<SubFn>, Pointwise<SquareFn, Here>>, Sum, DimsDtype>;
monomorph::operators! {
    family: Mine;

    func: my::mul_add_relu(Tensor self, Tensor other, Tensor third, Scalar alpha) -> Tensor,
    inplace: my::mul_add_relu_, out: my::mul_add_relu.out, variants: function, method, operator: MulAddRelu;

    func: my::squared_distance(Tensor self, Tensor other, Scalar alpha, int[1]? dim, bool keepdim,
        ScalarType? dtype) -> Tensor,
    out: my::squared_distance.out, variants: function, operator: SquaredDistance;
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

    // Distances of 100,000 points to 16 centres: 25.6 million differences, of which 64 KiB at a time are in a cache.
    let points = Tensor::<Cpu>::from_slice(&numbers[..1_600_000], [100_000, 1, 16])?;
    let centres = Tensor::<Cpu>::from_slice(&numbers[5..261], [1, 16, 16])?;
    for _ in 0..3 {
        let start = Instant::now();
        let fused = squared_distance(&points, &centres, 1, -1, false, None)?;
        let one_pass = start.elapsed();
        let start = Instant::now();
        let turns = sum(&square(&sub(&points, &centres)?)?, -1)?;
        println!("distances {one_pass:?}, in turn {:?}", start.elapsed());
        assert_eq!(fused.to_vec::<f32>()?, turns.to_vec::<f32>()?);
    }

    let error = mul_add_relu(&a, &row, &integers, 1).unwrap_err();
    println!("error: {error}");
    Ok(())
}
