//! The CPU's instantiation of the value algebra: [`Lane<C, I>`], an element of type `C` computed at the level `I`.
//!
//! Every method is `#[inline(always)]` straight-line code, so that a plain loop over a formula vectorises inside the
//! frame of its level (`isa.rs`). Owns arithmetic on single elements; refuses loops over them, loads and stores. What
//! loops within one element (`repeat.rs`) does not vectorise.
//!
//! One file per class of dtypes, one per function that is more than an instruction.

mod arc;
mod bool;
mod complex;
mod complex_functions;
mod components;
mod discrete;
mod erf;
mod erfc;
mod erfinv;
mod exp;
mod exp2;
mod expm1;
mod float;
mod functions;
mod gamma;
mod gelu;
mod horner;
mod hypot;
mod int;
mod log;
mod log1p;
mod next_after;
mod pair;
mod pow;
mod quotient;
mod reduction;
mod repeat;
mod short;
mod sine;
mod tanh;
#[cfg(test)]
mod tests;
mod widen;

use crate::isa::Isa;
use std::fmt;
use std::marker::PhantomData;

mod sealed {
    /// The twelve element types are a closed set.
    pub trait Sealed {}
}

/// An element type that the CPU computes with.
#[diagnostic::on_unimplemented(
    message = "the CPU does not compute with `{Self}`",
    note = "element types are bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f32> and Complex<f64>"
)]
pub trait Compute: sealed::Sealed + Copy + 'static {
    /// The type of a value in a register. It varies because float16 and bfloat16 compute in float32; all other element
    /// types are their own.
    type Repr: Copy + PartialEq + Send + Sync + fmt::Debug + 'static;
}

/// Implements [`Compute`] for element types and what they compute in.
macro_rules! compute {
    ($($element:ty: $repr:ty),+ $(,)?) => {$(
        impl sealed::Sealed for $element {}
        impl Compute for $element {
            type Repr = $repr;
        }
    )+};
}

compute! {
    ::core::primitive::bool: ::core::primitive::bool,
    u8: u8, i8: i8, i16: i16, i32: i32, i64: i64,
    half::f16: f32, half::bf16: f32, f32: f32, f64: f64,
    num_complex::Complex<f32>: num_complex::Complex<f32>,
    num_complex::Complex<f64>: num_complex::Complex<f64>,
}

/// A value of element type `C`, computed at level `I`. It has the layout of `C::Repr`.
///
/// The level is part of the type because `exp` must know whether a fused multiply-add exists; it is no proof that the
/// host has the level, and needs none: values are computed safely at any level, only perhaps slowly.
#[repr(transparent)]
pub struct Lane<C: Compute, I>(C::Repr, PhantomData<(C, I)>);

impl<C: Compute, I: Isa> Lane<C, I> {
    /// The value of a register.
    #[inline(always)]
    pub fn new(x: C::Repr) -> Self {
        Lane(x, PhantomData)
    }

    /// What the register holds.
    #[inline(always)]
    pub fn get(self) -> C::Repr {
        self.0
    }
}

impl<C: Compute, I> Clone for Lane<C, I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Compute, I> Copy for Lane<C, I> {}

impl<C: Compute, I> fmt::Debug for Lane<C, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Implements an operator trait of `std::ops` for a class of elements: `binary!(i32: Add::add = |a, b| …)`.
macro_rules! operator {
    ($element:ty: $trait:ident::$method:ident = |$a:ident, $b:ident| $body:expr) => {
        impl<I: Isa> std::ops::$trait for Lane<$element, I> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.get(), other.get());
                Lane::new($body)
            }
        }
    };
    ($element:ty: $trait:ident::$method:ident = |$a:ident| $body:expr) => {
        impl<I: Isa> std::ops::$trait for Lane<$element, I> {
            type Output = Self;
            #[inline(always)]
            fn $method(self) -> Self {
                let $a = self.get();
                Lane::new($body)
            }
        }
    };
}
use operator;
