//! The exponential function in float32 and float64: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! 1. *Cody–Waite reduction* (W. J. Cody, W. Waite, *Software Manual for the Elementary Functions*, 1980):
//!    x = n·ln 2 + r with |r| ≤ ln 2 / 2. ln 2 is split in two so that n times the upper part is exact even without a
//!    fused multiply-add; what subtracting the lower part rounds away is kept as a correction.
//! 2. *Polynomial*: e^r = 1 + r·(1 + r·u(r)), fitted to the least relative error (total degree 6 and 11; below 2⁻²⁸ and
//!    2⁻⁵⁷). Horner's scheme to the end: what r·u is off by is multiplied by r, at most 0.35. Where the exponential
//!    goes into another function as parts, the polynomial is one degree longer (2⁻³⁰ and 2⁻⁶¹).
//! 3. *Scale* by 2ⁿ. 2ⁿ itself leaves the exponent range where results are barely finite or subnormal: for the former
//!    the polynomial is doubled and 2ⁿ halved, which costs nothing; for the latter both factors are moved by a power of
//!    two, so that the product is rounded once.
//!
//! n comes from adding 1.5·2^(mantissa bits): the sum rounds to nearest and leaves n in its low bits, and if the
//! exponent's bias is added, too, 2ⁿ is that sum shifted left. A saturating cast would stop vectorisation.
//!
//! Steps are counted here: at AVX-512 the loop is as long as its instructions, two a cycle, moves of registers among
//! them.

use super::horner::paired;
use crate::isa::Isa;

/// Declares the exponential function of one float type.
macro_rules! exponential {
    (
        $name:ident, $parts:ident, $terms:ident, $near:ident, $lite:ident, $exponent:ident,
        $power:ident: $float:ident as $bits:ident ($signed:ident);
        shape bias $bias:literal, mantissa $mantissa:literal;
        clamp $low:literal, $high:literal, normal above $normal:literal, raise by $rise:literal;
        ln2 $ln2_high:literal, $ln2_low:literal;
        u $u:literal $(, $u_rest:literal)*;
        q $first:literal $(, $rest:literal)*
    ) => {
        /// e to the power of `x`.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            // Beyond the clamps results are 0 and infinity anyway. Comparisons with NaN are false, so NaN passes.
            let x = if x < $low { $low } else { x };
            let x = if x > $high { $high } else { x };
            if !I::FMA {
                let (n, head, tail) = $parts::<I>(x, -0.0);
                let first = n >> 1;
                return (1.0 + (head + tail)) * $power(first) * $power(n.wrapping_sub(first));
            }
            /// Its last place is one; its low bits are the bias of 2ⁿ⁻¹.
            const SHIFT: $float = 1.5 * ((1 as $bits) << $mantissa) as $float + ($bias - 1) as $float;
            let shifted = x.mul_add(std::$float::consts::LOG2_E, SHIFT);
            let n = shifted - SHIFT;
            let r = n.mul_add(-$ln2_low, n.mul_add(-$ln2_high, x));
            let u: $float = 2.0 * $u;
            $(let u = u.mul_add(r, 2.0 * $u_rest);)*
            let double = u.mul_add(r, 2.0).mul_add(r, 2.0);
            let half_power = shifted.to_bits() << $mantissa;
            let (double, half_power) = if x < $normal {
                let down = $float::from_bits(($bias - $rise) << $mantissa);
                (double * down, half_power.wrapping_add($rise << $mantissa))
            } else {
                (double, half_power)
            };
            double * $float::from_bits(half_power)
        }

        /// A float whose last bits are n + `bias`, r and u such that e^(sign·x + low) is about 2ⁿ·(1 + r + r²·u), the
        /// sign being 1 or -1: a rounding short of the terms below. Its products are fused. Without a `low`, -0 costs
        /// nothing, and 0 an addition.
        #[inline(always)]
        pub(super) fn $near(sign: $float, x: $float, low: $float, bias: $float) -> ($float, $float, $float) {
            // Its last place is one, so a sum with it is rounded to an integer.
            let shift = 1.5 * ((1 as $bits) << $mantissa) as $float + bias;
            let shifted = x.mul_add(sign * std::$float::consts::LOG2_E, shift);
            let n = shifted - shift;
            let r = n.mul_add(-$ln2_low, n.mul_add(-$ln2_high, sign * x)) + low;
            let fma = |a: $float, b: $float, c: $float| a.mul_add(b, c);
            (shifted, r, paired!(fma, r, r * r; $u $(, $u_rest)*))
        }

        /// The n of such a float: signed, so that it halves downwards; wrapping, because NaN leaves arbitrary bits.
        #[inline(always)]
        pub(super) fn $exponent(shifted: $float) -> $signed {
            const SHIFT: $float = 1.5 * ((1 as $bits) << $mantissa) as $float;
            shifted.to_bits().wrapping_sub(SHIFT.to_bits()).cast_signed()
        }

        /// The same with s such that e^(x + low) is about 2ⁿ·(1 + s): two roundings short of the parts below.
        #[inline(always)]
        pub(super) fn $lite(x: $float, low: $float) -> ($float, $float) {
            let (shifted, r, u) = $near(1.0, x, low, 0.0);
            (shifted, (r * r).mul_add(u, r))
        }

        /// n, head and tail such that e^(x + low) is 2ⁿ·(1 + head + tail), where `low` is small beside `x` and `x` lies
        /// within the clamps of the exponential; the tail is small beside the head. Arbitrary for NaN, but head and
        /// tail are NaN.
        #[inline(always)]
        pub(super) fn $parts<I: Isa>(x: $float, low: $float) -> ($signed, $float, $float) {
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            let (n, r, correction, q) = $terms::<I>(x, low);
            (n, r, fma(r * r, fma(q, r, 0.5), correction))
        }

        /// The same before the terms are summed: n, r, c and q such that e^(x + low) is 2ⁿ·(1 + r + c + r²/2 + r³·q).
        #[inline(always)]
        pub(super) fn $terms<I: Isa>(x: $float, low: $float) -> ($signed, $float, $float, $float) {
            /// Its last place is one, so a sum with it is rounded to an integer.
            const SHIFT: $float = 1.5 * ((1 as $bits) << $mantissa) as $float;

            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };

            let shifted = fma(x, std::$float::consts::LOG2_E, SHIFT);
            let n = shifted - SHIFT;
            let high = fma(n, -$ln2_high, x);
            let low = fma(n, $ln2_low, -low);
            let r = high - low;
            let correction = (high - r) - low;

            let q = $first;
            $(let q = fma(q, r, $rest);)*
            ($exponent(shifted), r, correction, q)
        }

        /// 2 to the power of `n`, where that is a normal number.
        #[inline(always)]
        pub(super) fn $power(n: $signed) -> $float {
            $float::from_bits(n.cast_unsigned().wrapping_add($bias) << $mantissa)
        }
    };
}

exponential! {
    exp_f32, exp_parts_f32, exp_terms_f32, exp_near_f32, exp_lite_f32, exponent_f32, power_f32: f32 as u32 (i32);
    shape bias 127, mantissa 23;
    clamp -104.0, 89.0, normal above -86.5, raise by 64;
    ln2 0.693_359_4, -2.121_944_4e-4;
    u 1.382_324_1e-3, 8.368_827e-3, 4.166_824e-2, 1.666_652e-1, 4.999_999_4e-1;
    q 1.989_099_1e-4, 1.393_365e-3, 8.333_310_5e-3, 4.166_646_7e-2, 1.666_666_7e-1
}

exponential! {
    exp_f64, exp_parts_f64, exp_terms_f64, exp_near_f64, exp_lite_f64, exponent_f64, power_f64: f64 as u64 (i64);
    shape bias 1023, mantissa 52;
    clamp -746.0, 710.0, normal above -707.5, raise by 128;
    ln2 6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10;
    u 2.5003327706230185e-8, 2.763056028047197e-7, 2.7557576800090774e-6, 2.480149221124442e-5,
      1.984126951649935e-4, 1.388888894451334e-3, 8.333333333490218e-3, 0.041666666666526596, 1.666666666666642e-1,
      5.000000000000011e-1;
    q 2.0914686968086876e-9, 2.5105217004720745e-8, 2.75572736431103e-7, 2.7557255400206422e-6, 2.4801587325547743e-5,
      1.9841269874820627e-4, 1.3888888888883748e-3, 8.333333333326136e-3, 4.166666666666667e-2, 1.666666666666667e-1
}
