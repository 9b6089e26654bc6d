//! Products of float16 and bfloat16: blocks of A and B are widened to float32 as they are needed, sums are float32, and
//! each element of C is rounded once.

use super::{Layout, Matrices, Product, floats};
use monomorph_core::{DType, Result, Scalar, Strided, list};

/// The side of a block of C.
const BLOCK: usize = 256;

/// Columns of A and rows of B that are widened at a time.
const DEPTH: usize = 512;

/// Bytes of the blocks of A, B and C.
pub(super) const SCRATCH: usize = (2 * DEPTH + BLOCK) * BLOCK * size_of::<f32>();

/// A matrix somewhere in memory.
#[derive(Clone, Copy)]
struct Place {
    data: *mut u8,
    layout: Layout,
    dtype: DType,
}

impl Place {
    /// The part that begins in this row and column.
    fn from(self, row: usize, col: usize) -> Place {
        let bytes = self.layout.at(row, col).wrapping_mul(self.dtype.size() as isize);
        Place { data: self.data.wrapping_offset(bytes), ..self }
    }

    /// A block of float32 in `room`, in the order of this matrix.
    fn widened(self, room: &mut [f32], rows: usize, cols: usize) -> Place {
        let by_rows = self.layout.col.unsigned_abs() <= self.layout.row.unsigned_abs();
        let layout = match by_rows {
            true => Layout { row: cols as isize, col: 1 },
            false => Layout { row: 1, col: rows as isize },
        };
        Place { data: room.as_mut_ptr().cast(), layout, dtype: DType::F32 }
    }

    /// Copies `rows × cols` elements from another matrix, converted.
    ///
    /// # Safety
    ///
    /// Both are in bounds, `from` is initialised, nobody else uses `self`, and they lie apart.
    unsafe fn copy(self, from: Place, rows: usize, cols: usize) -> Result<()> {
        let strides = |place: Place| [place.layout.row as i64, place.layout.col as i64];
        let (to_strides, from_strides) = (strides(self), strides(from));
        let side =
            |place: Place, strides| Strided { data: place.data, strides, dtype: place.dtype, conj: false, neg: false };
        let sizes = [rows as i64, cols as i64];
        // SAFETY: C1 and C2 of `Device::copy` are the caller's promise.
        unsafe { crate::copy::copy(&sizes, side(self, &to_strides), side(from, &from_strides)) }
    }
}

/// Computes a product.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for float16 or bfloat16.
pub(super) unsafe fn multiply(product: &Product, at: Matrices) -> Result<()> {
    let Product { dtype, m, n, k, .. } = *product;
    let (rows, cols, depth) = (m.min(BLOCK), n.min(BLOCK), k.min(DEPTH));
    let room = |elements: usize| -> Result<Vec<f32>> {
        let mut room = list::with_capacity(elements)?;
        room.resize(elements, 0.0);
        Ok(room)
    };
    let (mut a_room, mut b_room, mut c_room) = (room(rows * depth)?, room(depth * cols)?, room(rows * cols)?);
    let whole = |data: *const u8, layout| Place { data: data.cast_mut(), layout, dtype };
    let (a, b, c) = (whole(at.a, product.a), whole(at.b, product.b), whole(at.c, product.c));
    for col in (0..n).step_by(cols) {
        let n = cols.min(n - col);
        for row in (0..m).step_by(rows) {
            let m = rows.min(m - row);
            let target = c.from(row, col);
            let sums = target.widened(&mut c_room, m, n);
            if !product.overwrites() {
                // SAFETY: the block is a part of C, which is initialised since beta is not zero (M1), and the room has
                // as many elements.
                unsafe { sums.copy(target, m, n) }?;
            }
            let mut beta = product.beta;
            for from in (0..k.max(1)).step_by(depth.max(1)) {
                let k = depth.min(k - from);
                let (from_a, from_b) = (a.from(row, from), b.from(from, col));
                let (wide_a, wide_b) = (from_a.widened(&mut a_room, m, k), from_b.widened(&mut b_room, k, n));
                if k > 0 {
                    // SAFETY: the block is a part of A (M1), and the room has as many elements.
                    unsafe { wide_a.copy(from_a, m, k) }?;
                    // SAFETY: the block is a part of B (M1), and the room has as many elements.
                    unsafe { wide_b.copy(from_b, k, n) }?;
                }
                let layouts = [wide_a.layout, wide_b.layout, sums.layout];
                let [a, b, c] = [layouts[0].of_sizes(m, k), layouts[1].of_sizes(k, n), layouts[2].of_sizes(m, n)];
                let wide = Product { dtype: DType::F32, m, n, k, a, b, c, beta, ..*product };
                let blocks = Matrices { a: wide_a.data, b: wide_b.data, c: sums.data };
                // SAFETY: M1: three blocks of float32, of which those of A and B were just written, and that of C was
                // if beta is not zero; M2: they are our own.
                unsafe { floats::multiply::<f32>(&wide, blocks) };
                beta = Scalar::Int(1);
            }
            // SAFETY: the sums were just computed, and the block is a part of C, which nobody else uses (M2).
            unsafe { target.copy(sums, m, n) }?;
        }
    }
    Ok(())
}
