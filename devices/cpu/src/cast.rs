//! Runs of elements converted from one dtype to another, moved with strides, and conjugated or negated. Knows no operator:
//! kernels that meet another dtype or another layout than theirs go through here, block by block.
//!
//! Dense conversions are compiled in the frame of each level, where they vectorise. Strided runs move as they are, by
//! element size, and are dense before or after they are converted.
//!
//! Contract of every function here:
//! * R1: both runs have `n` elements in bounds, the source initialised, the destination written by nobody else.
//! * R2: the runs do not overlap.

use crate::cell::{Cell, load, store};
use crate::convert::Convert;
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Isa, Kernel, Level, Portable};
use crate::on::Compute;
use monomorph_core::{DType, with_element};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Converts a dense run of `n` elements: source, destination, `n`. R1, R2, and the host has the level that it was chosen for.
pub(crate) type Cast = unsafe fn(*const u8, *mut u8, usize);

/// The conversion between two dtypes at a level, or at the best one below it that the host has; `None` if they are equal.
pub(crate) fn cast(from: DType, to: DType, level: Level) -> Option<Cast> {
    if from == to {
        return None;
    }
    Some(with_element!(from, A => with_element!(to, B => at_level::<A, B>(level))))
}

fn at_level<A: Cell, B: Cell>(level: Level) -> Cast
where
    A::Repr: Convert<<B as Compute>::Repr>,
{
    #[cfg(target_arch = "x86_64")]
    {
        if level >= Level::Avx512 && Avx512::detect().is_some() {
            return dense::<A, B, Avx512>;
        }
        if level >= Level::Avx2 && Avx2::detect().is_some() {
            return dense::<A, B, Avx2>;
        }
    }
    let _ = level;
    dense::<A, B, Portable>
}

struct Dense<A, B> {
    from: *const u8,
    to: *mut u8,
    n: usize,
    cells: PhantomData<(A, B)>,
}

impl<A: Cell, B: Cell, I: Isa> Kernel<I> for Dense<A, B>
where
    A::Repr: Convert<<B as Compute>::Repr>,
{
    type Output = ();
    #[inline(always)]
    fn run(self, _: I) {
        if A::in_runs::<I>() || B::in_runs::<I>() {
            // SAFETY: R1, R2, and the frame is that of the host's level.
            return unsafe { self.in_runs::<I>() };
        }
        for i in 0..self.n {
            // SAFETY: R1.
            let x = unsafe { load::<A>(self.from, i) };
            // SAFETY: R1.
            unsafe { store::<B>(self.to, i, x.convert()) };
        }
    }
}

/// Elements that are converted at a time where whole runs are faster.
const RUN: usize = 256;

impl<A: Cell, B: Cell> Dense<A, B>
where
    A::Repr: Convert<<B as Compute>::Repr>,
{
    /// By way of runs in registers' own types.
    ///
    /// # Safety
    ///
    /// R1, R2, and the host has the level `I`.
    #[inline(always)]
    unsafe fn in_runs<I: Isa>(self) {
        let mut wide = [const { MaybeUninit::<A::Repr>::uninit() }; RUN];
        let mut other = [const { MaybeUninit::<B::Repr>::uninit() }; RUN];
        let (wide, other) = (wide.as_mut_ptr().cast::<A::Repr>(), other.as_mut_ptr().cast::<B::Repr>());
        for start in (0..self.n).step_by(RUN) {
            let n = RUN.min(self.n - start);
            let from = self.from.wrapping_add(start * size_of::<A::Stored>());
            let to = self.to.wrapping_add(start * size_of::<B::Stored>());
            // SAFETY: R1, R2: the buffer is apart from all.
            unsafe { A::widen_run::<I>(from, wide, n) };
            for i in 0..n {
                // SAFETY: the run was just widened.
                let x = unsafe { wide.wrapping_add(i).read() };
                // SAFETY: in bounds of the other buffer.
                unsafe { other.wrapping_add(i).write(x.convert()) };
            }
            // SAFETY: R1, R2: the run was just filled.
            unsafe { B::narrow_run::<I>(other, to, n) };
        }
    }
}

/// # Safety
///
/// R1, R2, and the host has the level `I`.
unsafe fn dense<A: Cell, B: Cell, I: Isa>(from: *const u8, to: *mut u8, n: usize)
where
    A::Repr: Convert<<B as Compute>::Repr>,
{
    // SAFETY: the host has the level, by the caller's promise.
    let isa = unsafe { I::assume() };
    isa.enter(Dense::<A, B> { from, to, n, cells: PhantomData });
}

/// Moves `n` elements of `size` bytes from one stride (in bytes) to another.
///
/// # Safety
///
/// R1, R2.
pub(crate) unsafe fn moved(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, size: usize, n: usize) {
    if from_stride == size as isize && to_stride == size as isize {
        // SAFETY: R1, R2; dense runs of `n` elements have `n · size` bytes.
        return unsafe { std::ptr::copy_nonoverlapping(from, to, n * size) };
    }
    match size {
        // SAFETY: R1, R2, here and below.
        1 => unsafe { moved_as::<u8>(from, from_stride, to, to_stride, n) },
        // SAFETY: as above.
        2 => unsafe { moved_as::<u16>(from, from_stride, to, to_stride, n) },
        // SAFETY: as above.
        4 => unsafe { moved_as::<u32>(from, from_stride, to, to_stride, n) },
        // SAFETY: as above.
        8 => unsafe { moved_as::<u64>(from, from_stride, to, to_stride, n) },
        // SAFETY: as above; no dtype has another size.
        _ => unsafe { moved_as::<[u64; 2]>(from, from_stride, to, to_stride, n) },
    }
}

/// # Safety
///
/// R1, R2 for elements of the size of `T`.
#[inline(always)]
unsafe fn moved_as<T: Copy>(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, n: usize) {
    let dense = size_of::<T>() as isize;
    if from_stride == 0 {
        // SAFETY: R1: there is a first element.
        let value = unsafe { from.cast::<T>().read_unaligned() };
        if to_stride == dense {
            for i in 0..n {
                let at = to.cast::<T>().wrapping_add(i);
                // SAFETY: R1.
                unsafe { at.write_unaligned(value) };
            }
            return;
        }
    }
    if to_stride == dense {
        for i in 0..n {
            let source = from.wrapping_offset(i as isize * from_stride).cast::<T>();
            let at = to.cast::<T>().wrapping_add(i);
            // SAFETY: R1.
            let value = unsafe { source.read_unaligned() };
            // SAFETY: R1.
            unsafe { at.write_unaligned(value) };
        }
        return;
    }
    for i in 0..n as isize {
        let source = from.wrapping_offset(i * from_stride).cast::<T>();
        let at = to.wrapping_offset(i * to_stride).cast::<T>();
        // SAFETY: R1.
        let value = unsafe { source.read_unaligned() };
        // SAFETY: R1.
        unsafe { at.write_unaligned(value) };
    }
}

/// The lazy bits of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bits {
    /// Values are the conjugates of the stored ones.
    pub(crate) conj: bool,
    /// Values are the negatives of the stored ones.
    pub(crate) neg: bool,
}

impl Bits {
    /// What the bits mean for elements of `dtype`: only complex ones have a conjugate, bools no negative.
    pub(crate) fn of(dtype: DType, conj: bool, neg: bool) -> Bits {
        Bits { conj: conj && dtype.is_complex(), neg: neg && dtype != DType::Bool }
    }

    /// True if stored elements are the values.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self == Bits::default()
    }

    /// Turns a dense run of stored elements into values, or values into stored elements.
    ///
    /// # Safety
    ///
    /// `n` initialised elements of `dtype` at `block` are in bounds, and nobody else uses them.
    pub(crate) unsafe fn apply(self, dtype: DType, block: *mut u8, n: usize) {
        if self.is_none() {
            return;
        }
        // Conjugating and negating leaves the imaginary part as it is.
        let (even, odd) = if dtype.is_complex() { (self.neg, self.conj != self.neg) } else { (self.neg, self.neg) };
        let parts = n * (dtype.size() / dtype.to_real().size());
        // SAFETY: a complex number is its real part followed by its imaginary part, so these are `parts` elements.
        unsafe { negate(dtype.to_real(), block, parts, [even, odd]) };
    }
}

/// Negates the elements at even positions, at odd positions, or at both.
///
/// # Safety
///
/// As for [`Bits::apply`].
unsafe fn negate(dtype: DType, block: *mut u8, n: usize, which: [bool; 2]) {
    macro_rules! each {
        ($t:ty, $flip:expr) => {
            for i in (0..n).filter(|i| which[i % 2]) {
                let at = block.cast::<$t>().wrapping_add(i);
                // SAFETY: in bounds and initialised, by the caller's promise.
                let x = unsafe { at.read_unaligned() };
                // SAFETY: as above.
                unsafe { at.write_unaligned($flip(x)) };
            }
        };
    }
    match dtype {
        DType::U8 | DType::I8 => each!(u8, u8::wrapping_neg),
        DType::I16 => each!(u16, u16::wrapping_neg),
        DType::I32 => each!(u32, u32::wrapping_neg),
        DType::I64 => each!(u64, u64::wrapping_neg),
        DType::F16 | DType::BF16 => each!(u16, |x| x ^ 1 << 15),
        DType::F32 => each!(u32, |x| x ^ 1 << 31),
        DType::F64 => each!(u64, |x| x ^ 1 << 63),
        // A bool is its own negative, and complex dtypes come as their parts.
        DType::Bool | DType::C64 | DType::C128 => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 517;

    /// Random bytes: floats of every magnitude, NaN and infinity among them, bools of any byte.
    fn bytes() -> Vec<u8> {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(N * 16).collect()
    }

    /// NaN made canonical: its payload is free.
    fn canonical(mut bytes: Vec<u8>, dtype: DType) -> Vec<u8> {
        let part = dtype.to_real();
        for x in bytes.chunks_exact_mut(part.size()) {
            let is_nan = match part {
                DType::F16 => half::f16::from_le_bytes([x[0], x[1]]).is_nan(),
                DType::BF16 => half::bf16::from_le_bytes([x[0], x[1]]).is_nan(),
                DType::F32 => f32::from_le_bytes([x[0], x[1], x[2], x[3]]).is_nan(),
                DType::F64 => f64::from_bits(x.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b))).is_nan(),
                _ => false,
            };
            if is_nan {
                x.fill(0xff);
            }
        }
        bytes
    }

    #[test]
    fn every_level_converts_alike() {
        let from = bytes();
        for a in DType::ALL {
            for b in DType::ALL.into_iter().filter(|&b| b != a) {
                let run = |level| {
                    let mut to = vec![0u8; N * b.size()];
                    let cast = cast(a, b, level).unwrap();
                    // SAFETY: R1, R2: both buffers have N elements and are distinct; `cast` asks the host for the level.
                    unsafe { cast(from.as_ptr(), to.as_mut_ptr(), N) };
                    canonical(to, b)
                };
                let want = run(Level::Portable);
                for level in Level::available() {
                    assert!(run(level) == want, "{a} to {b} at {level}");
                }
            }
        }
    }

    #[test]
    fn bits_mean_what_they_say() {
        let mut z = [1.0f32, 2.0, -3.0, 0.5];
        let apply = |bits: Bits, z: &mut [f32; 4]| {
            // SAFETY: two complex numbers, ours.
            unsafe { bits.apply(DType::C64, z.as_mut_ptr().cast(), 2) };
        };
        apply(Bits { conj: true, neg: false }, &mut z);
        assert_eq!(z, [1.0, -2.0, -3.0, -0.5]);
        apply(Bits { conj: true, neg: true }, &mut z);
        assert_eq!(z, [-1.0, -2.0, 3.0, -0.5]);
        apply(Bits { conj: false, neg: true }, &mut z);
        assert_eq!(z, [1.0, 2.0, -3.0, 0.5]);
        let mut small = [1u8, 0, 255];
        // SAFETY: three elements, ours.
        unsafe { Bits { conj: false, neg: true }.apply(DType::U8, small.as_mut_ptr(), 3) };
        assert_eq!(small, [255, 0, 1]);
        assert!(Bits::of(DType::Bool, true, true).is_none() && Bits::of(DType::F32, true, false).is_none());
    }
}
