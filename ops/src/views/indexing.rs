//! Indexing by integers and ranges: views of a tensor, `x.i((0, .., 1..-1, None))`.

use crate::view::{slice, unsqueeze};
use monomorph_core::{Device, ErrorKind, Geometry, Index, IndexItem, Result, Tensor, observe};

/// Indexing as a method of tensors.
pub trait IndexMethods<D: Device> {
    /// A view of the elements that the index names; dimensions behind its items stay whole.
    ///
    /// An integer takes one element of its dimension, which goes; a range, with [`By::by`](monomorph_core::By) one with
    /// a step, takes several; `None` puts a dimension of size 1 there; [`Ellipsis`](monomorph_core::Ellipsis) stands
    /// for all dimensions that are not named. Negative numbers count from the end.
    ///
    /// Clippy's `reversed_empty_ranges` takes `1..-1` for a mistake; it is to be allowed where such ranges stand.
    ///
    /// # Errors
    ///
    /// Too many items; an index, or an end of a range, that is not in the dimension; a range that holds no index, which
    /// is more often a mistake than wanted ([`narrow`](crate::functions::narrow) makes an empty view); a step below 1.
    fn i(&self, index: impl Into<Index>) -> Result<Tensor<D>>;
}

impl<D: Device> IndexMethods<D> for Tensor<D> {
    fn i(&self, index: impl Into<Index>) -> Result<Tensor<D>> {
        let _span = observe::operator("index", [self.geometry()]);
        let view = indexed(self.geometry(), &index.into());
        view.and_then(|geometry| self.with_geometry(geometry)).map_err(|e| e.of("index"))
    }
}

/// What an index makes of a geometry.
fn indexed(geometry: &Geometry, index: &Index) -> Result<Geometry> {
    let items = index.items();
    let named = items.iter().filter(|item| matches!(item, IndexItem::At(_) | IndexItem::Range { .. })).count();
    let Some(rest) = geometry.ndim().checked_sub(named) else {
        let accepted = "as many as the index names, or more";
        return Err(ErrorKind::DimCount { arg: "self", got: geometry.ndim(), accepted }.into());
    };
    if items.iter().filter(|item| **item == IndexItem::Rest).count() > 1 {
        let rule = "an index has one Ellipsis at most: with two, it is not clear which dimensions each stands for";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let (mut view, mut dim) = (geometry.clone(), 0);
    for item in items {
        match *item {
            IndexItem::At(at) => view = view.select(dim as i64, at)?,
            IndexItem::Range { start, end, step } => {
                let (start, end) = within(view.sizes()[dim], start, end)?;
                view = slice(&view, dim as i64, Some(start), Some(end), step)?;
                dim += 1;
            }
            IndexItem::NewDim => {
                view = unsqueeze(&view, dim as i64)?;
                dim += 1;
            }
            IndexItem::Rest => dim += rest,
        }
    }
    Ok(view)
}

/// The ends of a range in a dimension, counted from its start.
fn within(size: i64, start: Option<i64>, end: Option<i64>) -> Result<(i64, i64)> {
    let place = |arg, at: i64| {
        let from_start = if at < 0 { at.wrapping_add(size) } else { at };
        match (0..=size).contains(&from_start) {
            true => Ok(from_start),
            false => Err(ErrorKind::OutOfRange { arg, got: at, low: size.wrapping_neg(), high: size }),
        }
    };
    let ends = (place("start", start.unwrap_or(0))?, place("end", end.unwrap_or(size))?);
    if ends.0 >= ends.1 && (start, end) != (None, None) {
        let rule = "the range of an index must hold an index: its start must be before its end; for an empty view use \
                    narrow with length 0";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    Ok(ends)
}
