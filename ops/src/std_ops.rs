//! What Rust's operators compute between tensors: tensor operators of the table.

use crate::functions::{
    add, add_, bitwise_and, bitwise_and_, bitwise_left_shift, bitwise_left_shift_, bitwise_not, bitwise_or,
    bitwise_or_, bitwise_right_shift, bitwise_right_shift_, bitwise_xor, bitwise_xor_, div, div_, mul, mul_, neg,
    remainder, remainder_, sub, sub_,
};
use crate::kernels::{Arithmetic, Bitwise, Remainder};
use monomorph_core::std_ops::{BinaryStdOp, UnaryStdOp, std_op};
use monomorph_core::{Arg, Result, Tensor};

/// `+` is `add`, `-` is `sub` and `neg`, `*` is `mul`, `/` is `div`, `%` is `remainder`; `&`, `|`, `^`, `!`, `<<` and
/// `>>` are the bitwise operators, which are the logical ones on bool.
pub struct StdOps;

macro_rules! binary {
    ($($name:ident: $family:ident, $function:ident, $in_place:ident;)*) => {$(
        impl<D: $family> BinaryStdOp<std_op::$name, D> for StdOps {
            #[inline]
            fn call(a: Arg<'_, D>, b: Arg<'_, D>) -> Result<Tensor<D>> {
                $function(a, b)
            }

            fn assign(this: &mut Tensor<D>, b: Arg<'_, D>) -> Result<()> {
                $in_place(this, b).map(|_| ())
            }
        }
    )*};
}
binary! {
    Add: Arithmetic, add, add_;
    Sub: Arithmetic, sub, sub_;
    Mul: Arithmetic, mul, mul_;
    Div: Arithmetic, div, div_;
    Rem: Remainder, remainder, remainder_;
    BitAnd: Bitwise, bitwise_and, bitwise_and_;
    BitOr: Bitwise, bitwise_or, bitwise_or_;
    BitXor: Bitwise, bitwise_xor, bitwise_xor_;
    Shl: Bitwise, bitwise_left_shift, bitwise_left_shift_;
    Shr: Bitwise, bitwise_right_shift, bitwise_right_shift_;
}

impl<D: Arithmetic> UnaryStdOp<std_op::Neg, D> for StdOps {
    fn call(a: Arg<'_, D>) -> Result<Tensor<D>> {
        neg(a)
    }
}

impl<D: Bitwise> UnaryStdOp<std_op::Not, D> for StdOps {
    fn call(a: Arg<'_, D>) -> Result<Tensor<D>> {
        bitwise_not(a)
    }
}
