//! Several tensors given their final geometry and elements, all of them or none: what an operator of several results
//! does with the caller's outputs. Everything that can be refused is refused, and every borrow taken, before the first
//! element is written.
#![deny(clippy::arithmetic_side_effects)]

use super::Tensor;
use super::resize::{Side, expand_strides};
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::geometry::overlap::{self, Internal};
use crate::geometry::strides::DimVec;
use crate::storage::{Device, Growth, Header, Held, list};

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
/// Errors, with every tensor as it was: sizes that the elements do not broadcast to, another device, memory that cannot
/// be had, a geometry that overlaps itself, a storage that is borrowed or frozen. Contents are unspecified only where a
/// device reports an error in the midst of a copy.
pub fn overwrite<D: Device>(all: &mut [Replacement<'_, D>]) -> Result<()> {
    check(all)?;
    let mut written = list::with_capacity(all.len())?;
    written.extend(all.iter().enumerate().map(|(index, one)| (one.tensor.storage_id(), index)));
    written.sort_unstable();
    written.dedup_by_key(|(id, _)| *id);
    let mut staged = list::with_capacity(all.len())?;
    for one in all.iter() {
        // What shares a storage with anything that is written is copied first.
        let shares = written.binary_search_by_key(&one.elements.storage_id(), |(id, _)| *id).is_ok();
        staged.push(if shares { Some(one.elements.staged()?) } else { None });
    }
    write(all, &written, &staged)
}

/// Refuses what would not fit, whatever memory there is.
fn check<D: Device>(all: &[Replacement<'_, D>]) -> Result<()> {
    for (index, Replacement { tensor, geometry, elements }) in all.iter().enumerate() {
        if elements.device() != tensor.device() {
            let (got, want) = (elements.device(), tensor.device());
            return Err(ErrorKind::DeviceMismatch { arg: "out".into(), got, want }.into());
        }
        expand_strides(elements.geometry(), geometry.sizes())?;
        tensor.raw().check_aligned(geometry)?;
        if overlap::internal(geometry.sizes(), geometry.strides()) == Internal::Yes {
            let (sizes, strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
            return Err(ErrorKind::InternalOverlap { index, sizes, strides }.into());
        }
    }
    Ok(())
}

/// Borrows everything and makes room, then writes. `written` has each storage that is written once, with the number of
/// a tensor in it, in the order in which all calls borrow them.
fn write<D: Device>(
    all: &mut [Replacement<'_, D>],
    written: &[(usize, usize)],
    staged: &[Option<Tensor<D>>],
) -> Result<()> {
    let mut held = list::with_capacity(written.len())?;
    for handle in written.iter().filter_map(|(_, index)| all[*index].tensor.raw().handle()) {
        // SAFETY: S3: the tensor is borrowed by `all` and keeps its handle; only its geometry is exchanged here.
        let header: &Header = unsafe { handle.header_for() };
        held.push(Held::write(header, true, "out")?);
    }
    let mut read = list::with_capacity(all.len())?;
    for (one, staged) in all.iter().zip(staged) {
        let elements = staged.as_ref().unwrap_or(one.elements);
        let borrow = elements.raw().header().map(|header| Held::read(header, "an input")).transpose()?;
        read.push((elements, borrow));
    }
    // Dropped before the borrows.
    let mut growths = list::with_capacity(all.len())?;
    for one in all.iter() {
        let need = one.geometry.bytes_needed()?;
        let Some(handle) = one.tensor.raw().handle() else { continue };
        // SAFETY: S3: the tensor is borrowed by `all` and keeps its handle while the growths live: only its geometry
        // and the block of its storage are exchanged.
        let header: &Header = unsafe { handle.header_for() };
        if need > header.bytes() {
            // SAFETY: the storage is in `held`, write-borrowed until this function returns.
            growths.push(unsafe { header.prepare_growth(need) }?);
        }
    }

    // From here on nothing fails but a device.
    for growth in &mut growths {
        // SAFETY: the write borrow lasts, and pointers are taken only below.
        unsafe { growth.commit() };
    }
    exchange(all);
    let done = all.iter().zip(&read).try_for_each(|(one, (elements, _))| copy(one.tensor, elements));
    if done.is_err() {
        exchange(all);
        for growth in growths.iter_mut().rev() {
            // SAFETY:
            // * The write borrow lasts.
            // * Pointers into the new block ended with the copies; a device frees memory behind the work that uses it.
            // * The geometries that needed it were just exchanged for the former ones.
            // * Reverse order.
            unsafe { growth.undo() };
        }
        return done;
    }
    growths.iter_mut().for_each(Growth::promise);
    held.iter().for_each(|held| held.header().bump_version());
    for one in all.iter_mut().filter(|one| one.tensor.raw().header().is_none()) {
        let need = one.tensor.geometry().bytes_needed()?;
        one.tensor.raw_mut().grow_meta(need);
        one.tensor.raw_mut().bump_version();
    }
    Ok(())
}

/// Exchanges the geometries of the tensors with those that they are to have, or had.
fn exchange<D: Device>(all: &mut [Replacement<'_, D>]) {
    for one in all {
        one.tensor.raw_mut().swap_geometry(&mut one.geometry);
    }
}

/// Writes one tensor. Both storages are borrowed, the tensor's for writing.
fn copy<D: Device>(tensor: &Tensor<D>, elements: &Tensor<D>) -> Result<()> {
    if tensor.raw().header().is_none() || tensor.numel() == 0 {
        return Ok(());
    }
    let (to, from) = (tensor.as_operand(), elements.as_operand());
    let sizes = DimVec::from_slice(tensor.sizes());
    let strides = expand_strides(elements.geometry(), &sizes)?;
    // SAFETY: the caller holds a write borrow of the storage.
    let to = Side { data: unsafe { to.data() }, geometry: to.geometry().clone() };
    // SAFETY: the caller holds a borrow of the storage.
    let from = Side { data: unsafe { from.data() }, geometry: from.geometry().clone() };
    let index = tensor.device().index;
    let _guard = D::enter(index);
    // SAFETY:
    // * C1: T1 for both geometries, in storages on one device that are borrowed; the strides of the elements are 0 in
    //   every dimension that they are broadcast along.
    // * C2: the elements are in no storage that is written: those that were are staged in one of their own.
    unsafe { D::copy(index, &sizes, to.strided(None), from.strided(Some(&strides))) }
}
