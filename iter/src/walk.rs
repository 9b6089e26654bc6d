//! The walk: hands the elements of an iteration to a loop, two or three dimensions at a time. Decides where to split
//! between threads, never what an element means.
//!
//! The loop gets one pointer per operand, `noperands` strides in bytes for each dimension, the innermost first, and the
//! sizes.

use crate::counter::DimCounter;
use crate::share::{is_parallel, pieces, share};
use crate::tensor_iter::TensorIter;
use smallvec::SmallVec;
use std::ops::Range;

/// Below this many elements a walk stays on one thread.
pub const GRAIN: usize = 32768;

/// One pointer per operand.
type Pointers = SmallVec<[*mut u8; 4]>;

/// The bases of a walk, lent to several threads.
#[derive(Clone, Copy)]
pub(crate) struct Bases<'a>(&'a [*mut u8]);

// SAFETY: only the walks of this crate use the pointers, and they give each thread elements that no other thread writes
// (I4, W2).
unsafe impl Send for Bases<'_> {}
// SAFETY: a shared reference gives no more than a copy does, which may be sent.
unsafe impl Sync for Bases<'_> {}

impl<'a> Bases<'a> {
    pub(crate) fn new(base: &'a [*mut u8]) -> Bases<'a> {
        Bases(base)
    }

    pub(crate) fn get(self) -> &'a [*mut u8] {
        self.0
    }
}

impl TensorIter {
    /// Calls `f` for every element, from several threads if there are more than `grain` elements, the iteration need
    /// not be serial, no output is reduced, and the caller is not in a parallel region already. `f` must be indifferent
    /// to how the elements are cut into calls.
    ///
    /// # Safety
    ///
    /// * W1: `base[k]` is the first element of operand `k` of the very geometry that the plan was made for, and all its
    ///   elements are in bounds of a live allocation. There is one base per operand.
    /// * W2: nobody else writes any operand, or reads an output, before the call returns.
    pub unsafe fn for_each<F>(&self, base: &[*mut u8], grain: usize, f: F)
    where
        F: Fn(&[*mut u8], &[isize], usize, usize) + Sync,
    {
        // SAFETY: W1 and W2 are this function's own preconditions.
        unsafe { self.for_each_slab(base, grain, |at, strides, sizes| each_plane(at, strides, sizes, &f)) };
    }

    /// The same, with `f` called for slabs of several planes: elements in a row, rows in a plane, planes.
    ///
    /// # Safety
    ///
    /// W1 and W2 of [`for_each`](TensorIter::for_each).
    pub unsafe fn for_each_slab<F>(&self, base: &[*mut u8], grain: usize, f: F)
    where
        F: Fn(&[*mut u8], &[isize], [usize; 3]) + Sync,
    {
        debug_assert_eq!(base.len(), self.noperands());
        let reduced = self.reduction && self.num_reduce_dims() > 0;
        if self.serial || reduced || !is_parallel(self.numel, grain) {
            // SAFETY: W1 and W2 are this function's own preconditions, for all elements.
            return unsafe { self.serial_for_each_slab(base, 0..self.numel, f) };
        }
        let bases = Bases::new(base);
        let chunk = self.chunk(grain);
        share(self.numel.div_ceil(chunk), |i| {
            let range = i * chunk..((i + 1) * chunk).min(self.numel);
            // SAFETY: W1 for the range, which is within that of the caller's promise; W2: nobody outside of this call
            // uses the operands, and different ranges write different elements, which no other range reads (I4).
            unsafe { self.serial_for_each_slab(bases.get(), range, &f) };
        });
    }

    /// Elements per piece: at least `grain`, and whole rows where a row is not longer than that.
    fn chunk(&self, grain: usize) -> usize {
        let even = self.numel.div_ceil(pieces()).max(grain);
        match self.shape.first() {
            Some(&row) if row > 0 && row <= even => even.next_multiple_of(row),
            _ => even.next_multiple_of(64),
        }
    }

    /// Calls `f` for the elements of `range` (numbered with the innermost dimension first) on this thread, in order.
    ///
    /// # Safety
    ///
    /// W1 and W2 of [`for_each`](TensorIter::for_each), for the elements of the range.
    pub unsafe fn serial_for_each<F>(&self, base: &[*mut u8], range: Range<usize>, mut f: F)
    where
        F: FnMut(&[*mut u8], &[isize], usize, usize),
    {
        // SAFETY: W1 and W2 are this function's own preconditions.
        unsafe { self.serial_for_each_slab(base, range, |at, strides, sizes| each_plane(at, strides, sizes, &mut f)) };
    }

    /// Calls `f` for the slabs of `range` on this thread, in order.
    ///
    /// # Safety
    ///
    /// W1 and W2 of [`for_each`](TensorIter::for_each), for the elements of the range.
    pub unsafe fn serial_for_each_slab<F>(&self, base: &[*mut u8], range: Range<usize>, mut f: F)
    where
        F: FnMut(&[*mut u8], &[isize], [usize; 3]),
    {
        let range = range.start..range.end.min(self.numel);
        if range.is_empty() {
            return;
        }
        let strides = self.loop_strides();
        if self.shape.len() <= 1 {
            let pointers = self.pointers(base, &[range.start]);
            return f(&pointers, &strides, [range.len(), 1, 1]);
        }
        let mut counter = DimCounter::new(&self.shape, range);
        while !counter.is_done() {
            let pointers = self.pointers(base, counter.values());
            let step = counter.max_3d_step();
            f(&pointers, &strides, step);
            counter.increment(step);
        }
    }

    /// The strides of the three innermost dimensions, the innermost first; 0 where there is no such dimension.
    fn loop_strides(&self) -> SmallVec<[isize; 12]> {
        let ndim = self.ndim();
        let n = self.noperands();
        let mut out = SmallVec::from_elem(0, 3 * n);
        for d in 0..ndim.min(3) {
            for k in 0..n {
                out[d * n + k] = self.strides[k * ndim + d];
            }
        }
        out
    }

    /// The elements at `index` (one value per dimension; more values than dimensions are element 0 of a 0-dim operand).
    fn pointers(&self, base: &[*mut u8], index: &[usize]) -> Pointers {
        let ndim = self.ndim();
        let mut out: Pointers = SmallVec::from_slice(base);
        for (k, pointer) in out.iter_mut().enumerate() {
            let strides = &self.strides[k * ndim..(k + 1) * ndim];
            // I2: the sum is the offset of an element, so it does not overflow; wrapping keeps this safe code.
            let offset =
                strides.iter().zip(index).fold(0isize, |o, (&s, &i)| o.wrapping_add(s.wrapping_mul(i as isize)));
            *pointer = pointer.wrapping_offset(offset);
        }
        out
    }
}

/// Calls `f` for each plane of a slab.
#[inline]
fn each_plane(
    at: &[*mut u8],
    strides: &[isize],
    [cols, rows, planes]: [usize; 3],
    mut f: impl FnMut(&[*mut u8], &[isize], usize, usize),
) {
    let (strides, steps) = strides.split_at(2 * at.len());
    if planes == 1 {
        return f(at, strides, cols, rows);
    }
    let mut pointers: Pointers = SmallVec::from_slice(at);
    for _ in 0..planes {
        f(&pointers, strides, cols, rows);
        for (pointer, &step) in pointers.iter_mut().zip(steps) {
            *pointer = pointer.wrapping_offset(step);
        }
    }
}
