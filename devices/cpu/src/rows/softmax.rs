//! Softmax and its gradient: three passes over a row, which stays in cache, or over a tile of rows that lie beside each
//! other.

use super::fold::{ColumnSums, TILE, largest, sum};
use super::frame::{Real, Work, enter};
use super::output::{Output, Tile, each_row, each_tile};
use crate::cache_lines::prefetch_run;
use crate::isa::{Isa, Level};
use crate::rounding::Rounded;
use monomorph_core::DType;
use monomorph_ops::rows::Block;
use std::ops::Range;

/// Elements whose exponentials are summed while they are in the first-level cache, and meanwhile as many of the next
/// row prefetched.
const STEP: usize = 512;

/// Rows of more elements are left to the hardware's prefetchers: the next one would drive this one out of the cache.
const PREFETCHED: usize = 8192;

/// Softmax, or its logarithm, of which the sum of a row, and the logarithm of that, are rounded to a dtype.
pub(super) fn forward<T: Real>(level: Level, block: Block, log: Option<DType>, x: &[T], out: &mut Output) {
    let Block { outer, n, inner } = block;
    if inner == 1 {
        return each_row(outer, n, [(out.parts(), n)], |rows, [y]| {
            enter(level, Rows { x: &x[rows.start * n..rows.end * n], y, n, log });
        });
    }
    each_tile([outer, n, inner], out.parts(), |block, columns, tile| {
        enter(level, Columns { x: &x[block * n * inner..][..n * inner], columns, inner, tile, n, log: log.is_some() });
    });
}

struct Rows<'a, T> {
    x: &'a [T],
    y: &'a mut [T],
    n: usize,
    log: Option<DType>,
}

/// The value of a dtype that is nearest to this one.
#[inline(always)]
fn nearest<T: Rounded>(x: T, dtype: DType) -> T {
    match dtype {
        DType::F16 => x.to_f16(),
        DType::BF16 => x.to_bf16(),
        _ => x,
    }
}

impl<T: Real> Work for Rows<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        for (x, y) in self.x.chunks_exact(self.n).zip(self.y.chunks_exact_mut(self.n)) {
            let most = largest(x);
            let mut total = 0.0;
            if let Some(rounded) = self.log {
                for x in x.chunks(STEP) {
                    prefetch_next(x, self.n);
                    total += sum([x], |[x]| (x - most).exp_at::<I>());
                }
                let log = nearest(nearest(T::of(total), rounded).log_at::<I>(), rounded);
                y.iter_mut().zip(x).for_each(|(y, &x)| *y = x - most - log);
                continue;
            }
            for (x, y) in x.chunks(STEP).zip(y.chunks_mut(STEP)) {
                prefetch_next(x, self.n);
                y.iter_mut().zip(x).for_each(|(y, &x)| *y = (x - most).exp_at::<I>());
                total += sum([&*y], |[y]| y);
            }
            let total = T::of(total);
            y.iter_mut().for_each(|y| *y = *y / total);
        }
    }
}

/// Prefetches what lies behind a part of a row in the next one, of rows of `n` elements.
#[inline(always)]
fn prefetch_next<T>(part: &[T], n: usize) {
    if n <= PREFETCHED {
        prefetch_run(part.as_ptr().wrapping_add(n).cast(), size_of_val(part));
    }
}

struct Columns<'a, T> {
    x: &'a [T],
    columns: Range<usize>,
    inner: usize,
    tile: Tile<'a, T>,
    n: usize,
    log: bool,
}

impl<T: Real> Work for Columns<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Columns { x, columns, inner, mut tile, n, log } = self;
        let row = |r: usize| &x[r * inner..][columns.clone()];
        let mut most = [T::neg_infinity(); TILE];
        for r in 0..n {
            most.iter_mut().zip(row(r)).for_each(|(most, &x)| *most = x.larger(*most));
        }
        let mut sums = ColumnSums::new();
        for r in 0..n {
            if log {
                sums.add(row(r), |x, j| (x - most[j]).exp_at::<I>());
                continue;
            }
            let y = tile.row(r);
            y.iter_mut().zip(row(r)).zip(&most).for_each(|((y, &x), &most)| *y = (x - most).exp_at::<I>());
            sums.add(y, |y, _| y);
        }
        let totals = sums.finish().map(T::of);
        let logs = totals.map(|total| total.log_at::<I>());
        for r in 0..n {
            let y = tile.row(r);
            match log {
                true => y.iter_mut().zip(row(r)).enumerate().for_each(|(j, (y, &x))| *y = x - most[j] - logs[j]),
                false => y.iter_mut().zip(&totals).for_each(|(y, &total)| *y = *y / total),
            }
        }
    }
}

pub(super) fn backward<T: Real>(level: Level, block: Block, log: bool, inputs: [&[T]; 2], out: &mut Output) {
    let Block { outer, n, inner } = block;
    if inner == 1 {
        return each_row(outer, n, [(out.parts(), n)], |rows, [slope]| {
            let inputs = inputs.map(|x| &x[rows.start * n..rows.end * n]);
            enter(level, RowSlopes { inputs, slope, n, log });
        });
    }
    each_tile([outer, n, inner], out.parts(), |block, columns, tile| {
        let inputs = inputs.map(|x| &x[block * n * inner..][..n * inner]);
        enter(level, ColumnSlopes { inputs, columns, inner, tile, n, log });
    });
}

/// The slope of an element, of the gradient and the result there, and the sum of the row.
#[inline(always)]
fn slope<T: Real, I: Isa>(grad: T, y: T, sum: T, log: bool) -> T {
    if log { grad - y.exp_at::<I>() * sum } else { (grad - sum) * y }
}

struct RowSlopes<'a, T> {
    inputs: [&'a [T]; 2],
    slope: &'a mut [T],
    n: usize,
    log: bool,
}

impl<T: Real> Work for RowSlopes<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let [grad, y] = self.inputs.map(|x| x.chunks_exact(self.n));
        for ((to, grad), y) in self.slope.chunks_exact_mut(self.n).zip(grad).zip(y) {
            let elements = to.iter_mut().zip(grad).zip(y);
            if self.log {
                let sum = T::of(sum([grad], |[grad]| grad));
                elements.for_each(|((to, &grad), &y)| *to = slope::<T, I>(grad, y, sum, true));
            } else {
                let sum = T::of(sum([grad, y], |[grad, y]| grad * y));
                elements.for_each(|((to, &grad), &y)| *to = slope::<T, I>(grad, y, sum, false));
            }
        }
    }
}

struct ColumnSlopes<'a, T> {
    inputs: [&'a [T]; 2],
    columns: Range<usize>,
    inner: usize,
    tile: Tile<'a, T>,
    n: usize,
    log: bool,
}

impl<T: Real> Work for ColumnSlopes<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let ColumnSlopes { inputs: [grad, y], columns, inner, mut tile, n, log } = self;
        let row = |r: usize| r * inner + columns.start..r * inner + columns.end;
        let mut sums = ColumnSums::new();
        for r in 0..n {
            let (grad, y) = (&grad[row(r)], &y[row(r)]);
            sums.add(grad, |grad, j| if log { grad } else { grad * y[j] });
        }
        let sums = sums.finish().map(T::of);
        for r in 0..n {
            let (grad, y) = (&grad[row(r)], &y[row(r)]);
            let elements = tile.row(r).iter_mut().zip(grad).zip(y).zip(&sums);
            elements.for_each(|(((to, &grad), &y), &sum)| *to = slope::<T, I>(grad, y, sum, log));
        }
    }
}
