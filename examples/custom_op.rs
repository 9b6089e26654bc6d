//! An operator of one's own: a formula and a row, and it has every form that the library's operators have. Owns no
//! kernel and no unsafe code.
//!
//! `cargo run --release --example custom_op`

use monomorph::crates::core::structured::prepare;
use monomorph::prelude::*;
use monomorph::{IValue, Result, Stack};

// The whole operator: alpha · x + y over every dtype but bool.
use monomorph::algebra::Num;
use monomorph::pointwise::*;
pointwise! { Axpy "axpy": Numeric, Same<2>; Number => Common; Rule::BINARY }
impl<V: Num> Map<V> for Axpy {
    #[inline(always)]
    fn eval([x, y]: [V; 2], alpha: V) -> V {
        alpha * x + y
    }
}
monomorph::operators! {
    family: Mine;

    func: my::axpy(Tensor self, Tensor other, Scalar alpha) -> Tensor,
    inplace: my::axpy_, out: my::axpy.out, variants: function, method, structured: Pointwise<Axpy>;
}

fn main() -> Result<()> {
    let x = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    let y = Tensor::<Cpu>::from_slice(&[10i32, 20, 30], [3])?;
    let want = [12.0, 24.0, 36.0, 18.0, 30.0, 42.0];

    // Functional, as a method and as a function: y is broadcast and promoted.
    let z = x.axpy(&y, 2)?;
    assert_eq!(z.to_vec::<f32>()?, want);
    assert_eq!(axpy(&x, &y, 2)?.to_vec::<f32>()?, want);
    println!("functional\n{z}");

    // out=: the caller's tensor, resized.
    let mut out = Tensor::<Cpu>::from_slice(&[0.0f64; 0], [0])?;
    axpy_out(&x, &y, 2, &mut out)?;
    assert_eq!(out.to_vec::<f64>()?, want.map(f64::from));
    println!("out=\n{out}");

    // In place.
    let mut w = x.deep_clone()?;
    w.axpy_(&y, 2)?;
    assert_eq!(w.to_vec::<f32>()?, want);
    println!("in place\n{w}");

    // Shapes only.
    let dry = meta::axpy(&x, &y, 2)?;
    println!("meta: {:?} {}", dry.sizes(), dry.dtype());
    assert_eq!((dry.sizes(), dry.dtype()), (z.sizes(), z.dtype()));

    // Checked once, then run as often as wanted.
    let inputs = PointwiseInputs::new((&x, &y, 2.into()))?;
    let mut steady = x.axpy(&y, 0)?;
    let mut prepared = prepare::<Pointwise<Axpy>, Cpu, 1>(&inputs, [&mut steady])?;
    prepared.run()?;
    drop(prepared);
    assert_eq!(steady.to_vec::<f32>()?, want);
    println!("prepared\n{steady}");

    // By name.
    let mut library = monomorph::dispatcher().library("my");
    register(&mut library)?;
    let mut stack: Stack = vec![x.into(), y.into(), IValue::Int(2)];
    monomorph::call("my::axpy", &mut stack)?;
    let IValue::Tensor(named) = &stack[0] else { unreachable!("the schema returns a tensor") };
    assert_eq!(named.to_vec::<f32>()?, want);
    println!("by name: {}", monomorph::dispatcher().find("my::axpy")?.schema()?);

    // Errors are those of every operator.
    let error = z.axpy(&Tensor::<Cpu>::from_slice(&[1.0f32; 4], [4])?, 1).unwrap_err();
    println!("error: {error}");
    Ok(())
}
