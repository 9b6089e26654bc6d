//! A number that is not a tensor: the Rust side of schema type `Scalar`. Keeps the kind it was given, since the kind
//! takes part in type promotion and an `i64` must never pass through an `f64`.

use super::{DType, Element, Kind};
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

    /// The number as a complex double.
    pub fn to_complex(self) -> Complex64 {
        match self {
            Scalar::Complex(c) => c,
            other => Complex64::new(other.to_f64(), 0.0),
        }
    }
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

/// A count or an index. One that no tensor can have becomes the largest `i64`.
impl From<usize> for Scalar {
    fn from(count: usize) -> Scalar {
        Scalar::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

/// A difference of counts.
impl From<isize> for Scalar {
    fn from(difference: isize) -> Scalar {
        Scalar::Int(difference as i64)
    }
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
