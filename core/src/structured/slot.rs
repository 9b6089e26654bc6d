//! The outputs of one call, one by one: where each goes, and what few of them have besides. Owns no rule of declaring.

use crate::geometry::Geometry;
use crate::options::DeviceId;
use crate::tensor::Raw;

/// Where an output goes.
pub(super) enum Place<'s> {
    /// A new tensor, which the declaration puts here, and to which the commit gives its storage.
    New(&'s mut Option<Raw>),
    /// The caller's tensor.
    Existing(&'s mut Raw),
}

/// One output: where it goes, and its declaration once `meta` has made it.
pub(super) struct Slot<'s> {
    pub(super) place: Place<'s>,
    /// The device, once it is declared.
    pub(super) declared: Option<DeviceId>,
}

impl<'s> Slot<'s> {
    /// An output that is not declared yet.
    #[inline]
    pub(super) fn new(place: Place<'s>) -> Slot<'s> {
        Slot { place, declared: None }
    }

    /// The caller's tensor, if there is one.
    #[inline]
    pub(super) fn existing(&self) -> Option<&Raw> {
        match &self.place {
            Place::New(_) => None,
            Place::Existing(raw) => Some(raw),
        }
    }

    /// The tensor, once it is declared.
    #[inline]
    pub(super) fn tensor(&self) -> Option<&Raw> {
        match &self.place {
            Place::New(raw) => raw.as_ref(),
            Place::Existing(raw) => Some(raw),
        }
    }
}

/// What few outputs have.
#[derive(Default)]
pub(super) struct Rare {
    /// The geometry that the caller's tensor will have; most keep their own.
    pub(super) change: Option<Geometry>,
    /// The geometry that the kernel writes instead, if the output's own strides do not suit it.
    pub(super) proxy: Option<Geometry>,
}

/// What some outputs of a call have, by their numbers. One pointer: what is resized mostly allocates anyway.
#[derive(Default)]
#[allow(clippy::box_collection, reason = "most calls have none, and ask that by one word")]
pub(super) struct Rares(Option<Box<Vec<(usize, Rare)>>>);

impl Rares {
    /// True if no output has any.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(super) fn get(&self, i: usize) -> Option<&Rare> {
        self.0.as_ref()?.iter().find(|(of, _)| *of == i).map(|(_, rare)| rare)
    }

    /// What output `i` has.
    pub(super) fn get_mut(&mut self, i: usize) -> Option<&mut Rare> {
        self.0.as_mut()?.iter_mut().find(|(of, _)| *of == i).map(|(_, rare)| rare)
    }

    /// The geometry that the caller's tensor will have, if not its own.
    #[inline]
    pub(super) fn change_mut(&mut self, i: usize) -> Option<&mut Geometry> {
        self.get_mut(i)?.change.as_mut()
    }

    #[cold]
    pub(super) fn set(&mut self, i: usize, rare: Rare) {
        self.0.get_or_insert_default().push((i, rare));
    }
}
