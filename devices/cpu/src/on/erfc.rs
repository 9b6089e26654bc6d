//! The complement of the error function: branch-free, within 1 ULP (1.3 in float64), vectorised from scalar source.
//!
//! * Up to ½ it is 1 − (x + x·p(x²)), p being that of `erf.rs`; the sum and the difference keep what they lack.
//! * Beyond, e^(−x²)·h(t) / (x + 4) with t = (x − 4) / (x + 4), as for gelu (`gelu.rs`), h interpolated to 2⁻⁶⁹. Square, t, the
//!   last three steps of h, the products and the quotient are heads with tails, so that one rounding is left.
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

/// h·t + c as a head and a tail, h and t being such. The constant is not below the product.
#[inline(always)]
fn step<I: Isa>(h: f64, h_low: f64, t: f64, t_low: f64, c: f64) -> (f64, f64) {
    let fma = fma_f64::<I>;
    let (product, low) = product_f64::<I>(t, h);
    let low = fma(t, h_low, fma(t_low, h, low));
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
    let first = paired!(fma, t, t * t; -1.697_061_335_537_000_6e-11, -2.811_490_720_052_274_6e-10, -5.243_209_062_040_274e-11,
        2.727_334_752_092_319e-9, 7.639_201_891_394_698e-10, -1.896_905_687_908_292_4e-8,
        -4.784_282_963_275_404e-10, 1.277_897_710_469_064_6e-7, -7.413_490_574_988_714e-8,
        -8.484_727_578_388_697e-7, 1.423_340_359_927_110_6e-6, 4.695_332_534_377_626e-6,
        -1.886_055_608_483_416_8e-5, -3.635_415_805_047_697_7e-6, 0.000_176_812_736_289_982_53,
        -0.000_455_052_641_963_554_75, -0.000_280_958_852_668_848_44, 0.006_112_055_651_311_279,
        -0.026_370_053_341_514_346);
    let q = horner!(fma, t; first, 0.076_381_514_909_557_1, -0.174_010_937_239_875_26,
        0.330_851_587_878_005_8, -0.540_853_831_313_236_4);
    // The last three steps keep what they round away.
    let (h, h_low) = (q, 0.0);
    let (h, h_low) = step::<I>(h, h_low, t, t_low, 0.773_208_702_265_237_2);
    let (h, h_low) = step::<I>(h, h_low, t, t_low, -0.976_548_729_080_882);
    let (h, h_low) = step::<I>(h, h_low, t, t_low, 1.095_995_661_000_491);
    let h_low = h_low + 5.757_352_641_326_655e-17;

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

/// The complement of the error function, computed in float64: e^(−a²)·h(t) / (a + 3) with t = (a − 3) / (a + 3) for all a = |x|.
#[inline(always)]
pub(super) fn erfc_f32<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    let a = x.abs();
    let a = if a > 12.0 { 12.0 } else { a };
    let inverse = 1.0 / (a + 3.0);
    let t = (a - 3.0) * inverse;
    let h = paired!(fma_f64::<I>, t, t * t; -5.425_026_268_807_689e-06, -1.471_752_636_032_228_8e-05, 3.197_178_887_927_380_4e-05,
        0.000_106_416_578_739_321_72, -0.000_277_618_834_056_640_85, -0.000_548_056_366_047_727,
        0.003_034_263_097_499_117, -0.001_212_451_481_705_511_2, -0.026_827_257_326_150_766, 0.119_527_764_397_931_18,
        -0.310_467_260_859_587_5, 0.590_228_356_971_723_2, -0.883_394_453_181_336_5, 1.074_006_907_089_331_4);
    let large = exp_short::<I>(-a * a) * (inverse * h);
    (if x < 0.0 { 2.0 - large } else { large }) as f32
}
