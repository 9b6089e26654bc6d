//! The normal distribution: the probability below a value, its logarithm, its inverse; and the scaled complement of the
//! error function, of which the logarithm is made.

use crate::algebra::{Exponential, Gaussian, Logarithm, Real, Root, polynomial};
use crate::pointwise::{Common, Map, Reals, Rule, Same, WideReals, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use std::f64::consts::FRAC_1_SQRT_2;

pointwise! {
    /// Halves are rounded after each of the steps of `(1 + erf(x / √2)) / 2`, as PyTorch's are.
    NdtrFn "special_ndtr": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT
}
impl<V: Gaussian> Map<V> for NdtrFn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        let (one, sum) = (V::one(), (x * V::from_f64(-FRAC_1_SQRT_2)).stored().erfc());
        let stepped = (one + (sum - one).stored()).stored();
        // More digits than halves have. Where they are kept, the difference from 1 would lose small probabilities.
        let fine = V::from_f64(1.0 + f64::from(f32::EPSILON));
        V::from_f64(0.5) * V::select(fine.stored().eq(fine), sum, stepped)
    }
}

/// The inverse: in the middle a rational function of p − ½, at the tails of 1/√(−2 log p). Method and coefficients are
/// those of `ndtri` in S. L. Moshier's Cephes library (*Methods and Programs for Mathematical Functions*, 1989), which
/// PyTorch uses.
#[inline(always)]
fn quantile<V: Real + Logarithm + Root>(p: V) -> V {
    let (one, half) = (V::one(), V::from_f64(0.5));
    /// e^-2.
    const TAIL: f64 = 0.135_335_283_236_612_7;
    let upper = p.gt(V::from_f64(1.0 - TAIL));
    let y = V::select(upper, one - p, p);
    let c = y - half;
    let z = c * c;
    let above = polynomial! { z;
    -59.963_350_101_410_79, 98.001_075_418_599_97, -56.676_285_746_907_03, 13.931_260_938_727_968,
    -1.239_165_838_673_812_5 };
    let below = polynomial! { z;
    1.0, 1.954_488_583_381_417_6, 4.676_279_128_988_815, 86.360_242_139_089_05, -225.462_687_854_119_37,
    200.260_212_380_060_66, -82.037_225_616_833_34, 15.905_622_512_621_17, -1.183_316_211_213_3 };
    let middle = (c + c * (z * above / below)) * V::from_f64(2.506_628_274_631_000_2);

    let r = (V::from_f64(-2.0) * y.log()).sqrt();
    let z = one / r;
    let near = polynomial! { z;
    4.055_448_923_059_624_5, 31.525_109_459_989_388, 57.162_819_224_642_13, 44.080_507_389_320_08,
    14.684_956_192_885_803, 2.186_633_068_507_902_5, -0.140_256_079_171_354_5, -0.035_042_462_682_784_82,
    -0.000_857_456_785_154_685_4 }
        / polynomial! { z;
        1.0, 15.779_988_325_646_675, 45.390_763_512_887_92, 41.317_203_825_467_2, 15.042_538_569_290_75,
        2.504_649_462_083_094, -0.142_182_922_854_787_79, -0.038_080_640_769_157_83,
        -0.000_933_259_480_895_457_4 };
    let far = polynomial! { z;
    3.237_748_917_769_460_3, 6.915_228_890_689_842, 3.938_810_252_924_744_4, 1.333_034_608_158_075_5,
    0.201_485_389_549_179_08, 0.012_371_663_481_782_003, 0.000_301_581_553_508_235_43,
    2.658_069_746_867_375_5e-6, 6.239_745_391_849_833e-9 }
        / polynomial! { z;
        1.0, 6.024_270_393_647_42, 3.679_835_638_561_608_7, 1.377_020_994_890_813_2, 0.216_236_993_594_496_63,
        0.013_420_400_608_854_318, 0.000_328_014_464_682_127_74, 2.892_478_647_453_806_8e-6,
        6.790_194_080_099_813e-9 };
    let tail = r - r.log() * z - z * V::select(r.lt(V::from_f64(8.0)), near, far);
    let result = V::select(y.gt(V::from_f64(TAIL)), middle, V::select(upper, tail, -tail));
    let result = V::select(p.eq(V::zero()), V::from_f64(f64::NEG_INFINITY), result);
    let result = V::select(p.eq(one), V::from_f64(f64::INFINITY), result);
    V::select(p.lt(V::zero()) | p.gt(one), V::from_f64(f64::NAN), result)
}

pointwise! { NdtriFn "special_ndtri": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Logarithm + Root> Map<V> for NdtriFn {
    #[inline(always)]
    fn eval([p]: [V; 1], (): ()) -> V {
        quantile(p)
    }
}

/// e^(a²) erfc a of a value not below zero, within 5 units: M. M. Shepherd and J. G. Laframboise (*Chebyshev
/// approximation of (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞*, 1981) put the whole half-line into one polynomial of (a - 3)
/// / (a + 3).
#[inline(always)]
fn scaled<V: Real>(a: V) -> V {
    // From there on it makes no difference, and the quotient stays a number.
    let end = V::from_f64(1e17);
    let b = V::select(a.gt(end), end, a);
    let three = V::from_i64(3);
    let sum = polynomial! { (b - three) / (b + three);
    8.864_219_016_427_092e-10, 9.885_798_831_139_365e-10, -8.500_397_929_772_615e-9, -1.332_636_481_300_383_4e-8,
    4.180_784_698_845_582e-8, 1.018_700_060_007_288_5e-7, -1.416_006_494_026_598_7e-7, -6.166_496_077_604_353e-7,
    3.568_383_915_399_220_4e-7, 3.472_414_602_875_686e-6, -7.315_105_164_159_062e-7, -2.010_056_793_128_922_7e-5,
    4.949_484_992_570_595e-6, 0.000_125_099_352_355_631_07, -0.000_105_159_799_815_011_77,
    -0.000_779_832_272_108_399_1, 0.001_888_690_359_156_155_3, 0.002_529_391_816_066_239,
    -0.023_770_514_918_645_888, 0.068_308_027_343_978_48, -0.119_273_663_415_306_99, 0.129_645_158_702_760_6,
    -0.047_562_294_353_450_87, -0.135_621_106_124_581_17, 1.253_008_058_269_729_6 };
    let half = V::from_f64(0.5);
    half * sum / (a + half)
}

pointwise! {
    /// Within 5 units, where PyTorch is off by up to 480 (float64) and 60 (float32) far below zero.
    ErfcxFn "special_erfcx": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT
}
impl<V: Real + Exponential> Map<V> for ErfcxFn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        let a = x.abs();
        // The square as an exact one and a small one, since the exponential multiplies its rounding error.
        let near = (a * V::from_i64(16)).round() * V::from_f64(0.0625);
        let power = (near * near).exp() * ((a - near) * (a + near)).exp();
        let positive = scaled(a);
        let negative = V::select(a.gt(V::from_f64(26.7)), V::from_f64(f64::INFINITY), power + power - positive);
        V::select(x.lt(V::zero()), negative, positive)
    }
}

pointwise! {
    /// Within 4 units below 1; above, off by the square of x times a unit, as in PyTorch.
    LogNdtrFn "special_log_ndtr": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT
}
impl<V: Gaussian + Logarithm> Map<V> for LogNdtrFn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        let (t, half) = (x * V::from_f64(FRAC_1_SQRT_2), V::from_f64(0.5));
        let below = (scaled(-t) * half).log() - t * t;
        V::select(x.lt(-V::one()), below, (-(t.erfc() * half)).log1p())
    }
}

record! { ErfcxFn "special_erfcx: x", Tame within 16: float |[x], []| match x {
    f64::INFINITY => 0.0,
    _ if x < -26.7 => f64::INFINITY,
    _ => (x * x).exp() * record::error_function_complement(x),
} }
record! { LogNdtrFn "special_log_ndtr: x", Tame within 64: float |[x], []| match x {
    f64::NEG_INFINITY => x,
    _ if x > 0.0 => (-record::normal_probability(-x)).ln_1p(),
    _ => record::normal_probability(x).ln(),
} }
record! { NdtrFn "special_ndtr: x", Tame within 16, of dtype: float |[x], []| reference::probability(dtype, x) }
record! { NdtriFn "special_ndtri: x", Tame within 16: float |[p], []| match p {
    _ if p == 0.0 => f64::NEG_INFINITY,
    _ if p < 0.01 => reference::tail_quantile(p),
    _ => std::f64::consts::SQRT_2 * record::inverse_error_function(2.0 * p - 1.0),
} }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use crate::pointwise::stored;
    use crate::record::normal_probability;
    use monomorph_core::{DType, Scalar};
    use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

    /// The probability below `x`; that of halves by rounded steps.
    pub(super) fn probability(dtype: DType, x: f64) -> f64 {
        let rounded = |x: f64| stored(Scalar::Float(x), dtype).to_f64();
        match dtype {
            DType::F16 | DType::BF16 => {
                let error = rounded(2.0 * normal_probability(rounded(x * FRAC_1_SQRT_2) * SQRT_2) - 1.0);
                rounded(1.0 + error) * 0.5
            }
            _ => normal_probability(x),
        }
    }

    /// Far below, by steps of Newton's on the logarithm of the probability.
    pub(super) fn tail_quantile(p: f64) -> f64 {
        if p.is_nan() || p < 0.0 {
            return f64::NAN;
        }
        let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
        (0..40).fold(-(-2.0 * p.ln()).sqrt(), |x, _| {
            let below = normal_probability(x);
            if below > 0.0 { x - (below / p).ln() * below / density(x) } else { x + 0.5 }
        })
    }
}

native! {
    family: Normal;

    /// The distribution function of the normal distribution, elementwise: `(1 + erf(self / sqrt(2))) / 2`.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![0.0f32, f32::INFINITY];
    /// assert_eq!(x.special_ndtr()?.to_vec::<f32>()?, [0.5, 1.0]);
    /// ```
    func: special_ndtr(Tensor self) -> Tensor,
    out: special_ndtr.out, variants: function, method, structured: Pointwise<NdtrFn>;

    /// The inverse of the distribution function of the normal distribution, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is -∞, of 1 ∞, beyond them NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32, 1.0];
    /// assert_eq!(x.special_ndtri()?.to_vec::<f32>()?, [-f32::INFINITY, f32::INFINITY]);
    /// ```
    func: special_ndtri(Tensor self) -> Tensor,
    out: special_ndtri.out, variants: function, method, structured: Pointwise<NdtriFn>;

    /// The logarithm of the distribution function of the normal distribution, elementwise, exact far below 0.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![f32::INFINITY];
    /// assert_eq!(x.special_log_ndtr()?.to_vec::<f32>()?, [-0.0]);
    /// ```
    func: special_log_ndtr(Tensor self) -> Tensor,
    out: special_log_ndtr.out, variants: function, method, structured: Pointwise<LogNdtrFn>;

    /// The complement of the error function, scaled: `e^(self²) · erfc(self)`, elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// let x = tensor![f32::INFINITY];
    /// assert_eq!(x.special_erfcx()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: special_erfcx(Tensor self) -> Tensor,
    out: special_erfcx.out, variants: function, method, structured: Pointwise<ErfcxFn>;
}
