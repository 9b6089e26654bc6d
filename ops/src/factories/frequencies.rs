//! The frequencies of a discrete Fourier transform. Elements are computed in double and rounded once.

use crate::generate::{Options, Pattern};
use crate::table::native;
use crate::windows::floating;
use monomorph_core::strides::DimVec;
use monomorph_core::{DEFAULT_FLOAT, DType, Device, DeviceId, ErrorKind, Layout, Result, Scalar, Tensor, observe};

/// The frequencies of a transform of `n` samples at distance `d`: of a real signal those from 0 on, else also the
/// negative ones.
#[derive(Clone, Copy)]
struct Frequencies {
    n: i64,
    d: f64,
    real: bool,
}

impl Frequencies {
    /// Writes to an output, which for the negative ones too is written in slices.
    fn write_in_slices<D: Device>(self, out: &mut Tensor<D>) -> Result<()> {
        if out.ndim() == 0 && !self.real && self.n == 1 {
            floating(out.dtype())?;
            let accepted = "1 or more: the negative frequencies are a slice of it";
            return Err(ErrorKind::DimCount { arg: "out", got: 0, accepted }.into());
        }
        self.write_sequence(out)
    }
}

impl Pattern for Frequencies {
    fn sizes(&self, dtype: DType) -> Result<DimVec> {
        floating(dtype)?;
        let count = if self.real { self.n / 2 + 1 } else { self.n };
        if count < 0 {
            let low = if self.real { -3 } else { 0 };
            return Err(ErrorKind::OutOfRange { arg: "n", got: self.n, low, high: i64::MAX }.into());
        }
        Ok(DimVec::from_slice(&[count]))
    }

    fn elements(self, _: DType) -> impl FnMut(usize) -> Scalar {
        let unit = 1.0 / (self.n as f64 * self.d);
        let positive = if self.real { i64::MAX } else { self.n / 2 + self.n % 2 };
        move |i| {
            let i = i as i64;
            Scalar::Float(if i < positive { i } else { i - self.n } as f64 * unit)
        }
    }
}

/// `fft_fftfreq`: the frequencies of a transform of `n` samples at distance `d`, the negative ones last.
pub fn fft_fftfreq<D: Device>(
    n: i64,
    d: f64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("fft_fftfreq", []);
    Frequencies { n, d, real: false }.make("fft_fftfreq", DEFAULT_FLOAT, Options { dtype, device, pin_memory })
}

/// `fft_rfftfreq`: those from 0 on, for real signals.
pub fn fft_rfftfreq<D: Device>(
    n: i64,
    d: f64,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("fft_rfftfreq", []);
    Frequencies { n, d, real: true }.make("fft_rfftfreq", DEFAULT_FLOAT, Options { dtype, device, pin_memory })
}

/// `fft_fftfreq.out`: the same in the dtype of `out`, which becomes one-dimensional unless it has as many elements.
pub fn fft_fftfreq_out<D: Device>(n: i64, d: f64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("fft_fftfreq", [out.geometry()]);
    Frequencies { n, d, real: false }.write_in_slices(out)
}

/// `fft_rfftfreq.out`: the same in the dtype of `out`, which becomes one-dimensional unless it has as many elements.
pub fn fft_rfftfreq_out<D: Device>(n: i64, d: f64, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("fft_rfftfreq", [out.geometry()]);
    Frequencies { n, d, real: true }.write_in_slices(out)
}

native! {
    family: Frequencies, functions: crate::fill::Fills;

    /// The frequencies of a discrete Fourier transform of `n` samples that are `d` apart, in cycles for each unit of
    /// `d`.
    ///
    /// The positive ones stand first: `[0, 1, …, (n - 1) / 2, -(n / 2), …, -1] / (d · n)`, with quotients rounded down.
    /// The dtype is float32 unless the option `dtype` says another one.
    ///
    /// ```
    /// assert_eq!(ops::fft_fftfreq(4)?.to_vec::<f32>()?, [0.0, 0.25, -0.5, -0.25]);
    /// ```
    func: fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, kernel: fft_fftfreq;

    func: fft_fftfreq.out(int n, float d=1.0, *, Tensor(a!) out) -> Tensor(a!),
    kernel: fft_fftfreq_out;

    /// The frequencies of a discrete Fourier transform of `n` real samples that are `d` apart: those that are not
    /// negative.
    ///
    /// They are `[0, 1, …, n / 2] / (d · n)`. The dtype is float32 unless the option `dtype` says another one.
    ///
    /// ```
    /// assert_eq!(ops::fft_rfftfreq(4)?.to_vec::<f32>()?, [0.0, 0.25, 0.5]);
    /// ```
    func: fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, kernel: fft_rfftfreq;

    func: fft_rfftfreq.out(int n, float d=1.0, *, Tensor(a!) out) -> Tensor(a!),
    kernel: fft_rfftfreq_out;
}
