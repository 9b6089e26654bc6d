//! Prepared calls: run again and again on inputs that are refilled through them.

use monomorph::{Cpu, ErrorKind, Result, Tensor, prepared};

fn tensor(values: &[f32]) -> Tensor<Cpu> {
    Tensor::from_slice(values, [values.len() as i64]).unwrap()
}

#[test]
fn inputs_are_refilled_and_outputs_read_between_runs() -> Result<()> {
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[10.0, 20.0]));
    let mut out = tensor(&[0.0, 0.0]);
    let mut sum = prepared::add(&a, &b, 1, &mut out)?;
    sum.run()?;
    assert_eq!(*sum.output::<f32>(0)?, [11.0, 22.0]);
    for step in 0..3 {
        sum.input_mut::<f32>(0)?.fill(step as f32);
        sum.run()?;
        assert_eq!(*sum.output::<f32>(0)?, [10.0 + step as f32, 20.0 + step as f32]);
    }
    drop(sum);
    assert_eq!(a.to_vec::<f32>()?, [2.0, 2.0]);
    assert_eq!(a.version(), 3, "each refill is a write");
    Ok(())
}

#[test]
fn what_others_read_is_not_refilled() -> Result<()> {
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[10.0, 20.0]));
    let mut out = tensor(&[0.0, 0.0]);
    let mut sum = prepared::add(&a, &b, 1, &mut out)?;
    let reader = a.data::<f32>()?;
    let refused = sum.input_mut::<f32>(0).err().unwrap();
    assert!(matches!(refused.kind(), ErrorKind::Borrowed { state: "read", .. }), "{refused}");
    assert_eq!(*reader, [1.0, 2.0]);
    drop(reader);
    // While it is refilled nobody reads; afterwards it is readable, and nobody writes, as before.
    let guard = sum.input_mut::<f32>(0)?;
    assert!(a.data::<f32>().is_err());
    drop(guard);
    assert!(a.data::<f32>().is_ok());
    assert!(a.clone().data_mut::<f32>().is_err());
    drop(sum);
    assert!(a.clone().data_mut::<f32>().is_ok());
    Ok(())
}

#[test]
fn frozen_inputs_and_wrong_positions_are_errors() -> Result<()> {
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[10.0, 20.0]));
    a.freeze()?;
    let mut out = tensor(&[0.0, 0.0]);
    let mut sum = prepared::add(&a, &b, 1, &mut out)?;
    assert!(matches!(sum.input_mut::<f32>(0).err().unwrap().kind(), ErrorKind::Frozen));
    b.freeze()?;
    assert!(matches!(sum.input_mut::<f32>(1).err().unwrap().kind(), ErrorKind::Frozen));
    assert!(sum.input_mut::<f32>(2).is_err());
    assert!(sum.input_mut::<i32>(1).is_err());
    assert!(sum.output::<f32>(1).is_err());
    sum.run()?;
    assert_eq!(*sum.output::<f32>(0)?, [11.0, 22.0]);
    Ok(())
}

#[test]
fn one_tensor_twice_is_one_storage() -> Result<()> {
    let a = tensor(&[1.0, 2.0]);
    let mut out = tensor(&[0.0, 0.0]);
    let mut sum = prepared::add(&a, &a, 1, &mut out)?;
    sum.input_mut::<f32>(1)?.copy_from_slice(&[3.0, 4.0]);
    sum.run()?;
    assert_eq!(*sum.output::<f32>(0)?, [6.0, 8.0]);
    Ok(())
}
