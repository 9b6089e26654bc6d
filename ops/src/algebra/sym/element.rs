//! The element types of symbolic values and their classes.

use half::{bf16, f16};
use monomorph_core::DType;
use num_complex::Complex;

mod sealed {
    /// The twelve element types are a closed set.
    pub trait Sealed {}
}

/// An element type that C text computes with: one for each dtype. float16 and bfloat16 are `float` in the text.
#[diagnostic::on_unimplemented(
    message = "C text does not compute with `{Self}`",
    note = "element types are bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f32> and Complex<f64>"
)]
pub trait Compute: sealed::Sealed + Copy + 'static {
    /// The dtype of the element.
    const DTYPE: DType;

    /// The type of the real part. It varies because complex elements have a component type.
    type Re: Compute<Re = Self::Re>;

    /// The type of a sum of many. It varies because float32 and complex64 lose less in the next wider type.
    type Wide: Compute;
}

// An algebra trait is implemented for `Sym<C>` wherever `C` is of the class, so what is missing is always one of these:
// they, not the algebra traits, say it to the author of an operator.

/// Elements with an order: all but the complex ones.
#[diagnostic::on_unimplemented(
    message = "the formula needs an order, which `{Self}` does not have",
    label = "the domain of the operator is wider than its formula",
    note = "complex values have equality only; or narrow the domain in `pointwise!`"
)]
pub trait Ordering: Compute {}
/// Elements made of bits.
#[diagnostic::on_unimplemented(
    message = "the formula works on bits, which `{Self}` does not have",
    label = "the domain of the operator is wider than its formula",
    note = "only bool and integers have bits; or narrow the domain in `pointwise!`"
)]
pub trait Bitwise: Compute {}
/// The integers.
#[diagnostic::on_unimplemented(
    message = "the formula shifts, which `{Self}` cannot",
    label = "the domain of the operator is wider than its formula",
    note = "only integers shift; or narrow the domain in `pointwise!`"
)]
pub trait Integer: Bitwise + Quotient + Compute<Re = Self> {}
/// The real floats.
#[diagnostic::on_unimplemented(
    message = "the formula needs a real floating value, which `{Self}` is not",
    label = "the domain of the operator is wider than its formula",
    note = "promote integers to float in the operator's rule; or narrow the domain in `pointwise!`"
)]
pub trait Floating: Quotient + Fractional + Compute<Re = Self> {}
/// Elements with a true quotient: floats and complex ones.
#[diagnostic::on_unimplemented(
    message = "the formula divides, or takes a root or another function of the continuum, which `{Self}` does not have",
    label = "the domain of the operator is wider than its formula",
    note = "promote integers and bool to float in the operator's rule; or narrow the domain in `pointwise!`"
)]
pub trait Fractional: Compute {}
/// Elements with a rounded quotient: integers and floats.
#[diagnostic::on_unimplemented(
    message = "the formula rounds a quotient, which `{Self}` cannot",
    label = "the domain of the operator is wider than its formula",
    note = "bool and complex values have no rounded quotient; or narrow the domain in `pointwise!`"
)]
pub trait Quotient: Ordering {}
/// The complex elements.
#[diagnostic::on_unimplemented(
    message = "the formula needs a complex value, which `{Self}` is not",
    label = "the domain of the operator is wider than its formula",
    note = "only complex64 and complex128 have parts; or narrow the domain in `pointwise!`"
)]
pub trait Paired: Fractional {}

/// Implements [`Compute`] and the classes of one element per row.
macro_rules! elements {
    ($($element:ty, $dtype:ident, $re:ty, $wide:ty: $($class:ident)*;)+) => {$(
        impl sealed::Sealed for $element {}
        impl Compute for $element {
            const DTYPE: DType = DType::$dtype;
            type Re = $re;
            type Wide = $wide;
        }
        $(impl $class for $element {})*
    )+};
}

elements! {
    bool, Bool, bool, bool: Ordering Bitwise;
    u8, U8, u8, u8: Ordering Bitwise Integer Quotient;
    i8, I8, i8, i8: Ordering Bitwise Integer Quotient;
    i16, I16, i16, i16: Ordering Bitwise Integer Quotient;
    i32, I32, i32, i32: Ordering Bitwise Integer Quotient;
    i64, I64, i64, i64: Ordering Bitwise Integer Quotient;
    f16, F16, f16, f16: Ordering Fractional Floating Quotient;
    bf16, BF16, bf16, bf16: Ordering Fractional Floating Quotient;
    f32, F32, f32, f64: Ordering Fractional Floating Quotient;
    f64, F64, f64, f64: Ordering Fractional Floating Quotient;
    Complex<f32>, C64, f32, Complex<f64>: Fractional Paired;
    Complex<f64>, C128, f64, Complex<f64>: Fractional Paired;
}
