//! LU factors of matrices, with rows exchanged so that no pivot is smaller than what is below it.

use super::call::{OF_A, sizes_differ};
use super::{Failure, Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::structured::{FromArgs, Operand};

/// The factors of a matrix in its place. `CHECKED` is without `info`, and fails where a matrix is singular.
pub struct LuFactor<const CHECKED: bool>;

/// What the arguments of a factorization say.
#[derive(Clone, Copy, Default, Debug)]
pub struct LuOptions {
    pivot: bool,
    check_errors: bool,
}

/// Declares the matrix that is factored. Returns its rows and columns.
fn to_factor(call: &mut MatrixCall<'_, '_, '_>, pivot: bool) -> Result<[i64; 2]> {
    let [rows, columns] = call.one(OF_A)?;
    if call.has_memory() && !pivot && !call.sizes(0).contains(&0) {
        return Err(rule("argument pivot is false; accepted on this device is true"));
    }
    call.set_sizes([rows, columns, 0]);
    call.input(2, Order::Columns)?;
    Ok([rows, columns])
}

impl<const CHECKED: bool> MatrixFn for LuFactor<CHECKED> {
    const NAME: &'static str = if CHECKED { "linalg_lu_factor" } else { "linalg_lu_factor_ex" };
    const OUTPUTS: usize = if CHECKED { 2 } else { 3 };
    type Options = LuOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut LuOptions) -> Result<()> {
        let [rows, columns] = to_factor(call, options.pivot)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)?;
        call.output(Kind::Integers, &[rows.min(columns)], Order::Columns)?;
        call.info(!CHECKED)
    }

    fn checks(options: &LuOptions) -> Option<Failure> {
        (CHECKED || options.check_errors).then_some(Failure::Singular)
    }
}

/// Which of the parts of a factored matrix are wanted.
#[derive(Clone, Copy, Default, Debug)]
pub struct LuParts {
    /// L and U.
    pub factors: bool,
    /// The permutation.
    pub pivots: bool,
}

/// Declares the matrices P, L and U of those that are declared as inputs.
fn parts(call: &mut MatrixCall<'_, '_, '_>, [rows, columns]: [i64; 2], wanted: LuParts) -> Result<()> {
    let rank = rows.min(columns);
    for (is_wanted, matrix) in
        [(wanted.pivots, [rows, rows]), (wanted.factors, [rows, rank]), (wanted.factors, [rank, columns])]
    {
        match is_wanted {
            true => call.output(Kind::Elements, &matrix, Order::Rows)?,
            false => call.nothing(Kind::Elements)?,
        }
    }
    Ok(())
}

/// The factors of a matrix, each in a matrix of its own.
pub struct Lu;

impl MatrixFn for Lu {
    const NAME: &'static str = "linalg_lu";
    const OUTPUTS: usize = 3;
    type Options = LuOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut LuOptions) -> Result<()> {
        let [rows, columns] = to_factor(call, options.pivot)?;
        parts(call, [rows, columns], LuParts { factors: true, pivots: options.pivot })?;
        call.hidden(Kind::Elements, &[rows, columns])?;
        call.hidden(Kind::Integers, &[rows.min(columns)])
    }
}

/// A factored matrix in parts.
pub struct LuUnpack;

impl MatrixFn for LuUnpack {
    const NAME: &'static str = "lu_unpack";
    const OUTPUTS: usize = 3;
    type Options = LuParts;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut LuParts) -> Result<()> {
        let [rows, columns] = call.one(("LU_data", "argument LU_data has dtype"))?;
        call.set_sizes([rows, columns, 0]);
        call.input(2, Order::Columns)?;
        if options.pivots {
            call.check_integers(1, "argument LU_pivots has dtype")?;
            check_pivots(call, (0, 1), "LU_pivots", rows.min(columns))?;
            call.input(1, Order::Columns)?;
        } else {
            call.unread();
        }
        parts(call, [rows, columns], *options)
    }
}

/// The pivots of matrices, as many as each has rows that were exchanged.
pub(super) fn check_pivots(
    call: &MatrixCall<'_, '_, '_>,
    (factors, pivots): (usize, usize),
    arg: &'static str,
    count: i64,
) -> Result<()> {
    let want: Vec<i64> = call.batch_of(factors, 2).iter().copied().chain([count]).collect();
    if call.sizes(pivots) == &want[..] { Ok(()) } else { Err(sizes_differ(arg, call.sizes(pivots), &want)) }
}

arguments! {
    LuFactor<false>: [A] pivot: bool, check_errors: bool => LuOptions { pivot, check_errors };
    LuFactor<true>: [A] pivot: bool => LuOptions { pivot, check_errors: true };
    Lu: [A] pivot: bool => LuOptions { pivot, check_errors: false };
    LuUnpack: [A, P] factors: bool, pivots: bool => LuParts { factors, pivots };
}

native! {
    family: LuFactors;

    /// The LU factors of matrices, each in one matrix: the elements below the diagonal are those of L, whose diagonal
    /// is 1, the others those of U. P · L · U is the matrix, P the exchanges of rows that `pivots` tell.
    ///
    /// A matrix is the last two dimensions of `A`, of float32, float64, complex64 or complex128. `pivots` has for each
    /// row, counted from 1, that with which it was exchanged. A singular matrix is an error, and so is `pivot=False`.
    ///
    /// ```
    /// let (factors, pivots) = ops::linalg_lu_factor(&tensor![[1.0f64, 2.0], [4.0, 2.0]])?;
    /// assert_eq!(factors.to_vec::<f64>()?, [4.0, 2.0, 0.25, 1.5]);
    /// assert_eq!(pivots.to_vec::<i32>()?, [2, 2]);
    /// ```
    func: linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots),
    out: linalg_lu_factor.out, variants: function, structured: OnMatrices<LuFactor<true>>;

    func: linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False)
        -> (Tensor LU, Tensor pivots, Tensor info),
    out: linalg_lu_factor_ex.out, structured: OnMatrices<LuFactor<false>>;

    func: linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U),
    out: linalg_lu.out, structured: OnMatrices<Lu>;

    func: lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True)
        -> (Tensor P, Tensor L, Tensor U),
    out: lu_unpack.out, structured: OnMatrices<LuUnpack>;
}
