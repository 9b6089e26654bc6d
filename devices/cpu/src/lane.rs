//! One operand of a loop, between memory as it lies and the dense block that a kernel takes. Owns the order of the steps
//! (gather, resolve conj and neg, cast, and back); refuses to know what is computed.
//!
//! ```text
//! load:   strided memory ─► gather ─► conj, neg ─► cast ─► round ─► dense block
//! store:  dense block ─► round ─► cast ─► conj, neg ─► scatter ─► strided memory
//! ```
//!
//! The bits are resolved in the operand's own dtype, as PyTorch does when it materialises an operand before casting it:
//! the negative of the uint8 1 is 255, not -1.

use crate::cast::{Bits, Cast, cast, moved};
use crate::isa::Level;
pub(crate) use crate::moves::Tile;
use crate::moves::{self, Mover};
use monomorph_core::DType;
use std::mem::MaybeUninit;

/// Bytes of a block. Several blocks stay in the first-level cache.
pub(crate) const BLOCK: usize = 2048;

/// A block of memory that a tile of one operand is staged in.
pub(crate) type Block = Stage<BLOCK>;

/// A block of so many bytes.
#[repr(C, align(64))]
pub(crate) struct Stage<const BYTES: usize>(MaybeUninit<[u8; BYTES]>);

impl<const BYTES: usize> Stage<BYTES> {
    /// A block that holds nothing yet.
    pub(crate) const NEW: Self = Stage(MaybeUninit::uninit());

    pub(crate) fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// How one operand is loaded or stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// The dtype in memory.
    dtype: DType,
    /// The dtype of the block.
    want: DType,
    bits: Bits,
    cast: Option<Cast>,
    /// To the dtype that elements pass through, and back.
    round: Option<[Cast; 2]>,
    mover: Mover,
}

impl Lane {
    /// An operand that is read.
    pub(crate) fn input(dtype: DType, want: DType, bits: Bits, level: Level) -> Lane {
        Lane { dtype, want, bits, cast: cast(dtype, want, level), round: None, mover: Mover::at(level) }
    }

    /// An operand that is written.
    pub(crate) fn output(dtype: DType, want: DType, bits: Bits, level: Level) -> Lane {
        Lane { dtype, want, bits, cast: cast(want, dtype, level), round: None, mover: Mover::at(level) }
    }

    /// The lane, with each element rounded to `dtype` between memory and block, which holds what `dtype` does: an int32 operand
    /// of a float16 operator that is computed in float32.
    pub(crate) fn through(self, dtype: DType, level: Level) -> Lane {
        let between =
            if self.dtype == dtype { None } else { cast(self.want, dtype, level).zip(cast(dtype, self.want, level)) };
        Lane { round: between.map(|(to, back)| [to, back]), ..self }
    }

    /// True if a dense run in memory is a block as it is.
    pub(crate) fn is_direct(&self) -> bool {
        self.cast.is_none() && self.round.is_none() && self.bits.is_none()
    }

    /// The conversion between memory and block, if that is all there is to do.
    pub(crate) fn only_cast(&self) -> Option<Cast> {
        self.cast.filter(|_| self.round.is_none() && self.bits.is_none())
    }

    /// Bytes per element in the block.
    pub(crate) fn size(&self) -> usize {
        self.want.size()
    }

    /// True if a tile in memory is one dense run.
    pub(crate) fn is_dense(&self, tile: &Tile) -> bool {
        tile.is_dense(self.dtype.size())
    }

    /// Copies `n` elements of memory, so many bytes apart.
    ///
    /// # Safety
    ///
    /// They are in bounds on both sides, which lie apart; the source is initialised, and nobody else uses the destination.
    pub(crate) unsafe fn copy(&self, from: *const u8, to: *mut u8, stride: isize, n: usize) {
        // SAFETY: passed on.
        unsafe { moved(from, stride, to, stride, self.dtype.size(), n) };
    }

    /// Elements that fit a block in either dtype.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity_of(BLOCK)
    }

    /// Elements that fit so many bytes in either dtype.
    pub(crate) fn capacity_of(&self, bytes: usize) -> usize {
        bytes / self.dtype.size().max(self.want.size())
    }

    /// Asks for the lines of a tile that is loaded next.
    pub(crate) fn prefetch(&self, memory: *const u8, tile: Tile) {
        moves::prefetch(memory, &tile, self.dtype.size());
    }

    /// Loads a tile.
    ///
    /// # Safety
    ///
    /// * L1: every element of the tile from `memory` on is in bounds.
    /// * L2: `block` and `scratch` are distinct blocks of the same number of bytes, at least `BLOCK`, and the tile has no
    ///   more elements than [`capacity_of`](Lane::capacity_of) that.
    /// * L3: nobody writes the tile meanwhile.
    pub(crate) unsafe fn load(&self, memory: *const u8, tile: Tile, block: *mut u8, scratch: *mut u8) {
        if tile.outer == 0 && tile.rows > 1 && !tile.is_one() {
            // SAFETY: L1–L3 for the first row.
            unsafe { self.load(memory, Tile { rows: 1, ..tile }, block, scratch) };
            let (all, mut done) = (tile.numel() * self.size(), tile.cols * self.size());
            while done < all {
                let more = done.min(all - done);
                // SAFETY: L2: the block has room for the tile; as many bytes as are filled lie before.
                unsafe { std::ptr::copy_nonoverlapping(block, block.wrapping_add(done), more) };
                done += more;
            }
            return;
        }
        let Some(cast) = self.cast else {
            // SAFETY: L1–L3.
            unsafe { self.mover.gather(memory, &tile, block, self.dtype.size()) };
            // SAFETY: L2; the block was just filled.
            unsafe { self.bits.apply(self.dtype, block, tile.numel()) };
            // SAFETY: as above.
            return unsafe { self.rounded(block, scratch, tile.numel()) };
        };
        if tile.is_one() {
            let one = Tile { cols: 1, rows: 1, ..tile };
            // SAFETY: L1–L3.
            unsafe { self.mover.gather(memory, &one, scratch, self.dtype.size()) };
            // SAFETY: L2; the element was just stored.
            unsafe { self.bits.apply(self.dtype, scratch, 1) };
            let value = scratch.wrapping_add(BLOCK - size_of::<u128>());
            // SAFETY: R1, R2: 16 bytes hold an element of any dtype, and the first half of the block is not the end of it.
            unsafe { cast.run(scratch, value, 1) };
            // SAFETY: as above.
            unsafe { self.rounded(value, scratch, 1) };
            let all = Tile { cols: tile.numel(), rows: 1, inner: 0, outer: 0 };
            // SAFETY: V1, V2: the block has room for the tile (L2), and the value lies in the other one.
            return unsafe { self.mover.gather(value, &all, block, self.size()) };
        }
        if self.bits.is_none() && tile.is_dense(self.dtype.size()) {
            // SAFETY: R1 by L1 and L2, R2 since a block is no operand.
            unsafe { cast.run(memory, block, tile.numel()) };
            // SAFETY: L2; the block was just filled.
            return unsafe { self.rounded(block, scratch, tile.numel()) };
        }
        // SAFETY: L1–L3.
        unsafe { self.mover.gather(memory, &tile, scratch, self.dtype.size()) };
        // SAFETY: L2; the block was just filled.
        unsafe { self.bits.apply(self.dtype, scratch, tile.numel()) };
        // SAFETY: R1, R2 by L2.
        unsafe { cast.run(scratch, block, tile.numel()) };
        // SAFETY: L2; the block was just filled.
        unsafe { self.rounded(block, scratch, tile.numel()) };
    }

    /// Rounds `n` elements of a block.
    ///
    /// # Safety
    ///
    /// The block holds `n` elements of the dtype of blocks, and `scratch`, which lies apart, has room for as many.
    unsafe fn rounded(&self, block: *mut u8, scratch: *mut u8, n: usize) {
        let Some([to, back]) = self.round else { return };
        // SAFETY: R1, R2, passed on: what is rounded to is no larger.
        unsafe { to.run(block, scratch, n) };
        // SAFETY: as above; the elements were just stored.
        unsafe { back.run(scratch, block, n) };
    }

    /// Copies a dense matrix of parts of so many bytes, `rows` rows of `cols`, column by column.
    ///
    /// # Safety
    ///
    /// Both sides have so many parts, the source is initialised, and they lie apart.
    pub(crate) unsafe fn turn(&self, from: *const u8, cols: usize, rows: usize, to: *mut u8, size: usize) {
        let tile = Tile { cols: rows, rows: cols, inner: (cols * size) as isize, outer: size as isize };
        // SAFETY: V1, V2 by the caller's promise.
        unsafe { self.mover.gather(from, &tile, to, size) };
    }

    /// Stores a tile. The block holds nothing of use afterwards.
    ///
    /// # Safety
    ///
    /// L1 and L2 of [`load`](Lane::load), the block is filled, and nobody reads or writes the tile meanwhile.
    pub(crate) unsafe fn store(&self, block: *mut u8, memory: *mut u8, tile: Tile, scratch: *mut u8) {
        let mut from = block;
        // SAFETY: L2; the block is filled.
        unsafe { self.rounded(block, scratch, tile.numel()) };
        if let Some(cast) = self.cast {
            if self.bits.is_none() && tile.is_dense(self.dtype.size()) {
                // SAFETY: R1 by L1 and L2, R2 since a block is no operand.
                return unsafe { cast.run(block, memory, tile.numel()) };
            }
            // SAFETY: R1, R2 by L2.
            unsafe { cast.run(block, scratch, tile.numel()) };
            from = scratch;
        }
        // SAFETY: L2; the elements are initialised.
        unsafe { self.bits.apply(self.dtype, from, tile.numel()) };
        // SAFETY: L1, L2.
        unsafe { self.mover.scatter(from, memory, &tile, self.dtype.size()) };
    }
}
