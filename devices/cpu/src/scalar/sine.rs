//! Sine, cosine and tangent: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! The argument is reduced to [−π/4, π/4] with a tail (`reduction.rs`); sine and cosine are odd and even minimax
//! polynomials there, of relative error below 2⁻⁶² and 2⁻⁶³ (float64), 2⁻²⁷ and 2⁻³² (float32), and the quadrant
//! selects and signs. The tangent is their quotient, of heads with tails, corrected by what it leaves.
//!
//! Each function exists twice: for every argument, and for near ones, which a loop takes when it holds no others.
//! float32 is computed in float32 where it is near and products fuse, and in float64 elsewhere, with shorter
//! polynomials.

use super::horner::{fma_f64, horner};
use super::pair::{fast_sum_f64, rest_f64};
use super::reduction::{NEAR_F64, Reduced, far_f64, near_f64};
use crate::isa::Isa;

/// The largest magnitude that the short way of float32 takes: quotients of 16 bits.
pub(super) const NEAR_F32: f32 = 100_000.0;

/// The reduced argument of a float64, near or far.
#[inline(always)]
fn reduced_f64<I: Isa>(a: f64) -> Reduced {
    let (near, far) = (near_f64::<I>(a), far_f64::<I>(a));
    let is_near = a <= NEAR_F64;
    Reduced {
        quadrant: if is_near { near.quadrant } else { far.quadrant },
        // Infinity has no quadrant: it becomes NaN here, as NaN does.
        head: if is_near { near.head } else { far.head + 0.0 * a },
        tail: if is_near { near.tail } else { far.tail },
    }
}

/// The tail of the sine of head + tail, whose head is that of the argument.
#[inline(always)]
fn sine_tail<I: Isa>(head: f64, tail: f64) -> f64 {
    let fma = fma_f64::<I>;
    let z = head * head;
    let s = horner!(fma, z; -7.484_901_522_186_588e-13, 1.605_624_947_901_026_7e-10, -2.505_208_597_559_252_3e-8,
        2.755_731_912_928_999_3e-6, -1.984_126_984_105_712_3e-4, 8.333_333_333_333_1e-3, -0.166_666_666_666_666_66);
    fma(head * z, s, fma(-0.5 * z, tail, tail))
}

/// The cosine of head + tail as a head and a tail.
#[inline(always)]
fn cosine<I: Isa>(head: f64, tail: f64) -> (f64, f64) {
    let fma = fma_f64::<I>;
    let z = head * head;
    let c = horner!(fma, z; -1.135_876_486_651_634_2e-11, 2.087_570_568_950_581_5e-9, -2.755_731_421_905_926_7e-7,
        2.480_158_728_900_809_7e-5, -1.388_888_888_887_334_8e-3, 4.166_666_666_666_659_5e-2);
    let half = 0.5 * z;
    let one = 1.0 - half;
    let low = if I::FMA { head.mul_add(head, -z) } else { 0.0 };
    (one, ((1.0 - one) - half) + fma(z * z, c, -(head * tail + 0.5 * low)))
}

const SIGN: u64 = 1 << 63;

/// Sine (`turn` 0) or cosine (`turn` 1) from a reduced magnitude.
#[inline(always)]
fn turned<I: Isa>(x: f64, r: &Reduced, turn: u64) -> f64 {
    let quadrant = r.quadrant.wrapping_add(turn);
    let sine = r.head + sine_tail::<I>(r.head, r.tail);
    let (one, low) = cosine::<I>(r.head, r.tail);
    let value = if quadrant & 1 == 0 { sine } else { one + low };
    let sign = if turn == 0 { x.to_bits() & SIGN } else { 0 };
    f64::from_bits(value.to_bits() ^ ((quadrant << 62) & SIGN) ^ sign)
}

/// The tangent from a reduced magnitude.
#[inline(always)]
fn tangent<I: Isa>(x: f64, r: &Reduced) -> f64 {
    let (sine, sine_low) = fast_sum_f64(r.head, sine_tail::<I>(r.head, r.tail));
    let (one, low) = cosine::<I>(r.head, r.tail);
    let (one, low) = fast_sum_f64(one, low);
    let odd = r.quadrant & 1 == 1;
    let (above, above_low) = if odd { (one, low) } else { (sine, sine_low) };
    let (below, below_low) = if odd { (sine, sine_low) } else { (one, low) };
    let inverse = 1.0 / below;
    let quotient = above * inverse;
    let rest = rest_f64::<I>(above, quotient, below) + (above_low - quotient * below_low);
    let value = quotient + rest * inverse;
    f64::from_bits(value.to_bits() ^ ((r.quadrant << 63) ^ x.to_bits()) & SIGN)
}

/// The same with shorter polynomials, in float64 for a float32.
#[inline(always)]
fn turned_f32<I: Isa>(x: f32, r: &Reduced, turn: u64) -> f32 {
    let quadrant = r.quadrant.wrapping_add(turn);
    let (sine, cosine) = short::<I>(r.head);
    let value = if quadrant & 1 == 0 { sine } else { cosine } as f32;
    let sign = if turn == 0 { x.to_bits() & 0x8000_0000 } else { 0 };
    f32::from_bits(value.to_bits() ^ ((quadrant as u32) << 30 & 0x8000_0000) ^ sign)
}

/// Sine and cosine on [−π/4, π/4], good for a float32.
#[inline(always)]
fn short<I: Isa>(r: f64) -> (f64, f64) {
    let fma = fma_f64::<I>;
    let z = r * r;
    let s = horner!(fma, z; 2.718_121_536_243_126_5e-6, -1.983_931_225_992_791_4e-4, 8.333_329_304_813_127e-3,
        -0.166_666_666_407_967_96);
    let c = horner!(fma, z; -2.720_575_462_936_537e-7, 2.479_946_016_021_961e-5, -1.388_888_350_009_987_6e-3,
        0.041_666_666_619_491_67, -0.5);
    (fma(r * z, s, r), fma(z, c, 1.0))
}

#[inline(always)]
fn tangent_f32<I: Isa>(x: f32, r: &Reduced) -> f32 {
    let (sine, cosine) = short::<I>(r.head);
    let odd = r.quadrant & 1 == 1;
    let value = if odd { -cosine } else { sine } / if odd { sine } else { cosine };
    let value = value as f32;
    f32::from_bits(value.to_bits() ^ (x.to_bits() & 0x8000_0000))
}

macro_rules! forms {
    ($($name:ident $near:ident: $float:ident, |$x:ident, $r:ident| $value:expr;)*) => {$(
        /// For every argument.
        #[inline(always)]
        pub(super) fn $name<I: Isa>($x: $float) -> $float {
            let $r = &reduced_f64::<I>($x.abs().into());
            $value
        }

        /// For near arguments.
        #[inline(always)]
        pub(super) fn $near<I: Isa>($x: $float) -> $float {
            let $r = &near_f64::<I>($x.abs().into());
            $value
        }
    )*};
}
forms! {
    sin_f64 sin_near_f64: f64, |x, r| turned::<I>(x, r, 0);
    cos_f64 cos_near_f64: f64, |x, r| turned::<I>(x, r, 1);
    tan_f64 tan_near_f64: f64, |x, r| tangent::<I>(x, r);
    sin_f32 sin_wide_f32: f32, |x, r| turned_f32::<I>(x, r, 0);
    cos_f32 cos_wide_f32: f32, |x, r| turned_f32::<I>(x, r, 1);
    tan_f32 tan_near_f32: f32, |x, r| tangent_f32::<I>(x, r);
}

/// The sine of a near float32.
#[inline(always)]
pub(super) fn sin_near_f32<I: Isa>(x: f32) -> f32 {
    if I::FMA { turned_single(x, 0) } else { sin_wide_f32::<I>(x) }
}

/// The cosine of a near float32.
#[inline(always)]
pub(super) fn cos_near_f32<I: Isa>(x: f32) -> f32 {
    if I::FMA { turned_single(x, 1) } else { cos_wide_f32::<I>(x) }
}

/// Sine (`turn` 0) or cosine (`turn` 1) of a near argument in float32 alone. Its products are fused.
#[inline(always)]
fn turned_single(x: f32, turn: u32) -> f32 {
    const HIGH: f32 = std::f32::consts::FRAC_PI_2;
    const MIDDLE: f32 = -4.371_139e-8;
    const LOW: f32 = -1.715_124_5e-15;
    /// Its last place is one, so a sum with it is rounded to an integer.
    const SHIFT: f32 = 12_582_912.0;
    let a = x.abs();
    let shifted = a.mul_add(std::f32::consts::FRAC_2_PI, SHIFT);
    let n = shifted - SHIFT;
    let first = n.mul_add(-HIGH, a);
    let product = n * MIDDLE;
    let r = first - product;
    let low = n.mul_add(-LOW, ((first - r) - product) - n.mul_add(MIDDLE, -product));
    let z = r * r;
    let s = (-1.951_845_5e-4f32).mul_add(z, 8.332_19e-3).mul_add(z, -0.166_666_55);
    let sine = r + (r * z).mul_add(s, low);
    let c = 2.443_256_7e-5f32.mul_add(z, -1.388_731_1e-3).mul_add(z, 4.166_664_6e-2);
    let one = z.mul_add(-0.5, 1.0);
    let rest = z.mul_add(-0.5, 1.0 - one);
    let cosine = one + (z * z).mul_add(c, r.mul_add(-low, rest));
    let quadrant = shifted.to_bits().wrapping_add(turn);
    let value = if quadrant & 1 == 0 { sine } else { cosine };
    let sign = if turn == 0 { x.to_bits() } else { 0 };
    f32::from_bits(value.to_bits() ^ ((quadrant << 30 ^ sign) & 0x8000_0000))
}
