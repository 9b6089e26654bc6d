//! A device for monomorph that lies outside of its tree: two arenas of memory that the host cannot follow pointers
//! into. Owns the device, its kernels and what it registers; the operators, their checks and their forms are the
//! library's.
//!
//! | file | shows |
//! | --- | --- |
//! | `memory` | memory with addresses of its own, counted |
//! | `device` | [`Device`]: identity, current device, strided copy |
//! | `add` | a kernel for a pointwise template: every form of `add`, typed and by name |
//! | `sum` | a kernel for a reduction, registered for out= alone: dispatch completes the functional forms |
//! | `multiply` | an out= kernel that is written by hand, behind the library's checks; the other forms are completed |
//! | `negate` | forms that are written by hand, and one that stands over a form from elsewhere |
//! | `scaled` | an operator that the library does not have |

mod add;
mod device;
mod memory;
mod multiply;
mod negate;
mod scaled;
mod sum;
mod walk;

pub use device::Arena;
pub use memory::{ARENAS, CAPACITY, Usage, usage};
pub use negate::zeroed;
pub use scaled::{MineMethods, axpy, axpy_, axpy_out, meta};

use monomorph::crates::core::dispatch::Backend;
use monomorph::{Device, Dispatcher, Library, Result, register, selection};

/// Registers the device with a dispatcher that has the operator table. Everything is undone when the library is
/// dropped.
///
/// # Errors
///
/// A device of the same kind, or operators of the same name, are there already; then nothing is registered.
pub fn register(dispatcher: &Dispatcher) -> Result<Library> {
    let mut library = dispatcher.library("arena");
    library.backend::<Arena>("Arena")?;
    let arena = Backend::of(Arena::KIND).expect("kind 16 has a dispatch key");
    // Views, copies, factories: whatever needs memory and a copy.
    selection::register_memory::<Arena>(&mut library)?;
    // A kernel that runs the whole template has all forms; of one that is registered for out= alone dispatch makes the
    // others.
    register!(&mut library, Arena => "add.Tensor")?;
    register!(&mut library, Arena: out => "sum.dim_IntList")?;
    multiply::register(&mut library, arena)?;
    negate::register(&mut library, arena)?;
    scaled::register(&mut library)?;
    Ok(library)
}
