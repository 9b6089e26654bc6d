//! The vector product: along one dimension of size 3 of two tensors, which broadcast. Products are rounded to the dtype
//! before they are subtracted.
#![deny(clippy::arithmetic_side_effects)]

use crate::composite::matrix_norms::dim_of_cross;
use crate::kernels::AllKernels;
use crate::order::check_overlap;
use crate::table::native;
use crate::view::expand;
use monomorph_core::strides::broadcast_sizes;
use monomorph_core::structured::{Functional, Operand, SinkState, StructuredOp, call};
use monomorph_core::{DType, DeviceId, Error, Options, Result, Tensor, observe};

/// The vector product of two tensors of the same sizes.
pub struct Cross;

/// The inputs of a call.
///
/// Invariant: both have the same sizes, of which that of the dimension is 3, and the same dtype, which is not bool.
pub struct CrossInputs<'t> {
    operands: [Operand<'t>; 2],
    dim: usize,
}

impl<'t> CrossInputs<'t> {
    /// Both tensors.
    pub fn operands(&self) -> &[Operand<'t>; 2] {
        &self.operands
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CrossPlan {
    /// Elements in front of the dimension.
    pub outer: usize,
    /// Elements behind it.
    pub inner: usize,
    /// The output may overwrite an operand, so those are to be copied first.
    pub copies: bool,
}

impl StructuredOp for Cross {
    const NAME: &'static str = "linalg_cross";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = CrossInputs<'t>;
    type Plan = CrossPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let a = &inputs.operands[0];
        let device = a.tensor().map_or(DeviceId::CPU, |t| t.device());
        let options = Options::new(a.dtype().unwrap_or(DType::F32), device);
        sink.set_output_contiguous(0, a.sizes(), options, None)?;
        let (_, copies) = check_overlap(&inputs.operands, sink, false)?;
        let count = |sizes: &[i64]| sizes.iter().fold(1_usize, |all, &size| all.saturating_mul(size as usize));
        let (outer, inner) = a.sizes().split_at(inputs.dim);
        *plan = CrossPlan { outer: count(outer), inner: count(inner.get(1..).unwrap_or_default()), copies };
        Ok(())
    }
}

/// `linalg_cross`: the vector product along a dimension of size 3.
pub fn linalg_cross<D: AllKernels>(this: &Tensor<D>, other: &Tensor<D>, dim: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("linalg_cross", [this.geometry(), other.geometry()]);
    let make = || {
        let dim = dim_of_cross(this.as_any(), other.as_any(), dim)?;
        let sizes = broadcast_sizes(this.sizes(), other.sizes())?;
        let expanded = |t: &Tensor<D>| t.with_geometry(expand(t.geometry(), &sizes, false)?);
        let (a, b) = (expanded(this)?, expanded(other)?);
        let inputs = CrossInputs { operands: [(&a).into(), (&b).into()], dim };
        let [product] = call::<Cross, D, _>(&inputs, Functional::<D, 1>::default())?;
        Ok(product)
    };
    make().map_err(|e: Error| e.of("linalg_cross"))
}

native! {
    family: VectorProducts, functions: crate::kernels::AllKernels;

    structured: Cross;

    func: linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor,
    autogen: linalg_cross.out, kernel: linalg_cross,
    otherwise: explicit crate::composite::matrix_norms::linalg_cross;
}
