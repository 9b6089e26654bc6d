//! e^x − 1, and the hyperbolic sine and cosine: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! All take the exponential apart, 2ⁿ·(1 + r + r²/2 + …), before anything is rounded away; half or a quarter of it, so
//! that nothing overflows before the result does:
//!
//! * m = (e^x − 1) / 4 = (2ⁿ⁻² − ¼) + 2ⁿ⁻²·r + 2ⁿ⁻²·r²/2 + …, as a head and a tail: of no term but the last is anything
//!   lost, so small arguments need no series;
//! * sinh |x| = 2m + 2m / (4m + 1), and cosh x = 2q + 1/(8q) with q = e^|x| / 4.
//!
//! Without a fused product float32 is computed in float64; sinh and cosh of float32 always are, of which one place is
//! enough.

use super::exp::{exp_f64, exp_parts_f64, exp_terms_f32, exp_terms_f64, power_f32, power_f64};
use super::horner::{fma_f64, horner};
use super::pair::{fast_sum_f32, fast_sum_f64, product_f32, product_f64, rest_f64, sum_f64};
use crate::isa::Isa;

macro_rules! minus_one {
    ($name:ident, $scaled:ident: $float:ident, $terms:ident, $power:ident, $sum:ident, $product:ident;
        low $low:literal, high $high:literal, itself below $itself:literal $(, wide $wide:ident)?) => {
        /// 2⁻ᵈ·(e^x − 1) as a head and a tail, d being 1 or 2, for x above the clamp.
        #[inline(always)]
        fn $scaled<I: Isa>(x: $float, d: u8) -> ($float, $float) {
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            let (n, r, correction, q) = $terms::<I>(x, -0.0);
            let scale = $power(n.wrapping_sub(d.into()));
            let (square, square_low) = $product::<I>(r, r);
            let tail = fma(square * r, q, fma(0.5, square_low, correction));
            // 2ⁿ⁻ᵈ − 2⁻ᵈ is 0, or not below the rest; each term is below the sum before it.
            let (minus, minus_low) = $sum(scale, if d == 1 { -0.5 } else { -0.25 });
            let (above, above_low) = $sum(minus, scale * r);
            let (above, below) = $sum(above, scale * (0.5 * square));
            (above, (above_low + minus_low) + (below + scale * tail))
        }

        /// e to the power of `x`, less one.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                return $wide::<I>(x.into()) as $float;
            })?
            // Below, the result is -1; above, infinity. NaN passes.
            let y = if x < $low { $low } else { x };
            let y = if y > $high { $high } else { y };
            let (head, tail) = $scaled::<I>(y, 1);
            let result = 2.0 * (head + tail);
            // Half of a subnormal number may not be one; and -0 stays.
            if x.abs() < $itself { x } else { result }
        }
    };
}
minus_one! {
    expm1_f32, scaled_f32: f32, exp_terms_f32, power_f32, fast_sum_f32, product_f32;
    low -20.0, high 89.0, itself below 1e-10, wide expm1_f64
}
minus_one! {
    expm1_f64, scaled_f64: f64, exp_terms_f64, power_f64, fast_sum_f64, product_f64;
    low -40.0, high 710.0, itself below 1e-20
}

/// The hyperbolic sine.
#[inline(always)]
pub(super) fn sinh_f64<I: Isa>(x: f64) -> f64 {
    // Beyond, the result is infinite. NaN passes.
    let a = x.abs();
    let a = if a > 710.5 { 710.5 } else { a };
    let (head, tail) = scaled_f64::<I>(a, 2);
    let (head, tail) = fast_sum_f64(head, tail);
    // m and m / (4m + 1) for m = (e^a - 1) / 4, whose sum is half of the result.
    let (below, below_low) = sum_f64(head, 0.25);
    let below_low = below_low + tail;
    let inverse = 0.25 / below;
    let quotient = head * inverse;
    let rest = rest_f64::<I>(0.25 * head, quotient, below) + (0.25 * tail - quotient * below_low);
    // Beside a large sum it is nothing, and splits would overflow.
    let rest = if a < 40.0 { rest } else { 0.0 };
    let (sum, low) = fast_sum_f64(head, quotient);
    let result = 2.0 * (sum + (low + (tail + 4.0 * inverse * rest)));
    if x.abs() < 1e-20 { x } else { result.copysign(x) }
}

/// The hyperbolic cosine.
#[inline(always)]
pub(super) fn cosh_f64<I: Isa>(x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 710.5 { 710.5 } else { a };
    let (n, p, q) = exp_parts_f64::<I>(a, -0.0);
    // A quarter of e^a, and of e^-a.
    let scale = power_f64(n.wrapping_sub(2));
    let (one, low) = fast_sum_f64(1.0, p);
    let (one, low) = fast_sum_f64(one, low + q);
    let (head, tail) = (scale * one, scale * low);
    let inverse = 0.0625 / head;
    let rest = rest_f64::<I>(0.0625, inverse, head) - inverse * tail;
    let rest = if a < 40.0 { rest } else { 0.0 };
    let (sum, low) = fast_sum_f64(head, inverse);
    2.0 * (sum + (low + (tail + 16.0 * inverse * rest)))
}

/// The hyperbolic sine, computed in float64: an odd polynomial below 1 (minimax, relative error below 2⁻⁴³), else of
/// exponentials.
#[inline(always)]
pub(super) fn sinh_f32<I: Isa>(x: f32) -> f32 {
    let fma = fma_f64::<I>;
    let x = f64::from(x);
    let z = x * x;
    let p = horner!(fma, z; 2.552_664_316_803_393e-8, 2.755_214_127_765_41e-6, 1.984_129_539_894_106_9e-4,
        8.333_333_278_472_542e-3,
        0.166_666_666_670_472_97);
    let small = fma(x * z, p, x);
    let e = exp_f64::<I>(x.abs());
    let large = (0.5 * e - 0.5 / e).copysign(x);
    (if z < 1.0 { small } else { large }) as f32
}

/// The hyperbolic cosine, computed in float64.
#[inline(always)]
pub(super) fn cosh_f32<I: Isa>(x: f32) -> f32 {
    let e = exp_f64::<I>(f64::from(x).abs());
    (0.5 * e + 0.5 / e) as f32
}
