//! Channels put in another order, or turned into places of a plane and back: pixel_shuffle, pixel_unshuffle,
//! channel_shuffle. Each is one copy between two views that split the same elements in two ways.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use crate::table::native;
use monomorph_core::strides::{DimVec, suggest_format};
use monomorph_core::{ErrorKind, MemoryFormat, Result};

/// A new tensor of these sizes in the format that the input suggests, filled through a view of it: both are split into
/// `parts` behind `batch` leading dimensions, and those of the output come in the `order` of those of the input.
fn rearranged<C: Callees>(
    calls: &C,
    this: &C::Tensor,
    sizes: &[i64],
    [from, to]: [&[i64]; 2],
    (batch, order): (usize, &[usize]),
) -> Result<C::Tensor> {
    let t = C::any(this);
    let format = suggest_format(t.sizes(), t.strides());
    let result = calls.empty(sizes, t.dtype(), t.device(), format)?;
    if t.numel() == 0 {
        return Ok(result);
    }
    let split = |parts: &[i64]| t.sizes().iter().take(batch).chain(parts).copied().collect::<DimVec>();
    let mut source = calls.view(this, &split(from))?;
    // Each dimension is brought to its place by an exchange with the one that is there.
    let mut places: Vec<usize> = (0..order.len()).collect();
    for (place, wanted) in order.iter().enumerate() {
        let Some(at) = places.iter().position(|p| p == wanted) else { continue };
        if at != place {
            source = calls.transpose(&source, batch.saturating_add(place), batch.saturating_add(at))?;
            places.swap(place, at);
        }
    }
    calls.copy_into(calls.view(&result, &split(to))?, &source)?;
    Ok(result)
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
    let parts = [&[left, r, r, height, width][..], &[left, height, r, width, r]];
    rearranged(calls, this, &sizes, parts, (batch, &[0, 3, 1, 4, 2]))
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
    let parts = [&[channels, h, r, w, r][..], &[channels, r, r, h, w]];
    rearranged(calls, this, &sizes, parts, (batch, &[0, 2, 4, 1, 3]))
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
    let split = |first: i64, second: i64| {
        let mut parts = DimVec::from_slice(&[first, second]);
        parts.extend_from_slice(others);
        parts
    };
    let mut order: Vec<usize> = (0..others.len().saturating_add(2)).collect();
    order.swap(0, 1);
    let parts = [&split(groups, each)[..], &split(each, groups)];
    rearranged(calls, this, t.sizes(), parts, (1, &order))
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
    autogen: pixel_shuffle.out, variants: function, composed: explicit pixel_shuffle;

    /// Turns `[.., channels, height * r, width * r]` into `[.., channels * r * r, height, width]`, where `r` is
    /// `downscale_factor`: what [`pixel_shuffle`](super::functions::pixel_shuffle) does, undone.
    ///
    /// ```
    /// let x = tensor![[[1, 2], [3, 4]]];
    /// let y = x.pixel_unshuffle(2)?;
    /// assert_eq!((y.sizes(), y.to_vec::<i32>()?), (&[4, 1, 1][..], vec![1, 2, 3, 4]));
    /// ```
    func: pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor,
    autogen: pixel_unshuffle.out, variants: function, composed: explicit pixel_unshuffle;

    /// The channels, dimension 1, as if each of `groups` were a hand of cards and one of each were dealt in turn.
    ///
    /// The tensor has three dimensions or more, of any dtype.
    ///
    /// ```
    /// let x = tensor![[[1], [2], [3], [4]]];
    /// assert_eq!(x.channel_shuffle(2)?.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// ```
    func: channel_shuffle(Tensor self, SymInt groups) -> Tensor,
    autogen: channel_shuffle.out, variants: function, composed: explicit channel_shuffle;

    func: native_channel_shuffle(Tensor self, SymInt groups) -> Tensor,
    composed: implicit channel_shuffle;
}
