//! Counting into bins: histc, histogram and histogramdd, and bincount. Owns the two operators that count, and how edges
//! of bins follow from ranges and data.

pub mod counts;
pub mod histograms;

use crate::order::check_overlap;
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};

/// How the bin of an element is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Finding {
    /// A division, for bins of one width.
    Division,
    /// The same, corrected by the edges beside.
    Corrected,
    /// A binary search among the edges.
    #[default]
    Search,
}

/// The operator that takes points, the rows of a matrix, their weights, and the edges of the bins of each coordinate
/// one after another, and adds up the weights, or the number, of the points in each bin. NaN is in no bin; the last bin
/// of a coordinate has both of its edges. Sums are in the dtype of the points, in their order.
pub struct Bins;

/// The inputs of a call.
pub struct BinInputs<'t> {
    operands: [Operand<'t>; 3],
    counts: Vec<i64>,
    finding: Finding,
}

impl<'t> BinInputs<'t> {
    /// The points, the weights, the edges.
    pub fn operands(&self) -> &[Operand<'t>; 3] {
        &self.operands
    }
}

type Binned<'t> = (Operand<'t>, Operand<'t>, Operand<'t>, Vec<i64>, Finding);

impl<'t> FromArgs<Binned<'t>> for BinInputs<'t> {
    fn from_args((points, weights, edges, counts, finding): Binned<'t>) -> Result<Self> {
        Ok(BinInputs { operands: [points, weights, edges], counts, finding })
    }
}

/// What a device needs besides the operands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BinPlan {
    /// How the bin of an element is found.
    pub finding: Finding,
    /// Bins of each coordinate; it has one edge more.
    pub counts: Vec<usize>,
    /// Points have weights.
    pub is_weighted: bool,
    /// The output may overwrite an input, so those are to be copied first.
    pub copies: bool,
}

impl StructuredOp for Bins {
    const NAME: &'static str = "histogram";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = BinInputs<'t>;
    type Plan = BinPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let [points, weights, edges] = &inputs.operands;
        let dtype = points.dtype().unwrap_or(DType::F32);
        if !dtype.is_floating() {
            let (what, accepted) = ("argument self has dtype", "floating dtypes");
            return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
        }
        for (arg, operand) in [("weight", weights), ("bins", edges)] {
            if let Some(got) = operand.dtype().filter(|&got| got != dtype) {
                return Err(ErrorKind::DTypeMismatch { arg, got, want: dtype }.into());
            }
        }
        let of_points = points.sizes().first().copied().unwrap_or(1);
        let want = inputs.counts.iter().fold(0, |edges: i64, count| edges.saturating_add(count.saturating_add(1)));
        let fits = points.sizes().len() == 2
            && points.sizes()[1] == inputs.counts.len() as i64
            && edges.sizes() == [want]
            && inputs.counts.iter().all(|&count| count > 0)
            && (weights.is_absent() || weights.sizes() == [of_points]);
        if !fits {
            let rule = "points, weights and edges do not belong together";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let device = points.tensor().map_or(DeviceId::CPU, |t| t.device());
        sink.set_output_contiguous(0, &inputs.counts, Options::new(dtype, device), None)?;
        let counts = inputs.counts.iter().map(|&count| count as usize).collect();
        let (_, copies) = check_overlap(&inputs.operands, sink, false)?;
        *plan = BinPlan { finding: inputs.finding, counts, is_weighted: !weights.is_absent(), copies };
        Ok(())
    }
}

/// The operator that takes numbers from 0 to below `size`, and weights, and counts how often each is there.
pub struct Counts;

/// The inputs of a call.
pub struct CountInputs<'t> {
    operands: [Operand<'t>; 2],
    size: i64,
}

impl<'t> CountInputs<'t> {
    /// The numbers and the weights.
    pub fn operands(&self) -> &[Operand<'t>; 2] {
        &self.operands
    }
}

impl<'t> FromArgs<(Operand<'t>, Operand<'t>, i64)> for CountInputs<'t> {
    fn from_args((numbers, weights, size): (Operand<'t>, Operand<'t>, i64)) -> Result<Self> {
        Ok(CountInputs { operands: [numbers, weights], size })
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CountPlan {
    /// The output may overwrite an input, so those are to be copied first.
    pub copies: bool,
}

impl StructuredOp for Counts {
    const NAME: &'static str = "bincount";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = CountInputs<'t>;
    type Plan = CountPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let [numbers, weights] = &inputs.operands;
        let dtype = match weights.dtype() {
            None => DType::I64,
            Some(DType::F32) => DType::F32,
            Some(_) => DType::F64,
        };
        if !weights.is_absent() && weights.sizes() != numbers.sizes() {
            let (got, want) = (weights.sizes().to_vec(), numbers.sizes().to_vec());
            return Err(ErrorKind::UnequalSizes { arg: "weights", got, want }.into());
        }
        let device = numbers.tensor().map_or(DeviceId::CPU, |t| t.device());
        sink.set_output_contiguous(0, &[inputs.size], Options::new(dtype, device), None)?;
        plan.copies = check_overlap(&inputs.operands, sink, false)?.1;
        Ok(())
    }
}
