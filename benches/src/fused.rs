//! The fused operator that is timed against its parts: relu(a · b + c). Compiled here, as it would be in a user's
//! crate.

use monomorph::crates::ops::Op;
use monomorph::crates::ops::arithmetic::{AddFn, MulFn};
use monomorph::crates::ops::piecewise::ReluFn;
use monomorph::pointwise::Then;

/// Of the arguments a, b, c and the factor of c.
type ReluMulAdd = Then<Then<Op<MulFn>, Op<AddFn>>, Op<ReluFn>>;

monomorph::operators! {
    family: Mine;

    func: bench::relu_mul_add(Tensor self, Tensor other, Tensor third, Scalar alpha) -> Tensor,
    out: bench::relu_mul_add.out, variants: function, method, operator: ReluMulAdd;
}
