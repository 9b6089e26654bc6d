//! Index plans on the CPU. Whatever the operator, its call is a walk ([`walk`]) with one pair of loops ([`kernels`]),
//! or a few walks one after the other where values are averaged.
//!
//! Tensors that do not suit the loops are copied first: those with lazy bits, of another dtype, or that may share
//! memory with the output.

mod arithmetic;
mod coordinates;
mod kernels;
mod lookup;
mod masked;
pub(crate) mod placed;
mod scatter;
mod walk;

use crate::device::Cpu;
use kernels::{Loops, moving};
use lookup::Lookup;
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, ErrorKind, Result, Scalar, scalar_bytes};
use monomorph_ops::index::{IndexFn, IndexInputs, IndexPlan, Indexed, Indexes, Transfer};
use placed::{Argument, Own, Placed};
use smallvec::SmallVec;
use walk::{Walk, WalkAxis};

/// A call bound to memory. P1 for its tensors.
pub struct Ready {
    operands: SmallVec<[Argument; 3]>,
    output: Placed,
    /// Indices have been looked at since the call was bound or run.
    checked: bool,
}

// SAFETY: the walk of a plan reads elements of the operands and writes those of the output that its steps lead to,
// which meta functions keep within the sizes; indices are checked on the way. A gather writes all of its output, a
// scatter begins with a copy or with zeros.
unsafe impl<F: IndexFn> Executes<Indexed<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &IndexPlan, inputs: &IndexInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E1, E2.
        unsafe { Ready::new(plan, inputs, outputs) }
    }

    unsafe fn run(ready: &mut Ready, plan: &IndexPlan) -> Result<()> {
        // SAFETY: E2, E3.
        unsafe { ready.run(plan) }
    }
}

/// Copies that live as long as a run.
#[derive(Default)]
struct Copies(SmallVec<[Own; 4]>);

impl Copies {
    fn keep(&mut self, (own, placed): (Own, Placed)) -> Placed {
        self.0.push(own);
        placed
    }
}

impl Ready {
    /// # Safety
    ///
    /// E1, E2.
    unsafe fn new(plan: &IndexPlan, inputs: &IndexInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E2: storages are borrowed as long as the result lives.
        let operands = inputs.operands().iter().map(|operand| unsafe { Argument::of(operand) }).collect();
        let mut ready = Ready { operands, output: Placed::output(outputs), checked: false };
        if !plan.fresh {
            // Here, before anything counts as written.
            // SAFETY: E2.
            unsafe { ready.check(plan) }?;
            ready.checked = true;
            ready.check_room(plan)?;
        }
        Ok(ready)
    }

    /// An error if there is no memory for the copies that a run makes, while nothing is written yet.
    fn check_room(&self, plan: &IndexPlan) -> Result<()> {
        let whole = self.moves_whole(plan)?;
        for (i, tensor) in self.operands.iter().enumerate().filter_map(|(i, arg)| Some((i, arg.tensor()?))) {
            let is_index = plan.indices.iter().any(|index| index.operand == i);
            let is_copied = match is_index {
                true => tensor.may_share(&self.output) || plan.flat && !tensor.is_contiguous(),
                false => !self.suits(tensor, self.output.dtype, if i == 0 { whole } else { plan.flat }),
            };
            if is_copied {
                tensor.check_room()?;
            }
        }
        Ok(())
    }

    /// True if loops can read the tensor where it lies.
    fn suits(&self, tensor: &Placed, dtype: DType, whole: bool) -> bool {
        tensor.dtype == dtype
            && tensor.is_plain()
            && !tensor.may_share(&self.output)
            && (!whole || tensor.is_contiguous())
    }

    fn tensor(&self, i: usize) -> Result<&Placed> {
        let rule = "an index operator has a number where it needs a tensor";
        self.operands.get(i).and_then(Argument::tensor).ok_or_else(|| ErrorKind::ArgumentRule { rule }.into())
    }

    /// What the base has the sizes of.
    fn base(&self, plan: &IndexPlan) -> Result<&Placed> {
        if plan.transfer == Transfer::Gather { self.tensor(0) } else { Ok(&self.output) }
    }

    /// True if a base that is indexed as a whole has to lie in one piece: each index is taken apart otherwise, which
    /// takes as long as the copy of this many elements and back.
    fn moves_whole(&self, plan: &IndexPlan) -> Result<bool> {
        const COPIED_PER_INDEX: usize = 8;
        let is_whole = plan.indices.iter().any(|index| index.of == Indexes::Elements);
        let points = placed::product(plan.axes.iter().map(|axis| axis.size as usize));
        Ok(is_whole && points.saturating_mul(COPIED_PER_INDEX) > self.base(plan)?.numel())
    }

    /// Looks at all indices.
    ///
    /// # Safety
    ///
    /// E2, E3.
    unsafe fn check(&self, plan: &IndexPlan) -> Result<()> {
        for lookup in self.lookups(plan, self.base(plan)?)? {
            // SAFETY: P1, and E2: nobody writes an input.
            unsafe { lookup.check() }?;
        }
        Ok(())
    }

    fn lookups(&self, plan: &IndexPlan, base: &Placed) -> Result<SmallVec<[Lookup; 2]>> {
        let level = crate::level()?;
        let lookup = |index: &monomorph_ops::index::IndexTensor| -> Result<Lookup> {
            let tensor = self.tensor(index.operand)?.clone();
            let (size, step, dim) = match index.of {
                Indexes::Dim(d) => (base.sizes[d], base.step(d), Some(d)),
                Indexes::Elements if base.is_contiguous() => (base.numel() as i64, base.dtype.size() as isize, None),
                Indexes::Elements => (base.numel() as i64, 1, None),
            };
            let mut dims = SmallVec::new();
            if index.of == Indexes::Elements && !base.is_contiguous() {
                dims.extend((0..base.sizes.len()).rev().map(|d| (base.sizes[d] as u64, base.step(d))));
            }
            Ok(Lookup { data: tensor.data, tensor, size, range: index.range, step, dims, arg: index.arg, dim, level })
        };
        plan.indices.iter().map(lookup).collect()
    }

    /// # Safety
    ///
    /// E2, E3.
    unsafe fn run(&mut self, plan: &IndexPlan) -> Result<()> {
        // A walk of no points does not look at its indices.
        let looks = plan.fresh && !plan.is_empty();
        if !looks && !std::mem::take(&mut self.checked) {
            // SAFETY: E2, E3.
            unsafe { self.check(plan) }?;
        }
        let mut copies = Copies::default();
        match plan.transfer {
            Transfer::Nothing => Ok(()),
            // SAFETY: E2, E3.
            Transfer::Gather => unsafe { self.gather(plan, &mut copies) },
            // SAFETY: E2, E3.
            Transfer::Scatter(how) => unsafe { self.scatter(plan, how, &mut copies) },
        }
    }

    /// The tensor, or a copy that suits: in the dtype, its elements its values, apart from the output, and if it is
    /// indexed as a whole contiguous.
    ///
    /// # Safety
    ///
    /// P1, E2.
    unsafe fn suited(&self, tensor: &Placed, dtype: DType, whole: bool, copies: &mut Copies) -> Result<Placed> {
        if self.suits(tensor, dtype, whole) {
            return Ok(tensor.clone());
        }
        // SAFETY: P1, and E2: nobody writes an input.
        Ok(copies.keep(unsafe { tensor.copied(dtype) }?))
    }

    /// The output if loops can write it, or a new tensor in its place.
    fn writable(&self, whole: bool, copies: &mut Copies) -> Result<Placed> {
        if self.output.is_plain() && (!whole || self.output.is_contiguous()) {
            return Ok(self.output.clone());
        }
        Ok(copies.keep(self.output.zeroed(self.output.dtype)?))
    }

    /// # Safety
    ///
    /// E2, E3.
    unsafe fn gather(&self, plan: &IndexPlan, copies: &mut Copies) -> Result<()> {
        let whole = self.moves_whole(plan)?;
        // SAFETY: P1, E2.
        let base = unsafe { self.suited(self.tensor(0)?, self.output.dtype, whole, copies) }?;
        let to = self.writable(false, copies)?;
        // SAFETY: E2, E3: the plan is of these tensors, or of copies with their sizes.
        unsafe { self.walk(plan, &base, &to, None, moving(to.dtype.size(), true), copies) }?;
        // SAFETY: a tensor in place of the output lies apart from it, and both are ours.
        unsafe { self.deliver(&to) }
    }

    /// Copies what was written in place of the output to it.
    ///
    /// # Safety
    ///
    /// P1, E2.
    unsafe fn deliver(&self, written: &Placed) -> Result<()> {
        if written.data == self.output.data {
            return Ok(());
        }
        // SAFETY: it has the sizes of the output and memory of its own.
        unsafe { written.copy_to(&self.output) }
    }

    /// Walks the plan. An error if an index is out of range.
    ///
    /// # Safety
    ///
    /// E2, E3; `base` and `values` have the dimensions that the plan steps in, or no dimensions and one element for
    /// all points; one of them is written by the loops, and ours.
    unsafe fn walk(
        &self,
        plan: &IndexPlan,
        base: &Placed,
        values: &Placed,
        scale: Option<Scalar>,
        loops: Loops,
        copies: &mut Copies,
    ) -> Result<()> {
        if plan.is_empty() {
            return Ok(());
        }
        let mut lookups = self.lookups(plan, base)?;
        for lookup in &mut lookups {
            if lookup.tensor.may_share(&self.output) || plan.flat && !lookup.tensor.is_contiguous() {
                // SAFETY: P1, E2.
                let copy = copies.keep(unsafe { lookup.tensor.copied(lookup.tensor.dtype) }?);
                (lookup.data, lookup.tensor) = (copy.data, copy);
            }
            if plan.flat {
                lookup.tensor = lookup.tensor.flattened();
            }
        }
        let gathers = plan.transfer == Transfer::Gather;
        let axes = plan.axes.iter().enumerate().map(|(d, axis)| {
            let step = |tensor: &Placed, step: Option<monomorph_ops::index::Step>| match step {
                Some(step) if !tensor.sizes.is_empty() => tensor.step(step.dim).wrapping_mul(step.factor as isize),
                _ => 0,
            };
            let index = |(k, index): (usize, &monomorph_ops::index::IndexTensor)| {
                index.dims.get(d).copied().flatten().map_or(0, |dim| lookups[k].tensor.step(dim))
            };
            // A dimension of the base that nothing else steps in, so that its elements lie apart.
            let owns =
                |dim: usize| plan.axes.iter().filter(|a| a.base.is_some_and(|step| step.dim == dim)).count() == 1;
            let chosen = |dim: usize| plan.indices.iter().any(|index| index.of == Indexes::Dim(dim));
            let apart = gathers || !plan.serial && axis.base.is_some_and(|s| owns(s.dim) && !chosen(s.dim));
            WalkAxis {
                size: axis.size as usize,
                base: step(base, axis.base),
                values: step(values, axis.values),
                index: plan.indices.iter().enumerate().map(index).collect(),
                apart,
            }
        });
        let axes = axes.collect();
        let scale = scale.map(|scale| scale_bytes(scale, base.dtype));
        let scale = scale.as_ref().map_or(std::ptr::null(), |bytes| bytes.as_ptr());
        let (from, to) = (base.data, values.data);
        let mut walk = Walk { axes, lookups, base: from, values: to, scale, size: base.dtype.size() };
        walk.coalesce();
        // SAFETY: W1: steps are those of the tensors in dimensions that the plan says they have; V2 by `scale_bytes`.
        if unsafe { walk.run(loops, !plan.serial) } {
            return Ok(());
        }
        // SAFETY: E2, E3.
        unsafe { self.check(plan) }
    }
}

/// A number as the loops of a dtype compute with it.
fn scale_bytes(scale: Scalar, dtype: DType) -> [u8; 16] {
    let register = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
    scalar_bytes(scale, register)
}
