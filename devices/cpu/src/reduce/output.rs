//! The way of results from lanes to the outputs: in place where an output has what the fold gives, else through a
//! stage, where dtypes are converted and strides are followed.

use super::fold_kernels::FoldKernels;
use super::lanes::Lanes;
use super::layout::STAGED_LANES;
use super::parts::PART;
use super::results::result_dtype;
use crate::cast::Bits;
use crate::isa::Level;
use crate::staging::{STAGE_BLOCK_BYTES, StageBlock, Stager, Tile};
use monomorph_core::DType;
use monomorph_iter::TensorIter;
use monomorph_ops::reduce::{Numbers, ResultKind};
use smallvec::SmallVec;

/// One stager per output, which converts the results that the kernels give to what the output holds.
pub(super) struct OutputStagers(SmallVec<[Stager; 2]>);

impl OutputStagers {
    /// The stagers for results of these kinds, of a fold that computes in `compute`, to the outputs of an iteration.
    pub(super) fn new(iter: &TensorIter, kinds: &[ResultKind], compute: DType, level: Level) -> OutputStagers {
        let store = |(k, &kind): (usize, &ResultKind)| {
            let bits = Bits::of(iter.dtype(k), iter.is_conj(k), iter.is_neg(k));
            Stager::output(iter.dtype(k), result_dtype(kind, compute), bits, level)
        };
        OutputStagers(kinds.iter().enumerate().map(store).collect())
    }

    /// Stores the results of `n` lanes, each of `count` elements, of a fold that is told the numbers.
    ///
    /// # Safety
    ///
    /// A1; the lanes hold accumulators of these kernels (A2), which give results of the kinds and the compute dtype
    /// that the stagers were made for; from `outs` on there are `n` elements with these strides that nobody else uses.
    pub(super) unsafe fn store(
        &self,
        kernels: &FoldKernels,
        lanes: Lanes,
        n: usize,
        count: (i64, Numbers),
        outs: [*mut u8; 2],
        strides: [isize; 2],
    ) {
        let dense =
            |(k, stager): (usize, &Stager)| stager.is_direct() && (n == 1 || strides[k] == stager.size() as isize);
        if self.0.iter().enumerate().all(dense) {
            // SAFETY: A1, A2 by the caller's promise; each output has a dense run of `n` elements of the dtype that
            // the kernels give: a stager is direct if the output has the dtype that it is given.
            return unsafe { (kernels.finish)(lanes, n, count, outs) };
        }
        // A block has room for STAGED_LANES elements of any dtype.
        const { assert!(STAGED_LANES * PART <= STAGE_BLOCK_BYTES) };
        let (mut blocks, mut scratch) = ([StageBlock::NEW, StageBlock::NEW], StageBlock::NEW);
        for start in (0..n).step_by(STAGED_LANES) {
            let len = STAGED_LANES.min(n - start);
            let staged = blocks.each_mut().map(StageBlock::data);
            // SAFETY: A1, A2 for `len` of the `n` lanes, from lane `start` on; each block has room for as many
            // elements.
            unsafe { (kernels.finish)(lanes.offset(kernels.parts, start), len, count, staged) };
            for (k, stager) in self.0.iter().enumerate() {
                let memory = outs[k].wrapping_offset(strides[k].wrapping_mul(start as isize));
                let tile = Tile { cols: len, rows: 1, inner: strides[k], outer: 0 };
                // SAFETY: L1: the tile is `len` of the `n` elements, from element `start` on, which nobody else uses;
                // L2: it has no more than STAGED_LANES, which a block has room for, and the blocks are distinct; the
                // block was just filled.
                unsafe { stager.store(staged[k], memory, tile, scratch.data()) };
            }
        }
    }
}
