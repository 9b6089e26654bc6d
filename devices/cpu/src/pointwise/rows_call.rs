//! A call over rows that the kernel takes as they lie: one call of the kernel, on one thread, with nothing staged.
//! Refuses every other call, which `driver.rs` handles; the results are the same.

use super::dense_call::{MAX_INPUTS, fits_single_call};
use super::kernel_fn::{KernelFn, Traversal};
use super::kernel_spec::KernelSpec;
use super::row_layout::{LONG_ROW_BYTES, RowLayout};
use monomorph_core::structured::{Operand, Outputs};
use monomorph_iter::TensorIter;

/// A call over rows, bound to memory.
///
/// Invariants:
/// * RW1: `rows` is a layout that the kernel takes, and the kernel was chosen for this host. `out` and the `ins` begin
///   rows of `cols` elements, of which every operand is a dense run or, if `rows` says so, one element. No input is
///   `out`.
pub(super) struct RowsCall {
    kernel: KernelFn,
    out: *mut u8,
    ins: [*const u8; MAX_INPUTS],
    cols: usize,
    rows: RowLayout,
}

impl RowsCall {
    /// The call, if its operands are such rows and long enough to be faster than tiles.
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
    ) -> Option<RowsCall> {
        let &[cols, count] = iter.shape() else { return None };
        let operands = inputs.len() + 1;
        let plain = fits_single_call(iter.numel()) && !iter.must_be_serial() && spec.takes_common_dtype();
        if !plain || inputs.len() > MAX_INPUTS || iter.noperands() != operands {
            return None;
        }
        let is_direct = |k: usize| iter.dtype(k) == spec.dtype(k) && !iter.is_conj(k) && !iter.is_neg(k);
        let operand = |k: usize| (spec.dtype(k).size(), [iter.strides(k)[0], iter.strides(k)[1]]);
        let rows = RowLayout::of(spec.row_mode, [cols, count], operands, operand)?;
        let is_faster = rows.broadcast.is_some() || cols * spec.dtype(0).size() >= LONG_ROW_BYTES;
        if !is_faster || !(0..operands).all(is_direct) {
            return None;
        }
        let out = outputs.data(0);
        let mut ins = [std::ptr::null(); MAX_INPUTS];
        for (input, at) in inputs.iter().zip(&mut ins) {
            let Operand::Tensor(tensor) = input else { return None };
            // SAFETY: the storage stays borrowed until the call is dropped (E2 of `Executes`).
            *at = unsafe { tensor.data() };
            if std::ptr::eq(*at, out) {
                return None;
            }
        }
        Some(RowsCall { kernel: spec.kernel, out, ins, cols, rows })
    }

    /// Computes every element. False if some operands have no result.
    ///
    /// # Safety
    ///
    /// K4 for `params`, and the operands are borrowed: nobody else writes inputs, or uses the output.
    pub(super) unsafe fn run(&self, params: *const ()) -> bool {
        // SAFETY:
        // * K1: the kernel was chosen for this host (RW1);
        // * K2, K6: `rows` leads to rows of `cols` elements of every operand, and the kernel takes such rows (RW1);
        // * K3: the plan refused inputs that overlap the output in part, and no input is the output (RW1);
        // * K4: the caller promises it.
        unsafe { (self.kernel)(self.out, self.ins.as_ptr(), self.cols, params, Traversal::Rows(&self.rows)) }
    }
}
