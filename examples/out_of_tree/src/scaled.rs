//! An operator that the library does not have: `arena::axpy`, typed and by name, in three forms, on arenas, on the CPU
//! and on meta tensors.

use crate::device::Arena;
use monomorph::algebra::Num;
use monomorph::pointwise::*;

pointwise! { Axpy "axpy": Numeric, Same<2>; Number => Common; Rule::BINARY }
impl<V: Num> Map<V> for Axpy {
    #[inline(always)]
    fn eval([x, y]: [V; 2], alpha: V) -> V {
        alpha * x + y
    }
}

monomorph::operators! { [Arena]
    family: Mine;

    func: arena::axpy(Tensor self, Tensor other, Scalar alpha) -> Tensor,
    inplace: arena::axpy_, out: arena::axpy.out, variants: function, method, structured: Pointwise<Axpy>;
}
