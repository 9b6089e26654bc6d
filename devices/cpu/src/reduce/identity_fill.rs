//! A reduction over no element, while the outputs have some: every output becomes what the fold's identity finishes to.

use super::fold_kernels::FoldKernels;
use super::lanes::Lanes;
use super::output::OutputStagers;
use crate::staging::StageBlock;
use monomorph_core::{ErrorKind, Geometry, Result};
use monomorph_ops::reduce::Numbers;
use smallvec::SmallVec;

/// The most elements that are filled. An output may reach the same memory again and again, so the size of its storage
/// does not bound the time that this takes.
const MAX_FILLED: usize = 1 << 40;

/// A dimension of the outputs: its size, and from one step to the next the bytes in each output.
type OutputDim = (usize, [isize; 2]);

/// Outputs to be filled with the result of no element.
///
/// Invariants:
/// * F1: `outs` and `dims` reach elements of the outputs, of the dtypes that `output` is for, and reach all of them.
/// * F2: `identity` is that of `kernels`, which give what `output` stores, and were chosen for this host (A1).
pub(super) struct IdentityFill {
    kernels: FoldKernels,
    identity: unsafe fn(Lanes),
    output: OutputStagers,
    numbers: Numbers,
    outs: [*mut u8; 2],
    /// The dimensions whose elements lie at different places, innermost first.
    dims: SmallVec<[OutputDim; 4]>,
    /// The product of their sizes.
    count: usize,
}

impl IdentityFill {
    /// The kernels are those of the fold; `output` and the pointers are for `outputs`, which have the same sizes and at
    /// least one element.
    ///
    /// # Errors
    /// The fold has no identity; more elements than [`MAX_FILLED`].
    pub(super) fn new(
        kernels: FoldKernels,
        output: OutputStagers,
        numbers: Numbers,
        outs: [*mut u8; 2],
        outputs: &[&Geometry],
    ) -> Result<IdentityFill> {
        let identity = kernels.identity.ok_or(ErrorKind::EmptyInput)?;
        let sizes = outputs.first().map_or(&[][..], |first| first.sizes());
        let mut dims: SmallVec<[OutputDim; 4]> = SmallVec::new();
        for (d, &size) in sizes.iter().enumerate().rev().filter(|&(_, &size)| size != 1) {
            let mut strides = [0; 2];
            for (stride, output) in strides.iter_mut().zip(outputs) {
                // The size is not 1, so there is an element one step further, in the same storage: its distance in
                // bytes does not overflow.
                *stride = (output.strides()[d] as isize).wrapping_mul(output.dtype().size() as isize);
            }
            // All elements of an expanded dimension are the same one.
            if strides != [0; 2] {
                dims.push((size as usize, strides));
            }
        }
        let count = dims.iter().try_fold(1_usize, |all, dim| all.checked_mul(dim.0));
        let Some(count) = count.filter(|&count| count <= MAX_FILLED) else {
            let rule = "an output of a reduction over nothing has more than 2^40 elements; give a smaller one";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        };
        Ok(IdentityFill { kernels, identity, output, numbers, outs, dims, count })
    }

    /// Writes the result to every element.
    ///
    /// # Safety
    ///
    /// The outputs are borrowed for writing.
    pub(super) unsafe fn run(&self) {
        let (mut first, mut second) = (StageBlock::NEW, StageBlock::NEW);
        let lanes = Lanes { first: first.data(), second: second.data() };
        // SAFETY: A1 by F2; A2: each block has room for a part, is aligned for any, and is this function's own.
        unsafe { (self.identity)(lanes) };
        for index in 0..self.count {
            let (mut outs, mut rest) = (self.outs, index);
            for &(size, strides) in &self.dims {
                let at = (rest % size) as isize;
                rest /= size;
                for (out, stride) in outs.iter_mut().zip(strides) {
                    *out = out.wrapping_offset(stride.wrapping_mul(at));
                }
            }
            // SAFETY: A1 by F2; lane 0 holds an accumulator of this fold (F2); `output` is for the results of `kernels`
            // (F2); from `outs` on there is one element of each output (F1), which nobody else uses.
            unsafe { self.output.store(&self.kernels, lanes, 1, (0, self.numbers), outs, [0; 2]) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Level;
    use crate::reduce::here;
    use monomorph_core::DType;
    use monomorph_iter::TensorIter;
    use monomorph_ops::reduce::{AmaxFn, SumFn};

    /// Meta functions refuse such calls, so nobody gets here with one.
    #[test]
    fn nothing_is_filled_with_what_there_is_not() {
        let geometry = Geometry::new(DType::F32, &[3], &[1], 0).unwrap();
        let fill = |kernels: Option<FoldKernels>| {
            let output = OutputStagers::new(&TensorIter::default(), &[], DType::F32, Level::Portable);
            IdentityFill::new(kernels.unwrap(), output, [0.0; 2], [std::ptr::null_mut(); 2], &[&geometry])
        };
        let error = fill(here::<AmaxFn>(DType::F32, Level::Portable)).err().unwrap();
        assert_eq!(*error.kind(), ErrorKind::EmptyInput);
        assert_eq!(fill(here::<SumFn>(DType::F32, Level::Portable)).unwrap().count, 3);
    }
}
