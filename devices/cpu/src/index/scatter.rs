//! Scatters on the CPU: the base gets its first elements, then one walk combines them with the values; means take a
//! second one, which counts.

use super::kernels::{Computed, computing, moving};
use super::placed::{Argument, Own, Placed};
use super::walk::{Walk, WalkAxis};
use super::{Copies, Ready};
use monomorph_core::{DType, Result, Scalar};
use monomorph_ops::index::{Combine, IndexPlan, Scatter, Start, Written};
use smallvec::SmallVec;

impl Ready {
    /// # Safety
    ///
    /// E2, E3.
    pub(super) unsafe fn scatter(&self, plan: &IndexPlan, how: Scatter, copies: &mut Copies) -> Result<()> {
        let Scatter { start, values, scale, combine, include_self, wide } = how;
        let whole = self.moves_whole(plan)?;
        let output = self.writable(whole, copies)?;
        let base = match output.dtype {
            DType::F16 | DType::BF16 if wide => copies.keep(output.zeroed(DType::F32)?),
            _ => output.clone(),
        };
        let dtype = base.dtype;
        let mut number = Own::new();
        let values = match values {
            Written::Number(value) => Placed::number(value, dtype, &mut number),
            Written::Input(i) => match self.operands.get(i) {
                Some(Argument::Number(value)) => Placed::number(*value, dtype, &mut number),
                // SAFETY: P1, E2.
                _ => unsafe { self.suited(self.tensor(i)?, dtype, plan.flat, copies) }?,
            },
        };
        let values = if plan.flat { values.flattened() } else { values };
        // SAFETY: P1, E2; a tensor in place of the output is ours.
        unsafe { self.begin(start, &base, copies) }?;
        if !include_self {
            let mut own = Own::new();
            let identity = Placed::number(identity(combine, dtype), dtype, &mut own);
            // SAFETY: E2, E3: as below, with one value for all points.
            unsafe { self.walk(plan, &base, &identity, None, moving(dtype.size(), false), copies) }?;
        }
        let loops = match combine {
            Combine::Replace => moving(dtype.size(), false),
            Combine::Add | Combine::Mean if scale.is_some() => computing(Computed::AddScaled, dtype),
            Combine::Add | Combine::Mean => computing(Computed::Add, dtype),
            Combine::Multiply => computing(Computed::Multiply, dtype),
            Combine::Min => computing(Computed::Min, dtype),
            Combine::Max => computing(Computed::Max, dtype),
        };
        // SAFETY: E2, E3: the plan is of these tensors, or of copies with their sizes.
        unsafe { self.walk(plan, &base, &values, scale, loops, copies) }?;
        if base.data != output.data {
            // SAFETY: P1; a wide tensor is ours, and lies apart from what it stands for.
            unsafe { base.copy_to(&output) }?;
        }
        if combine == Combine::Mean {
            // SAFETY: E2, E3.
            unsafe { self.divide_by_counts(plan, &output, include_self, copies) }?;
        }
        // SAFETY: a tensor in place of the output lies apart from it, and both are ours.
        unsafe { self.deliver(&output) }
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
