//! What suits Fourier transforms: complex numbers, lengths that go together.

use super::fitting::ramp;
use monomorph::crates::core::schema::{Argument, Base, Schema};
use monomorph::{DType, IValue};

/// A value that suits the argument, if the operator is one of these.
pub(super) fn fitting(schema: &Schema, arg: &Argument) -> Option<IValue> {
    let of = |dtype: DType, sizes: &[i64]| Some(IValue::from(ramp(dtype, sizes)));
    let (name, to_real) = (schema.name(), ["c2r", "irfft", "hfft"].iter().any(|real| schema.name().contains(real)));
    match (name, arg.name()) {
        ("_fft_c2c" | "_fft_c2r", "self") => of(DType::C64, &[3, 2]),
        ("_fft_c2r", "last_dim_size") => Some(IValue::Int(2)),
        ("stft", "self") => of(DType::F32, &[8]),
        ("istft", "self") => of(DType::C64, &[3, 4]),
        ("stft" | "istft", "n_fft") => Some(IValue::Int(4)),
        ("stft", "center" | "return_complex") => Some(IValue::Bool(true)),
        ("stft", "pad_mode") => Some(IValue::Str("reflect".into())),
        ("_functional_assert_async", "self") => of(DType::Bool, &[]),
        _ if !name.contains("fft_") || matches!(name, "fft_fftfreq" | "fft_rfftfreq") => None,
        (_, "out") => of(if to_real && !name.contains("ihfft") { DType::F32 } else { DType::C64 }, &[3, 2]),
        (_, "norm") if arg.ty().base() == Base::Str => Some(IValue::Str("ortho".into())),
        _ => None,
    }
}
