//! Operators of the table through handles of the dispatcher: unboxed calls equal typed ones, in every form and for
//! every kind of parameter, on the CPU and on meta tensors.

use monomorph::crates::core::dispatch::{DispatchKey, KernelFunction};
use monomorph::ops::options::*;
use monomorph::{
    AnyTensor, Cpu, DType, DeviceId, Dispatcher, IValue, Result, Scalar, Stack, Tensor, dispatcher,
    ops::{add, amax, aminmax, div_with, exp, sum, where_},
};

fn tensor(values: &[f32]) -> AnyTensor {
    Tensor::<Cpu>::from_slice(values, [values.len() as i64]).unwrap().into_any()
}

fn cpu(t: &AnyTensor) -> &Tensor<Cpu> {
    t.downcast_ref().expect("on the CPU")
}

fn values(t: &AnyTensor) -> Vec<f32> {
    cpu(t).to_vec().unwrap()
}

#[test]
fn functional_forms_equal_typed_calls() {
    let (a, b) = (tensor(&[1.0, -2.0, 7.5]), tensor(&[2.0, 3.0, -2.0]));
    let find = |name| dispatcher().find(name).unwrap();

    let f = find("add.Tensor").typed::<(&AnyTensor, &AnyTensor, Scalar), AnyTensor>().unwrap();
    assert_eq!(values(&f.call((&a, &b, 1.into())).unwrap()), add(cpu(&a), cpu(&b)).unwrap().to_vec::<f32>().unwrap());

    let f = find("div.Tensor_mode").typed::<(&AnyTensor, &AnyTensor, Option<&str>), AnyTensor>().unwrap();
    for mode in [None, Some("floor"), Some("trunc")] {
        let want = div_with(cpu(&a), cpu(&b), Div { rounding_mode: mode, ..Default::default() })
            .unwrap()
            .to_vec::<f32>()
            .unwrap();
        assert_eq!(values(&f.call((&a, &b, mode)).unwrap()), want);
    }

    let f = find("sum.dim_IntList").typed::<(&AnyTensor, Option<&[i64]>, bool, Option<DType>), AnyTensor>().unwrap();
    let got = f.call((&a, Some(&[0]), true, Some(DType::F64))).unwrap();
    assert_eq!((got.sizes(), got.dtype()), (&[1][..], DType::F64));
    assert_eq!(cpu(&got).to_vec::<f64>().unwrap(), [6.5]);
    assert_eq!(values(&f.call((&a, None, false, None)).unwrap()), sum(cpu(&a), ..).unwrap().to_vec::<f32>().unwrap());

    let f = find("amax").typed::<(&AnyTensor, &[i64], bool), AnyTensor>().unwrap();
    assert_eq!(values(&f.call((&a, &[], false)).unwrap()), amax(cpu(&a), ..).unwrap().to_vec::<f32>().unwrap());

    let f = find("aminmax").typed::<(&AnyTensor, Option<i64>, bool), (AnyTensor, AnyTensor)>().unwrap();
    let (min, max) = f.call((&a, None, false)).unwrap();
    let want = aminmax(cpu(&a), ..).unwrap();
    assert_eq!((values(&min), values(&max)), (want.0.to_vec().unwrap(), want.1.to_vec().unwrap()));

    let mask = Tensor::<Cpu>::from_slice(&[true, false, true], [3]).unwrap().into_any();
    let f = find("where.self").typed::<(&AnyTensor, &AnyTensor, &AnyTensor), AnyTensor>().unwrap();
    let want = where_(cpu(&mask), cpu(&a), cpu(&b)).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(values(&f.call((&mask, &a, &b)).unwrap()), want);
}

#[test]
fn in_place_and_out_forms_write_what_they_are_given() {
    let a = tensor(&[0.0, 1.0]);
    let mut x = tensor(&[0.0, 1.0]);
    let storage = x.storage_id();
    let want = exp(cpu(&a)).unwrap().to_vec::<f32>().unwrap();
    let f = dispatcher().find("exp_").unwrap().typed::<(&mut AnyTensor,), ()>().unwrap();
    f.call((&mut x,)).unwrap();
    assert_eq!((values(&x), x.storage_id()), (want.clone(), storage));

    let mut out = tensor(&[]);
    let f = dispatcher().find("exp.out").unwrap().typed::<(&AnyTensor, &mut AnyTensor), ()>().unwrap();
    f.call((&a, &mut out)).unwrap();
    assert_eq!((values(&out), out.sizes()), (want, &[2][..]));

    let (mut min, mut max) = (tensor(&[]), tensor(&[]));
    type Args<'a> = (&'a AnyTensor, Option<i64>, bool, &'a mut AnyTensor, &'a mut AnyTensor);
    let f = dispatcher().find("aminmax.out").unwrap().typed::<Args<'_>, ()>().unwrap();
    f.call((&a, Some(0), true, &mut min, &mut max)).unwrap();
    assert_eq!((values(&min), values(&max)), (vec![0.0], vec![1.0]));
}

#[test]
fn forms_without_a_door_of_their_own_are_called_through_the_boxed_one() {
    let mut x = tensor(&[1.0, 2.0, 3.0, 4.0])
        .with_geometry(monomorph::Geometry::contiguous(DType::F32, &[2, 2]).unwrap())
        .unwrap();
    let f = dispatcher().find("transpose_").unwrap().typed::<(&mut AnyTensor, i64, i64), ()>().unwrap();
    f.call((&mut x, 0, 1)).unwrap();
    assert_eq!((x.strides(), values(&x)), (&[1, 2][..], vec![1.0, 3.0, 2.0, 4.0]), "the caller's tensor is the view");
    type Factory<'a> =
        (&'a [i64], Scalar, Option<DType>, Option<monomorph::crates::core::Layout>, Option<DeviceId>, Option<bool>);
    let f = dispatcher().find("full").unwrap().typed::<Factory<'_>, AnyTensor>().unwrap();
    assert_eq!(values(&f.call((&[2], Scalar::Float(1.5), None, None, None, None)).unwrap()), [1.5, 1.5]);
    let meta = f.call((&[2], Scalar::Float(1.5), None, None, Some(DeviceId::META), None)).unwrap();
    assert!(meta.device().is_meta() && meta.sizes() == [2]);
}

#[test]
fn meta_tensors_and_errors_are_those_of_typed_calls() {
    let (a, b) = (tensor(&[1.0, 2.0]).to_meta(), tensor(&[1.0]).to_meta());
    let f = dispatcher().find("add.Tensor").unwrap().typed::<(&AnyTensor, &AnyTensor, Scalar), AnyTensor>().unwrap();
    let got = f.call((&a, &b, 1.into())).unwrap();
    assert!(got.device().is_meta() && got.sizes() == [2]);
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[1.0, 2.0, 3.0]));
    let typed = add(cpu(&a), cpu(&b)).unwrap_err();
    assert_eq!(f.call((&a, &b, 1.into())).unwrap_err().kind(), typed.kind());
}

#[test]
fn a_library_puts_a_kernel_over_one_of_the_table_and_takes_it_back() {
    fn negated(frame: &monomorph::crates::core::dispatch::Frame<'_>, stack: &mut Stack) -> Result<()> {
        // The kernel below is out of reach of its own key, so it asks for another operator.
        let input = stack.pop().unwrap_or_default();
        let mut inner: Stack = vec![input];
        frame.dispatcher().call("neg", &mut inner)?;
        stack.append(&mut inner);
        Ok(())
    }
    // A dispatcher of its own: other tests call the shared one meanwhile.
    let own = Dispatcher::new();
    let mut table = own.library("aten");
    monomorph::selection::register_all(&mut table).unwrap();
    let a = tensor(&[1.0, 2.0]);
    let value = || {
        let mut stack: Stack = vec![a.clone().into()];
        own.call("relu", &mut stack).unwrap();
        let IValue::Tensor(t) = &stack[0] else { panic!("a tensor") };
        values(t)
    };
    assert_eq!(value(), [1.0, 2.0]);
    {
        let mut over = own.library("mine");
        over.replace("relu", DispatchKey::CPU, KernelFunction::boxed(negated)).unwrap();
        assert_eq!(value(), [-1.0, -2.0]);
    }
    assert_eq!(value(), [1.0, 2.0]);
}
