//! What the device is held to where there is one: bandwidth against that of a copy in the same run, the host's time for
//! a launch, and a fused chain against its parts. Owns the figures and their bars.

use monomorph::crates::ops::arithmetic::{AbsFn, MulFn, NegFn};
use monomorph::crates::ops::exponential::ExpFn;
use monomorph::pointwise::Then;
use monomorph::{
    Cpu, DType, Result, Tensor,
    crates::ops::Op,
    ops::{abs_out, add_out, amax_out, any, argmax, exp_out, lt_out, mean, mul_out, neg_out, sum, to},
};
use monomorph_cuda::{Cuda, synchronize};
use monomorph_testsuite::cuda::{POINTWISE_SHARE, REDUCTION_SHARE};
use std::time::Instant;

type T = Tensor<Cuda>;

/// Elements of float32 of the calls that are judged.
pub(crate) const ELEMENTS: i64 = 1 << 26;

/// Rounds, of which the middle one counts, and calls of a round.
const ROUNDS: usize = 7;
const CALLS: u32 = 20;

/// Calls that fit into a stream without waiting for the device.
const SMALL: u32 = 200;

/// abs(exp(−(a · b))).
type Chain = Then<Then<Then<Op<MulFn>, Op<NegFn>>, Op<ExpFn>>, Op<AbsFn>>;

monomorph::operators! {
    family: Mine;

    func: gpu::abs_exp_neg_mul(Tensor self, Tensor other) -> Tensor,
    out: gpu::abs_exp_neg_mul.out, variants: function, method, operator: Chain;
}

/// One line of the table.
struct Figure {
    name: String,
    got: f64,
    unit: &'static str,
    /// What is asked for, and whether less is better.
    bar: Option<(f64, bool)>,
}

impl Figure {
    fn is_met(&self) -> bool {
        self.bar.is_none_or(|(bar, below)| if below { self.got <= bar } else { self.got >= bar })
    }
}

/// The middle of the times of a call, in seconds, of the device or of the host alone.
fn time(calls: u32, on_host: bool, step: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::with_capacity(ROUNDS);
    step()?;
    for _ in 0..ROUNDS {
        synchronize(0)?;
        let start = Instant::now();
        for _ in 0..calls {
            step()?;
        }
        let host = start.elapsed();
        synchronize(0)?;
        let took = if on_host { host } else { start.elapsed() };
        times.push(took.as_secs_f64() / f64::from(calls));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn ramp(n: i64, dtype: DType) -> Result<T> {
    let numbers: Vec<f32> = (0..n).map(|i| (i % 97) as f32 / 64.0 - 0.5).collect();
    T::from_any(to(&Tensor::<Cpu>::from_slice(&numbers, [n])?, dtype)?.as_any(), 0)
}

fn zeros(n: i64, dtype: DType) -> Result<T> {
    T::zeros_contiguous(dtype, &[n])
}

/// Bytes a second of every call, the copy's first.
fn bandwidths(n: i64, figures: &mut Vec<Figure>) -> Result<()> {
    let mut copy = 0.0;
    let mut rate = |name: String, bytes: i64, asked: f64, step: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let rate = bytes as f64 / time(CALLS, false, step)?;
        if name == "copy" {
            copy = rate;
            figures.push(Figure { name, got: rate / 1e9, unit: "GB/s", bar: None });
        } else {
            let got = 100.0 * rate / copy;
            figures.push(Figure { name, got, unit: "% of the copy's bandwidth", bar: Some((asked, false)) });
        }
        Ok(())
    };
    {
        let (a, mut out) = (ramp(n, DType::F32)?, zeros(n, DType::F32)?);
        rate("copy".to_owned(), 8 * n, 0.0, &mut || out.copy_from(&a))?;
    }
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::F16, DType::I32, DType::U8] {
        let size = dtype.size() as i64;
        let n = 4 * n / size;
        let (a, b, mut out) = (ramp(n, dtype)?, ramp(n, dtype)?, zeros(n, dtype)?);
        let mut truth = zeros(n, DType::Bool)?;
        let bytes = size * n;
        rate(format!("add {dtype}"), 3 * bytes, POINTWISE_SHARE, &mut || add_out(&a, &b, &mut out).map(drop))?;
        rate(format!("mul {dtype}"), 3 * bytes, POINTWISE_SHARE, &mut || mul_out(&a, &b, &mut out).map(drop))?;
        rate(format!("neg {dtype}"), 2 * bytes, POINTWISE_SHARE, &mut || neg_out(&a, &mut out).map(drop))?;
        rate(format!("lt {dtype}"), 2 * bytes + n, POINTWISE_SHARE, &mut || lt_out(&a, &b, &mut truth).map(drop))?;
        if dtype.is_floating() && dtype != DType::F64 {
            rate(format!("exp {dtype}"), 2 * bytes, POINTWISE_SHARE, &mut || exp_out(&a, &mut out).map(drop))?;
        }
        let mut one = zeros(1, dtype)?.with_geometry(monomorph::Geometry::new(dtype, &[], &[], 0)?)?;
        rate(format!("sum {dtype}"), bytes, REDUCTION_SHARE, &mut || sum(&a, ..).map(drop))?;
        rate(format!("amax {dtype}"), bytes, REDUCTION_SHARE, &mut || amax_out(&a, .., &mut one).map(drop))?;
        rate(format!("argmax {dtype}"), bytes, REDUCTION_SHARE, &mut || argmax(&a, ..).map(drop))?;
        rate(format!("any {dtype}"), bytes, REDUCTION_SHARE, &mut || any(&a, ..).map(drop))?;
        if dtype.is_floating() {
            rate(format!("mean {dtype}"), bytes, REDUCTION_SHARE, &mut || mean(&a, ..).map(drop))?;
        }
    }
    Ok(())
}

/// A fused chain against its parts, and the host's time for a launch.
fn launches(n: i64, figures: &mut Vec<Figure>) -> Result<()> {
    let (a, b, mut out) = (ramp(n, DType::F32)?, ramp(n, DType::F32)?, zeros(n, DType::F32)?);
    let fused = time(CALLS, false, &mut || abs_exp_neg_mul_out(&a, &b, &mut out).map(drop))?;
    let [mut x, mut y] = [zeros(n, DType::F32)?, zeros(n, DType::F32)?];
    let parts = time(CALLS, false, &mut || {
        mul_out(&a, &b, &mut x)?;
        neg_out(&x, &mut y)?;
        exp_out(&y, &mut x)?;
        abs_out(&x, &mut y).map(drop)
    })?;
    let bar = Some((2.5, false));
    figures.push(Figure { name: "four launches against one fused".to_owned(), got: parts / fused, unit: "×", bar });
    let (a, b, mut out) = (ramp(1024, DType::F32)?, ramp(1024, DType::F32)?, zeros(1024, DType::F32)?);
    let took = time(SMALL, true, &mut || add_out(&a, &b, &mut out).map(drop))?;
    let bar = Some((5.0, true));
    figures.push(Figure { name: "the host's time for a launch".to_owned(), got: 1e6 * took, unit: "µs", bar });
    Ok(())
}

/// Measures everything with calls of so many elements and prints the table. Says how many bars were missed; where there
/// are other elements than the bars are meant for, none counts.
///
/// # Errors
/// Those of the calls.
pub(crate) fn run(elements: i64) -> std::result::Result<usize, String> {
    let mut figures = Vec::new();
    bandwidths(elements, &mut figures).map_err(|error| error.to_string())?;
    launches(elements, &mut figures).map_err(|error| error.to_string())?;
    let is_judged = elements == ELEMENTS;
    for figure in &figures {
        let Figure { name, got, unit, bar } = figure;
        let asked = bar.map_or(String::new(), |(bar, below)| format!("{} {bar}", if below { "≤" } else { "≥" }));
        let word = match (bar, is_judged) {
            (None, _) | (_, false) => "",
            _ if figure.is_met() => "ok",
            _ => "MISS",
        };
        println!("figure {name:<32} {got:>9.2} {unit:<26} {asked:<7} {word}");
    }
    Ok(if is_judged { figures.iter().filter(|figure| !figure.is_met()).count() } else { 0 })
}
