//! Powers of two: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! x = n + r with |r| ≤ ½, exactly, so nothing is lost before the polynomial (minimax, total degree 7 and 12, relative
//! errors below 2⁻³² and 2⁻⁶³). Scaling is that of the exponential (`exp.rs`).

use super::horner::paired;
use super::pair::{fast_sum_f32, fast_sum_f64, product_f32, product_f64};
use crate::isa::Isa;

macro_rules! power_of_two {
    ($name:ident: $float:ident as $bits:ident, $product:ident, $sum:ident; bias $bias:literal,
        mantissa $mantissa:literal; clamp $low:literal, $high:literal;
        normal above $normal:literal, raise by $rise:literal $(, wide $wide:ident)?; slope $slope:expr;
        $($coefficient:literal),+) => {
        /// 2 to the power of `x`.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                return $wide::<I>(x.into()) as $float;
            })?
            /// Its last place is one; its low bits are the bias of 2ⁿ⁻¹.
            const SHIFT: $float = 1.5 * ((1 as $bits) << $mantissa) as $float + ($bias - 1) as $float;
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            // Beyond the clamps results are 0 and infinity anyway. Comparisons with NaN are false, so NaN passes.
            let x = if x < $low { $low } else { x };
            let x = if x > $high { $high } else { x };
            let shifted = x + SHIFT;
            let r = x - (shifted - SHIFT);
            let q = paired!(fma, r, r * r; $($coefficient),+);
            // Twice the polynomial. Where products are rounded, that of the slope is taken with what it lacks.
            let double = if I::FMA {
                (2.0 * r).mul_add(q.mul_add(r, $slope), 2.0)
            } else {
                let (product, low) = $product::<I>(2.0 * r, $slope);
                let (sum, rest) = $sum(2.0, product);
                sum + (rest + (low + 2.0 * r * r * q))
            };
            let half_power = shifted.to_bits() << $mantissa;
            let (double, half_power) = if x < $normal {
                let down = $float::from_bits(($bias - $rise) << $mantissa);
                (double * down, half_power.wrapping_add($rise << $mantissa))
            } else {
                (double, half_power)
            };
            double * $float::from_bits(half_power)
        }
    };
}

power_of_two! {
    exp2_f32: f32 as u32, product_f32, fast_sum_f32; bias 127, mantissa 23; clamp -152.0, 128.0; normal above -125.0,
        raise by 64, wide exp2_f64;
    slope std::f32::consts::LN_2;
    1.447_528e-5, 1.545_594_7e-4, 1.333_727_9e-3, 9.618_078e-3, 5.550_405_8e-2, 0.240_226_5
}
power_of_two! {
    exp2_f64: f64 as u64, product_f64, fast_sum_f64; bias 1023, mantissa 52; clamp -1078.0, 1024.0;
        normal above -1021.0, raise by 128;
    slope std::f64::consts::LN_2;
    2.547_747_822_515_255_3e-11, 4.456_535_654_505_222e-10, 7.055_090_747_036_905e-9, 1.017_805_221_450_31e-7,
    1.321_548_624_888_296_3e-6, 1.525_273_385_351_344_8e-5, 1.540_353_039_412_088_6e-4, 1.333_355_814_639_379_4e-3,
    9.618_129_107_628_026e-3, 5.550_410_866_482_168e-2, 0.240_226_506_959_100_72
}
