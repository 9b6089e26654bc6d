//! The next number of a float format, by its bits: one more or one less away from or towards zero.

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
