//! What the functions of `torch.fft` are composed of: inputs are converted and brought to sizes, transformed, and
//! conjugated where the transform of a device has another direction.
#![deny(clippy::arithmetic_side_effects)]

use super::lengths::{self, Lengths};
use super::{Fourier, FourierInputs, OfComplex, OfReal, ToReal, Transform};
use crate::composite::callees::{Fillers, Typed};
use crate::composite::pad::constant_pad_nd;
use crate::kernels::AllKernels;
use monomorph_core::dispatch::Calls;
use monomorph_core::structured::{Executes, FromArgs, Functional, call};
use monomorph_core::{AnyTensor, DEFAULT_FLOAT, DType, ErrorKind, IValue, Result, Scalar, Tensor};

/// What these functions call.
pub trait Transforms: Fillers {
    /// `to.dtype`.
    fn converted(&self, t: &Self::Tensor, dtype: DType) -> Result<Self::Tensor>;

    /// `conj`: a view.
    fn conj(&self, t: &Self::Tensor) -> Result<Self::Tensor>;

    /// `_conj_physical`: a copy.
    fn conj_physical(&self, t: &Self::Tensor) -> Result<Self::Tensor>;

    /// `_fft_c2c`.
    fn of_complex(&self, t: &Self::Tensor, dims: &[i64], normalization: i64, forward: bool) -> Result<Self::Tensor>;

    /// `_fft_r2c`.
    fn of_real(&self, t: &Self::Tensor, dims: &[i64], normalization: i64, onesided: bool) -> Result<Self::Tensor>;

    /// `_fft_c2r`.
    fn to_real(&self, t: &Self::Tensor, dims: &[i64], normalization: i64, size: i64) -> Result<Self::Tensor>;
}

impl Transforms for Calls<'_> {
    fn converted(&self, t: &AnyTensor, dtype: DType) -> Result<AnyTensor> {
        self.tensor("to.dtype", [t.clone().into(), dtype.into(), false.into(), false.into(), IValue::None])
    }

    fn conj(&self, t: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("conj", [t.clone().into()])
    }

    fn conj_physical(&self, t: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("_conj_physical", [t.clone().into()])
    }

    fn of_complex(&self, t: &AnyTensor, dims: &[i64], normalization: i64, forward: bool) -> Result<AnyTensor> {
        let dims = IValue::Ints(dims.to_vec());
        self.tensor(OfComplex::NAME, [t.clone().into(), dims, normalization.into(), forward.into()])
    }

    fn of_real(&self, t: &AnyTensor, dims: &[i64], normalization: i64, onesided: bool) -> Result<AnyTensor> {
        let dims = IValue::Ints(dims.to_vec());
        self.tensor(OfReal::NAME, [t.clone().into(), dims, normalization.into(), onesided.into()])
    }

    fn to_real(&self, t: &AnyTensor, dims: &[i64], normalization: i64, size: i64) -> Result<AnyTensor> {
        let dims = IValue::Ints(dims.to_vec());
        self.tensor(ToReal::NAME, [t.clone().into(), dims, normalization.into(), size.into()])
    }
}

fn typed<K: Transform, D: Executes<Fourier<K>>>(
    t: &Tensor<D>,
    dims: &[i64],
    normalization: i64,
    argument: K::Argument,
) -> Result<Tensor<D>> {
    let inputs = FourierInputs::<K>::from_args((t, dims, normalization, argument))?;
    call::<Fourier<K>, D, _>(&inputs, Functional::default()).map(|[output]| output)
}

impl<D: AllKernels> Transforms for Typed<D> {
    fn converted(&self, t: &Tensor<D>, dtype: DType) -> Result<Tensor<D>> {
        crate::copies::to_dtype(t, dtype, false, false, None)
    }

    fn conj(&self, t: &Tensor<D>) -> Result<Tensor<D>> {
        t.with_geometry(crate::complex_view::conj(t.geometry())?)
    }

    fn conj_physical(&self, t: &Tensor<D>) -> Result<Tensor<D>> {
        crate::functions::conj_physical(t)
    }

    fn of_complex(&self, t: &Tensor<D>, dims: &[i64], normalization: i64, forward: bool) -> Result<Tensor<D>> {
        typed::<OfComplex, D>(t, dims, normalization, forward)
    }

    fn of_real(&self, t: &Tensor<D>, dims: &[i64], normalization: i64, onesided: bool) -> Result<Tensor<D>> {
        typed::<OfReal, D>(t, dims, normalization, onesided)
    }

    fn to_real(&self, t: &Tensor<D>, dims: &[i64], normalization: i64, size: i64) -> Result<Tensor<D>> {
        typed::<ToReal, D>(t, dims, normalization, size)
    }
}

/// The tensor in the dtype that is transformed: integers become floats, and `complex` makes floats complex.
pub(super) fn promoted<C: Transforms>(calls: &C, this: &C::Tensor, complex: bool) -> Result<C::Tensor> {
    let got = C::any(this).dtype();
    let float = match got {
        DType::F16 | DType::BF16 => {
            let (what, accepted) = ("argument self has dtype", "float32, float64, complex dtypes, integers and bool");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        got if got.is_integral(true) => DEFAULT_FLOAT,
        got => got,
    };
    let want = if complex { float.to_complex() } else { float };
    if want == got { Ok(this.clone()) } else { calls.converted(this, want) }
}

/// An error for complex numbers where real ones are transformed.
pub(super) fn check_real(got: DType) -> Result<()> {
    let (what, accepted) = ("argument self has dtype", "real dtypes");
    if got.is_complex() { Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into()) } else { Ok(()) }
}

/// The tensor with these sizes: cut off, or with zeros behind.
pub(super) fn resized<C: Fillers>(calls: &C, this: &C::Tensor, lengths: &Lengths) -> Result<C::Tensor> {
    let ndim = C::any(this).ndim();
    let mut pad = vec![0; ndim.saturating_mul(2)];
    let mut resized = this.clone();
    for &(dim, size) in lengths {
        let missing = size.saturating_sub(C::any(this).sizes()[dim]);
        if missing < 0 {
            resized = calls.narrow(&resized, dim, 0, size)?;
        }
        // Pairs stand from the last dimension on.
        let behind = ndim.saturating_sub(dim).saturating_mul(2).saturating_sub(1);
        pad[behind] = missing.max(0);
    }
    if pad.iter().all(|&by| by == 0) { Ok(resized) } else { constant_pad_nd(calls, &resized, &pad, Scalar::Int(0)) }
}

pub(super) fn dims(lengths: &[(usize, i64)]) -> Vec<i64> {
    lengths.iter().map(|&(dim, _)| dim as i64).collect()
}

/// The transform of complex numbers or, with all of the result, of real ones.
pub(super) fn complex<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    lengths: &Lengths,
    norm: Option<&str>,
    forward: bool,
) -> Result<C::Tensor> {
    let this = promoted(calls, this, true)?;
    let normalization = lengths::normalization(norm, forward)?;
    calls.of_complex(&resized(calls, &this, lengths)?, &dims(lengths), normalization, forward)
}

/// The transform of real numbers along one dimension, conjugated if backward.
pub(super) fn of_real<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    lengths: &Lengths,
    norm: Option<&str>,
    (forward, onesided): (bool, bool),
) -> Result<C::Tensor> {
    let this = promoted(calls, this, false)?;
    let normalization = lengths::normalization(norm, forward)?;
    let transform = calls.of_real(&resized(calls, &this, lengths)?, &dims(lengths), normalization, onesided)?;
    if forward { Ok(transform) } else { calls.conj(&transform) }
}

/// Complex numbers that are half of a transform of real ones along the last of `lengths`, and how many those are.
fn half_of_real<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    lengths: &mut Lengths,
    last: Option<i64>,
) -> Result<(C::Tensor, i64)> {
    let this = promoted(calls, this, true)?;
    let size = lengths::to_real(C::any(&this).sizes(), lengths, last)?;
    Ok((resized(calls, &this, lengths)?, size))
}

/// `fft_irfftn`: along all dimensions of `lengths`, the last of which has real numbers in the end.
pub(super) fn real_again<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    mut lengths: Lengths,
    last: Option<i64>,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    let (half, size) = half_of_real(calls, this, &mut lengths, last)?;
    calls.to_real(&half, &dims(&lengths), lengths::normalization(norm, false)?, size)
}

/// `fft_hfftn`: as `fft_irfftn`, of conjugates, and scaled as a forward transform.
pub(super) fn hermitian<C: Transforms>(
    calls: &C,
    this: &C::Tensor,
    mut lengths: Lengths,
    last: Option<i64>,
    norm: Option<&str>,
) -> Result<C::Tensor> {
    let (mut transform, size) = half_of_real(calls, this, &mut lengths, last)?;
    let normalization = lengths::normalization(norm, true)?;
    let Some((last, others)) = lengths.split_last() else { return Err(lengths::none()) };
    if !others.is_empty() {
        transform = calls.of_complex(&transform, &dims(others), normalization, true)?;
    }
    calls.to_real(&calls.conj(&transform)?, &dims(&[*last]), normalization, size)
}
