//! A small call of which some operands are not what the kernel takes: each of those is staged whole, then the kernel is
//! called once, on one thread.
//!
//! ```text
//! operand ─► stager.load ─► block ─┐
//! operand (direct) ────────────────┼─► kernel ─► block ─► stager.store ─► output
//! number ─► stager.load ─► block ──┘
//! ```
//!
//! What a call this small costs is the way to the kernel, not the elements (decision 0009). Refuses every other call,
//! which `driver.rs` handles; the results are the same.

use super::kernel_fn::Traversal;
use super::kernel_spec::KernelSpec;
use super::operand_base::NumberBytes;
use super::planes::STAGE_BYTES;
use crate::staging::{StageBuffer, Stager};
use crate::tile_copy::Tile;
use monomorph_core::structured::{Operand, Outputs};
use monomorph_iter::TensorIter;

/// The most operands of a call that is staged whole, the output included.
const MAX_STAGED_OPERANDS: usize = 4;

/// A call of a kernel on one tile, bound to memory. Strides and dtypes are asked of the iteration again when the call
/// runs: copying them here would cost more.
///
/// Invariants:
/// * SC1: `at` are the first elements of the operands of an iteration of at most two dimensions that need not be
///   serial, output first; that of operand `number`, if it is not 0, is not used. No operand has more bytes than a
///   stage, in memory or staged.
/// * SC2: the kernel was chosen for this host and takes what `spec` says (K1, K2).
pub(super) struct StagedCall {
    spec: KernelSpec,
    at: [*mut u8; MAX_STAGED_OPERANDS],
    /// The element of operand `number`. The call owns it and no pointer to it, so the call may be moved.
    value: NumberBytes,
    /// The operand that is a number; 0, which is the output, if there is none.
    number: u8,
}

impl StagedCall {
    /// The call, if it is such a call.
    ///
    /// # Safety
    ///
    /// As for [`DenseCall::new`](super::dense_call::DenseCall::new).
    #[inline]
    pub(super) unsafe fn new(
        iter: &TensorIter,
        spec: &KernelSpec,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<StagedCall> {
        let n = iter.noperands();
        if iter.ndim() > 2 || n > MAX_STAGED_OPERANDS || n != inputs.len() + 1 || iter.must_be_serial() {
            return None;
        }
        // No element has more than 16 bytes. That is compared first, since most calls are far smaller or far larger
        // than a stage.
        let too_long = |k: usize| iter.numel() > STAGE_BYTES / iter.dtype(k).size().max(spec.dtype(k).size());
        if iter.numel() > STAGE_BYTES / 16 && (0..n).any(too_long) {
            return None;
        }
        let mut call = StagedCall {
            spec: *spec,
            at: [outputs.data(0); MAX_STAGED_OPERANDS],
            value: NumberBytes([0; 16]),
            number: 0,
        };
        for ((k, input), at) in (1..).zip(inputs).zip(&mut call.at[1..]) {
            match input {
                // SAFETY: the storage stays borrowed until the call is dropped (E2 of `Executes`).
                Operand::Tensor(tensor) => *at = unsafe { tensor.data() },
                Operand::Number(number) if call.number == 0 => {
                    call.value = NumberBytes(number.bytes());
                    call.number = k;
                }
                _ => return None,
            }
        }
        Some(call)
    }

    /// Computes every element. False if some operands have no result.
    ///
    /// # Safety
    ///
    /// K4 for `params`; the operands are borrowed: nobody else writes inputs, or uses the output; `iter` is the
    /// iteration that the call was made for.
    #[inline]
    pub(super) unsafe fn run(&self, iter: &TensorIter, params: *const ()) -> bool {
        // SAFETY: the caller promises the same of `params`, the operands and `iter`, and there are elements.
        iter.numel() == 0 || unsafe { self.run_staged(iter, params) }
    }

    /// Stages, calls the kernel, and stores.
    ///
    /// # Safety
    ///
    /// As for [`run`](StagedCall::run), and there are elements.
    #[inline(never)]
    unsafe fn run_staged(&self, iter: &TensorIter, params: *const ()) -> bool {
        let mut blocks = [const { StageBuffer::<STAGE_BYTES>::NEW }; MAX_STAGED_OPERANDS];
        let mut scratch = StageBuffer::<STAGE_BYTES>::NEW;
        let scratch = scratch.data();
        let size = |d: usize| iter.shape().get(d).copied().unwrap_or(1);
        let (cols, rows) = (size(0), size(1));
        let stager_and_tile = |k: usize| {
            let (inner, outer) = match *iter.strides(k) {
                [] => (0, 0),
                [inner] => (inner, 0),
                [inner, outer, ..] => (inner, outer),
            };
            (self.spec.stager(iter, k), Tile { cols, rows, inner, outer })
        };
        let is_direct = |stager: &Stager, tile: &Tile| stager.is_direct() && tile.is_dense(stager.size());
        let to = self.at[0];
        let mut ins = [std::ptr::null::<u8>(); MAX_STAGED_OPERANDS];
        for k in 1..iter.noperands().min(MAX_STAGED_OPERANDS) {
            let is_number = k == usize::from(self.number);
            let from = if is_number { self.value.0.as_ptr() } else { self.at[k].cast_const() };
            ins[k - 1] = from;
            // A kernel looks for its output in one input only; as another input it would run element by element, so it
            // is staged.
            let (stager, tile) = stager_and_tile(k);
            if !is_direct(&stager, &tile) || (k != self.spec.first_value() && std::ptr::eq(from, to)) {
                let block = blocks[k].data();
                // SAFETY:
                // * L1: the tile is the whole operand of the iteration, or the number, of which all strides are 0
                //   (SC1);
                // * L2: a stage holds the operand in either dtype (SC1); `scratch` is another one;
                // * L3: the caller promises that nobody else writes the operand, and the output is not written yet.
                unsafe { stager.load(from, tile, block, scratch) };
                ins[k - 1] = block;
            }
        }
        let (stager, tile) = stager_and_tile(0);
        if is_direct(&stager, &tile) {
            // SAFETY:
            // * K1 by SC2; K4: the caller promises it;
            // * K2: operands are dense, in their blocks or in memory, and of the dtypes that the kernel takes (SC1,
            //   SC2);
            // * K3: blocks are locals, and the plan refused operands that overlap the output in part.
            return unsafe { (self.spec.kernel)(to, ins.as_ptr(), cols * rows, params, Traversal::Dense) };
        }
        let block = blocks[0].data();
        // SAFETY:
        // * K1 by SC2; K4: the caller promises it;
        // * K2: inputs are dense, in their blocks or in memory, and the output's block holds as many elements (SC1,
        //   SC2);
        // * K3: the output's block is a local that is no input.
        if !unsafe { (self.spec.kernel)(block, ins.as_ptr(), cols * rows, params, Traversal::Dense) } {
            return false;
        }
        // SAFETY:
        // * L1: the tile is the whole output (SC1); L2: a stage holds it in either dtype (SC1), `scratch` is another
        //   one;
        // * the kernel filled the block, and the caller promises that nobody else uses the output.
        unsafe { stager.store(block, to, tile, scratch) };
        true
    }
}
