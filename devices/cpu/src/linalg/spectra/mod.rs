//! Eigenvalues of Hermitian matrices, and singular values, with their vectors. Signs and phases of vectors are those of
//! LAPACK, as far as an algorithm of its kind gives them.
//!
//! ```text
//! hermitian.rs     to a tridiagonal matrix, and back      tridiagonal.rs   its eigenvalues
//! svd.rs           to a bidiagonal matrix, and back       bidiagonal.rs    its singular values
//! divide.rs        the signs of vectors of large ones     two_by_two.rs    those of two rows
//! rotation.rs      plane rotations
//! ```

mod bidiagonal;
mod divide;
mod hermitian;
mod rotation;
mod svd;
mod tridiagonal;
mod two_by_two;

pub(super) use hermitian::eigh;
pub(super) use svd::{Decomposition, Vectors, svd};
