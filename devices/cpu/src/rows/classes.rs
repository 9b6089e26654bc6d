//! Losses of classes on the CPU: a row, or a place of a plane, has one target. Sums are of float64.

use super::frame::Real;
use super::output::{Output, each_row, each_run};
use crate::half_bits::{bf16_to_f32, f16_to_f32};
use crate::scratch::scratch;
use monomorph_core::{DType, ErrorKind, Result};
use monomorph_ops::rows::{Channels, Reduction};
use std::ops::Range;

/// Elements that a thread does at a time.
const RUN: usize = 4096;

/// An error unless every target is a class, or the one that is ignored.
pub(super) fn check_targets(targets: &[i64], classes: usize, ignore: Option<i64>) -> Result<()> {
    let is_class = |&target: &i64| (0..classes as i64).contains(&target) || Some(target) == ignore;
    match targets.iter().find(|target| !is_class(target)) {
        None => Ok(()),
        Some(&got) => {
            let (arg, size) = ("target", classes as i64);
            Err(ErrorKind::IndexOutOfRange { arg, got, dim: None, size, low: 0 }.into())
        }
    }
}

/// An error unless every target is a class or -1, which ends a list.
pub(super) fn check_labels(targets: &[i64], classes: usize) -> Result<()> {
    check_targets(targets, classes, Some(-1))
}

/// An error unless the marks of what is a target are from 0 to 1.
pub(super) fn check_marks<T: Real>(marks: &[T]) -> Result<()> {
    if marks.iter().all(|mark| *mark >= T::zero() && *mark <= T::one()) {
        return Ok(());
    }
    Err(ErrorKind::ArgumentRule { rule: "argument is_target must be from 0 to 1" }.into())
}

/// The weight of a class.
fn weight_of<T: Real>(weight: &[T], class: i64) -> f64 {
    weight.get(class as usize).map_or(1.0, |w| w.wide())
}

/// Writes one number.
fn put<T: Real>(number: f64, out: &mut Output) {
    each_run(1, 1, [out.parts::<T>()], |_, [out]| out.iter_mut().for_each(|out| *out = T::of(number)));
}

/// Numbers of which only a few are looked at, so that halves are widened one by one.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a, T> {
    /// In the dtype that is computed in.
    Plain(&'a [T]),
    /// Numbers of this dtype as they lie in memory.
    Halves(DType, &'a [u16]),
}

impl<T: Real> Numbers<'_, T> {
    fn at(&self, i: usize) -> f64 {
        match *self {
            Numbers::Plain(x) => x[i].wide(),
            Numbers::Halves(DType::F16, x) => f16_to_f32(x[i]).into(),
            Numbers::Halves(_, x) => bf16_to_f32(x[i]).into(),
        }
    }
}

pub(super) fn nll<T: Real>(
    Channels { c, s, .. }: Channels,
    reduction: Reduction,
    ignore: i64,
    (x, targets, weight): (Numbers<'_, T>, &[i64], &[T]),
    [out, total]: [&mut Output; 2],
) {
    // Of the places of planes from one on, one after the other.
    let losses = |range: Range<usize>| {
        let (mut row, mut at) = (range.start / s.max(1) * c * s, range.start % s.max(1));
        targets[range].iter().map(move |&target| {
            let place = row + at;
            at += 1;
            if at == s {
                (row, at) = (row + c * s, 0);
            }
            if target == ignore {
                return (0.0, 0.0);
            }
            let weight = weight_of(weight, target);
            (-weight * x.at(place + target as usize * s), weight)
        })
    };
    if reduction == Reduction::None {
        put::<T>(0.0, total);
        return each_run(targets.len(), RUN, [out.parts::<T>()], |range, [out]| {
            losses(range).zip(out).for_each(|((loss, _), out)| *out = T::of(loss));
        });
    }
    let (sum, weights) = losses(0..targets.len()).fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    put::<T>(weights, total);
    put::<T>(if reduction == Reduction::Mean { sum / weights } else { sum }, out);
}

pub(super) fn nll_backward<T: Real>(
    channels: Channels,
    reduction: Reduction,
    ignore: i64,
    (grad, targets, weight, total): (&[T], &[i64], &[T], &[T]),
    out: &mut Output,
) {
    let Channels { n, c, s } = channels;
    let total = total.first().map_or(1.0, |total| total.wide());
    each_row(n, c * s, [(out.parts::<T>(), c * s)], |rows, [out]| {
        for (row, out) in rows.zip(out.chunks_exact_mut((c * s).max(1))) {
            for (i, &target) in targets[row * s..][..s].iter().enumerate().filter(|(_, target)| **target != ignore) {
                let weight = weight_of(weight, target);
                let slope = match reduction {
                    Reduction::None => grad[row * s + i].wide() * weight,
                    Reduction::Mean => grad[0].wide() * weight / total,
                    Reduction::Sum => grad[0].wide() * weight,
                };
                out[target as usize * s + i] = T::of(-slope);
            }
        }
    });
}

/// How far classes are above the target's margin: elements, their target, the loss of a difference and its slope.
#[derive(Clone, Copy)]
pub(super) struct Margin {
    pub(super) is_square: bool,
    pub(super) margin: f64,
    pub(super) reduction: Reduction,
}

impl Margin {
    /// What is above the margin, by class.
    fn above<'a, T: Real>(&'a self, x: &'a [T], target: i64) -> impl Iterator<Item = (usize, f64)> + 'a {
        let own = x[target as usize].wide();
        let above = move |(d, x): (usize, &T)| (d, self.margin - own + x.wide());
        x.iter().enumerate().filter(move |(d, _)| *d != target as usize).map(above).filter(|(_, z)| *z > 0.0)
    }
}

/// Writes losses of rows, or their mean or sum.
fn reduce<T: Real>(rows: usize, reduction: Reduction, out: &mut Output, loss: impl Fn(usize) -> f64 + Sync) {
    match reduction {
        Reduction::None => each_run(rows, RUN, [out.parts::<T>()], |range, [out]| {
            range.zip(out).for_each(|(r, out)| *out = T::of(loss(r)));
        }),
        Reduction::Sum => put::<T>((0..rows).map(loss).sum(), out),
        // Of no rows it is 0 over 0.
        Reduction::Mean => put::<T>((0..rows).map(loss).sum::<f64>() / rows as f64, out),
    }
}

pub(super) fn multi_margin<T: Real>(
    [rows, n]: [usize; 2],
    margin: Margin,
    (x, targets, weight): (&[T], &[i64], &[T]),
    out: &mut Output,
) {
    reduce::<T>(rows, margin.reduction, out, |r| {
        let weight = weight_of(weight, targets[r]);
        let term = |(_, z): (usize, f64)| if margin.is_square { weight * z * z } else { weight * z };
        margin.above(&x[r * n..][..n], targets[r]).map(term).sum::<f64>() / n as f64
    });
}

/// The gradient that a row gets.
fn gradient<T: Real>(grad: &[T], rows: usize, r: usize, reduction: Reduction) -> f64 {
    match reduction {
        Reduction::None => grad.get(r).or(grad.first()).map_or(0.0, |g| g.wide()),
        Reduction::Mean => grad[0].wide() / rows as f64,
        Reduction::Sum => grad[0].wide(),
    }
}

pub(super) fn multi_margin_backward<T: Real>(
    [rows, n]: [usize; 2],
    margin: Margin,
    (grad, x, targets, weight): (&[T], &[T], &[i64], &[T]),
    out: &mut Output,
) {
    each_row(rows, n, [(out.parts::<T>(), n)], |range, [out]| {
        for (r, out) in range.zip(out.chunks_exact_mut(n)) {
            let target = targets[r];
            let (grad, share) = (gradient(grad, rows, r, margin.reduction), weight_of(weight, target) / n as f64);
            // Where the gradient is infinite or NaN, that of what is not above the margin is NaN.
            out.fill(T::of(0.0 * grad));
            let mut own = 0.0;
            for (d, z) in margin.above(&x[r * n..][..n], target) {
                let slope = share * if margin.is_square { 2.0 * z } else { 1.0 };
                own -= slope;
                out[d] = T::of(grad * slope);
            }
            out[target as usize] = T::of(grad * own);
        }
    });
}

/// The labels of a row: up to the first -1.
fn labels(targets: &[i64]) -> impl Iterator<Item = usize> + Clone + '_ {
    targets.iter().take_while(|&&target| target >= 0).map(|&target| target as usize)
}

pub(super) fn multilabel_margin<T: Real>(
    [rows, n]: [usize; 2],
    reduction: Reduction,
    (x, targets): (&[T], &[i64]),
    [out, is_target]: [&mut Output; 2],
) {
    each_row(rows, n, [(is_target.parts::<T>(), n)], |range, [is_target]| {
        for (r, is_target) in range.zip(is_target.chunks_exact_mut(n)) {
            labels(&targets[r * n..][..n]).for_each(|d| is_target[d] = T::one());
        }
    });
    reduce::<T>(rows, reduction, out, |r| {
        let (x, labels) = (&x[r * n..][..n], labels(&targets[r * n..][..n]));
        // Labels are no competitors of each other: as such they are as small as can be. Without room for a list, they
        // are looked for.
        let mut others = scratch::<f64>(n).ok();
        if let Some(others) = &mut others {
            others.iter_mut().zip(x).for_each(|(other, x)| *other = x.wide());
            labels.clone().for_each(|label| others[label] = f64::NEG_INFINITY);
        }
        let of_label = |label: usize| {
            let beside = |other: f64| (1.0 - x[label].wide() + other).max(0.0);
            match &others {
                Some(others) => others.iter().map(|&other| beside(other)).sum::<f64>(),
                None => (0..n)
                    .filter(|d| !labels.clone().any(|label| label == *d))
                    .map(|d| beside(x[d].wide()))
                    .sum::<f64>(),
            }
        };
        labels.clone().map(of_label).sum::<f64>() / n as f64
    });
}

pub(super) fn multilabel_margin_backward<T: Real>(
    [rows, n]: [usize; 2],
    reduction: Reduction,
    (grad, x, targets, is_target): (&[T], &[T], &[i64], &[T]),
    out: &mut Output,
) {
    each_row(rows, n, [(out.parts::<T>(), n)], |range, [out]| {
        for (r, out) in range.zip(out.chunks_exact_mut(n)) {
            let (x, is_target) = (&x[r * n..][..n], &is_target[r * n..][..n]);
            let factor = T::of(gradient(grad, rows, r, reduction) / n as f64);
            for label in labels(&targets[r * n..][..n]) {
                for d in (0..n).filter(|&d| is_target[d] == T::zero()) {
                    if T::one() - x[label] + x[d] > T::zero() {
                        out[label] = out[label] - factor;
                        out[d] = out[d] + factor;
                    }
                }
            }
        }
    });
}
