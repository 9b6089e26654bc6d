//! Elements put to the places that maxima came from: gradients of maxima, which add up where windows share one, and
//! unpooling, where the last one stays. Each is a scatter along the planes, whose indices are checked before anything
//! is written.

use super::averages::check_gradient;
use super::sliding::windows;
use super::{FLOATS, Planes, Pool};
use crate::copies::{clone_tensor, reshape};
use crate::functions::{new_zeros, scatter_, scatter_add_};
use crate::kernels::AllKernels;
use crate::table::native;
use crate::table::{write_out, write_out_as_made, write_restrided};
use crate::view;
use monomorph_core::{DType, Error, ErrorKind, MemoryFormat, Result, Tensor, observe};

/// Planes of the sizes `inner`, of zeros but for `values` at the places `indices`.
fn placed<D: AllKernels>(
    values: &Tensor<D>,
    indices: &Tensor<D>,
    (inner, adds): (&[i64], bool),
    format: MemoryFormat,
) -> Result<Tensor<D>> {
    if indices.dtype() != DType::I64 {
        let (arg, got) = ("indices", indices.dtype());
        return Err(ErrorKind::DTypeMismatch { arg, got, want: DType::I64 }.into());
    }
    if indices.sizes() != values.sizes() {
        let (got, want) = (indices.sizes().to_vec(), values.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg: "indices", got, want }.into());
    }
    let outer = &values.sizes()[..values.ndim() - inner.len()];
    let rows = |last: &[i64]| -> Result<Vec<i64>> {
        let volume = last.iter().try_fold(1_i64, |volume, &size| volume.checked_mul(size));
        let overflow = || ErrorKind::SizeOverflow { sizes: last.to_vec(), strides: Vec::new() };
        Ok(outer.iter().copied().chain([volume.ok_or_else(overflow)?]).collect())
    };
    let mut planes = new_zeros(values, rows(inner)?)?;
    if planes.numel() > 0 && values.numel() > 0 {
        let flat = rows(&values.sizes()[outer.len()..])?;
        let (indices, values) = (reshape(indices, &flat)?, reshape(values, &flat)?);
        match adds {
            true => scatter_add_(&mut planes, -1, &indices, &values)?,
            false => scatter_(&mut planes, -1, &indices, &values)?,
        };
    }
    let sizes: Vec<i64> = outer.iter().chain(inner).copied().collect();
    let planes = planes.with_geometry(view::view(planes.geometry(), &sizes)?)?;
    if format == MemoryFormat::Contiguous { Ok(planes) } else { clone_tensor(&planes, Some(format)) }
}

/// The gradient of maxima of windows of `this`.
fn gradient<D: AllKernels>(
    (grad, this, indices): (&Tensor<D>, &Tensor<D>, &Tensor<D>),
    windows: impl FnOnce(&[i64]) -> Result<Vec<i64>>,
    n: usize,
    keeps_format: bool,
) -> Result<Tensor<D>> {
    let operand = this.into();
    let planes = Planes::of(&operand, n, "self")?;
    planes.check_dtype(FLOATS)?;
    check_gradient(&grad.into(), &planes, &windows(planes.inner)?)?;
    let format = if keeps_format { planes.format } else { MemoryFormat::Contiguous };
    placed(grad, indices, (planes.inner, true), format)
}

/// The numbers of windows of one size.
fn sliding(pool: &Pool<'_>, inner: &[i64]) -> Result<Vec<i64>> {
    Ok(windows(&pool.axes(inner)?).to_vec())
}

fn restrided<D: AllKernels>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    write_restrided(&[result], &mut [out])
}

/// The last sizes of a gradient: as many windows there are.
fn last<D: AllKernels>(gradient: &Tensor<D>, n: usize) -> Vec<i64> {
    gradient.sizes().iter().rev().take(n).rev().copied().collect()
}

/// `max_pool2d_with_indices_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn max_pool2d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
    indices: &Tensor<D>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("max_pool2d_with_indices_backward", [grad_output.geometry(), this.geometry()]);
    let pool = Pool::maxima(kernel_size, stride, padding, dilation, ceil_mode);
    gradient((grad_output, this, indices), |inner| sliding(&pool, inner), 2, true)
        .map_err(|e: Error| e.called("max_pool2d_with_indices_backward"))
}

/// `max_pool2d_with_indices_backward.grad_input`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn max_pool2d_backward_out<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
    indices: &Tensor<D>,
    grad_input: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("max_pool2d_with_indices_backward", [grad_output.geometry(), this.geometry()]);
    let result = max_pool2d_backward(grad_output, this, kernel_size, stride, padding, dilation, ceil_mode, indices)?;
    write_out_as_made(&result, grad_input).map_err(|e: Error| e.called("max_pool2d_with_indices_backward"))
}

/// `max_pool3d_with_indices_backward`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn max_pool3d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
    indices: &Tensor<D>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("max_pool3d_with_indices_backward", [grad_output.geometry(), this.geometry()]);
    let pool = Pool::maxima(kernel_size, stride, padding, dilation, ceil_mode);
    gradient((grad_output, this, indices), |inner| sliding(&pool, inner), 3, true)
        .map_err(|e: Error| e.called("max_pool3d_with_indices_backward"))
}

/// `max_pool3d_with_indices_backward.grad_input`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn max_pool3d_backward_out<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
    indices: &Tensor<D>,
    grad_input: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("max_pool3d_with_indices_backward", [grad_output.geometry(), this.geometry()]);
    let result = max_pool3d_backward(grad_output, this, kernel_size, stride, padding, dilation, ceil_mode, indices)?;
    restrided(&result, grad_input).map_err(|e: Error| e.called("max_pool3d_with_indices_backward"))
}

/// `adaptive_max_pool2d_backward`.
pub fn adaptive_max_pool2d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    indices: &Tensor<D>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("adaptive_max_pool2d_backward", [grad_output.geometry(), this.geometry()]);
    gradient((grad_output, this, indices), |_| Ok(last(grad_output, 2)), 2, true)
        .map_err(|e: Error| e.called("adaptive_max_pool2d_backward"))
}

/// `adaptive_max_pool2d_backward.grad_input`.
pub fn adaptive_max_pool2d_backward_out<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    indices: &Tensor<D>,
    grad_input: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("adaptive_max_pool2d_backward", [grad_output.geometry(), this.geometry()]);
    let result = adaptive_max_pool2d_backward(grad_output, this, indices)?;
    write_out_as_made(&result, grad_input).map_err(|e: Error| e.called("adaptive_max_pool2d_backward"))
}

/// `adaptive_max_pool3d_backward`.
pub fn adaptive_max_pool3d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    indices: &Tensor<D>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("adaptive_max_pool3d_backward", [grad_output.geometry(), this.geometry()]);
    gradient((grad_output, this, indices), |_| Ok(last(grad_output, 3)), 3, false)
        .map_err(|e: Error| e.called("adaptive_max_pool3d_backward"))
}

/// `adaptive_max_pool3d_backward.grad_input`.
pub fn adaptive_max_pool3d_backward_out<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    indices: &Tensor<D>,
    grad_input: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("adaptive_max_pool3d_backward", [grad_output.geometry(), this.geometry()]);
    let result = adaptive_max_pool3d_backward(grad_output, this, indices)?;
    write_out_as_made(&result, grad_input).map_err(|e: Error| e.called("adaptive_max_pool3d_backward"))
}

/// `fractional_max_pool2d_backward`.
pub fn fractional_max_pool2d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    _kernel_size: &[i64],
    output_size: &[i64],
    indices: &Tensor<D>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("fractional_max_pool2d_backward", [grad_output.geometry(), this.geometry()]);
    gradient((grad_output, this, indices), |_| Ok(output_size.to_vec()), 2, false)
        .map_err(|e: Error| e.called("fractional_max_pool2d_backward"))
}

/// `fractional_max_pool2d_backward.grad_input`.
pub fn fractional_max_pool2d_backward_out<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    kernel_size: &[i64],
    output_size: &[i64],
    indices: &Tensor<D>,
    grad_input: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("fractional_max_pool2d_backward", [grad_output.geometry(), this.geometry()]);
    let result = fractional_max_pool2d_backward(grad_output, this, kernel_size, output_size, indices)?;
    write_out_as_made(&result, grad_input).map_err(|e: Error| e.called("fractional_max_pool2d_backward"))
}

/// `fractional_max_pool3d_backward`.
pub fn fractional_max_pool3d_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    _kernel_size: &[i64],
    output_size: &[i64],
    indices: &Tensor<D>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("fractional_max_pool3d_backward", [grad_output.geometry(), this.geometry()]);
    gradient((grad_output, this, indices), |_| Ok(output_size.to_vec()), 3, false)
        .map_err(|e: Error| e.called("fractional_max_pool3d_backward"))
}

/// `fractional_max_pool3d_backward.grad_input`.
pub fn fractional_max_pool3d_backward_out<D: AllKernels>(
    grad_output: &Tensor<D>,
    this: &Tensor<D>,
    kernel_size: &[i64],
    output_size: &[i64],
    indices: &Tensor<D>,
    grad_input: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("fractional_max_pool3d_backward", [grad_output.geometry(), this.geometry()]);
    let result = fractional_max_pool3d_backward(grad_output, this, kernel_size, output_size, indices)?;
    write_out_as_made(&result, grad_input).map_err(|e: Error| e.called("fractional_max_pool3d_backward"))
}

/// Values at the places that they came from.
fn unpooled<D: AllKernels>(this: &Tensor<D>, indices: &Tensor<D>, output_size: &[i64], n: usize) -> Result<Tensor<D>> {
    let operand = this.into();
    let planes = Planes::of(&operand, n, "self")?;
    if output_size.len() != n {
        return Err(ErrorKind::ListLength { arg: "output_size", got: output_size.len(), want: n }.into());
    }
    if let Some(&got) = output_size.iter().find(|size| **size < 0) {
        return Err(ErrorKind::OutOfRange { arg: "output_size", got, low: 0, high: i64::MAX }.into());
    }
    planes.check_dtype(FLOATS)?;
    let format = if n == 2 { planes.format } else { MemoryFormat::Contiguous };
    placed(this, indices, (output_size, false), format)
}

/// `max_unpool2d`.
pub fn max_unpool2d<D: AllKernels>(this: &Tensor<D>, indices: &Tensor<D>, output_size: &[i64]) -> Result<Tensor<D>> {
    let _span = observe::operator("max_unpool2d", [this.geometry(), indices.geometry()]);
    unpooled(this, indices, output_size, 2).map_err(|e: Error| e.called("max_unpool2d"))
}

/// `max_unpool2d.out`.
pub fn max_unpool2d_out<D: AllKernels>(
    this: &Tensor<D>,
    indices: &Tensor<D>,
    output_size: &[i64],
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("max_unpool2d", [this.geometry(), indices.geometry()]);
    let result = max_unpool2d(this, indices, output_size)?;
    restrided(&result, out).map_err(|e: Error| e.called("max_unpool2d"))
}

/// `max_unpool3d`: what `stride` and `padding` say follows from `output_size`; they are looked at only.
pub fn max_unpool3d<D: AllKernels>(
    this: &Tensor<D>,
    indices: &Tensor<D>,
    output_size: &[i64],
    stride: &[i64],
    padding: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("max_unpool3d", [this.geometry(), indices.geometry()]);
    let make = || {
        for (arg, list) in [("stride", stride), ("padding", padding)] {
            if list.len() != 3 {
                return Err(ErrorKind::ListLength { arg, got: list.len(), want: 3 }.into());
            }
        }
        if let Some(&got) = stride.iter().find(|stride| **stride < 1) {
            return Err(ErrorKind::OutOfRange { arg: "stride", got, low: 1, high: i64::MAX }.into());
        }
        unpooled(this, indices, output_size, 3)
    };
    make().map_err(|e: Error| e.called("max_unpool3d"))
}

/// `max_unpool3d.out`: an output of the right sizes has to be contiguous, as in PyTorch.
pub fn max_unpool3d_out<D: AllKernels>(
    this: &Tensor<D>,
    indices: &Tensor<D>,
    output_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("max_unpool3d", [this.geometry(), indices.geometry()]);
    let result = max_unpool3d(this, indices, output_size, stride, padding)?;
    if out.sizes() == result.sizes() && !out.is_contiguous() {
        let rule = "argument out is not contiguous; accepted is a contiguous tensor, or one of other sizes";
        return Err(Error::from(ErrorKind::ArgumentRule { rule }).called("max_unpool3d"));
    }
    write_out(&result, out).map_err(|e: Error| e.called("max_unpool3d"))
}

native! {
    family: PoolGradients, functions: crate::kernels::AllKernels;

    func: max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride,
        int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor,
    kernel: max_pool2d_backward;

    func: max_pool2d_with_indices_backward.grad_input(Tensor grad_output, Tensor self, int[2] kernel_size,
        int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices, *, Tensor(a!) grad_input)
        -> Tensor(a!),
    kernel: max_pool2d_backward_out;

    func: max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride,
        int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor,
    kernel: max_pool3d_backward;

    func: max_pool3d_with_indices_backward.grad_input(Tensor grad_output, Tensor self, int[3] kernel_size,
        int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices, *, Tensor(a!) grad_input)
        -> Tensor(a!),
    kernel: max_pool3d_backward_out;

    func: adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor,
    kernel: adaptive_max_pool2d_backward;

    func: adaptive_max_pool2d_backward.grad_input(Tensor grad_output, Tensor self, Tensor indices, *,
        Tensor(a!) grad_input) -> Tensor(a!),
    kernel: adaptive_max_pool2d_backward_out;

    func: adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor,
    kernel: adaptive_max_pool3d_backward;

    func: adaptive_max_pool3d_backward.grad_input(Tensor grad_output, Tensor self, Tensor indices, *,
        Tensor(a!) grad_input) -> Tensor(a!),
    kernel: adaptive_max_pool3d_backward_out;

    func: fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size,
        Tensor indices) -> Tensor,
    kernel: fractional_max_pool2d_backward;

    func: fractional_max_pool2d_backward.grad_input(Tensor grad_output, Tensor self, int[2] kernel_size,
        int[2] output_size, Tensor indices, *, Tensor(a!) grad_input) -> Tensor(a!),
    kernel: fractional_max_pool2d_backward_out;

    func: fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size,
        Tensor indices) -> Tensor,
    kernel: fractional_max_pool3d_backward;

    func: fractional_max_pool3d_backward.grad_input(Tensor grad_output, Tensor self, int[3] kernel_size,
        int[3] output_size, Tensor indices, *, Tensor(a!) grad_input) -> Tensor(a!),
    kernel: fractional_max_pool3d_backward_out;

    /// Planes of `output_size` of zeros, but for the elements at the places `indices`, which
    /// [`max_pool2d_with_indices`](super::functions::max_pool2d_with_indices) gives.
    ///
    /// Of several elements at one place the last one stays. A place outside of the plane is an error.
    ///
    /// ```
    /// let (x, places) = (tensor![[[5.0f32]]], tensor![[[1i64]]]);
    /// assert_eq!(x.max_unpool2d(&places, [2, 2])?.to_vec::<f32>()?, [0.0, 5.0, 0.0, 0.0]);
    /// ```
    func: max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor,
    variants: function, kernel: max_unpool2d;

    func: max_unpool2d.out(Tensor self, Tensor indices, SymInt[2] output_size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: max_unpool2d_out;

    /// Volumes of `output_size` of zeros, but for the elements at the places `indices`, which
    /// [`max_pool3d_with_indices`](super::functions::max_pool3d_with_indices) gives.
    ///
    /// Of several elements at one place the last one stays. A place outside of the volume is an error.
    ///
    /// ```
    /// let (x, places) = (tensor![[[[5.0f32]]]], tensor![[[[1i64]]]]);
    /// let y = x.max_unpool3d(&places, [1, 1, 2], &[1, 1, 1], &[0, 0, 0])?;
    /// assert_eq!(y.to_vec::<f32>()?, [0.0, 5.0]);
    /// ```
    func: max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor,
    variants: function, kernel: max_unpool3d;

    func: max_unpool3d.out(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding, *,
        Tensor(a!) out) -> Tensor(a!),
    kernel: max_unpool3d_out;
}
