//! NVIDIA's driver: its functions (`api`), what goes wrong (`error`), and its objects, which are given back when
//! dropped (`objects`).

mod api;
mod error;
mod objects;

pub(crate) use api::{Address, Driver, driver};
pub use error::CudaError;
pub(crate) use objects::{Bound, Context, DEVICES, Event, Function, Module, Pinned, Pool, Queue, late};
