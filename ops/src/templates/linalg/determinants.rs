//! Determinants of matrices, from their LU factors.

use super::call::OF_A;
use super::{Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::structured::{FromArgs, Operand};

/// Determinants, with the factors that they come from unless `ALONE`.
pub struct Determinant<const ALONE: bool>;

/// Signs and logarithms of determinants, with the factors that they come from unless `ALONE`.
pub struct LogDeterminant<const ALONE: bool>;

/// How factors come from a matrix.
#[derive(Clone, Copy, Default, Debug)]
pub struct Transposed {
    /// It is the transposed matrix that is factored: its columns lie one after another.
    pub is_transposed: bool,
}

/// The order in which a square matrix is read to be factored, and whether that is the transposed one.
fn read(call: &mut MatrixCall<'_, '_, '_>, operand: usize) -> Result<Transposed> {
    let is_transposed = call.is_contiguous(operand) && !call.dtype().is_complex();
    call.input(2, if is_transposed { Order::Rows } else { Order::Columns })?;
    Ok(Transposed { is_transposed })
}

/// A determinant of some kind.
fn determinant(
    call: &mut MatrixCall<'_, '_, '_>,
    options: &mut Transposed,
    results: &[Kind],
    alone: bool,
) -> Result<()> {
    let size = call.one_square(OF_A)?;
    call.set_sizes([size, size, 0]);
    *options = read(call, 0)?;
    for &kind in results {
        call.output(kind, &[], Order::Columns)?;
    }
    call.output_or_hidden(!alone, Kind::Elements, &[size, size])?;
    call.output_or_hidden(!alone, Kind::Integers, &[size])
}

impl<const ALONE: bool> MatrixFn for Determinant<ALONE> {
    const NAME: &'static str = if ALONE { "linalg_det" } else { "_linalg_det" };
    const OUTPUTS: usize = if ALONE { 1 } else { 3 };
    type Options = Transposed;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut Transposed) -> Result<()> {
        determinant(call, options, &[Kind::Elements], ALONE)
    }
}

impl<const ALONE: bool> MatrixFn for LogDeterminant<ALONE> {
    const NAME: &'static str = if ALONE { "linalg_slogdet" } else { "_linalg_slogdet" };
    const OUTPUTS: usize = if ALONE { 2 } else { 4 };
    type Options = Transposed;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut Transposed) -> Result<()> {
        determinant(call, options, &[Kind::Elements, Kind::Reals], ALONE)
    }
}

arguments! {
    Determinant<true>: [A] => Transposed::default();
    Determinant<false>: [A] => Transposed::default();
    LogDeterminant<true>: [A] => Transposed::default();
    LogDeterminant<false>: [A] => Transposed::default();
}

native! {
    family: Determinants;

    /// The determinants of matrices, which are the last two dimensions of `A`.
    ///
    /// They are of the dtype of `A`: float32, float64, complex64 or complex128. That of a matrix without elements is 1.
    ///
    /// ```
    /// assert_eq!(ops::linalg_det(&tensor![[1.0f64, 2.0], [4.0, 2.0]])?.item()?.to_f64(), -6.0);
    /// ```
    func: linalg_det(Tensor A) -> Tensor,
    out: linalg_det.out, variants: function, structured: OnMatrices<Determinant<true>>;

    func: _linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots),
    out: _linalg_det.result, structured: OnMatrices<Determinant<false>>;

    /// The determinants of matrices as a sign, or a complex number of absolute value 1, and the logarithm of the
    /// absolute value, which does not overflow. Of a singular matrix they are 0 and negative infinity.
    ///
    /// A matrix is the last two dimensions of `A`, of float32, float64, complex64 or complex128.
    ///
    /// ```
    /// let (sign, logarithm) = ops::linalg_slogdet(&tensor![[0.0f64, 1e200], [1e200, 0.0]])?;
    /// assert_eq!((sign.item()?.to_f64(), logarithm.item()?.to_f64()), (-1.0, 2.0 * 1e200f64.ln()));
    /// ```
    func: linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet),
    out: linalg_slogdet.out, variants: function, structured: OnMatrices<LogDeterminant<true>>;

    func: _linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots),
    out: _linalg_slogdet.sign, structured: OnMatrices<LogDeterminant<false>>;
}
