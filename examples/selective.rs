//! A program with three operators: it registers what it calls, and nothing else of the table is linked. Owns a
//! dispatcher of its own; the shared one, which has everything, is not touched.
//!
//! `cargo run --profile small --example selective`

use monomorph::{Cpu, Dispatcher, IValue, Result, Stack, Tensor};

fn main() -> Result<()> {
    let dispatcher = Dispatcher::new();
    let mut library = dispatcher.library("aten");
    monomorph::register!(&mut library => "add.Tensor", "mul.Tensor", "relu")?;

    let x = Tensor::<Cpu>::from_slice(&[-1.5f32, 0.5, 2.0], [3])?;
    let mut stack: Stack = vec![x.clone().into(), x.into()];
    dispatcher.call("mul.Tensor", &mut stack)?;
    stack.push(IValue::from(Tensor::<Cpu>::from_slice(&[-1.0f32], [1])?));
    dispatcher.call("add.Tensor", &mut stack)?;
    dispatcher.call("relu", &mut stack)?;
    let IValue::Tensor(y) = &stack[0] else { unreachable!("the schema returns a tensor") };
    println!("relu(x · x - 1) = {:?}", y.to_vec::<f32>()?);
    assert_eq!(y.to_vec::<f32>()?, [1.25, 0.0, 3.0]);

    match dispatcher.find("exp") {
        Ok(_) => unreachable!("it has not been registered"),
        Err(missing) => println!("error: {missing}"),
    }
    Ok(())
}
