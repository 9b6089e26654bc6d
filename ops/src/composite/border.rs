//! How tensors are continued beyond their edges: one dimension after the other, each from what is inside already,
//! corners included, so that every element is written once. The operators are in `edges.rs`, their gradients in
//! `border_gradients.rs`.
//!
//! ```text
//!              inside     reflect by 2     replicate by 2     circular by 2
//!              a b c      c b a b c b a    a a a b c c c      b c a b c a b
//! ```
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use super::pad::overflow;
use crate::pad_gradient::{ShownAxis, ShownRun};
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{AnyTensor, DType, ErrorKind, Rearrangement, Result, Segment, SegmentSource};

/// What is seen beyond an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// The inside in reverse order, without the edge itself.
    Reflection,
    /// The edge, again and again.
    Edge,
    /// The inside from the other end on.
    Other,
}

/// How far one dimension is continued, in front and behind; below zero it is cut off.
#[derive(Clone, Copy)]
pub(super) struct Padding {
    pub(super) dim: usize,
    pub(super) size: i64,
    pub(super) front: i64,
    pub(super) behind: i64,
}

impl Padding {
    /// From the last dimension on, those that `pad` has pairs for.
    pub(super) fn all(sizes: &[i64], pad: &[i64]) -> Vec<Padding> {
        let dims = sizes.iter().enumerate().rev().zip(pad.chunks_exact(2));
        dims.map(|((dim, &size), pair)| Padding { dim, size, front: pair[0], behind: pair[1] }).collect()
    }

    /// The size with what is added and without what is cut off.
    pub(super) fn padded(&self) -> Option<i64> {
        self.size.checked_add(self.front)?.checked_add(self.behind)
    }

    /// What of it adds, and cuts off nothing.
    pub(super) fn added(&self) -> Padding {
        Padding { front: self.front.max(0), behind: self.behind.max(0), ..*self }
    }

    /// Which place of the dimension each one shows that is left.
    pub(super) fn shown(&self, beyond: Beyond) -> ShownAxis {
        let (mut cut, mut left) = (self.front.min(0).saturating_neg(), self.padded().unwrap_or(0));
        let runs = self.added().segments(beyond).map(|segment| {
            let (first, step) = match segment.source {
                SegmentSource::Elements { first, step } => (first, step),
                SegmentSource::Filler => (0, 0),
            };
            let skipped = cut.min(segment.length);
            let length = segment.length.saturating_sub(skipped).min(left);
            (cut, left) = (cut.saturating_sub(skipped), left.saturating_sub(length));
            ShownRun { first: first.saturating_add(step.saturating_mul(skipped)), step, length }
        });
        ShownAxis { size: self.size, runs }
    }

    /// All places of the dimension with what is added, in their order.
    fn segments(&self, beyond: Beyond) -> [Segment; 3] {
        let last = self.size.saturating_sub(1);
        let (front, behind, step) = match beyond {
            Beyond::Reflection => (self.front, last.saturating_sub(1), -1),
            Beyond::Edge => (0, last, 0),
            Beyond::Other => (self.size.saturating_sub(self.front), 0, 1),
        };
        [(self.front, front, step), (self.size, 0, 1), (self.behind, behind, step)].map(|(length, first, step)| {
            Segment { dim: self.dim, length, source: SegmentSource::Elements { first, step } }
        })
    }

    /// Where the border in front and that behind lie: start, length, and where what they show starts inside.
    fn borders(&self, beyond: Beyond) -> [(i64, i64, i64); 2] {
        // Within the padded size, which is known not to overflow.
        let end = self.front.saturating_add(self.size);
        let (front, behind) = match beyond {
            Beyond::Reflection => (self.front.saturating_add(1), end.saturating_sub(1).saturating_sub(self.behind)),
            Beyond::Edge => (self.front, end.saturating_sub(1)),
            Beyond::Other => (end.saturating_sub(self.front), self.front),
        };
        [(0, self.front, front), (end, self.behind, behind)]
    }
}

/// The sizes with all paddings.
pub(super) fn padded(sizes: &[i64], paddings: &[Padding]) -> Result<DimVec> {
    let mut padded = DimVec::from_slice(sizes);
    for padding in paddings {
        padded[padding.dim] = padding.padded().ok_or_else(|| overflow(sizes))?;
    }
    Ok(padded)
}

/// The tensor continued beyond its edges, by paddings none of which cuts off.
pub(super) fn continued<C: Callees>(
    calls: &C,
    this: &C::Tensor,
    paddings: &[Padding],
    beyond: Beyond,
) -> Result<C::Tensor> {
    let t = C::any(this);
    let format = strides::suggest_format(t.sizes(), t.strides());
    let sizes = padded(t.sizes(), paddings)?;
    let how = || {
        let segments = paddings.iter().flat_map(|p| p.segments(beyond)).collect();
        Rearrangement::Segments { segments, filler: [0; 16] }
    };
    if let Some(result) = calls.rearranged(this, how, format)? {
        return Ok(result);
    }
    let result = calls.empty(&sizes, t.dtype(), t.device(), format)?;
    // What is written so far: a view from which one dimension after the other is widened to the whole.
    let inside = |t: C::Tensor, paddings: &[Padding]| {
        paddings.iter().try_fold(t, |t, p| calls.narrow(&t, p.dim, p.front, p.size))
    };
    calls.copy_into(inside(result.clone(), paddings)?, this)?;
    let mut rest = paddings;
    while let Some((padding, others)) = rest.split_first() {
        rest = others;
        let whole = inside(result.clone(), others)?;
        for (start, length, from) in padding.borders(beyond).into_iter().filter(|border| border.1 > 0) {
            let border = calls.narrow(&whole, padding.dim, start, length)?;
            let shown = calls.narrow(&whole, padding.dim, from, if beyond == Beyond::Edge { 1 } else { length })?;
            let shown = match beyond {
                Beyond::Reflection => calls.flip(&shown, &[padding.dim as i64])?,
                Beyond::Edge => calls.expand(&shown, C::any(&border).sizes())?,
                Beyond::Other => shown,
            };
            calls.copy_into(border, &shown)?;
        }
    }
    Ok(result)
}

/// What is left of a tensor that was continued where some paddings are below zero.
fn cut<C: Callees>(calls: &C, this: C::Tensor, paddings: &[Padding]) -> Result<C::Tensor> {
    if paddings.iter().all(|p| p.front >= 0 && p.behind >= 0) {
        return Ok(this);
    }
    let format = strides::suggest_format(C::any(&this).sizes(), C::any(&this).strides());
    let left = paddings.iter().try_fold(this, |t, p| {
        let length = p.padded().unwrap_or(0);
        calls.narrow(&t, p.dim, p.front.min(0).saturating_neg(), length)
    })?;
    calls.cloned(&left, format)
}

/// The paddings of an operator over the last `N` dimensions, behind one of channels and maybe one of a batch.
pub(super) fn paddings<const N: usize>(t: &AnyTensor, pad: &[i64], beyond: Beyond) -> Result<Vec<Padding>> {
    if pad.len() != N.saturating_mul(2) {
        return Err(ErrorKind::ListLength { arg: "padding", got: pad.len(), want: N.saturating_mul(2) }.into());
    }
    let batch = match t.ndim().saturating_sub(N) {
        1 => 0,
        2 => 1,
        _ => {
            let accepted = ["2 and 3", "3 and 4", "4 and 5"][N.saturating_sub(1).min(2)];
            return Err(ErrorKind::DimCount { arg: "self", got: t.ndim(), accepted }.into());
        }
    };
    if t.sizes().iter().skip(batch).any(|&size| size == 0) {
        let rule = "argument self has no elements; accepted is that only the batch, in front of the channels, is empty";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let paddings = Padding::all(t.sizes(), pad);
    for p in &paddings {
        if beyond == Beyond::Reflection {
            let low = i64::MIN;
            if let Some(got) = [p.front, p.behind].into_iter().find(|&by| by >= p.size) {
                return Err(ErrorKind::OutOfRange { arg: "padding", got, low, high: p.size.saturating_sub(1) }.into());
            }
        }
        let got = p.padded().ok_or_else(|| overflow(t.sizes()))?;
        if got < 1 {
            return Err(ErrorKind::OutOfRange { arg: "padded size", got, low: 1, high: i64::MAX }.into());
        }
    }
    Ok(paddings)
}

pub(super) fn padded_by<C: Callees, const N: usize>(
    calls: &C,
    this: &C::Tensor,
    pad: &[i64],
    beyond: Beyond,
) -> Result<C::Tensor> {
    let t = C::any(this);
    let paddings = paddings::<N>(t, pad, beyond)?;
    if t.dtype() == DType::Bool {
        let (what, accepted) = ("argument self has dtype", "all dtypes but bool");
        return Err(ErrorKind::DTypeNotSupported { what, got: DType::Bool, accepted }.into());
    }
    let added: Vec<Padding> = paddings.iter().map(Padding::added).collect();
    cut(calls, continued(calls, this, &added, beyond)?, &paddings)
}
