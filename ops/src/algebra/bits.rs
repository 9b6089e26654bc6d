//! Bitwise logic of bool and integers, and the shifts of integers.

use super::Value;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A value made of bits: bool (one bit, so `!` is logical) and the integers.
#[diagnostic::on_unimplemented(
    message = "the formula works on bits, which `{Self}` does not have",
    note = "only bool and integer dtypes have bits: narrow the operator's domain"
)]
pub trait Bits:
    Value + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

/// An integer that shifts by any amount, as PyTorch defines it.
#[diagnostic::on_unimplemented(
    message = "the formula shifts, which `{Self}` cannot",
    note = "only integer dtypes shift: narrow the operator's domain"
)]
pub trait Shift: Bits {
    /// `self << amount`; 0 for an amount that is negative or not below the width.
    fn shift_left(self, amount: Self) -> Self;

    /// `self >> amount`, with the sign drawn in; for an amount that is negative or not below the width, all sign.
    fn shift_right(self, amount: Self) -> Self;
}
