//! Rust's operators between tensors: `(&a + &b)?`, `(1.0 - &a)?`, `a += &b`. [`Device::StdOps`] says what they compute,
//! a type of the crate that defines tensor operators; this module implements the traits of `std::ops`, which Rust wants
//! in the crate of [`Tensor`].
//!
//! * The result is a `Result`, because sizes may not broadcast. A `Result` may be an operand, on either side of another
//!   tensor: `(&a * &b + &c)?`.
//! * The right operand is a tensor, owned or by reference, or a number. A number as the left operand is an `f64`, an
//!   `i64` or a [`Scalar`]: were there more types, the compiler could not tell which one the literal in `1.0 - &a` is.
//! * `%` has the sign of the divisor, as in Python and PyTorch; `/` is true division.
//! * `a += b` has no result, so it panics where `add_` returns an error. Where sizes or dtypes are a caller's, call
//!   `add_`.
//! * There is no `a == b`: `PartialEq` would return a bool where PyTorch returns a tensor of them; `eq` does that.
//!   There is no `a[i]`: `Index` returns a reference to something that exists, and a view is made.

use super::{Arg, IntoArg};
use crate::dtype::Scalar;
use crate::error::Result;
use crate::storage::Device;
use crate::tensor::Tensor;

/// The operators as types, under the names of their traits in `std::ops`.
pub mod std_op {
    macro_rules! operators {
        ($($name:ident $text:literal),*) => {$(
            #[doc = concat!("`", $text, "`")]
            pub struct $name;
        )*};
    }
    operators! {
        Add "a + b", Sub "a - b", Mul "a * b", Div "a / b", Rem "a % b", BitAnd "a & b", BitOr "a | b", BitXor "a ^ b",
        Shl "a << b", Shr "a >> b", Neg "-a", Not "!a"
    }
}

/// What a binary operator of [`std_op`] computes on device `D`.
pub trait BinaryStdOp<Op, D: Device> {
    /// `a + b`
    fn call(a: Arg<'_, D>, b: Arg<'_, D>) -> Result<Tensor<D>>;

    /// `this += b`
    fn assign(this: &mut Tensor<D>, b: Arg<'_, D>) -> Result<()>;
}

/// What a unary operator of [`std_op`] computes on device `D`.
pub trait UnaryStdOp<Op, D: Device> {
    /// `-a`
    fn call(a: Arg<'_, D>) -> Result<Tensor<D>>;
}

/// An operand of Rust's operators beside a tensor: a tensor, owned or by reference, the `Result` of one, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand beside a tensor of `{D}`",
    label = "neither a tensor of `{D}`, nor the `Result` of one, nor a number",
    note = "all tensors of one expression are on one device: bring the others over with `to_device`, first"
)]
pub trait StdOperand<D: Device> {
    /// Calls `call` with the operand as an argument of a tensor operator.
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R>;
}

impl<D: Device> StdOperand<D> for Tensor<D> {
    #[inline]
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> {
        call((&self).into_arg())
    }
}

impl<D: Device> StdOperand<D> for &Tensor<D> {
    #[inline]
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> {
        call(self.into_arg())
    }
}

impl<D: Device> StdOperand<D> for Result<Tensor<D>> {
    #[inline]
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> {
        self?.lend(call)
    }
}

/// The `std::ops` trait of one operator for each pair of operands: `[generics] left, right`. A left operand that is no
/// tensor of this crate stands beside a tensor alone, which Rust's orphan rule asks for.
macro_rules! binary {
    ($name:ident $method:ident: $([$($generic:tt)*] $left:ty, $right:ty;)*) => {$(
        impl<D: Device, $($generic)*> std::ops::$name<$right> for $left
        where
            D::StdOps: BinaryStdOp<std_op::$name, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self, other: $right) -> Result<Tensor<D>> {
                self.lend(|a| other.lend(|b| <D::StdOps as BinaryStdOp<std_op::$name, D>>::call(a, b)))
            }
        }
    )*};
}

macro_rules! binary_and_assign {
    ($($name:ident $method:ident, $assign_trait:ident $assign:ident;)*) => {$(
        binary! { $name $method:
            [R: StdOperand<D>] &Tensor<D>, R;
            [R: StdOperand<D>] Tensor<D>, R;
            [] Result<Tensor<D>>, &Tensor<D>;
            [] Result<Tensor<D>>, Tensor<D>;
            [] f64, &Tensor<D>;
            [] f64, Tensor<D>;
            [] i64, &Tensor<D>;
            [] i64, Tensor<D>;
            [] Scalar, &Tensor<D>;
            [] Scalar, Tensor<D>;
        }

        impl<D: Device, R: StdOperand<D>> std::ops::$assign_trait<R> for Tensor<D>
        where
            D::StdOps: BinaryStdOp<std_op::$name, D>,
        {
            #[track_caller]
            fn $assign(&mut self, other: R) {
                let done = other.lend(|b| <D::StdOps as BinaryStdOp<std_op::$name, D>>::assign(self, b));
                done.unwrap_or_else(|error| error.panic())
            }
        }
    )*};
}
binary_and_assign! {
    Add add, AddAssign add_assign;
    Sub sub, SubAssign sub_assign;
    Mul mul, MulAssign mul_assign;
    Div div, DivAssign div_assign;
    Rem rem, RemAssign rem_assign;
    BitAnd bitand, BitAndAssign bitand_assign;
    BitOr bitor, BitOrAssign bitor_assign;
    BitXor bitxor, BitXorAssign bitxor_assign;
    Shl shl, ShlAssign shl_assign;
    Shr shr, ShrAssign shr_assign;
}

macro_rules! unary {
    ($($name:ident $method:ident: $($operand:ty),*;)*) => {$($(
        impl<D: Device> std::ops::$name for $operand
        where
            D::StdOps: UnaryStdOp<std_op::$name, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self) -> Result<Tensor<D>> {
                self.lend(<D::StdOps as UnaryStdOp<std_op::$name, D>>::call)
            }
        }
    )*)*};
}
unary! {
    Neg neg: &Tensor<D>, Tensor<D>;
    Not not: &Tensor<D>, Tensor<D>;
}
