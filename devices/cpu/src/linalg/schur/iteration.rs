//! What the QR iterations for real and for complex matrices share: a Hessenberg matrix H = Z·T·Zᴴ, of which T is
//! found from the lower right to the upper left, and the test for a subdiagonal element that counts as zero.
//!
//! ```text
//!           low    first    last
//!     ┌ × × ×  ×  ×  ×  ×  ×  × × ┐      Rows `low..high` are not triangular at first. Each step makes the last
//!     │   × ×  ×  ×  ×  ×  ×  × × │      subdiagonal elements of the rows `first..=last` smaller, until one counts
//!     │     ×  ×  ×  ×  ×  ×  × × │      as zero: the block below it is done, or the steps go on below it.
//!     │     ×  ×  ×  ×  ×  ×  × × │
//!     │        0  ×  ×  ×  ×  × × │
//!     │           ×  ×  ×  ×  × × │
//!     │              ×  ×  ×  × × │
//!     │                 0  ×  × × │
//!     └                      ·    ┘
//! ```

use super::super::number::{Number, size};
use monomorph_core::Result;
use monomorph_ops::linalg::spectral::NOT_CONVERGED;
use num_complex::Complex;

/// The distance from 1 to the next number.
pub(super) const PRECISION: f64 = f64::EPSILON;

/// Steps without success after which, and after each as many more, an exceptional shift is tried.
const STAGNATION: usize = 10;

/// Steps for one eigenvalue after which the test for zero is relaxed. Hardly any matrix needs as many, unless LAPACK's
/// test never succeeds: elements are 2⁵⁰⁰ times as large as others, and its diagonal is zero but for rounding.
const STUCK: usize = 3 * STAGNATION;

/// Where a shift that is no eigenvalue is taken from: it breaks a cycle.
pub(super) enum Exception {
    First,
    Last,
}

impl Exception {
    /// For the step after so many for the same eigenvalue, counted as LAPACK does until release 3.9, and MKL still.
    pub(super) fn of(steps: usize) -> Option<Self> {
        if steps == 0 || !steps.is_multiple_of(STAGNATION) {
            return None;
        }
        Some(if steps.is_multiple_of(2 * STAGNATION) { Exception::Last } else { Exception::First })
    }
}

/// A number below this counts as zero beside any other, in a matrix of `n` rows.
pub(super) fn negligible(n: usize) -> f64 {
    f64::MIN_POSITIVE * (n as f64 / PRECISION)
}

/// A Hessenberg matrix whose rows and columns `low..high` are to be made triangular, and what else changes.
pub(super) struct Iteration<'a, E> {
    pub(super) h: &'a mut [E],
    pub(super) n: usize,
    pub(super) low: usize,
    pub(super) high: usize,
    /// The matrix that Z is multiplied to; without it, only the eigenvalues are right in the end, not T.
    pub(super) basis: Option<&'a mut [E]>,
    pub(super) values: &'a mut [Complex<f64>],
    /// Memory for a column.
    pub(super) sums: &'a mut [E],
}

impl<E: Number> Iteration<'_, E> {
    /// Finds eigenvalues from the last one to the first, in blocks of at most `height` rows: `step` is one step for the
    /// rows from one to another, of which so many have been before, and `deflate` takes a block that is done.
    pub(super) fn run(
        &mut self,
        height: usize,
        step: impl Fn(&mut Self, usize, usize, usize) -> Result<()>,
        deflate: impl Fn(&mut Self, usize, usize),
    ) -> Result<()> {
        let most_steps = 30 * (self.high - self.low).max(10);
        let mut end = self.high;
        while end > self.low {
            let last = end - 1;
            let (mut first, mut steps) = (self.low, 0);
            loop {
                first = self.coupled(first, last, steps > STUCK);
                if first > self.low {
                    self.h[first + (first - 1) * self.n] = E::zero();
                }
                if first + height >= end {
                    break;
                }
                if steps == most_steps {
                    return Err(NOT_CONVERGED.into());
                }
                step(self, first, last, steps)?;
                steps += 1;
            }
            deflate(self, first, last);
            end = first;
        }
        Ok(())
    }

    pub(super) fn at(&self, i: usize, j: usize) -> E {
        self.h[i + j * self.n]
    }

    /// The first row, and the column after the last, that change if rows and columns `first..end` do.
    pub(super) fn extent(&self, first: usize, end: usize) -> (usize, usize) {
        if self.basis.is_some() { (0, self.n) } else { (first, end) }
    }

    /// The first row of the block of rows up to `last` that is coupled to it, at least `first`.
    ///
    /// A subdiagonal element counts as zero by a test that keeps small eigenvalues accurate (Ahues & Tisseur, *A new
    /// deflation criterion for the QR algorithm*, LAPACK Working Note 122, 1997). If the iteration
    /// `is_stuck`, it is compared to its neighbours instead, which keeps only large ones accurate.
    fn coupled(&self, first: usize, last: usize, is_stuck: bool) -> usize {
        let negligible = negligible(self.high - self.low);
        let at = |i: usize, j: usize| size(self.at(i, j));
        for k in (first + 1..=last).rev() {
            let below = at(k, k - 1);
            if below <= negligible {
                return k;
            }
            let mut near = at(k - 1, k - 1) + at(k, k);
            if near == 0.0 || is_stuck {
                near += if k >= self.low + 2 { at(k - 1, k - 2) } else { 0.0 };
                near += if k + 1 < self.high { at(k + 1, k) } else { 0.0 };
            }
            let above = at(k - 1, k);
            if is_stuck && below <= PRECISION * (near + above) {
                return k;
            }
            if below <= PRECISION * near {
                let difference = size(self.at(k - 1, k - 1) - self.at(k, k));
                let (large, small) = (above.max(below), above.min(below));
                let (diagonal, gap) = (at(k, k).max(difference), at(k, k).min(difference));
                let sum = diagonal + large;
                if small * (large / sum) <= negligible.max(PRECISION * (gap * (diagonal / sum))) {
                    return k;
                }
            }
        }
        first
    }
}
