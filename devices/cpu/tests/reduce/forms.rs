//! What the recorded calls do not reach: meta and prepared forms, lazy bits, names, numbers, overlap.

use monomorph_core::structured::{FromArgs, Functional, MetaSink, Operator, Out, call, prepare};
use monomorph_core::{Complex32, DType, ErrorKind, Geometry, Meta, Scalar, Tensor};
use monomorph_cpu::Cpu;
use monomorph_ops::reduce::{Aminmax, Any, Argmax, ReduceInputs, Sum, SumFn};
use monomorph_ops::upsample::{UpsampleNearest1d, UpsampleNearest1dVec};

type T = Tensor<Cpu>;

fn functional() -> Functional<Cpu, 1> {
    Functional::default()
}

fn six() -> T {
    Tensor::from_slice(&[1.0f32, -5.0, 2.0, 8.0, 0.0, 8.0], [2, 3]).unwrap()
}

#[test]
fn meta_calls_declare_what_real_calls_give() {
    let t = six();
    let inputs = ReduceInputs::<SumFn>::from_args((&t, Some(&[1][..]), true, Some(DType::F64))).unwrap();
    let [meta] = call::<Sum, Meta, _>(&inputs, MetaSink::<1>).unwrap();
    let [real] = Sum::call((&t, Some(&[1][..]), true, Some(DType::F64)), functional()).unwrap();
    assert!(meta.geometry().same_elements(real.geometry()), "{:?}", meta.geometry());
    assert_eq!((meta.sizes(), meta.dtype()), (&[2, 1][..], DType::F64));
    let m = Tensor::<Meta>::zeros_contiguous(DType::U8, &[2, 0]).unwrap();
    let error = Argmax::call((&m, Some(1), false), Functional::<Meta, 1>::default()).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::EmptyReduction { dim: 1 });
    let [any] = Any::call((&m, 1, true), Functional::<Meta, 1>::default()).unwrap();
    assert_eq!((any.sizes(), any.dtype()), (&[2, 1][..], DType::U8));
    let [up] = <UpsampleNearest1d>::call(
        (&Tensor::<Meta>::zeros_contiguous(DType::F32, &[1, 2, 3]).unwrap(), &[7][..], None),
        Functional::<Meta, 1>::default(),
    )
    .unwrap();
    assert_eq!(up.sizes(), [1, 2, 7]);
}

#[test]
fn a_prepared_reduction_sees_new_contents() {
    let mut t = six();
    let mut out = T::zeros_contiguous(DType::F32, &[]).unwrap();
    for (value, want) in [(1.0, 14.0), (10.0, 23.0)] {
        t.data_mut::<f32>().unwrap()[0] = value;
        let inputs = ReduceInputs::<SumFn>::from_args((&t, None)).unwrap();
        let mut prepared = prepare::<Sum, Cpu, 1>(&inputs, [&mut out]).unwrap();
        prepared.run().unwrap();
        prepared.run().unwrap();
        drop(prepared);
        assert_eq!(out.to_vec::<f32>().unwrap(), [want]);
    }
}

#[test]
fn lazy_bits_of_inputs_and_outputs_count() {
    let z = [Complex32::new(1.0, 2.0), Complex32::new(3.0, -5.0)];
    let bytes: Vec<u8> = z.iter().flat_map(|z| [z.re.to_ne_bytes(), z.im.to_ne_bytes()].concat()).collect();
    let g = Geometry::new(DType::C64, &[2], &[1], 0).unwrap();
    let lazy = T::from_storage(&bytes, g.with_conj(true).with_neg(true)).unwrap();
    let [sum] = Sum::call((&lazy, None), functional()).unwrap();
    assert_eq!(sum.to_vec::<Complex32>().unwrap(), [Complex32::new(-4.0, -3.0)]);

    let bytes: Vec<u8> = [1.0f32, 7.0, 3.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let g = Geometry::new(DType::F32, &[3], &[1], 0).unwrap().with_neg(true);
    let lazy = T::from_storage(&bytes, g).unwrap();
    let [index] = Argmax::call((&lazy, None, false), functional()).unwrap();
    assert_eq!(index.to_vec::<i64>().unwrap(), [0]);
    let [min, max] = Aminmax::call((&lazy, None, false), Functional::<Cpu, 2>::default()).unwrap();
    assert_eq!((min.to_vec::<f32>().unwrap(), max.to_vec::<f32>().unwrap()), (vec![-7.0], vec![-1.0]));
    let rows =
        lazy.with_geometry(Geometry::new(DType::F32, &[1, 1, 3], &[3, 3, 1], 0).unwrap().with_neg(true)).unwrap();
    let [up] = UpsampleNearest1dVec::call((&rows, None, Some(&[2.0][..])), functional()).unwrap();
    assert_eq!(up.to_vec::<f32>().unwrap(), [-1.0, -1.0, -7.0, -7.0, -3.0, -3.0]);

    // An output that is read through its neg bit is written through it.
    let g = Geometry::new(DType::F32, &[2], &[1], 0).unwrap().with_neg(true);
    let mut out = T::from_storage(&[0; 8], g).unwrap();
    Sum::call((&six(), Some(&[1][..]), false, None), Out([&mut out])).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [-2.0, 16.0]);
    assert!(out.is_neg());
}

#[test]
fn names_of_kept_dimensions_stay() {
    let t = six();
    let names = Some([Some("rows".into()), Some("columns".into())].into());
    let t = t.with_geometry(t.geometry().clone().with_names(names).unwrap()).unwrap();
    let names = |t: &T| t.names().map(|n| n.iter().map(|n| n.as_deref().map(str::to_owned)).collect::<Vec<_>>());
    let [sum] = Sum::call((&t, Some(&[0][..]), false, None), functional()).unwrap();
    assert_eq!(names(&sum), Some(vec![Some("columns".to_owned())]));
    let [sum] = Sum::call((&t, Some(&[0][..]), true, None), functional()).unwrap();
    assert_eq!(names(&sum), Some(vec![Some("rows".to_owned()), Some("columns".to_owned())]));
    let [sum] = Sum::call((&t, None), functional()).unwrap();
    assert_eq!(names(&sum), None);
}

#[test]
fn a_number_is_reduced_as_a_tensor_without_dimensions() {
    let [sum] = Sum::call((Scalar::Bool(true), Some(&[0, -1][..1]), true, None), functional()).unwrap();
    assert_eq!((sum.sizes(), sum.to_vec::<i64>().unwrap()), (&[][..], vec![1]));
}

#[test]
fn outputs_may_lie_in_the_input_where_pytorch_lets_them() {
    // The result is unspecified; that it is one, and nothing breaks, is the point.
    let t = six();
    let mut first = t.with_geometry(Geometry::new(DType::F32, &[3], &[1], 0).unwrap()).unwrap();
    Sum::call((&t, Some(&[0][..]), false, None), Out([&mut first])).unwrap();
    let mut second = t.with_geometry(Geometry::new(DType::F32, &[3], &[1], 3).unwrap()).unwrap();
    let error = Aminmax::call((&t, Some(0), false), Out([&mut first, &mut second])).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Overlap { output: 0, .. }), "{error}");
    let mut apart = T::zeros_contiguous(DType::F32, &[3]).unwrap();
    let mut same = apart.clone();
    let error = Aminmax::call((&t, Some(0), false), Out([&mut apart, &mut same])).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Overlap { output: 0, .. }), "{error}");
}

#[test]
fn every_true_byte_is_true() {
    let g = Geometry::new(DType::Bool, &[3], &[1], 0).unwrap();
    let t = T::from_storage(&[2, 0, 255], g).unwrap();
    let [sum] = Sum::call((&t, None), functional()).unwrap();
    assert_eq!(sum.to_vec::<i64>().unwrap(), [2]);
    let [min, max] = Aminmax::call((&t, None, false), Functional::<Cpu, 2>::default()).unwrap();
    assert_eq!((min.storage_to_vec().unwrap()[0], max.storage_to_vec().unwrap()[0]), (0, 1));
}

#[test]
fn an_output_decides_the_dtype_of_a_sum_along_dims_only() {
    let t = six();
    let mut out = T::zeros_contiguous(DType::F64, &[2]).unwrap();
    Sum::call((&t, Some(&[][..]), false, None), Out([&mut out])).unwrap();
    assert_eq!(out.to_vec::<f64>().unwrap(), [14.0]);
    // Without dims, PyTorch asks for the dtype that the functional form gives.
    let error = Sum::call((&t, None), Out([&mut out])).err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::OutputDType { index: 0, got: DType::F64, want: DType::F32 });
    Sum::call((&t, Some(DType::F64)), Out([&mut out])).unwrap();
}
