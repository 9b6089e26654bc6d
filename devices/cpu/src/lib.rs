//! How the operators of monomorph run on the CPU.

mod attention;
mod bins;
mod cache_lines;
mod cast;
mod columns;
mod compact;
mod contract;
mod conv;
mod convert;
mod converted;
mod copy;
mod cross;
mod dense;
mod device;
mod element;
#[cfg(feature = "fft")]
mod fourier;
mod grid;
mod group;
pub mod half_bits;
mod half_runs;
mod index;
pub mod isa;
mod join;
mod lane_tree;
mod left_out;
#[cfg(feature = "linalg")]
mod linalg;
mod matrix;
mod memcpy;
pub mod memory;
mod offsets;
mod order;
mod pad_gradient;
mod planes;
pub mod pointwise;
mod pooling;
mod processor;
mod quantile;
#[cfg(feature = "random")]
mod random;
mod rearrange;
pub mod reduce;
mod renorm;
mod resample;
mod rounding;
mod row_copy;
mod rows;
mod running;
pub mod scalar;
pub mod scan;
mod scratch;
mod search;
mod staging;
mod stride2;
mod table_copy;
mod tile_copy;
mod tile_product;
mod trace;
mod transpose;
pub mod tuning;
mod upsample;

pub use device::Cpu;

use monomorph_core::{ErrorKind, Result};

/// The level that kernels run at, or what is wrong with the one that the environment asks for.
#[inline]
fn level() -> Result<isa::Level> {
    isa::Level::current().map_err(no_level)
}

#[cold]
fn no_level(error: isa::IsaError) -> monomorph_core::Error {
    let names: Vec<_> = isa::Level::available().map(isa::Level::name).collect();
    let got = match error {
        isa::IsaError::Unknown { got } => got,
        isa::IsaError::Missing { wanted, .. } => wanted.to_string(),
    };
    ErrorKind::InstructionSet { variable: isa::VARIABLE, got, accepted: names.join(", ") }.into()
}
