//! Rows of elements that wide registers move faster than loads and stores one by one: one element again and again, and every second
//! one. Compiled for each level, and small therefore; what else there is to moving tiles is compiled once (`moves.rs`).

use crate::cast::moved as strided;
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, Kernel, Level, Portable};
use crate::moves::Tile;
use crate::steps;

/// Moves the rows of a tile one by one: memory, tile, block, size.
///
/// Contract: V1, V2 of [`Mover`](crate::moves::Mover), and V3: the host has the level that it was chosen for.
///
/// The tile is lent: copied by a wide register just after it was written piece by piece, it would have to wait for every store
/// before it, up to those of the last output.
pub(crate) type MoveRows = unsafe fn(memory: *mut u8, tile: &Tile, block: *mut u8, size: usize);

/// What gathers rows into a block or scatters them from it, at a level or at the best one below it that the host has.
pub(crate) fn at<const GATHER: bool>(level: Level) -> MoveRows {
    level.choose(
        moved::<Portable, GATHER>,
        #[cfg(target_arch = "x86_64")]
        [moved::<Avx2, GATHER>, moved::<Avx512, GATHER>],
    )
}

struct Rows<'t, const GATHER: bool> {
    memory: *mut u8,
    tile: &'t Tile,
    block: *mut u8,
    size: usize,
}

/// # Safety
///
/// V1–V3.
unsafe fn moved<I: Isa, const GATHER: bool>(memory: *mut u8, tile: &Tile, block: *mut u8, size: usize) {
    // SAFETY: V3.
    let isa = unsafe { I::assume() };
    isa.enter(Rows::<GATHER> { memory, tile, block, size });
}

impl<I: Isa, const GATHER: bool> Kernel<I> for Rows<'_, GATHER> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let (tile, size) = (self.tile, self.size);
        if GATHER && tile.inner == 0 {
            return match size {
                // SAFETY: V1, V2, here and below.
                1 => unsafe { self.filled::<u8>() },
                // SAFETY: as above.
                2 => unsafe { self.filled::<u16>() },
                // SAFETY: as above.
                4 => unsafe { self.filled::<u32>() },
                // SAFETY: as above.
                8 => unsafe { self.filled::<u64>() },
                // SAFETY: as above; no dtype has another size.
                _ => unsafe { self.filled::<[u64; 2]>() },
            };
        }
        for row in 0..tile.rows {
            let (memory, block) = self.row(row);
            // SAFETY: V1–V3 for the row.
            unsafe { stepped::<I, GATHER>(memory, tile.inner, block, size, tile.cols) };
        }
    }
}

impl<const GATHER: bool> Rows<'_, GATHER> {
    /// Where a row begins in the memory and in the block.
    #[inline(always)]
    fn row(&self, row: usize) -> (*mut u8, *mut u8) {
        let memory = self.memory.wrapping_offset(row as isize * self.tile.outer);
        (memory, self.block.wrapping_add(row * self.tile.cols * self.size))
    }

    /// Gathers rows that are one element each.
    ///
    /// # Safety
    ///
    /// V1, V2 for elements of the size of `T`; the elements of a row have one place.
    #[inline(always)]
    unsafe fn filled<T: Copy>(&self) {
        if self.tile.cols == 0 {
            return;
        }
        for row in 0..self.tile.rows {
            let (memory, block) = self.row(row);
            // SAFETY: V1: the row has an element.
            let value = unsafe { memory.cast::<T>().read_unaligned() };
            for i in 0..self.tile.cols {
                // SAFETY: V1, V2.
                unsafe { block.cast::<T>().wrapping_add(i).write_unaligned(value) };
            }
        }
    }
}

/// Moves a run of `n` elements that do not lie one after the other.
///
/// # Safety
///
/// V1–V3 for a row of `n` elements, and the level `I`.
#[inline(always)]
unsafe fn stepped<I: Isa, const GATHER: bool>(memory: *mut u8, stride: isize, block: *mut u8, size: usize, n: usize) {
    let step = size as isize;
    let mut done = 0;
    if stride == 2 * step {
        done = if GATHER {
            // SAFETY: S1–S3 by V1–V3.
            unsafe { steps::gather::<I>(memory, block, size, n) }
        } else {
            // SAFETY: as above.
            unsafe { steps::scatter::<I>(block, memory, size, n) }
        };
    }
    let (memory, block) = (memory.wrapping_offset(done as isize * stride), block.wrapping_add(done * size));
    if GATHER {
        // SAFETY: R1, R2 by V1, V2. Not in the frame: the wide registers' gather instructions are slower than plain loads.
        unsafe { strided(memory, stride, block, step, size, n - done) };
    } else {
        // SAFETY: as above.
        unsafe { strided(block, step, memory, stride, size, n - done) };
    }
}
