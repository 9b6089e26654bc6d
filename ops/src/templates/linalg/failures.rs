//! What `info` tells: 0 of a matrix that was factored, else the number of the row, counted from 1, where it failed.

use crate::table::native;
use monomorph_core::{Device, Error, ErrorKind, Result, Tensor, observe};

/// What a matrix fails of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It has no inverse, and systems of equations have no unique solution.
    Singular,
    /// It has no Cholesky factor.
    NotPositiveDefinite,
    /// An iteration did not converge.
    NotConverged,
    /// Its columns or rows depend on each other.
    RankDeficient,
    /// The algorithm says so, without words.
    Other,
}

impl Failure {
    /// The failure of functions with this name, such as `linalg.inv`.
    fn of(name: &str) -> Failure {
        let of = [
            (Failure::Singular, &["inv", "solve", "lu_factor"][..]),
            (Failure::NotPositiveDefinite, &["cholesky"]),
            (Failure::NotConverged, &["eig", "svd", "lstsq"]),
        ];
        let fits = |(_, parts): &(Failure, &[&str])| parts.iter().any(|part| name.contains(part));
        of.into_iter().find(fits).map_or(Failure::Other, |(failure, _)| failure)
    }

    /// An error if a matrix failed.
    pub fn check(self, info: &[i32]) -> Result<()> {
        let Some((matrix, &element)) = info.iter().enumerate().find(|(_, info)| **info != 0) else { return Ok(()) };
        let problem = match self {
            Failure::Singular => "is singular",
            Failure::NotPositiveDefinite => "is not positive definite",
            Failure::NotConverged => "has values that did not converge",
            Failure::RankDeficient => "does not have full rank",
            Failure::Other => "cannot be factored",
        };
        Err(ErrorKind::Matrix { matrix, problem, row: i64::from(element) }.into())
    }
}

/// `_linalg_check_errors`: an error if a matrix failed. Tensors without data are taken at their word.
pub fn check_errors<D: Device>(info: &Tensor<D>, name: &str, _is_matrix: bool) -> Result<()> {
    let _span = observe::operator("_linalg_check_errors", [info.geometry()]);
    let check = || match info.device().is_meta() {
        true => Ok(()),
        false => Failure::of(name).check(&info.to_vec::<i32>()?),
    };
    check().map_err(|e: Error| e.of("_linalg_check_errors"))
}

native! {
    family: MatrixFailures;

    func: _linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> (), kernel: check_errors;
}
