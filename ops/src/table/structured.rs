//! Kernels of structured operators for calls by name and through typed handles. An operator is compiled once for a
//! device: one function from arguments and a [`Dynamic`] sink to `Result<()>`. What is around it, the forms, is
//! compiled once for a list of argument types.

use super::declaration::Declaration;
use super::outputs::{write_converted, write_matrices, write_out, write_outs};
use super::signature::{Signature, UnboxedSignature};
use super::stack::{
    Reader, all_written, arguments, check_written, device_error, finish, keep_written, split_first, written,
};
use monomorph_core::dispatch::{CanonicalList, Frame, KernelFn, KernelFunction, Returned};
use monomorph_core::structured::dynamic::{self, Dynamic, Results};
use monomorph_core::structured::{Operand, Operator};
use monomorph_core::{AnyTensor, Device, ErrorKind, IValue, Result, Stack, Tensor};
use std::marker::PhantomData;

/// An operator on a device: its arguments, and where its outputs go.
type Entry<D, A> = for<'t> fn(<A as Signature>::Values<'t>, Dynamic<'t, D>) -> Result<()>;

/// The same with arguments that it reads itself, of which the first may be given: values that another function reads
/// for it would go through memory twice, and narrow loads of wide stores stall (16 % of a small call).
type BoxedEntry<D> = for<'t> fn(Reader<'t>, Option<Operand<'t>>, Dynamic<'t, D>) -> Result<()>;

/// An operator as a function whose outputs are chosen at run time.
fn entry<'t, O, D, A>(values: A::Values<'t>, sink: Dynamic<'t, D>) -> Result<()>
where
    D: Device,
    A: Signature,
    O: for<'s> Operator<'s, D, A::Values<'s>>,
{
    O::call(values, sink)
}

/// The same with arguments on a stack.
fn boxed_entry<'t, O, D, A>(mut reader: Reader<'t>, first: Option<Operand<'t>>, sink: Dynamic<'t, D>) -> Result<()>
where
    D: Device,
    A: Signature,
    O: for<'s> Operator<'s, D, A::Values<'s>>,
{
    O::call(A::read(&mut reader, first)?, sink)
}

/// An operator on a device, whatever the form. `native!` asks it for the forms that are declared, so that a program
/// links no other.
pub struct Kernel<D: Device, A: Signature> {
    entry: Entry<D, A>,
    boxed: Boxed<D>,
}

/// The same for calls by name. It knows no signature, so that its forms are compiled once for a device.
struct Boxed<D: Device> {
    entry: BoxedEntry<D>,
    declaration: &'static Declaration,
}

impl<D: Device> Clone for Boxed<D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: Device> Copy for Boxed<D> {}

impl<D: Device, A: Signature> Clone for Kernel<D, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: Device, A: Signature> Copy for Kernel<D, A> {}

/// Forms with a door for typed handles beside that for calls by name.
impl<D: Device, A: UnboxedSignature> Kernel<D, A> {
    /// The functional form with one result.
    pub fn functional_form(self) -> KernelFunction {
        let door = Functional::<D, A, AnyTensor>(self, PhantomData);
        KernelFunction::with_stack(door, self.boxed.functional_stack())
    }

    /// The functional form with two results.
    pub fn functional_pair_form(self) -> KernelFunction {
        let door = Functional::<D, A, (AnyTensor, AnyTensor)>(self, PhantomData);
        KernelFunction::with_stack(door, self.boxed.functional_stack())
    }

    /// The in-place form.
    pub fn inplace_form(self) -> KernelFunction {
        KernelFunction::with_stack(Inplace(self), self.boxed.inplace_stack())
    }

    /// The out= form with one output.
    pub fn out_form(self) -> KernelFunction {
        KernelFunction::with_stack(Out(self), self.boxed.out_stack())
    }

    /// The out= form with two outputs.
    pub fn out_pair_form(self) -> KernelFunction {
        KernelFunction::with_stack(PairOut(self), self.boxed.out_stack())
    }
}

/// Forms for calls by name alone: of operators with arguments that typed handles cannot pass, such as `Tensor?[]`, or
/// with more than two results.
impl<D: Device, A: Signature> Kernel<D, A> {
    /// The kernel of an operator.
    pub fn of<O: for<'t> Operator<'t, D, A::Values<'t>>>(declaration: &'static Declaration) -> Kernel<D, A> {
        Kernel { entry: entry::<O, D, A>, boxed: Boxed { entry: boxed_entry::<O, D, A>, declaration } }
    }

    /// The functional form.
    pub fn functional_boxed_form(self) -> KernelFunction {
        KernelFunction::stack(self.boxed.functional_stack())
    }

    /// The in-place form.
    pub fn inplace_boxed_form(self) -> KernelFunction {
        KernelFunction::stack(self.boxed.inplace_stack())
    }

    /// The out= form.
    pub fn out_boxed_form(self) -> KernelFunction {
        KernelFunction::stack(self.boxed.out_stack())
    }

    /// The out= form that is made of the functional one, of one result: a program of such operators does without the
    /// checks of several outputs (15 kB).
    pub fn autogen_form(self) -> KernelFunction {
        self.boxed.autogen_with(write_each)
    }

    /// The same with an output of any dtype, which the result is converted to.
    pub fn out_copied_form(self) -> KernelFunction {
        self.boxed.autogen_with(write_each_converted)
    }

    /// The same with outputs of any dtypes that the results can be cast to; those without elements get the results'
    /// layouts.
    pub fn out_matrix_form(self) -> KernelFunction {
        self.boxed.autogen_with(write_matrices)
    }

    /// The same of several results, which are written together or not at all.
    pub fn autogen_several_form(self) -> KernelFunction {
        self.boxed.autogen_with(write_outs)
    }
}

/// Writes results to the outputs of a call.
type WriteResults<D> = fn(&[Tensor<D>], &mut [&mut Tensor<D>]) -> Result<()>;

fn write_each<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    results.iter().zip(outs).try_for_each(|(result, out)| write_out(result, out))
}

fn write_each_converted<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    results.iter().zip(outs).try_for_each(|(result, out)| write_converted(result, out))
}

impl<D: Device> Boxed<D> {
    fn functional_stack(self) -> impl Fn(&mut Stack) -> Result<()> {
        move |stack| self.functional(stack)
    }

    fn inplace_stack(self) -> impl Fn(&mut Stack) -> Result<()> {
        move |stack| self.inplace(stack)
    }

    fn out_stack(self) -> impl Fn(&mut Stack) -> Result<()> {
        move |stack| self.out(stack)
    }

    fn autogen_with(self, write: WriteResults<D>) -> KernelFunction {
        KernelFunction::stack(move |stack| self.autogen(stack, write))
    }

    fn inputs(&self) -> usize {
        self.declaration.parameters.len()
    }

    fn functional(&self, stack: &mut Stack) -> Result<()> {
        match self.computed(arguments(stack, self.inputs())?, IValue::from)? {
            Results::One(output) => finish(stack, self.inputs(), [output]),
            Results::Several(outputs) => finish(stack, self.inputs(), outputs),
        }
        Ok(())
    }

    /// What `each` makes of the new tensors of a call with arguments where they lie on the stack.
    #[inline]
    fn computed<R>(&self, args: &[IValue], each: impl Fn(Tensor<D>) -> R) -> Result<Results<R>> {
        let Boxed { entry, declaration } = *self;
        let parameters = declaration.parameters;
        dynamic::functional(declaration.results, |sink, _| entry(Reader::new(args, parameters), None, sink), each)
    }

    fn inplace(&self, stack: &mut Stack) -> Result<()> {
        let (first, rest) = split_first(arguments(stack, self.inputs())?)?;
        check_written(first, 0)?;
        let [this] = written::<D, 1>(first)?;
        dynamic::inplace(this, |input, sink, _| {
            (self.entry)(Reader::new(rest, self.declaration.parameters), Some(Operand::from(input)), sink)
        })?;
        stack.truncate(stack.len() + 1 - self.inputs());
        Ok(())
    }

    fn out(&self, stack: &mut Stack) -> Result<()> {
        let (inputs, results) = (self.inputs(), self.declaration.results);
        let (inputs_read, outs) = arguments(stack, inputs + results)?.split_at_mut(inputs);
        check_written(outs, inputs)?;
        let mut outs = all_written::<D, 2>(outs)?;
        dynamic::out(&mut outs, |sink, _| {
            (self.entry)(Reader::new(inputs_read, self.declaration.parameters), None, sink)
        })?;
        drop(outs);
        keep_written(stack, inputs + results, results);
        Ok(())
    }

    fn autogen(&self, stack: &mut Stack, write: WriteResults<D>) -> Result<()> {
        let (inputs, results) = (self.inputs(), self.declaration.results);
        let (inputs_read, outs) = arguments(stack, inputs + results)?.split_at_mut(inputs);
        check_written(outs, inputs)?;
        let computed = match self.computed(inputs_read, |output| output)? {
            Results::One(output) => vec![output],
            Results::Several(outputs) => outputs,
        };
        write(&computed, &mut all_written::<D, 2>(outs)?)?;
        keep_written(stack, inputs + results, results);
        Ok(())
    }
}

/// The tensor of a typed call, if it is on `D`.
fn on<D: Device>(tensor: &mut AnyTensor) -> Result<&mut Tensor<D>> {
    if tensor.device().kind != D::KIND {
        return Err(device_error::<D>(tensor, "out"));
    }
    tensor.downcast_mut().ok_or_else(|| ErrorKind::ListLength { arg: "out", got: 0, want: 1 }.into())
}

/// Marks kernels whose signature is that of a declaration.
struct Declared;

/// The functional form through a typed handle; `R` is what it returns.
struct Functional<D: Device, A: Signature, R>(Kernel<D, A>, PhantomData<fn() -> R>);

/// What a functional form returns through a typed handle.
trait TypedResults: Returned {
    fn of(tensors: Results<AnyTensor>) -> Option<Self>;
}

impl TypedResults for AnyTensor {
    fn of(tensors: Results<AnyTensor>) -> Option<AnyTensor> {
        if let Results::One(tensor) = tensors { Some(tensor) } else { None }
    }
}

impl TypedResults for (AnyTensor, AnyTensor) {
    fn of(tensors: Results<AnyTensor>) -> Option<(AnyTensor, AnyTensor)> {
        let Results::Several(tensors) = tensors else { return None };
        let mut tensors = tensors.into_iter();
        Some((tensors.next()?, tensors.next()?))
    }
}

impl<D: Device, A: UnboxedSignature, R: TypedResults> KernelFn<Declared> for Functional<D, A, R> {
    type Args = A::Functional;
    type Output = R;

    fn invoke(&self, _: &Frame<'_>, args: <A::Functional as CanonicalList>::Values<'_>) -> Result<R> {
        let Kernel { entry, boxed: Boxed { declaration, .. } } = self.0;
        let values = A::functional(args);
        let outputs =
            dynamic::functional(declaration.results, |sink, _| entry(A::shorten(values), sink), Tensor::into_any)?;
        R::of(outputs).ok_or_else(|| ErrorKind::ResultCount { got: 0, want: declaration.results }.into())
    }
}

/// The in-place form through a typed handle.
struct Inplace<D: Device, A: Signature>(Kernel<D, A>);

impl<D: Device, A: UnboxedSignature> KernelFn<Declared> for Inplace<D, A> {
    type Args = A::Inplace;
    type Output = ();

    fn invoke(&self, _: &Frame<'_>, args: <A::Inplace as CanonicalList>::Values<'_>) -> Result<()> {
        let (this, rest) = A::inplace(args);
        dynamic::inplace(on::<D>(this)?, |input, sink, _| {
            let values = A::join(Operand::from(input), rest);
            let rule = "only a tensor can be written in place";
            (self.0.entry)(values.ok_or(ErrorKind::ArgumentRule { rule })?, sink)
        })
    }
}

/// The out= form with one output through a typed handle.
struct Out<D: Device, A: Signature>(Kernel<D, A>);

impl<D: Device, A: UnboxedSignature> KernelFn<Declared> for Out<D, A> {
    type Args = A::Out;
    type Output = ();

    fn invoke(&self, _: &Frame<'_>, args: <A::Out as CanonicalList>::Values<'_>) -> Result<()> {
        let (values, out) = A::out(args);
        dynamic::out(&mut [on::<D>(out)?], |sink, _| (self.0.entry)(A::shorten(values), sink))
    }
}

/// The out= form with two outputs through a typed handle.
struct PairOut<D: Device, A: Signature>(Kernel<D, A>);

impl<D: Device, A: UnboxedSignature> KernelFn<Declared> for PairOut<D, A> {
    type Args = A::PairOut;
    type Output = ();

    fn invoke(&self, _: &Frame<'_>, args: <A::PairOut as CanonicalList>::Values<'_>) -> Result<()> {
        let (values, [first, second]) = A::pair_out(args);
        dynamic::out(&mut [on::<D>(first)?, on::<D>(second)?], |sink, _| (self.0.entry)(A::shorten(values), sink))
    }
}
