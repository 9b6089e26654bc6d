//! Arithmetic: add, sub, rsub, mul, div with its rounding modes, neg, abs, under these names and the longer ones;
//! degrees and radians.

use crate::algebra::{Magnitude as HasMagnitude, Num, RoundedDivision, TrueDivision};
use crate::kernels::Arithmetic;
use crate::pointwise::{
    AllDTypes, Check, Common, FloatComplex, Magnitude, Map, Number, Numeric, Real, Rule, Same, pointwise, run,
};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::structured::{Operand, Operator, ValueSink};
use monomorph_core::{DType, Error, ErrorKind, Result, Scalar};

/// Two operands that promote, and a factor that is rounded as an element is: of halves PyTorch takes `alpha` as one.
const SCALED: Rule = Rule::BINARY.with_stored_numbers();

pointwise! { AddFn "add": AllDTypes, Same<2>; Number => Common; SCALED, check = check_alpha }
impl<V: Num> Map<V> for AddFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], alpha: V) -> V {
        a.add_scaled(alpha, b)
    }
}

pointwise! { SubFn "sub": Numeric, Same<2>; Number => Common; SCALED, check = check_sub }
impl<V: Num> Map<V> for SubFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], alpha: V) -> V {
        a.add_scaled(-alpha, b)
    }
}

pointwise! { MulFn "mul": AllDTypes, Same<2>; () => Common; Rule::BINARY.with_wide_scalar() }
impl<V: Num> Map<V> for MulFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a * b
    }
}

pointwise! { DivFn "div": FloatComplex, Same<2>; () => Common; Rule::BINARY_FLOAT.with_wide_scalar() }
impl<V: TrueDivision> Map<V> for DivFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a / b
    }
}

pointwise! { DivTruncFn "div": Real, Same<2>; () => Common; Rule::BINARY, fault = ErrorKind::DivisionByZero }
impl<V: RoundedDivision> Map<V> for DivTruncFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.div_trunc(b)
    }
    #[inline(always)]
    fn fault([_, b]: [V; 2]) -> V::Mask {
        V::faults(b)
    }
}

pointwise! {
    DivFloorFn "div": Real, Same<2>; () => Common; Rule::BINARY.with_wide_scalar(), fault = ErrorKind::DivisionByZero
}
impl<V: RoundedDivision> Map<V> for DivFloorFn {
    #[inline(always)]
    fn eval([a, b]: [V; 2], (): ()) -> V {
        a.div_floor(b)
    }
    #[inline(always)]
    fn fault([_, b]: [V; 2]) -> V::Mask {
        V::faults(b)
    }
}

pointwise! { NegFn "neg": Numeric, Same<1>; () => Common; Rule::UNARY }
impl<V: Num> Map<V> for NegFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V {
        -a
    }
}

pointwise! { AbsFn "abs": Numeric, Same<1>; () => Magnitude; Rule::UNARY }
impl<V: HasMagnitude> Map<V> for AbsFn {
    #[inline(always)]
    fn eval([a]: [V; 1], (): ()) -> V::Re {
        a.abs()
    }
}

/// The factor of the second operand must be a number of the common dtype's kind or a lower one.
fn check_alpha(call: &Check<'_, '_>) -> Result<()> {
    let [alpha] = call.params else { return Ok(()) };
    let rule = match alpha {
        // What it is unless it is given: it fits every dtype.
        Scalar::Int(1) => return Ok(()),
        Scalar::Bool(_) if call.common != DType::Bool => {
            "argument alpha is a bool, which only a bool result accepts; give 1"
        }
        Scalar::Float(_) if call.common.is_integral(true) => {
            "argument alpha is a float, but the result is integral; give an int"
        }
        Scalar::Complex(_) if !call.common.is_complex() => {
            "argument alpha is complex, but the result is real; give a real number"
        }
        _ => return alpha.check_fits(call.common, "alpha"),
    };
    Err(ErrorKind::ArgumentRule { rule }.into())
}

/// No operand of a subtraction may be bool, not even next to another dtype.
fn check_sub(call: &Check<'_, '_>) -> Result<()> {
    if call.operands.iter().any(|o| o.dtype() == Some(DType::Bool)) {
        let accepted = "all dtypes but bool; use logical_xor, or invert a mask with logical_not";
        return Err(ErrorKind::DTypeNotSupported { what: "an operand has dtype", got: DType::Bool, accepted }.into());
    }
    check_alpha(call)
}

/// `div` with a rounding mode: true division for none, else the quotient rounded to zero or down.
pub struct DivMode;

impl<'t, D: Arithmetic, A, B> Operator<'t, D, (A, B, Option<&'t str>)> for DivMode
where
    A: Into<Operand<'t>>,
    B: Into<Operand<'t>>,
{
    fn call<S: ValueSink<'t, D>>((a, b, mode): (A, B, Option<&'t str>), sink: S) -> Result<S::Value> {
        match mode {
            None => run::<DivFn, D, _, S>((a, b), sink),
            Some("trunc") => run::<DivTruncFn, D, _, S>((a, b), sink),
            Some("floor") => run::<DivFloorFn, D, _, S>((a, b), sink),
            Some(other) => {
                let accepted = "None (true division), \"trunc\" (towards zero) and \"floor\" (down)";
                let error = ErrorKind::UnknownOption { arg: "rounding_mode", got: other.to_owned(), accepted };
                Err(Error::new(error).of("div"))
            }
        }
    }
}

/// `rsub`: `sub` with its operands exchanged.
pub struct Rsub;

impl<'t, D: Arithmetic, B: Into<Operand<'t>>> Operator<'t, D, (Operand<'t>, B, Scalar)> for Rsub {
    fn call<S: ValueSink<'t, D>>((a, b, alpha): (Operand<'t>, B, Scalar), sink: S) -> Result<S::Value> {
        run::<SubFn, D, _, S>((b, a, alpha), sink)
    }
}

/// `deg2rad`: a product with the radians of a degree.
pub struct Deg2rad;
/// `rad2deg`: a product with the degrees of a radian.
pub struct Rad2deg;

impl<'t, D: Arithmetic> Operator<'t, D, (Operand<'t>,)> for Deg2rad {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        angle::<D, S>(a, std::f64::consts::PI / 180.0, sink).map_err(|e| e.of("deg2rad"))
    }
}

impl<'t, D: Arithmetic> Operator<'t, D, (Operand<'t>,)> for Rad2deg {
    fn call<S: ValueSink<'t, D>>((a,): (Operand<'t>,), sink: S) -> Result<S::Value> {
        angle::<D, S>(a, 180.0 / std::f64::consts::PI, sink).map_err(|e| e.of("rad2deg"))
    }
}

fn angle<'t, D: Arithmetic, S: ValueSink<'t, D>>(a: Operand<'t>, unit: f64, sink: S) -> Result<S::Value> {
    if let Some(got) = a.dtype().filter(|dtype| dtype.is_complex()) {
        let what = "argument self has dtype";
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "bool, integers and floats" }.into());
    }
    run::<MulFn, D, _, S>((a, Scalar::Float(unit)), sink)
}

record! { AddFn "add.Tensor: x x p", Any within 1, of dtype:
bool |[a, b], [f]| a | (f & b), int |[a, b], [f]| a.wrapping_add(f.wrapping_mul(b)),
float |[a, b], [f]| reference::factor(dtype, f).mul_add(b, a), complex |[a, b], [f]| a + f * b }
record! { SubFn "sub.Tensor: x x p", Any within 1, of dtype:
int |[a, b], [f]| a.wrapping_sub(f.wrapping_mul(b)),
float |[a, b], [f]| (-reference::factor(dtype, f)).mul_add(b, a), complex |[a, b], [f]| a - f * b }
record! { MulFn "mul.Tensor: x x", Any within 0:
bool |[a, b], []| a & b, int |[a, b], []| a.wrapping_mul(b),
float |[a, b], []| a * b, complex |[a, b], []| a * b }
record! { DivFn "div.Tensor: x x", Any within 4:
float |[a, b], []| a / b, complex |[a, b], []| if b.norm() == 0.0 { a / 0.0 } else { a / b } }
record! { DivTruncFn "div.Tensor_mode: x x trunc", Small within 0:
int |[a, b], []| (b != 0).then(|| a.wrapping_div(b)), float |[a, b], []| (a / b).trunc() }
record! { DivFloorFn "div.Tensor_mode: x x floor", Small within 0:
int |[a, b], []| (b != 0).then(|| a.wrapping_div_euclid(b).wrapping_sub((b < 0 && a.wrapping_rem(b) != 0).into())),
float |[a, b], []| if b == 0.0 { a / b } else { reference::floor_quotient(a, b) } }
record! { NegFn "neg: x", Any within 0:
int |[a], []| a.wrapping_neg(), float |[a], []| -a, complex |[a], []| -a }
record! { AbsFn "abs: x", Any within 1:
int |[a], []| a.wrapping_abs(), float |[a], []| a.abs(), complex |[a], []| a.norm() }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use crate::pointwise::stored;
    use monomorph_core::{DType, Scalar};

    /// `alpha`, which float16 and bfloat16 round.
    pub(super) fn factor(dtype: DType, alpha: f64) -> f64 {
        match dtype {
            DType::F16 | DType::BF16 => stored(Scalar::Float(alpha), dtype).to_f64(),
            _ => alpha,
        }
    }

    /// Python's quotient of floats rounded down.
    pub(super) fn floor_quotient(a: f64, b: f64) -> f64 {
        let rest = a % b;
        let floor = (a - rest) / b - f64::from(u8::from(rest != 0.0 && (rest < 0.0) != (b < 0.0)));
        if floor == 0.0 { floor.copysign(a / b) } else { floor }
    }
}

native! {
    family: Arithmetic;

    /// Adds `other`, scaled by `alpha`, elementwise: `self + alpha · other`.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. A number promotes only where it is of a
    /// higher kind than the tensor: an int32 tensor and `1` stay int32, an int32 tensor and `0.5` give float32. For
    /// bool the sum is the logical or. Integers wrap.
    ///
    /// `alpha` must be of the kind of the result or a lower one: a float `alpha` for integers is an error.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// assert_eq!(x.add(&tensor![10, 20])?.to_vec::<f32>()?, [11.0, 22.0]);
    /// assert_eq!(x.add_with(1, Add { alpha: 0.5.into(), ..Default::default() })?.to_vec::<f32>()?, [1.5, 2.5]);
    /// assert_eq!((&x + 1)?.to_vec::<f32>()?, [2.0, 3.0]);
    /// ```
    func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor,
    inplace: add_.Tensor, out: add.out, variants: function, method, structured: Pointwise<AddFn>;

    func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor,
    inplace: add_.Scalar, autogen: add.Scalar_out, structured: Pointwise<AddFn>;

    /// Subtracts `other`, scaled by `alpha`, elementwise: `self - alpha · other`.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. Integers wrap. No operand may be bool:
    /// use [`logical_xor`](super::functions::logical_xor), or [`logical_not`](super::functions::logical_not) to invert
    /// a mask.
    ///
    /// ```
    /// let x = tensor![5, 7];
    /// assert_eq!(x.sub(&tensor![1, 2])?.to_vec::<i32>()?, [4, 5]);
    /// assert_eq!(x.sub_with(1, Sub { alpha: 2.into(), ..Default::default() })?.to_vec::<i32>()?, [3, 5]);
    /// ```
    func: sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor,
    inplace: sub_.Tensor, out: sub.out, variants: function, method, structured: Pointwise<SubFn>,
    otherwise: explicit crate::composite::arithmetic::sub;

    func: sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor,
    inplace: sub_.Scalar, autogen: sub.Scalar_out, structured: Pointwise<SubFn>;

    /// Multiplies by `other` elementwise: `self · other`.
    ///
    /// The operands broadcast; the result has the dtype that they promote to. For bool the product is the logical and.
    /// Integers wrap.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// assert_eq!(x.mul(&tensor![10, 100])?.to_vec::<f32>()?, [10.0, 200.0, 30.0, 400.0]);
    /// assert_eq!((2 * &x)?.to_vec::<f32>()?, [2.0, 4.0, 6.0, 8.0]);
    /// ```
    func: mul.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: mul_.Tensor, out: mul.out, variants: function, method, structured: Pointwise<MulFn>;

    func: mul.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: mul_.Scalar, autogen: mul.Scalar_out, structured: Pointwise<MulFn>;

    /// Divides by `other` elementwise: `self / other`, the true quotient.
    ///
    /// The operands broadcast; the result has the dtype that they promote to, float32 where that is bool or an integer.
    /// A division by zero gives an infinity or NaN. Quotients that are rounded are those of `div_with` and
    /// [`floor_divide`](super::functions::floor_divide).
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// assert_eq!(x.div(2)?.to_vec::<f32>()?, [0.5, 1.0]);
    /// assert_eq!((1.0 / &x)?.to_vec::<f32>()?, [1.0, 0.5]);
    /// ```
    func: div.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: div_.Tensor, out: div.out, variants: function, method, structured: Pointwise<DivFn>;

    func: div.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: div_.Scalar, autogen: div.Scalar_out, structured: Pointwise<DivFn>;

    /// Divides by `other` elementwise and rounds the quotient as `rounding_mode` says.
    ///
    /// * `None` is the true quotient, as that of [`div`](super::functions::div).
    /// * `Some("trunc")` rounds towards zero, as the division of integers in Rust does. It keeps integers.
    /// * `Some("floor")` rounds down, as `//` in Python does. It keeps integers.
    ///
    /// An integer division by zero is an error.
    ///
    /// ```
    /// let x = tensor![7, -7];
    /// let down = Div { rounding_mode: Some("floor"), ..Default::default() };
    /// assert_eq!(x.div_with(2, down)?.to_vec::<i32>()?, [3, -4]);
    /// let to_zero = Div { rounding_mode: Some("trunc"), ..Default::default() };
    /// assert_eq!(x.div_with(2, to_zero)?.to_vec::<i32>()?, [3, -3]);
    /// ```
    func: div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor,
    inplace: div_.Tensor_mode, out: div.out_mode, variants: function, method, name: div_with,
    options: [rounding_mode], operator: DivMode;

    func: div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor,
    inplace: div_.Scalar_mode, autogen: div.Scalar_mode_out, operator: DivMode;

    /// Negates elementwise: `-self`.
    ///
    /// The dtype stays. Integers wrap, so that the smallest int8 stays -128 and uint8 counts from 256. Bool is an
    /// error: use [`logical_not`](super::functions::logical_not).
    ///
    /// ```
    /// assert_eq!(tensor![1.5f32, -2.0].neg()?.to_vec::<f32>()?, [-1.5, 2.0]);
    /// assert_eq!((-&tensor![1u8])?.to_vec::<u8>()?, [255]);
    /// ```
    func: neg(Tensor self) -> Tensor,
    inplace: neg_, out: neg.out, variants: function, method, structured: Pointwise<NegFn>;

    /// Takes the absolute value elementwise: `|self|`.
    ///
    /// Complex numbers give the real dtype of their parts; all other dtypes stay. The smallest integer of a dtype wraps
    /// to itself. Bool is an error.
    ///
    /// ```
    /// assert_eq!(tensor![-1.5f32, 2.0].abs()?.to_vec::<f32>()?, [1.5, 2.0]);
    /// let z = tensor![monomorph::Complex32::new(3.0, 4.0)];
    /// assert_eq!(z.abs()?.to_vec::<f32>()?, [5.0]);
    /// ```
    func: abs(Tensor self) -> Tensor,
    inplace: abs_, out: abs.out, variants: function, method, structured: Pointwise<AbsFn>;

    /// [`sub`](super::functions::sub) under another name.
    func: subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor,
    inplace: subtract_.Tensor, out: subtract.out, variants: function, method, redirect: sub,
    operator: Pointwise<SubFn>;

    func: subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor,
    inplace: subtract_.Scalar, redirect: sub, operator: Pointwise<SubFn>;

    /// Subtracts `self`, scaled by `alpha`, from `other`, elementwise: `other - alpha · self`.
    ///
    /// It is [`sub`](super::functions::sub) with its operands exchanged.
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// assert_eq!(x.rsub(10)?.to_vec::<i32>()?, [9, 8]);
    /// ```
    func: rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor,
    autogen: rsub.Tensor_out, variants: function, method, operator: Rsub,
    otherwise: explicit crate::composite::arithmetic::rsub;

    func: rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor,
    autogen: rsub.Scalar_out, operator: Rsub, otherwise: explicit crate::composite::arithmetic::rsub_number;

    /// [`mul`](super::functions::mul) under another name.
    func: multiply.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: multiply_.Tensor, out: multiply.out, variants: function, method, redirect: mul,
    operator: Pointwise<MulFn>;

    func: multiply.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: multiply_.Scalar, redirect: mul, operator: Pointwise<MulFn>;

    /// [`div`](super::functions::div) under another name.
    func: divide.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: divide_.Tensor, out: divide.out, variants: function, method, redirect: div, operator: Pointwise<DivFn>;

    func: divide.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: divide_.Scalar, redirect: div, operator: Pointwise<DivFn>;

    /// [`div`](super::functions::div) under another name.
    func: true_divide.Tensor(Tensor self, Tensor other) -> Tensor,
    inplace: true_divide_.Tensor, out: true_divide.out, variants: function, method, redirect: div,
    operator: Pointwise<DivFn>;

    func: true_divide.Scalar(Tensor self, Scalar other) -> Tensor,
    inplace: true_divide_.Scalar, redirect: div, operator: Pointwise<DivFn>;

    /// [`div_with`](super::functions::div_with) under another name.
    func: divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor,
    inplace: divide_.Tensor_mode, out: divide.out_mode, variants: function, method, name: divide_with,
    options: [rounding_mode], redirect: div, operator: DivMode;

    func: divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor,
    inplace: divide_.Scalar_mode, redirect: div, operator: DivMode;

    /// [`neg`](super::functions::neg) under another name.
    func: negative(Tensor self) -> Tensor,
    inplace: negative_, out: negative.out, variants: function, method, redirect: neg, operator: Pointwise<NegFn>;

    /// [`abs`](super::functions::abs) under another name.
    func: absolute(Tensor self) -> Tensor,
    inplace: absolute_, out: absolute.out, variants: function, method, redirect: abs, operator: Pointwise<AbsFn>;

    /// Converts degrees to radians elementwise: `self · π / 180`.
    ///
    /// Integers and bool give float32. Complex numbers are an error.
    ///
    /// ```
    /// use std::f32::consts::PI;
    /// assert_eq!(tensor![180.0f32, 90.0].deg2rad()?.to_vec::<f32>()?, [PI, PI / 2.0]);
    /// ```
    func: deg2rad(Tensor self) -> Tensor,
    inplace: deg2rad_, out: deg2rad.out, variants: function, method, operator: Deg2rad;

    /// Converts radians to degrees elementwise: `self · 180 / π`.
    ///
    /// Integers and bool give float32. Complex numbers are an error.
    ///
    /// ```
    /// use std::f32::consts::PI;
    /// assert_eq!(tensor![PI].rad2deg()?.to_vec::<f32>()?, [180.0]);
    /// ```
    func: rad2deg(Tensor self) -> Tensor,
    inplace: rad2deg_, out: rad2deg.out, variants: function, method, operator: Rad2deg;

    structured: Pointwise<DivTruncFn>;

    structured: Pointwise<DivFloorFn>;
}
