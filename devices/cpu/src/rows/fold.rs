//! Sums of rows and of columns. A row is summed in [`LANES`] lanes, which are one vector or a few; after [`BLOCK`]
//! elements the lanes are added to a float64, so that a sum of many numbers is as exact as one of a block.
//!
//! ```text
//!   sum of a row                        sums of columns
//!   x0  x1  …  x31   lanes              x[0][0]  x[0][1]  …   lanes
//!   x32 x33 …  x63     +                x[1][0]  x[1][1]  …     +
//!      … BLOCK elements                    … BLOCK_ROWS rows
//!   tree of the lanes → float64         each lane → float64
//! ```

use super::frame::Real;
use crate::lane_tree::merged;
use std::array;

/// Two vectors of AVX-512 in float32.
pub(super) const LANES: usize = 32;
const BLOCK: usize = 2048;
/// Columns that are summed beside each other: a row of a tile is a few cache lines, and its sums stay in registers.
pub(super) const TILE: usize = 64;
const BLOCK_ROWS: usize = 256;

/// The sum of `f` over the elements of rows that lie beside each other.
#[inline(always)]
pub(super) fn sum<T: Real, const K: usize>(rows: [&[T]; K], f: impl Fn([T; K]) -> T) -> f64 {
    let n = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    let (mut total, mut start) = (0.0, 0);
    while start < n {
        let end = n.min(start + BLOCK);
        total += block_sum(rows.map(|row| &row[start..end]), &f);
        start = end;
    }
    total
}

#[inline(always)]
fn block_sum<T: Real, const K: usize>(rows: [&[T]; K], f: &impl Fn([T; K]) -> T) -> f64 {
    let parts = rows.map(|row| row.as_chunks::<LANES>());
    let mut lanes = [T::zero(); LANES];
    for c in 0..parts[0].0.len() {
        let chunk: [&[T; LANES]; K] = array::from_fn(|k| &parts[k].0[c]);
        for (j, lane) in lanes.iter_mut().enumerate() {
            *lane = *lane + f(array::from_fn(|k| chunk[k][j]));
        }
    }
    let rest = (0..parts[0].1.len()).map(|i| f(array::from_fn(|k| parts[k].1[i]))).fold(T::zero(), |a, b| a + b);
    (tree(lanes, |a, b| a + b) + rest).wide()
}

/// The sums of each of the values of `f`, of a row's number and the elements there, along [`LANES`] columns from
/// `first` on of matrices with rows of `n`. They stay in registers from row to row.
#[inline(always)]
pub(super) fn column_sums<T: Real, const K: usize, const N: usize>(
    matrices: [&[T]; K],
    [rows, n, first]: [usize; 3],
    f: impl Fn(usize, [T; K]) -> [T; N],
) -> [[f64; LANES]; N] {
    let mut totals = [[0.0; LANES]; N];
    for start in (0..rows).step_by(BLOCK_ROWS) {
        let mut lanes = [[T::zero(); LANES]; N];
        for r in start..rows.min(start + BLOCK_ROWS) {
            let at = r * n + first;
            let chunk: [&[T; LANES]; K] = array::from_fn(|k| &matrices[k][at..at + LANES].as_chunks().0[0]);
            for j in 0..LANES {
                let values = f(r, array::from_fn(|k| chunk[k][j]));
                for i in 0..N {
                    lanes[i][j] = lanes[i][j] + values[i];
                }
            }
        }
        for (total, lane) in totals.iter_mut().flatten().zip(lanes.iter().flatten()) {
            *total += lane.wide();
        }
    }
    totals
}

/// The largest element; negative infinity of none. NaN counts as none.
#[inline(always)]
pub(super) fn largest<T: Real>(row: &[T]) -> T {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [T::neg_infinity(); LANES];
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = x.larger(*lane);
        }
    }
    rest.iter().fold(tree(lanes, T::larger), |most, &x| x.larger(most))
}

#[inline(always)]
fn tree<T: Real>(lanes: [T; LANES], merge: impl Fn(T, T) -> T) -> T {
    merged(array::from_fn(|i| merge(lanes[i], lanes[i + LANES / 2])), merge)
}

/// Sums of up to [`TILE`] columns, row after row.
pub(super) struct ColumnSums<T> {
    partial: [T; TILE],
    total: [f64; TILE],
    rows: usize,
}

impl<T: Real> ColumnSums<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        ColumnSums { partial: [T::zero(); TILE], total: [0.0; TILE], rows: 0 }
    }

    /// Adds `f` of each element of a row, of which the second argument is the number of the column.
    #[inline(always)]
    pub(super) fn add(&mut self, row: &[T], f: impl Fn(T, usize) -> T) {
        for (j, (sum, &x)) in self.partial.iter_mut().zip(row).enumerate() {
            *sum = *sum + f(x, j);
        }
        self.rows += 1;
        if self.rows == BLOCK_ROWS {
            self.flush();
        }
    }

    #[inline(always)]
    fn flush(&mut self) {
        for (total, partial) in self.total.iter_mut().zip(&mut self.partial) {
            *total += partial.wide();
            *partial = T::zero();
        }
        self.rows = 0;
    }

    /// The sums.
    #[inline(always)]
    pub(super) fn finish(mut self) -> [f64; TILE] {
        self.flush();
        self.total
    }
}
