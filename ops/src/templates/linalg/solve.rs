//! Systems of linear equations with square matrices, and inverses, by LU factors.

use super::call::{OF_A, OF_B, sizes_differ};
use super::lu::check_pivots;
use super::{Failure, Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::structured::{FromArgs, Operand};

/// The outputs of a solver.
pub const SOLUTION: u8 = 0;
/// The same with `info`.
pub const SOLUTION_AND_INFO: u8 = 1;
/// The same with the factors.
pub const SOLUTION_AND_FACTORS: u8 = 2;

/// Solutions of systems of equations, with more outputs or fewer.
pub struct Solve<const OUTPUTS: u8>;

/// How a system is solved.
#[derive(Clone, Copy, Default, Debug)]
pub struct SolveOptions {
    /// A X = B; else X A = B, of which every matrix is read transposed.
    pub left: bool,
    check_errors: bool,
}

/// Whether right-hand sides are vectors, one for each matrix.
fn are_vectors(a: &[i64], b: &[i64]) -> bool {
    b.len() == 1 || a.split_last().is_some_and(|(_, others)| others == b)
}

impl<const OUTPUTS: u8> MatrixFn for Solve<OUTPUTS> {
    const NAME: &'static str = match OUTPUTS {
        SOLUTION => "linalg_solve",
        SOLUTION_AND_INFO => "linalg_solve_ex",
        _ => "_linalg_solve_ex",
    };
    const OUTPUTS: usize = match OUTPUTS {
        SOLUTION => 1,
        SOLUTION_AND_INFO => 2,
        _ => 4,
    };
    type Options = SolveOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut SolveOptions) -> Result<()> {
        let size = call.square(0, "A")?;
        call.check_dtypes(&[(0, OF_A.1), (1, OF_B.1)])?;
        let vectors = are_vectors(call.sizes(0), call.sizes(1));
        if vectors && !options.left {
            return Err(rule("argument B holds vectors, and left is false; accepted are matrices or left=True"));
        }
        let [rows, columns] = match vectors {
            true if call.sizes(1).last() == Some(&size) => [size, 1],
            true => return Err(sizes_differ("B", call.sizes(1), &[size])),
            false => call.right_hand_sides(1, "B", size, options.left)?,
        };
        let b_dims = if vectors { 1 } else { 2 };
        // The factors have the matrices of A, the solution those of both.
        call.broadcast(&[(0, 2), (1, b_dims)])?;
        call.set_sizes([size, size, if options.left { columns } else { rows }]);
        call.input(2, Order::Columns)?;
        let order = if options.left { Order::Columns } else { Order::Rows };
        call.input(b_dims, order)?;
        match vectors {
            true => call.vectors(size)?,
            false => call.output(Kind::Elements, &[rows, columns], order)?,
        }
        let full = OUTPUTS == SOLUTION_AND_FACTORS;
        call.own_output(0, full, Kind::Elements, &[size, size])?;
        call.own_output(0, full, Kind::Integers, &[size])?;
        match OUTPUTS {
            SOLUTION => call.info(false),
            _ => call.own_output(0, true, Kind::Integers, &[]),
        }
    }

    fn checks(options: &SolveOptions) -> Option<Failure> {
        (OUTPUTS == SOLUTION || options.check_errors).then_some(Failure::Singular)
    }
}

/// Inverses. `CHECKED` is without `info`, and fails where a matrix is singular.
pub struct Inverse<const CHECKED: bool>;

/// How a matrix is inverted.
#[derive(Clone, Copy, Default, Debug)]
pub struct InverseOptions {
    check_errors: bool,
}

impl<const CHECKED: bool> MatrixFn for Inverse<CHECKED> {
    const NAME: &'static str = if CHECKED { "linalg_inv" } else { "linalg_inv_ex" };
    const OUTPUTS: usize = if CHECKED { 1 } else { 2 };
    type Options = InverseOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut InverseOptions) -> Result<()> {
        let size = call.one_square(OF_A)?;
        call.check_wide(OF_A.1)?;
        call.set_sizes([size, size, size]);
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[size, size], Order::Columns)?;
        call.hidden(Kind::Elements, &[size, size])?;
        call.hidden(Kind::Integers, &[size])?;
        call.info(!CHECKED)
    }

    fn checks(options: &InverseOptions) -> Option<Failure> {
        (CHECKED || options.check_errors).then_some(Failure::Singular)
    }
}

/// Solutions of systems of equations whose matrices were factored.
pub struct LuSolve;

/// What system factors are to solve.
#[derive(Clone, Copy, Default, Debug)]
pub struct LuSolveOptions {
    /// A X = B; else X A = B, of which B and X are read transposed.
    pub left: bool,
    /// Aᴴ stands in place of A.
    pub adjoint: bool,
}

impl MatrixFn for LuSolve {
    const NAME: &'static str = "linalg_lu_solve";
    const OUTPUTS: usize = 1;
    type Options = LuSolveOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut LuSolveOptions) -> Result<()> {
        let [rows, columns] = call.system((0, ("LU", "argument LU has dtype")), (2, OF_B), options.left)?;
        call.check_integers(1, "argument pivots has dtype")?;
        check_pivots(call, (0, 1), "pivots", if options.left { rows } else { columns })?;
        let order = if options.left { Order::Columns } else { Order::Rows };
        call.input(2, Order::Columns)?;
        call.input(1, Order::Columns)?;
        call.input(2, order)?;
        call.output(Kind::Elements, &[rows, columns], order)
    }
}

arguments! {
    Solve<SOLUTION_AND_FACTORS>: [A, B] left: bool, check_errors: bool => SolveOptions { left, check_errors };
    Solve<SOLUTION_AND_INFO>: [A, B] left: bool, check_errors: bool => SolveOptions { left, check_errors };
    Solve<SOLUTION>: [A, B] left: bool => SolveOptions { left, check_errors: true };
    Inverse<false>: [A] check_errors: bool => InverseOptions { check_errors };
    Inverse<true>: [A] => InverseOptions { check_errors: true };
    LuSolve: [A, P, B] left: bool, adjoint: bool => LuSolveOptions { left, adjoint };
}

/// The form with the right-hand sides first.
impl<'t, T, P, B> FromArgs<(B, T, P)> for MatrixInputs<'t, LuSolve>
where
    T: Into<Operand<'t>>,
    P: Into<Operand<'t>>,
    B: Into<Operand<'t>>,
{
    fn from_args((b, factors, pivots): (B, T, P)) -> Result<Self> {
        MatrixInputs::from_args((factors, pivots, b, true, false))
    }
}

native! {
    family: LinearSystems;

    /// The solution X of A X = B or, where `left` is false, of X A = B.
    ///
    /// `A` is a square matrix, or a batch of them in its last two dimensions, and `B` a matrix, or for each matrix of
    /// `A` a vector; batches broadcast. Both are float32, float64, complex64 or complex128. A singular matrix is an
    /// error.
    ///
    /// ```
    /// let x = ops::linalg_solve(&tensor![[1.0f64, 2.0], [4.0, 2.0]], &tensor![5.0f64, 8.0])?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
    /// ```
    func: linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor,
    out: linalg_solve.out, variants: function, structured: OnMatrices<Solve<SOLUTION>>;

    func: linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False)
        -> (Tensor result, Tensor info),
    out: linalg_solve_ex.out, structured: OnMatrices<Solve<SOLUTION_AND_INFO>>;

    func: _linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False)
        -> (Tensor result, Tensor LU, Tensor pivots, Tensor info),
    out: _linalg_solve_ex.result, structured: OnMatrices<Solve<SOLUTION_AND_FACTORS>>;

    /// The inverses of square matrices, which are the last two dimensions of `A`.
    ///
    /// They are float32, float64, complex64 or complex128. A singular matrix is an error. To solve equations,
    /// [`linalg_solve`](super::functions::linalg_solve) is faster and more accurate.
    ///
    /// ```
    /// let inverse = ops::linalg_inv(&tensor![[1.0f64, 2.0], [4.0, 4.0]])?;
    /// assert_eq!(inverse.contiguous()?.to_vec::<f64>()?, [-1.0, 0.5, 1.0, -0.25]);
    /// ```
    func: linalg_inv(Tensor A) -> Tensor,
    out: linalg_inv.out, variants: function, structured: OnMatrices<Inverse<true>>;

    func: linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info),
    out: linalg_inv_ex.inverse, structured: OnMatrices<Inverse<false>>;

    func: linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor,
    out: linalg_lu_solve.out, structured: OnMatrices<LuSolve>;

    func: lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor,
    out: lu_solve.out, structured: OnMatrices<LuSolve>;
}
