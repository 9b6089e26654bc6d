//! The loop of a light formula over rows in which one of two operands is broadcast, as in `matrix - column`.
//!
//! The operand is loaded once a row and stays in a register. Staged instead, it was stored and loaded again for every
//! element: add of 256 × 256 float32 with a broadcast column was at 0.80 of PyTorch's speed staged, 1.2 in this loop
//! (decision 0010).

use super::dense_loop::DenseLoop;
use super::operands::{LoadOperands, StoreOutput};
use super::row_layout::RowLayout;
use crate::element::CpuElement;
use crate::isa::{Isa, Kernel};
use crate::scalar::Lane;
use crate::tuning::FastPaths;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Params, PointwiseFn};

/// Rows of which input `BROADCAST` is one element each. The output is no input (K6).
pub(super) struct BroadcastOperand<'r, F: PointwiseFn, T, C, const BROADCAST: usize>(
    pub(super) DenseLoop<'r, F, T, C>,
    pub(super) &'r RowLayout,
);

impl<F, T, C, I, const BROADCAST: usize> Kernel<I> for BroadcastOperand<'_, F, T, C, BROADCAST>
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
        let BroadcastOperand(
            DenseLoop { mut out, ins, n, params, .. },
            RowLayout { count, strides: [out_stride, in_strides @ ..], .. },
        ) = self;
        if n == 0 {
            return true;
        }
        // SAFETY: `params` points to the formula's parameters (K4).
        let params = unsafe { &*params }.bind::<Lane<C, I>>();
        // SAFETY: `ins` points to a pointer for each operand (K2).
        let mut ins = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::pointers(ins) };
        for _ in 0..*count {
            // SAFETY: a row has at least one element of each operand, the broadcast one included (K6; `n > 0`).
            let first = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load::<false>(ins, 0) };
            for i in 0..n {
                // SAFETY: the row of the operand that is not broadcast has `n` elements (K2, K6).
                let x = unsafe { <F::Operands as LoadOperands<Lane<C, I>>>::load_others(ins, i, BROADCAST, &first) };
                // SAFETY: the row of the output has `n` writable elements (K2, K6).
                unsafe { <F::Out as StoreOutput<Lane<C, I>>>::store::<false>(out, i, F::eval(x, params), T::EXACT) };
            }
            out = out.wrapping_offset(*out_stride);
            ins = <F::Operands as LoadOperands<Lane<C, I>>>::advanced(ins, in_strides);
        }
        true
    }
}
