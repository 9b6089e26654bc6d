//! Transforms along one axis of an array: runs where they lie, or columns several at a time in a block of their own.
//! Threads share runs; a run is one thread's, so results do not depend on their number.

use super::planned::{self, Real};
use crate::scratch::scratch;
use monomorph_core::{ErrorKind, Result, list};
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
use num_complex::Complex;
use rustfft::Fft;
use std::sync::{Mutex, PoisonError};

/// Elements of complex64 in a cache line, and how many columns are transformed together.
const LINE: usize = 8;
const TOGETHER: usize = 2 * LINE;

/// The rows that some columns run through.
trait Rows<T> {
    /// What row `i` has of these columns.
    fn row(&mut self, i: usize) -> &mut [Complex<T>];
}

/// All columns of a plane.
struct Plane<'a, T> {
    elements: &'a mut [Complex<T>],
    inner: usize,
}

impl<T> Rows<T> for Plane<'_, T> {
    #[inline(always)]
    fn row(&mut self, i: usize) -> &mut [Complex<T>] {
        &mut self.elements[i * self.inner..][..self.inner]
    }
}

/// Some columns of a plane.
impl<T> Rows<T> for Vec<&mut [Complex<T>]> {
    #[inline(always)]
    fn row(&mut self, i: usize) -> &mut [Complex<T>] {
        self[i]
    }
}

/// A row-major array as three axes, of which the one in the middle is transformed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    size: usize,
    inner: usize,
}

impl Array {
    pub(super) fn of(sizes: &[usize], axis: usize) -> Array {
        Array { size: sizes[axis], inner: sizes[axis + 1..].iter().product() }
    }
}

/// Has `f` work on all parts, several threads side by side where that is worth it; `work` is that of a part.
fn each<P: Send>(
    parts: impl ExactSizeIterator<Item = P>,
    work: usize,
    f: impl Fn(P) -> Result<()> + Sync,
) -> Result<()> {
    if !is_parallel(parts.len().saturating_mul(work), GRAIN) {
        return parts.into_iter().try_for_each(f);
    }
    let parts: Vec<_> = parts.map(|part| Mutex::new(Some(part))).collect();
    let failed = Mutex::new(None);
    share(parts.len(), |i| {
        let part = parts[i].lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(error)) = part.map(&f) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// How many of so many runs are one part of the work.
fn together(runs: usize, length: usize) -> usize {
    runs.div_ceil(pieces()).max(GRAIN / length.max(1)).max(1)
}

fn scaled<T: Real>(elements: &mut [Complex<T>], scale: T) {
    if scale != T::one() {
        elements.iter_mut().for_each(|x| *x = x.scale(scale));
    }
}

/// Transforms along an axis, where the elements lie, and multiplies by `scale`.
pub(super) fn along<T: Real>(elements: &mut [Complex<T>], array: Array, forward: bool, scale: T) -> Result<()> {
    let Array { size, inner } = array;
    let fft = planned::complex::<T>(size, forward)?;
    if inner == 1 {
        let rows = together(elements.len() / size, size);
        return each(elements.chunks_mut(rows * size), rows * size, |rows| {
            let mut working = scratch(fft.get_inplace_scratch_len())?;
            for row in rows.chunks_exact_mut(size) {
                fft.process_with_scratch(row, &mut working);
                scaled(row, scale);
            }
            Ok(())
        });
    }
    let width = columns_of_part(elements.len() / (size * inner), size, inner);
    let planes = elements.chunks_exact_mut(size * inner);
    if width == inner {
        return each(planes, size * inner, |elements| {
            columns(&mut Plane { elements, inner }, [size, inner], &*fft, scale)
        });
    }
    let mut parts = list::with_capacity(planes.len() * inner.div_ceil(width))?;
    for plane in planes {
        let first = parts.len();
        for _ in 0..inner.div_ceil(width) {
            parts.push(list::with_capacity(size)?);
        }
        for row in plane.chunks_exact_mut(inner) {
            parts[first..].iter_mut().zip(row.chunks_mut(width)).for_each(|(part, row)| part.push(row));
        }
    }
    each(parts.into_iter(), size * width, |mut rows| {
        let inner = rows[0].len();
        columns(&mut rows, [size, inner], &*fft, scale)
    })
}

/// How many columns one part of the work has: all of a plane, where there are enough planes for all threads.
fn columns_of_part(planes: usize, size: usize, inner: usize) -> usize {
    let parts = pieces().div_ceil(planes.max(1));
    if parts == 1 || !is_parallel(planes * size * inner, GRAIN) {
        return inner;
    }
    inner.div_ceil(parts).next_multiple_of(TOGETHER).min(inner)
}

/// Transforms columns, `inner` of `size` elements each, and multiplies by `scale`.
fn columns<T: Real>(rows: &mut impl Rows<T>, [size, inner]: [usize; 2], fft: &dyn Fft<T>, scale: T) -> Result<()> {
    // Columns that lie a power of two apart would compete for one set of the first-level cache.
    let stride = if size.is_multiple_of(LINE) { size + LINE } else { size };
    let mut working = scratch(fft.get_inplace_scratch_len())?;
    let mut columns = scratch(stride * TOGETHER.min(inner))?;
    for start in (0..inner).step_by(TOGETHER) {
        let count = TOGETHER.min(inner - start);
        for i in 0..size {
            for (column, x) in columns.chunks_exact_mut(stride).zip(&rows.row(i)[start..][..count]) {
                column[i] = *x;
            }
        }
        for column in columns.chunks_exact_mut(stride).take(count) {
            fft.process_with_scratch(&mut column[..size], &mut working);
            scaled(&mut column[..size], scale);
        }
        for i in 0..size {
            for (x, column) in rows.row(i)[start..][..count].iter_mut().zip(columns.chunks_exact(stride)) {
                *x = column[i];
            }
        }
    }
    Ok(())
}

/// Transforms rows of real numbers, and multiplies by `scale`. Rows of the output have half of the result or all of it.
pub(super) fn from_real<T: Real>(
    input: &[T],
    size: usize,
    output: &mut [Complex<T>],
    width: usize,
    scale: T,
) -> Result<()> {
    let fft = planned::from_real::<T>(size)?;
    let rows = together(output.len() / width, size);
    let parts = input.chunks(rows * size).zip(output.chunks_mut(rows * width));
    each(parts, rows * size, |(input, output)| {
        let (mut working, mut copy) = (scratch(fft.get_scratch_len())?, scratch(size)?);
        for (input, output) in input.chunks_exact(size).zip(output.chunks_exact_mut(width)) {
            // The transform works in its input.
            copy.copy_from_slice(input);
            let (half, mirrored) = output.split_at_mut(size / 2 + 1);
            fft.process_with_scratch(&mut copy, half, &mut working).map_err(no_length)?;
            scaled(half, scale);
            for (k, x) in mirrored.iter_mut().rev().enumerate() {
                *x = half[k + 1].conj();
            }
        }
        Ok(())
    })
}

/// Transforms rows of complex numbers, of which the first half counts, to rows of real ones, and multiplies by `scale`.
pub(super) fn to_real<T: Real>(
    input: &[Complex<T>],
    width: usize,
    output: &mut [T],
    size: usize,
    scale: T,
) -> Result<()> {
    let fft = planned::to_real::<T>(size)?;
    let rows = together(output.len() / size, size);
    let parts = input.chunks(rows * width).zip(output.chunks_mut(rows * size));
    each(parts, rows * size, |(input, output)| {
        let (mut working, mut half) = (scratch(fft.get_scratch_len())?, scratch(size / 2 + 1)?);
        for (input, output) in input.chunks_exact(width).zip(output.chunks_exact_mut(size)) {
            // The transform works in its input.
            half.copy_from_slice(&input[..size / 2 + 1]);
            // Of real numbers these have no imaginary part; one that is given does not count.
            half[0].im = T::zero();
            if size.is_multiple_of(2) {
                half[size / 2].im = T::zero();
            }
            fft.process_with_scratch(&mut half, output, &mut working).map_err(no_length)?;
            if scale != T::one() {
                output.iter_mut().for_each(|x| *x = *x * scale);
            }
        }
        Ok(())
    })
}

/// An error for runs that have not the length that was planned for: there are none.
fn no_length(_: realfft::FftError) -> monomorph_core::Error {
    ErrorKind::ArgumentRule { rule: "argument self has rows of another length than its sizes say" }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few planes, whose columns threads share, and many; columns that leave a part of a block; lengths that are
    /// multiples of a cache line and others.
    #[test]
    fn columns_are_transformed_as_rows_are() {
        for [planes, size, inner] in [[1, 64, 1000], [3, 60, 1001], [40, 33, 50], [2, 8, 3]] {
            let number = |i: usize| ((i * 2654435761) % 1000) as f64 - 500.0;
            let mut elements: Vec<_> =
                (0..planes * size * inner).map(|i| Complex::new(number(i), number(i + 7))).collect();
            let before = elements.clone();
            along(&mut elements, Array { size, inner }, true, 0.5).expect("memory");
            for plane in 0..planes {
                for column in [0, 1, inner / 2, inner - 1] {
                    let at = |i: usize| (plane * size + i) * inner + column;
                    let mut row: Vec<_> = (0..size).map(|i| before[at(i)]).collect();
                    along(&mut row, Array { size, inner: 1 }, true, 0.5).expect("memory");
                    let got: Vec<_> = (0..size).map(|i| elements[at(i)]).collect();
                    assert_eq!(got, row, "column {column} of plane {plane} of {planes}, {size} by {inner}");
                }
            }
        }
    }
}
