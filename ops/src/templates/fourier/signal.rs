//! A signal from the transforms of its pieces: istft. Pieces are added where they overlap, and divided by the sum of
//! the squares of their windows (Griffin and Lim, "Signal estimation from modified short-time Fourier transform",
//! 1984).
#![deny(clippy::arithmetic_side_effects)]

use super::lengths::{half, in_range};
use super::pieces::{Frames, Pieces};
use crate::composite::pad::constant_pad_nd;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::{ErrorKind, Result};

/// How near to 0 the squares of the windows at an element may sum.
const LEAST: f64 = 1e-11;

/// `istft`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn istft<C: Frames>(
    calls: &C,
    this: &C::Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&C::Tensor>,
    center: bool,
    normalized: bool,
    onesided: Option<bool>,
    length: Option<i64>,
    return_complex: bool,
) -> Result<C::Tensor> {
    let pieces = Pieces::new(n_fft, hop_length, win_length);
    let (got, ndim) = (C::any(this).dtype(), C::any(this).ndim());
    if !got.is_complex() {
        let (what, accepted) = ("argument self has dtype", "complex64 and complex128");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let spectra = match ndim {
        2 => calls.unsqueeze(this, 0)?,
        3 => this.clone(),
        got => return Err(ErrorKind::DimCount { arg: "self", got, accepted: "2 or 3" }.into()),
    };
    let [batch, frequencies, count] = C::any(&spectra).sizes().try_into().unwrap_or_default();
    if [batch, frequencies, count].contains(&0) {
        return Err(rule("argument self has no elements; accepted is one or more"));
    }
    let onesided = onesided.unwrap_or(frequencies != n_fft);
    let wanted = if onesided { half(n_fft) } else { n_fft };
    in_range("number of frequencies of self", frequencies, wanted, wanted)?;
    in_range("win_length", pieces.window, 1, n_fft)?;
    in_range("hop_length", pieces.hop, 1, pieces.window)?;
    pieces.check_window::<C>(this, window)?;
    if return_complex && onesided {
        return Err(rule("argument onesided is true; accepted beside return_complex=True is false"));
    }
    if !return_complex && window.is_some_and(|window| C::any(window).dtype().is_complex()) {
        return Err(rule("argument window is complex; accepted beside return_complex=False is a real one"));
    }
    let window = pieces.window(calls, this, window, got.to_real())?;
    let spectra = calls.transpose(&spectra, 1, 2)?;
    let normalization = if normalized { 1 } else { 2 };
    let frames = if return_complex {
        calls.of_complex(&spectra, &[2], normalization, false)?
    } else {
        let halves = if onesided { spectra } else { calls.narrow(&spectra, 2, 0, half(n_fft))? };
        calls.to_real(&halves, &[2], normalization, n_fft)?
    };
    // Where the last piece ends, and what of that is the signal.
    let whole = count.saturating_sub(1).saturating_mul(pieces.hop).saturating_add(n_fft);
    let start = if center { n_fft / 2 } else { 0 };
    let end = match length {
        Some(length) => start.saturating_add(length),
        None => whole.saturating_sub(start),
    };
    let added = |frames: &C::Tensor, batch: i64| {
        let sums = calls.overlapped(frames, &[batch, whole], n_fft, pieces.hop)?;
        calls.narrow(&sums, 1, start, end.min(whole).saturating_sub(start).max(0))
    };
    let signal = added(&calls.times(&frames, &calls.view(&window, &[1, 1, n_fft])?)?, batch)?;
    let squares = calls.times(&window, &window)?;
    let squares = added(&calls.expand(&squares, &[1, count, n_fft])?, 1)?;
    let message = "an element of the signal is in no window; accepted are windows that overlap, and are not 0 there";
    let squares = calls.asserted(&calls.are_beyond(&squares, LEAST)?, message, &squares)?;
    let mut result = calls.over(&signal, &squares)?;
    if ndim == 2 {
        result = calls.select(&result, 0, 0)?;
    }
    let missing = length.map_or(0, |_| end.saturating_sub(whole));
    if missing > 0 { constant_pad_nd(calls, &result, &[0, missing], 0.into()) } else { Ok(result) }
}

native! {
    family: FourierSignals, functions: crate::kernels::AllKernels;

    /// The signal whose pieces have these transforms: the inverse of [`stft`](super::functions::stft).
    ///
    /// `self` is `[frequencies, pieces]` or `[signals, frequencies, pieces]`, complex. Pieces are added where they
    /// overlap, and divided by the sum of the squares of their windows; where that is 0 it is an error.
    ///
    /// Options: those of `stft` that made the pieces (`center`, unless false, says that it was
    /// [`stft_centered`](super::functions::stft_centered)); `length` of the signal, which is cut off or continued with
    /// zeros; `return_complex`: true takes all frequencies, and gives a complex signal.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    /// let y = ops::stft_centered_with(&x, 4, StftCentered { return_complex: Some(true), ..Default::default() })?;
    /// let again = ops::istft(&y, 4)?;
    /// assert!(ops::allclose(&again, &x)?);
    /// ```
    func: istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
        bool center=True, bool normalized=False, bool? onesided=None, int? length=None,
        bool return_complex=False) -> Tensor,
    variants: function, composed: implicit istft;
}
