//! Conversions between float32 and the bits of float16 and bfloat16: branch-free scalar code that vectorises inside any
//! frame. Round to nearest, ties to even; subnormals are exact; NaN stays NaN. Owns no type and no arithmetic.
//!
//! The conversions of the `half` crate test for CPU features at every call, which keeps a loop around them scalar.
//!
//! float16 follows the rebiasing tricks that Fabian Giesen describes ("Float to half conversion, finally optimized",
//! 2012–2016): moved into float32's fields, a half is too small by 2¹¹², so one multiplication repairs normal and
//! subnormal values alike; in the other direction, adding a large power of two lets the adder round subnormals.

/// The sign bit of a float16 or a bfloat16.
const SIGN: u16 = 0x8000;

/// The float32 that these bfloat16 bits mean; exact.
#[inline(always)]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// The bits of the bfloat16 nearest to `x`.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    // Half a unit, less one bit when the kept part is even: a tie then rounds to even.
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    // The quiet bit keeps a NaN whose payload lies in the lost half from turning into infinity.
    let quiet = (bits >> 16) | 0x0040;
    (if x.is_nan() { quiet } else { rounded }) as u16
}

/// The float32 that these float16 bits mean; exact.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    const TWO_POW_112: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = ((bits & !SIGN) as u32) << 13;
    let scaled = f32::from_bits(magnitude) * TWO_POW_112;
    // Exponent 31 means infinity or NaN: it becomes float32's all-ones exponent, the payload stays.
    let top = if bits & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
    let sign = ((bits & SIGN) as u32) << 16;
    f32::from_bits(scaled.to_bits() | top | sign)
}

/// The bits of the float16 nearest to `x`; infinity from 65520 on.
#[inline(always)]
pub fn f32_to_f16(x: f32) -> u16 {
    /// The first float32 exponent that is too large for float16: 2¹⁶.
    const TOO_LARGE: u32 = (127 + 16) << 23;
    /// The smallest normal float16: 2⁻¹⁴.
    const SMALLEST_NORMAL: u32 = (127 - 14) << 23;
    /// One half, whose last place is that of a subnormal float16, 2⁻²⁴.
    const ONE_HALF: u32 = 126 << 23;

    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0x0fff + odd) >> 13;
    let aligned = f32::from_bits(magnitude) + f32::from_bits(ONE_HALF);
    let subnormal = aligned.to_bits().wrapping_sub(ONE_HALF);
    let quiet = 0x7e00 | ((magnitude >> 13) & 0x03ff);
    let large = if x.is_nan() { quiet } else { 0x7c00 };
    let finite = if magnitude < SMALLEST_NORMAL { subnormal } else { normal };
    let unsigned = if magnitude >= TOO_LARGE { large } else { finite };
    (unsigned | ((bits >> 16) & SIGN as u32)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    /// Equal bits, or NaN on both sides: payloads are free.
    fn same(ours: u16, theirs: u16, nan: fn(u16) -> bool) -> bool {
        ours == theirs || (nan(ours) && nan(theirs))
    }

    fn nan16(bits: u16) -> bool {
        f16::from_bits(bits).is_nan()
    }

    fn nan_b16(bits: u16) -> bool {
        bf16::from_bits(bits).is_nan()
    }

    #[test]
    fn every_pattern_widens_exactly() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (f16_to_f32(bits), f16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "f16 {bits:#06x}");
            let (ours, theirs) = (bf16_to_f32(bits), bf16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "bf16 {bits:#06x}");
        }
    }

    #[test]
    fn every_pattern_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            assert!(same(f32_to_f16(f16_to_f32(bits)), bits, nan16), "f16 {bits:#06x}");
            assert!(same(f32_to_bf16(bf16_to_f32(bits)), bits, nan_b16), "bf16 {bits:#06x}");
        }
    }

    #[test]
    fn midpoints_and_their_neighbours_round_to_even() {
        for bits in 0..=u16::MAX {
            // The midpoint to the next pattern has the first lost bit set: exact in float32 for normals and subnormals.
            let f16_mid = {
                let (low, high) = (f16_to_f32(bits), f16_to_f32(bits.wrapping_add(1)));
                if high.is_finite() { (low + high) / 2.0 } else { 65520.0f32.copysign(low) }
            };
            let bf16_mid = f32::from_bits(((bits as u32) << 16) | 0x8000);
            for mid in [f16_mid, bf16_mid] {
                for distance in [-2i32, -1, 0, 1, 2] {
                    let x = f32::from_bits(mid.to_bits().wrapping_add_signed(distance));
                    assert!(same(f32_to_f16(x), f16::from_f32(x).to_bits(), nan16), "f16 {x:e} {:#x}", x.to_bits());
                    assert!(same(f32_to_bf16(x), bf16::from_f32(x).to_bits(), nan_b16), "bf16 {:#x}", x.to_bits());
                }
            }
        }
    }

    #[test]
    fn stepped_float32_patterns_narrow_as_half_does() {
        for step in 0..(u32::MAX / 257) {
            let x = f32::from_bits(step * 257);
            assert!(same(f32_to_f16(x), f16::from_f32_const(x).to_bits(), nan16), "f16 {:#x}", x.to_bits());
            assert!(same(f32_to_bf16(x), bf16::from_f32_const(x).to_bits(), nan_b16), "bf16 {:#x}", x.to_bits());
        }
    }
}
