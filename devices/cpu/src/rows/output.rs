//! Outputs of operators on rows: where they lie, in the dtype that is computed in, or memory in their place; and their
//! parts, each of which one thread writes.

use super::fold::TILE;
use super::frame::Real;
use crate::cast::Bits;
use crate::converted::zeroed;
use crate::scratch::Scratch;
use monomorph_core::structured::Outputs;
use monomorph_core::{DType, Result, Strided, strides};
use monomorph_iter::{GRAIN, share};
use std::marker::PhantomData;
use std::ops::Range;

/// An output, which is computed in row-major order.
///
/// Invariants:
/// * R1: `data` are `n` elements of `size` bytes, aligned, which nobody else uses: the output itself, or `own`.
/// * R2: `to` is the first of the output's elements, of these sizes and strides, which nobody else uses.
#[derive(Debug)]
pub(super) struct Output {
    data: *mut u8,
    n: usize,
    compute: DType,
    own: Option<Scratch<u128>>,
    to: *mut u8,
    dtype: DType,
    bits: Bits,
    sizes: strides::DimVec,
    strides: strides::DimVec,
}

impl Output {
    /// # Safety
    ///
    /// The output's storage stays borrowed as long as the result lives, which alone uses it.
    pub(super) unsafe fn new(outputs: &Outputs<'_>, i: usize, compute: DType) -> Result<Output> {
        let (g, to) = (outputs.geometry(i), outputs.data(i));
        let n = g.numel();
        let (dtype, bits) = (g.dtype(), Bits::of(g.dtype(), g.is_conj(), g.is_neg()));
        let (mut own, mut data) = (None, to);
        let is_direct = dtype == compute && bits.is_none() && g.is_contiguous();
        if !is_direct || !to.addr().is_multiple_of(compute.size()) {
            data = own.insert(zeroed(n, compute)?).as_mut_ptr().cast();
        }
        let (sizes, strides) = (g.sizes().into(), g.strides().into());
        Ok(Output { data, n, compute, own, to, dtype, bits, sizes, strides })
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
        if self.own.is_none() || self.n == 0 {
            return Ok(());
        }
        let dense = strides::contiguous_strides(&self.sizes);
        let Bits { conj, neg } = self.bits;
        let to = Strided { data: self.to, strides: &self.strides, dtype: self.dtype, conj, neg };
        let from = Strided { data: self.data, strides: &dense, dtype: self.compute, conj: false, neg: false };
        // SAFETY: C1 and C2 of `Device::copy`: both have these sizes (R1, R2), `own` is initialised and shares nothing.
        unsafe { crate::copy::copy(&self.sizes, to, from) }
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
    /// The elements of a range, which are zeros first: here, while they are about to be used, and not before.
    ///
    /// # Safety
    ///
    /// The range is used nowhere else as long as the result lives.
    #[allow(clippy::mut_from_ref, reason = "parts are disjoint by the caller's promise")]
    unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.n, "a part lies within the output");
        let (data, n) = (self.data.wrapping_add(range.start), range.len());
        if n == 0 {
            return &mut [];
        }
        // SAFETY: the range is within `n` elements that are ours (R1); zero bytes are a number.
        unsafe { data.write_bytes(0, n) };
        // SAFETY: they are initialised and aligned (R1), and used nowhere else by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(data, n) }
    }
}

/// Has threads do `rows` rows, of which each costs about as much as so many elements: `work` gets the numbers of some,
/// and of each output the elements that belong to them, so many a row.
pub(super) fn each_row<T: Real, const K: usize>(
    rows: usize,
    cost: usize,
    outputs: [(Parts<'_, T>, usize); K],
    work: impl Fn(Range<usize>, [&mut [T]; K]) + Sync,
) {
    let together = (GRAIN / cost.max(1)).max(1);
    share(rows.div_ceil(together), |piece| {
        let range = piece * together..rows.min((piece + 1) * together);
        // SAFETY: pieces are different rows, and rows are different elements.
        let parts =
            outputs.each_ref().map(|(parts, width)| unsafe { parts.part(range.start * width..range.end * width) });
        work(range, parts);
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
            unsafe { parts.part(of) }
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
    let tiles = inner.div_ceil(TILE);
    share(outer * tiles, |piece| {
        let (block, column) = (piece / tiles, piece % tiles * TILE);
        let columns = column..inner.min(column + TILE);
        let (first, width) = (block * n * inner + column, columns.len());
        for r in 0..n {
            let at = first + r * inner;
            // SAFETY: tiles are different columns of a block, or of different blocks. The reference is gone here.
            unsafe { output.part(at..at + width) };
        }
        work(block, columns, Tile { parts: &output, first, step: inner, width, rows: n });
    });
}
