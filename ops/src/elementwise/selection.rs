//! Selection by a mask: where, masked_fill.

use crate::algebra::Value;
use crate::copies::{clone_tensor, to_dtype};
use crate::kernels::Selection;
use crate::pointwise::{AllDTypes, Check, Common, Map, MaskAndTwo, Rule, pointwise, run, stored};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use crate::view::expand;
use monomorph_core::strides::broadcast_sizes;
use monomorph_core::structured::{Operand, in_place};
use monomorph_core::{DType, Error, ErrorKind, MemoryFormat, Result, Scalar, Tensor, TensorOrNumber, observe};

pointwise! { WhereFn "where": AllDTypes, MaskAndTwo; () => Common; Rule::PROMOTE_EXACT, check = check_condition }
impl<V: Value> Map<V> for WhereFn {
    #[inline(always)]
    fn eval((condition, [a, b]): (V::Mask, [V; 2]), (): ()) -> V {
        V::select(condition, a, b)
    }
}

pointwise! {
    MaskedFillFn "masked_fill_": AllDTypes, MaskAndTwo; () => Common;
    Rule::PROMOTE_EXACT.over_itself(), check = check_mask
}
impl<V: Value> Map<V> for MaskedFillFn {
    #[inline(always)]
    fn eval((mask, [a, value]): (V::Mask, [V; 2]), (): ()) -> V {
        V::select(mask, value, a)
    }
}

/// The mask of `masked_fill_` is bool.
fn check_mask(call: &Check<'_, '_>) -> Result<()> {
    match call.operands.first().and_then(Operand::dtype) {
        Some(got) if got != DType::Bool => {
            Err(ErrorKind::DTypeNotSupported { what: "argument mask has dtype", got, accepted: "bool" }.into())
        }
        _ => Ok(()),
    }
}

/// `masked_fill_.Scalar`: writes a number where a mask holds. The number must be one that the dtype holds.
pub fn masked_fill_<'a, D: Selection>(
    this: &'a mut Tensor<D>,
    mask: &Tensor<D>,
    value: impl Into<Scalar>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("masked_fill_", [this.geometry(), mask.geometry()]);
    write_number(this, mask, value.into())
}

fn write_number<'a, D: Selection>(
    this: &'a mut Tensor<D>,
    mask: &Tensor<D>,
    value: Scalar,
) -> Result<&'a mut Tensor<D>> {
    let dtype = this.dtype();
    value.check_fits(dtype, "value").map_err(|e| e.of("masked_fill_"))?;
    // As an element, so that it promotes nothing.
    write_masked(this, mask, stored(value, dtype).into())
}

/// `masked_fill_.Tensor`: the same with a tensor without dimensions.
pub fn masked_fill_from_<'a, D: Selection>(
    this: &'a mut Tensor<D>,
    mask: &Tensor<D>,
    value: &Tensor<D>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("masked_fill_", [this.geometry(), mask.geometry(), value.geometry()]);
    if value.ndim() != 0 {
        let error = ErrorKind::DimCount { arg: "value", got: value.ndim(), accepted: "0; take one element of it" };
        return Err(Error::new(error).of("masked_fill_"));
    }
    if let Ok(number) = value.item() {
        return write_number(this, mask, number);
    }
    let value = to_dtype(value, this.dtype(), false, false, None)?;
    write_masked(this, mask, (&value).into())
}

fn write_masked<'a, D: Selection>(
    this: &'a mut Tensor<D>,
    mask: &Tensor<D>,
    value: Operand<'_>,
) -> Result<&'a mut Tensor<D>> {
    in_place(this, |input, sink, _| run::<MaskedFillFn, D, _, _>((mask, Operand::from(input), value), sink))
}

/// `masked_fill.Scalar`: a contiguous copy, broadcast with the mask, with a number where the mask holds.
pub fn masked_fill<D: Selection>(this: &Tensor<D>, mask: &Tensor<D>, value: impl Into<Scalar>) -> Result<Tensor<D>> {
    let _span = observe::operator("masked_fill", [this.geometry(), mask.geometry()]);
    let mut out = broadcast_copy(this, mask)?;
    masked_fill_(&mut out, mask, value)?;
    Ok(out)
}

/// `masked_fill.Tensor`: the same with a tensor without dimensions.
pub fn masked_fill_from<D: Selection>(this: &Tensor<D>, mask: &Tensor<D>, value: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("masked_fill", [this.geometry(), mask.geometry(), value.geometry()]);
    let mut out = broadcast_copy(this, mask)?;
    masked_fill_from_(&mut out, mask, value)?;
    Ok(out)
}

/// `masked_fill` with a number or a tensor without dimensions.
pub fn masked_fill_of<D: Selection>(
    this: &Tensor<D>,
    mask: &Tensor<D>,
    value: TensorOrNumber<'_, D>,
) -> Result<Tensor<D>> {
    match value {
        TensorOrNumber::Tensor(value) => masked_fill_from(this, mask, value),
        TensorOrNumber::Number(value) => masked_fill(this, mask, value),
    }
}

/// `masked_fill_` with a number or a tensor without dimensions.
pub fn masked_fill_of_<'a, D: Selection>(
    this: &'a mut Tensor<D>,
    mask: &Tensor<D>,
    value: TensorOrNumber<'_, D>,
) -> Result<&'a mut Tensor<D>> {
    match value {
        TensorOrNumber::Tensor(value) => masked_fill_from_(this, mask, value),
        TensorOrNumber::Number(value) => masked_fill_(this, mask, value),
    }
}

fn broadcast_copy<D: Selection>(this: &Tensor<D>, mask: &Tensor<D>) -> Result<Tensor<D>> {
    let copy = || {
        let sizes = broadcast_sizes(this.sizes(), mask.sizes())?;
        clone_tensor(&this.with_geometry(expand(this.geometry(), &sizes, false)?)?, Some(MemoryFormat::Contiguous))
    };
    copy().map_err(|e: Error| e.of("masked_fill"))
}

/// The condition of `where` is bool; uint8 is accepted as PyTorch still does.
fn check_condition(call: &Check<'_, '_>) -> Result<()> {
    match call.operands.first().and_then(Operand::dtype) {
        Some(got) if !matches!(got, DType::Bool | DType::U8) => {
            Err(ErrorKind::DTypeNotSupported { what: "argument condition has dtype", got, accepted: "bool" }.into())
        }
        _ => Ok(()),
    }
}

record! { MaskedFillFn "-: x x x", Any within 0:
bool |[m, a, v], []| if m { v } else { a }, int |[m, a, v], []| if m != 0 { v } else { a },
float |[m, a, v], []| if m != 0.0 { v } else { a }, complex |[m, a, v], []| if m.re != 0.0 { v } else { a } }
record! { WhereFn "where.self: x x x", Any within 0:
bool |[c, a, b], []| if c { a } else { b }, int |[c, a, b], []| if c != 0 { a } else { b },
float |[c, a, b], []| if c != 0.0 { a } else { b }, complex |[c, a, b], []| if c.re != 0.0 { a } else { b } }

native! {
    family: Selection;

    func: masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor,
    autogen: masked_fill.Scalar_out, kernel: masked_fill;

    func: masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!),
    kernel: masked_fill_;

    /// A copy in which the elements where `mask` is true are `value`.
    ///
    /// `mask` is bool; it and the tensor broadcast. The dtype is that of the tensor. `value` is a number or a tensor of
    /// no dimensions.
    ///
    /// ```
    /// let x = tensor![1.0f32, -2.0, 3.0];
    /// assert_eq!(x.masked_fill(&x.lt(0)?, 0)?.to_vec::<f32>()?, [1.0, 0.0, 3.0]);
    /// ```
    func: masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor,
    autogen: masked_fill.Tensor_out, variants: function, numbers: [value], typed: masked_fill_of,
    kernel: masked_fill_from;

    /// Writes `value` in place to the elements where `mask` is true.
    ///
    /// `mask` is bool and broadcasts to the tensor. `value` is a number or a tensor of no dimensions.
    ///
    /// ```
    /// let mut x = tensor![1.0f32, -2.0, 3.0];
    /// x.masked_fill_(&tensor![true, false, false], 9)?;
    /// assert_eq!(x.to_vec::<f32>()?, [9.0, -2.0, 3.0]);
    /// ```
    func: masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!),
    variants: function, numbers: [value], typed: masked_fill_of_, kernel: masked_fill_from_;

    structured: Pointwise<MaskedFillFn>;

    /// Chooses elementwise: `self` where `condition` is true, `other` where it is false.
    ///
    /// All three broadcast. `condition` is bool or uint8; the result has the dtype that the others promote to.
    ///
    /// ```
    /// let x = tensor![1.0f32, -2.0, 3.0];
    /// assert_eq!(x.where_(&x.gt(0)?, 0)?.to_vec::<f32>()?, [1.0, 0.0, 3.0]);
    /// assert_eq!(ops::where_(&x.gt(0)?, &x, &tensor![9])?.to_vec::<f32>()?, [1.0, 9.0, 3.0]);
    /// ```
    func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor,
    out: where.self_out, variants: function, name: where_, structured: Pointwise<WhereFn>;

    func: where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor,
    structured: Pointwise<WhereFn>;

    func: where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor,
    structured: Pointwise<WhereFn>;

    func: where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor,
    structured: Pointwise<WhereFn>;
}
