//! LDL factors of symmetric or Hermitian matrices that need not be definite, and systems of equations that have them.

use super::call::{OF_B, OF_SELF};
use super::lu::check_pivots;
use super::{Failure, Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand};
use monomorph_core::{ErrorKind, Result};

/// What a matrix is.
#[derive(Clone, Copy, Default, Debug)]
pub struct LdlOptions {
    /// Hermitian; else symmetric, though its elements may be complex.
    pub hermitian: bool,
    check_errors: bool,
}

/// Factors. `CHECKED` is without `info`, and fails where a matrix is singular.
pub struct LdlFactor<const CHECKED: bool>;

impl<const CHECKED: bool> MatrixFn for LdlFactor<CHECKED> {
    const NAME: &'static str = if CHECKED { "linalg_ldl_factor" } else { "linalg_ldl_factor_ex" };
    const OUTPUTS: usize = if CHECKED { 2 } else { 3 };
    type Options = LdlOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut LdlOptions) -> Result<()> {
        let size = call.one_square(OF_SELF)?;
        call.set_sizes([size, size, 0]);
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[size, size], Order::Columns)?;
        call.output(Kind::Integers, &[size], Order::Columns)?;
        call.info(!CHECKED)
    }

    fn checks(options: &LdlOptions) -> Option<Failure> {
        (CHECKED || options.check_errors).then_some(Failure::Singular)
    }
}

/// Solutions of systems whose matrices were factored.
pub struct LdlSolve;

impl MatrixFn for LdlSolve {
    const NAME: &'static str = "linalg_ldl_solve";
    const OUTPUTS: usize = 1;
    type Options = LdlOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, _: &mut LdlOptions) -> Result<()> {
        let [rows, columns] = call.system((0, ("LD", "argument LD has dtype")), (2, OF_B), true)?;
        call.check_integers(1, "argument pivots has dtype")?;
        check_pivots(call, (0, 1), "pivots", rows)?;
        call.input(2, Order::Columns)?;
        call.input(1, Order::Columns)?;
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)
    }
}

arguments! {
    LdlFactor<false>: [A] hermitian: bool, check_errors: bool => LdlOptions { hermitian, check_errors };
    LdlFactor<true>: [A] hermitian: bool => LdlOptions { hermitian, check_errors: true };
    LdlSolve: [A, P, B] hermitian: bool => LdlOptions { hermitian, check_errors: false };
}

/// Pivots are rows, and negative ones come in pairs, which only their values tell.
pub const PIVOTS: ErrorKind = ErrorKind::ArgumentRule {
    rule: "argument pivots has numbers that are no rows, or a negative one without its pair; accepted are those that \
           linalg_ldl_factor gives",
};

native! {
    family: LdlFactors;

    func: linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots),
    out: linalg_ldl_factor.out, structured: OnMatrices<LdlFactor<true>>;

    func: linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False)
        -> (Tensor LD, Tensor pivots, Tensor info),
    out: linalg_ldl_factor_ex.out, structured: OnMatrices<LdlFactor<false>>;

    func: linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor,
    out: linalg_ldl_solve.out, structured: OnMatrices<LdlSolve>;
}
