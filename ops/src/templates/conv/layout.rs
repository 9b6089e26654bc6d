//! The memory format of results: channels-last where image or weight are, as PyTorch chooses on the CPU.
//!
//! A dimension alone is looked at as the second one of two, and a tensor of five dimensions is channels-last only
//! where PyTorch would take its library of fused kernels, which depends on dtype, sizes and parameters.
#![deny(clippy::arithmetic_side_effects)]

use super::window::Window;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{DType, Geometry, MemoryFormat, Result};

/// Sizes and strides with a dimension of one element put in front of the last one.
fn widened(sizes: &[i64], strides: &[i64]) -> (DimVec, DimVec) {
    let (mut wide, mut steps) = (DimVec::from_slice(sizes), DimVec::from_slice(strides));
    if sizes.len() == 3 {
        wide.insert(2, 1);
        steps.insert(2, sizes[2].saturating_mul(strides[2]));
    }
    (wide, steps)
}

/// Whether a tensor is channels-last rather than row-major.
fn prefers_channels_last((sizes, strides): &(DimVec, DimVec)) -> bool {
    strides::suggest_format(sizes, strides) != MemoryFormat::Contiguous
}

fn format_of(ndim: usize) -> MemoryFormat {
    if ndim == 5 { MemoryFormat::ChannelsLast3d } else { MemoryFormat::ChannelsLast }
}

/// Whether results of a call are channels-last. A single dimension of the input is row-major.
pub fn is_channels_last(input: &Geometry, weight: &Geometry, window: &Window, transposed: bool) -> bool {
    let of = |g: &Geometry| widened(g.sizes(), g.strides());
    let chosen = (input.ndim() > 3 && prefers_channels_last(&of(input))) || prefers_channels_last(&of(weight));
    chosen && (input.ndim() < 5 || is_fused(input, weight, window, transposed))
}

/// Whether PyTorch calls its library of fused kernels, on one thread of a processor with AVX-512: always for bfloat16,
/// never for float16 and float64; of float32 the answer is for five dimensions, where it shows.
pub fn is_fused(input: &Geometry, weight: &Geometry, window: &Window, transposed: bool) -> bool {
    let beyond = || window.output_padding.iter().zip(&window.stride).any(|(by, stride)| by >= stride);
    match input.dtype() {
        _ if transposed && beyond() => return false,
        DType::BF16 => return true,
        DType::F32 => {}
        _ => return false,
    }
    let [.., height, width] = weight.sizes() else { return false };
    let moves = window.stride.iter().any(|&s| s != 1) || window.is_dilated();
    let batch = input.sizes()[0];
    let elements = input.sizes().iter().take(4).fold(1_i64, |all, &size| all.saturating_mul(size));
    (moves || batch >= 16 || *height != 1 || *width != 1)
        && (window.groups > 1 || (*height > 3 && *width > 3) || batch > 1 || elements > 20480)
}

/// The strides of a result.
pub fn strides_of(sizes: &[i64], channels_last: bool) -> Result<DimVec> {
    if !channels_last {
        return strides::strides_for(sizes, MemoryFormat::Contiguous);
    }
    let (wide, _) = widened(sizes, sizes);
    let mut strides = strides::strides_for(&wide, format_of(wide.len()))?;
    if sizes.len() == 3 {
        strides.remove(2);
    }
    Ok(strides)
}

/// The same of the gradient of a weight: one that is in both formats keeps the one that it would be taken for, where
/// PyTorch computes it with its own kernels.
pub fn weight_strides(weight: &Geometry, channels_last: bool, keeps: bool) -> Result<DimVec> {
    let wide = widened(weight.sizes(), weight.strides());
    let is_both = || strides::is_channels_last(&wide.0, &wide.1, format_of(wide.0.len()));
    let chosen = channels_last && (!keeps || !is_both() || prefers_channels_last(&wide));
    strides_of(weight.sizes(), chosen)
}
