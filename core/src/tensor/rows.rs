//! `for row in &tensor`: the first dimension, one view after another.

use super::Tensor;
use crate::storage::Device;
use std::iter::FusedIterator;
use std::ops::Range;

/// The views of a tensor along its first dimension. A tensor without dimensions has none.
#[derive(Clone)]
pub struct Rows<'t, D: Device> {
    tensor: &'t Tensor<D>,
    left: Range<i64>,
}

impl<D: Device> Rows<'_, D> {
    fn row(&self, index: i64) -> Option<Tensor<D>> {
        // A part of a geometry that its storage holds is one, too.
        let geometry = self.tensor.geometry().select(0, index).ok()?;
        self.tensor.with_geometry(geometry).ok()
    }
}

impl<D: Device> Iterator for Rows<'_, D> {
    type Item = Tensor<D>;

    fn next(&mut self) -> Option<Tensor<D>> {
        let index = self.left.next()?;
        self.row(index)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<D: Device> DoubleEndedIterator for Rows<'_, D> {
    fn next_back(&mut self) -> Option<Tensor<D>> {
        let index = self.left.next_back()?;
        self.row(index)
    }
}

impl<D: Device> ExactSizeIterator for Rows<'_, D> {
    fn len(&self) -> usize {
        (self.left.end - self.left.start) as usize
    }
}

impl<D: Device> FusedIterator for Rows<'_, D> {}

impl<'t, D: Device> IntoIterator for &'t Tensor<D> {
    type Item = Tensor<D>;
    type IntoIter = Rows<'t, D>;

    fn into_iter(self) -> Rows<'t, D> {
        Rows { tensor: self, left: 0..self.sizes().first().copied().unwrap_or(0) }
    }
}
