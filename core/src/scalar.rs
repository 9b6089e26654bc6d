//! A number that is not a tensor: the Rust side of schema type `Scalar`. Keeps the kind it was given, since the kind
//! takes part in type promotion and an `i64` must never pass through an `f64`.

use crate::dtype::{DType, Kind};
use crate::element::Element;
use crate::error::{ErrorKind, Result};
use num_complex::Complex64;

/// A number of one of the four kinds of type promotion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
}

impl Scalar {
    /// The kind that takes part in type promotion.
    pub const fn kind(self) -> Kind {
        match self {
            Scalar::Bool(_) => Kind::Bool,
            Scalar::Int(_) => Kind::Int,
            Scalar::Float(_) => Kind::Float,
            Scalar::Complex(_) => Kind::Complex,
        }
    }

    /// The dtype that holds the number exactly: bool, int64, float64 or complex128. A wrapped number has this dtype.
    pub const fn dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(_) => DType::I64,
            Scalar::Float(_) => DType::F64,
            Scalar::Complex(_) => DType::C128,
        }
    }

    /// The number as a real double; the imaginary part of a complex number is dropped, large integers round.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::Float(f) => f,
            Scalar::Complex(c) => c.re,
        }
    }

    /// The number as an integer; a fraction is cut towards zero and values out of range saturate.
    pub fn to_i64(self) -> i64 {
        match self {
            Scalar::Bool(b) => i64::from(b),
            Scalar::Int(i) => i,
            Scalar::Float(f) => f as i64,
            Scalar::Complex(c) => c.re as i64,
        }
    }

    /// The number as an element of another dtype, as PyTorch's `to` converts elements on x86-64: integers wrap, a
    /// complex number becomes real by its real part, and a fraction is cut, to the smallest int32 or int64 where that
    /// is out of range, which then wraps. What [`Element::from_scalar`](crate::Element::from_scalar) makes of a number
    /// out of range is another matter: such arguments are refused.
    #[must_use]
    pub fn cast(self, dtype: DType) -> Scalar {
        let narrow = matches!(dtype, DType::I8 | DType::I16 | DType::I32);
        let (limit, lowest) =
            if narrow { (-f64::from(i32::MIN), i64::from(i32::MIN)) } else { (-(i64::MIN as f64), i64::MIN) };
        let cut = |x: f64| if (-limit..limit).contains(&x) { x as i64 } else { lowest };
        let exact = match (self, dtype.kind()) {
            (Scalar::Float(x), Kind::Int) => Scalar::Int(cut(x)),
            (Scalar::Complex(z), Kind::Int) => Scalar::Int(cut(z.re)),
            // Rounded once.
            (Scalar::Int(i), Kind::Float | Kind::Complex) if !matches!(dtype, DType::F64 | DType::C128) => {
                Scalar::Float(f64::from(i as f32))
            }
            (other, _) => other,
        };
        crate::with_element!(dtype, T => T::from_scalar(exact).to_scalar())
    }

    /// True unless the number is zero.
    pub fn to_bool(self) -> bool {
        match self {
            Scalar::Bool(b) => b,
            Scalar::Int(i) => i != 0,
            Scalar::Float(f) => f != 0.0,
            Scalar::Complex(c) => c.re != 0.0 || c.im != 0.0,
        }
    }

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

    /// The number as a complex double.
    pub fn to_complex(self) -> Complex64 {
        match self {
            Scalar::Complex(c) => c,
            other => Complex64::new(other.to_f64(), 0.0),
        }
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

macro_rules! from_numbers {
    ($($variant:ident as $into:ty: $($from:ty)*;)*) => {$($(
        impl From<$from> for Scalar {
            fn from(value: $from) -> Scalar { Scalar::$variant(<$into>::from(value)) }
        }
    )*)*};
}
from_numbers! {
    Bool as bool: bool;
    Int as i64: u8 i8 i16 u16 i32 u32 i64;
    Float as f64: f32 f64 half::f16 half::bf16;
    Complex as Complex64: Complex64;
}

impl From<num_complex::Complex32> for Scalar {
    fn from(c: num_complex::Complex32) -> Scalar {
        Scalar::Complex(Complex64::new(f64::from(c.re), f64::from(c.im)))
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Bool(b) => write!(f, "{b}"),
            Scalar::Int(i) => write!(f, "{i}"),
            Scalar::Float(x) => write!(f, "{x:?}"),
            Scalar::Complex(c) => write!(f, "{:?}{:+?}j", c.re, c.im),
        }
    }
}
