//! Formulas as C text: each is written down by `Sym`, compiled with the system's C compiler, run, and compared with the
//! CPU value of the same formula. Bits must be equal, except where the C library computes an exponential of its own.

// The suite's own file: a dependency on the suite would be one on the library, which depends on this crate.
#[path = "../../../testsuite/src/missing.rs"]
#[allow(unreachable_pub, reason = "public in the suite")]
mod missing;

use half::{bf16, f16};
use missing::skip;
use monomorph_cpu::half_bits::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use monomorph_cpu::isa::Portable;
use monomorph_cpu::scalar::{Compute, Lane};
use monomorph_ops::algebra::sym::{self, Sym};
use monomorph_ops::algebra::{
    Bits, Cartesian, Coordinate, Equal, Exponential, Gamma, Gaussian, Hyperbolic, IncompleteGamma, Logarithm,
    Magnitude, Num, Ordered, Real, Repeat, RoundedDivision, Shift, Trigonometric, TrueDivision, Value,
};
use num_complex::Complex;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

type Cpu<C> = Lane<C, Portable>;

/// An element in memory: its bytes, its register, values worth trying.
trait Stored: Compute + sym::Compute {
    fn load(bytes: &[u8]) -> Self::Repr;
    fn store(x: Self::Repr) -> Vec<u8>;
    fn samples() -> Vec<Self::Repr>;
    /// How many units of the last place lie between two values, the worst part counting; NaN equals NaN.
    fn distance(a: Self::Repr, b: Self::Repr) -> u64;
}

macro_rules! stored_integers {
    ($($int:ident),+) => {$(
        impl Stored for $int {
            fn load(bytes: &[u8]) -> $int {
                $int::from_ne_bytes(bytes.try_into().unwrap())
            }
            fn store(x: $int) -> Vec<u8> {
                x.to_ne_bytes().to_vec()
            }
            fn samples() -> Vec<$int> {
                let middle = $int::MAX / 3;
                vec![0, 1, 2, 3, 7, 8, 63, 100, middle, $int::MAX, $int::MIN, $int::MIN + 1, $int::MAX - 6, !0, !1, !6]
            }
            fn distance(a: $int, b: $int) -> u64 {
                u64::from(a != b)
            }
        }
    )+};
}
stored_integers!(u8, i8, i16, i32, i64);

impl Stored for bool {
    fn load(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
    fn store(x: bool) -> Vec<u8> {
        vec![x.into()]
    }
    fn samples() -> Vec<bool> {
        vec![false, true]
    }
    fn distance(a: bool, b: bool) -> u64 {
        u64::from(a != b)
    }
}

const FLOATS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.0,
    1.5607,
    -7.3,
    0.1,
    1e-3,
    88.6,
    -103.5,
    709.9,
    -730.0,
    65504.0,
    3e38,
    -1e300,
    1e-40,
    1e-310,
    6e-8,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Places of floats on the line of all floats: neighbours differ by one, the zeros by one.
macro_rules! float_distance {
    ($a:expr, $b:expr, $signed:ident) => {{
        let place = |x: $signed| i128::from(if x < 0 { !(x & $signed::MAX) } else { x });
        let (a, b) = ($a, $b);
        if a.is_nan() || b.is_nan() {
            if a.is_nan() && b.is_nan() { 0 } else { u64::MAX }
        } else {
            place(a.to_bits().cast_signed()).abs_diff(place(b.to_bits().cast_signed())) as u64
        }
    }};
}

macro_rules! stored_floats {
    ($($float:ident as $signed:ident),+) => {$(
        impl Stored for $float {
            fn load(bytes: &[u8]) -> $float {
                $float::from_ne_bytes(bytes.try_into().unwrap())
            }
            fn store(x: $float) -> Vec<u8> {
                x.to_ne_bytes().to_vec()
            }
            fn samples() -> Vec<$float> {
                FLOATS.map(|x| x as $float).to_vec()
            }
            fn distance(a: $float, b: $float) -> u64 {
                float_distance!(a, b, $signed)
            }
        }

        impl Stored for Complex<$float> {
            fn load(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at(bytes.len() / 2);
                Complex::new($float::load(re), $float::load(im))
            }
            fn store(x: Self) -> Vec<u8> {
                [$float::store(x.re), $float::store(x.im)].concat()
            }
            fn samples() -> Vec<Self> {
                let parts = [0.0, -0.0, 1.0, -2.5, 1.5607, 30.1, $float::INFINITY, $float::NAN, 1e-38];
                parts.into_iter().flat_map(|re| parts.map(|im| Complex::new(re, im))).collect()
            }
            fn distance(a: Self, b: Self) -> u64 {
                $float::distance(a.re, b.re).max($float::distance(a.im, b.im))
            }
        }
    )+};
}
stored_floats!(f32 as i32, f64 as i64);

macro_rules! stored_halves {
    ($($half:ident: $widen:ident, $narrow:ident);+) => {$(
        impl Stored for $half {
            fn load(bytes: &[u8]) -> f32 {
                $widen(u16::from_ne_bytes(bytes.try_into().unwrap()))
            }
            fn store(x: f32) -> Vec<u8> {
                $narrow(x).to_ne_bytes().to_vec()
            }
            fn samples() -> Vec<f32> {
                FLOATS.map(|x| $widen($narrow(x as f32))).to_vec()
            }
            fn distance(a: f32, b: f32) -> u64 {
                let (a, b) = ($half::from_bits($narrow(a)), $half::from_bits($narrow(b)));
                float_distance!(a, b, i16)
            }
        }
    )+};
}
stored_halves!(f16: f16_to_f32, f32_to_f16; bf16: bf16_to_f32, f32_to_bf16);

// The formulas. Each takes three inputs and a parameter of one type, used or not.

fn scaled_sum<V: Num>([a, b, _]: [V; 3], alpha: V) -> V {
    a + alpha * b
}
fn difference<V: Num>([a, b, _]: [V; 3], _: V) -> V {
    -(a - b)
}
fn quotient<V: TrueDivision>([a, b, _]: [V; 3], _: V) -> V {
    a / b
}
fn quotient_trunc<V: RoundedDivision>([a, b, _]: [V; 3], _: V) -> V {
    a.div_trunc(b)
}
fn quotient_floor<V: RoundedDivision>([a, b, _]: [V; 3], _: V) -> V {
    a.div_floor(b)
}
fn faults<V: RoundedDivision>([a, b, _]: [V; 3], _: V) -> V::Mask {
    V::faults(a) | V::faults(b)
}
fn clamp<V: Ordered>([a, low, high]: [V; 3], _: V) -> V {
    a.maximum(low).minimum(high)
}
fn relation<V: Ordered>([a, b, c]: [V; 3], _: V) -> V::Mask {
    (a.lt(b) & b.le(c)) ^ (a.gt(c) | c.ge(a))
}
fn equality<V: Equal>([a, b, c]: [V; 3], _: V) -> V::Mask {
    (a.eq(b) | a.ne(c)) & !c.truth()
}
fn choice<V: Value>([a, b, c]: [V; 3], _: V) -> V {
    V::select(c.truth(), a, b)
}
fn exponential<V: Exponential>([a, _, _]: [V; 3], _: V) -> V {
    a.exp()
}
fn powers<V: Exponential>([a, b, _]: [V; 3], _: V) -> V {
    V::select(b.truth(), a.exp2(), a.expm1())
}
fn logarithms<V: Logarithm>([a, b, c]: [V; 3], _: V) -> V {
    V::select(b.truth(), V::select(c.truth(), a.log2(), a.log10()), a.log1p())
}
fn angles<V: Trigonometric>([a, b, c]: [V; 3], _: V) -> V {
    V::select(b.truth(), V::select(c.truth(), a.sin(), a.cos()), a.tan())
}
fn arcs<V: Trigonometric>([a, b, c]: [V; 3], _: V) -> V {
    V::select(b.truth(), V::select(c.truth(), a.asin(), a.acos()), a.atan())
}
fn hyperbolics<V: Hyperbolic>([a, b, _]: [V; 3], _: V) -> V {
    V::select(b.truth(), a.sinh(), a.cosh())
}
fn areas<V: Hyperbolic>([a, b, c]: [V; 3], _: V) -> V {
    V::select(b.truth(), V::select(c.truth(), a.asinh(), a.acosh()), a.atanh())
}
fn turns<V: Trigonometric>([a, _, _]: [V; 3], _: V) -> V::Re {
    a.angle()
}
fn bearings<V: Coordinate>([a, b, _]: [V; 3], _: V) -> V {
    a.atan2(b)
}
fn errors<V: Gaussian>([a, b, _]: [V; 3], _: V) -> V {
    V::select(b.truth(), a.erfc(), a.erfinv())
}
fn gammas<V: Gamma>([a, b, c]: [V; 3], _: V) -> V {
    let whole = V::select(b.truth(), a.digamma(), a.trigamma());
    V::select(c.truth(), whole, V::select(b.truth(), a.lgamma(), a.zeta_number(V::from_f64(2.5))))
}
fn shares<V: IncompleteGamma>([a, b, c]: [V; 3], _: V) -> V {
    V::select(c.truth(), a.igamma(b), a.igammac(b))
}
fn magnitude<V: Magnitude>([a, _, _]: [V; 3], _: V) -> V::Re {
    a.abs()
}
fn logic<V: Bits>([a, b, c]: [V; 3], _: V) -> V {
    (a & b) ^ (!c | a)
}
fn shifts<V: Shift>([a, b, c]: [V; 3], _: V) -> V {
    a.shift_left(b) ^ c.shift_right(b)
}
fn roundings<V: Real>([a, b, c]: [V; 3], _: V) -> V {
    let whole = (a.floor() + b.trunc() * c.ceil()).copysign(c);
    V::select(whole.is_finite() & !b.is_nan(), whole, a.mul_add(b, c))
}
fn loops<V: Repeat>([a, b, c]: [V; 3], _: V) -> V {
    // The states change places, and one loop is in another.
    let inner = |p: V| V::repeat(b, [p], |[p]| p.abs().lt(V::from_i64(50)), |k, [p]| [p * c + k])[0];
    let step = |k: V, [p, q]: [V; 2]| [q, inner(p) - (q * a + k)];
    let [p, q] = V::repeat(a, [V::one(), b], |[_, q]| q.abs().lt(V::from_i64(1000)), step);
    V::select(c.truth(), p, q)
}
fn parts<V: Cartesian>([a, b, _]: [V; 3], _: V) -> V {
    V::from_parts(a.im(), b.re()).conj()
}
fn constants<V: Num>([a, b, _]: [V; 3], _: V) -> V {
    let sum = a * V::from_f64(0.1) + b * V::from_complex(-3.0, 1.5) + V::from_i64(i64::MIN);
    V::select(a.truth(), sum, V::from_f64(f64::NEG_INFINITY) + V::from_f64(f64::NAN) + V::one())
}

/// Compares what C wrote with the CPU: the largest distance, and the place of it.
type Judge = Box<dyn Fn(&[u8]) -> (u64, String)>;

/// One formula at one element type: its C text, what to feed it, and what must come out.
struct Case {
    name: String,
    function: sym::Function,
    count: usize,
    fed: Vec<u8>,
    judge: Judge,
    result_size: usize,
    allowed: u64,
}

fn case<C: Stored, R: Stored>(
    name: &str,
    allowed: u64,
    symbolic: fn([Sym<C>; 3], Sym<C>) -> Sym<R>,
    direct: fn([Cpu<C>; 3], Cpu<C>) -> Cpu<R>,
) -> Case {
    let function = sym::trace(|t| {
        let inputs = [t.input::<C>(), t.input(), t.input()];
        let param = t.param::<C>();
        t.output(symbolic(inputs, param));
    })
    .unwrap();
    let samples = C::samples();
    // Every pair of samples; the third operand goes round beside them.
    let rows: Vec<[C::Repr; 3]> = samples
        .iter()
        .flat_map(|&a| samples.iter().map(move |&b| [a, b]))
        .enumerate()
        .map(|(i, [a, b])| [a, b, samples[(i * 7 + i / samples.len()) % samples.len()]])
        .collect();
    let param = samples[samples.len() / 3];
    let mut fed = Vec::new();
    for place in 0..3 {
        fed.extend(rows.iter().flat_map(|row| C::store(row[place])));
    }
    fed.extend(C::store(param));
    let result_size = <R as sym::Compute>::DTYPE.size();
    let count = rows.len();
    let judge = move |bytes: &[u8]| {
        let mut worst = (0, String::new());
        for (row, got) in rows.iter().zip(bytes.chunks_exact(result_size)) {
            let expected = direct(row.map(Cpu::new), Cpu::new(param)).get();
            let got = R::load(got);
            let distance = R::distance(R::load(&R::store(expected)), got);
            if distance > worst.0 {
                worst = (distance, format!("{row:?}, {param:?}: CPU {expected:?}, C {got:?}"));
            }
        }
        worst
    };
    let name = format!("{name}_{}", sym::c_suffix(<C as sym::Compute>::DTYPE));
    Case { name, function, count, fed, judge: Box::new(judge), result_size, allowed }
}

/// Instantiates a formula for a list of element types: for `Sym` and for the CPU.
macro_rules! cases {
    ($($formula:ident within $ulps:literal -> $($element:ty),+;)+) => {
        vec![$($(
            case(stringify!($formula), $ulps, $formula::<Sym<$element>>, $formula::<Cpu<$element>>),
        )+)+]
    };
}

fn all_cases() -> Vec<Case> {
    type C64 = Complex<f32>;
    type C128 = Complex<f64>;
    cases! {
        scaled_sum within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, C64, C128;
        difference within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, C64, C128;
        constants within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, C64, C128;
        choice within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, C64, C128;
        equality within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, C64, C128;
        magnitude within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, C64, C128;
        clamp within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64;
        relation within 0 -> bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64;
        quotient_trunc within 0 -> u8, i8, i16, i32, i64, f16, bf16, f32, f64;
        quotient_floor within 0 -> u8, i8, i16, i32, i64, f16, bf16, f32, f64;
        faults within 0 -> u8, i8, i16, i32, i64, f16, bf16, f32, f64;
        logic within 0 -> bool, u8, i8, i16, i32, i64;
        shifts within 0 -> u8, i8, i16, i32, i64;
        quotient within 0 -> f16, bf16, f32, f64, C64, C128;
        roundings within 0 -> f16, bf16, f32, f64;
        parts within 0 -> C64, C128;
        loops within 0 -> f16, bf16, f32, f64;
        exponential within 2 -> f16, bf16, f32, f64, C64, C128;
        powers within 4 -> f16, bf16, f32, f64, C64, C128;
        logarithms within 4 -> f16, bf16, f32, f64, C64, C128;
        angles within 4 -> f16, bf16, f32, f64, C64, C128;
        arcs within 4 -> f16, bf16, f32, f64, C64, C128;
        hyperbolics within 4 -> f16, bf16, f32, f64, C64, C128;
        areas within 4 -> f16, bf16, f32, f64, C64, C128;
        turns within 4 -> f16, bf16, f32, f64, C64, C128;
        bearings within 2 -> f16, bf16, f32, f64;
        errors within 8 -> f16, bf16, f32, f64;
        gammas within 32 -> f16, bf16, f32, f64;
        shares within 8192 -> f16, bf16, f32, f64;
    }
}

/// The program: every function, and a `main` that reads each case's operands in turn and writes its results.
fn program(cases: &[Case]) -> String {
    let mut text = format!("{}\n#include <stdio.h>\n#include <stdlib.h>\n\n", sym::PRELUDE);
    let mut main = String::from(
        "static void *take(size_t n) {
    void *p = malloc(n);
    if (!p || fread(p, 1, n, stdin) != n) exit(2);
    return p;
}

int main(void) {
",
    );
    for case in cases {
        let Case { name, function, count, result_size, .. } = case;
        text += &function.c_source(name);
        let [input, result] = [function.inputs()[0], function.outputs().next().unwrap()];
        let (from, to, size) = (sym::c_suffix(input), sym::c_suffix(result), input.size());
        write!(
            main,
            "    {{
        void *a = take({count} * {size}), *b = take({count} * {size}), *c = take({count} * {size}), *p = take({size});
        void *y = malloc({count} * {result_size});
        for (long i = 0; i < {count}; i++)
            k_store_{to}(y, i, {name}(k_load_{from}(a, i), k_load_{from}(b, i), k_load_{from}(c, i),
                k_load_{from}(p, 0)));
        fwrite(y, {result_size}, {count}, stdout);
        free(a), free(b), free(c), free(p), free(y);
    }}\n"
        )
        .unwrap();
    }
    text + "\n" + &main + "    return 0;\n}\n"
}

/// A C compiler of this machine, if it has one.
fn compiler() -> Option<&'static str> {
    ["cc", "gcc", "clang"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

#[test]
fn c_text_equals_the_cpu() {
    let Some(compiler) = compiler() else {
        return skip("cc", "this machine has no C compiler (cc, gcc or clang)");
    };
    let cases = all_cases();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c_text_{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (source, binary, operands) = (folder.join("formulas.c"), folder.join("formulas"), folder.join("operands"));
    fs::write(&source, program(&cases)).unwrap();
    fs::write(&operands, cases.iter().flat_map(|case| case.fed.clone()).collect::<Vec<u8>>()).unwrap();

    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Werror", "-Wno-unused-function", "-o"]);
    let built = command.arg(&binary).arg(&source).arg("-lm").output().unwrap();
    assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&binary).stdin(Stdio::from(File::open(&operands).unwrap())).output().unwrap();
    assert!(ran.status.success(), "the program ended with {}", ran.status);

    let mut results = ran.stdout.as_slice();
    let mut failures = String::new();
    for case in &cases {
        let (bytes, rest) = results.split_at(case.count * case.result_size);
        results = rest;
        let (distance, place) = (case.judge)(bytes);
        if distance > case.allowed {
            writeln!(failures, "{}: {distance} units apart at {place}", case.name).unwrap();
        }
    }
    assert!(results.is_empty(), "{} bytes too many", results.len());
    assert!(failures.is_empty(), "\n{failures}");
    fs::remove_dir_all(&folder).unwrap();
}
