//! Two dense runs as the parts of complex elements, in one pass.

use crate::copy::FLAGS;
use crate::isa::{Isa, Kernel};
use crate::level;
use monomorph_core::{Result, Strided};
use monomorph_iter::{Config, GRAIN, View, build_over};

/// Copies two parts to complex elements. False, with nothing done, where there are no long dense rows of them or lazy bits.
///
/// # Safety
///
/// That of [`Device::join`](monomorph_core::Device::join).
pub(crate) unsafe fn join(sizes: &[i64], to: &Strided<'_>, parts: &[Strided<'_>; 2]) -> Result<bool> {
    /// Shorter rows are copied as fast.
    const LONG: i64 = 16;
    let size = to.dtype.to_real().size();
    let [re, im] = parts.each_ref().map(|part| View::new(part.dtype, sizes, part.strides));
    if parts.iter().any(|part| part.neg) {
        return Ok(false);
    }
    let iter = build_over(&Config::new(FLAGS), &[View::new(to.dtype, sizes, to.strides)], &[re, im])?;
    let dense = [2 * size, size, size];
    let is_dense = |k: usize| iter.strides(k).first() == Some(&(dense[k] as isize));
    if !(0..3).all(is_dense) || iter.shape().first().is_none_or(|&n| (n as i64) < LONG) {
        return Ok(false);
    }
    let level = level()?;
    let plane = |at: &[*mut u8], strides: &[isize], cols: usize, rows: usize| {
        for row in 0..rows as isize {
            let side = |k: usize| at[k].wrapping_offset(row * strides[3 + k]);
            let parts = [1, 2].map(|k| side(k).cast_const());
            match size {
                4 => level.enter(Joined::<u32> { to: side(0).cast(), parts: parts.map(<*const u8>::cast), n: cols }),
                _ => level.enter(Joined::<u64> { to: side(0).cast(), parts: parts.map(<*const u8>::cast), n: cols }),
            }
        }
    };
    // SAFETY: W1 and W2 by C1 and C2.
    unsafe { iter.for_each(&[to.data, parts[0].data, parts[1].data], GRAIN, plane) };
    Ok(true)
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
            // SAFETY: in bounds and initialised, by C1.
            let re = unsafe { re.wrapping_add(i).read_unaligned() };
            // SAFETY: as above.
            let im = unsafe { im.wrapping_add(i).read_unaligned() };
            // SAFETY: in bounds, and nobody else's, by C1.
            unsafe { self.to.wrapping_add(i).write_unaligned([re, im]) };
        }
    }
}
