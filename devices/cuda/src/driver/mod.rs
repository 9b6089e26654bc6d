//! NVIDIA's driver: its functions (`api`), what goes wrong (`error`), the contexts of devices (`context`), and
//! its other objects (`objects`, `module`), which are given back when dropped.

mod api;
mod context;
mod error;
mod module;
mod objects;

pub(crate) use api::{Address, Driver, driver};
pub(crate) use context::{Bound, Context, DEVICES, late};
pub use error::CudaError;
pub(crate) use module::{Function, Module};
pub(crate) use objects::{Event, Pinned, Pool, Queue};
