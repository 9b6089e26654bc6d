//! Operators over lists, `_foreach_*`: another operator, called for each item in turn. Owns how the arguments of an
//! item are picked from those of the call, and that lists are written as one tensor is: an error comes before anything
//! is written.
//!
//! ```text
//! _foreach_add_.List([a, b], [c, d], alpha=2)  =  add_.Tensor(a, c, alpha=2), add_.Tensor(b, d, alpha=2)
//! ```
//!
//! PyTorch's fast paths for lists on one device give the same results as its item by item ones, which are the judge
//! here. What it writes before it finds an error in a later item stays written; here every item is rehearsed before the
//! first is written.

use super::derived::{self, Derived};
use crate::table::{Declaration, FormKind};
use monomorph_core::dispatch::{Calls, KernelFunction};
use monomorph_core::{AnyTensor, ErrorKind, IValue, Result, Stack, list};
use std::slice;

/// The kernel of one form of an operator over lists. The operator `of` one item has the form that is called for it.
pub(crate) fn form(kind: FormKind, declaration: &'static Declaration, of: &'static Declaration) -> KernelFunction {
    derived::kernel(function(kind, declaration, of))
}

fn function(kind: FormKind, declaration: &'static Declaration, of: &'static Declaration) -> impl Derived {
    let called = of.overloads().find(|(other, _)| *other == kind).map(|(_, schema)| schema);
    let called = called.and_then(|schema| schema.split('(').next()).unwrap_or(of.name);
    move |calls, stack| match kind {
        FormKind::Functional => {
            let results = Items::of(declaration, stack)?.each(0, |arguments| one(calls, called, arguments))?;
            *stack = vec![IValue::Tensors(results)];
            Ok(())
        }
        FormKind::Inplace => {
            let others = Items::of(declaration, stack)?.each(1, Ok)?;
            write(stack, 0, |written| {
                if written.len() > 1 {
                    for (this, others) in written.iter().zip(&others) {
                        calls.rehearse(called, &[slice::from_ref(this), others].concat())?;
                    }
                }
                written.iter_mut().zip(others).try_for_each(|(this, others)| {
                    *this = derived::handed(calls, called, this, others)?;
                    Ok(())
                })
            })
        }
        _ => out(calls, declaration.name, declaration.parameters.len(), stack),
    }
}

/// The arguments of a call, among them lists of one length.
struct Items<'a> {
    arguments: &'a [IValue],
    count: usize,
}

impl<'a> Items<'a> {
    /// # Errors
    ///
    /// No list, an empty one, lists of several lengths, a tensor beside them that is not one number.
    fn of(declaration: &Declaration, stack: &'a [IValue]) -> Result<Items<'a>> {
        let mut count = None;
        for (position, (parameter, value)) in declaration.parameters.iter().zip(stack).enumerate() {
            // A tensor beside lists is one number for all items, as a `Scalar` is.
            if let ("Tensor", Some(got)) = (parameter.ty, value.as_tensor().map(AnyTensor::ndim))
                && got != 0
            {
                return Err(ErrorKind::DimCount { arg: parameter.name, got, accepted: "0" }.into());
            }
            if !matches!(parameter.ty, "Tensor[]" | "Scalar[]") {
                continue;
            }
            let got = match value {
                IValue::Tensors(list) if parameter.ty == "Tensor[]" => list.len(),
                IValue::Scalars(list) if parameter.ty == "Scalar[]" => list.len(),
                IValue::List(list) if list.is_empty() => 0,
                other => {
                    let (arg, want) = (parameter.name.to_owned(), parameter.ty.to_owned());
                    return Err(ErrorKind::ArgumentKind { position, arg, got: other.kind_name(), want }.into());
                }
            };
            let want = *count.get_or_insert(got);
            if got != want {
                return Err(ErrorKind::ListLength { arg: parameter.name, got, want }.into());
            }
        }
        match count {
            None | Some(0) => {
                Err(ErrorKind::ArgumentRule { rule: "the lists are empty; give at least one tensor" }.into())
            }
            Some(count) => Ok(Items { arguments: &stack[..declaration.parameters.len().min(stack.len())], count }),
        }
    }

    /// What `make` makes of the arguments of each item, from number `first` on.
    fn each<T>(&self, first: usize, make: impl Fn(Stack) -> Result<T>) -> Result<Vec<T>> {
        let mut made = list::with_capacity(self.count)?;
        for item in 0..self.count {
            made.push(make(self.arguments.iter().skip(first).map(|value| item_of(value, item)).collect())?);
        }
        Ok(made)
    }
}

/// An argument as item number `item` has it.
fn item_of(value: &IValue, item: usize) -> IValue {
    match value {
        IValue::Tensors(list) => list.get(item).cloned().into(),
        IValue::Scalars(list) => list.get(item).copied().into(),
        other => other.clone(),
    }
}

/// The result of the operator for one item.
fn one(calls: &Calls<'_>, called: &str, mut arguments: Stack) -> Result<AnyTensor> {
    calls.call(called, &mut arguments)?;
    let got = arguments.len();
    let result = arguments.pop().filter(|_| got == 1).and_then(IValue::into_tensor);
    result.ok_or_else(|| ErrorKind::ResultCount { got, want: 1 }.into())
}

/// Takes the list at a place of the stack apart, so that each of its tensors can be written. Where that is done the
/// stack is left empty; on an error it is as it was, the tensors with their former geometries.
fn write(stack: &mut Stack, place: usize, work: impl FnOnce(&mut [IValue]) -> Result<()>) -> Result<()> {
    let Some(IValue::Tensors(list)) = stack.get_mut(place) else { return Ok(()) };
    let mut before = list::with_capacity(list.len())?;
    before.extend(list.iter().map(|t| t.geometry().clone()));
    let mut written = list::with_capacity(list.len())?;
    written.extend(list.drain(..).map(IValue::from));
    match work(&mut written) {
        Ok(()) => {
            stack.clear();
            Ok(())
        }
        Err(error) => {
            list.extend(written.into_iter().filter_map(IValue::into_tensor));
            for (tensor, before) in list.iter_mut().zip(before) {
                tensor.set_view(before)?;
            }
            Err(error)
        }
    }
}

/// The out= form of an operator that returns a list: the results of the functional one are copied to the outputs, a
/// list behind `place` arguments, which have their dtypes and get their sizes.
pub(super) fn out(calls: &Calls<'_>, functional: &str, place: usize, stack: &mut Stack) -> Result<()> {
    let mut inputs = stack[..place.min(stack.len())].to_vec();
    calls.call(functional, &mut inputs)?;
    let Some(IValue::Tensors(results)) = inputs.pop() else {
        return Err(ErrorKind::ResultCount { got: 0, want: 1 }.into());
    };
    let got = match stack.get(place) {
        Some(IValue::Tensors(list)) => list.len(),
        other => {
            let got = other.map_or("nothing", IValue::kind_name);
            let (arg, want) = ("out".to_owned(), "Tensor[]".to_owned());
            return Err(ErrorKind::ArgumentKind { position: place, arg, got, want }.into());
        }
    };
    if got != results.len() {
        return Err(ErrorKind::ListLength { arg: "out", got, want: results.len() }.into());
    }
    write(stack, place, |outs| write_all(calls, outs, results, FormKind::Autogen))
}

/// Copies results to outputs, which have their dtypes and get their sizes. What one of them would refuse is found
/// before any is written.
pub(super) fn write_all(calls: &Calls<'_>, outs: &mut [IValue], results: Vec<AnyTensor>, kind: FormKind) -> Result<()> {
    let got = results.len();
    let mut layouts = list::with_capacity(got)?;
    for (index, (result, out)) in results.iter().zip(&*outs).enumerate() {
        layouts.push(derived::layout_of(kind, index, result, super::tensor(out, "out")?)?);
    }
    // Room for all comes before the first is written: memory may not be had.
    for ((out, result), layout) in outs.iter_mut().zip(&results).zip(layouts).filter(|_| got > 1) {
        derived::make_room(calls, out, result, layout)?;
    }
    for (out, result) in outs.iter().zip(&results).filter(|_| got > 1) {
        calls.rehearse("copy_", &[out.clone(), result.clone().into()])?;
    }
    outs.iter_mut().zip(results).try_for_each(|(out, result)| {
        *out = derived::written_to(calls, out, result, derived::Layout::Contiguous)?;
        Ok(())
    })
}
