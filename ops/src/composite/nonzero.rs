//! Indices of true elements: `where` with a condition alone.
#![deny(clippy::arithmetic_side_effects)]

use crate::table::native;
use monomorph_core::{DType, Device, Element, Error, Geometry, Result, Tensor, list, observe, with_element};

/// `where`: for each dimension the indices at which `condition` is nonzero, in row-major order. The number of results
/// depends on the data, so a meta tensor is an error.
pub fn where_nonzero<D: Device>(condition: &Tensor<D>) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("where", [condition.geometry()]);
    let make = || {
        let mut truth: Vec<bool> = list::with_capacity(condition.numel())?;
        with_element!(condition.dtype(), T => {
            truth.extend(condition.to_vec::<T>()?.into_iter().map(|x| x.to_scalar().to_bool()));
        });
        // A tensor without dimensions counts as one of one element.
        let sizes = if condition.ndim() == 0 { &[1] } else { condition.sizes() };
        let mut found: Vec<usize> = list::with_capacity(truth.iter().filter(|&&t| t).count())?;
        found.extend(truth.iter().enumerate().filter_map(|(i, &t)| t.then_some(i)));
        // One storage for all: each result is a run of it.
        let mut indices: Vec<i64> = list::with_capacity(found.len().saturating_mul(sizes.len()))?;
        let mut below = truth.len();
        for &size in sizes {
            // Found elements are elements, so no size is 0 where there is one.
            let size = size as usize;
            below = below.checked_div(size).unwrap_or(0);
            let place = |&i: &usize| i.checked_div(below).and_then(|i| i.checked_rem(size)).unwrap_or(0) as i64;
            indices.extend(found.iter().map(place));
        }
        let n = found.len() as i64;
        let all = Tensor::<D>::from_slice_on(0, &indices, indices.len())?;
        let run = |d: i64| all.with_geometry(Geometry::new(DType::I64, &[n], &[1], d.wrapping_mul(n))?);
        (0..sizes.len() as i64).map(run).collect::<Result<Vec<_>>>()
    };
    make().map_err(|e: Error| e.of("where"))
}

native! {
    family: Nonzero;

    /// The indices of the elements that are not 0: one int64 tensor for each dimension.
    ///
    /// ```
    /// let x = tensor![[0, 7], [8, 0]];
    /// let at = ops::where_nonzero(&x)?;
    /// assert_eq!(at[0].to_vec::<i64>()?, [0, 1]);
    /// assert_eq!(at[1].to_vec::<i64>()?, [1, 0]);
    /// ```
    func: where(Tensor condition) -> Tensor[],
    variants: function, name: where_nonzero, kernel: where_nonzero;
}
