//! Index plans on the CPU. Whatever the operator, its call is a walk ([`walk`]) with one pair of loops ([`kernels`]), or
//! a few walks one after the other where values are averaged.
//!
//! Tensors that do not suit the loops are copied first: those with lazy bits, of another dtype, or that may share memory
//! with the output.

mod kernels;
mod placed;
mod walk;

use crate::device::Cpu;
use kernels::{Computed, Loops, computing, moving};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, ErrorKind, Result, Scalar, scalar_bytes};
use monomorph_ops::index::{Combine, IndexFn, IndexInputs, IndexPlan, Indexed, Indexes, Start, Transfer, Written};
use placed::{Argument, Own, Placed};
use smallvec::SmallVec;
use walk::{Lookup, Walk, WalkAxis};

/// A call bound to memory. P1 for its tensors.
pub struct Ready {
    operands: SmallVec<[Argument; 3]>,
    output: Placed,
    /// Indices have been looked at since the call was bound or run.
    checked: bool,
}

// SAFETY: the walk of a plan reads elements of the operands and writes those of the output that its steps lead to, which
// meta functions keep within the sizes; indices are checked on the way. A gather writes all of its output, a scatter
// begins with a copy or with zeros.
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
        }
        Ok(ready)
    }

    fn tensor(&self, i: usize) -> Result<&Placed> {
        let rule = "an index operator has a number where it needs a tensor";
        self.operands.get(i).and_then(Argument::tensor).ok_or_else(|| ErrorKind::ArgumentRule { rule }.into())
    }

    /// What the base has the sizes of.
    fn base(&self, plan: &IndexPlan) -> Result<&Placed> {
        if plan.transfer == Transfer::Gather { self.tensor(0) } else { Ok(&self.output) }
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
        let lookup = |index: &monomorph_ops::index::IndexTensor| -> Result<Lookup> {
            let tensor = self.tensor(index.operand)?.clone();
            let (size, step, dim) = match index.of {
                Indexes::Dim(d) => (base.sizes[d], base.step(d), Some(d)),
                Indexes::Elements => (base.numel() as i64, base.dtype.size() as isize, None),
            };
            Ok(Lookup { data: tensor.data, tensor, size, range: index.range, step, arg: index.arg, dim })
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
            Transfer::Scatter { .. } => unsafe { self.scatter(plan, &mut copies) },
        }
    }

    /// The tensor, or a copy that suits: in the dtype, its elements its values, apart from the output, and if it is
    /// indexed as a whole contiguous.
    ///
    /// # Safety
    ///
    /// P1, E2.
    unsafe fn suited(&self, tensor: &Placed, dtype: DType, whole: bool, copies: &mut Copies) -> Result<Placed> {
        let is_suited = tensor.dtype == dtype
            && tensor.is_plain()
            && !tensor.may_share(&self.output)
            && (!whole || tensor.is_contiguous());
        if is_suited {
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
        let whole = plan.indices.iter().any(|index| index.of == Indexes::Elements);
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

    /// # Safety
    ///
    /// E2, E3.
    unsafe fn scatter(&self, plan: &IndexPlan, copies: &mut Copies) -> Result<()> {
        let Transfer::Scatter { start, values, scale, combine, include_self } = plan.transfer else { return Ok(()) };
        let whole = plan.indices.iter().any(|index| index.of == Indexes::Elements);
        let dtype = self.output.dtype;
        let mut number = Own::new();
        let values = match values {
            Written::Number(value) => Placed::number(value, dtype, &mut number),
            Written::Operand(i) => match self.operands.get(i) {
                Some(Argument::Number(value)) => Placed::number(*value, dtype, &mut number),
                // SAFETY: P1, E2.
                _ => unsafe { self.suited(self.tensor(i)?, dtype, false, copies) }?,
            },
        };
        let to = self.writable(whole, copies)?;
        // SAFETY: P1, E2; a tensor in place of the output is ours.
        unsafe { self.begin(start, &to, copies) }?;
        let computed = match combine {
            Combine::Replace => None,
            Combine::Add | Combine::Mean if scale.is_some() => Some(Computed::AddScaled),
            Combine::Add | Combine::Mean => Some(Computed::Add),
            Combine::Multiply => Some(Computed::Multiply),
            Combine::Min => Some(Computed::Min),
            Combine::Max => Some(Computed::Max),
        };
        let loops = computed.map_or(moving(dtype.size(), false), |computed| computing(computed, dtype));
        let set = moving(dtype.size(), false);
        if !include_self {
            let mut own = Own::new();
            let identity = Placed::number(identity(combine, dtype), dtype, &mut own);
            // SAFETY: E2, E3: as below, with one value for all points.
            unsafe { self.walk(plan, &to, &identity, None, set, copies) }?;
        }
        // SAFETY: E2, E3: the plan is of these tensors, or of copies with their sizes.
        unsafe { self.walk(plan, &to, &values, scale, loops, copies) }?;
        if combine == Combine::Mean {
            // SAFETY: E2, E3.
            unsafe { self.divide_by_counts(plan, &to, include_self, copies) }?;
        }
        // SAFETY: a tensor in place of the output lies apart from it, and both are ours.
        unsafe { self.deliver(&to) }
    }

    /// Gives the base of a scatter its first elements.
    ///
    /// # Safety
    ///
    /// P1, E2; `to` is the output or a tensor of ours with its sizes.
    unsafe fn begin(&self, start: Start, to: &Placed, copies: &mut Copies) -> Result<()> {
        let this = match start {
            Start::Zeros => {
                let mut own = Own::new();
                let mut zero = Placed::number(Scalar::Int(0), to.dtype, &mut own);
                (zero.sizes, zero.strides) = (to.sizes.clone(), to.sizes.iter().map(|_| 0).collect());
                // SAFETY: one element for all, of ours.
                return unsafe { zero.copy_to(to) };
            }
            Start::This => self.tensor(0)?,
        };
        if this.is(to) {
            return Ok(());
        }
        let this = match this.may_share(to) {
            // SAFETY: P1, E2.
            true => copies.keep(unsafe { this.copied(to.dtype) }?),
            false => this.clone(),
        };
        // SAFETY: P1; they lie apart, and `to` is ours to write.
        unsafe { this.copy_to(to) }
    }

    /// Divides each element by the number of values that met there, which is counted in the dtype, as PyTorch does.
    ///
    /// # Safety
    ///
    /// E2, E3.
    unsafe fn divide_by_counts(
        &self,
        plan: &IndexPlan,
        to: &Placed,
        include_self: bool,
        copies: &mut Copies,
    ) -> Result<()> {
        let dtype = to.dtype;
        let counts = copies.keep(to.zeroed(dtype)?);
        let mut own = Own::new();
        let one = Placed::number(Scalar::Int(1), dtype, &mut own);
        if include_self {
            let mut ones = one.clone();
            (ones.sizes, ones.strides) = (to.sizes.clone(), to.sizes.iter().map(|_| 0).collect());
            // SAFETY: one element for all; the counts are ours.
            unsafe { ones.copy_to(&counts) }?;
        }
        // SAFETY: E2, E3: counts have the sizes of the base.
        unsafe { self.walk(plan, &counts, &one, None, computing(Computed::Add, dtype), copies) }?;
        let axes = (0..to.sizes.len()).map(|d| WalkAxis {
            size: to.sizes[d] as usize,
            base: to.step(d),
            values: counts.step(d),
            index: SmallVec::new(),
            apart: !plan.serial,
        });
        let (base, values) = (to.data, counts.data);
        let mut walk = Walk {
            axes: axes.collect(),
            lookups: SmallVec::new(),
            base,
            values,
            scale: std::ptr::null(),
            size: dtype.size(),
        };
        walk.coalesce();
        // SAFETY: W1: the dimensions of two tensors of the same sizes.
        unsafe { walk.run(computing(Computed::Divide, dtype), !plan.serial) };
        Ok(())
    }

    /// Walks the plan. An error if an index is out of range.
    ///
    /// # Safety
    ///
    /// E2, E3; `base` and `values` have the dimensions that the plan steps in, or no dimensions and one element for all
    /// points; one of them is written by the loops, and ours.
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
            if lookup.tensor.may_share(&self.output) {
                // SAFETY: P1, E2.
                let copy = copies.keep(unsafe { lookup.tensor.copied(lookup.tensor.dtype) }?);
                (lookup.data, lookup.tensor) = (copy.data, copy);
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
            let apart = gathers || !plan.serial && axis.base.is_some_and(|step| owns(step.dim));
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

/// What changes nothing it is combined with.
fn identity(combine: Combine, dtype: DType) -> Scalar {
    let ends = |dtype: DType| match dtype {
        DType::Bool => (Scalar::Bool(false), Scalar::Bool(true)),
        DType::U8 => (Scalar::Int(0), Scalar::Int(u8::MAX.into())),
        DType::I8 => (Scalar::Int(i8::MIN.into()), Scalar::Int(i8::MAX.into())),
        DType::I16 => (Scalar::Int(i16::MIN.into()), Scalar::Int(i16::MAX.into())),
        DType::I32 => (Scalar::Int(i32::MIN.into()), Scalar::Int(i32::MAX.into())),
        DType::I64 => (Scalar::Int(i64::MIN), Scalar::Int(i64::MAX)),
        _ => (Scalar::Float(f64::NEG_INFINITY), Scalar::Float(f64::INFINITY)),
    };
    match combine {
        Combine::Multiply => Scalar::Int(1),
        Combine::Min => ends(dtype).1,
        Combine::Max => ends(dtype).0,
        Combine::Replace | Combine::Add | Combine::Mean => Scalar::Int(0),
    }
}
