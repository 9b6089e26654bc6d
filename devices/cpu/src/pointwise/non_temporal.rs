//! The loop of a light formula whose output is too large for the caches: it is written with non-temporal stores, which
//! go to memory without reading the line first.
//!
//! ```text
//! out:   ··[head]│block│block│block│...│[tail]··      │ = beginning of a cache line
//! ```
//!
//! Head and tail are ordinary. Of the whole lines between, [`BLOCK_BYTES`] at a time are computed into a local block
//! that the compiler keeps in registers and stores by the widest non-temporal instruction, while the processor reads
//! the next operands.

use super::dense_loop::DenseLoop;
use super::element_loop::loop_over_range;
use super::operands::{LoadOperands, StoreOutput};
use crate::cache_lines::{CACHE_LINE, copy_non_temporal};
use crate::element::CpuElement;
use crate::isa::{Isa, Kernel};
use crate::scalar::Lane;
use crate::tuning::FastPaths;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Params, PointwiseFn};
use std::hint::black_box;
use std::mem::MaybeUninit;

/// An output of more bytes than this is not expected to stay in the last-level cache until somebody reads it. Smaller
/// ones would be read back from memory by the next operator. The gain was measured at 64 MiB (decision 0010).
pub(super) const NON_TEMPORAL_MIN: usize = 32 << 20;

/// Whether an output of so many bytes had better be written with non-temporal stores.
pub(super) fn is_worthwhile(bytes: usize) -> bool {
    bytes > NON_TEMPORAL_MIN && crate::processor::Vendor::current().gains_by_non_temporal_stores()
}

/// Bytes of output that are computed before they are stored: few enough that every level keeps them in registers, and a
/// multiple of every element size. Larger blocks lie in memory in between, which was slower (0.5 to 4 KiB measured in
/// decision 0010).
const BLOCK_BYTES: usize = 256;

/// A block of output.
#[repr(C, align(64))]
struct StoreBlock(MaybeUninit<[u8; BLOCK_BYTES]>);

/// One dense run that is written with non-temporal stores, and is no input (K5).
pub(super) struct NonTemporalLoop<'r, F: PointwiseFn, T, C>(pub(super) DenseLoop<'r, F, T, C>);

impl<F, T, C, I> Kernel<I> for NonTemporalLoop<'_, F, T, C>
where
    C: CpuElement,
    I: Isa,
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    F: Map<Lane<C, I>>,
    T: FastPaths<Lane<C, I>, F>,
    F::Operands: LoadOperands<Lane<C, I>>,
    F::Out: StoreOutput<Lane<C, I>>,
{
    type Home = F;
    type Output = bool;

    #[inline(always)]
    fn run(self, _: I) -> bool {
        let DenseLoop { out, ins, n, params, .. } = self.0;
        // SAFETY: `params` points to the formula's parameters (K4).
        let params = unsafe { &*params }.bind::<Lane<C, I>>();
        // SAFETY: `ins` points to a pointer for each operand (K2).
        let ins = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::pointers(ins) };
        let size = <F::Out as StoreOutput<Lane<C, I>>>::SIZE;
        let from = |start: usize| {
            <F::Operands as LoadOperands<Lane<C, I>>>::map_values(
                ins,
                start,
                #[inline(always)]
                |at| at.wrapping_add(start * size_of::<C::Stored>()),
            )
        };
        let until_line = out.align_offset(CACHE_LINE);
        let head = if until_line.is_multiple_of(size) { n.min(until_line / size) } else { n };
        let per_block = const { BLOCK_BYTES / <F::Out as StoreOutput<Lane<C, I>>>::SIZE };
        let tail = head + (n - head) / per_block * per_block;
        // Less than a cache line before the blocks and less than a block behind them. Computed one at a time, by an
        // index that the optimiser cannot see through: it would make a vector loop for them, as long as that of blocks.
        for i in (0..head).chain(tail..n).map(black_box) {
            // SAFETY: `i < n`: in bounds (K2), and no input is the output (K5), so the rest is apart (K3).
            unsafe { loop_over_range::<F, T, C, I>(out.wrapping_add(i * size), from(i), 0..1, params) };
        }
        for start in (head..tail).step_by(per_block) {
            let mut block = StoreBlock(MaybeUninit::uninit());
            let block = block.0.as_mut_ptr().cast::<u8>();
            // SAFETY: `start + per_block <= tail <= n`, so the inputs are in bounds (K2); the block is a local that
            // holds `per_block` elements (K2) and overlaps no input (K3).
            unsafe { loop_over_range::<F, T, C, I>(block, from(start), 0..per_block, params) };
            // SAFETY:
            // * both have `BLOCK_BYTES` bytes in bounds: the output by K2 and `start + per_block <= n`, the block by
            //   its type;
            // * the output begins a line at `head`, and blocks are whole lines; the block is aligned to a line by its
            //   type;
            // * the block was just filled and is a local; the host has level `I` (K1).
            unsafe { copy_non_temporal::<I>(block, out.wrapping_add(start * size), BLOCK_BYTES) };
        }
        true
    }
}
