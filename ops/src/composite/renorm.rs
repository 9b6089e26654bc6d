//! `renorm`: slices along a dimension scaled down to a norm. Of a device's own tensors that is one operator, whose rows
//! are read twice while they are near; by name it is composed of the norm and what follows from it.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::{Callees, Typed};
use super::matrix_norms::real;
use super::rule;
use super::steps::Steps;
use crate::order::check_overlap;
use crate::reductions::vector_norm::check_dtype;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{Functional, Operand, SinkState, StructuredOp, call};
use monomorph_core::{AnyTensor, DType, DeviceId, ErrorKind, MemoryFormat, Options, Result, Scalar, Tensor};

/// What a factor's denominator is above the norm, so that it is never 0.
pub const EPSILON: f64 = 1e-7;

/// Slices along a dimension, each times a factor where its norm is above a number.
pub struct Renorm;

/// How slices are scaled.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Renormed {
    /// The dimension whose places are slices.
    pub dim: usize,
    /// The order of the norm, above 0.
    pub order: f64,
    /// The largest norm that stays.
    pub most: f64,
}

/// The inputs of a call.
///
/// Invariant: the tensor is of a floating or complex dtype, and has the dimension.
pub struct RenormInputs<'t> {
    operand: [Operand<'t>; 1],
    how: Renormed,
}

impl<'t> RenormInputs<'t> {
    /// The tensor.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

/// What a device needs besides the tensor.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RenormPlan {
    /// How slices are scaled.
    pub how: Renormed,
    /// Elements in front of the dimension, along it, and behind it.
    pub block: [usize; 3],
    /// The output may overwrite the tensor, so that is to be copied first.
    pub copies: bool,
}

impl StructuredOp for Renorm {
    const NAME: &'static str = "renorm";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = RenormInputs<'t>;
    type Plan = RenormPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let (operand, how) = (inputs.operand(), inputs.how);
        let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
        let options = Options::new(operand.dtype().unwrap_or(DType::F32), device);
        sink.set_output_contiguous(0, operand.sizes(), options, None)?;
        let (_, copies) = check_overlap(&inputs.operand, sink, false)?;
        let count = |sizes: &[i64]| sizes.iter().fold(1_usize, |all, &size| all.saturating_mul(size as usize));
        let (outer, rest) = operand.sizes().split_at(how.dim);
        let (slices, inner) = rest.split_at(rest.len().min(1));
        *plan = RenormPlan { how, block: [outer, slices, inner].map(count), copies };
        Ok(())
    }
}

/// A composition that scales slices.
pub trait Renorms: Callees {
    /// The slices of a floating or complex tensor, scaled.
    fn renormed(&self, this: &Self::Tensor, how: Renormed) -> Result<Self::Tensor>;
}

impl Renorms for Calls<'_> {
    fn renormed(&self, this: &AnyTensor, Renormed { dim, order, most }: Renormed) -> Result<AnyTensor> {
        let others: Vec<i64> = (0..this.ndim()).filter(|&d| d != dim).map(|d| d as i64).collect();
        // The norm is that of a wider dtype.
        let wide = match this.dtype() {
            DType::F16 | DType::BF16 => DType::F32,
            DType::F32 => DType::F64,
            DType::C64 => DType::C128,
            dtype => dtype,
        };
        let norm = self.norm(this.clone(), Scalar::Float(order), Some(&others), true, Some(wide))?;
        let above = self.binary("gt.Scalar", norm.clone(), most)?;
        let factor = self.mul(self.unary("reciprocal", self.add(norm, EPSILON)?)?, most)?;
        let factor = self.tensor("where.self", [above.into(), factor.into(), Scalar::Float(1.0).into()])?;
        let factor = self.cast(factor, this.dtype())?;
        let result = self.mul(this.clone(), factor)?;
        if result.geometry().is_canonical() { Ok(result) } else { self.cloned(&result, MemoryFormat::Contiguous) }
    }
}

impl<D: crate::kernels::Renorms> Renorms for Typed<D> {
    fn renormed(&self, this: &Tensor<D>, how: Renormed) -> Result<Tensor<D>> {
        let inputs = RenormInputs { operand: [this.into()], how };
        let [result] = call::<Renorm, D, _>(&inputs, Functional::<D, 1>::default())?;
        Ok(result)
    }
}

/// `renorm`: each slice along `dim` scaled down where its norm is above `maxnorm`.
pub fn renorm<C: Renorms>(
    calls: &C,
    this: &C::Tensor,
    order: impl Into<Scalar>,
    dim: i64,
    maxnorm: impl Into<Scalar>,
) -> Result<C::Tensor> {
    let t = C::any(this);
    let order = real(order.into())?;
    if order.is_nan() || order <= 0.0 {
        return Err(rule("argument p is the order of a norm; accepted are numbers above 0"));
    }
    let most = match maxnorm.into() {
        Scalar::Complex(_) => return Err(rule("argument maxnorm is complex; accepted is a real number")),
        most if most.to_f64() < 0.0 => return Err(rule("argument maxnorm is below 0; accepted is 0 or more")),
        most => most.to_f64(),
    };
    if t.ndim() < 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: t.ndim(), accepted: "2 or more" }.into());
    }
    let dim = wrap_dim(dim, t.ndim(), "dim")?;
    check_dtype(t.dtype(), None)?;
    if order == f64::INFINITY
        && let Some(dim) = t.sizes().iter().enumerate().position(|(d, &size)| size == 0 && d != dim)
    {
        return Err(ErrorKind::EmptyReduction { dim: dim as i64 }.into());
    }
    calls.renormed(this, Renormed { dim, order, most })
}

native! {
    family: Renorms, functions: crate::kernels::AllKernels;

    structured: Renorm;

    func: renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor,
    inplace: renorm_, autogen: renorm.out, direct: true, composed: explicit renorm;
}
