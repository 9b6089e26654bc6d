//! Elements of a pointwise call that has no output: each is computed when a reduction asks for it, in the order in
//! which an output would have them.

use super::call::FormulaTraits;
use super::driver::{Driver, Reach};
use super::kernels::Kernels;
use super::operand_base::{OperandBase, bases_of};
use super::slabs::Slab;
use crate::staging::Stager;
use monomorph_core::structured::Operand;
use monomorph_core::{DType, Result};
use monomorph_iter::TensorIter;
use smallvec::SmallVec;
use std::ops::Range;

/// A pointwise call whose output is wherever its elements are wanted.
///
/// Invariant: the driver is one of an iteration over a dense output, whose elements are numbered in the order in which
/// they lie.
pub(crate) struct Producer {
    driver: Driver,
    /// Bytes of an element.
    size: usize,
}

impl Producer {
    /// The call of a formula over an iteration that computes in `compute`.
    ///
    /// # Safety
    ///
    /// Operand 0 of `iter` is the output, dense in the order of the iteration; the others are the inputs, whose
    /// storages stay borrowed as long as the result lives.
    pub(crate) unsafe fn new<F: Kernels<W>, W>(
        iter: &TensorIter,
        compute: Option<DType>,
        inputs: &[Operand<'_>],
    ) -> Result<Producer> {
        let spec = FormulaTraits::of::<F, W>().spec(compute, F::lookup)?;
        // Nobody writes to this address: each run has another.
        let output = OperandBase::Memory(std::ptr::without_provenance_mut(align_of::<u128>()));
        // SAFETY: the caller promises that the inputs stay borrowed.
        let bases = unsafe { bases_of(output, inputs) };
        // SAFETY: D1: the inputs are those of `iter`, and `compute` replaces the output; D2: `spec` has stagers for its
        // kernel.
        let driver = unsafe { Driver::staged(iter, &spec, bases) };
        Ok(Producer { driver, size: iter.dtype(0).size() })
    }

    /// Bytes of an element.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Bytes of an element of an operand, if it is what the kernel takes as it lies.
    pub(crate) fn direct(&self, operand: usize) -> Option<usize> {
        let Reach::Planes(stagers) = &self.driver.reach else { return None };
        stagers.get(operand).filter(|stager| stager.is_direct()).map(Stager::size)
    }

    /// The address of an operand's first element, valid as long as the producer stays in place.
    pub(crate) fn base(&self, operand: usize) -> *mut u8 {
        self.driver.base(operand)
    }

    /// Computes the elements with these numbers, from `to` on.
    ///
    /// # Safety
    ///
    /// * `iter` is the iteration that the call was made for, and has these elements.
    /// * K4: `params` are the formula's parameters.
    /// * The inputs are borrowed: nobody writes them.
    /// * There is room for so many elements at `to`, aligned, which nobody else uses and no input shares.
    pub(crate) unsafe fn compute(&self, iter: &TensorIter, params: *const (), elements: Range<usize>, to: *mut u8) {
        let Reach::Planes(stagers) = &self.driver.reach else { return };
        let mut planes = self.driver.planes(iter, stagers, params);
        // They are read soon.
        planes.non_temporal = false;
        let mut bases: SmallVec<[*mut u8; 4]> = (0..iter.noperands()).map(|k| self.driver.base(k)).collect();
        bases[0] = to.wrapping_sub(elements.start * self.size);
        let slab = |at: &[*mut u8], strides: &[isize], sizes: [usize; 3]| {
            let (inner, others) = strides.split_at(at.len());
            let (outer, step) = others.split_at(at.len());
            // SAFETY: PL1: these are planes of the operands, by W1 and W2 below; D1 and D2 are the driver's; K4: the
            // caller promises it.
            unsafe { planes.slab(&Slab { at, strides: [inner, outer, step], sizes }) };
        };
        // SAFETY: W1 for these elements: the inputs are those of the iteration (D1), and since the output is dense in
        // the order of the numbers (the invariant), the first element asked for is at `to`, and the others behind it;
        // W2: the caller promises that nobody writes the inputs or uses the memory at `to`.
        unsafe { iter.serial_for_each_slab(&bases, elements, slab) };
    }
}
