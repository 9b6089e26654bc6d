//! Geometries made of others that were checked: with other bits, other names or another dtype.
#![deny(clippy::arithmetic_side_effects)]

use super::strides::{self, DimVec};
use super::tags::{Tags, Traits};
use super::{Geometry, INLINE, Names};
use crate::dtype::DType;
use crate::error::{ErrorKind, Result};

impl Geometry {
    /// True if [`renewed`](Geometry::renewed) is the geometry of a new row-major tensor of these sizes and that dtype.
    #[inline(always)]
    pub(crate) fn is_renewable(&self, dtype: DType) -> bool {
        // Whatever is no larger was checked when this geometry was made.
        self.tags.traits.has(Traits::CANONICAL) && dtype.size() <= self.dtype().size() && self.ndim() <= INLINE
    }

    /// The same sizes and strides at the start of a storage, plain, with another dtype.
    #[inline(always)]
    pub(crate) fn renewed(&self, dtype: DType) -> Geometry {
        let Geometry { sizes, strides, numel, tags, .. } = *self;
        let traits = Traits(tags.traits.0 & Traits::LAYOUT);
        Geometry { sizes, strides, numel, offset: 0, far: None, tags: Tags { dtype, traits, ..tags } }
    }

    /// One index of a dimension, which disappears, and with it the names. A negative `dim` or `index` counts from the
    /// end.
    pub fn select(&self, dim: i64, index: i64) -> Result<Geometry> {
        if self.ndim() == 0 {
            return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
        }
        let d = strides::wrap_dim(dim, self.ndim(), "dim")?;
        let size = self.sizes()[d];
        let at = if index < 0 { index.wrapping_add(size) } else { index };
        if !(0..size).contains(&at) {
            let (low, high) = (size.wrapping_neg(), size.wrapping_sub(1));
            return Err(ErrorKind::OutOfRange { arg: "index", got: index, low, high }.into());
        }
        let (mut sizes, mut steps) = (DimVec::from_slice(self.sizes()), DimVec::from_slice(self.strides()));
        sizes.remove(d);
        steps.remove(d);
        let selected = Geometry::new(self.dtype(), &sizes, &steps, self.offset_at(d, at))?;
        Ok(selected.with_conj(self.is_conj()).with_neg(self.is_neg()))
    }

    /// The same with the conj bit set or cleared. Only a complex tensor can have it.
    #[must_use]
    pub fn with_conj(mut self, conj: bool) -> Geometry {
        self.tags.traits.set(Traits::CONJ, conj && self.tags.dtype.is_complex());
        self
    }

    /// The same with the neg bit set or cleared.
    #[must_use]
    pub fn with_neg(mut self, neg: bool) -> Geometry {
        self.tags.traits.set(Traits::NEG, neg);
        self
    }

    /// The same, marked as a wrapped number or not. Only tensors without dimensions can be.
    #[must_use]
    pub fn with_wrapped(mut self, wrapped: bool) -> Geometry {
        self.tags.traits.set(Traits::WRAPPED, wrapped && self.tags.ndim == 0);
        self
    }

    /// The same with other names; there must be one entry per dimension.
    pub fn with_names(mut self, names: Option<Names>) -> Result<Geometry> {
        if let Some(names) = &names
            && names.len() != self.ndim()
        {
            return Err(ErrorKind::ListLength { arg: "names", got: names.len(), want: self.ndim() }.into());
        }
        let names = names.filter(|n| n.iter().any(Option::is_some));
        self.tags.traits.set(Traits::NAMED, names.is_some());
        if names.is_some() || self.ndim() > INLINE {
            self.far.get_or_insert_default().names = names;
        } else {
            self.far = None;
        }
        Ok(self)
    }
}
