//! Reductions over nothing: outputs of any geometry are filled, or the call is an error.

use monomorph_core::structured::{Functional, Operator, Out};
use monomorph_core::{DType, ErrorKind, Geometry, Tensor};
use monomorph_cpu::Cpu;
use monomorph_ops::algebra::{Num, Ordered, Value};
use monomorph_ops::pointwise::{Common, Reals};
use monomorph_ops::reduce::{
    Fold, Here, ListedDims, Mean, NoIdentity, OptionalDims, Reduce, ReduceFn, ReduceRule, Sum, Takes, WithIdentity,
    reduction,
};

type T = Tensor<Cpu>;

/// An empty tensor of these sizes.
fn empty(dtype: DType, sizes: &[i64]) -> T {
    let strides = vec![1; sizes.len()];
    let own = T::zeros_contiguous(dtype, &[0]).unwrap();
    own.with_geometry(Geometry::new(dtype, sizes, &strides, 0).unwrap()).unwrap()
}

/// A view of ones of these sizes and strides.
fn ones(n: usize, sizes: &[i64], strides: &[i64]) -> (T, T) {
    let all = T::from_slice(&vec![1.0f32; n], [n as i64]).unwrap();
    let view = all.with_geometry(Geometry::new(DType::F32, sizes, strides, 0).unwrap()).unwrap();
    (all, view)
}

#[test]
fn strides_of_single_steps_may_be_anything() {
    let t = empty(DType::F32, &[0, 1, 3]);
    let (all, mut out) = ones(3, &[1, 3], &[i64::MAX / 2, 1]);
    Sum::call((&t, Some(&[0][..]), false, None), Out([&mut out])).unwrap();
    assert_eq!(all.to_vec::<f32>().unwrap(), [0.0; 3]);
}

#[test]
fn only_elements_of_the_output_are_filled() {
    let t = empty(DType::F32, &[2, 0, 3]);
    let (all, mut out) = ones(12, &[2, 3], &[1, 4]);
    Mean::call((&t, Some(&[1][..]), false, None), Out([&mut out])).unwrap();
    let all = all.to_vec::<f32>().unwrap();
    let filled = [0, 1, 4, 5, 8, 9];
    assert!((0..12).all(|i| if filled.contains(&i) { all[i].is_nan() } else { all[i] == 1.0 }), "{all:?}");
}

#[test]
fn sizes_beside_an_empty_dimension_need_no_product() {
    for (sizes, dims) in [([0, 1 << 40, 1 << 40], &[0, 1, 2][..]), ([1 << 40, 1 << 40, 0], &[][..])] {
        let t = empty(DType::F32, &sizes);
        let [sum] = Sum::call((&t, Some(dims), false, None), Functional::<Cpu, 1>::default()).unwrap();
        assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0]);
        // Of these there is no result, and no walk.
        let kept = if sizes[0] == 0 { 1 } else { 0 };
        let result = Sum::call((&t, Some(&[kept][..]), false, None), Functional::<Cpu, 1>::default());
        assert_eq!(result.unwrap()[0].numel(), 0);
    }
}

#[test]
fn an_expanded_output_is_filled_once() {
    let t = empty(DType::F32, &[0, 1 << 60]);
    let (all, mut out) = ones(1, &[1 << 60], &[0]);
    Sum::call((&t, Some(&[0][..]), false, None), Out([&mut out])).unwrap();
    assert_eq!(all.to_vec::<f32>().unwrap(), [0.0]);
}

#[test]
fn an_output_without_end_is_refused() {
    let t = empty(DType::F32, &[0, 1 << 14, 1 << 14, 1 << 14]);
    let (all, mut out) = ones(3 << 14, &[1 << 14, 1 << 14, 1 << 14], &[1, 1, 1]);
    let error = Sum::call((&t, Some(&[0][..]), false, None), Out([&mut out])).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::ArgumentRule { .. }), "{error}");
    assert_eq!(all.to_vec::<f32>().unwrap()[0], 1.0);
}

reduction! { MostFn "most": Reals, Common, WithIdentity => Common; ReduceRule::OWN.of_extremes() }
impl Takes<ListedDims> for MostFn {}
impl<V: Ordered + Num, X: Value<Mask = V::Mask>> Fold<V, X> for MostFn {
    fn one(x: V, _: X) -> V {
        x
    }
    fn merge(a: V, b: V) -> V {
        a.maximum(b)
    }
    fn finish(acc: V, _: X) -> V {
        acc
    }
    fn identity() -> V {
        V::zero()
    }
}

#[test]
fn where_there_is_a_result_of_nothing_its_dtype_is_of_the_domain() {
    let t = empty(DType::Bool, &[0, 3]);
    for dims in [&[0][..], &[]] {
        let error = Reduce::<MostFn, Here>::call((&t, dims, false), Functional::<Cpu, 1>::default()).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::DTypeNotSupported { .. }), "{error}");
    }
    let t = empty(DType::F64, &[0, 3]);
    let [most] = Reduce::<MostFn, Here>::call((&t, &[0][..], false), Functional::<Cpu, 1>::default()).unwrap();
    assert_eq!(most.to_vec::<f64>().unwrap(), [0.0; 3]);
}

/// A declaration without the macro, whose rule says what it likes.
struct LeastFn;
impl ReduceFn for LeastFn {
    const NAME: &'static str = "least";
    const RULE: ReduceRule = ReduceRule::TRUTH.with_outputs_apart();
    type Domain = Reals;
    type Accumulator = Common;
    type Identity = NoIdentity;
    type Results = Common;
}
impl Takes<OptionalDims> for LeastFn {}
impl<V: Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for LeastFn {
    fn one(x: V, _: X) -> V {
        x
    }
    fn merge(a: V, b: V) -> V {
        a.minimum(b)
    }
    fn finish(acc: V, _: X) -> V {
        acc
    }
    fn identity() {}
}

#[test]
fn a_rule_from_another_family_writes_what_the_types_say() {
    let call = |t: &T, dims: Option<&[i64]>| {
        let [least] = Reduce::<LeastFn, Here>::call((t, dims, false), Functional::<Cpu, 1>::default())?;
        monomorph_core::Result::Ok(least)
    };
    let t = T::from_slice(&[3.0f64, -2.0, 5.0, 7.0], [2, 2]).unwrap();
    let least = call(&t, Some(&[1])).unwrap();
    assert_eq!((least.dtype(), least.to_vec::<f64>().unwrap()), (DType::F64, vec![-2.0, 5.0]));
    assert!(matches!(
        call(&empty(DType::F64, &[0, 3]), Some(&[0])).err().unwrap().kind(),
        ErrorKind::EmptyReduction { .. }
    ));
    assert!(matches!(call(&empty(DType::F64, &[0, 3]), None).err().unwrap().kind(), ErrorKind::EmptyInput));
}
