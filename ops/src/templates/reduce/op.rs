//! The reduction template as a structured operator. Its one meta function is not generic; the generic part only hands
//! it the rule of the fold.

use super::args::{Call, ReduceInputs};
use super::dims::{self, Mask};
use super::fold::{ReduceFn, ResultKind, Results};
use super::rule::TypedRule;
use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Geometry, Options, Result};
use monomorph_iter::{Config, Flags, TensorIter, View, build_over_into, build_reduction};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The operator of reduction `F`, its kernel compiled `W`here.
pub struct Reduce<F, W = super::Here>(PhantomData<fn() -> (F, W)>);

impl<F, W> crate::table::Template for Reduce<F, W> {
    type Body = F;
}

/// What a device needs to run a reduction.
#[derive(Clone, Debug, Default)]
pub struct ReducePlan {
    iter: TensorIter,
    compute: Option<DType>,
}

impl ReducePlan {
    /// The iteration: outputs first, with stride 0 in reduced dimensions, then the input. If it has no element, outputs
    /// may still have some; they get the result over no element.
    pub fn iter(&self) -> &TensorIter {
        &self.iter
    }

    /// The dtype that the fold computes in; `None` before planning.
    pub fn compute(&self) -> Option<DType> {
        self.compute
    }
}

impl<F: ReduceFn, W: 'static> StructuredOp for Reduce<F, W> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = <F::Results as Results>::KINDS.len();
    type Inputs<'t> = ReduceInputs<'t, F>;
    type Plan = ReducePlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let device = inputs.operand[0].tensor().map_or(DeviceId::CPU, |t| t.device());
        plan_call(const { &TypedRule::of::<F>() }, (&inputs.operand[0], device), &inputs.call, sink, plan)
    }
}

/// The meta function of every reduction: of an operand, for outputs on a device.
pub(super) fn plan_call(
    rule: &TypedRule,
    (operand, device): (&Operand<'_>, DeviceId),
    call: &Call<'_>,
    sink: &mut SinkState<'_>,
    plan: &mut ReducePlan,
) -> Result<()> {
    let absent = ErrorKind::ArgumentRule { rule: "argument self is absent; a reduction needs a tensor" };
    let input = operand.dtype().ok_or(absent)?;
    let out = |sink: &SinkState<'_>, i| sink.existing(i).map(|t| t.geometry().dtype());
    let asked = call.dtype.or_else(|| if call.dtype_from_out || rule.rule.fractional { out(sink, 0) } else { None });
    let sizes = operand.sizes();
    let numel = operand.geometry().map_or(1, Geometry::numel);
    if rule.rule.fractional {
        check_fractional(rule, input, call, out(sink, 0))?;
    }
    check_cast(rule, input, call, out(sink, 0))?;
    let compute = rule.compute(input, numel, asked, out(sink, 0));
    if !rule.rule.domain_last {
        rule.check_domain(compute)?;
    }
    let results: SmallVec<[DType; 2]> = (0..sink.noutputs()).map(|i| rule.result(i, compute, out(sink, i))).collect();
    if rule.rule.outputs_first {
        for (index, &want) in results.iter().enumerate() {
            if let Some(got) = out(sink, index).filter(|&got| got != want) {
                return Err(ErrorKind::OutputDType { index, got, want }.into());
            }
        }
    }
    let mask = dims::mask(call.dims.list(), sizes.len(), rule)?;
    if !rule.identity {
        dims::check_not_empty(call.dims.list(), &mask, sizes)?;
    }

    let result_sizes = dims::result_sizes(sizes, &mask, call.keepdim);
    let names = dims::result_names(operand.geometry(), &mask, call.keepdim);
    for (i, &dtype) in results.iter().enumerate() {
        let options = Options::new(dtype, device);
        sink.set_output_raw_strided(i, &result_sizes, None, options, names.clone())?;
    }
    if rule.rule.rewrites {
        (0..sink.noutputs()).try_for_each(|i| check_itself(sink, i))?;
    }
    if rule.rule.apart {
        check_apart(sink, operand, call.dims.list().is_some() && !sizes.is_empty())?;
    }
    if rule.rule.domain_last && numel > 0 {
        rule.check_domain(compute)?;
    }
    plan.compute = Some(compute);
    if !sink.is_meta() {
        iteration(rule, operand, sink, &mask, call.keepdim, &mut plan.iter)?;
    }
    Ok(())
}

/// An error if a reduction would compute in the dtype of an output that its input may not be cast to. The parts of
/// complex numbers may be cast to what is real.
fn check_cast(rule: &TypedRule, input: DType, call: &Call<'_>, out: Option<DType>) -> Result<()> {
    let from = if rule.results[0] == ResultKind::Real { input.to_real() } else { input };
    match out {
        Some(to) if rule.rule.casts_safely && call.dtype.is_none() && !from.can_cast(to) => {
            Err(ErrorKind::Cast { from, to }.into())
        }
        _ => Ok(()),
    }
}

/// An error if a reduction of fractional numbers is given others and not told what to make of them, or if a whole one
/// is given an output that its input may not be cast to.
fn check_fractional(rule: &TypedRule, input: DType, call: &Call<'_>, out: Option<DType>) -> Result<()> {
    match out {
        Some(to) if !(call.dtype_from_out || rule.rule.casts_safely || input.can_cast(to)) => {
            Err(ErrorKind::Cast { from: input, to }.into())
        }
        _ if call.dtype.is_none() => rule.check_domain(input),
        _ => Ok(()),
    }
}

/// Plans the iteration over the declared outputs and the input.
fn iteration(
    rule: &TypedRule,
    operand: &Operand<'_>,
    sink: &SinkState<'_>,
    mask: &Mask,
    keepdim: bool,
    iter: &mut TensorIter,
) -> Result<()> {
    if let Some(input) = operand.geometry().filter(|_| (0..sink.noutputs()).all(|i| sink.existing(i).is_none())) {
        let dtypes: SmallVec<[DType; 2]> =
            (0..sink.noutputs()).filter_map(|i| Some(sink.written(i)?.dtype())).collect();
        if build_reduction(input, &dtypes, mask, iter) {
            return Ok(());
        }
    }
    let shapes: SmallVec<[_; 2]> =
        (0..sink.noutputs()).filter_map(|i| Some(dims::with_reduced(sink.written(i)?, mask, keepdim))).collect();
    let views: SmallVec<[View<'_>; 2]> = shapes
        .iter()
        .enumerate()
        .filter_map(|(i, (sizes, strides))| Some(View { sizes, strides, ..View::of_output(sink, i)? }))
        .collect();
    let input = View::of_operand(operand);
    // Row-major order numbers the elements; a single dim is walked in its order anyway.
    let linear = rule.rule.indexed && mask.iter().all(|&reduced| reduced);
    // Dtypes and devices were checked above.
    let flags = Flags::REDUCE_2.with_device_check(false).with_linear_order(linear);
    build_over_into(&Config::new(flags), &views, input.as_slice(), iter)
}

/// An error if the caller's outputs share memory with each other or, in a reduction along dims, reach an element twice
/// or share memory with the input. What is too hard to tell passes, as in every overlap check.
fn check_apart(sink: &SinkState<'_>, operand: &Operand<'_>, along_dims: bool) -> Result<()> {
    for i in 0..sink.noutputs() {
        let (Some(out), Some(written)) = (sink.existing(i), sink.written(i)) else { continue };
        let place = Place::of(out, written);
        let overlaps = |output, other: String| Err(ErrorKind::Overlap { output, other }.into());
        for j in 0..i {
            let (Some(other), Some(geometry)) = (sink.existing(j), sink.written(j)) else { continue };
            if matches!(overlap::shared(&Place::of(other, geometry), &place), Shared::Full | Shared::Partial) {
                return overlaps(j, format!("output {i}"));
            }
        }
        if !along_dims {
            continue;
        }
        check_itself(sink, i)?;
        let Some(input) = operand.tensor() else { continue };
        let shared = overlap::shared(&place, &Place::of(input, input.geometry()));
        if matches!(shared, Shared::Full | Shared::Partial) {
            return overlaps(i, "the input".to_owned());
        }
    }
    Ok(())
}

/// An error if the caller's output `i` reaches an element twice.
fn check_itself(sink: &SinkState<'_>, i: usize) -> Result<()> {
    let (Some(_), Some(written)) = (sink.existing(i), sink.written(i)) else { return Ok(()) };
    if overlap::internal(written.sizes(), written.strides()) != Internal::Yes {
        return Ok(());
    }
    let (sizes, strides) = (written.sizes().to_vec(), written.strides().to_vec());
    Err(ErrorKind::InternalOverlap { index: i, sizes, strides }.into())
}
