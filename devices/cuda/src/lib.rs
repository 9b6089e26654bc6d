//! The kernels of the formulas as CUDA C++, compiled and checked without a GPU.
//!
//! A formula records itself on symbolic values ([`monomorph_ops::pointwise::symbolic`]); [`Functor`] turns the recording into
//! a type that the loops of `kernels/pointwise.cu` take, [`source`] puts many of them into one translation unit, [`Nvrtc`]
//! compiles it to machine code of an architecture, [`Launch`] is the kernel that walks an iteration with the bytes of its
//! argument, and [`Usage`] says what each kernel makes of the machine: registers,
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
//! There is no device here that runs operators: nothing is allocated or launched, and no driver is looked for.

mod functor;
mod launch;
mod nvrtc;
mod usage;

pub use functor::{Form, Functor, source};
pub use launch::{DIMS, Launch, LaunchError, THREADS};
pub use nvrtc::{CompileError, Compiled, Nvrtc};
pub use usage::Usage;
