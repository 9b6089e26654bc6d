//! `upsample_nearest1d` on CUDA: the kernel of an operator without a formula or a fold. Owns its text, its launches and
//! its calls; which element of the input is meant, the operator's plan says.

use crate::compile::Kernel;
use crate::device::Cuda;
use crate::driver::{Address, CudaError};
use crate::execute::start;
use crate::functor::{CASTING, DEVICE};
use crate::gpu::{Gpu, Use, gpu};
use crate::launch::{Bytes, INDICES, THREADS};
use crate::stream::current;
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Geometry, Result};
use monomorph_ops::algebra::sym::{PRELUDE, c_suffix};
use monomorph_ops::upsample::{Step, UpsampleInputs, UpsampleNearest1d, UpsamplePlan};
use std::sync::Arc;

const NEAREST: &str = include_str!("kernels/nearest.cu");

/// Elements that a thread has in flight: `K_NEAREST` of the kernel.
const FLIGHT: u64 = 4;

/// `K_NEG` of the kernels.
const NEG: u32 = 2;

/// The kernel at one dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nearest(DType);

impl Nearest {
    /// The dtypes that the operator takes.
    pub const DTYPES: [DType; 5] = [DType::U8, DType::F16, DType::BF16, DType::F32, DType::F64];

    /// The kernel at this dtype; `None` where the operator does not take it.
    pub fn new(dtype: DType) -> Option<Nearest> {
        Nearest::DTYPES.contains(&dtype).then_some(Nearest(dtype))
    }

    /// The dtype.
    pub fn dtype(self) -> DType {
        self.0
    }

    /// The name of the kernel.
    pub fn kernel(&self) -> String {
        format!("nearest1d_{}", c_suffix(self.0))
    }

    /// The kernel as text.
    pub fn text(&self) -> String {
        let (kernel, of) = (self.kernel(), c_suffix(self.0));
        format!(
            "extern \"C\" __global__ void __launch_bounds__(K_THREADS, 1) {kernel}(const __grid_constant__ \
             k_nearest_arguments<K_{of}> a) {{ k_nearest<K_{of}>(a); }}\n"
        )
    }

    /// The launches that resample the input into the output together, of these geometries and first bytes, a kernel
    /// counting elements up to `limit`.
    pub fn launches(
        plan: &UpsamplePlan,
        output: (&Geometry, u64),
        input: (&Geometry, u64),
        limit: Option<u64>,
    ) -> Vec<NearestLaunch> {
        let mut launches = Vec::new();
        if output.0.numel() > 0 {
            let whole = Part { sizes: [0, 1, 2].map(|d| output.0.sizes()[d] as u64), from: [0; 3] };
            let call = Call { plan, sides: [output, input] };
            call.split(whole, limit.unwrap_or(INDICES), &mut launches);
        }
        launches
    }
}

/// A translation unit with the kernels of these dtypes.
pub fn nearest_source(all: &[Nearest]) -> String {
    let parts = [PRELUDE, DEVICE, CASTING, NEAREST].map(str::to_owned);
    parts.into_iter().chain(all.iter().map(Nearest::text)).collect::<Vec<_>>().join("\n")
}

/// A launch of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearestLaunch {
    /// Blocks of [`THREADS`] threads.
    pub blocks: u32,
    /// The argument of the kernel, which begins with the addresses of the output and the input.
    pub arguments: Vec<u8>,
}

/// A part of the output: its sizes, and where it begins.
#[derive(Clone, Copy)]
struct Part {
    sizes: [u64; 3],
    from: [u64; 3],
}

/// What all launches of a call share: the output, then the input.
struct Call<'a> {
    plan: &'a UpsamplePlan,
    sides: [(&'a Geometry, u64); 2],
}

impl Call<'_> {
    /// Halves a part until a kernel can count it.
    fn split(&self, part: Part, limit: u64, launches: &mut Vec<NearestLaunch>) {
        if part.sizes.iter().try_fold(1_u64, |all, &n| all.checked_mul(n)).is_some_and(|n| n < limit) {
            return launches.push(self.launch(part));
        }
        let d = (0..3).max_by_key(|&d| part.sizes[d]).unwrap_or(0);
        let half = part.sizes[d] / 2;
        let (mut first, mut rest) = (part, part);
        first.sizes[d] = half;
        (rest.sizes[d], rest.from[d]) = (part.sizes[d] - half, part.from[d] + half);
        self.split(first, limit, launches);
        self.split(rest, limit, launches);
    }

    fn launch(&self, part: Part) -> NearestLaunch {
        let stride = |k: usize, d: usize| {
            let (geometry, _) = self.sides[k];
            // Exact in a dimension of two elements or more; of one element nothing is multiplied by it but 0.
            geometry.strides()[d].wrapping_mul(geometry.dtype().size() as i64).cast_unsigned()
        };
        let mut bytes = Bytes::default();
        // Of the input, the place in a row is found by the kernel.
        for (k, dims) in [(0, 3), (1, 2)] {
            let steps = (0..dims).map(|d| part.from[d].wrapping_mul(stride(k, d)));
            bytes.u64(steps.fold(self.sides[k].1, u64::wrapping_add));
        }
        for (k, d) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
            bytes.u64(stride(k, d));
        }
        let [(output, _), (input, _)] = self.sides;
        bytes.u64(part.from[2]);
        bytes.u64((input.sizes()[2] - 1).cast_unsigned());
        let step = match self.plan.step() {
            Step::Single(step) => f64::from(step),
            Step::Double(step) => step,
        };
        bytes.u64(step.to_bits());
        bytes.divisor(part.sizes[2] as u32);
        bytes.divisor(part.sizes[1] as u32);
        let count = part.sizes.iter().product::<u64>();
        bytes.u32(count as u32);
        bytes.u32(if output.is_neg() == input.is_neg() { 0 } else { NEG });
        NearestLaunch { blocks: count.div_ceil(FLIGHT * THREADS as u64) as u32, arguments: bytes.whole() }
    }
}

/// A call bound to memory: its kernel, addresses and launches.
#[derive(Debug)]
pub struct NearestReady {
    index: u8,
    /// None where there is nothing to be done.
    kernel: Option<Arc<Kernel<Nearest>>>,
    out: Address,
    input: Address,
    launches: Vec<NearestLaunch>,
}

// SAFETY: the kernel loads elements of the input and stores those of the output, all of them, within their geometries.
// What it uses stays: blocks are freed behind the streams that use them.
unsafe impl<W: 'static> Executes<UpsampleNearest1d<W>> for Cuda {
    type Ready = NearestReady;

    unsafe fn ready(plan: &UpsamplePlan, inputs: &UpsampleInputs<'_>, outputs: &Outputs<'_>) -> Result<NearestReady> {
        let (index, output) = (current(), outputs.geometry(0));
        let mut ready = NearestReady {
            index,
            kernel: None,
            out: outputs.data(0).addr() as Address,
            input: 0,
            launches: Vec::new(),
        };
        // Meta takes three dimensions, so a number is no input; without elements there may be no memory.
        let Operand::Tensor(input) = inputs.operand() else { return Ok(ready) };
        if output.numel() == 0 {
            return Ok(ready);
        }
        let gpu = gpu(index).map_err(|error| error.on(index))?;
        ready.kernel = Some(kernel(&gpu, output.dtype())?);
        // SAFETY: E2.
        ready.input = unsafe { input.data() }.addr() as Address;
        ready.launches = Nearest::launches(plan, (output, ready.out), (input.geometry(), ready.input), None);
        Ok(ready)
    }

    unsafe fn run(ready: &mut NearestReady, _: &UpsamplePlan) -> Result<()> {
        // SAFETY: E2: the memory is still borrowed.
        let ran = gpu(ready.index).and_then(|gpu| unsafe { ready.run(&gpu) });
        ran.map_err(|error| error.on(ready.index))
    }
}

impl NearestReady {
    /// Launches on the thread's stream.
    ///
    /// # Safety
    ///
    /// The operands are borrowed, the output for writing.
    unsafe fn run(&self, gpu: &Gpu) -> std::result::Result<(), CudaError> {
        let Some(kernel) = &self.kernel else { return Ok(()) };
        let stream = gpu.stream();
        let function = gpu.kernels.function(gpu.context(), kernel, ())?;
        gpu.order(&stream, &[Use { at: self.input, writes: false }, Use { at: self.out, writes: true }])?;
        for launch in &self.launches {
            // SAFETY: the argument is that of the kernel's structure, and reaches elements of the operands; the stream
            // has waited for who uses their blocks.
            unsafe { start(&stream, &function, launch.blocks, &launch.arguments) }?;
        }
        Ok(())
    }
}

fn kernel(gpu: &Gpu, dtype: DType) -> Result<Arc<Kernel<Nearest>>> {
    let none = || {
        let (what, accepted) = ("no kernel is compiled for", "floats and uint8");
        ErrorKind::DTypeNotSupported { what, got: dtype, accepted }
    };
    Ok(gpu.kernels.nearest.of(dtype, || Nearest::new(dtype)).ok_or_else(none)?)
}

/// Compiles the kernels of `upsample_nearest1d` at every dtype, for device `index`, in one translation unit, so that
/// later calls need not wait for the compiler.
///
/// # Errors
/// No such device, and what the compiler and the driver say.
pub fn compile_nearest(index: u8) -> Result<()> {
    let gpu = gpu(index).map_err(|error| error.on(index))?;
    let kernels = Nearest::DTYPES.into_iter().map(|dtype| kernel(&gpu, dtype)).collect::<Result<Vec<_>>>()?;
    gpu.kernels.ahead(gpu.context(), &kernels, ()).map_err(|error| error.on(index))
}
