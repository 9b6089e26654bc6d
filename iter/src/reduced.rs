//! The shortcut for reductions of row-major tensors to new outputs. The order of such a walk is known: dimensions that
//! are reduced first, then those that are kept, either from the innermost outwards. Decides no rule of its own:
//! whatever it does not recognise goes through the stages of `plan`, and a test compares the two on random calls.
//!
//! What is proved, stage by stage:
//!
//! | stage | because |
//! | --- | --- |
//! | overlap | nothing else reaches the outputs |
//! | shape, resize | the outputs are those of the input without the reduced dimensions |
//! | types | the caller says what is computed in which dtype |
//! | order | reduced dimensions, of stride 0 in outputs, go first; among others strides further in are no larger |
//! | coalesce | done as it is there |

use crate::plan::MAX_ELEMENTS;
use crate::tensor_iter::{Fixed, TensorIter};
use monomorph_core::{DType, Geometry};

/// The dimensions of such a call at most: what a plan holds without an allocation.
const DIMS: usize = 6;

/// Plans the reduction of a tensor to new row-major outputs of these dtypes, if it is one of these; otherwise leaves
/// the plan as it is and returns false.
pub fn build_reduction(input: &Geometry, outputs: &[DType], is_reduced: &[bool], iter: &mut TensorIter) -> bool {
    let (sizes, numel) = (input.sizes(), input.numel());
    // Without it the outputs have the shape of the input, whose order is found in another way.
    let reduces = sizes.iter().zip(is_reduced).any(|(&size, &reduced)| reduced && size != 1);
    let known = input.is_plain() && input.is_canonical() && sizes.len() <= DIMS && sizes.len() == is_reduced.len();
    if !known || !reduces || numel == 0 || numel > MAX_ELEMENTS {
        return false;
    }
    // Strides in elements, of the input and of every output, by dimension.
    let mut strides = [[0_usize; 2]; DIMS];
    let mut next = [1_usize; 2];
    for (d, (&size, &reduced)) in sizes.iter().zip(is_reduced).enumerate().rev() {
        strides[d] = [next[0], if reduced { 0 } else { next[1] }];
        // No product is larger than the number of elements.
        next = [next[0] * size as usize, if reduced { next[1] } else { next[1] * size as usize }];
    }
    iter.perm.clear();
    for pass in [true, false] {
        iter.perm.extend((0..sizes.len()).rev().filter(|&d| is_reduced[d] == pass));
    }
    let mut merged: [(usize, [usize; 2]); DIMS] = [(0, [0; 2]); DIMS];
    let mut last = 0;
    for (i, &d) in iter.perm.iter().enumerate() {
        let (size, stride) = (sizes[d] as usize, strides[d]);
        let (before, own) = merged[last];
        let as_one = own[0] * before == stride[0] && own[1] * before == stride[1];
        if i == 0 {
            merged[0] = (size, stride);
        } else if before == 1 || size == 1 || as_one {
            merged[last] = (before * size, if before == 1 { stride } else { own });
        } else {
            last += 1;
            merged[last] = (size, stride);
        }
    }
    let merged = &merged[..=last];
    iter.shape.clear();
    iter.shape.extend(merged.iter().map(|&(size, _)| size));
    iter.strides.clear();
    iter.operands.clear();
    for (dtype, operand) in outputs.iter().map(|&dtype| (dtype, 1)).chain([(input.dtype(), 0)]) {
        iter.operands.push(Fixed { dtype, loop_dtype: dtype, conj: false, neg: false });
        iter.strides.extend(merged.iter().map(|(_, strides)| (strides[operand] * dtype.size()) as isize));
    }
    iter.noutputs = outputs.len();
    iter.numel = numel;
    iter.common = Some(input.dtype());
    iter.serial = false;
    iter.reduction = true;
    iter.find_flat();
    true
}
