//! Reductions bound to memory and launched. Owns the memory that blocks share.

use super::InputLayout;
use super::functor::{Reduction, Stored};
use super::plan::FoldPlan;
use crate::compile::{FoldKey, Kernel};
use crate::device::Cuda;
use crate::driver::{Address, CudaError};
use crate::execute::{identifier, start};
use crate::gpu::{Gpu, Use, gpu, open_already};
use crate::stream::{Stream, current};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Geometry, Result};
use monomorph_iter::TensorIter;
use monomorph_ops::algebra::sym::c_suffix;
use monomorph_ops::reduce::{Recording, Reduce, ReduceFn, ReduceInputs, ReducePlan, SymFold, TypedRule, symbolic};
use smallvec::SmallVec;
use std::any::TypeId;
use std::sync::Arc;

type Outcome<T> = std::result::Result<T, CudaError>;

/// A fold: who it is, and its recordings.
#[derive(Clone, Copy)]
struct Fold {
    id: TypeId,
    name: &'static str,
    record: fn(DType) -> Option<Recording>,
}

impl Fold {
    fn of<F: ReduceFn>() -> Fold
    where
        F::Domain: SymFold<F>,
    {
        Fold { id: TypeId::of::<F>(), name: F::NAME, record: symbolic::<F> }
    }

    /// The kernels on a dtype, for operands that lie so: the results, then the input.
    fn kernel(self, gpu: &Gpu, compute: DType, stored: &[Stored]) -> Option<Arc<Kernel<Reduction>>> {
        let key: FoldKey = (self.id, compute, stored.into());
        gpu.kernels.folds.of(key, || {
            let (&input, results) = stored.split_last()?;
            let mut name = format!("r_{}_{}", identifier(self.name), c_suffix(compute));
            // Kernels of one translation unit are told apart by it.
            for (word, stored) in results.iter().map(|result| ("to", result)).chain([("of", &input)]) {
                name += &format!("_{word}_{}", c_suffix(stored.dtype));
                name += if stored.conj { "_conj" } else { "" };
                name += if stored.neg { "_neg" } else { "" };
            }
            Some(Reduction::new(&name, compute, (self.record)(compute)?).of(input, results))
        })
    }
}

/// Memory of the device that a prepared call keeps.
#[derive(Debug)]
struct Scratch {
    index: u8,
    at: Address,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(gpu) = open_already(self.index) {
            gpu.free(self.at);
        }
    }
}

/// A reduction bound to memory: kernel, addresses, launches, and the memory that blocks share, once it has run.
#[derive(Debug)]
pub struct FoldReady {
    index: u8,
    /// None where there is nothing to be done.
    kernel: Option<Arc<Kernel<Reduction>>>,
    plan: FoldPlan,
    /// The results, then the input.
    bases: SmallVec<[Address; 3]>,
    scratch: Option<Scratch>,
}

// SAFETY: whatever `F` is, memory is touched by way of what types of closed sets and this crate decide.
//
// * The operator is `Reduce`, which no other crate implements: `operands` gives the one operand there is, and `meta`
//   plans by `TypedRule::of::<F>()`, in which the number and the dtypes of the outputs are those of `F::Results`,
//   which is sealed.
// * The kernel's text is this crate's, around recordings of the fold. Those have the dtypes of `F::Accumulator` and
//   `F::Results` on the compute dtype, and nothing but arithmetic: a fold takes and gives values, which know no
//   address.
// * A kernel loads elements of the input and stores those of the outputs, all of them, within the plan's iteration
//   or, of a reduction over no element, within the outputs' geometries; then the fold has an identity, or `ready`
//   fails.
// * What it uses stays: blocks are freed behind the streams that use them.
unsafe impl<F, W: 'static> Executes<Reduce<F, W>> for Cuda
where
    F: ReduceFn,
    F::Domain: SymFold<F>,
{
    type Ready = FoldReady;

    unsafe fn ready(plan: &ReducePlan, inputs: &ReduceInputs<'_, F>, outputs: &Outputs<'_>) -> Result<FoldReady> {
        if inputs.numbers().is_some() {
            let rule = "kernels of CUDA are not told the order of a norm or the correction of a variance; copy the \
                        input to the CPU";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        // SAFETY: E1 and E2 are the caller's promise; the rule is that of the fold.
        unsafe { bind(Fold::of::<F>(), const { &TypedRule::of::<F>() }, plan, inputs.operand(), outputs) }
    }

    unsafe fn run(ready: &mut FoldReady, _: &ReducePlan) -> Result<()> {
        let index = ready.index;
        // SAFETY: E2: the memory is still borrowed.
        let ran = gpu(index).and_then(|gpu| unsafe { ready.run(&gpu) });
        // Tickets may have been drawn and not be given back.
        ran.inspect_err(|_| ready.scratch = None).map_err(|error| error.on(index))
    }
}

/// How operand `k` of an iteration lies.
fn stored(iter: &TensorIter, k: usize) -> Stored {
    Stored { dtype: iter.dtype(k), conj: iter.is_conj(k), neg: iter.is_neg(k) }
}

/// Finds the kernel, resolves addresses and plans launches.
///
/// # Safety
///
/// E1, E2 of [`Executes`]; the rule is that of the fold.
unsafe fn bind(
    fold: Fold,
    rule: &'static TypedRule,
    plan: &ReducePlan,
    operand: &Operand<'_>,
    outputs: &Outputs<'_>,
) -> Result<FoldReady> {
    let index = current();
    let (iter, results) = (plan.iter(), rule.results().len());
    let Operand::Tensor(input) = operand else {
        return Err(ErrorKind::ArgumentRule { rule: "argument self is no tensor; a reduction needs one" }.into());
    };
    // SAFETY: E2.
    let input = unsafe { input.data() };
    let bases = (0..results).map(|k| outputs.data(k)).chain([input.cast_const().cast_mut()]);
    let bases: SmallVec<[Address; 3]> = bases.map(|data| data.addr() as Address).collect();
    let empty: SmallVec<[Geometry; 2]> = match iter.numel() {
        0 => (0..results).map(|k| outputs.geometry(k).clone()).collect(),
        _ => SmallVec::new(),
    };
    // Then a dtype outside of the domain is let pass.
    if empty.first().is_some_and(|first| first.numel() == 0) {
        return Ok(FoldReady { index, kernel: None, plan: FoldPlan::default(), bases, scratch: None });
    }
    let compute = plan.compute().unwrap_or(iter.common_dtype());
    let none = || {
        let what = "no kernel is compiled for";
        ErrorKind::DTypeNotSupported { what, got: compute, accepted: rule.words() }
    };
    let operands: SmallVec<[Stored; 3]> = (0..=results).map(|k| stored(iter, k)).collect();
    let gpu = gpu(index).map_err(|error| error.on(index))?;
    let kernel = fold.kernel(&gpu, compute, &operands).ok_or_else(none)?;
    if !empty.is_empty() && kernel.recorded().recording().identity.is_none() {
        return Err(ErrorKind::EmptyInput.into());
    }
    let plan = FoldPlan::new(kernel.recorded(), iter, &bases, &empty);
    let plan = plan.map_err(|error| CudaError::from(error).on(index))?;
    Ok(FoldReady { index, kernel: Some(kernel), plan, bases, scratch: None })
}

impl FoldReady {
    /// Launches on the thread's stream.
    ///
    /// # Safety
    ///
    /// The operands are borrowed, the outputs for writing, and the plan is of these.
    unsafe fn run(&mut self, gpu: &Gpu) -> Outcome<()> {
        let Some(kernel) = self.kernel.clone() else { return Ok(()) };
        let stream = gpu.stream();
        let functions =
            self.plan.launches().iter().map(|launch| gpu.kernels.function(gpu.context(), &kernel, launch.layout));
        let functions = functions.collect::<Outcome<SmallVec<[_; 1]>>>()?;
        self.share(gpu, &stream)?;
        let mut uses: SmallVec<[Use; 4]> = SmallVec::new();
        let results = self.bases.len() - 1;
        // Over nothing, an input has no memory.
        let reads = self.plan.reads().then_some(results);
        uses.extend(reads.map(|k| Use { at: self.bases[k], writes: false }));
        uses.extend(self.bases[..results].iter().map(|&at| Use { at, writes: true }));
        uses.extend(self.scratch.iter().map(|scratch| Use { at: scratch.at, writes: true }));
        gpu.order(&stream, &uses)?;
        for (launch, function) in self.plan.launches().iter().zip(&functions) {
            // SAFETY: the argument is that of the kernel's structure, and reaches the elements of the iteration and
            // of the scratch; the stream has waited for who uses their blocks.
            unsafe { start(&stream, function, launch.blocks, &launch.arguments) }?;
        }
        Ok(())
    }

    /// Makes the memory that blocks share, unless there is some: tickets are zero behind every run.
    fn share(&mut self, gpu: &Gpu, stream: &Stream) -> Outcome<()> {
        let bytes = self.plan.scratch();
        if bytes == 0 || self.scratch.is_some() {
            return Ok(());
        }
        let at = gpu.allocate(bytes, false)?;
        let scratch = Scratch { index: self.index, at };
        let tickets = self.plan.tickets();
        // SAFETY: they are of the block, which was just made in this stream.
        unsafe { stream.queue().zero(at + tickets.start as u64, tickets.len()) }?;
        self.plan.set_scratch(at);
        self.scratch = Some(scratch);
        Ok(())
    }
}

/// Compiles the fold's kernels for inputs of these dtypes, computed in these, for device `index`, in one translation
/// unit, so that later calls need not wait for the compiler. Dtypes outside of the domain are left out.
///
/// # Errors
/// No such device, and what the compiler and the driver say.
pub fn compile_fold<F: ReduceFn>(index: u8, dtypes: &[(DType, DType)]) -> Result<()>
where
    F::Domain: SymFold<F>,
{
    let compiled = gpu(index).and_then(|gpu| {
        let kernel = |&(input, compute): &(DType, DType)| {
            let own = Reduction::new("", compute, symbolic::<F>(compute)?);
            let stored: SmallVec<[Stored; 3]> = own.results().iter().copied().chain([input.into()]).collect();
            Fold::of::<F>().kernel(&gpu, compute, &stored)
        };
        let kernels: Vec<_> = dtypes.iter().filter_map(kernel).collect();
        gpu.kernels.ahead(gpu.context(), &kernels, InputLayout::Dense)
    });
    compiled.map_err(|error| error.on(index))
}
