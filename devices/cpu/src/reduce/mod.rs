//! Reductions on the CPU.
//!
//! ```text
//! fold ── Fold<On<C, I>> ──► Bodies      the loops of one (fold, dtype, level) over lanes (`body.rs`, …)
//! domain ──► classes ──────► lookup      which bodies a dtype and a level have (`classes.rs`, `kernels.rs`)
//! plan ────────────────────► Layout      which dimension makes the lanes, where chunks begin (`layout.rs`)
//! Layout, bodies ──────────► Driver      chunks, the tree over them, threads (`driver.rs`, `chunk.rs`); knows no fold
//! ```
//!
//! **Order of additions.** Which elements meet when is fixed by shape, strides and dtypes alone: never by the number of
//! threads, never by the level. Lanes are accumulators next to each other, as many as `layout.rs` says whatever the width
//! of the registers; a level only decides how many of them one instruction handles. So all levels give the same bits.
//!
//! ```text
//!  across (the reduced dimension is dense)         along (a kept dimension is dense)
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
//! A dense row is a line of the cache, 64 bytes and at least 16 lanes; one that is staged has 128 lanes. A short run has as
//! many lanes as let it fill eight rows, a multiple of 16. A kept dimension too short for lanes of its own, and dense, goes
//! across as well: its outputs take the lanes by turns.
//!
//! Of the eight rows, two times four meet as the fold's `four` says: for sums, in the dtype of the elements; all further
//! additions are wide. Chunks of 128 rows (256 or 512 where accumulators are wider than elements) are folded so, and their
//! results joined as a binary counter would: the rounding error of a sum grows with the logarithm of its length.
//! `docs/decisions/0012-accumulation.md` has the figures.
//!
//! **Accumulators.** Lanes are written at one level and read at another, so a fold may not choose what it accumulates in
//! level by level (`parts.rs`):
//!
//! ```compile_fail,E0053
//! use monomorph_cpu::isa::Avx2;
//! use monomorph_cpu::on::On;
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
//! impl Fold<On<f32, Avx2>, On<i64, Avx2>> for Last {
//!     fn one(_: On<f32, Avx2>, at: On<i64, Avx2>) -> On<i64, Avx2> {
//!         at
//!     }
//!     fn merge(_: On<i64, Avx2>, b: On<i64, Avx2>) -> On<i64, Avx2> {
//!         b
//!     }
//!     fn finish(_: On<i64, Avx2>, _: On<i64, Avx2>) -> On<f32, Avx2> {
//!         On::new(0.0)
//!     }
//!     fn nothing() {}
//! }
//! ```

mod absorb;
mod body;
mod call;
mod chunk;
mod classes;
mod driver;
mod fill;
mod held;
mod kernels;
mod lanes;
mod layout;
mod meet;
mod parts;
mod results;
mod walk;

pub use body::Bodies;
pub use call::Ready;
pub use kernels::{Kernels, here};
// What the expansion of `prebuilt_reductions!` names.
#[doc(hidden)]
pub use monomorph_core::DType;
#[doc(hidden)]
pub use monomorph_ops::reduce::Prebuilt;
