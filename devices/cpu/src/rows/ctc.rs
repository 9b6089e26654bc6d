//! The forward half of connectionist temporal classification on the CPU. The target is laid out with a blank around
//! each class; `alpha[t][s]` is the logarithm of the probability of all ways to have come to state `s` at time `t`.

use super::frame::Real;
use super::output::{Output, each_row};
use monomorph_core::Result;
use monomorph_ops::rows::ctc::check_target;

/// What a call has: `[times, batch, classes]`, the states of the longest target, the length of a row of targets if they
/// are a matrix, and the blank.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) sizes: [usize; 3],
    pub(super) states: usize,
    pub(super) row: Option<usize>,
    pub(super) blank: usize,
}

/// The targets of an element of the batch.
fn targets_of<'a>(shape: Shape, targets: &'a [i64], lengths: &[i64], b: usize) -> &'a [i64] {
    let start = match shape.row {
        Some(row) => b * row,
        None => lengths[..b].iter().map(|&n| n as usize).sum(),
    };
    &targets[start..start + lengths[b] as usize]
}

/// An error if a target is no class.
pub(super) fn check(shape: Shape, targets: &[i64], lengths: &[i64]) -> Result<()> {
    let [_, batch, classes] = shape.sizes;
    (0..batch).try_for_each(|b| {
        targets_of(shape, targets, lengths, b).iter().try_for_each(|&target| check_target(target, classes))
    })
}

/// log(Σ e^x), of which none may be a number.
fn log_of_sum(terms: [f64; 3]) -> f64 {
    let most = terms.iter().fold(f64::NEG_INFINITY, |most, &x| x.max(most));
    let most = if most == f64::NEG_INFINITY { 0.0 } else { most };
    terms.iter().map(|x| (x - most).exp()).sum::<f64>().ln() + most
}

pub(super) fn forward<T: Real>(
    shape: Shape,
    (log_probs, targets, inputs, lengths): (&[T], &[i64], &[i64], &[i64]),
    [losses, alphas]: [&mut Output; 2],
) {
    let Shape { sizes: [times, batch, classes], states: width, blank, .. } = shape;
    let size = times * width;
    each_row(batch, size, [(losses.parts::<T>(), 1), (alphas.parts::<T>(), size)], |range, [losses, alphas]| {
        for (k, b) in range.enumerate() {
            let (targets, alpha) = (targets_of(shape, targets, lengths, b), &mut alphas[k * size..][..size]);
            let (steps, states) = (inputs[b] as usize, 2 * targets.len() + 1);
            let class = |s: usize| if s.is_multiple_of(2) { blank } else { targets[s / 2] as usize };
            let at = |t: usize, s: usize| log_probs[(t * batch + b) * classes + class(s)].wide();
            if times > 0 {
                alpha[..width].fill(T::neg_infinity());
            }
            if steps == 0 {
                losses[k] = if targets.is_empty() { T::zero() } else { T::infinity() };
                continue;
            }
            for (s, alpha) in alpha[..states.min(2)].iter_mut().enumerate() {
                *alpha = T::of(at(0, s));
            }
            for t in 1..steps {
                let (before, now) = alpha.split_at_mut(t * width);
                let before = &before[(t - 1) * width..];
                for (s, now) in now[..states].iter_mut().enumerate() {
                    let come = |back: usize| s.checked_sub(back).map_or(f64::NEG_INFINITY, |s| before[s].wide());
                    let skips = s > 1 && class(s - 2) != class(s);
                    let skipped = if skips { come(2) } else { f64::NEG_INFINITY };
                    *now = T::of(log_of_sum([come(0), come(1), skipped]) + at(t, s));
                }
            }
            let last = &alpha[(steps - 1) * width..];
            let second = if states > 1 { last[states - 2].wide() } else { f64::NEG_INFINITY };
            losses[k] = T::of(-log_of_sum([last[states - 1].wide(), second, f64::NEG_INFINITY]));
        }
    });
}
