//! The exponential function in float32 and float64: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! 1. *Cody–Waite reduction* (W. J. Cody, W. Waite, *Software Manual for the Elementary Functions*, 1980):
//!    x = n·ln 2 + r with |r| ≤ ln 2 / 2. ln 2 is split in two so that n times the upper part is exact even without a
//!    fused multiply-add; what subtracting the lower part rounds away is kept as a correction.
//! 2. *Polynomial*: exp(r) = 1 + r + r²·q(r), with q from Chebyshev interpolation (total degree 7 and 12; relative
//!    error below 2⁻³⁰ and 2⁻⁶¹).
//! 3. *Scale* by 2ⁿ in two halves: 2ⁿ alone leaves the exponent range where results are subnormal or barely finite.
//!
//! n comes from adding 1.5·2^(mantissa bits): the sum rounds to nearest and leaves n in its low bits. A saturating cast
//! would stop vectorisation.

use crate::isa::Isa;

/// Declares the exponential function of one float type.
macro_rules! exponential {
    (
        $name:ident: $float:ident as $bits:ident;
        shape bias $bias:literal, mantissa $mantissa:literal;
        clamp $low:literal, $high:literal;
        ln2 $ln2_high:literal, $ln2_low:literal;
        q $first:literal $(, $rest:literal)*
    ) => {
        /// e to the power of `x`.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            /// Its last place is one, so a sum with it is rounded to an integer.
            const SHIFT: $float = 1.5 * ((1 as $bits) << $mantissa) as $float;

            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };

            // Beyond the clamps results are 0 and infinity anyway. Comparisons with NaN are false, so NaN passes.
            let x = if x < $low { $low } else { x };
            let x = if x > $high { $high } else { x };

            let shifted = fma(x, std::$float::consts::LOG2_E, SHIFT);
            let n = shifted - SHIFT;
            let high = fma(n, -$ln2_high, x);
            let low = n * $ln2_low;
            let r = high - low;
            let correction = (high - r) - low;

            let q = $first;
            $(let q = fma(q, r, $rest);)*
            let p = 1.0 + (r + fma(r * r, q, correction));

            // Signed, so that negative n halves downwards; wrapping, because NaN leaves arbitrary bits.
            let n = shifted.to_bits().wrapping_sub(SHIFT.to_bits()).cast_signed();
            let first = n >> 1;
            let second = n.wrapping_sub(first);
            let power = |k| $float::from_bits((k as $bits).wrapping_add($bias) << $mantissa);
            p * power(first) * power(second)
        }
    };
}

exponential! {
    exp_f32: f32 as u32;
    shape bias 127, mantissa 23;
    clamp -104.0, 89.0;
    ln2 0.693_359_4, -2.121_944_4e-4;
    q 1.989_099_1e-4, 1.393_365e-3, 8.333_310_5e-3, 4.166_646_7e-2, 1.666_666_7e-1, 0.5
}

exponential! {
    exp_f64: f64 as u64;
    shape bias 1023, mantissa 52;
    clamp -746.0, 710.0;
    ln2 6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10;
    q 2.0914686968086876e-9, 2.5105217004720745e-8, 2.75572736431103e-7, 2.7557255400206422e-6, 2.4801587325547743e-5,
      1.9841269874820627e-4, 1.3888888888883748e-3, 8.333333333326136e-3, 4.166666666666667e-2, 1.666666666666667e-1,
      0.5
}
