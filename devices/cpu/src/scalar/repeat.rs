//! Loops of one element.

use super::Lane;
use crate::isa::Isa;
use half::{bf16, f16};
use monomorph_ops::algebra::{Bundle, FromIndex, Repeat};

/// One impl per float.
macro_rules! repeat {
    ($($element:ty),*) => {$(
        impl<I: Isa> Repeat for Lane<$element, I> {
            #[inline(always)]
            fn repeat<S: Bundle<Self>>(
                count: Self,
                start: S,
                goes_on: impl Fn(S) -> Self::Mask,
                step: impl Fn(Self, S) -> S,
            ) -> S {
                let mut state = start;
                // The cast makes 0 of NaN.
                for k in 0..count.get() as i64 {
                    if !goes_on(state).get() {
                        break;
                    }
                    state = step(Self::from_index(Lane::new(k)), state);
                }
                state
            }
        }
    )*};
}
repeat!(f16, bf16, f32, f64);
