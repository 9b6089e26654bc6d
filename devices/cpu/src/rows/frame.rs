//! The numbers that rows are of, and work on them in the frame of an instruction-set level.

use crate::dense::Plain;
use crate::isa::{Isa, Kernel, Level};
use crate::rounding::Rounded;
use crate::scalar::Lane;
use bytemuck::Pod;
use monomorph_ops::algebra::{Exponential, Hyperbolic, Logarithm};
use num_traits::Float;

/// float32 or float64.
pub(super) trait Real: Plain + Pod + Float + Default + Rounded {
    /// e to the power of it.
    fn exp_at<I: Isa>(self) -> Self;

    /// The natural logarithm.
    fn log_at<I: Isa>(self) -> Self;

    /// The natural logarithm of one more than it.
    fn log1p_at<I: Isa>(self) -> Self;

    /// The hyperbolic tangent.
    fn tanh_at<I: Isa>(self) -> Self;

    /// The logistic function.
    fn sigmoid_at<I: Isa>(self) -> Self;

    /// The number nearest to `x`.
    fn of(x: f64) -> Self;

    /// The same in float64.
    fn wide(self) -> f64;

    /// The larger one; the other where one is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

macro_rules! real {
    ($($t:ident)*) => {$(
        impl Real for $t {
            #[inline(always)]
            fn exp_at<I: Isa>(self) -> Self {
                Lane::<$t, I>::new(self).exp().get()
            }
            #[inline(always)]
            fn log_at<I: Isa>(self) -> Self {
                Lane::<$t, I>::new(self).log().get()
            }
            #[inline(always)]
            fn log1p_at<I: Isa>(self) -> Self {
                Lane::<$t, I>::new(self).log1p().get()
            }
            #[inline(always)]
            fn tanh_at<I: Isa>(self) -> Self {
                Lane::<$t, I>::new(self).tanh().get()
            }
            #[inline(always)]
            fn sigmoid_at<I: Isa>(self) -> Self {
                Lane::<$t, I>::new(self).sigmoid().get()
            }
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self.into()
            }
        }
    )*};
}
real! { f32 f64 }

/// Work that is compiled at every level. `run` must be `#[inline(always)]`, and so must everything in its hot loops.
pub(super) trait Work {
    fn run<I: Isa>(self);
}

struct Framed<W>(W);

impl<I: Isa, W: Work> Kernel<I> for Framed<W> {
    type Output = ();
    type Home = W;

    #[inline(always)]
    fn run(self, _: I) {
        self.0.run::<I>();
    }
}

/// Does the work in the frame of a level.
pub(super) fn enter<W: Work>(level: Level, work: W) {
    level.enter(Framed(work));
}
