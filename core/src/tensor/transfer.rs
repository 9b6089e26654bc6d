//! Elements on their way between the host and a device, and from one device to another. Owns the staging on the host;
//! which bytes a tensor reaches is its geometry's, how they move its device's.
#![deny(clippy::arithmetic_side_effects)]

use super::{AnyTensor, Raw, Tensor};
use crate::dtype::Element;
use crate::error::{ErrorKind, Result};
use crate::geometry::{Geometry, strides};
use crate::storage::{Contents, Device, DeviceHandle, Header, Held, list};
use bytemuck::Zeroable;

/// Zeroes on the host; an error where there is no room, since an expanded or strided tensor can reach any number of
/// bytes.
fn room<T: Zeroable + Clone>(elements: usize) -> Result<Vec<T>> {
    let mut room = list::with_capacity(elements)?;
    room.resize(elements, T::zeroed());
    Ok(room)
}

/// A copy on the host of what lies between the first element of `geometry` and the last, gaps included, from the
/// storage that `held` borrows.
pub(crate) fn reached<T: Element>(geometry: &Geometry, held: &Held<'_>) -> Result<Vec<T::Stored>> {
    let mut elements = room::<T::Stored>(strides::extent(geometry.sizes(), geometry.strides())?)?;
    if !elements.is_empty() {
        // T1: an element of a storage has its place in it.
        let start = (geometry.offset() as usize).wrapping_mul(geometry.dtype().size());
        // SAFETY: `held` is a borrow. T1: the storage has the bytes up to the last element.
        unsafe { held.header().read(start, bytemuck::cast_slice_mut(&mut elements)) }?;
    }
    Ok(elements)
}

impl Raw {
    /// Gives a tensor that is still being made its first contents, from the first byte of its storage on.
    pub(crate) fn write_first(&self, bytes: &[u8]) -> Result<()> {
        let header = self.header().ok_or(ErrorKind::NoHostData { device: self.device() })?;
        if bytes.len() > header.bytes() {
            return Err(ErrorKind::ShapeNumel { want: vec![header.bytes() as i64], numel: bytes.len() }.into());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let _held = Held::write(header, true, "self")?;
        // SAFETY: `_held` is the write borrow, and the length was compared.
        unsafe { header.write(0, bytes) }
    }

    /// The same with bytes from `start` on of a storage of another device of the kind `D`, if the kind has a way: says
    /// whether.
    ///
    /// # Safety
    ///
    /// The caller holds a borrow of `from`, a storage of another device, which has as many bytes there, at least one,
    /// as this tensor's storage has.
    unsafe fn take_first<D: Device>(&self, from: &Header, start: usize, bytes: usize) -> Result<bool> {
        let header = self.header().ok_or(ErrorKind::NoHostData { device: self.device() })?;
        let _held = Held::write(header, true, "self")?;
        // SAFETY: `_held` is a borrow.
        let to = unsafe { header.data() };
        // SAFETY: the caller holds a borrow of `from`, and the pointer is used in this call only.
        let source = unsafe { from.data() }.wrapping_add(start).cast_const();
        // SAFETY: S1 on both sides; the borrows keep others away.
        unsafe { D::across((header.device().index, to), (from.device().index, source), bytes) }
    }
}

impl<D: Device> Tensor<D> {
    /// The tensor's elements on another device, as [`from_any`](Tensor::from_any) brings them over.
    ///
    /// # Errors
    ///
    /// Those of [`from_any`](Tensor::from_any).
    pub fn to_device<E: Device>(&self, device: DeviceHandle<E>) -> Result<Tensor<E>> {
        Tensor::from_any(self.as_any(), device.id().index)
    }

    /// The elements of a tensor of any device, on device `index` of `D`, in a storage of their own. Strides are kept
    /// where they are dense, as by a clone. On the meta device there are only sizes, strides and dtype.
    ///
    /// Errors: a meta tensor where `D` has data, memory that cannot be had, a storage that is being written, and those
    /// of the two devices.
    ///
    /// The bytes between the first element and the last go once, from device to device where the kind has [a
    /// way](Device::across) and else by way of the host, and layouts are changed on `D`.
    pub fn from_any(source: &AnyTensor, index: u8) -> Result<Tensor<D>> {
        let g = source.geometry();
        let same = Geometry::new(g.dtype(), g.sizes(), g.strides(), 0)?.with_conj(g.is_conj()).with_neg(g.is_neg());
        let is_dense = strides::is_non_overlapping_and_dense(g.sizes(), g.strides());
        let dense = if is_dense { g.strides().into() } else { strides::preserve_strides(g.sizes(), g.strides()) };
        if D::MEMORY.is_none() {
            return Tensor::zeroed(g.dtype(), g.sizes(), &dense, index);
        }
        let header = source.0.header().ok_or(ErrorKind::NoHostData { device: source.device() })?;
        let bytes = same.bytes_needed()?;
        let held = Held::read(header, "self")?;
        // An empty tensor's offset may be any, and is not used.
        let start = (g.offset() as usize).wrapping_mul(g.dtype().size());
        let moved = Tensor::from_raw(Raw::allocate::<D>(same, index, Contents::Zeroed)?);
        let is_apart = source.device().kind == D::KIND && source.device().index != index && bytes > 0;
        // SAFETY: `held` is a borrow. T1: the storage has as many bytes from the first element on.
        if !(is_apart && unsafe { moved.raw().take_first::<D>(held.header(), start, bytes) }?) {
            let mut room = room::<u8>(bytes)?;
            if !room.is_empty() {
                // SAFETY: `held` is a borrow. T1: the storage has `bytes` bytes from the first element on, and `room`
                // as many.
                unsafe { held.header().read(start, &mut room) }?;
            }
            moved.raw().write_first(&room)?;
        }
        drop(held);
        if is_dense && !g.is_conj() && !g.is_neg() {
            return Ok(moved);
        }
        let mut resolved = Tensor::zeroed(g.dtype(), g.sizes(), &dense, index)?;
        resolved.copy_from(&moved)?;
        Ok(resolved)
    }
}
