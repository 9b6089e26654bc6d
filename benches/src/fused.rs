//! The fused operators that are timed against their parts: relu(a · b + c), and squared distances. Compiled here, as
//! they would be in a user's crate.

use monomorph::crates::ops::Op;
use monomorph::crates::ops::arithmetic::{AddFn, MulFn, SubFn};
use monomorph::crates::ops::piecewise::ReluFn;
use monomorph::crates::ops::power::PowTwoFn;
use monomorph::crates::ops::reduce::{DimsDtype, Sum, ThenReduce};
use monomorph::pointwise::Then;

/// Of the arguments a, b, c and the factor of c.
type ReluMulAdd = Then<Then<Op<MulFn>, Op<AddFn>>, Op<ReluFn>>;

/// Of the arguments a, b, the factor of b, the exponent, which is 2, and those of sum.
type SquaredDistance = ThenReduce<Then<Op<SubFn>, Op<PowTwoFn>>, Sum, DimsDtype>;

monomorph::operators! {
    family: Mine;

    func: bench::relu_mul_add(Tensor self, Tensor other, Tensor third, Scalar alpha) -> Tensor,
    out: bench::relu_mul_add.out, variants: function, method, operator: ReluMulAdd;

    func: bench::squared_distance(Tensor self, Tensor other, Scalar alpha, Scalar exponent, int[1]? dim, bool keepdim,
        ScalarType? dtype) -> Tensor,
    out: bench::squared_distance.out, variants: function, operator: SquaredDistance;
}
