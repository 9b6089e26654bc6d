//! Modified Bessel functions of the orders 0 and 1, plain and scaled by an exponential: Chebyshev expansions, near in x
//! and far in 1/x, multiplied by what the functions grow or fall like. Method and coefficients are those of S. L.
//! Moshier's Cephes library (*Methods and Programs for Mathematical Functions*, 1989), which PyTorch uses: errors of a
//! few units.

use crate::algebra::{Exponential, Logarithm, Real, Root, chebyshev};
use crate::pointwise::{Common, Map, Reals, Rule, Same, WideReals, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;

/// I₀ or I₁ of the magnitude `a`, times e^-a.
#[inline(always)]
fn scaled<V: Real + Root>(a: V, near: V, far: V) -> V {
    V::select(a.le(V::from_f64(8.0)), near, far / a.sqrt())
}

/// I₀(x)·e^-|x|.
#[inline(always)]
fn i0e<V: Real + Root>(x: V) -> V {
    let a = x.abs();
    let near = chebyshev! { a * V::from_f64(0.5) - V::from_f64(2.0);
    -4.415_341_646_479_339_5e-18, 3.330_794_518_822_238_4e-17, -2.431_279_846_547_955e-16,
    1.715_391_285_555_133e-15, -1.168_533_287_799_345_1e-14, 7.676_185_498_604_936e-14,
    -4.856_446_783_111_929e-13, 2.955_052_663_129_64e-12, -1.726_826_291_441_556e-11,
    9.675_809_035_373_237e-11, -5.189_795_601_635_263e-10, 2.659_823_724_682_386_6e-9,
    -1.300_025_009_986_248e-8, 6.046_995_022_541_919e-8, -2.670_793_853_940_612e-7,
    1.117_387_539_120_103_7e-6, -4.416_738_358_458_750_5e-6, 1.644_844_807_072_889_6e-5,
    -5.754_195_010_082_104e-5, 0.000_188_502_885_095_841_65, -0.000_576_375_574_538_582_4,
    0.001_639_475_616_941_335_7, -0.004_324_309_995_050_576, 0.010_546_460_394_594_998,
    -0.023_737_414_805_899_47, 0.049_305_284_239_670_71, -0.094_901_097_048_047_64,
    0.171_620_901_522_208_77, -0.304_682_672_343_198_4, 0.676_795_274_409_476_1 };
    let far = chebyshev! { V::from_f64(32.0) / a - V::from_f64(2.0);
    -7.233_180_487_874_754e-18, -4.830_504_485_944_182e-18, 4.465_621_420_296_76e-17,
    3.461_222_867_697_461e-17, -2.827_623_980_516_583_6e-16, -3.425_485_619_677_219e-16,
    1.772_560_133_056_526_3e-15, 3.811_680_669_352_622_4e-15, -9.554_846_698_828_307e-15,
    -4.150_569_347_287_222e-14, 1.540_086_217_521_41e-14, 3.852_778_382_742_142_6e-13,
    7.180_124_451_383_666e-13, -1.794_178_531_506_806_2e-12, -1.321_581_184_044_771_3e-11,
    -3.149_916_527_963_241_6e-11, 1.188_914_710_784_643_9e-11, 4.940_602_388_224_97e-10,
    3.396_232_025_708_386_5e-9, 2.266_668_990_498_178e-8, 2.048_918_589_469_063_8e-7,
    2.891_370_520_834_756_7e-6, 6.889_758_346_916_825e-5, 0.003_369_116_478_255_694_3,
    0.804_490_411_014_108_8 };
    scaled(a, near, far)
}

/// I₁(x)·e^-|x|.
#[inline(always)]
fn i1e<V: Real + Root>(x: V) -> V {
    let a = x.abs();
    let near = chebyshev! { a * V::from_f64(0.5) - V::from_f64(2.0);
    2.777_914_112_761_046_4e-18, -2.111_421_214_358_166e-17, 1.553_631_957_736_200_5e-16,
    -1.105_596_947_735_386_2e-15, 7.600_684_294_735_408e-15, -5.042_185_504_727_912e-14,
    3.223_793_365_945_575e-13, -1.983_974_397_764_943_6e-12, 1.173_618_629_889_090_1e-11,
    -6.663_489_723_502_027e-11, 3.625_590_281_552_117e-10, -1.887_249_751_722_829_4e-9,
    9.381_537_386_495_773e-9, -4.445_059_128_796_328e-8, 2.003_294_753_552_135_3e-7,
    -8.568_720_264_695_455e-7, 3.470_251_308_137_678_5e-6, -1.327_316_365_603_943_6e-5,
    4.781_565_107_550_054e-5, -0.000_161_760_815_825_896_74, 0.000_512_285_956_168_575_8,
    -0.001_513_572_450_631_253_2, 0.004_156_422_944_312_888, -0.010_564_084_894_626_197,
    0.024_726_449_030_626_516, -0.052_945_981_208_094_99, 0.102_643_658_689_847_1,
    -0.176_416_518_357_834_06, 0.252_587_186_443_633_65 };
    let far = chebyshev! { V::from_f64(32.0) / a - V::from_f64(2.0);
    7.517_296_310_842_105e-18, 4.414_348_323_071_708e-18, -4.650_305_368_489_358_6e-17,
    -3.209_525_921_993_424e-17, 2.962_628_997_645_95e-16, 3.308_202_310_920_928_5e-16,
    -1.880_354_775_510_782_5e-15, -3.814_403_072_437_007_5e-15, 1.042_027_698_412_880_2e-14,
    4.272_440_016_711_951e-14, -2.101_541_842_772_664_3e-14, -4.083_551_111_092_197_4e-13,
    -7.198_551_776_245_908e-13, 2.035_628_544_147_089_6e-12, 1.412_580_743_661_378_2e-11,
    3.252_603_583_015_488_4e-11, -1.897_495_812_350_541_3e-11, -5.589_743_462_196_584e-10,
    -3.835_380_385_964_237e-9, -2.631_468_846_889_519_6e-8, -2.512_236_237_870_209e-7,
    -3.882_564_808_877_691e-6, -0.000_110_588_938_762_623_71, -0.009_761_097_491_361_469,
    0.778_576_235_018_280_1 };
    let result = scaled(a, near * a, far);
    V::select(x.lt(V::zero()), -result, result)
}

/// I₀.
#[inline(always)]
fn i0<V: Real + Exponential + Root>(x: V) -> V {
    x.abs().exp() * i0e(x)
}

/// I₁.
#[inline(always)]
fn i1<V: Real + Exponential + Root>(x: V) -> V {
    x.abs().exp() * i1e(x)
}

/// A function that is infinite at zero and not real below.
#[inline(always)]
fn above_zero<V: Real>(x: V, result: V) -> V {
    let result = V::select(x.eq(V::zero()), V::from_f64(f64::INFINITY), result);
    V::select(x.lt(V::zero()), V::from_f64(f64::NAN), result)
}

/// K₀ below 2, and beyond times e^x.
#[inline(always)]
fn k0_parts<V: Real + Exponential + Logarithm + Root>(x: V) -> (V, V) {
    let near = chebyshev! { x * x - V::from_f64(2.0);
    1.374_465_435_613_523e-16, 4.259_816_142_796_61e-14, 1.034_969_525_763_384_2e-11,
    1.904_516_377_220_209e-9, 2.534_791_079_026_149_4e-7, 2.286_212_103_119_452e-5,
    0.001_264_615_411_446_926, 0.035_979_936_515_361_5, 0.344_289_899_924_628_5, -0.535_327_393_233_902_8 };
    let far = chebyshev! { V::from_f64(8.0) / x - V::from_f64(2.0);
    5.300_433_772_686_263e-18, -1.647_580_430_152_421_2e-17, 5.210_391_505_039_027_4e-17,
    -1.678_231_096_805_412e-16, 5.512_055_978_524_319e-16, -1.848_593_377_343_779e-15,
    6.340_076_477_405_070_6e-15, -2.227_513_326_991_669_8e-14, 8.032_890_775_363_575e-14,
    -2.980_096_923_172_730_3e-13, 1.140_340_588_208_475e-12, -4.514_597_883_373_944e-12,
    1.855_949_114_954_717_7e-11, -7.957_489_244_477_107e-11, 3.577_397_281_400_301e-10,
    -1.697_534_509_389_06e-9, 8.574_034_017_414_225e-9, -4.660_489_897_687_948e-8,
    2.766_813_639_445_015e-7, -1.831_755_522_719_119_5e-6, 1.394_981_371_887_65e-5,
    -0.000_128_495_495_816_278_02, 0.001_569_883_885_730_053_3, -0.031_448_101_311_964_5,
    2.440_303_082_065_955_5 };
    (near - (x * V::from_f64(0.5)).log() * i0(x), far / x.sqrt())
}

/// K₁ below 2, and beyond times e^x.
#[inline(always)]
fn k1_parts<V: Real + Exponential + Logarithm + Root>(x: V) -> (V, V) {
    let near = chebyshev! { x * x - V::from_f64(2.0);
    -7.023_863_479_386_288e-18, -2.427_449_850_519_366e-15, -6.666_901_694_199_329e-13,
    -1.411_488_392_633_527_8e-10, -2.213_387_630_734_726e-8, -2.433_406_141_565_968_4e-6,
    -0.000_173_028_895_751_305_2, -0.006_975_723_859_639_864, -0.122_611_180_822_657_15,
    -0.353_155_960_776_544_9, 1.525_300_227_338_947_8 };
    let far = chebyshev! { V::from_f64(8.0) / x - V::from_f64(2.0);
    -5.756_744_483_665_017e-18, 1.794_050_873_147_559_2e-17, -5.689_462_558_442_859e-17,
    1.838_093_544_366_639e-16, -6.057_047_248_373_319e-16, 2.038_703_165_624_334e-15,
    -7.019_837_090_418_314e-15, 2.477_154_424_481_304_3e-14, -8.976_705_182_324_994e-14,
    3.348_419_666_078_429_3e-13, -1.289_173_960_951_028_9e-12, 5.139_639_673_481_73e-12,
    -2.129_967_838_427_568_3e-11, 9.218_315_187_605_006e-11, -4.190_354_759_341_896_5e-10,
    2.015_049_755_197_033e-9, -1.034_576_246_567_809_7e-8, 5.741_084_125_450_049_5e-8,
    -3.501_960_603_087_812_6e-7, 2.406_484_947_837_217e-6, -1.936_197_974_166_083e-5,
    0.000_195_215_518_471_351_62, -0.002_857_816_859_622_779, 0.103_923_736_576_817_24,
    2.720_626_190_484_442_7 };
    ((x * V::from_f64(0.5)).log() * i1(x) + near / x, far / x.sqrt())
}

pointwise! { I0Fn "i0": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Root> Map<V> for I0Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        i0(x)
    }
}

pointwise! { I0eFn "special_i0e": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Root> Map<V> for I0eFn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        i0e(x)
    }
}

pointwise! { I1Fn "special_i1": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Root> Map<V> for I1Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        i1(x)
    }
}

pointwise! { I1eFn "special_i1e": Reals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Root> Map<V> for I1eFn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        i1e(x)
    }
}

pointwise! { ModifiedI0Fn "special_modified_bessel_i0": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Root> Map<V> for ModifiedI0Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        i0(x)
    }
}

pointwise! { ModifiedI1Fn "special_modified_bessel_i1": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Root> Map<V> for ModifiedI1Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        i1(x)
    }
}

pointwise! { ModifiedK0Fn "special_modified_bessel_k0": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Logarithm + Root> Map<V> for ModifiedK0Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        let (near, far) = k0_parts(x);
        above_zero(x, V::select(x.le(V::from_f64(2.0)), near, (-x).exp() * far))
    }
}

pointwise! { ScaledK0Fn "special_scaled_modified_bessel_k0": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Logarithm + Root> Map<V> for ScaledK0Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        let (near, far) = k0_parts(x);
        above_zero(x, V::select(x.le(V::from_f64(2.0)), near * x.exp(), far))
    }
}

pointwise! { ModifiedK1Fn "special_modified_bessel_k1": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Logarithm + Root> Map<V> for ModifiedK1Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        let (near, far) = k1_parts(x);
        above_zero(x, V::select(x.le(V::from_f64(2.0)), near, (-x).exp() * far))
    }
}

pointwise! { ScaledK1Fn "special_scaled_modified_bessel_k1": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT }
impl<V: Real + Exponential + Logarithm + Root> Map<V> for ScaledK1Fn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        let (near, far) = k1_parts(x);
        above_zero(x, V::select(x.le(V::from_f64(2.0)), near * x.exp(), far))
    }
}

record! { I0Fn "i0: x", Tame within 16: float |[a], []| a.abs().exp() * reference::mean_i(a, 0.0) }
record! { I0eFn "special_i0e: x", Tame within 16: float |[a], []| reference::mean_i(a, 0.0) }
record! { I1Fn "special_i1: x", Tame within 16 or 1e-15: float |[a], []| a.abs().exp() * reference::mean_i(a, 1.0) }
record! { I1eFn "special_i1e: x", Tame within 16 or 1e-15: float |[a], []| reference::mean_i(a, 1.0) }
record! {
    ModifiedI0Fn "special_modified_bessel_i0: x", Tame within 16:
    float |[a], []| a.abs().exp() * reference::mean_i(a, 0.0)
}
record! {
    ModifiedI1Fn "special_modified_bessel_i1: x", Tame within 16 or 1e-15:
    float |[a], []| a.abs().exp() * reference::mean_i(a, 1.0)
}
record! {
    ModifiedK0Fn "special_modified_bessel_k0: x", Tame within 16:
    float |[a], []| (-a).exp() * reference::integral_k(a, 0.0)
}
record! {
    ModifiedK1Fn "special_modified_bessel_k1: x", Tame within 16:
    float |[a], []| (-a).exp() * reference::integral_k(a, 1.0)
}
record! { ScaledK0Fn "special_scaled_modified_bessel_k0: x", Tame within 16:
float |[a], []| reference::integral_k(a, 0.0) }
record! { ScaledK1Fn "special_scaled_modified_bessel_k1: x", Tame within 16:
float |[a], []| reference::integral_k(a, 1.0) }

/// What the records call.
#[cfg(feature = "record")]
mod reference {
    use std::f64::consts::PI;

    /// Iₙ(x)·e^-|x| as the mean of e^(|x| (cos ϑ − 1)) cos nϑ around the circle (trapezoids converge fast for what is
    /// periodic).
    pub(super) fn mean_i(x: f64, n: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        let a = x.abs();
        let mean = |points: u32| {
            let step = PI / f64::from(points);
            let value = |k: u32| {
                let half = 0.5 * step * (f64::from(k) + 0.5);
                (-2.0 * a * half.sin() * half.sin()).exp() * (n * 2.0 * half).cos()
            };
            (0..points).map(value).sum::<f64>() / f64::from(points)
        };
        let result = if a > 1e5 { (1.0 - (4.0 * n * n - 1.0) / (8.0 * a)) / (2.0 * PI * a).sqrt() } else { mean(200) };
        if n == 1.0 && x < 0.0 { -result } else { result }
    }

    /// Kₙ(x)·e^x as the integral of e^(-2x sinh²(t/2)) cosh nt from 0, by trapezoids.
    pub(super) fn integral_k(x: f64, n: f64) -> f64 {
        if x.is_nan() || x <= 0.0 {
            return if x == 0.0 { f64::INFINITY } else { f64::NAN };
        }
        if x.is_infinite() {
            return 0.0;
        }
        let end = 2.0 * (400.0 / x).sqrt().asinh() + 0.1;
        let step = end / 400.0;
        let value = |k: u32| {
            let t = step * f64::from(k);
            let s = (0.5 * t).sinh();
            (-2.0 * x * s * s).exp() * (n * t).cosh()
        };
        step * (0.5 * value(0) + (1..400).map(value).sum::<f64>())
    }
}

native! {
    family: ModifiedBessel;

    /// The modified Bessel function of the first kind and the order 0, elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].i0()?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: i0(Tensor self) -> Tensor,
    inplace: i0_, out: i0.out, variants: function, method, structured: Pointwise<I0Fn>;

    /// [`i0`](super::functions::i0) under another name.
    func: special_i0(Tensor self) -> Tensor,
    out: special_i0.out, variants: function, method, structured: Pointwise<I0Fn>;

    /// The modified Bessel function of the first kind and the order 0, scaled: `e^-|self| · i0(self)`, elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].special_i0e()?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: special_i0e(Tensor self) -> Tensor,
    out: special_i0e.out, variants: function, method, structured: Pointwise<I0eFn>;

    /// The modified Bessel function of the first kind and the order 1, elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].special_i1()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: special_i1(Tensor self) -> Tensor,
    out: special_i1.out, variants: function, method, structured: Pointwise<I1Fn>;

    /// The modified Bessel function of the first kind and the order 1, scaled: `e^-|self| · i1(self)`, elementwise.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].special_i1e()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: special_i1e(Tensor self) -> Tensor,
    out: special_i1e.out, variants: function, method, structured: Pointwise<I1eFn>;

    /// The modified Bessel function of the first kind and the order 0, elementwise; [`i0`](super::functions::i0) takes
    /// halves, too.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].special_modified_bessel_i0()?.to_vec::<f32>()?, [1.0]);
    /// ```
    func: special_modified_bessel_i0(Tensor self) -> Tensor,
    out: special_modified_bessel_i0.out, variants: function, method, structured: Pointwise<ModifiedI0Fn>;

    /// The modified Bessel function of the first kind and the order 1, elementwise;
    /// [`special_i1`](super::functions::special_i1) takes halves, too.
    ///
    /// Integers and bool give float32.
    ///
    /// ```
    /// assert_eq!(tensor![0].special_modified_bessel_i1()?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: special_modified_bessel_i1(Tensor self) -> Tensor,
    out: special_modified_bessel_i1.out, variants: function, method, structured: Pointwise<ModifiedI1Fn>;

    /// The modified Bessel function of the second kind and the order 0, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is ∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// assert_eq!(x.special_modified_bessel_k0()?.to_vec::<f32>()?, [f32::INFINITY]);
    /// ```
    func: special_modified_bessel_k0(Tensor self) -> Tensor,
    out: special_modified_bessel_k0.out, variants: function, method, structured: Pointwise<ModifiedK0Fn>;

    /// The modified Bessel function of the second kind and the order 1, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is ∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// assert_eq!(x.special_modified_bessel_k1()?.to_vec::<f32>()?, [f32::INFINITY]);
    /// ```
    func: special_modified_bessel_k1(Tensor self) -> Tensor,
    out: special_modified_bessel_k1.out, variants: function, method, structured: Pointwise<ModifiedK1Fn>;

    /// The modified Bessel function of the second kind and the order 0, scaled by `e^x`, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is ∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// let y = ops::special_scaled_modified_bessel_k0(&x)?;
    /// assert_eq!(y.to_vec::<f32>()?, [f32::INFINITY]);
    /// ```
    func: special_scaled_modified_bessel_k0(Tensor x) -> Tensor,
    out: special_scaled_modified_bessel_k0.out, variants: function, structured: Pointwise<ScaledK0Fn>;

    /// The modified Bessel function of the second kind and the order 1, scaled by `e^x`, elementwise.
    ///
    /// Integers and bool give float32. Of 0 it is ∞, of negative numbers NaN.
    ///
    /// ```
    /// let x = tensor![0.0f32];
    /// let y = ops::special_scaled_modified_bessel_k1(&x)?;
    /// assert_eq!(y.to_vec::<f32>()?, [f32::INFINITY]);
    /// ```
    func: special_scaled_modified_bessel_k1(Tensor x) -> Tensor,
    out: special_scaled_modified_bessel_k1.out, variants: function, structured: Pointwise<ScaledK1Fn>;
}
