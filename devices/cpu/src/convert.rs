//! Conversion of single values between the types that the CPU computes with, as PyTorch's `to` converts them on x86-64.
//! Owns what each pair means; refuses loops and memory (`cast.rs`).
//!
//! | from | to | |
//! | --- | --- | --- |
//! | integer | integer | wraps |
//! | anything | bool | whether it is not zero: true for NaN, and for a complex number if either part is |
//! | complex | real | the real part |
//! | float | int8, int16, int32 | cut to int32, then wraps; out of range and NaN: the smallest int32 |
//! | float | uint8, int64 | cut to int64, then wraps; out of range and NaN: the smallest int64 |
//! | anything wider | float16, bfloat16 | rounded to float32 first |

use num_complex::Complex;

/// A value that converts to `To`.
pub(crate) trait Convert<To> {
    /// The converted value.
    fn convert(self) -> To;
}

/// What `cvttss2si` and its relatives compute: cut towards zero, the smallest integer where that is out of range. A
/// comparison and a select vectorise; Rust's saturating `as` does not.
macro_rules! cut {
    ($name:ident: $float:ident => $int:ident) => {
        #[inline(always)]
        fn $name(x: $float) -> $int {
            const LIMIT: $float = -($int::MIN as $float);
            let fits = (-LIMIT..LIMIT).contains(&x);
            let safe = if fits { x } else { 0.0 };
            // SAFETY: `safe` is no NaN, and its integral part lies within the integer's range.
            let whole: $int = unsafe { safe.to_int_unchecked() };
            if fits { whole } else { $int::MIN }
        }
    };
}
cut!(cut_f32_i32: f32 => i32);
cut!(cut_f32_i64: f32 => i64);
cut!(cut_f64_i32: f64 => i32);
cut!(cut_f64_i64: f64 => i64);

/// One row per source: how it becomes each of the targets.
macro_rules! conversions {
    ($($from:ty: |$x:ident| $($to:ty = $how:expr),*;)*) => {$($(
        impl Convert<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                let $x = self;
                $how
            }
        }
    )*)*};
}
conversions! {
    bool: |x| bool = x, u8 = x as u8, i8 = x as i8, i16 = x as i16,
        i32 = x as i32, i64 = x as i64, f32 = x as u8 as f32, f64 = x as u8 as f64;
    u8: |x| bool = x != 0, u8 = x, i8 = x as i8, i16 = x as i16,
        i32 = x as i32, i64 = x as i64, f32 = x as f32, f64 = x as f64;
    i8: |x| bool = x != 0, u8 = x as u8, i8 = x, i16 = x as i16,
        i32 = x as i32, i64 = x as i64, f32 = x as f32, f64 = x as f64;
    i16: |x| bool = x != 0, u8 = x as u8, i8 = x as i8, i16 = x,
        i32 = x as i32, i64 = x as i64, f32 = x as f32, f64 = x as f64;
    i32: |x| bool = x != 0, u8 = x as u8, i8 = x as i8, i16 = x as i16,
        i32 = x, i64 = x as i64, f32 = x as f32, f64 = x as f64;
    i64: |x| bool = x != 0, u8 = x as u8, i8 = x as i8, i16 = x as i16,
        i32 = x as i32, i64 = x, f32 = x as f32, f64 = x as f64;
    f32: |x| bool = x != 0.0, u8 = cut_f32_i64(x) as u8, i8 = cut_f32_i32(x) as i8, i16 = cut_f32_i32(x) as i16,
        i32 = cut_f32_i32(x), i64 = cut_f32_i64(x), f32 = x, f64 = x as f64;
    f64: |x| bool = x != 0.0, u8 = cut_f64_i64(x) as u8, i8 = cut_f64_i32(x) as i8, i16 = cut_f64_i32(x) as i16,
        i32 = cut_f64_i32(x), i64 = cut_f64_i64(x), f32 = x as f32, f64 = x;
}

/// A real value becomes complex with imaginary part 0, a complex one real by its real part.
macro_rules! complex_conversions {
    ($($real:ident)*) => {$(
        impl<P> Convert<Complex<P>> for $real
        where
            $real: Convert<P>,
            P: num_traits::Zero,
        {
            #[inline(always)]
            fn convert(self) -> Complex<P> {
                Complex::new(self.convert(), P::zero())
            }
        }
        impl<P: Convert<$real>> Convert<$real> for Complex<P> {
            #[inline(always)]
            fn convert(self) -> $real {
                self.re.convert()
            }
        }
    )*};
}
complex_conversions! { u8 i8 i16 i32 i64 f32 f64 }

impl<P: num_traits::Zero> Convert<Complex<P>> for bool
where
    bool: Convert<P>,
{
    #[inline(always)]
    fn convert(self) -> Complex<P> {
        Complex::new(self.convert(), P::zero())
    }
}

impl<P: Convert<bool>> Convert<bool> for Complex<P> {
    #[inline(always)]
    fn convert(self) -> bool {
        self.re.convert() | self.im.convert()
    }
}

impl<P: Convert<Q>, Q> Convert<Complex<Q>> for Complex<P> {
    #[inline(always)]
    fn convert(self) -> Complex<Q> {
        Complex::new(self.re.convert(), self.im.convert())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<T>(values: &[f64]) -> Vec<T>
    where
        f64: Convert<T>,
    {
        values.iter().map(|&x| x.convert()).collect()
    }

    #[test]
    fn floats_are_cut_as_pytorch_cuts_them() {
        // Recorded from PyTorch 2.15 on x86-64.
        let x = [-1.5, -300.7, 300.7, 4e4, -4e4, 7e4, 2147483648.0, -2147483649.0, 5e9, 9.3e18, f64::NAN];
        assert_eq!(all::<u8>(&x), [255, 212, 44, 64, 192, 112, 0, 255, 0, 0, 0]);
        assert_eq!(all::<i8>(&x), [-1, -44, 44, 64, -64, 112, 0, 0, 0, 0, 0]);
        assert_eq!(all::<i16>(&x), [-1, -300, 300, -25536, 25536, 4464, 0, 0, 0, 0, 0]);
        let min = i32::MIN;
        assert_eq!(all::<i32>(&x), [-1, -300, 300, 40000, -40000, 70000, min, min, min, min, min]);
        let (five, min) = (5_000_000_000, i64::MIN);
        let wide = [-1, -300, 300, 40000, -40000, 70000, 2147483648, -2147483649, five, min, min];
        assert_eq!(all::<i64>(&x), wide);
    }

    #[test]
    fn complex_values_are_true_by_either_part() {
        let truth: [bool; 3] =
            [Complex::new(0.0f32, 1.0), Complex::new(0.0, 0.0), Complex::new(f32::NAN, 0.0)].map(Convert::convert);
        assert_eq!(truth, [true, false, true]);
        let real: u8 = Complex::new(300.5f64, 7.0).convert();
        assert_eq!(real, 44);
    }
}
