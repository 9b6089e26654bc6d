//! The parts that lanes store of an accumulator, which are the same at every level. The type system proves that: the
//! accumulators of a fold at any level split into the parts that those of the portable level split into, or the fold
//! has no kernels. So lanes that were written at one level can be read at another.

use crate::element::CpuElement;
use crate::isa::{Isa, Portable};
use crate::scalar::{Compute, Lane};
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{AccumulatorOf, AccumulatorOn, ReduceFn};

/// The most bytes, and the largest alignment, of a part of an accumulator: those of complex128. Every buffer for lanes
/// has room for so many bytes for each part of each lane.
pub(super) const PART: usize = size_of::<u128>();

/// One accumulator: a value of the algebra, two, or three, of which the last two are the second part.
pub trait Parts: Copy + 'static {
    /// The type of the first part.
    type First: Copy + 'static;
    /// The type of the second part; empty for an accumulator of one value.
    type Second: Copy + 'static;
    /// Both parts.
    fn split(self) -> (Self::First, Self::Second);
    /// The accumulator with these parts.
    fn join(first: Self::First, second: Self::Second) -> Self;
}

impl<E: Compute, I: Isa> Parts for Lane<E, I> {
    type First = E::Repr;
    type Second = ();
    #[inline(always)]
    fn split(self) -> (E::Repr, ()) {
        (self.get(), ())
    }
    #[inline(always)]
    fn join(first: E::Repr, (): ()) -> Self {
        Lane::new(first)
    }
}

impl<A: Compute, B: Compute, I: Isa> Parts for (Lane<A, I>, Lane<B, I>) {
    type First = A::Repr;
    type Second = B::Repr;
    #[inline(always)]
    fn split(self) -> (A::Repr, B::Repr) {
        (self.0.get(), self.1.get())
    }
    #[inline(always)]
    fn join(first: A::Repr, second: B::Repr) -> Self {
        (Lane::new(first), Lane::new(second))
    }
}

impl<A: Compute, B: Compute, C: Compute, I: Isa> Parts for (Lane<A, I>, Lane<B, I>, Lane<C, I>) {
    type First = A::Repr;
    type Second = (B::Repr, C::Repr);
    #[inline(always)]
    fn split(self) -> (A::Repr, (B::Repr, C::Repr)) {
        (self.0.get(), (self.1.get(), self.2.get()))
    }
    #[inline(always)]
    fn join(first: A::Repr, (second, third): (B::Repr, C::Repr)) -> Self {
        (Lane::new(first), Lane::new(second), Lane::new(third))
    }
}

/// The parts of an accumulator of elements `C`, whatever the level: those at the portable one.
pub trait LaneParts<C> {
    /// The type of the first part. It varies with the dtype and with what the fold accumulates in.
    type First: Copy + 'static;
    /// The type of the second part, which varies likewise.
    type Second: Copy + 'static;
}

impl<A, C: CpuElement> LaneParts<C> for A
where
    Lane<C, Portable>: Value<Mask = Lane<bool, Portable>>,
    A: AccumulatorOn<Lane<C, Portable>, Lane<i64, Portable>, Of: Parts>,
{
    type First = <A::Of as Parts>::First;
    type Second = <A::Of as Parts>::Second;
}

/// An accumulator of elements `C` that has the same parts at level `I`.
pub trait AccumulatorAt<C: CpuElement, I: Isa>:
    LaneParts<C>
    + AccumulatorOn<
        Lane<C, I>,
        Lane<i64, I>,
        Of: Parts<First = <Self as LaneParts<C>>::First, Second = <Self as LaneParts<C>>::Second>,
    >
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
{
}

impl<A, C: CpuElement, I: Isa> AccumulatorAt<C, I> for A
where
    Lane<C, I>: Value<Mask = Lane<bool, I>>,
    A: LaneParts<C>
        + AccumulatorOn<
            Lane<C, I>,
            Lane<i64, I>,
            Of: Parts<First = <A as LaneParts<C>>::First, Second = <A as LaneParts<C>>::Second>,
        >,
{
}

/// An accumulator of fold `F`.
pub(super) type Acc<F, C, I> = AccumulatorOf<F, Lane<C, I>, Lane<i64, I>>;
/// The elements of the first run of lanes.
pub(super) type First<F, C> = <<F as ReduceFn>::Accumulator as LaneParts<C>>::First;
/// The elements of the second run of lanes.
pub(super) type Second<F, C> = <<F as ReduceFn>::Accumulator as LaneParts<C>>::Second;
