//! Factories in the dtype and on the device of another tensor, `new_*`, and `empty_permuted`.
#![deny(clippy::arithmetic_side_effects)]

use crate::factory::{empty, empty_strided, full};
use crate::fill::Fills;
use crate::generate::{ConstantPattern, Pattern};
use crate::table::native;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{
    DEFAULT_FLOAT, DType, Device, DeviceId, Error, ErrorKind, Layout, MemoryFormat, Result, Scalar, Tensor, observe,
};

/// `new_empty`: a tensor of `size`, zero.
pub fn new_empty<D: Device>(
    this: &Tensor<D>,
    size: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("new_empty", [this.geometry()]);
    empty(size, dtype.or(Some(this.dtype())), layout, device.or(Some(this.device())), pin_memory, None)
}

/// `new_empty_strided`: a tensor of `size` with these strides, zero.
pub fn new_empty_strided<D: Device>(
    this: &Tensor<D>,
    size: &[i64],
    stride: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("new_empty_strided", [this.geometry()]);
    empty_strided(size, stride, dtype.or(Some(this.dtype())), layout, device.or(Some(this.device())), pin_memory)
}

/// `new_full`: a tensor of `size`, filled. An error if the dtype cannot hold the number.
pub fn new_full<D: Fills>(
    this: &Tensor<D>,
    size: &[i64],
    fill_value: impl Into<Scalar>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("new_full", [this.geometry()]);
    full(size, fill_value, dtype.or(Some(this.dtype())), layout, device.or(Some(this.device())), pin_memory)
}

/// `new_zeros`: a tensor of `size`, zero.
pub fn new_zeros<D: Device>(
    this: &Tensor<D>,
    size: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("new_zeros", [this.geometry()]);
    new_empty(this, size, dtype, layout, device, pin_memory)
}

/// `new_ones`: a tensor of `size`, one.
pub fn new_ones<D: Fills>(
    this: &Tensor<D>,
    size: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("new_ones", [this.geometry()]);
    new_full(this, size, 1, dtype, layout, device, pin_memory)
}

/// `empty_permuted`: a tensor of `size`, zero, dense, whose dimensions lie in memory in the order of `physical_layout`,
/// the one that varies least first.
pub fn empty_permuted<D: Device>(
    size: &[i64],
    physical_layout: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("empty_permuted", []);
    let make = || {
        let strides = permuted_strides(size, physical_layout)?;
        empty_strided(size, &strides, Some(dtype.unwrap_or(DEFAULT_FLOAT)), layout, device, pin_memory)
    };
    make().map_err(|e: Error| e.of("empty_permuted"))
}

fn permuted_strides(size: &[i64], physical_layout: &[i64]) -> Result<DimVec> {
    let arg = "physical_layout";
    if size.len() != physical_layout.len() {
        return Err(ErrorKind::ListLength { arg, got: physical_layout.len(), want: size.len() }.into());
    }
    strides::check_ndim(size.len())?;
    strides::numel(size)?;
    let mut physical = DimVec::new();
    for (i, &dim) in physical_layout.iter().enumerate() {
        let Some(&length) = usize::try_from(dim).ok().and_then(|d| size.get(d)) else {
            let high = (size.len() as i64).wrapping_sub(1);
            return Err(ErrorKind::OutOfRange { arg, got: dim, low: 0, high }.into());
        };
        if physical_layout[..i].contains(&dim) {
            return Err(ErrorKind::DimRepeated { arg, dim: dim as usize }.into());
        }
        physical.push(length);
    }
    let mut strides = DimVec::from_elem(0, size.len());
    for (&dim, &stride) in physical_layout.iter().zip(&strides::strides_for(&physical, MemoryFormat::Contiguous)?) {
        strides[dim as usize] = stride;
    }
    Ok(strides)
}

/// `new_empty.out`, `new_zeros.out`: zeroes of `size`, in the dtype of `out`.
pub fn new_zeros_out<D: Device>(this: &Tensor<D>, size: &[i64], out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("new_zeros", [this.geometry(), out.geometry()]);
    new_full_of(size, Scalar::Int(0), out)
}

/// `new_ones.out`: ones of `size`, in the dtype of `out`.
pub fn new_ones_out<D: Device>(this: &Tensor<D>, size: &[i64], out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("new_ones", [this.geometry(), out.geometry()]);
    new_full_of(size, Scalar::Int(1), out)
}

/// `new_full.out`: one number in `size`, in the dtype of `out`.
pub fn new_full_out<D: Device>(
    this: &Tensor<D>,
    size: &[i64],
    fill_value: impl Into<Scalar>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("new_full", [this.geometry(), out.geometry()]);
    new_full_of(size, fill_value.into(), out)
}

/// `new_empty_strided.out`: zeroes of `size`; an output of other sizes becomes contiguous.
pub fn new_empty_strided_out<D: Device>(
    this: &Tensor<D>,
    size: &[i64],
    stride: &[i64],
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("new_empty_strided", [this.geometry(), out.geometry()]);
    crate::factory::empty_strided_out(size, stride, out)
}

/// `empty_permuted.out`: zeroes of `size`; an output of other sizes becomes contiguous.
pub fn empty_permuted_out<D: Device>(size: &[i64], physical_layout: &[i64], out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("empty_permuted", [out.geometry()]);
    let strides = permuted_strides(size, physical_layout)?;
    crate::factory::empty_strided_out(size, &strides, out)
}

fn new_full_of<D: Device>(size: &[i64], value: Scalar, out: &mut Tensor<D>) -> Result<()> {
    ConstantPattern(size, value).write(out)
}

native! {
    family: NewFactories, functions: crate::fill::Fills;

    /// A tensor of the sizes `size`, with the dtype and device of `self`, whose elements are not defined.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].new_empty(3)?.dtype(), I32);
    /// ```
    func: new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: new_empty;

    func: new_empty.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: new_zeros_out;

    /// A tensor of the sizes `size` and strides `stride`, with the dtype and device of `self`, whose elements are not
    /// defined.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].new_empty_strided((2, 3), (1, 2))?.strides(), [1, 2]);
    /// ```
    func: new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: new_empty_strided;

    func: new_empty_strided.out(Tensor self, SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> Tensor(a!),
    kernel: new_empty_strided_out;

    /// A tensor of the sizes `size` that is `fill_value` everywhere, with the dtype and device of `self`.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].new_full(3, 7)?.to_vec::<i32>()?, [7; 3]);
    /// ```
    func: new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: new_full;

    func: new_full.out(Tensor self, SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!),
    kernel: new_full_out;

    /// A tensor of the sizes `size` that is 0 everywhere, with the dtype and device of `self`.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].new_zeros(3)?.to_vec::<i32>()?, [0; 3]);
    /// ```
    func: new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, kernel: new_zeros;

    func: new_zeros.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: new_zeros_out;

    /// A tensor of the sizes `size` that is 1 everywhere, with the dtype and device of `self`.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].new_ones(3)?.to_vec::<i32>()?, [1; 3]);
    /// ```
    func: new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    variants: function, kernel: new_ones;

    func: new_ones.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: new_ones_out;

    /// A tensor of the sizes `size`, whose elements are not defined and whose dimensions lie in memory as
    /// `physical_layout` lists them, the outermost first.
    ///
    /// The dtype is float32 for `None`.
    ///
    /// ```
    /// let x = ops::empty_permuted((2, 3, 5), (0, 2, 1), F32)?;
    /// assert_eq!(x.strides(), [15, 1, 3]);
    /// ```
    func: empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, positional: [dtype], kernel: empty_permuted;

    func: empty_permuted.out(SymInt[] size, int[] physical_layout, *, Tensor(a!) out) -> Tensor(a!),
    kernel: empty_permuted_out;
}
