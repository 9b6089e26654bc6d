//! A `tracing` span for each operator call: its name, and the sizes and dtypes of its tensors. Without the feature `tracing`
//! nothing is compiled; with it, a call that no subscriber wants costs one load. Owns the span, not the places of it.

use crate::geometry::Geometry;

/// The span of a call, ended when it is dropped.
#[derive(Debug)]
#[must_use = "the span ends when this is dropped"]
pub struct Observed {
    #[cfg(feature = "tracing")]
    _span: tracing::span::EnteredSpan,
}

/// Enters the span of a call: level `TRACE`, name `operator`, fields `op`, `sizes` and `dtypes`, target `monomorph`.
#[inline]
pub fn enter<'g, I: Iterator<Item = &'g Geometry>>(op: &str, operands: impl Fn() -> I) -> Observed {
    #[cfg(feature = "tracing")]
    {
        let sizes = Lazily(|| operands().map(|g| g.sizes().to_vec()).collect::<Vec<_>>());
        let dtypes = Lazily(|| operands().map(|g| g.dtype().name()).collect::<Vec<_>>());
        let span = tracing::trace_span!(target: "monomorph", "operator", op, ?sizes, ?dtypes);
        Observed { _span: span.entered() }
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = (op, operands);
        Observed {}
    }
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
