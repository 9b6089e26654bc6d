//! `conv_tbc`: a convolution along time, of a tensor with time in front, then batch, then channels.
#![deny(clippy::arithmetic_side_effects)]

use super::Pass;
use super::forward::computed;
use super::window::{self, Window};
use crate::composite::callees::Typed;
use crate::composite::convolutions::Convolves;
use crate::functions::zeros_like;
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view::permute;
use monomorph_core::strides::{DimVec, contiguous_strides, view_strides};
use monomorph_core::{Error, ErrorKind, Result, Tensor, observe};

/// `conv_tbc`.
pub fn conv_tbc<D: AllKernels>(this: &Tensor<D>, weight: &Tensor<D>, bias: &Tensor<D>, pad: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("conv_tbc", [this.geometry(), weight.geometry(), bias.geometry()]);
    let call = || {
        let wrong = |arg, got, accepted| Error::new(ErrorKind::DimCount { arg, got, accepted });
        let &[time, batch, channels] = this.sizes() else { return Err(wrong("self", this.ndim(), "3")) };
        for (arg, t, want, accepted) in [("weight", weight, 3, "3"), ("bias", bias, 1, "1")] {
            if t.ndim() != want {
                return Err(wrong(arg, t.ndim(), accepted));
            }
        }
        let rows = batch.checked_mul(time).ok_or_else(|| window::overflow(this.sizes()))?;
        if view_strides(this.sizes(), this.strides(), &[rows, channels]).is_none() {
            let (sizes, strides) = (this.sizes().to_vec(), this.strides().to_vec());
            return Err(ErrorKind::ImpossibleView { sizes, strides, want: vec![rows, channels] }.into());
        }
        if !this.dtype().is_complex() {
            return of_reals(this, weight, bias, pad);
        }
        let calls = Typed::<D>::CALLEES;
        let ([x, xi], [w, wi], [b, bi]) = (calls.parts(this)?, calls.parts(weight)?, calls.parts(bias)?);
        let of_real = of_reals(&x, &w, &b, pad)?;
        let of_imaginary = of_reals(&xi, &wi, &zeros_like(&bi)?, pad)?;
        let of_sums = of_reals(&calls.plus(&x, &xi)?, &calls.plus(&w, &wi)?, &calls.plus(&b, &bi)?, pad)?;
        let imaginary = calls.minus(&calls.minus(&of_sums, &of_real)?, &of_imaginary)?;
        calls.joined([calls.minus(&of_real, &of_imaginary)?, imaginary])
    };
    call().map_err(|e: Error| e.called("conv_tbc"))
}

fn of_reals<D: AllKernels>(this: &Tensor<D>, weight: &Tensor<D>, bias: &Tensor<D>, pad: i64) -> Result<Tensor<D>> {
    let (x, w) = (permute(this.geometry(), &[1, 2, 0])?, permute(weight.geometry(), &[2, 1, 0])?);
    let (x, w) = (this.with_geometry(x)?, weight.with_geometry(w)?);
    let window = Window::new(&w.sizes()[2..], [&[1], &[pad], &[1], &[0]], 1, i64::MIN)?;
    let (input, taken) = (x.sizes(), w.sizes());
    if input[1] != taken[1] || *bias.sizes() != taken[..1] {
        let (arg, got) = ("weight", weight.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg, got, want: vec![taken[2], input[1], bias.numel() as i64] }.into());
    }
    window::check_dtypes(this.dtype(), weight.dtype(), true)?;
    let span = taken[2].saturating_sub(1);
    let long = pad.checked_mul(2).and_then(|both| both.checked_add(input[2])?.checked_sub(span));
    let long = long.ok_or_else(|| window::overflow(this.sizes()))?;
    if long < 0 {
        return Err(ErrorKind::NegativeSize { arg: "the result", got: long }.into());
    }
    let sizes = DimVec::from_slice(&[input[0], taken[0], long]);
    // As they lie: time, batch, channels.
    let lie = contiguous_strides(&[sizes[2], sizes[0], sizes[1]]);
    let strides = DimVec::from_slice(&[lie[1], lie[2], lie[0]]);
    let result: Tensor<D> =
        computed(Pass::Map, [(&x).into(), (&w).into(), bias.into()], &window, (sizes, strides), true)?;
    result.with_geometry(permute(result.geometry(), &[2, 0, 1])?)
}

native! {
    family: TimeConvolutions, functions: crate::kernels::AllKernels;

    /// A convolution along time: the input is `[time, batch, channels]`, the weight `[window, channels, results]`.
    ///
    /// `bias` has a number for each result, and `pad` zeros are added on both sides. Input and weight have one dtype,
    /// which is any but bool; batch and time must be mergeable without a copy.
    ///
    /// ```
    /// let x = tensor![[[1.0f32]], [[2.0]], [[4.0]]];
    /// let w = tensor![[[1.0f32]], [[-1.0]]];
    /// let y = ops::conv_tbc(&x, &w, &tensor![0.5f32])?;
    /// assert_eq!(y.to_vec::<f32>()?, [-0.5, -1.5]);
    /// ```
    func: conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor,
    autogen: conv_tbc.out, variants: function, kernel: conv_tbc;
}
