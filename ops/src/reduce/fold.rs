//! What a reduction is made of: a fold, its accumulator and its results, as types over a value of the algebra.

use super::rule::ReduceRule;
use crate::algebra::Value;
use crate::pointwise::{Common, DomainSet, Truth};

/// A reduction: everything about it but the fold itself. Implemented by [`reduction!`](crate::reduction!).
pub trait ReduceFn: Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// Which dtypes and dims it takes, and what it checks.
    const RULE: ReduceRule;
    /// The type of the set of dtypes that the fold computes in. Varies per operator.
    type Domain: DomainSet;
    /// The type of the results. Varies with how many there are and of which dtype.
    type Results: Results;
}

/// What a fold gives of value `V` and index `X`.
pub type ResultsOf<F, V, X> = <<F as ReduceFn>::Results as Results>::Of<V, X>;

/// The fold, for every value of the algebra that has the functions it needs. `V` is an element; `X` is an int64 that
/// counts elements, from 0, in row-major order.
///
/// `merge` must be associative and commutative, up to rounding: a device merges neighbours, lanes and chunks as suits it.
/// A fold that prefers the first of equals compares indices.
#[diagnostic::on_unimplemented(
    message = "the fold `{Self}` does not compute on `{V}`",
    label = "the domain of the reduction is wider than its fold",
    note = "narrow the domain in `reduction!`, or bound the fold's `impl<V: .., X: ..> Fold<V, X>` by a trait that these dtypes have"
)]
pub trait Fold<V: Value, X: Value<Mask = V::Mask>>: ReduceFn {
    /// The type of the accumulator: a value, or a pair of values. It varies because a fold may sum in a wider type or keep
    /// an index.
    type Acc: Accumulator;

    /// The accumulator of one element.
    fn one(x: V, at: X) -> Self::Acc;

    /// The accumulator of the elements of both.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The accumulator of four elements. A fold with a wide accumulator says here how four meet before they are widened,
    /// if that is faster and accurate enough.
    #[inline(always)]
    fn four([a, b, c, d]: [V; 4], [i, j, k, l]: [X; 4]) -> Self::Acc {
        Self::merge(Self::merge(Self::one(a, i), Self::one(b, j)), Self::merge(Self::one(c, k), Self::one(d, l)))
    }

    /// What the accumulator of `count` elements means.
    fn finish(acc: Self::Acc, count: X) -> ResultsOf<Self, V, X>;

    /// The accumulator of no element, if the fold has one: the result of a reduction over nothing.
    fn nothing() -> Option<Self::Acc> {
        None
    }
}

/// What a fold accumulates in: one value, or two. Devices keep the parts of many accumulators in separate arrays, which
/// vectorise where an array of pairs does not.
pub trait Accumulator: Copy + 'static {
    /// The type of the first part.
    type First: Copy + 'static;
    /// The type of the second part; empty for an accumulator of one value.
    type Second: Copy + 'static;
    /// Both parts.
    fn split(self) -> (Self::First, Self::Second);
    /// The accumulator with these parts.
    fn join(first: Self::First, second: Self::Second) -> Self;
}

impl<V: Value> Accumulator for V {
    type First = V;
    type Second = ();
    #[inline(always)]
    fn split(self) -> (V, ()) {
        (self, ())
    }
    #[inline(always)]
    fn join(first: V, (): ()) -> V {
        first
    }
}

impl<A: Value, B: Value> Accumulator for (A, B) {
    type First = A;
    type Second = B;
    #[inline(always)]
    fn split(self) -> (A, B) {
        self
    }
    #[inline(always)]
    fn join(first: A, second: B) -> (A, B) {
        (first, second)
    }
}

/// What a result holds, for code that is not generic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultKind {
    /// The dtype that the fold computes in.
    Common,
    /// A truth value: bool, or uint8 where PyTorch keeps it so.
    Truth,
    /// int64.
    Index,
}

mod sealed {
    pub trait Sealed {}
}

/// The results of a fold. Sealed: devices store them.
pub trait Results: sealed::Sealed + 'static {
    /// The same as values, one per output.
    const KINDS: &'static [ResultKind];
    /// The type of one element of each.
    type Of<V: Value, X: Value<Mask = V::Mask>>;
}

impl sealed::Sealed for Common {}
impl Results for Common {
    const KINDS: &'static [ResultKind] = &[ResultKind::Common];
    type Of<V: Value, X: Value<Mask = V::Mask>> = V;
}

impl sealed::Sealed for Truth {}
impl Results for Truth {
    const KINDS: &'static [ResultKind] = &[ResultKind::Truth];
    type Of<V: Value, X: Value<Mask = V::Mask>> = V::Mask;
}

/// An output of int64: where an element is.
pub struct Index;
impl sealed::Sealed for Index {}
impl Results for Index {
    const KINDS: &'static [ResultKind] = &[ResultKind::Index];
    type Of<V: Value, X: Value<Mask = V::Mask>> = X;
}

/// Two outputs of the dtype that the fold computes in.
pub struct Two;
impl sealed::Sealed for Two {}
impl Results for Two {
    const KINDS: &'static [ResultKind] = &[ResultKind::Common, ResultKind::Common];
    type Of<V: Value, X: Value<Mask = V::Mask>> = (V, V);
}
