//! What the crate shows: its memory is used and given back, forms come from where they should, and its own operator is
//! one like others.

use arena_device::{Arena, MineMethods as _, axpy_out, meta, register, usage, zeroed};
use monomorph::crates::core::dispatch::{Backend, DispatchKey, KernelFunction, Source};
use monomorph::crates::core::structured::{Functional, Operand, call, prepare};
use monomorph::pointwise::PointwiseInputs;
use monomorph::prelude::ArithmeticMethods as _;
use monomorph::{
    AnyTensor, Cpu, DType, Device, Dispatcher, ErrorKind, IValue, Library, Result, Scalar, Stack, Tensor,
    ops::{add, add_out, sum},
    selection,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tests take turns: the arenas are the process's, and are counted.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn arena(values: &[f32], sizes: &[i64]) -> Tensor<Arena> {
    Tensor::from_slice_on(0, values, sizes).unwrap()
}

/// A dispatcher with the table and the device.
fn registered() -> (Dispatcher, Library, Library) {
    let dispatcher = Dispatcher::new();
    let mut table = dispatcher.library("aten");
    selection::register_all(&mut table).unwrap();
    let device = register(&dispatcher).unwrap();
    (dispatcher, table, device)
}

fn named(dispatcher: &Dispatcher, name: &str, arguments: Vec<IValue>) -> Result<AnyTensor> {
    let mut stack: Stack = arguments;
    dispatcher.call(name, &mut stack)?;
    Ok(stack.pop().and_then(IValue::into_tensor).expect("the schema returns a tensor"))
}

#[test]
fn typed_calls_run_on_the_arena_and_give_its_memory_back() {
    let _turn = turn();
    let before = usage(0).unwrap();
    {
        let (a, b) = (
            arena(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]),
            Tensor::<Arena>::from_slice_on(0, &[10i32, 20, 30], [3]).unwrap(),
        );
        let mut c = a.add(&b).unwrap();
        assert_eq!(c.to_vec::<f32>().unwrap(), [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
        assert!(c.data::<f32>().is_err(), "the host cannot follow its pointers");
        c.add_(0.5).unwrap();
        add_out(&a, &b, &mut c).unwrap();
        assert_eq!(c.to_vec::<f32>().unwrap()[3..], [14.0, 25.0, 36.0]);
        c.add_(0.5).unwrap();
        let sums = sum(&c, &[1][..]).unwrap();
        assert_eq!(sums.to_vec::<f32>().unwrap(), [67.5, 76.5]);
        let mut run = monomorph::prepared::add(&a, &a, 1, &mut c).unwrap();
        run.run().unwrap();
        drop(run);
        assert_eq!(c.to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        assert_eq!(usage(0).unwrap().blocks, before.blocks + 4);
    }
    let after = usage(0).unwrap();
    assert_eq!((after.blocks, after.bytes), (before.blocks, before.bytes));
    assert_eq!(after.allocated, before.allocated + 4);
    assert!(after.written >= before.written + 36 && after.read > before.read);
}

#[test]
fn forms_come_from_where_they_should() {
    let _turn = turn();
    let (dispatcher, _table, _device) = registered();
    let backend = Backend::of(Arena::KIND).unwrap();
    let source = |name: &str, key| {
        let lines = dispatcher.find(name).unwrap().explain();
        lines.into_iter().find(|(at, ..)| *at == key).unwrap().1.source
    };
    let (dense, common) = (DispatchKey::dense(backend), DispatchKey::common(backend));
    // A template's kernel, registered for all forms.
    assert_eq!(
        (source("add.Tensor", dense), source("add.Tensor", common)),
        (Source::Kernel(dense.into()), Source::Fallthrough)
    );
    // Registered for out= alone: dispatch completes the functional form.
    assert_eq!(source("sum.IntList_out", dense), Source::Kernel(dense.into()));
    assert_eq!(
        (source("sum.dim_IntList", dense), source("sum.dim_IntList", common)),
        (Source::Missing, Source::Completed)
    );
    let a = arena(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let allocated = usage(0).unwrap().allocated;
    let sum = named(&dispatcher, "sum.dim_IntList", vec![a.clone().into(), IValue::Ints(vec![0])]).unwrap();
    assert_eq!((sum.to_vec::<f32>().unwrap(), sum.device()), (vec![4.0, 6.0], a.device()));
    assert_eq!(usage(0).unwrap().allocated, allocated + 1, "the result, by the device's own empty_strided");
    // Numbers in place of tensors, as everywhere.
    let more = named(&dispatcher, "add.Tensor", vec![a.into(), IValue::Float(0.5)]).unwrap();
    assert_eq!(more.to_vec::<f32>().unwrap(), [1.5, 2.5, 3.5, 4.5]);
}

/// Forms of the device stand over one that comes from elsewhere, and over no other.
#[test]
fn one_form_can_be_overridden() {
    let _turn = turn();
    let (dispatcher, _table, _device) = registered();
    let x = arena(&[1.0, 2.0], &[2]);
    let before = zeroed();
    let zero = named(&dispatcher, "zero_", vec![x.clone().into()]).unwrap();
    assert_eq!((zeroed(), zero.storage_id(), x.to_vec::<f32>().unwrap()), (before + 1, x.storage_id(), vec![0.0, 0.0]));
    let x = arena(&[1.0, 2.0], &[2]);
    named(&dispatcher, "zero", vec![x.clone().into()]).unwrap();
    named(&dispatcher, "zero.out", vec![x.clone().into(), arena(&[3.0], &[1]).into()]).unwrap();
    assert_eq!(zeroed(), before + 1, "the other forms are those of every device");

    // Over a completed form, in a library of its own, for as long as that lives.
    let backend = Backend::of(Arena::KIND).unwrap();
    let total = |dims: Vec<i64>| named(&dispatcher, "sum.dim_IntList", vec![x.clone().into(), IValue::Ints(dims)]);
    let mut own = dispatcher.library("own");
    let seven = |x: &Tensor<Arena>, _: Option<&[i64]>, _: bool, _: Option<DType>| {
        Tensor::<Arena>::from_slice_on(x.device().index, &[7.0f32], ())
    };
    own.kernel("sum.dim_IntList", backend, KernelFunction::function(seven)).unwrap();
    assert_eq!(total(vec![0]).unwrap().to_vec::<f32>().unwrap(), [7.0]);
    let mut out: Stack =
        vec![x.clone().into(), IValue::Ints(vec![0]), false.into(), IValue::None, arena(&[0.0], &[]).into()];
    dispatcher.call("sum.IntList_out", &mut out).unwrap();
    assert_eq!(out[0].as_tensor().unwrap().to_vec::<f32>().unwrap(), [3.0], "the out= form is the template's");
    drop(own);
    assert_eq!(total(vec![0]).unwrap().to_vec::<f32>().unwrap(), [3.0], "completed again");
}

#[test]
fn its_own_operator_is_one_like_others() {
    let _turn = turn();
    let (dispatcher, _table, _device) = registered();
    let (x, y) = (arena(&[1.0, 2.0], &[2, 1]), arena(&[10.0, 20.0], &[2]));
    let want = vec![13.0, 23.0, 16.0, 26.0];
    assert_eq!(x.axpy(&y, 3).unwrap().to_vec::<f32>().unwrap(), want);
    let mut out = arena(&[], &[0]);
    axpy_out(&x, &y, 3, &mut out).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), want);
    out.axpy_(&y, 0).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [10.0, 20.0, 10.0, 20.0]);
    assert_eq!(meta::axpy(&x, &y, 3).unwrap().sizes(), [2, 2]);
    let by_name = named(&dispatcher, "arena::axpy", vec![x.clone().into(), y.into(), IValue::Int(3)]).unwrap();
    assert_eq!(by_name.to_vec::<f32>().unwrap(), want);
    // The same formula on the CPU.
    let [x, y] = [&[1.0f32, 2.0][..], &[10.0, 20.0]].map(|values| Tensor::<Cpu>::from_slice(values, [2]).unwrap());
    let by_name = named(&dispatcher, "arena::axpy", vec![x.into(), y.into(), IValue::Int(3)]).unwrap();
    assert_eq!(by_name.to_vec::<f32>().unwrap(), [13.0, 26.0]);
    let schema = dispatcher.find("arena::axpy").unwrap().schema().unwrap().to_string();
    assert_eq!(schema, "arena::axpy(Tensor self, Tensor other, Scalar alpha) -> Tensor");
}

#[test]
fn zero_dim_cpu_tensors_join_and_others_do_not() {
    let _turn = turn();
    let x = arena(&[1.0, 2.0], &[2]);
    let one = Tensor::<Cpu>::from_slice(&[1.0f32], ()).unwrap();
    let row = Tensor::<Cpu>::from_slice(&[1.0f32, 1.0], [2]).unwrap();
    type Add = monomorph::crates::ops::Op<monomorph::crates::ops::arithmetic::AddFn>;
    let add = |b: &Tensor<Cpu>| {
        let operands = [Operand::from(&x), Operand::from(b)];
        let inputs = PointwiseInputs::from_lists(&operands, &[Scalar::Int(2)])?;
        let mut out = arena(&[0.0, 0.0], &[2]);
        call::<Add, Arena, _>(&inputs, Functional::<Arena, 1>::default())?;
        prepare::<Add, Arena, 1>(&inputs, [&mut out])?.run()?;
        out.to_vec::<f32>()
    };
    assert_eq!(add(&one).unwrap(), [3.0, 4.0]);
    assert!(matches!(add(&row).unwrap_err().kind(), ErrorKind::DeviceMismatch { .. }));
}

#[test]
fn a_dtype_that_it_does_not_compute_in_is_an_error() {
    let _turn = turn();
    let x = Tensor::<Arena>::from_slice_on(0, &[true, false], [2]).unwrap();
    let before = usage(0).unwrap().blocks;
    let error = add(&x, &x).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DTypeNotSupported { got: DType::Bool, .. }), "{error}");
    assert_eq!(usage(0).unwrap().blocks, before);
}
