//! Means of windows of one size, and their gradients.
#![allow(clippy::too_many_arguments, reason = "prepared calls take all arguments of the schema")]

use super::sliding::windows;
use super::{
    Divisor, Dtypes, Fold, Planes, Pool, Sealed, WindowAxis, WindowFn, WindowInputs, WindowPlan, Windowed, mask,
};
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState};
use monomorph_core::{DType, ErrorKind, MemoryFormat, Result};

/// `avg_pool2d`, `avg_pool3d`: means over `N` dimensions.
pub struct AvgPool<const N: usize>;

/// `avg_pool2d_backward`, `avg_pool3d_backward`.
pub struct AvgPoolBackward<const N: usize>;

const PLANAR: Dtypes =
    (mask(&[DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64]), "int64 and floating dtypes");
const SOLID: Dtypes = (mask(&[DType::I64, DType::F32, DType::F64]), "int64, float32 and float64");

/// The windows, if the operator takes them on these planes.
fn axes(planes: &Planes<'_>, pool: &Pool<'_>) -> Result<(smallvec::SmallVec<[WindowAxis; 3]>, Divisor)> {
    planes.check_dtype(if planes.inner.len() == 2 { PLANAR } else { SOLID })?;
    let axes = pool.axes(planes.inner)?;
    if planes.inner.len() == 3 {
        let at = |d: usize| pool.kernel_size.get(d).or(pool.kernel_size.first()).copied().unwrap_or(1);
        for (d, &input) in planes.inner.iter().enumerate() {
            if at(d) > input {
                return Err(ErrorKind::OutOfRange { arg: "kernel_size", got: at(d), low: 1, high: input }.into());
            }
            if let Some(got) = pool.padding.get(d).or(pool.padding.first()).copied().filter(|p| *p > at(d) / 2) {
                return Err(ErrorKind::OutOfRange { arg: "padding", got, low: 0, high: at(d) / 2 }.into());
            }
        }
    }
    Ok((axes, pool.divisor_override.map_or(Divisor::Size, Divisor::Fixed)))
}

/// The format of a new output: that of the input, in two dimensions.
fn format(planes: &Planes<'_>) -> MemoryFormat {
    if planes.inner.len() == 2 { planes.format } else { MemoryFormat::Contiguous }
}

impl<const N: usize> Sealed for AvgPool<N> {}

impl<const N: usize> WindowFn for AvgPool<N> {
    const NAME: &'static str = if N == 2 { "avg_pool2d" } else { "avg_pool3d" };
    const OUTPUTS: usize = 1;
    type Parameters<'t> = Pool<'t>;

    fn plan(operands: &[Operand<'_>], pool: &Pool<'_>, sink: &mut SinkState<'_>) -> Result<WindowPlan> {
        let planes = Planes::of(&operands[0], N, "self")?;
        let (axes, divisor) = axes(&planes, pool)?;
        planes.declare(sink, 0, (planes.dtype, &windows(&axes)), format(&planes))?;
        Ok(WindowPlan { fold: Fold::Mean(divisor), axes, ..WindowPlan::default() })
    }
}

impl<const N: usize> Sealed for AvgPoolBackward<N> {}

impl<const N: usize> WindowFn for AvgPoolBackward<N> {
    const NAME: &'static str = if N == 2 { "avg_pool2d_backward" } else { "avg_pool3d_backward" };
    const OUTPUTS: usize = 1;
    type Parameters<'t> = Pool<'t>;

    fn plan(operands: &[Operand<'_>], pool: &Pool<'_>, sink: &mut SinkState<'_>) -> Result<WindowPlan> {
        let planes = Planes::of(&operands[1], N, "self")?;
        let (axes, divisor) = axes(&planes, pool)?;
        check_gradient(&operands[0], &planes, &windows(&axes))?;
        planes.declare(sink, 0, (planes.dtype, planes.inner), format(&planes))?;
        Ok(WindowPlan { fold: Fold::Spread(divisor), axes, ..WindowPlan::default() })
    }
}

/// An error if the gradient has not the sizes of the output, or another dtype than the input.
pub(super) fn check_gradient(gradient: &Operand<'_>, planes: &Planes<'_>, inner: &[i64]) -> Result<()> {
    let want: Vec<i64> = planes.outer.iter().chain(inner).copied().collect();
    if gradient.sizes() != want {
        return Err(ErrorKind::UnequalSizes { arg: "grad_output", got: gradient.sizes().to_vec(), want }.into());
    }
    match gradient.dtype() {
        Some(got) if got != planes.dtype => {
            Err(ErrorKind::DTypeMismatch { arg: "grad_output", got, want: planes.dtype }.into())
        }
        _ => Ok(()),
    }
}

type AvgArgs<'t, A> = (A, &'t [i64], &'t [i64], &'t [i64], bool, bool, Option<i64>);

impl<'t> Pool<'t> {
    /// Windows of means.
    fn means(
        (kernel_size, stride, padding): (&'t [i64], &'t [i64], &'t [i64]),
        ceil_mode: bool,
        counts_padding: bool,
        divisor_override: Option<i64>,
    ) -> Pool<'t> {
        Pool { kernel_size, stride, padding, dilation: &[1], ceil_mode, counts_padding, divisor_override }
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<AvgArgs<'t, A>> for WindowInputs<'t, Pool<'t>> {
    fn from_args((this, kernel, stride, padding, ceil, counts, divisor): AvgArgs<'t, A>) -> Result<Self> {
        Ok(WindowInputs::new([this.into()], Pool::means((kernel, stride, padding), ceil, counts, divisor)))
    }
}

type AvgBackwardArgs<'t, A, B> = (A, B, &'t [i64], &'t [i64], &'t [i64], bool, bool, Option<i64>);

impl<'t, A, B> FromArgs<AvgBackwardArgs<'t, A, B>> for WindowInputs<'t, Pool<'t>>
where
    A: Into<Operand<'t>>,
    B: Into<Operand<'t>>,
{
    fn from_args(
        (grad, this, kernel, stride, padding, ceil, counts, divisor): AvgBackwardArgs<'t, A, B>,
    ) -> Result<Self> {
        let pool = Pool::means((kernel, stride, padding), ceil, counts, divisor);
        Ok(WindowInputs::new([grad.into(), this.into()], pool))
    }
}

native! {
    family: Averages;

    /// The mean of each window of two dimensions.
    ///
    /// The tensor is `[batch, channels, height, width]` or one without a batch; floats and int64. `kernel_size` is
    /// `[height, width]` or one number for both. The options `stride` (the size of a window), `padding` and `ceil_mode`
    /// say how windows lie; `count_include_pad` whether zeros of the padding count; `divisor_override` is what sums are
    /// divided by instead.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 5.0], [3.0, 2.0]]];
    /// assert_eq!(x.avg_pool2d(&[1, 2])?.to_vec::<f32>()?, [3.0, 2.5]);
    /// ```
    func: avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
        bool count_include_pad=True, int? divisor_override=None) -> Tensor,
    out: avg_pool2d.out, variants: function, method, structured: Windowed<AvgPool<2>>;

    /// The mean of each window of three dimensions.
    ///
    /// The tensor is `[batch, channels, depth, height, width]` or one without a batch; float32, float64 and int64. The
    /// rest is as for [`avg_pool2d`](super::functions::avg_pool2d).
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 5.0], [3.0, 2.0]]]];
    /// assert_eq!(x.avg_pool3d(&[1, 1, 2])?.to_vec::<f32>()?, [3.0, 2.5]);
    /// ```
    func: avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False,
        bool count_include_pad=True, int? divisor_override=None) -> Tensor,
    out: avg_pool3d.out, variants: function, method, structured: Windowed<AvgPool<3>>;

    func: avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding,
        bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor,
    out: avg_pool2d_backward.grad_input, structured: Windowed<AvgPoolBackward<2>>;

    func: avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding,
        bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor,
    out: avg_pool3d_backward.grad_input, structured: Windowed<AvgPoolBackward<3>>;
}
