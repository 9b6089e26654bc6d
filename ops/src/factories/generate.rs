//! Tensors whose elements are a function of their place: what ranges, windows and index lists are made with. Owns no
//! operator.

use crate::factory::empty;
use crate::table::{resized, write_out};
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{DType, Device, DeviceId, Element, Error, ErrorKind, Result, Scalar, Tensor, list, with_element};

/// The options that all factories have.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) dtype: Option<DType>,
    pub(crate) device: Option<DeviceId>,
    pub(crate) pin_memory: Option<bool>,
}

/// What a factory is asked for, but for the dtype.
pub(crate) trait Pattern: Sized {
    /// The sizes, after the checks of a call in this dtype.
    fn sizes(&self, dtype: DType) -> Result<DimVec>;

    /// The elements in this dtype, asked for once each in row-major order.
    fn elements(self, dtype: DType) -> impl FnMut(usize) -> Scalar;

    /// A new tensor for a call of `op`, of `default` if the options name no dtype. Elements are computed on devices
    /// that have memory.
    fn make<D: Device>(self, op: &'static str, default: DType, options: Options) -> Result<Tensor<D>> {
        let dtype = options.dtype.unwrap_or(default);
        self.generated(dtype, options.device, options.pin_memory).map_err(|e: Error| e.of(op))
    }

    /// Writes to an output as an operator does that has only a functional kernel.
    fn write<D: Device>(self, out: &mut Tensor<D>) -> Result<()> {
        let values = self.generated(out.dtype(), Some(out.device()), None)?;
        write_out(&values, out)
    }

    /// Writes to an output that keeps its sizes if it has as many elements, and else becomes one-dimensional.
    fn write_sequence<D: Device>(self, out: &mut Tensor<D>) -> Result<()> {
        let sizes = self.sizes(out.dtype())?;
        let is_plain = is_host::<D>() && !out.is_neg() && !out.is_conj();
        if is_plain && strides::numel(&sizes)? != out.numel() {
            // The room is asked for before the elements are computed, and no second one is needed.
            let elements = self.elements(out.dtype());
            return resized(out, &sizes, |out| fill(out, elements));
        }
        let values = self.generated(out.dtype(), Some(out.device()), None)?;
        write_sequence(&values, out)
    }

    /// A new contiguous tensor.
    fn generated<D: Device>(
        self,
        dtype: DType,
        device: Option<DeviceId>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor<D>> {
        let mut out = empty(&self.sizes(dtype)?, Some(dtype), None, device, pin_memory, None)?;
        fill(&mut out, self.elements(dtype))?;
        Ok(out)
    }
}

/// One number in every place.
pub(crate) struct ConstantPattern<'a>(pub(crate) &'a [i64], pub(crate) Scalar);

impl Pattern for ConstantPattern<'_> {
    fn sizes(&self, dtype: DType) -> Result<DimVec> {
        self.1.check_fits(dtype, "fill_value")?;
        Ok(DimVec::from_slice(self.0))
    }

    fn elements(self, _: DType) -> impl FnMut(usize) -> Scalar {
        move |_| self.1
    }
}

/// An error for a count below zero.
pub(crate) fn not_negative(arg: &'static str, got: i64) -> Result<()> {
    if got < 0 {
        return Err(ErrorKind::OutOfRange { arg, got, low: 0, high: i64::MAX }.into());
    }
    Ok(())
}

/// Writes a one-dimensional tensor to `out`, which keeps its sizes if it has as many elements, and else becomes
/// one-dimensional, too.
fn write_sequence<D: Device>(values: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    if out.numel() != values.numel() {
        return resized(out, values.sizes(), |out| out.copy_from(values));
    }
    let values = values.with_geometry(crate::view::view(values.geometry(), out.sizes())?)?;
    out.copy_from(&values)
}

/// True of a device whose memory the host reaches.
fn is_host<D: Device>() -> bool {
    D::MEMORY.is_some_and(|memory| memory.reach.is_host())
}

/// Writes the elements of a contiguous tensor; none where it has no memory.
fn fill<D: Device>(out: &mut Tensor<D>, mut element: impl FnMut(usize) -> Scalar) -> Result<()> {
    if const { D::MEMORY.is_none() } {
        return Ok(());
    }
    with_element!(out.dtype(), T => {
        if !is_host::<D>() {
            let mut values: Vec<T> = list::with_capacity(out.numel())?;
            values.extend((0..out.numel()).map(|i| T::from_scalar(element(i))));
            return out.copy_from(&Tensor::from_slice_on(out.device().index, &values, out.sizes())?);
        }
        for (i, to) in out.data_mut::<T>()?.iter_mut().enumerate() {
            *to = T::from_scalar(element(i)).store();
        }
        Ok(())
    })
}
