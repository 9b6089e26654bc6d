//! One operand of a loop, between memory as it lies and the dense block that a kernel takes. Owns the order of the steps
//! (gather, resolve conj and neg, cast, and back); refuses to know what is computed.
//!
//! ```text
//! load:   strided memory ─► gather ─► conj, neg ─► cast ─► dense block
//! store:  dense block ─► cast ─► conj, neg ─► scatter ─► strided memory
//! ```
//!
//! The bits are resolved in the operand's own dtype, as PyTorch does when it materialises an operand before casting it:
//! the negative of the uint8 1 is 255, not -1.

use crate::cast::{Bits, Cast, cast, moved};
use crate::isa::Level;
use monomorph_core::DType;
use std::mem::MaybeUninit;

/// Bytes of a block. Several blocks stay in the first-level cache.
pub(crate) const BLOCK: usize = 2048;

/// A block of memory that a tile of one operand is staged in.
#[repr(C, align(64))]
pub(crate) struct Block(MaybeUninit<[u8; BLOCK]>);

impl Block {
    /// A block that holds nothing yet.
    pub(crate) const NEW: Block = Block(MaybeUninit::uninit());

    pub(crate) fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// A rectangle of elements: `rows` rows of `cols` elements, strides in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) cols: usize,
    pub(crate) rows: usize,
    pub(crate) inner: isize,
    pub(crate) outer: isize,
}

impl Tile {
    fn numel(self) -> usize {
        self.cols * self.rows
    }

    /// True if the elements, of `size` bytes, lie one after the other.
    fn is_dense(self, size: usize) -> bool {
        self.inner == size as isize && (self.rows == 1 || self.outer == self.inner * self.cols as isize)
    }

    /// True if all of it is one element.
    fn is_one(self) -> bool {
        self.inner == 0 && (self.rows == 1 || self.outer == 0)
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
}

impl Lane {
    /// An operand that is read.
    pub(crate) fn input(dtype: DType, want: DType, bits: Bits, level: Level) -> Lane {
        Lane { dtype, want, bits, cast: cast(dtype, want, level) }
    }

    /// An operand that is written.
    pub(crate) fn output(dtype: DType, want: DType, bits: Bits, level: Level) -> Lane {
        Lane { dtype, want, bits, cast: cast(want, dtype, level) }
    }

    /// True if a dense run in memory is a block as it is.
    pub(crate) fn is_direct(&self) -> bool {
        self.cast.is_none() && self.bits.is_none()
    }

    /// The conversion between memory and block, if that is all there is to do.
    pub(crate) fn only_cast(&self) -> Option<Cast> {
        self.cast.filter(|_| self.bits.is_none())
    }

    /// Bytes per element in the block.
    pub(crate) fn size(&self) -> usize {
        self.want.size()
    }

    /// Elements that fit a block in either dtype.
    pub(crate) fn capacity(&self) -> usize {
        BLOCK / self.dtype.size().max(self.want.size())
    }

    /// Loads a tile.
    ///
    /// # Safety
    ///
    /// * L1: every element of the tile from `memory` on is in bounds.
    /// * L2: `block` and `scratch` are distinct blocks, and the tile has no more elements than `capacity`.
    /// * L3: nobody writes the tile meanwhile.
    pub(crate) unsafe fn load(&self, memory: *const u8, tile: Tile, block: *mut u8, scratch: *mut u8) {
        let Some(cast) = self.cast else {
            // SAFETY: L1–L3.
            unsafe { gather(memory, tile, block, self.dtype.size()) };
            // SAFETY: L2; the block was just filled.
            return unsafe { self.bits.apply(self.dtype, block, tile.numel()) };
        };
        if tile.is_one() {
            let one = Tile { cols: 1, rows: 1, ..tile };
            // SAFETY: L1–L3.
            unsafe { gather(memory, one, scratch, self.dtype.size()) };
            // SAFETY: L2; the element was just stored.
            unsafe { self.bits.apply(self.dtype, scratch, 1) };
            let value = scratch.wrapping_add(BLOCK - size_of::<u128>());
            // SAFETY: R1, R2: 16 bytes hold an element of any dtype, and the first half of the block is not the end of it.
            unsafe { cast(scratch, value, 1) };
            // SAFETY: R1, R2: the block has room for the tile (L2).
            return unsafe { moved(value, 0, block, self.size() as isize, self.size(), tile.numel()) };
        }
        if self.bits.is_none() && tile.is_dense(self.dtype.size()) {
            // SAFETY: R1 by L1 and L2, R2 since a block is no operand.
            return unsafe { cast(memory, block, tile.numel()) };
        }
        // SAFETY: L1–L3.
        unsafe { gather(memory, tile, scratch, self.dtype.size()) };
        // SAFETY: L2; the block was just filled.
        unsafe { self.bits.apply(self.dtype, scratch, tile.numel()) };
        // SAFETY: R1, R2 by L2.
        unsafe { cast(scratch, block, tile.numel()) };
    }

    /// Stores a tile. The block holds nothing of use afterwards.
    ///
    /// # Safety
    ///
    /// L1 and L2 of [`load`](Lane::load), the block is filled, and nobody reads or writes the tile meanwhile.
    pub(crate) unsafe fn store(&self, block: *mut u8, memory: *mut u8, tile: Tile, scratch: *mut u8) {
        let mut from = block;
        if let Some(cast) = self.cast {
            if self.bits.is_none() && tile.is_dense(self.dtype.size()) {
                // SAFETY: R1 by L1 and L2, R2 since a block is no operand.
                return unsafe { cast(block, memory, tile.numel()) };
            }
            // SAFETY: R1, R2 by L2.
            unsafe { cast(block, scratch, tile.numel()) };
            from = scratch;
        }
        // SAFETY: L2; the elements are initialised.
        unsafe { self.bits.apply(self.dtype, from, tile.numel()) };
        // SAFETY: L1, L2.
        unsafe { scatter(from, memory, tile, self.dtype.size()) };
    }
}

/// Copies a tile into a dense block.
///
/// # Safety
///
/// L1–L3 for elements of `size` bytes.
unsafe fn gather(memory: *const u8, tile: Tile, block: *mut u8, size: usize) {
    if tile.is_dense(size) {
        // SAFETY: R1, R2 by L1 and L2: a block is no operand.
        return unsafe { moved(memory, size as isize, block, size as isize, size, tile.numel()) };
    }
    for row in 0..tile.rows {
        let from = memory.wrapping_offset(row as isize * tile.outer);
        let to = block.wrapping_add(row * tile.cols * size);
        // SAFETY: as above.
        unsafe { moved(from, tile.inner, to, size as isize, size, tile.cols) };
    }
}

/// Copies a dense block into a tile.
///
/// # Safety
///
/// As for [`Lane::store`], for elements of `size` bytes.
unsafe fn scatter(block: *const u8, memory: *mut u8, tile: Tile, size: usize) {
    for row in 0..tile.rows {
        let from = block.wrapping_add(row * tile.cols * size);
        let to = memory.wrapping_offset(row as isize * tile.outer);
        // SAFETY: R1, R2 by L1 and L2: a block is no operand.
        unsafe { moved(from, size as isize, to, tile.inner, size, tile.cols) };
    }
}
