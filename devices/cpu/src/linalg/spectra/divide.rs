//! The signs that vectors have where LAPACK divides a matrix and conquers.
//!
//! Above 25 rows, xSTEDC and xBDSDC cut the matrix in two, decompose both halves, and merge them: the vectors of the
//! merged matrix are those of a rank-one update, scaled by a positive number. A formula for one of their elements gives
//! their signs, so that vectors from any other algorithm can be given the same ones:
//!
//! - T = diag(T₁, T₂) + ρ·v·vᵀ, v = e₁ ± e₂ at the cut. A vector is u = (diag(T₁, T₂) - λ)⁻¹·v times a positive number;
//!   as T·u = λ·u, this makes ρ·vᵀu negative (Cuppen, *A divide and conquer method for the symmetric tridiagonal
//!   eigenproblem*, Numer. Math. 36, 1981; Rutter, LAPACK Working Note 69, 1994).
//! - B, of which the middle row is taken out. A left vector's element there is -1 times a positive number (Gu &
//!   Eisenstat, *A divide-and-conquer algorithm for the bidiagonal SVD*, SIAM J. Matrix Anal. Appl. 16(1), 1995).
//!
//! Where that element vanishes, the vector is one of a half, and has the sign that it has there.

use super::super::precision::Precision;
use super::super::scale::{largest_component, with_sign};
use super::rotation::Columns;
use std::ops::Range;

/// The most rows that LAPACK does not divide.
pub(super) const UNDIVIDED: usize = 25;

/// Roundings that the element of a left vector in the middle row may have where the vector is one of a half. There is
/// no such number in LAPACK, which compares other elements; this one agrees with it in all but one vector of 1000.
const NEGLIGIBLE: f64 = 20.0;

/// Gives the vectors of one block of a tridiagonal matrix their signs; `beside` are all elements beside the diagonal,
/// and `negligible` is one rounding of the block's norm.
pub(super) fn sign_eigenvectors(columns: &mut Columns, beside: &[f64], block: Range<usize>, negligible: f64) {
    // The longer half is the second one, and it decides how often all parts are divided.
    let mut depth = 0;
    let mut size = block.len();
    while size > UNDIVIDED {
        size = size.div_ceil(2);
        depth += 1;
    }
    let sign = |u: &[f64], range: &Range<usize>| {
        let cut = range.start + range.len() / 2;
        let beside = beside[cut - 1];
        let update = beside.abs() * u[cut - 1] + beside * u[cut];
        // xLAED2 neglects 8 roundings of an element that is √2 times this.
        (update, 6.0 * negligible, cut..cut)
    };
    for k in 0..columns.count() {
        if is_positive(columns.column(k), block.clone(), depth, &sign) {
            columns.negate(k);
        }
    }
}

/// Gives the vectors of an upper bidiagonal matrix their signs; `diagonal` and `beside` are its elements.
pub(super) fn sign_singular_vectors(
    left: &mut Columns,
    right: &mut Columns,
    diagonal: &[f64],
    beside: &[f64],
    precision: Precision,
) {
    let n = diagonal.len();
    let norm = largest_component(diagonal).max(largest_component(beside));
    if n <= UNDIVIDED || left.is_empty() || norm == 0.0 {
        return;
    }
    let sign = |u: &[f64], range: &Range<usize>| {
        if range.len() == 1 {
            // The last row on its own, of which it is the right vector that is positive.
            return (-with_sign(u[n - 1], diagonal[n - 1]), 0.0, n..n);
        }
        let middle = range.start + range.len() / 2;
        (u[middle], NEGLIGIBLE * precision.rounding(), middle..middle + 1)
    };
    let mut start = 0;
    for end in 1..=n {
        if end < n && beside[end - 1].abs() >= precision.rounding() * norm {
            continue;
        }
        let block = start..end;
        start = end;
        let mut depth = u32::from(block == (n - 1..n));
        while block.len() >> depth > UNDIVIDED {
            depth += 1;
        }
        for k in 0..n {
            if is_positive(left.column(k), block.clone(), depth, &sign) {
                left.negate(k);
                right.negate(k);
            }
        }
    }
}

/// Whether what should be negative is positive, of a vector whose rows are divided so many times. `sign` gives that,
/// what is negligible of it, and the rows between both halves.
fn is_positive(
    u: &[f64],
    range: Range<usize>,
    depth: u32,
    sign: &impl Fn(&[f64], &Range<usize>) -> (f64, f64, Range<usize>),
) -> bool {
    let weight = |rows: Range<usize>| u[rows].iter().map(|x| x * x).sum::<f64>();
    if depth == 0 || range.is_empty() || weight(range.clone()) < 0.5 {
        return false;
    }
    let (update, negligible, middle) = sign(u, &range);
    if update.abs() > negligible {
        return update > 0.0;
    }
    let (before, after) = (range.start..middle.start, middle.end..range.end);
    let half = if weight(before.clone()) > weight(after.clone()) { before } else { after };
    is_positive(u, half, depth - 1, sign)
}
