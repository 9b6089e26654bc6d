//! What each operator of monomorph *is*: schema, meta function and formula. Never names a device.
#![forbid(unsafe_code)]

pub mod algebra;
pub mod composite;
pub mod elementwise;
pub mod factories;
#[cfg(feature = "record")]
pub mod record;
pub mod reductions;
pub mod special;
mod std_ops;
pub mod table;
pub mod templates;
pub mod views;

// The modules of families and templates under short paths.
#[doc(hidden)]
pub use composite::{nonzero, typed_join as join};
#[doc(hidden)]
pub use elementwise::*;
#[doc(hidden)]
pub use factories::*;
#[doc(hidden)]
pub use special::*;
pub use templates::{pointwise, reduce, scan, upsample};
#[doc(hidden)]
pub use views::*;

#[doc(hidden)]
pub use monomorph_core as core;

/// Expands to nothing: the record of a formula, which tests compare it with, exists where the feature `record` of this
/// crate is on. Whatever uses the macro needs no `cfg`.
#[cfg(not(feature = "record"))]
#[macro_export]
macro_rules! record {
    ($($record:tt)*) => {};
}

pub use std_ops::StdOps;

/// The device of tensors without data: sizes, strides and dtype only.
pub type Meta = monomorph_core::Meta<StdOps>;

/// The templates of the tree: their kernels are in the device's own table, and not compiled where they are called.
pub mod prebuilt {
    /// A formula as an operator.
    pub type Pointwise<F> = crate::pointwise::Pointwise<F, crate::pointwise::Prebuilt>;
    /// A fold as an operator.
    pub type Reduce<F> = crate::reduce::Reduce<F, crate::pointwise::Prebuilt>;
}

/// The operator of an in-tree formula: its kernel comes from the device's own table.
pub type Op<F> = pointwise::Pointwise<F, pointwise::Prebuilt>;

// Families of operators that compute; those whose operators need of a device its memory and its copy, so that their
// functions ask for no more than `Fills`; those of templates that not every device has.
monomorph_macros::families! { [crate]
    arithmetic: Arithmetic,
    exponential: Exponential,
    logarithmic: Logarithmic,
    trigonometric: Trigonometric,
    hyperbolic: Hyperbolic,
    bessel: Bessel,
    modified_bessel: ModifiedBessel,
    normal: Normal,
    airy: Airy,
    orthogonal: Orthogonal,
    logistic: Logistic,
    polar: Polar,
    gamma: Gamma,
    incomplete_gamma: IncompleteGamma,
    power: Powers,
    activation: Activation,
    glu: Glu,
    piecewise: Piecewise,
    comparison: Comparison,
    extrema: Extrema,
    clamp: Clamp,
    selection: Selection,
    blend: Blend,
    logic: Logic,
    bitwise: Bitwise,
    rounding: Rounding,
    sign: Sign,
    remainder: Remainder,
    neighbours: Neighbours,
    classification: Classification,
    reductions::sum: Sum,
    reductions::mean: Mean,
    reductions::amax: Amax,
    reductions::amin: Amin,
    reductions::any: Any,
    reductions::argmax: Argmax,
    reductions::aminmax: Aminmax,
    upsample: Upsample,
    float_power: FloatPower,
    nonzero: Nonzero,
    memory;
    fill: Fill,
    copies: Copies,
    factory: Factory,
    new_factories: NewFactories,
    matrix_factories: MatrixFactories,
    arange: Arange,
    spaced: Spaced,
    windows: Windows,
    frequencies: Frequencies,
    resize: Resize,
    scatter: Scatter,
    view: View,
    rearrange: Rearrange,
    complex_view: ComplexView,
    parts: Parts,
    composite::shape: CompositeShape,
    composite::join: CompositeJoin,
    partial;
    scan: Scans,
}
pub use kernels::{AllKernels, Kernels};

/// The typed forms of every row: functions, and method traits of the same name.
pub mod functions {
    pub use crate::arange::{
        arange, arange_out, arange_start, arange_start_out, arange_start_step, range, range_out, range_step,
        range_step_out,
    };
    pub use crate::classification::{isclose, isreal};
    pub use crate::complex_view::{complex, complex_out, resolve_conj, resolve_neg};
    pub use crate::copies::{
        clone_tensor, contiguous, flatten, linalg_diagonal, narrow_from, ravel, reshape, reshape_as, to, to_copy,
        to_device, to_dtype, to_other, view_copy,
    };
    pub use crate::factory::{
        empty, empty_like, empty_out, empty_strided, full, full_like, full_out, ones, ones_like, ones_out,
        scalar_tensor, zeros, zeros_like, zeros_out,
    };
    pub use crate::fill::{copy, copy_, fill, fill_, fill_from, fill_from_, zero, zero_};
    pub use crate::float_power::{
        float_power, float_power_, float_power_number, float_power_number_, float_power_number_out, float_power_out,
        float_power_scalar, float_power_scalar_out, ldexp, ldexp_, ldexp_out,
    };
    pub use crate::frequencies::{fft_fftfreq, fft_rfftfreq};
    pub use crate::glu::{glu, glu_backward, glu_backward_out, glu_out};
    pub use crate::join::{
        all_atleast_1d, all_atleast_2d, all_atleast_3d, atleast_1d, atleast_2d, atleast_3d, broadcast_tensors, cat,
        column_stack, concat, concatenate, dstack, ger, hstack, outer, row_stack, stack, type_as, vstack,
    };
    pub use crate::logistic::{log_sigmoid_forward, log_sigmoid_forward_out};
    pub use crate::matrix_factories::{eye, eye_m, eye_m_out, eye_out, tril_indices, triu_indices};
    pub use crate::neighbours::{frexp, frexp_out};
    pub use crate::new_factories::{empty_permuted, new_empty, new_empty_strided, new_full, new_ones, new_zeros};
    pub use crate::nonzero::where_nonzero;
    pub use crate::parts::{tensor_split_from, unsafe_chunk, unsafe_split, unsafe_split_with_sizes};
    pub use crate::piecewise::{prelu, prelu_kernel_backward};
    pub use crate::polar::{polar, polar_out};
    pub use crate::power::{pow_scalar, pow_scalar_out};
    pub use crate::resize::{
        resize, resize_, resize_as, resize_as_, set, set_, set_storage, set_storage_, set_storage_offset,
        set_storage_offset_, set_tensor, set_tensor_, set_tensor_offset_,
    };
    pub use crate::scatter::{as_strided_scatter, diagonal_scatter, select_scatter, slice_scatter};
    pub use crate::selection::{masked_fill, masked_fill_, masked_fill_from, masked_fill_from_};
    pub use crate::sign::{conj_physical, conj_physical_};
    pub use crate::spaced::{linspace, linspace_out, logspace, logspace_out};
    pub use crate::windows::{
        bartlett_window, bartlett_window_periodic, blackman_window, blackman_window_periodic, hamming_window,
        hamming_window_alpha, hamming_window_alpha_beta, hamming_window_periodic, hann_window, hann_window_periodic,
        kaiser_window, kaiser_window_beta, kaiser_window_periodic,
    };

    pub use crate::typed_functions::*;
}

/// Shapes only: every functional form with a meta tensor as its result, for operands of any device.
pub mod meta {
    pub use crate::typed_meta::*;
}

/// Calls checked once and run again and again: every structured operator that has an out= form, with all its arguments.
pub mod prepared {
    pub use crate::typed_prepared::*;
}
