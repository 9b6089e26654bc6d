//! Indices of true elements: `where` with a condition alone.

use monomorph_core::{DType, Device, Element, Error, Geometry, Result, Tensor, observe, with_element};

/// `where`: for each dimension the indices at which `condition` is nonzero, in row-major order. The number of results
/// depends on the data, so a meta tensor is an error.
pub fn where_nonzero<D: Device>(condition: &Tensor<D>) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("where", [condition.geometry()]);
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
        // One storage for all: each result is a run of it.
        let mut indices: Vec<i64> = Vec::with_capacity(found.len() * sizes.len());
        let mut below = truth.len();
        for &size in &sizes {
            below = below.checked_div(size).unwrap_or(0);
            indices.extend(found.iter().map(|&i| (i / below.max(1) % size.max(1)) as i64));
        }
        let n = found.len() as i64;
        let all = Tensor::<D>::from_slice(&indices, &[indices.len() as i64])?;
        let run = |d| all.view_as(Geometry::new(DType::I64, &[n], &[1], d * n)?);
        (0..sizes.len() as i64).map(run).collect::<Result<Vec<_>>>()
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
