//! The general way to run a kernel: over any iteration, on any number of threads. Operands that are not dense runs of
//! what the kernel takes are staged, tile by tile, in blocks that stay in the first-level cache. Knows no formula and
//! no dtype by name.
//!
//! This file owns a bound call and the choice between one call of the kernel and many; `planes.rs` owns the loops over
//! planes.

use super::dense_call::fits_single_call;
use super::kernel_fn::{KernelFn, Traversal};
use super::kernel_spec::KernelSpec;
use super::operand_base::{MAX_OPERANDS, OperandBase};
use super::planes::PlaneLoop;
use super::row_layout::RowMode;
use super::slabs::Slab;
use crate::staging::Stager;
use monomorph_iter::{GRAIN, TensorIter};
use smallvec::SmallVec;

/// A kernel bound to the memory of an iteration.
///
/// Invariants:
/// * D1: `bases` are the first elements of the operands that the iteration was planned for, output first.
/// * D2: stagers bring operands to the dtypes that the kernel takes (K2), and the kernel was chosen for this host (K1).
pub(super) struct Driver {
    pub(super) kernel: KernelFn,
    bases: SmallVec<[OperandBase; 4]>,
    /// An element takes longer to move than to compute.
    pub(super) light: bool,
    /// The rows that the kernel takes (K6).
    pub(super) row_mode: RowMode,
    /// The operand that a kernel compares with its output ([`KernelSpec::first_value`]).
    first_value: usize,
    pub(super) reach: Reach,
}

/// How the elements are reached.
pub(super) enum Reach {
    /// All operands are dense runs of so many elements, of the dtypes that the kernel takes: one call, on one thread.
    SingleCall(usize),
    /// Anything else: plane by plane, staged where necessary.
    Planes(SmallVec<[Stager; 4]>),
}

impl Driver {
    /// A driver of the kernel of `spec` over `iter`.
    ///
    /// # Safety
    ///
    /// D1 for `bases`; D2 for the kernel of `spec` and the stagers that it makes.
    pub(super) unsafe fn new(iter: &TensorIter, spec: &KernelSpec, bases: SmallVec<[OperandBase; 4]>) -> Driver {
        let stagers = (0..iter.noperands()).map(|k| spec.stager(iter, k)).collect();
        // SAFETY: the caller promises D1 for `bases`, and D2 for these stagers and this kernel.
        unsafe {
            Driver::with_stagers(iter, spec.kernel, (spec.light, spec.row_mode), spec.first_value(), stagers, bases)
        }
    }

    /// The same, which always goes plane by plane.
    ///
    /// # Safety
    ///
    /// As for [`new`](Driver::new).
    pub(super) unsafe fn staged(iter: &TensorIter, spec: &KernelSpec, bases: SmallVec<[OperandBase; 4]>) -> Driver {
        // SAFETY: the caller's promise.
        let driver = unsafe { Driver::new(iter, spec, bases) };
        let stagers = (0..iter.noperands()).map(|k| spec.stager(iter, k)).collect();
        Driver { reach: Reach::Planes(stagers), ..driver }
    }

    /// A driver of any kernel over `iter`, with these stagers. `light` and `row_mode` are what [`KernelSpec`] says of a
    /// kernel, and `first_value` is the operand that it compares with its output.
    ///
    /// # Safety
    ///
    /// D1 and D2.
    pub(super) unsafe fn with_stagers(
        iter: &TensorIter,
        kernel: KernelFn,
        (light, row_mode): (bool, RowMode),
        first_value: usize,
        stagers: SmallVec<[Stager; 4]>,
        bases: SmallVec<[OperandBase; 4]>,
    ) -> Driver {
        let out = bases[0].pointer();
        let is_dense = |k: usize| {
            let dense = iter.strides(k).first().is_none_or(|&stride| stride == stagers[k].size() as isize);
            stagers[k].is_direct() && dense && (k <= first_value || bases[k].pointer() != out)
        };
        let single = iter.ndim() <= 1 && fits_single_call(iter.numel()) && !iter.must_be_serial();
        let masks_apart = (1..first_value.min(bases.len())).all(|k| bases[k].pointer() != out);
        let reach = if single && masks_apart && (0..stagers.len()).all(is_dense) {
            Reach::SingleCall(iter.numel())
        } else {
            Reach::Planes(stagers)
        };
        Driver { kernel, light, row_mode, bases, first_value, reach }
    }

    /// The address of an operand's first element.
    pub(super) fn base(&self, operand: usize) -> *mut u8 {
        self.bases[operand].pointer()
    }

    /// Whether an operand is a number.
    pub(super) fn is_number(&self, operand: usize) -> bool {
        matches!(self.bases[operand], OperandBase::Number(_))
    }

    /// Computes every element. False if some operands have no result.
    ///
    /// # Safety
    ///
    /// * K4 for `params`, whose target may be read from several threads.
    /// * The operands are borrowed: nobody else writes inputs, or uses the output.
    /// * `iter` is the iteration that the driver was made for.
    pub(super) unsafe fn run(&self, iter: &TensorIter, params: *const ()) -> bool {
        match &self.reach {
            Reach::SingleCall(0) => true,
            Reach::SingleCall(n) => {
                let mut ins = [std::ptr::null(); MAX_OPERANDS];
                for (to, base) in ins.iter_mut().zip(&self.bases[1..]) {
                    *to = base.pointer().cast_const();
                }
                // SAFETY:
                // * K1: the kernel was chosen for this host (D2);
                // * K2: every operand is a dense run of `n` elements (`SingleCall`) of the dtype that the kernel takes
                //   (D2);
                // * K3: the plan refused inputs that overlap the output in part;
                // * K4: the caller promises it.
                unsafe { (self.kernel)(self.bases[0].pointer(), ins.as_ptr(), *n, params, Traversal::Dense) }
            }
            Reach::Planes(stagers) => {
                let planes = self.planes(iter, stagers, params);
                let bases: SmallVec<[*mut u8; 4]> = self.bases.iter().map(OperandBase::pointer).collect();
                let slab = |at: &[*mut u8], strides: &[isize], sizes: [usize; 3]| {
                    let (inner, others) = strides.split_at(at.len());
                    let (outer, step) = others.split_at(at.len());
                    // SAFETY: PL1: `for_each_slab` hands out planes of the operands, by W1 and W2 below; D1 and D2 are
                    // this driver's; K4: the caller promises it.
                    unsafe { planes.slab(&Slab { at, strides: [inner, outer, step], sizes }) };
                };
                // SAFETY: W1: the bases are those of the operands that `iter` was planned for (D1); W2: the caller
                // promises that nobody else writes inputs or uses the output.
                unsafe { iter.for_each_slab(&bases, GRAIN, slab) };
                !planes.fault.into_inner()
            }
        }
    }

    /// A run of it over planes.
    pub(super) fn planes<'d>(&self, iter: &TensorIter, stagers: &'d [Stager], params: *const ()) -> PlaneLoop<'d> {
        PlaneLoop::new(self.kernel, self.first_value, self.light, self.row_mode, iter, stagers, params)
    }
}
