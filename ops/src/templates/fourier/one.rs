//! The functions of `torch.fft` along one dimension.

use super::composed::{Transforms, check_real, complex, hermitian, of_real, real_again};
use super::lengths;
use crate::table::native;
use monomorph_core::Result;

/// `fft_fft`, and `fft_ifft` where not `forward`.
fn all<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    (n, dim): (Option<i64>, i64),
    norm: Option<&str>,
    forward: bool,
) -> Result<C::Tensor> {
    let lengths = lengths::one(C::any(this).sizes(), n, dim)?;
    match C::any(this).dtype().is_complex() {
        true => complex(calls, this, &lengths, norm, forward),
        false => of_real(calls, this, &lengths, norm, (forward, false)),
    }
}

/// `fft_fft`.
pub fn fft_fft<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    all(calls, this, (n, dim), norm, true)
}

/// `fft_ifft`.
pub fn fft_ifft<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    all(calls, this, (n, dim), norm, false)
}

/// `fft_rfft`.
pub fn fft_rfft<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    check_real(C::any(this).dtype())?;
    of_real(calls, this, &lengths::one(C::any(this).sizes(), n, dim)?, norm, (true, true))
}

/// `fft_ihfft`.
pub fn fft_ihfft<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    check_real(C::any(this).dtype())?;
    of_real(calls, this, &lengths::one(C::any(this).sizes(), n, dim)?, norm, (false, true))
}

/// `fft_irfft`.
pub fn fft_irfft<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    real_again(calls, this, lengths::one(C::any(this).sizes(), n, dim)?, n, norm)
}

/// `fft_hfft`.
pub fn fft_hfft<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    n: Option<i64>,
    dim: i64,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    hermitian(calls, this, lengths::one(C::any(this).sizes(), n, dim)?, n, norm)
}

native! {
    family: FourierFunctions, functions: crate::kernels::AllKernels;

    /// The discrete Fourier transform along one dimension.
    ///
    /// `y[k] = Σ x[j] · exp(−2πi·jk/n)`. A real tensor has a complex transform, too, of which one half mirrors the
    /// other: [`fft_rfft`](super::functions::fft_rfft) computes one half alone.
    ///
    /// Options: `n`, to which the dimension is cut off or continued with zeros; `dim`, the last unless given; `norm`:
    /// `"backward"` divides backward transforms by `n`, which is the default, `"forward"` forward ones, and `"ortho"`
    /// both by its root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 3.0, 4.0];
    /// let y = ops::view_as_real(&ops::fft_fft(&x)?)?;
    /// assert_eq!(y.to_vec::<f32>()?, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0, -2.0, -2.0]);
    /// ```
    func: fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor,
    out_copied: fft_fft.out, variants: function, composed: implicit fft_fft;

    /// The inverse of [`fft_fft`](super::functions::fft_fft) along one dimension.
    ///
    /// `x[j] = 1/n · Σ y[k] · exp(2πi·jk/n)`.
    ///
    /// Options: `n`, to which the dimension is cut off or continued with zeros; `dim`, the last unless given; `norm`:
    /// `"backward"` divides backward transforms by `n`, which is the default, `"forward"` forward ones, and `"ortho"`
    /// both by its root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![1.0f64, 2.0, 3.0, 4.0];
    /// let again = ops::real(&ops::fft_ifft(&ops::fft_fft(&x)?)?)?;
    /// assert_eq!(again.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor,
    out_copied: fft_ifft.out, variants: function, composed: implicit fft_ifft;

    /// The transform of a real tensor along one dimension: its first half.
    ///
    /// `n / 2 + 1` numbers of [`fft_fft`](super::functions::fft_fft), whose others are conjugates of them.
    ///
    /// Options: `n`, to which the dimension is cut off or continued with zeros; `dim`, the last unless given; `norm`:
    /// `"backward"` divides backward transforms by `n`, which is the default, `"forward"` forward ones, and `"ortho"`
    /// both by its root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 3.0, 4.0];
    /// let y = ops::view_as_real(&ops::fft_rfft(&x)?)?;
    /// assert_eq!(y.to_vec::<f32>()?, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
    /// ```
    func: fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor,
    out_copied: fft_rfft.out, variants: function, composed: implicit fft_rfft;

    /// The inverse of [`fft_rfft`](super::functions::fft_rfft) along one dimension: real numbers.
    ///
    /// There are `n` of them; without it an even number, `2 · (m − 1)` of `m` complex ones. The imaginary parts of the
    /// first and, of an even number, of the last count as 0.
    ///
    /// Options: `n`, to which the dimension is cut off or continued with zeros; `dim`, the last unless given; `norm`:
    /// `"backward"` divides backward transforms by `n`, which is the default, `"forward"` forward ones, and `"ortho"`
    /// both by its root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![1.0f64, 2.0, 3.0, 4.0];
    /// assert_eq!(ops::fft_irfft(&ops::fft_rfft(&x)?)?.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor,
    out_copied: fft_irfft.out, variants: function, composed: implicit fft_irfft;

    /// The transform along one dimension of a signal whose second half mirrors the first: real numbers.
    ///
    /// The first half is given, and the result has `n` elements; without it an even number. It is
    /// [`fft_irfft`](super::functions::fft_irfft) of the conjugate, without the division by `n`.
    ///
    /// Options: `n`, to which the dimension is cut off or continued with zeros; `dim`, the last unless given; `norm`:
    /// `"backward"` divides backward transforms by `n`, which is the default, `"forward"` forward ones, and `"ortho"`
    /// both by its root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let y = ops::fft_hfft(&tensor![1.0f64, 2.0, 3.0])?;
    /// assert_eq!(y.to_vec::<f64>()?, [8.0, -2.0, 0.0, -2.0]);
    /// ```
    func: fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor,
    out_copied: fft_hfft.out, variants: function, composed: implicit fft_hfft;

    /// The inverse of [`fft_hfft`](super::functions::fft_hfft) along one dimension: half a signal of a real tensor.
    ///
    /// The conjugate of [`fft_rfft`](super::functions::fft_rfft), divided by `n`.
    ///
    /// Options: `n`, to which the dimension is cut off or continued with zeros; `dim`, the last unless given; `norm`:
    /// `"backward"` divides backward transforms by `n`, which is the default, `"forward"` forward ones, and `"ortho"`
    /// both by its root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = ops::real(&ops::fft_ihfft(&tensor![8.0f64, -2.0, 0.0, -2.0])?)?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0, 3.0]);
    /// ```
    func: fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor,
    out_copied: fft_ihfft.out, variants: function, composed: implicit fft_ihfft;
}
