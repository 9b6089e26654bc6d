//! Squares of elements turned in registers: the innermost step of a transpose. Owns the intrinsics for it; knows no dtype and
//! no tile. Left to itself the compiler moves such a square element by element, five instructions each.
//!
//! All of it is SSE2, which every x86-64 has: the same in the frames of wider levels was no faster.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Where the rows of a square begin: the first, and how many bytes lie between one and the next.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) at: *mut u8,
    pub(crate) step: isize,
}

impl Side {
    #[inline(always)]
    fn row<T>(self, i: usize) -> *mut T {
        self.at.wrapping_offset(i as isize * self.step).cast()
    }
}

/// Elements of one size.
pub(crate) trait Square: Copy {
    /// Elements of a side.
    const SIDE: usize;

    /// Copies a square turned: row `i` becomes column `i`.
    ///
    /// # Safety
    ///
    /// * Q1: each row of both sides is `SIDE` elements in bounds that lie one after the other, those of `from` initialised.
    /// * Q2: the sides lie apart, and nobody else uses `to`.
    unsafe fn turn(from: Side, to: Side);
}

/// A square of any elements, one by one.
///
/// # Safety
///
/// Q1, Q2.
#[inline(always)]
unsafe fn turn_each<T: Copy, const SIDE: usize>(from: Side, to: Side) {
    // SAFETY: Q1.
    let square: [[T; SIDE]; SIDE] = std::array::from_fn(|i| unsafe { from.row::<[T; SIDE]>(i).read_unaligned() });
    let turned: [[T; SIDE]; SIDE] = std::array::from_fn(|i| std::array::from_fn(|j| square[j][i]));
    for (i, line) in turned.into_iter().enumerate() {
        // SAFETY: Q1, Q2.
        unsafe { to.row::<[T; SIDE]>(i).write_unaligned(line) };
    }
}

impl Square for [u64; 2] {
    const SIDE: usize = 2;

    #[inline(always)]
    unsafe fn turn(from: Side, to: Side) {
        // SAFETY: passed on.
        unsafe { turn_each::<[u64; 2], 2>(from, to) };
    }
}

/// Squares without instructions for them.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! each {
    ($($of:ty, $side:literal;)*) => {$(
        impl Square for $of {
            const SIDE: usize = $side;

            #[inline(always)]
            unsafe fn turn(from: Side, to: Side) {
                // SAFETY: passed on.
                unsafe { turn_each::<$of, $side>(from, to) };
            }
        }
    )*};
}
#[cfg(not(target_arch = "x86_64"))]
each! { u8, 8; u16, 8; u32, 4; u64, 4; }

/// Interleaves pairs of registers: of each, the lower halves, then the upper ones.
#[cfg(target_arch = "x86_64")]
macro_rules! interleaved {
    ($low:ident $high:ident: $($a:expr, $b:expr;)*) => {{
        // SAFETY: every x86-64 has SSE2.
        [$(unsafe { $low($a, $b) }, unsafe { $high($a, $b) }),*]
    }};
}

#[cfg(target_arch = "x86_64")]
impl Square for u64 {
    const SIDE: usize = 4;

    #[inline(always)]
    unsafe fn turn(from: Side, to: Side) {
        for (i, j) in [(0, 0), (0, 2), (2, 0), (2, 2)] {
            let row = |k: usize| from.row::<u64>(i + k).wrapping_add(j).cast::<__m128i>();
            // SAFETY: Q1: two elements of a row.
            let [a, b] = [0, 1].map(|k| unsafe { row(k).read_unaligned() });
            let turned = interleaved!(_mm_unpacklo_epi64 _mm_unpackhi_epi64: a, b;);
            for (k, line) in turned.into_iter().enumerate() {
                // SAFETY: Q1, Q2: as above.
                unsafe { to.row::<u64>(j + k).wrapping_add(i).cast::<__m128i>().write_unaligned(line) };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Square for u32 {
    const SIDE: usize = 4;

    #[inline(always)]
    unsafe fn turn(from: Side, to: Side) {
        // SAFETY: Q1.
        let [a, b, c, d] = std::array::from_fn(|i| unsafe { from.row::<__m128i>(i).read_unaligned() });
        let [ab0, ab2, cd0, cd2] = interleaved!(_mm_unpacklo_epi32 _mm_unpackhi_epi32: a, b; c, d;);
        let turned = interleaved!(_mm_unpacklo_epi64 _mm_unpackhi_epi64: ab0, cd0; ab2, cd2;);
        for (i, line) in turned.into_iter().enumerate() {
            // SAFETY: Q1, Q2.
            unsafe { to.row::<__m128i>(i).write_unaligned(line) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Square for u16 {
    const SIDE: usize = 8;

    #[inline(always)]
    unsafe fn turn(from: Side, to: Side) {
        // SAFETY: Q1.
        let [a, b, c, d, e, f, g, h] = std::array::from_fn(|i| unsafe { from.row::<__m128i>(i).read_unaligned() });
        let [ab0, ab4, cd0, cd4, ef0, ef4, gh0, gh4] =
            interleaved!(_mm_unpacklo_epi16 _mm_unpackhi_epi16: a, b; c, d; e, f; g, h;);
        let [ad0, ad2, ad4, ad6, eh0, eh2, eh4, eh6] =
            interleaved!(_mm_unpacklo_epi32 _mm_unpackhi_epi32: ab0, cd0; ab4, cd4; ef0, gh0; ef4, gh4;);
        let turned = interleaved!(_mm_unpacklo_epi64 _mm_unpackhi_epi64: ad0, eh0; ad2, eh2; ad4, eh4; ad6, eh6;);
        for (i, line) in turned.into_iter().enumerate() {
            // SAFETY: Q1, Q2.
            unsafe { to.row::<__m128i>(i).write_unaligned(line) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Square for u8 {
    const SIDE: usize = 8;

    #[inline(always)]
    unsafe fn turn(from: Side, to: Side) {
        let row = |i: usize| {
            // SAFETY: Q1.
            let row = unsafe { from.row::<i64>(i).read_unaligned() };
            // SAFETY: every x86-64 has SSE2.
            unsafe { _mm_cvtsi64_si128(row) }
        };
        let [a, b, c, d, e, f, g, h] = std::array::from_fn(row);
        let [ab, _, cd, _, ef, _, gh, _] = interleaved!(_mm_unpacklo_epi8 _mm_unpackhi_epi8: a, b; c, d; e, f; g, h;);
        let [ad0, ad4, eh0, eh4] = interleaved!(_mm_unpacklo_epi16 _mm_unpackhi_epi16: ab, cd; ef, gh;);
        let turned = interleaved!(_mm_unpacklo_epi32 _mm_unpackhi_epi32: ad0, eh0; ad4, eh4;);
        for (i, lines) in turned.into_iter().enumerate() {
            // SAFETY: every x86-64 has SSE2.
            let upper = unsafe { _mm_unpackhi_epi64(lines, lines) };
            for (k, line) in [lines, upper].into_iter().enumerate() {
                // SAFETY: every x86-64 has SSE2.
                let line = unsafe { _mm_cvtsi128_si64(line) };
                // SAFETY: Q1, Q2.
                unsafe { to.row::<i64>(2 * i + k).write_unaligned(line) };
            }
        }
    }
}
