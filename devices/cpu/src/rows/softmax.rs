//! Softmax and its gradient: three passes over a few rows, which stay in cache, or over a tile of rows that lie beside
//! each other.

use super::fold::{ColumnSums, TILE, largest, sum};
use super::frame::{Real, Work, enter};
use super::output::{Output, Tile, each_tile, each_unwritten_row, write_each};
use crate::cache_lines::prefetch_run;
use crate::isa::{Isa, Level};
use crate::rounding::Rounded;
use monomorph_core::DType;
use monomorph_ops::rows::Block;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements whose exponentials are summed while they are in the first-level cache, and meanwhile as many of the next
/// row prefetched.
const STEP: usize = 512;

/// Rows of which each pass is done before the next: a short row does not wait for the sum of the one before.
const TOGETHER: usize = 8;

/// Rows of more elements are left to the hardware's prefetchers: the next one would drive this one out of the cache.
const PREFETCHED: usize = 8192;

/// Softmax, or its logarithm, of which the sum of a row, and the logarithm of that, are rounded to a dtype.
pub(super) fn forward<T: Real>(level: Level, block: Block, log: Option<DType>, x: &[T], out: &mut Output) {
    let Block { outer, n, inner } = block;
    if inner == 1 {
        return each_unwritten_row(outer, n, [(out.parts(), n)], |rows, [y]| {
            enter(level, Rows { x: &x[rows.start * n..rows.end * n], y, n, log });
        });
    }
    each_tile([outer, n, inner], out.parts(), |block, columns, tile| {
        enter(level, Columns { x: &x[block * n * inner..][..n * inner], columns, inner, tile, n, log: log.is_some() });
    });
}

struct Rows<'a, T> {
    x: &'a [T],
    y: &'a mut [MaybeUninit<T>],
    n: usize,
    log: Option<DType>,
}

/// Rounds numbers to a half dtype. Not inlined: in the loop of the logarithms that would keep these from being vectors.
#[inline(never)]
fn round_each<T: Rounded>(numbers: &mut [T], dtype: DType) {
    for x in numbers {
        *x = if dtype == DType::F16 { x.to_f16() } else { x.to_bf16() };
    }
}

impl<T: Real> Work for Rows<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let n = self.n;
        for (xs, ys) in self.x.chunks(n * TOGETHER).zip(self.y.chunks_mut(n * TOGETHER)) {
            let (rows, row) = (xs.len() / n, |r: usize| r * n..(r + 1) * n);
            let (mut most, mut totals) = ([T::neg_infinity(); TOGETHER], [0.0; TOGETHER]);
            for (r, most) in most.iter_mut().enumerate().take(rows) {
                *most = largest(&xs[row(r)]);
            }
            if let Some(rounded) = self.log {
                for (r, (total, &most)) in totals.iter_mut().zip(&most).enumerate().take(rows) {
                    for x in xs[row(r)].chunks(STEP) {
                        prefetch_behind(x, xs.len());
                        *total += sum([x], |[x]| (x - most).exp_at::<I>());
                    }
                }
                let logs = logs::<T, I, TOGETHER>(&totals, Some(rounded));
                for (r, (&log, &most)) in logs.iter().zip(&most).enumerate().take(rows) {
                    write_each(&mut ys[row(r)], xs[row(r)].iter().map(|&x| x - most - log));
                }
                continue;
            }
            for (r, (total, &most)) in totals.iter_mut().zip(&most).enumerate().take(rows) {
                for (x, y) in xs[row(r)].chunks(STEP).zip(ys[row(r)].chunks_mut(STEP)) {
                    prefetch_behind(x, xs.len());
                    let y = write_each(y, x.iter().map(|&x| (x - most).exp_at::<I>()));
                    *total += sum([&*y], |[y]| y);
                }
            }
            for (r, &total) in totals.iter().enumerate().take(rows) {
                // SAFETY: `write_each` has written each of its parts.
                let (y, total) = (unsafe { ys[row(r)].assume_init_mut() }, T::of(total));
                y.iter_mut().for_each(|y| *y = *y / total);
            }
        }
    }
}

/// The logarithms of sums; both are rounded to a dtype, if there is one. A loop: a closure that an array is mapped by
/// may not be inlined, and is then not compiled for the level.
#[inline(always)]
fn logs<T: Real, I: Isa, const N: usize>(totals: &[f64; N], rounded: Option<DType>) -> [T; N] {
    let mut logs = [T::zero(); N];
    for (log, &total) in logs.iter_mut().zip(totals) {
        *log = T::of(total);
    }
    let halves = rounded.filter(|dtype| matches!(dtype, DType::F16 | DType::BF16));
    if let Some(dtype) = halves {
        round_each(&mut logs, dtype);
    }
    for log in &mut logs {
        *log = log.log_at::<I>();
    }
    if let Some(dtype) = halves {
        round_each(&mut logs, dtype);
    }
    logs
}

/// Prefetches what lies `n` elements behind a part of a row: the same part of the next rows.
#[inline(always)]
fn prefetch_behind<T>(part: &[T], n: usize) {
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
        let totals = sums.finish();
        if log {
            let logs = logs::<T, I, TILE>(&totals, None);
            for r in 0..n {
                let elements = tile.row(r).iter_mut().zip(row(r)).zip(most.iter().zip(&logs));
                elements.for_each(|((y, &x), (&most, &log))| *y = x - most - log);
            }
            return;
        }
        let totals = totals.map(T::of);
        for r in 0..n {
            tile.row(r).iter_mut().zip(&totals).for_each(|(y, &total)| *y = *y / total);
        }
    }
}

pub(super) fn backward<T: Real>(level: Level, block: Block, log: bool, inputs: [&[T]; 2], out: &mut Output) {
    let Block { outer, n, inner } = block;
    if inner == 1 {
        return each_unwritten_row(outer, n, [(out.parts(), n)], |rows, [slope]| {
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
    slope: &'a mut [MaybeUninit<T>],
    n: usize,
    log: bool,
}

impl<T: Real> Work for RowSlopes<'_, T> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let RowSlopes { inputs: [grads, ys], slope: to, n, log } = self;
        let groups = to.chunks_mut(n * TOGETHER).zip(grads.chunks(n * TOGETHER)).zip(ys.chunks(n * TOGETHER));
        for ((to, grads), ys) in groups {
            let (rows, row) = (grads.len() / n, |r: usize| r * n..(r + 1) * n);
            let mut sums = [T::zero(); TOGETHER];
            for (r, to) in sums.iter_mut().enumerate().take(rows) {
                let (grad, y) = (&grads[row(r)], &ys[row(r)]);
                *to = T::of(if log { sum([grad], |[grad]| grad) } else { sum([grad, y], |[grad, y]| grad * y) });
            }
            for (r, &sum) in sums.iter().enumerate().take(rows) {
                let elements = grads[row(r)].iter().zip(&ys[row(r)]);
                let to = &mut to[row(r)];
                match log {
                    true => write_each(to, elements.map(|(&grad, &y)| slope::<T, I>(grad, y, sum, true))),
                    false => write_each(to, elements.map(|(&grad, &y)| slope::<T, I>(grad, y, sum, false))),
                };
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
