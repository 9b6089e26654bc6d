//! DimVec of a reduction: wrapped, checked, and the shape that remains.

use super::rule::TypedRule;
use monomorph_core::strides::DimVec;
use monomorph_core::{ErrorKind, Geometry, Names, Result};
use smallvec::SmallVec;

/// The most dimensions that a reduction along given dims takes.
const MAX_DIMS: usize = 64;

/// For each dimension, whether it is reduced.
pub(super) type Mask = SmallVec<[bool; 8]>;

/// The reduced dimensions of a tensor of `ndim` dimensions.
///
/// Errors: more than 64 dimensions, a dimension that there is not, one named twice.
pub(super) fn mask(dims: Option<&[i64]>, ndim: usize, rule: &TypedRule) -> Result<Mask> {
    let named = dims.filter(|list| !(list.is_empty() && rule.rule.empty_list_is_all));
    if ndim > MAX_DIMS && (named.is_some() || rule.rule.always_limited) {
        return Err(ErrorKind::DimCount { arg: "self", got: ndim, accepted: "0 to 64" }.into());
    }
    let Some(list) = named else { return Ok(SmallVec::from_elem(true, ndim)) };
    let mut mask: Mask = SmallVec::from_elem(false, ndim);
    let mut scalar = false;
    for &dim in list {
        let wrapped = wrap(dim, ndim)?;
        // A tensor without dimensions is reduced as if it had one.
        let seen = mask.get_mut(wrapped).unwrap_or(&mut scalar);
        if std::mem::replace(seen, true) {
            return Err(ErrorKind::DimRepeated { arg: "dim", dim: wrapped }.into());
        }
    }
    Ok(mask)
}

/// A dimension counted from the front; a tensor without dimensions takes what one with a single dimension takes.
fn wrap(dim: i64, ndim: usize) -> Result<usize> {
    let n = ndim.max(1) as i64;
    if !(-n..n).contains(&dim) {
        return Err(ErrorKind::DimOutOfRange { arg: "dim", got: dim, ndim, low: -n, high: n - 1 }.into());
    }
    Ok(if dim < 0 { dim + n } else { dim } as usize)
}

/// An error if a reduction without identity is over no element: a named dimension of size 0, or an empty tensor.
pub(super) fn check_not_empty(dims: Option<&[i64]>, mask: &Mask, sizes: &[i64]) -> Result<()> {
    match dims {
        Some(list) if !list.is_empty() => match (0..sizes.len()).find(|&d| mask[d] && sizes[d] == 0) {
            Some(dim) => Err(ErrorKind::EmptyReduction { dim: dim as i64 }.into()),
            None => Ok(()),
        },
        _ if sizes.contains(&0) => Err(ErrorKind::EmptyInput.into()),
        _ => Ok(()),
    }
}

/// The sizes of the result.
pub(super) fn result_sizes(sizes: &[i64], mask: &Mask, keepdim: bool) -> DimVec {
    let kept = sizes.iter().zip(mask).filter(|&(_, &reduced)| keepdim || !reduced);
    kept.map(|(&size, &reduced)| if reduced { 1 } else { size }).collect()
}

/// The names of the result.
pub(super) fn result_names(geometry: Option<&Geometry>, mask: &Mask, keepdim: bool) -> Option<Names> {
    let names = geometry?.names()?;
    Some(names.iter().zip(mask).filter(|&(_, &reduced)| keepdim || !reduced).map(|(name, _)| name.clone()).collect())
}

/// The sizes and strides of an output with the reduced dimensions put back: size 1, stride 0.
pub(super) fn with_reduced(output: &Geometry, mask: &Mask, keepdim: bool) -> (DimVec, DimVec) {
    let mut kept = output.sizes().iter().zip(output.strides());
    let mut put = |&reduced: &bool| {
        let own = if keepdim || !reduced { kept.next() } else { None };
        match own {
            Some((&size, &stride)) if !reduced => (size, stride),
            _ => (1, 0),
        }
    };
    mask.iter().map(&mut put).unzip()
}
