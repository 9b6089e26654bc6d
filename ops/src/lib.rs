//! What each operator of monomorph *is*: schema, meta function and formula. Never names a device.
#![forbid(unsafe_code)]

pub mod activation;
pub mod algebra;
pub mod arange;
pub mod arithmetic;
pub mod comparison;
pub mod complex_view;
pub mod copies;
pub mod exponential;
pub mod factory;
pub mod fill;
pub mod logic;
pub mod nonzero;
pub mod parts;
pub mod pointwise;
pub mod power;
pub mod rearrange;
pub mod record;
pub mod reduce;
pub mod table;
pub mod upsample;
pub mod view;

#[doc(hidden)]
pub use monomorph_core as core;

/// The operator of an in-tree formula: its kernel comes from the device's own table.
pub type Op<F> = pointwise::Pointwise<F, pointwise::Prebuilt>;

/// The bounds of code that is generic over the device: everything in the table runs on it.
pub mod kernels {
    crate::__arithmetic_rows! { __kernels_trait Arithmetic }
    crate::__exponential_rows! { __kernels_trait Exponential }
    crate::__power_rows! { __kernels_trait Powers }
    crate::__activation_rows! { __kernels_trait Activation }
    crate::__comparison_rows! { __kernels_trait Comparison }
    crate::__logic_rows! { __kernels_trait Logic }
    crate::__fill_rows! { __kernels_trait Fill }
    crate::__sum_rows! { __kernels_trait Sum }
    crate::__mean_rows! { __kernels_trait Mean }
    crate::__amax_rows! { __kernels_trait Amax }
    crate::__amin_rows! { __kernels_trait Amin }
    crate::__any_rows! { __kernels_trait Any }
    crate::__argmax_rows! { __kernels_trait Argmax }
    crate::__aminmax_rows! { __kernels_trait Aminmax }
    crate::__upsample_rows! { __kernels_trait Upsample }

    /// A device that executes every operator of the table.
    pub trait Kernels:
        Arithmetic
        + Exponential
        + Powers
        + Activation
        + Comparison
        + Logic
        + Fill
        + Sum
        + Mean
        + Amax
        + Amin
        + Any
        + Argmax
        + Aminmax
        + Upsample
    {
    }
    impl<D> Kernels for D where
        D: Arithmetic
            + Exponential
            + Powers
            + Activation
            + Comparison
            + Logic
            + Fill
            + Sum
            + Mean
            + Amax
            + Amin
            + Any
            + Argmax
            + Aminmax
            + Upsample
    {
    }
}
pub use kernels::Kernels;

/// The typed forms of every row: functions, and method traits of the same name.
pub mod functions {
    pub use crate::arange::{arange, arange_out, arange_start, arange_start_out, arange_start_step};
    pub use crate::complex_view::{resolve_conj, resolve_neg};
    pub use crate::copies::{
        clone_tensor, contiguous, flatten, linalg_diagonal, narrow_from, ravel, reshape, reshape_as, to, to_device,
        to_dtype, to_other,
    };
    pub use crate::factory::{
        empty, empty_like, empty_out, empty_strided, full, full_like, full_out, ones, ones_like, ones_out,
        scalar_tensor, zeros, zeros_like, zeros_out,
    };
    pub use crate::fill::{copy, copy_, fill, fill_, fill_from, fill_from_};
    pub use crate::nonzero::where_nonzero;
    pub use crate::parts::tensor_split_from;

    crate::op_table! { __functions }
}

/// Shapes only: every functional form with a meta tensor as its result, for operands of any device.
pub mod meta {
    crate::op_table! { __meta_functions }
}

/// Calls checked once and run again and again: every structured operator that has an out= form, with all its arguments.
pub mod prepared {
    crate::op_table! { __prepared_functions }
}
