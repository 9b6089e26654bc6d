//! The numbers that windows are folded in: what maxima begin with, and the arithmetic of means.

use crate::element::CpuElement;
use half::{bf16, f16};
use monomorph_ops::pooling::{Divisor, Fold};

/// What maxima begin with: below everything else.
pub(super) trait Lowest: CpuElement {
    const LOWEST: Self::Repr;
    /// Models pool them, so that windows of each kind, and maxima without places, have loops of their own.
    const IS_USUAL: bool;
}
macro_rules! lowest {
    ($($t:ty: $lowest:expr, $is_usual:literal;)*) => {$(
        impl Lowest for $t {
            const LOWEST: Self::Repr = $lowest;
            const IS_USUAL: bool = $is_usual;
        }
    )*};
}
lowest! {
    u8: u8::MIN, false;
    i8: i8::MIN, false;
    i16: i16::MIN, false;
    i32: i32::MIN, false;
    i64: i64::MIN, false;
    f16: f32::NEG_INFINITY, true;
    bf16: f32::NEG_INFINITY, true;
    f32: f32::NEG_INFINITY, true;
    f64: f64::NEG_INFINITY, false;
}

/// The arithmetic of means.
pub(super) trait Average: CpuElement {
    const ZERO: Self::Repr;
    fn plus(a: Self::Repr, b: Self::Repr) -> Self::Repr;
    fn over(a: Self::Repr, n: i64) -> Self::Repr;
}
macro_rules! average {
    ($($t:ty: $zero:expr, |$a:ident, $b:ident| $plus:expr, |$x:ident, $n:ident| $over:expr;)*) => {$(
        impl Average for $t {
            const ZERO: Self::Repr = $zero;
            #[inline(always)]
            fn plus($a: Self::Repr, $b: Self::Repr) -> Self::Repr {
                $plus
            }
            #[inline(always)]
            fn over($x: Self::Repr, $n: i64) -> Self::Repr {
                $over
            }
        }
    )*};
}
average! {
    // No window is empty, and a divisor of the caller is not 0; -2^63 / -1 wraps.
    i64: 0, |a, b| a.wrapping_add(b), |x, n| x.wrapping_div(if n == 0 { 1 } else { n });
    f16: 0.0, |a, b| a + b, |x, n| x / n as f32;
    bf16: 0.0, |a, b| a + b, |x, n| x / n as f32;
    f32: 0.0, |a, b| a + b, |x, n| x / n as f32;
    f64: 0.0, |a, b| a + b, |x, n| x / n as f64;
}

/// The quotient of a sum and its divisor. `sizes` are those of the window, `ROUNDS` after each division.
#[inline(always)]
pub(super) fn divided<C: Average, const ROUNDS: bool>(sum: C::Repr, fold: Fold, sizes: [i64; 3]) -> C::Repr {
    let (Fold::Mean(divisor) | Fold::Spread(divisor)) = fold else { return sum };
    let rounded = |x: C::Repr| if ROUNDS { C::widen(C::narrow(x)) } else { x };
    match divisor {
        Divisor::Fixed(n) => rounded(C::over(sum, n)),
        Divisor::Size => rounded(C::over(sum, sizes[0].wrapping_mul(sizes[1]).wrapping_mul(sizes[2]))),
        Divisor::Sizes => sizes.into_iter().fold(sum, |sum, size| rounded(C::over(sum, size))),
    }
}
