//! The operators that resample: names, modes, and the arguments that they take.

use super::sized::Sized;
use super::{Mode, ResampleFn, ResampleInputs, Resampled, Resizing, Sealed};
use crate::table::native;
use monomorph_core::Result;
use monomorph_core::strides::check_ndim;
use monomorph_core::structured::{FromArgs, Operand};

macro_rules! operators {
    ($($op:ident: $name:literal, $mode:ident, $dims:literal, $backward:literal;)*) => {$(
        #[doc = concat!("`", $name, "`.")]
        pub struct $op;
        impl Sealed for $op {}
        impl ResampleFn for $op {
            const NAME: &'static str = $name;
            const MODE: Mode = Mode::$mode;
            const DIMS: usize = $dims;
            const BACKWARD: bool = $backward;
        }
    )*};
}
operators! {
    UpsampleNearest1dBackward: "upsample_nearest1d_backward", Nearest, 1, true;
    UpsampleNearest2d: "upsample_nearest2d", Nearest, 2, false;
    UpsampleNearest2dBackward: "upsample_nearest2d_backward", Nearest, 2, true;
    UpsampleNearest3d: "upsample_nearest3d", Nearest, 3, false;
    UpsampleNearest3dBackward: "upsample_nearest3d_backward", Nearest, 3, true;
    UpsampleNearestExact1d: "_upsample_nearest_exact1d", NearestExact, 1, false;
    UpsampleNearestExact1dBackward: "_upsample_nearest_exact1d_backward", NearestExact, 1, true;
    UpsampleNearestExact2d: "_upsample_nearest_exact2d", NearestExact, 2, false;
    UpsampleNearestExact2dBackward: "_upsample_nearest_exact2d_backward", NearestExact, 2, true;
    UpsampleNearestExact3d: "_upsample_nearest_exact3d", NearestExact, 3, false;
    UpsampleNearestExact3dBackward: "_upsample_nearest_exact3d_backward", NearestExact, 3, true;
    UpsampleLinear1d: "upsample_linear1d", Linear, 1, false;
    UpsampleLinear1dBackward: "upsample_linear1d_backward", Linear, 1, true;
    UpsampleBilinear2d: "upsample_bilinear2d", Linear, 2, false;
    UpsampleBilinear2dBackward: "upsample_bilinear2d_backward", Linear, 2, true;
    UpsampleTrilinear3d: "upsample_trilinear3d", Linear, 3, false;
    UpsampleTrilinear3dBackward: "upsample_trilinear3d_backward", Linear, 3, true;
    UpsampleBicubic2d: "upsample_bicubic2d", Cubic, 2, false;
    UpsampleBicubic2dBackward: "upsample_bicubic2d_backward", Cubic, 2, true;
    UpsampleBilinear2dAa: "_upsample_bilinear2d_aa", SmoothLinear, 2, false;
    UpsampleBilinear2dAaBackward: "_upsample_bilinear2d_aa_backward", SmoothLinear, 2, true;
    UpsampleBicubic2dAa: "_upsample_bicubic2d_aa", SmoothCubic, 2, false;
    UpsampleBicubic2dAaBackward: "_upsample_bicubic2d_aa_backward", SmoothCubic, 2, true;
    UpsampleLanczos2dAa: "_upsample_lanczos2d_aa", SmoothLanczos, 2, false;
    UpsampleLanczos2dAaBackward: "_upsample_lanczos2d_aa_backward", SmoothLanczos, 2, true;
}

/// The arguments of a call.
fn inputs<'t>(
    operand: impl Into<Operand<'t>>,
    (output_size, input_size): (&'t [i64], Option<&'t [i64]>),
    align_corners: bool,
    given: &[Option<f64>],
) -> Result<ResampleInputs<'t>> {
    check_ndim(output_size.len())?;
    let scale = |d: usize| given.get(d).copied().flatten();
    let scales = [scale(0), scale(1), scale(2)];
    let resizing = Resizing { output_size: output_size.into(), input_size, align_corners, scales };
    Ok(ResampleInputs::new(operand.into(), resizing))
}

/// The arguments of operators as tuples, for each number of scales: forward and of the gradient, without
/// `align_corners` and with it.
macro_rules! arguments {
    ($($($scale:ident: $ty:ty),*;)*) => {$(
        impl<'t, A: Into<Operand<'t>>> FromArgs<(A, &'t [i64], $($ty),*)> for ResampleInputs<'t> {
            fn from_args((this, output, $($scale),*): (A, &'t [i64], $($ty),*)) -> Result<Self> {
                inputs(this, (output, None), false, &[$($scale),*])
            }
        }
        impl<'t, A: Into<Operand<'t>>> FromArgs<(A, &'t [i64], bool, $($ty),*)> for ResampleInputs<'t> {
            fn from_args((this, output, align, $($scale),*): (A, &'t [i64], bool, $($ty),*)) -> Result<Self> {
                inputs(this, (output, None), align, &[$($scale),*])
            }
        }
        impl<'t, A: Into<Operand<'t>>> FromArgs<(A, &'t [i64], &'t [i64], $($ty),*)> for ResampleInputs<'t> {
            fn from_args((grad, output, input, $($scale),*): (A, &'t [i64], &'t [i64], $($ty),*)) -> Result<Self> {
                inputs(grad, (output, Some(input)), false, &[$($scale),*])
            }
        }
        impl<'t, A: Into<Operand<'t>>> FromArgs<(A, &'t [i64], &'t [i64], bool, $($ty),*)> for ResampleInputs<'t> {
            fn from_args(
                (grad, output, input, align, $($scale),*): (A, &'t [i64], &'t [i64], bool, $($ty),*),
            ) -> Result<Self> {
                inputs(grad, (output, Some(input)), align, &[$($scale),*])
            }
        }
    )*};
}
arguments! {
    a: Option<f64>;
    a: Option<f64>, b: Option<f64>;
    a: Option<f64>, b: Option<f64>, c: Option<f64>;
}

native! {
    family: Resamples;

    func: upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size,
        float? scales=None) -> Tensor,
    out: upsample_nearest1d_backward.grad_input, structured: Resampled<UpsampleNearest1dBackward>;

    /// Resizes the last two dimensions to `output_size` by the nearest element.
    ///
    /// The tensor is `[batch, channels, height, width]`, of floats or uint8. The options `scales_h` and `scales_w` are
    /// the factors of which sizes were computed.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 2.0]]]];
    /// assert_eq!(x.upsample_nearest2d([1, 4])?.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
    /// ```
    func: upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor,
    out: upsample_nearest2d.out, variants: function, structured: Resampled<UpsampleNearest2d>;

    func: upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
        float? scales_h=None, float? scales_w=None) -> Tensor,
    out: upsample_nearest2d_backward.grad_input, structured: Resampled<UpsampleNearest2dBackward>;

    /// Resizes the last three dimensions to `output_size` by the nearest element.
    ///
    /// The tensor is `[batch, channels, depth, height, width]`, of floats or uint8. The options are the factors of
    /// which sizes were computed.
    ///
    /// ```
    /// let x = tensor![[[[[1.0f32, 2.0]]]]];
    /// assert_eq!(x.upsample_nearest3d([1, 1, 4])?.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
    /// ```
    func: upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: upsample_nearest3d.out, variants: function, structured: Resampled<UpsampleNearest3d>;

    func: upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size,
        float? scales_d=None, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: upsample_nearest3d_backward.grad_input, structured: Resampled<UpsampleNearest3dBackward>;

    func: _upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor,
    out: _upsample_nearest_exact1d.out, structured: Resampled<UpsampleNearestExact1d>;

    func: _upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size,
        float? scales=None) -> Tensor,
    out: _upsample_nearest_exact1d_backward.grad_input, structured: Resampled<UpsampleNearestExact1dBackward>;

    func: _upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None)
        -> Tensor,
    out: _upsample_nearest_exact2d.out, structured: Resampled<UpsampleNearestExact2d>;

    func: _upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
        float? scales_h=None, float? scales_w=None) -> Tensor,
    out: _upsample_nearest_exact2d_backward.grad_input, structured: Resampled<UpsampleNearestExact2dBackward>;

    func: _upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: _upsample_nearest_exact3d.out, structured: Resampled<UpsampleNearestExact3d>;

    func: _upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size,
        float? scales_d=None, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: _upsample_nearest_exact3d_backward.grad_input, structured: Resampled<UpsampleNearestExact3dBackward>;

    /// Resizes the last dimension to `output_size`, elements between those of the input by their distances.
    ///
    /// The tensor is `[batch, channels, width]`, of floats. With `align_corners` the first elements and the last ones
    /// lie upon each other. The option `scales` is the factor of which the size was computed.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 2.0]]];
    /// assert_eq!(x.upsample_linear1d([3], true)?.to_vec::<f32>()?, [1.0, 1.5, 2.0]);
    /// ```
    func: upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor,
    out: upsample_linear1d.out, variants: function, structured: Resampled<UpsampleLinear1d>;

    func: upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size,
        bool align_corners, float? scales=None) -> Tensor,
    out: upsample_linear1d_backward.grad_input, structured: Resampled<UpsampleLinear1dBackward>;

    /// Resizes the last two dimensions to `output_size`, elements between those of the input by their distances.
    ///
    /// The tensor is `[batch, channels, height, width]`, of floats or uint8. With `align_corners` the first elements
    /// and the last ones lie upon each other. The options `scales_h` and `scales_w` are the factors of which sizes were
    /// computed.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 2.0]]]];
    /// assert_eq!(x.upsample_bilinear2d([1, 3], true)?.to_vec::<f32>()?, [1.0, 1.5, 2.0]);
    /// ```
    func: upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: upsample_bilinear2d.out, variants: function, structured: Resampled<UpsampleBilinear2d>;

    func: upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
        bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor,
    out: upsample_bilinear2d_backward.grad_input, structured: Resampled<UpsampleBilinear2dBackward>;

    /// Resizes the last three dimensions to `output_size`, elements between those of the input by their distances.
    ///
    /// The tensor is `[batch, channels, depth, height, width]`, of floats. With `align_corners` the first elements and
    /// the last ones lie upon each other. The options are the factors of which sizes were computed.
    ///
    /// ```
    /// let x = tensor![[[[[1.0f32, 2.0]]]]];
    /// assert_eq!(x.upsample_trilinear3d([1, 1, 3], true)?.to_vec::<f32>()?, [1.0, 1.5, 2.0]);
    /// ```
    func: upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None,
        float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: upsample_trilinear3d.out, variants: function, structured: Resampled<UpsampleTrilinear3d>;

    func: upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size,
        bool align_corners, float? scales_d=None, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: upsample_trilinear3d_backward.grad_input, structured: Resampled<UpsampleTrilinear3dBackward>;

    /// Resizes the last two dimensions to `output_size` by cubic convolution of four elements each.
    ///
    /// The tensor is `[batch, channels, height, width]`, of floats or uint8. With `align_corners` the first elements
    /// and the last ones lie upon each other. The options `scales_h` and `scales_w` are the factors of which sizes were
    /// computed.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 2.0]]]];
    /// assert_eq!(x.upsample_bicubic2d([1, 3], true)?.to_vec::<f32>()?, [1.0, 1.5, 2.0]);
    /// ```
    func: upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: upsample_bicubic2d.out, variants: function, structured: Resampled<UpsampleBicubic2d>;

    func: upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
        bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor,
    out: upsample_bicubic2d_backward.grad_input, structured: Resampled<UpsampleBicubic2dBackward>;

    func: _upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: _upsample_bilinear2d_aa.out, structured: Resampled<UpsampleBilinear2dAa>;

    func: _upsample_bilinear2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
        bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor,
    out: _upsample_bilinear2d_aa_backward.grad_input, structured: Resampled<UpsampleBilinear2dAaBackward>;

    func: _upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: _upsample_bicubic2d_aa.out, structured: Resampled<UpsampleBicubic2dAa>;

    func: _upsample_bicubic2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
        bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor,
    out: _upsample_bicubic2d_aa_backward.grad_input, structured: Resampled<UpsampleBicubic2dAaBackward>;

    func: _upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
        float? scales_w=None) -> Tensor,
    out: _upsample_lanczos2d_aa.out, structured: Resampled<UpsampleLanczos2dAa>;

    func: _upsample_lanczos2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
        bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor,
    out: _upsample_lanczos2d_aa_backward.grad_input, structured: Resampled<UpsampleLanczos2dAaBackward>;

    func: upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor,
    autogen: upsample_nearest2d.vec_out, operator: Sized<UpsampleNearest2d>;

    func: upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor,
    operator: Sized<UpsampleNearest3d>;

    func: _upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor,
    operator: Sized<UpsampleNearestExact1d>;

    func: _upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor,
    operator: Sized<UpsampleNearestExact2d>;

    func: _upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor,
    operator: Sized<UpsampleNearestExact3d>;

    func: upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors)
        -> Tensor,
    operator: Sized<UpsampleLinear1d>;

    func: upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors)
        -> Tensor,
    autogen: upsample_bilinear2d.vec_out, operator: Sized<UpsampleBilinear2d>;

    func: upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors)
        -> Tensor,
    operator: Sized<UpsampleTrilinear3d>;

    func: upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors)
        -> Tensor,
    operator: Sized<UpsampleBicubic2d>;

    func: _upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
        float[]? scale_factors) -> Tensor,
    operator: Sized<UpsampleBilinear2dAa>;

    func: _upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
        float[]? scale_factors) -> Tensor,
    operator: Sized<UpsampleBicubic2dAa>;

    func: _upsample_lanczos2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
        float[]? scale_factors) -> Tensor,
    operator: Sized<UpsampleLanczos2dAa>;
}
