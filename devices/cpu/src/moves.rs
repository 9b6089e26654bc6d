//! Tiles moved between strided memory and dense blocks, element by element size. Knows no dtype: what the bytes mean is in
//! `lane.rs` and `cast.rs`. Compiled once, for any host; what levels have instructions for is in `runs.rs`.
//!
//! A tile whose rows lie closer together than its columns is a transpose: it is walked in the order of the memory, in
//! squares that fit registers, so that every cache line of it is used up when it is met.

use crate::isa::Level;
use crate::lines::LINE;
use crate::runs::{self, MoveRows};
use crate::squares::{Side, Square};

/// The longer side of a square.
pub(crate) const SIDE: usize = 64;

/// Planes with fewer rows or columns are not worth squares.
const LEAST: usize = 16;

/// A rectangle of elements: `rows` rows of `cols` elements, strides in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) cols: usize,
    pub(crate) rows: usize,
    pub(crate) inner: isize,
    pub(crate) outer: isize,
}

impl Tile {
    pub(crate) fn numel(&self) -> usize {
        self.cols * self.rows
    }

    /// True if the elements, of `size` bytes, lie one after the other.
    pub(crate) fn is_dense(&self, size: usize) -> bool {
        self.inner == size as isize && (self.rows == 1 || self.outer == self.inner * self.cols as isize)
    }

    /// True if all of it is one element.
    pub(crate) fn is_one(&self) -> bool {
        self.inner == 0 && (self.rows == 1 || self.outer == 0)
    }

    /// True if it had better be moved in squares of at most [`SIDE`] by [`SIDE`]: it is dense across rows, or nearly, and large enough.
    pub(crate) fn takes_squares(&self) -> bool {
        self.cols >= LEAST && self.rows >= LEAST && self.is_transposed()
    }

    /// True if neighbours in memory are neighbours across rows.
    fn is_transposed(&self) -> bool {
        self.rows > 1 && self.outer != 0 && self.outer.unsigned_abs() < self.inner.unsigned_abs()
    }
}

/// How tiles move at one level.
///
/// Contract:
/// * V1: every element of the tile from `memory` on is in bounds, and so are as many elements of `size` bytes from `block` on.
/// * V2: the sides do not overlap; the source is initialised, and nobody else uses the destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    gather: MoveRows,
    scatter: MoveRows,
}

impl Mover {
    /// The mover of a level, or of the best one below it that the host has.
    pub(crate) fn at(level: Level) -> Mover {
        Mover { gather: runs::at::<true>(level), scatter: runs::at::<false>(level) }
    }

    /// Copies a tile into a dense block.
    ///
    /// # Safety
    ///
    /// V1, V2.
    pub(crate) unsafe fn gather(self, memory: *const u8, tile: &Tile, block: *mut u8, size: usize) {
        let moved = Moved::<true> { memory: memory.cast_mut(), tile, block, size, rows: self.gather };
        // SAFETY: V1, V2 are passed on; a gather only reads the memory.
        unsafe { moved.run() };
    }

    /// Copies a dense block into a tile.
    ///
    /// # Safety
    ///
    /// V1, V2.
    pub(crate) unsafe fn scatter(self, block: *const u8, memory: *mut u8, tile: &Tile, size: usize) {
        let moved = Moved::<false> { memory, tile, block: block.cast_mut(), size, rows: self.scatter };
        // SAFETY: V1, V2 are passed on; a scatter only reads the block.
        unsafe { moved.run() };
    }
}

struct Moved<'t, const GATHER: bool> {
    memory: *mut u8,
    tile: &'t Tile,
    block: *mut u8,
    size: usize,
    rows: MoveRows,
}

impl<const GATHER: bool> Moved<'_, GATHER> {
    /// # Safety
    ///
    /// V1, V2.
    unsafe fn run(&self) {
        let (tile, size) = (self.tile, self.size);
        if tile.is_dense(size) {
            // SAFETY: V1, V2.
            return unsafe { copied::<GATHER>(self.memory, self.block, tile.numel() * size) };
        }
        if tile.is_transposed() {
            return match size {
                // SAFETY: V1, V2, here and below.
                1 => unsafe { self.transposed::<u8>() },
                // SAFETY: as above.
                2 => unsafe { self.transposed::<u16>() },
                // SAFETY: as above.
                4 => unsafe { self.transposed::<u32>() },
                // SAFETY: as above.
                8 => unsafe { self.transposed::<u64>() },
                // SAFETY: as above; no dtype has another size.
                _ => unsafe { self.transposed::<[u64; 2]>() },
            };
        }
        if GATHER && tile.rows > 1 && tile.outer == 0 {
            // SAFETY: V1, V2.
            return unsafe { self.repeated() };
        }
        // SAFETY: V1, V2.
        unsafe { self.by_rows(tile) };
    }

    /// Moves rows one by one.
    ///
    /// # Safety
    ///
    /// V1, V2 for that tile.
    unsafe fn by_rows(&self, tile: &Tile) {
        let (memory, block, size) = (self.memory, self.block, self.size);
        if tile.inner != size as isize {
            // SAFETY: V1, V2, V3 by the choice.
            return unsafe { (self.rows)(memory, tile, block, size) };
        }
        for row in 0..tile.rows {
            let memory = memory.wrapping_offset(row as isize * tile.outer);
            // SAFETY: V1, V2 for the row.
            unsafe { copied::<GATHER>(memory, block.wrapping_add(row * tile.cols * size), tile.cols * size) };
        }
    }

    /// Gathers one row for all.
    ///
    /// # Safety
    ///
    /// V1, V2; there are rows, and their stride is 0.
    unsafe fn repeated(&self) {
        let &Tile { cols, rows, inner, .. } = self.tile;
        let cols = if inner == 0 { cols * rows } else { cols };
        // SAFETY: V1, V2: a row, and if all of it is one element, one that has them all.
        unsafe { self.by_rows(&Tile { cols, rows: 1, inner, outer: 0 }) };
        let (mut done, all) = (cols * self.size, self.tile.numel() * self.size);
        while done > 0 && done < all {
            let more = done.min(all - done);
            // SAFETY: V1: the block has room for `all` bytes, of which the first `done` are initialised and apart from these.
            unsafe { std::ptr::copy_nonoverlapping(self.block, self.block.wrapping_add(done), more) };
            done += more;
        }
    }

    /// Element (row, col) of the tile and of the block.
    #[inline(always)]
    fn both<T>(&self, row: usize, col: usize) -> (*mut u8, *mut u8) {
        let tile = self.tile;
        let offset = row as isize * tile.outer + col as isize * tile.inner;
        (self.memory.wrapping_offset(offset), self.block.wrapping_add((row * tile.cols + col) * size_of::<T>()))
    }

    /// # Safety
    ///
    /// V1, V2 for elements of the size of `T`.
    #[inline(always)]
    unsafe fn transposed<T: Square>(&self) {
        let &Tile { cols, rows, inner, outer } = self.tile;
        let dense = outer == size_of::<T>() as isize;
        let side = T::SIDE;
        let (cols_in, rows_in) = if dense { (cols - cols % side, rows - rows % side) } else { (0, 0) };
        for col in (0..cols_in).step_by(side) {
            for row in (0..rows_in).step_by(side) {
                let (memory, block) = self.both::<T>(row, col);
                // Row i of a square in the memory is column i of it in the block.
                let memory = Side { at: memory, step: inner };
                let block = Side { at: block, step: (cols * size_of::<T>()) as isize };
                let (from, to) = if GATHER { (memory, block) } else { (block, memory) };
                // SAFETY: Q1 by V1: `side` elements that lie one after the other; Q2 by V2.
                unsafe { T::turn(from, to) };
            }
        }
        let begun = if rows_in == rows { cols_in } else { 0 };
        for col in begun..cols {
            let first = if col < cols_in { rows_in } else { 0 };
            for row in first..rows {
                let (memory, block) = self.both::<T>(row, col);
                // SAFETY: V1, V2.
                unsafe { copied::<GATHER>(memory, block, size_of::<T>()) };
            }
        }
    }
}

/// Copies bytes one way or the other.
///
/// # Safety
///
/// V1, V2 for dense bytes.
#[inline(always)]
unsafe fn copied<const GATHER: bool>(memory: *mut u8, block: *mut u8, bytes: usize) {
    let (from, to) = if GATHER { (memory, block) } else { (block, memory) };
    // SAFETY: V1, V2.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Asks for the lines of a tile that will be gathered next, where the processor would not guess them: those of a
/// transpose, whose columns lie far apart.
#[inline]
pub(crate) fn prefetch(memory: *const u8, tile: &Tile, size: usize) {
    #[cfg(target_arch = "x86_64")]
    if tile.outer == size as isize && tile.is_transposed() {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        for col in 0..tile.cols as isize {
            for byte in (0..tile.rows * size).step_by(LINE) {
                let line = memory.wrapping_offset(col * tile.inner).wrapping_add(byte);
                // SAFETY: every x86-64 has the instruction, which is a hint at any address.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) };
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, tile, size);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every tile shape, order and step, at every level, against one element at a time.
    #[test]
    fn tiles_move_as_elements_do() {
        let memory: Vec<u8> = (0..400_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let shapes = [(1, 1), (5, 1), (64, 64), (33, 17), (16, 70), (3, 65), (257, 1), (8, 8)];
        for level in Level::available() {
            for size in [1usize, 2, 4, 8, 16] {
                for (cols, rows) in shapes {
                    let (c, r, s) = (cols as isize, rows as isize, size as isize);
                    let strides = [
                        (1, c),
                        (r, 1),
                        (r + 3, 1),
                        (2, 2 * c),
                        (0, 1),
                        (1, 0),
                        (0, 0),
                        (3, 3 * c + 1),
                        (-1, c),
                        (2 * r, 2),
                    ];
                    for (inner, outer) in strides.map(|(i, o)| (i * s, o * s)) {
                        let tile = Tile { cols, rows, inner, outer };
                        let base = if inner < 0 { (cols - 1) * size } else { 0 };
                        let offset = |row: usize, col: usize| {
                            base.wrapping_add_signed(row as isize * outer + col as isize * inner)
                        };
                        let mut block = vec![0u8; cols * rows * size + 8];
                        // SAFETY: the tile lies within the memory (the largest reach is far less), the block has room.
                        unsafe {
                            Mover::at(level).gather(memory.as_ptr().wrapping_add(base), &tile, block.as_mut_ptr(), size)
                        };
                        assert_eq!(block[cols * rows * size..], [0; 8]);
                        let what = format!("{tile:?} of {size} at {level}");
                        for (row, col) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                            let (at, i) = (offset(row, col), (row * cols + col) * size);
                            assert_eq!(block[i..i + size], memory[at..at + size], "{what}");
                        }
                        if (inner == 0 && cols > 1) || (outer == 0 && rows > 1) {
                            continue;
                        }
                        let mut back = vec![0xa5u8; memory.len()];
                        let to = back.as_mut_ptr().wrapping_add(base);
                        // SAFETY: as above; no two elements of the tile share a byte.
                        unsafe { Mover::at(level).scatter(block.as_ptr(), to, &tile, size) };
                        let mut want = vec![0xa5u8; memory.len()];
                        for (row, col) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                            let at = offset(row, col);
                            want[at..at + size].copy_from_slice(&memory[at..at + size]);
                        }
                        assert!(back == want, "scatter {what}");
                    }
                }
            }
        }
    }
}
