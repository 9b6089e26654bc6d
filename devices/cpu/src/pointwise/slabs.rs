//! Slabs: several small planes at a time, as in `a[n, 1, 16] - b[1, 16, 16]`.
//!
//! ```text
//! out  [0 1 2 3 4 5][6 7 8 9 …      planes of 2 rows of 3 elements, one dense run: written where it is
//! b    [0 1 2 3 4 5][0 1 2 3 …      the same plane each time: staged once, for as many planes as a tile has
//! a    [0 1 2 0 1 2][3 4 5 3 …      a row that its plane repeats: staged for every tile
//! ```
//!
//! A plane costs 130 ns to set up and each of its rows 5 ns to stage, which is more than the elements of small planes
//! cost: `[100000, 1, 16] - [1, 16, 16]` took 2.2 times as long as a contiguous call of that size plane by plane, and
//! `[400000, 1, 3] - [1, 3, 3]` 55 times. A tile of many planes has one set-up, and rows of few bytes are written in
//! words of 16 bytes, each over the end of the one before.

use super::kernel_fn::Traversal;
use super::operand_base::MAX_OPERANDS;
use super::planes::{PlaneLoop, STAGE_BYTES};
use crate::cache_lines::store_fence;
use crate::staging::StageBuffer;
use std::sync::atomic::Ordering;

/// A tile has at least so many planes: with fewer it saves little.
const MIN_PLANES: usize = 4;

/// Bytes that a store of a short row may write behind it.
const OVERHANG: usize = 16;

/// Rows of at most so many bytes are copied in words of [`OVERHANG`] bytes; longer ones by `memcpy`.
const SHORT_ROW_BYTES: usize = 128;

/// Several planes: elements in a row, rows in a plane, planes, and for each operand the bytes from one to the next.
#[derive(Clone, Copy)]
pub(super) struct Slab<'s> {
    pub(super) at: &'s [*mut u8],
    pub(super) strides: [&'s [isize]; 3],
    pub(super) sizes: [usize; 3],
}

impl Slab<'_> {
    fn operand(&self, k: usize) -> [isize; 3] {
        self.strides.map(|strides| strides[k])
    }

    /// Whether the operand, of elements of so many bytes, is one dense run.
    fn is_dense(&self, k: usize, size: usize) -> bool {
        let [cols, rows, _] = self.sizes.map(|size| size as isize);
        self.operand(k) == [size as isize, size as isize * cols, size as isize * cols * rows]
    }
}

impl PlaneLoop<'_> {
    /// Computes a slab, in tiles of several planes if that suits it and plane by plane otherwise.
    ///
    /// # Safety
    ///
    /// PL1 of [`Plane`](super::planes::Plane) for each plane of the slab; D1 and D2 of the driver; K4 for the
    /// parameters.
    pub(super) unsafe fn slab(&self, slab: &Slab<'_>) {
        if self.fault.load(Ordering::Relaxed) {
            return;
        }
        if self.suits_tiles_of_planes(slab) {
            // SAFETY: the caller promises PL1, D1, D2 and K4.
            let done = unsafe { self.tiles_of_planes(slab) };
            if self.non_temporal {
                store_fence();
            }
            if !done {
                self.fault.store(true, Ordering::Relaxed);
            }
            return;
        }
        let [cols, rows, planes] = slab.sizes;
        let mut at = [std::ptr::null_mut(); MAX_OPERANDS];
        let n = slab.at.len();
        at[..n].copy_from_slice(slab.at);
        for _ in 0..planes {
            // SAFETY: the caller promises PL1 for each plane, D1, D2 and K4.
            unsafe { self.plane(&at[..n], slab.strides[0], slab.strides[1], cols, rows) };
            for (at, &step) in at.iter_mut().zip(slab.strides[2]) {
                *at = at.wrapping_offset(step);
            }
        }
    }

    /// Whether tiles of several planes are faster: planes are small, the output is one dense run, and whatever is not
    /// is neither converted nor transposed.
    fn suits_tiles_of_planes(&self, slab: &Slab<'_>) -> bool {
        let [cols, rows, planes] = slab.sizes;
        let fits = planes >= MIN_PLANES && cols * rows * MIN_PLANES + OVERHANG <= self.capacity;
        if !fits || self.serial || self.always_staged != 0 || !slab.is_dense(0, self.stagers[0].size()) {
            return false;
        }
        let inputs = 1..self.stagers.len();
        let rows_are_runs = inputs.clone().all(|k| [0, self.stagers[k].size() as isize].contains(&slab.strides[0][k]));
        // Rows that are all the same are computed once and copied, where that is less.
        let repeats = !self.light && inputs.clone().all(|k| slab.strides[1][k] == 0);
        rows_are_runs && !repeats
    }

    /// Computes a slab in tiles of several planes. False if some operands have no result.
    ///
    /// # Safety
    ///
    /// As for [`slab`](PlaneLoop::slab); the slab suits it.
    unsafe fn tiles_of_planes(&self, slab: &Slab<'_>) -> bool {
        let [cols, rows, planes] = slab.sizes;
        let plane = cols * rows;
        let per_tile = (self.capacity - OVERHANG) / plane;
        let mut blocks = [const { StageBuffer::<STAGE_BYTES>::NEW }; MAX_OPERANDS];
        // What each block was last filled from, and with how many planes.
        let mut filled = [(std::ptr::null::<u8>(), 0); MAX_OPERANDS];
        let mut ins = [std::ptr::null::<u8>(); MAX_OPERANDS];
        // A kernel looks for its output in one input only; see `plane`.
        let is_direct =
            |k: usize| slab.is_dense(k, self.stagers[k].size()) && (k == self.first_value || slab.at[k] != slab.at[0]);
        for first in (0..planes).step_by(per_tile) {
            let count = per_tile.min(planes - first);
            let place = |k: usize| slab.at[k].wrapping_offset(first as isize * slab.strides[2][k]);
            for k in 1..self.stagers.len() {
                let from = place(k).cast_const();
                if is_direct(k) {
                    ins[k - 1] = from;
                    continue;
                }
                let block = blocks[k].data();
                ins[k - 1] = block;
                if filled[k].0 != from || filled[k].1 < count {
                    let size = self.stagers[k].size();
                    let part = Part { from, sizes: [cols, rows, count], strides: slab.operand(k), size };
                    // SAFETY:
                    // * PT1: these planes of the operand are in bounds and initialised, and nobody writes them (PL1):
                    //   this thread does after it has read them, and no tile reads what another writes (I4);
                    // * PT2: a block has room for `per_tile` planes and `OVERHANG` bytes behind them, and is no
                    //   operand.
                    unsafe { part.gather(block) };
                    filled[k] = (from, count);
                }
            }
            let traversal = if self.non_temporal { Traversal::NonTemporal } else { Traversal::Dense };
            // SAFETY:
            // * K1 by D2; K4: the caller promises it; K6 doesn't apply;
            // * K2: staged operands are dense in their blocks, the output and the others dense runs of as many elements
            //   (PL1);
            // * K3: blocks are locals of their own, and operands in memory are the output or apart from it (I4).
            if !unsafe { self.call_kernel(place(0), &ins, count * plane, traversal) } {
                return false;
            }
        }
        true
    }
}

/// Some planes of one operand.
///
/// Contract:
/// * PT1: every element of the planes is in bounds and initialised, and nobody writes it meanwhile.
/// * PT2: the block has room for all elements and [`OVERHANG`] bytes behind them, and does not overlap them.
struct Part {
    from: *const u8,
    sizes: [usize; 3],
    strides: [isize; 3],
    size: usize,
}

impl Part {
    /// Copies the planes into a block, dense.
    ///
    /// # Safety
    ///
    /// PT1, PT2.
    unsafe fn gather(&self, block: *mut u8) {
        let &Part { from, sizes: [cols, rows, planes], strides: [inner, outer, step], size } = self;
        let bytes = cols * rows * size;
        // A plane that all are is gathered once.
        let gathered = if step == 0 { 1 } else { planes };
        for plane in 0..gathered {
            let (from, to) = (from.wrapping_offset(plane as isize * step), block.wrapping_add(plane * bytes));
            if outer == 0 && rows > 1 && inner == size as isize && cols * size <= SHORT_ROW_BYTES {
                // SAFETY: PT1: a row is `cols * size` bytes; PT2: `to` has room for the plane's rows and the overhang.
                unsafe { repeat_row(from, cols * size, rows, to) };
                continue;
            }
            for row in 0..rows {
                let (from, to) = (from.wrapping_offset(row as isize * outer), to.wrapping_add(row * cols * size));
                if inner == 0 {
                    // SAFETY: PT1: one element is readable; PT2: `to` has room for a row of them.
                    unsafe { repeat_element(from, size, cols, to) };
                } else {
                    // SAFETY: the elements of a row are one dense run (`suits_tiles_of_planes`), in bounds on both
                    // sides, which do not overlap (PT1, PT2).
                    unsafe { std::ptr::copy_nonoverlapping(from, to, cols * size) };
                }
            }
        }
        for plane in gathered..planes {
            // SAFETY: the block has room for `planes` planes (PT2), the first of which is there; they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(block, block.wrapping_add(plane * bytes), bytes) };
        }
    }
}

/// Writes a row of `bytes` bytes `count` times, in words.
///
/// # Safety
///
/// `bytes` is at most `SHORT_ROW_BYTES`, and as many are readable at `from`; `to` has room for `bytes * count` bytes
/// and `OVERHANG` more, and does not overlap the row.
unsafe fn repeat_row(from: *const u8, bytes: usize, count: usize, to: *mut u8) {
    if bytes.is_multiple_of(OVERHANG) {
        for word in (0..bytes).step_by(OVERHANG) {
            // SAFETY: the word is one of the row's, which is readable; any bytes are such an integer.
            let value = unsafe { from.wrapping_add(word).cast::<u128>().read_unaligned() };
            for i in 0..count {
                let to = to.wrapping_add(i * bytes + word).cast::<u128>();
                // SAFETY: there is room for `count` rows by the caller's promise.
                unsafe { to.write_unaligned(value) };
            }
        }
        return;
    }
    let mut row = [0u8; SHORT_ROW_BYTES + OVERHANG];
    // SAFETY: the caller promises so many readable bytes, and the array has room for them.
    unsafe { std::ptr::copy_nonoverlapping(from, row.as_mut_ptr(), bytes) };
    let words = bytes.div_ceil(OVERHANG);
    for i in 0..count {
        let to = to.wrapping_add(i * bytes);
        for word in 0..words {
            let (from, to) = (row.as_ptr().wrapping_add(word * OVERHANG), to.wrapping_add(word * OVERHANG));
            // SAFETY: the array has `SHORT_ROW_BYTES + OVERHANG` bytes, and the last word begins before `bytes`; a word
            // written reaches at most `OVERHANG` bytes behind the row, for which there is room by the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(from, to, OVERHANG) };
        }
    }
}

/// Writes an element of `size` bytes `count` times.
///
/// # Safety
///
/// It is readable at `from`, and `to` has room for `size * count` bytes apart from it.
unsafe fn repeat_element(from: *const u8, size: usize, count: usize, to: *mut u8) {
    /// As a type of the size.
    macro_rules! repeat {
        ($t:ty) => {{
            // SAFETY: the caller promises a readable element; any bytes are such an integer.
            let value = unsafe { from.cast::<$t>().read_unaligned() };
            for i in 0..count {
                // SAFETY: there is room for `count` elements by the caller's promise.
                unsafe { to.cast::<$t>().wrapping_add(i).write_unaligned(value) };
            }
        }};
    }
    match size {
        1 => repeat!(u8),
        2 => repeat!(u16),
        4 => repeat!(u32),
        8 => repeat!(u64),
        // No dtype has elements of another size.
        _ => repeat!([u64; 2]),
    }
}
