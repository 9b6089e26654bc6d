//! Reductions of what pointwise operators give, as one operator: the sum of squared differences in one pass, without a
//! tensor of the squares.
//!
//! ```text
//! operands ──► dry run of the operators, on shapes ──► sizes, strides and dtype of what they give in turn
//!                                                             │
//!   all compute in one dtype, and no output is an operand     │  otherwise
//!   Computed: the reduction of these; each block of elements ◄┴► the operators, a tensor, the reduction
//!   is computed in memory that stays in a cache
//! ```
//!
//! Owns that decision. What is reduced in which order follows from the sizes and strides that the operators would give,
//! so that the results are those of turns, bit for bit.

use super::args::{BeforeReduction, Call, ReduceInputs, Takes};
use super::fold::{ReduceFn, Results};
use super::op::{Reduce, ReducePlan, plan_call};
use super::rule::TypedRule;
use crate::Meta;
use crate::pointwise::fused::{Chain, Runs, operands, parameters, params};
use crate::pointwise::op::{common_compute, iteration_over};
use crate::pointwise::{Params, PointwiseFn};
use monomorph_core::structured::{Executes, Functional, Operand, Operator, SinkState, StructuredOp, ValueSink, call};
use monomorph_core::{DType, Device, DeviceId, Result, Scalar, Tensor};
use monomorph_iter::TensorIter;
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The reduction `R` of what the pointwise operators `A` give: `R(A(..), ..)`. `R` is called with the arguments `S`.
///
/// It gives what they give in turn, bit for bit, errors included. Where all operators compute in one dtype that takes
/// one pass, and no tensor for what is reduced. The arguments are those of `A`, as of
/// [`Then`](crate::pointwise::Then), then those of `R`.
///
/// ```
/// use monomorph_ops::Op;
/// use monomorph_ops::arithmetic::{AbsFn, SubFn};
/// use monomorph_ops::pointwise::Then;
/// use monomorph_ops::reduce::{DimsDtype, Sum, ThenReduce};
///
/// /// The sum of |x − alpha · y|, of the arguments (x, y, alpha, dims, keepdim, dtype).
/// type Distance = ThenReduce<Then<Op<SubFn>, Op<AbsFn>>, Sum, DimsDtype>;
/// ```
pub struct ThenReduce<A, R, S>(Types<(A, R, S)>);

/// The reduction `F` of elements that the formula `G` computes, their kernels compiled `V` and `W`here.
pub struct Computed<G, V, F, W>(Types<(G, V, F, W)>);

/// Types that are only named.
type Types<T> = PhantomData<fn() -> T>;

/// The inputs of a call.
pub struct ComputedInputs<'t, G: PointwiseFn> {
    operands: SmallVec<[Operand<'t>; 4]>,
    params: G::Params,
    /// What the formula gives, without data.
    given: Tensor<Meta>,
    elements: TensorIter,
    compute: DType,
    call: Call<'t>,
}

impl<'t, G: PointwiseFn> ComputedInputs<'t, G> {
    /// The operands of the formula.
    pub fn operands(&self) -> &[Operand<'t>] {
        &self.operands
    }
}

/// What a device needs to run a call.
pub struct ComputedPlan<P> {
    reduction: ReducePlan,
    elements: TensorIter,
    compute: Option<DType>,
    params: P,
}

impl<P: Default> Default for ComputedPlan<P> {
    fn default() -> Self {
        let (reduction, elements) = (ReducePlan::default(), TensorIter::default());
        ComputedPlan { reduction, elements, compute: None, params: P::default() }
    }
}

impl<P> ComputedPlan<P> {
    /// The plan of the reduction. Its input is dense, but nowhere: its elements are numbered in the order in which they
    /// would lie.
    pub fn reduction(&self) -> &ReducePlan {
        &self.reduction
    }

    /// The iteration that computes the elements: operand 0 is the input of the reduction, dense in the order of the
    /// iteration, and the others are the operands.
    pub fn elements(&self) -> &TensorIter {
        &self.elements
    }

    /// The dtype that the formula computes in; `None` before planning.
    pub fn compute(&self) -> Option<DType> {
        self.compute
    }

    /// The parameters of the formula.
    pub fn params(&self) -> &P {
        &self.params
    }
}

impl<G: PointwiseFn, V: 'static, F: ReduceFn, W: 'static> StructuredOp for Computed<G, V, F, W> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = <F::Results as Results>::KINDS.len();
    const CPU_SCALARS: bool = G::RULE.flags().allows_cpu_scalars();
    type Inputs<'t> = ComputedInputs<'t, G>;
    type Plan = ComputedPlan<G::Params>;
    type Home = G;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let device = inputs.operands.iter().find_map(Operand::tensor).map_or(DeviceId::CPU, |t| t.device());
        let given = (&Operand::from(&inputs.given), device);
        plan_call(const { &TypedRule::of::<F>() }, given, &inputs.call, sink, &mut plan.reduction)?;
        plan.elements.clone_from(&inputs.elements);
        plan.compute = Some(inputs.compute);
        plan.params.clone_from(&inputs.params);
        Ok(())
    }
}

impl<'t, D, A, F, W, S, Args> Operator<'t, D, Args> for ThenReduce<A, Reduce<F, W>, S>
where
    D: Runs<A> + Executes<Reduce<F, W>> + Executes<Computed<A::Formula, A::Compiled, F, W>>,
    A: Chain,
    F: ReduceFn + Takes<S>,
    W: 'static,
    Args: BeforeReduction<'t, S>,
{
    const OUTPUTS: usize = <F::Results as Results>::KINDS.len();

    fn call<S2: ValueSink<'t, D>>(args: Args, sink: S2) -> Result<S2::Value> {
        const {
            assert!(Args::COUNT == operands::<A>() + params::<A>(), "operands, then parameters, then the reduction's");
        };
        let (args, reduced) = args.split();
        let (operands, numbers) = args.split_at(operands::<A>());
        let numbers = parameters::<A>(numbers)?;
        if let Some(inputs) = one_pass::<A, D, S2>(operands, &numbers, reduced, &sink)? {
            return call::<Computed<A::Formula, A::Compiled, F, W>, D, S2>(&inputs, sink)
                .map(S2::value::<Computed<A::Formula, A::Compiled, F, W>>);
        }
        let [given] = D::turn(PhantomData::<A>, operands, &numbers, Functional::<D, 1>::default())?;
        sink.through(&given, |sink, _| reduce::<D, F, W, _>(&given, reduced, sink))
    }
}

/// The reduction of a tensor.
fn reduce<'s, D, F, W, S>(given: &'s Tensor<D>, reduced: Call<'s>, sink: S) -> Result<S::Value>
where
    D: Executes<Reduce<F, W>>,
    F: ReduceFn,
    W: 'static,
    S: ValueSink<'s, D>,
{
    let inputs = ReduceInputs::of(Operand::from(given), reduced);
    call::<Reduce<F, W>, D, S>(&inputs, sink).map(S::value::<Reduce<F, W>>)
}

/// The inputs of a call in one pass, where that gives what the operators and the reduction give in turn: everything
/// computes in one dtype, what is reduced is dense, and no output is an operand. An error is that of the first
/// operator, in turn, that refuses its operands.
fn one_pass<'t, A: Chain, D: Device, S: ValueSink<'t, D>>(
    operands: &[Operand<'t>],
    params: &[Scalar],
    call: Call<'t>,
    sink: &S,
) -> Result<Option<ComputedInputs<'t, A::Formula>>> {
    let (given, dtype) = A::dry(operands, params)?;
    let compute = match dtype {
        Some(dtype) if common_compute::<A::Formula>(operands, params) == Some(dtype) => dtype,
        _ => return Ok(None),
    };
    let shares = |k: usize| {
        let Some(out) = sink.existing(k) else { return false };
        operands.iter().filter_map(Operand::tensor).any(|t| t.storage_id() == out.storage_id())
    };
    if D::MEMORY.is_none() || given.numel() == 0 || (0..2).any(shares) {
        return Ok(None);
    }
    let elements = iteration_over::<A::Formula>(&Operand::from(&given), operands, compute)?;
    if !is_dense(&elements) {
        return Ok(None);
    }
    let params = <A::Formula as PointwiseFn>::Params::from_scalars(params).unwrap_or_default();
    Ok(Some(ComputedInputs { operands: operands.into(), params, given, elements, compute, call }))
}

/// Whether the first operand has its elements one behind the other in the order of the iteration.
fn is_dense(iter: &TensorIter) -> bool {
    let mut next = iter.dtype(0).size() as isize;
    iter.shape().iter().zip(iter.strides(0)).all(|(&size, &stride)| {
        let is_next = stride == next;
        next = next.wrapping_mul(size as isize);
        is_next
    })
}
