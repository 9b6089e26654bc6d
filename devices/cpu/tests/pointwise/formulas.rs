//! Formulas of every shape that the template knows, and calls of them.

use monomorph_core::structured::{Functional, Operand, Out, call, in_place};
use monomorph_core::{ErrorKind, Result, Scalar, Tensor};
use monomorph_cpu::Cpu;
use monomorph_cpu::pointwise::Kernels;
use monomorph_cpu::tuning::{FastPaths, Tuned, Tuning};
use monomorph_ops::algebra::{Num, RoundedDivision, Value};
use monomorph_ops::pointwise;
use monomorph_ops::pointwise::{
    AllDTypes, Common, Here, Magnitude, Map, MaskAndTwo, Number, Numeric, Ordered, Pointwise, PointwiseInputs,
    Prebuilt, Real, Rule, Same, Truth,
};

pointwise! { Axpy "axpy": AllDTypes, Same<2>; Number => Common; Rule::BINARY }
impl<V: Num> Map<V> for Axpy {
    fn eval([a, b]: [V; 2], alpha: V) -> V {
        a + alpha * b
    }
}

pointwise! { Less "less": Ordered, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: monomorph_ops::algebra::Ordered> Map<V> for Less {
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.lt(b)
    }
}

pointwise! { Minus "sub": AllDTypes, Same<2>; () => Common; Rule::BINARY }
impl<V: Num> Map<V> for Minus {
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a - b
    }
}

pointwise! { Before "lt": Ordered, Same<2>; () => Truth; Rule::COMPARISON }
impl<V: monomorph_ops::algebra::Ordered> Map<V> for Before {
    fn eval([a, b]: [V; 2], (): ()) -> V::Mask {
        a.lt(b)
    }
}

pointwise! { Abs "abs": Numeric, Same<1>; () => Magnitude; Rule::UNARY }
impl<V: monomorph_ops::algebra::Magnitude> Map<V> for Abs {
    fn eval([a]: [V; 1], (): ()) -> V::Re {
        a.abs()
    }
}

pointwise! {
    FloorDivide "floor_divide": Real, Same<2>; () => Common;
    Rule::BINARY.with_wide_scalar(), fault = ErrorKind::DivisionByZero
}
impl<V: RoundedDivision> Map<V> for FloorDivide {
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.div_floor(b)
    }
    fn fault([_, b]: [V; 2]) -> V::Mask {
        V::faults(b)
    }
}

/// The error of data that `Reciprocals` refuses.
pub(crate) const NO_RECIPROCAL: ErrorKind = ErrorKind::ArgumentRule { rule: "zero has no reciprocal" };

pointwise! { Reciprocals "reciprocals": Real, Same<2>; () => Common; Rule::BINARY, fault = NO_RECIPROCAL }
impl<V: RoundedDivision> Map<V> for Reciprocals {
    fn eval([a, b]: [V; 2], (): ()) -> V {
        V::one().div_trunc(a) + V::one().div_trunc(b)
    }
    fn fault([a, b]: [V; 2]) -> V::Mask {
        V::faults(a) | V::faults(b)
    }
}

pointwise! { Choose "where": AllDTypes, MaskAndTwo; () => Common; Rule::TERNARY }
impl<V: Value> Map<V> for Choose {
    fn eval((mask, [a, b]): (V::Mask, [V; 2]), (): ()) -> V {
        V::select(mask, a, b)
    }
}

pointwise! { Fill "fill": AllDTypes, Same<0>; Number => Common; Rule::NULLARY }
impl<V: Value> Map<V> for Fill {
    fn eval([]: [V; 0], value: V) -> V {
        value
    }
}

pointwise! { Times "times": AllDTypes, Same<2>; () => Common; Rule::BINARY.with_wide_scalar() }
impl<V: Num> Map<V> for Times {
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a * b
    }
}

/// Light formulas. `Times` is prebuilt, the others are `Tuned`.
macro_rules! light {
    ($($formula:ident)+) => {$(
        impl Tuning for $formula {
            const LIGHT: bool = true;
        }
        impl<V: Value> FastPaths<V> for $formula where $formula: Map<V> {}
    )+};
}
light! { Minus Before Choose Times }

monomorph_cpu::prebuilt! { Axpy, Times }

/// A tensor on the CPU.
pub(crate) type T = Tensor<Cpu>;

/// `a + alpha · b` as a new tensor.
pub(crate) fn axpy<'t>(a: impl Into<Operand<'t>>, b: impl Into<Operand<'t>>, alpha: impl Into<Scalar>) -> Result<T> {
    let inputs = PointwiseInputs::<Axpy>::new((a, b, alpha.into()))?;
    let [out] = call::<Pointwise<Axpy>, Cpu, _>(&inputs, Functional::default())?;
    Ok(out)
}

/// `a + alpha · b` into `out`.
pub(crate) fn axpy_out<'t>(
    a: impl Into<Operand<'t>>,
    b: impl Into<Operand<'t>>,
    alpha: impl Into<Scalar>,
    out: &'t mut T,
) -> Result<()> {
    let inputs = PointwiseInputs::<Axpy>::new((a, b, alpha.into()))?;
    call::<Pointwise<Axpy>, Cpu, _>(&inputs, Out([out]))?;
    Ok(())
}

/// `a += alpha · b`; `None` for `b` is `a` itself.
pub(crate) fn axpy_(a: &mut T, b: Option<&T>, alpha: impl Into<Scalar>) -> Result<()> {
    let alpha = alpha.into();
    in_place(a, |this, sink, _| {
        let inputs = PointwiseInputs::<Axpy>::new((this, b.map_or(this, |b| b.as_operand()), alpha))?;
        call::<Pointwise<Axpy>, Cpu, _>(&inputs, sink)
    })?;
    Ok(())
}

/// A formula without parameters as a new tensor, by kernels compiled `W`here.
fn apply_by<'t, F, W: 'static, Args>(args: Args) -> Result<T>
where
    F: Kernels<W>,
    PointwiseInputs<'t, F>: monomorph_core::structured::FromArgs<Args>,
{
    let inputs = <PointwiseInputs<'t, F> as monomorph_core::structured::FromArgs<Args>>::from_args(args)?;
    let [out] = call::<Pointwise<F, W>, Cpu, _>(&inputs, Functional::default())?;
    Ok(out)
}

/// A formula without parameters as a new tensor, by untuned kernels.
pub(crate) fn apply<'t, F, Args>(args: Args) -> Result<T>
where
    F: Kernels<Here>,
    PointwiseInputs<'t, F>: monomorph_core::structured::FromArgs<Args>,
{
    apply_by::<F, Here, Args>(args)
}

/// The same by kernels that the formula tunes.
pub(crate) fn apply_tuned<'t, F, Args>(args: Args) -> Result<T>
where
    F: Kernels<Tuned>,
    PointwiseInputs<'t, F>: monomorph_core::structured::FromArgs<Args>,
{
    apply_by::<F, Tuned, Args>(args)
}

/// `a · b` by the prebuilt kernel.
pub(crate) fn times_prebuilt<'t>(a: impl Into<Operand<'t>>, b: impl Into<Operand<'t>>) -> Result<T> {
    let inputs = PointwiseInputs::<Times>::new((a, b))?;
    let [out] = call::<Pointwise<Times, Prebuilt>, Cpu, _>(&inputs, Functional::default())?;
    Ok(out)
}

/// Every element as a number, row-major.
pub(crate) fn numbers(t: &T) -> Vec<Scalar> {
    use monomorph_core::Element;
    monomorph_core::with_element!(t.dtype(), E => t.to_vec::<E>().unwrap().into_iter().map(E::to_scalar).collect())
}

/// A contiguous tensor of these elements.
pub(crate) fn tensor<E: monomorph_core::Element>(data: &[E], sizes: &[i64]) -> T {
    Tensor::from_slice(data, sizes).unwrap()
}
