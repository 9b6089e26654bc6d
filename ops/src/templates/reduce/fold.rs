//! What a reduction is made of: a fold and its results, as types over a value of the algebra.

use super::accumulator::sealed::Sealed;
use super::accumulator::{Accumulator, AccumulatorOn, Identity};
use super::rule::ReduceRule;
use crate::algebra::Value;
use crate::pointwise::{Common, DomainSet, Truth};

/// A reduction: everything about it but the fold itself. Implemented by [`reduction!`](crate::reduction!).
///
/// What a device relies on is said by types of closed sets, and [`TypedRule`](super::TypedRule) derives from them
/// what meta functions check, so no implementation can make a plan that its fold does not follow.
pub trait ReduceFn: Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// Which dims it takes, and what it checks.
    const RULE: ReduceRule;
    /// The type of the set of dtypes that the fold computes in. Varies per operator.
    type Domain: DomainSet;
    /// The type of what the fold accumulates in. It varies because a fold may sum in a wider type or keep an index.
    type Accumulator: Accumulator;
    /// The type that says whether the fold has an identity. Varies per operator.
    type Identity: Identity;
    /// The type of the results. Varies with how many there are and of which dtype.
    type Results: Results;
}

/// What a fold gives of value `V` and index `X`.
pub type ResultsOf<F, V, X> = <<F as ReduceFn>::Results as Results>::Of<V, X>;

/// What a fold accumulates elements `V` and indices `X` in.
pub type AccumulatorOf<F, V, X> = <<F as ReduceFn>::Accumulator as AccumulatorOn<V, X>>::Of;

/// The fold whose functions accumulate the elements of fold `F`: see [`SharedWith`](super::SharedWith).
pub type AccumulatedBy<F> = <<F as ReduceFn>::Accumulator as Accumulator>::AccumulatedBy<F>;

/// The identity of a fold: an accumulator, or `()` if it has none.
pub type IdentityOf<F, V, X> = <<F as ReduceFn>::Identity as Identity>::Of<AccumulatorOf<F, V, X>>;

/// What a fold is told besides the elements: the order of a norm, what is subtracted from a count.
pub type Numbers = [f64; 2];

/// The fold, for every value of the algebra that has the functions it needs. `V` is an element; `X` is an int64 that
/// counts elements, from 0, in row-major order.
///
/// `merge` must be associative and commutative, up to rounding: a device merges neighbours, lanes and chunks in the
/// order that suits it. A fold that prefers the first of equals compares indices.
#[diagnostic::on_unimplemented(
    message = "the fold `{Self}` does not compute on `{V}`",
    label = "the domain of the reduction is wider than its fold",
    note = "narrow the domain in `reduction!`, or bound the fold's `impl<V: .., X: ..> Fold<V, X>` by a trait that \
        these dtypes have"
)]
pub trait Fold<V: Value, X: Value<Mask = V::Mask>>: ReduceFn<Accumulator: AccumulatorOn<V, X>> {
    /// The accumulator of one element.
    fn one(x: V, at: X) -> AccumulatorOf<Self, V, X>;

    /// The accumulator of the elements of both.
    fn merge(a: AccumulatorOf<Self, V, X>, b: AccumulatorOf<Self, V, X>) -> AccumulatorOf<Self, V, X>;

    /// The accumulator of four elements. A fold with a wide accumulator may merge four before it widens them, where
    /// that is faster and accurate enough.
    #[inline(always)]
    fn four([a, b, c, d]: [V; 4], [i, j, k, l]: [X; 4]) -> AccumulatorOf<Self, V, X> {
        Self::merge(Self::merge(Self::one(a, i), Self::one(b, j)), Self::merge(Self::one(c, k), Self::one(d, l)))
    }

    /// The accumulator of one element, of a fold that is told numbers besides: the order of a norm. A device calls
    /// this, [`four_by`](Fold::four_by) and [`finish_by`](Fold::finish_by); most folds ignore the numbers.
    #[inline(always)]
    fn one_by(x: V, at: X, _numbers: Numbers) -> AccumulatorOf<Self, V, X> {
        Self::one(x, at)
    }

    /// The accumulator of four elements, as [`one_by`](Fold::one_by).
    #[inline(always)]
    fn four_by(x: [V; 4], at: [X; 4], _numbers: Numbers) -> AccumulatorOf<Self, V, X> {
        Self::four(x, at)
    }

    /// The results of the accumulator of `count` elements, as [`one_by`](Fold::one_by).
    #[inline(always)]
    fn finish_by(acc: AccumulatorOf<Self, V, X>, count: X, _numbers: Numbers) -> ResultsOf<Self, V, X> {
        Self::finish(acc, count)
    }

    /// Whether the fold looks for one element, and accumulates that and its index. A device may then ask
    /// [`keeps`](Fold::keeps) first, which says what it finds, and find out later where that lies.
    const SEARCHES: bool = false;

    /// Whether of an element `a` and one behind it, `b`, the fold finds `a`: `b` is no better. Only a fold that
    /// [`SEARCHES`](Fold::SEARCHES) is asked.
    #[inline(always)]
    fn keeps(a: V, _b: V) -> V::Mask {
        let truth = a.truth();
        truth | !truth
    }

    /// The results of the accumulator of `count` elements.
    fn finish(acc: AccumulatorOf<Self, V, X>, count: X) -> ResultsOf<Self, V, X>;

    /// The identity of `merge`: the accumulator of no element, from which the result over no element is finished;
    /// `fn identity() {}` for a fold with [`NoIdentity`](super::NoIdentity).
    fn identity() -> IdentityOf<Self, V, X>;
}

/// The kind of a result, for code that is not generic over folds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultKind {
    /// The dtype that the fold computes in.
    Common,
    /// The real dtype of the one that the fold computes in: float32 for complex64.
    Real,
    /// A truth value: bool, or uint8 where PyTorch keeps it so.
    Truth,
    /// int64.
    Index,
}

/// The results of a fold. Sealed: devices store them.
pub trait Results: Sealed + 'static {
    /// The kind of each output.
    const KINDS: &'static [ResultKind];
    /// The type of one element of each output. It varies with the dtype and the device.
    type Of<V: Value, X: Value<Mask = V::Mask>>;
}

impl Results for Common {
    const KINDS: &'static [ResultKind] = &[ResultKind::Common];
    type Of<V: Value, X: Value<Mask = V::Mask>> = V;
}

impl Results for Truth {
    const KINDS: &'static [ResultKind] = &[ResultKind::Truth];
    type Of<V: Value, X: Value<Mask = V::Mask>> = V::Mask;
}

/// One output of the real dtype of the one that the fold computes in.
pub struct Real;
impl Sealed for Real {}
impl Results for Real {
    const KINDS: &'static [ResultKind] = &[ResultKind::Real];
    type Of<V: Value, X: Value<Mask = V::Mask>> = V::Re;
}

/// Two outputs: one of the real dtype of the one that the fold computes in, one of that itself.
pub struct RealAndCommon;
impl Sealed for RealAndCommon {}
impl Results for RealAndCommon {
    const KINDS: &'static [ResultKind] = &[ResultKind::Real, ResultKind::Common];
    type Of<V: Value, X: Value<Mask = V::Mask>> = (V::Re, V);
}

/// Two outputs: one of the dtype that the fold computes in, and the index of an element.
pub struct CommonAndIndex;
impl Sealed for CommonAndIndex {}
impl Results for CommonAndIndex {
    const KINDS: &'static [ResultKind] = &[ResultKind::Common, ResultKind::Index];
    type Of<V: Value, X: Value<Mask = V::Mask>> = (V, X);
}

/// The index of an element, as an output of int64 or as a part of an accumulator.
pub struct Index;
impl Results for Index {
    const KINDS: &'static [ResultKind] = &[ResultKind::Index];
    type Of<V: Value, X: Value<Mask = V::Mask>> = X;
}

/// Two outputs of the dtype that the fold computes in.
pub struct Two;
impl Sealed for Two {}
impl Results for Two {
    const KINDS: &'static [ResultKind] = &[ResultKind::Common, ResultKind::Common];
    type Of<V: Value, X: Value<Mask = V::Mask>> = (V, V);
}
