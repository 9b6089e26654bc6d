//! Results of unboxed kernels: which Rust types stand for which, and the one form in which both sides of an unboxed
//! call pass them.

use super::parameter::Kind;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::schema::Base;
use crate::storage::Device;
use crate::tensor::{AnyTensor, Tensor};
use crate::value::{IValue, Stack};

/// What a kernel returns of one type, in the one form that both sides of an unboxed call agree on.
pub trait Returned: Sized + 'static {
    /// The schema types of the results.
    const KINDS: &'static [Kind];
    /// Appends the results.
    fn push(self, stack: &mut Stack);
    /// The results of a boxed kernel.
    fn take(stack: &mut [IValue]) -> Option<Self>;
}

/// A type that a kernel may return.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot return `{Self}`",
    label = "no schema type is returned as this",
    note = "tensors: `AnyTensor` or `Tensor<D>`, tuples of two or three of them, `Vec<AnyTensor>`",
    note = "numbers: `i64`, `f64`, `bool`, `Scalar`; `Result` of each",
    note = "`()` where the schema returns nothing, or only what it marks as written: those results are the arguments"
)]
pub trait KernelValue {
    /// What both sides pass.
    type Returned: Returned;
    /// The value in that form.
    fn into_returned(self) -> Self::Returned;
}

/// What a kernel returns: a [`KernelValue`], or a `Result` of one.
pub trait KernelReturn {
    /// What both sides pass.
    type Returned: Returned;
    /// The result in that form.
    fn into_result(self) -> Result<Self::Returned>;
}

impl<T: KernelValue> KernelReturn for T {
    type Returned = T::Returned;
    #[inline]
    fn into_result(self) -> Result<T::Returned> {
        Ok(self.into_returned())
    }
}

impl<T: KernelValue> KernelReturn for Result<T> {
    type Returned = T::Returned;
    #[inline]
    fn into_result(self) -> Result<T::Returned> {
        self.map(KernelValue::into_returned)
    }
}

const TENSOR: Kind = Kind::of(Base::Tensor);

impl Returned for () {
    const KINDS: &'static [Kind] = &[];
    fn push(self, _: &mut Stack) {}
    fn take(_: &mut [IValue]) -> Option<()> {
        Some(())
    }
}

impl KernelValue for () {
    type Returned = ();
    fn into_returned(self) {}
}

/// One result of a type that is passed as it is.
macro_rules! returned {
    ($($t:ty, $kind:expr, |$v:ident| $get:expr;)*) => {$(
        impl Returned for $t {
            const KINDS: &'static [Kind] = &[$kind];
            fn push(self, stack: &mut Stack) { stack.push(self.into()) }
            fn take(stack: &mut [IValue]) -> Option<$t> {
                let [$v] = stack else { return None };
                $get
            }
        }
        impl KernelValue for $t {
            type Returned = $t;
            #[inline]
            fn into_returned(self) -> $t { self }
        }
    )*};
}
returned! {
    AnyTensor, TENSOR, |v| std::mem::take(v).into_tensor();
    Vec<AnyTensor>, TENSOR.list(), |v| if let IValue::Tensors(list) = v { Some(std::mem::take(list)) } else { None };
    i64, Kind::of(Base::Int), |v| if let IValue::Int(i) = v { Some(*i) } else { None };
    f64, Kind::of(Base::Float), |v| if let IValue::Float(f) = v { Some(*f) } else { None };
    bool, Kind::of(Base::Bool), |v| if let IValue::Bool(b) = v { Some(*b) } else { None };
    Scalar, Kind::of(Base::Scalar), |v| v.to_scalar();
}

impl<D: Device> KernelValue for Tensor<D> {
    type Returned = AnyTensor;
    #[inline]
    fn into_returned(self) -> AnyTensor {
        self.into_any()
    }
}

/// Several results.
macro_rules! several_returned {
    ($($t:ident)*) => {
        impl Returned for ($(several_returned!(@any $t),)*) {
            const KINDS: &'static [Kind] = &[$(several_returned!(@kind $t)),*];
            fn push(self, stack: &mut Stack) {
                #[allow(non_snake_case, reason = "a tuple's members have no names of their own")]
                let ($($t,)*) = self;
                stack.extend([$($t.into()),*]);
            }
            fn take(stack: &mut [IValue]) -> Option<Self> {
                #[allow(non_snake_case, reason = "a tuple's members have no names of their own")]
                let [$($t),*] = stack else { return None };
                Some(($(std::mem::take($t).into_tensor()?,)*))
            }
        }
        impl<$($t: KernelValue<Returned = AnyTensor>),*> KernelValue for ($($t,)*) {
            type Returned = ($(several_returned!(@any $t),)*);
            fn into_returned(self) -> Self::Returned {
                #[allow(non_snake_case, reason = "a tuple's members have no names of their own")]
                let ($($t,)*) = self;
                ($($t.into_returned(),)*)
            }
        }
    };
    (@any $t:ident) => { AnyTensor };
    (@kind $t:ident) => { TENSOR };
}
several_returned! { A B }
several_returned! { A B C }
