//! The pointwise template as a structured operator: one meta function, not generic but for a shell.

use super::formula::{Operands, OutputKind, Params, PointwiseFn};
use super::rule::{Check, Rule, rule_of};
use monomorph_core::structured::{
    Alike, Executes, Form, FromArgs, Operand, Operator, SinkState, StructuredOp, ValueSink,
};
use monomorph_core::{Category, DType, Element, ErrorKind, Geometry, Kind, Result, ResultType, Scalar, with_element};
use monomorph_iter::{Config, TensorIter, Uniform, View, build_into, build_over};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::marker::PhantomData;

/// The kernel is compiled in the device's crate, by its kernel table.
pub struct Prebuilt;
/// The kernel is compiled in the crate that calls the operator.
pub struct Here;

/// The operator of formula `F`, its kernel compiled `W`here.
pub struct Pointwise<F, W = Here>(PhantomData<fn() -> (F, W)>);

impl<F, W> crate::table::Template for Pointwise<F, W> {
    type Body = F;
}

/// Operands and parameters of a pointwise call.
pub struct Arguments<'t, O: Operands, P> {
    pub(super) operands: O::Array<'t>,
    pub(super) params: P,
}

/// The inputs of a pointwise call.
pub struct PointwiseInputs<'t, F: PointwiseFn> {
    arguments: Arguments<'t, F::Operands, F::Params>,
}

impl<'t, F: PointwiseFn> PointwiseInputs<'t, F> {
    /// The inputs made from the arguments of a schema.
    #[inline]
    pub fn new<Args>(args: Args) -> Result<Self>
    where
        Arguments<'t, F::Operands, F::Params>: FromArgs<Args>,
    {
        Ok(PointwiseInputs { arguments: FromArgs::from_args(args)? })
    }

    /// The inputs from lists of operands and parameters, for callers that do not know the operator by type.
    pub fn from_lists(operands: &[Operand<'t>], params: &[Scalar]) -> Result<Self> {
        let wrong = |arg, got, want| ErrorKind::ListLength { arg, got, want };
        if operands.len() != F::Operands::COUNT {
            return Err(wrong("operands", operands.len(), F::Operands::COUNT).into());
        }
        let array = operands.try_into();
        let operands = array.map_err(|_| wrong("operands", operands.len(), F::Operands::COUNT))?;
        let bound = F::Params::from_scalars(params);
        let params = bound.ok_or_else(|| wrong("params", params.len(), F::Params::COUNT))?;
        Ok(PointwiseInputs { arguments: Arguments { operands, params } })
    }

    /// The tensor operands.
    #[inline]
    pub fn operands(&self) -> &[Operand<'t>] {
        self.arguments.operands.as_ref()
    }

    /// The parameters.
    #[inline]
    pub fn params(&self) -> &F::Params {
        &self.arguments.params
    }
}

impl<'t, F: PointwiseFn, Args> FromArgs<Args> for PointwiseInputs<'t, F>
where
    Arguments<'t, F::Operands, F::Params>: FromArgs<Args>,
{
    #[inline]
    fn from_args(args: Args) -> Result<Self> {
        PointwiseInputs::new(args)
    }
}

/// Calls an in-tree formula: how an operator that chooses between formulas calls the chosen one.
#[inline]
pub fn run<'t, F, D, Args, S>(args: Args, sink: S) -> Result<S::Value>
where
    F: PointwiseFn,
    D: Executes<Pointwise<F, Prebuilt>>,
    Arguments<'t, F::Operands, F::Params>: FromArgs<Args>,
    S: ValueSink<'t, D>,
{
    <Pointwise<F, Prebuilt> as Operator<'t, D, Args>>::call(args, sink)
}

/// What a device needs to run a pointwise call.
#[derive(Default)]
pub struct PointwisePlan<P> {
    walk: Walk,
    compute: Option<DType>,
    params: P,
}

/// The iteration of a pointwise call, in few words where that is enough.
#[derive(Default)]
pub struct Walk {
    uniform: Option<Uniform>,
    /// Written when it is first asked for, if the iteration is uniform.
    iter: OnceCell<TensorIter>,
}

impl Walk {
    /// The iteration; operands are numbered output first.
    pub fn iter(&self) -> &TensorIter {
        let written = || self.uniform.as_ref().map_or_else(TensorIter::default, Uniform::iter);
        self.iter.get_or_init(written)
    }

    /// The same in few words, if the call is one of the commonest.
    #[inline]
    pub fn uniform(&self) -> Option<&Uniform> {
        self.uniform.as_ref()
    }
}

impl<P> PointwisePlan<P> {
    /// The iteration; operands are numbered output first.
    pub fn iter(&self) -> &TensorIter {
        self.walk.iter()
    }

    /// The iteration, to be asked for in few words.
    #[inline]
    pub fn walk(&self) -> &Walk {
        &self.walk
    }

    /// The dtype that the formula computes in; `None` before planning.
    pub fn compute(&self) -> Option<DType> {
        self.compute
    }

    /// The parameters.
    pub fn params(&self) -> &P {
        &self.params
    }
}

impl<F: PointwiseFn, W: 'static> StructuredOp for Pointwise<F, W> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 1;
    const CPU_SCALARS: bool = F::RULE.flags.allows_cpu_scalars();
    type Inputs<'t> = PointwiseInputs<'t, F>;
    type Plan = PointwisePlan<F::Params>;
    type Home = F;

    #[inline]
    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        inputs.operands()
    }

    #[inline]
    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        F::plan(inputs, sink, plan)
    }
}

/// Plans, compiled where their formulas are.
trait Planned: PointwiseFn {
    /// The formula's rule with what its types say.
    const WHOLE: Rule = rule_of::<Self>();

    fn plan(
        inputs: &PointwiseInputs<'_, Self>,
        sink: &mut SinkState<'_>,
        plan: &mut PointwisePlan<Self::Params>,
    ) -> Result<()>;
}

impl<F: PointwiseFn> Planned for F {
    fn plan(
        inputs: &PointwiseInputs<'_, F>,
        sink: &mut SinkState<'_>,
        plan: &mut PointwisePlan<F::Params>,
    ) -> Result<()> {
        let masks = <F::Operands as Operands>::MASKS;
        let PointwisePlan { walk, compute, params } = plan;
        let scalars = inputs.params().scalars();
        let (rule, simple) = const { (&Self::WHOLE, Self::WHOLE.is_simple() && <F::Operands as Operands>::MASKS == 0) };
        let dtype = plan_call(rule, simple, masks, inputs.operands(), scalars, sink, walk)?;
        if const { F::RULE.stored_numbers } && is_half(dtype) {
            let rounded: SmallVec<[Scalar; 2]> = scalars.iter().map(|&number| stored(number, dtype)).collect();
            params.clone_from(&F::Params::from_scalars(&rounded).unwrap_or_default());
        } else {
            // Behind everything else: the caller has just written them, in other pieces than they are copied in.
            params.clone_from(inputs.params());
        }
        *compute = Some(dtype);
        Ok(())
    }
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// A number as an element of a dtype holds it.
pub(crate) fn stored(number: Scalar, dtype: DType) -> Scalar {
    with_element!(dtype, E => E::from_scalar(number).to_scalar())
}

/// The meta function of every pointwise operator: writes the iteration and returns the dtype that the device computes
/// in.
fn plan_call(
    rule: &Rule,
    simple: bool,
    masks: usize,
    operands: &[Operand<'_>],
    params: &[Scalar],
    sink: &mut SinkState<'_>,
    walk: &mut Walk,
) -> Result<DType> {
    if let Some(planned) = plan_uniform(rule, simple, masks, operands, params, sink, walk) {
        return planned;
    }
    plan_any(rule, masks, operands, params, sink, walk)
}

/// [`plan_call`] for tensors that are [alike](monomorph_core::structured::Alike): none of the rules on dtypes has
/// anything to decide. `None`, and nothing done, where one has.
#[inline]
fn plan_uniform(
    rule: &Rule,
    simple: bool,
    masks: usize,
    operands: &[Operand<'_>],
    params: &[Scalar],
    sink: &mut SinkState<'_>,
    walk: &mut Walk,
) -> Option<Result<DType>> {
    // Looked at again below rather than kept: the operator's own check is a call, over which little had better be held.
    let alike = sink.alike(operands)?;
    let (compute, out) = (alike.dtype(), alike.output());
    let result = if simple { compute } else { undecided(rule, masks, operands, alike)? };
    if out.is_some_and(|own| own != result) {
        return None;
    }
    if let Some(check) = rule.check
        && let Err(error) = check(&Check { operands, params, common: compute, out, form: sink.form() })
    {
        return Some(Err(error));
    }
    if let Err(error) = rule.check_domain(compute) {
        return Some(Err(error));
    }
    let alike = *sink.alike(operands)?;
    match Uniform::build(&rule.flags, Some(result), operands, &alike, sink)? {
        Ok(uniform) => {
            walk.uniform = Some(uniform);
            Some(Ok(compute))
        }
        Err(error) => Some(Err(error)),
    }
}

/// The dtype of the result; `None` if a rule has something to decide.
fn undecided(rule: &Rule, masks: usize, operands: &[Operand<'_>], alike: &Alike) -> Option<DType> {
    let (compute, numbers) = (alike.dtype(), alike.numbers());
    if masks != 0
        || rule.numbers_promote
        || rule.flags.is_linear()
        || (rule.output == OutputKind::Magnitude && compute.is_complex())
        || (rule.wide_scalar && is_half(compute) && (numbers != 0 || alike.geometry(operands)?.numel() == 1))
        || (rule.linear_number && numbers & 1 == 1)
        || (rule.row_major && !alike.is_row_major())
        // Of dimensions that have any stride, `empty_like` keeps it.
        || (rule.like_input(compute).is_some() && !alike.geometry(operands)?.is_ample())
        || (rule.flags.promotes_to_float() && compute.is_integral(true))
        || (numbers != 0 && !rule.flags.promotes())
    {
        return None;
    }
    Some(if rule.output == OutputKind::Truth { DType::Bool } else { compute })
}

/// [`plan_call`] for any tensors.
#[inline(never)]
fn plan_any(
    rule: &Rule,
    masks: usize,
    operands: &[Operand<'_>],
    params: &[Scalar],
    sink: &mut SinkState<'_>,
    walk: &mut Walk,
) -> Result<DType> {
    let out = sink.existing(0).map(|t| t.geometry().dtype());
    let compute = compute_dtype(rule, &operands[masks..], params, out);
    if compute.is_complex() && rule.output == OutputKind::Common && result_type(&operands[masks..]).is_half_complex() {
        let rule =
            "float16 and bfloat16 promote with a complex number to complex32, which is no dtype here; cast one of them";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    if let Some(check) = rule.check {
        check(&Check { operands, params, common: compute, out, form: sink.form() })?;
    }
    rule.check_domain(compute)?;
    let mut flags = rule.flags;
    let number_first = rule.linear_number && operands.first().is_some_and(Operand::is_wrapped);
    let new = out.is_none() && sink.form() == Form::Functional;
    flags = flags.with_linear_order(flags.is_linear() || number_first || (rule.row_major && new));
    let result = match rule.output {
        OutputKind::Common => compute,
        OutputKind::Truth => DType::Bool,
        OutputKind::Magnitude => compute.to_real(),
    };
    if rule.exact_output
        && let Some(got) = out
        && got != result
    {
        return Err(ErrorKind::OutputDType { index: 0, got, want: result }.into());
    }
    if rule.output == OutputKind::Truth && out.is_some_and(|d| d != DType::Bool) {
        // The truth value is cast to whatever the caller's output holds.
        flags = flags.with_output_cast(flags.promotes());
    }
    if result != compute && rule.output == OutputKind::Magnitude {
        complex_to_real(&mut flags, result, out, sink.form())?;
        // PyTorch copies the real parts of a complex angle into a row-major result, and those of a magnitude into an
        // output that it has resized, row-major too.
        let resized =
            sink.existing(0).is_some_and(|out| Some(out.geometry().sizes()) != operands.first().map(Operand::sizes));
        flags = flags.with_linear_order(flags.is_linear() || rule.flags.promotes_to_float() || resized);
    }
    // What is cast at the end is copied into the output, which a copy does not do over itself.
    flags = flags.with_overlap_check(flags.checks_overlap() || out.is_some_and(|own| own != result));
    let own = rule.dtype_of.filter(|_| new).and_then(|operand| operands.get(usize::from(operand))?.geometry());
    let own = own.map(Geometry::dtype);
    if let Some(to) = own.filter(|&to| !result.can_cast(to)) {
        return Err(ErrorKind::Cast { from: result, to }.into());
    }
    let is_magnitude = rule.output == OutputKind::Magnitude && result != compute && !rule.flags.promotes_to_float();
    let like = if is_magnitude { Some(0) } else { rule.like_input(compute) };
    let config = Config {
        flags,
        output_dtype: own.or((result != compute || rule.exact_output).then_some(result)),
        promote_from: masks,
        common_dtype: rule.numbers_promote.then_some(compute),
        // The result of a complex magnitude is made like its operand, not by the walk; that of an angle is not.
        outputs_like: like.filter(|_| new),
        ..Config::default()
    };
    walk.iter.get_or_init(TensorIter::default);
    // It was just made, if it was not there.
    let Some(iter) = walk.iter.get_mut() else { return Ok(compute) };
    build_into(&config, operands, sink, iter)?;
    Ok(if rule.wide_scalar { widened(compute, operands) } else { compute })
}

/// float32 in place of float16 and bfloat16, if the last operand is one element. Operands and output keep their dtypes:
/// the device converts them, and rounds the result once.
fn widened(compute: DType, operands: &[Operand<'_>]) -> DType {
    let is_one = operands.last().is_some_and(|last| last.sizes().iter().all(|&size| size == 1));
    if is_half(compute) && is_one { DType::F32 } else { compute }
}

/// The dtype of all operands, if they are tensors of one dtype: what they promote to, whatever their categories.
#[inline]
fn same_dtype(operands: &[Operand<'_>]) -> Option<DType> {
    let dtype = operands.first()?.dtype()?;
    operands.iter().all(|o| o.dtype() == Some(dtype) && !o.is_wrapped()).then_some(dtype)
}

/// The dtype that operands promote to; `None` if there is none.
pub fn common_dtype<'a, 't: 'a>(operands: impl IntoIterator<Item = &'a Operand<'t>>) -> Option<DType> {
    result_type(operands).dtype()
}

fn result_type<'a, 't: 'a>(operands: impl IntoIterator<Item = &'a Operand<'t>>) -> ResultType {
    let mut types = ResultType::default();
    for operand in operands {
        if let Some(dtype) = operand.dtype() {
            let category = match operand {
                o if o.is_wrapped() => Category::Number,
                o if o.sizes().is_empty() => Category::ZeroDim,
                _ => Category::Dimensioned,
            };
            types.push(dtype, category);
        }
    }
    types
}

/// The dtype that a call computes in, if it does so like every call of the formula: without an operand that keeps a
/// higher precision, data that it may refuse, or an error to report.
pub(super) fn one_dtype<F: PointwiseFn>(operands: &[Operand<'_>], params: &[Scalar]) -> Option<DType> {
    let compute = common_compute::<F>(operands, params)?;
    let wide = F::RULE.wide_scalar && widened(compute, operands) != compute;
    let check = Check { operands, params, common: compute, out: None, form: Form::Functional };
    let refused = F::RULE.check.is_some_and(|check_call| check_call(&check).is_err());
    let is_rounded = |&number: &Scalar| stored(number, compute).to_f64() != number.to_f64();
    let stored = F::RULE.stored_numbers && is_half(compute) && params.iter().any(is_rounded);
    let given = F::RULE.dtype_of.and_then(|operand| operands.get(usize::from(operand)));
    let cast = given.is_some_and(|operand| operand.dtype() != Some(compute));
    (!wide && !stored && !cast && F::FAULT.is_none() && !refused).then_some(compute)
}

/// The dtype that a call computes in; `None` if all its operands are numbers.
pub(crate) fn common_compute<F: PointwiseFn>(operands: &[Operand<'_>], params: &[Scalar]) -> Option<DType> {
    let operands = operands.get(F::Operands::MASKS..)?;
    let numbers = operands.iter().all(Operand::is_wrapped);
    (!numbers).then(|| compute_dtype(const { &rule_of::<F>() }, operands, params, None))
}

/// The iteration over an output that is there and operands of a formula, which all compute in one dtype.
pub(crate) fn iteration_over<F: PointwiseFn>(
    output: &Operand<'_>,
    operands: &[Operand<'_>],
    compute: DType,
) -> Result<TensorIter> {
    let flags = F::RULE.flags.with_overlap_check(false).with_device_check(false).with_dtype_check(false);
    let flags = flags.with_safe_cast(false).without_resizing().with_linear_order(false);
    let config = Config { promote_from: F::Operands::MASKS, common_dtype: Some(compute), ..Config::new(flags) };
    let views: SmallVec<[View<'_>; 4]> = operands.iter().filter_map(View::of_operand).collect();
    build_over(&config, View::of_operand(output).as_slice(), &views)
}

/// The dtype that the formula computes in.
fn compute_dtype(rule: &Rule, operands: &[Operand<'_>], params: &[Scalar], out: Option<DType>) -> DType {
    // Without promotion a lone operand keeps its dtype, also if it is a number.
    let promoted = match operands {
        [one] if rule.numbers_promote => {
            let numbers: SmallVec<[Operand<'_>; 2]> = params.iter().map(|&p| Operand::from(p)).collect();
            common_dtype(std::iter::once(one).chain(&numbers))
        }
        [one] if !rule.flags.promotes() => one.dtype(),
        _ => same_dtype(operands).or_else(|| common_dtype(operands)),
    };
    // An operator without operands computes in the dtype of what it writes.
    let common = promoted.or(out).unwrap_or(DType::F32);
    if rule.flags.promotes_to_float() && common.kind() < Kind::Float {
        return monomorph_core::DEFAULT_FLOAT;
    }
    common
}

/// A complex operand whose result is real: the output is of the real dtype, or of one that it casts to; the caller's
/// complex output takes the result as its real part.
fn complex_to_real(flags: &mut monomorph_iter::Flags, result: DType, out: Option<DType>, form: Form) -> Result<()> {
    // The common dtype is not the result's, which is checked below.
    *flags = flags.with_dtype_check(false).with_output_cast(false).with_safe_cast(false);
    if form == Form::InPlace {
        let what = "in-place on a tensor of";
        let accepted = "bool, integers and floats; the magnitude of a complex number is real";
        return Err(ErrorKind::DTypeNotSupported { what, got: result.to_complex(), accepted }.into());
    }
    match out {
        Some(to) if !result.can_cast(to) => Err(ErrorKind::Cast { from: result, to }.into()),
        _ => Ok(()),
    }
}
