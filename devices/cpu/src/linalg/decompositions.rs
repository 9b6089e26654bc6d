//! What each operator computes of one matrix by its eigenvalues or singular values, or by its LDL factors.

use super::number::Number;
use super::precision::Precision;
use super::spectra::{Decomposition, Vectors, eigh, svd};
use super::{Kernel, Part, ldl};
use monomorph_core::Result;
use monomorph_ops::linalg::MatrixPlan;
use monomorph_ops::linalg::ldl::{LdlFactor, LdlOptions, LdlSolve};
use monomorph_ops::linalg::spectral::{
    BOTH, Eigen, Hermitian, HermitianOptions, INFINITE, NOT_A_NUMBER, Singular, SingularOptions, VALUES,
};
use num_complex::Complex;

/// Whether a matrix has infinite elements, so that its values are NaN, as in PyTorch; NaN itself is an error.
pub(super) fn is_infinite<E: Number>(a: &[E]) -> Result<bool> {
    let parts = || a.iter().flat_map(|x| [x.re(), x.im()]);
    if parts().any(f64::is_nan) {
        return Err(NOT_A_NUMBER.into());
    }
    Ok(parts().any(f64::is_infinite))
}

impl<const RETURNS: u8> Kernel for Hermitian<RETURNS> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<HermitianOptions>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [vectors, hidden, ..], reals: [values, _], precision, .. } = part;
        // Without vectors there is another matrix to work in.
        let matrix = if vectors.is_empty() { hidden } else { vectors };
        let HermitianOptions { upper, vectors } = plan.options;
        let n = plan.sizes[0];
        for (j, (column, from)) in matrix.chunks_exact_mut(n.max(1)).zip(a.chunks_exact(n.max(1))).enumerate() {
            let triangle = if upper { 0..j + 1 } else { j..n };
            column.fill(E::zero());
            column[triangle.clone()].copy_from_slice(&from[triangle]);
        }
        if is_infinite(matrix)? {
            values.fill(f64::NAN);
            matrix.fill(E::of(f64::NAN));
            return Ok(());
        }
        // Values alone need no signs of single precision.
        let precision = if vectors { *precision } else { Precision::Double };
        eigh(matrix, n, upper, vectors, precision, values)
    }
}

impl<const RETURNS: u8> Kernel for Eigen<RETURNS> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<()>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [matrix, ..], complex: [values, vectors], .. } = part;
        // Without vectors, PyTorch has no such check.
        if is_infinite(a)? {
            if RETURNS == BOTH {
                return Err(INFINITE.into());
            }
            values.fill(Complex::new(f64::NAN, f64::NAN));
            return Ok(());
        }
        matrix.copy_from_slice(a);
        E::eigen(matrix, plan.sizes[0], values, (RETURNS == BOTH).then_some(&mut **vectors))
    }
}

impl<const RETURNS: u8> Kernel for Singular<RETURNS> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<SingularOptions>) -> Result<()> {
        let Part { inputs: [a, ..], elements, reals: [values, _], precision, .. } = part;
        let (vectors, precision) = match plan.options {
            SingularOptions { vectors: false, .. } => (Vectors::None, Precision::Double),
            SingularOptions { full: true, .. } => (Vectors::Full, *precision),
            SingularOptions { .. } => (Vectors::Thin, *precision),
        };
        let [u, vh, matrix] = match elements {
            [matrix, ..] if RETURNS == VALUES => [&mut [], &mut [], &mut **matrix],
            [u, vh, matrix, _] => [&mut **u, &mut **vh, &mut **matrix],
        };
        if is_infinite(a)? {
            values.fill(f64::NAN);
            [u, vh].into_iter().for_each(|vectors| vectors.fill(E::of(f64::NAN)));
            return Ok(());
        }
        matrix.copy_from_slice(a);
        svd(matrix, plan.sizes[0], plan.sizes[1], vectors, precision, Decomposition { u, values, vh })
    }
}

impl<const CHECKED: bool> Kernel for LdlFactor<CHECKED> {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<LdlOptions>) -> Result<()> {
        let Part { inputs: [a, ..], elements: [factors, ..], integers: [pivots, info], .. } = part;
        factors.copy_from_slice(a);
        info[0] = ldl::factor(factors, plan.sizes[0], plan.options.hermitian, pivots);
        Ok(())
    }
}

impl Kernel for LdlSolve {
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<LdlOptions>) -> Result<()> {
        let Part { inputs: [factors, _, b], pivots, elements: [x, ..], .. } = part;
        x.copy_from_slice(b);
        ldl::solve(factors, plan.sizes[0], pivots, plan.options.hermitian, x)
    }
}
