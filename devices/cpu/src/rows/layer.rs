//! Normalisation of rows and its gradient. A row is read three times while it is in cache: for its mean, for its
//! variance around that mean, and to be written.

use super::fold::{ColumnSums, LANES, TILE, column_sums, sum};
use super::frame::{Real, Work, enter};
use super::output::{Output, each_run, each_unwritten_row, write_each, zeroed};
use crate::isa::{Isa, Level};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Rows of which each step is done before the next.
const TOGETHER: usize = 8;

/// The elements of rows of `n`.
#[inline(always)]
fn elements(rows: &Range<usize>, n: usize) -> Range<usize> {
    rows.start * n..rows.end * n
}

pub(super) fn forward<T: Real>(
    level: Level,
    [rows, n]: [usize; 2],
    eps: f64,
    [x, weight, bias]: [&[T]; 3],
    [y, mean, rstd]: [&mut Output; 3],
) {
    let outputs = [(y.parts(), n), (mean.parts(), 1), (rstd.parts(), 1)];
    each_unwritten_row(rows, n, outputs, |rows, [y, mean, rstd]| {
        let [mean, rstd] = [mean, rstd].map(zeroed);
        enter(level, Rows { x: &x[elements(&rows, n)], weight, bias, n, eps, y, mean, rstd });
    });
}

struct Rows<'a, T> {
    x: &'a [T],
    weight: &'a [T],
    bias: &'a [T],
    n: usize,
    eps: f64,
    y: &'a mut [MaybeUninit<T>],
    mean: &'a mut [T],
    rstd: &'a mut [T],
}

impl<T: Real> Work for Rows<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (n, count) = (self.n, self.n as f64);
        // One step of all rows after the other: the rows are in the first cache, and short ones do not wait for the sum
        // of the one before.
        for (r, to) in self.mean.iter_mut().enumerate() {
            let mean = if n == 0 { 0.0 } else { sum([&self.x[r * n..][..n]], |[x]| x) / count };
            // Of infinities PyTorch's mean is NaN.
            *to = T::of(if mean.is_infinite() { f64::NAN } else { mean });
        }
        for (r, (&mut mean, to)) in self.mean.iter_mut().zip(&mut *self.rstd).enumerate() {
            let variance = sum([&self.x[r * n..][..n]], |[x]| (x - mean) * (x - mean)) / count;
            *to = T::of(1.0 / (variance + self.eps).sqrt());
        }
        for (r, (&mut mean, &mut rstd)) in self.mean.iter_mut().zip(self.rstd).enumerate() {
            let x = &self.x[r * n..][..n];
            let y = &mut self.y[r * n..][..n];
            match (self.weight.is_empty(), self.bias.is_empty()) {
                (true, true) => write_each(y, x.iter().map(|&x| (x - mean) * rstd)),
                (false, true) => write_each(y, x.iter().zip(self.weight).map(|(&x, &w)| (x - mean) * rstd * w)),
                (true, false) => write_each(y, x.iter().zip(self.bias).map(|(&x, &b)| (x - mean) * rstd + b)),
                (false, false) => {
                    let elements = x.iter().zip(self.weight).zip(self.bias);
                    write_each(y, elements.map(|((&x, &w), &b)| (x - mean) * rstd * w + b))
                }
            };
        }
    }
}

pub(super) fn rms_forward<T: Real>(
    level: Level,
    [rows, n]: [usize; 2],
    eps: f64,
    [x, weight]: [&[T]; 2],
    [y, rstd]: [&mut Output; 2],
) {
    each_unwritten_row(rows, n, [(y.parts(), n), (rstd.parts(), 1)], |rows, [y, rstd]| {
        let rstd = zeroed(rstd);
        enter(level, RmsRows { x: &x[elements(&rows, n)], weight, n, eps, y, rstd });
    });
}

struct RmsRows<'a, T> {
    x: &'a [T],
    weight: &'a [T],
    n: usize,
    eps: f64,
    y: &'a mut [MaybeUninit<T>],
    rstd: &'a mut [T],
}

impl<T: Real> Work for RmsRows<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (n, count) = (self.n, self.n as f64);
        for (r, to) in self.rstd.iter_mut().enumerate() {
            let square = sum([&self.x[r * n..][..n]], |[x]| x * x) / count;
            *to = T::of(1.0 / (square + self.eps).sqrt());
        }
        for (r, &mut rstd) in self.rstd.iter_mut().enumerate() {
            let (x, y) = (&self.x[r * n..][..n], &mut self.y[r * n..][..n]);
            match self.weight.is_empty() {
                true => write_each(y, x.iter().map(|&x| x * rstd)),
                false => write_each(y, x.iter().zip(self.weight).map(|(&x, &w)| x * rstd * w)),
            };
        }
    }
}

pub(super) fn backward<T: Real>(
    level: Level,
    [rows, n]: [usize; 2],
    [wants_x, wants_weight, wants_bias]: [bool; 3],
    [grad, x, mean, rstd, weight]: [&[T]; 5],
    [to_x, to_weight, to_bias]: [&mut Output; 3],
) {
    if wants_x {
        each_unwritten_row(rows, n, [(to_x.parts(), n)], |rows, [slope]| {
            let range = elements(&rows, n);
            let (mean, rstd) = (&mean[rows.clone()], &rstd[rows]);
            enter(level, Slopes { grad: &grad[range.clone()], x: &x[range], mean, rstd, weight, n, slope });
        });
    }
    if wants_weight || wants_bias {
        each_run(n, TILE, [to_weight.parts(), to_bias.parts()], |columns, [to_weight, to_bias]| {
            enter(level, Parameters { grad, x, mean, rstd, n, columns, to_weight, to_bias });
        });
    }
}

struct Slopes<'a, T> {
    grad: &'a [T],
    x: &'a [T],
    mean: &'a [T],
    rstd: &'a [T],
    weight: &'a [T],
    n: usize,
    slope: &'a mut [MaybeUninit<T>],
}

impl<T: Real> Work for Slopes<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (n, count, w) = (self.n, self.n as f64, self.weight);
        let row = |r: usize| [self.grad, self.x].map(|x| &x[r * n..][..n]);
        // The sums of a few rows before the slopes of any: a row does not wait for the sums of the one before.
        for first in (0..self.mean.len()).step_by(TOGETHER) {
            let rows = first..self.mean.len().min(first + TOGETHER);
            let mut sums = [[T::zero(); 2]; TOGETHER];
            for (r, to) in rows.clone().zip(&mut sums) {
                let ([grad, x], mean, rstd) = (row(r), self.mean[r], self.rstd[r].wide());
                let (whole, along) = match w.is_empty() {
                    true => (sum([grad], |[g]| g), sum([grad, x], |[g, x]| g * (x - mean))),
                    false => (sum([grad, w], |[g, w]| g * w), sum([grad, x, w], |[g, x, w]| g * w * (x - mean))),
                };
                *to = [T::of(whole / count), T::of(along * rstd * rstd / count)];
            }
            for (r, &[whole, along]) in rows.zip(&sums) {
                let ([grad, x], mean, rstd) = (row(r), self.mean[r], self.rstd[r]);
                let (to, elements) = (&mut self.slope[r * n..][..n], grad.iter().zip(x));
                match w.is_empty() {
                    true => write_each(to, elements.map(|(&g, &x)| (g - whole - (x - mean) * along) * rstd)),
                    false => {
                        let elements = elements.zip(w);
                        write_each(to, elements.map(|((&g, &x), &w)| (g * w - whole - (x - mean) * along) * rstd))
                    }
                };
            }
        }
    }
}

/// The gradients of weights and biases: sums of columns.
struct Parameters<'a, T> {
    grad: &'a [T],
    x: &'a [T],
    mean: &'a [T],
    rstd: &'a [T],
    n: usize,
    columns: Range<usize>,
    to_weight: &'a mut [T],
    to_bias: &'a mut [T],
}

impl<T: Real> Work for Parameters<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (columns, matrices, rows) = (self.columns, [self.grad, self.x], self.mean.len());
        let (mean, rstd) = (&self.mean[..rows], &self.rstd[..rows]);
        let slopes = |r: usize, [g, x]: [T; 2]| [g * (x - mean[r]) * rstd[r], g];
        let mut first = columns.start;
        while first + LANES <= columns.end {
            let sums = column_sums(matrices, [rows, self.n, first], slopes);
            for (to, sums) in [&mut *self.to_weight, &mut *self.to_bias].into_iter().zip(sums) {
                write_sums(to, first - columns.start, &sums);
            }
            first += LANES;
        }
        if first == columns.end {
            return;
        }
        let mut rest = [ColumnSums::new(), ColumnSums::new()];
        for r in 0..rows {
            let [grad, x] = matrices.map(|m| &m[r * self.n..][first..columns.end]);
            for (i, sums) in rest.iter_mut().enumerate() {
                sums.add(grad, |g, j| slopes(r, [g, x[j]])[i]);
            }
        }
        for (to, sums) in [self.to_weight, self.to_bias].into_iter().zip(rest) {
            write_sums(to, first - columns.start, &sums.finish());
        }
    }
}

/// Writes sums of columns from one on, if that gradient is wanted.
#[inline(always)]
fn write_sums<T: Real>(to: &mut [T], first: usize, sums: &[f64]) {
    for (to, &sum) in to.iter_mut().skip(first).zip(sums) {
        *to = T::of(sum);
    }
}
