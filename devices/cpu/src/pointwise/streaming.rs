//! Outputs that no cache will keep: bodies store them past the caches, so that their lines need not be read from memory before they
//! are overwritten.

use super::body::{Run, part};
use super::operands::{Load, Store};
use crate::cell::Cell;
use crate::isa::{Isa, Kernel};
use crate::lines::{LINE, stream_lines};
use crate::on::On;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Params, PointwiseFn};
use std::mem::MaybeUninit;

/// An output of more bytes is not expected to stay in the last cache until somebody reads it.
pub(super) const FAR_BYTES: usize = 32 << 20;

/// Whether an output of so many bytes had better be streamed.
pub(super) fn pays(bytes: usize) -> bool {
    bytes > FAR_BYTES && crate::processor::Maker::current().reads_what_it_overwrites()
}

/// Bytes of output that are stored past the caches at a time: so many that every level keeps them in its registers from where they are
/// computed to where they are stored, and a multiple of elements of every size.
const STREAMED: usize = 256;

/// A block of output.
#[repr(C, align(64))]
struct Streamed(MaybeUninit<[u8; STREAMED]>);

/// A dense run that is stored past the caches, and lies apart from all operands.
pub(super) struct Streams<'r, F: PointwiseFn, C>(pub(super) Run<'r, F, C>);

impl<F, C, I> Kernel<I> for Streams<'_, F, C>
where
    C: Cell,
    I: Isa,
    On<C, I>: Value<Mask = On<bool, I>>,
    F: Map<On<C, I>>,
    F::Operands: Load<On<C, I>>,
    F::Out: Store<On<C, I>>,
{
    type Home = F;
    type Output = bool;

    #[inline(always)]
    fn run(self, _: I) -> bool {
        let Run { out, ins, n, params, .. } = self.0;
        // SAFETY: K4.
        let params = unsafe { &*params }.bind::<On<C, I>>();
        // SAFETY: K2: there is a pointer for each operand.
        let ins = unsafe { <F::Operands as Load<On<C, I>>>::pointers(ins) };
        let size = <F::Out as Store<On<C, I>>>::SIZE;
        let from = |start: usize| {
            <F::Operands as Load<On<C, I>>>::replaced(
                ins,
                start,
                #[inline(always)]
                |at| at.wrapping_add(start * size_of::<C::Stored>()),
            )
        };
        let until_line = out.align_offset(LINE);
        let head = if until_line.is_multiple_of(size) { n.min(until_line / size) } else { n };
        let per_block = const { STREAMED / <F::Out as Store<On<C, I>>>::SIZE };
        let tail = head + (n - head) / per_block * per_block;
        for ends in [0..head, tail..n] {
            // SAFETY: K2 for these elements, K3.
            unsafe { part::<F, C, I>(out.wrapping_add(ends.start * size), from(ends.start), 0..ends.len(), params) };
        }
        for start in (head..tail).step_by(per_block) {
            let mut block = Streamed(MaybeUninit::uninit());
            let block = block.0.as_mut_ptr().cast::<u8>();
            // SAFETY: K2 for these elements of the inputs, and the block has room; K3 since it is ours.
            unsafe { part::<F, C, I>(block, from(start), 0..per_block, params) };
            // SAFETY: K2 for these elements of the output, which begin with a line; the block was just filled, begins with a line, too,
            // and is ours; K1.
            unsafe { stream_lines::<I>(block, out.wrapping_add(start * size), STREAMED) };
        }
        true
    }
}
