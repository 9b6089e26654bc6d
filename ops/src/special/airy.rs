//! The Airy function of the first kind. Between -2.09 and 2.09 its Maclaurin series, which are written out; beyond, a
//! rational function times an exponential above and a sine and cosine below. Method and coefficients of the latter are
//! those of S. L. Moshier's Cephes library (*Methods and Programs for Mathematical Functions*, 1989), which PyTorch
//! uses.

use crate::algebra::{Exponential, Real, Root, Trigonometric, polynomial};
use crate::pointwise::{Common, Map, Rule, Same, WideReals, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use std::f64::consts::FRAC_PI_4;

/// 1 / √π.
const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

/// The series.
#[inline(always)]
fn near<V: Real>(x: V) -> V {
    let z = x * x * x;
    let even = polynomial! { z;
    1.714_209_200_390_791_2e-29, 2.159_903_592_492_397e-26, 2.280_858_193_671_971e-23, 1.984_346_628_494_615e-20,
    1.393_011_333_203_219_7e-17, 7.689_422_559_281_772e-15, 3.229_557_474_898_344_4e-12, 9.882_445_873_188_935e-10,
    2.075_313_633_369_676_3e-7, 2.739_413_996_047_972_5e-5, 0.001_972_378_077_154_54, 0.059_171_342_314_636_21,
    0.355_028_053_887_817_2 };
    let odd = polynomial! { z;
    1.529_913_189_349_599_7e-30, 2.037_844_368_213_666_8e-27, 2.286_461_381_135_734e-24, 2.126_409_084_456_232_6e-21,
    1.607_565_267_848_911_9e-18, 9.645_391_607_093_471e-16, 4.456_170_922_477_184e-13, 1.524_010_455_487_196_8e-10,
    3.657_625_093_169_273e-8, 5.705_895_145_344_065e-6, 0.000_513_530_563_080_965_9, 0.021_568_283_649_400_565,
    0.258_819_403_792_806_8 };
    even - x * odd
}

/// Far above zero, `zeta` being ⅔·x^(3/2).
#[inline(always)]
fn above<V: Real + Root + Exponential>(x: V, zeta: V) -> V {
    let z = V::one() / zeta;
    let ratio = polynomial! { z;
    0.346_538_101_525_629, 12.007_595_273_964_58, 76.279_605_361_523_45, 168.089_224_934_630_57,
    159.756_391_350_164_42, 70.536_090_684_044_42, 14.026_469_116_338_967, 1.0 }
        / polynomial! { z;
        0.567_594_532_638_770_2, 14.756_256_258_484_72, 84.513_897_014_147_46, 177.318_088_145_400_46,
        164.234_692_871_529_7, 71.477_840_082_557_57, 14.095_913_560_783_403, 1.0 };
    V::from_f64(FRAC_1_SQRT_PI) * ratio / (V::from_i64(2) * x.sqrt().sqrt() * zeta.exp())
}

/// The angle far below zero.
#[inline(always)]
fn phase<V: Real>(zeta: V) -> V {
    zeta + V::from_f64(FRAC_PI_4)
}

/// Far below zero, of the magnitude `a`; `zeta` likewise. `waves` are the sine and the cosine.
#[inline(always)]
fn below<V: Real + Root>(a: V, zeta: V, waves: impl FnOnce(V) -> (V, V)) -> V {
    let inverse = V::one() / zeta;
    let z = inverse * inverse;
    let cosines = polynomial! { z;
    -0.131_696_323_418_331_8, -0.626_456_544_431_912_4, -0.693_158_036_036_933_5, -0.279_779_981_545_119_1,
    -0.049_190_013_260_950_03, -0.004_062_659_235_948_854, -0.000_159_276_496_239_262_1, -2.776_491_081_552_329e-6,
    -1.677_876_984_891_146_3e-8 }
        / polynomial! { z;
        13.356_042_070_655_324, 32.682_503_279_522_46, 26.736_704_094_149_956, 9.187_074_029_072_596,
        1.475_291_467_716_664_1, 0.115_687_173_795_188_04, 0.004_402_916_416_152_112, 7.547_203_482_874_143e-5,
        4.518_500_929_705_803_7e-7 };
    let sines = polynomial! { z;
    0.019_733_993_209_168_57, 0.391_103_029_615_688_26, 1.065_798_975_995_956, 0.939_169_229_816_650_2,
    0.351_465_656_105_547_6, 0.063_388_891_962_892_55, 0.005_858_041_130_483_885, 0.000_282_851_600_836_737_04,
    6.987_936_699_972_61e-6, 8.117_892_395_543_892e-8, 3.415_517_847_659_236e-10 }
        / polynomial! { z;
        9.308_929_080_774_42, 19.835_292_871_831_21, 15.564_662_893_286_462, 5.476_860_694_229_755,
        0.954_293_611_618_961_9, 0.086_458_082_635_239_21, 0.004_126_565_238_242_226, 0.000_101_259_085_116_509_13,
        1.171_667_332_144_135_2e-6, 4.918_345_700_629_3e-9 };
    let (sine, cosine) = waves(phase(zeta));
    let waves = sine * (V::one() + z * cosines) - cosine * (inverse * sines);
    V::from_f64(FRAC_1_SQRT_PI) / a.sqrt().sqrt() * waves
}

/// ⅔·a^(3/2).
#[inline(always)]
fn zeta<V: Real + Root>(a: V) -> V {
    V::from_i64(2) * a * a.sqrt() / V::from_i64(3)
}

/// Sine and cosine of any angle.
#[inline(always)]
fn whole<V: Trigonometric>(angle: V) -> (V, V) {
    (angle.sin(), angle.cos())
}

pointwise! {
    /// Off by 4e-16 (float64) and 2e-7 (float32) at most between -2.09 and 2.09, where PyTorch is by twice that.
    /// Beyond exactly what PyTorch makes of it: by 3e-6 next to -2.09, where its coefficients lack a term, and by
    /// what rounding a phase or an exponent costs. NaN of infinities.
    AiryAiFn "special_airy_ai": WideReals, Same<1>; () => Common; Rule::UNARY_FLOAT
}
impl AiryAiFn {
    /// The function, with the sine and the cosine that `waves` gives of [`angle`](AiryAiFn::angle).
    #[inline(always)]
    pub fn with_waves<V: Real + Root + Exponential>(x: V, waves: impl FnOnce(V) -> (V, V)) -> V {
        let a = x.abs();
        let zeta = zeta(a);
        let far = V::select(x.lt(V::zero()), below(a, zeta, waves), above(a, zeta));
        let far = V::select(x.gt(V::from_f64(103.892)), V::zero(), far);
        let result = V::select(x.lt(V::from_f64(-2.09)) | x.ge(V::from_f64(2.09)), far, near(x));
        V::select(a.eq(V::from_f64(f64::INFINITY)), V::from_f64(f64::NAN), result)
    }

    /// The angle whose waves the function is made of below zero.
    #[inline(always)]
    pub fn angle<V: Real + Root>(x: V) -> V {
        phase(zeta(x.abs()))
    }
}
impl<V: Real + Root + Exponential + Trigonometric> Map<V> for AiryAiFn {
    #[inline(always)]
    fn eval([x]: [V; 1], (): ()) -> V {
        AiryAiFn::with_waves(x, whole)
    }
}

record! { AiryAiFn "special_airy_ai: x", Tame within 64 or 1e-6: float |[x], []| {
    if x.is_infinite() {
        return f64::NAN;
    }
    // Ai″ = x·Ai gives each coefficient from the third before it.
    let mut terms = [0.355_028_053_887_817_2, -0.258_819_403_792_806_8 * x, 0.0];
    let mut sum = terms[0] + terms[1];
    for k in (3..150).step_by(3) {
        for (place, term) in (0..).zip(&mut terms) {
            *term *= x * x * x / (f64::from(k + place) * f64::from(k + place - 1));
            sum += *term;
        }
    }
    sum
} }

native! {
    family: Airy;

    /// The Airy function Ai, elementwise.
    ///
    /// Integers and bool give float32. Far from 0 on the positive side it is 0.
    ///
    /// ```
    /// let x = tensor![1000.0f32];
    /// assert_eq!(ops::special_airy_ai(&x)?.to_vec::<f32>()?, [0.0]);
    /// ```
    func: special_airy_ai(Tensor x) -> Tensor,
    out: special_airy_ai.out, variants: function, structured: Pointwise<AiryAiFn>;
}
