//! The pointwise template: one formula over the value algebra becomes an operator in every form. Owns what formulas,
//! operands, outputs, parameters and domains are, and the meta function that all pointwise operators share.
//!
//! ```
//! use monomorph_ops::algebra::Num;
//! use monomorph_ops::pointwise::*;
//!
//! pointwise! { Axpy "axpy": Numeric, Same<2>; Number => Common; Rule::BINARY }
//! impl<V: Num> Map<V> for Axpy {
//!     fn eval([a, b]: [V; 2], alpha: V) -> V {
//!         alpha * a + b
//!     }
//! }
//! ```

mod domain;
mod formula;
pub(crate) mod fused;
mod gradient;
pub(crate) mod op;
mod rule;
mod trace;

pub use domain::{
    AllDTypes, BoolClass, ComplexClass, Domain, DomainSet, Exact, FloatComplex, IntClass, Integers, Integral,
    Membership, No, Numeric, Ordered, Real, RealClass, Reals, Wide, WideReals, Yes, covered,
};
pub use formula::{
    Common, Fault, In, Magnitude, Map, MaskAndTwo, Number, Numbers, Operands, OutOf, OutputKind, Outputs, Params,
    ParamsOf, PointwiseFn, Same, Truth,
};
pub use fused::{AndMembership, Both, Chain, ChainArgs, Fed, Intersect, Joined, Runs, Then, ThenFn};
pub use gradient::{Gradient, LiftOperands, LiftParams, LoweredOutput};
pub(crate) use op::stored;
pub use op::{Here, Pointwise, PointwiseInputs, PointwisePlan, Prebuilt, Walk, common_dtype, run};
pub use rule::{Check, Rule, rule_of};
pub use trace::{SymDomain, symbolic, symbolic_fault};

pub use crate::pointwise;

/// Declares the type of a pointwise formula: name, domain, operands; parameters => output; rule.
///
/// `pointwise! { AddFn "add": AllDTypes, Same<2>; Number => Common; Rule::BINARY }` expands to
///
/// ```text
/// pub struct AddFn;
/// impl PointwiseFn for AddFn { const NAME = "add"; type Domain = AllDTypes; type Operands = Same<2>; ... }
/// const _: () = covered::<AddFn, AllDTypes>();     // a compile error if a dtype of the domain has no formula
/// ```
///
/// followed by `check = f` and `fault = ErrorKind::DivisionByZero`, in this order, where the operator has a check of
/// its own ([`Rule::with_check`]), or data that it refuses with this error ([`Map::fault`]).
#[macro_export]
macro_rules! pointwise {
    ($(#[$doc:meta])* $name:ident $text:literal: $domain:ty, $operands:ty; $params:ty => $out:ty; $rule:expr
        $(, check = $check:expr)? $(, fault = $fault:expr)?) => {
        $(#[$doc])*
        #[doc = concat!("The formula of `", $text, "`.")]
        #[doc = ""]
        #[doc = concat!("Operands: `", stringify!($operands), "` of the dtypes `", stringify!($domain), "`;")]
        #[doc = concat!("numbers: `", stringify!($params), "`; result: `", stringify!($out), "`;")]
        #[doc = concat!("promotion: `", stringify!($rule), "`.")]
        #[doc = "The words are those of the module `pointwise`."]
        pub struct $name;
        impl $crate::pointwise::PointwiseFn for $name {
            const NAME: &'static str = $text;
            const RULE: $crate::pointwise::Rule = $rule $(.with_check($check))?;
            $(const FAULT: ::core::option::Option<$crate::pointwise::Fault> = ::core::option::Option::Some(|| $fault);)?
            type Domain = $domain;
            type Operands = $operands;
            type Params = $params;
            type Out = $out;
        }
        const _: () = $crate::pointwise::covered::<$name, $domain>();
    };
}
