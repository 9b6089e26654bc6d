//! Small squares of elements transposed in registers: the innermost step of copying a transposed tile. Left to itself
//! the compiler moves such a square element by element through general registers, five instructions each.
//!
//! ```text
//! a0 a1 a2 a3  ┐ unpack     a0 b0 a1 b1  ┐ unpack      a0 b0 c0 d0
//! b0 b1 b2 b3  ┘ 32 bits    c0 d0 c1 d1  ┘ 64 bits     a1 b1 c1 d1
//! c0 c1 c2 c3  ┐            a2 b2 a3 b3  ┐             a2 b2 c2 d2
//! d0 d1 d2 d3  ┘            c2 d2 c3 d3  ┘             a3 b3 c3 d3
//! ```
//!
//! All of it is SSE2, which every x86-64 has; compiled for wider levels the same code was no faster (decision 0010).
//! Owns the intrinsics for this; knows no dtype and no tile.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The rows of a square, each dense: the first, and how many bytes lead from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct SquareRows {
    pub(crate) first: *mut u8,
    pub(crate) stride: isize,
}

impl SquareRows {
    #[inline(always)]
    fn row<T>(self, i: usize) -> *mut T {
        self.first.wrapping_offset(i as isize * self.stride).cast()
    }
}

/// Elements of one size, of which a square can be transposed.
pub(crate) trait Transpose: Copy {
    /// Elements of a side.
    const SIDE: usize;

    /// Copies a square so that row `i` becomes column `i`.
    ///
    /// # Safety
    ///
    /// * Q1: each row of both squares is `SIDE` elements in bounds that lie one after the other, those of `from`
    ///   initialised.
    /// * Q2: the two squares do not overlap, and nobody else uses `to`.
    unsafe fn transpose(from: SquareRows, to: SquareRows);
}

/// Transposes a square of any elements, one by one.
///
/// # Safety
///
/// Q1, Q2.
#[inline(always)]
unsafe fn transpose_elementwise<T: Copy, const SIDE: usize>(from: SquareRows, to: SquareRows) {
    // SAFETY: `i < SIDE`, so row `i` of `from` is in bounds and initialised (Q1).
    let square: [[T; SIDE]; SIDE] = std::array::from_fn(|i| unsafe { from.row::<[T; SIDE]>(i).read_unaligned() });
    let transposed: [[T; SIDE]; SIDE] = std::array::from_fn(|i| std::array::from_fn(|j| square[j][i]));
    for (i, line) in transposed.into_iter().enumerate() {
        // SAFETY: `i < SIDE`, so row `i` of `to` is in bounds (Q1) and nobody else's (Q2).
        unsafe { to.row::<[T; SIDE]>(i).write_unaligned(line) };
    }
}

impl Transpose for [u64; 2] {
    const SIDE: usize = 2;

    #[inline(always)]
    unsafe fn transpose(from: SquareRows, to: SquareRows) {
        // SAFETY: the caller promises Q1 and Q2 for squares of this side.
        unsafe { transpose_elementwise::<[u64; 2], 2>(from, to) };
    }
}

/// Squares on architectures without intrinsics here.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! transpose_elementwise {
    ($($of:ty, $side:literal;)*) => {$(
        impl Transpose for $of {
            const SIDE: usize = $side;

            #[inline(always)]
            unsafe fn transpose(from: SquareRows, to: SquareRows) {
                // SAFETY: the caller promises Q1 and Q2 for squares of this side.
                unsafe { transpose_elementwise::<$of, $side>(from, to) };
            }
        }
    )*};
}
#[cfg(not(target_arch = "x86_64"))]
transpose_elementwise! { u8, 8; u16, 8; u32, 4; u64, 4; }

/// Interleaves pairs of registers: of each, the lower halves, then the upper ones.
#[cfg(target_arch = "x86_64")]
macro_rules! unpack {
    ($low:ident $high:ident: $($a:expr, $b:expr;)*) => {{
        // SAFETY: every x86-64 has SSE2; the instruction accesses no memory.
        [$(unsafe { $low($a, $b) }, unsafe { $high($a, $b) }),*]
    }};
}

#[cfg(target_arch = "x86_64")]
impl Transpose for u64 {
    const SIDE: usize = 4;

    #[inline(always)]
    unsafe fn transpose(from: SquareRows, to: SquareRows) {
        for (i, j) in [(0, 0), (0, 2), (2, 0), (2, 2)] {
            let row = |k: usize| from.row::<u64>(i + k).wrapping_add(j).cast::<__m128i>();
            // SAFETY: elements `j..j + 2` of rows `i..i + 2` are within the square of side 4, in bounds and initialised
            // (Q1).
            let [a, b] = [0, 1].map(|k| unsafe { row(k).read_unaligned() });
            let transposed = unpack!(_mm_unpacklo_epi64 _mm_unpackhi_epi64: a, b;);
            for (k, line) in transposed.into_iter().enumerate() {
                // SAFETY: elements `i..i + 2` of row `j + k < 4` are within the square, in bounds (Q1) and nobody
                // else's (Q2).
                unsafe { to.row::<u64>(j + k).wrapping_add(i).cast::<__m128i>().write_unaligned(line) };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Transpose for u32 {
    const SIDE: usize = 4;

    #[inline(always)]
    unsafe fn transpose(from: SquareRows, to: SquareRows) {
        // SAFETY: `i < 4`, and a row of four elements has 16 bytes, in bounds and initialised (Q1).
        let [a, b, c, d] = std::array::from_fn(|i| unsafe { from.row::<__m128i>(i).read_unaligned() });
        let [ab0, ab2, cd0, cd2] = unpack!(_mm_unpacklo_epi32 _mm_unpackhi_epi32: a, b; c, d;);
        let transposed = unpack!(_mm_unpacklo_epi64 _mm_unpackhi_epi64: ab0, cd0; ab2, cd2;);
        for (i, line) in transposed.into_iter().enumerate() {
            // SAFETY: `i < 4`, and a row of four elements has 16 bytes, in bounds (Q1) and nobody else's (Q2).
            unsafe { to.row::<__m128i>(i).write_unaligned(line) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Transpose for u16 {
    const SIDE: usize = 8;

    #[inline(always)]
    unsafe fn transpose(from: SquareRows, to: SquareRows) {
        // SAFETY: `i < 8`, and a row of eight elements has 16 bytes, in bounds and initialised (Q1).
        let [a, b, c, d, e, f, g, h] = std::array::from_fn(|i| unsafe { from.row::<__m128i>(i).read_unaligned() });
        let [ab0, ab4, cd0, cd4, ef0, ef4, gh0, gh4] =
            unpack!(_mm_unpacklo_epi16 _mm_unpackhi_epi16: a, b; c, d; e, f; g, h;);
        let [ad0, ad2, ad4, ad6, eh0, eh2, eh4, eh6] =
            unpack!(_mm_unpacklo_epi32 _mm_unpackhi_epi32: ab0, cd0; ab4, cd4; ef0, gh0; ef4, gh4;);
        let transposed = unpack!(_mm_unpacklo_epi64 _mm_unpackhi_epi64: ad0, eh0; ad2, eh2; ad4, eh4; ad6, eh6;);
        for (i, line) in transposed.into_iter().enumerate() {
            // SAFETY: `i < 8`, and a row of eight elements has 16 bytes, in bounds (Q1) and nobody else's (Q2).
            unsafe { to.row::<__m128i>(i).write_unaligned(line) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Transpose for u8 {
    const SIDE: usize = 8;

    #[inline(always)]
    unsafe fn transpose(from: SquareRows, to: SquareRows) {
        let row = |i: usize| {
            // SAFETY: `i < 8`, and a row of eight elements has 8 bytes, in bounds and initialised (Q1).
            let row = unsafe { from.row::<i64>(i).read_unaligned() };
            // SAFETY: every x86-64 has SSE2; the instruction accesses no memory.
            unsafe { _mm_cvtsi64_si128(row) }
        };
        let [a, b, c, d, e, f, g, h] = std::array::from_fn(row);
        let [ab, _, cd, _, ef, _, gh, _] = unpack!(_mm_unpacklo_epi8 _mm_unpackhi_epi8: a, b; c, d; e, f; g, h;);
        let [ad0, ad4, eh0, eh4] = unpack!(_mm_unpacklo_epi16 _mm_unpackhi_epi16: ab, cd; ef, gh;);
        let transposed = unpack!(_mm_unpacklo_epi32 _mm_unpackhi_epi32: ad0, eh0; ad4, eh4;);
        for (i, lines) in transposed.into_iter().enumerate() {
            // SAFETY: every x86-64 has SSE2; the instruction accesses no memory.
            let upper = unsafe { _mm_unpackhi_epi64(lines, lines) };
            for (k, line) in [lines, upper].into_iter().enumerate() {
                // SAFETY: every x86-64 has SSE2; the instruction accesses no memory.
                let line = unsafe { _mm_cvtsi128_si64(line) };
                // SAFETY: row `2 * i + k < 8` has 8 bytes, in bounds (Q1) and nobody else's (Q2).
                unsafe { to.row::<i64>(2 * i + k).write_unaligned(line) };
            }
        }
    }
}
