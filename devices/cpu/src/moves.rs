//! Tiles moved between strided memory and dense blocks, element by element size. Knows no dtype: what the bytes mean is in
//! `lane.rs` and `cast.rs`. Compiled in the frame of each level, where fills become vector code.
//!
//! A tile whose rows lie closer together than its columns is a transpose: it is walked in the order of the memory, in
//! squares that fit registers, so that every cache line of it is used up when it is met.

use crate::cast::moved as strided;
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, Kernel, Level, Portable};
use crate::squares::{Side, Square};
use crate::steps;

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

/// Moves a tile of elements of so many bytes: memory, tile, block, size.
///
/// Contract:
/// * V1: every element of the tile from `memory` on is in bounds, and so are as many elements from `block` on.
/// * V2: the sides do not overlap; the source is initialised, and nobody else uses the destination.
/// * V3: the host has the level that it was chosen for.
///
/// The tile is lent all the way: copied by a wide register just after it was written piece by piece, it would have to wait for
/// every store before it, up to those of the last output.
type Move = unsafe fn(memory: *mut u8, tile: &Tile, block: *mut u8, size: usize);

/// How tiles move at one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    gather: Move,
    scatter: Move,
}

impl Mover {
    /// The mover of a level, or of the best one below it that the host has.
    pub(crate) fn at(level: Level) -> Mover {
        level.choose(
            Mover { gather: moved::<Portable, true>, scatter: moved::<Portable, false> },
            #[cfg(target_arch = "x86_64")]
            [
                Mover { gather: moved::<Avx2, true>, scatter: moved::<Avx2, false> },
                Mover { gather: moved::<Avx512, true>, scatter: moved::<Avx512, false> },
            ],
        )
    }

    /// Copies a tile into a dense block.
    ///
    /// # Safety
    ///
    /// V1, V2.
    pub(crate) unsafe fn gather(self, memory: *const u8, tile: &Tile, block: *mut u8, size: usize) {
        // SAFETY: V1, V2 are passed on, V3 by the choice; a gather only reads the memory.
        unsafe { (self.gather)(memory.cast_mut(), tile, block, size) };
    }

    /// Copies a dense block into a tile.
    ///
    /// # Safety
    ///
    /// V1, V2.
    pub(crate) unsafe fn scatter(self, block: *const u8, memory: *mut u8, tile: &Tile, size: usize) {
        // SAFETY: V1, V2 are passed on, V3 by the choice; a scatter only reads the block.
        unsafe { (self.scatter)(memory, tile, block.cast_mut(), size) };
    }
}

struct Moved<'t, const GATHER: bool> {
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
    isa.enter(Moved::<GATHER> { memory, tile, block, size });
}

impl<I: Isa, const GATHER: bool> Kernel<I> for Moved<'_, GATHER> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        match self.size {
            // SAFETY: V1–V3, here and below.
            1 => unsafe { self.of::<I, u8>() },
            // SAFETY: as above.
            2 => unsafe { self.of::<I, u16>() },
            // SAFETY: as above.
            4 => unsafe { self.of::<I, u32>() },
            // SAFETY: as above.
            8 => unsafe { self.of::<I, u64>() },
            // SAFETY: as above; no dtype has another size.
            _ => unsafe { self.of::<I, [u64; 2]>() },
        }
    }
}

impl<const GATHER: bool> Moved<'_, GATHER> {
    /// # Safety
    ///
    /// V1–V3 for elements of the size of `T`, and the level `I`.
    #[inline(always)]
    unsafe fn of<I: Isa, T: Square>(&self) {
        let (tile, size) = (self.tile, size_of::<T>());
        if tile.is_dense(size) {
            // SAFETY: V1, V2.
            return unsafe { copied::<GATHER>(self.memory, self.block, tile.numel() * size) };
        }
        if tile.is_transposed() {
            // SAFETY: V1, V2.
            return unsafe { self.transposed::<T>() };
        }
        if GATHER && tile.rows > 1 && tile.outer == 0 {
            // SAFETY: V1, V2, V3.
            return unsafe { self.repeated::<I, T>() };
        }
        for row in 0..tile.rows {
            let memory = self.memory.wrapping_offset(row as isize * tile.outer);
            let block = self.block.wrapping_add(row * tile.cols * size);
            // SAFETY: V1, V2 for the row, V3.
            unsafe { run::<I, T, GATHER>(memory, tile.inner, block, tile.cols) };
        }
    }

    /// Gathers one row for all.
    ///
    /// # Safety
    ///
    /// V1–V3 for elements of the size of `T`, and the level `I`; there are rows, and their stride is 0.
    #[inline(always)]
    unsafe fn repeated<I: Isa, T: Copy>(&self) {
        let tile = self.tile;
        if tile.inner == 0 {
            // SAFETY: V1, V2: all of it is one element.
            return unsafe { run::<I, T, true>(self.memory, 0, self.block, tile.numel()) };
        }
        // SAFETY: V1, V2 for the row, V3.
        unsafe { run::<I, T, true>(self.memory, tile.inner, self.block, tile.cols) };
        let (mut done, all) = (tile.cols * size_of::<T>(), tile.numel() * size_of::<T>());
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

/// Moves one row.
///
/// # Safety
///
/// V1, V2 for a tile of one row, and V3 for the level `I`.
#[inline(always)]
unsafe fn run<I: Isa, T: Copy, const GATHER: bool>(memory: *mut u8, stride: isize, block: *mut u8, n: usize) {
    let size = size_of::<T>() as isize;
    if stride == size {
        // SAFETY: V1, V2.
        return unsafe { copied::<GATHER>(memory, block, n * size_of::<T>()) };
    }
    if GATHER && stride == 0 && n > 0 {
        // SAFETY: V1.
        let value = unsafe { memory.cast::<T>().read_unaligned() };
        for i in 0..n {
            // SAFETY: V1, V2.
            unsafe { block.cast::<T>().wrapping_add(i).write_unaligned(value) };
        }
        return;
    }
    let mut done = 0;
    if stride == 2 * size {
        done = if GATHER {
            // SAFETY: S1–S3 by V1–V3.
            unsafe { steps::gather::<I>(memory, block, size_of::<T>(), n) }
        } else {
            // SAFETY: as above.
            unsafe { steps::scatter::<I>(block, memory, size_of::<T>(), n) }
        };
    }
    let (memory, block) = (memory.wrapping_offset(done as isize * stride), block.wrapping_add(done * size_of::<T>()));
    if GATHER {
        // SAFETY: R1, R2 by V1, V2. Not in the frame: the wide registers' gather instructions are slower than plain loads.
        unsafe { strided(memory, stride, block, size, size_of::<T>(), n - done) };
    } else {
        // SAFETY: as above.
        unsafe { strided(block, size, memory, stride, size_of::<T>(), n - done) };
    }
}

/// Asks for the lines of a tile that will be gathered next, where the processor would not guess them: those of a
/// transpose, whose columns lie far apart.
#[inline]
pub(crate) fn prefetch(memory: *const u8, tile: &Tile, size: usize) {
    #[cfg(target_arch = "x86_64")]
    if tile.outer == size as isize && tile.is_transposed() {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        for col in 0..tile.cols as isize {
            for byte in (0..tile.rows * size).step_by(64) {
                let line = memory.wrapping_offset(col * tile.inner).wrapping_add(byte);
                // SAFETY: every x86-64 has the instruction, which is a hint at any address.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) };
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, tile, size);
}

/// Asks for the lines of a dense run of so many bytes.
#[inline]
pub(crate) fn prefetch_run(memory: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for byte in (0..bytes).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, which is a hint at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(memory.wrapping_add(byte).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (memory, bytes);
}

/// Bytes of a line of a cache.
pub(crate) const LINE: usize = 64;

/// Copies whole lines past the caches. Other threads see them after [`end_stream`].
///
/// # Safety
///
/// Both runs have so many bytes, a multiple of [`LINE`], begin with a line, and lie apart; those of `from` are initialised. The host has
/// the level.
#[inline(always)]
pub(crate) unsafe fn stream_lines<I: Isa>(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(LINE) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        match I::LEVEL {
            // SAFETY: in bounds and aligned by the caller's promise, and so is the level, here and below.
            Level::Avx512 => unsafe { stream_avx512(from.cast(), to.cast()) },
            // SAFETY: as above.
            Level::Avx2 => unsafe { stream_avx2(from.cast(), to.cast()) },
            // SAFETY: as above.
            Level::Portable | Level::Sse2 => unsafe { stream_sse2(from.cast(), to.cast()) },
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: passed on.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes)
    };
}

/// Declares how a line is copied past the caches by registers of one width.
macro_rules! streams {
    ($name:ident, $feature:literal, $register:ident, $load:ident, $store:ident) => {
        /// # Safety
        ///
        /// Both begin with a line, that of `from` is initialised, nobody else uses the other. The host has the feature.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn $name(from: *const std::arch::x86_64::$register, to: *mut std::arch::x86_64::$register) {
            for k in 0..LINE / size_of::<std::arch::x86_64::$register>() {
                // SAFETY: in bounds and aligned by the caller's promise.
                let part = unsafe { std::arch::x86_64::$load(from.wrapping_add(k)) };
                // SAFETY: as above.
                unsafe { std::arch::x86_64::$store(to.wrapping_add(k), part) };
            }
        }
    };
}
streams!(stream_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512);
streams!(stream_avx2, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256);
streams!(stream_sse2, "sse2", __m128i, _mm_load_si128, _mm_stream_si128);

/// Makes what this thread streamed visible before whatever it stores next.
#[inline]
pub(crate) fn end_stream() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
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
