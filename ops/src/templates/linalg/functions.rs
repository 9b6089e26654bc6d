//! Functions of matrices: exponentials, square roots, polar factors.

use super::call::{OF_A, OF_SELF};
use super::{Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::structured::{FromArgs, Operand};

/// Exponentials.
pub struct Exponential;

/// Declares a square matrix and a result of the same size.
fn of_square(call: &mut MatrixCall<'_, '_, '_>) -> Result<i64> {
    let size = call.square(0, OF_SELF.0)?;
    call.check_numbers(&[(0, OF_SELF.1)])?;
    call.broadcast(&[(0, 2)])?;
    call.set_sizes([size, size, 0]);
    call.input(2, Order::Columns)?;
    call.turned([size, size], Order::Rows)?;
    Ok(size)
}

impl MatrixFn for Exponential {
    const NAME: &'static str = "linalg_matrix_exp";
    const OUTPUTS: usize = 1;
    type Options = ();

    fn declare(call: &mut MatrixCall<'_, '_, '_>, (): &mut ()) -> Result<()> {
        of_square(call).map(drop)
    }
}

/// Square roots of Hermitian matrices.
pub struct SquareRoot;

impl MatrixFn for SquareRoot {
    const NAME: &'static str = "linalg_matrix_sqrth";
    const OUTPUTS: usize = 1;
    type Options = ();

    fn declare(call: &mut MatrixCall<'_, '_, '_>, (): &mut ()) -> Result<()> {
        call.check_wide(OF_SELF.1)?;
        let size = of_square(call)?;
        call.hidden(Kind::Elements, &[size, size])?;
        call.hidden(Kind::Reals, &[size])
    }
}

/// Polar factors.
pub struct Polar;

impl MatrixFn for Polar {
    const NAME: &'static str = "linalg_polar";
    const OUTPUTS: usize = 2;
    type Options = ();

    fn declare(call: &mut MatrixCall<'_, '_, '_>, (): &mut ()) -> Result<()> {
        let [rows, columns] = call.one(OF_A)?;
        if rows < columns {
            return Err(rule("argument A has fewer rows than columns; accepted are as many or more"));
        }
        call.set_sizes([rows, columns, 0]);
        call.input(2, Order::Columns)?;
        call.turned([rows, columns], Order::Rows)?;
        call.turned([columns, columns], Order::Rows)?;
        call.hidden(Kind::Elements, &[rows, columns])?;
        call.hidden(Kind::Elements, &[rows, columns])?;
        call.hidden(Kind::Reals, &[columns])
    }
}

arguments! {
    Exponential: [A] => ();
    SquareRoot: [A] => ();
    Polar: [A] => ();
}

native! {
    family: FunctionsOfMatrices;

    /// The exponentials of square matrices, which are the last two dimensions of `self`.
    ///
    /// They are of a floating or complex dtype; halves are computed in float64 and rounded once. A matrix
    /// with infinite elements or NaN gives NaN.
    ///
    /// ```
    /// let e = ops::linalg_matrix_exp(&tensor![[0.0f64, 1.0], [0.0, 0.0]])?;
    /// assert!(e.allclose(&tensor![[1.0f64, 1.0], [0.0, 1.0]])?);
    /// ```
    func: linalg_matrix_exp(Tensor self) -> Tensor,
    autogen: linalg_matrix_exp.out, variants: function, structured: OnMatrices<Exponential>;

    func: matrix_exp(Tensor self) -> Tensor, redirect: linalg_matrix_exp;

    func: linalg_matrix_sqrth(Tensor self) -> Tensor,
    autogen: linalg_matrix_sqrth.out, structured: OnMatrices<SquareRoot>;

    func: linalg_polar(Tensor A) -> (Tensor U, Tensor H),
    out: linalg_polar.out, structured: OnMatrices<Polar>;
}
