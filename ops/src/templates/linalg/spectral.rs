//! Eigenvalues and singular values of matrices, with their vectors.

use super::call::{OF_A, OF_SELF};
use super::{Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand};
use monomorph_core::{ErrorKind, Result};

/// What a call returns: values and vectors, as it asks for the latter.
pub const AS_ASKED: u8 = 0;
/// The same, always both.
pub const BOTH: u8 = 1;
/// Values alone.
pub const VALUES: u8 = 2;

/// Eigenvalues of Hermitian matrices.
pub struct Hermitian<const RETURNS: u8>;

/// Which triangle counts, and whether vectors are wanted.
#[derive(Clone, Copy, Default, Debug)]
pub struct HermitianOptions {
    /// The one from the diagonal up.
    pub upper: bool,
    /// Vectors are wanted, too.
    pub vectors: bool,
}

impl<const RETURNS: u8> MatrixFn for Hermitian<RETURNS> {
    const NAME: &'static str = match RETURNS {
        AS_ASKED => "_linalg_eigh",
        BOTH => "linalg_eigh",
        _ => "linalg_eigvalsh",
    };
    const OUTPUTS: usize = if RETURNS == VALUES { 1 } else { 2 };
    type Options = HermitianOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut HermitianOptions) -> Result<()> {
        let size = call.one_square(OF_A)?;
        call.set_sizes([size, size, 0]);
        call.input(2, Order::Columns)?;
        call.output(Kind::Reals, &[size], Order::Columns)?;
        match (options.vectors, RETURNS) {
            (false, AS_ASKED) => {
                call.nothing(Kind::Elements)?;
                call.hidden(Kind::Elements, &[size, size])
            }
            (vectors, _) => call.output_or_hidden(vectors, Kind::Elements, &[size, size]),
        }
    }
}

/// Which triangle a letter names.
fn is_upper(letter: &str) -> Result<bool> {
    match letter {
        "L" | "l" => Ok(false),
        "U" | "u" => Ok(true),
        _ => Err(rule("argument UPLO is neither 'L' nor 'U'")),
    }
}

/// Eigenvalues of any square matrices.
pub struct Eigen<const RETURNS: u8>;

impl<const RETURNS: u8> MatrixFn for Eigen<RETURNS> {
    const NAME: &'static str = if RETURNS == BOTH { "linalg_eig" } else { "linalg_eigvals" };
    const OUTPUTS: usize = if RETURNS == BOTH { 2 } else { 1 };
    type Options = ();

    fn declare(call: &mut MatrixCall<'_, '_, '_>, (): &mut ()) -> Result<()> {
        let size = call.one_square(OF_SELF)?;
        call.set_sizes([size, size, 0]);
        call.input(2, Order::Columns)?;
        call.output(Kind::Complex, &[size], Order::Columns)?;
        if RETURNS == BOTH {
            call.output(Kind::Complex, &[size, size], Order::Columns)?;
        }
        call.hidden(Kind::Elements, &[size, size])
    }
}

/// Singular values, with both kinds of vectors unless they are not asked for.
pub struct Singular<const RETURNS: u8>;

/// Which vectors are wanted.
#[derive(Clone, Copy, Default, Debug)]
pub struct SingularOptions {
    /// As many as the matrix has rows, and columns; else as many as there are values.
    pub full: bool,
    /// Some are.
    pub vectors: bool,
    has_driver: bool,
}

impl<const RETURNS: u8> MatrixFn for Singular<RETURNS> {
    const NAME: &'static str = match RETURNS {
        AS_ASKED => "_linalg_svd",
        BOTH => "linalg_svd",
        _ => "linalg_svdvals",
    };
    const OUTPUTS: usize = if RETURNS == VALUES { 1 } else { 3 };
    type Options = SingularOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut SingularOptions) -> Result<()> {
        let [rows, columns] = call.one(OF_A)?;
        if options.has_driver && call.has_memory() {
            return Err(rule("argument driver names a solver of CUDA; accepted is none"));
        }
        call.set_sizes([rows, columns, 0]);
        call.input(2, Order::Columns)?;
        let count = rows.min(columns);
        let (left, right) = if options.full { (rows, columns) } else { (count, count) };
        if RETURNS == VALUES {
            call.output(Kind::Reals, &[count], Order::Columns)?;
        } else if options.vectors {
            call.output(Kind::Elements, &[rows, left], Order::Columns)?;
            call.output(Kind::Reals, &[count], Order::Columns)?;
            call.output(Kind::Elements, &[right, columns], Order::Columns)?;
        } else {
            call.nothing(Kind::Elements)?;
            call.output(Kind::Reals, &[count], Order::Columns)?;
            call.nothing(Kind::Elements)?;
        }
        call.hidden(Kind::Elements, &[rows, columns])
    }
}

arguments! {
    Hermitian<AS_ASKED>: [A] triangle: &'t str, vectors: bool =>
        HermitianOptions { upper: is_upper(triangle)?, vectors };
    Hermitian<BOTH>: [A] triangle: &'t str => HermitianOptions { upper: is_upper(triangle)?, vectors: true };
    Hermitian<VALUES>: [A] triangle: &'t str => HermitianOptions { upper: is_upper(triangle)?, vectors: false };
    Eigen<BOTH>: [A] => ();
    Eigen<VALUES>: [A] => ();
    Singular<AS_ASKED>: [A] full: bool, vectors: bool, driver: Option<&'t str> =>
        SingularOptions { full, vectors, has_driver: driver.is_some() };
    Singular<BOTH>: [A] full: bool, driver: Option<&'t str> =>
        SingularOptions { full, vectors: true, has_driver: driver.is_some() };
    Singular<VALUES>: [A] driver: Option<&'t str> =>
        SingularOptions { full: false, vectors: false, has_driver: driver.is_some() };
}

/// A matrix has no eigenvalues or singular values if an element is NaN, which only its elements tell.
pub const NOT_A_NUMBER: ErrorKind =
    ErrorKind::ArgumentRule { rule: "a matrix has NaN for an element; accepted are matrices of numbers" };

/// The same of infinite elements.
pub const INFINITE: ErrorKind =
    ErrorKind::ArgumentRule { rule: "a matrix has an infinite element; accepted are matrices of finite numbers" };

/// The bound on iterations was reached.
pub const NOT_CONVERGED: ErrorKind = ErrorKind::ArgumentRule {
    rule: "the values of a matrix did not converge; scale its rows and columns to similar norms",
};

native! {
    family: Spectra;

    /// The eigenvalues of symmetric or Hermitian matrices in ascending order, and their eigenvectors as columns.
    ///
    /// A matrix is the last two dimensions of `self`, of float32, float64, complex64 or complex128. Only the lower
    /// triangle is read or, if `UPLO` is "U", the upper one. Values are real; vectors are orthogonal, of norm 1, and
    /// each is determined up to a factor of absolute value 1. An infinite element makes all of them NaN; NaN
    /// is an error.
    ///
    /// ```
    /// let (values, vectors) = ops::linalg_eigh(&tensor![[2.0f64, 1.0], [1.0, 2.0]])?;
    /// assert!(values.allclose(&tensor![1.0f64, 3.0])?);
    /// assert_eq!(vectors.sizes(), [2, 2]);
    /// ```
    func: linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors),
    out: linalg_eigh.eigvals as [eigvals, eigvecs], variants: function, structured: OnMatrices<Hermitian<BOTH>>;

    func: _linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors),
    out: _linalg_eigh.eigenvalues, structured: OnMatrices<Hermitian<AS_ASKED>>;

    func: linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor,
    out: linalg_eigvalsh.out, structured: OnMatrices<Hermitian<VALUES>>;

    func: linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors),
    out_matrix: linalg_eig.out, structured: OnMatrices<Eigen<BOTH>>;

    func: linalg_eigvals(Tensor self) -> Tensor,
    out_matrix: linalg_eigvals.out, structured: OnMatrices<Eigen<VALUES>>;

    /// The singular values of matrices, in descending order.
    ///
    /// A matrix is the last two dimensions of `A`; the result has as many values as the smaller of them has elements.
    /// They are real and not negative, of the precision of `A`, which is float32, float64, complex64 or complex128.
    /// An infinite element makes all values of its matrix NaN; NaN is an error, and so is the option
    /// `driver`, which chooses a solver on CUDA.
    ///
    /// ```
    /// let x = tensor![[3.0f64, 0.0, 0.0], [0.0, 0.0, -4.0]];
    /// assert!(ops::linalg_svdvals(&x)?.allclose(&tensor![4.0f64, 3.0])?);
    /// ```
    func: linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor,
    out: linalg_svdvals.out, variants: function, structured: OnMatrices<Singular<VALUES>>;

    func: linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh),
    out: linalg_svd.U, structured: OnMatrices<Singular<BOTH>>;

    func: _linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None)
        -> (Tensor U, Tensor S, Tensor Vh),
    out: _linalg_svd.U, structured: OnMatrices<Singular<AS_ASKED>>;
}
