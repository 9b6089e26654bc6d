//! Other names of convolutions that programs call: with hints for libraries that are none here, and with a padding by
//! name and all arguments.
#![deny(clippy::arithmetic_side_effects)]

use super::convolutions::{Beyond, Call, Convolves, padded};
use super::tensor;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, IValue, Result};

/// `_convolution` of both lists of arguments: the hints say how PyTorch's libraries are to compute it, and change no
/// result here.
macro_rules! with_hints {
    ($($name:ident($($hint:ident),*);)*) => {$(
        #[doc = "`_convolution`, `convolution` with hints."]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $name(
            calls: &Calls<'_>,
            input: &IValue,
            weight: &IValue,
            bias: &IValue,
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            transposed: bool,
            output_padding: &[i64],
            groups: i64,
            $($hint: bool),*
        ) -> Result<AnyTensor> {
            let operands = (tensor(input, "input")?, tensor(weight, "weight")?, bias.as_tensor());
            calls.convolution(operands, [stride, padding, dilation, output_padding], transposed, groups)
        }
    )*};
}
with_hints! {
    hinted(_benchmark, _deterministic, _cudnn_enabled, _allow_tf32);
    deprecated(_benchmark, _deterministic, _cudnn_enabled);
}

/// `_convolution_mode`: a padding by name, of images with a dimension for their number.
#[expect(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn named(
    calls: &Calls<'_>,
    input: &IValue,
    weight: &IValue,
    bias: &IValue,
    stride: &[i64],
    padding: &str,
    dilation: &[i64],
    groups: i64,
) -> Result<AnyTensor> {
    let operands = (tensor(input, "input")?, tensor(weight, "weight")?, bias.as_tensor());
    padded(calls, operands, Call { stride, beyond: Beyond::Named(padding), dilation, transposed: None, groups })
}

native! {
    family: ConvolutionForms, functions: crate::fill::Fills;

    func: _convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation,
        bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic,
        bool cudnn_enabled, bool allow_tf32) -> Tensor,
    autogen: _convolution.out, composite: explicit hinted;

    func: _convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding,
        SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic,
        bool cudnn_enabled) -> Tensor,
    composite: implicit deprecated;

    func: _convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, SymInt[] dilation,
        SymInt groups) -> Tensor,
    composite: implicit named;
}
