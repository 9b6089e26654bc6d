//! Results of a fold on their way to memory.

use super::body::Bodies;
use super::lanes::Lanes;
use super::layout::LANES;
use super::parts::PART;
use crate::cast::Bits;
use crate::element::{CpuElement, store};
use crate::isa::{Isa, Level};
use crate::on::On;
use crate::staging::{STAGE_BLOCK_BYTES, StageBlock, Stager, Tile};
use monomorph_core::DType;
use monomorph_iter::TensorIter;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Common, Truth};
use monomorph_ops::reduce::{Index, ResultKind, Results, Two};
use smallvec::SmallVec;

/// How the results of a fold on `C` at level `I` are stored.
pub trait Keep<C: CpuElement, I: Isa>: Results
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    /// Stores the results as element `i` of dense runs.
    ///
    /// # Safety
    ///
    /// Each run has an element `i` of the dtype that [`result_dtype`] names, which nobody else uses.
    unsafe fn keep(result: Self::Of<On<C, I>, On<i64, I>>, outs: [*mut u8; 2], i: usize);
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Common
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep(result: On<C, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: the run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Truth
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep(result: On<bool, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: the run has an element `i` of bool, which nobody else uses, by the caller's promise.
        unsafe { store::<bool>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Index
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep(result: On<i64, I>, outs: [*mut u8; 2], i: usize) {
        // SAFETY: the run has an element `i` of int64, which nobody else uses, by the caller's promise.
        unsafe { store::<i64>(outs[0], i, result.get()) };
    }
}

impl<C: CpuElement, I: Isa> Keep<C, I> for Two
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
    #[inline(always)]
    unsafe fn keep((first, second): (On<C, I>, On<C, I>), outs: [*mut u8; 2], i: usize) {
        // SAFETY: the first run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[0], i, first.get()) };
        // SAFETY: the second run has an element `i` of dtype `C`, which nobody else uses, by the caller's promise.
        unsafe { store::<C>(outs[1], i, second.get()) };
    }
}

/// The dtype that a result of this kind has when it leaves a fold that computes in `compute`.
fn result_dtype(kind: ResultKind, compute: DType) -> DType {
    match kind {
        ResultKind::Common => compute,
        ResultKind::Truth => DType::Bool,
        ResultKind::Index => DType::I64,
    }
}

/// How the results that bodies give are stored in the outputs, one lane each.
pub(super) struct Stores(SmallVec<[Stager; 2]>);

impl Stores {
    /// The stores of results of these kinds, as they leave a fold that computes in `compute`, in the outputs of an
    /// iteration.
    pub(super) fn new(iter: &TensorIter, kinds: &[ResultKind], compute: DType, level: Level) -> Stores {
        let store = |(k, &kind): (usize, &ResultKind)| {
            let bits = Bits::of(iter.dtype(k), iter.is_conj(k), iter.is_neg(k));
            Stager::output(iter.dtype(k), result_dtype(kind, compute), bits, level)
        };
        Stores(kinds.iter().enumerate().map(store).collect())
    }

    /// Stores the results of `n` lanes, each of `count` elements.
    ///
    /// # Safety
    ///
    /// B1; the lanes hold accumulators of these bodies (B2), which give results of the kinds and the compute dtype
    /// that the stores were made for; from `outs` on there are `n` elements with these strides that nobody else uses.
    pub(super) unsafe fn store(
        &self,
        bodies: &Bodies,
        lanes: Lanes,
        n: usize,
        count: i64,
        outs: [*mut u8; 2],
        strides: [isize; 2],
    ) {
        let dense = |(k, lane): (usize, &Stager)| lane.is_direct() && (n == 1 || strides[k] == lane.size() as isize);
        if self.0.iter().enumerate().all(dense) {
            // SAFETY: B1, B2 by the caller's promise; each output has a dense run of `n` elements of the dtype that
            // the bodies give: a lane is direct if memory has what it is given.
            return unsafe { (bodies.finish)(lanes, n, count, outs) };
        }
        // A block has room for LANES elements of any dtype.
        const { assert!(LANES * PART <= STAGE_BLOCK_BYTES) };
        let [first, second] = bodies.parts;
        let (mut blocks, mut scratch) = ([StageBlock::NEW, StageBlock::NEW], StageBlock::NEW);
        for start in (0..n).step_by(LANES) {
            let len = LANES.min(n - start);
            let from = Lanes {
                first: lanes.first.wrapping_add(start * first),
                second: lanes.second.wrapping_add(start * second),
            };
            let staged = blocks.each_mut().map(StageBlock::data);
            // SAFETY: B1, B2 for `len` of the `n` lanes, from lane `start` on; each block has room for as many
            // elements.
            unsafe { (bodies.finish)(from, len, count, staged) };
            for (k, lane) in self.0.iter().enumerate() {
                let memory = outs[k].wrapping_offset(strides[k].wrapping_mul(start as isize));
                let tile = Tile { cols: len, rows: 1, inner: strides[k], outer: 0 };
                // SAFETY: L1: the tile is `len` of the `n` elements, from element `start` on, which nobody else uses;
                // L2: it has no more than LANES, which a block has room for, and the blocks are distinct; the block
                // was just filled.
                unsafe { lane.store(staged[k], memory, tile, scratch.data()) };
            }
        }
    }
}
