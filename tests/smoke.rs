//! The facade end to end: typed, boxed, by name.
use monomorph::prelude::*;
use monomorph::{IValue, Stack, call, dispatcher};

#[test]
fn typed_and_boxed_agree() {
    let a = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
    let b = Tensor::<Cpu>::from_slice(&[10i32, 20, 30], [3]).unwrap();
    let c = a.add(&b).unwrap();
    assert_eq!(c.to_vec::<f32>().unwrap(), [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    let mut stack: Stack = vec![a.into(), b.into()];
    call("add.Tensor", &mut stack).unwrap();
    let IValue::Tensor(t) = &stack[0] else { panic!("a tensor") };
    assert_eq!(t.to_vec::<f32>().unwrap(), c.to_vec::<f32>().unwrap());
    println!("{}", dispatcher().operators().len());
}

#[test]
fn a_prepared_call_follows_its_operands() {
    let mut a = Tensor::<Cpu>::from_slice(&[1.0f32, 2.0], [2]).unwrap();
    let mut out = Tensor::<Cpu>::from_slice(&[0.0f32; 2], [2]).unwrap();
    {
        let b = a.clone();
        let mut plan = monomorph::prepared::add(&a, &b, 2, &mut out).unwrap();
        plan.run().unwrap();
        plan.run().unwrap();
    }
    assert_eq!(out.to_vec::<f32>().unwrap(), [3.0, 6.0]);
    // The plan's borrow ended with it.
    a.data_mut::<f32>().unwrap()[0] = 5.0;
    let mut both = Tensor::<Cpu>::from_slice(&[0.0f32; 1], [1]).unwrap();
    let mut low = both.clone();
    low = low.deep_clone().unwrap();
    monomorph::prepared::aminmax(&a, None, false, (&mut low, &mut both)).unwrap().run().unwrap();
    assert_eq!((low.to_vec::<f32>().unwrap(), both.to_vec::<f32>().unwrap()), (vec![2.0], vec![5.0]));
}
