//! Rules: how the operands of a pointwise operator are promoted, cast, checked. Data, so that one meta function serves
//! all operators.

use super::domain::DomainSet;
use super::formula::{OutputKind, Outputs as _, PointwiseFn};
use monomorph_core::structured::{Form, Operand};
use monomorph_core::{DType, ErrorKind, Result, Scalar};
use monomorph_iter::Flags;

/// What a check of one operator may look at.
pub struct Check<'a, 't> {
    /// The tensor operands.
    pub operands: &'a [Operand<'t>],
    /// The parameters.
    pub params: &'a [Scalar],
    /// The dtype that the formula computes in.
    pub common: DType,
    /// The dtype of the caller's output, if there is one.
    pub out: Option<DType>,
    /// The form of the call.
    pub form: Form,
}

/// The declaration of a pointwise operator as far as it does not depend on types; what does, the template adds
/// ([`rule_of`]), so that the two cannot disagree.
#[derive(Clone, Copy)]
pub struct Rule {
    /// How the iteration treats dtypes and memory.
    pub(super) flags: Flags,
    /// Operands are promoted as if the preset did it, but an output must have exactly the common dtype.
    pub(super) exact_output: bool,
    /// The parameters take part in promotion.
    pub(super) numbers_promote: bool,
    /// If the last operand is one element, float16 and bfloat16 are not rounded to before the result is: PyTorch's CPU
    /// reads it as float32 in `mul`, `div` and `floor_divide`, so `x * 0.1` is not `x * tensor(0.1)`.
    pub(super) wide_scalar: bool,
    /// Where the first operand is a number, a new output is row-major whatever the strides of the other: PyTorch
    /// allocates the result of `2 ** x` before it looks at `x`.
    pub(super) linear_number: bool,
    /// An operand, and a bit `d as usize` for each compute dtype `d` with which a new output is laid out as
    /// `empty_like` of it would be: PyTorch allocates it so before it looks at the strides.
    pub(super) like_input: (u8, u16),
    /// A new output has the dtype of that operand, if the result may be cast to it.
    pub(super) dtype_of: Option<u8>,
    /// A new output is row-major whatever the strides of the operands: PyTorch allocates it before it looks at them.
    pub(super) row_major: bool,
    /// The parameters are rounded to float16 or bfloat16 where the formula computes in it, as an element of the tensor
    /// would be.
    pub(super) stored_numbers: bool,
    /// What the output holds.
    pub(super) output: OutputKind,
    /// Bit `d as usize` is set for each accepted compute dtype `d`.
    pub(super) domain: u16,
    /// The accepted dtypes in words.
    pub(super) words: &'static str,
    /// A check of the operator's own.
    pub(super) check: Option<fn(&Check<'_, '_>) -> Result<()>>,
}

impl Rule {
    const fn new(flags: Flags) -> Rule {
        Rule {
            flags,
            exact_output: false,
            numbers_promote: false,
            wide_scalar: false,
            linear_number: false,
            like_input: (0, 0),
            dtype_of: None,
            row_major: false,
            stored_numbers: false,
            output: OutputKind::Common,
            domain: 0,
            words: "",
            check: None,
        }
    }

    /// Two operands that promote; the result may be cast to the output where that is safe.
    pub const BINARY: Rule = Rule::new(Flags::BINARY);
    /// The same, and integers become floats.
    pub const BINARY_FLOAT: Rule = Rule::new(Flags::BINARY_FLOAT);
    /// Two operands that promote to be compared; the output is bool, or any dtype that the caller's has.
    pub const COMPARISON: Rule = Rule::new(Flags::COMPARISON);
    /// Three operands that promote.
    pub const TERNARY: Rule = Rule::new(Flags::TERNARY);
    /// One operand; the output has its dtype.
    pub const UNARY: Rule = Rule::new(Flags::UNARY);
    /// One operand, integers become floats.
    pub const UNARY_FLOAT: Rule = Rule::new(Flags::UNARY_FLOAT);
    /// One operand of any dtype; the output is bool, or any dtype that the caller's has.
    pub const UNARY_FORCE_BOOLEAN: Rule = Rule::new(Flags::UNARY_FORCE_BOOLEAN);
    /// One operand of any dtype; the output must be bool.
    pub const UNARY_TRUTH: Rule = Rule { exact_output: true, ..Rule::UNARY_FORCE_BOOLEAN };
    /// Two operands and an output of one dtype.
    pub const BINARY_EXACT: Rule = Rule { exact_output: true, ..Rule::BINARY.with_check(check_one_dtype) };
    /// Three operands of one dtype.
    pub const TERNARY_ALIKE: Rule = Rule::TERNARY.with_check(check_one_dtype);
    /// No operand: the output is only written, in its own dtype.
    pub const NULLARY: Rule = Rule::new(Flags::NULLARY.with_overlap_check(false));
    /// One operand that promotes with the parameters; the output must have the common dtype exactly.
    pub const NUMBERS_PROMOTE: Rule =
        Rule { exact_output: true, numbers_promote: true, ..Rule::new(Flags::DEFAULT.with_dtype_check(false)) };
    /// One operand that promotes with the parameters; the result may be cast to the output where that is safe.
    pub const NUMBERS_PROMOTE_CAST: Rule = Rule { numbers_promote: true, ..Rule::new(Flags::TERNARY) };
    /// Operands that promote, numbers included; the output must have the common dtype exactly.
    pub const PROMOTE_EXACT: Rule =
        Rule { exact_output: true, ..Rule::new(Flags::DEFAULT.with_promotion(true).with_dtype_check(false)) };

    /// The rule with what the types of the formula say: its domain, and what its output holds.
    pub(super) const fn of_types<F: PointwiseFn>(self) -> Rule {
        Rule { domain: F::Domain::MASK, words: F::Domain::WORDS, output: F::Out::KIND, ..self }
    }

    /// The rule for an output that must have exactly the dtype that the formula gives.
    pub const fn exact(self) -> Rule {
        Rule { exact_output: true, ..self }
    }

    /// The rule with a check of the operator's own.
    pub const fn with_check(self, check: fn(&Check<'_, '_>) -> Result<()>) -> Rule {
        Rule { check: Some(check), ..self }
    }

    /// The rule for an operator that reads a last operand of one element as float32, where it computes in float16 or
    /// bfloat16.
    pub const fn with_wide_scalar(self) -> Rule {
        Rule { wide_scalar: true, ..self }
    }

    /// The rule for an operator whose new outputs are row-major where its first operand is a number.
    pub const fn with_linear_number(self) -> Rule {
        Rule { linear_number: true, ..self }
    }

    /// The rule for an operator whose new outputs are row-major.
    pub const fn linear(self) -> Rule {
        Rule { flags: self.flags.with_linear_order(true), ..self }
    }

    /// The rule for an operator whose new outputs are laid out as `empty_like` of that operand would be, where it
    /// computes with a dtype of `S`.
    pub const fn with_outputs_like<S: DomainSet>(self, operand: u8) -> Rule {
        Rule { like_input: (operand, S::MASK), ..self }
    }

    /// The rule for an operator whose new outputs have the dtype of that operand.
    pub const fn with_dtype_of(self, operand: u8) -> Rule {
        Rule { dtype_of: Some(operand), ..self }
    }

    /// The rule for an operator whose new outputs are row-major, while an output that is resized is not.
    pub const fn with_row_major_results(self) -> Rule {
        Rule { row_major: true, ..self }
    }

    /// The operand as whose `empty_like` a new output is laid out.
    pub(super) fn like_input(&self, dtype: DType) -> Option<usize> {
        let (operand, dtypes) = self.like_input;
        (dtypes >> dtype as usize & 1 == 1).then_some(operand.into())
    }

    /// The rule for an operator whose parameters are rounded as elements are.
    pub const fn with_stored_numbers(self) -> Rule {
        Rule { stored_numbers: true, ..self }
    }

    /// The rule for an operator that gives the same when it is applied to its own result, so that an output whose
    /// elements share memory does no harm. Such an output is walked element by element.
    pub const fn over_itself(self) -> Rule {
        Rule { flags: self.flags.with_overlap_check(false), ..self }
    }

    /// True if operands of one dtype are computed with in that dtype, which is the result's, whatever they are.
    pub(super) const fn is_simple(&self) -> bool {
        matches!(self.output, OutputKind::Common)
            && self.flags.promotes()
            && !self.flags.promotes_to_float()
            && !self.numbers_promote
            && !self.wide_scalar
            && !self.linear_number
            && !self.row_major
            && self.like_input.1 == 0
            && !self.flags.is_linear()
    }

    /// How the iteration treats dtypes and memory.
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// What the output holds.
    pub const fn output(&self) -> OutputKind {
        self.output
    }

    /// Whether the parameters take part in promotion.
    pub const fn numbers_promote(&self) -> bool {
        self.numbers_promote
    }

    /// Whether a last operand of one element is read as float32 where the formula computes in float16 or bfloat16.
    pub const fn wide_scalar(&self) -> bool {
        self.wide_scalar
    }

    /// The operand whose dtype a new output has, if it is not the common one.
    pub const fn dtype_of(&self) -> Option<u8> {
        self.dtype_of
    }

    /// Whether a new output is row-major, one that is resized is not.
    pub const fn has_row_major_results(&self) -> bool {
        self.row_major
    }

    /// Whether a new output is laid out as `empty_like` of an operand would be, for some dtypes.
    pub const fn is_made_like_input(&self) -> bool {
        self.like_input.1 != 0
    }

    /// Whether the operator has a check of its own.
    pub const fn has_check(&self) -> bool {
        self.check.is_some()
    }

    /// An error unless the formula computes in `dtype`.
    pub fn check_domain(&self, dtype: DType) -> Result<()> {
        if self.domain >> dtype as usize & 1 == 1 {
            return Ok(());
        }
        let what = "the operands promote to";
        Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted: self.words }.into())
    }
}

/// The whole rule of a formula.
pub const fn rule_of<F: PointwiseFn>() -> Rule {
    F::RULE.of_types::<F>()
}

/// An error unless all operands have one dtype.
fn check_one_dtype(call: &Check<'_, '_>) -> Result<()> {
    let mut dtypes = call.operands.iter().filter_map(Operand::dtype);
    let first = dtypes.next();
    if dtypes.any(|dtype| Some(dtype) != first) {
        let rule = "the operands have several dtypes, and this operator does not promote; cast them to one";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    Ok(())
}
