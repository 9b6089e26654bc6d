//! The state that a sink lends to `meta`: the outputs that exist, and what `meta` declares of each. One concrete type
//! for all forms, so that `meta` is compiled once.

use super::alike::Alike;
use super::operand::Operand;
use super::slot::{Place, Rare, Rares, Slot};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::strides::{self, DimVec};
use crate::geometry::{Geometry, Names, overlap};
use crate::options::{DeviceId, MemoryFormat, Options};
use crate::tensor::{Raw, TensorRef};

/// The form of a call, as far as declaring outputs is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Outputs are new tensors.
    Functional,
    /// Outputs are the caller's and may be resized.
    Out,
    /// Output 0 is also input 0 and keeps its sizes and dtype.
    InPlace,
}

/// What the strides of an output must be.
#[derive(Clone, Copy)]
enum Strides<'a> {
    /// The kernel takes any; a new output gets these, or contiguous ones.
    Hint(Option<&'a [i64]>),
    /// The kernel needs exactly these.
    Exact(&'a [i64]),
}

impl<'a> Strides<'a> {
    #[inline]
    fn given(self) -> Option<&'a [i64]> {
        match self {
            Strides::Hint(hint) => hint,
            Strides::Exact(strides) => Some(strides),
        }
    }
}

/// The outputs of one call, as `meta` sees them.
pub struct SinkState<'s> {
    form: Form,
    dry: bool,
    pub(super) alike: Option<Alike>,
    pub(super) slots: &'s mut [Slot<'s>],
    pub(super) rare: Rares,
}

impl<'s> SinkState<'s> {
    #[inline]
    pub(super) fn new(form: Form, dry: bool, slots: &'s mut [Slot<'s>]) -> SinkState<'s> {
        SinkState { form, dry, alike: None, slots, rare: Rares::default() }
    }

    /// The form of the call.
    #[inline]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The number of outputs.
    #[inline]
    pub fn noutputs(&self) -> usize {
        self.slots.len()
    }

    /// True if the outputs are on the meta device.
    #[inline]
    pub fn is_meta(&self) -> bool {
        self.dry
    }

    /// What the tensors of the call have in common, if it is all that matters and `operands` are those of the call.
    #[inline]
    pub fn alike(&self, operands: &[Operand<'_>]) -> Option<&Alike> {
        self.alike.as_ref().filter(|alike| alike.is_of(operands))
    }

    /// The caller's tensor for output `i`: there is one for out= and in-place.
    #[inline]
    pub fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        self.slots.get(i)?.existing().map(Raw::as_ref)
    }

    /// The geometry that the kernel will write for output `i`, once it is declared.
    #[inline]
    pub fn written(&self, i: usize) -> Option<&Geometry> {
        let slot = self.slots.get(i)?;
        slot.declared?;
        let rare = self.rare.get(i);
        rare.and_then(|rare| rare.proxy.as_ref().or(rare.change.as_ref())).or_else(|| Some(slot.tensor()?.geometry()))
    }

    /// Declares output `i` for a kernel that takes any strides. `strides_hint` are those of a new or resized output;
    /// with none it is contiguous or in the memory format of `options`.
    pub fn set_output_raw_strided(
        &mut self,
        i: usize,
        sizes: &[i64],
        strides_hint: Option<&[i64]>,
        options: Options,
        names: Option<Names>,
    ) -> Result<()> {
        self.declare(i, sizes, Strides::Hint(strides_hint), options, names)
    }

    /// Declares the only output for a kernel that takes any strides, with the geometry of the operands of a call whose
    /// tensors are [alike](SinkState::alike). What [`set_output_raw_strided`](SinkState::set_output_raw_strided) does,
    /// and cheaper.
    #[inline(always)]
    pub fn set_output_alike(&mut self, alike: &Alike, like: &Geometry, dtype: DType) -> Result<()> {
        if self.declared_like(like, dtype, alike.device()) {
            return Ok(());
        }
        let hint = if alike.is_row_major() { None } else { Some(like.strides()) };
        self.set_output_raw_strided(0, like.sizes(), hint, Options::new(dtype, alike.device()), None)
    }

    /// Declares the only output for a kernel that takes any strides, row-major where it is new, with the sizes of
    /// `like`. What [`set_output_raw_strided`](SinkState::set_output_raw_strided) does, and cheaper.
    pub fn set_output_like(&mut self, like: &Geometry, dtype: DType, device: DeviceId) -> Result<()> {
        let keeps = |out: &Raw| keeps(out, out.geometry().same_sizes(like), &Options::new(dtype, device), device);
        if self.existing_raw().is_none_or(keeps) && self.declared_like(like, dtype, device) {
            return Ok(());
        }
        self.set_output_raw_strided(0, like.sizes(), None, Options::new(dtype, device), None)
    }

    #[inline]
    fn existing_raw(&self) -> Option<&Raw> {
        self.slots.first()?.existing()
    }

    /// Declares the only output with the sizes of `like`, which a caller's output has, if no rule has anything to
    /// decide.
    #[inline(always)]
    fn declared_like(&mut self, like: &Geometry, dtype: DType, of_operands: DeviceId) -> bool {
        let device = if self.dry { DeviceId::META } else { of_operands };
        let [Slot { place, declared: declared @ None }] = &mut *self.slots else { return false };
        let done = match place {
            // There is none yet; asked, so that the new one is written without looking for an old one to drop.
            Place::New(place) if place.is_none() && like.is_renewable(dtype) => {
                // Nothing is forgotten; said, since the compiler would look for something to drop.
                std::mem::forget(place.replace(Raw::pending(like.renewed(dtype))));
                true
            }
            Place::New(_) => false,
            Place::Existing(out) => out.geometry().dtype() == dtype && of_operands == device,
        };
        if done {
            *declared = Some(device);
        }
        done
    }

    /// Declares output `i` for a kernel that needs exactly `strides`.
    pub fn set_output_strided(
        &mut self,
        i: usize,
        sizes: &[i64],
        strides: &[i64],
        options: Options,
        names: Option<Names>,
    ) -> Result<()> {
        self.declare(i, sizes, Strides::Exact(strides), options, names)
    }

    /// Declares output `i` for a kernel that needs contiguous strides.
    pub fn set_output_contiguous(
        &mut self,
        i: usize,
        sizes: &[i64],
        options: Options,
        names: Option<Names>,
    ) -> Result<()> {
        let strides = strides::contiguous_strides(sizes);
        self.declare(i, sizes, Strides::Exact(&strides), options, names)
    }

    fn declare(
        &mut self,
        i: usize,
        sizes: &[i64],
        want: Strides<'_>,
        options: Options,
        names: Option<Names>,
    ) -> Result<()> {
        let given = want.given();
        if given.is_some() && options.memory_format.is_some() {
            return Err(contract(i, "gave strides together with a memory format"));
        }
        let device = if self.dry { DeviceId::META } else { options.device };
        let form = self.form;
        let Some(slot) = self.slots.get_mut(i) else {
            return Err(contract(i, "declared an output that the operator does not have"));
        };
        if slot.declared.is_some() {
            return Err(contract(i, "declared an output twice"));
        }
        let Slot { place, declared } = slot;
        let mut rare: Option<Box<Rare>> = None;
        let raw = match place {
            Place::New(place) => {
                let geometry = new_geometry(sizes, given, &options)?;
                place.insert(Raw::pending(if names.is_some() { geometry.with_names(names)? } else { geometry }))
            }
            Place::Existing(raw) => {
                rare = resized(form, i, raw, sizes, given, &options, device)?;
                if names.is_some() {
                    let change = &mut rare.get_or_insert_default().change;
                    let geometry = change.take().unwrap_or_else(|| raw.geometry().clone());
                    *change = Some(geometry.with_names(names)?);
                }
                raw
            }
        };
        if let Strides::Exact(strides) = want {
            let geometry = rare.as_ref().and_then(|rare| rare.change.as_ref()).unwrap_or(raw.geometry());
            if let Some(proxy) = proxied(i, geometry, &options, sizes, strides)? {
                rare.get_or_insert_default().proxy = Some(proxy);
            }
        }
        *declared = Some(device);
        if let Some(rare) = rare {
            self.rare.set(i, *rare);
        }
        Ok(())
    }
}

/// The geometry of the proxy for output `i`, if its own strides are not those that the kernel needs.
fn proxied(
    i: usize,
    geometry: &Geometry,
    options: &Options,
    sizes: &[i64],
    strides: &[i64],
) -> Result<Option<Geometry>> {
    if geometry.strides() == strides {
        return Ok(None);
    }
    if overlap::internal(geometry.sizes(), geometry.strides()) == overlap::Internal::Yes {
        return Err(overlaps_itself(i, geometry));
    }
    Ok(Some(Geometry::new(options.dtype, sizes, strides, 0)?))
}

/// The geometry of a new tensor.
#[inline]
fn new_geometry(sizes: &[i64], strides: Option<&[i64]>, options: &Options) -> Result<Geometry> {
    match (strides, options.memory_format) {
        (Some(strides), _) => Geometry::new(options.dtype, sizes, strides, 0),
        (None, None | Some(MemoryFormat::Contiguous)) => Geometry::contiguous(options.dtype, sizes),
        (None, Some(format)) => Geometry::new(options.dtype, sizes, &strides::strides_for(sizes, format)?, 0),
    }
}

/// True if the caller's tensor is what is asked for as it is.
#[inline]
fn keeps(out: &Raw, same_sizes: bool, options: &Options, device: DeviceId) -> bool {
    let current = out.geometry();
    let lazy = current.is_conj() || current.is_neg();
    same_sizes && !lazy && current.dtype() == options.dtype && out.device() == device
}

/// Checks the caller's tensor against what is asked of output `i`: the geometry that it has to take, or `None` if it
/// has the right sizes.
fn resized(
    form: Form,
    i: usize,
    out: &Raw,
    sizes: &[i64],
    strides: Option<&[i64]>,
    options: &Options,
    device: DeviceId,
) -> Result<Option<Box<Rare>>> {
    let current = out.geometry();
    let same_sizes = current.sizes() == sizes;
    let lazy = current.is_conj() || current.is_neg();
    if keeps(out, same_sizes, options, device) {
        return Ok(None);
    }
    if form == Form::InPlace && (!same_sizes || current.dtype() != options.dtype) {
        return Err(ErrorKind::InPlace {
            got: current.sizes().to_vec(),
            got_dtype: current.dtype(),
            want: sizes.to_vec(),
            want_dtype: options.dtype,
        }
        .into());
    }
    if current.dtype() != options.dtype {
        let (got, want) = (current.dtype(), options.dtype);
        return Err(ErrorKind::OutputDType { index: i, got, want }.into());
    }
    if out.device() != device {
        return Err(ErrorKind::DeviceMismatch { arg: "out".into(), got: out.device(), want: device }.into());
    }
    if lazy && overlap::internal(current.sizes(), current.strides()) == overlap::Internal::Yes {
        return Err(overlaps_itself(i, current));
    }
    if same_sizes {
        return Ok(None);
    }
    // A resized output begins where it began, and keeps its bits. One with a bit set is contiguous: the operator wrote
    // a resolved copy, whose strides do not come back.
    let strides = match strides {
        _ if lazy => strides::contiguous_strides(sizes),
        Some(strides) => DimVec::from_slice(strides),
        None => strides::strides_for(sizes, options.memory_format.unwrap_or(MemoryFormat::Contiguous))?,
    };
    let geometry = Geometry::new(options.dtype, sizes, &strides, current.offset())?;
    let change = Some(geometry.with_conj(current.is_conj()).with_neg(current.is_neg()));
    Ok(Some(Box::new(Rare { change, proxy: None })))
}

#[cold]
pub(super) fn contract(index: usize, rule: &'static str) -> Error {
    ErrorKind::MetaContract { index, rule }.into()
}

#[cold]
fn overlaps_itself(index: usize, geometry: &Geometry) -> Error {
    let (sizes, strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
    ErrorKind::InternalOverlap { index, sizes, strides }.into()
}
