//! Kernels of what is no structured operator: views, functions written over any device, and the forms that follow
//! from them. What varies with the operator is a function that reads its arguments and calls; the forms around it are
//! compiled once for a device.

use super::declaration::{Declaration, FormKind};
use super::outputs::{check_overlap, copy_into, write_generated, write_out, write_outs, written_list};
use super::stack::{
    Reader, all_written, arguments, check_written, finish, keep_first, keep_written, split_first, written,
};
use crate::copies::clone_tensor;
use monomorph_core::dispatch::KernelFunction;
use monomorph_core::overlap::Shared;
use monomorph_core::{AnyTensor, DType, Device, Geometry, IValue, MemoryFormat, Result, Scalar, Stack, Tensor, list};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// The results of a call by name; `None` stands for the first argument.
pub type Returned = Option<SmallVec<[IValue; 2]>>;

/// A function over some device that returns its results.
pub type Functional = fn(&mut Reader<'_>) -> Result<Returned>;

/// A function that writes its first argument.
pub type Inplace<D> = fn(&mut Tensor<D>, &mut Reader<'_>) -> Result<()>;

/// A function that writes `N` tensors of the caller.
pub type Out<D, const N: usize> = fn(&mut Reader<'_>, [&mut Tensor<D>; N]) -> Result<()>;

/// The view that an operator gives of a geometry.
pub type View = fn(&Geometry, &mut Reader<'_>) -> Result<Geometry>;

/// The views that an operator gives of a geometry.
pub type Views = fn(&Geometry, &mut Reader<'_>) -> Result<Vec<Geometry>>;

/// The kernel of a function that returns its results: of the only form of a declaration, or of that and the out= form
/// made of it.
pub fn functional_kernels<D: Device>(declaration: &'static Declaration, f: Functional) -> Vec<KernelFunction> {
    let form = |(kind, schema): (_, &str)| match kind {
        FormKind::Functional => KernelFunction::stack(functional::<D>(declaration, f)),
        // An operator whose result is a list returns nothing where it writes one.
        _ if schema.ends_with("-> ()") => KernelFunction::stack(autogen_list::<D>(declaration, f)),
        FormKind::OutIterated => KernelFunction::stack(autogen::<D>(declaration, f, true)),
        _ => KernelFunction::stack(autogen::<D>(declaration, f, false)),
    };
    declaration.overloads().map(form).collect()
}

/// A boxed call of such a function.
pub fn functional<D: Device>(
    declaration: &'static Declaration,
    f: Functional,
) -> impl Fn(&mut Stack) -> Result<()> + Copy + Send + Sync + 'static {
    move |stack| {
        let inputs = declaration.parameters.len();
        let returned = f(&mut Reader::new(arguments(stack, inputs)?, declaration.parameters))?;
        match returned {
            Some(results) => finish(stack, inputs, results),
            None => keep_first::<D>(stack, inputs)?,
        }
        Ok(())
    }
}

/// A boxed call of its out= form: compute, resize, copy. What PyTorch `iterates` over may not overlap an input in part.
pub(super) fn autogen<D: Device>(
    declaration: &'static Declaration,
    f: Functional,
    iterates: bool,
) -> impl Fn(&mut Stack) -> Result<()> + Copy + Send + Sync + 'static {
    move |stack| {
        let (inputs, results) = (declaration.parameters.len(), declaration.results);
        let values = arguments(stack, inputs + results)?;
        if iterates {
            check_overlap(inputs, values, Shared::Partial)?;
        }
        let (args, outs) = values.split_at_mut(inputs);
        check_written(outs, inputs)?;
        let returned = f(&mut Reader::new(args, declaration.parameters))?;
        let returned = returned.unwrap_or_else(|| args.first().cloned().into_iter().collect());
        let made = returned.iter().filter_map(IValue::as_tensor).filter_map(AnyTensor::downcast_ref::<D>);
        write_generated(&made.cloned().collect::<Vec<_>>(), &mut all_written::<D, 2>(outs)?)?;
        keep_written(stack, inputs + results, results);
        Ok(())
    }
}

/// The same where the result is a list, and so is what is written.
fn autogen_list<D: Device>(
    declaration: &'static Declaration,
    f: Functional,
) -> impl Fn(&mut Stack) -> Result<()> + Copy + Send + Sync + 'static {
    move |stack| {
        let inputs = declaration.parameters.len();
        let (args, outs) = arguments(stack, inputs + 1)?.split_at_mut(inputs);
        let mut written = written_list::<D>(&mut outs[0], inputs)?;
        let returned = f(&mut Reader::new(args, declaration.parameters))?.unwrap_or_default();
        let results = returned.iter().flat_map(IValue::tensors).filter_map(AnyTensor::downcast_ref::<D>);
        write_outs(&results.cloned().collect::<Vec<_>>(), &mut written)?;
        keep_written(stack, inputs + 1, 0);
        Ok(())
    }
}

/// The kernel of a function that writes its first argument.
pub fn inplace_kernels<D: Device>(declaration: &'static Declaration, f: Inplace<D>) -> Vec<KernelFunction> {
    vec![KernelFunction::stack(inplace(declaration, f))]
}

/// A boxed call of such a function.
pub fn inplace<D: Device>(
    declaration: &'static Declaration,
    f: Inplace<D>,
) -> impl Fn(&mut Stack) -> Result<()> + Copy + Send + Sync + 'static {
    move |stack| {
        let inputs = declaration.parameters.len();
        let (first, rest) = split_first(arguments(stack, inputs)?)?;
        check_written(first, 0)?;
        let [this] = written::<D, 1>(first)?;
        f(this, &mut Reader::new(rest, declaration.parameters))?;
        stack.truncate(stack.len() + 1 - inputs);
        Ok(())
    }
}

/// The kernel of a function that writes `N` tensors of the caller.
pub fn out_kernels<D: Device, const N: usize>(declaration: &'static Declaration, f: Out<D, N>) -> Vec<KernelFunction> {
    vec![KernelFunction::stack(move |stack: &mut Stack| {
        let inputs = declaration.parameters.len();
        let (args, outs) = arguments(stack, inputs + N)?.split_at_mut(inputs);
        check_written(outs, inputs)?;
        let outs = written::<D, N>(outs)?;
        f(&mut Reader::new(args, declaration.parameters), outs)?;
        keep_written(stack, inputs + N, N);
        Ok(())
    })]
}

/// The kernels of a view's forms.
pub fn view_kernels<D: Device>(declaration: &'static Declaration, view: View) -> Vec<KernelFunction> {
    /// The tensor and its view.
    fn viewed<'a, D: Device>(view: View, reader: &mut Reader<'a>) -> Result<(Cow<'a, Tensor<D>>, Geometry)> {
        let this = reader.tensor::<D>()?;
        let geometry = view(this.geometry(), reader)?;
        Ok((this, geometry))
    }
    let copy = move |reader: &mut Reader<'_>| {
        let (this, geometry) = viewed::<D>(view, reader)?;
        copied(&this, geometry)
    };
    let form = |(kind, _)| match kind {
        FormKind::Functional => stack_kernel(declaration, move |reader| {
            let (this, geometry) = viewed::<D>(view, reader)?;
            shared(&this, geometry)
        }),
        FormKind::Inplace => KernelFunction::stack(move |stack| inplace_view::<D>(declaration, view, stack)),
        FormKind::Copy => stack_kernel(declaration, copy),
        _ => KernelFunction::stack(move |stack: &mut Stack| {
            let inputs = declaration.parameters.len();
            let (args, outs) = arguments(stack, inputs + 1)?.split_at_mut(inputs);
            check_written(outs, inputs)?;
            let copy = copy(&mut Reader::new(args, declaration.parameters))?;
            let [out] = written::<D, 1>(outs)?;
            write_out(&copy, out)?;
            keep_written(stack, inputs + 1, 1);
            Ok(())
        }),
    };
    declaration.overloads().map(form).collect()
}

fn inplace_view<D: Device>(declaration: &'static Declaration, view: View, stack: &mut Stack) -> Result<()> {
    let inputs = declaration.parameters.len();
    let (first, rest) = split_first(arguments(stack, inputs)?)?;
    check_written(first, 0)?;
    let [this] = written::<D, 1>(first)?;
    let geometry = view(this.geometry(), &mut Reader::new(rest, declaration.parameters))?;
    this.set_view(geometry)?;
    stack.truncate(stack.len() + 1 - inputs);
    Ok(())
}

/// The kernels of the forms of an operator that gives several views.
pub fn views_kernels<D: Device>(declaration: &'static Declaration, views: Views) -> Vec<KernelFunction> {
    /// The tensor and its views.
    fn viewed<'a, D: Device>(views: Views, reader: &mut Reader<'a>) -> Result<(Cow<'a, Tensor<D>>, Vec<Geometry>)> {
        let this = reader.tensor::<D>()?;
        let geometries = views(this.geometry(), reader)?;
        Ok((this, geometries))
    }
    let copies = move |reader: &mut Reader<'_>| {
        let (this, geometries) = viewed::<D>(views, reader)?;
        copied_parts(&this, geometries)
    };
    let form = |(kind, _)| match kind {
        FormKind::Functional => stack_kernel(declaration, move |reader| {
            let (this, geometries) = viewed::<D>(views, reader)?;
            shared_parts(&this, geometries)
        }),
        FormKind::Copy => stack_kernel(declaration, copies),
        _ => KernelFunction::stack(move |stack: &mut Stack| {
            let inputs = declaration.parameters.len();
            let (args, outs) = arguments(stack, inputs + 1)?.split_at_mut(inputs);
            let copies = copies(&mut Reader::new(args, declaration.parameters))?;
            let mut written = written_list::<D>(&mut outs[0], inputs)?;
            let write = if kind == FormKind::CopyInto { copy_into } else { write_outs };
            write(&copies, &mut written)?;
            keep_written(stack, inputs + 1, 0);
            Ok(())
        }),
    };
    declaration.overloads().map(form).collect()
}

/// A call of a composed function: reads its arguments off the stack and leaves its results.
pub fn composed(
    declaration: &'static Declaration,
    stack: &mut Stack,
    f: impl FnOnce(&mut Reader<'_>) -> Result<Returned>,
) -> Result<()> {
    let inputs = declaration.parameters.len();
    let results = f(&mut Reader::new(arguments(stack, inputs)?, declaration.parameters))?;
    finish(stack, inputs, results.unwrap_or_default());
    Ok(())
}

/// The kernel of a function that reads its arguments and returns its results.
fn stack_kernel<R: IntoResults>(
    declaration: &'static Declaration,
    f: impl Fn(&mut Reader<'_>) -> Result<R> + Send + Sync + 'static,
) -> KernelFunction {
    KernelFunction::stack(move |stack: &mut Stack| {
        composed(declaration, stack, |reader| f(reader).map(IntoResults::into_results))
    })
}

/// A view of this geometry.
pub fn shared<D: Device>(this: &Tensor<D>, geometry: Geometry) -> Result<Tensor<D>> {
    this.with_geometry(geometry)
}

/// A contiguous copy of a view of this geometry.
pub fn copied<D: Device>(this: &Tensor<D>, geometry: Geometry) -> Result<Tensor<D>> {
    clone_tensor(&this.with_geometry(geometry)?, Some(MemoryFormat::Contiguous))
}

/// A view of each geometry.
pub fn shared_parts<D: Device>(this: &Tensor<D>, geometries: Vec<Geometry>) -> Result<Vec<Tensor<D>>> {
    each_part(geometries, |geometry| shared(this, geometry))
}

/// A contiguous copy of a view of each geometry.
pub fn copied_parts<D: Device>(this: &Tensor<D>, geometries: Vec<Geometry>) -> Result<Vec<Tensor<D>>> {
    each_part(geometries, |geometry| copied(this, geometry))
}

fn each_part<D: Device>(
    geometries: Vec<Geometry>,
    make: impl Fn(Geometry) -> Result<Tensor<D>>,
) -> Result<Vec<Tensor<D>>> {
    let mut parts = list::with_capacity(geometries.len())?;
    for geometry in geometries {
        parts.push(make(geometry)?);
    }
    Ok(parts)
}

/// The result of a function as boxed values.
pub trait IntoResults {
    /// The boxed values, in order.
    fn into_results(self) -> Returned;
}

impl<D: Device> IntoResults for Tensor<D> {
    fn into_results(self) -> Returned {
        Some(smallvec![self.into()])
    }
}

/// `None` stands for the first argument.
impl<D: Device> IntoResults for Option<Tensor<D>> {
    fn into_results(self) -> Returned {
        self.and_then(IntoResults::into_results)
    }
}

/// Of a call that only checks.
impl IntoResults for () {
    fn into_results(self) -> Returned {
        Some(smallvec![])
    }
}

/// Results that are no tensors.
macro_rules! plain_results {
    ($($t:ty)*) => {$(
        impl IntoResults for $t {
            fn into_results(self) -> Returned {
                Some(smallvec![IValue::from(self)])
            }
        }
    )*};
}
plain_results! { bool i64 f64 Scalar DType }

impl IntoResults for AnyTensor {
    fn into_results(self) -> Returned {
        Some(smallvec![self.into()])
    }
}

impl IntoResults for Vec<AnyTensor> {
    fn into_results(self) -> Returned {
        Some(smallvec![self.into()])
    }
}

impl IntoResults for (AnyTensor, Vec<AnyTensor>) {
    fn into_results(self) -> Returned {
        Some(smallvec![self.0.into(), self.1.into()])
    }
}

/// Several tensors, in order; `None` is one that is not wanted.
macro_rules! several_results {
    ($(($($one:ident $field:tt),+))*) => {$(
        impl<A: Into<IValue>> IntoResults for ($($one),+) {
            fn into_results(self) -> Returned {
                Some(smallvec![$(self.$field.into()),+])
            }
        }
    )*};
}
several_results! {
    (A 0, A 1)
    (A 0, A 1, A 2)
    (A 0, A 1, A 2, A 3)
    (A 0, A 1, A 2, A 3, A 4)
    (A 0, A 1, A 2, A 3, A 4, A 5)
}

impl<D: Device> IntoResults for Vec<Tensor<D>> {
    fn into_results(self) -> Returned {
        Some(smallvec![IValue::Tensors(AnyTensor::list(self))])
    }
}
