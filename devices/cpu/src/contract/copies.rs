//! What is copied before and after a product: what it is added to, and the product itself where it cannot be computed
//! in the output.

use super::factor::{Input, Place, broadcast, is_aligned, room};
use crate::cast::Bits;
use monomorph_core::strides::{DimVec, contiguous_strides};
use monomorph_core::structured::{Operand, Outputs};
use monomorph_core::{Result, Strided};
use monomorph_ops::contract::ContractPlan;

/// The copies before and after a product. Most products need none, so these are not part of what is bound to memory.
///
/// Invariant P3: `addend` is an input of the call, `output` is its output.
#[derive(Debug)]
pub(super) struct Copies {
    /// `None` where nothing is added, or where it is the output, which is there already.
    addend: Option<Input>,
    output: Input,
    c_strides: DimVec,
    staged: Vec<u128>,
}

impl Copies {
    /// What a product needs copied, if anything; where it is computed, and how that lies.
    ///
    /// # Safety
    ///
    /// E1, E2 of [`Executes::ready`].
    pub(super) unsafe fn of(
        plan: &ContractPlan,
        operands: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Result<(Option<Box<Copies>>, *mut u8, Place)> {
        let (out, data, dims) = (outputs.geometry(0), outputs.data(0), plan.form.out);
        let is_empty = out.numel() == 0;
        let bits = Bits::of(out.dtype(), out.is_conj(), out.is_neg());
        let stages = !is_empty && (plan.stages || !bits.is_none() || !is_aligned(data, out.dtype()));
        let adds = plan.adds && !is_empty;
        if !stages && !adds {
            return Ok((None, data, Place::of(out.strides(), dims, bits)));
        }
        let output = Input::new(data, out);
        let mut staged = if stages { room(out.numel(), out.dtype())? } else { Vec::new() };
        let (c, c_strides) = match stages {
            true => (staged.as_mut_ptr().cast(), contiguous_strides(out.sizes())),
            false => (data, output.strides.clone()),
        };
        let addend = operands.first().filter(|_| adds);
        // SAFETY: the storage of what is added stays borrowed until the result is dropped (E2).
        let addend = addend.map(|operand| unsafe { Input::of(operand, out.dtype()) });
        // In the output already, in the same places: meta stages it otherwise.
        let addend = addend.filter(|addend| stages || !std::ptr::eq(addend.data, c));
        let place = Place::of(&c_strides, dims, bits);
        Ok((Some(Box::new(Copies { addend, output, c_strides, staged })), c, place))
    }

    fn c(&self, data: *mut u8) -> Strided<'_> {
        Strided { data, strides: &self.c_strides, dtype: self.output.dtype, conj: false, neg: false }
    }

    /// Copies what is added to where the product is computed.
    ///
    /// # Safety
    ///
    /// E2 of [`Executes::run`]; `c` was given with the copies.
    pub(super) unsafe fn copy_addend(&self, c: *mut u8) -> Result<()> {
        let Some(addend) = &self.addend else { return Ok(()) };
        let strides = broadcast(addend, &self.output.sizes);
        // SAFETY: C1, C2 of `Device::copy`: the addend, broadcast, has the sizes of the output (meta) and is
        // initialised; the target is the output, which shares nothing with it, or memory of our own.
        unsafe { crate::copy::copy(&self.output.sizes, self.c(c), addend.strided(&strides)) }
    }

    /// Copies the product to the output, if it is not there.
    ///
    /// # Safety
    ///
    /// As of `copy_addend`, and the product is computed.
    pub(super) unsafe fn copy_product(&self, c: *mut u8) -> Result<()> {
        if self.staged.is_empty() {
            return Ok(());
        }
        // SAFETY: C1, C2 of `Device::copy`: the product was just computed in memory of our own; the output has the
        // same sizes, and nobody else uses it.
        unsafe { crate::copy::copy(&self.output.sizes, self.output.strided(&self.output.strides), self.c(c)) }
    }
}
