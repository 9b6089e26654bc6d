//! The numbers that kernels compute with, and products of matrices of them.

use crate::cast::Bits;
use crate::half_bits::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::matrix::{Layout, Matrices, Product};
use bytemuck::Pod;
use monomorph_core::{DType, Result, Scalar};

/// A number.
///
/// # Safety
///
/// `DTYPE` is the dtype of such elements.
pub(crate) unsafe trait Number: Pod + Default + Send + Sync {
    /// The dtype of the type.
    const DTYPE: DType;

    /// `self + a · b`, with one rounding where `FMA` says that this is one instruction.
    fn plus<const FMA: bool>(self, a: Self, b: Self) -> Self;

    /// `self + other`.
    fn sum(self, other: Self) -> Self;

    /// Rounded to a dtype that is shorter, if it is.
    #[inline(always)]
    fn rounded(self, _: DType) -> Self {
        self
    }
}

macro_rules! floats {
    ($($t:ty: $dtype:ident $($rounded:item)?),*) => {$(
        // SAFETY: the dtype is that of the type.
        unsafe impl Number for $t {
            const DTYPE: DType = DType::$dtype;

            #[inline(always)]
            fn plus<const FMA: bool>(self, a: $t, b: $t) -> $t {
                if FMA { a.mul_add(b, self) } else { self + a * b }
            }

            #[inline(always)]
            fn sum(self, other: $t) -> $t {
                self + other
            }

            $($rounded)?
        }
    )*};
}
floats! {
    f32: F32
        #[inline(always)]
        fn rounded(self, dtype: DType) -> f32 {
            match dtype {
                DType::F16 => f16_to_f32(f32_to_f16(self)),
                DType::BF16 => bf16_to_f32(f32_to_bf16(self)),
                _ => self,
            }
        },
    f64: F64
}

// SAFETY: the dtype is that of the type.
unsafe impl Number for i64 {
    const DTYPE: DType = DType::I64;

    #[inline(always)]
    fn plus<const FMA: bool>(self, a: i64, b: i64) -> i64 {
        self.wrapping_add(a.wrapping_mul(b))
    }

    #[inline(always)]
    fn sum(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
}

/// A matrix in memory: its first element, and the steps from one row and one column to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<P> {
    pub(crate) data: P,
    pub(crate) row: isize,
    pub(crate) column: isize,
}

/// `C = A B`, or `C += A B`, the sizes being rows and columns of C and columns of A.
///
/// # Safety
///
/// The matrices are in bounds and aligned, A and B initialised, C too where it is added to; nobody writes A or B, and
/// nobody else uses C, whose elements lie apart from each other and from both.
pub(crate) unsafe fn multiply<T: Number>(
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
