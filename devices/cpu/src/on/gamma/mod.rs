//! The gamma function's relatives, one number at a time in float64: their branches and loops leave nothing to vectorise. Functions
//! are not inlined, so that however many loops call one, there is one of it; float32 is computed in float64, and rounded once.

mod digamma;
mod double;
mod incomplete;
mod lgamma;
mod temme;
#[cfg(test)]
mod tests;
mod zeta;

use super::On;
use crate::isa::Isa;
use half::{bf16, f16};
use incomplete::Precision;
use monomorph_ops::algebra::{Gamma, IncompleteGamma, Zeta};

/// One impl per float: element, register, functions.
macro_rules! gamma {
    ($($element:ty: $repr:ident, $lgamma:ident $digamma:ident $trigamma:ident $precision:ident;)+) => {$(
        impl<I: Isa> Gamma for On<$element, I> {
            #[inline(always)]
            fn lgamma(self) -> Self {
                On::new(lgamma::$lgamma(self.get()))
            }
            #[inline(always)]
            fn digamma(self) -> Self {
                On::new(digamma::$digamma(self.get()))
            }
            #[inline(always)]
            fn trigamma(self) -> Self {
                On::new(digamma::$trigamma(self.get()))
            }
            #[inline(always)]
            fn zeta_number(self, exponent: Self) -> Self {
                Zeta::zeta(exponent, self)
            }
        }

        impl<I: Isa> Zeta for On<$element, I> {
            #[inline(always)]
            fn zeta(self, q: Self) -> Self {
                On::new(zeta::zeta_f64(self.get().into(), q.get().into()) as $repr)
            }
        }

        impl<I: Isa> IncompleteGamma for On<$element, I> {
            #[inline(always)]
            fn igamma(self, x: Self) -> Self {
                On::new(incomplete::igamma_f64(self.get().into(), x.get().into(), &Precision::$precision) as $repr)
            }
            #[inline(always)]
            fn igammac(self, x: Self) -> Self {
                On::new(incomplete::igammac_f64(self.get().into(), x.get().into(), &Precision::$precision) as $repr)
            }
        }
    )+};
}
gamma! {
    f16: f32, lgamma_f32 digamma_f32 trigamma_f32 SINGLE;
    bf16: f32, lgamma_f32 digamma_f32 trigamma_f32 SINGLE;
    f32: f32, lgamma_f32 digamma_f32 trigamma_f32 SINGLE;
    f64: f64, lgamma_f64 digamma_f64 trigamma_f64 DOUBLE;
}
