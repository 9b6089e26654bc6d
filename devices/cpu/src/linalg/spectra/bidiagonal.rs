//! Singular values and vectors of a real bidiagonal matrix, by implicit QR with and without shift.
//!
//! Demmel & Kahan, *Accurate singular values of bidiagonal matrices*, SIAM J. Sci. Stat. Comput. 11(5), 1990 (LAPACK
//! Working Note 3): a sweep without shift computes even the smallest values to nearly all bits, and is used wherever a
//! shift would lose them. A block is walked from its larger end to its smaller one. The tests of convergence and the
//! order of sorting are those of LAPACK's xBDSQR, whose signs of vectors come out.

use super::super::number::zeros;
use super::super::precision::Precision;
use super::super::scale::with_sign;
use super::divide::{UNDIVIDED, sign_singular_vectors};
use super::rotation::{Columns, Rotation, Walk};
use super::two_by_two::{Singular, singular, smaller_singular};
use monomorph_core::Result;
use monomorph_ops::linalg::spectral::NOT_CONVERGED;

/// Steps are at most this times the square of the number of values; twice the square is usual.
const ROUNDS: usize = 6;

/// Diagonalizes B = U·D·Vᵀ: `d` becomes the values in descending order, and the columns of U and of V are turned along.
/// `e` are the elements above the diagonal `d`, or below it where `lower`; it is used up.
pub(super) fn diagonalize<'a>(
    d: &mut [f64],
    e: &mut [f64],
    lower: bool,
    precision: Precision,
    left: &mut Columns<'a>,
    right: &mut Columns<'a>,
) -> Result<()> {
    if d.len() == 1 {
        // By LAPACK's xBDSDC, where it would be `right` in xBDSQR.
        if d[0] < 0.0 {
            left.negate(0);
        }
        d[0] = d[0].abs();
        return Ok(());
    }
    let turned = if lower { e.len() } else { 0 };
    let (mut cosines, mut sines) = (zeros(turned)?, zeros(turned)?);
    for (k, (c, s)) in cosines.iter_mut().zip(&mut sines).enumerate() {
        // The elements below the diagonal move above it.
        (Rotation { cosine: *c, sine: *s }, d[k]) = Rotation::new(d[k], e[k]);
        e[k] = *s * d[k + 1];
        d[k + 1] *= *c;
    }
    let (mut diagonal, mut beside) = (zeros(d.len())?, zeros(e.len())?);
    diagonal.copy_from_slice(d);
    beside.copy_from_slice(e);
    iterate(d, e, precision, left, right)?;
    for (k, d) in d.iter_mut().enumerate() {
        if *d < 0.0 {
            right.negate(k);
        }
        *d = d.abs();
    }
    sort(d, left, right);
    sign_singular_vectors(left, right, &diagonal, &beside, precision);
    for column in left.elements.chunks_exact_mut(left.height) {
        for (k, (&c, &s)) in cosines.iter().zip(&sines).enumerate().rev() {
            let (a, b) = (column[k], column[k + 1]);
            (column[k], column[k + 1]) = (c * a - s * b, c * b + s * a);
        }
    }
    Ok(())
}

/// Makes the elements beside the diagonal vanish, or nearly so; the values have signs then.
fn iterate<'a>(
    d: &mut [f64],
    e: &mut [f64],
    precision: Precision,
    left: &mut Columns<'a>,
    right: &mut Columns<'a>,
) -> Result<()> {
    let n = d.len();
    let threshold = threshold(d, e, precision);
    let mut steps = ROUNDS * n * n;
    let mut rows = n;
    let mut previous: Option<Walk> = None;
    while rows > 1 {
        let last = rows - 1;
        let split = (0..last).rev().find(|&k| e[k].abs() <= threshold);
        let first = split.map_or(0, |k| k + 1);
        if let Some(k) = split {
            e[k] = 0.0;
        }
        if first == last {
            rows -= 1;
            continue;
        }
        if first + 1 == last {
            let found = singular(d[first], e[first], d[last]);
            right.rotate(first, last, found.right);
            left.rotate(first, last, found.left);
            let Singular { large, small, .. } = found;
            (d[first], d[last], e[first]) = (large, small, 0.0);
            rows -= 2;
            continue;
        }
        // A block that goes on shrinking is walked the same way, whatever its ends are in between.
        let reversed = match previous {
            Some(walk) if first <= walk.last && last >= walk.first => walk.reversed,
            _ => d[first].abs() < d[last].abs(),
        };
        let walk = Walk { first, last, reversed };
        let Some(smallest) = smallest_unless_split(d, e, walk, precision.tolerance()) else { continue };
        previous = Some(walk);
        steps = steps.checked_sub(walk.links()).ok_or(NOT_CONVERGED)?;
        let (near, far) = if reversed { (&mut *left, &mut *right) } else { (&mut *right, &mut *left) };
        match shift(d, e, walk, smallest, precision) {
            0.0 => sweep_unshifted(d, e, walk, near, far),
            shift => sweep(d, e, walk, shift, near, far),
        }
        let end = walk.link(walk.links() - 1);
        if e[end].abs() <= threshold {
            e[end] = 0.0;
        }
    }
    Ok(())
}

/// What is negligible beside the diagonal, relative to an estimate of the smallest value.
fn threshold(d: &[f64], e: &[f64], precision: Precision) -> f64 {
    let n = d.len() as f64;
    let mut mu = d[0].abs();
    let mut smallest = mu;
    for (d, e) in d[1..].iter().zip(e) {
        if smallest == 0.0 {
            break;
        }
        mu = d.abs() * (mu / (mu + e.abs()));
        smallest = smallest.min(mu);
    }
    (precision.tolerance() * (smallest / n.sqrt())).max(ROUNDS as f64 * (n * (n * precision.smallest())))
}

/// An estimate of the smallest value of a block; none where an element beside the diagonal was negligible, and has been
/// cleared.
fn smallest_unless_split(d: &[f64], e: &mut [f64], walk: Walk, tolerance: f64) -> Option<f64> {
    let end = walk.link(walk.links() - 1);
    if e[end].abs() <= tolerance * d[walk.place(walk.links())].abs() {
        e[end] = 0.0;
        return None;
    }
    let mut mu = d[walk.place(0)].abs();
    let mut smallest = mu;
    for k in 0..walk.links() {
        let beside = &mut e[walk.link(k)];
        if beside.abs() <= tolerance * mu {
            *beside = 0.0;
            return None;
        }
        mu = d[walk.place(k + 1)].abs() * (mu / (mu + beside.abs()));
        smallest = smallest.min(mu);
    }
    Some(smallest)
}

/// The shift for a block: zero where another would cost the smallest value its relative accuracy.
fn shift(d: &[f64], e: &[f64], walk: Walk, smallest: f64, precision: Precision) -> f64 {
    let block = walk.first..=walk.last;
    let beside = e[walk.first..walk.last].iter();
    let largest = d[block].iter().chain(beside).fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let (rounding, tolerance) = (precision.rounding(), precision.tolerance());
    if d.len() as f64 * tolerance * (smallest / largest) <= rounding.max(0.01 * tolerance) {
        return 0.0;
    }
    let links = walk.links();
    let shift = smaller_singular(d[walk.place(links - 1)], e[walk.link(links - 1)], d[walk.place(links)]);
    let start = d[walk.place(0)].abs();
    if start > 0.0 && (shift / start) * (shift / start) < rounding { 0.0 } else { shift }
}

/// A sweep without shift. `near` are the vectors that its first rotation turns: right ones where it walks downwards,
/// left ones otherwise.
fn sweep_unshifted(d: &mut [f64], e: &mut [f64], walk: Walk, near: &mut Columns, far: &mut Columns) {
    let mut inner = Rotation { cosine: 1.0, sine: 0.0 };
    let mut outer = inner;
    for k in 0..walk.links() {
        let (place, next) = (walk.place(k), walk.place(k + 1));
        let length;
        (inner, length) = Rotation::new(d[place] * inner.cosine, e[walk.link(k)]);
        if k > 0 {
            e[walk.link(k - 1)] = outer.sine * length;
        }
        (outer, d[place]) = Rotation::new(outer.cosine * length, d[next] * inner.sine);
        near.rotate(place, next, inner);
        far.rotate(place, next, outer);
    }
    let (last, end) = (walk.place(walk.links()), walk.link(walk.links() - 1));
    let h = d[last] * inner.cosine;
    d[last] = h * outer.cosine;
    e[end] = h * outer.sine;
}

/// A sweep with a shift; see [`sweep_unshifted`].
fn sweep(d: &mut [f64], e: &mut [f64], walk: Walk, shift: f64, near: &mut Columns, far: &mut Columns) {
    let start = d[walk.place(0)];
    let mut f = (start.abs() - shift) * (with_sign(1.0, start) + shift / start);
    let mut g = e[walk.link(0)];
    for k in 0..walk.links() {
        let (place, next, link) = (walk.place(k), walk.place(k + 1), walk.link(k));
        let (inner, length) = Rotation::new(f, g);
        if k > 0 {
            e[walk.link(k - 1)] = length;
        }
        f = inner.cosine * d[place] + inner.sine * e[link];
        e[link] = inner.cosine * e[link] - inner.sine * d[place];
        g = inner.sine * d[next];
        d[next] *= inner.cosine;
        let outer;
        (outer, d[place]) = Rotation::new(f, g);
        f = outer.cosine * e[link] + outer.sine * d[next];
        d[next] = outer.cosine * d[next] - outer.sine * e[link];
        if k + 1 < walk.links() {
            let following = &mut e[walk.link(k + 1)];
            g = outer.sine * *following;
            *following *= outer.cosine;
        }
        near.rotate(place, next, inner);
        far.rotate(place, next, outer);
    }
    e[walk.link(walk.links() - 1)] = f;
}

/// Sorts by selection: the smallest to the end, or, as where LAPACK divides, the largest to the start. Only where
/// values are equal does it matter.
fn sort(d: &mut [f64], left: &mut Columns, right: &mut Columns) {
    let n = d.len();
    for step in 0..n {
        let (place, found) = if n > UNDIVIDED {
            let before = |best: usize, j: usize| if d[j] > d[best] { j } else { best };
            (step, (step..n).reduce(before))
        } else {
            let before = |best: usize, j: usize| if d[j] <= d[best] { j } else { best };
            (n - 1 - step, (0..n - step).reduce(before))
        };
        let found = found.unwrap_or(place);
        d.swap(place, found);
        left.swap(place, found);
        right.swap(place, found);
    }
}
