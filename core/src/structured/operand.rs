//! What a call passes for a tensor argument: a tensor by reference, a Rust number, or nothing.

use crate::dtype::{DType, Scalar, scalar_bytes};
use crate::geometry::Geometry;
use crate::storage::Device;
use crate::tensor::{AnyTensor, Tensor, TensorRef};

/// A number in place of a tensor ("wrapped number"): 0-dim, on any device, of lowest priority in type promotion.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    scalar: Scalar,
}

impl Number {
    /// The number as bool, int64, float64 or complex128.
    pub fn new(scalar: Scalar) -> Number {
        Number { scalar }
    }

    /// The number.
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// The dtype of the bytes.
    pub fn dtype(&self) -> DType {
        self.scalar.dtype()
    }

    /// The exact bytes as an element of [`dtype`](Number::dtype).
    pub fn bytes(&self) -> [u8; 16] {
        scalar_bytes(self.scalar, self.dtype())
    }
}

/// A tensor argument of a call.
#[derive(Clone, Copy)]
pub enum Operand<'t> {
    /// A tensor.
    Tensor(TensorRef<'t>),
    /// A number.
    Number(Number),
    /// An optional argument that was not given.
    Absent,
}

impl<'t> Operand<'t> {
    /// The dtype; `None` if absent.
    #[inline]
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Operand::Tensor(t) => Some(t.geometry().dtype()),
            Operand::Number(n) => Some(n.dtype()),
            Operand::Absent => None,
        }
    }

    /// The sizes; empty for a number or an absent operand.
    #[inline]
    pub fn sizes(&self) -> &'t [i64] {
        match self {
            Operand::Tensor(t) => t.geometry().sizes(),
            _ => &[],
        }
    }

    /// The strides in elements; empty for a number or an absent operand.
    #[inline]
    pub fn strides(&self) -> &'t [i64] {
        match self {
            Operand::Tensor(t) => t.geometry().strides(),
            _ => &[],
        }
    }

    /// The tensor, if it is one.
    #[inline]
    pub fn tensor(&self) -> Option<TensorRef<'t>> {
        match self {
            Operand::Tensor(t) => Some(*t),
            _ => None,
        }
    }

    /// The number, if it is one.
    #[inline]
    pub fn number(&self) -> Option<Scalar> {
        match self {
            Operand::Number(number) => Some(number.scalar()),
            _ => None,
        }
    }

    /// The geometry, if it is a tensor.
    #[inline]
    pub fn geometry(&self) -> Option<&'t Geometry> {
        self.tensor().map(|t| t.geometry())
    }

    /// True if no argument was given.
    #[inline]
    pub fn is_absent(&self) -> bool {
        matches!(self, Operand::Absent)
    }

    /// True for a number, also one that came as a tensor marked so.
    #[inline]
    pub fn is_wrapped(&self) -> bool {
        match self {
            Operand::Tensor(t) => t.geometry().is_wrapped(),
            Operand::Number(_) => true,
            Operand::Absent => false,
        }
    }
}

impl<'t> From<TensorRef<'t>> for Operand<'t> {
    #[inline]
    fn from(t: TensorRef<'t>) -> Operand<'t> {
        Operand::Tensor(t)
    }
}

impl<'t> From<&'t AnyTensor> for Operand<'t> {
    #[inline]
    fn from(t: &'t AnyTensor) -> Operand<'t> {
        Operand::Tensor(t.as_operand())
    }
}

impl<'t, D: Device> From<&'t Tensor<D>> for Operand<'t> {
    #[inline]
    fn from(t: &'t Tensor<D>) -> Operand<'t> {
        Operand::Tensor(t.as_operand())
    }
}

impl From<Scalar> for Operand<'_> {
    #[inline]
    fn from(s: Scalar) -> Self {
        Operand::Number(Number::new(s))
    }
}
