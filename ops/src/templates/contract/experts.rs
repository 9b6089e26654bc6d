//! Products in groups as exported programs of the Python library transformers name them.

use super::grouped::of_rows;

monomorph_macros::native! {
    [crate]
    family: Experts, functions: crate::kernels::AllKernels;

    func: transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor,
    kernel: of_rows;
}
