//! What changes a tensor outside of an operator call: growing its storage, and copying elements into it.
#![deny(clippy::arithmetic_side_effects)]

use super::{AnyTensor, Raw, Tensor, TensorRef, check_apart, check_itself, traced};
use crate::error::{ErrorKind, Result};
use crate::geometry::Geometry;
use crate::geometry::overlap::Shared;
use crate::geometry::strides::{self, DimVec};
use crate::storage::recording::BoundKernel;
use crate::storage::{Device, Held, Strided, on_host, recorder};
use std::marker::PhantomData;

impl Raw {
    fn grow_to(&mut self, geometry: Geometry) -> Result<()> {
        let need = geometry.bytes_needed()?;
        self.check_aligned(&geometry)?;
        if need > self.storage_bytes() {
            self.grow_meta(need);
            if let Some(header) = self.header() {
                let _held = Held::write(header, true, "self")?;
                // SAFETY: `_held` is the write borrow.
                let mut growth = unsafe { header.prepare_growth(need) }?;
                // SAFETY: it still lasts, and no pointer into the old block exists.
                unsafe { growth.commit() };
                growth.promise();
            }
        }
        self.set_geometry(geometry);
        Ok(())
    }
}

impl AnyTensor {
    /// [`Tensor::grow_to`].
    pub fn grow_to(&mut self, geometry: Geometry) -> Result<()> {
        self.0.grow_to(geometry)
    }
}

impl<D: Device> Tensor<D> {
    /// Replaces the geometry by one that may reach beyond the storage, which grows then; the new bytes are zero and the
    /// old ones stay, so other views stay valid. An error, with nothing changed, if the memory cannot be had or the
    /// storage is borrowed.
    pub fn grow_to(&mut self, geometry: Geometry) -> Result<()> {
        self.raw_mut().grow_to(geometry)
    }

    /// Copies the elements of `source`, broadcast to the sizes of this tensor and converted to its dtype.
    ///
    /// Errors: sizes that do not broadcast, another device, a written tensor that overlaps itself, partial overlap, a
    /// borrowed storage.
    pub fn copy_from(&mut self, source: &Tensor<D>) -> Result<()> {
        let from = source.as_operand();
        let to = self.as_operand();
        if to.is_same(&from) {
            return Ok(());
        }
        if from.device() != to.device() {
            return Err(ErrorKind::DeviceMismatch { arg: "src".into(), got: from.device(), want: to.device() }.into());
        }
        traceable::<D>("`copy_from` is no operator that could be traced; `copy_` is")?;
        let sizes = DimVec::from_slice(self.sizes());
        expand_strides(from.geometry(), &sizes)?;
        check_itself(0, &to)?;
        if check_apart(0, "src", &to, &from)? != Shared::None {
            // The same elements read another way, or too hard to tell: neither may be copied directly (C2).
            return self.copy_from(&source.staged()?);
        }
        self.copy_apart(source)
    }

    /// Copies two tensors, broadcast to the sizes of this complex one, to its real and its imaginary parts.
    ///
    /// Errors: parts of another dtype than that of its parts, a tensor that is not complex or whose conj or neg bit is
    /// set, and those of [`copy_from`](Tensor::copy_from).
    pub fn join_from(&mut self, parts: [&Tensor<D>; 2]) -> Result<()> {
        let to = self.as_operand();
        let (dtype, sizes) = (self.dtype(), DimVec::from_slice(self.sizes()));
        if !dtype.is_complex() || self.is_conj() || self.is_neg() {
            let rule = "parts are joined in a complex tensor without conj and neg bits";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        traceable::<D>("`join_from` is no operator that could be traced; `complex` is")?;
        check_itself(0, &to)?;
        for (arg, part) in ["real", "imag"].into_iter().zip(parts) {
            if part.dtype() != dtype.to_real() {
                let what = if arg == "real" { "argument real has dtype" } else { "argument imag has dtype" };
                let accepted = "the dtype of the parts of the output";
                return Err(ErrorKind::DTypeNotSupported { what, got: part.dtype(), accepted }.into());
            }
            if part.device() != self.device() {
                let (got, want) = (part.device(), self.device());
                return Err(ErrorKind::DeviceMismatch { arg: arg.into(), got, want }.into());
            }
            expand_strides(part.geometry(), &sizes)?;
        }
        let re = check_apart(0, "real", &to, &parts[0].as_operand())?;
        let im = check_apart(0, "imag", &to, &parts[1].as_operand())?;
        if re == Shared::None && im == Shared::None {
            return self.join_apart(parts);
        }
        // The elements of the output read another way, or too hard to tell: they may not be joined directly (C2).
        let [re, im] = [parts[0].staged()?, parts[1].staged()?];
        self.join_apart([&re, &im])
    }

    /// A complex tensor of these sizes and strides, with copies of two tensors as its real and its imaginary parts.
    ///
    /// Errors: those of [`join_from`](Tensor::join_from).
    pub fn joined(sizes: &[i64], strides: &[i64], parts: [&Tensor<D>; 2]) -> Result<Tensor<D>> {
        let (dtype, index) = (parts[0].dtype().to_complex(), parts[0].device().index);
        // SAFETY: both parts of every element are written, or it is dropped.
        let mut joined = unsafe { Tensor::<D>::unwritten(dtype, sizes, strides, index) }?;
        joined.join_from(parts)?;
        Ok(joined)
    }

    /// A contiguous tensor of the same values in a storage of its own, of the same dtype and on the same device.
    pub(crate) fn staged(&self) -> Result<Tensor<D>> {
        let strides = strides::contiguous_strides(self.sizes());
        // SAFETY: every element is copied, or it is dropped.
        let mut copy = unsafe { Tensor::<D>::unwritten(self.dtype(), self.sizes(), &strides, self.device().index) }?;
        copy.copy_apart(self)?;
        Ok(copy)
    }

    /// [`copy_from`](Tensor::copy_from) a tensor that is known to share no element with this one.
    fn copy_apart(&mut self, source: &Tensor<D>) -> Result<()> {
        self.write_from([("src", source)], |index, sizes, to, [from]| {
            // SAFETY: C1: T1 for both, on one device, borrowed meanwhile by who calls this. C2: the callers' check of
            // the overlap.
            unsafe { D::copy(index, sizes, to, from) }
        })
    }

    /// [`join_from`](Tensor::join_from) tensors that are known to share no element with this one.
    fn join_apart(&mut self, [re, im]: [&Tensor<D>; 2]) -> Result<()> {
        self.write_from([("real", re), ("imag", im)], |index, sizes, to, parts| {
            // SAFETY: C1: T1 for all three, borrowed meanwhile by who calls this. The rest `join_from` has checked: one
            // device, no element of `to` shared with a part or known to be reached twice (C2), `to` complex without
            // lazy bits, parts of its real dtype.
            if unsafe { D::join(index, sizes, &to, &parts) }? {
                return Ok(());
            }
            // Offsets of elements do not overflow, counted in bytes (T1).
            let strides: DimVec = to.strides.iter().map(|s| s.wrapping_mul(2)).collect();
            for (k, part) in parts.into_iter().enumerate() {
                let dtype = to.dtype.to_real();
                let data = to.data.wrapping_add(k.wrapping_mul(dtype.size()));
                let to = Strided { data, strides: &strides, dtype, conj: false, neg: false };
                // SAFETY: C1: T1 for both sides, borrowed meanwhile: a complex element is its two parts, one after the
                // other, so either part is in bounds. C2: `join_from` has checked that `to` shares no element
                // with a part; doubled strides are 0 only where those of `to` are, so no more overlap can be proved of
                // them than of `to`.
                unsafe { D::copy(index, sizes, to, part) }?;
            }
            Ok(())
        })
    }

    /// Borrows everything while `write` writes the elements, of which there are some, from sources that broadcast. It
    /// may be called again later, for the same memory, by who borrows that then.
    pub(super) fn write_from<const N: usize>(
        &mut self,
        sources: [(&'static str, &Tensor<D>); N],
        write: impl Fn(u8, &[i64], Strided<'_>, [Strided<'_>; N]) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let mut strides: [DimVec; N] = std::array::from_fn(|_| DimVec::new());
        for (strides, (_, source)) in strides.iter_mut().zip(sources) {
            *strides = expand_strides(source.geometry(), self.sizes())?;
        }
        self.write_over(sources, strides, write)
    }

    /// The same from sources that are seen with strides of the caller's choice.
    pub(super) fn write_over<const N: usize>(
        &mut self,
        sources: [(&'static str, &Tensor<D>); N],
        strides: [DimVec; N],
        write: impl Fn(u8, &[i64], Strided<'_>, [Strided<'_>; N]) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let to = self.as_operand();
        let sizes = DimVec::from_slice(self.sizes());
        let Some(header) = self.raw().header() else {
            self.raw_mut().bump_version();
            return Ok(());
        };
        let _written = Held::write_of_kernel(header, true, "self")?;
        let mut read = [const { None }; N];
        for (read, (arg, source)) in read.iter_mut().zip(sources) {
            let other = source.raw().header().filter(|h| !std::ptr::eq(*h, header));
            *read = other.map(|h| Held::read_of_kernel(h, arg)).transpose()?;
        }
        if self.numel() > 0 {
            let side = |t: &TensorRef<'_>, data| Side { data, geometry: t.geometry().clone() };
            // SAFETY: the storage is borrowed until the copy is done.
            let to = side(&to, unsafe { to.data() });
            // SAFETY: each source's storage is borrowed by `read`, or by `_written` if it is the written one, until the
            // copy is done; it has data as this tensor's has, since both are on devices of kind `D::KIND` (T2).
            let from = sources.map(|(_, t)| side(&t.as_operand(), unsafe { t.as_operand().data() }));
            let index = self.device().index;
            let mut copying = Copying { index, sizes, to, from, strides, write, device: PhantomData::<fn() -> D> };
            // SAFETY: everything is borrowed, and has just been asked where it is.
            unsafe { copying.run() }?;
            match const { on_host::<D>() } {
                _ if !recorder::is_recording() => {}
                true => {
                    let sources = sources.iter().filter_map(|(_, t)| t.raw().header());
                    recorder::keep(Box::new(copying), std::iter::once(header).chain(sources), 1);
                }
                false => recorder::refuse(),
            }
        }
        header.bump_version();
        Ok(())
    }
}

/// A copy between tensors, which can be made again.
struct Copying<D, F, const N: usize> {
    index: u8,
    sizes: DimVec,
    to: Side,
    from: [Side; N],
    /// With which each source has the sizes.
    strides: [DimVec; N],
    write: F,
    device: PhantomData<fn() -> D>,
}

impl<D, F, const N: usize> BoundKernel for Copying<D, F, N>
where
    D: Device,
    F: Fn(u8, &[i64], Strided<'_>, [Strided<'_>; N]) -> Result<()> + Send,
{
    unsafe fn run(&mut self) -> Result<()> {
        let _guard = D::enter(self.index);
        let mut strides = self.strides.iter();
        let from = self.from.each_ref().map(|side| side.strided(strides.next().map(|s| &s[..])));
        (self.write)(self.index, &self.sizes, self.to.strided(None), from)
    }
}

/// A tensor whose storage is borrowed.
pub(crate) struct Side {
    pub(crate) data: *mut u8,
    pub(crate) geometry: Geometry,
}

// SAFETY: an address that is followed only by who borrows the storage.
unsafe impl Send for Side {}

impl Side {
    /// It as devices see it, with other strides if some are given.
    pub(crate) fn strided<'a>(&'a self, strides: Option<&'a [i64]>) -> Strided<'a> {
        let g = &self.geometry;
        let strides = strides.unwrap_or_else(|| g.strides());
        Strided { data: self.data, strides, dtype: g.dtype(), conj: g.is_conj(), neg: g.is_neg() }
    }
}

/// The strides with which a tensor is seen as one of larger sizes: 0 in every broadcast dimension.
pub(crate) fn expand_strides(geometry: &Geometry, sizes: &[i64]) -> Result<DimVec> {
    let broadcast = strides::broadcast_sizes(sizes, geometry.sizes())?;
    if broadcast.as_slice() != sizes {
        return Err(ErrorKind::OutputSize { index: 0, got: sizes.to_vec(), want: broadcast.to_vec() }.into());
    }
    // Not below zero: the sizes are what both broadcast to.
    let lead = sizes.len().saturating_sub(geometry.ndim());
    let stride = |d: usize| match d.checked_sub(lead) {
        Some(s) if geometry.sizes()[s] == sizes[d] => geometry.strides()[s],
        _ => 0,
    };
    Ok((0..sizes.len()).map(stride).collect())
}

/// An error for what is no operator, where a function is traced: its program would do nothing in its place.
fn traceable<D: Device>(rule: &'static str) -> Result<()> {
    match D::MEMORY.is_none() && traced::is_tracing() {
        true => Err(ErrorKind::ArgumentRule { rule }.into()),
        false => Ok(()),
    }
}
