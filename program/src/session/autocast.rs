//! What autocast casts on the CPU, by the names of operators: the kernels that PyTorch 2.15 registers for `AutocastCPU`
//! and their policies. Products are computed in the lower precision, some functions in float32, lists in the widest of
//! their dtypes; float64, integers and complex numbers are left alone.
//!
//! Casts are made where a node calls an operator. PyTorch casts inside of operators that are composed of others, too,
//! such as `einsum`, which is a product in the end. The program recorded the dtype of its result: where that is the
//! lower one and the operator, which is not listed, gives float32, it is called again on cast arguments. What such an
//! operator computes in float32 before its first product is then rounded earlier than in PyTorch.

use monomorph_core::dispatch::{Dispatcher, OperatorHandle};
use monomorph_core::{AnyTensor, DType, IValue, Result, Stack};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Policy {
    Lower,
    Float32,
    Widest,
}

const LOWER: &str = " _addmm_activation _convolution.deprecated _native_multi_head_attention addbmm addmm baddbmm bmm \
    conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding conv_tbc conv_transpose1d conv_transpose2d.input \
    conv_transpose3d.input linalg_vecdot linear matmul mkldnn_rnn_layer mm prelu scaled_dot_product_attention ";

const FLOAT32: &str = " _grid_sampler_2d_cpu_fallback _lu_with_info adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d \
    binary_cross_entropy binary_cross_entropy_with_logits cdist cholesky_inverse cholesky_solve cosine_embedding_loss \
    cross_entropy_loss ctc_loss.IntList ctc_loss.Tensor fake_quantize_per_tensor_affine fft_fft fft_fft2 fft_fftn \
    fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn \
    fractional_max_pool2d fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d \
    hinge_embedding_loss huber_loss inverse kl_div l1_loss linalg_cholesky linalg_cholesky_ex linalg_cond \
    linalg_cond.p_str linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv \
    linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_matrix_rank.atol_rtol_float \
    linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.tol_tensor linalg_matrix_sqrth linalg_qr linalg_solve \
    linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve margin_ranking_loss max_pool3d max_unpool2d \
    max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward nanquantile \
    nanquantile.scalar nll_loss nll_loss2d orgqr ormqr pinverse poisson_nll_loss polar prod prod.dim_int quantile \
    quantile.scalar reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d \
    smooth_l1_loss soft_margin_loss stft stft.center svd trace triangular_solve triplet_margin_loss view_as_complex ";

const WIDEST: &str = " cat index_copy stack ";

fn policy(operator: &str) -> Option<Policy> {
    let word = format!(" {operator} ");
    let listed = |list: &str| list.contains(&word);
    if listed(LOWER) {
        Some(Policy::Lower)
    } else if listed(FLOAT32) {
        Some(Policy::Float32)
    } else {
        listed(WIDEST).then_some(Policy::Widest)
    }
}

fn is_eligible(tensor: &AnyTensor) -> bool {
    matches!(tensor.dtype(), DType::F32 | DType::F16 | DType::BF16)
}

/// Calls an operator under autocast to `lower`; `recorded` is the dtype of its first result in the program.
pub(super) fn call(handle: &OperatorHandle, lower: DType, recorded: Option<DType>, stack: &mut Stack) -> Result<()> {
    let policy = policy(handle.name());
    let writes = handle.may_write(stack)?;
    if policy.is_some() || writes || recorded != Some(lower) {
        cast(handle.dispatcher(), policy, lower, stack)?;
        return handle.call(stack);
    }
    let mut args = stack.clone();
    handle.call(stack)?;
    let is_wide = stack.first().and_then(IValue::as_tensor).is_some_and(|tensor| tensor.dtype() == DType::F32);
    if is_wide {
        cast(handle.dispatcher(), Some(Policy::Lower), lower, &mut args)?;
        handle.call(&mut args)?;
        *stack = args;
    }
    Ok(())
}

/// Casts arguments as the policy says.
fn cast(dispatcher: &Dispatcher, policy: Option<Policy>, lower: DType, args: &mut Stack) -> Result<()> {
    let to = match policy {
        None => return Ok(()),
        Some(Policy::Lower) => lower,
        Some(Policy::Float32) => DType::F32,
        Some(Policy::Widest) => {
            let mut floats = args.iter().flat_map(IValue::tensors).filter(|tensor| is_eligible(tensor));
            if floats.any(|tensor| tensor.dtype() == DType::F32) { DType::F32 } else { lower }
        }
    };
    let one = |tensor: &AnyTensor| -> Result<AnyTensor> {
        if !is_eligible(tensor) || tensor.dtype() == to {
            return Ok(tensor.clone());
        }
        let mut stack: Stack = vec![tensor.clone().into(), to.into()];
        dispatcher.call("to.dtype", &mut stack)?;
        let cast = stack.pop().and_then(IValue::into_tensor);
        Ok(cast.unwrap_or_else(|| tensor.clone()))
    };
    for value in args {
        match value {
            IValue::Tensor(tensor) => *value = one(tensor)?.into(),
            IValue::Tensors(tensors) => *tensors = tensors.iter().map(one).collect::<Result<_>>()?,
            IValue::OptionalTensors(tensors) => {
                let cast = tensors.iter().map(|tensor| tensor.as_ref().map(one).transpose());
                *tensors = cast.collect::<Result<_>>()?;
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words() {
        assert_eq!(policy("mm"), Some(Policy::Lower));
        assert_eq!(policy("addmm"), Some(Policy::Lower));
        assert_eq!(policy("nll_loss"), Some(Policy::Float32));
        assert_eq!(policy("cat"), Some(Policy::Widest));
        for none in ["", " ", "m", "add.Tensor", "softmax.int", "layer_norm", "mm mkldnn_rnn_layer x"] {
            assert_eq!(policy(none), None, "{none}");
        }
    }
}
