//! `convolution_backward`: the gradients of a convolution, those of them that are asked for.
#![deny(clippy::arithmetic_side_effects)]

use super::forward::computed;
use super::window::{self, Given, Window};
use super::{Pass, layout};
use crate::functions::{new_zeros, sum, zeros_like};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::Operand;
use monomorph_core::{Error, ErrorKind, Result, Tensor, observe};

/// Gradients of input, weight and bias, where they are wanted.
pub type Gradients<D> = (Option<Tensor<D>>, Option<Tensor<D>>, Option<Tensor<D>>);

/// `convolution_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn convolution_backward<D: AllKernels>(
    grad: &Tensor<D>,
    input: &Tensor<D>,
    weight: &Tensor<D>,
    bias_sizes: Option<&[i64]>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
    output_mask: &[bool],
) -> Result<Gradients<D>> {
    let _span = observe::operator("convolution_backward", [grad.geometry(), input.geometry(), weight.geometry()]);
    let gradients = || {
        let &[of_input, of_weight, of_bias] = output_mask else {
            return Err(ErrorKind::ListLength { arg: "output_mask", got: output_mask.len(), want: 3 }.into());
        };
        let given = [stride, padding, dilation, output_padding];
        let backward = Backward::new(grad, input, weight, given, transposed, groups)?;
        let if_wanted = |wanted: bool, make: &dyn Fn() -> Result<Tensor<D>>| wanted.then(make).transpose();
        Ok((
            if_wanted(of_input, &|| backward.of_input())?,
            if_wanted(of_weight, &|| backward.of_weight())?,
            if_wanted(of_bias, &|| backward.of_bias(bias_sizes))?,
        ))
    };
    gradients().map_err(|e: Error| e.called("convolution_backward"))
}

/// A checked call.
struct Backward<'t, D: AllKernels> {
    grad: &'t Tensor<D>,
    input: &'t Tensor<D>,
    weight: &'t Tensor<D>,
    window: Window,
    transposed: bool,
    channels_last: bool,
    /// PyTorch calls its library.
    is_fused: bool,
    /// No images, or no channels: gradients are zeros.
    is_empty: bool,
}

impl<'t, D: AllKernels> Backward<'t, D> {
    fn new(
        grad: &'t Tensor<D>,
        input: &'t Tensor<D>,
        weight: &'t Tensor<D>,
        given: Given<'_>,
        transposed: bool,
        groups: i64,
    ) -> Result<Self> {
        let window = Window::of_weight(weight.sizes(), given, groups)?;
        let sizes = window.result(input.sizes(), weight.sizes(), None, transposed)?;
        if grad.ndim() != input.ndim() {
            let (got, accepted) = (grad.ndim(), "as many as input has");
            return Err(ErrorKind::DimCount { arg: "grad_output", got, accepted }.into());
        }
        if !transposed && window.output_padding.iter().any(|&by| by != 0) {
            let rule = "argument output_padding is not 0; accepted is that only of a transposed convolution";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let is_empty = input.sizes()[0] == 0 || input.sizes()[1] == 0;
        if !is_empty {
            window.check_elements(input.sizes(), &sizes, transposed)?;
            if !input.dtype().is_floating() {
                let (what, got) = ("argument input has dtype", input.dtype());
                return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "floating-point dtypes" }.into());
            }
            window::check_dtypes(input.dtype(), weight.dtype(), true)?;
            if grad.dtype() != input.dtype() {
                let (arg, got, want) = ("grad_output", grad.dtype(), input.dtype());
                return Err(ErrorKind::DTypeMismatch { arg, got, want }.into());
            }
            if grad.sizes() != &*sizes {
                let (arg, got, want) = ("grad_output", grad.sizes().to_vec(), sizes.to_vec());
                return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
            }
        }
        let channels_last = layout::is_channels_last(input.geometry(), weight.geometry(), &window, transposed);
        let is_fused = layout::is_fused(input.geometry(), weight.geometry(), &window, transposed);
        Ok(Backward { grad, input, weight, window, transposed, channels_last, is_fused, is_empty })
    }

    fn of_input(&self) -> Result<Tensor<D>> {
        if self.is_empty {
            return zeros_like(self.input);
        }
        let pass = if self.transposed { Pass::Map } else { Pass::Image };
        let sizes = DimVec::from_slice(self.input.sizes());
        let strides = layout::strides_of(&sizes, self.channels_last)?;
        let operands = [self.grad.into(), self.weight.into(), Operand::Absent];
        computed(pass, operands, &self.window, (sizes, strides), self.is_fused)
    }

    fn of_weight(&self) -> Result<Tensor<D>> {
        if self.is_empty {
            return zeros_like(self.weight);
        }
        let (image, map) = if self.transposed { (self.grad, self.input) } else { (self.input, self.grad) };
        let sizes = DimVec::from_slice(self.weight.sizes());
        let keeps = self.transposed || !self.window.is_dilated();
        let strides = layout::weight_strides(self.weight.geometry(), self.channels_last, keeps)?;
        computed(
            Pass::Weight,
            [image.into(), map.into(), Operand::Absent],
            &self.window,
            (sizes, strides),
            self.is_fused,
        )
    }

    fn of_bias(&self, sizes: Option<&[i64]>) -> Result<Tensor<D>> {
        match sizes {
            Some(sizes) if self.is_empty => new_zeros(self.weight, sizes),
            None if self.is_empty => {
                let rule = "argument bias_sizes is absent; without elements it is the sizes of the gradient";
                Err(ErrorKind::ArgumentRule { rule }.into())
            }
            _ => {
                let dims: DimVec = (0..self.grad.ndim() as i64).filter(|&d| d != 1).collect();
                sum(self.grad, &*dims)
            }
        }
    }
}

native! {
    family: ConvolutionGradients, functions: crate::kernels::AllKernels;

    func: convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride,
        SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups,
        bool[3] output_mask) -> (Tensor, Tensor, Tensor),
    autogen: convolution_backward.out, kernel: convolution_backward;
}
