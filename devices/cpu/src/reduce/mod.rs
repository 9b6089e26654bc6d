//! Reductions on the CPU.
//!
//! The elements of a reduction go into *lanes*, accumulators next to each other in memory, which one instruction
//! handles several at a time. A kernel accumulates rows of elements into lanes, merges lanes, and finishes them to
//! results; the driver decides which rows, and knows no fold.
//!
//! ```text
//! call, computed                                 binds a reduction to memory, or to operators that give the elements
//! fused, windows, identity_fill ── driver        elements that are computed as they are accumulated, or in blocks; a
//!                                                reduction over no element; tasks, threads, the reduction tree
//! chunks ── row_accumulator, runs; output        one chunk, in place or through a stage; results to the outputs
//! layout                                         along which dimension lanes are, where chunks begin
//! kernels ── classes ── fold_kernels             the kernels of one (fold, dtype, level), as function pointers
//! accumulate, merge, fused_kernel                their loops, and that of a formula and a fold
//!    search, fused_block ── registers            which keep what they accumulate in registers
//! rows, lane_kernel, results ── lanes ── parts   what they work on
//! ```
//!
//! Each module uses only modules further down or to the right.
//!
//! **Order of additions.** Which elements are merged when is fixed by shape, strides and dtypes alone: never by the
//! number of threads, never by the level. The number of lanes is that of `layout.rs` whatever the width of the
//! registers; a level only decides how many lanes one instruction handles. So all levels give the same bits.
//!
//! ```text
//!  inner (the reduced dimension is dense)          outer (a kept dimension is dense)
//!
//!   elements of one output, rows of lanes, here 128  one lane per output element
//!   x0    x1    …  x127                             x[0][0]  x[0][1] … ┐
//!   x128  x129  …  x255                             x[1][0]  x[1][1] … │ rows: elements to be reduced
//!    │     │        │    8 rows at a time, as          │        │      ┘
//!    ▼     ▼        ▼    a tree, into the lanes        ▼        ▼
//!   a0    a1    …  a127                             a0       a1
//!    └──────┴── … ─┘     lanes in halves
//! ```
//!
//! A dense row is a line of the cache, 64 bytes and at least 16 lanes; one that is staged has 128 lanes. A short run
//! has as many lanes as let it fill eight rows, a multiple of 16. A dense kept dimension that is too short for lanes of
//! its own is reduced as inner as well: the elements of its outputs alternate in the lanes.
//!
//! Of a group of eight rows, two times four are merged by the fold's `four`: for sums, in the dtype of the elements;
//! all further additions are wide. Chunks of 128 rows (256 or 2048 of a dense run whose accumulators are wider than its
//! elements) are accumulated so, and their results merged in a reduction tree (pairwise summation): the rounding error
//! of a sum grows with the logarithm of its length. `docs/decisions/0012-accumulation.md` has the figures.
//!
//! **Accumulators.** Lanes are written at one level and read at another, so the type that a fold accumulates in may not
//! depend on the level (`parts.rs`):
//!
//! ```compile_fail,E0053
//! use monomorph_cpu::isa::Avx2;
//! use monomorph_cpu::scalar::Lane;
//! use monomorph_ops::pointwise::{Common, Reals};
//! use monomorph_ops::reduce::*;
//!
//! struct Last;
//! impl ReduceFn for Last {
//!     const NAME: &'static str = "last";
//!     const RULE: ReduceRule = ReduceRule::OWN;
//!     type Domain = Reals;
//!     type Accumulator = Common;
//!     type Identity = NoIdentity;
//!     type Results = Common;
//! }
//! impl Fold<Lane<f32, Avx2>, Lane<i64, Avx2>> for Last {
//!     fn one(_: Lane<f32, Avx2>, at: Lane<i64, Avx2>) -> Lane<i64, Avx2> {
//!         at
//!     }
//!     fn merge(_: Lane<i64, Avx2>, b: Lane<i64, Avx2>) -> Lane<i64, Avx2> {
//!         b
//!     }
//!     fn finish(_: Lane<i64, Avx2>, _: Lane<i64, Avx2>) -> Lane<f32, Avx2> {
//!         Lane::new(0.0)
//!     }
//!     fn identity() {}
//! }
//! ```

mod accumulate;
mod batches;
mod call;
mod chunks;
pub(crate) mod classes;
mod computed;
mod driver;
mod fold_kernels;
mod fused;
mod fused_block;
mod fused_kernel;
mod identity_fill;
mod kernels;
mod lane_kernel;
mod lanes;
mod layout;
mod merge;
mod output;
mod parts;
mod registers;
mod results;
mod row_accumulator;
mod rows;
mod runs;
mod search;
mod windows;

pub use call::Ready;
pub use fold_kernels::FoldKernels;
pub use kernels::{Kernels, here};
// What the expansion of `prebuilt_reductions!` names.
#[doc(hidden)]
pub use monomorph_core::DType;
#[doc(hidden)]
pub use monomorph_ops::reduce::Prebuilt;
