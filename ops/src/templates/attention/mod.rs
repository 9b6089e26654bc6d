//! Attention: for each query the mean of the values, weighted by the softmax of how well their keys fit it.
//!
//! ```text
//!   output[i]  =  Σ over j of  p[i, j] · value[j]
//!   p[i, ·]    =  softmax over j of  scale · query[i] · key[j] + mask[i, j]
//! ```
//!
//! Owns the operators [`Attention`] and [`AttentionGradients`] over tensors of four dimensions, in which devices need
//! never hold all of `p`: the logarithm of the sum that each softmax divides by is a result, too, from which the
//! gradients recompute what they need (T. Dao et al., *FlashAttention*, 2022). A query that sees no key has an output
//! of zeros. The operators of PyTorch are in [`flash`] and [`public`].
#![deny(clippy::arithmetic_side_effects)]

mod dropped;
pub mod flash;
pub mod public;

use monomorph_core::strides::DimVec;
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};

/// The operator that computes outputs and logarithms of sums.
pub struct Attention;

/// The operator that computes the gradients by query, key and value.
pub struct AttentionGradients;

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AttentionPlan {
    /// Members of the batch.
    pub batch: usize,
    /// Heads of queries, of keys and of values, of which the first is a multiple of the others.
    pub heads: [usize; 3],
    /// Queries.
    pub queries: usize,
    /// Keys, and as many values.
    pub keys: usize,
    /// Elements of a query or key, and of a value.
    pub widths: [usize; 2],
    /// Query `i` sees the keys up to the one with its number.
    pub causal: bool,
    /// What products of queries and keys are multiplied with.
    pub scale: f64,
}

/// The inputs of a call: query, key, value and mask, and for gradients in front of the mask that of the output, the
/// output and the logarithms of sums.
pub struct AttentionInputs<'t, const N: usize> {
    operands: [Operand<'t>; N],
    causal: bool,
    scale: f64,
    /// The strides of the output.
    strides: Option<DimVec>,
}

impl<'t, const N: usize> AttentionInputs<'t, N> {
    /// The operand with this number; one that is not there is absent.
    pub fn operand(&self, i: usize) -> &Operand<'t> {
        self.operands.get(i).unwrap_or(&Operand::Absent)
    }

    /// What is added to the products before the softmax.
    pub fn mask(&self) -> &Operand<'t> {
        self.operand(N.saturating_sub(1))
    }

    /// The plan of the call, if the sizes of the operands fit each other.
    fn plan(&self) -> Result<AttentionPlan> {
        let [query, key, value] = [0, 1, 2].map(|i| self.operand(i).sizes());
        let (&[b, h, l, e], &[kb, kh, s, ke], &[vb, vh, vs, ve]) = (query, key, value) else {
            return Err(
                ErrorKind::DimCount { arg: "query", got: query.len(), accepted: "4, and so of the others" }.into()
            );
        };
        let unequal = |arg, got: &[i64], want: &[i64]| -> monomorph_core::Error {
            ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() }.into()
        };
        if (kb, ke) != (b, e) || h != 0 && h.checked_rem(kh) != Some(0) {
            return Err(unequal("key", key, &[b, h, s, e]));
        }
        if (vb, vs) != (b, s) || h != 0 && h.checked_rem(vh) != Some(0) {
            return Err(unequal("value", value, &[b, h, s, ve]));
        }
        let mask = self.mask();
        if !mask.is_absent() && mask.sizes() != [b, h, l, s] {
            return Err(unequal("attn_mask", mask.sizes(), &[b, h, l, s]));
        }
        let count = |n: i64| n as usize;
        Ok(AttentionPlan {
            batch: count(b),
            heads: [h, kh, vh].map(count),
            queries: count(l),
            keys: count(s),
            widths: [e, ve].map(count),
            causal: self.causal,
            scale: self.scale,
        })
    }

    /// The dtype of the queries, and the one that sums are made in.
    fn dtypes(&self) -> (DType, DType) {
        let dtype = self.operand(0).dtype().unwrap_or(DType::F32);
        (dtype, summed_in(dtype))
    }
}

/// The dtype that sums of a dtype are made in.
pub fn summed_in(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// The strides of a tensor of four dimensions whose middle ones lie the other way round.
fn swapped(sizes: &[i64; 4]) -> DimVec {
    let [b, h, l, e] = *sizes;
    let lie = monomorph_core::strides::contiguous_strides(&[b, l, h, e]);
    DimVec::from_slice(&[lie[0], lie[2], lie[1], lie[3]])
}

impl StructuredOp for Attention {
    const NAME: &'static str = "scaled_dot_product_attention";
    const OUTPUTS: usize = 2;
    type Inputs<'t> = AttentionInputs<'t, 4>;
    type Plan = AttentionPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let planned = inputs.plan()?;
        let (dtype, sum) = inputs.dtypes();
        let device = inputs.operand(0).tensor().map_or(DeviceId::CPU, |t| t.device());
        let [b, h, l] = [0, 1, 2].map(|d| inputs.operand(0).sizes()[d]);
        let output = [b, h, l, inputs.operand(2).sizes()[3]];
        let strides = inputs.strides.clone().unwrap_or_else(|| monomorph_core::strides::contiguous_strides(&output));
        sink.set_output_strided(0, &output, &strides, Options::new(dtype, device), None)?;
        let of_sums = swapped(&[b, h, l, 1]);
        sink.set_output_strided(1, &[b, h, l], &of_sums[..3], Options::new(sum, device), None)?;
        *plan = planned;
        Ok(())
    }
}

impl StructuredOp for AttentionGradients {
    const NAME: &'static str = "scaled_dot_product_attention";
    const OUTPUTS: usize = 3;
    type Inputs<'t> = AttentionInputs<'t, 7>;
    type Plan = AttentionPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let planned = inputs.plan()?;
        let (dtype, _) = inputs.dtypes();
        let (query, value) = (inputs.operand(0).sizes(), inputs.operand(2).sizes());
        let output = [query[0], query[1], query[2], value[3]];
        let wanted: [(&'static str, usize, &[i64]); 3] =
            [("grad_out", 3, &output), ("out", 4, &output), ("logsumexp", 5, &output[..3])];
        for (arg, i, want) in wanted {
            let got = inputs.operand(i).sizes();
            if got != want {
                return Err(ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() }.into());
            }
        }
        if planned.heads[1] != planned.heads[2] {
            let (got, want) = (value.to_vec(), inputs.operand(1).sizes().to_vec());
            return Err(ErrorKind::UnequalSizes { arg: "value", got, want }.into());
        }
        let device = inputs.operand(0).tensor().map_or(DeviceId::CPU, |t| t.device());
        for i in 0..3 {
            let &[b, h, n, e] = inputs.operand(i).sizes() else { continue };
            let sizes = [b, h, n, e];
            sink.set_output_strided(i, &sizes, &swapped(&sizes), Options::new(dtype, device), None)?;
        }
        *plan = planned;
        Ok(())
    }
}
