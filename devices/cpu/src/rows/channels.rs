//! Normalisation of channels: batch_norm, group_norm, weight_norm, and their gradients. All of them are sums of
//! channels, a little arithmetic on those in float64, and a pass that writes each element by the numbers of its
//! channel.
//!
//! ```text
//!   [n, c, s], s long:   a channel is n runs of s elements                  planes
//!   [n, c, s], s short:  n rows of c · s columns, s of them a channel       columns
//! ```

use super::fold::{ColumnSums, TILE, sum};
use super::frame::{Real, Work, enter};
use super::output::{Output, Parts, each_row, each_run, each_unwritten_row, write_each};
use crate::isa::{Isa, Level};
use monomorph_core::{DType, Result, bf16, list};
use monomorph_ops::rows::Channels;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Runs shorter than two vectors are columns.
const SHORT: usize = 16;

fn is_columns(channels: Channels) -> bool {
    channels.s < SHORT
}

fn filled<T: Copy>(n: usize, value: T) -> Result<Vec<T>> {
    let mut list = list::with_capacity(n)?;
    list.resize(n, value);
    Ok(list)
}

/// Lists of numbers of channels as loops read them: one a channel, or one a column.
fn spread<T: Real, const K: usize>(channels: Channels, of: impl Fn(usize) -> [f64; K]) -> Result<[Vec<T>; K]> {
    let each = if is_columns(channels) { channels.s } else { 1 };
    let mut lists = [const { Vec::new() }; K];
    for list in &mut lists {
        *list = list::with_capacity(channels.c.saturating_mul(each))?;
    }
    for c in 0..channels.c {
        for (list, number) in lists.iter_mut().zip(of(c)) {
            list.extend(std::iter::repeat_n(T::of(number), each));
        }
    }
    Ok(lists)
}

/// What is summed over a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Term {
    /// The first input.
    Value,
    /// The square of its distance from the channel's number.
    Square,
    /// Its distance from the channel's number, times the second input.
    Product,
}

impl Term {
    /// `f(x, other, number)` is picked outside of loops.
    #[inline(always)]
    fn of<T: Real>(self, x: T, other: T, number: T) -> T {
        match self {
            Term::Value => x,
            Term::Square => (x - number) * (x - number),
            Term::Product => (x - number) * other,
        }
    }
}

/// The sum of each channel; `numbers` are [`spread`].
fn sums<T: Real>(level: Level, channels: Channels, term: Term, inputs: [&[T]; 2], numbers: &[T]) -> Result<Vec<f64>> {
    let Channels { n, c, s } = channels;
    if is_columns(channels) {
        let mut columns = filled(c.saturating_mul(s), 0.0_f64)?;
        each_run(c * s, TILE, [Parts::of(&mut columns)], |columns, [out]| {
            enter(level, SumColumns { inputs, numbers, term, rows: n, width: c * s, columns, out });
        });
        return Ok(columns
            .chunks(s.max(1))
            .map(|channel| channel.iter().sum())
            .chain(empty(channels))
            .take(c)
            .collect());
    }
    let mut totals = filled(c, 0.0_f64)?;
    each_row(c, n * s, [(Parts::of(&mut totals), 1)], |channels, [out]| {
        enter(level, SumPlanes { inputs, numbers, term, n, c, s, channels, out });
    });
    Ok(totals)
}

/// The sums of channels without elements.
fn empty(channels: Channels) -> impl Iterator<Item = f64> {
    std::iter::repeat_n(0.0, if channels.s == 0 { channels.c } else { 0 })
}

struct SumPlanes<'a, T> {
    inputs: [&'a [T]; 2],
    numbers: &'a [T],
    term: Term,
    n: usize,
    c: usize,
    s: usize,
    channels: Range<usize>,
    out: &'a mut [f64],
}

impl<T: Real> Work for SumPlanes<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let [x, other] = self.inputs;
        for (out, channel) in self.out.iter_mut().zip(self.channels) {
            let number = self.numbers.get(channel).copied().unwrap_or_default();
            for n in 0..self.n {
                let at = (n * self.c + channel) * self.s;
                let x = &x[at..at + self.s];
                *out += match self.term {
                    Term::Value => sum([x], |[x]| x),
                    Term::Square => sum([x], |[x]| (x - number) * (x - number)),
                    Term::Product => sum([x, &other[at..at + self.s]], |[x, g]| (x - number) * g),
                };
            }
        }
    }
}

struct SumColumns<'a, T> {
    inputs: [&'a [T]; 2],
    numbers: &'a [T],
    term: Term,
    rows: usize,
    width: usize,
    columns: Range<usize>,
    out: &'a mut [f64],
}

impl<T: Real> Work for SumColumns<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let [x, other] = self.inputs;
        let numbers = self.numbers.get(self.columns.clone()).unwrap_or_default();
        let mut sums = ColumnSums::new();
        for r in 0..self.rows {
            let row = r * self.width + self.columns.start..r * self.width + self.columns.end;
            let x = &x[row.clone()];
            match self.term {
                Term::Value => sums.add(x, |x, _| x),
                Term::Square => sums.add(x, |x, j| Term::Square.of(x, x, numbers[j])),
                Term::Product => {
                    let other = &other[row];
                    sums.add(x, |x, j| Term::Product.of(x, other[j], numbers[j]));
                }
            }
        }
        self.out.iter_mut().zip(sums.finish()).for_each(|(out, sum)| *out = sum);
    }
}

/// Writes every element by the numbers of its channel, each list [`spread`].
#[derive(Clone, Copy)]
enum Map<'a, T> {
    /// `(x - mean) · scale + shift`.
    Affine { x: &'a [T], mean: &'a [T], scale: &'a [T], shift: &'a [T] },
    /// `grad · scale - whole - (x - mean) · along`.
    Slope { grad: &'a [T], x: &'a [T], mean: &'a [T], scale: &'a [T], whole: &'a [T], along: &'a [T] },
}

fn write<T: Real>(level: Level, channels: Channels, map: Map<'_, T>, out: &mut Output) {
    let Channels { n, c, s } = channels;
    let (rows, width, runs) = if is_columns(channels) { (n, c * s, 1) } else { (n * c, s, c) };
    each_unwritten_row(rows, width, [(out.parts(), width)], |rows, [out]| {
        enter(level, Write { map, is_columns: is_columns(channels), width, runs, first: rows.start, out });
    });
}

struct Write<'a, T> {
    map: Map<'a, T>,
    is_columns: bool,
    width: usize,
    /// Rows after which the numbers begin anew.
    runs: usize,
    first: usize,
    out: &'a mut [MaybeUninit<T>],
}

impl<T: Real> Work for Write<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        for (k, out) in self.out.chunks_exact_mut(self.width.max(1)).enumerate() {
            let row = self.first + k;
            let elements = row * self.width..(row + 1) * self.width;
            let channel = row % self.runs.max(1);
            match (self.map, self.is_columns) {
                (Map::Affine { x, mean, scale, shift }, true) => {
                    let numbers = mean.iter().zip(scale).zip(shift);
                    let elements = x[elements].iter().zip(numbers);
                    write_each(out, elements.map(|(&x, ((&mean, &scale), &shift))| (x - mean) * scale + shift));
                }
                (Map::Affine { x, mean, scale, shift }, false) => {
                    let (mean, scale, shift) = (mean[channel], scale[channel], shift[channel]);
                    write_each(out, x[elements].iter().map(|&x| (x - mean) * scale + shift));
                }
                (Map::Slope { grad, x, mean, scale, whole, along }, true) => {
                    let inputs = grad[elements.clone()].iter().zip(&x[elements]);
                    let inputs = inputs.zip(mean.iter().zip(scale).zip(whole).zip(along));
                    write_each(
                        out,
                        inputs.map(|((&g, &x), (((&m, &scale), &whole), &along))| g * scale - whole - (x - m) * along),
                    );
                }
                (Map::Slope { grad, x, mean, scale, whole, along }, false) => {
                    let inputs = grad[elements.clone()].iter().zip(&x[elements]);
                    let (m, scale) = (mean[channel], scale[channel]);
                    let (whole, along) = (whole[channel], along[channel]);
                    write_each(out, inputs.map(|(&g, &x)| g * scale - whole - (x - m) * along));
                }
            }
        }
    }
}

/// Writes a list of numbers.
fn put<T: Real>(numbers: impl Fn(usize) -> f64 + Sync, n: usize, out: &mut Output) {
    each_run(n, TILE, [out.parts::<T>()], |range, [out]| {
        range.zip(out).for_each(|(i, out)| *out = T::of(numbers(i)));
    });
}

/// A number of a list that may be absent.
fn or<T: Real>(list: &[T], i: usize, absent: f64) -> f64 {
    list.get(i).map_or(absent, |x| x.wide())
}

/// Writes `(x - mean) · scale + shift`, where `numbers` gives these three of a channel. PyTorch subtracts
/// `mean · scale` from the shift, which differs where the scale is infinite: infinities that cancel are NaN.
fn write_affine<T: Real>(
    level: Level,
    channels: Channels,
    x: &[T],
    numbers: impl Fn(usize) -> [f64; 3],
    out: &mut Output,
) -> Result<()> {
    let numbers = |c: usize| match numbers(c) {
        [mean, scale, shift] if !scale.is_finite() => [0.0, scale, shift - mean * scale],
        finite => finite,
    };
    let [mean, scale, shift] = spread(channels, numbers)?;
    write(level, channels, Map::Affine { x, mean: &mean, scale: &scale, shift: &shift }, out);
    Ok(())
}

/// Mean and mean square distance from it, of each channel.
fn moments<T: Real>(level: Level, channels: Channels, x: &[T]) -> Result<[Vec<f64>; 2]> {
    let count = (channels.n * channels.s) as f64;
    let mut mean = sums(level, channels, Term::Value, [x, x], &[])?;
    mean.iter_mut().for_each(|sum| *sum /= count);
    let [around] = spread::<T, 1>(channels, |c| [mean[c]])?;
    let mut variance = sums(level, channels, Term::Square, [x, x], &around)?;
    variance.iter_mut().for_each(|sum| *sum /= count);
    Ok([mean, variance])
}

/// The reciprocals of the roots of variances, to which `eps` is added.
fn roots(variance: &[f64], eps: f64) -> Vec<f64> {
    variance.iter().map(|variance| 1.0 / (variance + eps).sqrt()).collect()
}

pub(super) fn batch_forward<T: Real>(
    level: Level,
    channels: Channels,
    (training, momentum, eps, statistics): (bool, f64, f64, DType),
    [x, weight, bias, running_mean, running_var]: [&[T]; 5],
    outputs: &mut [Output],
) -> Result<()> {
    let [out, to_mean, to_rstd, to_running_mean, to_running_var] = outputs else { return Ok(()) };
    let count = (channels.n * channels.s) as f64;
    let wide = |list: &[T]| list.iter().map(|x| x.wide()).collect::<Vec<f64>>();
    let [mean, variance] = match training {
        true => moments(level, channels, x)?,
        false => [wide(running_mean), wide(running_var)],
    };
    let rstd = roots(&variance, eps);
    let (c, running) = (channels.c, running_mean.len());
    if training {
        put::<T>(|c| mean[c], c, to_mean);
        put::<T>(|c| rstd[c], c, to_rstd);
        let moved = |old: &[T], new: f64, c: usize| momentum * new + (1.0 - momentum) * old[c].wide();
        let rounded = |x: f64| match statistics {
            DType::BF16 => bf16::from_f64(x).to_f64(),
            _ => x,
        };
        put::<T>(|c| moved(running_mean, rounded(mean[c]), c), running, to_running_mean);
        let unbiased = |c: usize| rounded(variance[c] * count) / (count - 1.0);
        put::<T>(|c| moved(running_var, unbiased(c), c), running, to_running_var);
    } else {
        put::<T>(|c| mean[c], running, to_running_mean);
        put::<T>(|c| variance[c], running, to_running_var);
    }
    let numbers = |c: usize| [mean[c], rstd[c] * or(weight, c, 1.0), or(bias, c, 0.0)];
    write_affine(level, channels, x, numbers, out)
}

pub(super) fn batch_backward<T: Real>(
    level: Level,
    channels: Channels,
    (training, eps, wanted): (bool, f64, [bool; 3]),
    [grad, x, weight, running_mean, running_var, save_mean, save_rstd]: [&[T]; 7],
    [to_x, to_weight, to_bias]: [&mut Output; 3],
) -> Result<()> {
    let count = (channels.n * channels.s) as f64;
    let mean = if training { save_mean } else { running_mean };
    let rstd = |c: usize| match training {
        true => save_rstd[c].wide(),
        false => 1.0 / (running_var[c].wide() + eps).sqrt(),
    };
    let [means] = spread::<T, 1>(channels, |c| [mean[c].wide()])?;
    let whole = sums(level, channels, Term::Value, [grad, grad], &[])?;
    let along = sums(level, channels, Term::Product, [x, grad], &means)?;
    if wanted[0] {
        let factor = |c: usize| rstd(c) * or(weight, c, 1.0);
        if training {
            let [scale, whole, along] = spread(channels, |c| {
                let (factor, rstd) = (factor(c), rstd(c));
                [factor, factor * whole[c] / count, factor * along[c] * rstd * rstd / count]
            })?;
            let map = Map::Slope { grad, x, mean: &means, scale: &scale, whole: &whole, along: &along };
            write(level, channels, map, to_x);
        } else {
            let [scale, zeros] = spread(channels, |c| [factor(c), 0.0])?;
            write(level, channels, Map::Affine { x: grad, mean: &zeros, scale: &scale, shift: &zeros }, to_x);
        }
    }
    put::<T>(|c| along[c] * rstd(c), if wanted[1] { channels.c } else { 0 }, to_weight);
    put::<T>(|c| whole[c], if wanted[2] { channels.c } else { 0 }, to_bias);
    Ok(())
}

/// Groups, and channels of all of the batch, as channels of a batch of one.
fn of_one(channels: Channels, groups: usize) -> [Channels; 2] {
    let Channels { n, c, s } = channels;
    [Channels { n: 1, c: n * groups, s: c.checked_div(groups).unwrap_or(0) * s }, Channels { n: 1, c: n * c, s }]
}

pub(super) fn group_forward<T: Real>(
    level: Level,
    (channels, groups): (Channels, usize),
    eps: f64,
    [x, weight, bias]: [&[T]; 3],
    [y, to_mean, to_rstd]: [&mut Output; 3],
) -> Result<()> {
    let [by_group, by_channel] = of_one(channels, groups);
    let [mut mean, variance] = moments(level, by_group, x)?;
    // Of infinities PyTorch's mean is NaN.
    mean.iter_mut().filter(|mean| mean.is_infinite()).for_each(|mean| *mean = f64::NAN);
    let rstd = roots(&variance, eps);
    put::<T>(|g| mean[g], by_group.c, to_mean);
    put::<T>(|g| rstd[g], by_group.c, to_rstd);
    let each = (channels.c / groups.max(1)).max(1);
    let of_channel = |list: &[T], k: usize, absent: f64| or(list, k % channels.c, absent);
    let numbers = |k: usize| {
        let (mean, rstd) = (mean[k / each], rstd[k / each]);
        [mean, rstd * of_channel(weight, k, 1.0), of_channel(bias, k, 0.0)]
    };
    write_affine(level, by_channel, x, numbers, y)
}

pub(super) fn group_backward<T: Real>(
    level: Level,
    (channels, groups): (Channels, usize),
    wanted: [bool; 3],
    [grad, x, mean, rstd, weight]: [&[T]; 5],
    [to_x, to_weight, to_bias]: [&mut Output; 3],
) -> Result<()> {
    let [by_group, by_channel] = of_one(channels, groups);
    let each = (channels.c / groups.max(1)).max(1);
    let [means] = spread::<T, 1>(by_channel, |k| [mean[k / each].wide()])?;
    let whole = sums(level, by_channel, Term::Value, [grad, grad], &[])?;
    let along = sums(level, by_channel, Term::Product, [x, grad], &means)?;
    let weight_of = |k: usize| or(weight, k % channels.c, 1.0);
    if wanted[0] {
        let count = by_group.s as f64;
        let of_group = |sums: &[f64]| -> Vec<f64> {
            let total = |g: usize| (g * each..(g + 1) * each).map(|k| sums[k] * weight_of(k)).sum::<f64>() / count;
            (0..by_group.c).map(total).collect()
        };
        let (wholes, alongs) = (of_group(&whole), of_group(&along));
        let rstd = |k: usize| rstd[k / each].wide();
        let [scale, whole, along] = spread(by_channel, |k| {
            [rstd(k) * weight_of(k), rstd(k) * wholes[k / each], rstd(k).powi(3) * alongs[k / each]]
        })?;
        let map = Map::Slope { grad, x, mean: &means, scale: &scale, whole: &whole, along: &along };
        write(level, by_channel, map, to_x);
    }
    let over_batch = |c: usize, of: &dyn Fn(usize) -> f64| (0..channels.n).map(|n| of(n * channels.c + c)).sum::<f64>();
    let count = |i: usize| if wanted[i] { channels.c } else { 0 };
    put::<T>(|c| over_batch(c, &|k| along[k] * rstd[k / each].wide()), count(1), to_weight);
    put::<T>(|c| over_batch(c, &|k| whole[k]), count(2), to_bias);
    Ok(())
}

pub(super) fn weight_norm<T: Real>(
    level: Level,
    channels: Channels,
    [v, g]: [&[T]; 2],
    [to_w, to_norms]: [&mut Output; 2],
) -> Result<()> {
    let [zeros] = spread::<T, 1>(channels, |_| [0.0])?;
    let squares = sums(level, channels, Term::Square, [v, v], &zeros)?;
    put::<T>(|c| squares[c].sqrt(), channels.c, to_norms);
    let [scale] = spread(channels, |c| [or(g, c, 1.0) / squares[c].sqrt()])?;
    write(level, channels, Map::Affine { x: v, mean: &zeros, scale: &scale, shift: &zeros }, to_w);
    Ok(())
}
