//! `conv_tbc`: a convolution along time, of a tensor with time in front, then batch, then channels. Where channels lie
//! side by side, each element of the window is a product of matrices that is added to the result: as in PyTorch, which
//! rounds the result after each.
#![deny(clippy::arithmetic_side_effects)]

use super::window;
use crate::functions::addmm_;
use crate::kernels::AllKernels;
use crate::new_factories::new_empty;
use crate::table::native;
use crate::view;
use monomorph_core::strides::view_strides;
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
        summed(this, weight, bias, pad)
    };
    call().map_err(|e: Error| e.called("conv_tbc"))
}

/// The bias, and for each element of the window a product of matrices.
fn summed<D: AllKernels>(this: &Tensor<D>, weight: &Tensor<D>, bias: &Tensor<D>, pad: i64) -> Result<Tensor<D>> {
    let (&[time, batch, channels], &[span, taken, results]) = (this.sizes(), weight.sizes()) else {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "3" }.into());
    };
    if channels != taken || *bias.sizes() != [results] {
        let (arg, got) = ("weight", weight.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg, got, want: vec![span, channels, bias.numel() as i64] }.into());
    }
    if !this.dtype().is_complex() {
        window::check_dtypes(this.dtype(), weight.dtype(), true)?;
    } else if weight.dtype() != this.dtype() {
        let (got, want) = (weight.dtype(), this.dtype());
        return Err(ErrorKind::DTypeMismatch { arg: "weight", got, want }.into());
    }
    let long = pad.checked_mul(2).and_then(|both| both.checked_add(time)?.checked_sub(span.saturating_sub(1)));
    let long = long.ok_or_else(|| window::overflow(this.sizes()))?;
    if long < 0 {
        return Err(ErrorKind::NegativeSize { arg: "the result", got: long }.into());
    }
    let sizes = [long, batch, results];
    let mut result = new_empty(this, &sizes, None, None, None, None)?;
    result.copy_from(&bias.with_geometry(view::expand(bias.geometry(), &sizes, false)?)?)?;
    if this.numel() == 0 || weight.numel() == 0 {
        return Ok(result);
    }
    // Times that meet an element of the window follow each other, in the input as in the result.
    let rows = |t: &Tensor<D>, first: i64, count: i64| {
        let times = view::narrow(t.geometry(), 0, first, count)?;
        t.with_geometry(view::view(&times, &[count.saturating_mul(batch), t.sizes()[2]])?)
    };
    for k in 0..span {
        let behind = k.saturating_sub(pad);
        let (from, to) = (behind.max(0), behind.saturating_neg().max(0));
        let count = time.saturating_sub(from).min(long.saturating_sub(to));
        if count > 0 {
            let element = weight.with_geometry(view::select(weight.geometry(), 0, k)?)?;
            addmm_(&mut rows(&result, to, count)?, &rows(this, from, count)?, &element)?;
        }
    }
    Ok(result)
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
