//! Reductions: the folds of the operator table as CUDA C++, and calls of them.
//!
//! ```text
//! fold, dtypes ───► Reduction ─────► text: a fold's recordings behind the loops of `kernels/reduce.cu` (`functor`)
//! plan, operands ─► FoldPlan ──────► kernels, blocks and arguments; memory that blocks share (`plan`, `group`)
//! call ───────────► execute ───────► that memory, waits for other streams, launches
//! ```

mod execute;
mod functor;
mod group;
mod plan;

pub use execute::{FoldReady, compile_fold};
pub use functor::{InputLayout, Reduction, Stored, reductions_source};
pub use plan::{FoldLaunch, FoldPlan};
