//! The numbers that kernels compute with, and products of matrices of them.

use monomorph_core::DType;

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
/// The matrices are in bounds, A and B initialised, C too where it is added to; nobody writes A or B, and nobody else
/// uses C, which lies apart from both.
pub(super) unsafe fn multiply<T: Number>(
    [m, n, k]: [usize; 3],
    a: Matrix<*const T>,
    b: Matrix<*const T>,
    c: Matrix<*mut T>,
    adds: bool,
) {
    for i in 0..m as isize {
        for j in 0..n as isize {
            let at = c.data.wrapping_offset(i.wrapping_mul(c.row).wrapping_add(j.wrapping_mul(c.column)));
            // SAFETY: in bounds and initialised.
            let mut sum = if adds { unsafe { at.read() } } else { T::default() };
            for l in 0..k as isize {
                let x = a.data.wrapping_offset(i.wrapping_mul(a.row).wrapping_add(l.wrapping_mul(a.column)));
                let y = b.data.wrapping_offset(l.wrapping_mul(b.row).wrapping_add(j.wrapping_mul(b.column)));
                // SAFETY: in bounds and initialised.
                sum = sum.plus::<false>(unsafe { x.read() }, unsafe { y.read() });
            }
            // SAFETY: in bounds.
            unsafe { at.write(sum) };
        }
    }
}
