//! A reduction bound to memory. The generic part is a shell: it asks for bodies.

use super::body::Bodies;
use super::driver::Driver;
use super::kernels::Kernels;
use super::lanes::Lanes;
use super::layout::Layout;
use super::results::result_dtype;
use crate::cast::Bits;
use crate::device::Cpu;
use crate::isa::Level;
use crate::pointwise::OperandBase;
use crate::staging::{StageBlock, Stager};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Geometry, Result};
use monomorph_ops::reduce::{Reduce, ReduceInputs, ReducePlan, ReduceRule, ResultKind};

/// A reduction bound to memory: pointers, layout, bodies. It may be moved between runs.
pub struct Ready {
    driver: Driver,
    input: OperandBase,
    /// The outputs of a reduction over nothing.
    empty: Vec<Geometry>,
}

// SAFETY: the driver reads elements of the input and writes elements of the outputs only, within the geometry that the plan
// was made for; every output element belongs to one task, or is filled if there is nothing to reduce.
unsafe impl<F, W: 'static> Executes<Reduce<F, W>> for Cpu
where
    F: Kernels<W>,
{
    type Ready = Ready;

    #[inline]
    unsafe fn ready(plan: &ReducePlan, inputs: &ReduceInputs<'_, F>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E1, E2 are passed on; `lookup` gives the bodies of this fold, whose results these are.
        unsafe { bind(plan, F::lookup, const { &F::RULE }, inputs.operand(), outputs) }
    }

    #[inline]
    unsafe fn run(ready: &mut Ready, _: &ReducePlan) -> Result<()> {
        // SAFETY: E2: the memory is still borrowed.
        unsafe { ready.run() };
        Ok(())
    }
}

/// Chooses bodies, layout and lanes, and resolves pointers.
///
/// # Safety
///
/// E1, E2 of [`Executes`]; `lookup` gives the bodies of the fold that the rule is of.
unsafe fn bind(
    plan: &ReducePlan,
    lookup: fn(DType, Level) -> Option<Bodies>,
    rule: &'static ReduceRule,
    operand: &Operand<'_>,
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    let (iter, kinds) = (plan.iter(), rule.results());
    let level = crate::level()?;
    let compute = plan.compute().unwrap_or(iter.common_dtype());
    let none =
        || ErrorKind::DTypeNotSupported { what: "no kernel is compiled for", got: compute, accepted: rule.words() };
    // Without elements no loop runs, and meta lets a dtype outside of the domain pass where there is no result either: any
    // bodies will do.
    let any = || if iter.numel() == 0 { DType::ALL.into_iter().find_map(|dtype| lookup(dtype, level)) } else { None };
    let bodies = lookup(compute, level).or_else(any).ok_or_else(none)?;
    let input = match operand {
        // SAFETY: E2: the storage is borrowed as long as the result lives.
        Operand::Tensor(tensor) => OperandBase::Memory(unsafe { tensor.data() }),
        Operand::Number(number) => OperandBase::number(number.bytes()),
        Operand::Absent => {
            return Err(ErrorKind::ArgumentRule { rule: "argument self is absent; a reduction needs a tensor" }.into());
        }
    };
    let from = kinds.len();
    let lane = Stager::input(
        iter.dtype(from),
        compute,
        Bits::of(iter.dtype(from), iter.is_conj(from), iter.is_neg(from)),
        level,
    );
    let store = |(k, &kind): (usize, &ResultKind)| {
        let bits = Bits::of(iter.dtype(k), iter.is_conj(k), iter.is_neg(k));
        Stager::output(iter.dtype(k), result_dtype(kind, compute), bits, level)
    };
    let stores = kinds.iter().enumerate().map(store).collect();
    let mut outs = [std::ptr::null_mut(); 2];
    for (k, out) in outs.iter_mut().enumerate().take(kinds.len()) {
        *out = outputs.data(k);
    }
    let empty =
        if iter.numel() > 0 { Vec::new() } else { (0..kinds.len()).map(|k| outputs.geometry(k).clone()).collect() };
    let layout = Layout::new(iter, &lane, bodies.parts, rule.is_indexed());
    let serial = iter.must_be_serial();
    Ok(Ready { driver: Driver { layout, bodies, lane, stores, outs, serial }, input, empty })
}

impl Ready {
    /// # Safety
    ///
    /// The operands are borrowed as `ready` was promised.
    unsafe fn run(&self) {
        if self.empty.is_empty() {
            // SAFETY: passed on.
            unsafe { self.driver.run(self.input.pointer()) };
        } else {
            // SAFETY: passed on.
            unsafe { self.fill() };
        }
    }

    /// Writes the result of reducing nothing to every output element. A fold without one leaves outputs without elements
    /// only: others are refused in meta.
    ///
    /// # Safety
    ///
    /// As for `run`.
    unsafe fn fill(&self) {
        let (mut first, mut second) = (StageBlock::NEW, StageBlock::NEW);
        let lanes = Lanes { first: first.data(), second: second.data() };
        // SAFETY: B2: there is room for a lane.
        if !unsafe { (self.driver.bodies.nothing)(lanes) } {
            return;
        }
        let sizes = self.empty[0].sizes();
        for index in 0..self.empty[0].numel() {
            let mut outs = self.driver.outs;
            for (out, geometry) in outs.iter_mut().zip(&self.empty) {
                let mut rest = index;
                for d in (0..sizes.len()).rev() {
                    let at = (rest % sizes[d] as usize) as isize;
                    rest /= sizes[d] as usize;
                    let stride = geometry.strides()[d] as isize * geometry.dtype().size() as isize;
                    *out = out.wrapping_offset(at * stride);
                }
            }
            // SAFETY: the lane holds an accumulator; this is one element of each output.
            unsafe { self.driver.store(lanes, 1, 0, outs, [0; 2]) };
        }
    }
}
