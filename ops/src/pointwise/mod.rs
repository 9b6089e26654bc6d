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
mod fused;
mod gradient;
mod op;
mod rule;
mod trace;

pub use domain::{
    AllDTypes, BoolClass, ComplexClass, Domain, DomainSet, Exact, FloatComplex, IntClass, Integers, Integral,
    Membership, No, Numeric, Ordered, Real, RealClass, Reals, Wide, WideReals, Yes, covered,
};
pub use formula::{
    Common, In, Magnitude, Map, MaskAndTwo, Number, Numbers, Operands, OutOf, OutputKind, Outputs, Params, ParamsOf,
    PointwiseFn, Same, Truth,
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
/// followed by `check = f`, `fault = true`, `light = true`, `exact = true`, `halves_as_f32 = true`,
/// `elementwise_only = true`, `usual = true`, `partial = true`, `steps = 4`, `rare = true` or `integers_alike = true`,
/// in this order, where the operator has a check of its own, data that it refuses, next to nothing to compute, nothing
/// to round, can do with fewer loops, has a shorter way for most elements, by blocks or one by one, is a loop of its
/// own, is not worth every loop, or gives one answer for all integers (the constants of [`PointwiseFn`]).
#[macro_export]
macro_rules! pointwise {
    ($(#[$doc:meta])* $name:ident $text:literal: $domain:ty, $operands:ty; $params:ty => $out:ty; $rule:expr
        $(, check = $check:expr)? $(, fault = $fault:literal)? $(, light = $light:literal)? $(, exact = $exact:literal)?
        $(, halves_as_f32 = $halves:literal)? $(, elementwise_only = $elementwise:literal)? $(, usual = $usual:literal)?
        $(, partial = $partial:literal)? $(, steps = $steps:literal)?
        $(, rare = $rare:literal)? $(, integers_alike = $alike:expr)?) => {
        $(#[$doc])*
        #[doc = concat!("The formula of `", $text, "`.")]
        pub struct $name;
        impl $crate::pointwise::PointwiseFn for $name {
            const NAME: &'static str = $text;
            const RULE: $crate::pointwise::Rule = $rule $(.with_check($check))?;
            $(const FAULT: bool = $fault;)?
            $(const LIGHT: bool = $light;)?
            $(const EXACT: bool = $exact;)?
            $(const HALVES_AS_F32: bool = $halves;)?
            $(const ELEMENTWISE_ONLY: bool = $elementwise;)?
            $(const USUAL: bool = $usual;)?
            $(const PARTIAL: bool = $partial;)?
            $(const STEPS: i64 = $steps;)?
            $(const RARE: bool = $rare;)?
            $(const INTEGERS_ALIKE: bool = $alike;)?
            type Domain = $domain;
            type Operands = $operands;
            type Params = $params;
            type Out = $out;
        }
        const _: () = $crate::pointwise::covered::<$name, $domain>();
    };
}
