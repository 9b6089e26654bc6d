//! The pieces of a signal: their lengths and windows, and what stft and istft call besides transforms.
#![deny(clippy::arithmetic_side_effects)]

use super::composed::Transforms;
use crate::complex_view;
use crate::composite::callees::{Callees, Fillers, Typed};
use crate::composite::equality::functional_assert_async;
use crate::composite::pad::constant_pad_nd;
use crate::composite::steps::Steps;
use crate::functions;
use crate::index::Indexed;
use crate::index::unfold::UnfoldBackwardFn;
use crate::kernels::AllKernels;
use monomorph_core::dispatch::Calls;
use monomorph_core::structured::{Functional, Operand, Operator};
use monomorph_core::{AnyTensor, DType, ErrorKind, IValue, MemoryFormat, Result, Scalar, Tensor};

/// What these functions call.
pub trait Frames: Transforms {
    /// `view_as_real`.
    fn view_as_real(&self, t: &Self::Tensor) -> Result<Self::Tensor>;

    /// `mul.Tensor`.
    fn times(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;

    /// `div.Tensor`.
    fn over(&self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor>;

    /// `unfold_backward` along dimension 1: sums of pieces of so many elements, `hop` from one to the next, that
    /// overlap in a tensor of these sizes.
    fn overlapped(&self, pieces: &Self::Tensor, sizes: &[i64], size: i64, hop: i64) -> Result<Self::Tensor>;

    /// Whether no element is nearer to 0, as a tensor. NaN is not.
    fn are_beyond(&self, t: &Self::Tensor, least: f64) -> Result<Self::Tensor>;

    /// `_functional_assert_async.msg`.
    fn asserted(&self, holds: &Self::Tensor, message: &str, token: &Self::Tensor) -> Result<Self::Tensor>;
}

impl Frames for Calls<'_> {
    fn view_as_real(&self, t: &AnyTensor) -> Result<AnyTensor> {
        self.unary("view_as_real", t.clone())
    }

    fn times(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.mul(a.clone(), b.clone())
    }

    fn over(&self, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
        self.div(a.clone(), b.clone())
    }

    fn overlapped(&self, pieces: &AnyTensor, sizes: &[i64], size: i64, hop: i64) -> Result<AnyTensor> {
        let sizes = IValue::Ints(sizes.to_vec());
        self.tensor("unfold_backward", [pieces.clone().into(), sizes, 1_i64.into(), size.into(), hop.into()])
    }

    fn are_beyond(&self, t: &AnyTensor, least: f64) -> Result<AnyTensor> {
        let nearest = self.unary("min", self.unary("abs", t.clone())?)?;
        self.unary("logical_not", self.binary("lt.Scalar", nearest, Scalar::Float(least))?)
    }

    fn asserted(&self, holds: &AnyTensor, message: &str, token: &AnyTensor) -> Result<AnyTensor> {
        self.tensor("_functional_assert_async.msg", [holds.clone().into(), message.into(), token.clone().into()])
    }
}

impl<D: AllKernels> Frames for Typed<D> {
    fn view_as_real(&self, t: &Tensor<D>) -> Result<Tensor<D>> {
        t.with_geometry(complex_view::view_as_real(t.geometry())?)
    }

    fn times(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::mul(a, b)
    }

    fn over(&self, a: &Tensor<D>, b: &Tensor<D>) -> Result<Tensor<D>> {
        functions::div(a, b)
    }

    fn overlapped(&self, pieces: &Tensor<D>, sizes: &[i64], size: i64, hop: i64) -> Result<Tensor<D>> {
        let sink = Functional::<D, 1>::default();
        Indexed::<UnfoldBackwardFn>::call((Operand::from(pieces), sizes, 1_i64, size, hop), sink).map(|[sums]| sums)
    }

    fn are_beyond(&self, t: &Tensor<D>, least: f64) -> Result<Tensor<D>> {
        let nearest = functions::amin(&functions::abs(t)?, ..)?;
        functions::logical_not(&functions::lt(&nearest, least)?)
    }

    fn asserted(&self, holds: &Tensor<D>, message: &str, token: &Tensor<D>) -> Result<Tensor<D>> {
        functional_assert_async(holds, message, token)
    }
}

/// The lengths of pieces: of the transform, from one to the next, and of the window.
pub(super) struct Pieces {
    pub(super) n_fft: i64,
    pub(super) hop: i64,
    pub(super) window: i64,
}

impl Pieces {
    pub(super) fn new(n_fft: i64, hop: Option<i64>, window: Option<i64>) -> Pieces {
        Pieces { n_fft, hop: hop.unwrap_or(n_fft / 4), window: window.unwrap_or(n_fft) }
    }

    /// What is missing around the window: in front of it, and behind.
    pub(super) fn around(&self) -> [i64; 2] {
        let missing = self.n_fft.saturating_sub(self.window);
        [missing / 2, missing.saturating_sub(missing / 2)]
    }

    /// An error if the window that is given has another length, or is on another device.
    pub(super) fn check_window<C: Callees>(&self, this: &C::Tensor, window: Option<&C::Tensor>) -> Result<()> {
        let Some(window) = window.map(C::any) else { return Ok(()) };
        if window.sizes() != [self.window] {
            let (got, want) = (window.sizes().to_vec(), vec![self.window]);
            return Err(ErrorKind::UnequalSizes { arg: "window", got, want }.into());
        }
        let (got, want) = (window.device(), C::any(this).device());
        if got == want { Ok(()) } else { Err(ErrorKind::DeviceMismatch { arg: "window".into(), got, want }.into()) }
    }

    /// The window, of ones if none is given, with zeros around it.
    pub(super) fn window<C: Fillers>(
        &self,
        calls: &C,
        this: &C::Tensor,
        given: Option<&C::Tensor>,
        dtype: DType,
    ) -> Result<C::Tensor> {
        let window = match given {
            Some(window) => window.clone(),
            None => {
                let ones = calls.empty(&[self.window], dtype, C::any(this).device(), MemoryFormat::Contiguous)?;
                calls.fill(ones.clone(), Scalar::Int(1))?;
                ones
            }
        };
        if self.window == self.n_fft { Ok(window) } else { constant_pad_nd(calls, &window, &self.around(), 0.into()) }
    }
}
