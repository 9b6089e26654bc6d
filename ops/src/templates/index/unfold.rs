//! `unfold_backward`: windows of a dimension, added to where they were taken from. Two dimensions of the walk, that of
//! the windows and that inside of them, step in one of the result.

use super::sealed::Sealed;
use super::{
    Axis, Combine, IndexFn, IndexInputs, IndexPlan, Indexed, Scatter, Start, Step, Transfer, Written, along, overlap,
};
use crate::table::native;
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{Form, SinkState};
use monomorph_core::{ErrorKind, Result};

/// `unfold_backward`.
pub struct UnfoldBackwardFn;

impl Sealed for UnfoldBackwardFn {}

impl IndexFn for UnfoldBackwardFn {
    const NAME: &'static str = "unfold_backward";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let (grad, sizes) = (inputs.operand(0), inputs.sizes());
        let (dim, size, step) = (wrap_dim(inputs.int(0), sizes.len(), "dim")?, inputs.int(1), inputs.int(2));
        let (got, ndim) = (grad.sizes(), sizes.len());
        let within = |windows: i64| windows.checked_sub(1)?.checked_mul(step)?.checked_add(size);
        let is_fitting = step > 0
            && match got.split_last() {
                // Of a tensor without dimensions there is one window, of one element.
                Some((&inner, [])) if ndim == 0 => inner == size && size <= 1,
                Some((&inner, outer)) => {
                    let is_whole = |(d, (got, want))| d == dim || got == want;
                    let windows = outer.get(dim).copied().unwrap_or(0);
                    inner == size
                        && outer.len() == ndim
                        && outer.iter().zip(sizes).enumerate().all(is_whole)
                        && (windows == 0 || size == 0 || within(windows).is_some_and(|end| end <= sizes[dim]))
                }
                None => false,
            };
        if !is_fitting {
            let rule =
                "argument grad_in must have the sizes that unfold makes, with this dim, size and step, of input_sizes";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        inputs.declare(sink, sizes, None)?;
        let serial = overlap::check(inputs, sink, &[0], &[])?;
        let axis = |(d, &size): (usize, &i64)| {
            let base = match d {
                _ if ndim == 0 => None,
                _ if d == ndim => along(dim),
                _ if d == dim => Some(Step { dim, factor: step }),
                _ => along(d),
            };
            Axis { size, base, values: along(d) }
        };
        let how = Scatter { start: Start::Zeros, ..Scatter::of(Written::Input(0), Combine::Add) };
        Ok(IndexPlan {
            transfer: Transfer::Scatter(how),
            axes: got.iter().enumerate().map(axis).collect(),
            indices: [].into_iter().collect(),
            fresh: sink.form() == Form::Functional,
            serial,
            flat: false,
        })
    }
}

native! {
    family: Unfolds;

    func: unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor,
    autogen: unfold_backward.out, structured: Indexed<UnfoldBackwardFn>;
}
