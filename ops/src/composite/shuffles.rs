//! Channels put in another order, or turned into places of a plane and back: pixel_shuffle, pixel_unshuffle,
//! channel_shuffle. Each is one copy between two views that split the same elements in two ways.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use crate::table::native;
use monomorph_core::strides::{DimVec, suggest_format};
use monomorph_core::{ErrorKind, MemoryFormat, Part, Rearrangement, Result};
use smallvec::SmallVec;
use std::ops::Range;

/// A new tensor of these sizes in the format that the input suggests: `parts` of the input's dimensions, outermost
/// first as those of the output lie. Where the device has no kernel for it, a copy between two views that split the
/// same elements in two ways.
fn rearranged<C: Callees>(calls: &C, this: &C::Tensor, sizes: &[i64], parts: &[Part]) -> Result<C::Tensor> {
    let t = C::any(this);
    let format = suggest_format(t.sizes(), t.strides());
    if t.numel() == 0 {
        return calls.empty(sizes, t.dtype(), t.device(), format);
    }
    if let Some(result) = calls.rearranged(this, || Rearrangement::Parts(parts.into()), format)? {
        return Ok(result);
    }
    let result = calls.empty(sizes, t.dtype(), t.device(), format)?;
    // The parts as they lie in the input.
    let mut places: Vec<usize> = (0..parts.len()).collect();
    places.sort_by_key(|&at| (parts[at].dim, std::cmp::Reverse(parts[at].step)));
    let split: DimVec = places.iter().map(|&at| parts[at].size).collect();
    let mut source = calls.view(this, &split)?;
    // Each is brought to its place by an exchange with the one that is there.
    for place in 0..parts.len() {
        let Some(at) = places.iter().position(|p| *p == place) else { continue };
        if at != place {
            source = calls.transpose(&source, place, at)?;
            places.swap(place, at);
        }
    }
    let split: DimVec = parts.iter().map(|part| part.size).collect();
    calls.copy_into(calls.view(&result, &split)?, &source)?;
    Ok(result)
}

/// Dimensions that stay as they are.
fn unchanged(sizes: &[i64], dims: Range<usize>) -> impl Iterator<Item = Part> + '_ {
    dims.map(|dim| Part { dim, step: 1, size: sizes[dim], to: dim })
}

/// The parts of images behind a batch; the dimensions of channels, of rows and of columns are 0, 1 and 2.
fn parts_of_image<C: Callees>(
    this: &C::Tensor,
    batch: usize,
    parts: [(usize, i64, i64, usize); 5],
) -> SmallVec<[Part; 6]> {
    let of_image = parts.map(|(dim, step, size, to)| {
        let [dim, to] = [dim, to].map(|d| d.saturating_add(batch));
        Part { dim, step, size, to }
    });
    unchanged(C::any(this).sizes(), 0..batch).chain(of_image).collect()
}

/// The last three sizes and how many there are before them.
fn image<C: Callees>(this: &C::Tensor) -> Result<(usize, [i64; 3])> {
    match C::any(this).sizes() {
        [before @ .., channels, height, width] => Ok((before.len(), [*channels, *height, *width])),
        sizes => Err(ErrorKind::DimCount { arg: "self", got: sizes.len(), accepted: "3 or more" }.into()),
    }
}

fn positive(arg: &'static str, got: i64) -> Result<()> {
    if got < 1 {
        return Err(ErrorKind::OutOfRange { arg, got, low: 1, high: i64::MAX }.into());
    }
    Ok(())
}

/// The quotient, if it is whole.
fn whole(size: i64, by: i64, rule: &'static str) -> Result<i64> {
    match size.checked_rem(by) {
        Some(0) => Ok(size.checked_div(by).unwrap_or(0)),
        _ => Err(ErrorKind::ArgumentRule { rule }.into()),
    }
}

/// A product of sizes.
fn product(a: i64, b: i64) -> Result<i64> {
    a.checked_mul(b).ok_or_else(|| super::pad::overflow(&[a, b]).into())
}

fn sizes_with<C: Callees>(this: &C::Tensor, batch: usize, last: [i64; 3]) -> DimVec {
    C::any(this).sizes().iter().take(batch).copied().chain(last).collect()
}

/// `pixel_shuffle`: channels become places of planes that are so many times as large.
pub fn pixel_shuffle<C: Callees>(calls: &C, this: &C::Tensor, upscale_factor: i64) -> Result<C::Tensor> {
    let (batch, [channels, height, width]) = image::<C>(this)?;
    positive("upscale_factor", upscale_factor)?;
    let r = upscale_factor;
    let rule =
        "the channels are no multiple of the square of argument upscale_factor; accepted is one that divides them";
    let left = whole(channels, product(r, r)?, rule)?;
    let sizes = sizes_with::<C>(this, batch, [left, product(height, r)?, product(width, r)?]);
    let parts = [(0, product(r, r)?, left, 0), (1, 1, height, 1), (0, r, r, 1), (2, 1, width, 2), (0, 1, r, 2)];
    rearranged(calls, this, &sizes, &parts_of_image::<C>(this, batch, parts))
}

/// `pixel_unshuffle`: places of planes become channels.
pub fn pixel_unshuffle<C: Callees>(calls: &C, this: &C::Tensor, downscale_factor: i64) -> Result<C::Tensor> {
    let (batch, [channels, height, width]) = image::<C>(this)?;
    positive("downscale_factor", downscale_factor)?;
    let r = downscale_factor;
    let rule = "height or width is no multiple of argument downscale_factor; accepted is one that divides both";
    let (h, w) = (whole(height, r, rule)?, whole(width, r, rule)?);
    if C::any(this).numel() == 0 {
        // PyTorch leaves the sizes as they are.
        return calls.cloned(this, MemoryFormat::Preserve);
    }
    let sizes = sizes_with::<C>(this, batch, [product(channels, product(r, r)?)?, h, w]);
    let parts = [(0, 1, channels, 0), (1, 1, r, 0), (2, 1, r, 0), (1, r, h, 1), (2, r, w, 2)];
    rearranged(calls, this, &sizes, &parts_of_image::<C>(this, batch, parts))
}

/// `channel_shuffle`: the channels of each group in turn.
pub fn channel_shuffle<C: Callees>(calls: &C, this: &C::Tensor, groups: i64) -> Result<C::Tensor> {
    let t = C::any(this);
    let &[_, channels, ref others @ ..] = t.sizes() else {
        return Err(ErrorKind::DimCount { arg: "self", got: t.ndim(), accepted: "3 or more" }.into());
    };
    if others.is_empty() {
        return Err(ErrorKind::DimCount { arg: "self", got: t.ndim(), accepted: "3 or more" }.into());
    }
    positive("groups", groups)?;
    let rule = "the channels are no multiple of argument groups; accepted is a number that divides them";
    let each = whole(channels, groups, rule)?;
    if t.numel() == 0 {
        return calls.expand(this, t.sizes());
    }
    let dealt = [(1, each), (each, groups)].map(|(step, size)| Part { dim: 1, step, size, to: 1 });
    let sizes = t.sizes();
    let parts: SmallVec<[Part; 6]> = unchanged(sizes, 0..1).chain(dealt).chain(unchanged(sizes, 2..t.ndim())).collect();
    rearranged(calls, this, sizes, &parts)
}

native! {
    family: Shuffles, functions: crate::fill::Fills;

    /// Turns `[.., channels * r * r, height, width]` into `[.., channels, height * r, width * r]`, where `r` is
    /// `upscale_factor`.
    ///
    /// Of each `r * r` channels one after the other, elements at one place become a square. Any dtype.
    ///
    /// ```
    /// let x = tensor![[[1]], [[2]], [[3]], [[4]]];
    /// let y = x.pixel_shuffle(2)?;
    /// assert_eq!((y.sizes(), y.to_vec::<i32>()?), (&[1, 2, 2][..], vec![1, 2, 3, 4]));
    /// ```
    func: pixel_shuffle(Tensor self, int upscale_factor) -> Tensor,
    autogen: pixel_shuffle.out, variants: function, direct: true, composed: explicit pixel_shuffle;

    /// Turns `[.., channels, height * r, width * r]` into `[.., channels * r * r, height, width]`, where `r` is
    /// `downscale_factor`: what [`pixel_shuffle`](super::functions::pixel_shuffle) does, undone.
    ///
    /// ```
    /// let x = tensor![[[1, 2], [3, 4]]];
    /// let y = x.pixel_unshuffle(2)?;
    /// assert_eq!((y.sizes(), y.to_vec::<i32>()?), (&[4, 1, 1][..], vec![1, 2, 3, 4]));
    /// ```
    func: pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor,
    autogen: pixel_unshuffle.out, variants: function, direct: true, composed: explicit pixel_unshuffle;

    /// The channels, dimension 1, as if each of `groups` were a hand of cards and one of each were dealt in turn.
    ///
    /// The tensor has three dimensions or more, of any dtype.
    ///
    /// ```
    /// let x = tensor![[[1], [2], [3], [4]]];
    /// assert_eq!(x.channel_shuffle(2)?.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// ```
    func: channel_shuffle(Tensor self, SymInt groups) -> Tensor,
    autogen: channel_shuffle.out, variants: function, direct: true, composed: explicit channel_shuffle;

    func: native_channel_shuffle(Tensor self, SymInt groups) -> Tensor,
    direct: true, composed: implicit channel_shuffle;
}
