//! The complement of the error function: branch-free, within 1 ULP, vectorised from scalar source.
//!
//! * Up to ½ it is 1 − (x + x·p(x²)), p being that of `erf.rs`; the sum and the difference keep what they lack.
//! * Beyond, e^(−x²)·h(t) / (x + 4) with t = (x − 4) / (x + 4), as for gelu (`gelu.rs`), h interpolated to 2⁻⁶⁹.
//!   Square, t, the last five steps of h, the products and the quotient are heads with tails, so that one rounding is
//!   left.
//! * Below, 2 less that of −x.
//!
//! float32 is computed in float64, with one polynomial (2⁻³⁸) for both.

use super::erf::erf_small_f64;
use super::exp::{exp_terms_f64, power_f64};
use super::horner::{fma_f64, horner, paired};
use super::pair::{fast_sum_f64, product_f64, rest_f64};
use super::short::exp_short;
use crate::isa::Isa;

/// Up to here the complement is that of a polynomial.
const SPLIT: f64 = 0.5;

/// h·t + c as a head and a tail, all of them being such. The constant is not below the product.
#[inline(always)]
fn step<I: Isa>((h, h_low): (f64, f64), (t, t_low): (f64, f64), (c, c_low): (f64, f64)) -> (f64, f64) {
    let fma = fma_f64::<I>;
    let (product, low) = product_f64::<I>(t, h);
    let low = fma(t, h_low, fma(t_low, h, low + c_low));
    let (head, rest) = fast_sum_f64(c, product);
    (head, rest + low)
}

/// The complement of the error function.
#[inline(always)]
pub(super) fn erfc_f64<I: Isa>(x: f64) -> f64 {
    let fma = fma_f64::<I>;
    let (erf, erf_low) = fast_sum_f64(x, x * erf_small_f64::<I>(x * x));
    let (one, rest) = fast_sum_f64(1.0, -erf);
    let small = one + (rest - erf_low);

    // Beyond, the result is 0. NaN passes.
    let a = x.abs();
    let a = if a > 28.0 { 28.0 } else { a };
    let (below, below_low) = if a < 4.0 { fast_sum_f64(4.0, a) } else { fast_sum_f64(a, 4.0) };
    let (above, above_low) = if a < 4.0 { fast_sum_f64(-4.0, a) } else { fast_sum_f64(a, -4.0) };
    let inverse = 1.0 / below;
    let t = above * inverse;
    let t_low = (rest_f64::<I>(above, t, below) + (above_low - t * below_low)) * inverse;
    let first = paired!(fma, t, t * t; -2.521_968_041_892_541_6e-12, -2.765_619_055_106_302_6e-10,
        -1.031_196_222_736_253e-10,
        2.712_692_478_148_961_2e-9, 8.422_383_088_059_91e-10, -1.894_869_807_651_283e-8,
        -5.484_983_704_425_603e-10, 1.277_735_909_985_847_6e-7, -7.409_476_450_757_549e-8,
        -8.484_646_500_731_144e-7, 1.423_324_987_101_572_5e-6, 4.695_329_868_800_399e-6,
        -1.886_055_209_582_228_5e-5, -3.635_415_224_988_876e-6, 0.000_176_812_735_594_120_9,
        -0.000_455_052_642_045_885_6, -0.000_280_958_852_589_549_1, 0.006_112_055_651_318_606,
        -0.026_370_053_341_519_93);
    let q = horner!(fma, t; first, 0.076_381_514_909_556_72, -0.174_010_937_239_875_04);
    // The last five steps keep what they round away.
    let t = (t, t_low);
    let h = step::<I>((q, 0.0), t, (0.330_851_587_878_005_84, -1.920_230_198_475_529e-17));
    let h = step::<I>(h, t, (-0.540_853_831_313_236_4, 2.355_273_112_318_890_6e-18));
    let h = step::<I>(h, t, (0.773_208_702_265_237_2, -5.177_688_201_942_746_6e-17));
    let h = step::<I>(h, t, (-0.976_548_729_080_882, -1.483_142_242_832_509_5e-17));
    let (h, h_low) = step::<I>(h, t, (1.095_995_661_000_491, 5.757_369_098_144_667e-17));

    // e^(-a²), of which 2ⁿ comes last.
    let (square, square_low) = product_f64::<I>(a, a);
    let (n, r, correction, q) = exp_terms_f64::<I>(-square, -square_low);
    let (square, square_low) = product_f64::<I>(r, r);
    let (e, rest) = fast_sum_f64(1.0, r);
    let (e, low) = fast_sum_f64(e, 0.5 * square);
    let e_low = (rest + low) + fma(square * r, q, fma(0.5, square_low, correction));
    let (product, low) = product_f64::<I>(e, h);
    let low = low + fma(e, h_low, e_low * h);
    let quotient = product * inverse;
    let rest = rest_f64::<I>(product, quotient, below) + (low - quotient * below_low);
    let first = n >> 1;
    let large = fma(rest, inverse, quotient) * power_f64(first) * power_f64(n.wrapping_sub(first));
    let large = if x < 0.0 { 2.0 - large } else { large };
    if x.abs() < SPLIT { small } else { large }
}

/// The complement of the error function, computed in float64: e^(−a²)·h(t) / (a + 3) with t = (a − 3) / (a + 3) for all
/// a = |x|.
#[inline(always)]
pub(super) fn erfc_f32<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    let a = x.abs();
    let a = if a > 12.0 { 12.0 } else { a };
    let inverse = 1.0 / (a + 3.0);
    let t = (a - 3.0) * inverse;
    let h = paired!(fma_f64::<I>, t, t * t; -5.425_026_268_807_689e-06, -1.471_752_636_032_228_8e-05,
        3.197_178_887_927_380_4e-05,
        0.000_106_416_578_739_321_72, -0.000_277_618_834_056_640_85, -0.000_548_056_366_047_727,
        0.003_034_263_097_499_117, -0.001_212_451_481_705_511_2, -0.026_827_257_326_150_766, 0.119_527_764_397_931_18,
        -0.310_467_260_859_587_5, 0.590_228_356_971_723_2, -0.883_394_453_181_336_5, 1.074_006_907_089_331_4);
    let large = exp_short::<I>(-a * a) * (inverse * h);
    (if x < 0.0 { 2.0 - large } else { large }) as f32
}
