//! Triangles of matrices: of each row one part is copied and the rest is zero.

use super::runs::{copy_run, fill_run};
use crate::copy::copy;
use crate::offsets::Sides;
use monomorph_core::strides::DimVec;
use monomorph_core::{Result, Strided};
use monomorph_iter::{GRAIN, is_parallel, pieces, share};

/// Rows from which on a transposed source is copied whole, in squares, before one side of the target is set to zero:
/// in shorter columns no line of the source's memory would be used up by a square.
const MIN_SQUARE: usize = 16;

/// Matrices of one size.
struct Triangle<'a> {
    /// The sizes and the byte strides of the source in front of the last two dimensions.
    batch: &'a [i64],
    batch_strides: &'a [i64],
    rows: usize,
    cols: usize,
    /// Bytes from row to row of the source, and from element to element.
    from_row: isize,
    from_col: isize,
    diagonal: i64,
    is_upper: bool,
    /// The copied part is in the target already.
    is_copied: bool,
}

/// Writes the triangles of a source of these sizes to a contiguous target.
///
/// # Safety
///
/// That of [`Rearrange`](monomorph_core::Rearrange).
pub(super) unsafe fn triangle(
    sizes: &[i64],
    to: Strided<'_>,
    from: Strided<'_>,
    diagonal: i64,
    is_upper: bool,
) -> Result<()> {
    let (&[ref batch @ .., rows, cols], &[ref batch_strides @ .., down, right]) = (sizes, from.strides) else {
        return Ok(());
    };
    let size = to.dtype.size();
    let [from_row, from_col] = [down, right].map(|stride| (stride as isize).wrapping_mul(size as isize));
    let (rows, cols) = (rows as usize, cols as usize);
    let is_copied = rows.min(cols) >= MIN_SQUARE && 0 < from_row && from_row < from_col;
    if is_copied {
        let whole = Strided { data: to.data, ..to };
        // SAFETY: C1 and C2: both sides are in bounds, apart, and of the same sizes; the target is dense.
        unsafe { copy(sizes, whole, from) }?;
    }
    let batch_strides: DimVec = batch_strides.iter().map(|stride| stride.wrapping_mul(size as i64)).collect();
    let triangle = Triangle {
        batch,
        batch_strides: &batch_strides,
        rows,
        cols,
        from_row,
        from_col,
        diagonal,
        is_upper,
        is_copied,
    };
    let sides = Sides { to: to.data, from: from.data.cast_const() };
    match size {
        // SAFETY: the caller's promise, for elements of one byte.
        1 => unsafe { triangle.write_shared::<u8>(sides, 0) },
        // SAFETY: the caller's promise, for elements of two bytes.
        2 => unsafe { triangle.write_shared::<u16>(sides, 0) },
        // SAFETY: the caller's promise, for elements of four bytes.
        4 => unsafe { triangle.write_shared::<u32>(sides, 0) },
        // SAFETY: the caller's promise, for elements of eight bytes.
        8 => unsafe { triangle.write_shared::<u64>(sides, 0) },
        // SAFETY: the caller's promise, for elements of sixteen bytes: no dtype has another size.
        _ => unsafe { triangle.write_shared::<[u64; 2]>(sides, [0; 2]) },
    }
    Ok(())
}

impl Triangle<'_> {
    /// Writes all rows of all matrices, by several threads where they are large.
    ///
    /// # Safety
    ///
    /// Every element of the source, of the size of `T`, is in bounds and initialised; so is the contiguous target,
    /// which lies apart from it and is nobody else's. All bits of `zero` are 0.
    unsafe fn write_shared<T: Copy + Sync>(&self, sides: Sides, zero: T) {
        // As many as the target has, which do not overflow.
        let all = self.rows * self.batch.iter().map(|&size| size as usize).product::<usize>();
        if !is_parallel(all * self.cols, GRAIN) {
            // SAFETY: the caller's promise.
            return unsafe { self.write_rows(sides, 0..all, zero) };
        }
        let each = all.div_ceil(pieces());
        share(all.div_ceil(each), |piece| {
            let rows = piece * each..((piece + 1) * each).min(all);
            // SAFETY: the caller's promise; no two pieces have a row in common.
            unsafe { self.write_rows(sides, rows, zero) };
        });
    }

    /// Writes some rows, counted through all matrices.
    ///
    /// # Safety
    ///
    /// That of `write_shared`, of which the rows are some.
    unsafe fn write_rows<T: Copy>(&self, sides: Sides, rows: std::ops::Range<usize>, zero: T) {
        let row_bytes = self.cols * size_of::<T>();
        let mut row = rows.start;
        while row < rows.end {
            let matrix = row / self.rows;
            let first = row % self.rows;
            let last = self.rows.min(first + (rows.end - row));
            let base = sides.from.wrapping_offset(self.matrix_at(matrix));
            for i in first..last {
                let to = sides.to.wrapping_add((matrix * self.rows + i) * row_bytes);
                let from = base.wrapping_offset(self.from_row.wrapping_mul(i as isize));
                // SAFETY: row `i` of a matrix, in bounds on both sides, apart, and this call's own.
                unsafe { self.write_row(from, to, i, zero) };
            }
            row += last - first;
        }
    }

    /// Bytes from the first matrix of the source to another.
    fn matrix_at(&self, matrix: usize) -> isize {
        let mut rest = matrix as i64;
        let mut offset = 0_i64;
        for (&size, &stride) in self.batch.iter().zip(self.batch_strides).rev() {
            offset = offset.wrapping_add(stride.wrapping_mul(rest % size));
            rest /= size;
        }
        offset as isize
    }

    /// Writes row `i` of a matrix.
    ///
    /// # Safety
    ///
    /// The row is in bounds on both sides, initialised in the source, apart from it and nobody else's in the target;
    /// all bits of `zero` are 0.
    #[inline(always)]
    unsafe fn write_row<T: Copy>(&self, from: *const u8, to: *mut u8, i: usize, zero: T) {
        let behind = self.diagonal.saturating_add(i as i64).saturating_add(i64::from(!self.is_upper));
        let split = behind.clamp(0, self.cols as i64) as usize;
        let at = |col: usize| to.wrapping_add(col * size_of::<T>());
        let (copied, zeroed) = match self.is_upper {
            true => (split..self.cols, 0..split),
            false => (0..split, split..self.cols),
        };
        // SAFETY: columns of the row, in bounds and nobody else's by the caller's promise.
        unsafe { fill_run(zero, at(zeroed.start), zeroed.len()) };
        if !self.is_copied {
            let from = from.wrapping_offset(self.from_col.wrapping_mul(copied.start as isize));
            // SAFETY: columns of the row, in bounds, initialised and apart by the caller's promise.
            unsafe { copy_run::<T>(from, self.from_col, at(copied.start), copied.len()) };
        }
    }
}
