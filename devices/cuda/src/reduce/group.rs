//! Outputs that launches fold together: how many threads and blocks share one, what is split because kernels count with
//! 31 bits, and the bytes of an argument.

use super::functor::{InputLayout, Reduction};
use crate::launch::{Bytes, DIMS, LaunchError, THREADS};
use smallvec::SmallVec;

/// Blocks that keep any GPU busy: outputs are shared until there are as many.
const BUSY: u64 = 1024;

/// Units that a thread has in flight, and how often it should have them before a block more is worth its while.
const FLIGHT: u64 = 4;
const ROUNDS: u64 = 4;

/// One dimension: its size, and its strides in bytes, of results and input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LaunchDim {
    pub(super) size: u64,
    pub(super) strides: SmallVec<[u64; 3]>,
}

/// Dimensions of more than one element, the fastest first.
pub(super) type LaunchDims = Vec<LaunchDim>;

/// The outputs of some launches: how they are shared.
pub(super) struct LaunchGroup<'a> {
    reduction: &'a Reduction,
    kept: LaunchDims,
    pub(super) outputs: u64,
    total: u64,
    pub(super) layout: InputLayout,
    adjacent: bool,
}

/// A part of the elements of every output.
pub(super) struct Part {
    pub(super) reduced: LaunchDims,
    /// The place of the first element, and its bytes in the input.
    pub(super) start: u64,
    pub(super) offset: u64,
}

pub(super) fn numel(dims: &[LaunchDim]) -> Option<u64> {
    dims.iter().try_fold(1_u64, |all, dim| all.checked_mul(dim.size))
}

/// Whether the elements are fewer than a kernel counts, and the bytes of operands `from` on.
pub(super) fn fits(dims: &[LaunchDim], from: usize, limit: u64) -> bool {
    let operands = dims.first().map_or(0, |dim| dim.strides.len());
    let reach =
        |k: usize| dims.iter().try_fold(0_u64, |all, dim| all.checked_add(dim.strides[k].checked_mul(dim.size - 1)?));
    let counts = numel(dims).is_some_and(|n| n < limit);
    counts && (from..operands).all(|k| reach(k).is_some_and(|end| end < limit))
}

/// Both halves along the slowest dimension, and how many of its steps the second begins later: many at once, so that it
/// is aligned as the first is.
pub(super) fn halves(dims: &LaunchDims) -> Option<(LaunchDims, LaunchDims, u64)> {
    let (slowest, faster) = dims.split_last()?;
    let half = slowest.size.div_ceil(2);
    let first = if slowest.size > 32 { half.next_multiple_of(16) } else { half };
    let with = |size: u64| {
        let own = LaunchDim { size, strides: slowest.strides.clone() };
        faster.iter().cloned().chain((size > 1).then_some(own)).collect()
    };
    Some((with(first), with(slowest.size - first), first))
}

impl<'a> LaunchGroup<'a> {
    pub(super) fn new(
        reduction: &'a Reduction,
        kept: LaunchDims,
        reduced: &LaunchDims,
        bases: &[u64],
        total: u64,
    ) -> Result<LaunchGroup<'a>, LaunchError> {
        let outputs = numel(&kept).ok_or(LaunchError::TooLarge)?;
        let input = reduction.results().len();
        let size = reduction.input().dtype.size() as u64;
        let is_dense = match &reduced[..] {
            [run] => {
                let aligned =
                    bases[input].is_multiple_of(16) && kept.iter().all(|d| d.strides[input].is_multiple_of(16));
                run.strides[input] == size && run.size >= reduction.each() as u64 && aligned
            }
            _ => false,
        };
        let step = |dims: &LaunchDims| dims.iter().map(|dim| dim.strides[input]).min();
        // Neighbours should load what lies side by side.
        let adjacent = match (reduced.first(), step(&kept)) {
            (Some(run), Some(step)) => run.strides[input] <= step,
            _ => true,
        };
        let layout = if is_dense { InputLayout::Dense } else { InputLayout::Strided };
        Ok(LaunchGroup { reduction, kept, outputs, total, layout, adjacent: is_dense || adjacent })
    }

    /// Halves the elements of the outputs until a kernel can count them, the first half first.
    pub(super) fn split(&self, part: Part, limit: u64, parts: &mut Vec<Part>) -> Result<(), LaunchError> {
        let input = self.reduction.results().len();
        // Words are counted, and not their bytes.
        let counts = match self.layout {
            InputLayout::Dense => numel(&part.reduced).is_some_and(|n| n < limit),
            InputLayout::Strided => fits(&part.reduced, input, limit),
        };
        if counts {
            parts.push(part);
            return Ok(());
        }
        let (first, second, skipped) = halves(&part.reduced).ok_or(LaunchError::TooLarge)?;
        let (slowest, faster) = part.reduced.split_last().ok_or(LaunchError::TooLarge)?;
        let elements = numel(faster).and_then(|n| n.checked_mul(skipped)).ok_or(LaunchError::TooLarge)?;
        let (start, offset) = (part.start + elements, part.offset + skipped * slowest.strides[input]);
        self.split(Part { reduced: first, ..part }, limit, parts)?;
        self.split(Part { reduced: second, start, offset }, limit, parts)
    }

    /// Units that the threads of an output load.
    fn units(&self, part: &Part) -> u64 {
        let count = numel(&part.reduced).unwrap_or(1);
        if self.layout == InputLayout::Dense { count / self.reduction.each() as u64 } else { count }
    }

    /// Threads of an output in a block.
    pub(super) fn across(&self, part: &Part, is_empty: bool) -> u64 {
        match (is_empty, self.adjacent) {
            (true, _) => 1,
            (_, true) => self.units(part).div_ceil(FLIGHT).next_power_of_two().min(THREADS as u64),
            (_, false) => THREADS as u64 / self.outputs.next_power_of_two().min(THREADS as u64),
        }
    }

    /// Blocks that share an output.
    pub(super) fn shares(&self, part: &Part, across: u64, runs: u64) -> u64 {
        let units = self.units(part);
        (BUSY / runs).min(units / (across * FLIGHT * ROUNDS)).max(1)
    }

    /// The argument, but for what launches share.
    pub(super) fn argument(
        &self,
        part: &Part,
        bases: &[u64],
        [across, all, before, shares]: [u64; 4],
        is_empty: bool,
    ) -> Vec<u8> {
        let input = bases.len() - 1;
        let mut bytes = Bytes::default();
        for (k, &base) in bases.iter().enumerate() {
            bytes.u64(if k == input { base + part.offset } else { base });
        }
        [0, 0, part.start, self.total].into_iter().for_each(|x| bytes.u64(x));
        let count = if is_empty { 0 } else { numel(&part.reduced).unwrap_or(0) };
        let dims = [self.kept.len() as u64, part.reduced.len() as u64];
        let words = [self.outputs, count, across, u64::from(self.adjacent), all, before];
        words.into_iter().chain(dims).for_each(|x| bytes.u32(x as u32));
        bytes.divisor(shares as u32);
        for dims in [&self.kept, &part.reduced] {
            (0..DIMS).for_each(|d| bytes.divisor(dims.get(d).map_or(1, |dim| dim.size as u32)));
        }
        let stride = |dims: &LaunchDims, d: usize, k: usize| dims.get(d).map_or(0, |dim| dim.strides[k] as u32);
        (0..DIMS).for_each(|d| (0..bases.len()).for_each(|k| bytes.u32(stride(&self.kept, d, k))));
        (0..DIMS).for_each(|d| bytes.u32(stride(&part.reduced, d, input)));
        bytes.whole()
    }
}
