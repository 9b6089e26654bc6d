//! Frequencies in another order: fft_fftshift, fft_ifftshift.

use crate::composite::callees::Callees;
use crate::composite::flip::roll;
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::strides::wrap_dim;

/// The element at frequency 0 in the middle, or back at the start: along each dimension, moved by `by` of its size.
fn shifted<C: Callees>(
    calls: &C,
    this: &C::Tensor,
    dims: Option<&[i64]>,
    by: impl Fn(i64) -> i64,
) -> Result<C::Tensor> {
    let t = C::any(this);
    let all: Vec<i64> = (0..t.ndim() as i64).collect();
    let dims = dims.unwrap_or(&all);
    let size = |&dim: &i64| Ok(t.sizes().get(wrap_dim(dim, t.ndim(), "dim")?).copied().unwrap_or(1));
    let shifts = dims.iter().map(|dim| size(dim).map(&by)).collect::<Result<Vec<_>>>()?;
    roll(calls, this, &shifts, dims)
}

/// `fft_fftshift`.
pub fn fft_fftshift<C: Callees>(calls: &C, this: &C::Tensor, dim: Option<&[i64]>) -> Result<C::Tensor> {
    shifted(calls, this, dim, |size| size / 2)
}

/// `fft_ifftshift`.
pub fn fft_ifftshift<C: Callees>(calls: &C, this: &C::Tensor, dim: Option<&[i64]>) -> Result<C::Tensor> {
    shifted(calls, this, dim, |size| size.saturating_add(1) / 2)
}

native! {
    family: FourierOrder, functions: crate::fill::Fills;

    /// The frequency 0 moved to the middle of each dimension.
    ///
    /// Frequencies of a transform begin with 0 and the positive ones; behind this the negative ones come first.
    ///
    /// Option: `dim`, all dimensions unless given. A tensor without dimensions is an error.
    ///
    /// ```
    /// let x = tensor![0, 1, 2, -2, -1];
    /// assert_eq!(ops::fft_fftshift(&x)?.to_vec::<i32>()?, [-2, -1, 0, 1, 2]);
    /// ```
    func: fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor,
    variants: function, composed: implicit fft_fftshift;

    /// The inverse of [`fft_fftshift`](super::functions::fft_fftshift).
    ///
    /// They differ where a size is odd.
    ///
    /// Option: `dim`, all dimensions unless given. A tensor without dimensions is an error.
    ///
    /// ```
    /// let x = tensor![-2, -1, 0, 1, 2];
    /// assert_eq!(ops::fft_ifftshift(&x)?.to_vec::<i32>()?, [0, 1, 2, -2, -1]);
    /// ```
    func: fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor,
    variants: function, composed: implicit fft_ifftshift;
}
