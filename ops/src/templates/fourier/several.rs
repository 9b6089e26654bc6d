//! The functions of `torch.fft` along several dimensions, and along two.

use super::composed::{Transforms, check_real, complex, dims, hermitian, of_real, promoted, real_again, resized};
use super::lengths;
use crate::table::native;
use monomorph_core::Result;

/// The functions over several dimensions, and over two, which are the last unless others are given.
macro_rules! over_dimensions {
    ($(
        $several:ident, $two:ident, |$calls:ident, $this:ident, $lengths:ident, $last:ident, $norm:ident| $body:expr;
    )*) => {$(
        #[doc = concat!("`", stringify!($several), "`.")]
        pub fn $several<C: Transforms>(
            $calls: &C,
            $this: &C::Tensor,
            s: Option<&[i64]>,
            dim: Option<&[i64]>,
            $norm: Option<&str>,
        ) -> Result<C::Tensor> {
            let $lengths = lengths::several(C::any($this).sizes(), s, dim)?;
            let $last = s.and_then(|s| s.last().copied()).filter(|&size| size != -1);
            $body
        }

        #[doc = concat!("`", stringify!($two), "`.")]
        pub fn $two<C: Transforms>(
            calls: &C,
            this: &C::Tensor,
            s: Option<&[i64]>,
            dim: &[i64],
            norm: Option<&str>,
        ) -> Result<C::Tensor> {
            $several(calls, this, s, Some(dim), norm)
        }
    )*};
}
over_dimensions! {
    fft_fftn, fft_fft2, |calls, this, lengths, _last, norm| complex(calls, this, &lengths, norm, true);
    fft_ifftn, fft_ifft2, |calls, this, lengths, _last, norm| complex(calls, this, &lengths, norm, false);
    fft_rfftn, fft_rfft2, |calls, this, lengths, _last, norm| {
        check_real(C::any(this).dtype())?;
        of_real(calls, this, &lengths, norm, (true, true))
    };
    fft_ihfftn, fft_ihfft2, |calls, this, lengths, _last, norm| {
        check_real(C::any(this).dtype())?;
        let Some((last, others)) = lengths.split_last() else { return Err(lengths::none()) };
        if others.is_empty() {
            return of_real(calls, this, &lengths, norm, (false, true));
        }
        let this = resized(calls, &promoted(calls, this, false)?, &lengths)?;
        let normalization = lengths::normalization(norm, false)?;
        let half = calls.of_real(&this, &dims(&[*last]), normalization, true)?;
        calls.of_complex(&calls.conj_physical(&half)?, &dims(others), normalization, false)
    };
    fft_irfftn, fft_irfft2, |calls, this, lengths, last, norm| real_again(calls, this, lengths, last, norm);
    fft_hfftn, fft_hfft2, |calls, this, lengths, last, norm| hermitian(calls, this, lengths, last, norm);
}

native! {
    family: FourierOfSeveral, functions: crate::kernels::AllKernels;

    /// The discrete Fourier transform along several dimensions.
    ///
    /// Of each in turn, as [`fft_fft`](super::functions::fft_fft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, all, or as many of the last as there are sizes, unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// assert_eq!(ops::real(&ops::fft_fftn(&x)?)?.to_vec::<f32>()?, [10.0, -2.0, -4.0, 0.0]);
    /// ```
    func: fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor,
    out_copied: fft_fftn.out, variants: function, composed: implicit fft_fftn;

    /// The discrete Fourier transform along two dimensions.
    ///
    /// Of each in turn, as [`fft_fft`](super::functions::fft_fft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, the last two unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// assert_eq!(ops::real(&ops::fft_fft2(&x)?)?.to_vec::<f32>()?, [10.0, -2.0, -4.0, 0.0]);
    /// ```
    func: fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor,
    out_copied: fft_fft2.out, variants: function, composed: implicit fft_fft2;

    /// The inverse of [`fft_fftn`](super::functions::fft_fftn) along several dimensions.
    ///
    /// Of each in turn, as [`fft_ifft`](super::functions::fft_ifft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, all, or as many of the last as there are sizes, unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[10.0f32, -2.0], [-4.0, 0.0]];
    /// assert_eq!(ops::real(&ops::fft_ifftn(&x)?)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor,
    out_copied: fft_ifftn.out, variants: function, composed: implicit fft_ifftn;

    /// The inverse of [`fft_fft2`](super::functions::fft_fft2) along two dimensions.
    ///
    /// Of each in turn, as [`fft_ifft`](super::functions::fft_ifft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, the last two unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[10.0f32, -2.0], [-4.0, 0.0]];
    /// assert_eq!(ops::real(&ops::fft_ifft2(&x)?)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor,
    out_copied: fft_ifft2.out, variants: function, composed: implicit fft_ifft2;

    /// The transform of a real tensor along several dimensions: along the last one its first half.
    ///
    /// As [`fft_rfft`](super::functions::fft_rfft) along the last one, then as
    /// [`fft_fft`](super::functions::fft_fft) along the others.
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, all, or as many of the last as there are sizes, unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]];
    /// assert_eq!(ops::fft_rfftn(&x)?.sizes(), [2, 3]);
    /// ```
    func: fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor,
    out_copied: fft_rfftn.out, variants: function, composed: implicit fft_rfftn;

    /// The transform of a real tensor along two dimensions: along the last one its first half.
    ///
    /// As [`fft_rfft`](super::functions::fft_rfft) along the last one, then as
    /// [`fft_fft`](super::functions::fft_fft) along the others.
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, the last two unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]];
    /// assert_eq!(ops::fft_rfft2(&x)?.sizes(), [2, 3]);
    /// ```
    func: fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor,
    out_copied: fft_rfft2.out, variants: function, composed: implicit fft_rfft2;

    /// The inverse of [`fft_rfftn`](super::functions::fft_rfftn) along several dimensions: real numbers.
    ///
    /// Without a size the last dimension has an even one, as in [`fft_irfft`](super::functions::fft_irfft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, all, or as many of the last as there are sizes, unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[1.0f64, 2.0], [3.0, 4.0]];
    /// assert_eq!(ops::fft_irfftn(&ops::fft_rfftn(&x)?)?.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor,
    out_copied: fft_irfftn.out, variants: function, composed: implicit fft_irfftn;

    /// The inverse of [`fft_rfft2`](super::functions::fft_rfft2) along two dimensions: real numbers.
    ///
    /// Without a size the last dimension has an even one, as in [`fft_irfft`](super::functions::fft_irfft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, the last two unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = tensor![[1.0f64, 2.0], [3.0, 4.0]];
    /// assert_eq!(ops::fft_irfft2(&ops::fft_rfft2(&x)?)?.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor,
    out_copied: fft_irfft2.out, variants: function, composed: implicit fft_irfft2;

    /// The transform along several dimensions of a signal whose second half mirrors the first: real numbers.
    ///
    /// The first half along the last one is given, as in [`fft_hfft`](super::functions::fft_hfft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, all, or as many of the last as there are sizes, unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let y = ops::fft_hfftn(&tensor![[1.0f64, 2.0], [3.0, 4.0]])?;
    /// assert_eq!(y.to_vec::<f64>()?, [10.0, -2.0, -4.0, 0.0]);
    /// ```
    func: fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor,
    out_copied: fft_hfftn.out, variants: function, composed: implicit fft_hfftn;

    /// The transform along two dimensions of a signal whose second half mirrors the first: real numbers.
    ///
    /// The first half along the last one is given, as in [`fft_hfft`](super::functions::fft_hfft).
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, the last two unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let y = ops::fft_hfft2(&tensor![[1.0f64, 2.0], [3.0, 4.0]])?;
    /// assert_eq!(y.to_vec::<f64>()?, [10.0, -2.0, -4.0, 0.0]);
    /// ```
    func: fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor,
    out_copied: fft_hfft2.out, variants: function, composed: implicit fft_hfft2;

    /// The inverse of [`fft_hfftn`](super::functions::fft_hfftn) along several dimensions: half a signal.
    ///
    /// As [`fft_ihfft`](super::functions::fft_ihfft) along the last one, then as
    /// [`fft_ifft`](super::functions::fft_ifft) along the others.
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, all, or as many of the last as there are sizes, unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = ops::real(&ops::fft_ihfftn(&tensor![[10.0f64, -2.0], [-4.0, 0.0]])?)?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor,
    out_copied: fft_ihfftn.out, variants: function, composed: implicit fft_ihfftn;

    /// The inverse of [`fft_hfft2`](super::functions::fft_hfft2) along two dimensions: half a signal.
    ///
    /// As [`fft_ihfft`](super::functions::fft_ihfft) along the last one, then as
    /// [`fft_ifft`](super::functions::fft_ifft) along the others.
    ///
    /// Options: `s`, sizes to which the dimensions are cut off or continued with zeros, -1 for the size that one has;
    /// `dim`, the last two unless given; `norm`: `"backward"` divides backward
    /// transforms by the number of elements, which is the default, `"forward"` forward ones, and `"ortho"` both by its
    /// root. Integers and bool become float32; halves are errors.
    ///
    /// ```
    /// let x = ops::real(&ops::fft_ihfft2(&tensor![[10.0f64, -2.0], [-4.0, 0.0]])?)?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    func: fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor,
    out_copied: fft_ihfft2.out, variants: function, composed: implicit fft_ihfft2;
}
