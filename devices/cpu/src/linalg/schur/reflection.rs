//! Householder reflections H = I - τ·v·vᴴ (Golub & Van Loan, *Matrix Computations*, 5.1), with the signs that
//! LAPACK gives them (*LAPACK Users' Guide*, 5.4): v starts with 1, and Hᴴ maps a vector to a real multiple β of the
//! first unit vector, β having the sign opposite to the first component's real part, so that nothing cancels.

use super::super::householder;
use super::super::number::Number;
use super::super::vectors::add_scaled;
use std::ops::Range;

/// Below this, the square of a number has lost bits to underflow.
const TINY: f64 = f64::from_bits((1023 - 485) << 52);

/// Above this, a sum of squares may overflow.
const HUGE: f64 = f64::from_bits((1023 + 490) << 52);

/// τ and β of the reflection for a vector, which becomes v. A vector that needs none has τ = 0.
pub(super) fn reflector<E: Number>(x: &mut [E]) -> (E, f64) {
    let (tau, beta) = householder::reflector(x);
    x.iter_mut().take(1).for_each(|first| *first = E::one());
    (tau, beta)
}

/// C ← (I - τ·v·vᴴ)·C, for the rows of C from `top` on; `matrix` holds columns of `n` elements.
#[inline]
pub(super) fn reflect_from_left<E: Number>(v: &[E], tau: E, matrix: &mut [E], n: usize, top: usize) {
    if tau.is_zero() {
        return;
    }
    for column in matrix.chunks_exact_mut(n) {
        let part = &mut column[top..top + v.len()];
        let along = part.iter().zip(v).fold(E::zero(), |sum, (&x, &v)| sum + v.conj() * x) * tau;
        add_scaled(part, v, -along);
    }
}

/// C ← C·(I - τ·v·vᴴ), for the given rows of C; `matrix` starts with a column per element of v. `sums` is memory for
/// a column.
#[inline]
pub(super) fn reflect_from_right<E: Number>(
    v: &[E],
    tau: E,
    matrix: &mut [E],
    n: usize,
    rows: Range<usize>,
    sums: &mut [E],
) {
    if tau.is_zero() {
        return;
    }
    let sums = &mut sums[..rows.len()];
    sums.fill(E::zero());
    for (column, &v) in matrix.chunks_exact(n).zip(v) {
        add_scaled(sums, &column[rows.clone()], v);
    }
    for (column, &v) in matrix.chunks_exact_mut(n).zip(v) {
        add_scaled(&mut column[rows.clone()], sums, -(tau * v.conj()));
    }
}

/// The Euclidean norm, without overflow or underflow of the squares.
pub(super) fn norm<E: Number>(x: &[E]) -> f64 {
    let largest = x.iter().fold(0.0_f64, |largest, x| largest.max(x.re().abs()).max(x.im().abs()));
    let factor = match largest {
        0.0 => return if x.iter().any(|x| x.is_nan()) { f64::NAN } else { 0.0 },
        _ if largest < TINY => HUGE,
        _ if largest > HUGE => TINY,
        _ => 1.0,
    };
    let square = |x: &E| {
        let x = *x * factor;
        x.re() * x.re() + x.im() * x.im()
    };
    x.iter().map(square).sum::<f64>().sqrt() / factor
}
