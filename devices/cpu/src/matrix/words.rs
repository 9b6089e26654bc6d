//! Products of 64-bit integers, modulo 2^64, by the multiplication of AVX-512 (DQ). Owns the intrinsics for this: the
//! compiler spills sums of plain loops. Lower levels have no such multiplication, and compute as
//! [`integers`](super::integers) does.

use super::Product;
use super::ending::Ending;
use super::tiled::{Factor, Line, TALL, Tiles};
use std::arch::x86_64::*;

/// Lanes of a register.
const LANES: usize = 8;

/// A register: an element for each lane.
type Words = [u64; LANES];

/// Words of 64 bits, on hosts of the level AVX-512.
pub(super) struct WideWords;

impl Tiles for WideWords {
    type Element = u64;
    type Row = Words;
    type Sums = Words;
    const LANES: usize = LANES;
    const TERMS: usize = 1;

    unsafe fn pack(from: Factor<u64>, lanes: usize, depth: usize, panel: &mut [Words]) {
        if from.lane == 1 && lanes == LANES {
            for (term, row) in panel.iter_mut().enumerate().take(depth) {
                // SAFETY: the factor has so many lanes, which lie one behind the other.
                *row = unsafe { from.at(0, term).cast::<Words>().read_unaligned() };
            }
            return;
        }
        if lanes < LANES {
            panel.fill([0; LANES]);
        }
        for lane in 0..lanes {
            for (term, row) in panel.iter_mut().enumerate().take(depth) {
                // SAFETY: an element of the factor.
                row[lane] = unsafe { from.at(lane, term).read_unaligned() };
            }
        }
    }

    unsafe fn add<const N: usize>(a: &[Words], _: usize, b: &[Words], sums: &mut [[Words; TALL]], is_first: bool) {
        // SAFETY: the host has the level, the caller's promise.
        unsafe { add::<N>(a, b, sums, is_first) };
    }

    unsafe fn write(product: &Product, sums: &Words, Line { data, step, columns }: Line<u64>) {
        let ending = Ending::<u64>::of(product);
        if step == 1 && columns == LANES {
            let line = data.cast::<Words>();
            let values: Words = std::array::from_fn(|j| {
                // SAFETY: an element of the line, initialised where it is asked for.
                ending.element(sums[j], || unsafe { data.wrapping_add(j).read_unaligned() })
            });
            // SAFETY: the line has so many elements one behind the other, which nobody else uses.
            return unsafe { line.write_unaligned(values) };
        }
        for (j, &sum) in sums.iter().enumerate().take(columns) {
            let at = data.wrapping_offset(step.wrapping_mul(j as isize));
            // SAFETY: an element of the line, initialised where it is asked for.
            let value = ending.element(sum, || unsafe { at.read_unaligned() });
            // SAFETY: an element of the line, which nobody else uses.
            unsafe { at.write_unaligned(value) };
        }
    }
}

/// As [`Tiles::add`]. A function of its own, so that all sums have registers.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq")]
fn add<const N: usize>(a: &[Words], b: &[Words], sums: &mut [[Words; TALL]], is_first: bool) {
    const { assert!(TALL == LANES, "a tile is as tall as a panel of A is wide") };
    let mut own = [[_mm512_setzero_si512(); N]; TALL];
    if !is_first {
        for (column, sums) in sums.iter().enumerate().take(N) {
            for (own, sums) in own.iter_mut().zip(sums) {
                // SAFETY: eight sums are as large as a register.
                own[column] = unsafe { _mm512_loadu_si512(sums.as_ptr().cast()) };
            }
        }
    }
    let terms = a.len();
    let panels: [&[Words]; N] = std::array::from_fn(|panel| &b[panel * terms..][..terms]);
    for (term, a) in a.iter().enumerate() {
        let mut columns = [_mm512_setzero_si512(); N];
        for (column, panel) in columns.iter_mut().zip(panels) {
            // SAFETY: a row of a panel is as large as a register.
            *column = unsafe { _mm512_loadu_si512(panel[term].as_ptr().cast()) };
        }
        for (own, &element) in own.iter_mut().zip(a) {
            let element = _mm512_set1_epi64(element.cast_signed());
            for (sum, &column) in own.iter_mut().zip(&columns) {
                *sum = _mm512_add_epi64(*sum, _mm512_mullo_epi64(element, column));
            }
        }
    }
    for (column, sums) in sums.iter_mut().enumerate().take(N) {
        for (own, sums) in own.iter().zip(sums) {
            // SAFETY: eight sums are as large as a register.
            unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), own[column]) };
        }
    }
}
