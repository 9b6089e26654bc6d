//! Outputs of operators on rows: where they lie, in the dtype that is computed in, or memory in their place; and their
//! parts, each of which one thread writes.

use super::fold::TILE;
use super::frame::Real;
use crate::cast::Bits;
use crate::converted::room;
use crate::scratch::Scratch;
use monomorph_core::structured::Outputs;
use monomorph_core::{DType, Geometry, Result, Strided, strides};
use monomorph_iter::{GRAIN, share};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements of rows that are worked on together: what is done to them step by step stays in the first cache.
const NEAR: usize = 4096;

/// An output, which is computed in row-major order.
///
/// Invariants:
/// * R1: `data` are `n` elements of `size` bytes, aligned, which nobody else uses: the output itself, or memory of
///   [`Delivery`].
/// * R2: `to` there is the first of the output's elements, of this geometry, which nobody else uses.
#[derive(Debug)]
pub(super) struct Output {
    data: *mut u8,
    n: usize,
    compute: DType,
    /// Boxed, since a few outputs are moved together.
    delivery: Option<Box<Delivery>>,
}

/// Memory in the place of an output, and where that lies.
#[derive(Debug)]
struct Delivery {
    own: Scratch<u128>,
    to: *mut u8,
    geometry: Geometry,
}

impl Output {
    /// # Safety
    ///
    /// The output's storage stays borrowed as long as the result lives, which alone uses it.
    pub(super) unsafe fn new(outputs: &Outputs<'_>, i: usize, compute: DType) -> Result<Output> {
        let (g, to) = (outputs.geometry(i), outputs.data(i));
        let n = g.numel();
        let is_plain = g.dtype() == compute && !g.is_conj() && !g.is_neg() && g.is_contiguous();
        if is_plain && to.addr().is_multiple_of(compute.size()) {
            return Ok(Output { data: to, n, compute, delivery: None });
        }
        let mut own = room(n, compute)?;
        let data = own.as_mut_ptr().cast();
        Ok(Output { data, n, compute, delivery: Some(Box::new(Delivery { own, to, geometry: g.clone() })) })
    }

    /// The elements, to be written part by part.
    pub(super) fn parts<T: Real>(&mut self) -> Parts<'_, T> {
        let n = if self.compute.size() == size_of::<T>() { self.n } else { 0 };
        Parts { data: self.data.cast(), n, of: PhantomData }
    }

    /// Brings what was computed to the output.
    ///
    /// # Safety
    ///
    /// R2 still holds.
    pub(super) unsafe fn deliver(&self) -> Result<()> {
        let Some(delivery) = self.delivery.as_ref().filter(|_| self.n > 0) else { return Ok(()) };
        let (g, from) = (&delivery.geometry, delivery.own.as_ptr().cast_mut().cast());
        let dense = strides::contiguous_strides(g.sizes());
        let Bits { conj, neg } = Bits::of(g.dtype(), g.is_conj(), g.is_neg());
        let to = Strided { data: delivery.to, strides: g.strides(), dtype: g.dtype(), conj, neg };
        let from = Strided { data: from, strides: &dense, dtype: self.compute, conj: false, neg: false };
        // SAFETY: C1 and C2 of `Device::copy`: both have these sizes (R1, R2), memory of our own is initialised and
        // shares nothing.
        unsafe { crate::copy::copy(g.sizes(), to, from) }
    }
}

/// The elements of an output.
///
/// Invariant R1 of [`Output`], as long as the borrow lives.
pub(super) struct Parts<'a, T> {
    data: *mut T,
    n: usize,
    of: PhantomData<&'a mut [T]>,
}

// SAFETY: threads that share it write parts of their own, which whoever calls `part` promises.
unsafe impl<T: Send> Sync for Parts<'_, T> {}

impl<'a, T> Parts<'a, T> {
    /// Elements of one's own.
    pub(super) fn of(own: &'a mut [T]) -> Parts<'a, T> {
        Parts { data: own.as_mut_ptr(), n: own.len(), of: PhantomData }
    }
}

impl<T: Real> Parts<'_, T> {
    /// The elements of a range.
    ///
    /// # Safety
    ///
    /// The range is used nowhere else as long as the result lives.
    #[allow(clippy::mut_from_ref, reason = "parts are disjoint by the caller's promise")]
    unsafe fn part(&self, range: Range<usize>) -> &mut [MaybeUninit<T>] {
        assert!(range.start <= range.end && range.end <= self.n, "a part lies within the output");
        if range.is_empty() {
            return &mut [];
        }
        // SAFETY: the range is within `n` aligned elements that are ours (R1), and used nowhere else by the caller's
        // promise; they need not be initialised.
        unsafe { std::slice::from_raw_parts_mut(self.data.wrapping_add(range.start).cast(), range.len()) }
    }
}

/// The elements, zero: here, while they are about to be used, and not before.
pub(super) fn zeroed<T: Real>(part: &mut [MaybeUninit<T>]) -> &mut [T] {
    part.fill(MaybeUninit::new(T::zero()));
    // SAFETY: they were just written.
    unsafe { part.assume_init_mut() }
}

/// Writes every element, and gives them. There are as many values.
#[inline(always)]
pub(super) fn write_each<T>(part: &mut [MaybeUninit<T>], values: impl Iterator<Item = T>) -> &mut [T] {
    let mut written = 0;
    for (to, value) in part.iter_mut().zip(values) {
        to.write(value);
        written += 1;
    }
    assert_eq!(written, part.len(), "no element of an output stays as it was");
    // SAFETY: all of them were just written.
    unsafe { part.assume_init_mut() }
}

/// Has threads do `rows` rows, of which each costs about as much as so many elements: `work` gets the numbers of some,
/// and of each output the elements that belong to them, so many a row, zero.
pub(super) fn each_row<T: Real, const K: usize>(
    rows: usize,
    cost: usize,
    outputs: [(Parts<'_, T>, usize); K],
    work: impl Fn(Range<usize>, [&mut [T]; K]) + Sync,
) {
    each_unwritten_row(rows, cost, outputs, |rows, parts| work(rows, parts.map(zeroed)));
}

/// The same for work that [writes each](write_each) of them.
pub(super) fn each_unwritten_row<T: Real, const K: usize>(
    rows: usize,
    cost: usize,
    outputs: [(Parts<'_, T>, usize); K],
    work: impl Fn(Range<usize>, [&mut [MaybeUninit<T>]; K]) + Sync,
) {
    // Beside a size of 0 there may be more rows than can be counted through.
    if outputs.iter().all(|(parts, _)| parts.n == 0) {
        return;
    }
    let together = (GRAIN / cost.max(1)).max(1);
    let widest = outputs.iter().map(|&(_, width)| width).max().unwrap_or(0);
    let near = (NEAR / widest.max(1)).max(1);
    share(rows.div_ceil(together), |piece| {
        let (mut start, end) = (piece * together, rows.min((piece + 1) * together));
        while start < end {
            let range = start..end.min(start + near);
            // SAFETY: pieces, and parts of them, are different rows, and rows are different elements.
            let parts =
                outputs.each_ref().map(|(parts, width)| unsafe { parts.part(range.start * width..range.end * width) });
            start = range.end;
            work(range, parts);
        }
    });
}

/// Has threads do `n` elements in runs of up to `width`: `work` gets the range of a run, and the elements of each
/// output; of an output without elements none.
pub(super) fn each_run<T: Real, const K: usize>(
    n: usize,
    width: usize,
    outputs: [Parts<'_, T>; K],
    work: impl Fn(Range<usize>, [&mut [T]; K]) + Sync,
) {
    share(n.div_ceil(width), |piece| {
        let range = piece * width..n.min((piece + 1) * width);
        let parts = outputs.each_ref().map(|parts| {
            let of = if parts.n == 0 { 0..0 } else { range.clone() };
            // SAFETY: runs are different elements.
            zeroed(unsafe { parts.part(of) })
        });
        work(range, parts);
    });
}

/// A row-major tile of columns of an output.
pub(super) struct Tile<'a, T> {
    parts: &'a Parts<'a, T>,
    first: usize,
    step: usize,
    width: usize,
    rows: usize,
}

impl<T: Real> Tile<'_, T> {
    /// Row `r` of the tile.
    #[inline(always)]
    pub(super) fn row(&mut self, r: usize) -> &mut [T] {
        assert!(r < self.rows, "a tile has so many rows");
        let data = self.parts.data.wrapping_add(self.first + r * self.step);
        // SAFETY: within the output, as `each_tile` made sure of for all rows, initialised there, and the tile's alone,
        // which is borrowed by the result.
        unsafe { std::slice::from_raw_parts_mut(data, self.width) }
    }
}

/// Has threads do the columns of `outer` blocks of `n` rows of `inner` columns: `work` gets the number of the block,
/// the range of columns, and the tile of the output.
pub(super) fn each_tile<T: Real>(
    [outer, n, inner]: [usize; 3],
    output: Parts<'_, T>,
    work: impl Fn(usize, Range<usize>, Tile<'_, T>) + Sync,
) {
    if output.n == 0 {
        return;
    }
    let tiles = inner.div_ceil(TILE);
    share(outer * tiles, |piece| {
        let (block, column) = (piece / tiles, piece % tiles * TILE);
        let columns = column..inner.min(column + TILE);
        let (first, width) = (block * n * inner + column, columns.len());
        for r in 0..n {
            let at = first + r * inner;
            // SAFETY: tiles are different columns of a block, or of different blocks. The reference is gone here.
            zeroed(unsafe { output.part(at..at + width) });
        }
        work(block, columns, Tile { parts: &output, first, step: inner, width, rows: n });
    });
}
