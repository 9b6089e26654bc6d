//! The five sinks, one per form, and the calls that drive them. A sink's type decides at compile time what goes in and what
//! comes out; everything else is shared.

use super::bound::{Bound, Produced, bind};
use super::state::{Form, SinkState};
use super::{Executes, StructuredOp};
use crate::device::{Device, Meta};
use crate::error::Result;
use crate::tensor::{Tensor, TensorRef};
use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
    impl<D, const N: usize> Sealed for super::Functional<D, N> {}
    impl<const N: usize> Sealed for super::MetaSink<N> {}
    impl<D: super::Device, const N: usize> Sealed for super::Out<'_, D, N> {}
    impl<D: super::Device> Sealed for super::InPlace<'_, D> {}
    impl<D: super::Device, const N: usize> Sealed for super::Static<'_, D, N> {}
}

/// Where the outputs of a call go. Sealed: a bound call outlives the sink's own tensors if `conclude` lets it.
pub trait OutputSink<'a, D: Device>: Sized + sealed::Sealed {
    /// The type of what the call returns: new tensors, the caller's own, or a prepared plan.
    type Output<Op: StructuredOp>
    where
        D: Executes<Op>;

    /// The outputs that exist, lent to `meta`.
    fn state(&mut self) -> SinkState<'_>;

    /// Runs (or keeps) the bound call and returns the outputs.
    fn conclude<Op: StructuredOp>(self, bound: Bound<'a, Op, D>, produced: Produced) -> Result<Self::Output<Op>>
    where
        D: Executes<Op>;
}

/// Outputs are `N` new tensors on `D`.
pub struct Functional<D, const N: usize>(PhantomData<D>);

/// Outputs are `N` new meta tensors: shapes only, inputs of any device.
pub struct MetaSink<const N: usize>;

/// Outputs are the caller's `N` tensors, resized where needed.
pub struct Out<'a, D: Device, const N: usize>(pub [&'a mut Tensor<D>; N]);

/// The output is the caller's tensor, which is also the first input.
pub struct InPlace<'a, D: Device>(pub(super) &'a mut Tensor<D>);

/// Outputs are the caller's `N` tensors, and the call is kept to be run again and again.
pub struct Static<'a, D: Device, const N: usize>(pub [&'a mut Tensor<D>; N]);

/// A checked, bound call that owns its borrow of the operands. Running it checks and allocates nothing.
pub struct Prepared<'a, Op: StructuredOp, D: Executes<Op>, const N: usize> {
    bound: Bound<'a, Op, D>,
    _outputs: [&'a mut Tensor<D>; N],
}

impl<Op: StructuredOp, D: Executes<Op>, const N: usize> Prepared<'_, Op, D, N> {
    /// Runs the operator once more on the present contents of its operands.
    pub fn run(&mut self) -> Result<()> {
        self.bound.run().map_err(|e| e.of(Op::NAME))
    }
}

impl<D, const N: usize> Default for Functional<D, N> {
    fn default() -> Self {
        Functional(PhantomData)
    }
}

impl<'a, D: Device, const N: usize> OutputSink<'a, D> for Functional<D, N> {
    type Output<Op: StructuredOp>
        = [Tensor<D>; N]
    where
        D: Executes<Op>;

    fn state(&mut self) -> SinkState<'_> {
        SinkState::new(Form::Functional, D::MEMORY.is_none(), N, std::iter::empty())
    }

    fn conclude<Op: StructuredOp>(self, mut bound: Bound<'a, Op, D>, produced: Produced) -> Result<[Tensor<D>; N]>
    where
        D: Executes<Op>,
    {
        let ran = bound.run();
        // What the kernel was bound to may not outlive the tensors that it points into.
        drop(bound);
        ran?;
        Ok(tensors(produced))
    }
}

/// `bind` produced one tensor per declared output, and checked that each was declared.
fn tensors<D: Device, const N: usize>(produced: Produced) -> [Tensor<D>; N] {
    let mut produced = produced.0.into_iter();
    std::array::from_fn(|_| Tensor::from_raw(produced.next().expect("one new tensor per declared output")))
}

impl<'a, const N: usize> OutputSink<'a, Meta> for MetaSink<N> {
    type Output<Op: StructuredOp> = [Tensor<Meta>; N];

    fn state(&mut self) -> SinkState<'_> {
        SinkState::new(Form::Functional, true, N, std::iter::empty())
    }

    fn conclude<Op: StructuredOp>(self, _: Bound<'a, Op, Meta>, produced: Produced) -> Result<[Tensor<Meta>; N]> {
        Ok(tensors(produced))
    }
}

impl<'a, D: Device, const N: usize> OutputSink<'a, D> for Out<'a, D, N> {
    type Output<Op: StructuredOp>
        = [&'a mut Tensor<D>; N]
    where
        D: Executes<Op>;

    fn state(&mut self) -> SinkState<'_> {
        SinkState::new(Form::Out, D::MEMORY.is_none(), N, self.0.iter_mut().map(|t| t.raw_mut()))
    }

    fn conclude<Op: StructuredOp>(self, mut bound: Bound<'a, Op, D>, _: Produced) -> Result<[&'a mut Tensor<D>; N]>
    where
        D: Executes<Op>,
    {
        match bound.run() {
            Ok(()) => Ok(self.0),
            Err(error) => {
                // The data was refused: sizes and strides go back, what was written stays unspecified.
                for (i, out) in self.0.into_iter().enumerate() {
                    if let Some(former) = bound.former_geometry(i) {
                        out.raw_mut().set_geometry(former.clone());
                    }
                }
                Err(error)
            }
        }
    }
}

impl<'a, D: Device> OutputSink<'a, D> for InPlace<'a, D> {
    type Output<Op: StructuredOp>
        = ()
    where
        D: Executes<Op>;

    fn state(&mut self) -> SinkState<'_> {
        SinkState::new(Form::InPlace, D::MEMORY.is_none(), 1, std::iter::once(self.0.raw_mut()))
    }

    fn conclude<Op: StructuredOp>(self, mut bound: Bound<'a, Op, D>, _: Produced) -> Result<()>
    where
        D: Executes<Op>,
    {
        bound.run()
    }
}

impl<'a, D: Device, const N: usize> OutputSink<'a, D> for Static<'a, D, N> {
    type Output<Op: StructuredOp>
        = Prepared<'a, Op, D, N>
    where
        D: Executes<Op>;

    fn state(&mut self) -> SinkState<'_> {
        SinkState::new(Form::Out, D::MEMORY.is_none(), N, self.0.iter_mut().map(|t| t.raw_mut()))
    }

    fn conclude<Op: StructuredOp>(self, bound: Bound<'a, Op, D>, _: Produced) -> Result<Prepared<'a, Op, D, N>>
    where
        D: Executes<Op>,
    {
        Ok(Prepared { bound, _outputs: self.0 })
    }
}

/// Calls a structured operator with the outputs going to `sink`.
pub fn call<'t, Op, D, S>(inputs: &Op::Inputs<'t>, mut sink: S) -> Result<S::Output<Op>>
where
    Op: StructuredOp,
    D: Executes<Op>,
    S: OutputSink<'t, D>,
{
    let (bound, produced) = bind::<Op, D>(inputs, sink.state()).map_err(|e| e.of(Op::NAME))?;
    sink.conclude(bound, produced).map_err(|e| e.of(Op::NAME))
}

/// Calls `f` with `tensor` twice: as an input, by reference, and as the sink of an in-place call. The third argument only
/// tells the compiler that other operands, which live for `'a`, live long enough.
pub fn in_place<'a, D: Device>(
    tensor: &'a mut Tensor<D>,
    f: impl for<'t> FnOnce(TensorRef<'t>, InPlace<'t, D>, PhantomData<&'t &'a ()>) -> Result<()>,
) -> Result<&'a mut Tensor<D>> {
    let geometry = tensor.geometry().clone();
    if let Some(header) = tensor.raw().header() {
        // The last moment at which `&mut` proves that nobody else reaches the storage: `f` may lend `input` to anyone.
        header.borrow().heal();
    }
    // SAFETY: `tensor` is borrowed for longer than `f` runs, and a sink never replaces the store of its tensor (S3).
    let input = unsafe { tensor.raw().detached_ref(&geometry) };
    f(input, InPlace(tensor), PhantomData)?;
    Ok(tensor)
}

/// Checks a call once and keeps it: [`Prepared::run`] then runs it with no check and no allocation.
pub fn prepare<'a, Op, D, const N: usize>(
    inputs: &Op::Inputs<'a>,
    outputs: [&'a mut Tensor<D>; N],
) -> Result<Prepared<'a, Op, D, N>>
where
    Op: StructuredOp,
    D: Executes<Op>,
{
    call::<Op, D, _>(inputs, Static(outputs))
}
