//! Walks of reductions: in two passes to a single element, split along a kept dimension, or output by output. Owns
//! where a reduction is cut, which depends on its shape alone, so that results do not depend on the number of threads.
//!
//! ```text
//! one output element:   |chunk 0|chunk 1|chunk 2|chunk 3|chunk 4|      each folded from its own start
//!                           └───┬───┘       └───┬───┘       │
//!                               └───────┬───────┘           │          joined as a binary counter would
//!                                       └─────────┬─────────┘
//! ```

use crate::share::{Payload, caught, is_parallel, share};
use crate::tensor_iter::TensorIter;
use crate::walk::Bases;
use smallvec::SmallVec;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;

/// Bytes that a piece of a split dimension is a multiple of, where the dimension is dense: a piece of a cache line for
/// each of two threads would be slower than either alone.
const PIECE_BYTES: usize = 128;

/// How a reduction is best walked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReduceSplit {
    /// On one thread: it is small, or its operands may overlap.
    Serial,
    /// To a single element: [`fold`](TensorIter::fold).
    TwoPass,
    /// Along this kept dimension: [`for_each_piece`](TensorIter::for_each_piece).
    Along(usize),
}

impl TensorIter {
    /// How the reduction is cut, from its shape alone.
    pub fn reduce_split(&self, grain: usize) -> ReduceSplit {
        if self.serial || self.numel <= grain.max(1) {
            return ReduceSplit::Serial;
        }
        match self.dim_to_share() {
            None => ReduceSplit::TwoPass,
            Some(dim) => ReduceSplit::Along(dim),
        }
    }

    /// The kept dimension with the most indices, the outer of equals; `None` if all are reduced.
    fn dim_to_share(&self) -> Option<usize> {
        (0..self.ndim()).filter(|&d| self.shape[d] > 1 && !self.is_dim_reduced(d)).max_by_key(|&d| self.shape[d])
    }

    /// Folds all elements to one value. Chunks of `chunk` elements are folded by `step`, each from its own `start()`,
    /// on several threads where allowed; the results are then joined in order, in a tree that depends on their number
    /// alone.
    ///
    /// `step` gets, after the accumulator, the number of the first element of the call (innermost dimension first),
    /// then what a loop of [`for_each`](TensorIter::for_each) gets.
    ///
    /// # Safety
    ///
    /// W1 and W2 of [`for_each`](TensorIter::for_each), and `step` writes through no pointer.
    pub unsafe fn fold<A, I, S, J>(&self, base: &[*mut u8], chunk: usize, start: I, step: S, join: J) -> A
    where
        A: Send,
        I: Fn() -> A + Sync,
        S: Fn(&mut A, usize, &[*mut u8], &[isize], usize, usize) + Sync,
        J: Fn(A, A) -> A + Sync,
    {
        let chunk = chunk.max(1);
        let bases = Bases::new(base);
        let folded = |i: usize| {
            let mut acc = start();
            let mut first = i.saturating_mul(chunk);
            let range = first..first.saturating_add(chunk);
            let each = |p: &[*mut u8], s: &[isize], n0, n1| {
                step(&mut acc, first, p, s, n0, n1);
                first += n0 * n1;
            };
            // SAFETY: W1 and W2 are passed on; nothing is written.
            unsafe { self.serial_for_each(bases.get(), range, each) };
            acc
        };
        let parallel = !self.serial && is_parallel(self.numel, chunk);
        let (leaf, join) = (|i| caught(|| folded(i)), |a, b| caught(|| join(a, b)));
        match tree(0..self.numel.div_ceil(chunk).max(1), parallel, &leaf, &join) {
            Ok(folded) => folded,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Cuts kept dimension `dim` into pieces of about `grain` elements and calls `f` with each and its bases, on
    /// several threads where allowed. All elements of one output element are in one piece, in the same order as in the
    /// whole.
    ///
    /// # Safety
    ///
    /// W1 and W2 of [`for_each`](TensorIter::for_each); `f` keeps to the elements of its piece.
    pub unsafe fn for_each_piece<F>(
        &self,
        base: &[*mut u8],
        dim: usize,
        grain: usize,
        f: F,
    ) -> monomorph_core::Result<()>
    where
        F: Fn(&TensorIter, &[*mut u8]) + Sync,
    {
        let bases = Bases::new(base);
        let size = self.shape.get(dim).copied().unwrap_or(0);
        let len = self.piece_len(dim, size, grain);
        let piece = |i: usize| {
            let start = i * len;
            let part = self.narrow(dim, start, len.min(size - start))?;
            f(&part.iter, &part.bases(bases.get()));
            Ok(())
        };
        let pieces = size.div_ceil(len);
        if self.serial || pieces < 2 || !is_parallel(self.numel, grain) {
            return (0..pieces).try_for_each(piece);
        }
        let failed = OnceLock::new();
        share(pieces, |i| {
            if let Err(error) = piece(i) {
                // The first one is enough.
                let _ = failed.set(error);
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// How many indices of `dim` make a piece.
    fn piece_len(&self, dim: usize, size: usize, grain: usize) -> usize {
        let per_index = self.numel.checked_div(size).unwrap_or(1).max(1);
        let len = grain.div_ceil(per_index).max(1);
        let element = self.operands.get(self.noutputs).map_or(1, |op| op.dtype.size());
        let dense =
            self.noutputs < self.noperands() && self.strides(self.noutputs).get(dim) == Some(&(element as isize));
        if dense { len.next_multiple_of((PIECE_BYTES / element).max(1)) } else { len }
    }

    /// Calls `f` once per output element, with an iteration over just the elements that are reduced to it, on several
    /// threads where there are more than `grain` elements and it is allowed.
    ///
    /// # Safety
    ///
    /// W1 and W2 of [`for_each`](TensorIter::for_each); `f` keeps to the elements of its part.
    pub unsafe fn for_each_output<F>(&self, base: &[*mut u8], grain: usize, f: F)
    where
        F: Fn(&TensorIter, &[*mut u8]) + Sync,
    {
        if self.numel == 0 {
            return;
        }
        let (part, outer) = self.part_and_outer();
        let outputs = outer.numel;
        let bases = Bases::new(base);
        let run = |range: Range<usize>| {
            let each = |p: &[*mut u8], s: &[isize], n0: usize, n1: usize| {
                for_each_start(p, s, n0, n1, |pointers| f(&part, pointers));
            };
            // SAFETY: W1 and W2 are passed on: `outer` has some of the dimensions of `self` (I2).
            unsafe { outer.serial_for_each(bases.get(), range, each) };
        };
        let per_chunk = grain.div_ceil(part.numel.max(1)).max(1);
        let chunks = outputs.div_ceil(per_chunk);
        if self.serial || chunks < 2 || !is_parallel(self.numel, grain) {
            run(0..outputs);
        } else {
            share(chunks, |i| run(i * per_chunk..((i + 1) * per_chunk).min(outputs)));
        }
    }

    /// The iteration over the reduced dimensions, and the one over the others.
    fn part_and_outer(&self) -> (TensorIter, TensorIter) {
        let pick = |reduced: bool| {
            let dims: SmallVec<[usize; 6]> = (0..self.ndim()).filter(|&d| self.is_dim_reduced(d) == reduced).collect();
            let shape: SmallVec<[usize; 6]> = dims.iter().map(|&d| self.shape[d]).collect();
            let strides = (0..self.noperands()).flat_map(|k| dims.iter().map(move |&d| self.strides(k)[d])).collect();
            let numel = crate::finish::product(&shape);
            TensorIter { shape, strides, numel, flat: false, ..self.clone() }
        };
        (pick(true), pick(false))
    }
}

/// Calls `f` with the pointers of each element of one loop call.
fn for_each_start(p: &[*mut u8], strides: &[isize], n0: usize, n1: usize, mut f: impl FnMut(&[*mut u8])) {
    let n = p.len();
    let mut pointers: SmallVec<[*mut u8; 4]> = SmallVec::from_slice(p);
    for j in 0..n1 {
        for i in 0..n0 {
            for k in 0..n {
                let offset = strides[k].wrapping_mul(i as isize).wrapping_add(strides[n + k].wrapping_mul(j as isize));
                pointers[k] = p[k].wrapping_offset(offset);
            }
            f(&pointers);
        }
    }
}

/// Joins leaves in order: the left half of a node is the largest power of two below its number of leaves. If leaves or
/// joins panic, what the leftmost says; the others, and accumulators that are left, are forgotten, since a drop of
/// theirs is a caller's code, which must not run, and panic, on a thread of the pool.
fn tree<A: Send>(
    leaves: Range<usize>,
    parallel: bool,
    leaf: &(impl Fn(usize) -> Result<A, Payload> + Sync),
    join: &(impl Fn(A, A) -> Result<A, Payload> + Sync),
) -> Result<A, Payload> {
    let n = leaves.len();
    if n <= 1 {
        return leaf(leaves.start);
    }
    let middle = leaves.start + n.next_power_of_two() / 2;
    let (left, right) = (leaves.start..middle, middle..leaves.end);
    let (a, b) = if parallel {
        rayon::join(|| tree(left, true, leaf, join), || tree(right, true, leaf, join))
    } else {
        let a = tree(left, false, leaf, join)?;
        (Ok(a), tree(right, false, leaf, join))
    };
    match (a, b) {
        (Ok(a), Ok(b)) => join(a, b),
        (Err(panic), other) | (other, Err(panic)) => {
            std::mem::forget(other);
            Err(panic)
        }
    }
}
