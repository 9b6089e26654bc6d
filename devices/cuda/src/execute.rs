//! Pointwise calls bound to memory and launched. Owns the way from a plan to a launch: which kernel, where operands
//! begin, in which stream, and what is waited for.

use crate::compile::Kernel;
use crate::device::Cuda;
use crate::driver::{Address, CudaError, Function};
use crate::functor::Functor;
use crate::gpu::{Gpu, Use, gpu};
use crate::launch::{Base, Launch, THREADS};
use crate::light::is_light;
use crate::memory::Staging;
use crate::operand::Source;
use crate::stream::{Stream, current};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Result, Scalar};
use monomorph_iter::TensorIter;
use monomorph_ops::algebra::sym::c_suffix;
use monomorph_ops::pointwise::{
    DomainSet, Params, Pointwise, PointwiseFn, PointwiseInputs, PointwisePlan, SymDomain, symbolic, symbolic_fault,
};
use smallvec::SmallVec;
use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Whether calls wait: 0 where the environment was not asked yet, 1 for no, 2 for yes.
static BLOCKING: AtomicU8 = AtomicU8::new(0);

/// Whether every launch is waited for, so that an error is that of the call that caused it.
pub(crate) fn is_blocking() -> bool {
    match BLOCKING.load(Ordering::Relaxed) {
        0 => {
            let blocking = std::env::var_os("MONOMORPH_CUDA_BLOCKING").is_some_and(|value| value != "0");
            set_blocking(blocking);
            blocking
        }
        state => state == 2,
    }
}

/// Waits for every launch, or does not, whatever `MONOMORPH_CUDA_BLOCKING` says. An error of a kernel is then told by
/// the call that launched it, with the kernel's name.
pub fn set_blocking(blocking: bool) {
    BLOCKING.store(1 + u8::from(blocking), Ordering::Relaxed);
}

/// Launches a kernel on a stream, and waits for it where calls are to.
///
/// # Safety
///
/// The argument is that of the kernel's structure. The blocks that the kernel reaches by it are live until it is done,
/// and the stream has waited for who uses them.
pub(crate) unsafe fn start(
    stream: &Stream,
    function: &Function,
    blocks: u32,
    argument: &[u8],
) -> std::result::Result<(), CudaError> {
    // SAFETY: the caller promises that the argument is that of the kernel's structure, so it has the size that the
    // kernel takes, that the blocks which the kernel reaches by it live until it is done, and that the stream has
    // waited for who uses them.
    unsafe { stream.queue().launch(function, blocks, THREADS as u32, argument) }?;
    if is_blocking() {
        stream.queue().synchronize().map_err(|error| error.of(function.name()))?;
    }
    Ok(())
}

/// A kernel and the operands that it is to walk.
#[derive(Debug)]
pub(crate) struct Plan {
    index: u8,
    kernel: Arc<Kernel>,
    out: Address,
    inputs: SmallVec<[Source; 3]>,
    /// The launches of the last run, if the next one has the same but for the flag.
    launches: Option<Vec<Launch>>,
}

impl Plan {
    pub(crate) fn new(index: u8, kernel: Arc<Kernel>, out: Address, inputs: SmallVec<[Source; 3]>) -> Plan {
        Plan { index, kernel, out, inputs, launches: None }
    }

    /// The launches of this run.
    ///
    /// # Safety
    ///
    /// Memory of the host that operands lie in is there, and nobody writes it.
    unsafe fn launches(&mut self, iter: &TensorIter, params: &[Scalar]) -> std::result::Result<Vec<Launch>, CudaError> {
        if let Some(launches) = self.launches.take() {
            return Ok(launches);
        }
        let mut bases: SmallVec<[Base; 4]> = SmallVec::new();
        bases.push(Base::At(self.out));
        for source in &self.inputs {
            // SAFETY: the caller promises that memory of the host that operands lie in is there, and that nobody writes
            // it.
            bases.push(unsafe { source.base() });
        }
        Ok(Launch::new(self.kernel.recorded(), iter, &bases, 0, params)?)
    }

    /// Launches on the thread's stream. Says whether operands had no result, which is waited for where a formula knows
    /// such.
    ///
    /// # Safety
    ///
    /// Every element of the iteration is in a live block that is borrowed, the output's for writing; memory of the host
    /// that operands lie in is there, and nobody writes it.
    pub(crate) unsafe fn run(
        &mut self,
        gpu: &Gpu,
        iter: &TensorIter,
        params: &[Scalar],
    ) -> std::result::Result<bool, CudaError> {
        if iter.numel() == 0 {
            return Ok(false);
        }
        let stream = gpu.stream();
        // SAFETY: the caller promises that memory of the host that operands lie in is there, and that nobody writes it.
        let mut launches = unsafe { self.launches(iter, params) }?;
        let functor = self.kernel.recorded();
        let mut flag = match functor.has_fault() {
            true => Some(Staging::new(gpu, &stream, size_of::<u32>())?),
            false => None,
        };
        let word = flag.as_ref().map(|flag| flag.first().data().cast::<u32>());
        if let Some(word) = word {
            // SAFETY: a buffer has room for the word, and nobody else uses it.
            unsafe { word.write(0) };
            launches.iter_mut().for_each(|launch| launch.set_fault(1 + self.inputs.len(), word.addr() as Address));
        }
        let mut uses: SmallVec<[Use; 4]> = SmallVec::new();
        for source in &self.inputs {
            if let Source::At(at) = *source {
                uses.push(Use { at, writes: false });
            }
        }
        uses.push(Use { at: self.out, writes: true });
        let functions: SmallVec<[_; 1]> = launches
            .iter()
            .map(|launch| gpu.kernels.function(gpu.context(), &self.kernel, launch.form))
            .collect::<std::result::Result<_, _>>()?;
        gpu.order(&stream, &uses)?;
        if let Some(flag) = &mut flag {
            flag.lend();
        }
        for (launch, function) in launches.iter().zip(&functions) {
            // SAFETY: the argument is that of the kernel's structure, and reaches the elements of the iteration; the
            // stream has waited for who uses their blocks.
            unsafe { start(&stream, function, launch.blocks, &launch.arguments) }?;
        }
        let raised = match (&mut flag, word) {
            (Some(flag), Some(word)) => {
                flag.settle()?;
                // SAFETY: the device is done with it.
                unsafe { word.read_volatile() != 0 }
            }
            _ => false,
        };
        if !self.inputs.iter().any(|source| matches!(source, Source::Host { .. })) {
            self.launches = Some(launches);
        }
        Ok(raised)
    }
}

/// A pointwise call bound to memory: kernel and addresses.
#[derive(Debug)]
pub struct Ready(Plan);

/// The name of an operator, which may hold a dot, as C has names.
pub(crate) fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The formula's kernels at a dtype.
pub(crate) fn functor<F: PointwiseFn>(dtype: DType) -> Option<Functor>
where
    F::Domain: SymDomain<F>,
{
    let functor = Functor::new(&format!("f_{}_{}", identifier(F::NAME), c_suffix(dtype)), symbolic::<F>(dtype)?);
    Some(functor.with_fault(symbolic_fault::<F>(dtype)).with_light(is_light::<F>()))
}

// SAFETY: a kernel loads elements of the inputs and stores those of the output, all of them, within the plan's
// iteration. What it uses stays: blocks are freed behind the streams that use them.
unsafe impl<F, W: 'static> Executes<Pointwise<F, W>> for Cuda
where
    F: PointwiseFn,
    F::Domain: SymDomain<F>,
{
    type Ready = Ready;

    unsafe fn ready(
        plan: &PointwisePlan<F::Params>,
        inputs: &PointwiseInputs<'_, F>,
        outputs: &Outputs<'_>,
    ) -> Result<Ready> {
        let key = (TypeId::of::<F>(), plan.compute().unwrap_or(DType::F32));
        // SAFETY: E2: the caller keeps the storages of these very operands borrowed until the result is dropped.
        unsafe { bind(key, functor::<F>, F::Domain::WORDS, inputs.operands(), outputs) }
    }

    unsafe fn run(ready: &mut Ready, plan: &PointwisePlan<F::Params>) -> Result<()> {
        // SAFETY: the caller promises that E2 still holds, and that `plan`, whose iteration this is, is the one that
        // `ready` was made from (E3).
        let raised = unsafe { launch(&mut ready.0, plan.iter(), plan.params().scalars()) }?;
        match F::FAULT {
            Some(error) if raised => Err(error().into()),
            _ => Ok(()),
        }
    }
}

/// Finds the kernel and resolves pointers.
///
/// # Safety
///
/// E2.
unsafe fn bind(
    key: (TypeId, DType),
    functor: fn(DType) -> Option<Functor>,
    words: &'static str,
    inputs: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    let index = current();
    let gpu = gpu(index).map_err(|error| error.on(index))?;
    let what = "no kernel is compiled for";
    let none = || ErrorKind::DTypeNotSupported { what, got: key.1, accepted: words };
    let kernel = gpu.kernels.formulas.of(key, || functor(key.1)).ok_or_else(none)?;
    let mut sources = SmallVec::new();
    for input in inputs {
        sources.push(match input {
            Operand::Tensor(tensor) if tensor.device().is_cpu() => {
                let g = tensor.geometry();
                // SAFETY: E2.
                let at = unsafe { tensor.data() }.cast_const();
                // A CPU tensor among those of another device has no dimensions.
                Source::Host { at, dtype: g.dtype(), turned: (g.is_conj(), g.is_neg()) }
            }
            // SAFETY: E2.
            Operand::Tensor(tensor) => Source::At(unsafe { tensor.data() }.addr() as Address),
            Operand::Number(number) => Source::Number(number.scalar()),
            // The plan refuses absent operands.
            Operand::Absent => continue,
        });
    }
    Ok(Ready(Plan::new(index, kernel, outputs.data(0).addr() as Address, sources)))
}

/// Launches a bound plan. True if some operands have no result.
///
/// # Safety
///
/// E2, and `iter` is that of the plan (E3).
unsafe fn launch(plan: &mut Plan, iter: &TensorIter, params: &[Scalar]) -> Result<bool> {
    let index = plan.index;
    let run = gpu(index).and_then(|gpu| {
        // SAFETY: E2, E3: the plan's iteration is within the operands.
        unsafe { plan.run(&gpu, iter, params) }
    });
    run.map_err(|error| error.on(index))
}
