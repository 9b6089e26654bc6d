//! Selection by a mask: where, masked_fill.

use crate::algebra::Value;
use crate::copies::{clone_tensor, to_dtype};
use crate::kernels::Selection;
use crate::pointwise::{AllDTypes, Check, Common, Map, MaskAndTwo, Rule, pointwise, run, stored};
use crate::record::record;
use crate::view::expand;
use monomorph_core::strides::broadcast_sizes;
use monomorph_core::structured::{Operand, in_place};
use monomorph_core::{DType, Error, ErrorKind, MemoryFormat, Result, Scalar, Tensor, observe};

pointwise! {
    WhereFn "where": AllDTypes, MaskAndTwo; () => Common;
    Rule::PROMOTE_EXACT, check = check_condition, light = true, exact = true
}
impl<V: Value> Map<V> for WhereFn {
    #[inline(always)]
    fn eval((condition, [a, b]): (V::Mask, [V; 2]), (): ()) -> V {
        V::select(condition, a, b)
    }
}

pointwise! {
    MaskedFillFn "masked_fill_": AllDTypes, MaskAndTwo; () => Common;
    Rule::PROMOTE_EXACT.over_itself(), check = check_mask, light = true
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

fn broadcast_copy<D: Selection>(this: &Tensor<D>, mask: &Tensor<D>) -> Result<Tensor<D>> {
    let copy = || {
        let sizes = broadcast_sizes(this.sizes(), mask.sizes())?;
        clone_tensor(&this.view_as(expand(this.geometry(), &sizes, false)?)?, Some(MemoryFormat::Contiguous))
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

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __selection_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [masked_fill.Scalar] (Tensor self, Tensor mask, Scalar value) -> (Tensor)
            : hand ($crate::selection::masked_fill) {
            functional masked_fill; autoout - [masked_fill.Scalar_out];
        } }
        { [masked_fill_.Scalar] (Tensor self, Tensor mask, Scalar value) -> (Tensor)
            : hand ($crate::selection::masked_fill_) {
            inplace masked_fill_ [masked_fill_.Scalar];
        } }
        { [masked_fill.Tensor] (Tensor self, Tensor mask, Tensor value) -> (Tensor)
            : hand ($crate::selection::masked_fill_from) {
            functional masked_fill_from; autoout - [masked_fill.Tensor_out];
        } }
        { [masked_fill_.Tensor] (Tensor self, Tensor mask, Tensor value) -> (Tensor)
            : hand ($crate::selection::masked_fill_from_) {
            inplace masked_fill_from_ [masked_fill_.Tensor];
        } }
        { [] () -> () : formula ($crate::selection::MaskedFillFn) {} }
        { [where.self] (Tensor condition, Tensor self, Tensor other) -> (Tensor)
            : formula ($crate::selection::WhereFn) {
            functional where_; out where_out [where.self_out];
        } }
        { [where.ScalarSelf] (Tensor condition, Scalar self, Tensor other) -> (Tensor)
            : op ($crate::Op<$crate::selection::WhereFn>) {
            functional -;
        } }
        { [where.ScalarOther] (Tensor condition, Tensor self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::selection::WhereFn>) {
            functional -;
        } }
        { [where.Scalar] (Tensor condition, Scalar self, Scalar other) -> (Tensor)
            : op ($crate::Op<$crate::selection::WhereFn>) {
            functional -;
        } }
    } };
}
