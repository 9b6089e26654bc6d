//! Two formulas as one: the result of the first, rounded as its dtype stores it, is the first operand of the second.
//! Owns the types of the composition; refuses to decide whether a call may be made in one pass (`mod.rs`).

use crate::algebra::Value;
use crate::algebra::sym::{Compute, Sym, Tracer};
use crate::pointwise::DomainSet;
use crate::pointwise::domain::{Exact, Membership, No, Wide, Yes};
use crate::pointwise::formula::sealed::Sealed;
use crate::pointwise::formula::{Common, In, Map, Operands, OutOf, Params, ParamsOf, PointwiseFn, Same};
use crate::pointwise::rule::Rule;
use crate::pointwise::trace::SymOperands;
use monomorph_core::Scalar;
use monomorph_core::structured::Operand;
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The formula `G(F(..), ..)`, in one dtype.
pub struct ThenFn<F, G>(PhantomData<fn() -> (F, G)>);

impl<F, G> PointwiseFn for ThenFn<F, G>
where
    F: PointwiseFn<Out = Common>,
    G: PointwiseFn<Operands: Fed>,
    F::Domain: Intersect<G::Domain>,
{
    const NAME: &'static str = joined_name(&const { joined_bytes(F::NAME, G::NAME) }, F::NAME, G::NAME);
    const RULE: Rule = Rule {
        flags: G::RULE
            .flags
            .with_promotion(true)
            .with_float_promotion(F::RULE.flags.promotes_to_float())
            .with_dtype_check(false)
            .with_output_cast(true),
        ..Rule::TERNARY.with_check(super::check_one_pass::<F, G>)
    };
    type Domain = <F::Domain as Intersect<G::Domain>>::Both;
    type Operands = Joined<F::Operands, G::Operands>;
    type Params = Both<F::Params, G::Params>;
    type Out = G::Out;
}

impl<V, F, G> Map<V> for ThenFn<F, G>
where
    V: Value,
    F: Map<V, Out = Common>,
    G: Map<V, Operands: Fed>,
    F::Domain: Intersect<G::Domain>,
{
    #[inline(always)]
    fn eval((x, rest): In<Self, V>, (p, q): ParamsOf<Self, V>) -> OutOf<Self, V> {
        G::eval(<G::Operands as Fed>::feed(F::eval(x, p).stored(), rest), q)
    }
}

/// Capacity for the names of a chain.
const NAME: usize = 128;

const fn joined_bytes(first: &str, second: &str) -> [u8; NAME] {
    let mut bytes = [b' '; NAME];
    let parts = [first.as_bytes(), b" then ", second.as_bytes()];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() && at < NAME {
            bytes[at] = parts[part][i];
            (at, i) = (at + 1, i + 1);
        }
        part += 1;
    }
    bytes
}

const fn joined_name(bytes: &'static [u8; NAME], first: &str, second: &'static str) -> &'static str {
    let length = first.len() + " then ".len() + second.len();
    if length > NAME {
        return second;
    }
    match std::str::from_utf8(bytes.split_at(length).0) {
        Ok(name) => name,
        Err(_) => second,
    }
}

/// Operands of a formula whose first comes from another formula: all of one dtype.
pub trait Fed: Operands {
    /// The type of the operands that are left, of values or of pointers.
    type Rest<T: Copy>: Copy;

    /// All operands, from the fed one and the rest.
    fn feed<V: Value>(first: V, rest: Self::Rest<V>) -> Self::Of<V>;

    /// The rest, by position.
    fn rest<T: Copy>(each: impl FnMut(usize) -> T) -> Self::Rest<T>;

    /// The rest, by what is known of each.
    fn map_rest<T: Copy, U: Copy>(rest: Self::Rest<T>, each: impl FnMut(T) -> U) -> Self::Rest<U>;

    /// The rest, by position and two things that are known of each.
    fn zip_rest<T: Copy, U: Copy, W: Copy>(
        rest: Self::Rest<T>,
        other: Self::Rest<U>,
        each: impl FnMut(usize, T, U) -> W,
    ) -> Self::Rest<W>;
}

/// The numbers of operands that a fed formula may have.
macro_rules! fed {
    ($($n:literal: $($rest:ident)*;)*) => {$(
        impl Fed for Same<$n> {
            type Rest<T: Copy> = [T; $n - 1];

            #[inline(always)]
            fn feed<V: Value>(first: V, [$($rest),*]: [V; $n - 1]) -> [V; $n] {
                [first $(, $rest)*]
            }
            #[inline(always)]
            fn rest<T: Copy>(each: impl FnMut(usize) -> T) -> [T; $n - 1] {
                monomorph_core::each(each)
            }
            #[inline(always)]
            fn map_rest<T: Copy, U: Copy>(rest: [T; $n - 1], mut each: impl FnMut(T) -> U) -> [U; $n - 1] {
                monomorph_core::each(|k| each(rest[k]))
            }
            #[inline(always)]
            fn zip_rest<T: Copy, U: Copy, W: Copy>(
                rest: [T; $n - 1],
                other: [U; $n - 1],
                mut each: impl FnMut(usize, T, U) -> W,
            ) -> [W; $n - 1] {
                monomorph_core::each(|k| each(k, rest[k], other[k]))
            }
        }
    )*};
}
fed! {
    1: ;
    2: b;
    3: b c;
}

/// The operands of `A`, then those of `B` but its first.
pub struct Joined<A, B>(PhantomData<fn() -> (A, B)>);

impl<A: Operands, B: Fed> Sealed for Joined<A, B> {}
impl<A: Operands, B: Fed> Operands for Joined<A, B> {
    const COUNT: usize = A::COUNT + B::COUNT - 1;
    const MASKS: usize = A::MASKS;
    type Of<V: Value> = (A::Of<V>, B::Rest<V>);
    type Array<'t> = OperandVec<'t>;
}

/// The most operands that a chain has, as any pointwise operator.
const MAX_OPERANDS: usize = 7;

/// A small vector of at most [`MAX_OPERANDS`] operands, without a heap. They are borrowed and it is `Copy`, so nothing
/// is dropped: a prepared call gives its operands back with its last use.
#[derive(Clone, Copy)]
pub struct OperandVec<'t> {
    operands: [Operand<'t>; MAX_OPERANDS],
    count: usize,
}

impl<'t> AsRef<[Operand<'t>]> for OperandVec<'t> {
    fn as_ref(&self) -> &[Operand<'t>] {
        &self.operands[..self.count]
    }
}

impl<'t, const N: usize> From<[Operand<'t>; N]> for OperandVec<'t> {
    fn from(from: [Operand<'t>; N]) -> OperandVec<'t> {
        const { assert!(N <= MAX_OPERANDS, "a formula has at most so many operands") };
        let mut operands = [Operand::Absent; MAX_OPERANDS];
        operands[..N].copy_from_slice(&from);
        OperandVec { operands, count: N }
    }
}

impl<'t> TryFrom<&[Operand<'t>]> for OperandVec<'t> {
    type Error = ();

    fn try_from(from: &[Operand<'t>]) -> Result<OperandVec<'t>, ()> {
        let mut operands = [Operand::Absent; MAX_OPERANDS];
        operands.get_mut(..from.len()).ok_or(())?.copy_from_slice(from);
        Ok(OperandVec { operands, count: from.len() })
    }
}

impl<C: Compute, A: SymOperands<C>, B: Fed> SymOperands<C> for Joined<A, B>
where
    Sym<C>: Value,
{
    fn inputs(t: &mut Tracer) -> (A::Of<Sym<C>>, B::Rest<Sym<C>>) {
        (A::inputs(t), B::rest(|_| t.input::<C>()))
    }
}

/// The parameters of two formulas.
#[derive(Clone, Debug)]
pub struct Both<P, Q> {
    first: P,
    second: Q,
    scalars: SmallVec<[Scalar; 4]>,
}

impl<P: Params, Q: Params> Both<P, Q> {
    fn new(first: P, second: Q) -> Both<P, Q> {
        let scalars = first.scalars().iter().chain(second.scalars()).copied().collect();
        Both { first, second, scalars }
    }
}

impl<P: Params, Q: Params> Default for Both<P, Q> {
    fn default() -> Both<P, Q> {
        Both::new(P::default(), Q::default())
    }
}

impl<P: Params, Q: Params> Sealed for Both<P, Q> {}
impl<P: Params, Q: Params> Params for Both<P, Q> {
    const COUNT: usize = P::COUNT + Q::COUNT;
    type Of<V: Value> = (P::Of<V>, Q::Of<V>);
    #[inline(always)]
    fn bind<V: Value>(&self) -> (P::Of<V>, Q::Of<V>) {
        (self.first.bind(), self.second.bind())
    }
    fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }
    fn from_scalars(scalars: &[Scalar]) -> Option<Both<P, Q>> {
        let (first, second) = scalars.split_at_checked(P::COUNT)?;
        Some(Both::new(P::from_scalars(first)?, Q::from_scalars(second)?))
    }
    fn symbolic<V: Value>(next: &mut dyn FnMut() -> V) -> (P::Of<V>, Q::Of<V>) {
        (P::symbolic(next), Q::symbolic(next))
    }
}

/// A class that belongs to both of two domains.
pub trait AndMembership<Other: Membership>: Membership {
    /// [`Yes`] if both are, without halves if either is.
    type Both: Membership;
}
impl<Other: Membership> AndMembership<Other> for Yes {
    type Both = Other;
}
impl<Other: Membership> AndMembership<Other> for No {
    type Both = No;
}
impl<Other: Membership> AndMembership<Other> for Wide {
    type Both = Other::WithoutHalves;
}

/// The dtypes that two domains share.
pub trait Intersect<Other: DomainSet>: DomainSet {
    /// The type of the shared domain.
    type Both: DomainSet;
}
impl<B, I, R, C, B2, I2, R2, C2> Intersect<Exact<B2, I2, R2, C2>> for Exact<B, I, R, C>
where
    B: AndMembership<B2>,
    I: AndMembership<I2>,
    R: AndMembership<R2>,
    C: AndMembership<C2>,
    B2: Membership,
    I2: Membership,
    R2: Membership,
    C2: Membership,
{
    type Both = Exact<B::Both, I::Both, R::Both, C::Both>;
}
