//! Arguments of the trigonometric functions, less multiples of π/2. Owns the quadrant and the rest, as a head and a
//! tail.
//!
//! * *Near*, up to [`NEAR_F64`]: Cody–Waite with π/2 in parts, whose products with the quotient are exact.
//! * *Far*, any finite argument: M. H. Payne, R. N. Hanek, *Radian reduction for trigonometric functions*, SIGNUM
//!   Newsletter 18(1), 1983. x is m·2ᵉ with m an integer; of the bits of 2/π, those that m·2ᵉ turns into multiples of 4
//!   are left out, and 192 bits after them times m leave the quotient modulo 4 and 126 bits of its fraction. No float64
//!   comes nearer to a multiple of π/2 than some 2⁻⁶¹ of it, so 65 bits are left. Products are of 32-bit halves, and
//!   the bits come from a table by a gather, so this too vectorises.

use super::pair::{fast_sum_f64, product_f64, sum_f64};
use crate::isa::Isa;

/// The largest magnitude that the near reduction takes: quotients of 19 bits.
pub(super) const NEAR_F64: f64 = 524_288.0;

/// Its last place is one, so a sum with it is rounded to an integer.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// A reduced argument: x = (quadrant + 4k)·π/2 + head + tail, of which only the last two bits of the quadrant count.
pub(super) struct Reduced {
    pub(super) quadrant: u64,
    pub(super) head: f64,
    pub(super) tail: f64,
}

/// Reduces 0 ≤ a ≤ [`NEAR_F64`].
#[inline(always)]
pub(super) fn near_f64<I: Isa>(a: f64) -> Reduced {
    let shifted =
        if I::FMA { a.mul_add(std::f64::consts::FRAC_2_PI, SHIFT) } else { a * std::f64::consts::FRAC_2_PI + SHIFT };
    let n = shifted - SHIFT;
    let (head, tail) = if I::FMA {
        const HIGH: f64 = std::f64::consts::FRAC_PI_2;
        const MIDDLE: f64 = 6.123_233_995_736_766e-17;
        const LOW: f64 = -1.497_384_904_859_169_8e-33;
        let first = n.mul_add(-HIGH, a);
        let product = n * MIDDLE;
        let head = first - product;
        (head, n.mul_add(-LOW, ((first - head) - product) - n.mul_add(MIDDLE, -product)))
    } else {
        // Parts of 33 bits, so that products with n are exact.
        const HIGH: f64 = 1.570_796_326_734_125_6;
        const MIDDLE: f64 = 6.077_100_506_303_966e-11;
        const LOW: f64 = 2.022_266_248_711_166_5e-21;
        const LOWEST: f64 = 8.478_427_660_348_229e-32;
        let (head, rest) = sum_f64(a - n * HIGH, -(n * MIDDLE));
        let (head, low) = sum_f64(head, -(n * LOW));
        (head, (rest + low) - n * LOWEST)
    };
    let (head, tail) = fast_sum_f64(head, tail);
    Reduced { quadrant: shifted.to_bits(), head, tail }
}

/// Reduces any a from 1 to the largest number; of all others something.
#[inline(always)]
pub(super) fn far_f64<I: Isa>(a: f64) -> Reduced {
    const MANTISSA: u64 = (1 << 52) - 1;
    const LOW: u64 = 0xffff_ffff;
    let bits = a.to_bits();
    let m = (bits & MANTISSA) | (1 << 52);
    let (m0, m1) = (m & LOW, m >> 32);
    // a is m·2^(exponent - 1075). The first bit needed has the weight 2^(1 - (exponent - 1075)), and stands 63 places
    // after that.
    let place = (bits >> 52).wrapping_sub(1075 - 62);
    let (word, shift) = (place >> 5, place & 31);
    let limb = |k: u64| (TWO_OVER_PI[(word.wrapping_add(k) & 63) as usize] << shift) >> 32;

    // The product, limb by limb from below; of its six, five are kept: the carry of the lowest, and four to be used.
    let (w, below) = (limb(4), (m0 * limb(5)) >> 32);
    let t = m0 * w + below;
    let u = m1 * limb(5) + (t & LOW);
    let carry = (t >> 32) + (u >> 32);
    let (v, w) = (w, limb(3));
    let t = m0 * w + carry;
    let u = m1 * v + (t & LOW);
    let (p0, carry) = (u & LOW, (t >> 32) + (u >> 32));
    let (v, w) = (w, limb(2));
    let t = m0 * w + carry;
    let u = m1 * v + (t & LOW);
    let (p1, carry) = (u & LOW, (t >> 32) + (u >> 32));
    let (v, w) = (w, limb(1));
    let t = m0 * w + carry;
    let u = m1 * v + (t & LOW);
    let (p2, carry) = (u & LOW, (t >> 32) + (u >> 32));
    let p3 = (m0 * limb(0) + m1 * w + carry) & LOW;

    let (high, low) = (p3 << 32 | p2, p1 << 32 | p0);
    let quadrant = high.wrapping_add(1 << 61) >> 62;
    // Two's complement: the fraction from -1/2 to 1/2.
    let (high, low) = (high << 2 | low >> 62, low << 2);
    const UNIT: f64 = 1.0 / 18_446_744_073_709_551_616.0;
    let top = (high & !0x7ff).cast_signed() as f64 * UNIT;
    let middle = (high & 0x7ff).cast_signed() as f64 * UNIT;
    let bottom = (low >> 1).cast_signed() as f64 * (2.0 * UNIT * UNIT);
    let (head, rest) = fast_sum_f64(top, middle);
    let (head, tail) = fast_sum_f64(head, rest + bottom);
    let (turned, below) = product_f64::<I>(head, std::f64::consts::FRAC_PI_2);
    let below = below + (head * 6.123_233_995_736_766e-17 + tail * std::f64::consts::FRAC_PI_2);
    let (head, tail) = fast_sum_f64(turned, below);
    Reduced { quadrant, head, tail }
}

/// The bits of 2/π in pairs of words of 32, each pair beginning one word after the one before; 64 zeros stand first.
const TWO_OVER_PI: [u64; 64] = {
    const WORDS: [u32; 46] = [
        0x0000_0000,
        0x0000_0000,
        0xa2f9_836e,
        0x4e44_1529,
        0xfc27_57d1,
        0xf534_ddc0,
        0xdb62_9599,
        0x3c43_9041,
        0xfe51_63ab,
        0xdebb_c561,
        0xb724_6e3a,
        0x424d_d2e0,
        0x0649_2eea,
        0x09d1_921c,
        0xfe1d_eb1c,
        0xb129_a73e,
        0xe882_35f5,
        0x2ebb_4484,
        0xe99c_7026,
        0xb45f_7e41,
        0x3991_d639,
        0x8353_39f4,
        0x9c84_5f8b,
        0xbdf9_283b,
        0x1ff8_97ff,
        0xde05_980f,
        0xef2f_118b,
        0x5a0a_6d1f,
        0x6d36_7ecf,
        0x27cb_09b7,
        0x4f46_3f66,
        0x9e5f_ea2d,
        0x7527_bac7,
        0xebe5_f17b,
        0x3d07_39f7,
        0x8a52_92ea,
        0x6bfb_5fb1,
        0x1f8d_5d08,
        0x5603_3046,
        0xfc7b_6bab,
        0xf0cf_bc20,
        0x9af4_361d,
        0xa9e3_9161,
        0x5ee6_1b08,
        0x6599_855f,
        0x14a0_6800,
    ];
    let mut pairs = [0; 64];
    let mut k = 0;
    while k + 1 < WORDS.len() {
        pairs[k] = (WORDS[k] as u64) << 32 | WORDS[k + 1] as u64;
        k += 1;
    }
    pairs
};
