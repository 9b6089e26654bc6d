//! Contractions on the CPU: a plan's dimensions become layouts of matrices, and the products are those of `matrix`.
//!
//! The product is computed where the output lies. What is added is copied there first, so that the product accumulates
//! onto it. Where the output shares memory with an input, or its elements are not the values (a conjugate view), the
//! product is computed in memory of the call's own, and copied to the output in the end.

mod copies;
mod factor;

use crate::cast::Bits;
use crate::device::Cpu;
use crate::left_out::no_kernel;
use crate::matrix::{Matrices, Product};
use copies::Copies;
use factor::Factor;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Result, Scalar};
use monomorph_ops::contract::{Contract, ContractFn, ContractInputs, ContractPlan};

/// A call bound to memory.
///
/// Invariants:
/// * P1: `a` and `b` are inputs of the call.
/// * P2: `c` is the output of the call itself, or memory of `copies` with room for as many elements, in row-major
///   order.
#[derive(Debug)]
pub struct Ready {
    /// `None` for an output without elements.
    product: Option<Product>,
    batch: usize,
    a: Factor,
    b: Factor,
    c: *mut u8,
    /// Elements from one member of the batch to the next, of a, b and c.
    steps: [isize; 3],
    /// The products of a batch are summed.
    sums: bool,
    /// B is frozen, and the only one, so that it is packed for all runs.
    packs: bool,
    packed: Option<Vec<u128>>,
    copies: Option<Box<Copies>>,
}

// SAFETY: threads that share a call read its inputs, which nobody writes; its output and its own memory are written by
// who has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the inputs that is read lies in their geometries, whose dimensions the plan names; every
// element of the output is written by the product or by the copy of it. `ContractFn` is sealed, so plans are those of
// its meta function.
unsafe impl<F: ContractFn> Executes<Contract<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &ContractPlan, inputs: &ContractInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: the plan was written for these operands and outputs (E1), whose storages stay borrowed (E2).
        unsafe { Ready::new(plan, inputs.operands(), outputs) }
    }

    unsafe fn run(ready: &mut Ready, _: &ContractPlan) -> Result<()> {
        // SAFETY: the storages that the call was bound to are still borrowed, the output's for writing (E2).
        unsafe { ready.run() }
    }
}

impl Ready {
    /// # Safety
    ///
    /// E1, E2 of [`Executes::ready`].
    unsafe fn new(plan: &ContractPlan, operands: &[Operand<'_>], outputs: &Outputs<'_>) -> Result<Ready> {
        let out = outputs.geometry(0);
        let (dtype, [batch, m, n, k]) = (out.dtype(), plan.sizes);
        let is_read = out.numel() != 0;
        let [.., a, b] = operands else {
            return Err(no_kernel(dtype, "products of two factors").into());
        };
        let is_frozen = matches!(b, Operand::Tensor(tensor) if tensor.is_frozen());
        // SAFETY: the storage of the first factor stays borrowed until the result is dropped (E2).
        let (a, a_place) = unsafe { Factor::of(a, dtype, plan.form.a, is_read) }?;
        // SAFETY: the storage of the second factor stays borrowed until the result is dropped (E2).
        let (b, b_place) = unsafe { Factor::of(b, dtype, plan.form.b, is_read) }?;
        // SAFETY: the plan is that of these operands and outputs (E1), which stay borrowed (E2).
        let (copies, c, c_place) = unsafe { Copies::of(plan, operands, outputs) }?;
        let a_bits = Bits { conj: a_place.bits.conj != (plan.conjugates && dtype.is_complex()), ..a_place.bits };
        // Nothing times NaN is nothing, as in every BLAS.
        let k = if plan.alpha.to_complex() == Scalar::Int(0).to_complex() { 0 } else { k };
        let beta = if plan.adds { plan.beta } else { Scalar::Int(0) };
        // Sums of no product are zero in every dtype; those of bool are zero bytes.
        let computed = if dtype == DType::Bool && k == 0 { DType::U8 } else { dtype };
        let product = match is_read {
            false => None,
            true => Some(Product::new(
                computed,
                [m, n, k],
                [a_place.layout, b_place.layout, c_place.layout],
                [a_bits, b_place.bits],
                [plan.alpha, beta],
            )?),
        };
        let steps = [a_place.step, b_place.step, c_place.step];
        let sums = plan.form.a[0].is_some() && plan.form.out[0].is_none();
        let (packs, packed) = (is_frozen && batch == 1, None);
        Ok(Ready { product, batch, a, b, c, steps, sums, packs, packed, copies })
    }

    /// # Safety
    ///
    /// E2 of [`Executes::run`].
    unsafe fn run(&mut self) -> Result<()> {
        let Some(product) = self.product else { return Ok(()) };
        if let Some(copies) = &self.copies {
            // SAFETY: the operands are borrowed (E2); `c` was given with the copies.
            unsafe { copies.copy_addend(self.c) }?;
        }
        // SAFETY: the inputs are initialised, and nobody writes them: what shares memory with the output is staged.
        let a = unsafe { self.a.refresh() }?;
        // SAFETY: as for the other one.
        let b = unsafe { self.b.refresh() }?;
        let (size, steps, first) = (product.dtype.size() as isize, self.steps, Matrices { a, b, c: self.c });
        let at = |i: usize| {
            let by = |operand: usize| (i as isize).wrapping_mul(steps[operand]).wrapping_mul(size);
            first.moved([by(0), by(1), by(2)])
        };
        // M1: the layouts are those of the tensors' dimensions, elements are aligned (others were staged) and
        // initialised; C is where beta is not zero, since the addend was copied to it or lies there. M2: the output
        // has no element twice, shares nothing with the inputs or is staged, and is ours.
        if self.sums {
            // One after another: each adds to what the ones before gave. Of none there is a sum, too.
            let mut product = product;
            if self.batch == 0 {
                product.k = 0;
            }
            for i in 0..self.batch.max(1) {
                // SAFETY: see above; the output is where it was.
                unsafe { product.run(at(i)) }?;
                product.beta = Scalar::Int(1);
            }
        } else {
            if self.packs && self.packed.is_none() {
                // SAFETY: see above.
                self.packed = unsafe { product.pack(first) }?;
            }
            // SAFETY: see above; what is packed is as it was then, since it is frozen.
            unsafe { product.run_batch(self.batch, at, self.packed.as_deref()) }?;
        }
        if let Some(copies) = &self.copies {
            // SAFETY: the output is borrowed for writing (E2); the product was just computed at `c`.
            unsafe { copies.copy_product(self.c) }?;
        }
        Ok(())
    }
}
