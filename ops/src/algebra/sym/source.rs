//! Names and literals of C text; the arithmetic behind the names is in `prelude.c`, the statements are those of
//! `text.rs`.

use super::graph::{Literal, Op};
use monomorph_core::DType;

/// The types and functions that the text of [`Function::c_source`](super::Function::c_source) uses: plain C99, C++ and
/// CUDA C++ without a device header. Under NVRTC it includes nothing; for a host compiler it includes the standard
/// headers.
///
/// Every name begins with `k_` or `K_`. `K_FN` is what stands before each function (`static inline` on a host); define
/// it before the prelude to choose otherwise. Elements in memory are read with `k_load_f16(pointer, index)` and written
/// with `k_store_f16(pointer, index, value)`, by the suffix of their dtype ([`c_suffix`]).
pub const PRELUDE: &str = concat!(
    include_str!("prelude.c"),
    "
",
    include_str!("discrete.c"),
    "
",
    include_str!("gamma.c")
);

/// What the C names of a dtype end in: `f16`, `c64`, `bool`, …
pub const fn c_suffix(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C64 => "c64",
        DType::C128 => "c128",
        _ => "i64",
    }
}

/// The C type of a value of this dtype in a register: `k_f32` for the halves, too.
pub const fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "k_bool",
        DType::U8 => "k_u8",
        DType::I8 => "k_i8",
        DType::I16 => "k_i16",
        DType::I32 => "k_i32",
        DType::F16 | DType::BF16 | DType::F32 => "k_f32",
        DType::F64 => "k_f64",
        DType::C64 => "k_c64",
        DType::C128 => "k_c128",
        _ => "k_i64",
    }
}

impl Op {
    /// The stem of the function's name in the prelude.
    pub(super) const fn stem(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::Neg => "neg",
            Op::Div => "div",
            Op::DivTrunc => "div_trunc",
            Op::DivFloor => "div_floor",
            Op::RemTrunc => "rem_trunc",
            Op::RemFloor => "rem_floor",
            Op::Gcd => "gcd",
            Op::Select => "select",
            Op::Eq => "eq",
            Op::Ne => "ne",
            Op::Lt => "lt",
            Op::Le => "le",
            Op::And => "and",
            Op::Or => "or",
            Op::Xor => "xor",
            Op::Not => "not",
            Op::ShiftLeft => "shl",
            Op::ShiftRight => "shr",
            Op::Truth => "truth",
            Op::Abs => "abs",
            Op::Floor => "floor",
            Op::Ceil => "ceil",
            Op::Trunc => "trunc",
            Op::Round => "round",
            Op::Sgn => "sgn",
            Op::IsNegative => "is_negative",
            Op::IsInfinite => "is_infinite",
            Op::NextAfter => "next_after",
            Op::Mantissa => "mantissa",
            Op::Exponent => "exponent",
            Op::Hypot => "hypot",
            Op::IsNan => "is_nan",
            Op::IsFinite => "is_finite",
            Op::Copysign => "copysign",
            Op::MulAdd => "mul_add",
            Op::AddScaled => "add_scaled",
            Op::Exp => "exp",
            Op::Exp2 => "exp2",
            Op::Expm1 => "expm1",
            Op::Log => "log",
            Op::Log2 => "log2",
            Op::Log10 => "log10",
            Op::Log1p => "log1p",
            Op::Sin => "sin",
            Op::Cos => "cos",
            Op::Tan => "tan",
            Op::Asin => "asin",
            Op::Acos => "acos",
            Op::Atan => "atan",
            Op::Atan2 => "atan2",
            Op::Sinh => "sinh",
            Op::Cosh => "cosh",
            Op::Asinh => "asinh",
            Op::Acosh => "acosh",
            Op::Atanh => "atanh",
            Op::Sqrt => "sqrt",
            Op::Rsqrt => "rsqrt",
            Op::Tanh => "tanh",
            Op::Sigmoid => "sigmoid",
            Op::Erf => "erf",
            Op::Erfc => "erfc",
            Op::Erfinv => "erfinv",
            Op::Gelu => "gelu",
            Op::GeluTanh => "gelu_tanh",
            Op::Lgamma => "lgamma",
            Op::Digamma => "digamma",
            Op::Trigamma => "trigamma",
            Op::Zeta => "zeta",
            Op::Igamma => "igamma",
            Op::Igammac => "igammac",
            Op::Pow => "pow",
            Op::PowNumber => "pow_number",
            Op::Make => "make",
            Op::Re => "re",
            Op::Im => "im",
            Op::Conj => "conj",
            Op::Widen => "widen",
            Op::Narrow => "narrow",
            Op::Through => "through",
            Op::FromIndex => "from_index",
        }
    }

    /// The dtype that names the function. The halves are float32 in a register; only what rounds through their own
    /// precision needs a function of their own.
    pub(super) const fn family(self, dtype: DType) -> DType {
        match (self, dtype) {
            (Op::DivTrunc | Op::DivFloor | Op::PowNumber | Op::Through | Op::NextAfter, DType::F16 | DType::BF16) => {
                dtype
            }
            (_, DType::F16 | DType::BF16) => DType::F32,
            _ => dtype,
        }
    }
}

fn f32_text(bits: u32) -> String {
    let x = f32::from_bits(bits);
    match x {
        _ if x.is_nan() => "K_NAN_F32".to_owned(),
        f32::INFINITY => "K_INF_F32".to_owned(),
        f32::NEG_INFINITY => "-K_INF_F32".to_owned(),
        // The shortest decimal that reads back as the same float. The exponent makes it a floating literal.
        _ => format!("{x:e}f"),
    }
}

fn f64_text(bits: u64) -> String {
    let x = f64::from_bits(bits);
    match x {
        _ if x.is_nan() => "K_NAN_F64".to_owned(),
        f64::INFINITY => "K_INF_F64".to_owned(),
        f64::NEG_INFINITY => "-K_INF_F64".to_owned(),
        _ => format!("{x:e}"),
    }
}

pub(super) fn literal_text(literal: Literal, dtype: DType) -> String {
    match literal {
        Literal::Bool(x) => format!("((k_bool){})", u8::from(x)),
        // The smallest int64 has no literal: the minus is an operator in C.
        Literal::Int(i64::MIN) => "(-9223372036854775807LL - 1)".to_owned(),
        Literal::Int(x) => format!("(({}){x}LL)", c_type(dtype)),
        Literal::F32(x) => f32_text(x),
        Literal::F64(x) => f64_text(x),
        Literal::C64(re, im) => format!("k_make_c64({}, {})", f32_text(re), f32_text(im)),
        Literal::C128(re, im) => format!("k_make_c128({}, {})", f64_text(re), f64_text(im)),
    }
}
