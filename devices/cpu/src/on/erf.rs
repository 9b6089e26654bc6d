//! The error function: branch-free, within 1 ULP, vectorised from scalar source. Two forms are computed and one is taken
//! (after N. Juffa's `erff`, 2017, with other polynomials and another split):
//!
//! * small: erf x = x + x·p(x²);
//! * large: erf x = 1 − e^h(x − 1) with h(b) = log erfc(1 + b), a polynomial on the interval where erf is not yet 1. Next to
//!   the split only its constant counts, which has a tail; beyond, what h is off by is multiplied by erfc, which falls fast.
//!
//! p is Sollya's `fpminimax`, h its `remez` with the weight erfc; errors below 2⁻²⁹ and 2⁻³⁵ (float32), 2⁻⁵⁶ and 2⁻⁶⁸ (float64).

use super::exp::{exp_parts_f32, exp_parts_f64, power_f32, power_f64};
use crate::isa::Isa;

macro_rules! error_function {
    (
        $name:ident: $float:ident, $parts:ident, $power:ident;
        split $split:literal, saturates $saturates:literal $(, wide $wide:ident)?;
        p $p:literal $(, $p_rest:literal)*;
        h1 $h1:literal, $h1_low:literal;
        h $h:literal $(, $h_rest:literal)*
    ) => {
        /// The error function of `x`.
        #[inline(always)]
        pub(super) fn $name<I: Isa>(x: $float) -> $float {
            $(if !I::FMA {
                return $wide::<I>(x.into()) as $float;
            })?
            let fma = |a: $float, b: $float, c: $float| if I::FMA { a.mul_add(b, c) } else { a * b + c };
            let z = x * x;
            let p = $p;
            $(let p = fma(p, z, $p_rest);)*
            let small = fma(x, p, x);

            let a = x.abs();
            let a = if a > $saturates { $saturates } else { a };
            let b = a - 1.0;
            let h = $h;
            $(let h = fma(h, b, $h_rest);)*
            let (n, head, tail) = $parts::<I>(fma(h, b, $h1), $h1_low);
            let large = fma(-(1.0 + (head + tail)), $power(n), 1.0).copysign(x);
            if a < $split { small } else { large }
        }
    };
}

error_function! {
    erf_f32: f32, exp_parts_f32, power_f32;
    split 1.0, saturates 4.0, wide erf_f64;
    p 7.924_130_5e-5, -8.031_836e-4, 5.190_844_6e-3, -2.685_517_4e-2, 1.128_361_9e-1, -3.761_263e-1,
      1.283_791_7e-1;
    h1 -1.849_605_6, 5.023_601e-8;
    h -2.168_675e-5, 2.895_278_7e-4, -2.011_966_4e-3, 1.004_645_2e-2, -4.156_348e-2, -8.431_071e-1,
      -2.638_967_5
}

error_function! {
    erf_f64: f64, exp_parts_f64, power_f64;
    split 1.0, saturates 6.0;
    p -7.787_140_263_008_16e-10, 1.371_489_069_073_294_7e-8, -1.620_715_229_537_573e-7,
      1.644_722_893_705_724_4e-6, -1.492_471_878_798_298_4e-5, 0.000_120_552_938_081_555_96,
      -0.000_854_832_593_172_770_4, 0.005_223_977_605_995_373, -0.026_866_170_643_060_99,
      0.112_837_916_709_434_47, -0.376_126_389_031_834_76, 0.128_379_167_095_512_56;
    h1 -1.849_605_509_933_248_2, -1.114_521_463_563_934_3e-17;
    h 2.254_413_816_116_115e-14, -7.971_349_294_004_762e-13, 1.328_168_840_131_357_1e-11,
      -1.388_849_900_889_446_3e-10, 1.022_086_607_209_038_2e-9, -5.598_630_325_190_501e-9,
      2.326_765_929_411_988e-8, -7.111_098_918_869_696e-8, 1.304_732_462_851_208_4e-7,
      9.965_427_411_692_074e-8, -2.016_649_466_256_773e-6, 9.576_390_489_343_119e-6,
      -2.714_080_521_607_686e-5, 2.627_031_294_240_265_8e-5, 0.000_237_324_712_899_279_2,
      -0.001_977_903_020_647_178, 0.010_033_825_434_123_811, -0.041_561_098_046_506_24,
      -0.843_107_256_358_486, -2.638_967_514_234_791_3
}
