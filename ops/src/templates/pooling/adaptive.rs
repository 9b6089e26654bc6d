//! As many windows as wanted: means, their gradients, and maxima.

use super::averages::check_gradient;
use super::{Divisor, FLOATS, Fold, Layout, Planes, Sealed, WindowAxis, WindowFn, WindowInputs, WindowPlan, Windowed};
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState};
use monomorph_core::{DType, ErrorKind, MemoryFormat, Result};
use smallvec::SmallVec;

/// `_adaptive_avg_pool2d`, `_adaptive_avg_pool3d`: means over `N` dimensions.
pub struct AdaptiveAvg<const N: usize>;

/// `_adaptive_avg_pool2d_backward`, `_adaptive_avg_pool3d_backward`.
pub struct AdaptiveAvgBackward<const N: usize>;

/// `adaptive_max_pool2d`, `adaptive_max_pool3d`: maxima over `N` dimensions.
pub struct AdaptiveMax<const N: usize>;

/// The number of windows of each dimension.
pub struct OutputSize<'t>(&'t [i64]);

/// As many windows of these dimensions.
fn axes(sizes: &[i64], output: &[i64]) -> Result<SmallVec<[WindowAxis; 3]>> {
    if output.len() != sizes.len() {
        return Err(ErrorKind::ListLength { arg: "output_size", got: output.len(), want: sizes.len() }.into());
    }
    if let Some(&got) = output.iter().find(|size| **size < 0) {
        return Err(ErrorKind::OutOfRange { arg: "output_size", got, low: 0, high: i64::MAX }.into());
    }
    let axis = |(&input, &windows)| WindowAxis { input, windows, layout: Layout::Adaptive };
    Ok(sizes.iter().zip(output).map(axis).collect())
}

impl<const N: usize> Sealed for AdaptiveAvg<N> {}

impl<const N: usize> WindowFn for AdaptiveAvg<N> {
    const NAME: &'static str = if N == 2 { "_adaptive_avg_pool2d" } else { "_adaptive_avg_pool3d" };
    const OUTPUTS: usize = 1;
    type Parameters<'t> = OutputSize<'t>;

    fn plan(operands: &[Operand<'_>], size: &OutputSize<'_>, sink: &mut SinkState<'_>) -> Result<WindowPlan> {
        // Of two dimensions PyTorch takes tensors without channels, of three it does not.
        let leading = operands[0].sizes().len().saturating_sub(if N == 2 { N } else { N + 1 });
        let planes = Planes::with_empty(&operands[0], N, "self", leading)?;
        let axes = axes(planes.inner, size.0)?;
        planes.check_dtype(FLOATS)?;
        let format = if N == 2 { planes.format } else { MemoryFormat::Contiguous };
        planes.declare(sink, 0, (planes.dtype, size.0), format)?;
        Ok(WindowPlan { fold: Fold::Mean(Divisor::Sizes), axes, ..WindowPlan::default() })
    }
}

impl<const N: usize> Sealed for AdaptiveAvgBackward<N> {}

impl<const N: usize> WindowFn for AdaptiveAvgBackward<N> {
    const NAME: &'static str = if N == 2 { "_adaptive_avg_pool2d_backward" } else { "_adaptive_avg_pool3d_backward" };
    const OUTPUTS: usize = 1;
    type Parameters<'t> = ();

    fn plan(operands: &[Operand<'_>], _: &(), sink: &mut SinkState<'_>) -> Result<WindowPlan> {
        let planes = Planes::of(&operands[1], N, "self")?;
        let gradient = Planes::of(&operands[0], N, "grad_output")?;
        let axes = axes(planes.inner, gradient.inner)?;
        planes.check_dtype(FLOATS)?;
        check_gradient(&operands[0], &planes, gradient.inner)?;
        let format = if N == 2 { planes.format } else { MemoryFormat::Contiguous };
        planes.declare(sink, 0, (planes.dtype, planes.inner), format)?;
        Ok(WindowPlan { fold: Fold::Spread(Divisor::Sizes), axes, ..WindowPlan::default() })
    }
}

impl<const N: usize> Sealed for AdaptiveMax<N> {}

impl<const N: usize> WindowFn for AdaptiveMax<N> {
    const NAME: &'static str = if N == 2 { "adaptive_max_pool2d" } else { "adaptive_max_pool3d" };
    const OUTPUTS: usize = 2;
    type Parameters<'t> = OutputSize<'t>;

    fn plan(operands: &[Operand<'_>], size: &OutputSize<'_>, sink: &mut SinkState<'_>) -> Result<WindowPlan> {
        let planes = Planes::of(&operands[0], N, "self")?;
        let axes = axes(planes.inner, size.0)?;
        planes.check_dtype(FLOATS)?;
        let format = if N == 2 { planes.format } else { MemoryFormat::Contiguous };
        for (i, dtype) in [planes.dtype, DType::I64].into_iter().enumerate() {
            planes.declare(sink, i, (dtype, size.0), format)?;
        }
        Ok(WindowPlan { fold: Fold::Max, axes, ..WindowPlan::default() })
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, &'t [i64])> for WindowInputs<'t, OutputSize<'t>> {
    fn from_args((this, size): (A, &'t [i64])) -> Result<Self> {
        Ok(WindowInputs::new([this.into()], OutputSize(size)))
    }
}

impl<'t, A: Into<Operand<'t>>, B: Into<Operand<'t>>> FromArgs<(A, B)> for WindowInputs<'t, ()> {
    fn from_args((gradient, this): (A, B)) -> Result<Self> {
        Ok(WindowInputs::new([gradient.into(), this.into()], ()))
    }
}

native! {
    family: AdaptivePools;

    func: _adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor,
    autogen: _adaptive_avg_pool2d.out, structured: Windowed<AdaptiveAvg<2>>;

    func: _adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor,
    autogen: _adaptive_avg_pool3d.out, structured: Windowed<AdaptiveAvg<3>>;

    func: _adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor,
    autogen: _adaptive_avg_pool2d_backward.out, structured: Windowed<AdaptiveAvgBackward<2>>;

    func: _adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor,
    autogen: _adaptive_avg_pool3d_backward.out, structured: Windowed<AdaptiveAvgBackward<3>>;

    /// The largest elements of as many windows of two dimensions as `output_size` says, and their places in the plane.
    ///
    /// The tensor is `[batch, channels, height, width]` or one without a batch, of floats. NaN is above everything.
    /// Places are counted in row-major order.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 5.0, 3.0, 2.0]]];
    /// let (values, indices) = x.adaptive_max_pool2d(&[1, 2])?;
    /// assert_eq!(values.to_vec::<f32>()?, [5.0, 3.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 2]);
    /// ```
    func: adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor),
    out: adaptive_max_pool2d.out as [out, indices], variants: function, method, structured: Windowed<AdaptiveMax<2>>;

    /// The largest elements of as many windows of three dimensions as `output_size` says, and their places.
    ///
    /// The tensor is `[batch, channels, depth, height, width]` or one without a batch, of floats. NaN is above
    /// everything. Places are counted in row-major order.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 5.0, 3.0, 2.0]]]];
    /// let (values, indices) = x.adaptive_max_pool3d(&[1, 1, 2])?;
    /// assert_eq!(values.to_vec::<f32>()?, [5.0, 3.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 2]);
    /// ```
    func: adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor),
    out: adaptive_max_pool3d.out as [out, indices], variants: function, method, structured: Windowed<AdaptiveMax<3>>;
}
