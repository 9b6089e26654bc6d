//! LU factors with exchanges of rows: `A[p] = L · U`, in the place of A.
//!
//! Panels of few columns are factored column by column; wider ones in halves, so that most of the work is one product
//! (S. Toledo, *Locality of reference in LU decomposition with partial pivoting*, SIAM J. Matrix Anal. Appl. 18(4),
//! 1997).

use super::number::{Number, divide, size};
use super::product::{Factor, Op, subtract};
use super::triangle::Triangle;
use super::vectors::add_scaled;
use crate::scratch::scratch;
use monomorph_core::{ErrorKind, Result};

/// Up to how many columns are factored one by one.
const PANEL: usize = 16;

/// Factors a matrix of so many rows, whose columns lie one after another. `pivots` get the row, from 1, with which each
/// was exchanged. Returns the first column, from 1, without a pivot other than 0; or 0.
pub(super) fn factor<E: Number>(a: &mut [E], rows: usize, pivots: &mut [i32]) -> Result<i32> {
    // The compiler unrolls the loops of a size that it knows.
    match (rows, a.len(), pivots.len()) {
        (2, 4, 2) => Ok(one_by_one(&mut a[..4], 2, 0, &mut pivots[..2])),
        (3, 9, 3) => Ok(one_by_one(&mut a[..9], 3, 0, &mut pivots[..3])),
        (4, 16, 4) => Ok(one_by_one(&mut a[..16], 4, 0, &mut pivots[..4])),
        _ => panel(a, rows, a.len().checked_div(rows).unwrap_or(0), 0, pivots),
    }
}

/// Factors `columns` columns, of which the elements before row `first` are done with, and exchanges rows in them.
fn panel<E: Number>(a: &mut [E], rows: usize, columns: usize, first: usize, pivots: &mut [i32]) -> Result<i32> {
    let rank = columns.min(rows - first);
    if rank <= PANEL {
        return Ok(one_by_one(a, rows, first, &mut pivots[..rank]));
    }
    let half = rank / 2;
    let (left, right) = a.split_at_mut(half * rows);
    let (before, after) = pivots.split_at_mut(half);
    let failed = panel(left, rows, half, first, before)?;
    exchange(right, rows, first, before);
    let lower = Triangle { elements: &left[first..], step: rows, size: half, upper: false, unit: true, op: Op::Itself };
    let (below, count) = (first + half, columns - half);
    lower.solve(&mut right[first..], rows, count)?;
    // A copy, since it lies in the same columns as what it is taken from.
    let mut upper = scratch::<E>(half * count)?;
    for (to, from) in upper.chunks_exact_mut(half).zip(right.chunks_exact(rows)) {
        to.copy_from_slice(&from[first..below]);
    }
    if below < rows {
        let l = Factor { elements: &left[below..], step: rows, op: Op::Itself };
        subtract((&mut right[below..], rows), l, (&upper, half), [rows - below, count, half])?;
    }
    let failed_after = panel(right, rows, count, below, &mut after[..rank - half])?;
    exchange(left, rows, below, &after[..rank - half]);
    Ok(match (failed, failed_after) {
        (0, 0) => 0,
        (0, column) => column + half as i32,
        (column, _) => column,
    })
}

/// Exchanges the rows from `first` on as the pivots say.
fn exchange<E: Number>(a: &mut [E], rows: usize, first: usize, pivots: &[i32]) {
    for column in a.chunks_exact_mut(rows) {
        for (row, &pivot) in (first..).zip(pivots) {
            column.swap(row, pivot as usize - 1);
        }
    }
}

/// Factors a panel column by column.
#[inline(always)]
fn one_by_one<E: Number>(a: &mut [E], rows: usize, first: usize, pivots: &mut [i32]) -> i32 {
    let mut failed = 0;
    for (i, pivot) in pivots.iter_mut().enumerate() {
        let (done, others) = a.split_at_mut((i + 1) * rows);
        let column = &mut done[i * rows..];
        let row = first + i;
        let mut largest = row;
        let mut most = size(column[row]);
        for (candidate, &x) in column.iter().enumerate().skip(row + 1) {
            if size(x) > most {
                (largest, most) = (candidate, size(x));
            }
        }
        *pivot = largest as i32 + 1;
        if column[largest] == E::zero() {
            if failed == 0 {
                failed = i as i32 + 1;
            }
            continue;
        }
        if largest != row {
            column.swap(row, largest);
            done.chunks_exact_mut(rows).take(i).for_each(|column| column.swap(row, largest));
            others.chunks_exact_mut(rows).for_each(|column| column.swap(row, largest));
        }
        let column = &mut done[i * rows..];
        let pivot = column[row];
        column[row + 1..].iter_mut().for_each(|x| *x = divide(*x, pivot));
        let below = &column[row + 1..];
        for other in others.chunks_exact_mut(rows) {
            let by = other[row];
            if by != E::zero() {
                add_scaled(&mut other[row + 1..], below, -by);
            }
        }
    }
    failed
}

/// An error unless the pivots are rows of a matrix, counted from 1.
pub(super) fn check_pivots(pivots: &[i32], rows: usize) -> Result<()> {
    match pivots.iter().find(|&&pivot| pivot < 1 || pivot as usize > rows) {
        Some(&got) => {
            let (arg, got) = ("pivots", i64::from(got));
            Err(ErrorKind::OutOfRange { arg, got, low: 1, high: rows as i64 }.into())
        }
        None => Ok(()),
    }
}

/// Solves `op(A) X = B` for the factors of A, where the columns of B become those of X.
pub(super) fn solve<E: Number>(factors: &[E], pivots: &[i32], op: Op, x: &mut [E], size: usize) -> Result<()> {
    if size == 0 {
        return Ok(());
    }
    check_pivots(pivots, size)?;
    let columns = x.len() / size;
    let lower = Triangle { unit: true, ..Triangle::new(factors, size, false, op) };
    let upper = Triangle::new(factors, size, true, op);
    if op == Op::Itself {
        exchange(x, size, 0, pivots);
        lower.solve(x, size, columns)?;
        upper.solve(x, size, columns)
    } else {
        upper.solve(x, size, columns)?;
        lower.solve(x, size, columns)?;
        for column in x.chunks_exact_mut(size) {
            for (row, &pivot) in pivots.iter().enumerate().rev() {
                column.swap(row, pivot as usize - 1);
            }
        }
        Ok(())
    }
}

/// The permutation and both factors, each row by row, of factors in one matrix; what is empty is not wanted.
pub(super) fn unpack<E: Number>(
    factors: &[E],
    [rows, columns, _]: [usize; 3],
    pivots: Option<&[i32]>,
    [p, l, u]: [&mut [E]; 3],
) -> Result<()> {
    let rank = rows.min(columns);
    if let Some(pivots) = pivots {
        check_pivots(pivots, rows)?;
        let mut order: Vec<usize> = monomorph_core::list::with_capacity(rows)?;
        order.extend(0..rows);
        pivots.iter().enumerate().for_each(|(row, &pivot)| order.swap(row, pivot as usize - 1));
        p.fill(E::zero());
        if !p.is_empty() {
            order.iter().enumerate().for_each(|(column, &row)| p[row * rows + column] = E::one());
        }
    }
    let at = |row: usize, column: usize| factors[column * rows + row];
    for (row, out) in l.chunks_exact_mut(rank.max(1)).enumerate() {
        for (column, x) in out.iter_mut().enumerate() {
            *x = match row.cmp(&column) {
                std::cmp::Ordering::Less => E::zero(),
                std::cmp::Ordering::Equal => E::one(),
                std::cmp::Ordering::Greater => at(row, column),
            };
        }
    }
    for (row, out) in u.chunks_exact_mut(columns.max(1)).enumerate() {
        for (column, x) in out.iter_mut().enumerate() {
            *x = if row <= column { at(row, column) } else { E::zero() };
        }
    }
    Ok(())
}
