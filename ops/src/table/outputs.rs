//! Functional results brought into the caller's outputs.

use super::stack::{device_error, kind_error};
use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::{
    AnyTensor, Device, ErrorKind, Geometry, IValue, MemoryFormat, Replacement, Result, Tensor, list, overwrite, strides,
};
use smallvec::SmallVec;

/// What is written, value number `written` of a call, must not overlap itself, nor another argument as far as `refused`
/// goes.
pub(crate) fn check_overlap(written: usize, values: &[IValue], refused: Shared) -> Result<()> {
    let Some(out) = values.get(written).and_then(IValue::as_tensor) else { return Ok(()) };
    let (sizes, strides) = (out.sizes().to_vec(), out.strides().to_vec());
    if overlap::internal(&sizes, &strides) == Internal::Yes {
        return Err(ErrorKind::InternalOverlap { index: 0, sizes, strides }.into());
    }
    let place = Place::of(out.as_operand(), out.geometry());
    let others = values.iter().enumerate().filter(|(position, _)| *position != written);
    for (position, other) in others.flat_map(|(position, value)| value.tensors().map(move |t| (position, t))) {
        let shared = overlap::shared(&place, &Place::of(other.as_operand(), other.geometry()));
        if shared == Shared::Partial || shared == refused {
            return Err(ErrorKind::PartialOverlap { output: 0, other: format!("input {position}") }.into());
        }
    }
    Ok(())
}

/// A list of tensors on device `D` to be written, argument number `position` of the schema.
pub(super) fn written_list<D: Device>(value: &mut IValue, position: usize) -> Result<Vec<&mut Tensor<D>>> {
    let list = match value {
        IValue::Tensors(list) => &mut list[..],
        IValue::List(list) if list.is_empty() => &mut [],
        other => return Err(kind_error(other, position, "out", "Tensor[]")),
    };
    if let Some(t) = list.iter().find(|t| t.device().kind != D::KIND) {
        return Err(device_error::<D>(t, "out"));
    }
    let mut written = list::with_capacity(list.len())?;
    written.extend(list.iter_mut().filter_map(AnyTensor::downcast_mut));
    Ok(written)
}

/// Writes a functional result to an out= tensor, as the out= form of an operator that has only a functional kernel: the
/// dtype must be the same; the output is resized, then copied to.
pub fn write_out<D: Device>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    if out.dtype() != result.dtype() {
        return Err(ErrorKind::OutputDType { index: 0, got: out.dtype(), want: result.dtype() }.into());
    }
    write_converted(result, out)
}

/// [`write_out`] to an output of any dtype.
pub(super) fn write_converted<D: Device>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    resized(out, result.sizes(), |out| out.copy_from(result))
}

/// Gives a tensor other sizes, as [`resize`] does, and has `write` write it. If that fails the tensor gets back those
/// that it had.
pub(crate) fn resized<D: Device>(
    tensor: &mut Tensor<D>,
    sizes: &[i64],
    write: impl FnOnce(&mut Tensor<D>) -> Result<()>,
) -> Result<()> {
    if tensor.sizes() == sizes {
        return write(tensor);
    }
    let before = tensor.geometry().clone();
    resize(tensor, sizes)?;
    write(tensor).or_else(|error| {
        tensor.set_view(before)?;
        Err(error)
    })
}

/// [`write_out`] of what PyTorch's iterator makes: an output that is resized has the result's strides.
pub(crate) fn write_out_as_made<D: Device>(result: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    if out.dtype() != result.dtype() || out.sizes() == result.sizes() {
        return write_out(result, out);
    }
    let geometry = as_made(result, out)?;
    overwrite(&mut [Replacement { tensor: out, geometry, elements: result }])
}

/// The geometry of an output that is resized to the sizes and strides of a result.
fn as_made<D: Device>(result: &Tensor<D>, out: &Tensor<D>) -> Result<Geometry> {
    let (g, made) = (out.geometry(), result.geometry());
    let geometry = Geometry::new(g.dtype(), made.sizes(), made.strides(), g.offset())?;
    Ok(geometry.with_conj(g.is_conj()).with_neg(g.is_neg()))
}

/// How an output of an operator of two results is laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutLayout {
    /// As it is; one of other sizes gets those and the strides of the result.
    Kept,
    /// Row-major, whatever it was.
    RowMajor,
}

/// Writes both results of an operator to out= tensors, as two iterations over `this` would that have one output each:
/// all checks come before any element is written. Outputs get the names of the results, if there are any.
pub(crate) fn write_pair<D: Device>(
    this: &Tensor<D>,
    pair: [(&Tensor<D>, &mut Tensor<D>, OutLayout); 2],
) -> Result<()> {
    let mut all: SmallVec<[Replacement<'_, D>; 2]> = SmallVec::new();
    for (index, (elements, tensor, layout)) in pair.into_iter().enumerate() {
        if tensor.dtype() != elements.dtype() {
            return Err(ErrorKind::OutputDType { index, got: tensor.dtype(), want: elements.dtype() }.into());
        }
        let geometry = match layout {
            OutLayout::RowMajor => dense(tensor.geometry(), elements.sizes())?,
            OutLayout::Kept if tensor.sizes() == elements.sizes() => tensor.geometry().clone(),
            OutLayout::Kept => as_made(elements, tensor)?,
        };
        let place = Place::of(tensor.as_operand(), tensor.geometry());
        let input = Place::of(this.as_operand(), this.geometry());
        if layout == OutLayout::Kept && overlap::shared(&place, &input) == Shared::Partial {
            return Err(ErrorKind::PartialOverlap { output: index, other: "the input".into() }.into());
        }
        let geometry = match elements.names() {
            Some(names) => geometry.with_names(Some(names.clone()))?,
            None => geometry,
        };
        all.push(Replacement { tensor, geometry, elements });
    }
    overwrite(&mut all)
}

/// Writes each result to an out= tensor, as [`write_out`] does. What one of them would refuse is found before any is
/// written.
pub fn write_outs<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    check_outs(results, outs)?;
    for (index, (result, out)) in results.iter().zip(&mut *outs).enumerate() {
        if out.dtype() != result.dtype() {
            return Err(ErrorKind::OutputDType { index, got: out.dtype(), want: result.dtype() }.into());
        }
    }
    let geometry = |result: &Tensor<D>, out: &Tensor<D>| match out.sizes() == result.sizes() {
        true => Ok(out.geometry().clone()),
        false => dense(out.geometry(), result.sizes()),
    };
    replace_all(results, outs, geometry)
}

/// [`write_outs`] as the functions of linear algebra do: an output may have any dtype that its result can be cast to,
/// and one without elements and of the same dtype gets its strides.
pub(super) fn write_matrices<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    check_outs(results, outs)?;
    for (result, out) in results.iter().zip(&mut *outs) {
        let (from, to) = (result.dtype(), out.dtype());
        if !from.can_cast(to) {
            return Err(ErrorKind::Cast { from, to }.into());
        }
    }
    let geometry = |result: &Tensor<D>, out: &Tensor<D>| match out.sizes() == result.sizes() {
        _ if out.numel() == 0 && out.dtype() == result.dtype() => as_made(result, out),
        true => Ok(out.geometry().clone()),
        false => dense(out.geometry(), result.sizes()),
    };
    replace_all(results, outs, geometry)
}

/// [`write_outs`] of an operator that gives outputs the strides of its results, whatever they had.
pub(crate) fn write_restrided<D: Device>(results: &[&Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    let mut all: SmallVec<[Replacement<'_, D>; 2]> = SmallVec::new();
    for (index, (elements, tensor)) in results.iter().copied().zip(outs).enumerate() {
        if tensor.dtype() != elements.dtype() {
            return Err(ErrorKind::OutputDType { index, got: tensor.dtype(), want: elements.dtype() }.into());
        }
        all.push(Replacement { geometry: as_made(elements, tensor)?, tensor, elements });
    }
    overwrite(&mut all)
}

/// Writes the results of an out= form that PyTorch generates. What one of several outputs would refuse is found before
/// any is written.
pub(super) fn write_generated<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    match (results, &mut *outs) {
        ([result], [out]) => write_out(result, out),
        _ => write_outs(results, outs),
    }
}

fn replace_all<D: Device>(
    results: &[Tensor<D>],
    outs: &mut [&mut Tensor<D>],
    geometry: impl Fn(&Tensor<D>, &Tensor<D>) -> Result<Geometry>,
) -> Result<()> {
    let mut all = list::with_capacity(outs.len())?;
    for (elements, out) in results.iter().zip(outs) {
        all.push(Replacement { geometry: geometry(elements, out)?, tensor: out, elements });
    }
    overwrite(&mut all)
}

/// Writes each result to an out= tensor that keeps its sizes and dtype: results are broadcast and converted. What one
/// of them would refuse is found before any is written.
pub fn copy_into<D: Device>(results: &[Tensor<D>], outs: &mut [&mut Tensor<D>]) -> Result<()> {
    check_outs(results, outs)?;
    for (index, (result, out)) in results.iter().zip(&mut *outs).enumerate() {
        let broadcast = strides::broadcast_sizes(out.sizes(), result.sizes())?;
        if broadcast.as_slice() != out.sizes() {
            return Err(ErrorKind::OutputSize { index, got: out.sizes().to_vec(), want: broadcast.to_vec() }.into());
        }
    }
    replace_all(results, outs, |_, out| Ok(out.geometry().clone()))
}

fn check_outs<D: Device>(results: &[Tensor<D>], outs: &[&mut Tensor<D>]) -> Result<()> {
    if results.len() != outs.len() {
        return Err(ErrorKind::ListLength { arg: "out", got: outs.len(), want: results.len() }.into());
    }
    let overlaps = |t: &Tensor<D>| overlap::internal(t.sizes(), t.strides()) == Internal::Yes;
    match outs.iter().position(|out| overlaps(out)) {
        Some(index) => {
            let (sizes, strides) = (outs[index].sizes().to_vec(), outs[index].strides().to_vec());
            Err(ErrorKind::InternalOverlap { index, sizes, strides }.into())
        }
        None => Ok(()),
    }
}

/// Gives a tensor other sizes, contiguous; its storage grows if it must. A tensor of these sizes stays as it is.
pub fn resize<D: Device>(tensor: &mut Tensor<D>, sizes: &[i64]) -> Result<()> {
    if tensor.sizes() == sizes {
        return Ok(());
    }
    let geometry = dense(tensor.geometry(), sizes)?;
    tensor.grow_to(geometry)
}

/// A contiguous geometry of other sizes, from the same offset on.
fn dense(g: &Geometry, sizes: &[i64]) -> Result<Geometry> {
    let strides = strides::strides_for(sizes, MemoryFormat::Contiguous)?;
    Ok(Geometry::new(g.dtype(), sizes, &strides, g.offset())?.with_conj(g.is_conj()).with_neg(g.is_neg()))
}
