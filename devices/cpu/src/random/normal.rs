//! Normal numbers of contiguous tensors: the transform of Box and Muller (1958) on blocks of 16 numbers, of which those
//! in the first half give radii and those in the second half angles.
//!
//! ```text
//! u0 … u7 | v0 … v7   ──►   r = √(-2 ln(1 - u)), t = 2πv   ──►   r cos t | r sin t
//! ```
//!
//! In float32 logarithm, sine and cosine are the polynomials of Moshier's Cephes with the roundings of PyTorch's build
//! for AVX2: a product that is added is added exactly. So bits are those of PyTorch on any processor; where the frame
//! has no such instruction it costs time alone. In float64 they are those of the C library.

use crate::isa::{Isa, Kernel, Level};
use monomorph_ops::random::Draw;

/// Numbers of a block.
pub(super) const BLOCK: usize = 16;

/// Blocks transformed in the frame of a level.
pub(super) struct Transform<'a> {
    pub(super) numbers: &'a mut [f32],
    pub(super) mean: f32,
    pub(super) std: f32,
}

impl<I: Isa> Kernel<I> for Transform<'_> {
    type Home = Draw;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        for block in self.numbers.chunks_exact_mut(BLOCK) {
            let (u, v) = block.split_at_mut(BLOCK / 2);
            for (u, v) in u.iter_mut().zip(v) {
                let radius = (-2.0 * ln(1.0 - *u)).sqrt();
                let (sin, cos) = sin_cos(std::f32::consts::TAU * *v);
                *u = (radius * cos).mul_add(self.std, self.mean);
                *v = (radius * sin).mul_add(self.std, self.mean);
            }
        }
    }
}

impl Transform<'_> {
    /// Transforms at a level that the host has.
    pub(super) fn at(self, level: Level) {
        level.enter(self);
    }
}

/// The logarithm of a normal number up to 1.
#[inline(always)]
fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 0x7f;
    let m = f32::from_bits(bits & 0x807f_ffff | 0x3f00_0000);
    let is_small = m < std::f32::consts::FRAC_1_SQRT_2;
    let e = exponent as f32 + 1.0 - if is_small { 1.0 } else { 0.0 };
    let x = m - 1.0 + if is_small { m } else { 0.0 };
    let z = x * x;
    let mut y = 7.037_683_6e-2_f32;
    for c in [
        -1.151_461e-1,
        1.167_699_84e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_4e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ] {
        y = y.mul_add(x, c);
    }
    y = (y * x).mul_add(z, e * -2.121_944_4e-4);
    y -= z * 0.5;
    e.mul_add(0.693_359_4, x + y)
}

/// Sine and cosine of an angle from 0 up to a turn.
#[inline(always)]
fn sin_cos(x: f32) -> (f32, f32) {
    // The even number of eighths of a turn that is nearest; rests are within an eighth of it.
    let j = ((x * 1.273_239_5) as i32 + 1) & !1;
    let y = j as f32;
    let x = y.mul_add(-3.774_895e-8, y.mul_add(-2.418_756_5e-4, y.mul_add(-0.785_156_25, x)));
    let z = x * x;
    let c = 2.443_315_7e-5_f32.mul_add(z, -1.388_731_6e-3).mul_add(z, 4.166_664_6e-2);
    let c = (c * z).mul_add(z, -(z * 0.5)) + 1.0;
    let s = (-1.951_529_6e-4_f32).mul_add(z, 8.332_161e-3).mul_add(z, -1.666_665_5e-1);
    let s = (s * z).mul_add(x, x);
    let (sin, cos) = if j & 2 == 0 { (s, c) } else { (c, s) };
    let signed = |x: f32, sign: i32| f32::from_bits((x + 0.0).to_bits() ^ ((sign & 4) as u32) << 29);
    (signed(sin, j), signed(cos, !(j - 2)))
}

/// A block of float64.
pub(super) fn transform(block: &mut [f64; BLOCK], mean: f64, std: f64) {
    let (u, v) = block.split_at_mut(BLOCK / 2);
    for (u, v) in u.iter_mut().zip(v) {
        let radius = (-2.0 * (1.0 - *u).ln()).sqrt();
        let angle = std::f64::consts::TAU * *v;
        *u = (radius * angle.cos()).mul_add(std, mean);
        *v = (radius * angle.sin()).mul_add(std, mean);
    }
}
