//! What suits operators on windows and images: planes with their channels, windows that fit, places that are there.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{Cpu, DType, IValue, Tensor};

/// Sizes of a batch with two channels and as many dimensions of one size.
fn planes(n: usize, size: i64) -> Vec<i64> {
    [1, 2].into_iter().chain((0..n).map(|_| size)).collect()
}

fn tensor(sizes: &[i64]) -> Option<IValue> {
    Some(ramp(DType::F32, sizes).into())
}

/// Places that every plane has.
fn places(sizes: &[i64]) -> Option<IValue> {
    Tensor::<Cpu>::zeros_contiguous(DType::I64, sizes).ok().map(|t| t.into_any().into())
}

/// A value for an argument of an operator on windows or images; `None` where what suits all others suits it.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let (name, arg_name) = (schema.name().trim_start_matches('_'), arg.name());
    let is_list = arg.ty().is_list() && matches!(arg.ty().base(), Base::Int | Base::SymInt);
    match (name, arg_name) {
        ("pixel_shuffle" | "pixel_unshuffle" | "channel_shuffle" | "native_channel_shuffle", "self") => {
            return tensor(&planes(2, 2));
        }
        ("im2col", "self") => return tensor(&planes(2, 4)),
        ("col2im", "self") => return tensor(&[1, 8, 9]),
        ("col2im", "output_size") => return Some(IValue::Ints(vec![4, 4])),
        ("im2col" | "col2im", _) if is_list => {
            return Some(IValue::Ints(vec![per_window(arg_name), per_window(arg_name)]));
        }
        ("affine_grid_generator", "theta") => return tensor(&[1, 2, 3]),
        ("affine_grid_generator", "size") => return Some(IValue::Ints(vec![1, 1, 2, 2])),
        ("grid_sampler_2d_backward" | "grid_sampler_3d_backward", "output_mask") => {
            return Some(IValue::Bools(vec![true; 2]));
        }
        (_, "input" | "grid" | "grad_output") if name.starts_with("grid_sampler") => {
            let n = if name.contains("3d") { 3 } else { 2 };
            let points = [1].into_iter().chain((0..n).map(|_| 2)).chain([n as i64]).collect::<Vec<_>>();
            let images: &[i64] = if arg_name == "input" { &[1, 2, 4, 4, 4] } else { &[1, 2, 2, 2, 2] };
            return tensor(if arg_name == "grid" { &points } else { &images[..n + 2] });
        }
        _ => {}
    }
    let n = ["1d", "2d", "3d"].iter().position(|dims| name.contains(dims))? + 1;
    let (is_pool, is_unpool, is_resampled) =
        (name.contains("_pool"), name.contains("unpool"), name.starts_with("upsample"));
    if !(is_pool || is_unpool || is_resampled) {
        return None;
    }
    // Windows of two places fit three times, or twice where random numbers say where; outputs have as many places.
    let windows = if name.starts_with("fractional") || is_unpool { 2 } else { 3 };
    match arg_name {
        "self" if is_unpool => tensor(&planes(n, windows)),
        "self" | "input" => tensor(&planes(n, 4)),
        "grad_output" => tensor(&planes(n, windows)),
        "indices" => places(&planes(n, windows)),
        "random_samples" => tensor(&[1, 2, n as i64]),
        "input_size" => Some(IValue::Ints(planes(n, 4))),
        "output_size" => Some(IValue::Ints(vec![windows; n])),
        _ if is_list => Some(IValue::Ints(vec![per_window(arg_name); n])),
        _ => None,
    }
}

/// A parameter of windows of two places side by side.
fn per_window(arg_name: &str) -> i64 {
    match arg_name {
        "kernel_size" => 2,
        "padding" => 0,
        _ => 1,
    }
}
