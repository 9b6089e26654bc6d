//! What the signs of Rust call between tensors: operators of the table. Which operands a sign takes is core's.

use crate::functions::{
    add, add_, bitwise_and, bitwise_and_, bitwise_left_shift, bitwise_left_shift_, bitwise_not, bitwise_or,
    bitwise_or_, bitwise_right_shift, bitwise_right_shift_, bitwise_xor, bitwise_xor_, div, div_, mul, mul_, neg,
    remainder, remainder_, sub, sub_,
};
use crate::kernels::{Arithmetic, Bitwise, Remainder};
use monomorph_core::infix::{Infix, Prefix, sign};
use monomorph_core::{Arg, Result, Tensor};

/// The operators of the table as signs: `+` is `add`, `-` is `sub` and `neg`, `*` is `mul`, `/` is `div`, `%` is
/// `remainder`; `&`, `|`, `^`, `!`, `<<` and `>>` are those on bits, which on bool are the logical ones.
pub struct Signs;

macro_rules! infix {
    ($($sign:ident: $family:ident, $op:ident, $in_place:ident;)*) => {$(
        impl<D: $family> Infix<sign::$sign, D> for Signs {
            #[inline]
            fn call(a: Arg<'_, D>, b: Arg<'_, D>) -> Result<Tensor<D>> {
                $op(a, b)
            }

            fn assign(this: &mut Tensor<D>, b: Arg<'_, D>) -> Result<()> {
                $in_place(this, b).map(|_| ())
            }
        }
    )*};
}
infix! {
    Plus: Arithmetic, add, add_;
    Minus: Arithmetic, sub, sub_;
    Times: Arithmetic, mul, mul_;
    Over: Arithmetic, div, div_;
    Modulo: Remainder, remainder, remainder_;
    And: Bitwise, bitwise_and, bitwise_and_;
    Or: Bitwise, bitwise_or, bitwise_or_;
    Xor: Bitwise, bitwise_xor, bitwise_xor_;
    ShiftLeft: Bitwise, bitwise_left_shift, bitwise_left_shift_;
    ShiftRight: Bitwise, bitwise_right_shift, bitwise_right_shift_;
}

impl<D: Arithmetic> Prefix<sign::Negative, D> for Signs {
    fn call(a: Arg<'_, D>) -> Result<Tensor<D>> {
        neg(a)
    }
}

impl<D: Bitwise> Prefix<sign::Not, D> for Signs {
    fn call(a: Arg<'_, D>) -> Result<Tensor<D>> {
        bitwise_not(a)
    }
}
