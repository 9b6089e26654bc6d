//! Maxima of windows of one size, and where they are.

use super::sliding::windows;
use super::{Dtypes, Fold, Planes, Pool, Sealed, WindowFn, WindowInputs, WindowPlan, Windowed};
use crate::pointwise::{DomainSet, Real};
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState};
use monomorph_core::{DType, ErrorKind, MemoryFormat, Result};

/// `max_pool2d_with_indices`, `max_pool3d_with_indices`: maxima over `N` dimensions, and if `PLACES` where they are.
pub struct MaxPool<const N: usize, const PLACES: bool = true>;

const REALS: Dtypes = (Real::MASK, Real::WORDS);

impl<const N: usize, const PLACES: bool> Sealed for MaxPool<N, PLACES> {}

impl<const N: usize, const PLACES: bool> WindowFn for MaxPool<N, PLACES> {
    const NAME: &'static str = match (N, PLACES) {
        (2, true) => "max_pool2d_with_indices",
        (2, false) => "max_pool2d",
        (_, true) => "max_pool3d_with_indices",
        _ => "max_pool3d",
    };
    const OUTPUTS: usize = if PLACES { 2 } else { 1 };
    type Parameters<'t> = Pool<'t>;

    fn plan(operands: &[Operand<'_>], pool: &Pool<'_>, sink: &mut SinkState<'_>) -> Result<WindowPlan> {
        let planes = Planes::of(&operands[0], N, "self")?;
        let axes = pool.axes(planes.inner)?;
        planes.check_dtype(REALS)?;
        if N == 3 {
            check_padding(pool)?;
            if planes.format == MemoryFormat::ChannelsLast {
                let rule = "argument self of 4 dimensions is channels_last, which here are depth, height and width; \
                    accepted are contiguous, and channels_last_3d of 5 dimensions";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
        }
        for (i, dtype) in [planes.dtype, DType::I64].into_iter().enumerate().take(Self::OUTPUTS) {
            planes.declare(sink, i, (dtype, &windows(&axes)), planes.format)?;
        }
        Ok(WindowPlan { fold: Fold::Max, axes, ..WindowPlan::default() })
    }
}

/// In three dimensions the padding is at most half of the places of a window, whatever lies between them.
fn check_padding(pool: &Pool<'_>) -> Result<()> {
    let at = |list: &[i64], d: usize| list.get(d).or(list.first()).copied().unwrap_or(0);
    for d in 0..3 {
        let (got, high) = (at(pool.padding, d), at(pool.kernel_size, d) / 2);
        if got > high {
            return Err(ErrorKind::OutOfRange { arg: "padding", got, low: 0, high }.into());
        }
    }
    Ok(())
}

type MaxArgs<'t, A> = (A, &'t [i64], &'t [i64], &'t [i64], &'t [i64], bool);

impl<'t, A: Into<Operand<'t>>> FromArgs<MaxArgs<'t, A>> for WindowInputs<'t, Pool<'t>> {
    fn from_args((this, kernel, stride, padding, dilation, ceil): MaxArgs<'t, A>) -> Result<Self> {
        Ok(WindowInputs::new([this.into()], Pool::maxima(kernel, stride, padding, dilation, ceil)))
    }
}

native! {
    family: Maxima;

    /// The largest element of each window of two dimensions, and its place in the plane.
    ///
    /// The tensor is `[batch, channels, height, width]` or one without a batch; integers and floats. `kernel_size` is
    /// `[height, width]` or one number for both. The options `stride` (the size of a window), `padding`, `dilation` and
    /// `ceil_mode` say how windows lie. NaN is above everything. Places are counted in row-major order.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 5.0], [3.0, 2.0]]];
    /// let (values, indices) = x.max_pool2d_with_indices(&[2])?;
    /// assert_eq!(values.to_vec::<f32>()?, [5.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1]);
    /// ```
    func: max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0,
        int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor),
    out: max_pool2d_with_indices.out as [out, indices], variants: function, method, structured: Windowed<MaxPool<2>>;

    /// The largest element of each window of three dimensions, and its place in the volume.
    ///
    /// The tensor is `[batch, channels, depth, height, width]` or one without a batch; the rest is as for
    /// [`max_pool2d_with_indices`](super::functions::max_pool2d_with_indices).
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 5.0], [3.0, 2.0]]]];
    /// let (values, indices) = x.max_pool3d_with_indices(&[1, 2, 2])?;
    /// assert_eq!(values.to_vec::<f32>()?, [5.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1]);
    /// ```
    func: max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0,
        int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor),
    variants: function, method, structured: Windowed<MaxPool<3>>;
}
