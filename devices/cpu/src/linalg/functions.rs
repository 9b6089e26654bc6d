//! Functions of matrices: exponentials, square roots, polar factors.

use super::decompositions::is_infinite;
use super::number::{Number, zeros};
use super::precision::Precision;
use super::product::{Factor, Op, multiply};
use super::spectra::{Decomposition, Vectors, eigh, svd};
use super::{Kernel, Part, lu};
use monomorph_core::Result;
use monomorph_ops::linalg::MatrixPlan;
use monomorph_ops::linalg::functions::{Exponential, Polar, SquareRoot};

/// The coefficients of the numerator of the Padé approximant of order 13, from the constant on; those of the
/// denominator have alternating signs.
const PADE: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];

/// Up to this norm the approximant is exact to the last bit of float64.
const PADE_NORM: f64 = 5.371_920_351_148_152;

/// The largest sum of absolute values of a column.
fn norm<E: Number>(a: &[E], n: usize) -> f64 {
    a.chunks_exact(n).map(|column| column.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// `product = a · b`, all square.
fn square_product<E: Number>(a: &[E], b: &[E], product: &mut [E], n: usize) -> Result<()> {
    multiply((product, n), Factor { elements: a, step: n, op: Op::Itself }, (b, n), [n; 3])
}

/// `sum = Σ coefficient · term`.
fn combine<E: Number>(sum: &mut [E], terms: [(&[E], f64); 3]) {
    for (i, sum) in sum.iter_mut().enumerate() {
        *sum = terms.iter().fold(E::zero(), |sum, (term, coefficient)| sum + term[i] * *coefficient);
    }
}

/// Adds a number to the diagonal.
fn add_to_diagonal<E: Number>(a: &mut [E], n: usize, number: f64) {
    a.iter_mut().step_by(n + 1).for_each(|x| *x += E::of(number));
}

/// The exponential in place, by scaling and squaring (N. J. Higham, *The scaling and squaring method for the matrix
/// exponential revisited*, SIAM J. Matrix Anal. Appl. 26(4), 2005).
fn exponential<E: Number>(a: &mut [E], n: usize) -> Result<()> {
    let size = norm(a, n);
    if !size.is_finite() {
        a.fill(E::of(f64::NAN));
        return Ok(());
    }
    let mut squarings = 0;
    let mut scaled = size;
    while scaled > PADE_NORM {
        (scaled, squarings) = (scaled / 2.0, squarings + 1);
        a.iter_mut().for_each(|x| *x = *x * 0.5);
    }
    let [mut a2, mut a4, mut a6, mut odd, mut even, mut sum] =
        [zeros(n * n)?, zeros(n * n)?, zeros(n * n)?, zeros(n * n)?, zeros(n * n)?, zeros(n * n)?];
    square_product(a, a, &mut a2, n)?;
    square_product(&a2, &a2, &mut a4, n)?;
    square_product(&a4, &a2, &mut a6, n)?;
    // The parts of odd and of even powers, the former without one factor A.
    for (part, first) in [(&mut even, 0), (&mut odd, 1)] {
        let coefficient = |power: usize| PADE[first + power];
        combine(&mut sum, [(&a6, coefficient(12)), (&a4, coefficient(10)), (&a2, coefficient(8))]);
        square_product(&a6, &sum, part, n)?;
        combine(&mut sum, [(&a6, coefficient(6)), (&a4, coefficient(4)), (&a2, coefficient(2))]);
        part.iter_mut().zip(&sum).for_each(|(x, &sum)| *x += sum);
        add_to_diagonal(part, n, coefficient(0));
    }
    square_product(a, &odd, &mut sum, n)?;
    for ((x, &even), sum) in a.iter_mut().zip(&even).zip(&mut sum) {
        (*x, *sum) = (even + *sum, even - *sum);
    }
    let mut pivots = zeros(n)?;
    lu::factor(&mut sum, n, &mut pivots)?;
    lu::solve(&sum, &pivots, Op::Itself, a, n)?;
    for _ in 0..squarings {
        square_product(a, a, &mut a2, n)?;
        a.copy_from_slice(&a2);
    }
    Ok(())
}

impl Kernel for Exponential {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<()>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [result, ..], .. } = part;
        result.copy_from_slice(a);
        if result.is_empty() { Ok(()) } else { exponential(result, plan.sizes[0]) }
    }
}

/// `result = Vᴴᴴ · diag(values) · Vᴴ`.
fn hermitian<E: Number>(vh: &[E], values: &[f64], result: &mut [E]) -> Result<()> {
    let n = values.len();
    let mut scaled = zeros(n * n)?;
    for (scaled, column) in scaled.chunks_exact_mut(n.max(1)).zip(vh.chunks_exact(n.max(1))) {
        scaled.iter_mut().zip(column.iter().zip(values)).for_each(|(x, (&v, &value))| *x = v * value);
    }
    multiply((result, n), Factor { elements: vh, step: n, op: Op::Adjoint }, (&scaled, n), [n; 3])
}

impl Kernel for SquareRoot {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<()>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [result, vectors, ..], reals: [values, _], .. } = part;
        let n = plan.sizes[0];
        if is_infinite(a)? {
            result.fill(E::of(f64::NAN));
            return Ok(());
        }
        vectors.copy_from_slice(a);
        eigh(vectors, n, false, true, Precision::Double, values)?;
        values.iter_mut().for_each(|value| *value = value.max(0.0).sqrt());
        let mut adjoint = zeros(n * n)?;
        super::product::adjoint(vectors, n, &mut adjoint, n);
        hermitian(&adjoint, values, result)
    }
}

impl Kernel for Polar {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<()>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [unitary, h, u, matrix], reals: [values, _], .. } = part;
        let [rows, columns, _] = plan.sizes;
        if is_infinite(a)? {
            [unitary, h].into_iter().for_each(|factor| factor.fill(E::of(f64::NAN)));
            return Ok(());
        }
        matrix.copy_from_slice(a);
        let mut vh = zeros(columns * columns)?;
        let decomposition = Decomposition { u, values, vh: &mut vh };
        svd(matrix, rows, columns, Vectors::Thin, Precision::Double, decomposition)?;
        let left = Factor { elements: u, step: rows, op: Op::Itself };
        multiply((unitary, rows), left, (&vh, columns), [rows, columns, columns])?;
        hermitian(&vh, values, h)
    }
}
