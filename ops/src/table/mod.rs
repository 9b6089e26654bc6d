//! The operator table: one row per overload, from which functions, methods, in-place and out= forms, meta functions,
//! boxed kernels and their definitions come. A row is
//!
//! ```text
//! { [name.overload] (schema arguments) -> (schema returns) : kind (what it is) {
//!     functional add; inplace add_ [add_.Tensor]; out add_out [add.out];          // Rust names, and the forms' schema names
//!     functional_full add_alpha;                                                  // also with defaulted keyword arguments
//! } }
//! ```
//!
//! | kind | is | forms |
//! | --- | --- | --- |
//! | `formula` | a pointwise formula whose kernels devices prebuild; a row without a name lists one that others use | as `op` |
//! | `fold` | a reduction likewise | as `op` |
//! | `template` | a structured operator that each device executes itself | as `op` |
//! | `op` | an [`Operator`](monomorph_core::structured::Operator): every form from one meta function | functional, inplace, out, and `_full` |
//! | `view` | a function from geometry to geometry | functional, inplace, copy, copyout |
//! | `views` | a function from geometry to several | functional, copy, copyout, copyinto |
//! | `hand` | a function written by hand over any device | functional, inplace, out |
//! | `copying`, `moving` | the same, called by name also for tensors of [several devices](crate::across) | functional, inplace |
//! | `implicit`, `explicit`, `nonfunctional` | a function that calls other operators, registered at this composite key | functional, inplace, out, autoout |
//! | `redirect` | another operator's name: `redirect (cat)` for `concat` | each that the other has |
//! | `alias` | the same for an [`Operator`](monomorph_core::structured::Operator): `alias (mul = Op<MulFn>)` | as `op` |
//!
//! `or_explicit (function);` among the forms, or `or_implicit`, `or_nonfunctional`, gives the devices that have no
//! kernel of the row one that is [composed](crate::composite), in its functional, in-place and out= forms.
//!
//! `copy` is the form of a view that copies it, `copyout` the out= form of that, `copyinto` one that keeps the sizes
//! and dtypes of its outputs; `autoout` is an out= form made of the functional one: compute, resize, copy. A form whose
//! Rust name is `-` is called by name only. A row whose schema does not fit the Rust signature of what it names does
//! not compile, nor does one with a default of another kind than its argument, or with alias annotations that do not go
//! with what it is.

mod agree;
mod composed;
mod declare;
mod functions;
mod kernels;
mod list;
mod outputs;
mod parse;
mod register;
mod rows;
mod schemas;
mod stack;
mod unboxed;

pub use agree::{Takes, agrees};
pub use composed::{Composed, another_name, composed_kernel};
pub use declare::declares;
pub use kernels::{IntoResults, copied, copied_parts, shared, shared_parts};
pub use list::{Row, RowForm, rows};
pub(crate) use outputs::{OutLayout, resized, write_out_as_made, write_pair};
pub use outputs::{copy_into, resize, write_out, write_outs, written_list};
pub use register::{Adding, Entry, Form, Forms, out_form};
pub use schemas::{
    Text, copy_out_schema, copy_outs_schema, copy_schema, functional_schema, inplace_schema, out_schema,
};
pub use stack::{Reader, arguments, check_written, finish, keep_first, keep_written, written};
