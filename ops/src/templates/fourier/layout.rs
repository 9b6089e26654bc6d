//! How results of transforms lie in memory. As in PyTorch, where a library wants signals one behind the other:
//! outermost are the dimensions that are not transformed, in the order in which they lie in the input, then
//! those that are.

use monomorph_core::strides::DimVec;
use smallvec::SmallVec;

/// Dimensions from the outermost to the innermost in memory.
pub type Order = SmallVec<[usize; 6]>;

/// The strides of a dense tensor whose dimensions lie in this order.
pub fn strides_in(order: &[usize], sizes: &[i64]) -> DimVec {
    let mut strides = DimVec::from_elem(0, sizes.len());
    order.iter().rev().fold(1_i64, |step, &dim| {
        strides[dim] = step;
        step.saturating_mul(sizes[dim].max(1))
    });
    strides
}

/// Dimensions by descending strides; those of equal strides as they are.
fn by_stride(dims: &mut [usize], strides: &[i64]) {
    dims.sort_by_key(|&dim| std::cmp::Reverse(strides[dim]));
}

/// Where dimensions of a tensor come to lie that is transformed along some of them; `last` is the innermost one if it
/// matters which that is.
pub(super) fn transformed(strides: &[i64], dims: &[usize], last: Option<usize>) -> Order {
    let mut order: Order = (0..strides.len()).filter(|dim| !dims.contains(dim) && last != Some(*dim)).collect();
    by_stride(&mut order, strides);
    let mut inner: Order = dims.iter().copied().filter(|&dim| last != Some(dim)).collect();
    by_stride(&mut inner, strides);
    order.extend(inner);
    order.extend(last);
    order
}

/// Dimensions as they lie.
pub(super) fn as_it_lies(strides: &[i64]) -> Order {
    let mut order: Order = (0..strides.len()).collect();
    by_stride(&mut order, strides);
    order
}
