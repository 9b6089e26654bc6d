//! N. M. Temme's uniform asymptotic expansion of the incomplete gamma functions (*The Asymptotic Expansion of the
//! Incomplete Gamma Functions*, SIAM Journal on Mathematical Analysis 10, 1979; NIST, *Digital Library of Mathematical
//! Functions*, 8.12).
//!
//! With μ = (x − a) / a and η²/2 = μ − log(1 + μ), η of μ's sign, the shares are those of a normal distribution,
//! erfc(∓η √(a/2)) / 2, and a correction e^(−aη²/2) / √(2πa) · Σ cₖ(η) a^(−k), whose c₀ = 1/μ − 1/η, and η cₖ = cₖ₋₁' +
//! γₖ η/μ with γₖ such that the poles cancel. Their Taylor coefficients were computed from these recurrences in 120
//! digits; with those that are here the expansion is good to 10⁻¹⁷ where it is used.

use crate::isa::Isa;
use crate::scalar::erfc::erfc_f64;
use crate::scalar::exp::exp_f64;
use crate::scalar::horner::{fma_f64, horner};
use std::f64::consts::TAU;

/// The least `a`.
const LEAST: f64 = 200.0;
/// The largest μ.
const NEAR: f64 = 0.3;

/// Coefficients: those of ηⁿ in c₀, c₁, …, so that all cₖ are computed together.
const C: [[f64; 8]; 16] = [
    [
        -0.333_333_333_333_333_3,
        -0.001_851_851_851_851_852,
        0.004_133_597_883_597_883,
        0.000_649_434_156_378_600_8,
        -0.000_861_888_290_916_711_7,
        -0.000_336_798_553_366_358_13,
        0.000_531_307_936_463_992_2,
        0.0,
    ],
    [
        0.083_333_333_333_333_33,
        -0.003_472_222_222_222_222,
        -0.002_681_327_160_493_827_3,
        0.000_229_472_093_621_399_17,
        0.000_784_039_221_720_066_6,
        -6.972_813_758_365_857e-05,
        -0.000_592_166_437_353_693_9,
        0.0,
    ],
    [
        -0.014_814_814_814_814_815,
        0.002_645_502_645_502_645_4,
        0.000_771_604_938_271_604_9,
        -0.000_469_189_494_395_255_7,
        -0.000_299_072_480_303_190_2,
        0.000_277_275_324_495_939_2,
        0.000_270_878_209_671_804_5,
        0.0,
    ],
    [
        0.001_157_407_407_407_407_3,
        -0.000_990_226_337_448_559_6,
        2.009_387_860_082_304_7e-06,
        0.000_267_720_632_062_838_85,
        -1.463_845_257_884_341_8e-06,
        -0.000_199_325_705_161_888_47,
        0.0,
        0.0,
    ],
    [
        0.000_352_733_686_067_019_4,
        0.000_205_761_316_872_427_98,
        -0.000_107_366_532_263_651_6,
        -7.561_801_671_883_977e-05,
        6.641_498_215_465_122e-05,
        6.797_780_477_937_208e-05,
        0.0,
        0.0,
    ],
    [
        -0.000_178_755_144_032_921_8,
        -4.018_775_720_164_609e-07,
        5.292_344_882_912_012_5e-05,
        -2.396_505_113_867_297e-07,
        -3.968_365_047_179_435e-05,
        0.0,
        0.0,
        0.0,
    ],
    [
        3.919_263_178_522_438e-05,
        -1.809_855_033_448_997_7e-05,
        -1.276_063_518_861_872_8e-05,
        1.108_265_411_534_730_2e-05,
        1.137_572_697_067_841_9e-05,
        0.0,
        0.0,
        0.0,
    ],
    [
        -2.185_448_510_679_992e-06,
        7.649_160_916_081_11e-06,
        3.423_578_734_096_138e-08,
        -5.674_952_826_991_596_5e-06,
        0.0,
        0.0,
        0.0,
        0.0,
    ],
    [
        -1.854_062_210_715_16e-06,
        -1.612_090_089_456_344_6e-06,
        1.372_195_730_906_293_4e-06,
        1.423_090_073_243_588_3e-06,
        0.0,
        0.0,
        0.0,
        0.0,
    ],
    [8.296_711_340_953_087e-07, 4.647_127_802_807_434e-09, -6.298_992_138_380_055e-07, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-1.766_595_273_682_607_8e-07, 1.378_633_446_915_721e-07, 1.428_061_420_606_424_2e-07, 0.0, 0.0, 0.0, 0.0, 0.0],
    [6.707_853_543_401_498e-09, -5.752_545_603_517_705e-08, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.026_180_978_424_030_9e-08, 1.195_162_859_977_814_8e-08, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-4.382_036_018_453_353e-09, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [9.147_699_582_236_79e-10, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-2.551_419_399_494_624_8e-11, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
];

/// μ − log(1 + μ) of a small μ, without a difference: with r = μ / (2 + μ) it is μ·r − 2 (r³/3 + r⁵/5 + …).
#[inline(always)]
fn less_log<I: Isa>(mu: f64) -> f64 {
    let fma = fma_f64::<I>;
    let r = mu / (2.0 + mu);
    let square = r * r;
    let series = horner!(fma, square; 1.0 / 25.0, 1.0 / 23.0, 1.0 / 21.0, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0,
        1.0 / 13.0,
        1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0);
    mu * r - 2.0 * r * (series * square)
}

/// The share above `x`, or below it, where the expansion holds.
#[inline(always)]
pub(super) fn share<I: Isa>(a: f64, x: f64, is_upper: bool) -> Option<f64> {
    let fma = fma_f64::<I>;
    let mu = (x - a) / a;
    // Not a number where both are out of range.
    if !(a > LEAST && mu.abs() < NEAR) {
        return None;
    }
    let half_square = less_log::<I>(mu);
    let eta = (2.0 * half_square).sqrt().copysign(mu);
    let mut sums = [0.0; 8];
    for row in C.iter().rev() {
        for (sum, c) in sums.iter_mut().zip(row) {
            *sum = fma(*sum, eta, *c);
        }
    }
    let inverse = 1.0 / a;
    let series = sums.iter().rev().fold(0.0, |series, sum| fma(series, inverse, *sum));
    let correction = exp_f64::<I>(-a * half_square) / (TAU * a).sqrt() * series;
    let reach = (a * half_square).sqrt().copysign(mu);
    let sign = if is_upper { 1.0 } else { -1.0 };
    Some(0.5 * erfc_f64::<I>(sign * reach) + sign * correction)
}
