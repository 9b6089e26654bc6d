//! The shortcut for the commonest calls: every tensor of one dtype, one shape and one dense layout, numbers allowed
//! beside row-major tensors. The one look that the call took at its tensors proves that the stages of `plan` would
//! change nothing, and the plan is a few words, from which a [`TensorIter`] is written where one is asked for. Decides
//! no rule of its own: whatever it does not recognise goes through the stages, and a test compares the two on random
//! calls.
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

use crate::config::{Config, Flags};
use crate::tensor_iter::{Fixed, TensorIter};
use monomorph_core::structured::{Alike, Operand, SinkState};
use monomorph_core::{DType, Geometry, Result, strides};

/// The inputs of such a call at most: what a plan holds without an allocation, less the output.
const INPUTS: usize = 3;

/// The iteration of such a call, in few words: everything dense is one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uniform {
    numel: usize,
    dtype: DType,
    output: DType,
    inputs: u8,
    /// Bit `k` is set if input `k` is a number.
    numbers: u8,
    /// Of numbers, which are read as `dtype` if the call promotes.
    number_dtypes: [DType; INPUTS],
    promote: bool,
    ndim: u8,
}

impl Uniform {
    /// Plans the call and declares its output, if it is one of the commonest; otherwise does nothing and returns
    /// `None`. A new output has dtype `output`, or that of the inputs; `alike` is what the sink says of them.
    #[inline(always)]
    pub fn build(
        flags: &Flags,
        output: Option<DType>,
        inputs: &[Operand<'_>],
        alike: &Alike,
        sink: &mut SinkState<'_>,
    ) -> Option<Result<Uniform>> {
        let geometry = alike.geometry(inputs)?;
        let uniform = Uniform::of(flags, output, inputs, alike, geometry)?;
        Some(sink.set_output_alike(alike, geometry, uniform.output).map(|()| uniform))
    }

    #[inline(always)]
    fn of(
        flags: &Flags,
        output: Option<DType>,
        inputs: &[Operand<'_>],
        alike: &Alike,
        geometry: &Geometry,
    ) -> Option<Uniform> {
        let dtype = alike.dtype();
        let (promote, numbers) = (flags.promote_inputs_to_common_dtype, alike.numbers());
        if flags.is_reduction
            || flags.enforce_linear_iteration
            || (flags.promote_integer_inputs_to_float && dtype.is_integral(true))
            || inputs.len() > INPUTS
        {
            return None;
        }
        let exact =
            flags.check_all_same_dtype || flags.cast_common_dtype_to_outputs || flags.enforce_safe_casting_to_output;
        let output = match alike.output() {
            Some(own) if own != dtype && exact => return None,
            Some(own) => own,
            None => output.unwrap_or(dtype),
        };
        let mut number_dtypes = [dtype; INPUTS];
        if numbers != 0 {
            // Dimensions of size 1 have any stride and are walked in any order, which the stages know and this does
            // not.
            if !alike.is_row_major() || !geometry.is_ample() {
                return None;
            }
            for (own, input) in number_dtypes.iter_mut().zip(inputs) {
                *own = input.dtype()?;
                if *own != dtype && !promote {
                    return None;
                }
            }
        } else if !alike.is_row_major() {
            // Four dimensions could be channels-last.
            let sizes = geometry.sizes();
            if sizes.len() == 4 || !strides::is_non_overlapping_and_dense(sizes, geometry.strides()) {
                return None;
            }
        }
        let (numel, ndim, inputs) = (geometry.numel(), geometry.ndim() as u8, inputs.len() as u8);
        Some(Uniform { numel, dtype, output, inputs, numbers, number_dtypes, promote, ndim })
    }

    /// The number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        self.numel
    }

    /// The dtype of the inputs that are tensors.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The dtype of the output.
    #[inline]
    pub fn output_dtype(&self) -> DType {
        self.output
    }

    /// The same iteration as a plan.
    pub fn iter(&self) -> TensorIter {
        let mut iter = TensorIter::default();
        self.write(&mut iter, None);
        iter
    }

    /// Writes the plan; if it is one of meta tensors, with their sizes.
    fn write(&self, iter: &mut TensorIter, meta_sizes: Option<&[i64]>) {
        let (dtype, output) = (self.dtype, self.output);
        let is_number = |k: u8| self.numbers >> k & 1 == 1;
        iter.shape.clear();
        iter.perm.clear();
        iter.strides.clear();
        iter.operands.clear();
        iter.noutputs = 1;
        iter.numel = self.numel;
        iter.common = Some(dtype);
        iter.serial = false;
        iter.reduction = false;
        iter.operands.push(Fixed { dtype: output, loop_dtype: output, conj: false, neg: false });
        for (k, &own) in (0..self.inputs).zip(&self.number_dtypes) {
            let own = if is_number(k) { own } else { dtype };
            let loop_dtype = if self.promote { dtype } else { own };
            iter.operands.push(Fixed { dtype: own, loop_dtype, conj: false, neg: false });
        }
        if self.numbers != 0 {
            iter.perm.extend((0..usize::from(self.ndim)).rev());
        } else if self.ndim == 0 {
            iter.flat = true;
            return;
        }
        // The dimensions of a meta plan are kept apart where they are not all dense.
        let apart = meta_sizes.filter(|sizes| self.numbers != 0 && sizes.len() > 1);
        iter.flat = apart.is_none();
        match apart {
            None => iter.shape.push(self.numel),
            Some(sizes) => iter.shape.extend(sizes.iter().rev().map(|&size| size as usize)),
        }
        for k in 0..=self.inputs {
            let mut stride = match k {
                0 => output.size() as isize,
                k if is_number(k - 1) => 0,
                _ => dtype.size() as isize,
            };
            for &size in &iter.shape {
                iter.strides.push(stride);
                stride = stride.wrapping_mul(size as isize);
            }
        }
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
    if config.outputs_like.is_some() || config.promote_from != 0 || config.shape.is_some() || config.device.is_some() {
        return None;
    }
    let alike = *sink.alike(inputs)?;
    if config.common_dtype.is_some_and(|want| alike.dtype() != want) {
        return None;
    }
    let built = Uniform::build(&config.flags, config.output_dtype, inputs, &alike, sink)?;
    Some(built.map(|uniform| {
        let sizes = if sink.is_meta() { inputs.iter().find_map(Operand::geometry).map(Geometry::sizes) } else { None };
        uniform.write(iter, sizes);
    }))
}
