//! What each distribution makes of random bits: a few lines each, with the roundings of PyTorch's kernels, where a
//! product that is added is added exactly in those that it compiles for AVX2.

use super::convert::{rounded, truncated_long};
use super::gamma::gamma;
use crate::isa::Portable;
use crate::scalar::Lane;
use monomorph_core::{DType, Mt19937, Result, list};
use monomorph_ops::algebra::Gamma;
use monomorph_ops::random::Distribution;
use std::f64::consts::{PI, TAU};

/// What fills a block: draws as the bits of float64, or of int64 where they are whole, by the parameters of each.
pub(super) struct Sampler {
    pub(super) is_whole: bool,
    pub(super) fill: Box<Fill>,
}

type Fill = dyn FnMut(&mut Mt19937, [&[f64]; 2], &mut [u64]);

fn floats(mut draw: impl FnMut(&mut Mt19937) -> f64 + 'static) -> Sampler {
    let fill = move |stream: &mut Mt19937, _: [&[f64]; 2], to: &mut [u64]| {
        to.iter_mut().for_each(|to| *to = draw(stream).to_bits());
    };
    Sampler { is_whole: false, fill: Box::new(fill) }
}

fn wholes(mut draw: impl FnMut(&mut Mt19937) -> i64 + 'static) -> Sampler {
    let fill = move |stream: &mut Mt19937, _: [&[f64]; 2], to: &mut [u64]| {
        to.iter_mut().for_each(|to| *to = draw(stream) as u64);
    };
    Sampler { is_whole: true, fill: Box::new(fill) }
}

fn floats_by(mut draw: impl FnMut(&mut Mt19937, [f64; 2]) -> f64 + 'static) -> Sampler {
    let fill = move |stream: &mut Mt19937, by: [&[f64]; 2], to: &mut [u64]| {
        for (i, to) in to.iter_mut().enumerate() {
            *to = draw(stream, by.map(|by| by.get(i).copied().unwrap_or(0.0))).to_bits();
        }
    };
    Sampler { is_whole: false, fill: Box::new(fill) }
}

/// The sampler of a distribution on a dtype. `parameters` is the dtype of the first tensor of parameters; `weights`
/// are the rows of weights, of `columns` each.
pub(super) fn sampler(
    distribution: Distribution,
    dtype: DType,
    parameters: Option<DType>,
    (weights, columns): (Vec<f64>, usize),
    numel: usize,
) -> Result<Sampler> {
    let truth = |is_one: bool| if is_one { 1.0 } else { 0.0 };
    Ok(match distribution {
        Distribution::Uniform { from, to } => uniform(dtype, from, to),
        Distribution::Normal { mean, std } => floats(move |stream| normal(stream, mean, std)),
        Distribution::LogNormal { mean, std } => floats(move |stream| normal(stream, mean, std).exp()),
        Distribution::Cauchy { median, sigma } => {
            floats(move |stream| sigma.mul_add((PI * (stream.unit_f64() - 0.5)).tan(), median))
        }
        Distribution::Exponential { rate } => floats(move |stream| -1.0 / rate * (-stream.unit_f64()).ln_1p()),
        Distribution::Geometric { p } => floats(move |stream| (stream.unit_f64().ln() / (-p).ln_1p()).ceil()),
        Distribution::Bernoulli { p } => floats(move |stream| truth(stream.unit_f64() < p)),
        Distribution::BernoulliOf if parameters == Some(DType::F64) => {
            floats_by(move |stream, [p, _]| truth(stream.unit_f64() < p))
        }
        Distribution::BernoulliOf => floats_by(move |stream, [p, _]| truth(stream.unit_f32() < p as f32)),
        // So many values are even enough among those of 32 bits.
        Distribution::Range { range, base } if range < 1 << 28 => {
            let range = range.max(1) as u32;
            wholes(move |stream| i64::from(stream.bits32() % range).wrapping_add(base))
        }
        Distribution::Range { range, base } => {
            wholes(move |stream| ((stream.bits64() % range.max(1)) as i64).wrapping_add(base))
        }
        Distribution::EveryInt64 => wholes(|stream| stream.bits64() as i64),
        Distribution::Whole => whole(dtype),
        Distribution::Permutation => permutation(numel)?,
        Distribution::PoissonOf => {
            Sampler { is_whole: true, ..floats_by(|stream, [rate, _]| bits(poisson(stream, rate))) }
        }
        Distribution::GammaOf => floats_by(move |stream, [shape, _]| gamma(stream, shape, dtype)),
        Distribution::BinomialOf => floats_by(move |stream, [count, p]| binomial(stream, count, p, dtype)),
        Distribution::SlopeOf { lower, upper } => {
            let (lower, upper) = (rounded(lower, dtype), rounded(upper, dtype));
            floats_by(move |stream, [x, _]| if x <= 0.0 { stream.unit_f64() * (upper - lower) + lower } else { 1.0 })
        }
        Distribution::Index { samples } => index(samples, weights, columns, parameters)?,
        _ => floats(|_| 0.0),
    })
}

/// The bits of a whole number as those of a float.
fn bits(x: i64) -> f64 {
    f64::from_bits(x as u64)
}

fn uniform(dtype: DType, from: f64, to: f64) -> Sampler {
    if dtype == DType::F64 {
        return floats(move |stream| {
            let x = stream.unit_f64().mul_add(to - from, from);
            if x == to { from } else { x }
        });
    }
    let (low, high) = (from as f32, to as f32);
    let (first, end) = (rounded(from, dtype), rounded(to, dtype));
    floats(move |stream| {
        let x = stream.unit_f32().mul_add(high - low, low);
        // Rounding may give the upper bound, which does not belong to the interval.
        let x = rounded(f64::from(x), dtype);
        if x == end { first } else { x }
    })
}

/// A normal number by the transform of Box and Muller, whose second result serves the next call.
pub(super) fn normal(stream: &mut Mt19937, mean: f64, std: f64) -> f64 {
    let drawn = stream.next_normal.take().unwrap_or_else(|| {
        let (turn, u) = (stream.unit_f64(), stream.unit_f64());
        let (radius, angle) = ((-2.0 * (-u).ln_1p()).sqrt(), TAU * turn);
        stream.next_normal = Some(radius * angle.sin());
        radius * angle.cos()
    });
    drawn.mul_add(std, mean)
}

/// Whole numbers up to the largest of an integer dtype, or to the one up to which a floating dtype has all.
fn whole(dtype: DType) -> Sampler {
    match dtype {
        DType::I64 => wholes(|stream| (stream.bits64() & i64::MAX as u64) as i64),
        DType::F64 => wholes(|stream| (stream.bits64() % ((1 << 53) + 1)) as i64),
        _ => {
            let count: u32 = match dtype {
                DType::Bool => 2,
                DType::U8 => 1 << 8,
                DType::I8 => 1 << 7,
                DType::I16 => 1 << 15,
                DType::F16 => (1 << 11) + 1,
                DType::BF16 => (1 << 8) + 1,
                DType::F32 => (1 << 24) + 1,
                _ => 1 << 31,
            };
            wholes(move |stream| i64::from(stream.bits32() % count))
        }
    }
}

/// All numbers below `count`, shuffled.
fn permutation(count: usize) -> Result<Sampler> {
    let mut order: Vec<i64> = list::with_capacity(count)?;
    let mut at = 0;
    let fill = move |stream: &mut Mt19937, _: [&[f64]; 2], to: &mut [u64]| {
        if order.is_empty() {
            order.extend(0..count as i64);
            shuffle(stream, &mut order);
        }
        for (to, &number) in to.iter_mut().zip(order.get(at..).unwrap_or_default()) {
            *to = number as u64;
        }
        at += to.len();
    };
    Ok(Sampler { is_whole: true, fill: Box::new(fill) })
}

/// Each number changes places with one of those that are not yet chosen; from where 32 bits would be uneven on with
/// one of those before it.
fn shuffle(stream: &mut Mt19937, order: &mut [i64]) {
    let count = order.len();
    if count < u32::MAX as usize / 20 {
        for i in 0..count.saturating_sub(1) {
            order.swap(i, i + stream.bits32() as usize % (count - i));
        }
        return;
    }
    for i in 0..count {
        order.swap(i, (stream.bits64() % (i as u64 + 1)) as usize);
    }
}

/// A number of events: by products of numbers below 1 for small rates, else by transformed rejection (Hörmann, 1993).
fn poisson(stream: &mut Mt19937, rate: f64) -> i64 {
    if rate == 0.0 {
        return 0;
    }
    if rate < 10.0 {
        let (least, mut product, mut events) = ((-rate).exp(), 1.0, 0);
        loop {
            product *= stream.unit_f64();
            if product <= least {
                return events;
            }
            events += 1;
        }
    }
    let (root, log) = (rate.sqrt(), rate.ln());
    let b = 0.931 + 2.53 * root;
    let a = -0.059 + 0.02483 * b;
    let inverse = 1.1239 + 1.1328 / (b - 3.4);
    let most = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let (u, v) = (stream.unit_f64() - 0.5, stream.unit_f64());
        let us = 0.5 - u.abs();
        let events = truncated_long(((2.0 * a / us + b) * u + rate + 0.43).floor());
        if us >= 0.07 && v <= most {
            return events;
        }
        if events < 0 || us < 0.013 && v > us {
            continue;
        }
        let k = events as f64;
        let lgamma = Lane::<f64, Portable>::new(k + 1.0).lgamma().get();
        if v.ln() + inverse.ln() - (a / (us * us) + b).ln() <= -rate + k * log - lgamma {
            return events;
        }
    }
}

/// A number of successes, of `count` and `p` in a dtype, whose roundings intermediate numbers have.
fn binomial(stream: &mut Mt19937, count: f64, p: f64, dtype: DType) -> f64 {
    let q = rounded(1.0 - p, dtype);
    let some = |stream: &mut Mt19937, p: f64| match rounded(count * p, dtype) >= 10.0 {
        true => rejected(stream, count, p, dtype),
        false => inverted(stream, count, p, dtype),
    };
    if count <= 0.0 || p <= 0.0 {
        0.0
    } else if count.is_nan() {
        f64::NAN
    } else if p >= 1.0 {
        count
    } else if p <= 0.5 {
        some(stream, p)
    } else if p > 0.5 {
        rounded(count - some(stream, q), dtype)
    } else {
        f64::NAN
    }
}

/// By the distances of successes, which are geometric.
fn inverted(stream: &mut Mt19937, count: f64, p: f64, dtype: DType) -> f64 {
    let log = if dtype == DType::F64 { (-p).ln_1p() } else { f64::from((-(p as f32)).ln_1p()) };
    let (mut trials, mut successes) = (0.0, 0.0);
    loop {
        trials += (stream.unit_f64().ln() / log).ceil();
        // A quotient that is no number is of a probability that is none.
        if trials > count || trials.is_nan() {
            return successes;
        }
        successes += 1.0;
    }
}

/// By transformed rejection with squeeze: BTRS (Hörmann, 1993).
fn rejected(stream: &mut Mt19937, count: f64, p: f64, dtype: DType) -> f64 {
    let r = |x: f64| rounded(x, dtype);
    let rest = r(1.0 - p);
    let deviation = r(r(r(count * p) * rest).sqrt());
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let c = r(count * p) + 0.5;
    let most = 0.92 - 4.2 / b;
    let odds = r(p / rest);
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = r(r(r(count + 1.0) * p).floor());
    loop {
        let (u, v) = (stream.unit_f64() - 0.5, stream.unit_f64());
        let us = 0.5 - u.abs();
        let k = r(((2.0 * a / us + b) * u + c).floor());
        if k < 0.0 || k > count {
            continue;
        }
        if us >= 0.07 && v <= most {
            return k;
        }
        let v = (v * alpha / (a / (us * us) + b)).ln();
        let above = (mode + 0.5) * ((mode + 1.0) / (odds * (count - mode + 1.0))).ln()
            + r(count + 1.0) * ((count - mode + 1.0) / r(r(count - k) + 1.0)).ln()
            + (k + 0.5) * (odds * r(r(count - k) + 1.0) / r(k + 1.0)).ln()
            + stirling(mode)
            + stirling(count - mode)
            - stirling(k)
            - stirling(r(count - k));
        if v <= above {
            return k;
        }
    }
}

/// What Stirling's formula lacks of the logarithm of a factorial.
fn stirling(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ];
    if k < FIRST.len() as f64 {
        return FIRST.get(k.max(0.0) as usize).copied().unwrap_or(0.0);
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}

/// Indices by weights: where a number falls among the sums of those up to each.
fn index(samples: usize, weights: Vec<f64>, columns: usize, dtype: Option<DType>) -> Result<Sampler> {
    // Narrower dtypes are summed in float32.
    let dtype = if dtype == Some(DType::F64) { DType::F64 } else { DType::F32 };
    let mut sums: Vec<f64> = list::with_capacity(columns)?;
    let mut drawn = 0_usize;
    Ok(wholes(move |stream| {
        let (row, place) = (drawn / samples.max(1), drawn % samples.max(1));
        drawn += 1;
        if place == 0 {
            sums.clear();
            let mut sum = 0.0;
            for &weight in weights.get(row * columns..).unwrap_or_default().iter().take(columns) {
                sum = rounded(sum + weight, dtype);
                sums.push(sum);
            }
            sums.iter_mut().for_each(|part| *part = rounded(*part / sum, dtype));
            if let Some(last) = sums.last_mut() {
                *last = 1.0;
            }
        }
        let u = stream.unit_f64();
        sums.partition_point(|&part| part < u) as i64
    }))
}
