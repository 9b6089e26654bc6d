//! The operators that PyTorch computes convolutions with where it has no library: a convolution each, of one number of
//! dimensions, with sizes of the window as an argument. They take less than `convolution` takes, and paddings below
//! zero.
#![deny(clippy::arithmetic_side_effects)]

use super::forward::{computed, given};
use super::window::{self, Given, Window};
use super::{Pass, layout};
use crate::kernels::AllKernels;
use crate::table::{native, write_out_as_made, write_restrided};
use crate::view;
use monomorph_core::{Error, ErrorKind, Result, Tensor, observe};

/// What the operators differ in.
#[derive(Clone, Copy)]
struct Slow {
    name: &'static str,
    /// Dimensions of the window.
    ndim: usize,
    /// The image is computed, of the map.
    transposed: bool,
    /// The weight may be a matrix of one row for each channel of the map.
    matrix: bool,
    /// There may be one image without a dimension for it.
    unbatched: bool,
    /// Channels may be in groups, of which sizes tell.
    grouped: bool,
    /// All integers, and not int64 alone.
    integers: bool,
    /// Results may be channels-last.
    channels_last: bool,
    /// There may be no channels.
    hollow: bool,
    /// The bias may have a dtype of its own.
    converts: bool,
}

/// What all have that have nothing else.
const PLAIN: Slow = Slow {
    name: "",
    ndim: 2,
    transposed: false,
    matrix: false,
    unbatched: false,
    grouped: false,
    integers: false,
    channels_last: true,
    hollow: false,
    converts: true,
};
const FORWARD_2D: Slow = Slow { name: "_slow_conv2d_forward", matrix: true, integers: true, ..PLAIN };
const FORWARD_3D: Slow =
    Slow { name: "slow_conv3d", ndim: 3, grouped: true, integers: true, channels_last: false, ..PLAIN };
const DILATED_2D: Slow = Slow { name: "slow_conv_dilated2d", unbatched: true, hollow: true, ..PLAIN };
const TRANSPOSE_2D: Slow = Slow { name: "slow_conv_transpose2d", transposed: true, unbatched: true, ..PLAIN };
const TRANSPOSE_3D: Slow = Slow {
    name: "slow_conv_transpose3d",
    ndim: 3,
    transposed: true,
    unbatched: true,
    channels_last: false,
    converts: false,
    ..PLAIN
};

impl Slow {
    fn call<D: AllKernels>(
        self,
        (this, weight, bias): (&Tensor<D>, &Tensor<D>, Option<&Tensor<D>>),
        kernel_size: &[i64],
        parameters: Given<'_>,
    ) -> Result<Tensor<D>> {
        let call = || {
            let batched = self.ndim.saturating_add(2);
            if this.ndim() == batched {
                return self.batched(this, weight, bias, kernel_size, parameters);
            }
            if !self.unbatched || this.ndim() != batched.saturating_sub(1) {
                let accepted = match (self.ndim, self.unbatched) {
                    (2, false) => "4",
                    (2, true) => "3 and 4",
                    (_, false) => "5",
                    _ => "4 and 5",
                };
                return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted }.into());
            }
            let one = this.with_geometry(view::unsqueeze(this.geometry(), 0)?)?;
            let result = self.batched(&one, weight, bias, kernel_size, parameters)?;
            // PyTorch gives a contiguous image its batch for good.
            if self.transposed && self.ndim == 2 && this.geometry().is_contiguous() {
                return Ok(result);
            }
            result.with_geometry(view::select(result.geometry(), 0, 0)?)
        };
        call().map_err(|e: Error| e.called(self.name))
    }

    fn batched<D: AllKernels>(
        self,
        this: &Tensor<D>,
        weight: &Tensor<D>,
        bias: Option<&Tensor<D>>,
        kernel_size: &[i64],
        parameters: Given<'_>,
    ) -> Result<Tensor<D>> {
        let names = ["kernel_size", "stride", "padding", "dilation", "output_padding"];
        let [stride, padding, dilation, output_padding] = parameters;
        for (arg, list) in names.into_iter().zip([kernel_size, stride, padding, dilation, output_padding]) {
            if list.len() != self.ndim {
                return Err(ErrorKind::ListLength { arg, got: list.len(), want: self.ndim }.into());
            }
        }
        if let Some(&got) = kernel_size.iter().find(|&&size| size < 1) {
            return Err(ErrorKind::OutOfRange { arg: "kernel_size", got, low: 1, high: i64::MAX }.into());
        }
        let is_matrix = self.matrix && weight.ndim() == 2;
        if !is_matrix && (weight.ndim() != this.ndim() || weight.sizes()[2..] != *kernel_size) {
            let want = this.sizes().iter().take(2).chain(kernel_size).copied().collect();
            return Err(ErrorKind::UnequalSizes { arg: "weight", got: weight.sizes().to_vec(), want }.into());
        }
        // The sizes of the weight with those of the window, and groups.
        let mut shape = weight.sizes().to_vec();
        if is_matrix {
            let area = kernel_size.iter().try_fold(1_i64, |area, &size| area.checked_mul(size));
            shape[1] = area.and_then(|area| shape[1].checked_div(area)).unwrap_or(0);
            shape.extend(kernel_size);
        }
        if !self.hollow && (weight.numel() == 0 || this.sizes()[1] == 0) || self.transposed && this.numel() == 0 {
            let rule = "argument self or weight has no elements; accepted is at most that there are no images";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let groups = if self.grouped { this.sizes()[1].checked_div(shape[1]).unwrap_or(1).max(1) } else { 1 };
        let window = Window::new(kernel_size, parameters, groups, i64::MIN)?;
        let mut sizes = match self.hollow {
            true if shape[0] == 0 || shape[1] == 0 => monomorph_core::strides::DimVec::new(),
            _ => window.result(this.sizes(), &shape, bias.map(|b| b.sizes()), self.transposed)?,
        };
        if sizes.is_empty() {
            let bias_sizes = bias.map_or(&shape[..1], |b| b.sizes());
            if this.sizes()[1] != shape[1] || *bias_sizes != shape[..1] {
                let (got, want) = (this.sizes().to_vec(), shape);
                return Err(ErrorKind::UnequalSizes { arg: "self", got, want }.into());
            }
            sizes.extend([this.sizes()[0], shape[0]]);
            for (i, &size) in this.sizes()[2..].iter().enumerate() {
                sizes.push(window.map(i, size)?);
            }
        }
        if !self.hollow {
            window.check_elements(this.sizes(), &sizes, self.transposed)?;
        }
        window::check_dtypes(this.dtype(), weight.dtype(), self.integers)?;
        if let Some(bias) = bias.filter(|b| !self.converts && b.dtype() != this.dtype()) {
            return Err(ErrorKind::DTypeMismatch { arg: "bias", got: bias.dtype(), want: this.dtype() }.into());
        }
        let channels_last = self.channels_last
            && !is_matrix
            && layout::is_channels_last(this.geometry(), weight.geometry(), &window, self.transposed);
        let strides = layout::strides_of(&sizes, channels_last)?;
        let pass = if self.transposed { Pass::Image } else { Pass::Map };
        computed(pass, [this.into(), weight.into(), given(bias)], &window, (sizes, strides), false)
    }
}

/// `_slow_conv2d_forward`.
pub fn slow_conv2d_forward<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("_slow_conv2d_forward", [this.geometry(), weight.geometry()]);
    FORWARD_2D.call((this, weight, bias), kernel_size, [stride, padding, &[1; 2], &[0; 2]])
}

/// `_slow_conv2d_forward.output`: the output gets the layout of the result, whatever it had.
pub fn slow_conv2d_forward_output<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    output: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("_slow_conv2d_forward", [this.geometry(), weight.geometry()]);
    let result = FORWARD_2D.call((this, weight, bias), kernel_size, [stride, padding, &[1; 2], &[0; 2]])?;
    write_restrided(&[&result], &mut [output]).map_err(|e| e.of(FORWARD_2D.name))
}

/// `slow_conv3d`.
pub fn slow_conv3d<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("slow_conv3d", [this.geometry(), weight.geometry()]);
    FORWARD_3D.call((this, weight, bias), kernel_size, [stride, padding, &[1; 3], &[0; 3]])
}

/// `slow_conv3d.out`: an output that has the right sizes must be contiguous.
pub fn slow_conv3d_out<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("slow_conv3d", [this.geometry(), weight.geometry()]);
    let result = FORWARD_3D.call((this, weight, bias), kernel_size, [stride, padding, &[1; 3], &[0; 3]])?;
    if out.sizes() == result.sizes() && !out.geometry().is_contiguous() {
        let (sizes, strides) = (out.sizes().to_vec(), out.strides().to_vec());
        return Err(Error::new(ErrorKind::NotContiguous { sizes, strides }).of(FORWARD_3D.name));
    }
    write_out_as_made(&result, out).map_err(|e| e.of(FORWARD_3D.name))
}

/// `slow_conv_dilated2d`.
pub fn slow_conv_dilated2d<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("slow_conv_dilated2d", [this.geometry(), weight.geometry()]);
    DILATED_2D.call((this, weight, bias), kernel_size, [stride, padding, dilation, &[0; 2]])
}

/// `slow_conv_transpose2d`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn slow_conv_transpose2d<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    output_padding: &[i64],
    dilation: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("slow_conv_transpose2d", [this.geometry(), weight.geometry()]);
    TRANSPOSE_2D.call((this, weight, bias), kernel_size, [stride, padding, dilation, output_padding])
}

/// `slow_conv_transpose2d.out`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn slow_conv_transpose2d_out<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    output_padding: &[i64],
    dilation: &[i64],
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("slow_conv_transpose2d", [this.geometry(), weight.geometry()]);
    let result = TRANSPOSE_2D.call((this, weight, bias), kernel_size, [stride, padding, dilation, output_padding])?;
    write_out_as_made(&result, out).map_err(|e| e.of(TRANSPOSE_2D.name))
}

/// `slow_conv_transpose3d`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn slow_conv_transpose3d<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    output_padding: &[i64],
    dilation: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("slow_conv_transpose3d", [this.geometry(), weight.geometry()]);
    TRANSPOSE_3D.call((this, weight, bias), kernel_size, [stride, padding, dilation, output_padding])
}

/// `slow_conv_transpose3d.out`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn slow_conv_transpose3d_out<D: AllKernels>(
    this: &Tensor<D>,
    weight: &Tensor<D>,
    kernel_size: &[i64],
    bias: Option<&Tensor<D>>,
    stride: &[i64],
    padding: &[i64],
    output_padding: &[i64],
    dilation: &[i64],
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("slow_conv_transpose3d", [this.geometry(), weight.geometry()]);
    let result = TRANSPOSE_3D.call((this, weight, bias), kernel_size, [stride, padding, dilation, output_padding])?;
    write_out_as_made(&result, out).map_err(|e| e.of(TRANSPOSE_3D.name))
}

native! {
    family: SlowConvolutions, functions: crate::kernels::AllKernels;

    func: _slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride,
        SymInt[2] padding) -> Tensor,
    kernel: slow_conv2d_forward;

    func: _slow_conv2d_forward.output(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias,
        SymInt[2] stride, SymInt[2] padding, *, Tensor(a!) output) -> Tensor(a!),
    kernel: slow_conv2d_forward_output;

    func: slow_conv3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0) -> Tensor,
    kernel: slow_conv3d;

    func: slow_conv3d.out(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0, *, Tensor(a!) out) -> Tensor(a!),
    kernel: slow_conv3d_out;

    func: slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1,
        SymInt[2] padding=0, SymInt[2] dilation=1) -> Tensor,
    autogen: slow_conv_dilated2d.out, kernel: slow_conv_dilated2d;

    func: slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None,
        SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt[2] dilation=1) -> Tensor,
    kernel: slow_conv_transpose2d;

    func: slow_conv_transpose2d.out(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None,
        SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt[2] dilation=1, *, Tensor(a!) out)
        -> Tensor(a!),
    kernel: slow_conv_transpose2d_out;

    func: slow_conv_transpose3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None,
        SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt[3] dilation=1) -> Tensor,
    kernel: slow_conv_transpose3d;

    func: slow_conv_transpose3d.out(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None,
        SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt[3] dilation=1, *, Tensor(a!) out)
        -> Tensor(a!),
    kernel: slow_conv_transpose3d_out;
}
