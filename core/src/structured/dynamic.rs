//! A sink whose form and number of outputs are chosen when the program runs. Calls by name use it: an operator is
//! compiled once for a device, and functional, in-place and out= forms are the same function with other outputs.

use super::bound::Calling;
use super::operator::ValueSink;
use super::sink::{InPlace, OutputSink, in_place, sealed};
use super::slot::{Place, Slot};
use super::state::{Form, SinkState};
use super::{Executes, StructuredOp};
use crate::error::{ErrorKind, Result};
use crate::storage::Device;
use crate::tensor::{Raw, Tensor, TensorRef};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// New tensors as a call returns them.
pub type NewTensors<D> = SmallVec<[Tensor<D>; 2]>;

/// The outputs of a call: places for new tensors, or the caller's.
trait Outputs<D: Device> {
    /// The only one, if there is no other.
    fn single(&mut self) -> Option<Slot<'_>>;
    /// All of them.
    fn all(&mut self) -> Vec<Slot<'_>>;
    fn existing(&self, i: usize) -> Option<TensorRef<'_>>;
}

struct New(SmallVec<[Option<Raw>; 2]>);

impl<D: Device> Outputs<D> for New {
    fn single(&mut self) -> Option<Slot<'_>> {
        if let [place] = &mut self.0[..] { Some(Slot::new(Place::New(place))) } else { None }
    }

    fn all(&mut self) -> Vec<Slot<'_>> {
        self.0.iter_mut().map(|place| Slot::new(Place::New(place))).collect()
    }

    fn existing(&self, _: usize) -> Option<TensorRef<'_>> {
        None
    }
}

struct Lent<'o, 't, D: Device>(&'o mut [&'t mut Tensor<D>]);

impl<D: Device> Outputs<D> for Lent<'_, '_, D> {
    fn single(&mut self) -> Option<Slot<'_>> {
        if let [tensor] = &mut *self.0 { Some(Slot::new(Place::Existing(tensor.raw_mut()))) } else { None }
    }

    fn all(&mut self) -> Vec<Slot<'_>> {
        self.0.iter_mut().map(|tensor| Slot::new(Place::Existing(tensor.raw_mut()))).collect()
    }

    fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        Some(self.0.get(i)?.as_operand())
    }
}

/// Outputs whose form and number are known when the program runs.
pub struct Dynamic<'a, D: Device> {
    form: Form,
    outputs: &'a mut (dyn Outputs<D> + 'a),
}

impl<D: Device> sealed::Sealed for Dynamic<'_, D> {}

impl<'a, D: Device> OutputSink<'a, D> for Dynamic<'a, D> {
    type Output<Op: StructuredOp>
        = ()
    where
        D: Executes<Op>;

    fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        self.outputs.existing(i)
    }

    #[inline]
    fn drive<Op: StructuredOp>(self, inputs: &Op::Inputs<'a>) -> Result<()>
    where
        D: Executes<Op>,
    {
        self.with_state(Op::OUTPUTS, &mut |state| Op::Home::run::<Op, D>(inputs, state))
    }
}

impl<D: Device> Dynamic<'_, D> {
    /// Calls `run` with the state of a sink of `count` outputs. Not generic over the operator: one body for a device.
    fn with_state(self, count: usize, run: &mut dyn FnMut(&mut SinkState<'_>) -> Result<()>) -> Result<()> {
        let (mut one, mut many): ([Slot<'_>; 1], Vec<Slot<'_>>);
        let slots: &mut [Slot<'_>] = if count == 1 {
            one = [self.outputs.single().ok_or_else(other_outputs)?];
            &mut one
        } else {
            many = self.outputs.all();
            &mut many
        };
        if slots.len() != count {
            return Err(other_outputs());
        }
        run(&mut SinkState::new(self.form, D::MEMORY.is_none(), slots))
    }
}

impl<'a, D: Device> ValueSink<'a, D> for Dynamic<'a, D> {
    type Value = ();

    #[inline]
    fn value<Op: StructuredOp>((): ())
    where
        D: Executes<Op>,
    {
    }

    type Short<'s> = Dynamic<'s, D>;

    fn through<'l, L: ?Sized>(
        self,
        _: &'l L,
        call: impl for<'s> FnOnce(Dynamic<'s, D>, PhantomData<&'s &'l ()>) -> Result<()>,
    ) -> Result<()> {
        call(Dynamic { form: self.form, outputs: self.outputs }, PhantomData)
    }
}

#[cold]
fn other_outputs() -> crate::Error {
    ErrorKind::ArgumentRule { rule: "this call has another number of outputs than the operator" }.into()
}

/// Calls `f` with a sink for `count` new tensors, and returns them.
///
/// # Errors
///
/// Those of `f`; an operator that has another number of outputs, or that returned without writing them.
pub fn functional<'a, D: Device>(
    count: usize,
    f: impl for<'s> FnOnce(Dynamic<'s, D>, PhantomData<&'s &'a ()>) -> Result<()>,
) -> Result<NewTensors<D>> {
    let mut new = New((0..count).map(|_| None).collect());
    f(Dynamic { form: Form::Functional, outputs: &mut new }, PhantomData)?;
    let filled = |raw: Option<Raw>| raw.map(Tensor::from_raw).ok_or_else(other_outputs);
    new.0.into_iter().map(filled).collect()
}

/// Calls `f` with a sink for the caller's tensors, which are resized where needed.
///
/// # Errors
///
/// Those of `f`; an operator that has another number of outputs.
pub fn out<'a, D: Device>(
    outputs: &mut [&mut Tensor<D>],
    f: impl for<'s> FnOnce(Dynamic<'s, D>, PhantomData<&'s &'a ()>) -> Result<()>,
) -> Result<()> {
    f(Dynamic { form: Form::Out, outputs: &mut Lent(outputs) }, PhantomData)
}

/// Calls `f` with `tensor` twice, as [`in_place`] does.
///
/// # Errors
///
/// Those of `f`; an operator that has another number of outputs.
pub fn inplace<'a, D: Device>(
    tensor: &'a mut Tensor<D>,
    f: impl for<'s> FnOnce(TensorRef<'s>, Dynamic<'s, D>, PhantomData<&'s &'a ()>) -> Result<()>,
) -> Result<()> {
    in_place(tensor, |input, InPlace(tensor), _| {
        f(input, Dynamic { form: Form::InPlace, outputs: &mut Lent(&mut [tensor]) }, PhantomData)
    })?;
    Ok(())
}
