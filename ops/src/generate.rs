//! Tensors whose elements are a function of their place: what ranges, windows and index lists are made with. Owns no operator.

use crate::factory::empty;
use crate::table::resize;
use monomorph_core::{DType, Device, DeviceId, Element, Result, Scalar, Tensor, with_element};

/// Where a new tensor goes, and of what dtype it is: the options that all factories have.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) dtype: DType,
    pub(crate) device: Option<DeviceId>,
    pub(crate) pin_memory: Option<bool>,
}

/// A new contiguous tensor. `element` is asked once for each place in row-major order, on devices that have memory.
pub(crate) fn generated<D: Device>(
    sizes: &[i64],
    place: Place,
    element: impl FnMut(usize) -> Scalar,
) -> Result<Tensor<D>> {
    let mut out = empty(sizes, Some(place.dtype), None, place.device, place.pin_memory, None)?;
    write(&mut out, element)?;
    Ok(out)
}

/// Such a tensor in the dtype of `out` and on its device, before anything is written to `out`.
pub(crate) fn generated_like<D: Device>(
    sizes: &[i64],
    out: &Tensor<D>,
    element: impl FnMut(usize) -> Scalar,
) -> Result<Tensor<D>> {
    generated(sizes, Place { dtype: out.dtype(), device: Some(out.device()), pin_memory: None }, element)
}

/// Writes a one-dimensional tensor to `out`, which keeps its sizes if it has as many elements, and else becomes one-dimensional,
/// too.
pub(crate) fn write_sequence<D: Device>(values: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    if out.numel() != values.numel() {
        resize(out, values.sizes())?;
    }
    let values = values.view_as(crate::view::view(values.geometry(), out.sizes())?)?;
    out.copy_from(&values)
}

fn write<D: Device>(out: &mut Tensor<D>, mut element: impl FnMut(usize) -> Scalar) -> Result<()> {
    if D::MEMORY.is_none() {
        return Ok(());
    }
    with_element!(out.dtype(), T => {
        for (i, to) in out.data_mut::<T>()?.iter_mut().enumerate() {
            *to = T::from_scalar(element(i)).store();
        }
        Ok(())
    })
}
