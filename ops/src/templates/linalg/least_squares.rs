//! Least squares: `linalg_lstsq`.

use super::call::{OF_SELF, sizes_differ};
use super::{Failure, Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand};
use monomorph_core::{DType, ErrorKind, Result};

/// LAPACK's routines, which differ in what they return.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Driver {
    /// By QR, of matrices of full rank: no rank.
    Gels,
    /// By QR with exchanged columns: no residuals.
    #[default]
    Gelsy,
    /// By singular values, which are returned.
    Gelsd,
}

impl Driver {
    fn named(name: Option<&str>) -> Result<Driver> {
        match name {
            None | Some("gelsy") => Ok(Driver::Gelsy),
            Some("gels") => Ok(Driver::Gels),
            Some("gelsd" | "gelss") => Ok(Driver::Gelsd),
            Some(_) => Err(rule("argument driver is none of 'gels', 'gelsy', 'gelsd' and 'gelss'")),
        }
    }
}

/// Solutions of least squares.
pub struct LeastSquares;

/// How they are computed.
#[derive(Clone, Copy, Default, Debug)]
pub struct LeastSquaresOptions {
    /// The algorithm.
    pub driver: Driver,
    /// Up to this part of the largest singular value, or of an estimate of it, the others count as zero.
    pub rcond: f64,
    given: Option<f64>,
}

impl MatrixFn for LeastSquares {
    const NAME: &'static str = "linalg_lstsq";
    const OUTPUTS: usize = 4;
    type Options = LeastSquaresOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut LeastSquaresOptions) -> Result<()> {
        let [rows, columns] = call.matrix(0, OF_SELF.0)?;
        call.check_dtypes(&[(0, OF_SELF.1), (1, "argument b has dtype")])?;
        let (dims, got) = (call.sizes(0).len(), call.sizes(1).len());
        let vectors = got.saturating_add(1) == dims;
        if !vectors && got != dims {
            let accepted = "as many as self has, or one less";
            return Err(ErrorKind::DimCount { arg: "b", got, accepted }.into());
        }
        let (b_dims, count) = match *call.sizes(1) {
            [.., height] if vectors && height == rows => (1, 1),
            [.., height, count] if !vectors && height == rows => (2, count),
            ref other => return Err(sizes_differ("b", other, &[rows])),
        };
        let epsilon = if call.dtype().to_real() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        options.rcond = match (options.given, options.driver) {
            (None, _) => epsilon * rows.max(columns) as f64,
            (Some(given), Driver::Gelsd) if !(given > 0.0 && given < 1.0) => epsilon,
            (Some(given), _) => given,
        };
        call.broadcast(&[(0, 2), (1, b_dims)])?;
        call.set_sizes([rows, columns, count]);
        call.input(2, Order::Columns)?;
        call.input(b_dims, Order::Columns)?;
        let shown = if vectors { 1 } else { 2 };
        call.first_rows(&[columns, count][..shown], rows.max(columns))?;
        match options.driver {
            Driver::Gels | Driver::Gelsd if rows > columns => call.output(Kind::Reals, &[count], Order::Columns)?,
            _ => call.nothing(Kind::Reals)?,
        }
        match options.driver {
            Driver::Gels => call.nothing(Kind::Counts)?,
            _ => call.own_output(0, true, Kind::Counts, &[])?,
        }
        match options.driver {
            Driver::Gelsd => call.own_output(0, true, Kind::Reals, &[rows.min(columns)])?,
            _ => call.nothing(Kind::Reals)?,
        }
        call.hidden(Kind::Elements, &[rows, columns])?;
        call.hidden(Kind::Elements, &[rows, count])?;
        call.info(false)
    }

    fn checks(_: &LeastSquaresOptions) -> Option<Failure> {
        Some(Failure::RankDeficient)
    }
}

arguments! {
    LeastSquares: [A, B] given: Option<f64>, driver: Option<&'t str> =>
        LeastSquaresOptions { driver: Driver::named(driver)?, rcond: 0.0, given };
}

native! {
    family: Regression;

    /// X of the least norm of those for which A X is nearest to B; the sums of squares of what is left; the ranks and
    /// the singular values of A.
    ///
    /// `self` is A, a matrix or a batch of them in its last two dimensions, and `b` has as many rows, or for each
    /// matrix one vector; batches broadcast. All are float32, float64, complex64 or complex128.
    ///
    /// | `driver` | computes by | residuals | rank | singular values |
    /// | --- | --- | --- | --- | --- |
    /// | `"gels"` | QR factors; A of full rank, else an error | yes | | |
    /// | `"gelsy"`, the default | QR factors with columns exchanged | | yes | |
    /// | `"gelsd"`, `"gelss"` | singular values | yes | yes | yes |
    ///
    /// What a driver does not have is a tensor of no elements, as residuals are where A has no more rows than columns.
    /// Where it has them, they are there whatever the rank: their size must not depend on elements. Singular values up
    /// to `rcond` times the largest count as zero, and estimates of them with "gelsy"; by default that is the larger
    /// side of A times the rounding of the dtype. Of "gelsd", values outside (0, 1) mean the rounding, as in LAPACK.
    ///
    /// ```
    /// let (a, b) = (tensor![[1.0f64, 0.0], [1.0, 1.0], [1.0, 2.0]], tensor![1.0f64, 2.0, 3.0]);
    /// let (line, _, rank, _) = ops::linalg_lstsq(&a, &b)?;
    /// assert!(ops::allclose(&line, &tensor![1.0f64, 1.0])?);
    /// assert_eq!(rank.to_vec::<i64>()?, [2]);
    /// ```
    func: linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None)
        -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values),
    out_matrix: linalg_lstsq.out, variants: function, structured: OnMatrices<LeastSquares>;
}
