//! Bessel functions of the orders 0 and 1 of both kinds, and the spherical one of order 0. Up to 5 a rational function
//! that has the first zeros as factors, beyond amplitude and phase as rational functions of 1/x². Method and
//! coefficients are those of S. L. Moshier's Cephes library (*Methods and Programs for Mathematical Functions*, 1989)
//! as PyTorch evaluates them: without the leading 1 of the denominators. That costs float64 accuracy: up to 8e-7
//! absolutely, worst next to 5, where the exact function would not be what PyTorch gives. float32 has a few units of
//! the largest value nearby.

use crate::algebra::{Logarithm, Real, Root, Trigonometric, polynomial};
use crate::pointwise::{Common, Map, Rule, Same, WideReals, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_4};

/// What the formulas need of a value.
trait Wave: Real + Root + Trigonometric + Logarithm {}
impl<V: Real + Root + Trigonometric + Logarithm> Wave for V {}

/// Sine and cosine of any angle.
#[inline(always)]
fn whole<V: Trigonometric>(x: V) -> (V, V) {
    (x.sin(), x.cos())
}

/// √(2 / (πx)) times amplitudes times the sine and cosine of a phase: the function of the first kind, and of the
/// second.
#[inline(always)]
fn far<V: Wave>(x: V, amplitude: V, quadrature: V, phase: f64, waves: impl FnOnce(V) -> (V, V)) -> (V, V) {
    let (sine, cosine) = waves(x - V::from_f64(phase));
    let quadrature = V::from_f64(5.0) / x * quadrature;
    let scale = V::from_f64(0.797_884_560_802_865_4) / x.sqrt();
    ((amplitude * cosine - quadrature * sine) * scale, (amplitude * sine + quadrature * cosine) * scale)
}

/// The functions of both kinds of order 0, far from zero.
#[inline(always)]
fn far0<V: Wave>(x: V, waves: impl FnOnce(V) -> (V, V)) -> (V, V) {
    let z = V::from_f64(25.0) / (x * x);
    let amplitude = polynomial! { z;
    0.000_796_936_729_297_347_1, 0.082_835_239_210_744_08, 1.239_533_716_464_143, 5.447_250_030_587_687,
    8.747_165_001_998_17, 5.303_240_382_353_949, 1.0 }
        / polynomial! { z;
        0.000_924_408_810_558_863_7, 0.085_628_847_435_447_45, 1.253_527_439_010_589_5, 5.470_977_403_304_171,
        8.761_908_832_370_695, 5.306_052_882_353_947, 1.0 };
    let quadrature = polynomial! { z;
    -0.011_366_383_889_846_916, -1.282_527_186_705_093_1, -19.553_954_425_773_597, -93.206_015_212_376_83,
    -177.681_167_980_488_06, -147.077_505_154_951_18, -51.410_532_676_659_93, -6.050_143_506_007_285 }
        / polynomial! { z;
        64.317_825_611_817_8, 856.430_025_976_980_6, 3_882.401_836_054_016_3, 7_240.467_741_956_525,
        5_930.727_011_873_169, 2_062.093_316_603_278_3, 242.005_740_240_291_4 };
    far(x, amplitude, quadrature, FRAC_PI_4, waves)
}

/// The functions of both kinds of order 1, far from zero.
#[inline(always)]
fn far1<V: Wave>(x: V, waves: impl FnOnce(V) -> (V, V)) -> (V, V) {
    let z = V::from_f64(25.0) / (x * x);
    let amplitude = polynomial! { z;
    0.000_762_125_616_208_173_1, 0.073_139_705_694_091_76, 1.127_196_081_296_849_3, 5.112_079_511_468_076,
    8.424_045_901_417_724, 5.214_515_986_823_615, 1.0 }
        / polynomial! { z;
        0.000_571_323_128_072_548_7, 0.068_845_590_875_449_54, 1.105_142_326_340_617, 5.073_863_861_286_015,
        8.399_855_543_276_042, 5.209_828_486_823_619, 1.0 };
    let quadrature = polynomial! { z;
    0.051_086_259_475_017_66, 4.982_138_729_512_334, 75.823_828_413_254_53, 366.779_609_360_150_8,
    710.856_304_998_926_1, 597.489_612_400_613_6, 211.688_757_100_572_13, 25.207_020_585_802_372 }
        / polynomial! { z;
        74.237_327_703_567_52, 1_056.448_860_382_628_3, 4_986.410_583_376_536, 9_562.318_924_047_562,
        7_997.041_604_473_507, 2_826.192_785_176_390_8, 336.093_607_810_698_3 };
    far(x, amplitude, quadrature, 3.0 * FRAC_PI_4, waves)
}

/// J₀ of the magnitude `x`, up to 5.
#[inline(always)]
fn j0_near<V: Real>(x: V) -> V {
    let z = x * x;
    let above = polynomial! { z;
    -4_794_432_209.782_018, 1_956_174_919_465.565_7, -249_248_344_360_967.72, 9_708_622_510_473_064.0 };
    let below = polynomial! { z;
    499.563_147_152_651, 173_785.401_676_374_7, 48_440_965.833_996_21, 11_185_553_704.535_683,
    2_112_775_201_154.892, 310_518_229_857_422.56, 3.181_219_559_432_049_6e16, 1.710_862_940_810_431_5e18 };
    let zeros = (z - V::from_f64(5.783_185_962_946_785)) * (z - V::from_f64(30.471_262_343_662_087));
    let tiny = V::one() - z * V::from_f64(0.25);
    V::select(x.lt(V::from_f64(1e-5)), tiny, zeros * above / below)
}

/// J₁ of the magnitude `x`, up to 5.
#[inline(always)]
fn j1_near<V: Real>(x: V) -> V {
    let z = x * x;
    let above = polynomial! { z;
    -899_971_225.705_559_4, 452_228_297_998.194_03, -72_749_424_522_181.83, 3_682_957_328_638_529.0 };
    let below = polynomial! { z;
    620.836_478_118_054_3, 256_987.256_757_748_84, 83_514_679.143_194_93, 22_151_159_547.979_25,
    4_749_141_220_799.914, 784_369_607_876_235.9, 8.952_223_361_846_274e16, 5.322_786_203_326_801e18 };
    let zeros = (z - V::from_f64(14.681_970_642_123_893)) * (z - V::from_f64(49.218_456_321_694_6));
    above / below * x * zeros
}

/// Y₀, up to 5.
#[inline(always)]
fn y0_near<V: Wave>(x: V) -> V {
    let z = x * x;
    let above = polynomial! { z;
    15_592.436_785_523_574, -14_663_929.590_397_16, 5_435_264_770.518_765, -982_136_065_717.911_5,
    87_590_639_439_536.7, -3_466_283_033_847_297.0, 4.427_332_685_725_698_4e16, -1.849_508_004_369_866_8e16 };
    let below = polynomial! { z;
    1_041.283_536_642_598_4, 626_107.330_137_135, 268_919_633.393_814_15, 86_400_248_710.393_5,
    20_297_961_275_010.555, 3_171_577_528_429_750.5, 2.505_962_561_726_530_6e17 };
    above / below + V::from_f64(FRAC_2_PI) * x.log() * j0_near(x)
}

/// Y₁, up to 5.
#[inline(always)]
fn y1_near<V: Wave>(x: V) -> V {
    let z = x * x;
    let above = polynomial! { z;
    1_263_204_747.901_780_4, -647_355_876_379.160_3, 114_509_511_541_823.73, -8_127_702_555_013_251.0,
    2.024_394_757_135_949e17, -7.788_771_962_659_501e17 };
    let below = polynomial! { z;
    594.301_592_346_128_2, 235_564.092_943_068_56, 73_481_194.445_972_17, 18_760_131_610.870_617,
    3_882_312_774_962.385_7, 620_557_727_146_953.8, 6.871_410_873_553_005e16, 3.972_706_081_165_606_4e18 };
    x * (above / below) + V::from_f64(FRAC_2_PI) * (j1_near(x) * x.log() - V::one() / x)
}

/// A function that is minus infinity at zero and not real below.
#[inline(always)]
fn above_zero<V: Real>(x: V, result: V) -> V {
    let result = V::select(x.eq(V::zero()), V::from_f64(f64::NEG_INFINITY), result);
    V::select(x.lt(V::zero()), V::from_f64(f64::NAN), result)
}

/// Declares a formula of one value by its function of waves.
macro_rules! bessel {
    ($($name:ident $text:literal: |$x:ident, $waves:ident| $value:expr;)+) => {$(
        pointwise! { $name $text: WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
        impl $name {
            /// The function, with the sine and the cosine that `waves` gives of an angle at most 4 away from `x` or
            /// `-x`.
            #[inline(always)]
            pub fn with_waves<V>($x: V, $waves: impl FnOnce(V) -> (V, V)) -> V
            where
                V: Real + Root + Trigonometric + Logarithm,
            {
                $value
            }
        }
        impl<V: Real + Root + Trigonometric + Logarithm> Map<V> for $name {
            #[inline(always)]
            fn eval([x]: [V; 1], (): ()) -> V {
                $name::with_waves(x, whole)
            }
        }
    )+};
}
bessel! {
    J0Fn "special_bessel_j0": |x, waves| {
        let a = x.abs();
        V::select(a.le(V::from_f64(5.0)), j0_near(a), far0(a, waves).0)
    };
    J1Fn "special_bessel_j1": |x, waves| {
        let a = x.abs();
        let result = V::select(a.le(V::from_f64(5.0)), j1_near(a), far1(a, waves).0);
        V::select(x.lt(V::zero()), -result, result)
    };
    Y0Fn "special_bessel_y0": |x, waves| above_zero(x, V::select(x.le(V::from_f64(5.0)), y0_near(x), far0(x, waves).1));
    Y1Fn "special_bessel_y1": |x, waves| above_zero(x, V::select(x.le(V::from_f64(5.0)), y1_near(x), far1(x, waves).1));
    SphericalJ0Fn "special_spherical_bessel_j0": |x, waves| {
        let z = x * x;
        let series = polynomial! { z; 1.605_904_383_682_161_3e-10, -2.505_210_838_544_172e-8,
            2.755_731_922_398_589_3e-6,
            -1.984_126_984_126_984e-4, 8.333_333_333_333_333e-3, -0.166_666_666_666_666_66, 1.0 };
        let result = V::select(x.abs().lt(V::from_f64(0.5)), series, waves(x).0 / x);
        V::select(x.abs().eq(V::from_f64(f64::INFINITY)), V::zero(), result)
    };
}

record! { J0Fn "special_bessel_j0: x", Tame within 64 or 2e-6: float |[a], []| reference::mean_j(a, 0.0) }
record! { J1Fn "special_bessel_j1: x", Tame within 64 or 2e-6: float |[a], []| reference::mean_j(a, 1.0) }
record! { Y0Fn "special_bessel_y0: x", Tame within 64 or 2e-6: float |[a], []| reference::integral_y(a, 0.0) }
record! { Y1Fn "special_bessel_y1: x", Tame within 64 or 2e-6: float |[a], []| reference::integral_y(a, 1.0) }
record! { SphericalJ0Fn "special_spherical_bessel_j0: x", Tame within 64 or 2e-6: float |[a], []| {
    if a == 0.0 { 1.0 } else if a.is_infinite() { 0.0 } else { a.sin() / a }
} }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use crate::record::integral;
    use std::f64::consts::PI;

    /// Jₙ of x up to 16 as the mean of cos(nϑ − x sin ϑ) around the circle (trapezoids converge fast for what is
    /// periodic).
    pub(super) fn mean_j(x: f64, n: f64) -> f64 {
        if !x.is_finite() {
            return f64::NAN;
        }
        let value = |k: u32| {
            let angle = PI * (f64::from(k) + 0.5) / 200.0;
            (n * angle - x * angle.sin()).cos()
        };
        (0..200).map(value).sum::<f64>() / 200.0
    }

    /// Yₙ by its integrals (F. W. J. Olver et al., *NIST Handbook of Mathematical Functions*, 10.9.7).
    pub(super) fn integral_y(x: f64, n: f64) -> f64 {
        if x.is_nan() || x <= 0.0 {
            return if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
        }
        if !x.is_finite() {
            return f64::NAN;
        }
        let circle = |s: f64| (x * (PI * s).sin() - n * PI * s).sin();
        let end = (800.0 / x).asinh() + 0.1;
        let falling = |s: f64| {
            let t = end * s;
            ((n * t).exp() + (-n * t).exp() * if n == 1.0 { -1.0 } else { 1.0 }) * (-x * t.sinh()).exp()
        };
        integral(circle) - integral(falling) * end / PI
    }
}

native! {
    family: Bessel;

    /// The Bessel function of the first kind and the order 0, elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].special_bessel_j0()?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: special_bessel_j0(Tensor self) -> Tensor,
    out: special_bessel_j0.out, variants: function, method, structured: Pointwise<J0Fn>;

    /// The Bessel function of the first kind and the order 1, elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].special_bessel_j1()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: special_bessel_j1(Tensor self) -> Tensor,
    out: special_bessel_j1.out, variants: function, method, structured: Pointwise<J1Fn>;

    /// The Bessel function of the second kind and the order 0, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is -∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// assert_eq!(x.special_bessel_y0()?.to_vec::<f32>()?, [-f32::INFINITY]);
    /// ```
    func: special_bessel_y0(Tensor self) -> Tensor,
    out: special_bessel_y0.out, variants: function, method, structured: Pointwise<Y0Fn>;

    /// The Bessel function of the second kind and the order 1, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is -∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// assert_eq!(x.special_bessel_y1()?.to_vec::<f32>()?, [-f32::INFINITY]);
    /// ```
    func: special_bessel_y1(Tensor self) -> Tensor,
    out: special_bessel_y1.out, variants: function, method, structured: Pointwise<Y1Fn>;

    /// The spherical Bessel function of the first kind and the order 0, elementwise: `sin(x) / x`, 1 of 0.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(ops::special_spherical_bessel_j0(&tensor![0])?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: special_spherical_bessel_j0(Tensor x) -> Tensor,
    out: special_spherical_bessel_j0.out, variants: function, structured: Pointwise<SphericalJ0Fn>;
}
