//! Every pointwise formula of the operator table as a value: its rule, its record, its forms as functions over lists.
//! Owns no expectation; a formula without a record does not compile here.

use monomorph::crates::core::structured::{Executes, Functional, Operand, Out, call, in_place, prepare};
use monomorph::crates::ops::Op;
use monomorph::crates::ops::algebra::sym::Function;
use monomorph::crates::ops::pointwise::{
    Operands, Params, PointwiseFn, PointwiseInputs, Prebuilt, Rule, SymDomain, rule_of, symbolic, symbolic_fault,
};
use monomorph::crates::ops::record::{Record, Recorded};
use monomorph::{Cpu, DType, Device, Meta, Result, Scalar, Tensor};
use monomorph_cpu::pointwise::Kernels;
use monomorph_cpu::tuning::TuningValues;
use monomorph_cuda::is_light;

/// A form that writes a tensor of the caller: operands, parameters, what is written.
pub type Writes<D> = for<'a> fn(&[Operand<'a>], &[Scalar], &'a mut Tensor<D>) -> Result<()>;

/// The forms of one formula on one device, for operands and parameters in lists.
pub struct Forms<D: Device> {
    /// A new tensor.
    pub functional: fn(&[Operand<'_>], &[Scalar]) -> Result<Tensor<D>>,
    /// Into the caller's tensor.
    pub out: Writes<D>,
    /// Into the first operand; the list has the others.
    pub in_place: Writes<D>,
    /// Into the caller's tensor, checked once and run twice.
    pub prepared: Writes<D>,
}

/// One formula of the table.
pub struct Formula {
    /// The path of its type.
    pub path: &'static str,
    /// How it promotes, casts and checks.
    pub rule: Rule,
    /// The number of tensor operands.
    pub operands: usize,
    /// How many of them are masks.
    pub masks: usize,
    /// The number of parameters.
    pub params: usize,
    /// What it should give.
    pub record: Record,
    /// Its forms on the CPU.
    pub cpu: Forms<Cpu>,
    /// Its forms without data.
    pub meta: Forms<Meta>,
    /// The formula as text, where its domain has the dtype.
    pub symbolic: fn(DType) -> Option<Function>,
    /// Whether operands have no result as text, where some have none.
    pub symbolic_fault: fn(DType) -> Option<Function>,
    /// How the CPU's kernels are tuned.
    pub tuning: TuningValues,
    /// Whether a thread of CUDA has more elements in flight.
    pub light_on_cuda: bool,
}

fn functional<F: PointwiseFn, D: Executes<Op<F>>>(operands: &[Operand<'_>], params: &[Scalar]) -> Result<Tensor<D>> {
    let inputs = PointwiseInputs::<F>::from_lists(operands, params)?;
    let [out] = call::<Op<F>, D, _>(&inputs, Functional::<D, 1>::default())?;
    Ok(out)
}

fn out<'a, F: PointwiseFn, D: Executes<Op<F>>>(
    operands: &[Operand<'a>],
    params: &[Scalar],
    out: &'a mut Tensor<D>,
) -> Result<()> {
    let inputs = PointwiseInputs::<F>::from_lists(operands, params)?;
    call::<Op<F>, D, _>(&inputs, Out([out])).map(|_| ())
}

fn inplace<'a, F: PointwiseFn, D: Executes<Op<F>>>(
    others: &[Operand<'a>],
    params: &[Scalar],
    this: &'a mut Tensor<D>,
) -> Result<()> {
    in_place(this, |first, sink, _| {
        let own = (F::Operands::COUNT > 0).then_some(Operand::from(first));
        let operands: Vec<Operand<'_>> = own.into_iter().chain(others.iter().copied()).collect();
        call::<Op<F>, D, _>(&PointwiseInputs::<F>::from_lists(&operands, params)?, sink)
    })?;
    Ok(())
}

fn prepared<'a, F: PointwiseFn, D: Executes<Op<F>>>(
    operands: &[Operand<'a>],
    params: &[Scalar],
    out: &'a mut Tensor<D>,
) -> Result<()> {
    let inputs = PointwiseInputs::<F>::from_lists(operands, params)?;
    let mut call = prepare::<Op<F>, D, 1>(&inputs, [out])?;
    call.run()?;
    call.run()
}

fn forms<F: PointwiseFn, D: Executes<Op<F>>>() -> Forms<D> {
    Forms { functional: functional::<F, D>, out: out::<F, D>, in_place: inplace::<F, D>, prepared: prepared::<F, D> }
}

fn formula<F: Recorded + Kernels<Prebuilt>>(path: &'static str) -> Formula
where
    F::Domain: SymDomain<F>,
{
    Formula {
        path,
        rule: rule_of::<F>(),
        operands: F::Operands::COUNT,
        masks: F::Operands::MASKS,
        params: F::Params::COUNT,
        record: F::RECORD,
        cpu: forms::<F, Cpu>(),
        meta: forms::<F, Meta>(),
        symbolic: symbolic::<F>,
        symbolic_fault: symbolic_fault::<F>,
        tuning: <F as Kernels<Prebuilt>>::TUNING,
        light_on_cuda: is_light::<F>(),
    }
}

/// Every formula of the table.
pub fn formulas() -> Vec<Formula> {
    let mut all = Vec::new();
    macro_rules! push {
        ($formula:ty, $name:literal) => {
            all.push(formula::<$formula>($name));
        };
    }
    monomorph::crates::ops::for_each_kernel! { Pointwise push }
    all
}

impl Formula {
    /// The dtypes that it computes in.
    pub fn domain(&self) -> impl Iterator<Item = DType> + '_ {
        DType::ALL.into_iter().filter(|&dtype| self.rule.check_domain(dtype).is_ok())
    }

    /// Whether some overload takes the formula's operands and parameters as they are.
    pub fn is_named(&self) -> bool {
        !self.record.call.starts_with("-:")
    }

    /// The name of its overload in the table, and the words of its arguments.
    pub fn overload(&self) -> (&'static str, Vec<&'static str>) {
        let (name, words) = self.record.call.split_once(": ").expect("a record names an overload and its arguments");
        (name, words.split(' ').collect())
    }
}
