//! What lanes hold of an accumulator: registers, which are the same at every level. Owns the proof of that, which is
//! one of types: accumulators of a fold at any level split into the registers that those of the portable level split
//! into, or the fold has no bodies. So lanes that were written at one level can be read at another.

use crate::element::CpuElement;
use crate::isa::{Isa, Portable};
use crate::on::{Compute, On};
use monomorph_ops::algebra::Value;
use monomorph_ops::reduce::{AccumulatorOf, AccumulatorOn, ReduceFn};

/// The most bytes, and the largest alignment, of a part of an accumulator: those of complex128. Everything that has
/// room for lanes has as much for each part of each.
pub(super) const PART: usize = size_of::<u128>();

/// One accumulator: a value of the algebra, or two.
pub trait Parts: Copy + 'static {
    /// The type of the first part in a register.
    type First: Copy + 'static;
    /// The type of the second part in a register; empty for an accumulator of one value.
    type Second: Copy + 'static;
    /// Both parts.
    fn split(self) -> (Self::First, Self::Second);
    /// The accumulator with these parts.
    fn join(first: Self::First, second: Self::Second) -> Self;
}

impl<E: Compute, I: Isa> Parts for On<E, I> {
    type First = E::Repr;
    type Second = ();
    #[inline(always)]
    fn split(self) -> (E::Repr, ()) {
        (self.get(), ())
    }
    #[inline(always)]
    fn join(first: E::Repr, (): ()) -> Self {
        On::new(first)
    }
}

impl<A: Compute, B: Compute, I: Isa> Parts for (On<A, I>, On<B, I>) {
    type First = A::Repr;
    type Second = B::Repr;
    #[inline(always)]
    fn split(self) -> (A::Repr, B::Repr) {
        (self.0.get(), self.1.get())
    }
    #[inline(always)]
    fn join(first: A::Repr, second: B::Repr) -> Self {
        (On::new(first), On::new(second))
    }
}

/// What an accumulator of elements `C` is in lanes, whatever the level: as at the portable one.
pub trait Registers<C> {
    /// The type of the first part. It varies with the dtype and with what the fold accumulates in.
    type First: Copy + 'static;
    /// The type of the second part, which varies likewise.
    type Second: Copy + 'static;
}

impl<A, C: CpuElement> Registers<C> for A
where
    On<C, Portable>: Value<Mask = On<bool, Portable>>,
    A: AccumulatorOn<On<C, Portable>, On<i64, Portable>, Of: Parts>,
{
    type First = <A::Of as Parts>::First;
    type Second = <A::Of as Parts>::Second;
}

/// An accumulator of elements `C` that has the same registers at level `I`.
pub trait AccumulatorAt<C: CpuElement, I: Isa>:
    Registers<C>
    + AccumulatorOn<
        On<C, I>,
        On<i64, I>,
        Of: Parts<First = <Self as Registers<C>>::First, Second = <Self as Registers<C>>::Second>,
    >
where
    On<C, I>: Value<Mask = On<bool, I>>,
{
}

impl<A, C: CpuElement, I: Isa> AccumulatorAt<C, I> for A
where
    On<C, I>: Value<Mask = On<bool, I>>,
    A: Registers<C>
        + AccumulatorOn<
            On<C, I>,
            On<i64, I>,
            Of: Parts<First = <A as Registers<C>>::First, Second = <A as Registers<C>>::Second>,
        >,
{
}

/// An accumulator of fold `F`.
pub(super) type Acc<F, C, I> = AccumulatorOf<F, On<C, I>, On<i64, I>>;
/// What the first run of lanes holds.
pub(super) type First<F, C> = <<F as ReduceFn>::Accumulator as Registers<C>>::First;
/// What the second run of lanes holds.
pub(super) type Second<F, C> = <<F as ReduceFn>::Accumulator as Registers<C>>::Second;
