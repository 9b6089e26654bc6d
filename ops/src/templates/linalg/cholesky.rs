//! Cholesky factors of positive definite matrices, and systems of equations that have them.

use super::call::{OF_A, OF_SELF};
use super::{Failure, Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::structured::{FromArgs, Operand};

/// Which triangle counts.
#[derive(Clone, Copy, Default, Debug)]
pub struct CholeskyOptions {
    /// The one from the diagonal up.
    pub upper: bool,
    check_errors: bool,
}

/// Factors. `CHECKED` is without `info`, and fails where a matrix is not positive definite.
pub struct Cholesky<const CHECKED: bool>;

impl<const CHECKED: bool> MatrixFn for Cholesky<CHECKED> {
    const NAME: &'static str = if CHECKED { "linalg_cholesky" } else { "linalg_cholesky_ex" };
    const OUTPUTS: usize = if CHECKED { 1 } else { 2 };
    type Options = CholeskyOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut CholeskyOptions) -> Result<()> {
        let size = call.one_square(OF_SELF)?;
        call.set_sizes([size, size, 0]);
        // The upper triangle row by row is the lower one of the transposed matrix, and so is the factor.
        if options.upper {
            call.input(2, Order::Rows)?;
            call.turned([size, size], Order::Columns)?;
        } else {
            call.input(2, Order::Columns)?;
            call.output(Kind::Elements, &[size, size], Order::Columns)?;
        }
        call.info(!CHECKED)
    }

    fn checks(options: &CholeskyOptions) -> Option<Failure> {
        (CHECKED || options.check_errors).then_some(Failure::NotPositiveDefinite)
    }
}

/// Solutions of systems whose matrices were factored.
pub struct CholeskySolve;

impl MatrixFn for CholeskySolve {
    const NAME: &'static str = "_cholesky_solve_helper";
    const OUTPUTS: usize = 1;
    type Options = CholeskyOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut CholeskyOptions) -> Result<()> {
        let [rows, columns] = call.system((1, OF_A), (0, OF_SELF), true)?;
        call.input(2, Order::Columns)?;
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)
    }
}

/// Inverses of matrices that were factored.
pub struct CholeskyInverse;

impl MatrixFn for CholeskyInverse {
    const NAME: &'static str = "cholesky_inverse";
    const OUTPUTS: usize = 1;
    type Options = CholeskyOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut CholeskyOptions) -> Result<()> {
        let size = call.one_square(OF_SELF)?;
        call.set_sizes([size, size, size]);
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[size, size], Order::Columns)?;
        call.info(false)
    }

    fn checks(_: &CholeskyOptions) -> Option<Failure> {
        Some(Failure::Singular)
    }
}

arguments! {
    Cholesky<false>: [A] upper: bool, check_errors: bool => CholeskyOptions { upper, check_errors };
    Cholesky<true>: [A] upper: bool => CholeskyOptions { upper, check_errors: true };
    CholeskySolve: [B, A] upper: bool => CholeskyOptions { upper, check_errors: false };
    CholeskyInverse: [A] upper: bool => CholeskyOptions { upper, check_errors: false };
}

native! {
    family: CholeskyFactors;

    /// The Cholesky factors of matrices: the lower triangular L with L · Lᴴ = A, whose diagonal is positive or, if
    /// `upper`, its adjoint U with Uᴴ · U = A.
    ///
    /// A matrix is the last two dimensions of `self`, of float32, float64, complex64 or complex128. Only its lower
    /// triangle is read or, if `upper`, its upper one. A matrix that is not positive definite is an error.
    ///
    /// ```
    /// let factor = ops::linalg_cholesky(&tensor![[4.0f64, 2.0], [2.0, 5.0]])?;
    /// assert_eq!(factor.contiguous()?.to_vec::<f64>()?, [2.0, 0.0, 1.0, 2.0]);
    /// ```
    func: linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor,
    out: linalg_cholesky.out, variants: function, structured: OnMatrices<Cholesky<true>>;

    func: linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info),
    out: linalg_cholesky_ex.L, structured: OnMatrices<Cholesky<false>>;

    func: _cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor,
    autogen: _cholesky_solve_helper.out, structured: OnMatrices<CholeskySolve>;

    func: cholesky_inverse(Tensor self, bool upper=False) -> Tensor,
    out_matrix: cholesky_inverse.out, structured: OnMatrices<CholeskyInverse>;
}
