//! gelu, and its approximation by a logistic function: branch-free, vectorised from scalar source.
//!
//! gelu x = max(x, 0) − |x|·Q(|x|), where Q(a), the probability that a normal variable exceeds a, falls as fast as
//! e^(−a²/2): 1 + erf would cancel on the negative side. Q(a) = e^(−a²/2)·h(t) / (a + 4), with h a polynomial of
//! t = (a − 4) / (a + 4), which takes the half line to [−1, 1) (the transformation of M. M. Shepherd, J. G. Laframboise,
//! *Chebyshev approximation of (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞*, Mathematics of Computation 36, 1981). The rounding of
//! a² goes into the exponential as a tail, else the result would be off by a²/2 units.

use super::exp::{exp_parts_f32, exp_parts_f64, power_f32, power_f64};
use super::pair::{fast_sum_f64, product_f32, product_f64, rest_f64, sum_f64};
use crate::isa::Isa;

macro_rules! gelu {
    (
        $name:ident: $float:ident, $parts:ident, $power:ident, $product:ident;
        vanishes $vanishes:literal, of infinity $of_infinity:ident $(, wide $wide:ident)?;
        h $h:literal $(, $h_rest:literal)*
    ) => {
        /// `x` times the probability that a normal variable is below `x`.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                let result = $wide::<I>(x.into()) as $float;
                return if x == $float::INFINITY { $float::$of_infinity } else { result };
            })?
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            // Beyond, the subtrahend is 0. NaN passes.
            let a = x.abs();
            let a = if a > $vanishes { $vanishes } else { a };
            let (square, low) = $product::<I>(a, a);
            let (n, head, tail) = $parts::<I>(-0.5 * square, -0.5 * low);
            let inverse = 1.0 / (a + 4.0);
            let t = (a - 4.0) * inverse;
            let h = $h;
            $(let h = fma(h, t, $h_rest);)*
            // Of the unclamped magnitude, so that infinities give NaN, as PyTorch's vectorised kernels do; its float64 kernel
            // lets a positive one pass.
            let factor = x.abs() * inverse * h;
            let first = n >> 1;
            let product = fma(factor, head + tail, factor) * ($power(first) * $power(n.wrapping_sub(first)));
            let positive = if x < 0.0 { 0.0 } else { x };
            let result = positive - product;
            if !$float::$of_infinity.is_nan() & (x == $float::INFINITY) { x } else { result }
        }
    };
}

gelu! {
    gelu_f32: f32, exp_parts_f32, power_f32, product_f32;
    vanishes 15.0, of infinity NAN, wide gelu_f64;
    h -1.324_334e-4, 1.783_714e-4, 1.569_589_6e-3, -3.512_078e-3, -7.525_003_5e-3, 6.040_376_4e-2,
      -1.865_234_8e-1, 3.871_369e-1, -6.078_965_7e-1, 7.552_851_4e-1
}

gelu! {
    gelu_f64: f64, exp_parts_f64, power_f64, product_f64;
    vanishes 39.0, of infinity INFINITY;
    h -1.187_393_853_741_426_2e-9, -3.189_391_690_931_768_5e-10, 1.459_996_057_920_467_8e-8,
      1.600_307_800_853_606e-8, -7.720_387_580_744_427e-8, -1.564_987_357_742_494_1e-7,
      2.641_706_366_979_719e-7, 1.021_783_359_188_476e-6, -6.252_500_779_543_541e-7,
      -5.919_975_335_070_572e-6, 7.149_879_946_889_198e-7, 3.514_455_856_805_174_4e-5,
      -1.907_847_973_491_502_3e-6, -0.000_231_094_901_546_409_24, 0.000_133_344_249_266_171_9,
      0.001_630_818_453_021_795_4, -0.003_479_692_361_683_539, -0.007_540_188_966_418_019,
      0.060_396_574_890_670_2, -0.186_521_857_959_665_94, 0.387_137_400_742_219_4, -0.607_896_641_971_892_1,
      0.755_285_130_415_751_5
}

/// √(8/π), and what float64 lacks of it.
const SLOPE: (f64, f64) = (1.595_769_121_605_730_8, -9.969_308_809_110_92e-17);

/// x·sigmoid(√(8/π)·(x + 0.044715·x³)), the approximation of gelu.
#[inline(always)]
pub(super) fn gelu_tanh_f64<I: Isa>(x: f64) -> f64 {
    /// The factor of the cube, and what float64 lacks of it.
    const CUBIC: (f64, f64) = (0.044_715, 2.196_021_142_708_559_5e-18);
    // Beyond, the result is 0 or x.
    let a = x.abs();
    let a = if a > 30.0 { 30.0 } else { a };
    // The argument as a head and a tail: its rounding would be multiplied by its size.
    let (square, square_low) = product_f64::<I>(a, a);
    let (scaled, scaled_low) = product_f64::<I>(CUBIC.0, square);
    let (head, low) = sum_f64(1.0, scaled);
    let low = low + (scaled_low + (CUBIC.0 * square_low + CUBIC.1 * square));
    let (slope, slope_low) = product_f64::<I>(SLOPE.0, a);
    let (t, t_low) = product_f64::<I>(slope, head);
    let t_low = t_low + (slope * low + (slope_low + SLOPE.1 * a) * head);
    let t_low = if t > 760.0 { 0.0 } else { t_low };
    let t = if t > 760.0 { 760.0 } else { t };
    let (n, p, q) = exp_parts_f64::<I>(-t, -t_low);
    let (head, low) = fast_sum_f64(1.0, p);
    let (head, tail) = fast_sum_f64(head, low + q);
    // e^-t is nothing beside 1 where it is subnormal.
    let scale = power_f64(if n < -1022 { -1022 } else { n });
    let (below, below_low) = fast_sum_f64(1.0, scale * head);
    let below_low = below_low + scale * tail;
    // x / (1 + e^-t), or x·e^-t / (1 + e^-t).
    let negative = x < 0.0;
    let (above, above_low) = if negative { (head, tail) } else { (1.0, 0.0) };
    let inverse = 1.0 / below;
    let quotient = above * inverse;
    let rest = rest_f64::<I>(above, quotient, below) + (above_low - quotient * below_low);
    let (result, result_low) = product_f64::<I>(quotient, a);
    let result = result + (result_low + rest * inverse * a);
    let n = if negative { n } else { 0 };
    let first = n >> 1;
    let result = (result * power_f64(first) * power_f64(n.wrapping_sub(first))).copysign(x);
    // Minus infinity gives NaN, as in PyTorch.
    let large = if negative { x * 0.0 } else { x };
    if x.abs() > 30.0 { large } else { result }
}

/// The same, computed in float64.
#[inline(always)]
pub(super) fn gelu_tanh_f32<I: Isa>(x: f32) -> f32 {
    gelu_tanh_f64::<I>(x.into()) as f32
}
