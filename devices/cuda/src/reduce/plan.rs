//! A reduction as launches: which kernel, how many threads and blocks share an output, what is split because kernels count
//! with 31 bits, and the bytes of each argument. Decided by shapes, strides and offsets alone, so that results do not depend
//! on the GPU. Launches nothing.

use super::functor::{Reduction, Way};
use crate::launch::{Bytes, DIMS, INDICES, LaunchError, THREADS};
use monomorph_core::Geometry;
use monomorph_iter::TensorIter;
use smallvec::SmallVec;

/// Blocks that keep any GPU busy: outputs are shared until there are as many.
const BUSY: u64 = 1024;

/// Units that a thread has in flight, and how often it should have them before a block more is worth its while.
const FLIGHT: u64 = 4;
const ROUNDS: u64 = 4;

/// One dimension: its size, and its strides in bytes, of results and input.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Dim {
    size: u64,
    strides: SmallVec<[u64; 3]>,
}

/// Dimensions of more than one element, the fastest first.
type Dims = Vec<Dim>;

/// One launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldLaunch {
    /// The kernel.
    pub way: Way,
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

/// The outputs of some launches: how they are shared.
struct Group<'a> {
    reduction: &'a Reduction,
    kept: Dims,
    outputs: u64,
    total: u64,
    way: Way,
    adjacent: bool,
}

/// A part of the elements of every output.
struct Part {
    reduced: Dims,
    /// The place of the first element, and its bytes in the input.
    start: u64,
    offset: u64,
}

fn numel(dims: &[Dim]) -> Option<u64> {
    dims.iter().try_fold(1_u64, |all, dim| all.checked_mul(dim.size))
}

/// Whether the elements are fewer than a kernel counts, and the bytes of operands `from` on.
fn fits(dims: &[Dim], from: usize, limit: u64) -> bool {
    let operands = dims.first().map_or(0, |dim| dim.strides.len());
    let reach =
        |k: usize| dims.iter().try_fold(0_u64, |all, dim| all.checked_add(dim.strides[k].checked_mul(dim.size - 1)?));
    let counts = numel(dims).is_some_and(|n| n < limit);
    counts && (from..operands).all(|k| reach(k).is_some_and(|end| end < limit))
}

impl FoldPlan {
    /// The launches of the reduction over `iter`, whose operands begin at these addresses, results first. Of a reduction
    /// over nothing, which the iteration does not have, `results` are the outputs.
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

    /// The same for kernels that count elements and bytes up to a limit, so that what is split can be tried in the small.
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
        let of_iter = |d: usize| Dim {
            size: iter.shape()[d] as u64,
            strides: (0..operands).map(|k| iter.strides(k)[d] as u64).collect(),
        };
        let pick = |is_reduced: bool| -> Dims {
            let own = (0..iter.ndim()).filter(|&d| iter.shape()[d] > 1 && iter.is_dim_reduced(d) == is_reduced);
            own.map(of_iter).collect()
        };
        let is_empty = iter.numel() == 0;
        let (kept, reduced) = if is_empty { (outputs_alone(results), Dims::new()) } else { (pick(false), pick(true)) };
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

    /// Bytes that the launches share: none, or accumulators and tickets, which are to be zero before the first launch and are
    /// so again behind the last.
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
        kept: Dims,
        reduced: &Dims,
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
        let group = Group::new(reduction, kept, reduced, bases, total)?;
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
            self.launches.push(FoldLaunch { way: group.way, blocks: (runs * shares) as u32, arguments });
            before += shares;
        }
        Ok(())
    }
}

/// The dimensions of outputs over nothing.
fn outputs_alone(results: &[Geometry]) -> Dims {
    let Some(first) = results.first() else { return Dims::new() };
    let dim = |d: usize| Dim {
        size: first.sizes()[d] as u64,
        // The input is not looked at.
        strides: results.iter().map(|g| g.strides()[d] as u64 * g.dtype().size() as u64).chain([0]).collect(),
    };
    (0..first.sizes().len()).rev().filter(|&d| first.sizes()[d] > 1).map(dim).collect()
}

/// Both halves along the slowest dimension, and how many of its steps the second begins later: many at once, so that it is
/// aligned as the first is.
fn halves(dims: &Dims) -> Option<(Dims, Dims, u64)> {
    let (slowest, faster) = dims.split_last()?;
    let half = slowest.size.div_ceil(2);
    let first = if slowest.size > 32 { half.next_multiple_of(16) } else { half };
    let with = |size: u64| {
        let own = Dim { size, strides: slowest.strides.clone() };
        faster.iter().cloned().chain((size > 1).then_some(own)).collect()
    };
    Some((with(first), with(slowest.size - first), first))
}

impl<'a> Group<'a> {
    fn new(
        reduction: &'a Reduction,
        kept: Dims,
        reduced: &Dims,
        bases: &[u64],
        total: u64,
    ) -> Result<Group<'a>, LaunchError> {
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
        let step = |dims: &Dims| dims.iter().map(|dim| dim.strides[input]).min();
        // Neighbours should load what lies side by side.
        let adjacent = match (reduced.first(), step(&kept)) {
            (Some(run), Some(step)) => run.strides[input] <= step,
            _ => true,
        };
        let way = if is_dense { Way::Dense } else { Way::Apart };
        Ok(Group { reduction, kept, outputs, total, way, adjacent: is_dense || adjacent })
    }

    /// Halves the elements of the outputs until a kernel can count them, the first half first.
    fn split(&self, part: Part, limit: u64, parts: &mut Vec<Part>) -> Result<(), LaunchError> {
        let input = self.reduction.results().len();
        // Words are counted, and not their bytes.
        let counts = match self.way {
            Way::Dense => numel(&part.reduced).is_some_and(|n| n < limit),
            Way::Apart => fits(&part.reduced, input, limit),
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
        if self.way == Way::Dense { count / self.reduction.each() as u64 } else { count }
    }

    /// Threads of an output in a block.
    fn across(&self, part: &Part, is_empty: bool) -> u64 {
        match (is_empty, self.adjacent) {
            (true, _) => 1,
            (_, true) => self.units(part).div_ceil(FLIGHT).next_power_of_two().min(THREADS as u64),
            (_, false) => THREADS as u64 / self.outputs.next_power_of_two().min(THREADS as u64),
        }
    }

    /// Blocks that share an output.
    fn shares(&self, part: &Part, across: u64, runs: u64) -> u64 {
        let units = self.units(part);
        (BUSY / runs).min(units / (across * FLIGHT * ROUNDS)).max(1)
    }

    /// The argument, but for what launches share.
    fn argument(&self, part: &Part, bases: &[u64], [across, all, before, shares]: [u64; 4], is_empty: bool) -> Vec<u8> {
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
        let stride = |dims: &Dims, d: usize, k: usize| dims.get(d).map_or(0, |dim| dim.strides[k] as u32);
        (0..DIMS).for_each(|d| (0..bases.len()).for_each(|k| bytes.u32(stride(&self.kept, d, k))));
        (0..DIMS).for_each(|d| bytes.u32(stride(&part.reduced, d, input)));
        bytes.whole()
    }
}
