//! Arrays of the crate `ndarray` as tensors, and tensors as views of it, without a copy: behind the feature `ndarray`.

use super::{Data, Tensor};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::storage::{DefaultDevice, Device, Standard};
use ndarray::{Array, ArrayView, ArrayViewD, Dimension, IxDyn};

/// The tensor takes the array's buffer, whatever the order of its dimensions. An array with negative strides, or whose
/// buffer is not aligned to 16 bytes, is copied.
///
/// # Errors
///
/// Those of the memory, where it is copied.
impl<T: Element, I: Dimension, D: Device> TryFrom<Array<T, I>> for Tensor<D>
where
    Standard: DefaultDevice<D>,
{
    type Error = Error;

    fn try_from(array: Array<T, I>) -> Result<Tensor<D>> {
        let sizes: Vec<i64> = array.shape().iter().map(|&size| size as i64).collect();
        let strides: Vec<i64> = array.strides().iter().map(|&stride| stride as i64).collect();
        if strides.iter().any(|&stride| stride < 0) {
            return Tensor::from_vec(array.iter().copied().collect(), sizes);
        }
        let (buffer, offset) = array.into_raw_vec_and_offset();
        let len = buffer.len();
        let geometry = Geometry::new(T::DTYPE, &sizes, &strides, offset.unwrap_or(0) as i64)?;
        Tensor::from_vec(buffer, len)?.with_geometry(geometry)
    }
}

/// A copy of the view's elements, in rows.
///
/// # Errors
///
/// Those of the memory.
impl<T: Element, I: Dimension, D: Device> TryFrom<ArrayView<'_, T, I>> for Tensor<D>
where
    Standard: DefaultDevice<D>,
{
    type Error = Error;

    fn try_from(view: ArrayView<'_, T, I>) -> Result<Tensor<D>> {
        let sizes: Vec<i64> = view.shape().iter().map(|&size| size as i64).collect();
        Tensor::from_vec(view.iter().copied().collect(), sizes)
    }
}

/// The elements of a contiguous tensor with its sizes, borrowed for reading.
pub struct NdarrayData<'t, T: Element> {
    data: Data<'t, T>,
    sizes: IxDyn,
}

impl<T: Element> NdarrayData<'_, T> {
    /// The elements as a view, without a copy. Those of a bool tensor are bytes, 0 or 1 or anything else for true.
    pub fn view(&self) -> ArrayViewD<'_, T::Stored> {
        match ArrayView::from_shape(self.sizes.clone(), &self.data) {
            Ok(view) => view,
            Err(_) => unreachable!("a contiguous tensor has as many elements as its sizes say"),
        }
    }
}

impl<D: Device> Tensor<D> {
    /// The elements of a contiguous tensor, to be seen as a view of `ndarray`: `tensor.to_ndarray::<f32>()?.view()`.
    ///
    /// # Errors
    ///
    /// Those of [`data`](Tensor::data): another dtype, not contiguous, a storage that is being written.
    pub fn to_ndarray<T: Element>(&self) -> Result<NdarrayData<'_, T>> {
        let data = self.data::<T>().map_err(|e| e.called("to_ndarray"))?;
        let sizes: Vec<usize> = self.sizes().iter().map(|&size| size as usize).collect();
        Ok(NdarrayData { data, sizes: IxDyn(&sizes) })
    }
}
