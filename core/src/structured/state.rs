//! The state that a sink lends to `meta`: the outputs that exist, and what `meta` declares of each. One concrete type for
//! all forms, so that `meta` is compiled once.

use crate::device::DeviceId;
use crate::error::{ErrorKind, Result};
use crate::format::{MemoryFormat, Options};
use crate::geometry::Geometry;
use crate::names::Names;
use crate::overlap;
use crate::strides::{self, Dims};
use crate::tensor::{Raw, TensorRef};
use smallvec::SmallVec;

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

/// One output: the caller's tensor if there is one, and its declaration once `meta` has made it.
pub(super) struct Slot<'s> {
    pub(super) existing: Option<&'s mut Raw>,
    pub(super) declared: Option<Declared>,
}

/// What an output will be.
pub(super) struct Declared {
    /// Its geometry after the call.
    pub(super) geometry: Geometry,
    /// The geometry that the kernel writes instead, if the output's own strides do not suit it.
    pub(super) proxy: Option<Geometry>,
    pub(super) device: DeviceId,
}

impl Declared {
    fn written(&self) -> &Geometry {
        self.proxy.as_ref().unwrap_or(&self.geometry)
    }
}

/// What the strides of an output must be.
#[derive(Clone, Copy)]
enum Strides<'a> {
    /// The kernel takes any; a new output gets these, or contiguous ones.
    Hint(Option<&'a [i64]>),
    /// The kernel needs exactly these.
    Exact(&'a [i64]),
}

/// The outputs of one call, as `meta` sees them.
pub struct SinkState<'s> {
    form: Form,
    dry: bool,
    pub(super) slots: SmallVec<[Slot<'s>; 2]>,
}

impl<'s> SinkState<'s> {
    pub(super) fn new(
        form: Form,
        dry: bool,
        outputs: usize,
        existing: impl Iterator<Item = &'s mut Raw>,
    ) -> SinkState<'s> {
        let mut slots: SmallVec<[Slot<'s>; 2]> =
            existing.map(|raw| Slot { existing: Some(raw), declared: None }).collect();
        while slots.len() < outputs {
            slots.push(Slot { existing: None, declared: None });
        }
        SinkState { form, dry, slots }
    }

    /// The form of the call.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The number of outputs.
    pub fn noutputs(&self) -> usize {
        self.slots.len()
    }

    /// True if the outputs are on the meta device.
    pub fn is_meta(&self) -> bool {
        self.dry
    }

    /// The caller's tensor for output `i`: there is one for out= and in-place.
    pub fn existing(&self, i: usize) -> Option<TensorRef<'_>> {
        self.slots.get(i)?.existing.as_ref().map(|raw| raw.as_ref())
    }

    /// The geometry that the kernel will write for output `i`, once it is declared.
    pub fn written(&self, i: usize) -> Option<&Geometry> {
        self.slots.get(i)?.declared.as_ref().map(Declared::written)
    }

    /// Declares output `i` for a kernel that takes any strides. `strides_hint` are those of a new or resized output; with
    /// none it is contiguous or in the memory format of `options`.
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
        let contract = |rule| Err(ErrorKind::MetaContract { index: i, rule }.into());
        let given = match want {
            Strides::Hint(hint) => hint,
            Strides::Exact(strides) => Some(strides),
        };
        if given.is_some() && options.memory_format.is_some() {
            return contract("gave strides together with a memory format");
        }
        let device = if self.dry { DeviceId::META } else { options.device };
        let form = self.form;
        let Some(slot) = self.slots.get_mut(i) else {
            return contract("declared an output that the operator does not have");
        };
        if slot.declared.is_some() {
            return contract("declared an output twice");
        }
        let new_strides = || -> Result<Dims> {
            match given {
                Some(strides) => Ok(Dims::from_slice(strides)),
                None => strides::strides_for(sizes, options.memory_format.unwrap_or(MemoryFormat::Contiguous)),
            }
        };
        let mut geometry = match &slot.existing {
            None => Geometry::new(options.dtype, sizes, &new_strides()?, 0)?,
            Some(out) => {
                let current = out.geometry();
                if form == Form::InPlace && (current.sizes() != sizes || current.dtype() != options.dtype) {
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
                let lazy = current.is_conj() || current.is_neg();
                if lazy && overlap::internal(current.sizes(), current.strides()) == overlap::Internal::Yes {
                    let (sizes, strides) = (current.sizes().to_vec(), current.strides().to_vec());
                    return Err(ErrorKind::InternalOverlap { index: i, sizes, strides }.into());
                }
                if current.sizes() == sizes {
                    current.clone()
                } else {
                    // A resized output begins where it began, and keeps its bits. One with a bit set is contiguous: the
                    // operator wrote a resolved copy, whose strides do not come back.
                    let strides = if lazy { strides::contiguous_strides(sizes) } else { new_strides()? };
                    Geometry::new(options.dtype, sizes, &strides, current.offset())?
                        .with_conj(current.is_conj())
                        .with_neg(current.is_neg())
                }
            }
        };
        if names.is_some() {
            geometry = geometry.with_names(names)?;
        }
        let proxy = match want {
            Strides::Exact(strides) if geometry.strides() != strides => {
                if overlap::internal(geometry.sizes(), geometry.strides()) == overlap::Internal::Yes {
                    let (sizes, strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
                    return Err(ErrorKind::InternalOverlap { index: i, sizes, strides }.into());
                }
                Some(Geometry::new(options.dtype, sizes, strides, 0)?)
            }
            _ => None,
        };
        slot.declared = Some(Declared { geometry, proxy, device });
        Ok(())
    }

    /// An error unless every output was declared.
    pub(super) fn check_complete(&self) -> Result<()> {
        match self.slots.iter().position(|slot| slot.declared.is_none()) {
            Some(index) => Err(ErrorKind::MetaContract { index, rule: "did not declare an output" }.into()),
            None => Ok(()),
        }
    }
}
