//! Operators that are composed of others: each is written once, as calls through the dispatcher, and runs on every
//! device on which its parts run. Owns what such a function is given; it never sees a device, an element or a kernel.
//!
//! A composed function takes [`Calls`], which calls other operators by name, and the arguments of its row: tensors as
//! boxed values (a number may stand for one), everything else as operators take it. It returns tensors.
//!
//! ```text
//! pub fn rsub(calls: &Calls<'_>, this: &IValue, other: &IValue, alpha: Scalar) -> Result<AnyTensor> {
//!     calls.tensor("sub.Tensor", [other.clone(), this.clone(), alpha.into()])
//! }
//! func: rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor, composite: explicit rsub;
//! ```
//!
//! Compositions of views and copies are written over [`callees`], and so are typed functions, too, which call no
//! dispatcher.
//!
//! In-place and out= forms follow from it ([`derived`]). A row whose formula some devices have, and a composition
//! serves on the others, says so: `otherwise: explicit crate::composite::arithmetic::sub`.

pub mod affine;
pub mod arithmetic;
pub mod attention;
mod border;
pub mod border_gradients;
pub mod callees;
pub mod compressed;
pub mod convolution_forms;
pub mod convolutions;
pub mod covariance;
#[doc(hidden)]
pub mod derived;
pub mod diagonal;
pub mod differences;
pub mod distances;
#[doc(hidden)]
pub mod each;
pub mod edges;
pub mod encoder;
pub mod entropy;
pub mod equality;
pub mod fake_quantize;
pub mod flip;
pub mod foreach;
pub mod hash;
pub mod integrals;
pub mod join;
pub mod losses;
pub mod matrix_norms;
pub mod nonzero;
pub mod normalize;
pub mod pad;
pub mod patches;
pub mod products;
pub mod quantized;
pub mod quantized_parts;
pub mod queries;
pub mod recurrent;
pub mod renorm;
pub mod repeat;
pub mod scatter;
pub mod shape;
pub mod shuffles;
pub mod spectral;
pub(crate) mod steps;
pub mod sums;
pub mod triangles;
pub mod typed_join;
pub mod windows;

use monomorph_core::dispatch::Calls;
use monomorph_core::structured::Operand;
use monomorph_core::{AnyTensor, ArgType, DType, Error, ErrorKind, IValue, Result, TensorArg};

/// `Tensor`, as it is: a tensor, or a number in place of one.
#[derive(Debug)]
pub struct Whole;

impl ArgType for Whole {
    type Value<'t> = &'t IValue;
    fn get(value: &IValue) -> Option<&IValue> {
        TensorArg::get(value).map(|_| value)
    }
    fn shorten<'s, 'long: 's>(value: &'long IValue) -> &'s IValue {
        value
    }
}

/// `Tensor`, where no number may stand for one.
#[derive(Debug)]
pub struct PlainTensor;

impl ArgType for PlainTensor {
    type Value<'t> = &'t AnyTensor;
    fn get(value: &IValue) -> Option<&AnyTensor> {
        value.as_tensor()
    }
    fn shorten<'s, 'long: 's>(value: &'long AnyTensor) -> &'s AnyTensor {
        value
    }
}

/// `Tensor?`, as it is.
#[derive(Debug)]
pub struct MaybeWhole;

impl ArgType for MaybeWhole {
    type Value<'t> = &'t IValue;
    fn get(value: &IValue) -> Option<&IValue> {
        if matches!(value, IValue::None) { Some(value) } else { Whole::get(value) }
    }
    fn shorten<'s, 'long: 's>(value: &'long IValue) -> &'s IValue {
        value
    }
}

/// What an argument is to an operator.
fn operand(value: &IValue) -> Operand<'_> {
    TensorArg::get(value).unwrap_or(Operand::Absent)
}

/// An error that is one sentence: what an argument is, and what is accepted.
pub(crate) fn rule(rule: &'static str) -> Error {
    ErrorKind::ArgumentRule { rule }.into()
}

/// The argument as a tensor; a number is none.
pub(crate) fn tensor<'a>(value: &'a IValue, arg: &'static str) -> Result<&'a AnyTensor> {
    value.as_tensor().ok_or_else(|| {
        ErrorKind::ArgumentKind { position: 0, arg: arg.into(), got: value.kind_name(), want: "Tensor".into() }.into()
    })
}

/// The argument in another dtype: itself if it has it, or if it is a number, which takes on any.
pub(crate) fn in_dtype(calls: &Calls<'_>, value: &IValue, dtype: DType) -> Result<IValue> {
    match value.as_tensor() {
        Some(t) if t.dtype() != dtype => {
            let to = [value.clone(), dtype.into(), false.into(), false.into(), IValue::None];
            Ok(calls.tensor("to.dtype", to)?.into())
        }
        _ => Ok(value.clone()),
    }
}
