//! The in-place and out= forms of composed operators, which follow from the functional one: compute, and copy to where
//! the result is wanted. Owns what is checked in between, so that an error comes before anything is written.

use super::tensor;
use crate::table::{Composed, Declaration, FormKind, check_overlap};
use monomorph_core::dispatch::{Calls, KernelFunction};
use monomorph_core::overlap::{self, Internal, Shared};
use monomorph_core::{AnyTensor, DType, Error, ErrorKind, IValue, MemoryFormat, Result, Stack, strides};

/// A kernel's function that calls other operators.
pub(crate) trait Derived: Fn(&Calls<'_>, &mut Stack) -> Result<()> + Send + Sync + 'static {}
impl<F: Fn(&Calls<'_>, &mut Stack) -> Result<()> + Send + Sync + 'static> Derived for F {}

/// The kernel of such a function.
pub(crate) fn kernel(f: impl Derived) -> KernelFunction {
    KernelFunction::composed(f).named("in-tree composition")
}

/// The kernel of a function behind the checks of the operator's meta kernel, so that a composition has the errors that
/// the operator has on every device, and its result the strides.
fn checked(f: impl Derived) -> KernelFunction {
    kernel(move |calls, stack| {
        let shapes = calls.frame().shapes(stack)?.unwrap_or_default();
        f(calls, stack)?;
        for (result, shape) in stack.iter_mut().zip(&shapes) {
            if let (Some(t), Some(shape)) = (result.as_tensor(), shape.as_tensor())
                && t.sizes() == shape.sizes()
                && !t.geometry().same_strides(shape.geometry())
            {
                *result = restrided(calls, t, shape)?;
            }
        }
        Ok(())
    })
}

/// A copy with the strides of `shape`.
fn restrided(calls: &Calls<'_>, t: &AnyTensor, shape: &AnyTensor) -> Result<IValue> {
    let [sizes, strides] = [shape.sizes(), shape.strides()].map(|list| IValue::Ints(list.to_vec()));
    let options = [sizes, strides, t.dtype().into(), IValue::None, t.device().into(), IValue::None];
    let mut copy = calls.tensor("empty_strided", options)?.into();
    handed(calls, "copy_", &mut copy, [t.clone().into(), false.into()])
}

/// One form of an operator: the one that is declared, mostly the functional one, is `f` itself, the others call it by
/// its name.
pub(crate) fn form(kind: FormKind, declaration: &'static Declaration, f: Composed) -> KernelFunction {
    kernel(function(kind, declaration, f, |calls, declaration, kind, stack| match stack.last() {
        Some(IValue::Tensors(_)) => super::each::out(calls, declaration.name, stack.len() - 1, stack),
        _ => generated_out(calls, declaration, kind, stack),
    }))
}

/// The same of an operator with several results. A program without such an operator has none of it.
pub(crate) fn form_of_several(kind: FormKind, declaration: &'static Declaration, f: Composed) -> KernelFunction {
    kernel(function(kind, declaration, f, generated_outs))
}

/// [`form`] behind the checks of the operator's meta kernel.
pub(crate) fn checked_form(kind: FormKind, declaration: &'static Declaration, f: Composed) -> KernelFunction {
    checked(function(kind, declaration, f, generated_out))
}

/// The same of an operator with several results.
pub(crate) fn checked_form_of_several(
    kind: FormKind,
    declaration: &'static Declaration,
    f: Composed,
) -> KernelFunction {
    checked(function(kind, declaration, f, generated_outs))
}

/// An out= form that PyTorch generates.
type Generated = fn(&Calls<'_>, &'static Declaration, FormKind, &mut Stack) -> Result<()>;

/// One closure serves every form, so that what wraps it is compiled once.
fn function(kind: FormKind, declaration: &'static Declaration, f: Composed, generated: Generated) -> impl Derived {
    let functional = declaration.name;
    move |calls, stack| match kind {
        FormKind::Functional => f(calls, stack),
        FormKind::Inplace => inplace(calls, functional, stack),
        FormKind::Autogen => generated(calls, declaration, kind, stack),
        FormKind::Out | FormKind::OutMatrix if declaration.results > 1 => generated(calls, declaration, kind, stack),
        // Where the output must lie apart from the inputs, it may not even be one of them.
        FormKind::OutApart => out(calls, functional, stack, Shared::Full),
        FormKind::OutRestrided => restrided_out(calls, functional, stack),
        FormKind::OutIterated => iterated_out(calls, functional, stack, false),
        FormKind::OutCopied => copied_out(calls, functional, stack),
        FormKind::OutCast => cast_out(calls, functional, stack),
        FormKind::OutSized => iterated_out(calls, functional, stack, true),
        _ => out(calls, functional, stack, Shared::Partial),
    }
}

/// The in-place form.
fn inplace(calls: &Calls<'_>, functional: &str, stack: &mut Stack) -> Result<()> {
    let result = computed(calls, functional, stack.clone())?;
    let this = tensor(&stack[0], "self")?;
    check_device(&result, this, "self")?;
    check_cast(result.dtype(), this.dtype())?;
    if this.sizes() != result.sizes() {
        let (got, want) = (this.sizes().to_vec(), result.sizes().to_vec());
        return Err(ErrorKind::InPlace { got, got_dtype: this.dtype(), want, want_dtype: result.dtype() }.into());
    }
    check_overlap(0, stack, Shared::Partial)?;
    let written = handed(calls, "copy_", &mut stack[0], [result.into(), false.into()])?;
    *stack = vec![written];
    Ok(())
}

/// The out= form of an operator whose output may be of any dtype that the result can be cast to. It may not overlap an
/// input in part, nor as much as `refused` says. An output of another size gets the size and the strides of the result.
fn out(calls: &Calls<'_>, functional: &str, stack: &mut Stack, refused: Shared) -> Result<()> {
    let result = computed(calls, functional, inputs(stack))?;
    check_device(&result, out_of(stack)?, "out")?;
    check_cast(result.dtype(), out_of(stack)?.dtype())?;
    check_overlap(stack.len() - 1, stack, refused)?;
    into_out(calls, stack, result, Layout::Result)
}

/// The out= form of an operator that PyTorch generates: the output must have the dtype of the result, and becomes
/// contiguous where it has another size.
fn generated_out(calls: &Calls<'_>, declaration: &'static Declaration, _: FormKind, stack: &mut Stack) -> Result<()> {
    if !matches!(stack.last(), Some(IValue::Tensor(_))) {
        let (arg, got) = ("out".to_owned(), stack.last().map_or("nothing", IValue::kind_name));
        let want = "Tensor, or a list of them where the results are one".to_owned();
        return Err(ErrorKind::ArgumentKind { position: stack.len().saturating_sub(1), arg, got, want }.into());
    }
    let result = computed(calls, declaration.name, inputs(stack))?;
    check_generated(0, &result, out_of(stack)?)?;
    into_out(calls, stack, result, Layout::Contiguous)
}

/// The same of several results, each of which has an output of its own.
fn generated_outs(
    calls: &Calls<'_>,
    declaration: &'static Declaration,
    kind: FormKind,
    stack: &mut Stack,
) -> Result<()> {
    let first = stack.len().saturating_sub(declaration.results);
    let mut made = stack[..first].to_vec();
    calls.call(declaration.name, &mut made)?;
    let results = made.into_iter().filter_map(IValue::into_tensor).collect();
    let outs = &mut stack[first..];
    let before: Vec<_> = outs.iter().map(|out| out.as_tensor().map(|t| t.geometry().clone())).collect();
    if let Err(error) = super::each::write_all(calls, outs, results, kind) {
        for (out, before) in outs.iter_mut().zip(before) {
            if let (Some(out), Some(before)) = (out.as_tensor_mut(), before) {
                out.set_view(before)?;
            }
        }
        return Err(error);
    }
    stack.drain(..first);
    Ok(())
}

/// The out= form of an operator that gives the output the layout of the result, whatever it had, as PyTorch's `resize_`
/// does where a memory format is named.
fn restrided_out(calls: &Calls<'_>, functional: &str, stack: &mut Stack) -> Result<()> {
    let result = computed(calls, functional, inputs(stack))?;
    check_generated(0, &result, out_of(stack)?)?;
    into_out(calls, stack, result, Layout::Suggested)
}

/// The out= form of an operator whose steps PyTorch iterates over the output: that may not overlap an input in part,
/// and where a step works in its place, it must have the sizes of the result.
fn iterated_out(calls: &Calls<'_>, functional: &str, stack: &mut Stack, keeps_sizes: bool) -> Result<()> {
    let result = computed(calls, functional, inputs(stack))?;
    let out = out_of(stack)?;
    check_generated(0, &result, out)?;
    if keeps_sizes && out.sizes() != result.sizes() {
        let (got, want) = (out.sizes().to_vec(), result.sizes().to_vec());
        return Err(ErrorKind::OutputSize { index: 0, got, want }.into());
    }
    check_overlap(stack.len() - 1, stack, Shared::Partial)?;
    into_out(calls, stack, result, Layout::Contiguous)
}

/// The out= form of an operator whose output may have another dtype than the result, if both are complex or both
/// floating-point.
fn copied_out(calls: &Calls<'_>, functional: &str, stack: &mut Stack) -> Result<()> {
    let result = computed(calls, functional, inputs(stack))?;
    let out = out_of(stack)?;
    check_device(&result, out, "out")?;
    let (got, want) = (out.dtype(), result.dtype());
    if got.is_integral(true) || got.is_complex() != want.is_complex() {
        return Err(ErrorKind::OutputDType { index: 0, got, want }.into());
    }
    into_out(calls, stack, result, Layout::Contiguous)
}

/// The out= form of an operator whose output may have any dtype that the result can be cast to, and becomes contiguous
/// where it has another size.
fn cast_out(calls: &Calls<'_>, functional: &str, stack: &mut Stack) -> Result<()> {
    let result = computed(calls, functional, inputs(stack))?;
    check_device(&result, out_of(stack)?, "out")?;
    check_cast(result.dtype(), out_of(stack)?.dtype())?;
    into_out(calls, stack, result, Layout::Contiguous)
}

/// What an output has to agree with the result in, in an out= form that PyTorch generates.
pub(super) fn check_generated(index: usize, result: &AnyTensor, out: &AnyTensor) -> Result<()> {
    check_device(result, out, "out")?;
    let (got, want) = (out.dtype(), result.dtype());
    if got == want { Ok(()) } else { Err(ErrorKind::OutputDType { index, got, want }.into()) }
}

fn inputs(stack: &Stack) -> Stack {
    stack[..stack.len() - 1].to_vec()
}

fn out_of(stack: &Stack) -> Result<&AnyTensor> {
    tensor(&stack[stack.len() - 1], "out")
}

/// What layout an output gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Where it has other sizes, a contiguous one.
    Contiguous,
    /// Where it has other sizes, that of the result.
    Result,
    /// That of the result in any case, also without elements, where strides mean nothing.
    Strides,
    /// The memory format that the result suggests.
    Suggested,
}

/// Resizes the output, the last value of the stack, and copies the result to it.
fn into_out(calls: &Calls<'_>, stack: &mut Stack, result: AnyTensor, layout: Layout) -> Result<()> {
    let before = out_of(stack)?.geometry().clone();
    let last = stack.len() - 1;
    let done = written_to(calls, &mut stack[last], result, layout);
    match done {
        Ok(written) => *stack = vec![written],
        Err(error) => {
            // What refused the copy may have come after the output was resized.
            if let Some(out) = stack[last].as_tensor_mut() {
                out.set_view(before)?;
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Resizes an output and copies the result to it; gives the output.
pub(super) fn written_to(calls: &Calls<'_>, out: &mut IValue, result: AnyTensor, layout: Layout) -> Result<IValue> {
    make_room(calls, out, &result, layout)?;
    handed(calls, "copy_", out, [result.into(), false.into()])
}

/// What layout one of several outputs gets, if it may be an output of the result.
pub(super) fn layout_of(kind: FormKind, index: usize, result: &AnyTensor, out: &AnyTensor) -> Result<Layout> {
    if kind != FormKind::OutMatrix {
        check_generated(index, result, out)?;
        return Ok(if kind == FormKind::Out { Layout::Result } else { Layout::Contiguous });
    }
    check_device(result, out, "out")?;
    check_cast(result.dtype(), out.dtype())?;
    let is_empty = out.numel() == 0 && out.dtype() == result.dtype();
    Ok(if is_empty { Layout::Strides } else { Layout::Contiguous })
}

/// Gives an output the sizes of the result.
pub(super) fn make_room(calls: &Calls<'_>, out: &mut IValue, result: &AnyTensor, layout: Layout) -> Result<()> {
    let sizes = || IValue::Ints(result.sizes().to_vec());
    if layout == Layout::Suggested {
        let format = strides::suggest_format(result.sizes(), result.strides());
        *out = handed(calls, "resize_", out, [sizes(), format.into()])?;
    } else if layout == Layout::Strides || tensor(out, "out")?.sizes() != result.sizes() {
        *out = handed(calls, "resize_", out, [sizes(), None::<MemoryFormat>.into()])?;
        let is_own = match layout {
            Layout::Result => !result.is_contiguous(),
            Layout::Strides => true,
            Layout::Contiguous | Layout::Suggested => false,
        };
        if is_own && overlap::internal(result.sizes(), result.strides()) == Internal::No {
            let strides = IValue::Ints(result.strides().to_vec());
            *out = handed(calls, "as_strided_", out, [sizes(), strides, IValue::None])?;
        }
    }
    Ok(())
}

/// What the functional form gives.
fn computed(calls: &Calls<'_>, functional: &str, mut arguments: Stack) -> Result<AnyTensor> {
    calls.call(functional, &mut arguments)?;
    match <[IValue; 1]>::try_from(arguments) {
        Ok([IValue::Tensor(result)]) => Ok(result.into_tensor()),
        Ok(_) => Err(ErrorKind::ResultCount { got: 0, want: 1 }.into()),
        Err(results) => Err(ErrorKind::ResultCount { got: results.len(), want: 1 }.into()),
    }
}

/// Calls an operator that writes its first argument and returns it. The argument is moved there and, on an error, back:
/// a handle more would make it a shared one.
pub(super) fn handed(
    calls: &Calls<'_>,
    name: &str,
    this: &mut IValue,
    others: impl IntoIterator<Item = IValue>,
) -> Result<IValue> {
    let mut stack: Stack = vec![std::mem::take(this)];
    stack.extend(others);
    let called = calls.call(name, &mut stack);
    let first = stack.into_iter().next().unwrap_or_default();
    match called {
        Ok(()) => Ok(first),
        Err(error) => {
            *this = first;
            Err(error)
        }
    }
}

fn check_device(result: &AnyTensor, written: &AnyTensor, arg: &'static str) -> Result<()> {
    let (got, want) = (written.device(), result.device());
    if got == want { Ok(()) } else { Err(ErrorKind::DeviceMismatch { arg: arg.into(), got, want }.into()) }
}

fn check_cast(from: DType, to: DType) -> Result<()> {
    if from.can_cast(to) { Ok(()) } else { Err(Error::from(ErrorKind::Cast { from, to })) }
}
