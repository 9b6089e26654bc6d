//! Values of the algebra against PyTorch 2.15, whose answers are recorded at the end, and against `half`.

use super::*;
use crate::isa::{Avx2, Avx512, Kernel, Level, Portable};
use half::{bf16, f16};
use monomorph_ops::algebra::{
    Equal, Exponential, Gaussian, Magnitude, Num, Ordered, Real, RoundedDivision, Shift, Value,
};
use num_complex::Complex;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn at<C: Compute>(x: C::Repr) -> Lane<C, Portable> {
    Lane::new(x)
}

/// Equal bits, so that the signs of zeros count; NaN equals NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn bool_arithmetic_is_or_and_and() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let (x, y) = (at::<bool>(a), at::<bool>(b));
        assert_eq!((x + y).get(), a | b);
        assert_eq!((x * y).get(), a & b);
        assert_eq!((x - y).get(), a ^ b);
        assert_eq!((-x).get(), a);
        assert_eq!(x.lt(y).get(), !a & b);
        assert_eq!(x.ge(y).get(), a >= b);
        assert_eq!(Lane::select(x, y, !y).get(), if a { b } else { !b });
    }
}

#[test]
fn integers_wrap_and_no_divisor_panics() {
    for a in i8::MIN..=i8::MAX {
        for b in i8::MIN..=i8::MAX {
            let (x, y) = (at::<i8>(a), at::<i8>(b));
            assert_eq!((x + y).get(), a.wrapping_add(b));
            assert_eq!((x * y).get(), a.wrapping_mul(b));
            let (wide_a, wide_b) = (f64::from(a), f64::from(b));
            let trunc = if b == 0 { 0 } else { (wide_a / wide_b).trunc() as i64 as i8 };
            let floor = if b == 0 { 0 } else { (wide_a / wide_b).floor() as i64 as i8 };
            assert_eq!(x.div_trunc(y).get(), trunc, "{a} trunc {b}");
            assert_eq!(x.div_floor(y).get(), floor, "{a} floor {b}");
            assert_eq!(Lane::<i8, Portable>::faults(y).get(), b == 0);
            let exact = i64::from(a) << i64::from(b).clamp(0, 62);
            assert_eq!(x.shift_left(y).get(), if (0..8).contains(&b) { exact as i8 } else { 0 });
            let drawn = i64::from(a) >> if (0..8).contains(&b) { b } else { 63 };
            assert_eq!(x.shift_right(y).get(), drawn as i8, "{a} >> {b}");
        }
    }
    let least = at::<i64>(i64::MIN);
    assert_eq!(least.div_floor(at(-1)).get(), i64::MIN);
    assert_eq!(least.abs().get(), i64::MIN);
    assert_eq!((-at::<u8>(1)).get(), 255);
    assert_eq!(at::<u8>(200).shift_right(at(8)).get(), 0);
    assert_eq!((!at::<u8>(1) & at(0x0f)).get(), 0x0e);
}

#[test]
fn constants_follow_their_type() {
    assert_eq!(Lane::<u8, Portable>::from_i64(-1).get(), 255);
    assert_eq!(Lane::<i32, Portable>::from_f64(-2.9).get(), -2);
    assert_eq!(Lane::<i32, Portable>::from_f64(NAN).get(), 0);
    assert_eq!(Lane::<i64, Portable>::from_i64(i64::MAX - 1).get(), i64::MAX - 1);
    // Twice rounded, by way of float64, this would end in ...352.
    assert_eq!(Lane::<f32, Portable>::from_i64((1 << 54) + (1 << 30) + 1).get(), 18014400656965632.0);
    assert!(Lane::<bool, Portable>::from_complex(0.0, 2.0).get());
    assert_eq!(Lane::<Complex<f32>, Portable>::from_complex(1.0, 2.0).get(), Complex::new(1.0, 2.0));
    assert_eq!(Lane::<f16, Portable>::one().get(), 1.0);
}

#[test]
fn order_propagates_nan() {
    let values = [NAN, 1.0, 2.0];
    for a in values {
        for b in values {
            let nan = a.is_nan() || b.is_nan();
            let (x, y) = (at::<f64>(a), at::<f64>(b));
            assert!(same(x.minimum(y).get(), if nan { NAN } else { a.min(b) }));
            assert!(same(x.maximum(y).get(), if nan { NAN } else { a.max(b) }));
            assert_eq!(x.ne(y).get(), a != b);
            assert_eq!(x.truth().get(), a != 0.0);
            assert_eq!(x.is_nan().get(), a.is_nan());
        }
    }
}

#[test]
fn rounded_quotients_equal_pytorch() {
    for &[a, b, trunc, floor] in QUOTIENTS {
        let (x, y) = (at::<f64>(a), at::<f64>(b));
        assert!(same(x.div_trunc(y).get(), trunc), "{a} trunc {b}");
        assert!(same(x.div_floor(y).get(), floor), "{a} floor {b}");
        let (x, y) = (at::<f32>(a as f32), at::<f32>(b as f32));
        assert!(same(x.div_trunc(y).get().into(), trunc), "{a} trunc {b}");
        assert!(same(x.div_floor(y).get().into(), floor), "{a} floor {b}");
    }
}

#[test]
fn half_quotients_round_at_every_step() {
    for &[a, b, trunc, floor] in F16_QUOTIENTS {
        let (x, y) = (at::<f16>(a as f32), at::<f16>(b as f32));
        let (ours, floored) = (f16::from_f32(x.div_trunc(y).get()), f16::from_f32(x.div_floor(y).get()));
        assert_eq!((ours.to_f64(), floored.to_f64()), (trunc, floor), "{a} / {b}");
    }
    for &[a, b, trunc, floor] in BF16_QUOTIENTS {
        let (x, y) = (at::<bf16>(a as f32), at::<bf16>(b as f32));
        let (ours, floored) = (bf16::from_f32(x.div_trunc(y).get()), bf16::from_f32(x.div_floor(y).get()));
        assert_eq!((ours.to_f64(), floored.to_f64()), (trunc, floor), "{a} / {b}");
    }
}

#[test]
fn complex_special_values_equal_pytorch() {
    let close = |x: f64, y: f64, epsilon: f64| same(x, y) || (x - y).abs() <= 2.0 * epsilon * y.abs();
    for &[a, b, re, im] in EXPONENTIALS {
        let ours = at::<Complex<f64>>(Complex::new(a, b)).exp().get();
        let equal = close(ours.re, re, f64::EPSILON) && close(ours.im, im, f64::EPSILON);
        assert!(equal, "exp({a}, {b}) = {ours:?}, not ({re}, {im})");
        let ours = at::<Complex<f32>>(Complex::new(a as f32, b as f32)).exp().get();
        let single = f32::EPSILON.into();
        let equal = close(ours.re.into(), re, single) && close(ours.im.into(), im, single);
        assert!(equal, "exp({a}, {b}) = {ours:?}, not ({re}, {im})");
    }
    for &[a, b, c, d, re, im] in COMPLEX_QUOTIENTS {
        let ours = (at::<Complex<f64>>(Complex::new(a, b)) / at(Complex::new(c, d))).get();
        assert!(same(ours.re, re) && same(ours.im, im), "({a}, {b}) / ({c}, {d}) = {ours:?}, not ({re}, {im})");
    }
}

#[test]
fn a_complex_exponential_whose_modulus_overflows_may_be_finite() {
    // e^710 is infinite; times cos(1.5607) it is not.
    let ours = at::<Complex<f64>>(Complex::new(710.0, 1.5607)).exp().get();
    let expected = (709.0f64).exp() * ((1.0f64).exp() * (1.5607f64).cos());
    assert!((ours.re / expected - 1.0).abs() < 1e-13, "{ours:?} {expected}");
    assert_eq!(ours.im, INF);
    let ours = at::<Complex<f32>>(Complex::new(89.0, 1.5)).exp().get();
    let expected = (89.0f64).exp() * 1.5f64.cos();
    assert!((f64::from(ours.re) / expected - 1.0).abs() < 1e-7);
}

#[test]
fn the_magnitude_of_a_complex_value_is_hypot() {
    for (re, im, expected) in
        [(3.0, -4.0, 5.0), (INF, NAN, INF), (NAN, -INF, INF), (1e300, 0.0, 1e300), (3e-310, 4e-310, 5e-310)]
    {
        assert!(same(at::<Complex<f64>>(Complex::new(re, im)).abs().get(), expected));
    }
    let large = at::<Complex<f32>>(Complex::new(3e38, 1e38)).abs().get();
    assert_eq!(large, 3.162_277_7e38);
    assert!(at::<Complex<f32>>(Complex::new(f32::NAN, 1.0)).abs().get().is_nan());
    assert_eq!(at::<Complex<f32>>(Complex::new(f32::NAN, f32::INFINITY)).abs().get(), f32::INFINITY);
}

/// The error of `ours` in units of the last place that the float32 nearest to `exact` has.
fn error_in_ulps(ours: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if ours == nearest || (ours.is_nan() && nearest.is_nan()) {
        return 0.0;
    }
    let below = f32::from_bits(nearest.to_bits().saturating_sub(1));
    let unit = if nearest.is_infinite() { f64::from(f32::MAX) - f64::from(below) } else { f64::from(nearest - below) };
    ((f64::from(ours) - exact) / unit).abs()
}

/// The bit patterns whose exponential is neither 0, nor infinity, nor 1 by way of a tiny argument, and some beyond.
fn interesting_f32(stride: usize) -> impl Iterator<Item = f32> {
    let smallest = 1e-9f32.to_bits();
    let magnitudes = (smallest..105f32.to_bits()).step_by(stride);
    let specials = [0.0, 1e-45, 1e30, f32::INFINITY, f32::NAN].map(f32::to_bits);
    magnitudes.chain(specials).map(f32::from_bits).flat_map(|x| [x, -x])
}

fn worst_exp_f32<I: Isa>(stride: usize) -> (f64, f32) {
    interesting_f32(stride).fold((0.0, 0.0), |worst, x| {
        let error = error_in_ulps(Lane::<f32, I>::new(x).exp().get(), f64::from(x).exp());
        // A NaN error would win, too.
        if error <= worst.0 { worst } else { (error, x) }
    })
}

/// Within one unit for every float32. Here each 31st pattern, at the levels' two roundings (fused or not).
#[test]
fn exp_f32_is_within_one_ulp() {
    for (error, x) in [worst_exp_f32::<Portable>(31), worst_exp_f32::<Avx2>(31)] {
        println!("worst error {error} ULP at {x:e}");
        assert!(error <= 1.0, "{error} ULP at {x:e}");
    }
}

/// The exact sum of two floats, as the nearest float and what that lacks (Knuth).
/// Of float32 the approximation of gelu by tanh is computed in float64, by fewer terms than that of float64.
#[test]
fn gelu_tanh_f32_is_rounded_once() {
    for x in interesting_f32(997).filter(|x| x.is_finite()) {
        let ours = Lane::<f32, Avx2>::new(x).gelu_tanh().get();
        let exact = Lane::<f64, Avx2>::new(x.into()).gelu_tanh().get();
        assert!(error_in_ulps(ours, exact) < 0.51, "{x:e}: got {ours:e}, want {exact:e}");
        assert_eq!(ours.is_sign_negative(), x.is_sign_negative(), "{x:e}");
    }
    for (x, want) in [(f64::INFINITY, INF), (-INF, NAN), (NAN, NAN)] {
        assert!(same(Lane::<f32, Avx2>::new(x as f32).gelu_tanh().get().into(), want));
    }
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// `n` and exp(x)·2⁻ⁿ in twice the precision (T. J. Dekker, *A floating-point technique for extending the available
/// precision*, 1971): ln 2 in three parts, so that the reduction is exact to 2⁻¹³⁰, then Taylor's series.
fn exp_double_double(x: f64) -> (i32, (f64, f64)) {
    // 40 bits each, so that products with the 11 bits of n are exact; the rest rounded.
    let high = f64::from_bits(0x3fe6_2e42_fefa_2000);
    let middle = f64::from_bits(0x3d69_ef35_793c_6000);
    let low = f64::from_bits(0x3ae6_7300_7e5e_d5e8);
    let n = (x * std::f64::consts::LOG2_E).round();
    let (r, r_rest) = two_sum(x - n * high, -n * middle);
    let r = two_sum(r, r_rest - n * low);
    let mut sum = (1.0, 0.0);
    for i in (1..=26).rev() {
        // sum = 1 + sum·r/i
        let product = sum.0 * r.0;
        let product = two_sum(product, sum.0.mul_add(r.0, -product) + (sum.0 * r.1 + sum.1 * r.0));
        let i = f64::from(i);
        let quotient = product.0 / i;
        let quotient = two_sum(quotient, (quotient.mul_add(-i, product.0) + product.1) / i);
        let (head, tail) = two_sum(1.0, quotient.0);
        sum = two_sum(head, tail + quotient.1);
    }
    (n as i32, sum)
}

/// The error of `ours` as exp(x), in units of the last place of the float64 nearest to it.
fn exp_f64_error(ours: f64, x: f64) -> f64 {
    let (n, (head, tail)) = exp_double_double(x);
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    // Exact: a subnormal result gets larger, a normal one comes near 1.
    let scaled = ours * power(-(n / 2)) * power(-(n - n / 2));
    let exponent = ((head.to_bits() >> 52) as i32 - 1023 + n).max(-1022);
    let unit = power(exponent - 52 - n);
    (((scaled - head) - tail) / unit).abs()
}

fn worst_exp_f64<I: Isa>(points: u32) -> (f64, f64) {
    let mut worst = (0.0, 0.0);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let span = 709.78 + 745.13;
    for i in 0..points {
        // One random point in each of `points` equal strata (xorshift; G. Marsaglia, 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let inside = (state >> 11) as f64 / (1u64 << 53) as f64;
        let x = -745.13 + span * (f64::from(i) + inside) / f64::from(points);
        // The same place on a scale where most of the results lie next to 1.
        for x in [x, x / 709.0, x / 1e5] {
            let error = exp_f64_error(Lane::<f64, I>::new(x).exp().get(), x);
            // A NaN error would win, too.
            if error > worst.0 || error.is_nan() {
                worst = (error, x);
            }
        }
    }
    worst
}

#[test]
fn exp_f64_is_within_one_ulp() {
    for (error, x) in [worst_exp_f64::<Portable>(400_000), worst_exp_f64::<Avx512>(400_000)] {
        println!("worst error {error} ULP at {x:e}");
        assert!(error <= 1.0, "{error} ULP at {x:e}");
    }
    for (x, expected) in [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (709.79, INF), (-745.14, 0.0)] {
        assert!(same(at::<f64>(x).exp().get(), expected), "exp({x})");
    }
}

/// An exp loop that must give the same bits inside a frame as outside.
struct ExpLoop<'a>(&'a [f32], &'a mut [f32]);

impl<I: Isa> Kernel<I> for ExpLoop<'_> {
    type Home = Self;
    type Output = ();
    #[inline(always)]
    fn run(self, _: I) {
        for (y, &x) in self.1.iter_mut().zip(self.0) {
            *y = Lane::<f32, I>::new(x).exp().get();
        }
    }
}

/// Vectorisation must not change a result: each level's frame against the same code one element at a time.
#[test]
fn frames_give_the_bits_of_their_level() {
    let inputs: Vec<f32> = interesting_f32(49_999).collect();
    let mut results = vec![0.0; inputs.len()];
    for level in Level::available() {
        level.enter(ExpLoop(&inputs, &mut results));
        for (&x, y) in inputs.iter().zip(&results) {
            let one = match level {
                Level::Avx2 | Level::Avx512 => Lane::<f32, Avx2>::new(x).exp().get(),
                _ => Lane::<f32, Portable>::new(x).exp().get(),
            };
            assert!(same((*y).into(), one.into()), "{level}: exp({x:e}) is {y:e} or {one:e}");
        }
    }
}

// What PyTorch 2.15 gives: operands, then results.

const QUOTIENTS: &[[f64; 4]] = &[
    [0.0, 0.0, NAN, NAN],
    [0.0, -0.0, NAN, NAN],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, -1.0, -0.0, -0.0],
    [0.0, 3.5, 0.0, 0.0],
    [0.0, -0.3, -0.0, -0.0],
    [0.0, INF, 0.0, 0.0],
    [0.0, -INF, -0.0, -0.0],
    [0.0, NAN, NAN, NAN],
    [-0.0, 0.0, NAN, NAN],
    [-0.0, -0.0, NAN, NAN],
    [-0.0, 1.0, -0.0, -0.0],
    [-0.0, -1.0, 0.0, 0.0],
    [-0.0, 3.5, -0.0, -0.0],
    [-0.0, -0.3, 0.0, 0.0],
    [-0.0, INF, -0.0, -0.0],
    [-0.0, -INF, 0.0, 0.0],
    [-0.0, NAN, NAN, NAN],
    [1.0, 0.0, INF, INF],
    [1.0, -0.0, -INF, -INF],
    [1.0, 1.0, 1.0, 1.0],
    [1.0, -1.0, -1.0, -1.0],
    [1.0, 3.5, 0.0, 0.0],
    [1.0, -0.3, -3.0, -4.0],
    [1.0, INF, 0.0, 0.0],
    [1.0, -INF, -0.0, -1.0],
    [1.0, NAN, NAN, NAN],
    [-1.0, 0.0, -INF, -INF],
    [-1.0, -0.0, INF, INF],
    [-1.0, 1.0, -1.0, -1.0],
    [-1.0, -1.0, 1.0, 1.0],
    [-1.0, 3.5, -0.0, -1.0],
    [-1.0, -0.3, 3.0, 3.0],
    [-1.0, INF, -0.0, -1.0],
    [-1.0, -INF, 0.0, 0.0],
    [-1.0, NAN, NAN, NAN],
    [3.5, 0.0, INF, INF],
    [3.5, -0.0, -INF, -INF],
    [3.5, 1.0, 3.0, 3.0],
    [3.5, -1.0, -3.0, -4.0],
    [3.5, 3.5, 1.0, 1.0],
    [3.5, -0.3, -11.0, -12.0],
    [3.5, INF, 0.0, 0.0],
    [3.5, -INF, -0.0, -1.0],
    [3.5, NAN, NAN, NAN],
    [-0.3, 0.0, -INF, -INF],
    [-0.3, -0.0, INF, INF],
    [-0.3, 1.0, -0.0, -1.0],
    [-0.3, -1.0, 0.0, 0.0],
    [-0.3, 3.5, -0.0, -1.0],
    [-0.3, -0.3, 1.0, 1.0],
    [-0.3, INF, -0.0, -1.0],
    [-0.3, -INF, 0.0, 0.0],
    [-0.3, NAN, NAN, NAN],
    [INF, 0.0, INF, INF],
    [INF, -0.0, -INF, -INF],
    [INF, 1.0, INF, NAN],
    [INF, -1.0, -INF, NAN],
    [INF, 3.5, INF, NAN],
    [INF, -0.3, -INF, NAN],
    [INF, INF, NAN, NAN],
    [INF, -INF, NAN, NAN],
    [INF, NAN, NAN, NAN],
    [-INF, 0.0, -INF, -INF],
    [-INF, -0.0, INF, INF],
    [-INF, 1.0, -INF, NAN],
    [-INF, -1.0, INF, NAN],
    [-INF, 3.5, -INF, NAN],
    [-INF, -0.3, INF, NAN],
    [-INF, INF, NAN, NAN],
    [-INF, -INF, NAN, NAN],
    [-INF, NAN, NAN, NAN],
    [NAN, 0.0, NAN, NAN],
    [NAN, -0.0, NAN, NAN],
    [NAN, 1.0, NAN, NAN],
    [NAN, -1.0, NAN, NAN],
    [NAN, 3.5, NAN, NAN],
    [NAN, -0.3, NAN, NAN],
    [NAN, INF, NAN, NAN],
    [NAN, -INF, NAN, NAN],
    [NAN, NAN, NAN, NAN],
];
const F16_QUOTIENTS: &[[f64; 4]] = &[
    [-4.30859375, -0.2052001953125, 21.0, 20.0],
    [-38.0, 0.1292724609375, -294.0, -294.0],
    [-37.125, -0.364013671875, 102.0, 101.0],
    [9.8046875, 0.051605224609375, 190.0, 189.0],
    [-46.1875, -0.0264739990234375, 1745.0, 1743.0],
    [68.0625, -0.08465576171875, -804.0, -805.0],
    [33.15625, 0.010986328125, 3018.0, 3018.0],
    [-41.71875, 0.0206451416015625, -2021.0, -2022.0],
    [-36.65625, 0.007106781005859375, -5156.0, -5156.0],
    [-48.9375, 0.01959228515625, -2498.0, -2500.0],
    [-28.140625, 0.0112152099609375, -2510.0, -2512.0],
    [16.9375, -0.0175628662109375, -964.0, -966.0],
];
const BF16_QUOTIENTS: &[[f64; 4]] = &[
    [-9.75, 0.1357421875, -72.0, -72.0],
    [47.75, 0.318359375, 150.0, 149.0],
    [26.125, -0.169921875, -154.0, -154.0],
    [33.25, 1.0078125, 33.0, 32.0],
    [-71.5, -0.46875, 153.0, 151.0],
    [-20.5, -0.07177734375, 286.0, 286.0],
    [-61.75, 0.1708984375, -362.0, -364.0],
    [-61.25, 0.2001953125, -306.0, -304.0],
    [-16.875, 0.07275390625, -232.0, -231.0],
    [-30.375, 0.0830078125, -366.0, -364.0],
    [50.25, -0.40234375, -125.0, -126.0],
    [71.0, 0.609375, 116.0, 115.0],
];
const EXPONENTIALS: &[[f64; 4]] = &[
    [1.0, 0.0, std::f64::consts::E, 0.0],
    [1.0, -0.0, std::f64::consts::E, -0.0],
    [1.0, INF, NAN, NAN],
    [1.0, NAN, NAN, NAN],
    [-2.0, 0.0, 0.1353352832366127, 0.0],
    [-2.0, -0.0, 0.1353352832366127, -0.0],
    [-2.0, INF, NAN, NAN],
    [-2.0, NAN, NAN, NAN],
    [INF, 0.0, INF, 0.0],
    [INF, -0.0, INF, -0.0],
    [INF, 1.0, INF, INF],
    [INF, INF, INF, NAN],
    [INF, NAN, INF, NAN],
    [-INF, 0.0, 0.0, 0.0],
    [-INF, -0.0, 0.0, -0.0],
    [-INF, 1.0, 0.0, 0.0],
    [-INF, INF, 0.0, 0.0],
    [-INF, NAN, 0.0, 0.0],
    [NAN, 0.0, NAN, 0.0],
    [NAN, -0.0, NAN, -0.0],
    [NAN, 1.0, NAN, NAN],
    [NAN, INF, NAN, NAN],
    [NAN, NAN, NAN, NAN],
    [1000.0, 0.0, INF, 0.0],
    [1000.0, -0.0, INF, -0.0],
    [1000.0, 1.0, INF, INF],
    [1000.0, INF, NAN, NAN],
    [1000.0, NAN, NAN, NAN],
    [-1000.0, 0.0, 0.0, 0.0],
    [-1000.0, -0.0, 0.0, -0.0],
    [-1000.0, 1.0, 0.0, 0.0],
    [-1000.0, INF, NAN, NAN],
    [-1000.0, NAN, NAN, NAN],
];
const COMPLEX_QUOTIENTS: &[[f64; 6]] = &[
    [0.0, -0.0, 0.0, 3.0, 0.0, -0.0],
    [0.0, -0.0, 0.0, INF, 0.0, -0.0],
    [0.0, -0.0, 1.0, -0.0, 0.0, 0.0],
    [0.0, -0.0, 1.0, 3.0, 0.0, -0.0],
    [0.0, -0.0, 1.0, INF, 0.0, -0.0],
    [0.0, -0.0, -INF, -0.0, -0.0, 0.0],
    [0.0, -0.0, -INF, 3.0, -0.0, -0.0],
    [0.0, -2.0, 0.0, -0.0, NAN, -INF],
    [0.0, -2.0, 0.0, 3.0, -0.6666666666666666, -0.0],
    [0.0, -2.0, 0.0, INF, -0.0, -0.0],
    [0.0, -2.0, 1.0, -0.0, 0.0, -2.0],
    [0.0, -2.0, 1.0, 3.0, -0.6, -0.19999999999999998],
    [0.0, -2.0, 1.0, INF, -0.0, -0.0],
    [0.0, -2.0, -INF, -0.0, -0.0, 0.0],
    [0.0, -2.0, -INF, 3.0, -0.0, 0.0],
    [0.0, -INF, 0.0, -0.0, NAN, -INF],
    [0.0, -INF, 0.0, 3.0, -INF, NAN],
    [0.0, -INF, 1.0, -0.0, NAN, -INF],
    [0.0, -INF, 1.0, 3.0, -INF, -INF],
    [1.0, -0.0, 0.0, -0.0, INF, NAN],
    [1.0, -0.0, 0.0, 3.0, 0.0, -0.3333333333333333],
    [1.0, -0.0, 0.0, INF, 0.0, -0.0],
    [1.0, -0.0, 1.0, -0.0, 1.0, 0.0],
    [1.0, -0.0, 1.0, 3.0, 0.09999999999999999, -0.3],
    [1.0, -0.0, 1.0, INF, 0.0, -0.0],
    [1.0, -0.0, -INF, -0.0, -0.0, 0.0],
    [1.0, -0.0, -INF, 3.0, -0.0, -0.0],
    [1.0, -2.0, 0.0, -0.0, INF, -INF],
    [1.0, -2.0, 0.0, 3.0, -0.6666666666666666, -0.3333333333333333],
    [1.0, -2.0, 0.0, INF, -0.0, -0.0],
    [1.0, -2.0, 1.0, -0.0, 1.0, -2.0],
    [1.0, -2.0, 1.0, 3.0, -0.5, -0.49999999999999994],
    [1.0, -2.0, 1.0, INF, -0.0, -0.0],
    [1.0, -2.0, -INF, -0.0, -0.0, 0.0],
    [1.0, -2.0, -INF, 3.0, -0.0, 0.0],
    [1.0, -INF, 0.0, -0.0, INF, -INF],
    [1.0, -INF, 0.0, 3.0, -INF, NAN],
    [1.0, -INF, 1.0, -0.0, NAN, -INF],
    [1.0, -INF, 1.0, 3.0, -INF, -INF],
    [INF, -0.0, 0.0, -0.0, INF, NAN],
    [INF, -0.0, 0.0, 3.0, NAN, -INF],
    [INF, -0.0, 1.0, -0.0, INF, NAN],
    [INF, -0.0, 1.0, 3.0, INF, -INF],
    [INF, -2.0, 0.0, -0.0, INF, -INF],
    [INF, -2.0, 0.0, 3.0, NAN, -INF],
    [INF, -2.0, 1.0, -0.0, INF, NAN],
    [INF, -2.0, 1.0, 3.0, INF, -INF],
    [INF, -INF, 0.0, -0.0, INF, -INF],
    [INF, -INF, 1.0, 3.0, NAN, -INF],
    [NAN, -2.0, 0.0, -0.0, NAN, -INF],
    [NAN, -INF, 0.0, -0.0, NAN, -INF],
];
