//! Patches of images as columns, and columns summed to images: im2col and col2im. A column matrix is a copy of one view
//! of the image with its border, on which patches overlap; the way back adds up what covers a place of the image, in
//! the order of places of a patch, so sums round as PyTorch's do.

use crate::columns::{ColumnInputs, ColumnSum, PatchAxis};
use crate::copies::{clone_tensor, contiguous};
use crate::fill::Fills;
use crate::functions::constant_pad_nd;
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view;
use monomorph_core::structured::{Functional, call};
use monomorph_core::{DType, Error, ErrorKind, MemoryFormat, Result, Tensor, observe};

/// Patches along one dimension.
struct Axis {
    padding: i64,
    kernel: i64,
    dilation: i64,
    stride: i64,
    /// The number of patches.
    patches: i64,
}

/// Patches along both dimensions of an image.
fn axes(size: [i64; 2], [kernel_size, dilation, padding, stride]: [&[i64]; 4]) -> Result<[Axis; 2]> {
    let lists =
        [("kernel_size", kernel_size, 1), ("dilation", dilation, 1), ("padding", padding, 0), ("stride", stride, 1)];
    for (arg, list, low) in lists {
        if list.len() != 2 {
            return Err(ErrorKind::ListLength { arg, got: list.len(), want: 2 }.into());
        }
        // So that sums and products of two cannot overflow.
        let high = i64::from(i32::MAX);
        if let Some(&got) = list.iter().find(|value| !(low..=high).contains(*value)) {
            return Err(ErrorKind::OutOfRange { arg, got, low, high }.into());
        }
    }
    let axis = |d: usize| -> Result<Axis> {
        let (kernel, dilation, padding, stride) = (kernel_size[d], dilation[d], padding[d], stride[d]);
        let too_large = || super::pad::overflow(&[size[d], padding]);
        if size[d] < 0 {
            return Err(ErrorKind::NegativeSize { arg: "output_size", got: size[d] }.into());
        }
        let padded = size[d].checked_add(2 * padding).ok_or_else(too_large)?;
        let room = padded - (dilation * (kernel - 1) + 1);
        if room < 0 {
            let rule = "a patch is larger than the image with its padding; accepted are patches that fit";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        Ok(Axis { padding, kernel, dilation, stride, patches: room / stride + 1 })
    };
    Ok([axis(0)?, axis(1)?])
}

fn check_dtype(got: DType) -> Result<()> {
    if got.is_floating() || got.is_complex() || got == DType::Bool {
        return Ok(());
    }
    let (what, accepted) = ("argument self has dtype", "bool, floats and complex");
    Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
}

/// The tensor with a batch, and whether it had one. Only a batch may be empty.
fn batched<D: Fills>(this: &Tensor<D>, ndim: usize, accepted: &'static str) -> Result<(Tensor<D>, bool)> {
    let is_batch = this.ndim() == ndim + 1;
    if !is_batch && this.ndim() != ndim {
        return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted }.into());
    }
    if let Some(&got) = this.sizes().iter().skip(usize::from(is_batch)).find(|size| **size == 0) {
        return Err(ErrorKind::OutOfRange { arg: "self.size", got, low: 1, high: i64::MAX }.into());
    }
    match is_batch {
        true => Ok((this.clone(), true)),
        false => Ok((this.with_geometry(view::unsqueeze(this.geometry(), 0)?)?, false)),
    }
}

/// Without the batch where there was none.
fn unbatched<D: Fills>(result: Tensor<D>, is_batch: bool) -> Result<Tensor<D>> {
    if is_batch { Ok(result) } else { result.with_geometry(view::select(result.geometry(), 0, 0)?) }
}

/// `im2col`.
pub fn im2col<D: AllKernels>(
    this: &Tensor<D>,
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("im2col", [this.geometry()]);
    let make = || {
        let (images, is_batch) = batched(this, 3, "3 or 4")?;
        let &[batch, channels, height, width] = images.sizes() else {
            return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "3 or 4" }.into());
        };
        let [h, w] = axes([height, width], [kernel_size, dilation, padding, stride])?;
        check_dtype(this.dtype())?;
        let padded = match (h.padding, w.padding) {
            (0, 0) => images,
            (above, left) => constant_pad_nd(&images, [left, left, above, above])?,
        };
        let &[of_batch, of_channel, of_row, of_place] = padded.strides() else { return Ok(padded) };
        let sizes = [batch, channels, h.kernel, w.kernel, h.patches, w.patches];
        let strides = [
            of_batch,
            of_channel,
            of_row.wrapping_mul(h.dilation),
            of_place.wrapping_mul(w.dilation),
            of_row.wrapping_mul(h.stride),
            of_place.wrapping_mul(w.stride),
        ];
        let offset = Some(padded.geometry().offset());
        let patches = padded.with_geometry(view::as_strided(padded.geometry(), &sizes, &strides, offset)?)?;
        let columns = clone_tensor(&patches, Some(MemoryFormat::Contiguous))?;
        let matrix = [batch, channels * h.kernel * w.kernel, h.patches * w.patches];
        unbatched(columns.with_geometry(view::view(columns.geometry(), &matrix)?)?, is_batch)
    };
    make().map_err(|e: Error| e.called("im2col"))
}

/// `col2im`.
pub fn col2im<D: AllKernels>(
    this: &Tensor<D>,
    output_size: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("col2im", [this.geometry()]);
    let make = || {
        let &[height, width] = output_size else {
            return Err(ErrorKind::ListLength { arg: "output_size", got: output_size.len(), want: 2 }.into());
        };
        let (columns, is_batch) = batched(this, 2, "2 or 3")?;
        let [h, w] = axes([height, width], [kernel_size, dilation, padding, stride])?;
        check_dtype(this.dtype())?;
        let &[batch, rows, count] = columns.sizes() else { return Ok(columns) };
        let patch = h.kernel * w.kernel;
        let fits = rows % patch == 0 && Some(count) == h.patches.checked_mul(w.patches);
        if !fits {
            let rule = "argument self is no matrix of columns of such patches; accepted are a multiple of the places \
                of a patch as rows, and as many columns as there are patches";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let split = [batch, rows / patch, h.kernel, w.kernel, h.patches, w.patches];
        let places = contiguous(&columns, MemoryFormat::Contiguous)?;
        let places = places.with_geometry(view::view(places.geometry(), &split)?)?;
        let of = |axis: &Axis, size: i64| {
            let &Axis { padding, kernel, dilation, stride, patches, .. } = axis;
            PatchAxis { size, padding, kernel, dilation, stride, patches }
        };
        let inputs = ColumnInputs::new((&places).into(), [of(&h, height), of(&w, width)]);
        let [images] = call::<ColumnSum, D, _>(&inputs, Functional::default())?;
        unbatched(images, is_batch)
    };
    make().map_err(|e: Error| e.called("col2im"))
}

native! {
    family: Patches, functions: crate::kernels::AllKernels;

    structured: ColumnSum;

    /// The patches of images as the columns of a matrix: `[batch, channels * places of a patch, patches]`.
    ///
    /// The images are `[batch, channels, height, width]` or one without a batch; bool, floats and complex.
    /// `kernel_size`,
    /// `dilation`, `padding` and `stride` have two numbers each, for height and width.
    ///
    /// ```
    /// let x = tensor![[[1.0f32, 2.0, 3.0]]];
    /// let columns = x.im2col(&[1, 2], &[1, 1], &[0, 0], &[1, 1])?;
    /// assert_eq!((columns.sizes(), columns.to_vec::<f32>()?), (&[2, 2][..], vec![1.0, 2.0, 2.0, 3.0]));
    /// ```
    func: im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor,
    autogen: im2col.out, variants: function, kernel: im2col;

    /// Images of the size `output_size` whose elements are sums over the patches that cover them.
    ///
    /// The columns are those that [`im2col`](super::functions::im2col) would give of such images.
    ///
    /// ```
    /// let columns = tensor![[1.0f32, 2.0], [2.0, 3.0]];
    /// let image = columns.col2im([1, 3], &[1, 2], &[1, 1], &[0, 0], &[1, 1])?;
    /// assert_eq!(image.to_vec::<f32>()?, [1.0, 4.0, 3.0]);
    /// ```
    func: col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding,
        int[2] stride) -> Tensor,
    autogen: col2im.out, variants: function, kernel: col2im;
}
