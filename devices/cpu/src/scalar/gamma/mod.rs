//! The gamma function's relatives. The logarithm, its derivatives and the incomplete functions are computed without
//! branches where that is possible (`quick`), so that loops over them vectorise; everything else is one number at a
//! time, by functions that are not inlined, so that however many loops call one, there is one for levels with fused
//! products and one for those without. float32 is computed in float64, and rounded once.

mod digamma;
mod double;
mod incomplete;
mod lgamma;
mod quick;
mod temme;
#[cfg(test)]
mod tests;
mod zeta;

use super::Lane;
use crate::isa::{Avx2, Isa, Kernel, Level, Portable};
use half::{bf16, f16};
use incomplete::Precision;
use monomorph_ops::algebra::{Gamma, IncompleteGamma, Zeta};
use num_traits::Float;

/// Runs a kernel in the frame of fused products if `I` has them, and never inlines it.
#[inline(always)]
fn called<I: Isa, R, K: Kernel<Portable, Output = R> + Kernel<Avx2, Output = R>>(kernel: K) -> R {
    #[inline(never)]
    fn plain<K: Kernel<Portable>>(kernel: K) -> K::Output {
        Portable.enter(kernel)
    }
    match Avx2::detect() {
        Some(isa) if I::LEVEL >= Level::Avx2 => isa.enter(kernel),
        _ => plain(kernel),
    }
}

/// Declares functions of one element that are called: of the level `L`, in a frame of the level `I`.
macro_rules! called {
    ($($(#[$doc:meta])* $name:ident $call:ident<$I:ident>($($x:ident: $type:ty),+) -> $out:ty $body:block)+) => {$(
        struct $call($($type),+);
        impl<$I: Isa> Kernel<$I> for $call {
            type Home = Self;
            type Output = $out;
            #[inline(always)]
            fn run(self, _: $I) -> $out {
                let $call($($x),+) = self;
                $body
            }
        }
        $(#[$doc])*
        #[inline(always)]
        fn $name<L: Isa>($($x: $type),+) -> $out {
            called::<L, _, _>($call($($x),+))
        }
    )+};
}
called! {
    lgamma_f32 LgammaF32<I>(x: f32) -> f32 { whole::<I, _>(x, quick::lgamma_quick_f32, lgamma::lgamma_f32) }
    lgamma_f64 LgammaF64<I>(x: f64) -> f64 { whole::<I, _>(x, quick::lgamma_quick_f64, lgamma::lgamma_f64) }
    digamma_f32 DigammaF32<I>(x: f32) -> f32 { whole::<I, _>(x, quick::digamma_quick_f32, digamma::digamma_f32) }
    digamma_f64 DigammaF64<I>(x: f64) -> f64 { whole::<I, _>(x, quick::digamma_quick_f64, digamma::digamma_f64) }
    trigamma_f32 TrigammaF32<I>(x: f32) -> f32 { whole::<I, _>(x, quick::trigamma_quick_f32, digamma::trigamma_f32) }
    trigamma_f64 TrigammaF64<I>(x: f64) -> f64 { whole::<I, _>(x, quick::trigamma_quick_f64, digamma::trigamma_f64) }
    zeta_f64 ZetaF64<I>(s: f64, q: f64) -> f64 { zeta::zeta_f64::<I>(s, q) }
    share_f64 ShareF64<I>(a: f64, x: f64, is_upper: bool, precision: &'static Precision) -> f64 {
        incomplete::share_f64::<I>(a, x, is_upper, precision)
    }
}

/// What `quick` gives, or `rest` where that is no number.
#[inline(always)]
fn whole<I: Isa, T: Float>(x: T, quick: impl Fn(T) -> T, rest: impl Fn(T) -> T) -> T {
    if I::FMA {
        let value = quick(x);
        if !value.is_nan() {
            return value;
        }
    }
    rest(x)
}

/// One impl per float: element, register, functions.
macro_rules! gamma {
    ($(
        $element:ty: $repr:ident, $lgamma:ident $digamma:ident $trigamma:ident $precision:ident,
        plain $plain:expr, $lgamma_above:ident $digamma_above:ident,
        partial $lgamma_quick:ident $digamma_quick:ident $trigamma_quick:ident $lower:ident $upper:ident;
    )+) => {$(
        impl<I: Isa> Gamma for Lane<$element, I> {
            gamma! { @called $lgamma $digamma $trigamma; lgamma digamma trigamma }
            #[inline(always)]
            fn zeta_number(self, exponent: Self) -> Self {
                Zeta::zeta(exponent, self)
            }
            #[inline(always)]
            fn is_plain(self) -> Self::Mask {
                Lane::new(I::FMA & $plain.contains(&self.get()))
            }
            #[inline(always)]
            fn lgamma_plain(self) -> Self {
                Lane::new(quick::$lgamma_above(self.get()))
            }
            #[inline(always)]
            fn digamma_plain(self) -> Self {
                Lane::new(quick::$digamma_above(self.get()))
            }
            gamma! { @partial $lgamma_quick $digamma_quick $trigamma_quick;
                lgamma_partial digamma_partial trigamma_partial }
        }

        impl<I: Isa> Zeta for Lane<$element, I> {
            #[inline(always)]
            fn zeta(self, q: Self) -> Self {
                Lane::new(zeta_f64::<I>(self.get().into(), q.get().into()) as $repr)
            }
        }

        impl<I: Isa> IncompleteGamma for Lane<$element, I> {
            #[inline(always)]
            fn igamma(self, x: Self) -> Self {
                Lane::new(share_f64::<I>(self.get().into(), x.get().into(), false, &Precision::$precision) as $repr)
            }
            #[inline(always)]
            fn igammac(self, x: Self) -> Self {
                Lane::new(share_f64::<I>(self.get().into(), x.get().into(), true, &Precision::$precision) as $repr)
            }
            gamma! { @share $repr; $lower igamma_partial, $upper igammac_partial }
            #[inline(always)]
            fn is_within(self, x: Self) -> Self::Mask {
                Lane::new(I::FMA & quick::is_within(self.get().into(), x.get().into()))
            }
        }
    )+};
    (@called $($function:ident)+; $($method:ident)+) => {$(
        #[inline(always)]
        fn $method(self) -> Self {
            Lane::new($function::<I>(self.get()))
        }
    )+};
    (@share $repr:ident; $($function:ident $method:ident),+) => {$(
        #[inline(always)]
        fn $method(self, x: Self) -> (Self, Self::Mask) {
            if !I::FMA {
                return (self, Lane::new(false));
            }
            let (value, holds) = quick::$function::<I>(self.get().into(), x.get().into());
            (Lane::new(value as $repr), Lane::new(holds))
        }
    )+};
    (@partial $($function:ident)+; $($method:ident)+) => {$(
        #[inline(always)]
        fn $method(self) -> (Self, Self::Mask) {
            if !I::FMA {
                return (self, Lane::new(false));
            }
            let value = quick::$function(self.get());
            (Lane::new(value), Lane::new(!value.is_nan()))
        }
    )+};
}
gamma! {
    f16: f32, lgamma_f32 digamma_f32 trigamma_f32 SINGLE, plain quick::PLAIN_F32, lgamma_above_f32 digamma_above_f32,
        partial lgamma_quick_f32 digamma_quick_f32 trigamma_quick_f32 lower_short upper_short;
    bf16: f32, lgamma_f32 digamma_f32 trigamma_f32 SINGLE, plain quick::PLAIN_F32, lgamma_above_f32 digamma_above_f32,
        partial lgamma_quick_f32 digamma_quick_f32 trigamma_quick_f32 lower_short upper_short;
    f32: f32, lgamma_f32 digamma_f32 trigamma_f32 SINGLE, plain quick::PLAIN_F32, lgamma_above_f32 digamma_above_f32,
        partial lgamma_quick_f32 digamma_quick_f32 trigamma_quick_f32 lower_short upper_short;
    f64: f64, lgamma_f64 digamma_f64 trigamma_f64 DOUBLE, plain quick::PLAIN_F64, lgamma_above_f64 digamma_above_f64,
        partial lgamma_quick_f64 digamma_quick_f64 trigamma_quick_f64 lower_quick upper_quick;
}
