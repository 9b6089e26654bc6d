//! Two dense runs as the parts of complex elements, in one pass.

use crate::copy::FLAGS;
use crate::isa::{Isa, Kernel, Level};
use crate::level;
use monomorph_core::{Result, Strided, strides};
use monomorph_iter::{Config, GRAIN, View, build_over};

/// Copies two parts to complex elements. False, with nothing done, where there are no long dense rows of them or lazy
/// bits.
///
/// # Safety
///
/// That of [`Device::join`](monomorph_core::Device::join).
pub(crate) unsafe fn join(sizes: &[i64], to: &Strided<'_>, parts: &[Strided<'_>; 2]) -> Result<bool> {
    /// Shorter rows are copied as fast.
    const LONG: i64 = 16;
    let size = to.dtype.to_real().size();
    if parts.iter().any(|part| part.neg) {
        return Ok(false);
    }
    let level = level()?;
    let is_one_run = |strides: &[i64]| strides::is_contiguous(sizes, strides);
    if is_one_run(to.strides) && parts.iter().all(|part| is_one_run(part.strides)) {
        let n = strides::numel(sizes)?;
        if n <= GRAIN {
            // SAFETY: C1 and C2.
            unsafe { run(level, size, to.data, parts.each_ref().map(|part| part.data.cast_const()), n) };
            return Ok(true);
        }
    }
    let [re, im] = parts.each_ref().map(|part| View::new(part.dtype, sizes, part.strides));
    let iter = build_over(&Config::new(FLAGS), &[View::new(to.dtype, sizes, to.strides)], &[re, im])?;
    let dense = [2 * size, size, size];
    let is_dense = |k: usize| iter.strides(k).first() == Some(&(dense[k] as isize));
    if !(0..3).all(is_dense) || iter.shape().first().is_none_or(|&n| (n as i64) < LONG) {
        return Ok(false);
    }
    let plane = |at: &[*mut u8], strides: &[isize], cols: usize, rows: usize| {
        for row in 0..rows as isize {
            let side = |k: usize| at[k].wrapping_offset(row * strides[3 + k]);
            // SAFETY: C1 and C2, in bounds by W1.
            unsafe { run(level, size, side(0), [side(1).cast_const(), side(2).cast_const()], cols) };
        }
    };
    // SAFETY: W1 and W2 by C1 and C2.
    unsafe { iter.for_each(&[to.data, parts[0].data, parts[1].data], GRAIN, plane) };
    Ok(true)
}

/// Joins dense runs of `n` parts of `size` bytes.
///
/// # Safety
///
/// The parts are in bounds and initialised, the pairs writable and apart from them.
unsafe fn run(level: Level, size: usize, to: *mut u8, parts: [*const u8; 2], n: usize) {
    match size {
        4 => level.enter(Joined::<u32> { to: to.cast(), parts: parts.map(<*const u8>::cast), n }),
        _ => level.enter(Joined::<u64> { to: to.cast(), parts: parts.map(<*const u8>::cast), n }),
    }
}

/// Dense runs: `n` elements of each part, and as many pairs that lie apart from them.
struct Joined<T> {
    to: *mut [T; 2],
    parts: [*const T; 2],
    n: usize,
}

impl<T: Copy, I: Isa> Kernel<I> for Joined<T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let [re, im] = self.parts;
        for i in 0..self.n {
            // SAFETY: `i < n`, so element `i` of the real part is in bounds and initialised, by C1.
            let re = unsafe { re.wrapping_add(i).read_unaligned() };
            // SAFETY: `i < n`, so element `i` of the imaginary part is in bounds and initialised, by C1.
            let im = unsafe { im.wrapping_add(i).read_unaligned() };
            // SAFETY: `i < n`, so pair `i` is in bounds, and nobody else's, by C1.
            unsafe { self.to.wrapping_add(i).write_unaligned([re, im]) };
        }
    }
}
