//! Operators as the operator table sees them: something that takes the arguments of a schema and a sink. A structured
//! operator is one; an operator that chooses between structured ones by an argument (the rounding mode of `div`) is
//! another.

use super::sink::{Functional, InPlace, Out, OutputSink, call};
use super::{Executes, StructuredOp};
use crate::error::Result;
use crate::storage::Device;
use crate::tensor::Tensor;
use std::marker::PhantomData;

/// Inputs of an operator, made from the arguments of a schema in schema order.
#[diagnostic::on_unimplemented(
    message = "the arguments of this schema do not fit the operator: `{Self}` cannot be made from `{Args}`",
    label = "the number or kind of arguments in the row differs from what the operator takes",
    note = "a `Tensor` argument is an `Operand`, a `Scalar` is a `Scalar`, `int[]` is a `&[i64]`, `T?` an `Option<T>`"
)]
pub trait FromArgs<Args>: Sized {
    /// Makes the inputs. An error for an argument that no value of the parameter type stands for.
    fn from_args(args: Args) -> Result<Self>;
}

/// A sink whose result does not depend on which operator filled it.
pub trait ValueSink<'a, D: Device>: OutputSink<'a, D> {
    /// The type of what a call returns: new tensors, or the caller's own.
    type Value;

    /// The result of a call as the value of the sink.
    fn value<Op: StructuredOp>(output: Self::Output<Op>) -> Self::Value
    where
        D: Executes<Op>;

    /// The type of the same sink for a shorter time.
    type Short<'s>: ValueSink<'s, D>;

    /// Lets `call` fill the sink from operands that live no longer than `'l`, such as an intermediate tensor. The
    /// second argument of `call` only tells the compiler that they live long enough.
    fn through<'l, L: ?Sized>(
        self,
        lent: &'l L,
        call: impl for<'s> FnOnce(
            Self::Short<'s>,
            PhantomData<&'s &'l ()>,
        ) -> Result<<Self::Short<'s> as ValueSink<'s, D>>::Value>,
    ) -> Result<Self::Value>;
}

impl<'a, D: Device, const N: usize> ValueSink<'a, D> for Functional<D, N> {
    type Value = [Tensor<D>; N];
    #[inline]
    fn value<Op: StructuredOp>(output: [Tensor<D>; N]) -> [Tensor<D>; N]
    where
        D: Executes<Op>,
    {
        output
    }

    type Short<'s> = Self;
    fn through<'l, L: ?Sized>(
        self,
        _: &'l L,
        call: impl for<'s> FnOnce(Self, PhantomData<&'s &'l ()>) -> Result<[Tensor<D>; N]>,
    ) -> Result<[Tensor<D>; N]> {
        call(self, PhantomData)
    }
}

impl<'a, D: Device, const N: usize> ValueSink<'a, D> for Out<'a, D, N> {
    type Value = [&'a mut Tensor<D>; N];
    #[inline]
    fn value<Op: StructuredOp>(output: [&'a mut Tensor<D>; N]) -> [&'a mut Tensor<D>; N]
    where
        D: Executes<Op>,
    {
        output
    }

    type Short<'s> = Out<'s, D, N>;
    fn through<'l, L: ?Sized>(
        mut self,
        _: &'l L,
        call: impl for<'s> FnOnce(Out<'s, D, N>, PhantomData<&'s &'l ()>) -> Result<[&'s mut Tensor<D>; N]>,
    ) -> Result<[&'a mut Tensor<D>; N]> {
        call(Out(self.0.each_mut().map(|out| &mut **out)), PhantomData)?;
        Ok(self.0)
    }
}

impl<'a, D: Device> ValueSink<'a, D> for InPlace<'a, D> {
    type Value = ();
    #[inline]
    fn value<Op: StructuredOp>((): ())
    where
        D: Executes<Op>,
    {
    }

    type Short<'s> = InPlace<'s, D>;
    fn through<'l, L: ?Sized>(
        self,
        _: &'l L,
        call: impl for<'s> FnOnce(InPlace<'s, D>, PhantomData<&'s &'l ()>) -> Result<()>,
    ) -> Result<()> {
        call(InPlace(self.0), PhantomData)
    }
}

/// An operator that a row of the table can name: callable on device `D` with the arguments `Args`, into any sink.
#[diagnostic::on_unimplemented(
    message = "the operator `{Self}` does not take the arguments `{Args}` on device `{D}`",
    label = "the number or kind of arguments in the row differs from what the operator takes"
)]
pub trait Operator<'t, D: Device, Args> {
    /// The number of outputs.
    const OUTPUTS: usize = 1;

    /// Calls the operator.
    fn call<S: ValueSink<'t, D>>(args: Args, sink: S) -> Result<S::Value>;
}

impl<'t, D, Op, Args> Operator<'t, D, Args> for Op
where
    Op: StructuredOp,
    D: Executes<Op>,
    Op::Inputs<'t>: FromArgs<Args>,
{
    const OUTPUTS: usize = Op::OUTPUTS;

    // Always: a result is copied once for every function that hands it on.
    #[inline(always)]
    fn call<S: ValueSink<'t, D>>(args: Args, sink: S) -> Result<S::Value> {
        let inputs = <Op::Inputs<'t>>::from_args(args).map_err(|e| e.of(Op::NAME))?;
        call::<Op, D, S>(&inputs, sink).map(S::value::<Op>)
    }
}
