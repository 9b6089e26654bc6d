//! The reduction template: a fold over the value algebra becomes an operator in every form. Owns what folds, their
//! accumulators and results are, and the meta function that all reductions share.
//!
//! A fold is four functions: the accumulator of one element, the merge of two accumulators, the results of an
//! accumulator, and the identity, which is the accumulator of no element (or there is none). The declaration says what
//! accumulators are, as a kind: `Common` is an element, `Widened` the wider type that elements are summed in, and so
//! on. Devices choose the order of merges, so `merge` must be associative and commutative up to rounding.
//!
//! ```
//! use monomorph_ops::algebra::{Ordered, Value};
//! use monomorph_ops::pointwise::{self, Common};
//! use monomorph_ops::reduce::*;
//!
//! reduction! { LargestFn "largest": pointwise::Ordered, Common, NoIdentity => Common; ReduceRule::OWN }
//! impl Takes<OptionalDims> for LargestFn {}
//! impl<V: Ordered, X: Value<Mask = V::Mask>> Fold<V, X> for LargestFn {
//!     fn one(x: V, _: X) -> V {
//!         x
//!     }
//!     fn merge(a: V, b: V) -> V {
//!         a.maximum(b)
//!     }
//!     fn finish(acc: V, _: X) -> V {
//!         acc
//!     }
//!     fn identity() {}
//! }
//! ```
//!
//! A formula in front of a fold (a sum of squares) is a fold, too: its `one` applies the formula and passes the
//! result on. Operators of several operands in front of one, which broadcast and promote, are [`ThenReduce`].

mod accumulator;
mod args;
mod dims;
mod fold;
mod op;
mod rule;
mod then;
mod trace;

pub use crate::pointwise::{Here, Prebuilt};
pub use crate::reductions::all::AllFn;
pub use crate::reductions::amax::AmaxFn;
pub use crate::reductions::amin::AminFn;
pub use crate::reductions::aminmax::AminmaxFn;
pub use crate::reductions::any::AnyFn;
pub use crate::reductions::argmax::ArgmaxFn;
pub use crate::reductions::argmin::ArgminFn;
pub use crate::reductions::mean::MeanFn;
pub use crate::reductions::nansum::NansumFn;
pub use crate::reductions::norm::{NormMaxFn, NormMinFn, NormOneFn, NormPowerFn, NormTwoFn, NormTwoScaledFn};
pub use crate::reductions::prod::ProdFn;
pub use crate::reductions::sum::SumFn;
pub use crate::reductions::variance::{VarianceFn, VarianceMeanFn};
pub use accumulator::{
    Accumulator, AccumulatorOn, Identity, NoIdentity, SharedWith, Widened, WidenedReal, WithIdentity,
};
pub use args::{
    BeforeReduction, Call, Dim, DimDtype, Dims, DimsDtype, ListedDims, OptionalDim, OptionalDims, ReduceInputs, Takes,
    Whole, WholeDtype,
};
pub use fold::{
    AccumulatedBy, AccumulatorOf, CommonAndIndex, Fold, IdentityOf, Index, Numbers, Real, RealAndCommon, ReduceFn,
    ResultKind, Results, ResultsOf, Two,
};
pub use op::{Reduce, ReducePlan};
pub use rule::{ReduceRule, TypedRule};
pub use then::{Computed, ComputedInputs, ComputedPlan, ThenReduce};
pub use trace::{Recording, SymFold, covered, symbolic};

/// `sum`, its kernel compiled by the device.
pub type Sum = Reduce<SumFn, Prebuilt>;
/// `mean`, its kernel compiled by the device.
pub type Mean = Reduce<MeanFn, Prebuilt>;
/// `amax`, its kernel compiled by the device.
pub type Amax = Reduce<AmaxFn, Prebuilt>;
/// `amin`, its kernel compiled by the device.
pub type Amin = Reduce<AminFn, Prebuilt>;
/// `any`, its kernel compiled by the device.
pub type Any = Reduce<AnyFn, Prebuilt>;
/// `argmax`, its kernel compiled by the device.
pub type Argmax = Reduce<ArgmaxFn, Prebuilt>;
/// `aminmax`, its kernel compiled by the device.
pub type Aminmax = Reduce<AminmaxFn, Prebuilt>;

/// Declares the type of a reduction: name, domain, accumulator, whether it has an identity => results; rule.
///
/// `reduction! { SumFn "sum": AllDTypes, Widened, WithIdentity => Common; ReduceRule::SUM }` expands to
///
/// ```text
/// pub struct SumFn;
/// impl ReduceFn for SumFn {
///     const NAME = "sum"; const RULE = ReduceRule::SUM; type Domain = AllDTypes;
///     type Accumulator = Widened; type Identity = WithIdentity; type Results = Common;
/// }
/// const _: () = covered::<SumFn, AllDTypes>();     // a compile error if a dtype of the domain has no fold
/// ```
#[macro_export]
macro_rules! reduction {
    (
        $(#[$doc:meta])*
        $name:ident $text:literal: $domain:ty, $accumulator:ty, $identity:ty => $results:ty; $rule:expr
    ) => {
        $(#[$doc])*
        #[doc = concat!("The fold of `", $text, "`.")]
        pub struct $name;
        impl $crate::reduce::ReduceFn for $name {
            const NAME: &'static str = $text;
            const RULE: $crate::reduce::ReduceRule = $rule;
            type Domain = $domain;
            type Accumulator = $accumulator;
            type Identity = $identity;
            type Results = $results;
        }
        const _: () = $crate::reduce::covered::<$name, $domain>();
    };
}
pub use crate::reduction;
