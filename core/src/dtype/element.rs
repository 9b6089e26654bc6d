//! The Rust types that hold one element of a dtype. Sealed: kernels reinterpret bytes by dtype, so a foreign
//! implementation could break memory safety.

use super::{DType, Scalar};
use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use num_complex::{Complex, Complex32, Complex64};

mod sealed {
    pub trait Sealed {}
}

/// One byte of a bool tensor as it lies in memory: any nonzero byte counts as true.
///
/// A tensor may view bytes that were written as another dtype, so the bytes of a bool tensor need not be 0 or 1, and a
/// `&[bool]` over them would be undefined behaviour. Loads normalise; stores write 0 or 1.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct BoolByte(pub u8);

// SAFETY: `repr(transparent)` over a u8, of which every bit pattern, zero included, is a value.
unsafe impl Zeroable for BoolByte {}
// SAFETY: as a u8 it is Copy, has no padding, no interior mutability and no invalid bit pattern. Written out, because
// the derive would bring a second parser of Rust into every build.
unsafe impl Pod for BoolByte {}

impl BoolByte {
    /// The truth value of the byte.
    #[inline(always)]
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for BoolByte {
    #[inline(always)]
    fn from(b: bool) -> BoolByte {
        BoolByte(u8::from(b))
    }
}

impl PartialEq for BoolByte {
    fn eq(&self, other: &BoolByte) -> bool {
        self.get() == other.get()
    }
}

/// A Rust type that is one element of a dtype.
///
/// # Safety
///
/// `Stored` has the size of `DTYPE`, alignment of at most that size, and every bit pattern is a value of it.
pub unsafe trait Element: sealed::Sealed + Copy + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// The dtype whose elements have this type.
    const DTYPE: DType;
    /// The type of an element in memory: `Self`, except that bool is stored as a byte that may hold anything.
    type Stored: Pod + PartialEq + Send + Sync + std::fmt::Debug;
    /// The element as it is stored.
    fn store(self) -> Self::Stored;
    /// The value of a stored element.
    fn load(stored: Self::Stored) -> Self;
    /// The number converted as PyTorch converts a scalar to this dtype: integers wrap, fractions are cut.
    fn from_scalar(s: Scalar) -> Self;
    /// The element as a number of its kind.
    fn to_scalar(self) -> Scalar;
}

macro_rules! elements {
    ($($t:ty, $dtype:ident, |$s:ident| $from:expr, |$v:ident| $to:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        static_assertions::const_assert_eq!(size_of::<$t>(), DType::$dtype.size());
        // SAFETY: the size is asserted above, the type is Pod, and primitive alignment never exceeds the size.
        unsafe impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Stored = $t;
            #[inline(always)]
            fn store(self) -> $t { self }
            #[inline(always)]
            fn load(stored: $t) -> $t { stored }
            fn from_scalar($s: Scalar) -> $t { $from }
            fn to_scalar(self) -> Scalar { let $v = self; $to }
        }
    )*};
}
elements! {
    u8, U8, |s| s.to_i64() as u8, |v| Scalar::Int(v.into());
    i8, I8, |s| s.to_i64() as i8, |v| Scalar::Int(v.into());
    i16, I16, |s| s.to_i64() as i16, |v| Scalar::Int(v.into());
    i32, I32, |s| s.to_i64() as i32, |v| Scalar::Int(v.into());
    i64, I64, |s| s.to_i64(), |v| Scalar::Int(v);
    f16, F16, |s| f16::from_f32(s.to_f64() as f32), |v| Scalar::Float(v.into());
    bf16, BF16, |s| bf16::from_f32(s.to_f64() as f32), |v| Scalar::Float(v.into());
    f32, F32, |s| s.to_f64() as f32, |v| Scalar::Float(v.into());
    f64, F64, |s| s.to_f64(), |v| Scalar::Float(v);
    Complex32, C64, |s| { let c = s.to_complex(); Complex::new(c.re as f32, c.im as f32) }, |v| Scalar::from(v);
    Complex64, C128, |s| s.to_complex(), |v| Scalar::Complex(v);
}

impl sealed::Sealed for bool {}
// SAFETY: BoolByte is one byte, as DType::Bool is, and is Pod.
unsafe impl Element for bool {
    const DTYPE: DType = DType::Bool;
    type Stored = BoolByte;
    #[inline(always)]
    fn store(self) -> BoolByte {
        BoolByte::from(self)
    }
    #[inline(always)]
    fn load(stored: BoolByte) -> bool {
        stored.get()
    }
    fn from_scalar(s: Scalar) -> bool {
        s.to_bool()
    }
    fn to_scalar(self) -> Scalar {
        Scalar::Bool(self)
    }
}

/// Calls `$body` with `$t` standing for the [`Element`] type of the dtype `$dtype`, a match over all twelve.
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool => {
                type $t = bool;
                $body
            }
            $crate::DType::U8 => {
                type $t = u8;
                $body
            }
            $crate::DType::I8 => {
                type $t = i8;
                $body
            }
            $crate::DType::I16 => {
                type $t = i16;
                $body
            }
            $crate::DType::I32 => {
                type $t = i32;
                $body
            }
            $crate::DType::I64 => {
                type $t = i64;
                $body
            }
            $crate::DType::F16 => {
                type $t = $crate::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $t = $crate::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::DType::F64 => {
                type $t = f64;
                $body
            }
            $crate::DType::C64 => {
                type $t = $crate::Complex32;
                $body
            }
            $crate::DType::C128 => {
                type $t = $crate::Complex64;
                $body
            }
        }
    };
}

/// The number that the first `dtype.size()` bytes are as an element of `dtype`; `None` if there are fewer.
pub fn scalar_from_bytes(bytes: &[u8], dtype: DType) -> Option<Scalar> {
    let element = bytes.get(..dtype.size())?;
    with_element!(dtype, T => {
        Some(T::load(bytemuck::pod_read_unaligned::<<T as Element>::Stored>(element)).to_scalar())
    })
}

/// The bytes of `value` as an element of `dtype`, in the first `dtype.size()` bytes; the rest is zero.
pub fn scalar_bytes(value: Scalar, dtype: DType) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    with_element!(dtype, T => {
        let stored = T::from_scalar(value).store();
        bytes[..dtype.size()].copy_from_slice(bytemuck::bytes_of(&stored));
    });
    bytes
}
