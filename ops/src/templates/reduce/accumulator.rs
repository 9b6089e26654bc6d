//! What a fold accumulates in, and whether it has an identity, as types over a value of the algebra. The sets are
//! closed: devices write accumulators at one instruction-set level and read them at another, so their layout must
//! follow from the dtype alone. Neither the author of a fold nor the level that it is compiled at may change it.

use super::fold::{AccumulatorOf, Index, ReduceFn};
use crate::algebra::{Value, Widen};
use crate::pointwise::{Common, Truth};
use std::marker::PhantomData;

pub(super) mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A fold accumulates in the wider type that elements are summed in: float64 for float32; see [`Widen`].
pub struct Widened;

/// The real part of what elements are summed in: float64 for float32 and complex64.
pub struct WidenedReal;

/// What fold `F` accumulates in, by the functions of `F`: the declared fold only finishes to other results, as a mean
/// is a sum that is divided. Devices that compile loops for a fold compile them for `F` alone. The declared fold's own
/// functions must be those of `F`; they are what is recorded of it.
pub struct SharedWith<F>(PhantomData<fn() -> F>);

/// What a fold accumulates in: [`Common`], [`Widened`], [`WidenedReal`], [`Truth`], [`Index`], two or three of
/// these, or what another fold accumulates in ([`SharedWith`]). Devices keep the parts of many accumulators in separate
/// arrays, which vectorise where an array of tuples does not.
#[diagnostic::on_unimplemented(
    message = "a fold does not accumulate in `{Self}`",
    label = "no accumulator",
    note = "accumulators are `Common`, `Widened`, `WidenedReal`, `Truth`, `Index`, and `(A, B)` or `(A, B, C)` of these"
)]
pub trait Accumulator: Sealed + 'static {
    /// Whether a part of it is the index of an element.
    const HOLDS_INDEX: bool = false;
    /// The fold whose functions accumulate the elements of fold `F`: `F` itself, or the one that it shares them with.
    type AccumulatedBy<F: ReduceFn>: ReduceFn;
}

/// An accumulator over elements `V` and indices `X`.
#[diagnostic::on_unimplemented(
    message = "a fold does not accumulate in `{Self}` of `{V}`",
    label = "no accumulator of these elements",
    note = "`Widened` needs elements that widen: `V: Widen`",
    note = "accumulators are `Common`, `Widened`, `WidenedReal`, `Truth`, `Index`, and `(A, B)` or `(A, B, C)` of these"
)]
pub trait AccumulatorOn<V: Value, X: Value<Mask = V::Mask>>: Accumulator {
    /// The type of one accumulator: a value, or two or three. It varies with the dtype and the device.
    type Of: Copy + 'static;
}

impl Sealed for Common {}
impl Accumulator for Common {
    type AccumulatedBy<F: ReduceFn> = F;
}
impl<V: Value, X: Value<Mask = V::Mask>> AccumulatorOn<V, X> for Common {
    type Of = V;
}

impl Sealed for Widened {}
impl Accumulator for Widened {
    type AccumulatedBy<F: ReduceFn> = F;
}
impl<V: Widen, X: Value<Mask = V::Mask>> AccumulatorOn<V, X> for Widened {
    type Of = V::Wide;
}

impl Sealed for WidenedReal {}
impl Accumulator for WidenedReal {
    type AccumulatedBy<F: ReduceFn> = F;
}
impl<V: Widen, X: Value<Mask = V::Mask>> AccumulatorOn<V, X> for WidenedReal {
    type Of = <V::Wide as Value>::Re;
}

impl Sealed for Truth {}
impl Accumulator for Truth {
    type AccumulatedBy<F: ReduceFn> = F;
}
impl<V: Value, X: Value<Mask = V::Mask>> AccumulatorOn<V, X> for Truth {
    type Of = V::Mask;
}

impl Sealed for Index {}
impl Accumulator for Index {
    const HOLDS_INDEX: bool = true;
    type AccumulatedBy<F: ReduceFn> = F;
}
impl<V: Value, X: Value<Mask = V::Mask>> AccumulatorOn<V, X> for Index {
    type Of = X;
}

impl<A: Accumulator, B: Accumulator> Sealed for (A, B) {}
impl<A: Accumulator, B: Accumulator> Accumulator for (A, B) {
    const HOLDS_INDEX: bool = A::HOLDS_INDEX || B::HOLDS_INDEX;
    type AccumulatedBy<F: ReduceFn> = F;
}
impl<V, X, A, B> AccumulatorOn<V, X> for (A, B)
where
    V: Value,
    X: Value<Mask = V::Mask>,
    A: AccumulatorOn<V, X, Of: Value>,
    B: AccumulatorOn<V, X, Of: Value>,
{
    type Of = (A::Of, B::Of);
}

impl<A: Accumulator, B: Accumulator, C: Accumulator> Sealed for (A, B, C) {}
impl<A: Accumulator, B: Accumulator, C: Accumulator> Accumulator for (A, B, C) {
    const HOLDS_INDEX: bool = A::HOLDS_INDEX || B::HOLDS_INDEX || C::HOLDS_INDEX;
    type AccumulatedBy<F: ReduceFn> = F;
}
impl<V, X, A, B, C> AccumulatorOn<V, X> for (A, B, C)
where
    V: Value,
    X: Value<Mask = V::Mask>,
    A: AccumulatorOn<V, X, Of: Value>,
    B: AccumulatorOn<V, X, Of: Value>,
    C: AccumulatorOn<V, X, Of: Value>,
{
    type Of = (A::Of, B::Of, C::Of);
}

impl<B: ReduceFn> Sealed for SharedWith<B> {}
impl<B: ReduceFn> Accumulator for SharedWith<B> {
    const HOLDS_INDEX: bool = B::Accumulator::HOLDS_INDEX;
    type AccumulatedBy<F: ReduceFn> = <B::Accumulator as Accumulator>::AccumulatedBy<B>;
}
impl<V, X, B> AccumulatorOn<V, X> for SharedWith<B>
where
    V: Value,
    X: Value<Mask = V::Mask>,
    B: ReduceFn<Accumulator: AccumulatorOn<V, X>>,
{
    type Of = AccumulatorOf<B, V, X>;
}

/// Whether a fold has an identity, the accumulator of no element: [`WithIdentity`] or [`NoIdentity`].
pub trait Identity: Sealed + 'static {
    /// Whether the fold has one.
    const EXISTS: bool;
    /// The type of the identity of a fold that accumulates in `A`; `()` where there is none.
    type Of<A: Copy>: Copy;
    /// The identity, if there is one.
    fn optional<A: Copy>(identity: Self::Of<A>) -> Option<A>;
}

/// The result over no element is what [`Fold::identity`](super::Fold::identity) finishes to.
pub struct WithIdentity;
impl Sealed for WithIdentity {}
impl Identity for WithIdentity {
    const EXISTS: bool = true;
    type Of<A: Copy> = A;
    #[inline(always)]
    fn optional<A: Copy>(identity: A) -> Option<A> {
        Some(identity)
    }
}

/// A reduction over no element is an error.
pub struct NoIdentity;
impl Sealed for NoIdentity {}
impl Identity for NoIdentity {
    const EXISTS: bool = false;
    type Of<A: Copy> = ();
    #[inline(always)]
    fn optional<A: Copy>((): ()) -> Option<A> {
        None
    }
}
