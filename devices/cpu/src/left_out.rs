//! What a build leaves out: kernels on dtypes that not every program computes with. Tensors of these dtypes exist all
//! the same, and are made, moved, viewed and converted.

use monomorph_core::dispatch::DispatchError;
use monomorph_core::{DType, ErrorKind};

/// The feature that has the kernels on `dtype`, where this build lacks it.
pub(crate) const fn left_out(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::F16 | DType::BF16 if cfg!(not(feature = "halves")) => Some("halves"),
        DType::C64 | DType::C128 if cfg!(not(feature = "complex")) => Some("complex"),
        _ => None,
    }
}

/// The error of an operator that has no kernel for `dtype`: it is left out, or outside of the operator's domain.
#[cold]
pub(crate) fn no_kernel(dtype: DType, accepted: &'static str) -> ErrorKind {
    match left_out(dtype) {
        Some(feature) => ErrorKind::Dispatch(DispatchError::DTypeLeftOut { dtype, feature }),
        None => ErrorKind::DTypeNotSupported { what: "no kernel is compiled for", got: dtype, accepted },
    }
}
