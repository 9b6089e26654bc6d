//! The vector product, of operands that lie as products are fastest: the dimension of size 3 in front, twice, so that
//! each of the four factors is a dense part of an operand.
//!
//! ```text
//! a  x y z  ─►  x y z x y z     the elements after x, y, z are the part from the second on, those before them the part
//! b  u v w  ─►  u v w u v w     from the third on, and a × b is (y z x) (w u v) - (z x y) (v w u)
//! ```
#![deny(clippy::arithmetic_side_effects)]

use crate::Op;
use crate::arithmetic::{MulFn, SubFn};
use crate::composite::callees::{Callees, Typed};
use crate::composite::matrix_norms::dim_of_cross;
use crate::kernels::Arithmetic;
use crate::pointwise::{PointwiseFn, PointwiseInputs};
use crate::table::native;
use monomorph_core::structured::{Executes, Functional, Operand, call};
use monomorph_core::{Device, Error, MemoryFormat, Part, Rearrangement, Result, Scalar, Tensor, observe};
use smallvec::SmallVec;

/// `linalg_cross`: the vector product along a dimension of size 3.
pub fn linalg_cross<D: Arithmetic>(this: &Tensor<D>, other: &Tensor<D>, dim: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("linalg_cross", [this.geometry(), other.geometry()]);
    crossed(this, other, dim).map_err(|e: Error| e.of("linalg_cross"))
}

fn crossed<D: Arithmetic>(this: &Tensor<D>, other: &Tensor<D>, dim: i64) -> Result<Tensor<D>> {
    let typed = Typed::<D>::CALLEES;
    let dim = dim_of_cross(this.as_any(), other.as_any(), dim)?;
    let (a, b, at) = match (in_front(this, dim)?, in_front(other, dim)?) {
        (Some(a), Some(b)) => (a, b, 0),
        _ => (twice(this, dim)?, twice(other, dim)?, dim),
    };
    let product = |i: i64, j: i64| {
        let (a, b) = (typed.narrow(&a, at, i, 3)?, typed.narrow(&b, at, j, 3)?);
        computed::<MulFn, D>(&[Operand::from(&a), Operand::from(&b)], &[])
    };
    let (first, second) = (product(1, 2)?, product(2, 1)?);
    let product = computed::<SubFn, D>(&[Operand::from(&first), Operand::from(&second)], &[Scalar::Int(1)])?;
    // From the front back to its place.
    let product = (at..dim).try_fold(product, |t, d| typed.transpose(&t, d, d.saturating_add(1)))?;
    if product.geometry().is_canonical() { Ok(product) } else { typed.cloned(&product, MemoryFormat::Contiguous) }
}

fn computed<F: PointwiseFn, D: Executes<Op<F>>>(operands: &[Operand<'_>], numbers: &[Scalar]) -> Result<Tensor<D>> {
    let inputs = PointwiseInputs::from_lists(operands, numbers)?;
    let [result] = call::<Op<F>, D, _>(&inputs, Functional::<D, 1>::default())?;
    Ok(result)
}

/// A tensor with a dimension in front, twice, where the device has a kernel for it.
fn in_front<D: Device>(this: &Tensor<D>, dim: usize) -> Result<Option<Tensor<D>>> {
    let repeated = [(0, 2), (1, 3)].map(|(step, size)| Part { dim, step, size, to: 0 });
    let others = this.sizes().iter().enumerate().filter(|(d, _)| *d != dim);
    // The first of them is dimension 1.
    let others = others.zip(1..).map(|((dim, &size), to)| Part { dim, step: 1, size, to });
    let parts = repeated.into_iter().chain(others).collect::<SmallVec<_>>();
    this.rearranged(&Rearrangement::Parts(parts), MemoryFormat::Contiguous)
}

/// A tensor with a dimension twice.
fn twice<D: Device>(this: &Tensor<D>, dim: usize) -> Result<Tensor<D>> {
    Typed::<D>::CALLEES.cat(vec![this.clone(), this.clone()], dim)
}

native! {
    family: Cross, functions: crate::kernels::Arithmetic;

    func: linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor,
    autogen: linalg_cross.out, kernel: linalg_cross,
    otherwise: explicit crate::composite::matrix_norms::linalg_cross;
}
