//! What operators say of the elements of whole tensors, as values of Rust: equal, allclose, item; and _is_all_true and
//! _is_any_true, which stay tensors. Owns no loop: comparisons and a reduction give one element, which is read.

use super::tensor;
use crate::Kernels;
use crate::copies::clone_tensor;
use crate::functions::{any, isclose_with, logical_not, ne};
use crate::options::Isclose;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::{AnyTensor, DType, Device, Error, ErrorKind, IValue, Result, Scalar, Tensor, observe};

/// `equal`: whether sizes, dtypes and all elements are the same. The very same elements in memory are equal, NaN also.
pub fn equal<D: Kernels>(this: &Tensor<D>, other: &Tensor<D>) -> Result<bool> {
    let _span = observe::operator("equal", [this.geometry(), other.geometry()]);
    let make = || {
        if this.device() != other.device() {
            let (got, want) = (other.device(), this.device());
            return Err(ErrorKind::DeviceMismatch { arg: "other".into(), got, want }.into());
        }
        if this.sizes() != other.sizes() || this.dtype() != other.dtype() {
            return Ok(false);
        }
        if this.as_operand().is_same(&other.as_operand()) || this.numel() == 0 {
            return Ok(true);
        }
        Ok(!any(&ne(this, other)?, ..)?.item()?.to_bool())
    };
    make().map_err(|e: Error| e.of("equal"))
}

/// `allclose`: whether every element is close to that of `other`.
pub fn allclose<D: Kernels>(
    this: &Tensor<D>,
    other: &Tensor<D>,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> Result<bool> {
    let _span = observe::operator("allclose", [this.geometry(), other.geometry()]);
    let make = || {
        let close = isclose_with(this, other, Isclose { rtol, atol, equal_nan, ..Isclose::default() })?;
        Ok(!any(&logical_not(&close)?, ..)?.item()?.to_bool())
    };
    make().map_err(|e: Error| e.of("allclose"))
}

/// `item`: the element of a tensor that has one.
pub fn item<D: Device>(this: &Tensor<D>) -> Result<Scalar> {
    let _span = observe::operator("item", [this.geometry()]);
    this.item()
}

/// `is_nonzero`: whether the element of a tensor that has one is not 0.
pub fn is_nonzero<D: Device>(this: &Tensor<D>) -> Result<bool> {
    let _span = observe::operator("is_nonzero", [this.geometry()]);
    Ok(this.item()?.to_bool())
}

/// `_functional_assert_async.msg`: a copy of `token`, or an error with this message if the one element of the tensor
/// is 0. A tensor without data is taken at its word.
pub fn functional_assert_async<D: Device>(this: &Tensor<D>, message: &str, token: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("_functional_assert_async.msg", [this.geometry(), token.geometry()]);
    let make = || {
        let holds = this.device().is_meta() || this.item()?.to_bool();
        if !holds {
            return Err(ErrorKind::Assertion { message: message.into() }.into());
        }
        clone_tensor(token, None)
    };
    make().map_err(|e: Error| e.of("_functional_assert_async"))
}

/// `_local_scalar_dense`: the first element.
pub fn local_scalar_dense<D: Device>(this: &Tensor<D>) -> Result<Scalar> {
    let _span = observe::operator("_local_scalar_dense", [this.geometry()]);
    let make = || {
        if this.numel() == 0 {
            return Err(ErrorKind::OneElement { numel: 0 }.into());
        }
        let first = (0..this.ndim()).try_fold(this.geometry().clone(), |g, _| g.select(0, 0))?;
        this.with_geometry(first)?.item()
    };
    make().map_err(|e: Error| e.of("_local_scalar_dense"))
}

/// A tensor of truth values.
fn truth(this: &IValue) -> Result<&AnyTensor> {
    let t = tensor(this, "self")?;
    if t.dtype() == DType::Bool {
        return Ok(t);
    }
    let (what, got) = ("argument self has dtype", t.dtype());
    Err(ErrorKind::DTypeNotSupported { what, got, accepted: "bool" }.into())
}

/// `_is_any_true`: whether one element is true.
pub fn is_any_true(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    calls.tensor("any", [truth(this)?.clone().into()])
}

/// `_is_all_true`: whether no element is false.
pub fn is_all_true(calls: &Calls<'_>, this: &IValue) -> Result<AnyTensor> {
    let is_false = calls.tensor("logical_not", [truth(this)?.clone().into()])?;
    let is_any_false = calls.tensor("any", [is_false.into()])?;
    calls.tensor("logical_not", [is_any_false.into()])
}

native! {
    family: Equality, functions: crate::Kernels;

    /// Whether both tensors have the same sizes, the same dtype and the same elements.
    ///
    /// NaN is equal to nothing, but a tensor is equal to itself.
    ///
    /// ```
    /// assert!(tensor![1, 2].equal(&tensor![1, 2])?);
    /// assert!(!tensor![1, 2].equal(&tensor![[1, 2]])?);
    /// ```
    func: equal(Tensor self, Tensor other) -> bool,
    variants: function, kernel: equal;

    /// Whether every element is [close](super::functions::isclose) to that of `other`.
    ///
    /// The options are those of `isclose`; so are dtypes and errors.
    ///
    /// ```
    /// assert!(tensor![1.0f32, 2.0].allclose(&tensor![1.000001f32, 2.0])?);
    /// ```
    func: allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool,
    variants: function, kernel: allclose;

    func: item(Tensor self) -> Scalar, kernel: item;
    func: is_nonzero(Tensor self) -> bool, kernel: is_nonzero;
    func: _local_scalar_dense(Tensor self) -> Scalar, kernel: local_scalar_dense;
    func: _functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor,
    kernel: functional_assert_async;

    func: _is_any_true(Tensor self) -> Tensor, composite: explicit is_any_true;
    func: _is_all_true(Tensor self) -> Tensor, composite: explicit is_all_true;
}
