//! Factories: tensors from sizes, from numbers, and like other tensors.
#![deny(clippy::arithmetic_side_effects)]

use crate::fill::{Fills, fill_};
use crate::table::native;
use monomorph_core::strides::{self, preserve_strides, strides_for};
use monomorph_core::{
    DEFAULT_FLOAT, DType, Device, DeviceId, Error, ErrorKind, Layout, MemoryFormat, Result, Scalar, Tensor, observe,
};

/// The device index that a factory's options name, after checking that this device type can serve them.
pub(crate) fn device_index<D: Device>(device: Option<DeviceId>, pin_memory: Option<bool>, default: u8) -> Result<u8> {
    if pin_memory == Some(true) {
        let accepted = "false or None: page-locked memory belongs to a CUDA device, and this build has none";
        return Err(ErrorKind::UnknownOption { arg: "pin_memory", got: "true".into(), accepted }.into());
    }
    match device {
        None => Ok(default),
        Some(id) if id.kind == D::KIND => Ok(id.index),
        Some(id) => {
            let accepted = "the device type that it was instantiated for";
            Err(ErrorKind::UnknownDevice { arg: "device", got: id.to_string(), accepted }.into())
        }
    }
}

/// `empty.memory_format`: a tensor of `size`. Its elements are zero: no safe call shows uninitialised memory.
pub fn empty<D: Device>(
    size: &[i64],
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("empty", []);
    let make = || {
        if memory_format == Some(MemoryFormat::Preserve) {
            let accepted = "contiguous_format, channels_last and channels_last_3d: there is nothing to preserve";
            return Err(
                ErrorKind::UnknownOption { arg: "memory_format", got: "preserve_format".into(), accepted }.into()
            );
        }
        let index = device_index::<D>(device, pin_memory, 0)?;
        strides::numel(size)?;
        let strides = strides_for(size, memory_format.unwrap_or(MemoryFormat::Contiguous))?;
        Tensor::zeroed(dtype.unwrap_or(DEFAULT_FLOAT), size, &strides, index)
    };
    make().map_err(|e: Error| e.of("empty"))
}

/// `empty.out`: gives `out` the sizes; what it held within them stays.
pub fn empty_out<D: Device>(size: &[i64], memory_format: Option<MemoryFormat>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("empty", [out.geometry()]);
    if memory_format.is_some() {
        let rule = "argument memory_format excludes argument out: an output keeps or gets its own strides";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    strides::numel(size)?;
    crate::table::resize(out, size)
}

/// `empty_strided`: a tensor of `size` with these strides, zero.
pub fn empty_strided<D: Device>(
    size: &[i64],
    stride: &[i64],
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("empty_strided", []);
    let make = || {
        let index = device_index::<D>(device, pin_memory, 0)?;
        Tensor::zeroed(dtype.unwrap_or(DEFAULT_FLOAT), size, stride, index)
    };
    make().map_err(|e: Error| e.of("empty_strided"))
}

/// `zeros`: a tensor of `size`, zero.
pub fn zeros<D: Device>(
    size: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("zeros", []);
    empty(size, dtype, layout, device, pin_memory, None)
}

/// `ones`: a tensor of `size`, one.
pub fn ones<D: Fills>(
    size: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("ones", []);
    full(size, Scalar::Int(1), Some(dtype.unwrap_or(DEFAULT_FLOAT)), layout, device, pin_memory)
}

/// `full`: a tensor of `size`, filled. Without a dtype: bool, int64, float32 or complex64 by the kind of the number.
pub fn full<D: Fills>(
    size: &[i64],
    fill_value: impl Into<Scalar>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("full", []);
    let value = fill_value.into();
    let dtype = dtype.unwrap_or(match value {
        Scalar::Float(_) => DEFAULT_FLOAT,
        Scalar::Complex(_) => DEFAULT_FLOAT.to_complex(),
        other => other.dtype(),
    });
    let mut out = empty(size, Some(dtype), layout, device, pin_memory, None)?;
    fill_(&mut out, value)?;
    Ok(out)
}

/// `zeros.out`: gives `out` the sizes and zeroes it.
pub fn zeros_out<D: Fills>(size: &[i64], out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("zeros", [out.geometry()]);
    full_out(size, Scalar::Int(0), out)
}

/// `ones.out`: gives `out` the sizes and fills it with one.
pub fn ones_out<D: Fills>(size: &[i64], out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("ones", [out.geometry()]);
    full_out(size, Scalar::Int(1), out)
}

/// `full.out`: gives `out` the sizes and fills it.
pub fn full_out<D: Fills>(size: &[i64], fill_value: impl Into<Scalar>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("full", [out.geometry()]);
    let value = fill_value.into();
    strides::numel(size)?;
    value.check_fits(out.dtype(), "fill_value")?;
    crate::table::resized(out, size, |out| fill_(out, value).map(drop))
}

/// `scalar_tensor`: a tensor without dimensions that holds a number, float32 if no dtype is given.
pub fn scalar_tensor<D: Fills>(
    s: impl Into<Scalar>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("scalar_tensor", []);
    full(&[], s, Some(dtype.unwrap_or(DEFAULT_FLOAT)), layout, device, pin_memory)
}

/// `empty_like`: a tensor with the sizes of another one. In `preserve_format`, the default, it has the same strides if
/// they are dense, else dense ones in the same order.
pub fn empty_like<D: Device>(
    this: &Tensor<D>,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("empty_like", [this.geometry()]);
    let make = || {
        let index = device_index::<D>(device, pin_memory, this.device().index)?;
        let strides = match memory_format.unwrap_or(MemoryFormat::Preserve) {
            MemoryFormat::Preserve => preserve_strides(this.sizes(), this.strides()),
            format => strides_for(this.sizes(), format)?,
        };
        Tensor::zeroed(dtype.unwrap_or(this.dtype()), this.sizes(), &strides, index)
    };
    make().map_err(|e: Error| e.of("empty_like"))
}

/// `full_like`: a tensor like another one, filled.
pub fn full_like<D: Fills>(
    this: &Tensor<D>,
    fill_value: impl Into<Scalar>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("full_like", [this.geometry()]);
    let mut out = empty_like(this, dtype, layout, device, pin_memory, memory_format)?;
    fill_(&mut out, fill_value)?;
    Ok(out)
}

/// `zeros_like`: a tensor like another one, zero.
pub fn zeros_like<D: Device>(
    this: &Tensor<D>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("zeros_like", [this.geometry()]);
    empty_like(this, dtype, layout, device, pin_memory, memory_format)
}

/// `ones_like`: a tensor like another one, one.
pub fn ones_like<D: Fills>(
    this: &Tensor<D>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("ones_like", [this.geometry()]);
    full_like(this, Scalar::Int(1), dtype, layout, device, pin_memory, memory_format)
}

/// `empty_strided.out`: as the out= form of a functional result: sizes are given, contiguous if they differ.
pub fn empty_strided_out<D: Device>(size: &[i64], stride: &[i64], out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("empty_strided", [out.geometry()]);
    let values = Tensor::zeroed(out.dtype(), size, stride, out.device().index)?;
    crate::table::write_out(&values, out)
}

/// `scalar_tensor.out`: a number into a tensor that becomes 0-dimensional.
pub fn scalar_tensor_out<D: Fills>(s: impl Into<Scalar>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("scalar_tensor", [out.geometry()]);
    let values = scalar_tensor(s, Some(out.dtype()), None, None, None)?;
    crate::table::write_out(&values, out)
}

/// `empty_like.out` and `zeros_like.out`: zeroes with the sizes of `this`, in the dtype of `out`.
pub fn zeros_like_out<D: Device>(
    this: &Tensor<D>,
    memory_format: Option<MemoryFormat>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("zeros_like", [this.geometry(), out.geometry()]);
    let values = empty_like(this, Some(out.dtype()), None, None, None, memory_format)?;
    crate::table::write_out(&values, out)
}

/// `full_like.out`: one number with the sizes of `this`, in the dtype of `out`.
pub fn full_like_out<D: Fills>(
    this: &Tensor<D>,
    fill_value: impl Into<Scalar>,
    memory_format: Option<MemoryFormat>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("full_like", [this.geometry(), out.geometry()]);
    let values = full_like(this, fill_value, Some(out.dtype()), None, None, None, memory_format)?;
    crate::table::write_out(&values, out)
}

/// `ones_like.out`: ones with the sizes of `this`, in the dtype of `out`.
pub fn ones_like_out<D: Fills>(
    this: &Tensor<D>,
    memory_format: Option<MemoryFormat>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("ones_like", [this.geometry(), out.geometry()]);
    full_like_out(this, 1, memory_format, out)
}

native! {
    family: Factory, functions: crate::fill::Fills;

    /// A tensor of the sizes `size`, whose elements are not defined.
    ///
    /// The dtype is float32 for `None`.
    ///
    /// ```
    /// assert_eq!(ops::empty((2, 3), None)?.sizes(), [2, 3]);
    /// ```
    func: empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, positional: [dtype], kernel: empty;

    /// [`empty`](super::functions::empty) into `out`.
    func: empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: empty_out;

    /// A tensor of the sizes `size` and the strides `stride`, whose elements are not defined.
    ///
    /// The dtype is float32 for `None`.
    ///
    /// ```
    /// let x = ops::empty_strided((2, 3), (1, 2), F32)?;
    /// assert_eq!(x.strides(), [1, 2]);
    /// ```
    func: empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, positional: [dtype], kernel: empty_strided;

    func: empty_strided.out(SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> Tensor(a!),
    kernel: empty_strided_out;

    /// A tensor of the sizes `size` that is 0 everywhere.
    ///
    /// The dtype is float32 for `None`. A negative size is an error.
    ///
    /// ```
    /// let x = ops::zeros((2, 3), I64)?;
    /// assert_eq!(x.to_vec::<i64>()?, [0; 6]);
    /// ```
    func: zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, positional: [dtype], kernel: zeros;

    /// [`zeros`](super::functions::zeros) into `out`.
    func: zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: zeros_out;

    /// A tensor of the sizes `size` that is 1 everywhere.
    ///
    /// The dtype is float32 for `None`. A negative size is an error.
    ///
    /// ```
    /// assert_eq!(ops::ones(3, None)?.to_vec::<f32>()?, [1.0; 3]);
    /// ```
    func: ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, positional: [dtype], kernel: ones;

    /// [`ones`](super::functions::ones) into `out`.
    func: ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: ones_out;

    /// A tensor of the sizes `size` that is `fill_value` everywhere.
    ///
    /// Without the option `dtype`, a float gives float32, an integer int64, a bool bool, a complex number complex64.
    ///
    /// ```
    /// assert_eq!(ops::full((2, 2), 2.5)?.to_vec::<f32>()?, [2.5; 4]);
    /// assert_eq!(ops::full(2, 7)?.dtype(), I64);
    /// ```
    func: full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: full;

    /// [`full`](super::functions::full) into `out`.
    func: full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: full_out;

    /// A tensor of no dimensions that is the number `s`.
    ///
    /// The dtype is float32 unless the option `dtype` says another one, for integers, too.
    ///
    /// ```
    /// let x = ops::scalar_tensor(2)?;
    /// assert_eq!((x.ndim(), x.dtype()), (0, F32));
    /// ```
    func: scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, kernel: scalar_tensor;

    func: scalar_tensor.out(Scalar s, *, Tensor(a!) out) -> Tensor(a!),
    kernel: scalar_tensor_out;

    /// A tensor of the sizes and the dtype of `self`, whose elements are not defined.
    ///
    /// The strides are those of [`deep_clone`](super::functions::deep_clone). The option `dtype` says another one.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2]].empty_like()?.sizes(), [1, 2]);
    /// ```
    func: empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, kernel: empty_like;

    func: empty_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: zeros_like_out;

    /// A tensor of the sizes and the dtype of `self` that is 0 everywhere.
    ///
    /// The option `dtype` says another one.
    ///
    /// ```
    /// let x = tensor![[1, 2]];
    /// assert_eq!(x.zeros_like()?.to_vec::<i32>()?, [0, 0]);
    /// let y = x.zeros_like_with(ZerosLike { dtype: Some(F32), ..Default::default() })?;
    /// assert_eq!(y.dtype(), F32);
    /// ```
    func: zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, kernel: zeros_like;

    func: zeros_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: zeros_like_out;

    /// A tensor of the sizes and the dtype of `self` that is 1 everywhere.
    ///
    /// The option `dtype` says another one.
    ///
    /// ```
    /// assert_eq!(tensor![[3, 4]].ones_like()?.to_vec::<i32>()?, [1, 1]);
    /// ```
    func: ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, kernel: ones_like;

    func: ones_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: ones_like_out;

    /// A tensor of the sizes and the dtype of `self` that is `fill_value` everywhere.
    ///
    /// The number is converted to the dtype, which the option `dtype` changes.
    ///
    /// ```
    /// assert_eq!(tensor![3, 4].full_like(7)?.to_vec::<i32>()?, [7, 7]);
    /// ```
    func: full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, kernel: full_like;

    func: full_like.out(Tensor self, Scalar fill_value, *, MemoryFormat? memory_format=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: full_like_out;
}
