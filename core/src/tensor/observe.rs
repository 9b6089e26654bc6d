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
        let wanted = tracing::level_filters::LevelFilter::current() >= tracing::Level::TRACE;
        Observed { _span: if wanted { entered(op, &operands) } else { tracing::Span::none().entered() } }
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

/// What shows the geometry of each tensor of a call.
#[cfg(feature = "tracing")]
type Operands<'a> = &'a dyn Fn(&mut dyn FnMut(&Geometry));

/// The span, entered. Not generic: it is compiled once, not for each operator.
#[cfg(feature = "tracing")]
#[cold]
fn entered(op: &str, operands: Operands<'_>) -> tracing::span::EnteredSpan {
    let (sizes, dtypes) = (Each(operands, |g| g.sizes().to_vec()), Each(operands, |g| g.dtype().name()));
    tracing::trace_span!(target: "monomorph", "operator", op, ?sizes, ?dtypes).entered()
}

/// A field of the span, a list of something of each tensor, which is computed when a subscriber prints it.
#[cfg(feature = "tracing")]
struct Each<'a, T>(Operands<'a>, fn(&Geometry) -> T);

#[cfg(feature = "tracing")]
impl<T: std::fmt::Debug> std::fmt::Debug for Each<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut list = f.debug_list();
        (self.0)(&mut |geometry| {
            list.entry(&(self.1)(geometry));
        });
        list.finish()
    }
}
