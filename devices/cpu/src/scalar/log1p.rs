//! Logarithms beyond the natural one: log(1 + x), those to base 2 and 10, and the inverse hyperbolic functions, which
//! are logarithms of 1 and more. Branch-free, within 1 ULP, vectorised from scalar source.
//!
//! The argument is a sum u + c + low of which u is 2ᵏ·(1 + f), as in `log.rs`, and 2⁻ᵏ·(c + low) is added to f, so that
//! small results keep every digit:
//!
//! * log1p x: u + c = 1 + x;
//! * asinh x: 1 + w with w = |x| + x² / (1 + √(1 + x²));
//! * acosh x: 1 + w with w = (x − 1) + √(x² − 1);
//! * atanh x: half of 1 + w with w = 2|x| / (1 − |x|),
//!
//! squares, roots and quotients being heads with tails. Those to other bases are k and log(1 + f) times constants with
//! tails. float32 is computed in float64 with a shorter polynomial (relative error below 2⁻³⁷), but for log1p, log2 and
//! log10 where products fuse.

use super::horner::{fma_f32, fma_f64, horner, paired};
use super::log::{reduced_f32, reduced_f64, reduced_scaled, special_f32};
use super::pair::{fast_sum_f32, fast_sum_f64, product_f32, product_f64, rest_f64, sum_f64};
use crate::isa::Isa;

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// log(1 + f) as a head and a tail, f being a head and a tail, too.
#[inline(always)]
fn log_one_plus<I: Isa>(f: f64, f_low: f64) -> (f64, f64) {
    let fma = fma_f64::<I>;
    let s = f / (2.0 + f);
    let z = s * s;
    let r = paired!(fma, z, z * z; 0.147_958_212_234_713_84, 0.153_140_700_632_093_15, 0.181_835_632_728_236_22,
        0.222_221_985_998_718_95, 0.285_714_287_420_523_6, 0.399_999_999_994_166_24, 0.666_666_666_666_673_4);
    let half_square = 0.5 * f * f;
    fast_sum_f64(f, fma(s, fma(z, r, half_square), fma(f_low, 1.0 - f, -half_square)))
}

/// log(u + c + low) + extra·ln 2, where u is not below ½, c what the sum u lacks, and `low` small beside c.
#[inline(always)]
fn log_sum<I: Isa>(u: f64, c: f64, low: f64, extra: f64) -> f64 {
    let fma = fma_f64::<I>;
    let (f, k, down) = reduced_scaled(u);
    let (f, f_low) = fast_sum_f64(f, c * down);
    let (head, tail) = log_one_plus::<I>(f, f_low + low * down);
    let k = k + extra;
    let (sum, rest) = fast_sum_f64(k * LN2_HIGH, head);
    sum + (rest + fma(k, LN2_LOW, tail))
}

/// log(1 + x).
#[inline(always)]
pub(super) fn log1p_f64<I: Isa>(x: f64) -> f64 {
    let (u, c) = sum_f64(1.0, x);
    let result = log_sum::<I>(u, c, 0.0, 0.0);
    let below = if x == -1.0 { f64::NEG_INFINITY } else { f64::NAN };
    let result = if x > -1.0 { result } else { below };
    // Infinity, and -0.
    if (x == f64::INFINITY) | (x == 0.0) { x } else { result }
}

/// log(1 + x): the sum as a head and a tail, and the polynomial of `log.rs`.
#[inline(always)]
pub(super) fn log1p_f32<I: Isa>(x: f32) -> f32 {
    if !I::FMA {
        return log1p_f64::<I>(x.into()) as f32;
    }
    /// √½: the least significand of a reduced argument.
    const LEAST: u32 = 0x3f35_04f3;
    let u = 1.0 + x;
    let t = u - 1.0;
    let c = (1.0 - (u - t)) + (x - t);
    let place = u.to_bits().wrapping_sub(LEAST);
    let exponent = place & 0xff80_0000;
    let k = (exponent.cast_signed() >> 23) as f32;
    let f = f32::from_bits(u.to_bits().wrapping_sub(exponent)) - 1.0;
    let low = c * f32::from_bits(1.0f32.to_bits().wrapping_sub(exponent.cast_signed().min(126 << 23).cast_unsigned()));
    let sum = f + low;
    let low = low - (sum - f);
    let f = sum;
    let p = -0.076_086_566f32;
    let p = p.mul_add(f, 0.128_999_17);
    let p = p.mul_add(f, -0.132_458_25);
    let p = p.mul_add(f, 0.141_824_66);
    let p = p.mul_add(f, -0.166_088_01);
    let p = p.mul_add(f, 0.200_019_55);
    let p = p.mul_add(f, -0.250_015_97);
    let p = p.mul_add(f, 0.333_333_25);
    let p = p.mul_add(f, -0.499_999_88);
    let result = k.mul_add(std::f32::consts::LN_2, (f * f).mul_add(p, low * (1.0 - f)) + f);
    let below = if x == -1.0 { f32::NEG_INFINITY } else { f32::NAN };
    let result = if x > -1.0 { result } else { below };
    if (x == f32::INFINITY) | (x == 0.0) { x } else { result }
}

/// Zeros, negative numbers and infinity, which every logarithm treats alike.
#[inline(always)]
fn special(x: f64, result: f64) -> f64 {
    let result = if x < f64::INFINITY { result } else { x };
    let below = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > 0.0 { result } else { below }
}

macro_rules! base {
    ($name:ident: one $one:expr, $one_low:literal; two $two:literal, $two_low:literal) => {
        /// The logarithm to another base: of two `two`, of e `one`, each with what it lacks.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: f64) -> f64 {
            let fma = fma_f64::<I>;
            let (f, k) = reduced_f64(x);
            let (head, tail) = log_one_plus::<I>(f, 0.0);
            let (product, low) = product_f64::<I>(head, $one);
            let low = low + fma(head, $one_low, tail * $one);
            let (sum, rest) = fast_sum_f64(k * $two, product);
            special(x, sum + (rest + fma(k, $two_low, low)))
        }
    };
}
base! { log2_f64: one std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17; two 1.0, 0.0 }
base! {
    log10_f64: one std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17;
    two 0.301_029_995_664_066_5, -8.532_344_317_057_107e-14
}

/// log(1 + f), good for a float32, with f from √½ - 1 to √2 - 1.
#[inline(always)]
fn short<I: Isa>(f: f64) -> f64 {
    let fma = fma_f64::<I>;
    let s = f / (2.0 + f);
    let z = s * s;
    let p = horner!(fma, z; 0.235_814_725_479_178_45, 0.285_373_469_509_351_33, 0.400_003_345_347_393_5,
        0.666_666_656_486_453_6);
    fma(s * z, p, 2.0 * s)
}

/// log(1 + w) + extra·ln 2, good for a float32, of w not below -½.
#[inline(always)]
fn short_sum<I: Isa>(w: f64) -> f64 {
    let u = 1.0 + w;
    let (f, k) = reduced_f64(u);
    // Small results keep the digits of w.
    let f = if k == 0.0 { w } else { f };
    fma_f64::<I>(k, std::f64::consts::LN_2, short::<I>(f))
}

/// Declares the logarithm to another base as `base!` does. The polynomial is that of (log(1 + f) − f·log e) / f², a
/// minimax fit of the result's relative error (below 2⁻²⁷).
macro_rules! base_short {
    (
        $name:ident: one $one:ident, $one_low:literal; two $two:literal, $two_low:literal; wide $wide:expr;
        $($p:literal),+
    ) => {
        /// With fused products in float32, else in float64.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: f32) -> f32 {
            if !I::FMA {
                let x = f64::from(x);
                let (f, k) = reduced_f64(x);
                return special(x, k * $wide + short::<I>(f) * std::f64::consts::$one) as f32;
            }
            let fma = fma_f32::<I>;
            let (f, k) = reduced_f32(x);
            let (product, low) = product_f32::<I>(f, std::f32::consts::$one);
            let p = horner!(fma, f; $($p),+);
            let low = fma(f * f, p, fma(f, $one_low, low));
            let (sum, rest) = fast_sum_f32(k * $two, product);
            special_f32(x, sum + (rest + fma(k, $two_low, low)))
        }
    };
}
base_short! {
    log2_f32: one LOG2_E, 1.925_963e-8; two 1.0, 0.0; wide 1.0;
    -0.110_255_9, 0.187_088_2, -0.191_390_83, 0.204_486_58, -0.239_567_35, 0.288_571_42, -0.360_698_67, 0.480_898_2,
    -0.721_347_33
}
base_short! {
    log10_f32: one LOG10_E, -1.010_305e-8; two 0.301_025_4, 4.605_039e-6; wide std::f64::consts::LOG10_2;
    -0.033_308_39, 0.056_289_125, -0.057_557_57, 0.061_558_347, -0.072_123_3, 0.086_868_71, -0.108_580_89, 0.144_764_78,
    -0.217_147_19
}

/// √(head + tail), what it lacks included.
#[inline(always)]
fn root<I: Isa>(head: f64, tail: f64) -> (f64, f64) {
    let s = head.sqrt();
    // Of nothing the root is nothing.
    let twice = if s > 0.0 { s + s } else { 1.0 };
    (s, (rest_f64::<I>(head, s, s) + tail) / twice)
}

/// Above, squares and sums say nothing that the argument does not.
const HUGE: f64 = 1_152_921_504_606_846_976.0;

/// The inverse of the hyperbolic sine.
#[inline(always)]
pub(super) fn asinh_f64<I: Isa>(x: f64) -> f64 {
    let a = x.abs();
    let huge = a > HUGE;
    let b = if huge { 1.0 } else { a };
    let (square, square_low) = product_f64::<I>(b, b);
    let (t, t_low) = sum_f64(1.0, square);
    let (s, s_low) = root::<I>(t, t_low + square_low);
    let (below, below_low) = fast_sum_f64(s, 1.0);
    let below_low = below_low + s_low;
    let inverse = 1.0 / below;
    let quotient = square * inverse;
    let rest = rest_f64::<I>(square, quotient, below) + (square_low - quotient * below_low);
    let (w, w_low) = fast_sum_f64(b, quotient);
    let (u, c) = sum_f64(1.0, w);
    let u = if huge { a } else { u };
    let c = if huge { 0.0 } else { c };
    let result = log_sum::<I>(u, c, w_low + rest * inverse, if huge { 1.0 } else { 0.0 });
    let result = if a < f64::INFINITY { result } else { a };
    // A square may vanish, and with it its product's rest become what it is not.
    if a < 1e-20 { x } else { result.copysign(x) }
}

/// The inverse of the hyperbolic cosine.
#[inline(always)]
pub(super) fn acosh_f64<I: Isa>(x: f64) -> f64 {
    let huge = x > HUGE;
    let b = if huge { 2.0 } else { x };
    let (square, square_low) = product_f64::<I>(b, b);
    let (v, v_low) = fast_sum_f64(square, -1.0);
    let (v, v_low) = fast_sum_f64(v, v_low + square_low);
    let (s, s_low) = root::<I>(v, v_low);
    let (t, t_low) = fast_sum_f64(b, -1.0);
    let (w, w_low) = fast_sum_f64(s, t);
    let (u, c) = sum_f64(1.0, w);
    let u = if huge { x } else { u };
    let c = if huge { 0.0 } else { c };
    let low = if huge { 0.0 } else { w_low + (s_low + t_low) };
    let result = log_sum::<I>(u, c, low, if huge { 1.0 } else { 0.0 });
    let result = if x < f64::INFINITY { result } else { x };
    if x >= 1.0 { result } else { f64::NAN }
}

/// The inverse of the hyperbolic tangent.
#[inline(always)]
pub(super) fn atanh_f64<I: Isa>(x: f64) -> f64 {
    let a = x.abs();
    let (below, below_low) = fast_sum_f64(1.0, -a);
    let inverse = 1.0 / below;
    let w = 2.0 * a * inverse;
    let rest = rest_f64::<I>(2.0 * a, w, below) - w * below_low;
    let (u, c) = sum_f64(1.0, w);
    let result = 0.5 * log_sum::<I>(u, c, rest * inverse, 0.0);
    let result = if a < 1.0 { result } else { f64::NAN };
    let result = if a == 1.0 { f64::INFINITY } else { result };
    if a < 1e-20 { x } else { result.copysign(x) }
}

/// The inverse of the hyperbolic sine, computed in float64.
#[inline(always)]
pub(super) fn asinh_f32<I: Isa>(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let square = a * a;
    let w = a + square / (1.0 + (1.0 + square).sqrt());
    let result = short_sum::<I>(w).copysign(x.into()) as f32;
    if x.is_finite() { result } else { x }
}

/// The inverse of the hyperbolic cosine, computed in float64.
#[inline(always)]
pub(super) fn acosh_f32<I: Isa>(x: f32) -> f32 {
    let t = f64::from(x) - 1.0;
    let w = t + (t * t + 2.0 * t).sqrt();
    let result = short_sum::<I>(w) as f32;
    let result = if x < f32::INFINITY { result } else { x };
    if x >= 1.0 { result } else { f32::NAN }
}

/// The inverse of the hyperbolic tangent, computed in float64.
#[inline(always)]
pub(super) fn atanh_f32<I: Isa>(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let result = 0.5 * short_sum::<I>(2.0 * a / (1.0 - a));
    let result = if a < 1.0 { result } else { f64::NAN };
    let result = if a == 1.0 { f64::INFINITY } else { result };
    result.copysign(x.into()) as f32
}
