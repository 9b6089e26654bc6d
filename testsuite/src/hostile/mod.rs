//! Hostile calls of every operator by name, and the processes they run in. Owns what hostile arguments are, what has
//! to hold after a call, and how a crash is traced to its call; the cases that a person thought of are in
//! `testsuite/hostile`.
//!
//! ```text
//!  driver ── one process per chunk of calls, with limits ─► chunk ── seed and number ─► arguments ─► operator, checks
//!     ▲                                                       │
//!     └──── counts, slowest calls, failures ──────────────────┘   died or hung: again, each call written down first
//! ```
//!
//! Call `k` of a seed depends on nothing but `k` and the seed, so any call can be made again by itself:
//! `cargo test -p monomorph-testsuite --test hostile -- fuzz --seed 1 --call 4711`.

mod arguments;
mod check;
mod children;
mod chunk;
mod describe;
mod driver;
mod extremes;
mod fitting;
mod fitting_convolutions;
mod fitting_draws;
mod fitting_folds;
mod fitting_fourier;
mod fitting_indexing;
mod fitting_linalg;
mod fitting_order;
mod fitting_products;
mod fitting_quantized;
mod fitting_rearranged;
mod fitting_rows;
mod fitting_sequences;
mod fitting_windows;
mod options;
mod tensors;

pub use children::{End, Limits, Ran, run};
pub use chunk::{Failure, Report, run_chunk};
pub use describe::describe;
pub use driver::fuzz;
pub use extremes::{every_kind, extremes};
pub use fitting::fitting_stack;
pub use options::{Class, Options};
