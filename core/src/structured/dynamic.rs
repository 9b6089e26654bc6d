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
use std::marker::PhantomData;

/// What a call makes of its new tensors. Most calls have one, which is moved as little as can be.
pub enum Results<R> {
    /// Of the only one.
    One(R),
    /// Of none, or of several.
    Several(Vec<R>),
}

/// The outputs of a call.
enum Places<'a, D: Device> {
    /// The only one.
    One(Place<'a>),
    /// None, or several.
    Several(&'a mut (dyn Outputs<D> + 'a)),
}

/// Several outputs: places for new tensors, or the caller's.
trait Outputs<D: Device> {
    fn slots(&mut self) -> Vec<Slot<'_>>;
    fn existing(&self, i: usize) -> Option<TensorRef<'_>>;
}

struct New(Vec<Option<Raw>>);

impl New {
    // These two are functions of their own, and not generic, so that they are compiled once: in `functional`, which is
    // generic, they would be compiled for every operator.
    fn places(count: usize) -> New {
        New((0..count).map(|_| None).collect())
    }

    fn filled(self) -> Result<Vec<Raw>> {
        self.0.into_iter().map(|raw| raw.ok_or_else(other_outputs)).collect()
    }
}

impl<D: Device> Outputs<D> for New {
    fn slots(&mut self) -> Vec<Slot<'_>> {
        self.0.iter_mut().map(|place| Slot::new(Place::New(place))).collect()
    }

    fn existing(&self, _: usize) -> Option<TensorRef<'_>> {
        None
    }
}

struct Lent<'o, 't, D: Device>(&'o mut [&'t mut Tensor<D>]);

impl<D: Device> Outputs<D> for Lent<'_, '_, D> {
    fn slots(&mut self) -> Vec<Slot<'_>> {
        self.0.iter_mut().map(|tensor| Slot::new(Place::Existing(tensor.raw_mut()))).collect()
    }

    fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        Some(self.0.get(i)?.as_operand())
    }
}

/// Outputs whose form and number are known when the program runs.
pub struct Dynamic<'a, D: Device> {
    form: Form,
    outputs: Places<'a, D>,
}

impl<D: Device> sealed::Sealed for Dynamic<'_, D> {}

impl<'a, D: Device> OutputSink<'a, D> for Dynamic<'a, D> {
    type Output<Op: StructuredOp>
        = ()
    where
        D: Executes<Op>;

    fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        match &self.outputs {
            Places::One(Place::Existing(raw)) if i == 0 => Some(raw.as_ref()),
            Places::One(_) => None,
            Places::Several(outputs) => outputs.existing(i),
        }
    }

    #[inline]
    fn drive<Op: StructuredOp>(self, inputs: &Op::Inputs<'a>) -> Result<()>
    where
        D: Executes<Op>,
    {
        match self.outputs {
            // Here, without a call by pointer: most operators have one output.
            Places::One(place) if Op::OUTPUTS == 1 => {
                let mut slots = [Slot::new(place)];
                Op::Home::run::<Op, D>(inputs, &mut SinkState::new(self.form, D::MEMORY.is_none(), &mut slots))
            }
            Places::One(_) => Err(other_outputs()),
            Places::Several(outputs) => {
                with_state(self.form, outputs, Op::OUTPUTS, &mut |state| Op::Home::run::<Op, D>(inputs, state))
            }
        }
    }
}

/// Calls `run` with the state of a sink of `count` outputs. Not generic over the operator: one body for a device.
fn with_state<D: Device>(
    form: Form,
    outputs: &mut (dyn Outputs<D> + '_),
    count: usize,
    run: &mut dyn FnMut(&mut SinkState<'_>) -> Result<()>,
) -> Result<()> {
    let mut slots = outputs.slots();
    if slots.len() != count {
        return Err(other_outputs());
    }
    run(&mut SinkState::new(form, D::MEMORY.is_none(), &mut slots))
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
        #[allow(clippy::needless_match, reason = "the trait object is to be lent for a shorter time")]
        let outputs = match self.outputs {
            Places::One(place) => Places::One(place),
            Places::Several(outputs) => Places::Several(outputs),
        };
        call(Dynamic { form: self.form, outputs }, PhantomData)
    }
}

#[cold]
fn other_outputs() -> crate::Error {
    ErrorKind::ArgumentRule { rule: "this call has another number of outputs than the operator" }.into()
}

/// Calls `f` with a sink for `count` new tensors, and `each` with each of them.
///
/// # Errors
///
/// Those of `f`; an operator that has another number of outputs, or that returned without writing them.
#[inline]
pub fn functional<'a, D: Device, R>(
    count: usize,
    f: impl for<'s> FnOnce(Dynamic<'s, D>, PhantomData<&'s &'a ()>) -> Result<()>,
    each: impl Fn(Tensor<D>) -> R,
) -> Result<Results<R>> {
    if count == 1 {
        let mut new = None;
        f(Dynamic { form: Form::Functional, outputs: Places::One(Place::New(&mut new)) }, PhantomData)?;
        return match new {
            Some(raw) => Ok(Results::One(each(Tensor::from_raw(raw)))),
            None => Err(other_outputs()),
        };
    }
    let mut new = New::places(count);
    f(Dynamic { form: Form::Functional, outputs: Places::Several(&mut new) }, PhantomData)?;
    let mut results = Vec::with_capacity(count);
    for raw in new.filled()? {
        results.push(each(Tensor::from_raw(raw)));
    }
    Ok(Results::Several(results))
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
    if let [output] = outputs {
        return f(Dynamic { form: Form::Out, outputs: Places::One(Place::Existing(output.raw_mut())) }, PhantomData);
    }
    f(Dynamic { form: Form::Out, outputs: Places::Several(&mut Lent(outputs)) }, PhantomData)
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
        let outputs = Places::One(Place::Existing(tensor.raw_mut()));
        f(input, Dynamic { form: Form::InPlace, outputs }, PhantomData)
    })?;
    Ok(())
}
