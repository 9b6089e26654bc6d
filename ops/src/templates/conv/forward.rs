//! `convolution`.
#![deny(clippy::arithmetic_side_effects)]

use super::window::{self, Given, Window};
use super::{ConvInputs, Convolve, Pass, layout};
use crate::factory::empty;
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::{Functional, Operand, call};
use monomorph_core::{DType, Error, MemoryFormat, Result, Tensor, observe};

/// A tensor that may be absent as an operand.
pub(super) fn given<D: AllKernels>(t: Option<&Tensor<D>>) -> Operand<'_> {
    t.map_or(Operand::Absent, Operand::from)
}

/// Computes the image, map or weight; of halves with terms that are each rounded if PyTorch computes them without its
/// library.
pub(super) fn computed<'t, D: AllKernels>(
    pass: Pass,
    operands: [Operand<'t>; 3],
    window: &Window,
    result: (DimVec, DimVec),
    is_fused: bool,
) -> Result<Tensor<D>> {
    let is_half = operands[0].dtype().is_some_and(|dtype| matches!(dtype, DType::F16 | DType::BF16));
    let inputs = ConvInputs::new(pass, operands, window.clone(), result, is_half && !is_fused);
    let [result] = call::<Convolve, D, _>(&inputs, Functional::default())?;
    Ok(result)
}

/// `convolution`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn convolution<D: AllKernels>(
    input: &Tensor<D>,
    weight: &Tensor<D>,
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("convolution", [input.geometry(), weight.geometry()]);
    let given = [stride, padding, dilation, output_padding];
    convolved(input, weight, bias, given, transposed, groups).map_err(|e: Error| e.called("convolution"))
}

fn convolved<D: AllKernels>(
    input: &Tensor<D>,
    weight: &Tensor<D>,
    bias: Option<&Tensor<D>>,
    parameters: Given<'_>,
    transposed: bool,
    groups: i64,
) -> Result<Tensor<D>> {
    let window = Window::of_weight(weight.sizes(), parameters, groups)?;
    let sizes = window.result(input.sizes(), weight.sizes(), bias.map(|b| b.sizes()), transposed)?;
    if input.sizes()[0] == 0 || input.sizes()[1] == 0 {
        let format = Some(MemoryFormat::Contiguous);
        return empty(&sizes, Some(input.dtype()), None, Some(input.device()), None, format);
    }
    window.check_elements(input.sizes(), &sizes, transposed)?;
    window::check_dtypes(input.dtype(), weight.dtype(), !transposed && !window.is_dilated())?;
    let channels_last = layout::is_channels_last(input.geometry(), weight.geometry(), &window, transposed);
    let strides = layout::strides_of(&sizes, channels_last)?;
    let pass = if transposed { Pass::Image } else { Pass::Map };
    let is_fused = layout::is_fused(input.geometry(), weight.geometry(), &window, transposed);
    computed(pass, [input.into(), weight.into(), given(bias)], &window, (sizes, strides), is_fused)
}

native! {
    family: Convolutions, functions: crate::kernels::AllKernels;

    structured: Convolve;

    func: convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation,
        bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor,
    autogen: convolution.out, kernel: convolution;
}
