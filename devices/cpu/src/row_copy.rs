//! Strided rows of a tile, copied by the wide registers of a level where these are faster than loads and stores one by
//! one: a row that is one broadcast element, and a row of every second element (`stride2.rs`), up to six times
//! (decision 0010). Compiled for each level, and small therefore; the rest of copying tiles is compiled once
//! (`tile_copy.rs`).

use crate::cast::moved as copy_strided;
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, Kernel, Level, Portable};
use crate::stride2;
use crate::tile_copy::Tile;

/// Copies the rows of a tile one by one.
///
/// Contract: V1, V2 of [`TileCopier`](crate::tile_copy::TileCopier), and V3: the host has the level that it was chosen
/// for.
///
/// The tile is borrowed, not copied: a wide load of fields that were just stored narrowly fails store forwarding and
/// stalls until all earlier stores, up to those of the last output, have left. The copy held 31 % of the samples of an
/// add with a broadcast column (decision 0010).
pub(crate) type CopyRows = unsafe fn(memory: *mut u8, tile: &Tile, block: *mut u8, size: usize);

/// The function that gathers rows into a block, or scatters them from it, at a level or at the best one below it that
/// the host has.
pub(crate) fn at<const GATHER: bool>(level: Level) -> CopyRows {
    level.choose(
        copy_rows::<Portable, GATHER>,
        #[cfg(target_arch = "x86_64")]
        [copy_rows::<Avx2, GATHER>, copy_rows::<Avx512, GATHER>],
    )
}

/// One copy of the rows of a tile.
struct RowCopy<'t, const GATHER: bool> {
    memory: *mut u8,
    tile: &'t Tile,
    block: *mut u8,
    size: usize,
}

/// The [`CopyRows`] of level `I`.
///
/// # Safety
///
/// V1–V3.
unsafe fn copy_rows<I: Isa, const GATHER: bool>(memory: *mut u8, tile: &Tile, block: *mut u8, size: usize) {
    // SAFETY: the host has level `I`, which this function was chosen for (V3).
    let isa = unsafe { I::assume() };
    isa.enter(RowCopy::<GATHER> { memory, tile, block, size });
}

impl<I: Isa, const GATHER: bool> Kernel<I> for RowCopy<'_, GATHER> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let (tile, size) = (self.tile, self.size);
        if GATHER && tile.inner == 0 {
            return match size {
                // SAFETY: V1 and V2 hold for elements of one byte; a row is one element (`inner` is 0).
                1 => unsafe { self.fill_rows::<u8>() },
                // SAFETY: V1 and V2 hold for elements of two bytes; a row is one element (`inner` is 0).
                2 => unsafe { self.fill_rows::<u16>() },
                // SAFETY: V1 and V2 hold for elements of four bytes; a row is one element (`inner` is 0).
                4 => unsafe { self.fill_rows::<u32>() },
                // SAFETY: V1 and V2 hold for elements of eight bytes; a row is one element (`inner` is 0).
                8 => unsafe { self.fill_rows::<u64>() },
                // SAFETY: V1 and V2 hold for elements of sixteen bytes, since no dtype has another size; a row is one
                // element.
                _ => unsafe { self.fill_rows::<[u64; 2]>() },
            };
        }
        for row in 0..tile.rows {
            let (memory, block) = self.row(row);
            // SAFETY: V1 and V2 hold for each row of the tile; the frame is that of level `I`, which the host has (V3).
            unsafe { copy_strided_row::<I, GATHER>(memory, tile.inner, block, size, tile.cols) };
        }
    }
}

impl<const GATHER: bool> RowCopy<'_, GATHER> {
    /// The addresses of a row in memory and in the block.
    #[inline(always)]
    fn row(&self, row: usize) -> (*mut u8, *mut u8) {
        let memory = self.memory.wrapping_offset(row as isize * self.tile.outer);
        (memory, self.block.wrapping_add(row * self.tile.cols * self.size))
    }

    /// Gathers rows that are one broadcast element each.
    ///
    /// # Safety
    ///
    /// V1, V2 for elements of the size of `T`; the stride within rows is 0.
    #[inline(always)]
    unsafe fn fill_rows<T: Copy>(&self) {
        if self.tile.cols == 0 {
            return;
        }
        for row in 0..self.tile.rows {
            let (memory, block) = self.row(row);
            // SAFETY: a row has at least one element (`cols > 0`), in bounds (V1) and initialised (V2).
            let value = unsafe { memory.cast::<T>().read_unaligned() };
            for i in 0..self.tile.cols {
                // SAFETY: the row of the block has room for `cols` elements (V1), and nobody else uses it (V2).
                unsafe { block.cast::<T>().wrapping_add(i).write_unaligned(value) };
            }
        }
    }
}

/// Copies one row of `n` elements that lie `stride` bytes apart in memory.
///
/// # Safety
///
/// V1, V2 for the row; the host has level `I` (V3).
#[inline(always)]
unsafe fn copy_strided_row<I: Isa, const GATHER: bool>(
    memory: *mut u8,
    stride: isize,
    block: *mut u8,
    size: usize,
    n: usize,
) {
    let dense = size as isize;
    let mut done = 0;
    if stride == 2 * dense {
        done = if GATHER {
            // SAFETY: S1: both sides have `n` elements in bounds (V1), the source initialised, the destination nobody
            // else's (V2); S2: they are apart (V2); S3: V3.
            unsafe { stride2::gather::<I>(memory, block, size, n) }
        } else {
            // SAFETY: S1: both sides have `n` elements in bounds (V1), the source initialised, the destination nobody
            // else's (V2); S2: they are apart (V2); S3: V3.
            unsafe { stride2::scatter::<I>(block, memory, size, n) }
        };
    }
    let (memory, block) = (memory.wrapping_offset(done as isize * stride), block.wrapping_add(done * size));
    if GATHER {
        // Not inlined into the frame of the level: its gather instructions are slower than plain loads (decision 0010).
        // SAFETY: R1: `n - done` elements are left on both sides, in bounds (V1), the source initialised (V2); R2: they
        // are apart (V2).
        unsafe { copy_strided(memory, stride, block, dense, size, n - done) };
    } else {
        // SAFETY: R1: `n - done` elements are left on both sides, in bounds (V1), the source initialised (V2); R2: they
        // are apart (V2).
        unsafe { copy_strided(block, dense, memory, stride, size, n - done) };
    }
}
