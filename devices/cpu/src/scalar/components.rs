//! Floats and complex values as vectors of one or two real components.

use super::Lane;
use crate::isa::Isa;
use half::{bf16, f16};
use monomorph_ops::algebra::{Components, Value};
use num_complex::Complex;

macro_rules! real {
    ($($element:ty),*) => {$(
        impl<I: Isa> Components for Lane<$element, I> {
            const ARE_TWO: bool = false;
            #[inline(always)]
            fn scaled(self, factor: Self) -> Self {
                self * factor
            }
            #[inline(always)]
            fn components(self) -> [Self; 2] {
                [self, Self::from_bool(false)]
            }
        }
    )*};
}
real!(f16, bf16, f32, f64);

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl<I: Isa> Components for Lane<Complex<$part>, I> {
            const ARE_TWO: bool = true;
            #[inline(always)]
            fn scaled(self, factor: Self::Re) -> Self {
                Lane::new(Complex::new(self.get().re * factor.get(), self.get().im * factor.get()))
            }
            #[inline(always)]
            fn components(self) -> [Self::Re; 2] {
                [Lane::new(self.get().re), Lane::new(self.get().im)]
            }
        }
    )*};
}
complex!(f32, f64);
