//! The trigonometric functions and their inverses.

use super::{Num, Real};

/// A value with trigonometric functions. Real ones are within 1 ULP for every argument, however large; complex ones
/// follow C99 Annex G at infinities and NaN.
#[diagnostic::on_unimplemented(
    message = "the formula takes a trigonometric function, which `{Self}` does not have",
    note = "promote integers and bool to float in the operator's declaration"
)]
pub trait Trigonometric: Num {
    /// Whether the value is so small that the `near` functions below hold for it.
    fn is_near(self) -> Self::Mask;

    /// The sine.
    fn sin(self) -> Self;

    /// The cosine.
    fn cos(self) -> Self;

    /// The tangent.
    fn tan(self) -> Self;

    /// The sine of a [near](Trigonometric::is_near) value, by a shorter way; of any other something.
    fn sin_near(self) -> Self;

    /// The cosine of a near value, by a shorter way; of any other something.
    fn cos_near(self) -> Self;

    /// The tangent of a near value, by a shorter way; of any other something.
    fn tan_near(self) -> Self;

    /// The inverse of the sine: NaN of real values beyond 1.
    fn asin(self) -> Self;

    /// The inverse of the cosine: NaN of real values beyond 1.
    fn acos(self) -> Self;

    /// The inverse of the tangent.
    fn atan(self) -> Self;

    /// The angle from the positive real axis: of a real value half a turn below zero, else none; NaN of NaN.
    fn angle(self) -> Self::Re;
}

/// A real value that is a coordinate of a point in the plane.
#[diagnostic::on_unimplemented(
    message = "the formula takes an angle in the plane, which needs real values; `{Self}` is none"
)]
pub trait Coordinate: Real {
    /// The angle of the point (`x`, `self`), from minus to plus half a turn, within 1 ULP; C99 Annex F at zeros and
    /// infinities.
    fn atan2(self, x: Self) -> Self;
}

/// The angle of a real value: π below zero, else 0; NaN of NaN.
#[inline(always)]
pub fn real_angle<V: Real>(x: V) -> V {
    let angle = V::select(x.lt(V::zero()), V::from_f64(std::f64::consts::PI), V::zero());
    V::select(x.is_nan(), x, angle)
}
