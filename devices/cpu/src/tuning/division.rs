//! Divisions that round: a block in which all quotients are small is computed without the way that any quotient takes,
//! which would keep the loop from vectorising.

use super::{FastPaths, Tuning};
use monomorph_ops::algebra::RoundedDivision;
use monomorph_ops::arithmetic::DivFloorFn;
use monomorph_ops::remainder::{FmodFn, RemainderFn};

impl Tuning for DivFloorFn {
    const USUAL: bool = true;
}
impl<V: RoundedDivision> FastPaths<V> for DivFloorFn {
    #[inline(always)]
    fn is_usual([a, b]: [V; 2]) -> V::Mask {
        a.has_small_quotient(b)
    }
    #[inline(always)]
    fn eval_usual([a, b]: [V; 2], (): ()) -> V {
        a.div_floor_small(b)
    }
}

impl Tuning for RemainderFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
}
impl<V: RoundedDivision> FastPaths<V> for RemainderFn {
    #[inline(always)]
    fn is_usual([a, b]: [V; 2]) -> V::Mask {
        a.has_small_quotient(b)
    }
    #[inline(always)]
    fn eval_usual([a, b]: [V; 2], (): ()) -> V {
        a.rem_floor_small(b)
    }
}

impl Tuning for FmodFn {
    const HALVES_AS_F32: bool = true;
    const USUAL: bool = true;
}
impl<V: RoundedDivision> FastPaths<V> for FmodFn {
    #[inline(always)]
    fn is_usual([a, b]: [V; 2]) -> V::Mask {
        a.has_small_quotient(b)
    }
    #[inline(always)]
    fn eval_usual([a, b]: [V; 2], (): ()) -> V {
        a.rem_trunc_small(b)
    }
}
