//! The copy of the CPU: any layout and dtype to any other, with conj and neg bits on both sides.

use crate::cache_lines::CACHE_LINE;
use crate::cast::{Bits, cast, moved};
use crate::isa::Level;
use crate::level;
use crate::offsets::Sides;
use crate::staging::{StageBlock, StageBuffer, Stager};
use crate::table_copy::TableCopy;
use crate::tile_copy::{SQUARE_SIDE, Tile};
use monomorph_core::structured::elements_are_read;
use monomorph_core::{Result, Strided, strides};
use monomorph_iter::{Config, Flags, GRAIN, View, build_over};

/// Lines of each column of the source that a square takes.
const LINES: usize = 2;

/// Bytes of the block that a square is staged in.
const SQUARE: usize = 8192;

/// Everything off: the operands are what they are.
pub(crate) const FLAGS: Flags =
    Flags::DEFAULT.with_overlap_check(false).without_resizing().with_dtype_check(false).with_device_check(false);

/// Copies `sizes` elements from `from` to `to`.
///
/// # Safety
///
/// C1 and C2 of [`Device::copy`](monomorph_core::Device::copy).
pub(crate) unsafe fn copy(sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
    elements_are_read();
    let level = level()?;
    if [&to, &from].into_iter().all(|side| !side.conj && !side.neg && strides::is_contiguous(sizes, side.strides)) {
        let n = strides::numel(sizes)?;
        if n <= GRAIN {
            // SAFETY: C1 and C2 for two dense runs of so many elements.
            unsafe { dense(&to, &from, n, level) };
            return Ok(());
        }
    }
    let target = View::new(to.dtype, sizes, to.strides);
    let source = View::new(from.dtype, sizes, from.strides);
    let iter = build_over(&Config::new(FLAGS), &[target], &[source])?;
    let mut bits = [Bits::of(to.dtype, to.conj, to.neg), Bits::of(from.dtype, from.conj, from.neg)];
    if to.dtype == from.dtype && bits[0] == bits[1] {
        // What one side undoes the other does again.
        bits = [Bits::default(); 2];
    }
    let load = Stager::input(from.dtype, to.dtype, bits[1], level);
    let store = Stager::output(to.dtype, to.dtype, bits[0], level);
    let sizes = [to.dtype.size(), from.dtype.size()];

    let plane = |at: &[*mut u8], strides: &[isize], cols: usize, rows: usize| {
        if (Tile { cols, rows, inner: strides[1], outer: strides[3] }).suits_squares() {
            // SAFETY: C1, C2.
            return unsafe { squares(&load, &store, at, strides, cols, rows) };
        }
        for row in 0..rows as isize {
            let to = at[0].wrapping_offset(row * strides[2]);
            let from = at[1].wrapping_offset(row * strides[3]).cast_const();
            let (to_stride, from_stride) = (strides[0], strides[1]);
            if load.is_direct() && store.is_direct() {
                // SAFETY: R1, R2 by C1 and C2 (a run copied onto itself would be equal in every respect, and then
                // nothing changes whatever the order).
                unsafe { run(from, from_stride, to, to_stride, sizes[0], cols) };
                continue;
            }
            let dense = to_stride == sizes[0] as isize && from_stride == sizes[1] as isize;
            if dense
                && store.is_direct()
                && let Some(cast) = load.only_cast()
            {
                // SAFETY: R1, R2 by C1 and C2: sides of two dtypes are not equal, so they share nothing.
                unsafe { cast.run(from, to, cols) };
                continue;
            }
            // SAFETY: C1, C2.
            unsafe { staged(&load, &store, from, from_stride, to, to_stride, cols) };
        }
    };
    if load.is_direct()
        && store.is_direct()
        && let Some(table) = TableCopy::new(&iter, sizes[0])
    {
        // SAFETY: C1, C2 for the very operands that the iteration was planned for.
        unsafe { table.copy(Sides { to: to.data, from: from.data.cast_const() }) };
        return Ok(());
    }
    // SAFETY: W1 and W2 by C1 and C2.
    unsafe { iter.for_each(&[to.data, from.data], GRAIN, plane) };
    Ok(())
}

/// Copies a dense run of elements without lazy bits. Planning an iteration takes longer than copying a few.
///
/// # Safety
///
/// C1 and C2 for `n` elements on both sides that lie one after the other.
unsafe fn dense(to: &Strided<'_>, from: &Strided<'_>, n: usize, level: Level) {
    match cast(from.dtype, to.dtype, level) {
        // SAFETY: R1, R2 by C1 and C2: sides of two dtypes are not equal, so they share nothing.
        Some(cast) => unsafe { cast.run(from.data, to.data, n) },
        None => {
            let size = to.dtype.size();
            // SAFETY: R1 by C1; two runs of one dtype are the same or share nothing (C2).
            unsafe { run(from.data, size as isize, to.data, size as isize, size, n) };
        }
    }
}

/// Copies a plane whose source is dense across rows, or nearly, in squares: every line of its memory is used up when it
/// is met.
///
/// # Safety
///
/// C1, C2 for the plane.
unsafe fn squares(load: &Stager, store: &Stager, at: &[*mut u8], strides: &[isize], cols: usize, rows: usize) {
    let (mut block, mut scratch) = (StageBuffer::<SQUARE>::NEW, StageBuffer::<SQUARE>::NEW);
    let (block, scratch) = (block.data(), scratch.data());
    let height = (LINES * CACHE_LINE / load.size())
        .max(1)
        .min(load.capacity_of(SQUARE).min(store.capacity_of(SQUARE)) / SQUARE_SIDE);
    let place = |k: usize, row: usize, col: usize| {
        at[k].wrapping_offset(row as isize * strides[2 + k] + col as isize * strides[k])
    };
    for row in (0..rows).step_by(height) {
        for col in (0..cols).step_by(SQUARE_SIDE) {
            let (rows, cols) = (height.min(rows - row), SQUARE_SIDE.min(cols - col));
            let tile = |k: usize, rows: usize| Tile { cols, rows, inner: strides[k], outer: strides[2 + k] };
            // SAFETY: L1–L3 by C1, C2 and the choice of `height`.
            unsafe { load.load(place(1, row, col), tile(1, rows), block, scratch) };
            for r in 0..rows {
                let from = block.wrapping_add(r * cols * load.size());
                // SAFETY: L1: the row is a part of the target (C1). L2: a store uses of its block only the elements of
                // the tile, which are those of this row, and `scratch` is another buffer with room for them. The row
                // was just loaded, and nobody else uses the target (C1).
                unsafe { store.store(from, place(0, row + r, col), tile(0, 1), scratch) };
            }
        }
    }
}

/// Moves a run that may be copied onto itself.
///
/// # Safety
///
/// R1, and the runs do not overlap unless they are the same.
unsafe fn run(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, size: usize, n: usize) {
    if !std::ptr::eq(from, to) {
        // SAFETY: R1, R2 by the caller's promise.
        unsafe { moved(from, from_stride, to, to_stride, size, n) };
    }
}

/// Converts a run block by block.
///
/// # Safety
///
/// C1, C2 for the run.
unsafe fn staged(
    load: &Stager,
    store: &Stager,
    from: *const u8,
    from_stride: isize,
    to: *mut u8,
    to_stride: isize,
    n: usize,
) {
    let (mut block, mut scratch) = (StageBlock::NEW, StageBlock::NEW);
    let (block, scratch) = (block.data(), scratch.data());
    let step = load.capacity().min(store.capacity());
    for start in (0..n).step_by(step) {
        let tile = |inner| Tile { cols: step.min(n - start), rows: 1, inner, outer: 0 };
        let from = from.wrapping_offset(start as isize * from_stride);
        let to = to.wrapping_offset(start as isize * to_stride);
        // SAFETY: L1–L3 by C1, C2 and the choice of `step`.
        unsafe { load.load(from, tile(from_stride), block, scratch) };
        // SAFETY: L1: the tile is a part of the target (C1). L2: `block` and `scratch` are two small blocks, and the
        // tile has at most `step` elements, which `store` has the capacity for. The block was just filled, and nobody
        // else uses the target (C1).
        unsafe { store.store(block, to, tile(to_stride), scratch) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monomorph_core::{Complex32, DType};

    /// Sizes on both sides of a square's and ragged ones.
    #[test]
    fn transposed_sources_arrive_whole() {
        for [rows, cols] in [[15, 40], [16, 16], [17, 65], [130, 67], [64, 200], [40, 15]] {
            let from: Vec<Complex32> = (0..rows * cols).map(|k| Complex32::new(k as f32, -0.5 * k as f32)).collect();
            let (sizes, strides) = ([rows as i64, cols as i64], [1, rows as i64]);
            let side = |data: *const u8, strides, dtype, conj| Strided {
                data: data.cast_mut(),
                strides,
                dtype,
                conj,
                neg: false,
            };
            // Rows of the target have a gap.
            let (pitch, gap) = (cols + 3, Complex32::new(7.0, 7.0));
            let (spaced, dense) = ([pitch as i64, 1], [cols as i64, 1]);
            let mut same = vec![gap; rows * pitch];
            let mut real = vec![-7.0f64; rows * cols];
            let target = side(same.as_mut_ptr().cast(), &spaced, DType::C64, false);
            // SAFETY: C1: both sides are vectors of as many elements; C2: they lie apart.
            unsafe { copy(&sizes, target, side(from.as_ptr().cast(), &strides, DType::C64, true)) }.expect("a level");
            let target = side(real.as_mut_ptr().cast(), &dense, DType::F64, false);
            // The real parts: every second float.
            let parts = [2, 2 * rows as i64];
            // SAFETY: C1: a complex number is two floats, so the real parts of the source are `rows * cols` floats in
            // bounds, and the target is a vector of as many elements; C2: they lie apart.
            unsafe { copy(&sizes, target, side(from.as_ptr().cast(), &parts, DType::F32, false)) }.expect("a level");
            for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                let want = from[col * rows + row];
                assert_eq!(same[row * pitch + col], want.conj(), "({row}, {col}) of {sizes:?}");
                assert_eq!(real[row * cols + col], f64::from(want.re), "({row}, {col}) of {sizes:?}");
            }
            assert!(same.chunks(pitch).all(|row| row[cols..].iter().all(|x| *x == gap)), "the gaps of {sizes:?}");
        }
    }
}
