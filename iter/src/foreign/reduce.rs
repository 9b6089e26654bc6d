//! Reductions of foreign memory by closures: into the elements of a view, or to one value. Where a reduction is cut
//! depends on its shape alone, so that results do not depend on the number of threads.
//!
//! ```text
//! to one value:   |chunk 0|chunk 1|chunk 2|chunk 3|chunk 4|      each folded from its own start
//!                     └───┬───┘       └───┬───┘       │
//!                         └───────┬───────┘           │          merged in a reduction tree
//!                                 └─────────┬─────────┘
//! ```

use super::apply::{FLAGS, ForeignIter, ForeignPlan, each_index, load, store};
use super::view::{ForeignView, ForeignViewMut};
use crate::config::{Config, Flags};
use crate::share::{Payload, caught, is_parallel, share};
use crate::tensor_iter::TensorIter;
use crate::walk::{Bases, GRAIN};
use monomorph_core::Element;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;

/// A piece of a dense dimension is a multiple of so many bytes, two cache lines: two threads that write to one line
/// would be slower than either alone.
const PIECE_BYTES: usize = 128;

/// Replaces each element `o` of `out` by `f(o, x)`, with `a` broadcast to the sizes of `out`. Errors as for
/// [`ForeignIter::build`].
pub fn update<O: Element, A: Element>(
    out: ForeignViewMut<'_, O>,
    a: ForeignView<'_, A>,
    f: impl Fn(O, A) -> O + Sync,
) -> monomorph_core::Result<()> {
    accumulate_over(FLAGS, out, a, f)
}

/// Reduces `a` into `out`, which has size 1 in the dimensions that are reduced: each element `o` of `out` becomes
/// `f(…f(f(o, x₀), x₁)…)` over the elements of `a` that belong to it, in the order in which they are walked. What `out`
/// held before is the start.
///
/// Errors: as for [`ForeignIter::build`], and sizes of `out` that are neither those of `a` nor 1.
pub fn accumulate<O: Element, A: Element>(
    out: ForeignViewMut<'_, O>,
    a: ForeignView<'_, A>,
    f: impl Fn(O, A) -> O + Sync,
) -> monomorph_core::Result<()> {
    accumulate_over(Flags::REDUCE_1.with_promotion(false), out, a, f)
}

fn accumulate_over<O: Element, A: Element>(
    flags: Flags,
    out: ForeignViewMut<'_, O>,
    a: ForeignView<'_, A>,
    f: impl Fn(O, A) -> O + Sync,
) -> monomorph_core::Result<()> {
    let plan = ForeignIter::new(Config::new(flags)).output(out).input(a).build()?;
    for_each_piece(&plan, |p, s, n0, n1| {
        each_index(p, s, n0, n1, |p| {
            // SAFETY: R1; operand 0 is of type O, and only this thread has its element.
            let o = unsafe { load::<O>(p[0]) };
            // SAFETY: R1; operand 1 is of type A.
            let x = unsafe { load::<A>(p[1]) };
            // SAFETY: R1; operand 0 is of type O.
            unsafe { store(p[0], f(o, x)) };
        });
    })
}

/// Calls `f` as [`TensorIter::for_each`] would, on several threads where the elements are many and some dimension is
/// not reduced: that with the most indices, the outer of equals, is cut into pieces. All elements of one output element
/// are in one piece, in the same order as in the whole.
fn for_each_piece<F>(plan: &ForeignPlan<'_>, f: F) -> monomorph_core::Result<()>
where
    F: Fn(&[*mut u8], &[isize], usize, usize) + Sync,
{
    let (iter, bases) = (&plan.iter, Bases::new(&plan.base));
    let shared = || {
        let kept = (0..iter.ndim()).filter(|&d| iter.shape[d] > 1 && !iter.is_dim_reduced(d));
        kept.max_by_key(|&d| iter.shape[d])
    };
    let Some(dim) = (if iter.serial || iter.numel <= GRAIN { None } else { shared() }) else {
        // SAFETY: W1: F3 and F1; W2: F2, and the memory is borrowed for as long as the plan lives.
        unsafe { iter.serial_for_each(bases.get(), 0..iter.numel, f) };
        return Ok(());
    };
    let (size, len) = (iter.shape[dim], piece_len(iter, dim));
    let piece = |i: usize| {
        let start = i * len;
        let part = iter.narrow(dim, start, len.min(size - start))?;
        // SAFETY: W1: F3 and F1 for the elements of the part, which are some of the whole; W2: F2, and pieces share no
        // output element.
        unsafe { part.iter.serial_for_each(&part.bases(bases.get()), 0..part.iter.numel(), &f) };
        Ok(())
    };
    let pieces = size.div_ceil(len);
    if pieces < 2 || !is_parallel(iter.numel, GRAIN) {
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

/// How many indices of `dim` make a piece of about [`GRAIN`] elements.
fn piece_len(iter: &TensorIter, dim: usize) -> usize {
    let per_index = iter.numel.checked_div(iter.shape[dim]).unwrap_or(1).max(1);
    let len = GRAIN.div_ceil(per_index).max(1);
    let (input, element) = (iter.noutputs(), iter.dtype(iter.noutputs()).size());
    let dense = iter.strides(input).get(dim) == Some(&(element as isize));
    if dense { len.next_multiple_of((PIECE_BYTES / element).max(1)) } else { len }
}

/// Folds all elements of `a` to one value. Runs of elements are folded by `step`, each from its own `start()`; their
/// results are joined in order. How they are cut depends on the sizes alone, so the result does not depend on the
/// number of threads.
pub fn fold<T: Element, A: Send>(
    a: ForeignView<'_, T>,
    start: impl Fn() -> A + Sync,
    step: impl Fn(A, T) -> A + Sync,
    join: impl Fn(A, A) -> A + Sync,
) -> monomorph_core::Result<A> {
    let plan = ForeignIter::default().input(a).build()?;
    let (iter, bases) = (&plan.iter, Bases::new(&plan.base));
    let chunk = |i: usize| {
        let mut folded = None;
        let each = |p: &[*mut u8], s: &[isize], n0: usize, n1: usize| {
            each_index(p, s, n0, n1, |p| {
                // SAFETY: R1; operand 0 is of type T.
                let x = unsafe { load::<T>(p[0]) };
                folded = Some(step(folded.take().unwrap_or_else(&start), x));
            });
        };
        // SAFETY: W1: F3 and F1; W2: nothing is written, and the memory is borrowed for as long as the plan lives.
        unsafe { iter.serial_for_each(bases.get(), i * GRAIN..(i + 1) * GRAIN, each) };
        folded
    };
    let both = |x: Option<A>, y: Option<A>| match (x, y) {
        (Some(x), Some(y)) => Some(join(x, y)),
        (x, y) => x.or(y),
    };
    let parallel = !iter.serial && is_parallel(iter.numel, GRAIN);
    let (leaf, merge) = (|i| caught(|| chunk(i)), |x, y| caught(|| both(x, y)));
    match reduction_tree(0..iter.numel.div_ceil(GRAIN).max(1), parallel, &leaf, &merge) {
        Ok(folded) => Ok(folded.unwrap_or_else(start)),
        Err(panic) => resume_unwind(panic),
    }
}

/// Merges leaves in order: the left half of a node is the largest power of two below its number of leaves. If leaves or
/// merges panic, the panic of the leftmost is the result. The others, and accumulators that are left, are forgotten: to
/// drop them runs a caller's code, which could panic on a thread of the pool.
fn reduction_tree<A: Send>(
    leaves: Range<usize>,
    parallel: bool,
    leaf: &(impl Fn(usize) -> Result<A, Payload> + Sync),
    merge: &(impl Fn(A, A) -> Result<A, Payload> + Sync),
) -> Result<A, Payload> {
    let n = leaves.len();
    if n <= 1 {
        return leaf(leaves.start);
    }
    let middle = leaves.start + n.next_power_of_two() / 2;
    let (left, right) = (leaves.start..middle, middle..leaves.end);
    let (a, b) = if parallel {
        rayon::join(|| reduction_tree(left, true, leaf, merge), || reduction_tree(right, true, leaf, merge))
    } else {
        let a = reduction_tree(left, false, leaf, merge)?;
        (Ok(a), reduction_tree(right, false, leaf, merge))
    };
    match (a, b) {
        (Ok(a), Ok(b)) => merge(a, b),
        (Err(panic), other) | (other, Err(panic)) => {
            std::mem::forget(other);
            Err(panic)
        }
    }
}
