//! Indices of true elements: `where` with a condition alone.

use monomorph_core::{Device, Element, Error, Result, Tensor, with_element};

/// `where`: for each dimension the indices at which `condition` is nonzero, in row-major order. The number of results
/// depends on the data, so a meta tensor is an error.
pub fn where_nonzero<D: Device>(condition: &Tensor<D>) -> Result<Vec<Tensor<D>>> {
    let make = || {
        let truth: Vec<bool> = with_element!(condition.dtype(), T => {
            condition.to_vec::<T>()?.into_iter().map(|x| x.to_scalar().to_bool()).collect()
        });
        // A tensor without dimensions counts as one of one element.
        let sizes: Vec<usize> = match condition.sizes() {
            [] => vec![1],
            sizes => sizes.iter().map(|&s| s as usize).collect(),
        };
        let found: Vec<usize> = truth.iter().enumerate().filter_map(|(i, &t)| t.then_some(i)).collect();
        let mut below = truth.len();
        let mut results = Vec::with_capacity(sizes.len());
        for size in sizes {
            below = below.checked_div(size).unwrap_or(0);
            let index = |&i: &usize| (i / below.max(1) % size.max(1)) as i64;
            let indices: Vec<i64> = found.iter().map(index).collect();
            results.push(Tensor::from_slice(&indices, &[indices.len() as i64])?);
        }
        Ok(results)
    };
    make().map_err(|e: Error| e.of("where"))
}

/// The rows of this family; see [`op_table!`](crate::op_table!).
#[doc(hidden)]
#[macro_export]
macro_rules! __nonzero_rows {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
        { [where] (Tensor condition) -> (Tensor[]) : hand ($crate::nonzero::where_nonzero) {
            functional where_nonzero;
        } }
    } };
}
