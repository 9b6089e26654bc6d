//! Systems of linear equations with triangular matrices.

use super::call::{OF_A, OF_B, OF_SELF};
use super::{Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::structured::{FromArgs, Operand};

/// What a triangular matrix is, and where it stands.
#[derive(Clone, Copy, Default, Debug)]
pub struct TriangleOptions {
    /// The elements from the diagonal up count; else those from the diagonal down.
    pub upper: bool,
    /// A X = B; else X A = B, of which B and X are read transposed.
    pub left: bool,
    /// Aᵀ stands in place of A.
    pub transposed: bool,
    /// The elements of the diagonal count as 1.
    pub unit: bool,
}

/// Solutions of such systems.
pub struct SolveTriangular;

impl MatrixFn for SolveTriangular {
    const NAME: &'static str = "linalg_solve_triangular";
    const OUTPUTS: usize = 1;
    type Options = TriangleOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut TriangleOptions) -> Result<()> {
        let [rows, columns] = call.system((0, OF_SELF), (1, OF_B), options.left)?;
        call.input(2, Order::Columns)?;
        call.input(2, if options.left { Order::Columns } else { Order::Rows })?;
        // PyTorch solves the transposed system where that spares a copy of conjugates.
        let order = if call.is_conj_by_columns(0) { Order::Rows } else { Order::Columns };
        match options.left == (order == Order::Columns) {
            true => call.output(Kind::Elements, &[rows, columns], order),
            false => call.turned([rows, columns], order),
        }
    }
}

/// The same in the older form: right-hand sides first, and a copy of the matrix as a second output.
pub struct TriangularSolve;

impl MatrixFn for TriangularSolve {
    const NAME: &'static str = "triangular_solve";
    const OUTPUTS: usize = 2;
    type Options = TriangleOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut TriangleOptions) -> Result<()> {
        let [rows, columns] = call.system((1, OF_A), (0, OF_SELF), true)?;
        call.input(2, Order::Columns)?;
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)?;
        call.output(Kind::Elements, &[rows, rows], Order::Columns)
    }
}

arguments! {
    SolveTriangular: [A, B] upper: bool, left: bool, unit: bool =>
        TriangleOptions { upper, left, unit, transposed: false };
    TriangularSolve: [B, A] upper: bool, transposed: bool, unit: bool =>
        TriangleOptions { upper, left: true, unit, transposed };
}

native! {
    family: TriangularSystems;

    /// The solution X of A X = B or, where `left` is false, of X A = B, A being `self` and triangular.
    ///
    /// Of `self` only the triangle counts that `upper` tells, and without its diagonal if `unitriangular`, which is 1
    /// then. Matrices are the last two dimensions of `self` and `B`, batches broadcast, and both are float32, float64,
    /// complex64 or complex128. An element 0 of the diagonal divides all the same.
    ///
    /// ```
    /// let a = tensor![[2.0f64, 0.0], [1.0, 4.0]];
    /// let x = ops::linalg_solve_triangular(&a, &tensor![[2.0f64], [9.0]], false).unwrap();
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
    /// ```
    func: linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False)
        -> Tensor,
    out: linalg_solve_triangular.out, variants: function, structured: OnMatrices<SolveTriangular>;

    func: triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False)
        -> (Tensor solution, Tensor cloned_coefficient),
    out: triangular_solve.X as [X, M], structured: OnMatrices<TriangularSolve>;
}
