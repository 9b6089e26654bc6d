//! The fields of a float format, by its bits: the next number, one more or one less; the mantissa and the exponent.

use crate::half_bits::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// Declares the step of one format: its bits, the way from the register and back.
macro_rules! next {
    ($($name:ident: $float:ident, $bits:ident, |$x:ident| $narrow:expr, |$y:ident| $widen:expr;)*) => {$(
        /// The neighbour of `a` in the direction of `b`.
        #[inline(always)]
        pub(super) fn $name(a: $float, b: $float) -> $float {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            let $x = a;
            let bits: $bits = $narrow;
            // Towards zero where the magnitude is to shrink.
            let down = (a < b) == (a < 0.0);
            let step = if down { bits.wrapping_sub(1) } else { bits.wrapping_add(1) };
            let $x = b;
            let first = ($narrow & SIGN) | 1;
            let $y = if a == 0.0 { first } else { step };
            let next: $float = $widen;
            let next = if a == b { b } else { next };
            if a.is_nan() | b.is_nan() { a + b } else { next }
        }
    )*};
}
next! {
    next_f32: f32, u32, |x| x.to_bits(), |y| f32::from_bits(y);
    next_f64: f64, u64, |x| x.to_bits(), |y| f64::from_bits(y);
    next_f16: f32, u16, |x| f32_to_f16(x), |y| f16_to_f32(y);
    next_bf16: f32, u16, |x| f32_to_bf16(x), |y| bf16_to_f32(y);
}

/// Declares mantissa and exponent of one format: its bits, those of the fraction, the exponent of a number from a half
/// up to 1, and a power of two that makes subnormal numbers normal.
macro_rules! fields {
    ($(
        $mantissa:ident $exponent:ident: $float:ident, $bits:ident, $fraction:literal, $half:literal, $up:literal;
    )*) => {$(
        /// The number from a half up to 1.
        #[inline(always)]
        pub(super) fn $mantissa(x: $float) -> $float {
            let scale = $float::from_bits(($half + 1 + $up) << $fraction);
            let normal = if x.abs() < $float::MIN_POSITIVE { x * scale } else { x };
            let kept = normal.to_bits() & !((2 * $half + 3) << $fraction);
            let mantissa = $float::from_bits(kept | ($half << $fraction));
            if x.is_finite() & (x != 0.0) { mantissa } else { x }
        }

        /// The exponent that goes with it.
        #[inline(always)]
        pub(super) fn $exponent(x: $float) -> $float {
            let small = x.abs() < $float::MIN_POSITIVE;
            let normal = if small { x * $float::from_bits(($half + 1 + $up) << $fraction) } else { x };
            let field = ((normal.to_bits() >> $fraction) & (2 * $half + 3)) as i32;
            let exponent = field - $half - if small { $up } else { 0 };
            if x.is_finite() & (x != 0.0) { exponent as $float } else { 0.0 }
        }
    )*};
}
fields! {
    mantissa_f32 exponent_f32: f32, u32, 23, 126, 25;
    mantissa_f64 exponent_f64: f64, u64, 52, 1022, 54;
}
