//! Matrices that are known by their sizes: the identity, and the indices of a triangle.

use crate::generate::{Place, generated, generated_like};
use monomorph_core::{DEFAULT_FLOAT, DType, Device, DeviceId, Error, ErrorKind, Layout, Result, Scalar, Tensor};

fn not_negative(arg: &'static str, got: i64) -> Result<()> {
    if got < 0 {
        return Err(ErrorKind::OutOfRange { arg, got, low: 0, high: i64::MAX }.into());
    }
    Ok(())
}

/// Element `i` of an identity of `columns` columns.
fn identity(columns: i64) -> impl Fn(usize) -> Scalar {
    // Called for no element of an empty matrix.
    let columns = columns.max(1) as usize;
    move |i| Scalar::Int(i64::from(i / columns == i % columns))
}

fn eye_sizes(n: i64, m: i64) -> Result<[i64; 2]> {
    not_negative("n", n)?;
    not_negative("m", m)?;
    Ok([n, m])
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
    let place = Place { dtype: dtype.unwrap_or(DEFAULT_FLOAT), device, pin_memory };
    let make = || generated(&eye_sizes(n, m)?, place, identity(m));
    make().map_err(|e: Error| e.of("eye"))
}

/// `eye`: the identity of `n` rows.
pub fn eye<D: Device>(
    n: i64,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    eye_m(n, n, dtype, layout, device, pin_memory)
}

/// `eye.m_out`: the same in the dtype of `out`.
pub fn eye_m_out<D: Device>(n: i64, m: i64, out: &mut Tensor<D>) -> Result<()> {
    let values = generated_like(&eye_sizes(n, m)?, out, identity(m))?;
    crate::table::write_out(&values, out)
}

/// `eye.out`: the same in the dtype of `out`.
pub fn eye_out<D: Device>(n: i64, out: &mut Tensor<D>) -> Result<()> {
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
    fn new(rows: i64, columns: i64, offset: i64, lower: bool, dtype: DType) -> Result<Triangle> {
        not_negative("row", rows)?;
        not_negative("col", columns)?;
        if !matches!(dtype, DType::I32 | DType::I64) {
            let (what, accepted) = ("the indices have dtype", "int32 and int64");
            return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
        }
        Ok(Triangle { rows, columns, offset, lower })
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

    /// The sizes of the list: two rows, of as many elements as the triangle has.
    fn sizes(&self) -> Result<[i64; 2]> {
        let (m, n, offset) = (i128::from(self.rows), i128::from(self.columns), i128::from(self.offset));
        // Row `r` has `r + k` elements to the left of its diagonal, within 0 and n: none up to row `a`, all from row `b` on, and
        // between them one more in each row.
        let to_the_left = |k: i128| {
            let a = (-k).clamp(0, m);
            let b = (n - k).clamp(a, m);
            (b - a).checked_mul(a + b - 1 + 2 * k)?.checked_div(2)?.checked_add((m - b) * n)
        };
        let count = match self.lower {
            true => to_the_left(offset + 1),
            false => to_the_left(offset).map(|left| m * n - left),
        };
        let count = count.and_then(|count| i64::try_from(count).ok());
        let overflow = || ErrorKind::SizeOverflow { sizes: vec![self.rows, self.columns], strides: Vec::new() };
        Ok([2, count.ok_or_else(overflow)?])
    }

    /// Asked in order, gives the rows of all elements and then their columns.
    fn elements(self) -> impl FnMut(usize) -> Scalar {
        let (mut row, mut column, mut first) = (0, self.columns_of(0).0, true);
        let count = self.sizes().map_or(0, |[_, count]| count as usize);
        move |i| {
            if i == count && first {
                (row, column, first) = (0, self.columns_of(0).0, false);
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

/// The options of a call.
#[derive(Clone, Copy)]
struct Options {
    dtype: Option<DType>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
}

fn indices<D: Device>(sizes: (i64, i64, i64), lower: bool, options: Options) -> Result<Tensor<D>> {
    let dtype = options.dtype.unwrap_or(DType::I64);
    let place = Place { dtype, device: options.device, pin_memory: options.pin_memory };
    let triangle = Triangle::new(sizes.0, sizes.1, sizes.2, lower, dtype)?;
    generated(&triangle.sizes()?, place, triangle.elements())
}

fn indices_out<D: Device>(sizes: (i64, i64, i64), lower: bool, out: &mut Tensor<D>) -> Result<()> {
    let triangle = Triangle::new(sizes.0, sizes.1, sizes.2, lower, out.dtype())?;
    let values = generated_like(&triangle.sizes()?, out, triangle.elements())?;
    crate::table::write_out(&values, out)
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
    indices((row, col, offset), true, Options { dtype, device, pin_memory }).map_err(|e| e.of("tril_indices"))
}

/// `triu_indices`: rows and columns of the elements from the diagonal on that is `offset` above the main one, row by row.
pub fn triu_indices<D: Device>(
    row: i64,
    col: i64,
    offset: i64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    indices((row, col, offset), false, Options { dtype, device, pin_memory }).map_err(|e| e.of("triu_indices"))
}

/// `tril_indices.out`: the same in the dtype of `out`.
pub fn tril_indices_out<D: Device>(row: i64, col: i64, offset: i64, out: &mut Tensor<D>) -> Result<()> {
    indices_out((row, col, offset), true, out)
}

/// `triu_indices.out`: the same in the dtype of `out`.
pub fn triu_indices_out<D: Device>(row: i64, col: i64, offset: i64, out: &mut Tensor<D>) -> Result<()> {
    indices_out((row, col, offset), false, out)
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __matrix_factories_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [eye] (SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> (Tensor) : hand ($crate::matrix_factories::eye) { functional eye; } }
        { [eye.m] (SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> (Tensor) : hand ($crate::matrix_factories::eye_m) { functional eye_m; } }
        { [eye.out] (SymInt n) -> (Tensor) : hand ($crate::matrix_factories::eye_out) { out eye_out [eye.out]; } }
        { [eye.m_out] (SymInt n, SymInt m) -> (Tensor) : hand ($crate::matrix_factories::eye_m_out) {
            out eye_m_out [eye.m_out];
        } }
        { [tril_indices] (int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> (Tensor)
            : hand ($crate::matrix_factories::tril_indices) {
            functional tril_indices;
        } }
        { [tril_indices.out] (int row, int col, int offset=0) -> (Tensor)
            : hand ($crate::matrix_factories::tril_indices_out) {
            out - [tril_indices.out];
        } }
        { [triu_indices] (int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> (Tensor)
            : hand ($crate::matrix_factories::triu_indices) {
            functional triu_indices;
        } }
        { [triu_indices.out] (int row, int col, int offset=0) -> (Tensor)
            : hand ($crate::matrix_factories::triu_indices_out) {
            out - [triu_indices.out];
        } }
    } };
}
