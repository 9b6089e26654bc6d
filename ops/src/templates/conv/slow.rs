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
const THNN_2D: Slow = Slow { name: "thnn_conv2d", ..FORWARD_2D };
const ALL_3D: Slow =
    Slow { name: "slow_conv3d", ndim: 3, grouped: true, integers: true, channels_last: false, ..PLAIN };
const FORWARD_3D: Slow = Slow { name: "slow_conv3d_forward", ..ALL_3D };
const DILATED_3D: Slow = Slow { name: "slow_conv_dilated3d", ndim: 3, channels_last: false, ..DILATED_2D };
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

/// The output gets the layout of the result, whatever it had.
fn restrided<D: AllKernels>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    write_restrided(&[result], &mut [out])
}

/// An output that has the right sizes must be contiguous.
fn contiguous<D: AllKernels>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    if out.sizes() == result.sizes() && !out.geometry().is_contiguous() {
        let (sizes, strides) = (out.sizes().to_vec(), out.strides().to_vec());
        return Err(ErrorKind::NotContiguous { sizes, strides }.into());
    }
    write_out_as_made(result, out)
}

/// Functional forms: what the operator has, the lists it takes behind the bias, and the stride, padding, dilation and
/// output padding that they are.
macro_rules! functional {
    ($($slow:ident ($($list:ident),*) as $given:expr => $name:ident;)*) => {$(
        #[doc = concat!("The operator `", stringify!($slow), "`.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $name<D: AllKernels>(
            this: &Tensor<D>,
            weight: &Tensor<D>,
            kernel_size: &[i64],
            bias: Option<&Tensor<D>>,
            $($list: &[i64]),*
        ) -> Result<Tensor<D>> {
            let _span = observe::operator($slow.name, [this.geometry(), weight.geometry()]);
            $slow.call((this, weight, bias), kernel_size, $given)
        }
    )*};
}
functional! {
    FORWARD_2D (stride, padding) as [stride, padding, &[1; 2], &[0; 2]] => slow_conv2d_forward;
    THNN_2D (stride, padding) as [stride, padding, &[1; 2], &[0; 2]] => thnn_conv2d;
    ALL_3D (stride, padding) as [stride, padding, &[1; 3], &[0; 3]] => slow_conv3d;
    FORWARD_3D (stride, padding) as [stride, padding, &[1; 3], &[0; 3]] => slow_conv3d_forward;
    DILATED_2D (stride, padding, dilation) as [stride, padding, dilation, &[0; 2]] => slow_conv_dilated2d;
    DILATED_3D (stride, padding, dilation) as [stride, padding, dilation, &[0; 3]] => slow_conv_dilated3d;
    TRANSPOSE_2D (stride, padding, output_padding, dilation) as [stride, padding, dilation, output_padding] =>
        slow_conv_transpose2d;
    TRANSPOSE_3D (stride, padding, output_padding, dilation) as [stride, padding, dilation, output_padding] =>
        slow_conv_transpose3d;
}

/// The forms that write an output: the same, and how they write.
macro_rules! with_output {
    ($($slow:ident ($($list:ident),*) as $given:expr, by $write:path => $name:ident;)*) => {$(
        #[doc = concat!("The operator `", stringify!($slow), "` with an output.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $name<D: AllKernels>(
            this: &Tensor<D>,
            weight: &Tensor<D>,
            kernel_size: &[i64],
            bias: Option<&Tensor<D>>,
            $($list: &[i64],)*
            out: &mut Tensor<D>,
        ) -> Result<()> {
            let _span = observe::operator($slow.name, [this.geometry(), weight.geometry()]);
            let result = $slow.call((this, weight, bias), kernel_size, $given)?;
            $write(&result, out).map_err(|e| e.of($slow.name))
        }
    )*};
}
with_output! {
    FORWARD_2D (stride, padding) as [stride, padding, &[1; 2], &[0; 2]], by restrided => slow_conv2d_forward_output;
    THNN_2D (stride, padding) as [stride, padding, &[1; 2], &[0; 2]], by restrided => thnn_conv2d_out;
    ALL_3D (stride, padding) as [stride, padding, &[1; 3], &[0; 3]], by contiguous => slow_conv3d_out;
    FORWARD_3D (stride, padding) as [stride, padding, &[1; 3], &[0; 3]], by contiguous => slow_conv3d_forward_output;
    TRANSPOSE_2D (stride, padding, output_padding, dilation) as [stride, padding, dilation, output_padding],
        by write_out_as_made => slow_conv_transpose2d_out;
    TRANSPOSE_3D (stride, padding, output_padding, dilation) as [stride, padding, dilation, output_padding],
        by write_out_as_made => slow_conv_transpose3d_out;
}

native! {
    family: SlowConvolutions, functions: crate::kernels::AllKernels;

    func: _slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride,
        SymInt[2] padding) -> Tensor,
    kernel: slow_conv2d_forward;

    func: _slow_conv2d_forward.output(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias,
        SymInt[2] stride, SymInt[2] padding, *, Tensor(a!) output) -> Tensor(a!),
    kernel: slow_conv2d_forward_output;

    func: thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1,
        SymInt[2] padding=0) -> Tensor,
    kernel: thnn_conv2d;

    func: thnn_conv2d.out(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1,
        SymInt[2] padding=0, *, Tensor(a!) out) -> Tensor(a!),
    kernel: thnn_conv2d_out;

    func: slow_conv3d_forward(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, SymInt[3] stride,
        SymInt[3] padding) -> Tensor,
    kernel: slow_conv3d_forward;

    func: slow_conv3d_forward.output(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias,
        SymInt[3] stride, SymInt[3] padding, *, Tensor(a!) output) -> Tensor(a!),
    kernel: slow_conv3d_forward_output;

    func: slow_conv3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0) -> Tensor,
    kernel: slow_conv3d;

    func: slow_conv3d.out(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0, *, Tensor(a!) out) -> Tensor(a!),
    kernel: slow_conv3d_out;

    func: slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1,
        SymInt[2] padding=0, SymInt[2] dilation=1) -> Tensor,
    autogen: slow_conv_dilated2d.out, kernel: slow_conv_dilated2d;

    func: slow_conv_dilated3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0, SymInt[3] dilation=1) -> Tensor,
    autogen: slow_conv_dilated3d.out, kernel: slow_conv_dilated3d;

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
