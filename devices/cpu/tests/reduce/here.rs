//! A reduction that only exists here: a fold with a formula in front, compiled in the calling crate.

use monomorph_core::structured::{Functional, Operator};
use monomorph_core::{ErrorKind, Tensor};
use monomorph_cpu::Cpu;
use monomorph_ops::algebra::{Num, Value, Widen};
use monomorph_ops::pointwise::{Common, Real};
use monomorph_ops::reduce::{Fold, Here, Reduce, ReduceRule, SumFn, Takes, Whole, Widened, WithIdentity, reduction};

reduction! { SumOfSquares "sum_of_squares": Real, Widened, WithIdentity => Common; ReduceRule::OWN }
impl Takes<Whole> for SumOfSquares {}

impl<V: Widen, X: Value<Mask = V::Mask>> Fold<V, X> for SumOfSquares {
    fn one(x: V, at: X) -> V::Wide {
        <SumFn as Fold<V, X>>::one(x * x, at)
    }
    fn merge(a: V::Wide, b: V::Wide) -> V::Wide {
        a + b
    }
    fn finish(acc: V::Wide, count: X) -> V {
        <SumFn as Fold<V, X>>::finish(acc, count)
    }
    fn identity() -> V::Wide {
        V::Wide::zero()
    }
}

#[test]
fn a_fold_of_the_callers_runs() {
    let t = Tensor::<Cpu>::from_slice(&[1.0f32, -2.0, 3.0], [3]).unwrap();
    let [sum] = <Reduce<SumOfSquares, Here>>::call((&t,), Functional::<Cpu, 1>::default()).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [14.0]);
}

#[test]
fn a_dtype_outside_of_the_domain_is_refused() {
    let t = Tensor::<Cpu>::from_slice(&[true], [1]).unwrap();
    let error = <Reduce<SumOfSquares, Here>>::call((&t,), Functional::<Cpu, 1>::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::DTypeNotSupported { .. }), "{error}");
}

#[test]
fn a_formula_in_front_runs_in_groups_and_single_rows() {
    // 3.25 has an exact square: every way through the rows gives the same sum, if the formula comes first in each.
    for n in [7usize, 128, 1000, 20_000, 300_001] {
        let t = Tensor::<Cpu>::from_slice(&vec![3.25f64; n], [n as i64]).unwrap();
        let [sum] = <Reduce<SumOfSquares, Here>>::call((&t,), Functional::<Cpu, 1>::default()).unwrap();
        assert_eq!(sum.to_vec::<f64>().unwrap(), [3.25 * 3.25 * n as f64], "{n}");
    }
}
