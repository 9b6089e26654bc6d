//! The root of the value algebra: what every element value can do. Owns selection, truth and constants; refuses
//! arithmetic (`num.rs`) and comparison (`order.rs`).

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// One element, as a formula sees it: a number, a lane vector, a node of a graph.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value of the algebra",
    note = "formulas compute on `Lane<C, Isa>` or `Sym<C>`, where `C` is one of the twelve element types"
)]
pub trait Value: Copy + 'static {
    /// The type of a comparison's result. It varies because a lane vector compares into a lane mask, a graph node into
    /// a node of boolean type.
    type Mask: Mask;

    /// The type of the real part. It varies because complex values have a component type; all others are their own.
    type Re: Value<Mask = Self::Mask, Re = Self::Re>;

    /// `yes` where the mask holds, else `no`; both are already computed, so this is no branch.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Whether the value counts as true: anything but zero, so NaN does.
    fn truth(self) -> Self::Mask;

    /// The value of a bool: zero or one.
    fn from_bool(x: bool) -> Self;

    /// The value of an integer: wrapped to an integer type's width, rounded once to a float type, its truth as bool.
    fn from_i64(x: i64) -> Self;

    /// The value of a float: rounded once to a float type, truncated and saturated to an integer type (NaN is 0),
    /// its truth as bool.
    fn from_f64(x: f64) -> Self;

    /// The value of a complex number. Types without an imaginary part keep the real one; bool takes its truth.
    fn from_complex(re: f64, im: f64) -> Self;

    /// The value after a store and a load: float16 and bfloat16, which compute in float32, are rounded to their own
    /// precision. All other values are what they were.
    #[inline(always)]
    fn stored(self) -> Self {
        self
    }
}

/// The result of a comparison: itself a value, of dtype bool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no mask of the algebra",
    note = "comparisons give `V::Mask`; turn a value into one with `.truth()`"
)]
pub trait Mask:
    Value<Mask = Self, Re = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
}
