//! The loops of a fold are all in its frames: a closure that the compiler leaves a function of its own is compiled for
//! the baseline, and takes several times as long without a wrong result.
#![cfg(target_arch = "x86_64")]

mod frames;

use frames::{LEVELS, frames, functions};
use monomorph_cpu::isa::Level;
use monomorph_cpu::reduce::{DType, here};
use monomorph_ops::algebra::{Num, Ordered, Value, Widen};
use monomorph_ops::pointwise::{Common, Reals};
use monomorph_ops::reduce::{Fold, Index, NoIdentity, ReduceFn, ReduceRule, Widened, WithIdentity};

struct Product;

impl ReduceFn for Product {
    const NAME: &'static str = "product";
    const RULE: ReduceRule = ReduceRule::OWN;
    type Domain = Reals;
    type Accumulator = Widened;
    type Identity = WithIdentity;
    type Results = Common;
}

impl<V: Widen, X: Value<Mask = V::Mask>> Fold<V, X> for Product {
    #[inline(always)]
    fn one(x: V, _: X) -> V::Wide {
        x.widen()
    }
    #[inline(always)]
    fn merge(a: V::Wide, b: V::Wide) -> V::Wide {
        a * b
    }
    #[inline(always)]
    fn finish(acc: V::Wide, _: X) -> V {
        V::narrow(acc)
    }
    #[inline(always)]
    fn identity() -> V::Wide {
        V::Wide::one()
    }
}

/// Where the first largest number is.
struct Place;

impl ReduceFn for Place {
    const NAME: &'static str = "place";
    const RULE: ReduceRule = ReduceRule::OWN;
    type Domain = Reals;
    type Accumulator = (Common, Index);
    type Identity = NoIdentity;
    type Results = Index;
}

impl<V: Ordered, X: Ordered<Mask = V::Mask>> Fold<V, X> for Place {
    #[inline(always)]
    fn one(x: V, at: X) -> (V, X) {
        (x, at)
    }
    #[inline(always)]
    fn merge((a, at_a): (V, X), (b, at_b): (V, X)) -> (V, X) {
        let takes_b = b.gt(a) | (b.eq(a) & at_b.lt(at_a));
        (V::select(takes_b, b, a), X::select(takes_b, at_b, at_a))
    }
    const SEARCHES: bool = true;
    #[inline(always)]
    fn keeps(a: V, b: V) -> V::Mask {
        a.ge(b)
    }
    #[inline(always)]
    fn finish((_, at): (V, X), _: X) -> X {
        at
    }
    #[inline(always)]
    fn identity() {}
}

#[test]
fn frames_of_folds_hold_their_loops() {
    // Naming the kernels is what puts them into this binary.
    for level in Level::available() {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            std::hint::black_box((here::<Product>(dtype, level), here::<Place>(dtype, level)));
        }
    }
    let Some(functions) = functions() else { return };
    for (frame, register) in LEVELS {
        let all = frames(&functions, frame);
        // Of two folds and four dtypes: rows into lanes, lanes into lanes, and lanes into one. Equal ones are merged.
        assert!(all.len() >= 12, "there are {} of {frame}", all.len());
        assert!(all.iter().filter(|body| body.contains(register)).count() >= 4, "{frame} in {register}");
        for body in all {
            let out = body.lines().find(|line| line.contains("call") && line.contains("monomorph_cpu::reduce::"));
            assert_eq!(out, None, "{frame} calls a part of its loop:\n{}", body.lines().next().unwrap_or_default());
        }
    }
}
