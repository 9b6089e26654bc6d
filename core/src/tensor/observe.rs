//! A `tracing` span for each operator call: its name, and the sizes and dtypes of its tensors. Without the feature
//! `tracing` nothing is compiled; with it, a call that no subscriber wants costs one load. Owns the span, not the
//! places of it.
//!
//! A call that is made of others has their spans inside of its own: `add.Tensor` by name is the span of the handle, and
//! in it the one of the structured operator `add`.

use crate::geometry::Geometry;

/// The span of a call, ended when it is dropped.
#[derive(Debug)]
#[must_use = "the span ends when this is dropped"]
pub struct Observed {
    #[cfg(feature = "tracing")]
    _span: tracing::span::EnteredSpan,
}

/// Enters the span of a call: level `TRACE`, name `operator`, fields `op`, `sizes` and `dtypes`, target `monomorph`.
/// `operands` shows the geometry of each tensor to what it is given; it is asked only if a subscriber prints them.
#[inline]
pub fn enter(op: &str, operands: impl Fn(&mut dyn FnMut(&Geometry))) -> Observed {
    #[cfg(feature = "tracing")]
    {
        let sizes = Lazily(|| collected(&operands, |g| g.sizes().to_vec()));
        let dtypes = Lazily(|| collected(&operands, |g| g.dtype().name()));
        let span = tracing::trace_span!(target: "monomorph", "operator", op, ?sizes, ?dtypes);
        Observed { _span: span.entered() }
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = (op, operands);
        Observed {}
    }
}

/// The same for a function over tensors, which has them at hand: the first line of an operator that is written by hand.
#[inline]
pub fn operator<const N: usize>(op: &str, operands: [&Geometry; N]) -> Observed {
    enter(op, |each| operands.iter().for_each(|geometry| each(geometry)))
}

#[cfg(feature = "tracing")]
fn collected<T>(operands: &impl Fn(&mut dyn FnMut(&Geometry)), of: impl Fn(&Geometry) -> T) -> Vec<T> {
    let mut list = Vec::new();
    operands(&mut |geometry| list.push(of(geometry)));
    list
}

/// A field that is computed when a subscriber prints it.
#[cfg(feature = "tracing")]
struct Lazily<F>(F);

#[cfg(feature = "tracing")]
impl<T: std::fmt::Debug, F: Fn() -> T> std::fmt::Debug for Lazily<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (self.0)().fmt(f)
    }
}
