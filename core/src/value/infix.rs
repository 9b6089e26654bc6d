//! The signs of Rust between tensors: `(&a + &b)?`, `(1.0 - &a)?`, `a += &b`. What a sign computes says
//! [`Device::Signs`], a type of whoever defines operators; this module only lends the operands.
//!
//! * A sign gives a `Result`, because sizes may not broadcast. The `Result` of one may stand on the left of the next,
//!   and on its right: `(&a * &b + &c)?`.
//! * On the right stand tensors, owned or by reference, and numbers; on the left numbers are `f64`, `i64` or
//!   [`Scalar`], since Rust knows the type of a literal by the only implementation that fits.
//! * `%` has the sign of the divisor, as in Python and PyTorch; `/` is true division.
//! * `a += b` cannot give a `Result`, so it panics where `add_` gives an error: where sizes or dtypes are a caller's,
//!   call that.
//! * There is no `==`: it would give a bool where PyTorch gives a tensor of them; `eq` does. There is no `a[i]`:
//!   indexing gives a reference to something that is there, and a view is made.

use super::{Arg, IntoArg};
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::storage::Device;
use crate::tensor::Tensor;

/// The signs.
pub mod sign {
    /// `a + b`
    pub struct Plus;
    /// `a - b`
    pub struct Minus;
    /// `a * b`
    pub struct Times;
    /// `a / b`
    pub struct Over;
    /// `a % b`
    pub struct Modulo;
    /// `a & b`
    pub struct And;
    /// `a | b`
    pub struct Or;
    /// `a ^ b`
    pub struct Xor;
    /// `a << b`
    pub struct ShiftLeft;
    /// `a >> b`
    pub struct ShiftRight;
    /// `-a`
    pub struct Negative;
    /// `!a`
    pub struct Not;
}

/// What a sign between two operands computes on device `D`.
pub trait Infix<Sign, D: Device> {
    /// `a + b`
    fn call(a: Arg<'_, D>, b: Arg<'_, D>) -> Result<Tensor<D>>;

    /// `this += b`
    fn assign(this: &mut Tensor<D>, b: Arg<'_, D>) -> Result<()>;
}

/// What a sign before an operand computes on device `D`.
pub trait Prefix<Sign, D: Device> {
    /// `-a`
    fn call(a: Arg<'_, D>) -> Result<Tensor<D>>;
}

/// What may stand on the right of a sign: a tensor, owned or by reference, the `Result` of one, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand beside a tensor of `{D}`",
    label = "neither a tensor of `{D}`, nor the `Result` of one, nor a number",
    note = "all tensors of one expression are on one device: bring the others over with `to_device` first"
)]
pub trait InfixOperand<D: Device> {
    /// Calls `call` with the operand.
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R>;
}

impl<D: Device> InfixOperand<D> for Tensor<D> {
    #[inline]
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> {
        call((&self).into_arg())
    }
}

impl<D: Device> InfixOperand<D> for &Tensor<D> {
    #[inline]
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> {
        call(self.into_arg())
    }
}

impl<D: Device> InfixOperand<D> for Result<Tensor<D>> {
    #[inline]
    fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> {
        self?.lend(call)
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl<D: Device> InfixOperand<D> for $number {
            #[inline]
            fn lend<R>(self, call: impl FnOnce(Arg<'_, D>) -> Result<R>) -> Result<R> {
                call(IntoArg::<D>::into_arg(self))
            }
        }
    )*};
}
numbers! { bool u8 i8 i16 i32 i64 f32 f64 Scalar num_complex::Complex32 num_complex::Complex64 }

fn infix<S, D: Device>(a: impl InfixOperand<D>, b: impl InfixOperand<D>) -> Result<Tensor<D>>
where
    D::Signs: Infix<S, D>,
{
    a.lend(|a| b.lend(|b| D::Signs::call(a, b)))
}

#[cold]
#[track_caller]
fn refused(error: &Error) -> ! {
    panic!("{error}")
}

macro_rules! infix {
    ($($sign:ident: $trait:ident $method:ident, $assign_trait:ident $assign:ident;)*) => {$(
        impl<D: Device, R: InfixOperand<D>> std::ops::$trait<R> for &Tensor<D>
        where
            D::Signs: Infix<sign::$sign, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self, other: R) -> Result<Tensor<D>> {
                infix::<sign::$sign, D>(self, other)
            }
        }

        impl<D: Device, R: InfixOperand<D>> std::ops::$trait<R> for Tensor<D>
        where
            D::Signs: Infix<sign::$sign, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self, other: R) -> Result<Tensor<D>> {
                infix::<sign::$sign, D>(self, other)
            }
        }

        impl<D: Device, R: InfixOperand<D>> std::ops::$assign_trait<R> for Tensor<D>
        where
            D::Signs: Infix<sign::$sign, D>,
        {
            #[track_caller]
            fn $assign(&mut self, other: R) {
                if let Err(error) = other.lend(|b| <D::Signs as Infix<sign::$sign, D>>::assign(self, b)) {
                    refused(&error)
                }
            }
        }

        left! { $sign $trait $method: f64, i64, Scalar, Result<Tensor<D>> }
    )*};
}

/// What is no tensor by itself stands on the left: beside a tensor alone, by which Rust knows whose implementation it
/// is.
macro_rules! left {
    ($sign:ident $trait:ident $method:ident: $($left:ty),*) => {$(
        impl<D: Device> std::ops::$trait<&Tensor<D>> for $left
        where
            D::Signs: Infix<sign::$sign, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self, other: &Tensor<D>) -> Result<Tensor<D>> {
                infix::<sign::$sign, D>(self, other)
            }
        }

        impl<D: Device> std::ops::$trait<Tensor<D>> for $left
        where
            D::Signs: Infix<sign::$sign, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self, other: Tensor<D>) -> Result<Tensor<D>> {
                infix::<sign::$sign, D>(self, other)
            }
        }
    )*};
}

infix! {
    Plus: Add add, AddAssign add_assign;
    Minus: Sub sub, SubAssign sub_assign;
    Times: Mul mul, MulAssign mul_assign;
    Over: Div div, DivAssign div_assign;
    Modulo: Rem rem, RemAssign rem_assign;
    And: BitAnd bitand, BitAndAssign bitand_assign;
    Or: BitOr bitor, BitOrAssign bitor_assign;
    Xor: BitXor bitxor, BitXorAssign bitxor_assign;
    ShiftLeft: Shl shl, ShlAssign shl_assign;
    ShiftRight: Shr shr, ShrAssign shr_assign;
}

macro_rules! prefix {
    ($($sign:ident: $trait:ident $method:ident;)*) => {$(
        impl<D: Device> std::ops::$trait for &Tensor<D>
        where
            D::Signs: Prefix<sign::$sign, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self) -> Result<Tensor<D>> {
                D::Signs::call(self.into_arg())
            }
        }

        impl<D: Device> std::ops::$trait for Tensor<D>
        where
            D::Signs: Prefix<sign::$sign, D>,
        {
            type Output = Result<Tensor<D>>;
            fn $method(self) -> Result<Tensor<D>> {
                D::Signs::call((&self).into_arg())
            }
        }
    )*};
}
prefix! {
    Negative: Neg neg;
    Not: Not not;
}
