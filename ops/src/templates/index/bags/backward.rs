//! Gradients of embeddings and of bags of them.

use super::{bags_of, cast, check_ndim, check_rows, entries, host_ints, scaled, sum_dtype, vector};
use crate::copies::reshape;
use crate::functions::{index_add_, index_copy_, index_select, masked_fill, mul, new_zeros, scatter_add_, sum};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::{DType, DeviceId, Error, ErrorKind, Result, Tensor, observe};
use std::collections::HashMap;

/// How often each index is there.
fn frequencies(indices: &[i64]) -> HashMap<i64, f64> {
    let mut counts = HashMap::new();
    for &i in indices {
        *counts.entry(i).or_insert(0.0) += 1.0;
    }
    counts
}

/// Adds rows of `grad`, each times a number, to rows of a matrix of zeros, which are `to`.
fn added<D: AllKernels>(
    grad: &Tensor<D>,
    (from, to): (&[i64], &[i64]),
    scale: Option<&Tensor<D>>,
    rows: i64,
) -> Result<Tensor<D>> {
    let dtype = sum_dtype(grad.dtype());
    let mut values = cast(&index_select(grad, 0, &vector(grad, from, DType::I64)?)?, dtype)?;
    if let Some(scale) = scale {
        values = scaled(&values, scale)?;
    }
    let mut weight = new_zeros(&values, [rows, grad.sizes()[1]])?;
    index_add_(&mut weight, 0, &vector(grad, to, DType::I64)?, &values)?;
    cast(&weight, grad.dtype())
}

/// `embedding_dense_backward`: PyTorch passes over indices that are no row.
pub fn embedding_dense_backward<D: AllKernels>(
    grad: &Tensor<D>,
    indices: &Tensor<D>,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("embedding_dense_backward", [grad.geometry(), indices.geometry()]);
    let make = || {
        if !matches!(indices.dtype(), DType::I64 | DType::I32) {
            let (what, accepted) = ("argument indices has dtype", "int64 and int32");
            return Err(ErrorKind::DTypeNotSupported { what, got: indices.dtype(), accepted }.into());
        }
        let Some(&columns) = grad.sizes().last() else {
            return Err(ErrorKind::DimCount { arg: "grad_output", got: 0, accepted: "1 or more" }.into());
        };
        if indices.device() == DeviceId::META || indices.numel() == 0 {
            return new_zeros(grad, [num_weights, columns]);
        }
        let rows = reshape(grad, &[indices.numel() as i64, columns])?;
        let all = host_ints(indices)?;
        let counts = |i: &usize| (0..num_weights).contains(&all[*i]) && all[*i] != padding_idx;
        let kept: Vec<usize> = (0..all.len()).filter(counts).collect();
        let from: Vec<i64> = kept.iter().map(|&i| i as i64).collect();
        let to: Vec<i64> = kept.iter().map(|&i| all[i]).collect();
        let scale = match scale_grad_by_freq {
            true => {
                let counts = frequencies(&all);
                let scale: Vec<f64> = to.iter().map(|&i| 1.0 / counts[&i]).collect();
                Some(Tensor::<D>::from_slice_on(grad.device().index, &scale, scale.len())?)
            }
            false => None,
        };
        added(&rows, (&from, &to), scale.as_ref(), num_weights)
    };
    make().map_err(|e: Error| e.called("embedding_dense_backward"))
}

/// The bag of each index, as it was kept, or from the offsets.
fn known_bags<D: AllKernels>(indices: &[i64], offsets: &Tensor<D>, known: &Tensor<D>) -> Result<Vec<i64>> {
    match known.numel() {
        0 => Ok(bags_of(&host_ints(offsets)?, indices.len())),
        n if n >= indices.len() => Ok(host_ints(known)?[..indices.len()].to_vec()),
        got => Err(ErrorKind::ListLength { arg: "offset2bag", got, want: indices.len() }.into()),
    }
}

fn check_bags(bags: &[i64], n: i64) -> Result<()> {
    match bags.iter().find(|bag| !(0..n).contains(*bag)) {
        None => Ok(()),
        Some(&got) => Err(ErrorKind::IndexOutOfRange { arg: "offset2bag", got, dim: Some(0), size: n, low: 0 }.into()),
    }
}

/// `_embedding_bag_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn embedding_bag_backward<D: AllKernels>(
    grad: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    offset2bag: &Tensor<D>,
    bag_size: &Tensor<D>,
    maximum_indices: &Tensor<D>,
    num_weights: i64,
    scale_grad_by_freq: bool,
    mode: i64,
    sparse: bool,
    per_sample_weights: Option<&Tensor<D>>,
    padding_idx: i64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_embedding_bag_backward", [grad.geometry(), indices.geometry()]);
    let per_sample_weights = super::forward::given(per_sample_weights);
    let make = || {
        if sparse {
            let rule = "argument sparse is true, and gradients are dense; accepted is false";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        check_ndim(grad, "grad", 2)?;
        super::check_contiguous(indices)?;
        super::check_contiguous(offsets)?;
        if grad.device() == DeviceId::META {
            return new_zeros(grad, [num_weights, grad.sizes()[1]]);
        }
        let (all, sizes) = (host_ints(indices)?, host_ints(bag_size)?);
        if mode == 2 {
            return max_backward(grad, &sizes, maximum_indices, num_weights, padding_idx);
        }
        check_rows(&all, num_weights)?;
        let bags = known_bags(&all, offsets, offset2bag)?;
        check_bags(&bags, grad.sizes()[0])?;
        let kept: Vec<usize> = (0..all.len()).filter(|&i| all[i] != padding_idx).collect();
        let pick = |from: &[i64]| kept.iter().map(|&i| from[i]).collect::<Vec<i64>>();
        let (from, to) = (pick(&bags), pick(&all));
        let counts = frequencies(&all);
        let factor = |&i: &usize| {
            let by_freq = if scale_grad_by_freq { 1.0 / counts[&all[i]] } else { 1.0 };
            let n = sizes.get(bags[i] as usize).copied().unwrap_or(1);
            if mode == 1 { by_freq / n as f64 } else { by_freq }
        };
        let factors: Vec<f64> = kept.iter().map(factor).collect();
        let mut scale = Tensor::<D>::from_slice_on(grad.device().index, &factors, factors.len())?;
        if per_sample_weights.dtype().is_some() {
            let places: Vec<i64> = kept.iter().map(|&i| i as i64).collect();
            scale = mul(&scale, &entries(per_sample_weights, &vector(grad, &places, DType::I64)?)?)?;
        }
        added(grad, (&from, &to), Some(&scale), num_weights)
    };
    make().map_err(|e: Error| e.called("_embedding_bag_backward"))
}

/// Gradients go where the maxima were.
fn max_backward<D: AllKernels>(
    grad: &Tensor<D>,
    bag_size: &[i64],
    maxima: &Tensor<D>,
    num_weights: i64,
    padding_idx: i64,
) -> Result<Tensor<D>> {
    if maxima.sizes() != grad.sizes() || bag_size.len() as i64 != grad.sizes()[0] {
        let (arg, got, want) = ("maximum_indices", maxima.sizes().to_vec(), grad.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
    }
    let columns = grad.sizes()[1] as usize;
    let mut weight = new_zeros(&cast(grad, sum_dtype(grad.dtype()))?, [num_weights, grad.sizes()[1]])?;
    if num_weights == 0 || grad.numel() == 0 {
        return cast(&weight, grad.dtype());
    }
    let mut to = host_ints(maxima)?;
    let without = |(k, &index): (usize, &i64)| bag_size[k / columns] == 0 || index == padding_idx;
    let hollow: Vec<bool> = to.iter().enumerate().map(without).collect();
    to.iter_mut().zip(&hollow).filter(|(_, hollow)| **hollow).for_each(|(index, _)| *index = 0);
    let place = |t: &[bool]| Tensor::<D>::from_slice_on(grad.device().index, t, grad.sizes());
    let values = cast(&masked_fill(grad, &place(&hollow)?, 0)?, weight.dtype())?;
    let to = Tensor::<D>::from_slice_on(grad.device().index, &to, grad.sizes())?;
    scatter_add_(&mut weight, 0, &to, &values)?;
    cast(&weight, grad.dtype())
}

/// `_embedding_bag_per_sample_weights_backward`: for each index the product of its row and the gradient of its bag.
pub fn per_sample_weights_backward<D: AllKernels>(
    grad: &Tensor<D>,
    weight: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    offset2bag: &Tensor<D>,
    mode: i64,
    padding_idx: i64,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_embedding_bag_per_sample_weights_backward", [grad.geometry(), weight.geometry()]);
    let make = || {
        if mode != 0 {
            let rule = "weights of samples have a gradient with mode 0, which sums";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        check_ndim(grad, "grad", 2)?;
        check_ndim(weight, "weight", 2)?;
        check_ndim(indices, "indices", 1)?;
        super::forward::index_dtype(indices, offsets)?;
        super::check_contiguous(indices)?;
        super::check_contiguous(offset2bag)?;
        if grad.device() == DeviceId::META {
            return new_zeros(grad, indices.sizes());
        }
        let all = host_ints(indices)?;
        check_rows(&all, weight.sizes()[0])?;
        let bags = known_bags(&all, offsets, offset2bag)?;
        check_bags(&bags, grad.sizes()[0])?;
        let kept: Vec<usize> = (0..all.len()).filter(|&i| all[i] != padding_idx).collect();
        let pick = |from: &[i64]| -> Result<Tensor<D>> {
            vector(grad, &kept.iter().map(|&i| from[i]).collect::<Vec<i64>>(), DType::I64)
        };
        let dtype = sum_dtype(grad.dtype());
        let (rows, of) = (index_select(grad, 0, &pick(&bags)?)?, index_select(weight, 0, &pick(&all)?)?);
        let products = cast(&sum(&mul(&cast(&rows, dtype)?, &cast(&of, dtype)?)?, 1)?, grad.dtype())?;
        let mut result = new_zeros(grad, [all.len() as i64])?;
        let places: Vec<i64> = kept.iter().map(|&i| i as i64).collect();
        index_copy_(&mut result, 0, &vector(grad, &places, DType::I64)?, &products)?;
        Ok(result)
    };
    make().map_err(|e: Error| e.called("_embedding_bag_per_sample_weights_backward"))
}

native! {
    family: BagGradients, functions: crate::kernels::AllKernels;

    func: _embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size,
        Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse,
        Tensor? per_sample_weights, int padding_idx=-1) -> Tensor,
    kernel: embedding_bag_backward;

    func: _embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets,
        Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor,
    autogen: _embedding_bag_per_sample_weights_backward.out, kernel: per_sample_weights_backward;

    func: embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx,
        bool scale_grad_by_freq) -> Tensor,
    autogen: embedding_dense_backward.out, kernel: embedding_dense_backward;
}
