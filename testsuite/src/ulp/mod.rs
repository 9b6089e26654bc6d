//! How far elementary functions are from the exact value, in units of the last place: every float32, or points of each
//! stratum of float32 and float64, at every instruction-set level of the host. Owns the arguments and the error; the
//! exact value is that of `pair.rs` (float64), or of float64 arithmetic (float32).

mod functions;
mod pair;

pub use pair::Pair;

use functions::{LN_2, LN_10};

use monomorph_cpu::isa::{Isa, Kernel, Level};
use monomorph_cpu::scalar::Lane;
use monomorph_ops::algebra::{Exponential, Gaussian, Hyperbolic, Logarithm, Root, Trigonometric};
use monomorph_ops::record::{error_function, error_function_complement, inverse_error_function, normal_probability};

use crate::layout::Random;

/// The functions that are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "they are named after the functions")]
pub enum Function {
    Exp,
    Log,
    Tanh,
    Sigmoid,
    Erf,
    Sqrt,
    Rsqrt,
    Gelu,
    Exp2,
    Expm1,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Erfc,
    Erfinv,
}

impl Function {
    /// All of them.
    pub const ALL: [Function; 26] = [
        Function::Exp,
        Function::Log,
        Function::Tanh,
        Function::Sigmoid,
        Function::Erf,
        Function::Sqrt,
        Function::Rsqrt,
        Function::Gelu,
        Function::Exp2,
        Function::Expm1,
        Function::Log2,
        Function::Log10,
        Function::Log1p,
        Function::Sin,
        Function::Cos,
        Function::Tan,
        Function::Asin,
        Function::Acos,
        Function::Atan,
        Function::Sinh,
        Function::Cosh,
        Function::Asinh,
        Function::Acosh,
        Function::Atanh,
        Function::Erfc,
        Function::Erfinv,
    ];

    /// Its name in the operator table.
    pub const fn name(self) -> &'static str {
        match self {
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Tanh => "tanh",
            Function::Sigmoid => "sigmoid",
            Function::Erf => "erf",
            Function::Sqrt => "sqrt",
            Function::Rsqrt => "rsqrt",
            Function::Gelu => "gelu",
            Function::Exp2 => "exp2",
            Function::Expm1 => "expm1",
            Function::Log2 => "log2",
            Function::Log10 => "log10",
            Function::Log1p => "log1p",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tan => "tan",
            Function::Asin => "asin",
            Function::Acos => "acos",
            Function::Atan => "atan",
            Function::Sinh => "sinh",
            Function::Cosh => "cosh",
            Function::Asinh => "asinh",
            Function::Acosh => "acosh",
            Function::Atanh => "atanh",
            Function::Erfc => "erfc",
            Function::Erfinv => "erfinv",
        }
    }

    /// How many units it may be off, in float32 and in float64.
    pub const fn bar(self) -> f64 {
        match self {
            // No elementary function: a product of four.
            Function::Gelu => 5.0,
            _ => 1.0,
        }
    }

    /// The value in float64 arithmetic, exact enough for float32.
    fn wide(self, x: f64) -> f64 {
        match self {
            Function::Exp => x.exp(),
            Function::Log => x.ln(),
            Function::Tanh => x.tanh(),
            Function::Sigmoid if x < 0.0 => x.exp() / (1.0 + x.exp()),
            Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Function::Erf => error_function(x),
            Function::Sqrt => x.sqrt(),
            Function::Rsqrt => 1.0 / x.sqrt(),
            Function::Gelu => x * normal_probability(x),
            Function::Exp2 => x.exp2(),
            Function::Expm1 => x.exp_m1(),
            Function::Log2 => x.log2(),
            Function::Log10 => x.log10(),
            Function::Log1p => x.ln_1p(),
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Tan => x.tan(),
            Function::Asin => x.asin(),
            Function::Acos => x.acos(),
            Function::Atan => x.atan(),
            Function::Sinh => x.sinh(),
            Function::Cosh => x.cosh(),
            Function::Asinh => wide_asinh(x),
            Function::Acosh => x.acosh(),
            Function::Atanh => wide_atanh(x),
            Function::Erfc => error_function_complement(x),
            Function::Erfinv => inverse_error_function(x),
        }
    }

    /// n, and the value times 2⁻ⁿ in twice the precision of float64, where it is known and the argument is in range.
    fn exact(self, x: f64) -> Option<(i32, Pair)> {
        let one = Pair::from(1.0);
        let pair = Pair::from(x);
        Some(match self {
            Function::Exp if (-745.0..709.7).contains(&x) => pair.exp_parts(),
            Function::Log if (f64::MIN_POSITIVE..f64::INFINITY).contains(&x) => (0, pair.ln()),
            Function::Tanh if x.abs() < 40.0 => (0, pair.tanh()),
            Function::Sigmoid if (-690.0..0.0).contains(&x) => {
                let e = pair.exp();
                (0, e / (one + e))
            }
            Function::Sigmoid if (0.0..690.0).contains(&x) => (0, one / (one + (-pair).exp())),
            Function::Erf if x.abs() < 6.0 => (0, pair.erf()),
            Function::Exp2 if (-1074.0..1024.0).contains(&x) => (pair * LN_2).exp_parts(),
            Function::Expm1 if (-700.0..709.7).contains(&x) => (0, pair.exp_m1()),
            Function::Log2 if (f64::MIN_POSITIVE..f64::INFINITY).contains(&x) => (0, pair.ln() / LN_2),
            Function::Log10 if (f64::MIN_POSITIVE..f64::INFINITY).contains(&x) => (0, pair.ln() / LN_10),
            Function::Log1p if (-0.999..1e300).contains(&x) => (0, pair.ln_1p()),
            Function::Sin if x.abs() < 1e6 => (0, pair.sin()),
            Function::Cos if x.abs() < 1e6 => (0, pair.cos()),
            Function::Tan if x.abs() < 1e6 => (0, pair.sin() / pair.cos()),
            Function::Asin if x.abs() < 1.0 => (0, pair.asin()),
            Function::Acos if x.abs() < 1.0 => (0, pair.acos()),
            Function::Atan if x.abs() < 1e100 => (0, pair.atan()),
            Function::Sinh if x.abs() < 700.0 => (0, pair.sinh()),
            Function::Cosh if x.abs() < 700.0 => (0, pair.cosh()),
            Function::Asinh if x.abs() < 1e100 => (0, pair.asinh()),
            Function::Acosh if (1.0..1e100).contains(&x) => (0, pair.acosh()),
            Function::Atanh if x.abs() < 1.0 => (0, pair.atanh()),
            Function::Erfc if (-6.0..26.0).contains(&x) => (0, pair.erfc()),
            Function::Erfinv if x.abs() < 1.0 => (0, pair.erfinv(inverse_error_function(x))),
            _ => return None,
        })
    }

    /// Whether float64 is measured, too.
    pub const fn has_pairs(self) -> bool {
        !matches!(self, Function::Sqrt | Function::Rsqrt | Function::Gelu)
    }

    /// The arguments of float64 where something happens: strata of each are measured.
    fn spans(self) -> &'static [(f64, f64)] {
        match self {
            Function::Exp => &[(-745.0, 709.7), (-1.0, 1.0), (-0.01, 0.01)],
            Function::Log => &[(0.5, 2.0), (0.99, 1.01), (1e-300, 1e-290), (1.0, 1e300)],
            Function::Tanh => &[(-20.0, 20.0), (-1.5, 1.5), (-0.01, 0.01)],
            Function::Sigmoid => &[(-690.0, 690.0), (-5.0, 5.0)],
            Function::Erf => &[(-6.0, 6.0), (-1.5, 1.5), (0.8, 0.9), (-0.01, 0.01)],
            Function::Exp2 => &[(-1074.0, 1023.9), (-1.0, 1.0), (-0.01, 0.01)],
            Function::Expm1 => &[(-40.0, 700.0), (-2.0, 2.0), (-0.01, 0.01)],
            Function::Log2 | Function::Log10 => &[(0.5, 2.0), (0.99, 1.01), (1e-300, 1e-290), (1.0, 1e300)],
            Function::Log1p => &[(-0.99, 3.0), (-0.5, 0.5), (-0.01, 0.01), (1.0, 1e15)],
            Function::Sin | Function::Cos | Function::Tan => &[(-10.0, 10.0), (-1.0, 1.0), (-6e5, 6e5)],
            Function::Asin | Function::Acos | Function::Atanh => &[(-1.0, 1.0), (-0.1, 0.1), (0.99, 1.0)],
            Function::Atan => &[(-1.0, 1.0), (-5.0, 5.0), (1.0, 1e5), (-0.1, 0.1)],
            Function::Sinh | Function::Cosh => &[(-700.0, 700.0), (-3.0, 3.0), (-0.1, 0.1)],
            Function::Asinh => &[(-1.0, 1.0), (-5.0, 5.0), (1.0, 1e10)],
            Function::Acosh => &[(1.0, 1.1), (1.0, 4.0), (1.0, 1e10)],
            Function::Erfc => &[(-6.0, 26.0), (-1.0, 1.5), (0.4, 1.0)],
            Function::Erfinv => &[(-1.0, 1.0), (0.7, 0.9), (0.999, 1.0), (-0.1, 0.1)],
            _ => &[],
        }
    }
}

/// The standard library's loses digits of small arguments.
fn wide_asinh(x: f64) -> f64 {
    let a = x.abs();
    let more = a + a * (a / (1.0 + 1f64.hypot(a)));
    if a < 1e150 { more.ln_1p().copysign(x) } else { x.asinh() }
}

/// The standard library's loses digits of small arguments.
fn wide_atanh(x: f64) -> f64 {
    0.5 * (2.0 * x / (1.0 - x)).ln_1p()
}

/// One function on a run of elements, in the frame of a level.
struct Run<'a, T> {
    function: Function,
    x: &'a [T],
    y: &'a mut [T],
}

/// One loop per function, written out: a closure would be compiled outside of the frame.
macro_rules! run {
    ($($float:ident)*) => {$(
        run! { @loops $float Exp exp, Log log, Tanh tanh, Sigmoid sigmoid, Erf erf, Sqrt sqrt, Rsqrt rsqrt, Gelu gelu,
            Exp2 exp2, Expm1 expm1, Log2 log2, Log10 log10, Log1p log1p, Sin sin, Cos cos, Tan tan, Asin asin,
            Acos acos, Atan atan, Sinh sinh, Cosh cosh, Asinh asinh, Acosh acosh, Atanh atanh, Erfc erfc,
            Erfinv erfinv }
    )*};
    (@loops $float:ident $($name:ident $method:ident),*) => {
        impl<I: Isa> Kernel<I> for Run<'_, $float> {
            type Home = Self;
            type Output = ();
            #[inline(always)]
            fn run(self, _: I) {
                match self.function {
                    $(Function::$name => {
                        for (y, &x) in self.y.iter_mut().zip(self.x) {
                            *y = Lane::<$float, I>::new(x).$method().get();
                        }
                    })*
                }
            }
        }
    };
}
run! { f32 f64 }

/// The largest error found, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    /// In units of the last place of the exact value's format.
    pub ulp: f64,
    /// The argument.
    pub at: f64,
}

impl Worst {
    fn see(&mut self, ulp: f64, at: f64) {
        // A NaN error would win, too.
        if ulp > self.ulp || ulp.is_nan() {
            *self = Worst { ulp, at };
        }
    }
}

/// The error of a float32 in units of its last place.
fn error_f32(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if got.is_nan() || nearest.is_nan() {
        return if got.is_nan() && nearest.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == nearest && !nearest.is_finite() {
        return 0.0;
    }
    let exponent = (nearest.abs().min(f32::MAX).to_bits() >> 23).max(1) as i32;
    let unit = f64::from_bits(((1023 + exponent - 127 - 23) as u64) << 52);
    if got.is_finite() || exact.is_finite() && got.abs() >= f32::MAX {
        let got = if got.is_infinite() {
            f64::from(f32::MAX).copysign(got.into()) + unit.copysign(got.into())
        } else {
            got.into()
        };
        return (got - exact).abs() / unit;
    }
    f64::INFINITY
}

/// The error of a float64 in units of its last place.
fn error_f64(got: f64, (n, exact): (i32, Pair)) -> f64 {
    if !got.is_finite() {
        return f64::INFINITY;
    }
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    // Exact: a subnormal result gets larger, a normal one comes near the other.
    let scaled = got * power(-(n / 2)) * power(-(n - n / 2));
    let exponent = ((exact.head.to_bits() >> 52 & 0x7ff) as i32 - 1023 + n).max(-1022);
    let unit = exponent - 52 - n;
    ((scaled - exact.head) - exact.tail).abs() * power(-(unit / 2)) * power(-(unit - unit / 2))
}

/// Levels of which each has a result of its own: the baseline, and those that fuse.
fn levels() -> Vec<Level> {
    Level::available().filter(|&level| level != Level::Sse2).collect()
}

/// The error of float32 at every level: of each `stride`-th bit pattern. `progress` hears the share that is done.
pub fn measure_f32(function: Function, stride: usize, mut progress: impl FnMut(f64)) -> Vec<(Level, Worst)> {
    const BLOCK: usize = 1 << 14;
    let mut worst: Vec<_> = levels().into_iter().map(|level| (level, Worst::default())).collect();
    let total = (1u64 << 32).div_ceil(stride as u64);
    let (mut x, mut y) = (Vec::with_capacity(BLOCK), vec![0.0f32; BLOCK]);
    let mut place = 0;
    while place < total {
        let block = (total - place).min(BLOCK as u64);
        x.clear();
        x.extend((place..place + block).map(|i| f32::from_bits((i * stride as u64) as u32)));
        let exact: Vec<f64> = x.iter().map(|&x| function.wide(x.into())).collect();
        for (level, worst) in &mut worst {
            level.enter(Run { function, x: &x, y: &mut y[..x.len()] });
            for ((&x, &y), &exact) in x.iter().zip(&y).zip(&exact) {
                worst.see(error_f32(y, exact), x.into());
            }
        }
        place += block;
        progress(place as f64 / total as f64);
    }
    worst
}

/// The error of float64 at every level: one random point of each of `points` equal strata of each span.
pub fn measure_f64(function: Function, points: u32, mut progress: impl FnMut(f64)) -> Vec<(Level, Worst)> {
    const BLOCK: u32 = 1 << 12;
    let mut worst: Vec<_> = levels().into_iter().map(|level| (level, Worst::default())).collect();
    let mut random = Random::new(9);
    let spans = function.spans();
    let mut y = vec![0.0f64; BLOCK as usize];
    for (done, &(low, high)) in spans.iter().enumerate() {
        for first in (0..points).step_by(BLOCK as usize) {
            let strata = first..points.min(first + BLOCK);
            let inside = |random: &mut Random| random.below(1 << 30) as f64 / f64::from(1 << 30);
            let place = |i: u32, random: &mut Random| (f64::from(i) + inside(random)) / f64::from(points);
            let x: Vec<f64> = strata.map(|i| low + (high - low) * place(i, &mut random)).collect();
            let exact: Vec<_> = x.iter().map(|&x| function.exact(x)).collect();
            for (level, worst) in &mut worst {
                level.enter(Run { function, x: &x, y: &mut y[..x.len()] });
                for ((&x, &y), &exact) in x.iter().zip(&y).zip(&exact) {
                    exact.into_iter().for_each(|exact| worst.see(error_f64(y, exact), x));
                }
            }
            progress((done as f64 + f64::from(first) / f64::from(points)) / spans.len() as f64);
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::workspace_root;

    /// The kernels against one recorded number.
    fn worst_recorded(function: Function, x: f64, (head, tail): (f64, f64)) {
        for level in levels() {
            let mut y = [0.0f64];
            level.enter(Run { function, x: &[x], y: &mut y });
            let ulp = error_f64(y[0], (0, Pair { head, tail }));
            assert!(ulp <= function.bar(), "{} at {level}: {ulp} ULP at {x:e}", function.name());
        }
    }

    /// The reference, and the kernels, against numbers of 300 bits.
    #[test]
    fn pairs_equal_recorded_numbers() {
        let path = workspace_root().join("testsuite/golden/elementary.txt");
        let text = std::fs::read_to_string(path).expect("the recorded numbers");
        let mut seen = 0;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |k: usize| f64::from_bits(u64::from_str_radix(words[k], 16).expect("bits"));
            let function = Function::ALL.into_iter().find(|f| f.name() == words[0]).expect("a function");
            seen += 1;
            worst_recorded(function, number(1), (number(2), number(3)));
            let Some((n, got)) = function.exact(number(1)) else { continue };
            let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
            let scale = |x: f64| x * power(-(n / 2)) * power(-(n - n / 2));
            let off = (got.head - scale(number(2))) + (got.tail - scale(number(3)));
            assert!(off.abs() <= got.head.abs() * 1e-20, "{line}: off by {off:e} of {:e}", got.head);
        }
        assert!(seen >= 2000, "{seen}");
    }

    #[test]
    fn no_function_is_off_by_more_than_its_bar() {
        for function in Function::ALL {
            for (level, worst) in measure_f32(function, 9973, |_| ()) {
                let Worst { ulp, at } = worst;
                assert!(ulp <= function.bar(), "{} f32 at {level}: {ulp} ULP at {at:e}", function.name());
            }
            if function.has_pairs() {
                for (level, worst) in measure_f64(function, 30_000, |_| ()) {
                    let Worst { ulp, at } = worst;
                    assert!(ulp <= function.bar(), "{} f64 at {level}: {ulp} ULP at {at:e}", function.name());
                }
            }
        }
    }
}
