//! Tests that any device has to pass, in this tree or outside of it: memory, copies, the operators it has, errors,
//! registration. Owns what is asked; what a device is and can, its [`Subject`] says.
//!
//! ```ignore
//! struct Arenas;
//! impl Subject for Arenas {
//!     type Device = Arena;
//!     fn register(dispatcher: &Dispatcher) -> Result<Vec<Library>> { .. }
//! }
//! monomorph_testsuite::device_tests! { Arenas }
//! ```
//!
//! expands to one `#[test]` per check. They take turns within a process, because they count memory; whatever else uses
//! the device belongs into another test binary.
//!
//! | file | asks |
//! | --- | --- |
//! | `memory` | contents, sizes, blocks, growth, giving back, threads |
//! | `copies` | views, layouts, dtypes, bits, overlap, devices |
//! | `moves` | calls by name that go from one device to another |
//! | `operators` | recorded PyTorch calls of every operator that the device has; unboxed against boxed calls |
//! | `refusals` | mixed devices, missing kernels, failed calls, registration and its undoing |

mod copies;
mod memory;
mod moves;
mod operators;
mod refusals;

use monomorph::crates::core::dispatch::{DispatchKey, OperatorHandle, Source};
use monomorph::crates::core::with_element;
use monomorph::{AnyTensor, Cpu, DType, Device, DeviceId, Dispatcher, Geometry, Library, Stack, Tensor, selection};
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

/// A device under test.
pub trait Subject: 'static {
    /// The type of the device.
    type Device: Device;

    /// How many devices of the kind there are.
    const DEVICES: u8 = 1;

    /// Overloads that the device has to run; each needs an agreeing recorded call, if there is a recorded one.
    const OPERATORS: &'static [&'static str] = &[];

    /// The dtypes that its kernels compute in; in others they may refuse.
    const COMPUTES: &'static [DType] = &DType::ALL;

    /// Registers the device with a dispatcher that has the operator table. The CPU is in the table.
    ///
    /// # Errors
    ///
    /// A second registration.
    fn register(dispatcher: &Dispatcher) -> monomorph::Result<Vec<Library>>;

    /// The blocks that are live on all devices of the kind; `None` if nobody counts them.
    fn live_blocks() -> Option<usize> {
        None
    }
}

/// What a device got wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<monomorph::Error> for Failure {
    fn from(error: monomorph::Error) -> Failure {
        Failure(format!("a call that should return: {error}"))
    }
}

/// Whether a device passes.
pub type Verdict = Result<(), Failure>;

/// One check of a device, by name.
pub type Check = (&'static str, fn() -> Verdict);

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(Failure(what())) }
}

fn same<T: PartialEq + Debug>(got: &T, want: &T, what: &str) -> Verdict {
    ensure(got == want, || format!("{what}: got {got:?}, want {want:?}"))
}

/// That a call fails.
fn refused<T>(result: monomorph::Result<T>, what: &str) -> Result<monomorph::Error, Failure> {
    result.err().ok_or_else(|| Failure(format!("{what} was accepted")))
}

/// Runs a check when no other runs in this process.
pub fn alone(check: fn() -> Verdict) -> Verdict {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    check()
}

/// Calls `$callback! { context; module::check .. }` with every check of the tree.
#[doc(hidden)]
#[macro_export]
macro_rules! __device_checks {
    ($callback:ident $($context:tt)*) => {
        $crate::$callback! { $($context)*;
            contents_arrive
            empty_tensors_have_no_memory
            impossible_sizes_are_errors
            zeroed_memory_is_zero
            blocks_lie_apart
            growth_keeps_contents
            memory_is_given_back
            threads_share_the_device
            devices_of_a_kind_lie_apart
            views_share_memory
            copies_reach_every_layout
            copies_convert_every_dtype
            overlapping_copies_are_errors
            recorded_calls_agree
            unboxed_calls_agree
            results_stay_on_their_device
            copies_cross_devices
            tensors_move_between_devices
            mixed_devices_are_errors
            missing_kernels_are_named
            failed_calls_change_nothing
            registration_is_undone
        }
    };
}

/// The tests of a [`Subject`].
#[macro_export]
macro_rules! device_tests {
    ($subject:ty) => {
        $crate::__device_checks! { __device_tests $subject }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __device_tests {
    ($subject:ty; $($check:ident)*) => { $(
        #[test]
        fn $check() {
            if let Err(failure) = $crate::device_tree::alone($crate::device_tree::checks::$check::<$subject>) {
                panic!("{failure}");
            }
        }
    )* };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __device_list {
    ($subject:ident; $($check:ident)*) => {
        vec![$((
            stringify!($check),
            $crate::device_tree::checks::$check::<$subject> as fn() -> $crate::device_tree::Verdict,
        )),*]
    };
}

/// Every check, for who runs them otherwise than as tests.
pub fn every_check<S: Subject>() -> Vec<Check> {
    crate::__device_checks! { __device_list S }
}

/// The checks.
pub mod checks {
    pub use super::copies::*;
    pub use super::memory::*;
    pub use super::moves::*;
    pub use super::operators::*;
    pub use super::refusals::*;
}

/// A dispatcher with the operator table and the device. Libraries undo what they did when they are dropped.
struct Registered {
    dispatcher: Dispatcher,
    device: Vec<Library>,
    _table: Library,
}

impl Registered {
    fn new<S: Subject>() -> Result<Registered, Failure> {
        let dispatcher = Dispatcher::new();
        let mut table = dispatcher.library("aten");
        selection::register_all(&mut table)?;
        let device = S::register(&dispatcher)?;
        Ok(Registered { dispatcher, device, _table: table })
    }

    /// The operators that the device runs: by a kernel of its own, composed, or completed.
    fn operators<S: Subject>(&self) -> Result<Vec<OperatorHandle>, Failure> {
        let backend = backend::<S>()?;
        let keys = [DispatchKey::dense(backend), DispatchKey::common(backend)];
        let runs = |handle: &OperatorHandle| {
            let mut here = handle.explain().into_iter().filter(|(key, ..)| keys.contains(key));
            here.any(|(_, resolution, _)| matches!(resolution.source, Source::Kernel(_) | Source::Completed))
        };
        Ok(self.dispatcher.operators().into_iter().filter(runs).collect())
    }
}

fn backend<S: Subject>() -> Result<monomorph::crates::core::dispatch::Backend, Failure> {
    let kind = <S::Device as Device>::KIND;
    monomorph::crates::core::dispatch::Backend::of(kind).ok_or_else(|| Failure(format!("{kind:?} has no dispatch key")))
}

fn device<S: Subject>(index: u8) -> DeviceId {
    DeviceId { kind: <S::Device as Device>::KIND, index }
}

/// That the device has as many live blocks as before.
struct Balance(Option<usize>);

impl Balance {
    fn begin<S: Subject>() -> Balance {
        Balance(S::live_blocks())
    }

    fn check<S: Subject>(&self, what: &str) -> Verdict {
        same(&S::live_blocks(), &self.0, &format!("live blocks after {what}"))
    }
}

/// The same tensor on the device, storage and all.
fn placed<D: Device>(tensor: &Tensor<Cpu>) -> monomorph::Result<Tensor<D>> {
    Tensor::from_storage(&tensor.storage_to_vec()?, tensor.geometry().clone())
}

/// 1, 2, 3 … in row-major order, on device `index`.
fn ramp<D: Device>(index: u8, dtype: DType, sizes: &[i64]) -> monomorph::Result<Tensor<D>> {
    let numel = sizes.iter().product::<i64>();
    with_element!(dtype, T => {
        let values: Vec<T> = (1..=numel).map(|i| monomorph_core::Element::from_scalar(i.into())).collect();
        Tensor::from_slice_on(index, &values, sizes)
    })
}

/// The elements as numbers, row-major.
fn values(tensor: &AnyTensor) -> monomorph::Result<Vec<monomorph::Scalar>> {
    with_element!(tensor.dtype(), T => {
        Ok(tensor.to_vec::<T>()?.into_iter().map(monomorph_core::Element::to_scalar).collect())
    })
}

fn geometry(dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> monomorph::Result<Geometry> {
    Geometry::new(dtype, sizes, strides, offset)
}

/// The one tensor that a call leaves.
fn result(mut stack: Stack) -> Result<AnyTensor, Failure> {
    let tensor = stack.pop().and_then(monomorph::IValue::into_tensor);
    tensor.ok_or_else(|| Failure("a call left no tensor".to_owned()))
}
