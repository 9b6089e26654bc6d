//! The typed forms of operators that are composed of views and copies: cat, stack and their relatives,
//! broadcast_tensors, atleast_*, outer, type_as. Each is the composition of its row, its calls going to typed functions
//! of the device and not to a dispatcher.
//!
//! Lists are slices of tensors or of references to them: `cat(&[&a, &b], 0)`.

use crate::Op;
use crate::arithmetic::MulFn;
use crate::composite::callees::Typed;
use crate::composite::{join, shape};
use crate::copies::to_other;
use crate::pointwise::PointwiseInputs;
use monomorph_core::structured::{Executes, Functional, Operand, call};
use monomorph_core::{Device, Result, Tensor, observe};
use std::borrow::Borrow;

/// A function of a list of tensors.
macro_rules! of_a_list {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $output:ty { $op:literal $composed:path })*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// Those of the operator; tensors of several devices.
        pub fn $name<D: Device, T: Borrow<Tensor<D>>>(tensors: &[T] $(, $arg: $ty)*) -> Result<$output> {
            let _span = observe::enter($op, |each| tensors.iter().for_each(|t| each(t.borrow().geometry())));
            $composed(&Typed::<D>::CALLEES, tensors $(, $arg)*).map_err(|e| e.of($op))
        }
    )*};
}
of_a_list! {
    /// `cat`: joined along a dimension that all have.
    cat(dim: i64) -> Tensor<D> { "cat" join::cat }
    /// `concat`: [`cat`].
    concat(dim: i64) -> Tensor<D> { "concat" join::cat }
    /// `concatenate`: [`cat`].
    concatenate(dim: i64) -> Tensor<D> { "concatenate" join::cat }
    /// `stack`: joined along a new dimension.
    stack(dim: i64) -> Tensor<D> { "stack" join::stack }
    /// `hstack`: side by side.
    hstack() -> Tensor<D> { "hstack" join::hstack }
    /// `vstack`: one below the other.
    vstack() -> Tensor<D> { "vstack" join::vstack }
    /// `row_stack`: [`vstack`].
    row_stack() -> Tensor<D> { "row_stack" join::vstack }
    /// `dstack`: one behind the other.
    dstack() -> Tensor<D> { "dstack" join::dstack }
    /// `column_stack`: side by side, where a tensor of one dimension or none is a column.
    column_stack() -> Tensor<D> { "column_stack" join::column_stack }
    /// `broadcast_tensors`: views with the sizes that all broadcast to.
    broadcast_tensors() -> Vec<Tensor<D>> { "broadcast_tensors" shape::broadcast_tensors }
}

/// A function that gives tensors a number of dimensions, and the same of a list.
macro_rules! at_least {
    ($($name:ident $of_all:ident $op:literal $n:literal;)*) => {$(
        #[doc = concat!("`", $op, "`: a view with ", $n, " dimensions or more; those that are missing have size 1.")]
        pub fn $name<D: Device>(this: &Tensor<D>) -> Result<Tensor<D>> {
            let _span = observe::operator($op, [this.geometry()]);
            shape::at_least(&Typed::<D>::CALLEES, this, $n).map_err(|e| e.of($op))
        }

        #[doc = concat!("`", $op, ".Sequence`: the same of each.")]
        pub fn $of_all<D: Device, T: Borrow<Tensor<D>>>(tensors: &[T]) -> Result<Vec<Tensor<D>>> {
            let _span = observe::enter($op, |each| tensors.iter().for_each(|t| each(t.borrow().geometry())));
            shape::all_at_least(&Typed::<D>::CALLEES, tensors, $n).map_err(|e| e.of($op))
        }
    )*};
}
at_least! {
    atleast_1d all_atleast_1d "atleast_1d" 1;
    atleast_2d all_atleast_2d "atleast_2d" 2;
    atleast_3d all_atleast_3d "atleast_3d" 3;
}

/// `outer`: each element of one vector times each of another.
pub fn outer<D: Executes<Op<MulFn>>>(this: &Tensor<D>, vec2: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("outer", [this.geometry(), vec2.geometry()]);
    let column = shape::column(&Typed::<D>::CALLEES, this, vec2.sizes()).map_err(|e| e.of("outer"))?;
    let operands = [Operand::from(&column), Operand::from(vec2)];
    let inputs = PointwiseInputs::from_lists(&operands, &[])?;
    let [product] = call::<Op<MulFn>, D, _>(&inputs, Functional::<D, 1>::default())?;
    Ok(product)
}

/// `ger`: [`outer`].
pub fn ger<D: Executes<Op<MulFn>>>(this: &Tensor<D>, vec2: &Tensor<D>) -> Result<Tensor<D>> {
    outer(this, vec2)
}

/// `type_as`: in the dtype and on the device of another tensor.
pub fn type_as<D: Device>(this: &Tensor<D>, other: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("type_as", [this.geometry(), other.geometry()]);
    to_other(this, other, false, false, None)
}
