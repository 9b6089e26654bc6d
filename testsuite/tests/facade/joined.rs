//! Typed forms of composed operators give what the operators give by name: values, dtypes, strides, storages, errors;
//! and call no dispatcher.

use monomorph::crates::core::with_element;
use monomorph::ops::{options::*, *};
use monomorph::prelude::RearrangeMethods as _;
use monomorph::{Cpu, DType, Geometry, IValue, MemoryFormat, Meta, Result, Stack, Tensor};
use monomorph_testsuite::layout::{Random, plain};

type T = Tensor<Cpu>;

fn filled(dtype: DType, sizes: &[i64], seed: u64) -> T {
    let numel = sizes.iter().product::<i64>() as usize;
    let numbers = plain(dtype, numel, &mut Random::new(seed));
    with_element!(dtype, E => {
        let data: Vec<E> = numbers.into_iter().map(monomorph_core::Element::from_scalar).collect();
        T::from_slice(&data, sizes).unwrap()
    })
}

/// Lists of tensors, those that fit and those that do not.
fn lists() -> Vec<Vec<T>> {
    let t = |sizes: &[i64], seed| filled(DType::F32, sizes, seed);
    let last = |sizes: &[i64]| {
        let x = t(sizes, 9);
        let geometry = Geometry::new(
            DType::F32,
            sizes,
            &monomorph::crates::core::strides::strides_for(sizes, MemoryFormat::ChannelsLast).unwrap(),
            0,
        );
        x.with_geometry(geometry.unwrap()).unwrap()
    };
    vec![
        vec![],
        vec![t(&[], 1), t(&[], 2)],
        vec![t(&[3], 1)],
        vec![t(&[3], 1), t(&[3], 2), t(&[3], 3)],
        vec![t(&[3], 1), filled(DType::I64, &[2], 2)],
        vec![t(&[2, 3], 1), filled(DType::F64, &[2, 3], 2)],
        vec![t(&[2, 3], 1), t(&[0], 2), t(&[4, 3], 3)],
        vec![t(&[2, 3], 1), t(&[2, 1], 2)],
        vec![t(&[2, 3], 1).t().unwrap(), t(&[3, 2], 2)],
        vec![t(&[1, 3], 1), t(&[2, 1], 2), t(&[], 3)],
        vec![last(&[2, 3, 2, 2]), last(&[2, 3, 2, 2])],
        vec![t(&[2, 0], 1), t(&[2, 0], 2)],
    ]
}

/// All that a caller can see of tensors.
fn seen(tensors: &[T]) -> Vec<String> {
    let bytes = |t: &T| t.storage_to_vec().unwrap();
    tensors.iter().map(|t| format!("{} {:?} {:?} {:?}", t.dtype(), t.sizes(), t.strides(), bytes(t))).collect()
}

fn by_name(name: &str, mut stack: Stack) -> Result<Vec<T>> {
    monomorph::call(name, &mut stack)?;
    let tensors = stack.iter().flat_map(IValue::tensors);
    Ok(tensors.map(|t| t.downcast_ref::<Cpu>().expect("on the CPU").clone()).collect())
}

fn same(name: &str, typed: Result<Vec<T>>, stack: Stack) {
    let what = format!("{name} of {stack:?}");
    match (typed, by_name(name, stack)) {
        (Ok(typed), Ok(named)) => assert_eq!(seen(&typed), seen(&named), "{what}"),
        (Err(typed), Err(named)) => assert_eq!(typed.kind(), named.kind(), "{what}"),
        (typed, named) => panic!("{what}: typed {typed:?}, by name {named:?}"),
    }
}

type OfList = fn(&[T], i64) -> Result<Vec<T>>;

#[test]
fn functions_of_lists_equal_calls_by_name() {
    let one = |t: Result<T>| t.map(|t| vec![t]);
    let along: [(&str, OfList); 4] = [
        ("cat", |l, dim| cat_with(l, Cat { dim, ..Cat::default() }).map(|t| vec![t])),
        ("concat", |l, dim| concat_with(l, Concat { dim, ..Concat::default() }).map(|t| vec![t])),
        ("concatenate", |l, dim| concatenate_with(l, Concatenate { dim, ..Concatenate::default() }).map(|t| vec![t])),
        ("stack", |l, dim| stack_with(l, StackOptions { dim, ..StackOptions::default() }).map(|t| vec![t])),
    ];
    for list in lists() {
        let boxed = || IValue::Tensors(list.iter().map(|t| t.clone().into_any()).collect());
        for (name, f) in along {
            for dim in -3..3 {
                same(name, f(&list, dim), vec![boxed(), dim.into()]);
            }
        }
        same("hstack", one(hstack(&list)), vec![boxed()]);
        same("vstack", one(vstack(&list)), vec![boxed()]);
        same("row_stack", one(row_stack(&list)), vec![boxed()]);
        same("dstack", one(dstack(&list)), vec![boxed()]);
        same("column_stack", one(column_stack(&list)), vec![boxed()]);
        same("broadcast_tensors", broadcast_tensors(&list), vec![boxed()]);
        same("atleast_1d.Sequence", all_atleast_1d(&list), vec![boxed()]);
        same("atleast_2d.Sequence", all_atleast_2d(&list), vec![boxed()]);
        same("atleast_3d.Sequence", all_atleast_3d(&list), vec![boxed()]);
    }
    // References do as well, and a meta tensor is one like others.
    let (a, b) = (filled(DType::F32, &[2], 1), filled(DType::F32, &[1], 2));
    assert_eq!(cat(&[&a, &b]).unwrap().to_vec::<f32>().unwrap().len(), 3);
    let meta = Tensor::<Meta>::zeros_contiguous(DType::F32, &[2]).unwrap();
    assert_eq!(stack(&[&meta, &meta]).unwrap().sizes(), [2, 2]);
}

#[test]
fn functions_of_tensors_equal_calls_by_name() {
    let one = |t: Result<T>| t.map(|t| vec![t]);
    let int = filled(DType::I32, &[3], 7);
    for t in lists().into_iter().flatten() {
        let (this, other) = (|| IValue::from(t.clone()), || IValue::from(int.clone()));
        same("atleast_1d", one(atleast_1d(&t)), vec![this()]);
        same("atleast_2d", one(atleast_2d(&t)), vec![this()]);
        same("atleast_3d", one(atleast_3d(&t)), vec![this()]);
        same("outer", one(outer(&t, &int)), vec![this(), other()]);
        same("ger", one(ger(&int, &t)), vec![other(), this()]);
        same("type_as", one(type_as(&t, &int)), vec![this(), other()]);
    }
    let x = filled(DType::F32, &[3], 1);
    assert_eq!(atleast_2d(&x).unwrap().storage_id(), x.storage_id());
    assert_eq!(broadcast_tensors(&[&x]).unwrap()[0].storage_id(), x.storage_id());
}
