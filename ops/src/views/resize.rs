//! Tensors that are given other sizes or another storage: resize_, resize_as_ and set_, and the functional forms of
//! each. They write no element, so they count no write.
#![deny(clippy::arithmetic_side_effects)]

use crate::copies::clone_tensor;
use crate::table::native;
use monomorph_core::strides::{self, contiguous_strides};
use monomorph_core::{DType, Device, Error, ErrorKind, Geometry, MemoryFormat, Result, Storage, Tensor, observe};

/// A geometry with the dtype and bits of the tensor.
fn geometry_of<D: Device>(this: &Tensor<D>, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Geometry> {
    crate::view::reshaped(this.geometry(), sizes, strides, offset)
}

/// `resize_`: other sizes over the same storage, which grows if it must; new bytes are zero. A tensor of these sizes
/// keeps its strides, any other becomes contiguous; with a memory format it gets the strides of that in either case.
pub fn resize_<'a, D: Device>(
    this: &'a mut Tensor<D>,
    size: &[i64],
    memory_format: Option<MemoryFormat>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("resize_", [this.geometry()]);
    resized(this, size, memory_format).map_err(|e: Error| e.of("resize_"))?;
    Ok(this)
}

fn resized<D: Device>(this: &mut Tensor<D>, size: &[i64], format: Option<MemoryFormat>) -> Result<()> {
    strides::numel(size)?;
    match format {
        None => crate::table::resize(this, size),
        Some(MemoryFormat::Preserve) => {
            let accepted = "contiguous_format, channels_last and channels_last_3d";
            let got = "preserve_format".into();
            Err(ErrorKind::UnknownOption { arg: "memory_format", got, accepted }.into())
        }
        Some(format) => this.grow_to(geometry_of(this, size, &strides::strides_for(size, format)?, this.offset())?),
    }
}

/// `resize_as_`: the sizes of another tensor. In `preserve_format` it gets the memory format of that one.
pub fn resize_as_<'a, D: Device>(
    this: &'a mut Tensor<D>,
    the_template: &Tensor<D>,
    memory_format: Option<MemoryFormat>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("resize_as_", [this.geometry(), the_template.geometry()]);
    let format = match memory_format {
        Some(MemoryFormat::Preserve) => Some(strides::suggest_format(the_template.sizes(), the_template.strides())),
        other => other,
    };
    resized(this, the_template.sizes(), format).map_err(|e: Error| e.of("resize_as_"))?;
    Ok(this)
}

/// `resize`: a copy with other sizes.
pub fn resize<D: Device>(this: &Tensor<D>, size: &[i64], memory_format: Option<MemoryFormat>) -> Result<Tensor<D>> {
    let _span = observe::operator("resize", [this.geometry()]);
    let mut out = clone_tensor(this, None)?;
    resized(&mut out, size, memory_format).map_err(|e: Error| e.of("resize"))?;
    Ok(out)
}

/// `resize_as`: a copy with the sizes of another tensor.
pub fn resize_as<D: Device>(
    this: &Tensor<D>,
    the_template: &Tensor<D>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("resize_as", [this.geometry(), the_template.geometry()]);
    let mut out = clone_tensor(this, None)?;
    resize_as_(&mut out, the_template, memory_format).map_err(|e: Error| e.of("resize_as"))?;
    Ok(out)
}

/// `set_`: no elements, and a storage of its own without bytes.
pub fn set_<D: Device>(this: &mut Tensor<D>) -> Result<&mut Tensor<D>> {
    let _span = observe::operator("set_", [this.geometry()]);
    let empty = Tensor::<D>::zeroed(this.dtype(), &[0], &[1], this.device().index)?;
    let geometry = geometry_of(this, &[0], &[1], 0)?;
    this.set_storage(&empty.storage(), geometry).map_err(|e: Error| e.of("set_"))?;
    Ok(this)
}

/// `set_.source_Tensor`: the storage, sizes, strides and offset of another tensor, read in the dtype of this one; the
/// storage grows if its elements are larger.
pub fn set_tensor_<'a, D: Device>(this: &'a mut Tensor<D>, source: &Tensor<D>) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("set_", [this.geometry(), source.geometry()]);
    let make = |this: &mut Tensor<D>| {
        let geometry = geometry_of(this, source.sizes(), source.strides(), source.offset())?;
        this.set_storage(&source.storage(), geometry)
    };
    make(this).map_err(|e: Error| e.of("set_"))?;
    Ok(this)
}

/// `set_.source_Storage`: a whole storage, as one dimension.
pub fn set_storage_<'a, D: Device>(this: &'a mut Tensor<D>, source: &Storage) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("set_", [this.geometry()]);
    let elements = crate::fill::elements_in(source.bytes(), this.dtype());
    set_storage_offset_(this, source, 0, &[elements], &[])
}

/// `set_.source_Storage_storage_offset`: a storage with any offset, sizes and strides; without strides, contiguous. The
/// storage grows to hold them.
pub fn set_storage_offset_<'a, D: Device>(
    this: &'a mut Tensor<D>,
    source: &Storage,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("set_", [this.geometry()]);
    let make = |this: &mut Tensor<D>| {
        strides::numel(size)?;
        let contiguous = stride.is_empty().then(|| contiguous_strides(size));
        let geometry = geometry_of(this, size, contiguous.as_deref().unwrap_or(stride), storage_offset)?;
        this.set_storage(source, geometry)
    };
    make(this).map_err(|e: Error| e.of("set_"))?;
    Ok(this)
}

/// `set_.source_Tensor_storage_offset`: the same over the storage of a contiguous tensor, from its own offset on.
pub fn set_tensor_offset_<'a, D: Device>(
    this: &'a mut Tensor<D>,
    source: &Tensor<D>,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("set_", [this.geometry(), source.geometry()]);
    if !source.is_contiguous() {
        let (sizes, strides) = (source.sizes().to_vec(), source.strides().to_vec());
        return Err(Error::new(ErrorKind::NotContiguous { sizes, strides }).of("set_"));
    }
    let offset = storage_offset.saturating_add(source.offset());
    // A negative offset does not reach back into what the source leaves out.
    let offset = if storage_offset < 0 { storage_offset } else { offset };
    set_storage_offset_(this, &source.storage(), offset, size, stride)
}

/// A tensor in the dtype of `this` that `change` moves to a copy of the storage: the functional forms return no alias,
/// as their schemas say, and what grows is the copy.
fn moved<D: Device>(
    this: &Tensor<D>,
    source: &Storage,
    change: impl FnOnce(&mut Tensor<D>, &Storage) -> Result<()>,
) -> Result<Tensor<D>> {
    let mut whole = Tensor::<D>::zeroed(DType::U8, &[0], &[1], this.device().index)?;
    let bytes = i64::try_from(source.bytes()).unwrap_or(i64::MAX);
    whole.set_storage(source, Geometry::new(DType::U8, &[bytes], &[1], 0)?)?;
    let mut out = this.clone();
    change(&mut out, &clone_tensor(&whole, None)?.storage())?;
    Ok(out)
}

/// `set`: no elements, in the dtype of `this`.
pub fn set<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("set", [this.geometry()]);
    let mut out = this.clone();
    set_(&mut out)?;
    Ok(out)
}

/// `set.source_Tensor`: a copy of the storage of `source` with its sizes, strides and offset, read in the dtype of
/// `this`.
pub fn set_tensor<D: Device>(this: &Tensor<D>, source: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("set", [this.geometry(), source.geometry()]);
    moved(this, &source.storage(), |out, copy| {
        let geometry = geometry_of(out, source.sizes(), source.strides(), source.offset())?;
        out.set_storage(copy, geometry)
    })
}

/// `set.source_Storage`: a copy of a storage, read in the dtype of `this`.
pub fn set_storage<D: Device>(this: &Tensor<D>, source: &Storage) -> Result<Tensor<D>> {
    let _span = observe::operator("set", [this.geometry()]);
    moved(this, source, |out, copy| set_storage_(out, copy).map(drop))
}

/// `set.source_Storage_storage_offset`: a copy of a storage with any offset, sizes and strides, read in the dtype of
/// `this`.
pub fn set_storage_offset<D: Device>(
    this: &Tensor<D>,
    source: &Storage,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("set", [this.geometry()]);
    moved(this, source, |out, copy| set_storage_offset_(out, copy, storage_offset, size, stride).map(drop))
}

native! {
    family: Resize, functions: crate::fill::Fills;

    /// A copy with other sizes: the elements in their order in memory, as many as there are.
    ///
    /// Where there are more than before, those behind the last are not defined.
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4];
    /// assert_eq!(x.resize((1, 3))?.to_vec::<i32>()?, [1, 2, 3]);
    /// ```
    func: resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor,
    autogen: resize.out, variants: function, kernel: resize;

    /// Gives the tensor other sizes in place, and a larger storage where it needs one.
    ///
    /// The result is contiguous, or as `memory_format` says. Elements keep their places in the storage; new ones are
    /// not defined.
    ///
    /// ```
    /// let mut x = tensor![1, 2, 3, 4];
    /// x.resize_((1, 3))?;
    /// assert_eq!((x.sizes(), x.to_vec::<i32>()?), (&[1, 3][..], vec![1, 2, 3]));
    /// ```
    func: resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!),
    variants: function, kernel: resize_;

    /// A copy with the sizes of `the_template`, as [`resize`](super::functions::resize).
    ///
    /// ```
    /// let x = tensor![1, 2, 3, 4];
    /// assert_eq!(x.resize_as(&tensor![[0.0], [0.0]])?.sizes(), [2, 1]);
    /// ```
    func: resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor,
    autogen: resize_as.out, variants: function, kernel: resize_as;

    /// Gives the tensor the sizes of `the_template` in place, as [`resize_`](super::functions::resize_).
    ///
    /// ```
    /// let mut x = tensor![1, 2, 3, 4];
    /// x.resize_as_(&tensor![[0.0], [0.0]])?;
    /// assert_eq!(x.sizes(), [2, 1]);
    /// ```
    func: resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!),
    variants: function, kernel: resize_as_;

    func: set(Tensor self) -> Tensor,
    autogen: set.out, kernel: set;

    func: set_(Tensor(a!) self) -> Tensor(a!),
    kernel: set_;

    func: set.source_Tensor(Tensor self, Tensor source) -> Tensor,
    autogen: set.source_Tensor_out, kernel: set_tensor;

    /// Makes the tensor a view of the storage of `source`, with its sizes and strides; both have the same dtype.
    ///
    /// ```
    /// let (mut x, y) = (tensor![1, 2, 3], tensor![7, 8]);
    /// x.set_(&y)?;
    /// assert_eq!(x.to_vec::<i32>()?, [7, 8]);
    /// ```
    func: set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!),
    variants: function, name: set_, kernel: set_tensor_;

    func: set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size,
        SymInt[] stride=[]) -> Tensor(a!),
    kernel: set_tensor_offset_;

    func: set.source_Storage(Tensor self, Storage source) -> Tensor,
    autogen: set.source_Storage_out, kernel: set_storage;

    func: set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!),
    kernel: set_storage_;

    func: set.source_Storage_storage_offset(Tensor self, Storage source, SymInt storage_offset, SymInt[] size,
        SymInt[] stride=[]) -> Tensor,
    autogen: set.source_Storage_storage_offset_out, kernel: set_storage_offset;

    func: set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, SymInt storage_offset, SymInt[] size,
        SymInt[] stride=[]) -> Tensor(a!),
    kernel: set_storage_offset_;
}
