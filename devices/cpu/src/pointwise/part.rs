//! Some of the elements of a bound call, on other memory than the call's: for kernels that are run block by block
//! (`storage/groups.rs` of the core). Refuses calls whose operands are not dense runs, numbers or one element.

use super::call::{Ready, Strategy};
use super::kernel_fn::{KernelFn, Traversal};
use super::operand_base::MAX_OPERANDS;
use monomorph_core::structured::{Elementwise, Part, PartOperand};
use monomorph_iter::{GRAIN, TensorIter, is_parallel, pieces, share};
use smallvec::SmallVec;

/// Hands out pieces to the threads of the pool.
fn share_pieces(count: usize, f: &(dyn Fn(usize) + Sync)) {
    share(count, f);
}

/// Calls a kernel for a part. False if some operands have no result.
///
/// # Safety
///
/// * PD1: the kernel was chosen for this host (K1), and all operands of its call are dense runs of what it takes.
/// * E5 of [`Executes`](monomorph_core::structured::Executes); K4 for `params`.
pub(super) unsafe fn run_dense(kernel: KernelFn, params: *const (), part: &Part<'_>) -> bool {
    let mut ins = [std::ptr::null(); MAX_OPERANDS];
    for (to, at) in ins.iter_mut().zip(&part.at[1..]) {
        *to = at.cast_const();
    }
    // SAFETY: K1 by PD1; K2, K3: operands are dense runs of as many elements (PD1), equal to the output or apart from
    // it (E5); K4: the caller promises it.
    unsafe { kernel(part.at[0], ins.as_ptr(), part.numel, params, Traversal::Dense) }
}

impl Ready {
    /// The call by its elements, if they are independent and lie densely. `iter` is the one that it was made from.
    #[inline(never)]
    pub(super) fn elementwise(&self, iter: &TensorIter) -> Option<Elementwise> {
        let step = |k: usize| match *iter.strides(k) {
            [] => Some(iter.dtype(k).size()),
            [0] if k != 0 => Some(0),
            [stride] if stride == iter.dtype(k).size() as isize => Some(iter.dtype(k).size()),
            _ => None,
        };
        let data = |k: usize| match &self.0 {
            Strategy::Dense(call) => call.operand(k),
            Strategy::Driver(driver) => Some(driver.base(k)),
            _ => None,
        };
        if iter.ndim() > 1 || iter.must_be_serial() {
            return None;
        }
        let operand = |k: usize| Some(PartOperand { data: data(k)?, step: step(k)? });
        let operands: Option<SmallVec<[PartOperand; 4]>> = (0..iter.noperands()).map(operand).collect();
        let numel = iter.numel();
        let pieces = if is_parallel(numel, GRAIN) { pieces() } else { 1 };
        Some(Elementwise { numel, operands: operands?, pieces, share: share_pieces })
    }

    /// Runs a part of it.
    ///
    /// # Safety
    ///
    /// E4 and E5 of [`Executes::run_part`](monomorph_core::structured::Executes::run_part); K4 for `params`.
    #[inline(never)]
    pub(super) unsafe fn run_part(&self, iter: &TensorIter, params: *const (), part: &Part<'_>) {
        let done = match &self.0 {
            // SAFETY: PD1: operands of such a call are dense runs, and it has no number; the caller promises E5 and K4.
            Strategy::Dense(call) => unsafe { run_dense(call.kernel(), params, part) },
            // SAFETY: the caller promises E4, E5 and K4, and that `iter` is the driver's.
            Strategy::Driver(driver) => unsafe { driver.run_part(iter, params, part) },
            _ => true,
        };
        debug_assert!(done, "an elementwise call cannot fail");
    }
}
