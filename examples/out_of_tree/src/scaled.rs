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
    { [arena::axpy] (Tensor self, Tensor other, Scalar alpha) -> (Tensor) : formula (Axpy) {
        functional axpy; inplace axpy_ [arena::axpy_]; out axpy_out [arena::axpy.out];
    } }
}
