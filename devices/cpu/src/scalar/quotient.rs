//! Rounded quotients of floats, and what they leave over.
//!
//! What is left over is exact: C's fmod. Where the quotient is small it is a − ⌊a / b⌉·b with one division. For float32
//! that is computed in float64: a quotient of 28 digits times a divisor of 24 is a float64, and no quotient of two
//! float32 that is not an integer rounds to one there. A quotient of float64 may round up to an integer; the rest,
//! which a fused product gives exactly, then has the other sign, and one divisor corrects it.

use super::Lane;
use crate::half_bits::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::isa::Isa;
use half::{bf16, f16};
use monomorph_ops::algebra::RoundedDivision;

#[inline(always)]
pub(super) fn unrounded<T>(x: T) -> T {
    x
}

#[inline(always)]
pub(super) fn through_f16(x: f32) -> f32 {
    f16_to_f32(f32_to_f16(x))
}

#[inline(always)]
pub(super) fn through_bf16(x: f32) -> f32 {
    bf16_to_f32(f32_to_bf16(x))
}

/// Quotients below are [small](RoundedDivision::has_small_quotient).
const SMALL_F32: f32 = (1_u32 << 28) as f32;
const SMALL_F64: f64 = (1_u64 << 52) as f64;

/// Whether the quotient is small, or that by zero, of which everything is NaN or infinite either way. False for a
/// divisor that is infinite or NaN.
macro_rules! is_small {
    ($a:expr, $b:expr, $limit:expr, $float:ident) => {
        (($a.abs() < $limit * $b.abs()) & ($b.abs() < $float::INFINITY)) | ($b == 0.0)
    };
}

#[inline(always)]
fn is_small_f32(_fused: bool, a: f32, b: f32) -> bool {
    is_small!(a, b, SMALL_F32, f32)
}

#[inline(always)]
fn is_small_f64(fused: bool, a: f64, b: f64) -> bool {
    fused & is_small!(a, b, SMALL_F64, f64)
}

/// What a small quotient leaves over, with the sign of `a`.
#[inline(always)]
fn rest_f32(_fused: bool, a: f32, b: f32) -> f32 {
    let (wide_a, wide_b) = (f64::from(a), f64::from(b));
    let rest = wide_a - (wide_a / wide_b).trunc() * wide_b;
    (rest as f32).copysign(a)
}

/// What a small quotient leaves over, with the sign of `a`. Right only with products that are fused.
#[inline(always)]
fn rest_f64(fused: bool, a: f64, b: f64) -> f64 {
    let quotient = (a / b).trunc();
    let rest = if fused { (-quotient).mul_add(b, a) } else { a - quotient * b };
    let along = rest * 1.0_f64.copysign(a);
    (if along < 0.0 { along + b.abs() } else { along }).copysign(a)
}

/// The quotient rounded down, as PyTorch does it: what is left over is taken away first, and the quotient of the rest
/// snapped to the nearest integer, which it misses by rounding errors alone.
macro_rules! floored {
    ($a:expr, $b:expr, $rest:expr, $round:ident, $repr:ident) => {{
        let (a, b, rest): ($repr, $repr, $repr) = ($a, $b, $rest);
        let quotient = a / b;
        let exact = $round($round(a - rest) / b);
        let opposite = (rest != 0.0) & ((b < 0.0) != (rest < 0.0));
        let exact = if opposite { $round(exact - 1.0) } else { exact };
        let down = exact.floor();
        let snapped = if $round(exact - down) > 0.5 { $round(down + 1.0) } else { down };
        let signed = if exact != 0.0 { snapped } else { $repr::from(0u8).copysign(quotient) };
        if b == 0.0 { quotient } else { signed }
    }};
}

/// What is left over by the quotient rounded down, from what the one rounded to zero leaves over.
macro_rules! down {
    ($rest:expr, $b:expr) => {{
        let (rest, b) = ($rest, $b);
        let opposite = (rest != 0.0) & ((b < 0.0) != (rest < 0.0));
        if opposite { rest + b } else { rest }
    }};
}

macro_rules! quotients {
    ($($element:ident: $repr:ident, $round:ident, $is_small:ident, $rest:ident;)+) => {$(
        impl<I: Isa> RoundedDivision for Lane<$element, I> {
            #[inline(always)]
            fn div_trunc(self, divisor: Self) -> Self {
                Lane::new($round(self.get() / divisor.get()).trunc())
            }
            #[inline(always)]
            fn div_floor(self, divisor: Self) -> Self {
                let (a, b) = (self.get(), divisor.get());
                Lane::new(floored!(a, b, a % b, $round, $repr))
            }
            #[inline(always)]
            fn rem_trunc(self, divisor: Self) -> Self {
                let (a, b) = (self.get(), divisor.get());
                // One unit below the dividend: a quotient that only rounding takes out of range still has a rest.
                let quotient = a * (1.0 - $repr::EPSILON) / b;
                Lane::new(if quotient.is_finite() { a % b } else { $repr::NAN })
            }
            #[inline(always)]
            fn rem_floor(self, divisor: Self) -> Self {
                Lane::new(down!(self.rem_trunc(divisor).get(), divisor.get()))
            }
            #[inline(always)]
            fn has_small_quotient(self, divisor: Self) -> Self::Mask {
                Lane::new($is_small(I::FMA, self.get(), divisor.get()))
            }
            #[inline(always)]
            fn div_floor_small(self, divisor: Self) -> Self {
                let (a, b) = (self.get(), divisor.get());
                Lane::new(floored!(a, b, $rest(I::FMA, a, b), $round, $repr))
            }
            #[inline(always)]
            fn rem_trunc_small(self, divisor: Self) -> Self {
                Lane::new($rest(I::FMA, self.get(), divisor.get()))
            }
            #[inline(always)]
            fn rem_floor_small(self, divisor: Self) -> Self {
                Lane::new(down!(self.rem_trunc_small(divisor).get(), divisor.get()))
            }
            #[inline(always)]
            fn faults(_: Self) -> Self::Mask {
                Lane::new(false)
            }
        }
    )+};
}
quotients! {
    f32: f32, unrounded, is_small_f32, rest_f32;
    f64: f64, unrounded, is_small_f64, rest_f64;
    f16: f32, through_f16, is_small_f32, rest_f32;
    bf16: f32, through_bf16, is_small_f32, rest_f32;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> impl Iterator<Item = u64> {
        std::iter::successors(Some(0x9E37_79B9_7F4A_7C15_u64), |x| {
            Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
        })
    }

    #[test]
    fn small_quotients_leave_what_fmod_leaves() {
        let (mut of_32, mut of_64) = (0, 0);
        for bits in numbers().take(400_000) {
            let scale = |shift: u64| 2.0_f64.powi((bits >> shift & 63) as i32 - 31);
            let (a, b) = ((bits >> 20) as f64 * scale(3) - 1e12, (bits & 0xFFFF_FFFF) as f64 * scale(40) - 1e9);
            // Near multiples, where a quotient rounds up to an integer.
            for a in [a, b * (bits >> 40) as f64, (b * (bits >> 40) as f64).next_down()] {
                if is_small_f64(true, a, b) {
                    of_64 += 1;
                    assert_eq!(rest_f64(true, a, b).to_bits(), (a % b).to_bits(), "{a:e} {b:e}");
                }
                let (a, b) = (a as f32, b as f32);
                if is_small_f32(true, a, b) {
                    of_32 += 1;
                    assert_eq!(rest_f32(true, a, b).to_bits(), (a % b).to_bits(), "{a:e} {b:e}");
                }
            }
        }
        assert!(of_32 > 100_000 && of_64 > 100_000, "{of_32} {of_64}");
        for (a, b) in [(1.0, 0.0), (0.0, -0.0), (f32::INFINITY, 0.0), (f32::NAN, 0.0)] {
            assert!(is_small_f32(true, a, b) && rest_f32(true, a, b).is_nan(), "{a} {b}");
            assert!(is_small_f64(true, a.into(), b.into()) && rest_f64(true, a.into(), b.into()).is_nan(), "{a} {b}");
        }
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN), (1.0, f32::INFINITY), (f32::INFINITY, 2.0), (1e30, 1.0)] {
            assert!(!is_small_f32(true, a, b), "{a} {b}");
        }
    }
}
