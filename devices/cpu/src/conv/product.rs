//! The numbers that kernels compute with, and products of matrices of them.

use crate::cast::Bits;
use crate::matrix::{Layout, Matrices, Product};
use monomorph_core::{DType, Result, Scalar};

/// A number.
///
/// # Safety
///
/// Zero bytes are zero, and `DTYPE` is the dtype of such elements.
pub(super) unsafe trait Number: Copy + Default + Send + Sync + 'static {
    /// The dtype of the type.
    const DTYPE: DType;

    /// `self + a · b`, with one rounding where `FMA` says that this is one instruction.
    fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self;
}

macro_rules! floats {
    ($($t:ty: $dtype:ident),*) => {$(
        // SAFETY: zero bytes are the float 0.
        unsafe impl Number for $t {
            const DTYPE: DType = DType::$dtype;

            #[inline(always)]
            fn plus<const FMA: bool>(self, a: $t, b: $t) -> $t {
                if FMA { a.mul_add(b, self) } else { self + a * b }
            }
        }
    )*};
}
floats! { f32: F32, f64: F64 }

// SAFETY: zero bytes are the integer 0.
unsafe impl Number for i64 {
    const DTYPE: DType = DType::I64;

    #[inline(always)]
    fn plus<const FMA: bool>(self, a: i64, b: i64) -> i64 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// A matrix in memory: its first element, and the steps from one row and one column to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<P> {
    pub(super) data: P,
    pub(super) row: isize,
    pub(super) column: isize,
}

/// `C = A B`, or `C += A B`, the sizes being rows and columns of C and columns of A.
///
/// # Safety
///
/// The matrices are in bounds and aligned, A and B initialised, C too where it is added to; nobody writes A or B, and
/// nobody else uses C, whose elements lie apart from each other and from both.
pub(super) unsafe fn multiply<T: Number>(
    sizes: [usize; 3],
    a: Matrix<*const T>,
    b: Matrix<*const T>,
    c: Matrix<*mut T>,
    adds: bool,
) -> Result<()> {
    let layouts = [(a.row, a.column), (b.row, b.column), (c.row, c.column)].map(|(row, col)| Layout { row, col });
    let product = Product::new(T::DTYPE, sizes, layouts, [Bits::default(); 2], [1, i64::from(adds)].map(Scalar::Int))?;
    let at = Matrices { a: a.data.cast(), b: b.data.cast(), c: c.data.cast() };
    // SAFETY: M1 and M2 are what the caller promises. Products of these dtypes take no memory that could be missing.
    unsafe { product.run_here(at) };
    Ok(())
}
