//! The steps of compositions of arithmetic: calls of elementary operators through the dispatcher, each in a word. Owns
//! how their arguments are written.

use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, IValue, Result, Scalar};

/// Elementary operators. A tensor or a number stands on either side of those of two operands.
pub(crate) trait Steps {
    /// An operator of two operands.
    fn binary(&self, name: &str, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor>;

    /// `a + b`.
    fn add(&self, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor>;

    /// `a - b`.
    fn sub(&self, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor>;

    /// `a · b`.
    fn mul(&self, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor> {
        self.binary("mul.Tensor", a, b)
    }

    /// `a / b`.
    fn div(&self, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor> {
        self.binary("div.Tensor", a, b)
    }

    /// An operator of one operand.
    fn unary(&self, name: &str, a: impl Into<IValue>) -> Result<AnyTensor>;

    /// The sum along dimensions.
    fn sum(&self, a: impl Into<IValue>, dims: &[i64], keepdim: bool) -> Result<AnyTensor>;

    /// An operator that reduces dimensions: its arguments are a list of them and `keepdim`.
    fn reduced(&self, name: &str, a: impl Into<IValue>, dims: &[i64], keepdim: bool) -> Result<AnyTensor>;

    /// The elements from `start` to `end` along a dimension; negative ones count from behind, `i64::MAX` is the end.
    fn slice(&self, a: &AnyTensor, dim: i64, start: i64, end: i64) -> Result<AnyTensor>;

    /// The element `index` along a dimension, which goes.
    fn at(&self, a: &AnyTensor, dim: i64, index: i64) -> Result<AnyTensor>;

    /// In another dtype.
    fn cast(&self, a: AnyTensor, dtype: DType) -> Result<AnyTensor>;

    /// `linalg_vector_norm`.
    fn norm(
        &self,
        a: impl Into<IValue>,
        order: Scalar,
        dims: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<AnyTensor>;
}

impl Steps for Calls<'_> {
    fn binary(&self, name: &str, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor> {
        self.tensor(name, [a.into(), b.into()])
    }

    fn add(&self, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor> {
        self.tensor("add.Tensor", [a.into(), b.into(), 1i64.into()])
    }

    fn sub(&self, a: impl Into<IValue>, b: impl Into<IValue>) -> Result<AnyTensor> {
        self.tensor("sub.Tensor", [a.into(), b.into(), 1i64.into()])
    }

    fn unary(&self, name: &str, a: impl Into<IValue>) -> Result<AnyTensor> {
        self.tensor(name, [a.into()])
    }

    fn sum(&self, a: impl Into<IValue>, dims: &[i64], keepdim: bool) -> Result<AnyTensor> {
        let dims = IValue::Ints(dims.to_vec());
        self.tensor("sum.dim_IntList", [a.into(), dims, keepdim.into(), IValue::None])
    }

    fn reduced(&self, name: &str, a: impl Into<IValue>, dims: &[i64], keepdim: bool) -> Result<AnyTensor> {
        self.tensor(name, [a.into(), IValue::Ints(dims.to_vec()), keepdim.into()])
    }

    fn slice(&self, a: &AnyTensor, dim: i64, start: i64, end: i64) -> Result<AnyTensor> {
        self.tensor("slice.Tensor", [a.clone().into(), dim.into(), start.into(), end.into(), 1i64.into()])
    }

    fn at(&self, a: &AnyTensor, dim: i64, index: i64) -> Result<AnyTensor> {
        self.tensor("select.int", [a.clone().into(), dim.into(), index.into()])
    }

    fn cast(&self, a: AnyTensor, dtype: DType) -> Result<AnyTensor> {
        if a.dtype() == dtype {
            return Ok(a);
        }
        self.tensor("to.dtype", [a.into(), dtype.into(), false.into(), false.into(), IValue::None])
    }

    fn norm(
        &self,
        a: impl Into<IValue>,
        order: Scalar,
        dims: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<AnyTensor> {
        let dims = dims.map_or(IValue::None, |dims| IValue::Ints(dims.to_vec()));
        let dtype = dtype.map_or(IValue::None, IValue::from);
        self.tensor("linalg_vector_norm", [a.into(), order.into(), dims, keepdim.into(), dtype])
    }
}
