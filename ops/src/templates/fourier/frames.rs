//! Transforms of a signal piece by piece: stft.
#![deny(clippy::arithmetic_side_effects)]

use super::lengths::in_range;
use super::pieces::{Frames, Pieces};
use crate::composite::edges::pad;
use crate::composite::pad::constant_pad_nd;
use crate::composite::rule;
use crate::table::native;
use monomorph_core::{ErrorKind, Result};

/// `stft`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn stft<C: Frames>(
    calls: &C,
    this: &C::Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&C::Tensor>,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
    align_to_window: Option<bool>,
) -> Result<C::Tensor> {
    let pieces = Pieces::new(n_fft, hop_length, win_length);
    let result = (normalized, onesided, return_complex);
    transformed(calls, this, pieces, window, result, None, align_to_window)
}

/// `stft.center`: of a signal that is continued by half a piece on both sides.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn stft_center<C: Frames>(
    calls: &C,
    this: &C::Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&C::Tensor>,
    center: bool,
    pad_mode: &str,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
    align_to_window: Option<bool>,
) -> Result<C::Tensor> {
    let pieces = Pieces::new(n_fft, hop_length, win_length);
    if center && align_to_window.is_some() {
        return Err(rule("argument align_to_window is given; accepted beside center=True is none"));
    }
    let (result, mode) = ((normalized, onesided, return_complex), center.then_some(pad_mode));
    transformed(calls, this, pieces, window, result, mode, align_to_window)
}

/// The signal is continued in the way that `center` names.
fn transformed<C: Frames>(
    calls: &C,
    this: &C::Tensor,
    pieces: Pieces,
    window: Option<&C::Tensor>,
    (normalized, onesided, return_complex): (bool, Option<bool>, Option<bool>),
    center: Option<&str>,
    align_to_window: Option<bool>,
) -> Result<C::Tensor> {
    let (got, ndim) = (C::any(this).dtype(), C::any(this).ndim());
    let of_complex = got.is_complex() || window.is_some_and(|window| C::any(window).dtype().is_complex());
    let Some(return_complex) = return_complex.or(of_complex.then_some(true)) else {
        return Err(rule("argument return_complex is missing; it is needed where self and window are real"));
    };
    if !got.is_floating() && !got.is_complex() {
        let (what, accepted) = ("argument self has dtype", "floating and complex dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let mut signal = match ndim {
        1 => calls.unsqueeze(this, 0)?,
        2 => this.clone(),
        got => return Err(ErrorKind::DimCount { arg: "self", got, accepted: "1 or 2" }.into()),
    };
    let [batch, mut length] = pair(C::any(&signal).sizes());
    if let Some(mode) = center {
        let by = pieces.n_fft / 2;
        let continued = pad(calls, &calls.view(&signal, &[1, batch, length])?, &[by, by], mode, None)?;
        signal = calls.select(&continued, 0, 0)?;
        [_, length] = pair(C::any(&signal).sizes());
    }
    in_range("n_fft", pieces.n_fft, 1, length)?;
    in_range("hop_length", pieces.hop, 1, i64::MAX)?;
    in_range("win_length", pieces.window, 1, pieces.n_fft)?;
    pieces.check_window::<C>(this, window)?;
    let mut rest = length.saturating_sub(pieces.n_fft);
    if align_to_window == Some(true) {
        // As many pieces as there are windows in the signal, although an odd number of zeros is one short.
        rest = length.saturating_sub(pieces.window);
        let [by, _] = pieces.around();
        signal = constant_pad_nd(calls, &signal, &[by, by], 0.into())?;
    }
    // The hop is 1 or more.
    let count = rest.checked_div(pieces.hop).unwrap_or(0).saturating_add(1);
    let [outer, inner] = pair(C::any(&signal).strides());
    let strides = [outer, pieces.hop.saturating_mul(inner), inner];
    let mut frames = calls.as_strided(&signal, &[batch, count, pieces.n_fft], &strides, C::any(&signal).offset())?;
    if window.is_some() || pieces.window < pieces.n_fft {
        frames = calls.times(&frames, &pieces.window(calls, this, window, got)?)?;
    }
    let normalization = i64::from(normalized);
    let transform = if C::any(&frames).dtype().is_complex() {
        if onesided == Some(true) {
            return Err(rule("argument onesided is true; accepted where self or window is complex is false"));
        }
        calls.of_complex(&frames, &[2], normalization, true)?
    } else {
        calls.of_real(&frames, &[2], normalization, onesided.unwrap_or(true))?
    };
    let mut result = calls.transpose(&transform, 1, 2)?;
    if ndim == 1 {
        result = calls.select(&result, 0, 0)?;
    }
    if return_complex { Ok(result) } else { calls.view_as_real(&result) }
}

fn pair(of_two_dimensions: &[i64]) -> [i64; 2] {
    of_two_dimensions.try_into().unwrap_or_default()
}

native! {
    family: FourierFrames, functions: crate::kernels::AllKernels;

    /// The transforms of pieces of a signal that overlap: frequencies by time.
    ///
    /// The signal is `[length]` or `[signals, length]`, floating or complex. Every `hop_length` elements a piece of
    /// `n_fft` begins, is multiplied by the window and transformed as by
    /// [`fft_rfft`](super::functions::fft_rfft); the result is `[.., frequencies, pieces]`.
    ///
    /// Options: `hop_length`, a quarter of `n_fft` unless given; `win_length` and `window`, of ones unless given, with
    /// zeros around it up to `n_fft`; `normalized` divides by the root of `n_fft`; `onesided`: false has all
    /// frequencies of a real signal, too; `return_complex`, which real signals need: false has pairs of real numbers in
    /// a last dimension; `align_to_window`: the first window begins with the signal.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    /// let y = ops::stft_with(&x, 4, Stft { hop_length: Some(2), return_complex: Some(true), ..Default::default() })?;
    /// assert_eq!(y.sizes(), [3, 2]);
    /// assert_eq!(ops::real(&y)?.to_vec::<f32>()?, [10.0, 18.0, -2.0, -2.0, -2.0, -2.0]);
    /// ```
    func: stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
        bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor,
    variants: function, composed: implicit stft;

    /// [`stft`](super::functions::stft) of a signal that is continued by half a piece on both sides, so that the middle
    /// of the first piece is the first element.
    ///
    /// Its options, and `pad_mode`, how the signal is [continued](super::functions::pad), `"reflect"` unless given;
    /// without `center` it is not.
    ///
    /// ```
    /// let x = ops::ones(16, F32)?;
    /// let options = StftCentered { return_complex: Some(true), ..Default::default() };
    /// assert_eq!(ops::stft_centered_with(&x, 8, options)?.sizes(), [5, 9]);
    /// ```
    func: stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
        bool center=True, str pad_mode="reflect", bool normalized=False, bool? onesided=None,
        bool? return_complex=None, bool? align_to_window=None) -> Tensor,
    variants: function, name: stft_centered, composed: implicit stft_center;
}
