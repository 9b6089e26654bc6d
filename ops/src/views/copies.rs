//! Tensors made from another one: clone, contiguous, reshape, to, and narrow by a tensor. Each is the tensor itself or
//! a view where that is enough, else a copy.
#![deny(clippy::arithmetic_side_effects)]

use crate::composite::shape::flat_sizes;
use crate::factory::{device_index, empty_like};
use crate::fill::copy_;
use crate::table::native;
use monomorph_core::strides;
use monomorph_core::{
    DType, Device, DeviceId, Element, Error, ErrorKind, Layout, MemoryFormat, Result, Tensor, observe,
};

/// `clone`: a copy with its own storage, its elements resolved; in `preserve_format` unless another is given.
pub fn clone_tensor<D: Device>(this: &Tensor<D>, memory_format: Option<MemoryFormat>) -> Result<Tensor<D>> {
    let _span = observe::operator("clone", [this.geometry()]);
    let mut out = empty_like(this, None, None, None, None, memory_format).map_err(|e| e.of("clone"))?;
    copy_(&mut out, this, false)?;
    Ok(out)
}

/// The tensor itself, or a copy if its elements are not what is in memory.
pub(crate) fn resolved<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
    if this.is_conj() || this.is_neg() { clone_tensor(this, None) } else { Ok(this.clone()) }
}

/// `contiguous`: the tensor itself if it already has the format, else a copy that does.
pub fn contiguous<D: Device>(this: &Tensor<D>, memory_format: MemoryFormat) -> Result<Tensor<D>> {
    Ok(made_contiguous(this, memory_format)?.unwrap_or_else(|| this.clone()))
}

/// `contiguous`, or nothing where that is the tensor itself.
pub fn made_contiguous<D: Device>(this: &Tensor<D>, memory_format: MemoryFormat) -> Result<Option<Tensor<D>>> {
    let _span = observe::operator("contiguous", [this.geometry()]);
    let already = match memory_format {
        MemoryFormat::Contiguous => this.is_contiguous(),
        MemoryFormat::Preserve => {
            let accepted = "contiguous_format, channels_last and channels_last_3d";
            let error = ErrorKind::UnknownOption { arg: "memory_format", got: "preserve_format".into(), accepted };
            return Err(Error::new(error).of("contiguous"));
        }
        format => strides::is_channels_last(this.sizes(), this.strides(), format),
    };
    (!already).then(|| clone_tensor(this, Some(memory_format))).transpose()
}

/// `reshape`: other sizes of the same elements; a view where the strides allow it, else a contiguous copy.
pub fn reshape<D: Device>(this: &Tensor<D>, shape: &[i64]) -> Result<Tensor<D>> {
    let _span = observe::operator("reshape", [this.geometry()]);
    let make = || {
        let sizes = strides::infer_size(shape, this.numel())?;
        match crate::view::view(this.geometry(), &sizes) {
            Ok(geometry) => this.with_geometry(geometry),
            Err(_) => {
                let copy = clone_tensor(this, Some(MemoryFormat::Contiguous))?;
                copy.with_geometry(crate::view::view(copy.geometry(), &sizes)?)
            }
        }
    };
    make().map_err(|e: Error| e.of("reshape"))
}

/// `reshape_as`: the sizes of another tensor.
pub fn reshape_as<D: Device>(this: &Tensor<D>, other: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("reshape_as", [this.geometry(), other.geometry()]);
    reshape(this, other.sizes())
}

/// `ravel`: all elements in one dimension; a view of a contiguous tensor, else a copy.
pub fn ravel<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("ravel", [this.geometry()]);
    reshape(&contiguous(this, MemoryFormat::Contiguous)?, &[-1])
}

/// `flatten.using_ints`: the dimensions from `start_dim` to `end_dim` as one; a view where the strides allow it.
pub fn flatten<D: Device>(this: &Tensor<D>, start_dim: i64, end_dim: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("flatten", [this.geometry()]);
    let sizes = flat_sizes(this.sizes(), start_dim, end_dim).map_err(|e: Error| e.of("flatten"))?;
    sizes.map_or_else(|| Ok(this.clone()), |sizes| reshape(this, &sizes)).map_err(|e| e.of("flatten"))
}

/// `linalg_diagonal`: the diagonal of the last two dimensions.
pub fn linalg_diagonal<D: Device>(a: &Tensor<D>, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("linalg_diagonal", [a.geometry()]);
    let view = crate::rearrange::diagonal(a.geometry(), offset, dim1, dim2);
    view.and_then(|geometry| a.with_geometry(geometry)).map_err(|e| e.of("linalg_diagonal"))
}

/// `view_copy`: a contiguous copy with other sizes, also where there is no such view.
pub fn view_copy<D: Device>(this: &Tensor<D>, size: &[i64]) -> Result<Tensor<D>> {
    let _span = observe::operator("view_copy", [this.geometry()]);
    let sizes = strides::infer_size(size, this.numel()).map_err(|e: Error| e.of("view_copy"))?;
    reshape(&clone_tensor(this, Some(MemoryFormat::Contiguous))?, &sizes)
}

/// `narrow.Tensor`: `narrow` whose start is the value of an integer tensor without dimensions.
pub fn narrow_from<D: Device>(this: &Tensor<D>, dim: i64, start: &Tensor<D>, length: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("narrow", [this.geometry(), start.geometry()]);
    let make = || {
        if start.ndim() != 0 || !start.dtype().is_integral(false) {
            let rule = "argument start must be an integer tensor without dimensions";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let start = start.item()?.to_i64();
        this.with_geometry(crate::view::narrow(this.geometry(), dim, start, length)?)
    };
    make().map_err(|e: Error| e.of("narrow"))
}

/// `_to_copy`: a new tensor of another dtype, on another device or in another format, also where nothing changes.
pub fn to_copy<D: Device>(
    this: &Tensor<D>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    non_blocking: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_to_copy", [this.geometry()]);
    to(this, dtype, layout, device, pin_memory, non_blocking, true, memory_format).map_err(|e| e.of("_to_copy"))
}

/// `_to_copy.out`: the elements in the dtype of `out`, which gets the sizes of `this`.
pub fn to_copy_out<D: Device>(
    this: &Tensor<D>,
    non_blocking: bool,
    memory_format: Option<MemoryFormat>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("_to_copy", [this.geometry(), out.geometry()]);
    let values = to_copy(this, Some(out.dtype()), None, None, None, non_blocking, memory_format)?;
    crate::table::write_out(&values, out)
}

/// The copying half of `to`: a new tensor of another dtype or format. A device must be of this type.
fn converted<D: Device>(
    this: &Tensor<D>,
    dtype: DType,
    device: Option<DeviceId>,
    format: MemoryFormat,
) -> Result<Tensor<D>> {
    let mut out = empty_like(this, Some(dtype), None, device, None, Some(format))?;
    out.copy_from(this)?;
    Ok(out)
}

/// `to.dtype_layout`: the tensor itself if nothing would change and no copy is asked for, else a copy.
#[expect(clippy::too_many_arguments, reason = "the schema has as many")]
pub fn to<D: Device>(
    this: &Tensor<D>,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    _non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("to", [this.geometry()]);
    let make = || {
        let index = device_index::<D>(device, pin_memory, this.device().index)?;
        let dtype = dtype.unwrap_or(this.dtype());
        let format = memory_format.unwrap_or(MemoryFormat::Preserve);
        let in_format = match format {
            MemoryFormat::Preserve => true,
            format => strides::suggest_format(this.sizes(), this.strides()) == format,
        };
        if !copy && dtype == this.dtype() && index == this.device().index && in_format {
            return Ok(this.clone());
        }
        converted(this, dtype, device, format)
    };
    make().map_err(|e: Error| e.of("to"))
}

/// `to.device`: to a device and a dtype.
pub fn to_device<D: Device>(
    this: &Tensor<D>,
    device: DeviceId,
    dtype: DType,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("to", [this.geometry()]);
    to(this, Some(dtype), None, Some(device), None, non_blocking, copy, memory_format)
}

/// `to.dtype`: to a dtype.
pub fn to_dtype<D: Device>(
    this: &Tensor<D>,
    dtype: DType,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("to", [this.geometry()]);
    to(this, Some(dtype), None, None, None, non_blocking, copy, memory_format)
}

/// A dtype named by its Rust type, as a method of tensors.
pub trait CastMethods<D: Device> {
    /// The tensor in the dtype of a Rust type, as `to` gives it: itself, if it has that dtype.
    ///
    /// # Errors
    ///
    /// Those of the device's memory.
    fn cast<T: Element>(&self) -> Result<Tensor<D>>;
}

impl<D: Device> CastMethods<D> for Tensor<D> {
    fn cast<T: Element>(&self) -> Result<Tensor<D>> {
        to_dtype(self, T::DTYPE, false, false, None)
    }
}

/// `to.other`: to the dtype and device of another tensor.
pub fn to_other<D: Device>(
    this: &Tensor<D>,
    other: &Tensor<D>,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("to", [this.geometry(), other.geometry()]);
    to(this, Some(other.dtype()), None, Some(other.device()), None, non_blocking, copy, memory_format)
}

native! {
    family: Copies, functions: crate::fill::Fills;

    /// Copies the elements into a storage of its own, where `clone` shares it.
    ///
    /// The strides stay where the tensor has no gaps and does not overlap; `memory_format` says others.
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// let mut y = x.deep_clone()?;
    /// y.add_(10)?;
    /// assert_eq!((x.to_vec::<i32>()?, y.to_vec::<i32>()?), (vec![1, 2], vec![11, 12]));
    /// ```
    func: clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor,
    autogen: clone.out, variants: function, name: deep_clone, kernel: clone_tensor;

    /// The tensor in contiguous memory: itself if it is, a copy if not.
    ///
    /// `memory_format` asks for another order of the dimensions.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]].t()?;
    /// assert!(!x.is_contiguous() && x.contiguous()?.is_contiguous());
    /// ```
    func: contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a),
    variants: function, kernel: made_contiguous else self;

    func: to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, bool non_blocking=False, bool copy=False,
        MemoryFormat? memory_format=None) -> Tensor(a),
    kernel: to, across: moving;

    func: to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False,
        MemoryFormat? memory_format=None) -> Tensor(a),
    kernel: to_device, across: moving;

    /// Converts to a dtype; a tensor that has it is itself, unless `copy` is set.
    ///
    /// Floats are cut towards zero for integers, and what is not 0 is true for bool. `cast::<T>()` takes a Rust type.
    ///
    /// ```
    /// let x = tensor![1.9f32, -1.9];
    /// assert_eq!(x.to(I64)?.to_vec::<i64>()?, [1, -1]);
    /// assert_eq!(x.to(Bool)?.to_vec::<bool>()?, [true, true]);
    /// ```
    func: to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False,
        MemoryFormat? memory_format=None) -> Tensor(a),
    variants: function, kernel: to_dtype;

    func: to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False,
        MemoryFormat? memory_format=None) -> Tensor(a),
    kernel: to_other, across: moving;

    /// Copies, and converts to the option `dtype` where there is one.
    ///
    /// ```
    /// let x = tensor![1, 2];
    /// let y = x.to_copy_with(ToCopy { dtype: Some(F32), ..Default::default() })?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0]);
    /// ```
    func: _to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, kernel: to_copy, across: moving;

    func: _to_copy.out(Tensor self, *, bool non_blocking=False, MemoryFormat? memory_format=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: to_copy_out;

    func: _reshape_copy(Tensor self, SymInt[] size) -> Tensor,
    kernel: view_copy;

    /// The elements in other sizes, in the same order; one size may be -1 and follows from the others.
    ///
    /// The result is a view where strides allow it ([`view`](super::functions::view)), else a copy.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.reshape(-1)?.to_vec::<i32>()?, [1, 2, 3, 4, 5, 6]);
    /// assert_eq!(x.t()?.reshape((2, 3))?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// ```
    func: reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a),
    variants: function, kernel: reshape;

    /// Copies the elements into a contiguous tensor of other sizes, as [`view`](super::functions::view) views them.
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4];
    /// assert_eq!(x.view_copy((2, -1))?.sizes(), [2, 2]);
    /// ```
    func: view_copy(Tensor self, SymInt[] size) -> Tensor,
    autogen: view_copy.out, variants: function, kernel: view_copy;

    /// The elements in the sizes of `other`, as [`reshape`](super::functions::reshape).
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4];
    /// assert_eq!(x.reshape_as(&tensor![[0, 0], [0, 0]])?.sizes(), [2, 2]);
    /// ```
    func: reshape_as(Tensor(a) self, Tensor other) -> Tensor(a),
    variants: function, typed: reshape_as, composite: implicit crate::composite::shape::reshape_as;

    /// The elements in one dimension and contiguous: a view where the tensor is contiguous, else a copy.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].ravel()?.to_vec::<i32>()?, [1, 2, 3, 4]);
    /// ```
    func: ravel(Tensor(a) self) -> Tensor(a),
    variants: function, typed: ravel, composite: implicit crate::composite::shape::ravel;

    /// Joins the dimensions from `start_dim` to `end_dim`, all of them by default, to one.
    ///
    /// The result is a view where strides allow it, else a copy. A tensor without dimensions gets one.
    ///
    /// ```
    /// let x = ops::zeros((2, 3, 5), F32)?;
    /// assert_eq!(x.flatten()?.sizes(), [30]);
    /// let from_1 = Flatten { start_dim: 1, ..Default::default() };
    /// assert_eq!(x.flatten_with(from_1)?.sizes(), [2, 15]);
    /// ```
    func: flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a),
    variants: function, typed: flatten, composite: implicit crate::composite::shape::flatten;

    /// The diagonal of each matrix of a batch, which [`diagonal`](super::functions::diagonal) takes of the first two
    /// dimensions unless it is told others.
    ///
    /// ```
    /// let x = ops::zeros((5, 2, 3), F32)?;
    /// assert_eq!(ops::linalg_diagonal(&x)?.sizes(), [5, 2]);
    /// ```
    func: linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a),
    variants: function, kernel: linalg_diagonal;

    func: narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a),
    kernel: narrow_from;
}
