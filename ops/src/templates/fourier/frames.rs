//! Transforms of a signal piece by piece, and the signal from them: stft, istft. Pieces are added where they overlap,
//! and divided by the sum of the squares of their windows (Griffin and Lim, "Signal estimation from modified short-time
//! Fourier transform", 1984).
#![deny(clippy::arithmetic_side_effects)]

use super::composed::Transforms;
use super::lengths::half;
use crate::composite::callees::{Callees, Fillers};
use crate::composite::edges::pad;
use crate::composite::pad::constant_pad_nd;
use crate::composite::steps::Steps;
use crate::composite::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar};

fn rule(rule: &'static str) -> monomorph_core::Error {
    ErrorKind::ArgumentRule { rule }.into()
}

fn in_range(arg: &'static str, got: i64, low: i64, high: i64) -> Result<i64> {
    if (low..=high).contains(&got) { Ok(got) } else { Err(ErrorKind::OutOfRange { arg, got, low, high }.into()) }
}

/// The lengths of pieces: of the transform, from one to the next, and of the window.
struct Pieces {
    n_fft: i64,
    hop: i64,
    window: i64,
}

impl Pieces {
    fn new(n_fft: i64, hop: Option<i64>, window: Option<i64>) -> Pieces {
        Pieces { n_fft, hop: hop.unwrap_or(n_fft / 4), window: window.unwrap_or(n_fft) }
    }

    /// What is missing around the window: in front of it, and behind.
    fn around(&self) -> [i64; 2] {
        let missing = self.n_fft.saturating_sub(self.window);
        [missing / 2, missing.saturating_sub(missing / 2)]
    }

    /// The window, of ones if none is given, with zeros around it.
    fn window(
        &self,
        calls: &Calls<'_>,
        given: Option<&AnyTensor>,
        like: &AnyTensor,
        dtype: DType,
    ) -> Result<AnyTensor> {
        let window = match given {
            Some(window) => window.clone(),
            None => {
                let ones = calls.empty(&[self.window], dtype, like.device(), MemoryFormat::Contiguous)?;
                calls.fill(ones.clone(), Scalar::Int(1))?;
                ones
            }
        };
        if self.window == self.n_fft { Ok(window) } else { constant_pad_nd(calls, &window, &self.around(), 0.into()) }
    }
}

/// The argument as a window of so many elements, if it is given.
fn window_of<'a>(window: &'a IValue, size: i64, like: &AnyTensor) -> Result<Option<&'a AnyTensor>> {
    let Some(window) = window.as_tensor() else { return Ok(None) };
    if window.sizes() != [size] {
        return Err(rule("argument window has other sizes than [win_length]"));
    }
    if window.device() != like.device() {
        return Err(rule("argument window is on another device than self; accepted is the same"));
    }
    Ok(Some(window))
}

/// `stft`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn stft(
    calls: &Calls<'_>,
    this: &IValue,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: &IValue,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
    align_to_window: Option<bool>,
) -> Result<AnyTensor> {
    let pieces = Pieces::new(n_fft, hop_length, win_length);
    let result = (normalized, onesided, return_complex);
    transformed(calls, tensor(this, "self")?, pieces, window, result, None, align_to_window)
}

/// `stft.center`: of a signal that is continued by half a piece on both sides.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn stft_center(
    calls: &Calls<'_>,
    this: &IValue,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: &IValue,
    center: bool,
    pad_mode: &str,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
    align_to_window: Option<bool>,
) -> Result<AnyTensor> {
    let pieces = Pieces::new(n_fft, hop_length, win_length);
    if center && align_to_window.is_some() {
        return Err(rule("argument align_to_window is given; accepted beside center=True is none"));
    }
    let (result, mode) = ((normalized, onesided, return_complex), center.then_some(pad_mode));
    transformed(calls, tensor(this, "self")?, pieces, window, result, mode, align_to_window)
}

/// The signal is continued in the way that `center` names.
fn transformed(
    calls: &Calls<'_>,
    this: &AnyTensor,
    pieces: Pieces,
    window: &IValue,
    (normalized, onesided, return_complex): (bool, Option<bool>, Option<bool>),
    center: Option<&str>,
    align_to_window: Option<bool>,
) -> Result<AnyTensor> {
    let is_complex = |t: Option<&AnyTensor>| t.is_some_and(|t| t.dtype().is_complex());
    let of_complex = is_complex(Some(this)) || is_complex(window.as_tensor());
    let Some(return_complex) = return_complex.or(of_complex.then_some(true)) else {
        return Err(rule("argument return_complex is missing; it is needed where self and window are real"));
    };
    let got = this.dtype();
    if !got.is_floating() && !got.is_complex() {
        let (what, accepted) = ("argument self has dtype", "floating and complex dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let mut signal = match this.ndim() {
        1 => calls.unsqueeze(this, 0)?,
        2 => this.clone(),
        got => return Err(ErrorKind::DimCount { arg: "self", got, accepted: "1 or 2" }.into()),
    };
    let batch = signal.sizes()[0];
    if let Some(mode) = center {
        let by = pieces.n_fft / 2;
        let signals = calls.view(&signal, &[1, batch, signal.sizes()[1]])?;
        let continued = pad(calls, &signals, &[by, by], mode, None)?;
        signal = calls.view(&continued, &continued.sizes()[1..])?;
    }
    in_range("n_fft", pieces.n_fft, 1, signal.sizes()[1])?;
    in_range("hop_length", pieces.hop, 1, i64::MAX)?;
    in_range("win_length", pieces.window, 1, pieces.n_fft)?;
    let window = window_of(window, pieces.window, this)?;
    let mut rest = signal.sizes()[1].saturating_sub(pieces.n_fft);
    if align_to_window == Some(true) {
        // As many pieces as there are windows in the signal, although an odd number of zeros is one short.
        rest = signal.sizes()[1].saturating_sub(pieces.window);
        let [by, _] = pieces.around();
        signal = constant_pad_nd(calls, &signal, &[by, by], 0.into())?;
    }
    // The hop is 1 or more.
    let count = rest.checked_div(pieces.hop).unwrap_or(0).saturating_add(1);
    let strides = signal.strides();
    let sizes = IValue::Ints(vec![batch, count, pieces.n_fft]);
    let strides = IValue::Ints(vec![strides[0], pieces.hop.saturating_mul(strides[1]), strides[1]]);
    let mut frames = calls.tensor("as_strided", [signal.into(), sizes, strides, IValue::None])?;
    if window.is_some() || pieces.window < pieces.n_fft {
        frames = calls.mul(frames, pieces.window(calls, window, this, got)?)?;
    }
    let normalization = i64::from(normalized);
    let transform = if frames.dtype().is_complex() {
        if onesided == Some(true) {
            return Err(rule("argument onesided is true; accepted where self or window is complex is false"));
        }
        calls.of_complex(&frames, &[2], normalization, true)?
    } else {
        calls.of_real(&frames, &[2], normalization, onesided.unwrap_or(true))?
    };
    let mut result = calls.transpose(&transform, 1, 2)?;
    if this.ndim() == 1 {
        result = calls.at(&result, 0, 0)?;
    }
    if return_complex { Ok(result) } else { calls.tensor("view_as_real", [result.into()]) }
}

/// `istft`: the signal whose pieces have these transforms.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn istft(
    calls: &Calls<'_>,
    this: &IValue,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: &IValue,
    center: bool,
    normalized: bool,
    onesided: Option<bool>,
    length: Option<i64>,
    return_complex: bool,
) -> Result<AnyTensor> {
    let this = tensor(this, "self")?;
    let pieces = Pieces::new(n_fft, hop_length, win_length);
    let got = this.dtype();
    if !got.is_complex() {
        let (what, accepted) = ("argument self has dtype", "complex64 and complex128");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    let spectra = match this.ndim() {
        2 => calls.unsqueeze(this, 0)?,
        3 => this.clone(),
        got => return Err(ErrorKind::DimCount { arg: "self", got, accepted: "2 or 3" }.into()),
    };
    let &[_, frequencies, count] = spectra.sizes() else { return Err(rule("argument self has other dimensions")) };
    if spectra.numel() == 0 {
        return Err(rule("argument self has no elements; accepted is one or more"));
    }
    let onesided = onesided.unwrap_or(frequencies != n_fft);
    let wanted = if onesided { half(n_fft) } else { n_fft };
    in_range("number of frequencies of self", frequencies, wanted, wanted)?;
    in_range("win_length", pieces.window, 1, n_fft)?;
    in_range("hop_length", pieces.hop, 1, pieces.window)?;
    let window = window_of(window, pieces.window, this)?;
    if return_complex && onesided {
        return Err(rule("argument onesided is true; accepted beside return_complex=True is false"));
    }
    if !return_complex && window.is_some_and(|window| window.dtype().is_complex()) {
        return Err(rule("argument window is complex; accepted beside return_complex=False is a real one"));
    }
    let window = pieces.window(calls, window, this, got.to_real())?;
    let spectra = calls.transpose(&spectra, 1, 2)?;
    let normalization = if normalized { 1 } else { 2 };
    let frames = if return_complex {
        calls.of_complex(&spectra, &[2], normalization, false)?
    } else {
        let halves = if onesided { spectra } else { calls.slice(&spectra, -1, 0, half(n_fft))? };
        calls.to_real(&halves, &[2], normalization, n_fft)?
    };
    let sums = |frames: AnyTensor| {
        let batch = frames.sizes()[0];
        // Where the last piece ends.
        let end = count.saturating_sub(1).saturating_mul(pieces.hop).saturating_add(n_fft);
        let sizes = IValue::Ints(vec![batch, end]);
        let arguments = [frames.into(), sizes, 1_i64.into(), n_fft.into(), pieces.hop.into()];
        Ok::<_, monomorph_core::Error>((calls.tensor("unfold_backward", arguments)?, end))
    };
    let weights = calls.view(&window, &[1, 1, n_fft])?;
    let (signal, whole) = sums(calls.mul(frames, weights)?)?;
    let squares = calls.tensor("pow.Tensor_Scalar", [window.into(), 2_i64.into()])?;
    let squares = calls.expand(&squares, &[1, count, n_fft])?;
    let (squares, _) = sums(squares)?;
    let start = if center { n_fft / 2 } else { 0 };
    let end = match length {
        Some(length) => start.saturating_add(length),
        None if center => start.saturating_neg(),
        None => whole,
    };
    let [signal, squares] = [calls.slice(&signal, 1, start, end)?, calls.slice(&squares, 1, start, end)?];
    let mut result = calls.div(signal, covered(calls, squares)?)?;
    if this.ndim() == 2 {
        result = calls.at(&result, 0, 0)?;
    }
    let missing = length.map_or(0, |_| end.saturating_sub(whole));
    if missing > 0 { constant_pad_nd(calls, &result, &[0, missing], 0.into()) } else { Ok(result) }
}

/// The squares, or an error if a place is in no window, or only at the edges of windows.
fn covered(calls: &Calls<'_>, squares: AnyTensor) -> Result<AnyTensor> {
    let least = calls.tensor("min", [calls.unary("abs", squares.clone())?.into()])?;
    // Not less: NaN passes.
    let gap = calls.binary("lt.Scalar", least, Scalar::Float(1e-11))?;
    let message = "an element of the signal is in no window; accepted are windows that overlap, and are not 0 there";
    let arguments = [calls.unary("logical_not", gap)?.into(), message.into(), squares.into()];
    calls.tensor("_functional_assert_async.msg", arguments)
}

native! {
    family: FourierFrames, functions: crate::kernels::AllKernels;

    func: stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
        bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor,
    composite: implicit stft;

    func: stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
        bool center=True, str pad_mode="reflect", bool normalized=False, bool? onesided=None,
        bool? return_complex=None, bool? align_to_window=None) -> Tensor,
    composite: implicit stft_center;

    func: istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
        bool center=True, bool normalized=False, bool? onesided=None, int? length=None,
        bool return_complex=False) -> Tensor,
    composite: implicit istft;
}
