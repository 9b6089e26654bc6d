//! How often calls allocate: a meta call of up to five dimensions never, whatever the operator; a functional call once,
//! for its result, also by name; out=, in-place and prepared calls never.

mod counting;

use counting::allocations;
use monomorph::crates::core::dispatch::OperatorHandle;
use monomorph::crates::core::structured::{
    Executes, Functional, MetaSink, Operand, Operator, Out, ValueSink, call, prepare,
};
use monomorph::crates::ops::Op;
use monomorph::crates::ops::arithmetic::{AddFn, MulFn};
use monomorph::pointwise::{DomainSet, Operands, Params, PointwiseFn, PointwiseInputs, Then};
use monomorph::prelude::{ArithmeticMethods as _, ViewMethods as _};
use monomorph::{
    Cpu, DType, Geometry, IValue, Meta, Scalar, Stack, Tensor, dispatcher, meta,
    ops::{add, add_out},
};

/// Sizes of three operands that broadcast: none, one to five dimensions, with ones and missing dimensions.
const SIZES: [[&[i64]; 3]; 6] = [
    [&[], &[], &[]],
    [&[100], &[100], &[1]],
    [&[20, 30], &[30], &[20, 1]],
    [&[4, 1, 6], &[5, 6], &[4, 5, 1]],
    [&[2, 3, 4, 5], &[2, 3, 4, 5], &[5]],
    [&[2, 3, 2, 3, 2], &[3, 1, 3, 1], &[2, 1, 2, 1, 2]],
];

/// A tensor whose last two dimensions are exchanged in memory.
fn transposed(dtype: DType, sizes: &[i64]) -> Tensor<Cpu> {
    let n = sizes.len();
    let mut strides = vec![1; n];
    let mut next = 1;
    for d in (0..n.saturating_sub(2)).rev().chain(n.saturating_sub(2)..n).rev() {
        strides[d] = next;
        next *= sizes[d];
    }
    let geometry = Geometry::new(dtype, sizes, &strides, 0).unwrap();
    let bytes = geometry.bytes_needed().unwrap();
    Tensor::from_storage(&vec![1; bytes], geometry).unwrap()
}

/// Counts every form of one formula on operands of every shape.
fn check<F: PointwiseFn>(name: &str)
where
    Cpu: Executes<Op<F>>,
{
    let has = |dtype: DType| F::Domain::MASK >> dtype as usize & 1 == 1;
    let dtypes = [DType::F32, DType::I64].into_iter().filter(|&dtype| has(dtype));
    for (dtype, sizes) in dtypes.flat_map(|dtype| SIZES.map(|sizes| (dtype, sizes))) {
        let kind = |k: usize| if k < F::Operands::MASKS { DType::Bool } else { dtype };
        let tensors: Vec<Tensor<Cpu>> = (0..F::Operands::COUNT).map(|k| transposed(kind(k), sizes[k])).collect();
        let operands: Vec<Operand<'_>> = tensors.iter().map(Into::into).collect();
        let params = vec![Scalar::Int(1); F::Params::COUNT];
        let what = format!("{name} of {dtype} {sizes:?}");
        let mut out = transposed(dtype, sizes[0]);
        if F::Operands::COUNT > 0 {
            let given = PointwiseInputs::<F>::from_lists(&operands, &params).unwrap();
            let (count, result) = allocations(|| call::<Op<F>, Meta, _>(&given, MetaSink::<1>));
            if let Err(error) = result {
                // A few want equal sizes.
                assert!(sizes[0] != sizes[1] || sizes[1] != sizes[2], "{what}: {error}");
                continue;
            }
            assert_eq!(count, 0, "meta {what}");
            let functional = || call::<Op<F>, Cpu, _>(&given, Functional::<Cpu, 1>::default());
            // The first call may set up what belongs to the process.
            [out] = functional().unwrap();
            let (count, _again) = allocations(functional);
            assert_eq!(count, 1, "{what}");
            let given = PointwiseInputs::<F>::from_lists(&operands, &params).unwrap();
            let (count, _) = allocations(|| call::<Op<F>, Cpu, _>(&given, Out([&mut out])).map(|_| ()).unwrap());
            assert_eq!(count, 0, "out= {what}");
        }
        let given = PointwiseInputs::<F>::from_lists(&operands, &params).unwrap();
        let (count, prepared) = allocations(|| prepare::<Op<F>, Cpu, 1>(&given, [&mut out]));
        assert_eq!(count, 0, "preparing {what}");
        let mut prepared = prepared.unwrap();
        assert_eq!(allocations(|| prepared.run().unwrap()).0, 0, "prepared {what}");
    }
}

#[test]
fn every_form_of_every_formula() {
    macro_rules! each {
        ($formula:ty, $name:literal) => {
            check::<$formula>($name);
        };
    }
    monomorph::crates::ops::for_each_kernel! { Pointwise each }
}

/// By name a call allocates what it does otherwise: its result. Room for the box of a result is what an earlier one
/// left. (A debug build also takes notes, to compare what was written with what the schema says.)
#[test]
fn calls_by_name() {
    let is = |count: usize, want: usize| count == want || cfg!(debug_assertions);
    let [a, b] = [[1.0f32; 16], [2.0; 16]].map(|data| Tensor::<Cpu>::from_slice(&data, [16]).unwrap());
    let arguments: Stack = vec![a.clone().into(), b.into(), IValue::Int(1)];
    let mut stack = Stack::with_capacity(4);
    let handle = dispatcher().find("add.Tensor").unwrap();
    let mut call = |handle: &OperatorHandle, arguments: &Stack| {
        stack.clear();
        stack.extend(arguments.iter().cloned());
        handle.call(&mut stack).unwrap();
    };
    call(&handle, &arguments);
    assert!(is(allocations(|| call(&handle, &arguments)).0, 1));
    let handle = dispatcher().find("add_.Tensor").unwrap();
    let mut stack: Stack = vec![add(&a, &a).unwrap().into()];
    let mut again = || {
        stack.extend(arguments[1..].iter().cloned());
        handle.call(&mut stack).unwrap();
    };
    again();
    assert!(is(allocations(again).0, 0));
}

/// One pass over memory has no intermediate tensor; in turn there is one.
#[test]
fn a_chain_of_one_dtype_allocates_its_result_only() {
    type MulAdd = Then<Op<MulFn>, Op<AddFn>>;
    fn run<'t, S: ValueSink<'t, Cpu>>(operands: [&'t Tensor<Cpu>; 3], sink: S) -> S::Value {
        let [a, b, c] = operands;
        <MulAdd as Operator<'t, Cpu, _>>::call((a, b, c, Scalar::Int(1)), sink).unwrap()
    }
    let [a, b] = [&[20, 30][..], &[30]].map(|sizes| transposed(DType::F32, sizes));
    let wide = transposed(DType::F64, &[20, 30]);
    let functional = |c| allocations(|| run([&a, &b, c], Functional::<Cpu, 1>::default()));
    let (_, [mut out]) = functional(&a);
    assert_eq!(functional(&a).0, 1);
    assert_eq!(functional(&wide).0, 2);
    assert_eq!(allocations(|| run([&a, &b, &a], Out([&mut out])).len()).0, 0);
}

#[test]
fn the_functions_of_the_facade() {
    let a = transposed(DType::F32, &[2, 3, 2, 3, 2]);
    let b = Tensor::<Cpu>::from_slice(&[1i32, 2, 3], [3, 1]).unwrap();
    let mut c = add(&a, &b).unwrap();
    assert_eq!(allocations(|| add(&a, &b).unwrap()).0, 1);
    assert_eq!(allocations(|| add(&a, 2.5).unwrap()).0, 1);
    assert_eq!(allocations(|| add_out(&a, &b, &mut c).map(|_| ()).unwrap()).0, 0);
    assert_eq!(allocations(|| c.add_(&b).map(|_| ()).unwrap()).0, 0);
    assert_eq!(allocations(|| meta::add(&a, &b).unwrap()).0, 0);
    let dense = Tensor::<Cpu>::from_slice(&[1.0f32; 16], [4, 4]).unwrap();
    let turned = dense.transpose(0, 1).unwrap();
    let mut like = add(&dense, &dense).unwrap();
    assert_eq!(allocations(|| add(&dense, &dense).unwrap()).0, 1);
    assert_eq!(allocations(|| add(&dense, &turned).unwrap()).0, 1);
    assert_eq!(allocations(|| add_out(&dense, &dense, &mut like).map(|_| ()).unwrap()).0, 0);
    assert_eq!(allocations(|| a.permute([4, 3, 2, 1, 0]).is_err()).0, 0);
}
