//! Rows of a matrix chosen by indices: `embedding`.

use super::sealed::Sealed;
use super::select::gathered;
use super::{
    Axis, IndexFn, IndexInputs, IndexPlan, IndexRange, IndexTensor, Indexed, Indexes, along, check_index, overlap,
};
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::SinkState;
use monomorph_core::{ErrorKind, Result};

/// `embedding`: rows of a matrix.
pub struct EmbeddingFn;

impl Sealed for EmbeddingFn {}

impl IndexFn for EmbeddingFn {
    const NAME: &'static str = "embedding";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let (weight, indices) = (inputs.operand(0), inputs.operand(1));
        let &[_, columns] = weight.sizes() else {
            return Err(ErrorKind::DimCount { arg: "weight", got: weight.sizes().len(), accepted: "2" }.into());
        };
        check_index("indices", &indices, true)?;
        let mut sizes = DimVec::from_slice(indices.sizes());
        let rows = sizes.len();
        sizes.push(columns);
        inputs.declare(sink, &sizes, None)?;
        let serial = overlap::check(inputs, sink, &[0, 1], &[])?;
        let axes = sizes.iter().enumerate().map(|(d, &size)| Axis {
            size,
            base: if d == rows { along(1) } else { None },
            values: along(d),
        });
        let dims = (0..=rows).map(|d| (d < rows).then_some(d)).collect();
        let index = IndexTensor { operand: 1, arg: "indices", dims, of: Indexes::Dim(0), range: IndexRange::FromStart };
        Ok(gathered(sink, serial, axes, index))
    }
}

native! {
    family: Embeddings;

    /// Rows of the matrix `weight`: for each index the row of that number.
    ///
    /// The result has the sizes of `indices`, int32 or int64, and behind them the length of a row. `padding_idx`,
    /// `scale_grad_by_freq` and `sparse` are about gradients and change nothing.
    ///
    /// ```
    /// let weight = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// assert_eq!(ops::embedding(&weight, &tensor![[1i64, 1]])?.to_vec::<f32>()?, [3.0, 4.0, 3.0, 4.0]);
    /// ```
    func: embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False,
        bool sparse=False) -> Tensor,
    autogen: embedding.out, variants: function, structured: Indexed<EmbeddingFn>;
}
