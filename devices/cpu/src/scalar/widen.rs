//! What folds need besides arithmetic: wider values to accumulate in (float64 for float32, itself for whatever has
//! nothing wider), and the values of counts.

use super::Lane;
use crate::isa::Isa;
use half::{bf16, f16};
use monomorph_ops::algebra::{FromIndex, Value, Widen};
use num_complex::Complex;

/// One row per element: its wide type, and the way there and back.
macro_rules! widen {
    ($($element:ty => $wide:ty: |$x:ident| $up:expr, |$y:ident| $down:expr;)*) => {$(
        impl<I: Isa> Widen for Lane<$element, I> {
            type Wide = Lane<$wide, I>;
            #[inline(always)]
            fn widen(self) -> Self::Wide {
                let $x = self.get();
                Lane::new($up)
            }
            #[inline(always)]
            fn narrow(wide: Self::Wide) -> Self {
                let $y = wide.get();
                Lane::new($down)
            }
        }
    )*};
}
widen! {
    bool => bool: |x| x, |y| y;
    u8 => u8: |x| x, |y| y;
    i8 => i8: |x| x, |y| y;
    i16 => i16: |x| x, |y| y;
    i32 => i32: |x| x, |y| y;
    i64 => i64: |x| x, |y| y;
    f16 => f16: |x| x, |y| y;
    bf16 => bf16: |x| x, |y| y;
    f32 => f64: |x| x as f64, |y| y as f32;
    f64 => f64: |x| x, |y| y;
    Complex<f32> => Complex<f64>: |z| Complex::new(z.re as f64, z.im as f64),
        |w| Complex::new(w.re as f32, w.im as f32);
    Complex<f64> => Complex<f64>: |x| x, |y| y;
}

/// One impl per element that counts are divided into.
macro_rules! from_index {
    ($($element:ty),*) => {$(
        impl<I: Isa> FromIndex<Lane<i64, I>> for Lane<$element, I> {
            #[inline(always)]
            fn from_index(x: Lane<i64, I>) -> Self {
                Self::from_i64(x.get())
            }
        }
    )*};
}
from_index!(f16, bf16, f32, f64, Complex<f32>, Complex<f64>);
