//! Selection by a mask: where.

use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Check, Common, Map, MaskAndTwo, Rule, pointwise};
use crate::record::record;
use monomorph_core::structured::Operand;
use monomorph_core::{DType, ErrorKind, Result};

pointwise! { WhereFn "where": AllDTypes, MaskAndTwo; () => Common; Rule::PROMOTE_EXACT, check = check_condition, light = true }
impl<V: Value> Map<V> for WhereFn {
    #[inline(always)]
    fn eval((condition, [a, b]): (V::Mask, [V; 2]), (): ()) -> V {
        V::select(condition, a, b)
    }
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

record! { WhereFn "where.self: x x x", Any within 0:
bool |[c, a, b], []| if c { a } else { b }, int |[c, a, b], []| if c != 0 { a } else { b },
float |[c, a, b], []| if c != 0.0 { a } else { b }, complex |[c, a, b], []| if c.re != 0.0 { a } else { b } }

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __selection_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
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
