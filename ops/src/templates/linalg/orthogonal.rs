//! QR factors by Householder reflections, and products with the orthogonal factor.

use super::call::{OF_A, OF_SELF, sizes_differ};
use super::{Kind, MatrixCall, MatrixFn, MatrixInputs, OnMatrices, Order, arguments};
use crate::composite::rule;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand};
use monomorph_core::{ErrorKind, Result};

/// Both factors of a matrix.
pub struct Qr;

/// How much of the factors is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum QrMode {
    /// As many columns of Q, and rows of R, as the smaller side of the matrix has.
    #[default]
    Reduced,
    /// As many as the matrix has rows.
    Complete,
    /// R alone.
    TriangleOnly,
}

impl QrMode {
    fn named(name: &str) -> Result<QrMode> {
        match name {
            "reduced" => Ok(QrMode::Reduced),
            "complete" => Ok(QrMode::Complete),
            "r" => Ok(QrMode::TriangleOnly),
            _ => Err(rule("argument mode is none of 'reduced', 'complete' and 'r'")),
        }
    }
}

impl MatrixFn for Qr {
    const NAME: &'static str = "linalg_qr";
    const OUTPUTS: usize = 2;
    type Options = QrMode;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, mode: &mut QrMode) -> Result<()> {
        let [rows, columns] = call.one(OF_A)?;
        let rank = rows.min(columns);
        let width = if *mode == QrMode::Complete { rows } else { rank };
        call.set_sizes([rows, columns, width]);
        call.input(2, Order::Columns)?;
        match mode {
            QrMode::TriangleOnly => call.nothing(Kind::Elements)?,
            _ => call.output(Kind::Elements, &[rows, width], Order::Columns)?,
        }
        call.output(Kind::Elements, &[width, columns], Order::Columns)?;
        call.hidden(Kind::Elements, &[rows, columns])?;
        call.hidden(Kind::Elements, &[rank])
    }
}

/// Both factors in one matrix: R, and below it the vectors of the reflections.
pub struct QrFactor;

impl MatrixFn for QrFactor {
    const NAME: &'static str = "geqrf";
    const OUTPUTS: usize = 2;
    type Options = ();

    fn declare(call: &mut MatrixCall<'_, '_, '_>, (): &mut ()) -> Result<()> {
        let [rows, columns] = call.one(OF_SELF)?;
        call.set_sizes([rows, columns, 0]);
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)?;
        call.output(Kind::Elements, &[rows.min(columns)], Order::Columns)
    }
}

/// The first columns of the orthogonal factor.
pub struct HouseholderProduct;

/// The number of reflections, which operand 1 has a coefficient each for, of the vectors in operand 0.
fn reflections(call: &MatrixCall<'_, '_, '_>, arg: &'static str) -> Result<i64> {
    let got = call.sizes(1);
    match got.split_last() {
        Some((&count, batch)) if batch == call.batch_of(0, 2) => Ok(count),
        other => {
            let count = other.map_or(0, |(&count, _)| count);
            let want: Vec<i64> = call.batch_of(0, 2).iter().copied().chain([count]).collect();
            Err(sizes_differ(arg, got, &want))
        }
    }
}

impl MatrixFn for HouseholderProduct {
    const NAME: &'static str = "linalg_householder_product";
    const OUTPUTS: usize = 1;
    type Options = ();

    fn declare(call: &mut MatrixCall<'_, '_, '_>, (): &mut ()) -> Result<()> {
        let [rows, columns] = call.matrix(0, "input")?;
        if columns > rows {
            return Err(rule("argument input has more columns than rows; accepted are as many or fewer"));
        }
        let count = reflections(call, "tau")?;
        if count > columns {
            return Err(ErrorKind::OutOfRange { arg: "size of tau", got: count, low: 0, high: columns }.into());
        }
        call.check_dtypes(&[(0, "argument input has dtype"), (1, "argument tau has dtype")])?;
        call.broadcast(&[(0, 2)])?;
        call.set_sizes([rows, columns, count]);
        call.input(2, Order::Columns)?;
        call.input(1, Order::Columns)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)
    }
}

/// Products of matrices with the orthogonal factor.
pub struct OrthogonalProduct;

/// On which side the orthogonal factor stands, and which.
#[derive(Clone, Copy, Default, Debug)]
pub struct ProductOptions {
    /// Before the other matrix.
    pub left: bool,
    /// Its adjoint.
    pub adjoint: bool,
    /// Rows of the reflections' vectors.
    pub height: usize,
}

impl MatrixFn for OrthogonalProduct {
    const NAME: &'static str = "ormqr";
    const OUTPUTS: usize = 1;
    type Options = ProductOptions;

    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut ProductOptions) -> Result<()> {
        let [height, width] = call.matrix(0, "self")?;
        let [rows, columns] = call.matrix(2, "input3")?;
        call.check_dtypes(&[(0, OF_SELF.1), (1, "argument input2 has dtype"), (2, "argument input3 has dtype")])?;
        let count = reflections(call, "input2")?;
        let size = if options.left { rows } else { columns };
        let mut want = call.sizes(2).to_vec();
        if let [.., rows, columns] = &mut want[..] {
            *(if options.left { rows } else { columns }) = height;
        }
        if size != height || call.batch_of(2, 2) != call.batch_of(0, 2) {
            want.splice(..want.len().saturating_sub(2), call.batch_of(0, 2).iter().copied());
            return Err(sizes_differ("input3", call.sizes(2), &want));
        }
        if count != width.min(size) {
            let want = width.min(size);
            return Err(ErrorKind::OutOfRange { arg: "size of input2", got: count, low: want, high: want }.into());
        }
        options.height = height as usize;
        call.broadcast(&[(0, 2)])?;
        call.set_sizes([rows, columns, count]);
        call.input(2, Order::Columns)?;
        call.input(1, Order::Columns)?;
        call.input(2, Order::Columns)?;
        call.output(Kind::Elements, &[rows, columns], Order::Columns)
    }
}

arguments! {
    Qr: [A] mode: &'t str => QrMode::named(mode)?;
    QrFactor: [A] => ();
    HouseholderProduct: [V, T] => ();
    OrthogonalProduct: [V, T, B] left: bool, adjoint: bool => ProductOptions { left, adjoint, height: 0 };
}

native! {
    family: OrthogonalFactors;

    /// The QR factors of matrices: Q with orthogonal columns of norm 1, and R, which is upper triangular.
    ///
    /// A matrix is the last two dimensions of `A`, m × n, of float32, float64, complex64 or complex128. By `mode`,
    /// "reduced" (the default) Q has min(m, n) columns and R as many rows; "complete": both have m; "r": Q has no
    /// elements. The diagonal of R may be negative.
    ///
    /// ```
    /// let (q, r) = ops::linalg_qr(&tensor![[3.0f64, 5.0], [4.0, 5.0]])?;
    /// assert!(q.matmul(&r)?.allclose(&tensor![[3.0f64, 5.0], [4.0, 5.0]])?);
    /// assert!((r.select(0, 0)?.select(0, 0)?.item()?.to_f64() + 5.0).abs() < 1e-12);
    /// ```
    func: linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R),
    out: linalg_qr.out, variants: function, structured: OnMatrices<Qr>;

    func: geqrf(Tensor self) -> (Tensor a, Tensor tau),
    out_matrix: geqrf.a, structured: OnMatrices<QrFactor>;

    func: linalg_householder_product(Tensor input, Tensor tau) -> Tensor,
    out_matrix: linalg_householder_product.out, structured: OnMatrices<HouseholderProduct>;

    func: orgqr(Tensor self, Tensor input2) -> Tensor,
    out_matrix: orgqr.out, redirect: linalg_householder_product;

    func: ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor,
    out_matrix: ormqr.out, structured: OnMatrices<OrthogonalProduct>;
}
