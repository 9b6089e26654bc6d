//! Eigenvalues and vectors of a real symmetric tridiagonal matrix, by implicit QL or QR.
//!
//! A block between negligible elements is walked from the end whose diagonal element is the smaller one, so that
//! graded matrices keep their small values: QL from above, QR from below, which is the same recurrence mirrored.
//! Golub & Van Loan, *Matrix Computations*, 8.3; Parlett, *The Symmetric Eigenvalue Problem*, chapter 8. Shifts, the
//! tests of deflation and the order of sorting are those of LAPACK's xSTEQR, whose signs of vectors come out.

use super::super::number::zeros;
use super::super::precision::Precision;
use super::super::scale::{largest_component, power_into, scale, with_sign};
use super::divide::sign_eigenvectors;
use super::rotation::{Columns, Rotation, Walk};
use super::two_by_two::{Eigen, eigen};
use monomorph_core::Result;
use monomorph_ops::linalg::spectral::NOT_CONVERGED;

/// Sweeps for each value; two are usual.
const SWEEPS: usize = 30;

/// Diagonalizes: `d` becomes the values in ascending order, and the columns are turned along. `e`, the elements beside
/// the diagonal, is used up.
pub(super) fn diagonalize(d: &mut [f64], e: &mut [f64], precision: Precision, columns: &mut Columns) -> Result<()> {
    let n = d.len();
    let mut sweeps = SWEEPS * n;
    let mut original = zeros(e.len())?;
    let mut first = 0;
    while first < n {
        let last = (first..n - 1).find(|&k| is_split(d, e, k, precision)).unwrap_or(n - 1);
        if last < n - 1 {
            e[last] = 0.0;
        }
        if last > first {
            let norm = largest_component(&d[first..=last]).max(largest_component(&e[first..last]));
            let power = power_into(&precision.safe_block_exponents(), norm);
            original.copy_from_slice(e);
            scale(&mut d[first..=last], power);
            scale(&mut e[first..last], power);
            let reversed = d[last].abs() < d[first].abs();
            sweeps = diagonalize_block(d, e, Walk { first, last, reversed }, precision, columns, sweeps)?;
            scale(&mut d[first..=last], -power);
            sign_eigenvectors(columns, &original, first..last + 1, norm * precision.rounding());
        }
        first = last + 1;
    }
    sort(d, columns);
    Ok(())
}

/// Whether the element below the diagonal element `k` separates two blocks.
fn is_split(d: &[f64], e: &[f64], k: usize, precision: Precision) -> bool {
    e[k].abs() <= d[k].abs().sqrt() * d[k + 1].abs().sqrt() * precision.rounding()
}

/// Diagonalizes one block, with at most so many sweeps: the number that is left.
fn diagonalize_block(
    d: &mut [f64],
    e: &mut [f64],
    walk: Walk,
    precision: Precision,
    columns: &mut Columns,
    mut sweeps: usize,
) -> Result<usize> {
    let negligible = precision.rounding() * precision.rounding();
    let mut found = 0;
    while found <= walk.links() {
        let is_small = |k: &usize| {
            let beside = e[walk.link(*k)];
            let product = (negligible * d[walk.place(*k)].abs()) * d[walk.place(*k + 1)].abs();
            beside * beside <= product + precision.smallest()
        };
        let end = (found..walk.links()).find(is_small).unwrap_or(walk.links());
        if end < walk.links() {
            e[walk.link(end)] = 0.0;
        }
        match end - found {
            0 => found += 1,
            1 => {
                let k = walk.link(found);
                let Eigen { large, small, rotation } = eigen(d[k], e[k], d[k + 1]);
                columns.rotate(k, k + 1, rotation);
                (d[k], d[k + 1], e[k]) = (large, small, 0.0);
                found += 2;
            }
            _ => {
                sweeps = sweeps.checked_sub(1).ok_or(NOT_CONVERGED)?;
                sweep(d, e, walk, found..end, columns);
            }
        }
    }
    Ok(sweeps)
}

/// Chases a bulge from the end of some steps to their start, with Wilkinson's shift from there.
fn sweep(d: &mut [f64], e: &mut [f64], walk: Walk, steps: std::ops::Range<usize>, columns: &mut Columns) {
    let start = steps.start;
    let corner = d[walk.place(start)];
    let beside = e[walk.link(start)];
    let ratio = (d[walk.place(start + 1)] - corner) / (2.0 * beside);
    let root = with_sign(ratio.hypot(1.0), ratio);
    let mut g = d[walk.place(steps.end)] - corner + beside / (ratio + root);
    let mut rotation = Rotation { cosine: 1.0, sine: 1.0 };
    let mut p = 0.0;
    for k in steps.clone().rev() {
        let beside = e[walk.link(k)];
        let (f, b) = (rotation.sine * beside, rotation.cosine * beside);
        let length;
        (rotation, length) = Rotation::new_before_3_10(g, f);
        let Rotation { cosine, sine } = rotation;
        if k + 1 != steps.end {
            e[walk.link(k + 1)] = length;
        }
        let (done, next) = (walk.place(k + 1), walk.place(k));
        g = d[done] - p;
        let r = (d[next] - g) * sine + 2.0 * cosine * b;
        p = sine * r;
        d[done] = g + p;
        g = cosine * r - b;
        columns.rotate(done, next, rotation);
    }
    d[walk.place(start)] -= p;
    e[walk.link(start)] = g;
}

/// Sorts by selection, which moves each column at most a few times.
fn sort(d: &mut [f64], columns: &mut Columns) {
    for i in 0..d.len() {
        let mut least = i;
        for j in i + 1..d.len() {
            if d[j] < d[least] {
                least = j;
            }
        }
        d.swap(i, least);
        columns.swap(i, least);
    }
}
