//! Rules: which dtypes and dims a reduction takes, and what it checks. Data, so that one meta function serves all
//! reductions.

use super::accumulator::{Accumulator, Identity};
use super::fold::{ReduceFn, ResultKind, Results};
use crate::pointwise::DomainSet;
use monomorph_core::{DType, ErrorKind, Kind, Result};

/// What a reduction checks, as far as it does not follow from its types. Whatever an author writes here decides which
/// calls are errors and in which order, never which memory is written.
#[derive(Clone, Copy, Debug)]
pub struct ReduceRule {
    /// bool and integers are computed as int64, unless a dtype is asked for.
    pub(super) integers_to_int64: bool,
    /// An empty list of dims means all of them; otherwise it means none.
    pub(super) empty_list_is_all: bool,
    /// More than 64 dimensions are refused also where all are reduced.
    pub(super) always_limited: bool,
    /// Outputs may overlap neither each other, nor themselves, nor the input.
    pub(super) apart: bool,
    /// Of a wrong dtype of an output and wrong dims, the dtype is reported.
    pub(super) outputs_first: bool,
    /// Without a dtype that is asked for, the input's own must be in the domain, and whole reductions, too, compute
    /// in the dtype of the caller's output, if the input may be cast to it.
    pub(super) fractional: bool,
    /// Without a dtype that is asked for, the caller's output must be one that the input may be cast to.
    pub(super) casts_safely: bool,
    /// The dtype is checked last, and not at all in a reduction over no element. Without effect where there is an
    /// identity.
    pub(super) domain_last: bool,
    /// No output may reach an element twice.
    pub(super) rewrites: bool,
    /// Elements are counted in row-major order, so that order has to be kept.
    pub(super) indexed: bool,
}

impl ReduceRule {
    /// A fold in the dtype of its input.
    pub const OWN: ReduceRule = ReduceRule {
        integers_to_int64: false,
        empty_list_is_all: true,
        always_limited: false,
        apart: false,
        outputs_first: false,
        fractional: false,
        casts_safely: false,
        domain_last: false,
        rewrites: false,
        indexed: false,
    };
    /// A fold of integers in int64, of others in the dtype of the input; the caller may ask for another.
    pub const SUM: ReduceRule = ReduceRule { integers_to_int64: true, ..ReduceRule::OWN };
    /// A fold of fractional numbers in the dtype of the input; the caller may ask for another.
    pub const MEAN: ReduceRule = ReduceRule { fractional: true, rewrites: true, ..ReduceRule::OWN };
    /// A fold of fractional numbers in the dtype of the input, or in that of the caller's output if the input may be
    /// cast to it.
    pub const VARIANCE: ReduceRule = ReduceRule { fractional: true, ..ReduceRule::OWN }.with_safe_casts();
    /// A truth value: an empty list of dims means none.
    pub const TRUTH: ReduceRule =
        ReduceRule { empty_list_is_all: false, always_limited: true, outputs_first: true, ..ReduceRule::OWN };

    /// The rule of outputs that must lie apart from each other and from the input.
    pub const fn with_outputs_apart(self) -> ReduceRule {
        ReduceRule { apart: true, outputs_first: true, ..self }
    }

    /// The rule of `amax`: the output's dtype is looked at first, that of the input last, and only if it has elements
    /// or the fold has an identity.
    pub const fn of_extremes(self) -> ReduceRule {
        ReduceRule { outputs_first: true, domain_last: true, ..self }
    }

    /// The rule of a fold that computes in the dtype of the caller's output only if the input may be cast to it.
    pub const fn with_safe_casts(self) -> ReduceRule {
        ReduceRule { casts_safely: true, ..self }
    }

    /// The rule of a fold that looks at indices without keeping one in its accumulator: elements have to be numbered in
    /// row-major order. Without it such a fold sees other numbers.
    pub const fn indexed(self) -> ReduceRule {
        ReduceRule { indexed: true, ..self }
    }
}

/// A rule, and what follows from the types of the reduction: the one form in which meta functions and devices get it.
#[derive(Clone, Copy, Debug)]
pub struct TypedRule {
    pub(super) rule: ReduceRule,
    /// The fold has an identity; otherwise a reduction over no element is an error.
    pub(super) identity: bool,
    /// What each output holds.
    pub(super) results: &'static [ResultKind],
    /// Bit `d as usize` is set for each accepted compute dtype `d`.
    domain: u16,
    /// The accepted dtypes in words.
    words: &'static str,
}

impl TypedRule {
    /// The rule of `F`.
    pub const fn of<F: ReduceFn>() -> TypedRule {
        let identity = F::Identity::EXISTS;
        let rule = ReduceRule {
            indexed: F::RULE.indexed || F::Accumulator::HOLDS_INDEX,
            // With an identity there are results also where there are no elements, and they must have a dtype of the
            // domain.
            domain_last: F::RULE.domain_last && !identity,
            ..F::RULE
        };
        let results = F::Results::KINDS;
        TypedRule { rule, identity, results, domain: F::Domain::MASK, words: F::Domain::WORDS }
    }

    /// Whether the fold looks at indices.
    pub const fn is_indexed(&self) -> bool {
        self.rule.indexed
    }

    /// What each output holds.
    pub const fn results(&self) -> &'static [ResultKind] {
        self.results
    }

    /// The accepted dtypes in words.
    pub const fn words(&self) -> &'static str {
        self.words
    }

    /// The dtype that the fold computes in, for an input of dtype `input` and `numel` elements, the dtype that is
    /// asked for, and that of the caller's output.
    pub(super) fn compute(&self, input: DType, numel: usize, asked: Option<DType>, out: Option<DType>) -> DType {
        match asked {
            // The real part of the result is asked for, or that of a complex one.
            Some(dtype) if self.results.first() == Some(&ResultKind::Real) && input.is_complex() => dtype.to_complex(),
            Some(dtype) => dtype,
            None if self.rule.integers_to_int64 && input.kind() < Kind::Float => DType::I64,
            // A truth value that is written as uint8 is that of the element cast to uint8, unless there is but one
            // element: what PyTorch does on the CPU, where 0.5 and 256 so become false.
            None if self.results == [ResultKind::Truth] && out == Some(DType::U8) && numel != 1 => DType::U8,
            None => input,
        }
    }

    /// The dtype of output `i`, where the fold computes in `compute`; a truth value has that of the caller's output
    /// if it may.
    pub(super) fn result(&self, i: usize, compute: DType, out: Option<DType>) -> DType {
        match self.results[i] {
            ResultKind::Common => compute,
            ResultKind::Real => compute.to_real(),
            ResultKind::Index => DType::I64,
            // uint8 was PyTorch's truth value before bool was: uint8 in gives uint8 out, and such an output is
            // accepted.
            ResultKind::Truth => match out {
                Some(DType::U8) => DType::U8,
                None if compute == DType::U8 => DType::U8,
                _ => DType::Bool,
            },
        }
    }

    /// An error unless the fold computes in `dtype`.
    pub(super) fn check_domain(&self, dtype: DType) -> Result<()> {
        if self.domain >> dtype as usize & 1 == 1 {
            return Ok(());
        }
        let what = "the elements are reduced in dtype";
        Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted: self.words }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::{AmaxFn, AminmaxFn, AnyFn, ArgmaxFn, SumFn};

    #[test]
    fn what_types_say_is_in_the_rule() {
        let (sum, argmax) = (TypedRule::of::<SumFn>(), TypedRule::of::<ArgmaxFn>());
        assert!(sum.identity && !argmax.identity);
        assert!(argmax.is_indexed() && !sum.is_indexed());
        assert_eq!(TypedRule::of::<AminmaxFn>().results(), [ResultKind::Common; 2]);
        assert_eq!(TypedRule::of::<AnyFn>().results(), [ResultKind::Truth]);
        assert!(TypedRule::of::<AmaxFn>().check_domain(DType::C64).is_err() && sum.check_domain(DType::C64).is_ok());
    }
}
