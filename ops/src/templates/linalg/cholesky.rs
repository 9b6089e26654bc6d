//! Cholesky factors of positive definite matrices, and systems of equations that have them.

use super::solve::right_hand_sides;
use super::{Failure, Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order};
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
        let size = call.square(0, "self")?;
        call.check_dtypes(&[(0, "argument self has dtype")])?;
        call.broadcast(&[(0, 2)])?;
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

impl<'t, T: Into<Operand<'t>>> FromArgs<(T, bool, bool)> for MatrixInputs<'t, Cholesky<false>> {
    fn from_args((a, upper, check_errors): (T, bool, bool)) -> Result<Self> {
        Ok(MatrixInputs::new([a.into()], CholeskyOptions { upper, check_errors }))
    }
}

impl<'t, T: Into<Operand<'t>>> FromArgs<(T, bool)> for MatrixInputs<'t, Cholesky<true>> {
    fn from_args((a, upper): (T, bool)) -> Result<Self> {
        Ok(MatrixInputs::new([a.into()], CholeskyOptions { upper, check_errors: true }))
    }
}

/// Solutions of systems whose matrices were factored.
pub struct CholeskySolve;

impl MatrixFn for CholeskySolve {
    const NAME: &'static str = "_cholesky_solve_helper";
    const OUTPUTS: usize = 1;
    type Options = CholeskyOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut CholeskyOptions) -> Result<()> {
        let size = call.square(1, "A")?;
        call.check_dtypes(&[(0, "argument self has dtype"), (1, "argument A has dtype")])?;
        let [rows, columns] = right_hand_sides(call, (0, "self"), size, true)?;
        call.broadcast(&[(0, 2), (1, 2)])?;
        call.set_sizes([size, size, columns]);
        call.input(2, Order::Columns)?;
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)
    }
}

impl<'t, B: Into<Operand<'t>>, T: Into<Operand<'t>>> FromArgs<(B, T, bool)> for MatrixInputs<'t, CholeskySolve> {
    fn from_args((b, factor, upper): (B, T, bool)) -> Result<Self> {
        let options = CholeskyOptions { upper, check_errors: false };
        Ok(MatrixInputs::new([b.into(), factor.into()], options))
    }
}

/// Inverses of matrices that were factored.
pub struct CholeskyInverse;

impl MatrixFn for CholeskyInverse {
    const NAME: &'static str = "cholesky_inverse";
    const OUTPUTS: usize = 1;
    type Options = CholeskyOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut CholeskyOptions) -> Result<()> {
        let size = call.square(0, "self")?;
        call.check_dtypes(&[(0, "argument self has dtype")])?;
        call.broadcast(&[(0, 2)])?;
        call.set_sizes([size, size, size]);
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[size, size], Order::Columns)
    }
}

impl<'t, T: Into<Operand<'t>>> FromArgs<(T, bool)> for MatrixInputs<'t, CholeskyInverse> {
    fn from_args((factor, upper): (T, bool)) -> Result<Self> {
        Ok(MatrixInputs::new([factor.into()], CholeskyOptions { upper, check_errors: false }))
    }
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
