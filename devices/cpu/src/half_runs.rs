//! Runs of float16 to and from float32 by the processor's instructions. Owns the only intrinsics of the conversions;
//! what a conversion means is in `half_bits.rs`, which is also what runs where there is no instruction.
//!
//! The instructions round to nearest, ties to even, whatever the thread's rounding mode; they keep subnormals whatever
//! its flush mode, and make a signalling NaN quiet.
//!
//! Contract of every function here:
//! * H1: both runs have `n` elements in bounds, the source initialised, the destination written by nobody else.
//! * H2: the runs do not overlap.
//! * H3: the host has the level.

use crate::half_bits::{f16_to_f32, f32_to_f16};
use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::Level;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Widens `n` elements.
///
/// # Safety
///
/// H1–H3.
#[inline(always)]
pub(crate) unsafe fn widen<I: Isa>(from: *const u16, to: *mut f32, n: usize) {
    #[cfg(target_arch = "x86_64")]
    match I::LEVEL {
        // SAFETY: the caller promises H1 and H2 for these very runs; the host has the level (H3), which includes the
        // features of the function.
        Level::Avx512 => return unsafe { widen_avx512(from, to, n) },
        // SAFETY: the caller promises H1 and H2 for these very runs; the host has the level (H3), which includes the
        // features of the function.
        Level::Avx2 => return unsafe { widen_avx2(from, to, n) },
        Level::Portable | Level::Sse2 => {}
    }
    // SAFETY: `0..n` is all of both runs, for which the caller promises H1 and H2.
    unsafe { widen_each(from, to, 0..n) };
}

/// Narrows `n` elements.
///
/// # Safety
///
/// H1–H3.
#[inline(always)]
pub(crate) unsafe fn narrow<I: Isa>(from: *const f32, to: *mut u16, n: usize) {
    #[cfg(target_arch = "x86_64")]
    match I::LEVEL {
        // SAFETY: the caller promises H1 and H2 for these very runs; the host has the level (H3), which includes the
        // features of the function.
        Level::Avx512 => return unsafe { narrow_avx512(from, to, n) },
        // SAFETY: the caller promises H1 and H2 for these very runs; the host has the level (H3), which includes the
        // features of the function.
        Level::Avx2 => return unsafe { narrow_avx2(from, to, n) },
        Level::Portable | Level::Sse2 => {}
    }
    // SAFETY: `0..n` is all of both runs, for which the caller promises H1 and H2.
    unsafe { narrow_each(from, to, 0..n) };
}

/// # Safety
///
/// H1, H2 for the range.
#[inline(always)]
unsafe fn widen_each(from: *const u16, to: *mut f32, range: std::ops::Range<usize>) {
    for i in range {
        // SAFETY: `i` is in the range, so element `i` of the source is in bounds and initialised (H1).
        let x = unsafe { from.wrapping_add(i).read_unaligned() };
        // SAFETY: `i` is in the range, so element `i` of the destination is in bounds and nobody else's (H1).
        unsafe { to.wrapping_add(i).write_unaligned(f16_to_f32(x)) };
    }
}

/// # Safety
///
/// H1, H2 for the range.
#[inline(always)]
unsafe fn narrow_each(from: *const f32, to: *mut u16, range: std::ops::Range<usize>) {
    for i in range {
        // SAFETY: `i` is in the range, so element `i` of the source is in bounds and initialised (H1).
        let x = unsafe { from.wrapping_add(i).read_unaligned() };
        // SAFETY: `i` is in the range, so element `i` of the destination is in bounds and nobody else's (H1).
        unsafe { to.wrapping_add(i).write_unaligned(f32_to_f16(x)) };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
unsafe fn widen_avx2(from: *const u16, to: *mut f32, n: usize) {
    let whole = n - n % 8;
    for i in (0..whole).step_by(8) {
        // SAFETY: `i + 8 <= n`, so eight elements of the source from `i` on are in bounds and initialised (H1).
        let x = unsafe { _mm_loadu_si128(from.wrapping_add(i).cast()) };
        let y = _mm256_cvtph_ps(x);
        // SAFETY: `i + 8 <= n`, so eight elements of the destination from `i` on are in bounds and nobody else's (H1).
        unsafe { _mm256_storeu_ps(to.wrapping_add(i), y) };
    }
    // SAFETY: `whole..n` is the end of both runs, for which the caller promises H1 and H2.
    unsafe { widen_each(from, to, whole..n) };
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
unsafe fn narrow_avx2(from: *const f32, to: *mut u16, n: usize) {
    let whole = n - n % 8;
    for i in (0..whole).step_by(8) {
        // SAFETY: `i + 8 <= n`, so eight elements of the source from `i` on are in bounds and initialised (H1).
        let x = unsafe { _mm256_loadu_ps(from.wrapping_add(i)) };
        let y = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
        // SAFETY: `i + 8 <= n`, so eight elements of the destination from `i` on are in bounds and nobody else's (H1).
        unsafe { _mm_storeu_si128(to.wrapping_add(i).cast(), y) };
    }
    // SAFETY: `whole..n` is the end of both runs, for which the caller promises H1 and H2.
    unsafe { narrow_each(from, to, whole..n) };
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn widen_avx512(from: *const u16, to: *mut f32, n: usize) {
    let whole = n - n % 16;
    for i in (0..whole).step_by(16) {
        // SAFETY: `i + 16 <= n`, so sixteen elements of the source from `i` on are in bounds and initialised (H1).
        let x = unsafe { _mm256_loadu_si256(from.wrapping_add(i).cast()) };
        let y = _mm512_cvtph_ps(x);
        // SAFETY: `i + 16 <= n`, so sixteen elements of the destination from `i` on are in bounds and nobody else's
        // (H1).
        unsafe { _mm512_storeu_ps(to.wrapping_add(i), y) };
    }
    if whole < n {
        let rest = (1 << (n - whole)) - 1;
        // SAFETY: the mask keeps to the `n - whole` elements that are left of the source, in bounds and initialised
        // (H1).
        let x = unsafe { _mm256_maskz_loadu_epi16(rest, from.wrapping_add(whole).cast()) };
        let y = _mm512_cvtph_ps(x);
        // SAFETY: the mask keeps to the `n - whole` elements that are left of the destination, in bounds and nobody
        // else's (H1).
        unsafe { _mm512_mask_storeu_ps(to.wrapping_add(whole), rest, y) };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn narrow_avx512(from: *const f32, to: *mut u16, n: usize) {
    let whole = n - n % 16;
    for i in (0..whole).step_by(16) {
        // SAFETY: `i + 16 <= n`, so sixteen elements of the source from `i` on are in bounds and initialised (H1).
        let x = unsafe { _mm512_loadu_ps(from.wrapping_add(i)) };
        let y = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
        // SAFETY: `i + 16 <= n`, so sixteen elements of the destination from `i` on are in bounds and nobody else's
        // (H1).
        unsafe { _mm256_storeu_si256(to.wrapping_add(i).cast(), y) };
    }
    if whole < n {
        let rest = (1 << (n - whole)) - 1;
        // SAFETY: the mask keeps to the `n - whole` elements that are left of the source, in bounds and initialised
        // (H1).
        let x = unsafe { _mm512_maskz_loadu_ps(rest, from.wrapping_add(whole)) };
        let y = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
        // SAFETY: the mask keeps to the `n - whole` elements that are left of the destination, in bounds and nobody
        // else's (H1).
        unsafe { _mm256_mask_storeu_epi16(to.wrapping_add(whole).cast(), rest, y) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Kernel;

    struct Widen<'a>(&'a [u16], &'a mut [f32]);
    struct Narrow<'a>(&'a [f32], &'a mut [u16]);

    impl<I: Isa> Kernel<I> for Widen<'_> {
        type Home = Self;
        type Output = ();
        #[inline(always)]
        fn run(self, _: I) {
            // SAFETY: H1: the destination is no shorter than the source, whose length is `n`; H2: the destination is
            // behind a `&mut`; H3: the frame was entered with a token.
            unsafe { widen::<I>(self.0.as_ptr(), self.1.as_mut_ptr(), self.0.len()) };
        }
    }

    impl<I: Isa> Kernel<I> for Narrow<'_> {
        type Home = Self;
        type Output = ();
        #[inline(always)]
        fn run(self, _: I) {
            // SAFETY: H1: the destination is no shorter than the source, whose length is `n`; H2: the destination is
            // behind a `&mut`; H3: the frame was entered with a token.
            unsafe { narrow::<I>(self.0.as_ptr(), self.1.as_mut_ptr(), self.0.len()) };
        }
    }

    /// NaN made canonical: its payload is free.
    fn canonical(bits: u16) -> u16 {
        if half::f16::from_bits(bits).is_nan() { 0x7e00 } else { bits }
    }

    fn check(x: &[f32]) {
        let want: Vec<_> = x.iter().map(|&x| canonical(half::f16::from_f32_const(x).to_bits())).collect();
        for level in Level::available() {
            let mut got = vec![0u16; x.len()];
            level.enter(Narrow(x, &mut got));
            for ((&x, &want), got) in x.iter().zip(&want).zip(got) {
                assert_eq!(canonical(got), want, "{x:e} ({:#010x}) at {level}", x.to_bits());
            }
        }
    }

    #[test]
    fn every_float16_widens_exactly_and_comes_back_at_every_level() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        for level in Level::available() {
            let mut wide = vec![0f32; all.len()];
            level.enter(Widen(&all, &mut wide));
            for (&bits, x) in all.iter().zip(&wide) {
                let want = half::f16::from_bits(bits).to_f32_const();
                assert!(x.to_bits() == want.to_bits() || (x.is_nan() && want.is_nan()), "{bits:#06x} at {level}");
            }
            let mut back = vec![0u16; all.len()];
            level.enter(Narrow(&wide, &mut back));
            for (&bits, back) in all.iter().zip(back) {
                assert_eq!(canonical(back), canonical(bits), "{bits:#06x} at {level}");
            }
        }
    }

    #[test]
    fn midpoints_and_their_neighbours_round_to_even_at_every_level() {
        let around = |bits: u16| {
            let (low, high) = (f16_to_f32(bits), f16_to_f32(bits.wrapping_add(1)));
            let middle = if high.is_finite() { (low + high) / 2.0 } else { 65520.0f32.copysign(low) };
            [low, middle]
                .into_iter()
                .flat_map(|x| (-2..=2).map(move |d| f32::from_bits(x.to_bits().wrapping_add_signed(d))))
        };
        check(&(0..=u16::MAX).flat_map(around).collect::<Vec<_>>());
    }

    #[test]
    fn stepped_float32_narrow_exactly_at_every_level() {
        for part in 0..16u32 {
            check(&(0..1u32 << 16).map(|i| f32::from_bits((part << 28).wrapping_add(i * 4093))).collect::<Vec<_>>());
        }
    }

    #[test]
    fn tails_write_their_elements_only() {
        for n in 0..=50 {
            let half: Vec<u16> = (0..n).map(|i| f32_to_f16(i as f32 * 0.37)).collect();
            for level in Level::available() {
                let (mut wide, mut back) = (vec![-1f32; 80], vec![0xdeadu16; 80]);
                level.enter(Widen(&half, &mut wide));
                level.enter(Narrow(&wide[..n], &mut back));
                assert!(
                    wide[n..].iter().all(|&x| x == -1.0) && back[n..].iter().all(|&x| x == 0xdead),
                    "{n} at {level}"
                );
                assert_eq!(back[..n], half, "{level}");
            }
        }
    }
}
