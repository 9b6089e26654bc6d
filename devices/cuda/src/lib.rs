//! The kernels of formulas and folds as CUDA C++, compiled and checked without a GPU.
//!
//! A formula records itself on symbolic values ([`monomorph_ops::pointwise::symbolic`]); [`Functor`] turns the
//! recording into a type that the loops of `kernels/pointwise.cu` take, [`source`] puts many of them into one
//! translation unit, [`Nvrtc`] compiles it to machine code of an architecture, [`Launch`] is the kernel that walks an
//! iteration with the bytes of its argument, and [`Usage`] says what each kernel makes of the machine: registers,
//! stack, spills, and how it reaches memory.
//!
//! ```
//! use monomorph_core::DType;
//! use monomorph_cuda::{Functor, source};
//! use monomorph_ops::arithmetic::AddFn;
//! use monomorph_ops::pointwise::symbolic;
//!
//! let recording = symbolic::<AddFn>(DType::F32).ok_or("add computes in float32")?;
//! let add = Functor::new("add_f32", recording);
//! assert!(add.text().contains("typedef k_list<K_f32, K_f32> In;"));
//! let text = source(&[add]); // for Nvrtc::compile, or for a host compiler behind a shim
//! assert!(text.contains("__global__ void __launch_bounds__(K_THREADS, 1) add_f32_vector("));
//! # Ok::<(), &str>(())
//! ```
//!
//! [`Cuda`] is the device. Nothing of CUDA is needed to build; the driver and the compiler are loaded by what first
//! needs them, and where they are missing that is an error.
//!
//! ```text
//! plan, operands ─► Launch ──────► kernel and the bytes of its argument (`launch`)
//! fold, operands ─► reduce ──────► the same for reductions: a text, launches, the memory that blocks share
//! resampling ─────► nearest ─────► the same for the one operator that has a kernel of its own
//! formula, dtype ─► Functor ─────► text (`functor`) ─► machine code (`compile`, `cache`, `nvrtc`)
//! call ───────────► execute ─────► waits for other streams (`gpu`), launches on the thread's (`stream`)
//! storage ────────► memory ──────► blocks of the driver's pool, transfers through pinned buffers
//!                   driver         NVIDIA's functions, and its objects, given back when dropped
//! ```

mod ahead;
mod cache;
mod compile;
mod device;
mod driver;
mod execute;
mod functor;
mod gpu;
mod launch;
mod light;
mod memory;
mod nearest;
mod nvrtc;
mod operand;
mod paths;
mod reduce;
mod stream;
mod supply;
mod usage;

pub use ahead::{compile, compile_copies, copy_functors, functors};
pub use device::{Cuda, Guard};
pub use driver::CudaError;
pub use execute::{Ready, set_blocking};
pub use functor::{Form, Functor, source, source_of};
pub use gpu::release;
pub use launch::{Base, DIMS, Launch, LaunchError, THREADS};
pub use light::is_light;
pub use nearest::{Nearest, NearestLaunch, NearestReady, compile_nearest, nearest_source};
pub use nvrtc::{CompileError, Compiled, Nvrtc};
pub use paths::Paths;
pub use reduce::{FoldLaunch, FoldPlan, FoldReady, InputLayout, Reduction, Stored, compile_fold, reductions_source};
pub use stream::{Event, Stream, StreamGuard};
pub use supply::{Supply, unit_key};
pub use usage::Usage;

use monomorph_core::Result;

/// How many devices there are.
///
/// # Errors
/// No driver, or one that finds no device.
pub fn device_count() -> Result<usize> {
    driver::driver().and_then(driver::Driver::count).map_err(|error| error.on(0))
}

/// The name of device `index`.
///
/// # Errors
/// No such device, and what the driver says.
pub fn device_name(index: u8) -> Result<String> {
    gpu::gpu(index).and_then(|gpu| gpu.context().name()).map_err(|error| error.on(index))
}

/// Waits for everything on device `index`.
///
/// # Errors
/// No such device, and what the driver says, also of work that went wrong.
pub fn synchronize(index: u8) -> Result<()> {
    gpu::gpu(index).and_then(|gpu| gpu.synchronize()).map_err(|error| error.on(index))
}

/// Gives the system back what device `index` keeps for later: freed blocks and staging buffers.
///
/// # Errors
/// As for [`synchronize`].
pub fn trim(index: u8) -> Result<()> {
    gpu::gpu(index).and_then(|gpu| gpu.trim()).map_err(|error| error.on(index))
}

/// The live blocks of device `index`: how many, and their bytes.
pub fn live_blocks(index: u8) -> (usize, usize) {
    gpu::open_already(index).map_or((0, 0), |gpu| gpu.blocks())
}
