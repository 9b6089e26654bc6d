//! Several tensors given their final geometry and elements, all of them or none: what an operator of several results
//! does with the caller's outputs. Everything that can be refused is refused, and every borrow taken, before the first
//! element is written.

use crate::device::Device;
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::list;
use crate::overlap::check_itself;
use crate::resize::{Side, expand_strides};
use crate::storage::{Header, Held};
use crate::strides::Dims;
use crate::tensor::Tensor;

/// What one tensor is to become: its geometry, and the tensor whose elements, broadcast and converted, are written to
/// it.
pub struct Replacement<'t, D: Device> {
    /// What is written. An offset counts from the start of its storage, which grows to hold the geometry.
    pub tensor: &'t mut Tensor<D>,
    /// What it becomes.
    pub geometry: Geometry,
    /// The elements.
    pub elements: &'t Tensor<D>,
}

/// Gives every tensor its geometry and writes the elements.
///
/// Errors, with every tensor as it was (but that storages may have grown): sizes that the elements do not broadcast to,
/// another device, memory that cannot be had, a geometry that overlaps itself, a storage that is borrowed or frozen.
/// Only what a device reports in the midst of a copy comes too late.
pub fn overwrite<D: Device>(all: &mut [Replacement<'_, D>]) -> Result<()> {
    let mut before = list::with_capacity(all.len())?;
    let mut staged = list::with_capacity(all.len())?;
    for one in all.iter() {
        if one.elements.device() != one.tensor.device() {
            let (got, want) = (one.elements.device(), one.tensor.device());
            return Err(ErrorKind::DeviceMismatch { arg: "out".into(), got, want }.into());
        }
        expand_strides(one.elements.geometry(), one.geometry.sizes())?;
        before.push(one.tensor.geometry().clone());
    }
    let mut written = list::with_capacity(all.len())?;
    written.extend(all.iter().map(|one| one.tensor.storage_id()));
    written.sort_unstable();
    for one in all.iter() {
        // What shares a storage with anything that is written is copied first.
        let shares = written.binary_search(&one.elements.storage_id()).is_ok();
        staged.push(if shares { Some(one.elements.staged()?) } else { None });
    }
    let done = grown(all).and_then(|()| write(all, &staged));
    if done.is_err() {
        for (one, geometry) in all.iter_mut().zip(before) {
            // It was the tensor's, and storages do not shrink.
            one.tensor.set_view(geometry)?;
        }
    }
    done
}

fn grown<D: Device>(all: &mut [Replacement<'_, D>]) -> Result<()> {
    for (index, one) in all.iter_mut().enumerate() {
        one.tensor.grow_to(one.geometry.clone())?;
        check_itself(index, &one.tensor.as_operand())?;
    }
    Ok(())
}

/// Borrows everything, then writes.
fn write<D: Device>(all: &mut [Replacement<'_, D>], staged: &[Option<Tensor<D>>]) -> Result<()> {
    let mut headers: Vec<&Header> = list::with_capacity(all.len())?;
    headers.extend(all.iter().filter_map(|one| one.tensor.raw().header()));
    headers.sort_unstable_by_key(|header| std::ptr::from_ref(*header).addr());
    headers.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let mut held = list::with_capacity(headers.len())?;
    for header in headers {
        held.push(Held::write(header, true, "out")?);
    }
    let mut read = list::with_capacity(all.len())?;
    for (one, staged) in all.iter().zip(staged) {
        let elements = staged.as_ref().unwrap_or(one.elements);
        let borrow = elements.raw().header().map(|header| Held::read(header, "an input")).transpose()?;
        read.push((elements, borrow));
    }
    for (one, (elements, _borrow)) in all.iter().zip(&read) {
        let (to, from) = (one.tensor.as_operand(), elements.as_operand());
        if one.tensor.raw().header().is_none() || one.tensor.numel() == 0 {
            continue;
        }
        let sizes = Dims::from_slice(one.tensor.sizes());
        let strides = expand_strides(elements.geometry(), &sizes)?;
        // SAFETY: the storage is in `held`, write-borrowed until this function returns.
        let to = Side { data: unsafe { to.data() }, geometry: to.geometry().clone() };
        // SAFETY: the storage is borrowed by `_borrow` until this function returns.
        let from = Side { data: unsafe { from.data() }, geometry: from.geometry().clone() };
        let index = one.tensor.device().index;
        let _guard = D::enter(index);
        // SAFETY:
        // * C1: T1 for both geometries, in storages on one device that are borrowed as above; the strides of the
        //   elements are 0 in every dimension that they are broadcast along.
        // * C2: the elements are in no storage that is written: those that were are staged in one of their own.
        unsafe { D::copy(index, &sizes, to.strided(None), from.strided(Some(&strides))) }?;
    }
    drop(read);
    for one in held.iter() {
        one.header().bump_version();
    }
    drop(held);
    all.iter_mut()
        .filter(|one| one.tensor.raw().header().is_none())
        .for_each(|one| one.tensor.raw_mut().bump_version());
    Ok(())
}
