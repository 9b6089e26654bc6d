//! Sums of a tensor and a part of others: addcmul, addcdiv, lerp.

use crate::algebra::{Magnitude, Num, Ordered as HasOrder, TrueDivision, Value};
use crate::kernels::Blend;
use crate::pointwise::{Check, Common, FloatComplex, Map, Number, Numeric, Rule, Same, pointwise, run};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, ErrorKind, Result};

pointwise! { AddcmulFn "addcmul": Numeric, Same<3>; Number => Common; Rule::TERNARY, check = check_value }
impl<V: Num> Map<V> for AddcmulFn {
    #[inline(always)]
    fn eval([a, b, c]: [V; 3], value: V) -> V {
        a + value * b * c
    }
}

pointwise! { AddcdivFn "addcdiv": FloatComplex, Same<3>; Number => Common; Rule::TERNARY, check = check_addcdiv }
impl<V: TrueDivision> Map<V> for AddcdivFn {
    #[inline(always)]
    fn eval([a, b, c]: [V; 3], value: V) -> V {
        a + value * b / c
    }
}

pointwise! { LerpFn "lerp": FloatComplex, Same<3>; () => Common; Rule::TERNARY, check = check_lerp }
impl<V: Magnitude> Map<V> for LerpFn
where
    V::Re: HasOrder,
{
    #[inline(always)]
    fn eval([a, b, weight]: [V; 3], (): ()) -> V {
        lerp(a, b, weight)
    }
}

pointwise! { LerpNumberFn "lerp": FloatComplex, Same<2>; Number => Common; Rule::BINARY, check = check_lerp }
impl<V: Magnitude> Map<V> for LerpNumberFn
where
    V::Re: HasOrder,
{
    #[inline(always)]
    fn eval([a, b]: [V; 2], weight: V) -> V {
        lerp(a, b, weight)
    }
}

/// From `a` for the weight 0 to `b` for 1, both exactly: from the nearer end.
#[inline(always)]
fn lerp<V: Magnitude>(a: V, b: V, weight: V) -> V
where
    V::Re: HasOrder,
{
    let near = weight.abs().lt(<V::Re as Value>::from_f64(0.5));
    let (end, part) = (V::select(near, a, b), V::select(near, weight, weight - V::one()));
    end.add_scaled(part, b - a)
}

/// The factor must be a number that the dtype holds; float16 and bfloat16 read it as float32.
fn check_value(call: &Check<'_, '_>) -> Result<()> {
    let dtype = if matches!(call.common, DType::F16 | DType::BF16) { DType::F32 } else { call.common };
    call.params.iter().try_for_each(|value| value.check_fits(dtype, "value"))
}

/// Not all of self and the quotient's operands are integers.
fn check_addcdiv(call: &Check<'_, '_>) -> Result<()> {
    let integral =
        |operand: Option<&Operand<'_>>| operand.and_then(Operand::dtype).is_some_and(|d| d.is_integral(true));
    if integral(call.operands.get(1)) && integral(call.operands.get(2)) {
        let rule =
            "the quotient of two integral tensors is not defined here; cast one to a float, or use addcmul and div";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    check_value(call)
}

/// Operands have one dtype, but for a weight without dimensions, which promotes.
fn check_lerp(call: &Check<'_, '_>) -> Result<()> {
    let [a, b, weight @ ..] = call.operands else { return Ok(()) };
    let weight = weight.first().filter(|weight| !weight.sizes().is_empty());
    if [Some(b), weight].into_iter().flatten().any(|operand| operand.dtype() != a.dtype()) {
        let rule = "self, end and a weight with dimensions must have one dtype; cast them to one";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    if let (Some(_), Some(want), Some(got)) = (weight, a.dtype(), call.out.filter(|&out| Some(out) != a.dtype())) {
        return Err(ErrorKind::OutputDType { index: 0, got, want }.into());
    }
    check_value(call)
}

record! { AddcmulFn "addcmul: x x x p", Small within 0:
    int |[a, b, c], [v]| a.wrapping_add(v.wrapping_mul(b).wrapping_mul(c)),
float |[a, b, c], [v]| a + v * b * c, complex |[a, b, c], [v]| a + v * b * c }
record! { AddcdivFn "addcdiv: x x x p", Small within 1024: float |[a, b, c], [v]| a + v * b / c,
complex |[a, b, c], [v]| a + if c.norm() == 0.0 { v * b / 0.0 } else { v * b / c } }
record! { LerpFn "lerp.Tensor: x x x", Small within 64: float |[a, b, w], []| reference::between(a, b, w),
complex |[a, b, w], []| reference::c_between(a, b, w) }
record! { LerpNumberFn "lerp.Scalar: x x p", Small within 64: float |[a, b], [w]| reference::between(a, b, w),
complex |[a, b], [w]| reference::c_between(a, b, w) }

/// `lerp` by a tensor or by a number.
pub struct Lerp;

impl<'t, D: Blend> Operator<'t, D, (Operand<'t>, Operand<'t>, Operand<'t>)> for Lerp {
    fn call<S: ValueSink<'t, D>>(
        (a, end, weight): (Operand<'t>, Operand<'t>, Operand<'t>),
        sink: S,
    ) -> Result<S::Value> {
        match weight {
            Operand::Number(number) => run::<LerpNumberFn, D, _, S>((a, end, number.scalar()), sink),
            _ => run::<LerpFn, D, _, S>((a, end, weight), sink),
        }
    }
}

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use monomorph_core::Complex64;

    pub(super) fn between(a: f64, b: f64, w: f64) -> f64 {
        if w.abs() < 0.5 { a + w * (b - a) } else { b - (b - a) * (1.0 - w) }
    }

    pub(super) fn c_between(a: Complex64, b: Complex64, w: Complex64) -> Complex64 {
        if w.norm() < 0.5 { a + w * (b - a) } else { b - (b - a) * (1.0 - w) }
    }
}

native! {
    family: Blend;

    /// Adds a product, scaled by `value`, elementwise: `self + value · tensor1 · tensor2`.
    ///
    /// The operands broadcast; the result has the dtype that they promote to.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// assert_eq!(x.addcmul(&tensor![3.0f32], &tensor![10.0f32])?.to_vec::<f32>()?, [31.0, 32.0]);
    /// ```
    func: addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor,
    inplace: addcmul_, out: addcmul.out, variants: function, method, structured: Pointwise<AddcmulFn>,
    otherwise: explicit crate::composite::arithmetic::addcmul;

    /// Adds a quotient, scaled by `value`, elementwise: `self + value · tensor1 / tensor2`.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. A quotient of two integers is an error:
    /// convert one to a float.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// assert_eq!(x.addcdiv(&tensor![3.0f32], &tensor![2.0f32])?.to_vec::<f32>()?, [2.5, 3.5]);
    /// ```
    func: addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor,
    inplace: addcdiv_, out: addcdiv.out, variants: function, method, structured: Pointwise<AddcdivFn>,
    otherwise: explicit crate::composite::arithmetic::addcdiv;

    /// Interpolates linearly from `self` to `end`, elementwise: `self + weight · (end - self)`.
    ///
    /// `weight` is a number or a tensor. Tensors broadcast and have the same dtype, a float or complex one.
    ///
    /// ```
    /// let x = tensor![0.0f32, 10.0];
    /// assert_eq!(x.lerp(&tensor![10.0f32, 20.0], 0.25)?.to_vec::<f32>()?, [2.5, 12.5]);
    /// ```
    func: lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor,
    inplace: lerp_.Tensor, out: lerp.Tensor_out, variants: function, method, typed: Lerp,
    structured: Pointwise<LerpFn>, otherwise: explicit crate::composite::arithmetic::lerp;

    func: lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor,
    inplace: lerp_.Scalar, out: lerp.Scalar_out, structured: Pointwise<LerpNumberFn>,
    otherwise: explicit crate::composite::arithmetic::lerp_number;
}
