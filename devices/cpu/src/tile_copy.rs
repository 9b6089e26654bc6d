//! Tiles copied between strided memory and dense blocks: gathered before a kernel reads them, scattered after it has
//! written them. Knows no dtype, only the size of an element; what the bytes mean is in `staging.rs` and `cast.rs`.
//!
//! ```text
//! memory: inner = stride within a row, outer = stride from row to row             block: dense
//!   [0 1 2]···[3 4 5]···     dense rows:      copied as bytes            ─────►   [0 1 2 3 4 5]
//!   [0·1·2·]··[3·4·5·]       strided rows:    `row_copy.rs`
//!   [0 3][1 4][2 5]          transposed:      squares, `transpose.rs`
//! ```
//!
//! A tile whose rows lie closer together than its columns is a transpose: it is walked in the order of the memory, in
//! squares that fit registers, so that every cache line of it is used up when it is reached.
//!
//! Compiled once, for the baseline of the target: in the frames of wider levels squares were no faster (decision 0010).
//! What gains by wide registers is in `row_copy.rs`.

use crate::cache_lines::{CACHE_LINE, prefetch_line};
use crate::isa::Level;
use crate::row_copy::{self, CopyRows};
use crate::transpose::{SquareRows, Transpose};

/// The longer side of the squares in which operands that are transposed are staged: of float32 such a square is 16 KiB,
/// half of a first-level cache. What it gained is in decision 0010.
pub(crate) const SQUARE_SIDE: usize = 64;

/// Planes with fewer rows or columns are not worth squares: as many float32 fill a cache line, so of narrower planes no
/// line would be used up by a square.
const MIN_SQUARE_SIDE: usize = 16;

/// A rectangle of elements: `rows` rows of `cols` elements, strides in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) cols: usize,
    pub(crate) rows: usize,
    /// Bytes from element to element of a row.
    pub(crate) inner: isize,
    /// Bytes from row to row.
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

    /// True if all of it is one element, broadcast.
    pub(crate) fn is_single_element(&self) -> bool {
        self.inner == 0 && (self.rows == 1 || self.outer == 0)
    }

    /// True if it had better be staged in squares of at most [`SQUARE_SIDE`] by [`SQUARE_SIDE`]: it is transposed, and
    /// large enough.
    pub(crate) fn suits_squares(&self) -> bool {
        self.cols >= MIN_SQUARE_SIDE && self.rows >= MIN_SQUARE_SIDE && self.is_transposed()
    }

    /// True if neighbours in memory are neighbours across rows: rows lie closer together than columns.
    fn is_transposed(&self) -> bool {
        self.rows > 1 && self.outer != 0 && self.outer.unsigned_abs() < self.inner.unsigned_abs()
    }
}

/// Copies tiles at one level.
///
/// Contract:
/// * V1: every element of the tile from `memory` on is in bounds, and so are as many elements of `size` bytes from
///   `block` on.
/// * V2: memory and block do not overlap; the source is initialised, and nobody else uses the destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileCopier {
    gather: CopyRows,
    scatter: CopyRows,
}

impl TileCopier {
    /// The copier of a level, or of the best one below it that the host has.
    pub(crate) fn at(level: Level) -> TileCopier {
        TileCopier { gather: row_copy::at::<true>(level), scatter: row_copy::at::<false>(level) }
    }

    /// Copies a tile into a dense block.
    ///
    /// # Safety
    ///
    /// V1, V2.
    pub(crate) unsafe fn gather(self, memory: *const u8, tile: &Tile, block: *mut u8, size: usize) {
        let copy = TileCopy::<true> { memory: memory.cast_mut(), tile, block, size, rows: self.gather };
        // SAFETY: the caller promises V1 and V2; a gather only reads the memory.
        unsafe { copy.run() };
    }

    /// Copies a dense block into a tile.
    ///
    /// # Safety
    ///
    /// V1, V2.
    pub(crate) unsafe fn scatter(self, block: *const u8, memory: *mut u8, tile: &Tile, size: usize) {
        let copy = TileCopy::<false> { memory, tile, block: block.cast_mut(), size, rows: self.scatter };
        // SAFETY: the caller promises V1 and V2; a scatter only reads the block.
        unsafe { copy.run() };
    }
}

/// One copy of a tile: gathered from memory into the block, or scattered from it.
struct TileCopy<'t, const GATHER: bool> {
    memory: *mut u8,
    tile: &'t Tile,
    block: *mut u8,
    size: usize,
    rows: CopyRows,
}

impl<const GATHER: bool> TileCopy<'_, GATHER> {
    /// # Safety
    ///
    /// V1, V2.
    unsafe fn run(&self) {
        let (tile, size) = (self.tile, self.size);
        if tile.is_dense(size) {
            // SAFETY: the tile is one dense run of `numel * size` bytes, in bounds on both sides (V1), apart and
            // initialised (V2).
            return unsafe { copy_bytes::<GATHER>(self.memory, self.block, tile.numel() * size) };
        }
        if tile.is_transposed() {
            return match size {
                // SAFETY: the caller promises V1 and V2 for elements of one byte.
                1 => unsafe { self.transpose::<u8>() },
                // SAFETY: the caller promises V1 and V2 for elements of two bytes.
                2 => unsafe { self.transpose::<u16>() },
                // SAFETY: the caller promises V1 and V2 for elements of four bytes.
                4 => unsafe { self.transpose::<u32>() },
                // SAFETY: the caller promises V1 and V2 for elements of eight bytes.
                8 => unsafe { self.transpose::<u64>() },
                // SAFETY: the caller promises V1 and V2 for elements of sixteen bytes: no dtype has another size.
                _ => unsafe { self.transpose::<[u64; 2]>() },
            };
        }
        if GATHER && tile.rows > 1 && tile.outer == 0 {
            // SAFETY: the caller promises V1 and V2; there are rows, and their stride is 0.
            return unsafe { self.gather_repeated_row() };
        }
        // SAFETY: the caller promises V1 and V2 for this tile.
        unsafe { self.copy_by_rows(tile) };
    }

    /// Copies a tile row by row.
    ///
    /// # Safety
    ///
    /// V1, V2 for that tile.
    unsafe fn copy_by_rows(&self, tile: &Tile) {
        let (memory, block, size) = (self.memory, self.block, self.size);
        if tile.inner != size as isize {
            // SAFETY: the caller promises V1 and V2 for this tile; the host has the level that `rows` was chosen for
            // (V3).
            return unsafe { (self.rows)(memory, tile, block, size) };
        }
        for row in 0..tile.rows {
            let memory = memory.wrapping_offset(row as isize * tile.outer);
            // SAFETY: a row is `cols * size` dense bytes, in bounds on both sides (V1), apart and initialised (V2).
            unsafe { copy_bytes::<GATHER>(memory, block.wrapping_add(row * tile.cols * size), tile.cols * size) };
        }
    }

    /// Gathers the one row that all rows are, then doubles it in the block until all are there.
    ///
    /// # Safety
    ///
    /// V1, V2; there are rows, and their stride is 0.
    unsafe fn gather_repeated_row(&self) {
        let &Tile { cols, rows, inner, .. } = self.tile;
        let cols = if inner == 0 { cols * rows } else { cols };
        // SAFETY: V1 and V2 hold for the first row of the tile; if a row is one element (stride 0), for a row of any
        // length that the block has room for.
        unsafe { self.copy_by_rows(&Tile { cols, rows: 1, inner, outer: 0 }) };
        let (mut done, all) = (cols * self.size, self.tile.numel() * self.size);
        while done > 0 && done < all {
            let more = done.min(all - done);
            // SAFETY: the block has room for `all >= done + more` bytes (V1); its first `done >= more` are initialised,
            // and lie before those that are written; nobody else uses the block (V2).
            unsafe { std::ptr::copy_nonoverlapping(self.block, self.block.wrapping_add(done), more) };
            done += more;
        }
    }

    /// The addresses of element (row, col) in memory and in the block.
    #[inline(always)]
    fn addresses<T>(&self, row: usize, col: usize) -> (*mut u8, *mut u8) {
        let tile = self.tile;
        let offset = row as isize * tile.outer + col as isize * tile.inner;
        (self.memory.wrapping_offset(offset), self.block.wrapping_add((row * tile.cols + col) * size_of::<T>()))
    }

    /// Copies a transposed tile: whole squares in registers, what is left element by element in the order of the
    /// memory.
    ///
    /// # Safety
    ///
    /// V1, V2 for elements of the size of `T`.
    #[inline(always)]
    unsafe fn transpose<T: Transpose>(&self) {
        let &Tile { cols, rows, inner, outer } = self.tile;
        let dense = outer == size_of::<T>() as isize;
        let side = T::SIDE;
        let (cols_in, rows_in) = if dense { (cols - cols % side, rows - rows % side) } else { (0, 0) };
        for col in (0..cols_in).step_by(side) {
            for row in (0..rows_in).step_by(side) {
                let (memory, block) = self.addresses::<T>(row, col);
                // Row i of a square in the memory is column i of it in the block.
                let memory = SquareRows { first: memory, stride: inner };
                let block = SquareRows { first: block, stride: (cols * size_of::<T>()) as isize };
                let (from, to) = if GATHER { (memory, block) } else { (block, memory) };
                // SAFETY: Q1: a row of the square is `side` neighbours, in memory (`dense`) and in the block, in bounds
                // (V1) and initialised (V2); Q2: memory and block are apart, and nobody else uses the destination (V2).
                unsafe { T::transpose(from, to) };
            }
        }
        let begun = if rows_in == rows { cols_in } else { 0 };
        for col in begun..cols {
            let first = if col < cols_in { rows_in } else { 0 };
            for row in first..rows {
                let (memory, block) = self.addresses::<T>(row, col);
                // SAFETY: one element, in bounds on both sides (V1), apart and initialised (V2).
                unsafe { copy_bytes::<GATHER>(memory, block, size_of::<T>()) };
            }
        }
    }
}

/// Copies bytes from memory to block or back.
///
/// # Safety
///
/// Both have so many bytes in bounds and are apart; those of the source are initialised, and nobody else uses the
/// others.
#[inline(always)]
unsafe fn copy_bytes<const GATHER: bool>(memory: *mut u8, block: *mut u8, bytes: usize) {
    let (from, to) = if GATHER { (memory, block) } else { (block, memory) };
    // SAFETY: the caller promises bounds on both sides, no overlap, and an initialised source.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Prefetches, into the second-level cache, the lines of a tile that will be gathered next, where the hardware
/// prefetcher would not: those of a transpose, whose columns lie far apart.
#[inline]
pub(crate) fn prefetch(memory: *const u8, tile: &Tile, size: usize) {
    if tile.outer == size as isize && tile.is_transposed() {
        for col in 0..tile.cols as isize {
            for byte in (0..tile.rows * size).step_by(CACHE_LINE) {
                prefetch_line(memory.wrapping_offset(col * tile.inner).wrapping_add(byte));
            }
        }
    }
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
                        // SAFETY: V1: the tile lies within the memory (the largest reach is far less), and the block
                        // has room for it; V2: they are two vectors.
                        unsafe {
                            TileCopier::at(level).gather(
                                memory.as_ptr().wrapping_add(base),
                                &tile,
                                block.as_mut_ptr(),
                                size,
                            )
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
                        // SAFETY: V1: the tile lies within the memory (the largest reach is far less), and the block
                        // holds it; V2: they are two vectors.
                        unsafe { TileCopier::at(level).scatter(block.as_ptr(), to, &tile, size) };
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
