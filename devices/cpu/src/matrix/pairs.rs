//! Products of bfloat16 by the instruction that adds two products at a time to a sum of float32 (AVX512_BF16). Owns the
//! intrinsics for this; hosts without the instruction widen blocks instead ([`halves`](super::halves)).
//!
//! The instruction rounds after each of the two products, to nearest, and takes and gives subnormals as zero, as
//! PyTorch's products on these hosts do.

use super::Product;
use super::tiled::{Factor, Line, TALL, Tiles};
use std::arch::x86_64::*;

/// Lanes of a register.
const LANES: usize = 16;

/// A register of a panel: a pair of terms for each lane.
type Pairs = [u32; LANES];

/// A register of sums.
type Sums = [f32; LANES];

/// Whether the host has the instruction.
pub(super) fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx512bf16")
}

/// Pairs of bfloat16, on hosts of the level AVX-512 with the instruction.
pub(super) struct BrainPairs;

impl Tiles for BrainPairs {
    type Element = u16;
    type Row = Pairs;
    type Sums = Sums;
    const LANES: usize = LANES;
    const TERMS: usize = 2;

    unsafe fn pack(from: Factor<u16>, lanes: usize, depth: usize, panel: &mut [Pairs]) {
        match (from.term, from.lane) {
            // SAFETY: the caller's promise; the terms of a lane lie one behind the other.
            (1, _) => unsafe { pack_lines(from, lanes, depth, panel) },
            // SAFETY: the caller's promise; the lanes of a term lie one behind the other.
            (_, 1) => unsafe { pack_terms(from, lanes, depth, panel) },
            // SAFETY: the caller's promise.
            _ => unsafe { pack_each(from, lanes, depth, panel) },
        }
    }

    unsafe fn add<const N: usize>(a: &[Pairs], first: usize, b: &[Pairs], sums: &mut [[Sums; TALL]], is_first: bool) {
        // SAFETY: the host has the instruction, the caller's promise.
        unsafe { add::<N>(a, first, b, sums, is_first) };
    }

    unsafe fn write(product: &Product, sums: &Sums, line: Line<u16>) {
        // SAFETY: the caller's promise.
        unsafe { write(product, sums, line) };
    }
}

/// Packs a panel of a factor whose lanes are runs of terms: squares of pairs are transposed.
///
/// # Safety
///
/// As of [`Tiles::pack`]; a term lies behind the one before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn pack_lines(from: Factor<u16>, lanes: usize, depth: usize, panel: &mut [Pairs]) {
    for (rows, term) in panel.chunks_mut(LANES).zip((0..depth).step_by(2 * LANES)) {
        let mask = (!0_u32) >> (2 * LANES).saturating_sub(depth - term);
        let mut lines = [_mm512_setzero_si512(); LANES];
        for (lane, line) in lines.iter_mut().enumerate().take(lanes) {
            // SAFETY: the mask keeps to the terms that this lane has from `term` on.
            *line = unsafe { _mm512_maskz_loadu_epi16(mask, from.at(lane, term).cast()) };
        }
        for (row, pairs) in rows.iter_mut().zip(transposed(lines)) {
            // SAFETY: a row of a panel is as large as a register.
            unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), pairs) };
        }
    }
}

/// Packs a panel of a factor whose terms are runs of lanes: two terms are interleaved.
///
/// # Safety
///
/// As of [`Tiles::pack`]; a lane lies behind the one before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn pack_terms(from: Factor<u16>, lanes: usize, depth: usize, panel: &mut [Pairs]) {
    let mask = (!0_u16) >> (LANES - lanes);
    for (row, term) in panel.iter_mut().zip((0..depth).step_by(2)) {
        // SAFETY: the mask keeps to the lanes that this term has.
        let first = unsafe { _mm256_maskz_loadu_epi16(mask, from.at(0, term).cast()) };
        let mask = if term + 1 < depth { mask } else { 0 };
        // SAFETY: the mask keeps to the lanes that this term has, none if there is no such term.
        let second = unsafe { _mm256_maskz_loadu_epi16(mask, from.at(0, term + 1).cast()) };
        let (first, second) = (_mm512_cvtepu16_epi32(first), _mm512_cvtepu16_epi32(second));
        let pairs = _mm512_or_si512(first, _mm512_slli_epi32::<16>(second));
        // SAFETY: a row of a panel is as large as a register.
        unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), pairs) };
    }
}

/// Packs a panel of any factor.
///
/// # Safety
///
/// As of [`Tiles::pack`].
unsafe fn pack_each(from: Factor<u16>, lanes: usize, depth: usize, panel: &mut [Pairs]) {
    for (row, term) in panel.iter_mut().zip((0..depth).step_by(2)) {
        row.fill(0);
        for (lane, pair) in row.iter_mut().enumerate().take(lanes) {
            for term in term..depth.min(term + 2) {
                // SAFETY: an element of the factor.
                let element = unsafe { from.at(lane, term).read_unaligned() };
                *pair |= u32::from(element) << (term % 2 * 16);
            }
        }
    }
}

/// A square of pairs, transposed: pairs of two lines are exchanged, then two pairs, then quarters of registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn transposed(lines: [__m512i; LANES]) -> [__m512i; LANES] {
    let mut squares = [_mm512_setzero_si512(); LANES];
    for (to, from) in squares.chunks_exact_mut(4).zip(lines.chunks_exact(4)) {
        let low = [_mm512_unpacklo_epi32(from[0], from[1]), _mm512_unpacklo_epi32(from[2], from[3])];
        let high = [_mm512_unpackhi_epi32(from[0], from[1]), _mm512_unpackhi_epi32(from[2], from[3])];
        to[0] = _mm512_unpacklo_epi64(low[0], low[1]);
        to[1] = _mm512_unpackhi_epi64(low[0], low[1]);
        to[2] = _mm512_unpacklo_epi64(high[0], high[1]);
        to[3] = _mm512_unpackhi_epi64(high[0], high[1]);
    }
    let mut columns = [_mm512_setzero_si512(); LANES];
    for i in 0..4 {
        let (a, b, c, d) = (squares[i], squares[4 + i], squares[8 + i], squares[12 + i]);
        let (even, odd) = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b));
        let (even_below, odd_below) = (_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d));
        columns[i] = _mm512_shuffle_i32x4::<0x88>(even, even_below);
        columns[4 + i] = _mm512_shuffle_i32x4::<0x88>(odd, odd_below);
        columns[8 + i] = _mm512_shuffle_i32x4::<0xdd>(even, even_below);
        columns[12 + i] = _mm512_shuffle_i32x4::<0xdd>(odd, odd_below);
    }
    columns
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn as_bfloat16(pairs: __m512i) -> __m512bh {
    // SAFETY: both are registers of the same size, and any bits are bfloat16.
    unsafe { std::mem::transmute(pairs) }
}

/// Adds the terms of a tile to its sums, or begins with them. A function of its own, so that all sums have registers.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bf16")]
fn add<const N: usize>(a: &[Pairs], first: usize, b: &[Pairs], sums: &mut [[Sums; TALL]], is_first: bool) {
    let mut own = [[_mm512_setzero_ps(); N]; TALL];
    if !is_first {
        for (column, sums) in sums.iter().enumerate().take(N) {
            for (own, sums) in own.iter_mut().zip(sums) {
                // SAFETY: a row of sums is as large as a register.
                own[column] = unsafe { _mm512_loadu_ps(sums.as_ptr()) };
            }
        }
    }
    let pairs = a.len();
    let panels: [&[Pairs]; N] = std::array::from_fn(|panel| &b[panel * pairs..][..pairs]);
    for (p, a) in a.iter().enumerate() {
        let a: &[u32; TALL] = a[first..].first_chunk().expect("a panel has a multiple of the rows of a tile");
        let mut columns = [_mm512_setzero_si512(); N];
        for (column, panel) in columns.iter_mut().zip(panels) {
            // SAFETY: a row of a panel is as large as a register.
            *column = unsafe { _mm512_loadu_si512(panel[p].as_ptr().cast()) };
        }
        // Of the pairs of A one is in a register at a time: the sums and the columns leave no more.
        for (own, &pair) in own.iter_mut().zip(a) {
            let pair = as_bfloat16(_mm512_set1_epi32(pair.cast_signed()));
            for (sum, &column) in own.iter_mut().zip(&columns) {
                *sum = _mm512_dpbf16_ps(*sum, pair, as_bfloat16(column));
            }
        }
    }
    for (column, sums) in sums.iter_mut().enumerate().take(N) {
        for (own, sums) in own.iter().zip(sums) {
            // SAFETY: a row of sums is as large as a register.
            unsafe { _mm512_storeu_ps(sums.as_mut_ptr(), own[column]) };
        }
    }
}

/// As [`Tiles::write`], rounded once.
///
/// # Safety
///
/// As of [`Tiles::write`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
unsafe fn write(product: &Product, sums: &Sums, Line { data, step, columns }: Line<u16>) {
    let mask = (!0_u16) >> (LANES - columns);
    let [alpha, beta] = [product.alpha, product.beta].map(|number| number.to_f64() as f32);
    // SAFETY: sixteen sums are as large as a register.
    let mut value = unsafe { _mm512_loadu_ps(sums.as_ptr()) };
    value = _mm512_mul_ps(value, _mm512_set1_ps(alpha));
    let mut lanes = [0_u16; LANES];
    if !product.overwrites() {
        let before = if step == 1 {
            // SAFETY: the mask keeps to the columns of the line, initialised since beta is not zero.
            unsafe { _mm256_maskz_loadu_epi16(mask, data.cast()) }
        } else {
            for (j, lane) in lanes.iter_mut().enumerate().take(columns) {
                // SAFETY: an element of the line, initialised since beta is not zero.
                *lane = unsafe { data.wrapping_offset(step.wrapping_mul(j as isize)).read_unaligned() };
            }
            // SAFETY: sixteen elements are as large as the register.
            unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
        };
        let before = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(before)));
        value = _mm512_add_ps(value, _mm512_mul_ps(before, _mm512_set1_ps(beta)));
    }
    let rounded = _mm512_cvtneps_pbh(value);
    // SAFETY: both are sixteen bfloat16, of which any bits are some.
    let rounded: __m256i = unsafe { std::mem::transmute(rounded) };
    if step == 1 {
        // SAFETY: the mask keeps to the columns of the line, which lie one behind the other.
        unsafe { _mm256_mask_storeu_epi16(data.cast(), mask, rounded) };
        return;
    }
    // SAFETY: sixteen elements are as large as the register.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), rounded) };
    for (j, lane) in lanes.iter().enumerate().take(columns) {
        // SAFETY: an element of the line, which nobody else uses.
        unsafe { data.wrapping_offset(step.wrapping_mul(j as isize)).write_unaligned(*lane) };
    }
}
