//! Distances of pairs of rows on the CPU, and the gradient.

use super::frame::{Real, Work, enter};
use super::output::{Output, each_row, each_run};
use crate::isa::{Isa, Level};
use crate::scratch::{Scratch, scratch};
use monomorph_core::Result;
use monomorph_iter::GRAIN;
use std::ops::Range;

/// The pair with this number, of `(0, 1), (0, 2), …, (1, 2), …`: the first row, and the first pair that it has.
fn first_of(rows: usize, pair: usize) -> (usize, usize) {
    let (mut row, mut start) = (0, 0);
    while pair >= start + rows - 1 - row {
        start += rows - 1 - row;
        row += 1;
    }
    (row, start)
}

/// Rows that a row is compared with at a time, side by side.
const LANES: usize = 16;

/// Rows in blocks of `LANES`: of each block the elements of a column beside each other. Behind the last row are zeros.
fn side_by_side<T: Real>(rows: usize, columns: usize, x: &[T]) -> Result<Scratch<T>> {
    let mut blocks = scratch::<T>(rows.next_multiple_of(LANES).saturating_mul(columns))?;
    for (r, row) in x.chunks_exact(columns.max(1)).enumerate().take(rows) {
        let block = &mut blocks[r / LANES * LANES * columns..][..LANES * columns];
        row.iter().zip(block[r % LANES..].iter_mut().step_by(LANES)).for_each(|(&x, to)| *to = x);
    }
    Ok(blocks)
}

/// Rows, one by one and side by side.
struct Distances<'a, T> {
    x: &'a [T],
    blocks: &'a [T],
    columns: usize,
    p: f64,
}

impl<T: Real> Distances<'_, T> {
    /// Folds the differences of a row from those of a block, column by column.
    #[inline(always)]
    fn folded(&self, row: usize, block: usize, step: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
        let row = &self.x[row * self.columns..][..self.columns];
        let (others, _) = self.blocks[block * self.columns * LANES..][..self.columns * LANES].as_chunks::<LANES>();
        let mut folded = [0.0; LANES];
        for (&x, others) in row.iter().zip(others) {
            for (folded, &other) in folded.iter_mut().zip(others) {
                *folded = step(*folded, (x - other).abs().wide());
            }
        }
        folded
    }

    /// The distances of a row from those of a block.
    #[inline(always)]
    fn block(&self, row: usize, block: usize) -> [T; LANES] {
        let distances = match self.p {
            0.0 => self.folded(row, block, |sum, d| sum + f64::from(u8::from(d != 0.0))),
            1.0 => self.folded(row, block, |sum, d| sum + d),
            2.0 => self.folded(row, block, |sum, d| sum + d * d).map(f64::sqrt),
            f64::INFINITY => self.folded(row, block, |most, d| if d > most || d.is_nan() { d } else { most }),
            p => self.folded(row, block, |sum, d| sum + d.powf(p)).map(|sum| sum.powf(1.0 / p)),
        };
        distances.map(T::of)
    }
}

/// The distances of some pairs of so many rows, numbered as [`first_of`] says.
struct PairRun<'a, T> {
    of: Distances<'a, T>,
    rows: usize,
    pairs: Range<usize>,
    out: &'a mut [T],
}

impl<T: Real> Work for PairRun<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let PairRun { of, rows, pairs: Range { start: mut pair, end }, mut out } = self;
        let (mut row, mut start) = first_of(rows, pair);
        while pair < end {
            // The others that the row is compared with here.
            let first = row + 1 + pair - start;
            let last = rows.min(first + end - pair);
            for block in first / LANES..last.div_ceil(LANES) {
                let within = first.max(block * LANES)..last.min((block + 1) * LANES);
                let distances = of.block(row, block);
                let (part, rest) = out.split_at_mut(within.len());
                part.copy_from_slice(&distances[within.start % LANES..][..within.len()]);
                out = rest;
            }
            pair += last - first;
            start += rows - 1 - row;
            row += 1;
        }
    }
}

pub(super) fn forward<T: Real>(
    level: Level,
    [rows, columns]: [usize; 2],
    p: f64,
    x: &[T],
    out: &mut Output,
) -> Result<()> {
    let blocks = side_by_side(rows, columns, x)?;
    let pairs = rows * (rows - 1) / 2;
    each_run(pairs, (GRAIN / columns.max(1)).max(LANES), [out.parts::<T>()], |pairs, [out]| {
        enter(level, PairRun { of: Distances { x, blocks: &blocks, columns, p }, rows, pairs, out });
    });
    Ok(())
}

/// The slope of a distance by one coordinate, of the difference there.
fn slope(apart: f64, grad: f64, distance: f64, p: f64) -> f64 {
    let sign = if apart == 0.0 { 0.0 } else { apart.signum() };
    match p {
        0.0 => 0.0,
        1.0 => grad * sign,
        _ if distance == 0.0 => 0.0,
        2.0 => grad * apart / distance,
        f64::INFINITY if apart.abs() == distance => grad * sign,
        f64::INFINITY => 0.0,
        p if p < 2.0 && apart == 0.0 => 0.0,
        p => sign * apart.abs().powf(p - 1.0) * grad / distance.powf(p - 1.0),
    }
}

pub(super) fn backward<T: Real>(
    rows: usize,
    columns: usize,
    p: f64,
    [grad, x, distances]: [&[T]; 3],
    out: &mut Output,
) {
    let row = |r: usize| &x[r * columns..][..columns];
    let pair = |a: usize, b: usize| a * (2 * rows - a - 1) / 2 + b - a - 1;
    each_row(rows, rows * columns, [(out.parts::<T>(), columns)], |range, [out]| {
        for (r, out) in range.zip(out.chunks_exact_mut(columns.max(1))) {
            for other in (0..rows).filter(|&other| other != r) {
                let k = pair(r.min(other), r.max(other));
                let (grad, distance) = (grad[k].wide(), distances[k].wide());
                for ((out, &a), &b) in out.iter_mut().zip(row(r)).zip(row(other)) {
                    *out = *out + T::of(slope((a - b).wide(), grad, distance, p));
                }
            }
        }
    });
}
