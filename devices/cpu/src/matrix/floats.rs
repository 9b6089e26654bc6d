//! Products of float32, float64 and complex numbers: the crate `gemm`, which blocks and packs for the caches and has
//! kernels for AVX2, AVX-512, NEON and none of them.

use super::{Matrices, Product};
use monomorph_core::Element;

/// Computes a product.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype that is that of `T`: float32, float64, complex64 or complex128.
pub(super) unsafe fn multiply<T: Element>(product: &Product, at: Matrices) {
    let Product { m, n, k, a, b, c, conj, .. } = *product;
    let (alpha, beta) = (T::from_scalar(product.alpha), T::from_scalar(product.beta));
    // SAFETY: the matrices are in bounds, initialised and aligned (M1; C is read only if `beta` is not zero), C lies
    // apart from A and B (M2), and `T` is one of the types that the crate takes.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            at.c.cast::<T>(),
            c.col,
            c.row,
            !product.overwrites(),
            at.a.cast::<T>(),
            a.col,
            a.row,
            at.b.cast::<T>(),
            b.col,
            b.row,
            beta,
            alpha,
            false,
            conj[0],
            conj[1],
            gemm::Parallelism::None,
        );
    }
}
