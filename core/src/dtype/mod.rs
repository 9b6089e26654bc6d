//! The twelve dtypes and their classes: the lowest layer. Owns what a dtype *is* (size, kind, names); promotion between
//! dtypes is in `promotion.rs`, the Rust types that hold them in `element.rs`, numbers in `scalar.rs`.

mod element;
mod promotion;
mod scalar;

pub use element::{BoolByte, Element, scalar_bytes, scalar_from_bytes};
pub use promotion::{Category, DEFAULT_FLOAT, ResultType};
pub use scalar::Scalar;

/// The element type of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of a binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two binary32: real, imaginary.
    C64,
    /// Two binary64: real, imaginary.
    C128,
}

/// The kinds that compete in type promotion, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Kind {
    /// bool.
    Bool,
    /// uint8 to int64.
    Int,
    /// float16 to float64.
    Float,
    /// complex64 and complex128.
    Complex,
}

impl DType {
    /// How many dtypes there are; `dtype as usize` is below it.
    pub const COUNT: usize = 12;

    /// Every dtype, in the order of its discriminant.
    pub const ALL: [DType; DType::COUNT] = [
        DType::Bool,
        DType::U8,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Bytes per element.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::U8 | DType::I8 => 1,
            DType::I16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// The kind that the dtype has in type promotion.
    #[inline]
    pub const fn kind(self) -> Kind {
        match self {
            DType::Bool => Kind::Bool,
            DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => Kind::Int,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Kind::Float,
            DType::C64 | DType::C128 => Kind::Complex,
        }
    }

    /// True for float16 to float64 (not for complex).
    #[inline]
    pub const fn is_floating(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// True for complex64 and complex128.
    #[inline]
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// True for the integers; `include_bool` counts bool among them.
    #[inline]
    pub const fn is_integral(self, include_bool: bool) -> bool {
        match self.kind() {
            Kind::Int => true,
            Kind::Bool => include_bool,
            _ => false,
        }
    }

    /// The dtype of one component: complex64 → float32, complex128 → float64, others themselves.
    #[inline]
    pub const fn to_real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex dtype with this dtype as component: float64 → complex128, float32 and below → complex64.
    #[inline]
    pub const fn to_complex(self) -> DType {
        match self {
            DType::F64 | DType::C128 => DType::C128,
            _ => DType::C64,
        }
    }

    /// The name that PyTorch prints, without the `torch.` in front.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "uint8",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::F16 => "float16",
            DType::BF16 => "bfloat16",
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::C64 => "complex64",
            DType::C128 => "complex128",
        }
    }

    /// The dtype with this [`name`](DType::name), if there is one.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|d| d.name() == name)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
