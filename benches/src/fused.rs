//! The fused operator that is timed against its parts: relu(a · b + c). Compiled here, as it would be in a user's
//! crate.

use monomorph::Op;
use monomorph::ops::arithmetic::{AddFn, MulFn};
use monomorph::ops::piecewise::ReluFn;
use monomorph::pointwise::Then;

/// Of the arguments a, b, c and the factor of c.
type ReluMulAdd = Then<Then<Op<MulFn>, Op<AddFn>>, Op<ReluFn>>;

monomorph::operators! {
    { [bench::relu_mul_add] (Tensor self, Tensor other, Tensor third, Scalar alpha) -> (Tensor)
        : op (ReluMulAdd) {
        functional relu_mul_add; out relu_mul_add_out [bench::relu_mul_add.out];
    } }
}
