//! What the functions of `torch.fft` are given beside the tensor: dimensions, sizes and a norm. Owns their defaults and
//! checks.

use monomorph_core::strides::{wrap_dim, wrap_dims};
use monomorph_core::{ErrorKind, Result};
use smallvec::SmallVec;

/// How many complex numbers the transform of `size` real ones has, of which the others are conjugates.
pub(super) fn half(size: i64) -> i64 {
    (size / 2).saturating_add(1)
}

/// How results are scaled, in the numbers of `_fft_c2c`: not at all, by the root of the size, by the size.
pub(super) fn normalization(norm: Option<&str>, forward: bool) -> Result<i64> {
    match norm {
        None | Some("backward") => Ok(if forward { 0 } else { 2 }),
        Some("forward") => Ok(if forward { 2 } else { 0 }),
        Some("ortho") => Ok(1),
        Some(got) => {
            let accepted = "backward, ortho and forward";
            Err(ErrorKind::UnknownOption { arg: "norm", got: got.into(), accepted }.into())
        }
    }
}

/// The number, or an error if it is out of its range.
pub(super) fn in_range(arg: &'static str, got: i64, low: i64, high: i64) -> Result<i64> {
    if (low..=high).contains(&got) { Ok(got) } else { Err(ErrorKind::OutOfRange { arg, got, low, high }.into()) }
}

/// A tensor without dimensions is not transformed along any.
pub(super) fn check_dims(ndim: usize, are_named: bool) -> Result<()> {
    match ndim {
        0 if are_named => Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into()),
        _ => Ok(()),
    }
}

/// Dimensions of a tensor, and the sizes that they are brought to.
pub(super) type Lengths = SmallVec<[(usize, i64); 4]>;

/// One dimension, and the size that is asked for or that it has.
pub(super) fn one(sizes: &[i64], n: Option<i64>, dim: i64) -> Result<Lengths> {
    check_dims(sizes.len(), true)?;
    let dim = wrap_dim(dim, sizes.len(), "dim")?;
    Ok(SmallVec::from_slice(&[(dim, in_range("n", n.unwrap_or(sizes[dim]), 1, i64::MAX)?)]))
}

/// Several dimensions: all, or as many of the last ones as there are sizes, unless they are given. A size of -1 is that
/// which the dimension has.
pub(super) fn several(sizes: &[i64], s: Option<&[i64]>, dims: Option<&[i64]>) -> Result<Lengths> {
    let ndim = sizes.len();
    if let Some(dims) = dims {
        wrap_dims(dims, ndim, "dim")?;
        check_dims(ndim, !dims.is_empty())?;
    }
    let count = dims.or(s).map_or(ndim, <[i64]>::len);
    if let Some(s) = s
        && (s.len() != count || count > ndim)
    {
        return Err(ErrorKind::ListLength { arg: "s", got: s.len(), want: count.min(ndim) }.into());
    }
    let mut lengths = Lengths::new();
    for at in 0..count {
        let dim = match dims {
            Some(dims) => wrap_dim(dims[at], ndim, "dim")?,
            None => ndim.saturating_sub(count).saturating_add(at),
        };
        let size = s.map(|s| s[at]).filter(|&size| size != -1).unwrap_or(sizes[dim]);
        lengths.push((dim, in_range("s", size, 1, i64::MAX)?));
    }
    Ok(lengths)
}

/// The size of real results along the last dimension, which half as many complex numbers are transformed to, and the
/// number of those in its place. Unless it is given it is even.
pub(super) fn to_real(sizes: &[i64], lengths: &mut Lengths, given: Option<i64>) -> Result<i64> {
    let Some((dim, size)) = lengths.last_mut() else { return Err(none()) };
    let doubled = sizes[*dim].saturating_sub(1).saturating_mul(2);
    let last = in_range("last size of the result", given.unwrap_or(doubled), 1, i64::MAX)?;
    *size = half(last);
    Ok(last)
}

/// An error for transforms of real numbers along no dimension.
pub(super) fn none() -> monomorph_core::Error {
    ErrorKind::ArgumentRule { rule: "argument dim is empty; accepted are one or more dimensions" }.into()
}
