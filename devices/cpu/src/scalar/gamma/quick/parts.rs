//! What the quick ways have in common: logarithms, sines and polynomials as a head and a tail, without branches, so
//! that loops over them vectorise. Only for levels with fused products; the parts of a float32 are plain float64, with
//! shorter polynomials.

use crate::scalar::horner::horner;
use crate::scalar::log::{reduced_f64, reduced_normal};
use crate::scalar::pair::fast_sum_f64;
use std::f64::consts::PI;

/// A head and a tail.
pub(super) type Parts = (f64, f64);

/// Horner's scheme with coefficients of two polynomials: of `[first, second]` the second where the condition holds.
macro_rules! horner_of {
    ($second:expr, $x:expr; [$a:expr, $b:expr] $(, [$c:expr, $d:expr])* $(,)?) => {{
        let (second, x): (bool, f64) = ($second, $x);
        let sum: f64 = if second { $b } else { $a };
        $(let sum = sum.mul_add(x, if second { $d } else { $c });)*
        sum
    }};
}
pub(super) use horner_of;

/// `c + x y` in parts, where `c` is the larger.
#[inline(always)]
pub(super) fn step(x: f64, c: Parts, (head, tail): Parts) -> Parts {
    let product = x * head;
    let (sum, low) = fast_sum_f64(c.0, product);
    (sum, low + (x.mul_add(head, -product) + x.mul_add(tail, c.1)))
}

/// `c0 + x (c1 + x rest)` in parts: what comes first is the larger.
#[inline(always)]
pub(super) fn ending(x: f64, c0: Parts, c1: Parts, rest: f64) -> Parts {
    step(x, c0, step(x, c1, (rest, 0.0)))
}

/// A product in parts.
#[inline(always)]
pub(super) fn times((head, tail): Parts, (other, low): Parts) -> Parts {
    let product = head * other;
    (product, head.mul_add(other, -product) + head.mul_add(low, tail * other))
}

/// The logarithm of a positive number of which `low` is the relative rest: the inverse hyperbolic tangent's series in
/// f / (2 + f), f and k being those of `log.rs`.
#[inline(always)]
pub(super) fn log_parts(x: f64, low: f64) -> Parts {
    /// ln 2, of which k times the first part is exact.
    const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    let (f, k) = reduced_f64(x);
    let (below, rest) = fast_sum_f64(2.0, f);
    let inverse = 1.0 / below;
    let s = f * inverse;
    let lacks = (-s).mul_add(below, f) + (low * (1.0 + f)).mul_add(1.0 - s, -s * rest);
    let z = s * s;
    let series = horner!(f64::mul_add, z; 0.130_880_348_509_275_55, 0.132_686_383_692_668_25, 0.153_862_447_376_216_65,
        0.181_817_955_475_211_37, 0.222_222_223_925_810_45, 0.285_714_285_707_997_84, 0.400_000_000_000_008_85,
        0.666_666_666_666_666_6);
    let tail = (s * z).mul_add(series, 2.0 * (lacks * inverse));
    let (head, rest) = fast_sum_f64(k * LN2[0], s + s);
    fast_sum_f64(head, rest + k.mul_add(LN2[1], tail))
}

/// The logarithm of a positive number that is not subnormal, good to 2⁻⁴⁰.
#[inline(always)]
pub(super) fn log_short(x: f64) -> f64 {
    let (f, k) = reduced_normal(x);
    let s = f / (2.0 + f);
    let z = s * s;
    let series = horner!(f64::mul_add, z; 0.193_638_849_866_331_98, 0.221_913_374_280_657_83, 0.285_717_555_350_329_44,
        0.399_999_987_924_416_9, 0.666_666_666_673_786_8);
    k.mul_add(std::f64::consts::LN_2, (s * z).mul_add(series, s + s))
}

/// sin πr / r of an `r` of at most ½ in magnitude.
#[inline(always)]
pub(super) fn sine_ratio_parts(r: f64) -> Parts {
    const C0: Parts = (PI, 1.224_637_226_303_710_7e-16);
    const C1: Parts = (-5.167_712_780_049_97, 2.274_220_744_928_338e-16);
    const C2: Parts = (2.550_164_039_877_345_5, -1.804_142_874_535_788_6e-16);
    let z = r * r;
    let rest = horner!(f64::mul_add, z; -2.228_371_216_069_697e-8, 7.948_539_037_372_32e-7, -2.191_525_030_185_137_5e-5,
        0.000_466_302_787_459_327_3, -0.007_370_430_943_702_136, 0.082_145_886_610_993_56, -0.599_264_529_320_786_9);
    let (head, tail) = step(z, C0, step(z, C1, step(z, C2, (rest, 0.0))));
    // The slope there is next to that of the first term.
    (head, r.mul_add(r, -z).mul_add(C1.0, tail))
}

/// The same, good to 2⁻⁴³.
#[inline(always)]
pub(super) fn sine_ratio_short(r: f64) -> f64 {
    let z = r * r;
    horner!(f64::mul_add, z; 0.000_447_492_084_907_710_1, -0.007_364_005_472_115_722, 0.082_144_794_670_648_54,
        -0.599_264_433_935_728_6, 2.550_164_035_906_745, -5.167_712_779_987_959, 3.141_592_653_589_635)
}

/// cos πr of an `r` of at most ½ in magnitude.
#[inline(always)]
pub(super) fn cosine_parts(r: f64) -> Parts {
    let half = times(sine_ratio_parts(0.5 * r), (0.5 * r, 0.0));
    let (head, tail) = times(half, half);
    let (value, rest) = fast_sum_f64(1.0, -2.0 * head);
    (value, rest - 2.0 * tail)
}

/// The inverse of a number.
#[inline(always)]
pub(super) fn inverse_parts(x: f64) -> Parts {
    let inverse = 1.0 / x;
    (inverse, inverse * (-inverse).mul_add(x, 1.0))
}

/// A quotient in parts.
#[inline(always)]
pub(super) fn quotient((above, low): Parts, (below, less): Parts) -> Parts {
    let inverse = 1.0 / below;
    let head = above * inverse;
    let lacks = (-head).mul_add(below, above) + (-head).mul_add(less, low);
    (head, lacks * inverse)
}
