//! The Hessenberg form Qᴴ·A·Q, zero below the first subdiagonal, by Householder reflections (Golub & Van Loan,
//! *Matrix Computations*, 7.4.3).

use super::super::householder::{reflect_columns, reflect_rows, reflector};
use super::super::number::{Number, zeros};
use monomorph_core::Result;

/// Brings rows and columns `low..high` of a matrix, which is triangular elsewhere, to Hessenberg form. Returns Q,
/// if that `is_wanted`. `sums` is memory for a column.
pub(super) fn reduce<E: Number>(
    matrix: &mut [E],
    n: usize,
    (low, high): (usize, usize),
    is_wanted: bool,
    sums: &mut [E],
) -> Result<Option<Vec<E>>> {
    let mut factors = zeros::<E>(n)?;
    let mut basis = if is_wanted { Some(zeros::<E>(n * n)?) } else { None };
    let mut vector = zeros::<E>(n)?;
    for k in low..high.saturating_sub(2) {
        let column = &mut matrix[k * n..][k + 1..high];
        let v = &mut vector[..column.len()];
        v.copy_from_slice(column);
        let (tau, beta) = reflector(v);
        column.fill(E::zero());
        column[0] = E::one() * beta;
        reflect_rows(&v[1..], tau, &mut matrix[(k + 1) * n..], n, 0..high, sums);
        reflect_columns(&v[1..], tau.conj(), &mut matrix[(k + 1) * n..], n, k + 1);
        factors[k] = tau;
        if let Some(basis) = &mut basis {
            basis[(k + 1) * n..][k + 1..high].copy_from_slice(v);
        }
    }
    if let Some(basis) = &mut basis {
        // Q = H₁·H₂·…, from the last one on: each touches only what those after it have touched.
        for k in (0..n).rev() {
            let is_reflected = k > low && k + 1 < high;
            let column = &mut basis[k * n..][..n];
            if is_reflected {
                vector[..high - k].copy_from_slice(&column[k..high]);
            }
            column.fill(E::zero());
            column[k] = E::one();
            if is_reflected {
                let (v, tau) = (&vector[..high - k], factors[k - 1]);
                reflect_columns(&v[1..], tau, &mut basis[k * n..high * n], n, k);
            }
        }
    }
    Ok(basis)
}
