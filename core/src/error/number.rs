//! Numbers that a dtype cannot hold. Numbers themselves are below errors and refuse nothing.

use super::{ErrorKind, Result};
use crate::dtype::{DType, Kind, Scalar};

impl Scalar {
    /// An error unless `dtype` can hold the number: an imaginary part only in a complex dtype, magnitudes within the
    /// range (a negative integer may wrap in an unsigned dtype; infinities and NaN pass in floating dtypes). Fractions
    /// are cut.
    pub fn check_fits(self, dtype: DType, arg: &'static str) -> Result<()> {
        let fits = match (self, dtype.kind()) {
            (_, Kind::Bool) | (Scalar::Bool(_), _) => true,
            (Scalar::Complex(c), Kind::Int | Kind::Float) if c.im != 0.0 => false,
            (Scalar::Int(i), Kind::Int) => {
                let (low, high) = int_range(dtype);
                // PyTorch accepts the negatives of an unsigned dtype's values, which wrap.
                let low = if low == 0 { -high } else { low };
                (low..=high).contains(&i)
            }
            (number, Kind::Int) => {
                let x = number.to_f64();
                let (low, high) = int_range(dtype);
                // 2^63 is not an int64, but i64::MAX as f64 is.
                x >= low as f64 && if high == i64::MAX { x < high as f64 } else { x <= high as f64 }
            }
            (number, Kind::Float) => in_float_range(number.to_f64(), dtype),
            (number, Kind::Complex) => {
                let c = number.to_complex();
                in_float_range(c.re, dtype.to_real()) && in_float_range(c.im, dtype.to_real())
            }
        };
        if fits { Ok(()) } else { Err(ErrorKind::NumberRange { arg, got: self.to_string(), dtype }.into()) }
    }
}

fn int_range(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::U8 => (0, u8::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    }
}

fn in_float_range(x: f64, dtype: DType) -> bool {
    let max = match dtype {
        DType::F16 => half::f16::MAX.to_f64(),
        DType::BF16 => half::bf16::MAX.to_f64(),
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    };
    !x.is_finite() || x.abs() <= max
}
