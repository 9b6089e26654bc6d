//! Filling and copying: fill_, copy_, and the functional forms of both.
#![deny(clippy::arithmetic_side_effects)]

use crate::Meta;
use crate::algebra::Value;
use crate::pointwise::{AllDTypes, Check, Common, Map, Number, PointwiseInputs, Rule, Same, pointwise};
use crate::prebuilt::Pointwise;
use crate::record;
use crate::table::native;
use monomorph_core::overlap::{self, Internal};
use monomorph_core::strides::DimVec;
use monomorph_core::structured::{Executes, call, in_place};
use monomorph_core::{
    DType, Device, Element, Error, ErrorKind, Geometry, Result, Scalar, Tensor, TensorOrNumber, observe, with_element,
};

pointwise! { FillFn "fill_": AllDTypes, Same<0>; Number => Common; Rule::NULLARY, check = check_value }
impl<V: Value> Map<V> for FillFn {
    #[inline(always)]
    fn eval([]: [V; 0], value: V) -> V {
        value
    }
}

fn check_value(call: &Check<'_, '_>) -> Result<()> {
    call.params.iter().try_for_each(|value| value.check_fits(call.common, "value"))
}

/// A device that can fill: the bound of everything that makes tensors of a value. Every device can, since it has a
/// copy; one that has a kernel says so.
pub trait Fills: Device {
    /// Writes `value` to every element. An error if the dtype cannot hold it.
    fn fill(this: &mut Tensor<Self>, value: Scalar) -> Result<()> {
        fill_by_copy(this, value)
    }
}

impl Fills for Meta {
    fn fill(this: &mut Tensor<Meta>, value: Scalar) -> Result<()> {
        fill_by_kernel(this, value)
    }
}

/// Fills by the device's kernel.
pub fn fill_by_kernel<D: Executes<Pointwise<FillFn>>>(this: &mut Tensor<D>, value: Scalar) -> Result<()> {
    in_place(this, move |_, sink, _| call::<Pointwise<FillFn>, D, _>(&PointwiseInputs::new((value,))?, sink))?;
    Ok(())
}

/// The geometry that reaches every element of `g` once where that is expanded: what a fill of it has to write.
pub fn unexpanded(g: &Geometry) -> Result<Geometry> {
    let size = |(&size, &stride): (&i64, &i64)| if stride == 0 { size.min(1) } else { size };
    let sizes: DimVec = g.sizes().iter().zip(g.strides()).map(size).collect();
    Ok(Geometry::new(g.dtype(), &sizes, g.strides(), g.offset())?.with_conj(g.is_conj()).with_neg(g.is_neg()))
}

/// Fills by a broadcast copy of one element, after the checks of the kernel.
pub fn fill_by_copy<D: Device>(this: &mut Tensor<D>, value: Scalar) -> Result<()> {
    let mut dry = this.as_any().to_meta();
    if let Some(dry) = dry.downcast_mut::<Meta>() {
        fill_by_kernel(dry, value)?;
    }
    with_element!(this.dtype(), T => {
        let one = Tensor::<D>::from_slice_on(this.device().index, &[T::from_scalar(value)], ())?;
        this.with_geometry(unexpanded(this.geometry())?)?.copy_from(&one)
    })
}

/// `fill_.Scalar`: writes `value` to every element, once where indices share it. An error if the dtype cannot hold it.
pub fn fill_<D: Fills>(this: &mut Tensor<D>, value: impl Into<Scalar>) -> Result<&mut Tensor<D>> {
    let _span = observe::operator("fill_", [this.geometry()]);
    if this.strides().contains(&0) {
        // Not through a view: it would be a second tensor of a storage that may have to be the only one's.
        let expanded = this.geometry().clone();
        this.set_view(unexpanded(&expanded)?)?;
        let filled = D::fill(this, value.into());
        this.set_view(expanded)?;
        filled?;
    } else {
        D::fill(this, value.into())?;
    }
    Ok(this)
}

/// `fill_.Tensor`: writes the value of a tensor without dimensions to every element.
pub fn fill_from_<'a, D: Device>(this: &'a mut Tensor<D>, value: &Tensor<D>) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("fill_", [this.geometry(), value.geometry()]);
    if value.ndim() != 0 {
        let error = ErrorKind::DimCount { arg: "value", got: value.ndim(), accepted: "0; take one element of it" };
        return Err(Error::new(error).of("fill_"));
    }
    copy_(this, value, false)
}

/// `copy_`: writes the elements of `source`, broadcast and converted. Copies between devices of one kind are blocking.
pub fn copy_<'a, D: Device>(
    this: &'a mut Tensor<D>,
    source: &Tensor<D>,
    _non_blocking: bool,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("copy_", [this.geometry(), source.geometry()]);
    this.copy_from(source).map_err(|e| e.of("copy_"))?;
    Ok(this)
}

/// `fill.Scalar`: a tensor like `this`, filled.
pub fn fill<D: Fills>(this: &Tensor<D>, value: impl Into<Scalar>) -> Result<Tensor<D>> {
    let _span = observe::operator("fill", [this.geometry()]);
    let mut out = crate::factory::empty_like(this, None, None, None, None, None)?;
    fill_(&mut out, value)?;
    Ok(out)
}

/// `fill.Tensor`: a tensor like `this`, filled with the value of a tensor without dimensions.
pub fn fill_from<D: Device>(this: &Tensor<D>, value: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("fill", [this.geometry(), value.geometry()]);
    let mut out = crate::factory::empty_like(this, None, None, None, None, None)?;
    fill_from_(&mut out, value)?;
    Ok(out)
}

/// `fill` with a number or a tensor without dimensions.
pub fn fill_of<D: Fills>(this: &Tensor<D>, value: TensorOrNumber<'_, D>) -> Result<Tensor<D>> {
    match value {
        TensorOrNumber::Tensor(value) => fill_from(this, value),
        TensorOrNumber::Number(value) => fill(this, value),
    }
}

/// `fill_` with a number or a tensor without dimensions.
pub fn fill_of_<'a, D: Fills>(this: &'a mut Tensor<D>, value: TensorOrNumber<'_, D>) -> Result<&'a mut Tensor<D>> {
    match value {
        TensorOrNumber::Tensor(value) => fill_from_(this, value),
        TensorOrNumber::Number(value) => fill_(this, value),
    }
}

/// `copy`: a tensor with the sizes, strides, offset and dtype of `this` and the elements of `source`. Where `this` has
/// no memory, there is nothing that an offset would be of.
pub fn copy<D: Device>(this: &Tensor<D>, source: &Tensor<D>, non_blocking: bool) -> Result<Tensor<D>> {
    let _span = observe::operator("copy", [this.geometry(), source.geometry()]);
    let out = match this.storage_bytes() {
        0 => Tensor::zeroed(this.dtype(), this.sizes(), this.strides(), this.device().index),
        _ => clone_with_strides(this),
    };
    let mut out = out.map_err(|e| e.of("copy"))?;
    copy_(&mut out, source, non_blocking).map_err(|e| e.of("copy"))?;
    Ok(out)
}

/// A copy of the whole storage under the same geometry. Where indices share elements, each gets its own instead, and a
/// tensor with its conj or neg bit set is resolved.
pub(crate) fn clone_with_strides<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let lazy = this.is_conj() || this.is_neg();
    if lazy || overlap::internal(this.sizes(), this.strides()) == Internal::Yes {
        return crate::copies::clone_tensor(this, None);
    }
    let elements = elements_in(this.storage_bytes(), this.dtype());
    let whole = this.with_geometry(Geometry::new(this.dtype(), &[elements], &[1], 0)?)?;
    let mut out = Tensor::zeroed(this.dtype(), &[elements], &[1], this.device().index)?;
    out.copy_from(&whole)?;
    out.with_geometry(this.geometry().clone().with_wrapped(false))
}

/// How many elements of a dtype so many bytes hold.
pub(crate) fn elements_in(bytes: usize, dtype: DType) -> i64 {
    // No dtype has no bytes, and a storage has no more than `isize::MAX`.
    bytes.checked_div(dtype.size()).map_or(0, |elements| elements as i64)
}

/// `zero_`: zero in every element.
pub fn zero_<D: Fills>(this: &mut Tensor<D>) -> Result<&mut Tensor<D>> {
    let _span = observe::operator("zero_", [this.geometry()]);
    fill_(this, 0).map_err(|e| e.of("zero_"))
}

/// `zero`: a tensor like `this`, zero.
pub fn zero<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("zero", [this.geometry()]);
    crate::factory::empty_like(this, None, None, None, None, None)
}

record! { FillFn "fill_.Scalar: self p", Any within 0:
bool |[], [v]| v, int |[], [v]| v, float |[], [v]| v, complex |[], [v]| v }

native! {
    family: Fill, functions: Fills;

    func: fill.Scalar(Tensor self, Scalar value) -> Tensor,
    autogen: fill.Scalar_out, kernel: fill;

    /// A copy in which all elements are `value`, a number or a tensor of no dimensions.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].fill(7)?.to_vec::<i32>()?, [7, 7]);
    /// ```
    func: fill.Tensor(Tensor self, Tensor value) -> Tensor,
    autogen: fill.Tensor_out, variants: function, numbers: [value], typed: fill_of, kernel: fill_from;

    func: fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!),
    kernel: fill_;

    /// Writes `value`, a number or a tensor of no dimensions, to all elements in place.
    ///
    /// The number is converted to the dtype of the tensor.
    ///
    /// ```
    /// let mut x = tensor![1, 2];
    /// x.fill_(7)?;
    /// assert_eq!(x.to_vec::<i32>()?, [7, 7]);
    /// ```
    func: fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!),
    variants: function, numbers: [value], typed: fill_of_, kernel: fill_from_;

    /// The elements of `src`, broadcast to the sizes and converted to the dtype of `self`.
    ///
    /// ```
    /// let x = ops::zeros((2, 2), F32)?;
    /// assert_eq!(x.copy(&tensor![1, 2])?.to_vec::<f32>()?, [1.0, 2.0, 1.0, 2.0]);
    /// ```
    func: copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor,
    autogen: copy.out, variants: function, kernel: copy, across: copying;

    /// Copies the elements of `src` in place, broadcast to the sizes and converted to the dtype of `self`.
    ///
    /// ```
    /// let mut x = ops::zeros((2, 2), F32)?;
    /// x.copy_(&tensor![1, 2])?;
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 1.0, 2.0]);
    /// ```
    func: copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!),
    variants: function, kernel: copy_, across: copying;

    /// A copy in which all elements are 0.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].zero()?.to_vec::<i32>()?, [0, 0]);
    /// ```
    func: zero(Tensor self) -> Tensor,
    autogen: zero.out, variants: function, kernel: zero;

    /// Writes 0 to all elements in place.
    ///
    /// ```
    /// let mut x = tensor![1, 2];
    /// x.zero_()?;
    /// assert_eq!(x.to_vec::<i32>()?, [0, 0]);
    /// ```
    func: zero_(Tensor(a!) self) -> Tensor(a!),
    variants: function, kernel: zero_;

    structured: Pointwise<FillFn>;
}
