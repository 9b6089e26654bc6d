//! Where the operands of a pointwise call come from.

use crate::driver::Address;
use crate::launch::Base;
use monomorph_core::{DType, Scalar, scalar_from_bytes};

/// Where an operand comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// From an address of the device.
    At(Address),
    /// From the call.
    Number(Scalar),
    /// From the host's memory: the element of a CPU tensor without dimensions, which may change between runs.
    Host {
        /// The element.
        at: *const u8,
        /// Its dtype.
        dtype: DType,
        /// Whether memory has its conjugate, and its negative.
        turned: (bool, bool),
    },
}

impl Source {
    /// # Safety
    ///
    /// Memory of the host is there, and nobody writes it.
    pub(crate) unsafe fn base(self) -> Base {
        match self {
            Source::At(address) => Base::At(address),
            Source::Number(number) => Base::Number(number),
            Source::Host { at, dtype, turned } => {
                // SAFETY: one element of the dtype lies there.
                let bytes = unsafe { std::slice::from_raw_parts(at, dtype.size()) };
                let stored = scalar_from_bytes(bytes, dtype).unwrap_or(Scalar::Int(0));
                let number = match stored {
                    Scalar::Complex(z) if turned.0 => Scalar::Complex(z.conj()),
                    other => other,
                };
                Base::Number(if turned.1 { negated(number).cast(dtype) } else { number })
            }
        }
    }
}

fn negated(number: Scalar) -> Scalar {
    match number {
        Scalar::Bool(b) => Scalar::Bool(b),
        Scalar::Int(i) => Scalar::Int(i.wrapping_neg()),
        Scalar::Float(f) => Scalar::Float(-f),
        Scalar::Complex(z) => Scalar::Complex(-z),
    }
}
