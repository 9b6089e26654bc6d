//! The natural logarithm: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! 1. *Reduction*: x = 2ᵏ·m with m in [√½, √2), so log x = k·ln 2 + log m, and f = m − 1 is exact. Subnormal x is
//!    scaled first.
//! 2. float32: log(1 + f) = f + f²·p(f), p of degree 8. Two fused products end it.
//!    float64: log(1 + f) = f − f²/2 + s·(f²/2 + s²·r(s²)) with s = f / (2 + f), the shape of fdlibm's `e_log.c` (Sun
//!    Microsystems, 1993), which needs no fused product; r of degree 6.
//!
//! Polynomials are minimax fits of the result's relative error: below 2⁻²⁷ and 2⁻⁵⁹.

use super::horner::paired;
use super::pair::fast_sum_f64;
use crate::isa::Isa;

/// The natural logarithm of `x`.
#[inline(always)]
pub(super) fn log_f32<I: Isa>(x: f32) -> f32 {
    if !I::FMA {
        return log_f64::<I>(f64::from(x)) as f32;
    }
    let (f, k) = reduced_f32(x);
    let p = -0.076_086_566f32;
    let p = p.mul_add(f, 0.128_999_17);
    let p = p.mul_add(f, -0.132_458_25);
    let p = p.mul_add(f, 0.141_824_66);
    let p = p.mul_add(f, -0.166_088_01);
    let p = p.mul_add(f, 0.200_019_55);
    let p = p.mul_add(f, -0.250_015_97);
    let p = p.mul_add(f, 0.333_333_25);
    let p = p.mul_add(f, -0.499_999_88);
    special_f32(x, k.mul_add(std::f32::consts::LN_2, (f * f).mul_add(p, f)))
}

/// The logarithm of `x` where there is one, or else what every logarithm gives.
#[inline(always)]
pub(super) fn special_f32(x: f32, result: f32) -> f32 {
    // One test for whatever is not positive and finite. As bits, what is above infinity is NaN or negative, and gives
    // NaN.
    let bits = x.to_bits();
    let special = if x == 0.0 { f32::NEG_INFINITY } else { f32::from_bits(bits.min(0x7fff_ffff)) };
    if bits.wrapping_sub(1) < f32::INFINITY.to_bits() - 1 { result } else { special }
}

/// The natural logarithm of `x`.
#[inline(always)]
pub(super) fn log_f64<I: Isa>(x: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let fma = |a: f64, b: f64, c: f64| if I::FMA { a.mul_add(b, c) } else { a * b + c };

    let (f, k) = reduced_f64(x);
    let s = f / (2.0 + f);
    let z = s * s;
    let r = paired!(fma, z, z * z; 0.147_958_212_234_713_84, 0.153_140_700_632_093_15, 0.181_835_632_728_236_22,
        0.222_221_985_998_718_95, 0.285_714_287_420_523_6, 0.399_999_999_994_166_24, 0.666_666_666_666_673_4);
    let half_square = 0.5 * f * f;
    let (head, tail) = fast_sum_f64(f, fma(s, fma(z, r, half_square), -half_square));
    let (sum, rest) = fast_sum_f64(k * LN2_HIGH, head);
    let result = sum + (rest + fma(k, LN2_LOW, tail));
    let result = if x < f64::INFINITY { result } else { x };
    let below = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > 0.0 { result } else { below }
}

/// f and k with x = 2ᵏ·(1 + f) and 1 + f in [√½, √2), for x positive and finite; some numbers for any other.
#[inline(always)]
pub(super) fn reduced_f32(x: f32) -> (f32, f32) {
    /// √½: the least significand of a reduced argument.
    const LEAST: u32 = 0x3f35_04f3;
    let small = x < f32::MIN_POSITIVE;
    let place = (if small { x * 8_388_608.0 } else { x }).to_bits().wrapping_sub(LEAST);
    // 23 exponents less where it was scaled; the digits below them do not change.
    let place = if small { place.wrapping_sub(23 << 23) } else { place };
    let k = (place.cast_signed() >> 23) as f32;
    (f32::from_bits((place & 0x007f_ffff).wrapping_add(LEAST)) - 1.0, k)
}

/// The same.
#[inline(always)]
pub(super) fn reduced_f64(x: f64) -> (f64, f64) {
    let small = x < f64::MIN_POSITIVE;
    // 52 exponents less where it is scaled. A factor, not a product, is chosen: that takes no branch.
    reduced_by(x * if small { INTEGERS } else { 1.0 }, if small { 1023.0 + 52.0 } else { 1023.0 })
}

/// The same of a number that is not subnormal.
#[inline(always)]
pub(super) fn reduced_normal(x: f64) -> (f64, f64) {
    reduced_by(x, 1023.0)
}

/// 2⁵²: an integer below it in its last places is a float of that value above it.
const INTEGERS: f64 = 4_503_599_627_370_496.0;

#[inline(always)]
fn reduced_by(x: f64, bias: f64) -> (f64, f64) {
    let (f, biased) = reduced_biased(x);
    (f, f64::from_bits(biased | INTEGERS.to_bits()) - (INTEGERS + bias))
}

/// f and k of a number that is not subnormal, and 2⁻ᵏ, but 0 where k is 1024.
#[inline(always)]
pub(super) fn reduced_scaled(x: f64) -> (f64, f64, f64) {
    let (f, biased) = reduced_biased(x);
    let k = f64::from_bits(biased | INTEGERS.to_bits()) - (INTEGERS + 1023.0);
    (f, k, 0.5 * f64::from_bits((2 * 1023_u64 + 1).wrapping_sub(biased) << 52))
}

/// f and k + 1023 of a number that is not subnormal.
#[inline(always)]
fn reduced_biased(x: f64) -> (f64, u64) {
    /// √½: the least significand of a reduced argument.
    const LEAST: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 1.0f64.to_bits();
    let bits = x.to_bits();
    // Biased, so that the shift is one of unsigned numbers: AVX2 has no other of 64 bits.
    let biased = bits.wrapping_sub(LEAST).wrapping_add(ONE) >> 52;
    (f64::from_bits(bits.wrapping_sub(biased << 52).wrapping_add(ONE)) - 1.0, biased)
}
