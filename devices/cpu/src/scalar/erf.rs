//! The error function: branch-free, within 1 ULP, vectorised from scalar source. Two forms are computed and one is
//! taken (after N. Juffa's `erff`, 2017, with other polynomials and another split):
//!
//! * small: erf x = x + x·p(x²);
//! * large: erf x = 1 − e^h(x − 1) with h(b) = log erfc(1 + b), a polynomial on the interval where erf is not yet 1.
//!   Next to 1 its constant counts most, which has a tail; beyond, what h is off by is multiplied by erfc, which falls
//!   fast.
//!
//! p and h are minimax fits, h with the weight erfc; errors of the result below 2⁻²⁹ and 2⁻³⁵ (float32), 2⁻⁵⁶ and 2⁻⁶⁰
//! (float64). float64 splits lower, at 0.84375 (as fdlibm does): next to 1 the roundings of p would add up to more than
//! half a unit.

use super::exp::{exp_lite_f32, exp_lite_f64, exp_parts_f32, exp_parts_f64, power_f32, power_f64};
use super::horner::{horner, paired};
use crate::isa::Isa;

/// p₀ of float64: 2/√π − 1.
pub(super) const ERF_P0: f64 = 0.128_379_167_095_512_6;

macro_rules! error_function {
    (
        $name:ident, $small:ident, $slope:ident, $rest:ident: $float:ident, $parts:ident, $lite:ident, $power:ident,
        mantissa $mantissa:literal;
        split $split:literal, saturates $saturates:literal $(, wide $wide:ident)?;
        p0 $p0:expr;
        p $p:literal $(, $p_rest:literal)*; $($p_end:literal),*;
        p1 $p1:literal;
        h1 $h1:literal, $h1_low:literal;
        h $h:literal $(, $h_rest:literal)*; $($h_end:literal),*
    ) => {
        /// p as a function of x².
        #[inline(always)]
        pub(super) fn $small<I: Isa>(z: $float) -> $float {
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            fma($slope::<I>(z).0, z, $p0)
        }

        /// (p − p₀) / x² as a function of x², and what its last step rounds away.
        #[inline(always)]
        pub(super) fn $slope<I: Isa>(z: $float) -> ($float, $float) {
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            let first = paired!(fma, z, z * z; $p $(, $p_rest)*);
            let rest = horner!(fma, z; first $(, $p_end)*);
            let slope = fma(rest, z, $p1);
            (slope, fma(rest, z, $p1 - slope))
        }

        /// A power of two and s such that 1 − erf a is their product and the power, for `a` from the split to
        /// saturation.
        #[inline(always)]
        pub(super) fn $rest<I: Isa>(a: $float) -> ($float, $float) {
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            let b = a - 1.0;
            let first = paired!(fma, b, b * b; $h $(, $h_rest)*);
            let h = horner!(fma, b; first $(, $h_end)*, $h1);
            if I::FMA {
                let (n, s) = $lite(h, $h1_low);
                ($float::from_bits((n.to_bits() << $mantissa).wrapping_add((1.0 as $float).to_bits())), s)
            } else {
                let (n, head, tail) = $parts::<I>(h, $h1_low);
                ($power(n), head + tail)
            }
        }

        /// The error function of `x`.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                return $wide::<I>(x.into()) as $float;
            })?
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            let small = fma(x, $small::<I>(x * x), x);
            let a = x.abs();
            let a = if a > $saturates { $saturates } else { a };
            let (scale, s) = $rest::<I>(a);
            let large = fma(-(1.0 + s), scale, 1.0).copysign(x);
            if a < $split { small } else { large }
        }
    };
}

error_function! {
    erf_f32, erf_small_f32, erf_slope_f32, erf_rest_f32: f32, exp_parts_f32, exp_lite_f32, power_f32, mantissa 23;
    split 1.0, saturates 4.0, wide erf_f64;
    p0 1.283_791_7e-1;
    p 7.924_130_5e-5; -8.031_836e-4, 5.190_844_6e-3, -2.685_517_4e-2, 1.128_361_9e-1;
    p1 -3.761_263e-1;
    h1 -1.849_605_6, 5.023_601e-8;
    h -2.168_675e-5; 2.895_278_7e-4, -2.011_966_4e-3, 1.004_645_2e-2, -4.156_348e-2, -8.431_071e-1,
      -2.638_967_5
}

error_function! {
    erf_f64, erf_small_f64, erf_slope_f64, erf_rest_f64: f64, exp_parts_f64, exp_lite_f64, power_f64, mantissa 52;
    split 0.84375, saturates 6.0;
    p0 ERF_P0;
    p -1.7488889150521628e-09, 1.7609225921890293e-08, -1.688473404091013e-07, 1.6514147253885128e-06,
        -1.4928843872296619e-05, 0.00012055458161874778, -0.0008548330168081144, 0.005223977674691876;
        -0.026866170649639164, 0.1128379167097638;
    p1 -0.3761263890318415;
    h1 -1.849_605_509_933_248_2, -1.114_521_463_563_934_3e-17;
    h -2.2357069137987296e-13, 6.686202349538435e-12, -9.349823731813203e-11, 8.135074739784087e-10,
        -4.922250865268374e-09, 2.167351563560472e-08, -6.83403165080907e-08, 1.269092480275125e-07,
        1.0302651441160266e-07, -2.0189566008738104e-06, 9.577494688882466e-06, -2.7141152329906064e-05,
        2.6270374884556602e-05, 0.0002373247098075933, -0.0019779030215066815; 0.010033825434279445,
        -0.04156109804651847, -0.8431072563584853, -2.6389675142347913
}
