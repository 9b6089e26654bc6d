//! Distances of pairs of rows on the CPU, and the gradient.

use super::frame::Real;
use super::output::{Output, each_row, each_run};

/// The pair with this number, of `(0, 1), (0, 2), …, (1, 2), …`: the first row, and the first pair that it has.
fn first_of(rows: usize, pair: usize) -> (usize, usize) {
    let (mut row, mut start) = (0, 0);
    while pair >= start + rows - 1 - row {
        start += rows - 1 - row;
        row += 1;
    }
    (row, start)
}

fn distance<T: Real>(a: &[T], b: &[T], p: f64) -> f64 {
    let apart = a.iter().zip(b).map(|(&a, &b)| (a - b).abs().wide());
    match p {
        0.0 => apart.filter(|d| *d != 0.0).count() as f64,
        1.0 => apart.sum(),
        2.0 => apart.map(|d| d * d).sum::<f64>().sqrt(),
        f64::INFINITY => apart.fold(0.0, |most, d| if d > most || d.is_nan() { d } else { most }),
        p => apart.map(|d| d.powf(p)).sum::<f64>().powf(1.0 / p),
    }
}

pub(super) fn forward<T: Real>(rows: usize, columns: usize, p: f64, x: &[T], out: &mut Output) {
    let pairs = rows * (rows - 1) / 2;
    each_run(pairs, (4096 / columns.max(1)).max(16), [out.parts::<T>()], |range, [out]| {
        let row = |r: usize| &x[r * columns..][..columns];
        let (mut a, mut start) = first_of(rows, range.start);
        for (pair, out) in range.zip(out) {
            while pair >= start + rows - 1 - a {
                start += rows - 1 - a;
                a += 1;
            }
            *out = T::of(distance(row(a), row(a + 1 + pair - start), p));
        }
    });
}

/// The slope of a distance by one coordinate, of the difference there.
fn slope(apart: f64, grad: f64, distance: f64, p: f64) -> f64 {
    let sign = if apart == 0.0 { 0.0 } else { apart.signum() };
    match p {
        0.0 => 0.0,
        1.0 => grad * sign,
        _ if distance == 0.0 => 0.0,
        2.0 => grad * apart / distance,
        f64::INFINITY if apart.abs() == distance => grad * sign,
        f64::INFINITY => 0.0,
        p if p < 2.0 && apart == 0.0 => 0.0,
        p => sign * apart.abs().powf(p - 1.0) * grad / distance.powf(p - 1.0),
    }
}

pub(super) fn backward<T: Real>(
    rows: usize,
    columns: usize,
    p: f64,
    [grad, x, distances]: [&[T]; 3],
    out: &mut Output,
) {
    let row = |r: usize| &x[r * columns..][..columns];
    let pair = |a: usize, b: usize| a * (2 * rows - a - 1) / 2 + b - a - 1;
    each_row(rows, rows * columns, [(out.parts::<T>(), columns)], |range, [out]| {
        for (r, out) in range.zip(out.chunks_exact_mut(columns.max(1))) {
            for other in (0..rows).filter(|&other| other != r) {
                let k = pair(r.min(other), r.max(other));
                let (grad, distance) = (grad[k].wide(), distances[k].wide());
                for ((out, &a), &b) in out.iter_mut().zip(row(r)).zip(row(other)) {
                    *out = *out + T::of(slope((a - b).wide(), grad, distance, p));
                }
            }
        }
    });
}
