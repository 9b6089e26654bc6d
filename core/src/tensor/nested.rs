//! Tensors of nested arrays: `Tensor::from([[1.0f32, 2.0], [3.0, 4.0]])`.

use super::Tensor;
use crate::dtype::Element;
use crate::geometry::Sizes;
use crate::storage::{DefaultDevice, Device, Standard};

mod sealed {
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for T {}
impl<A: Nested, const N: usize> sealed::Sealed for [A; N] {}

/// An element, or an array of such. All arrays of one level have one length, because they have one type.
pub trait Nested: sealed::Sealed {
    /// The type of the elements.
    type Element: Element;

    /// Appends the lengths, outermost first.
    fn sizes(sizes: &mut Vec<usize>);

    /// Appends the elements, in order.
    fn elements(self, to: &mut Vec<Self::Element>);
}

impl<T: Element> Nested for T {
    type Element = T;

    fn sizes(_: &mut Vec<usize>) {}

    fn elements(self, to: &mut Vec<T>) {
        to.push(self);
    }
}

impl<A: Nested, const N: usize> Nested for [A; N] {
    type Element = A::Element;

    fn sizes(sizes: &mut Vec<usize>) {
        sizes.push(N);
        A::sizes(sizes);
    }

    fn elements(self, to: &mut Vec<A::Element>) {
        // Of arrays without elements there may be more than anybody can wait for.
        if size_of::<A>() > 0 {
            self.into_iter().for_each(|inner| inner.elements(to));
        }
    }
}

/// A contiguous tensor on the CPU of a number or of nested arrays, of the dtype of its Rust type: without a suffix a
/// float is `f64` and an integer `i32`. Panics where there is no memory, as `vec!` does.
impl<A: Nested, D: Device> From<A> for Tensor<D>
where
    Standard: DefaultDevice<D>,
{
    fn from(nested: A) -> Tensor<D> {
        let mut sizes = Vec::new();
        A::sizes(&mut sizes);
        let mut elements = Vec::new();
        nested.elements(&mut elements);
        Tensor::from_vec(elements, Sizes::from(sizes)).unwrap_or_else(|error| error.panic())
    }
}

/// A 1-d tensor on the CPU. Panics where there is no memory, as collecting into a vector does.
impl<T: Element, D: Device> FromIterator<T> for Tensor<D>
where
    Standard: DefaultDevice<D>,
{
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Tensor<D> {
        let elements: Vec<T> = elements.into_iter().collect();
        let len = elements.len();
        Tensor::from_vec(elements, len).unwrap_or_else(|error| error.panic())
    }
}
