//! The shortcut for the commonest calls: every tensor of one dtype, one shape and one dense layout, numbers allowed beside
//! row-major tensors. One look at each operand proves that the stages of `plan` would change nothing, and the plan is
//! written at once. Decides no rule of its own: whatever it does not recognise goes through the stages, and a test compares
//! the two on random calls.
//!
//! What is proved, stage by stage:
//!
//! | stage | because |
//! | --- | --- |
//! | read-write, overlap | the output is dense; where it shares its storage with an input, it is that very tensor |
//! | names | nobody has any |
//! | shape, resize | all sizes are equal, numbers have none |
//! | types | all tensors have one dtype, and no number has a higher kind |
//! | layout | all are row-major, or (without numbers) all have the same dense strides |
//! | coalesce | such operands are one dimension |

use crate::config::Config;
use crate::tensor_iter::{Fixed, TensorIter};
use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{DType, Geometry, Options, Result, TensorRef, strides};

/// The operands that a plan holds without an allocation, output included.
const OPERANDS: usize = 4;

/// What the inputs have in common.
struct Inputs<'a> {
    first: TensorRef<'a>,
    row_major: bool,
    /// Bit `k` is set if input `k` is a number.
    numbers: u32,
}

impl<'a> Inputs<'a> {
    fn geometry(&self) -> &'a Geometry {
        self.first.geometry()
    }

    fn dtype(&self) -> DType {
        self.geometry().dtype()
    }
}

/// Plans the call and declares its output, if it is one of the commonest; otherwise does nothing and returns `None`.
#[inline]
pub(crate) fn build(
    config: &Config<'_>,
    inputs: &[Operand<'_>],
    sink: &mut SinkState<'_>,
    iter: &mut TensorIter,
) -> Option<Result<()>> {
    let flags = &config.flags;
    let plain = !flags.is_reduction
        && !flags.enforce_linear_iteration
        && !config.outputs_like_input
        && config.promote_from == 0
        && config.shape.is_none()
        && config.device.is_none();
    if !plain || sink.noutputs() != 1 || inputs.len() >= OPERANDS {
        return None;
    }
    let common = common(config, inputs)?;
    let dtype = common.dtype();
    let out_dtype = match sink.existing(0) {
        None => config.output_dtype.unwrap_or(dtype),
        Some(out) => {
            check_output(config, inputs, &common, out)?;
            out.geometry().dtype()
        }
    };
    write(config, inputs.len(), &common, out_dtype, sink.is_meta(), inputs, iter);
    let geometry = common.geometry();
    let options = Options::new(out_dtype, common.first.device());
    Some(if common.row_major {
        sink.set_output_like(0, geometry, options)
    } else {
        sink.set_output_raw_strided(0, geometry.sizes(), Some(geometry.strides()), options, None)
    })
}

/// What the inputs have in common; `None` if it is not enough.
#[inline]
fn common<'a>(config: &Config<'_>, inputs: &[Operand<'a>]) -> Option<Inputs<'a>> {
    let first = inputs.iter().find_map(Operand::tensor)?;
    let geometry = first.geometry();
    let dtype = geometry.dtype();
    if config.common_dtype.is_some_and(|want| want != dtype)
        || (config.flags.promote_integer_inputs_to_float && dtype.is_integral(true))
    {
        return None;
    }
    let promote = config.flags.promote_inputs_to_common_dtype;
    let row_major = geometry.is_contiguous();
    let mut numbers = 0;
    for (k, input) in inputs.iter().enumerate() {
        match input {
            Operand::Tensor(t) => {
                let g = t.geometry();
                let fits = g.is_plain()
                    && (std::ptr::eq(g, geometry)
                        || (g.dtype() == dtype
                            && t.device() == first.device()
                            && g.same_sizes(geometry)
                            && if row_major { g.is_contiguous() } else { g.same_strides(geometry) }));
                if !fits {
                    return None;
                }
            }
            Operand::Number(number) => {
                if number.dtype() != dtype && (!promote || number.dtype().kind() > dtype.kind()) {
                    return None;
                }
                numbers |= 1 << k;
            }
            Operand::Absent => return None,
        }
    }
    let sizes = geometry.sizes();
    let fits = if numbers != 0 {
        // Dimensions of size 1 have any stride and are walked in any order, which the stages know and this does not.
        row_major && !sizes.is_empty() && sizes.iter().all(|&size| size > 1)
    } else {
        // Four dimensions could be channels-last.
        row_major || (sizes.len() != 4 && strides::is_non_overlapping_and_dense(sizes, geometry.strides()))
    };
    fits.then_some(Inputs { first, row_major, numbers })
}

/// `None` unless the caller's output is like the inputs.
#[inline]
fn check_output(config: &Config<'_>, inputs: &[Operand<'_>], common: &Inputs<'_>, out: TensorRef<'_>) -> Option<()> {
    let flags = &config.flags;
    let (g, like) = (out.geometry(), common.geometry());
    let exact =
        flags.check_all_same_dtype || flags.cast_common_dtype_to_outputs || flags.enforce_safe_casting_to_output;
    let fits = g.is_plain()
        && (g.dtype() == like.dtype() || !exact)
        && out.device() == common.first.device()
        && g.same_sizes(like)
        && if common.row_major { g.is_contiguous() } else { g.same_strides(like) };
    let storage = out.storage_id();
    let apart = |t: TensorRef<'_>| t.storage_id() != storage || t.geometry().same_elements(g);
    (fits && inputs.iter().filter_map(Operand::tensor).all(apart)).then_some(())
}

/// Writes the plan.
#[inline]
fn write(
    config: &Config<'_>,
    ninputs: usize,
    common: &Inputs<'_>,
    out_dtype: DType,
    is_meta: bool,
    inputs: &[Operand<'_>],
    iter: &mut TensorIter,
) {
    let (sizes, dtype) = (common.geometry().sizes(), common.dtype());
    let numel = common.geometry().numel();
    iter.shape.clear();
    iter.perm.clear();
    iter.strides.clear();
    iter.operands.clear();
    iter.noutputs = 1;
    iter.numel = numel;
    iter.common = Some(dtype);
    iter.serial = false;
    iter.flat = sizes.len() <= 1 || common.numbers == 0 || !is_meta;
    iter.reduction = false;
    let promote = config.flags.promote_inputs_to_common_dtype || config.common_dtype.is_some();
    iter.operands.push(Fixed { dtype: out_dtype, loop_dtype: out_dtype, conj: false, neg: false });
    for input in inputs {
        let fixed = match input {
            Operand::Number(number) => {
                let own = number.dtype();
                Fixed { dtype: own, loop_dtype: if promote { dtype } else { own }, conj: false, neg: false }
            }
            _ => Fixed { dtype, loop_dtype: dtype, conj: false, neg: false },
        };
        iter.operands.push(fixed);
    }
    if common.numbers != 0 {
        iter.perm.extend((0..sizes.len()).rev());
        if is_meta && sizes.len() > 1 {
            return write_dims(sizes, out_dtype, common, ninputs, iter);
        }
    } else if sizes.is_empty() {
        return;
    }
    iter.shape.push(numel);
    iter.strides.push(out_dtype.size() as isize);
    for k in 0..ninputs {
        iter.strides.push(if common.numbers >> k & 1 == 1 { 0 } else { dtype.size() as isize });
    }
}

/// Writes every dimension of row-major operands: a meta plan keeps them apart.
#[cold]
fn write_dims(sizes: &[i64], out_dtype: DType, common: &Inputs<'_>, ninputs: usize, iter: &mut TensorIter) {
    iter.shape.extend(sizes.iter().rev().map(|&size| size as usize));
    for k in 0..=ninputs {
        let dtype = if k == 0 { out_dtype } else { common.dtype() };
        let number = k > 0 && common.numbers >> (k - 1) & 1 == 1;
        let mut stride = if number { 0 } else { dtype.size() as isize };
        for &size in sizes.iter().rev() {
            iter.strides.push(stride);
            stride = stride.wrapping_mul(size as isize);
        }
    }
}
