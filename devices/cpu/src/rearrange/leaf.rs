//! What is written at once: a dense part of the target, either one row or all elements of small dimensions.

use super::plan::{Dim, Plan, Run};
use super::runs::{copy_bytes, copy_run, fill_run};
use crate::offsets::{Offsets, Sides};
use smallvec::SmallVec;

/// Runs of at most so many elements are written one by one: a loop over a run would take longer to begin.
const FEW: usize = 16;

/// A dense part of the target.
pub(super) struct Leaf {
    /// Elements in it.
    pub(super) length: usize,
    sort: Sort,
}

enum Sort {
    /// Elements in any order, by their places in the source.
    Offsets(Offsets),
    Row(Row),
}

/// A row, by what is quickest for each of its runs. Places in the target are counted in elements from its start, those
/// in the source in bytes.
#[derive(Default)]
struct Row {
    /// Dense bytes: where they go, where they are, how many there are.
    spans: SmallVec<[(usize, isize, usize); 2]>,
    /// Elements of their own.
    singles: SmallVec<[(usize, isize); 8]>,
    /// Elements that are the filler.
    fillers: SmallVec<[usize; 8]>,
    /// Long runs that are not dense, in the source or because they are the filler.
    long: SmallVec<[(usize, Run); 2]>,
}

impl Leaf {
    /// The leaf of these dimensions, the innermost of a plan, of elements of `size` bytes.
    pub(super) fn new(plan: &Plan, dims: &[Dim], size: usize) -> Leaf {
        let length = dims.iter().map(Dim::length).product();
        let sort = match dims {
            [] => {
                let run = match plan.is_filler {
                    true => Run::Filler(1),
                    false => Run::Elements { first: 0, step: 0, n: 1 },
                };
                Sort::Row(Row::new([&run].into_iter(), size))
            }
            [row] => Sort::Row(Row::new(row.runs.iter(), size)),
            dims => Sort::Offsets(offsets(dims)),
        };
        Leaf { length, sort }
    }

    /// Writes it.
    ///
    /// # Safety
    ///
    /// P1, P2 for the elements of the leaf, which are of the size of `T`.
    #[inline(always)]
    pub(super) unsafe fn write<T: Copy>(&self, sides: Sides, filler: T) {
        match &self.sort {
            // SAFETY: the elements of the leaf are in bounds on both sides (P1) and apart (P2).
            Sort::Offsets(offsets) => unsafe { offsets.gather::<T>(sides) },
            // SAFETY: the elements of the leaf are in bounds on both sides (P1) and apart (P2).
            Sort::Row(row) => unsafe { row.write(sides, filler) },
        }
    }
}

/// Where each element of the dimensions, which show no filler and whose offsets fit, comes from.
fn offsets(dims: &[Dim]) -> Offsets {
    let mut all = Offsets::new();
    for dim in dims.iter().rev() {
        all.repeat(dim.runs.iter().flat_map(|run| {
            let (first, step, n) = match *run {
                Run::Filler(_) => (0, 0, 0),
                Run::Elements { first, step, n } => (first, step, n),
            };
            (0..n as isize).map(move |i| first.wrapping_add(step.wrapping_mul(i)))
        }));
    }
    all
}

impl Row {
    fn new<'a>(runs: impl Iterator<Item = &'a Run>, size: usize) -> Row {
        let mut row = Row::default();
        let mut at = 0;
        for run in runs {
            match *run {
                Run::Filler(n) if n <= FEW => row.fillers.extend(at..at + n),
                Run::Elements { first, step, n } if step == size as isize && n * size >= 16 => {
                    row.spans.push((at, first, n * size));
                }
                Run::Elements { first, step, n } if n <= FEW => {
                    let single = |i: usize| (at + i, first.wrapping_add(step.wrapping_mul(i as isize)));
                    row.singles.extend((0..n).map(single));
                }
                long => row.long.push((at, long)),
            }
            at += run.length();
        }
        row
    }

    /// # Safety
    ///
    /// P1, P2 for the elements of the row, which are of the size of `T`.
    #[inline(always)]
    unsafe fn write<T: Copy>(&self, sides: Sides, filler: T) {
        let to = |at: usize| sides.to.cast::<T>().wrapping_add(at);
        for &(at, first, bytes) in &self.spans {
            // SAFETY: dense bytes of the row, in bounds on both sides (P1) and apart (P2).
            unsafe { copy_bytes(sides.from.wrapping_offset(first), to(at).cast(), bytes) };
        }
        for &(at, first) in &self.singles {
            // SAFETY: an element of the source, in bounds and initialised (P1).
            let value = unsafe { sides.from.wrapping_offset(first).cast::<T>().read_unaligned() };
            // SAFETY: an element of the row, in bounds (P1) and nobody else's (P2).
            unsafe { to(at).write_unaligned(value) };
        }
        for &at in &self.fillers {
            // SAFETY: an element of the row, in bounds (P1) and nobody else's (P2).
            unsafe { to(at).write_unaligned(filler) };
        }
        for &(at, run) in &self.long {
            match run {
                // SAFETY: elements of the row, in bounds (P1) and nobody else's (P2).
                Run::Filler(n) => unsafe { fill_run(filler, to(at).cast(), n) },
                Run::Elements { first, step, n } => {
                    // SAFETY: elements of the row, in bounds (P1) and nobody else's (P2), those of the source in bounds
                    // and initialised (P1), apart from the row (P2).
                    unsafe { copy_run::<T>(sides.from.wrapping_offset(first), step, to(at).cast(), n) };
                }
            }
        }
    }
}
