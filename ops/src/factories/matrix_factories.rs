//! Matrices that are known by their sizes: the identity, and the indices of a triangle.

use crate::generate::{Options, Pattern, not_negative};
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::{DEFAULT_FLOAT, DType, Device, DeviceId, ErrorKind, Layout, Result, Scalar, Tensor, observe};

/// An identity of rows and columns.
struct Identity(i64, i64);

impl Pattern for Identity {
    fn sizes(&self, _: DType) -> Result<DimVec> {
        not_negative("n", self.0)?;
        not_negative("m", self.1)?;
        Ok(DimVec::from_slice(&[self.0, self.1]))
    }

    fn elements(self, _: DType) -> impl FnMut(usize) -> Scalar {
        // Called for no element of an empty matrix.
        let columns = self.1.max(1) as usize;
        move |i| Scalar::Int(i64::from(i / columns == i % columns))
    }
}

/// `eye.m`: `n` rows and `m` columns, one on the diagonal and zero elsewhere.
pub fn eye_m<D: Device>(
    n: i64,
    m: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("eye", []);
    Identity(n, m).make("eye", DEFAULT_FLOAT, Options { dtype, device, pin_memory })
}

/// `eye`: the identity of `n` rows.
pub fn eye<D: Device>(
    n: i64,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("eye", []);
    eye_m(n, n, dtype, layout, device, pin_memory)
}

/// `eye.m_out`: the same in the dtype of `out`.
pub fn eye_m_out<D: Device>(n: i64, m: i64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("eye", [out.geometry()]);
    Identity(n, m).write(out)
}

/// `eye.out`: the same in the dtype of `out`.
pub fn eye_out<D: Device>(n: i64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("eye", [out.geometry()]);
    eye_m_out(n, n, out)
}

/// A triangle of a matrix, row by row.
#[derive(Clone, Copy)]
struct Triangle {
    rows: i64,
    columns: i64,
    offset: i64,
    /// The elements up to the diagonal, or those from it on.
    lower: bool,
}

impl Triangle {
    /// The first row that has an element, if one has: from there on, each row has some until the last element. Rows
    /// without any may be too many to be counted.
    fn first_row(&self) -> i64 {
        if self.lower { self.offset.saturating_neg().max(0) } else { 0 }
    }

    /// The columns of a row that belong to it: from the first to one past the last.
    fn columns_of(&self, row: i64) -> (i64, i64) {
        let diagonal = i128::from(row) + i128::from(self.offset);
        let end = i128::from(self.columns);
        match self.lower {
            true => (0, (diagonal + 1).clamp(0, end) as i64),
            false => (diagonal.clamp(0, end) as i64, self.columns),
        }
    }

    /// How many elements belong to it; `None` for more than can be counted.
    fn count(&self) -> Option<i64> {
        let (m, n, offset) = (i128::from(self.rows), i128::from(self.columns), i128::from(self.offset));
        // Row `r` has `r + k` elements to the left of its diagonal, within 0 and n: none up to row `a`, all from row
        // `b` on, and between them one more in each row.
        let to_the_left = |k: i128| {
            let a = (-k).clamp(0, m);
            let b = (n - k).clamp(a, m);
            (b - a).checked_mul(a + b - 1 + 2 * k)?.checked_div(2)?.checked_add((m - b) * n)
        };
        let count = match self.lower {
            true => to_the_left(offset + 1),
            false => to_the_left(offset).map(|left| m * n - left),
        };
        i64::try_from(count?).ok()
    }
}

impl Pattern for Triangle {
    fn sizes(&self, dtype: DType) -> Result<DimVec> {
        not_negative("row", self.rows)?;
        not_negative("col", self.columns)?;
        if !matches!(dtype, DType::I32 | DType::I64) {
            let (what, accepted) = ("the indices have dtype", "int32 and int64");
            return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
        }
        let overflow = || ErrorKind::SizeOverflow { sizes: vec![self.rows, self.columns], strides: Vec::new() };
        Ok(DimVec::from_slice(&[2, self.count().ok_or_else(overflow)?]))
    }

    /// The rows of all elements and then their columns.
    fn elements(self, _: DType) -> impl FnMut(usize) -> Scalar {
        let begin = (self.first_row(), self.columns_of(self.first_row()).0);
        let ((mut row, mut column), mut first) = (begin, true);
        let count = self.count().unwrap_or(0) as usize;
        move |i| {
            if i == count && first {
                ((row, column), first) = (begin, false);
            }
            while row < self.rows && column >= self.columns_of(row).1 {
                row += 1;
                column = self.columns_of(row).0;
            }
            column += 1;
            Scalar::Int(if first { row } else { column - 1 })
        }
    }
}

/// `tril_indices`: rows and columns of the elements up to the diagonal that is `offset` above the main one, row by row.
pub fn tril_indices<D: Device>(
    row: i64,
    col: i64,
    offset: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("tril_indices", []);
    let triangle = Triangle { rows: row, columns: col, offset, lower: true };
    triangle.make("tril_indices", DType::I64, Options { dtype, device, pin_memory })
}

/// `triu_indices`: rows and columns of the elements from the diagonal on that is `offset` above the main one, row by
/// row.
pub fn triu_indices<D: Device>(
    row: i64,
    col: i64,
    offset: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("triu_indices", []);
    let triangle = Triangle { rows: row, columns: col, offset, lower: false };
    triangle.make("triu_indices", DType::I64, Options { dtype, device, pin_memory })
}

/// `tril_indices.out`: the same in the dtype of `out`.
pub fn tril_indices_out<D: Device>(row: i64, col: i64, offset: i64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("tril_indices", [out.geometry()]);
    Triangle { rows: row, columns: col, offset, lower: true }.write(out)
}

/// `triu_indices.out`: the same in the dtype of `out`.
pub fn triu_indices_out<D: Device>(row: i64, col: i64, offset: i64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("triu_indices", [out.geometry()]);
    Triangle { rows: row, columns: col, offset, lower: false }.write(out)
}

native! {
    family: MatrixFactories, functions: crate::fill::Fills;

    /// The identity matrix of `n` rows and columns.
    ///
    /// The dtype is float32 for `None`. [`eye_m`](super::functions::eye_m) has another number of columns.
    ///
    /// ```
    /// assert_eq!(ops::eye(2, None)?.to_vec::<f32>()?, [1.0, 0.0, 0.0, 1.0]);
    /// ```
    func: eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, positional: [dtype], kernel: eye;

    /// The matrix of `n` rows and `m` columns that is 1 on the main diagonal and 0 elsewhere.
    ///
    /// The dtype is float32 for `None`.
    ///
    /// ```
    /// assert_eq!(ops::eye_m(2, 3, I64)?.to_vec::<i64>()?, [1, 0, 0, 0, 1, 0]);
    /// ```
    func: eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, name: eye_m, positional: [dtype], kernel: eye_m;

    /// [`eye`](super::functions::eye) into `out`.
    func: eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: eye_out;

    /// [`eye_m`](super::functions::eye_m) into `out`.
    func: eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, name: eye_m_out, kernel: eye_m_out;

    /// The rows and columns of the lower triangle of a matrix of `row` rows and `col` columns, row by row.
    ///
    /// The sizes are `[2, n]`. The triangle includes the diagonal `offset`, the main one by default. The dtype is int64
    /// unless the option `dtype` says int32.
    ///
    /// ```
    /// assert_eq!(ops::tril_indices(2, 2)?.to_vec::<i64>()?, [0, 1, 1, 0, 0, 1]);
    /// ```
    func: tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: tril_indices;

    func: tril_indices.out(int row, int col, int offset=0, *, Tensor(a!) out) -> Tensor(a!),
    kernel: tril_indices_out;

    /// The rows and columns of the upper triangle of a matrix of `row` rows and `col` columns, row by row.
    ///
    /// The sizes are `[2, n]`. The triangle includes the diagonal `offset`, the main one by default. The dtype is int64
    /// unless the option `dtype` says int32.
    ///
    /// ```
    /// assert_eq!(ops::triu_indices(2, 2)?.to_vec::<i64>()?, [0, 0, 1, 0, 1, 1]);
    /// ```
    func: triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: triu_indices;

    func: triu_indices.out(int row, int col, int offset=0, *, Tensor(a!) out) -> Tensor(a!),
    kernel: triu_indices_out;
}
