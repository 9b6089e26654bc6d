//! Staging: one operand of a loop between memory as it lies and the dense block of another dtype that a kernel takes,
//! tile by tile. Owns the order of the steps; refuses to know what is computed.
//!
//! ```text
//! load:   strided memory ─► gather ─► conj, neg ─► cast ─► round ─► dense block
//! store:  dense block ─► round ─► cast ─► conj, neg ─► scatter ─► strided memory
//! ```
//!
//! Rounding, by a cast to the dtype that the operator promotes to and back, is for kernels that compute wider than
//! that. The bits are resolved in the operand's own dtype, as PyTorch does when it materialises an operand before
//! casting it: the negative of the uint8 1 is 255, not -1.

use crate::cast::{Bits, Cast, cast, moved};
use crate::isa::Level;
pub(crate) use crate::tile_copy::Tile;
use crate::tile_copy::{self, TileCopier};
use monomorph_core::DType;
use std::mem::MaybeUninit;

/// Bytes of a small staging block. Several blocks stay in the first-level cache (decision 0005).
pub(crate) const STAGE_BLOCK_BYTES: usize = 2048;

/// A small block that a tile of one operand is staged in.
pub(crate) type StageBlock = StageBuffer<STAGE_BLOCK_BYTES>;

/// A staging block of so many bytes, aligned to a cache line; uninitialised until something is loaded.
#[repr(C, align(64))]
pub(crate) struct StageBuffer<const BYTES: usize>(MaybeUninit<[u8; BYTES]>);

impl<const BYTES: usize> StageBuffer<BYTES> {
    /// An uninitialised block.
    pub(crate) const NEW: Self = StageBuffer(MaybeUninit::uninit());

    /// The address of the block. Valid as long as the block stays in place.
    pub(crate) fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// How one operand is loaded into blocks, or stored from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stager {
    /// The dtype in memory.
    dtype: DType,
    /// The dtype of the block.
    block_dtype: DType,
    bits: Bits,
    cast: Option<Cast>,
    /// The casts to the dtype that elements are rounded to, and back.
    round: Option<[Cast; 2]>,
    copier: TileCopier,
}

impl Stager {
    /// An operand that is read.
    pub(crate) fn input(dtype: DType, block_dtype: DType, bits: Bits, level: Level) -> Stager {
        Stager {
            dtype,
            block_dtype,
            bits,
            cast: cast(dtype, block_dtype, level),
            round: None,
            copier: TileCopier::at(level),
        }
    }

    /// An operand that is written.
    pub(crate) fn output(dtype: DType, block_dtype: DType, bits: Bits, level: Level) -> Stager {
        Stager {
            dtype,
            block_dtype,
            bits,
            cast: cast(block_dtype, dtype, level),
            round: None,
            copier: TileCopier::at(level),
        }
    }

    /// The same, with each element rounded to `dtype` on the way, by casts to it and back: an int32 operand of a
    /// float16 operator that is computed in float32. The dtype of blocks must hold every value of `dtype`.
    pub(crate) fn through(self, dtype: DType, level: Level) -> Stager {
        let between = if self.dtype == dtype {
            None
        } else {
            cast(self.block_dtype, dtype, level).zip(cast(dtype, self.block_dtype, level))
        };
        Stager { round: between.map(|(to, back)| [to, back]), ..self }
    }

    /// True if nothing has to be done: a dense run in memory is what the kernel takes.
    pub(crate) fn is_direct(&self) -> bool {
        self.cast.is_none() && self.round.is_none() && self.bits.is_none()
    }

    /// The conversion between memory and block, if that is all there is to do.
    pub(crate) fn only_cast(&self) -> Option<Cast> {
        self.cast.filter(|_| self.round.is_none() && self.bits.is_none())
    }

    /// Bytes per element in the block.
    pub(crate) fn size(&self) -> usize {
        self.block_dtype.size()
    }

    /// True if a tile lies in memory as one dense run.
    pub(crate) fn is_dense(&self, tile: &Tile) -> bool {
        tile.is_dense(self.dtype.size())
    }

    /// Copies `n` elements from memory to memory, both `stride` bytes apart.
    ///
    /// # Safety
    ///
    /// They are in bounds on both sides, which do not overlap; the source is initialised, and nobody else uses the
    /// destination.
    pub(crate) unsafe fn copy(&self, from: *const u8, to: *mut u8, stride: isize, n: usize) {
        // SAFETY: R1, R2: the caller promises bounds, an initialised source, a destination that nobody else uses, and
        // no overlap.
        unsafe { moved(from, stride, to, stride, self.dtype.size(), n) };
    }

    /// Elements that a [`StageBlock`] holds in either dtype.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity_of(STAGE_BLOCK_BYTES)
    }

    /// Elements that so many bytes hold in either dtype.
    pub(crate) fn capacity_of(&self, bytes: usize) -> usize {
        bytes / self.dtype.size().max(self.block_dtype.size())
    }

    /// Prefetches a tile that is loaded next.
    pub(crate) fn prefetch(&self, memory: *const u8, tile: Tile) {
        tile_copy::prefetch(memory, &tile, self.dtype.size());
    }

    /// Loads a tile into a block, dense. A broadcast row or element is converted once.
    ///
    /// # Safety
    ///
    /// * L1: every element of the tile from `memory` on is in bounds.
    /// * L2: `block` and `scratch` are distinct blocks of the same number of bytes, at least `STAGE_BLOCK_BYTES`, and
    ///   the tile has no more elements than [`capacity_of`](Stager::capacity_of) that.
    /// * L3: the tile is initialised, and nobody writes it meanwhile.
    pub(crate) unsafe fn load(&self, memory: *const u8, tile: Tile, block: *mut u8, scratch: *mut u8) {
        if tile.outer == 0 && tile.rows > 1 && !tile.is_single_element() {
            // SAFETY: the first row is part of the tile, so L1 to L3 hold for it.
            unsafe { self.load(memory, Tile { rows: 1, ..tile }, block, scratch) };
            let (all, mut done) = (tile.numel() * self.size(), tile.cols * self.size());
            while done < all {
                let more = done.min(all - done);
                // SAFETY: the block has room for `all >= done + more` bytes (L2), of which the first `done >= more`
                // were just stored and lie before those that are written.
                unsafe { std::ptr::copy_nonoverlapping(block, block.wrapping_add(done), more) };
                done += more;
            }
            return;
        }
        let Some(cast) = self.cast else {
            // SAFETY: V1: the tile is in bounds (L1), and a block has room for it (L2); V2: a block is no operand, and
            // the tile is initialised (L3).
            unsafe { self.copier.gather(memory, &tile, block, self.dtype.size()) };
            // SAFETY: `numel` elements of the operand's dtype were just stored in the block.
            unsafe { self.bits.apply(self.dtype, block, tile.numel()) };
            // SAFETY: the block holds `numel` elements, of the blocks' dtype since there is no cast; `scratch` is
            // another (L2).
            return unsafe { self.round_block(block, scratch, tile.numel()) };
        };
        if tile.is_single_element() {
            let one = Tile { cols: 1, rows: 1, ..tile };
            // SAFETY: V1: the element is in bounds (L1), and a block has room for it; V2: a block is no operand, and
            // the tile is initialised (L3).
            unsafe { self.copier.gather(memory, &one, scratch, self.dtype.size()) };
            // SAFETY: one element of the operand's dtype was just stored at `scratch`.
            unsafe { self.bits.apply(self.dtype, scratch, 1) };
            let value = scratch.wrapping_add(STAGE_BLOCK_BYTES - size_of::<u128>());
            // SAFETY: R1: the element at `scratch` was just stored, and the last 16 bytes of a small block hold an
            // element of any dtype; R2: they are not its first 16 bytes.
            unsafe { cast.run(scratch, value, 1) };
            // SAFETY: one element was just stored at `value`; the beginning of `scratch` has room for one, and does not
            // overlap it.
            unsafe { self.round_block(value, scratch, 1) };
            let all = Tile { cols: tile.numel(), rows: 1, inner: 0, outer: 0 };
            // SAFETY: V1: the value is one element (strides are 0), and the block has room for the tile (L2); V2: the
            // value lies in `scratch`, which is another block.
            return unsafe { self.copier.gather(value, &all, block, self.size()) };
        }
        if self.bits.is_none() && tile.is_dense(self.dtype.size()) {
            // SAFETY: R1: the tile is a dense run of `numel` elements, in bounds (L1) and initialised (L3), and the
            // block has room for them (L2); R2: a block is no operand.
            unsafe { cast.run(memory, block, tile.numel()) };
            // SAFETY: `numel` elements of the blocks' dtype were just stored in the block; `scratch` is another (L2).
            return unsafe { self.round_block(block, scratch, tile.numel()) };
        }
        // SAFETY: V1: the tile is in bounds (L1), and a block has room for it (L2); V2: a block is no operand, and the
        // tile is initialised (L3).
        unsafe { self.copier.gather(memory, &tile, scratch, self.dtype.size()) };
        // SAFETY: `numel` elements of the operand's dtype were just stored in `scratch`.
        unsafe { self.bits.apply(self.dtype, scratch, tile.numel()) };
        // SAFETY: R1: `numel` elements were just stored in `scratch`, and the block has room for as many (L2); R2: they
        // are two blocks (L2).
        unsafe { cast.run(scratch, block, tile.numel()) };
        // SAFETY: `numel` elements of the blocks' dtype were just stored in the block; `scratch` is another (L2).
        unsafe { self.round_block(block, scratch, tile.numel()) };
    }

    /// Rounds `n` elements of a block, if the operand is rounded on its way.
    ///
    /// # Safety
    ///
    /// The block holds `n` elements of the dtype of blocks, and `scratch` has room for as many and does not overlap
    /// them.
    unsafe fn round_block(&self, block: *mut u8, scratch: *mut u8, n: usize) {
        let Some([to, back]) = self.round else { return };
        // SAFETY: R1: the block holds `n` elements, and `scratch` has room for as many of the rounded dtype, which is
        // no larger; R2: the caller promises that they do not overlap.
        unsafe { to.run(block, scratch, n) };
        // SAFETY: R1: `n` rounded elements were just stored in `scratch`, and the block has room for `n`; R2: the
        // caller promises that they do not overlap.
        unsafe { back.run(scratch, block, n) };
    }

    /// Transposes a dense matrix of elements of `size` bytes, `rows` rows of `cols`.
    ///
    /// # Safety
    ///
    /// Both sides have `rows * cols` elements and do not overlap; the source is initialised, and nobody else uses the
    /// destination.
    pub(crate) unsafe fn transpose(&self, from: *const u8, cols: usize, rows: usize, to: *mut u8, size: usize) {
        let tile = Tile { cols: rows, rows: cols, inner: (cols * size) as isize, outer: size as isize };
        // SAFETY: V1: the tile is the source matrix, whose elements both sides have; V2: the caller promises no overlap
        // and an initialised source.
        unsafe { self.copier.gather(from, &tile, to, size) };
    }

    /// Stores a tile. The block holds nothing of use afterwards.
    ///
    /// # Safety
    ///
    /// L1 and L2 of [`load`](Stager::load), the block is filled, and nobody reads or writes the tile meanwhile.
    pub(crate) unsafe fn store(&self, block: *mut u8, memory: *mut u8, tile: Tile, scratch: *mut u8) {
        let mut from = block;
        // SAFETY: the caller promises that the block is filled; `scratch` is another (L2).
        unsafe { self.round_block(block, scratch, tile.numel()) };
        if let Some(cast) = self.cast {
            if self.bits.is_none() && tile.is_dense(self.dtype.size()) {
                // SAFETY: R1: the block is filled, and the tile is a dense run of `numel` elements in bounds (L1) that
                // nobody else uses; R2: a block is no operand.
                return unsafe { cast.run(block, memory, tile.numel()) };
            }
            // SAFETY: R1: the block is filled, and `scratch` has room for `numel` elements of either dtype (L2); R2:
            // they are two blocks (L2).
            unsafe { cast.run(block, scratch, tile.numel()) };
            from = scratch;
        }
        // SAFETY: `from` holds `numel` elements of the operand's dtype: the block if there is no cast, or what was just
        // cast.
        unsafe { self.bits.apply(self.dtype, from, tile.numel()) };
        // SAFETY: V1: the tile is in bounds (L1), and `from` holds `numel` elements; V2: a block is no operand, and the
        // caller promises that nobody else uses the tile.
        unsafe { self.copier.scatter(from, memory, &tile, self.dtype.size()) };
    }
}
