//! A reduction as launches, one for each group of outputs and part of their elements, and the memory that they share.
//! Decided by shapes, strides and offsets alone, so that results do not depend on the GPU. Launches nothing.

use super::functor::{InputLayout, Reduction};
use super::group::{LaunchDim, LaunchDims, LaunchGroup, Part, fits, halves, numel};
use crate::launch::{DIMS, INDICES, LaunchError, THREADS};
use monomorph_core::Geometry;
use monomorph_iter::TensorIter;

/// The most outputs, and the most elements of one: launches are made for 2^31 at a time.
const MOST: u64 = 1 << 40;

/// One launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldLaunch {
    /// The kernel.
    pub layout: InputLayout,
    /// Blocks of [`THREADS`] threads.
    pub blocks: u32,
    /// The argument of the kernel.
    pub arguments: Vec<u8>,
}

/// The launches of a reduction, and the memory that they share.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoldPlan {
    launches: Vec<FoldLaunch>,
    /// Bytes of accumulators, and tickets behind them.
    partial: usize,
    tickets: usize,
    /// Addresses in front of that of the accumulators in an argument.
    operands: usize,
    /// Whether the input is looked at.
    reads: bool,
    /// What kernels count to.
    limit: u64,
}

impl FoldPlan {
    /// The launches of the reduction over `iter`, whose operands begin at these addresses, results first. Of a
    /// reduction over nothing, which the iteration does not have, `results` are the outputs.
    ///
    /// # Errors
    /// More dimensions than a kernel takes.
    pub fn new(
        reduction: &Reduction,
        iter: &TensorIter,
        bases: &[u64],
        results: &[Geometry],
    ) -> Result<FoldPlan, LaunchError> {
        FoldPlan::counting(reduction, iter, bases, results, INDICES)
    }

    /// The same for kernels that count elements and bytes up to a limit, so that what is split can be tried in the
    /// small.
    ///
    /// # Errors
    /// As for [`new`](FoldPlan::new).
    #[doc(hidden)]
    pub fn counting(
        reduction: &Reduction,
        iter: &TensorIter,
        bases: &[u64],
        results: &[Geometry],
        limit: u64,
    ) -> Result<FoldPlan, LaunchError> {
        let operands = reduction.results().len() + 1;
        if bases.len() != operands {
            return Err(LaunchError::Count { what: "operands", want: operands, got: bases.len() });
        }
        let of_iter = |d: usize| LaunchDim {
            size: iter.shape()[d] as u64,
            strides: (0..operands).map(|k| iter.strides(k)[d] as u64).collect(),
        };
        let pick = |is_reduced: bool| -> LaunchDims {
            let own = (0..iter.ndim()).filter(|&d| iter.shape()[d] > 1 && iter.is_dim_reduced(d) == is_reduced);
            own.map(of_iter).collect()
        };
        let is_empty = iter.numel() == 0;
        let (kept, reduced) =
            if is_empty { (outputs_alone(results), LaunchDims::new()) } else { (pick(false), pick(true)) };
        // Memory may be reached again and again, so the memory of operands is no bound of what is walked.
        if [&kept, &reduced].iter().any(|dims| numel(dims).is_none_or(|n| n > MOST)) {
            return Err(LaunchError::TooLarge);
        }
        if kept.len().max(reduced.len()) > DIMS {
            return Err(LaunchError::Dimensions(kept.len().max(reduced.len())));
        }
        let mut plan = FoldPlan { launches: Vec::new(), partial: 0, tickets: 0, operands, reads: !is_empty, limit };
        if is_empty && results.first().is_none_or(|first| first.numel() == 0) {
            return Ok(plan);
        }
        plan.outputs(reduction, kept, &reduced, bases, is_empty)?;
        Ok(plan)
    }

    /// Whether the input is looked at.
    pub(crate) fn reads(&self) -> bool {
        self.reads
    }

    /// Bytes that the launches share: none, or accumulators and tickets, which are to be zero before the first launch
    /// and are so again behind the last.
    pub fn scratch(&self) -> usize {
        self.partial + self.tickets
    }

    /// Which of these are tickets.
    pub fn tickets(&self) -> std::ops::Range<usize> {
        self.partial..self.scratch()
    }

    /// The launches, to be made one behind the other.
    pub fn launches(&self) -> &[FoldLaunch] {
        &self.launches
    }

    /// Says where the shared bytes are.
    pub fn set_scratch(&mut self, at: u64) {
        let (partial, tickets) = (8 * self.operands, at + self.partial as u64);
        for launch in &mut self.launches {
            for (place, address) in [(partial, at), (partial + 8, tickets)] {
                if let Some(bytes) = launch.arguments.get_mut(place..place + 8) {
                    bytes.copy_from_slice(&address.to_le_bytes());
                }
            }
        }
    }

    /// Halves the outputs until a kernel can count them.
    fn outputs(
        &mut self,
        reduction: &Reduction,
        kept: LaunchDims,
        reduced: &LaunchDims,
        bases: &[u64],
        is_empty: bool,
    ) -> Result<(), LaunchError> {
        if !fits(&kept, 0, self.limit) {
            let (first, second, skipped) = halves(&kept).ok_or(LaunchError::TooLarge)?;
            self.outputs(reduction, first, reduced, bases, is_empty)?;
            let steps = &kept.last().ok_or(LaunchError::TooLarge)?.strides;
            let moved: Vec<u64> = bases.iter().zip(steps).map(|(base, step)| base + skipped * step).collect();
            return self.outputs(reduction, second, reduced, &moved, is_empty);
        }
        let total = if is_empty { 0 } else { numel(reduced).ok_or(LaunchError::TooLarge)? };
        let group = LaunchGroup::new(reduction, kept, reduced, bases, total)?;
        let mut parts = Vec::new();
        group.split(Part { reduced: reduced.clone(), start: 0, offset: 0 }, self.limit, &mut parts)?;
        let across = group.across(&parts[0], is_empty);
        let beside = THREADS as u64 / across;
        let runs = group.outputs.div_ceil(beside);
        let shares: Vec<u64> = parts.iter().map(|part| group.shares(part, across, runs)).collect();
        let all: u64 = shares.iter().sum();
        if all > 1 {
            let partial = group.outputs.checked_mul(all * reduction.accumulator() as u64);
            let partial = partial.and_then(|bytes| usize::try_from(bytes).ok()).ok_or(LaunchError::TooLarge)?;
            self.partial = self.partial.max(partial.next_multiple_of(16));
            self.tickets = self.tickets.max(4 * runs as usize);
        }
        let mut before = 0;
        for (part, &shares) in parts.iter().zip(&shares) {
            let arguments = group.argument(part, bases, [across, all, before, shares], is_empty);
            self.launches.push(FoldLaunch { layout: group.layout, blocks: (runs * shares) as u32, arguments });
            before += shares;
        }
        Ok(())
    }
}

/// The dimensions of outputs over nothing.
fn outputs_alone(results: &[Geometry]) -> LaunchDims {
    let Some(first) = results.first() else { return LaunchDims::new() };
    let dim = |d: usize| LaunchDim {
        size: first.sizes()[d] as u64,
        // The input is not looked at.
        strides: results
            .iter()
            .map(|g| (g.strides()[d] as u64).wrapping_mul(g.dtype().size() as u64))
            .chain([0])
            .collect(),
    };
    // The elements of an expanded dimension are one.
    let own = |&d: &usize| first.sizes()[d] > 1 && results.iter().any(|g| g.strides()[d] != 0);
    (0..first.sizes().len()).rev().filter(own).map(dim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use monomorph_core::DType;
    use monomorph_iter::{Config, Flags, View, build_over};
    use monomorph_ops::reduce::{SumFn, symbolic};

    /// The plan of a sum of float32 over these sizes and strides, in elements; results have stride 0 where they are
    /// reduced.
    fn plan(sizes: &[i64], input: &[i64], result: &[i64]) -> FoldPlan {
        let flags = Flags::REDUCE_2.with_device_check(false);
        let kept: Vec<i64> = sizes.iter().zip(result).map(|(&n, &stride)| if stride == 0 { 1 } else { n }).collect();
        let views = [View::new(DType::F32, &kept, result), View::new(DType::F32, sizes, input)];
        let iter = build_over(&Config::new(flags), &views[..1], &views[1..]).unwrap();
        let sum = Reduction::new("sum", DType::F32, symbolic::<SumFn>(DType::F32).unwrap());
        FoldPlan::new(&sum, &iter, &[1 << 40, 1 << 50], &[]).unwrap()
    }

    fn word(launch: &FoldLaunch, at: usize) -> u64 {
        u64::from_le_bytes(launch.arguments[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn what_a_kernel_cannot_count_is_split() {
        // 2^33 + 5 elements of one output: parts of less than 2^31, one behind the other.
        let n = (1_i64 << 33) + 5;
        let one = plan(&[n], &[1], &[0]);
        let count = |launch: &FoldLaunch| word(launch, 48) >> 32;
        assert!(one.launches().iter().all(|launch| launch.layout == InputLayout::Dense && count(launch) < INDICES));
        let mut start = 0;
        for launch in one.launches() {
            assert_eq!((word(launch, 32), word(launch, 40)), (start, n as u64));
            assert_eq!(word(launch, 8), (1 << 50) + 4 * start);
            start += count(launch);
        }
        assert_eq!(start, n as u64);
        assert!(one.launches().len() > 4 && one.scratch() > 0);
        // Outputs whose bytes are too many are groups, which share nothing.
        let rows = plan(&[1 << 20, 1 << 12], &[1 << 12, 1], &[1, 0]);
        assert!(rows.launches().len() > 4 && rows.scratch() == 0);
        let outputs = |launch: &FoldLaunch| word(launch, 48) & 0xffff_ffff;
        assert_eq!(rows.launches().iter().map(outputs).sum::<u64>(), 1 << 20);
        // Columns of too many bytes: parts of all outputs.
        let columns = plan(&[1 << 20, 1 << 12], &[1 << 12, 1], &[0, 1]);
        assert!(
            columns.launches().iter().all(|launch| outputs(launch) == 1 << 12 && launch.layout == InputLayout::Strided)
        );
        assert_eq!(columns.launches().iter().map(count).sum::<u64>(), 1 << 20);
        assert!(columns.scratch() > 0 && columns.tickets().len() == 4 * (1 << 12) / THREADS);
    }

    #[test]
    fn blocks_share_outputs_where_there_are_few() {
        let blocks = |sizes: &[i64], input: &[i64], result: &[i64]| -> Vec<u32> {
            plan(sizes, input, result).launches().iter().map(|launch| launch.blocks).collect()
        };
        assert_eq!(blocks(&[1 << 24], &[1], &[0]), [1024]);
        assert_eq!(blocks(&[4096, 4096], &[4096, 1], &[1, 0]), [4096]);
        assert_eq!(blocks(&[4096, 4096], &[4096, 1], &[0, 1]), [1024]);
        assert_eq!(blocks(&[100], &[1], &[0]), [1]);
    }

    #[test]
    fn outputs_over_nothing_are_filled_element_by_element() {
        let filled = |sizes: &[i64], strides: &[i64]| {
            let result = Geometry::new(DType::F32, sizes, strides, 0).unwrap();
            let views = [View::new(DType::F32, &[1], &[0]), View::new(DType::F32, &[0], &[1])];
            let iter = build_over(&Config::new(Flags::REDUCE_2), &views[..1], &views[1..]).unwrap();
            let sum = Reduction::new("sum", DType::F32, symbolic::<SumFn>(DType::F32).unwrap());
            FoldPlan::new(&sum, &iter, &[1 << 40, 1 << 50], &[result])
        };
        let outputs = |plan: FoldPlan| -> Vec<u64> {
            plan.launches().iter().map(|launch| word(launch, 48) & 0xffff_ffff).collect()
        };
        assert_eq!(outputs(filled(&[2, 3], &[3, 1]).unwrap()), [6]);
        // All elements of an expanded output are one.
        assert_eq!(outputs(filled(&[1 << 50, 3], &[0, 1]).unwrap()), [3]);
        // Of these there are too many, in little memory.
        assert_eq!(filled(&[1 << 14, 1 << 14, 1 << 14], &[1, 1, 1]), Err(LaunchError::TooLarge));
    }
}
