//! What follows from the operators on windows: maxima without their places, one dimension, means of all that there is.

use super::adaptive::{AdaptiveAvg, AdaptiveMax};
use super::averages::AvgPool;
use super::maxima::MaxPool;
use super::{WindowFn, WindowInputs, Windowed};
use crate::copies::clone_tensor;
use crate::functions::mean_with;
use crate::kernels::AllKernels;
use crate::options::Mean;
use crate::table::native;
use crate::table::{write_outs, write_restrided};
use crate::view;
use monomorph_core::strides::{contiguous_strides, suggest_format};
use monomorph_core::structured::{Executes, FromArgs, Functional, Out, call};
use monomorph_core::{Error, ErrorKind, MemoryFormat, Result, Tensor, observe};
use smallvec::SmallVec;

type Pair<D> = (Tensor<D>, Tensor<D>);

/// The two outputs of an operator.
fn two<'t, F, D, Args>(args: Args) -> Result<Pair<D>>
where
    F: WindowFn,
    D: AllKernels + Executes<Windowed<F>>,
    WindowInputs<'t, F::Parameters<'t>>: FromArgs<Args>,
{
    let [values, places] = call::<Windowed<F>, D, _>(&FromArgs::from_args(args)?, Functional::default())?;
    Ok((values, places))
}

/// The output of an operator.
fn one<'t, F, D, Args>(args: Args) -> Result<Tensor<D>>
where
    F: WindowFn,
    D: AllKernels + Executes<Windowed<F>>,
    WindowInputs<'t, F::Parameters<'t>>: FromArgs<Args>,
{
    let [values] = call::<Windowed<F>, D, _>(&FromArgs::from_args(args)?, Functional::default())?;
    Ok(values)
}

/// `max_pool2d`.
pub fn max_pool2d<D: AllKernels>(
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("max_pool2d", [this.geometry()]);
    let args = (this, kernel_size, stride, padding, dilation, ceil_mode);
    one::<MaxPool<2, false>, D, _>(args).map_err(|e| e.called("max_pool2d"))
}

/// `max_pool3d`.
pub fn max_pool3d<D: AllKernels>(
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("max_pool3d", [this.geometry()]);
    let args = (this, kernel_size, stride, padding, dilation, ceil_mode);
    one::<MaxPool<3, false>, D, _>(args).map_err(|e| e.called("max_pool3d"))
}

/// `max_pool3d_with_indices.out`: with a batch, outputs get the format of the input whatever they had, as in PyTorch.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn max_pool3d_with_indices_out<D: AllKernels>(
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
    out: &mut Tensor<D>,
    indices: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("max_pool3d_with_indices", [this.geometry()]);
    let mut write = || {
        let (values, places) = two::<MaxPool<3>, D, _>((this, kernel_size, stride, padding, dilation, ceil_mode))?;
        match this.ndim() {
            5 => write_restrided(&[&values, &places], &mut [out, indices]),
            _ => write_outs(&[values, places], &mut [out, indices]),
        }
    };
    write().map_err(|e: Error| e.called("max_pool3d_with_indices"))
}

/// A tensor of rows as one of planes: each of one row with a dimension -2 of one, and with -3 of one of all channels.
fn as_planes<D: AllKernels>(this: &Tensor<D>, dim: i64) -> Result<Tensor<D>> {
    if !(2..=3).contains(&this.ndim()) {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "2 or 3" }.into());
    }
    this.with_geometry(view::unsqueeze(this.geometry(), dim)?)
}

/// The rows of such planes.
fn as_rows<D: AllKernels>(planes: &Tensor<D>, dim: i64) -> Result<Tensor<D>> {
    planes.with_geometry(view::squeeze_dim(planes.geometry(), dim)?)
}

/// A parameter of rows as one of planes.
fn planar(arg: &'static str, list: &[i64], of_rows: i64) -> Result<SmallVec<[i64; 2]>> {
    match list {
        [] if arg == "stride" => Ok(SmallVec::new()),
        &[size] => Ok(SmallVec::from_buf([of_rows, size])),
        _ => Err(ErrorKind::ListLength { arg, got: list.len(), want: 1 }.into()),
    }
}

/// The parameters of maxima of rows as those of planes: sizes of windows, distances, padding and dilation.
fn planar_maxima([kernel_size, stride, padding, dilation]: [&[i64]; 4]) -> Result<[SmallVec<[i64; 2]>; 4]> {
    let (kernel_size, stride) = (planar("kernel_size", kernel_size, 1)?, planar("stride", stride, 1)?);
    Ok([kernel_size, stride, planar("padding", padding, 0)?, planar("dilation", dilation, 1)?])
}

/// `max_pool1d_with_indices`.
pub fn max_pool1d_with_indices<D: AllKernels>(
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Pair<D>> {
    let _span = observe::operator("max_pool1d_with_indices", [this.geometry()]);
    let make = || {
        let planes = as_planes(this, -2)?;
        let [kernel_size, stride, padding, dilation] = &planar_maxima([kernel_size, stride, padding, dilation])?;
        let args = (&planes, &**kernel_size, &**stride, &**padding, &**dilation, ceil_mode);
        let (values, places) = two::<MaxPool<2>, D, _>(args)?;
        Ok((as_rows(&values, -2)?, as_rows(&places, -2)?))
    };
    make().map_err(|e: Error| e.called("max_pool1d_with_indices"))
}

/// `max_pool1d`.
pub fn max_pool1d<D: AllKernels>(
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("max_pool1d", [this.geometry()]);
    let make = || {
        // Without places the channels can be the rows of one plane, which takes less than a plane for each.
        let is_one = this.numel() > 0 && u32::try_from(this.numel()).is_ok();
        let dim = if is_one { -3 } else { -2 };
        let planes = as_planes(this, dim)?;
        let [kernel_size, stride, padding, dilation] = &planar_maxima([kernel_size, stride, padding, dilation])?;
        let args = (&planes, &**kernel_size, &**stride, &**padding, &**dilation, ceil_mode);
        let values = as_rows(&one::<MaxPool<2, false>, D, _>(args)?, dim)?;
        // PyTorch's have no places, and are row-major whatever the input is.
        match values.strides() == contiguous_strides(values.sizes()).as_slice() {
            true => Ok(values),
            false => clone_tensor(&values, Some(MemoryFormat::Contiguous)),
        }
    };
    make().map_err(|e: Error| e.called("max_pool1d"))
}

/// `avg_pool1d`.
pub fn avg_pool1d<D: AllKernels>(
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    ceil_mode: bool,
    count_include_pad: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("avg_pool1d", [this.geometry()]);
    let make = || {
        let planes = as_planes(this, -2)?;
        let (kernel_size, stride) = (planar("kernel_size", kernel_size, 1)?, planar("stride", stride, 1)?);
        let padding = planar("padding", padding, 0)?;
        let args = (&planes, &*kernel_size, &*stride, &*padding, ceil_mode, count_include_pad, None);
        as_rows(&one::<AvgPool<2>, D, _>(args)?, -2)
    };
    make().map_err(|e: Error| e.called("avg_pool1d"))
}

/// Means over as many windows; one window is the mean of all, in the format of the input.
fn adaptive<F, D: AllKernels + Executes<Windowed<F>>>(this: &Tensor<D>, output_size: &[i64]) -> Result<Tensor<D>>
where
    F: for<'t> WindowFn<Parameters<'t> = super::adaptive::OutputSize<'t>>,
{
    let n = output_size.len();
    let dims = [-3, -2, -1];
    let is_one = (2..=3).contains(&n) && output_size.iter().all(|&size| size == 1);
    if !is_one || this.ndim() <= n || this.ndim() > n + 2 {
        return one::<F, D, _>((this, output_size));
    }
    let mean = mean_with(this, &dims[3 - n..], Mean { keepdim: true, ..Default::default() })?;
    let channels_last = if n == 2 { MemoryFormat::ChannelsLast } else { MemoryFormat::ChannelsLast3d };
    if suggest_format(this.sizes(), this.strides()) != channels_last {
        return Ok(mean);
    }
    let channels = mean.sizes()[1];
    let strides: Vec<i64> = (0..n + 2).map(|d| if d == 1 { 1 } else { channels }).collect();
    mean.with_geometry(view::as_strided(mean.geometry(), mean.sizes(), &strides, None)?)
}

/// `adaptive_avg_pool2d`.
pub fn adaptive_avg_pool2d<D: AllKernels>(this: &Tensor<D>, output_size: &[i64]) -> Result<Tensor<D>> {
    let _span = observe::operator("adaptive_avg_pool2d", [this.geometry()]);
    if output_size.len() != 2 {
        return Err(Error::from(ErrorKind::ListLength { arg: "output_size", got: output_size.len(), want: 2 })
            .called("adaptive_avg_pool2d"));
    }
    adaptive::<AdaptiveAvg<2>, D>(this, output_size).map_err(|e| e.called("adaptive_avg_pool2d"))
}

/// `adaptive_avg_pool3d`.
pub fn adaptive_avg_pool3d<D: AllKernels>(this: &Tensor<D>, output_size: &[i64]) -> Result<Tensor<D>> {
    let _span = observe::operator("adaptive_avg_pool3d", [this.geometry()]);
    if output_size.len() != 3 {
        return Err(Error::from(ErrorKind::ListLength { arg: "output_size", got: output_size.len(), want: 3 })
            .called("adaptive_avg_pool3d"));
    }
    adaptive::<AdaptiveAvg<3>, D>(this, output_size).map_err(|e| e.called("adaptive_avg_pool3d"))
}

/// `adaptive_avg_pool3d.out`.
pub fn adaptive_avg_pool3d_out<D: AllKernels>(
    this: &Tensor<D>,
    output_size: &[i64],
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("adaptive_avg_pool3d", [this.geometry()]);
    let inputs = FromArgs::from_args((this, output_size))?;
    call::<Windowed<AdaptiveAvg<3>>, D, _>(&inputs, Out([out])).map(drop).map_err(|e| e.called("adaptive_avg_pool3d"))
}

/// `adaptive_avg_pool1d`.
pub fn adaptive_avg_pool1d<D: AllKernels>(this: &Tensor<D>, output_size: &[i64]) -> Result<Tensor<D>> {
    let _span = observe::operator("adaptive_avg_pool1d", [this.geometry()]);
    let make = || {
        let output_size = planar("output_size", output_size, 1)?;
        as_rows(&adaptive::<AdaptiveAvg<2>, D>(&as_planes(this, -2)?, &output_size)?, -2)
    };
    make().map_err(|e: Error| e.called("adaptive_avg_pool1d"))
}

/// `adaptive_max_pool1d`.
pub fn adaptive_max_pool1d<D: AllKernels>(this: &Tensor<D>, output_size: &[i64]) -> Result<Pair<D>> {
    let _span = observe::operator("adaptive_max_pool1d", [this.geometry()]);
    let make = || {
        let output_size = planar("output_size", output_size, 1)?;
        let (values, places) = two::<AdaptiveMax<2>, D, _>((&as_planes(this, -2)?, &*output_size))?;
        Ok((as_rows(&values, -2)?, as_rows(&places, -2)?))
    };
    make().map_err(|e: Error| e.called("adaptive_max_pool1d"))
}

native! {
    family: DerivedPools, functions: crate::kernels::AllKernels;

    structured: Windowed<MaxPool<2, false>>;

    structured: Windowed<MaxPool<3, false>>;

    /// The largest element of each window of one dimension.
    ///
    /// The tensor is `[batch, channels, width]` or one without a batch; integers and floats. The options `stride` (the
    /// size of a window), `padding`, `dilation` and `ceil_mode` say how windows lie. NaN is above everything.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 5.0, 3.0, 2.0]];
    /// assert_eq!(x.max_pool1d(&[2])?.to_vec::<f32>()?, [5.0, 3.0]);
    /// ```
    func: max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1,
        bool ceil_mode=False) -> Tensor,
    variants: function, kernel: max_pool1d;

    func: max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0,
        int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor),
    kernel: max_pool1d_with_indices;

    /// The largest element of each window of two dimensions.
    ///
    /// [`max_pool2d_with_indices`](super::functions::max_pool2d_with_indices) gives their places, too.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 5.0], [3.0, 2.0]]];
    /// assert_eq!(x.max_pool2d(&[2])?.to_vec::<f32>()?, [5.0]);
    /// ```
    func: max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1,
        bool ceil_mode=False) -> Tensor,
    variants: function, kernel: max_pool2d;

    func: max_pool3d_with_indices.out(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0,
        int[3] dilation=1, bool ceil_mode=False, *, Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!)),
    kernel: max_pool3d_with_indices_out;

    /// The largest element of each window of three dimensions.
    ///
    /// [`max_pool3d_with_indices`](super::functions::max_pool3d_with_indices) gives their places, too.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 5.0], [3.0, 2.0]]]];
    /// assert_eq!(x.max_pool3d(&[1, 2, 2])?.to_vec::<f32>()?, [5.0]);
    /// ```
    func: max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1,
        bool ceil_mode=False) -> Tensor,
    variants: function, kernel: max_pool3d;

    /// The mean of each window of one dimension.
    ///
    /// The tensor is `[batch, channels, width]` or one without a batch; floats and int64. The options `stride` (the
    /// size of a window), `padding` and `ceil_mode` say how windows lie, `count_include_pad` whether zeros of the
    /// padding count.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 5.0, 3.0, 2.0]];
    /// assert_eq!(x.avg_pool1d(&[2])?.to_vec::<f32>()?, [3.0, 2.5]);
    /// ```
    func: avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False,
        bool count_include_pad=True) -> Tensor,
    autogen: avg_pool1d.out, variants: function, kernel: avg_pool1d;

    /// The means of as many windows of one dimension as `output_size` says.
    ///
    /// The tensor is `[batch, channels, width]` or one without a batch, of floats.
    ///
    /// ```
    /// let x = tensor![[1.0f32, 5.0, 3.0]];
    /// assert_eq!(x.adaptive_avg_pool1d(&[2])?.to_vec::<f32>()?, [3.0, 4.0]);
    /// ```
    func: adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor,
    autogen: adaptive_avg_pool1d.out, variants: function, kernel: adaptive_avg_pool1d;

    func: adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor),
    kernel: adaptive_max_pool1d;

    /// The means of as many windows of two dimensions as `output_size` says.
    ///
    /// The tensor is `[batch, channels, height, width]` or one without a batch, of floats.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 5.0, 3.0]]];
    /// assert_eq!(x.adaptive_avg_pool2d([1, 2])?.to_vec::<f32>()?, [3.0, 4.0]);
    /// ```
    func: adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor,
    out_restrided: adaptive_avg_pool2d.out, variants: function, kernel: adaptive_avg_pool2d;

    /// The means of as many windows of three dimensions as `output_size` says.
    ///
    /// The tensor is `[batch, channels, depth, height, width]` or one without a batch, of floats.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 5.0, 3.0]]]];
    /// assert_eq!(x.adaptive_avg_pool3d([1, 1, 2])?.to_vec::<f32>()?, [3.0, 4.0]);
    /// ```
    func: adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor,
    variants: function, kernel: adaptive_avg_pool3d;

    func: adaptive_avg_pool3d.out(Tensor self, SymInt[3] output_size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: adaptive_avg_pool3d_out;
}
