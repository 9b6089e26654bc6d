//! The five sinks, one per form, and the calls that drive them. A sink's type decides at compile time what goes in and
//! what comes out; everything else is shared.

use super::bound::{Bound, Calling};
use super::operand::Operand;
use super::slot::{Place, Slot};
use super::state::{Form, SinkState};
use super::{Executes, StructuredOp, each};
use crate::dtype::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Device, Meta};
use crate::tensor::{Data, DataMut, Raw, Tensor, TensorRef, observe};
use smallvec::SmallVec;
use std::marker::PhantomData;

pub(super) mod sealed {
    pub trait Sealed {}
    impl<D, const N: usize> Sealed for super::Functional<D, N> {}
    impl<const N: usize> Sealed for super::MetaSink<N> {}
    impl<D: super::Device, const N: usize> Sealed for super::Out<'_, D, N> {}
    impl<D: super::Device> Sealed for super::InPlace<'_, D> {}
    impl<D: super::Device, const N: usize> Sealed for super::Static<'_, D, N> {}
}

/// Where the outputs of a call go. Sealed: a bound call outlives the sink's own tensors if `drive` lets it.
pub trait OutputSink<'a, D: Device>: Sized + sealed::Sealed {
    /// The type of what the call returns: new tensors, the caller's own, or a prepared plan.
    type Output<Op: StructuredOp>
    where
        D: Executes<Op>;

    /// The caller's tensor for output `i`: there is one for out=, in-place and prepared calls.
    fn existing(&self, _i: usize) -> Option<TensorRef<'_>> {
        None
    }

    /// Lends the outputs to the call, runs (or keeps) it, and returns them.
    fn drive<Op: StructuredOp>(self, inputs: &Op::Inputs<'a>) -> Result<Self::Output<Op>>
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
///
/// While it lives nobody else writes its inputs, or reads its outputs; it lends both between runs:
/// [`input_mut`](Prepared::input_mut) to refill an input, [`output`](Prepared::output) to look at a result.
pub struct Prepared<'a, Op: StructuredOp, D: Executes<Op>, const N: usize> {
    bound: Bound<'a, Op, D>,
    inputs: SmallVec<[Operand<'a>; 3]>,
    outputs: [&'a mut Tensor<D>; N],
}

impl<Op: StructuredOp, D: Executes<Op>, const N: usize> Prepared<'_, Op, D, N> {
    /// Runs the operator once more on the present contents of its operands.
    #[inline]
    pub fn run(&mut self) -> Result<()> {
        self.bound.run().map_err(|e| e.of(Op::NAME))
    }

    /// The elements of input `i`, in the order of the schema, to be overwritten before the next run. All that share the
    /// tensor's storage see what is written.
    ///
    /// Errors: no such tensor; another dtype; not contiguous; data that the host cannot reach; a storage that somebody
    /// else reads, or that is frozen.
    pub fn input_mut<T: Element>(&mut self, i: usize) -> Result<DataMut<'_, T>> {
        let tensor = self.inputs.get(i).and_then(Operand::tensor).ok_or_else(no_tensor)?;
        let header = tensor.header().ok_or(ErrorKind::NoHostData { device: tensor.device() })?;
        let held = self.bound.held(header).ok_or_else(no_tensor)?.write_through("an input")?;
        DataMut::through(tensor.geometry(), held).map_err(|e| e.of(Op::NAME))
    }

    /// The elements of output `i` as the last run left them.
    ///
    /// Errors: no such output; another dtype; not contiguous; data that the host cannot reach.
    pub fn output<T: Element>(&mut self, i: usize) -> Result<Data<'_, T>> {
        let tensor = self.outputs.get(i).map(|t| t.as_operand()).ok_or_else(no_tensor)?;
        let header = tensor.header().ok_or(ErrorKind::NoHostData { device: tensor.device() })?;
        let held = self.bound.held(header).ok_or_else(no_tensor)?.read_through();
        Data::through(tensor.geometry(), held).map_err(|e| e.of(Op::NAME))
    }
}

/// Refuses to compile a call whose sink has another number of outputs than the operator: one that `meta` does not
/// declare would be nobody's, and kernels number operands after the outputs.
const fn has_outputs<Op: StructuredOp>(sink: usize) {
    assert!(sink == Op::OUTPUTS, "this sink has another number of outputs than the operator");
}

#[cold]
fn no_tensor() -> Error {
    ErrorKind::ArgumentRule { rule: "a prepared call lends its tensors by their position; there is none at this one" }
        .into()
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

    // Always, as `Operator::call` is.
    #[inline(always)]
    fn drive<Op: StructuredOp>(self, inputs: &Op::Inputs<'a>) -> Result<[Tensor<D>; N]>
    where
        D: Executes<Op>,
    {
        const { has_outputs::<Op>(N) };
        let mut new: [Option<Raw>; N] = [const { None }; N];
        let mut places = new.iter_mut();
        let mut slots: [Slot<'_>; N] = each(|_| Slot::new(Place::New(places.next().expect("as many places"))));
        Op::Home::run::<Op, D>(inputs, &mut SinkState::new(Form::Functional, D::MEMORY.is_none(), &mut slots))?;
        // The call put a tensor in the place of every declared output, and checked that each was declared.
        Ok(each(|i| Tensor::from_raw(new[i].take().expect("one new tensor per declared output"))))
    }
}

impl<'a, S: 'static, const N: usize> OutputSink<'a, Meta<S>> for MetaSink<N> {
    type Output<Op: StructuredOp> = [Tensor<Meta<S>>; N];

    #[inline]
    fn drive<Op: StructuredOp>(self, inputs: &Op::Inputs<'a>) -> Result<[Tensor<Meta<S>>; N]> {
        Functional::<Meta<S>, N>::default().drive::<Op>(inputs)
    }
}

impl<'a, D: Device, const N: usize> OutputSink<'a, D> for Out<'a, D, N> {
    type Output<Op: StructuredOp>
        = [&'a mut Tensor<D>; N]
    where
        D: Executes<Op>;

    fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        Some(self.0.get(i)?.as_operand())
    }

    #[inline]
    fn drive<Op: StructuredOp>(mut self, inputs: &Op::Inputs<'a>) -> Result<[&'a mut Tensor<D>; N]>
    where
        D: Executes<Op>,
    {
        const { has_outputs::<Op>(N) };
        let mut slots = lent(&mut self.0);
        Op::Home::run::<Op, D>(inputs, &mut SinkState::new(Form::Out, D::MEMORY.is_none(), &mut slots))?;
        Ok(self.0)
    }
}

/// The caller's tensors as the outputs of a call.
#[inline]
fn lent<'s, D: Device, const N: usize>(outputs: &'s mut [&mut Tensor<D>; N]) -> [Slot<'s>; N] {
    outputs.each_mut().map(|tensor| Slot::new(Place::Existing(tensor.raw_mut())))
}

impl<'a, D: Device> OutputSink<'a, D> for InPlace<'a, D> {
    type Output<Op: StructuredOp>
        = ()
    where
        D: Executes<Op>;

    fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        (i == 0).then(|| self.0.as_operand())
    }

    #[inline]
    fn drive<Op: StructuredOp>(self, inputs: &Op::Inputs<'a>) -> Result<()>
    where
        D: Executes<Op>,
    {
        const { has_outputs::<Op>(1) };
        let mut slots = [Slot::new(Place::Existing(self.0.raw_mut()))];
        Op::Home::run::<Op, D>(inputs, &mut SinkState::new(Form::InPlace, D::MEMORY.is_none(), &mut slots))
    }
}

impl<'a, D: Device, const N: usize> OutputSink<'a, D> for Static<'a, D, N> {
    type Output<Op: StructuredOp>
        = Prepared<'a, Op, D, N>
    where
        D: Executes<Op>;

    fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        Some(self.0.get(i)?.as_operand())
    }

    fn drive<Op: StructuredOp>(mut self, inputs: &Op::Inputs<'a>) -> Result<Prepared<'a, Op, D, N>>
    where
        D: Executes<Op>,
    {
        const { has_outputs::<Op>(N) };
        let mut slots = lent(&mut self.0);
        let bound = Op::Home::bind::<Op, D>(inputs, &mut SinkState::new(Form::Out, D::MEMORY.is_none(), &mut slots))?;
        Ok(Prepared { bound, inputs: Op::operands(inputs).into(), outputs: self.0 })
    }
}

/// Calls a structured operator with the outputs going to `sink`.
#[inline]
pub fn call<'t, Op, D, S>(inputs: &Op::Inputs<'t>, sink: S) -> Result<S::Output<Op>>
where
    Op: StructuredOp,
    D: Executes<Op>,
    S: OutputSink<'t, D>,
{
    let _span =
        observe::enter(Op::NAME, |each| Op::operands(inputs).iter().filter_map(Operand::geometry).for_each(each));
    sink.drive::<Op>(inputs).map_err(|e| e.of(Op::NAME))
}

/// Calls `f` with `tensor` twice: as an input, by reference, and as the sink of an in-place call. The third argument
/// only tells the compiler that other operands, which live for `'a`, live long enough.
pub fn in_place<'a, D: Device>(
    tensor: &'a mut Tensor<D>,
    f: impl for<'t> FnOnce(TensorRef<'t>, InPlace<'t, D>, PhantomData<&'t &'a ()>) -> Result<()>,
) -> Result<&'a mut Tensor<D>> {
    if let Some(header) = tensor.raw().header() {
        // The last moment at which `&mut` proves that nobody else reaches the storage: `f` may lend `input` to anyone.
        header.borrow().heal();
    }
    // SAFETY: `tensor` is borrowed for longer than `f` runs, and a sink never replaces the store of its tensor (S3).
    let input = unsafe { tensor.raw().detached() };
    f(input.as_ref(), InPlace(tensor), PhantomData)?;
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
