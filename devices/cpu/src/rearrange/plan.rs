//! How a rearrangement is walked: its dimensions in the order of the target's memory, in bytes, as few as there can be.

use crate::offsets::Offsets;
use monomorph_core::{Segment, SegmentSource, Strided};
use smallvec::SmallVec;

/// Neighbours along a dimension of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// So many elements, or rows of them, that show the filler.
    Filler(usize),
    /// `n` of the source: the first one so many bytes from its start, each `step` bytes behind the one before.
    Elements { first: isize, step: isize, n: usize },
}

impl Run {
    pub(super) fn length(&self) -> usize {
        match *self {
            Run::Filler(n) | Run::Elements { n, .. } => n,
        }
    }

    /// The run of `n` of its places from `start` on.
    fn part(&self, start: usize, n: usize) -> Run {
        match *self {
            Run::Filler(_) => Run::Filler(n),
            Run::Elements { first, step, .. } => {
                Run::Elements { first: first.wrapping_add(step.wrapping_mul(start as isize)), step, n }
            }
        }
    }
}

/// A dimension of the target.
#[derive(Clone, Debug)]
pub(super) struct Dim {
    /// Bytes from place to place in the target.
    pub(super) to: isize,
    /// What the places show, in their order.
    pub(super) runs: SmallVec<[Run; 3]>,
}

impl Dim {
    pub(super) fn length(&self) -> usize {
        self.runs.iter().map(Run::length).sum()
    }

    /// Some of its places.
    pub(super) fn part(&self, places: std::ops::Range<usize>) -> Dim {
        let mut start = 0;
        let mut runs = SmallVec::new();
        for run in &self.runs {
            let end = start + run.length();
            let (from, to) = (places.start.max(start), places.end.min(end));
            if from < to {
                runs.push(run.part(from - start, to - from));
            }
            start = end;
        }
        Dim { to: self.to, runs }
    }

    fn has_filler(&self) -> bool {
        self.runs.iter().any(|run| matches!(run, Run::Filler(_)))
    }

    /// How many bytes away from the source's start its places are at most.
    fn reach(&self) -> usize {
        let ends = self.runs.iter().map(|run| match *run {
            Run::Filler(_) => 0,
            Run::Elements { first, step, n } => {
                let last = first.wrapping_add(step.wrapping_mul(n.saturating_sub(1) as isize));
                first.unsigned_abs().max(last.unsigned_abs())
            }
        });
        ends.max().unwrap_or(0)
    }

    /// The one run of source elements that it is, if it is one.
    fn only_elements(&self) -> Option<(isize, isize, usize)> {
        match self.runs[..] {
            [Run::Elements { first, step, n }] => Some((first, step, n)),
            _ => None,
        }
    }

    /// This dimension and the one inside of it as one, where every place of this one shows a whole place of the source
    /// and the next place lies behind it on both sides; with the bytes from the source's start to the first of them.
    fn merged(&self, inner: &Dim) -> Option<(Dim, isize)> {
        let (first, step, n) = inner.only_elements()?;
        let (from_row, to_row) = (step.wrapping_mul(n as isize), inner.to.wrapping_mul(n as isize));
        // A length that is a part of a block, which does not overflow.
        let merge = |run: &Run| match *run {
            Run::Filler(rows) => Some(Run::Filler(rows * n)),
            Run::Elements { first, n: 1, .. } => Some(Run::Elements { first, step, n }),
            Run::Elements { first, step: to_next, n: rows } if to_next == from_row => {
                Some(Run::Elements { first, step, n: rows * n })
            }
            Run::Elements { .. } => None,
        };
        let runs = (to_row == self.to).then(|| self.runs.iter().map(merge).collect::<Option<_>>())??;
        Some((Dim { to: inner.to, runs }, first))
    }
}

/// All dimensions that have more than one place, outermost first; none if the target is one element.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) dims: SmallVec<[Dim; 4]>,
    /// Bytes from the source's first element to that from which on the runs count.
    pub(super) first: isize,
    /// The whole target shows the filler.
    pub(super) is_filler: bool,
}

impl Plan {
    /// The plan for a source of these sizes. The target has elements.
    pub(super) fn new(sizes: &[i64], to: &Strided<'_>, from: &Strided<'_>, segments: &[Segment]) -> Plan {
        let size = to.dtype.size() as isize;
        // The stride of a dimension of size 1 leads nowhere, so it may be any; those of others lead to elements.
        let bytes = |stride: i64| (stride as isize).wrapping_mul(size);
        let mut plan = Plan { dims: SmallVec::new(), first: 0, is_filler: false };
        for (d, &length) in sizes.iter().enumerate() {
            let stride = bytes(from.strides[d]);
            let run = |segment: &Segment| match segment.source {
                SegmentSource::Filler => Run::Filler(segment.length as usize),
                SegmentSource::Elements { first, step } => Run::Elements {
                    first: stride.wrapping_mul(first as isize),
                    step: stride.wrapping_mul(step as isize),
                    n: segment.length as usize,
                },
            };
            let own = segments.iter().filter(|segment| segment.dim == d);
            let mut runs: SmallVec<[Run; 3]> = own.clone().filter(|segment| segment.length > 0).map(run).collect();
            if own.count() == 0 {
                runs.push(Run::Elements { first: 0, step: stride, n: length as usize });
            }
            let dim = Dim { to: bytes(to.strides[d]), runs };
            match dim.runs[..] {
                [Run::Elements { first, n: 1, .. }] => plan.first = plan.first.wrapping_add(first),
                [Run::Filler(1)] => plan.is_filler = true,
                _ => plan.dims.push(dim),
            }
        }
        if plan.is_filler {
            for dim in &mut plan.dims {
                dim.runs = SmallVec::from_slice(&[Run::Filler(dim.length())]);
            }
        }
        // The target is dense, so that no two dimensions of more than one place have one stride.
        plan.dims.sort_unstable_by_key(|dim| std::cmp::Reverse(dim.to));
        plan.merge();
        plan
    }

    /// Makes one dimension of two wherever that is possible, from the innermost on.
    fn merge(&mut self) {
        let mut at = self.dims.len();
        while at > 1 {
            at -= 1;
            if let Some((merged, first)) = self.dims[at - 1].merged(&self.dims[at]) {
                self.first = self.first.wrapping_add(first);
                self.dims[at - 1] = merged;
                self.dims.remove(at);
            }
        }
    }

    pub(super) fn numel(&self) -> usize {
        self.dims.iter().map(Dim::length).product()
    }

    /// How many of the innermost dimensions are written at once: as many as have few elements together where rows are
    /// short, so that beginning a row would take longer than writing it; else the row.
    pub(super) fn leaf_dims(&self) -> usize {
        /// Elements of a short row.
        const SHORT: usize = 16;
        let is_short = self.dims.last().is_some_and(|row| row.length() < SHORT);
        let mut length = 1_usize;
        let mut reach = 0_usize;
        let fits = |dim: &&Dim| {
            length = length.saturating_mul(dim.length());
            reach = reach.saturating_add(dim.reach());
            length <= Offsets::MOST && reach < i32::MAX as usize && !dim.has_filler()
        };
        let few = self.dims.iter().rev().take_while(fits).count();
        if is_short && few > 1 { few } else { self.dims.len().min(1) }
    }

    /// True if the source lies across the rows of the target: its neighbours are in different ones.
    pub(super) fn is_transposed(&self) -> bool {
        let longest = |dim: &Dim| {
            let elements = dim.runs.iter().filter(|run| matches!(run, Run::Elements { .. }));
            elements.max_by_key(|run| run.length()).copied()
        };
        /// Shorter runs are not worth a copy of a block.
        const LONG: usize = 16;
        let step = |dim: &Dim| match longest(dim) {
            Some(Run::Elements { step, n, .. }) if n >= LONG => Some(step.unsigned_abs()),
            _ => None,
        };
        let Some(row) = self.dims.last().and_then(step) else { return false };
        self.dims.iter().filter_map(step).any(|step| 0 < step && step < row)
    }
}
