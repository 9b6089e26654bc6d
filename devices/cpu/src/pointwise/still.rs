//! Light formulas of two operands of which one is the same element for a whole run, a row of a column that is broadcast or a number: it is held
//! in a register. To stage it would cost more than to compute.

use super::body::{Run, is_plain};
use super::operands::{Load, Store};
use crate::cell::Cell;
use crate::isa::{Isa, Kernel};
use crate::on::On;
use monomorph_core::DType;
use monomorph_ops::algebra::Value;
use monomorph_ops::pointwise::{Map, Operands, Params, PointwiseFn};

/// Whether an operand of the formula's bodies may stand still, where they are [`taken`].
pub(super) const fn stands<F: PointwiseFn>() -> bool {
    is_plain::<F>() && F::Operands::ALIKE && F::Operands::COUNT == 2 && !F::ELEMENTWISE_ONLY
}

/// Whether bodies on this dtype are among those: halves are loaded by pairs, bools are looked up.
pub(super) fn taken(dtype: DType) -> bool {
    !matches!(dtype, DType::Bool | DType::F16 | DType::BF16)
}

/// A dense run of which operand `K` stands still. The output is no operand.
pub(super) struct Still<F: PointwiseFn, C, const K: usize>(pub(super) Run<F, C>);

impl<F, C, I, const K: usize> Kernel<I> for Still<F, C, K>
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
        if n == 0 {
            return true;
        }
        // SAFETY: K4.
        let params = unsafe { &*params }.bind::<On<C, I>>();
        // SAFETY: K2: there is a pointer for each operand.
        let ins = unsafe { <F::Operands as Load<On<C, I>>>::pointers(ins) };
        // SAFETY: K2, K6: there is an element of each.
        let held = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(ins, 0) };
        let others = <F::Operands as Load<On<C, I>>>::without(ins, K);
        for i in 0..n {
            // SAFETY: K2: the other operand is read alone.
            let x = unsafe { <F::Operands as Load<On<C, I>>>::load::<false>(others, i) };
            let x = <F::Operands as Load<On<C, I>>>::holding(x, &held, K);
            // SAFETY: K2.
            unsafe { <F::Out as Store<On<C, I>>>::store::<false>(out, i, F::eval(x, params), F::EXACT) };
        }
        true
    }
}
