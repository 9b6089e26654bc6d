//! Runs of elements converted from one dtype to another, moved with strides, and conjugated or negated. Knows no
//! operator: kernels that meet another dtype or another layout than theirs go through here, block by block.
//!
//! Dense conversions are compiled in the frame of each level, where they vectorise. Strided runs move as they are, by
//! element size, and are dense before or after they are converted.
//!
//! Contract of every function here:
//! * R1: both runs have `n` elements in bounds, the source initialised, the destination written by nobody else.
//! * R2: the runs do not overlap.

use crate::convert::Convert;
use crate::element::{CpuElement, converts_in_runs, load, store};
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx2, Avx512};
use crate::isa::{Entry, Isa, Level, Portable};
use crate::memcpy::memcpy;
use crate::scalar::Compute;
use monomorph_core::{DType, with_element};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// A dense run to be converted. R1, R2.
pub(crate) struct Conversion {
    from: *const u8,
    to: *mut u8,
    n: usize,
}

/// A function that converts a run at a level that the host has.
type Step = unsafe fn(Conversion);

/// How a conversion is done at a level that the host has.
#[derive(Debug)]
struct Steps {
    first: Step,
    /// The second half of a conversion that goes by way of another dtype.
    last: Option<Step>,
    /// Sizes of elements before the first step and behind the last.
    sizes: [u8; 2],
}

/// The conversion between two dtypes at a level that the host has. One word, because every operand of a staged call
/// carries some.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cast(&'static Steps);

impl Cast {
    /// Converts a dense run of `n` elements.
    ///
    /// # Safety
    ///
    /// R1, R2.
    #[inline]
    pub(crate) unsafe fn run(self, from: *const u8, to: *mut u8, n: usize) {
        match self.0.last {
            // SAFETY: R1, R2; the host has the level that the conversion was chosen for.
            None => unsafe { (self.0.first)(Conversion { from, to, n }) },
            // SAFETY: R1, R2.
            Some(last) => unsafe { self.by_way(last, Conversion { from, to, n }) },
        }
    }

    /// # Safety
    ///
    /// R1, R2.
    unsafe fn by_way(self, last: Step, run: Conversion) {
        let [size, to_size] = self.0.sizes.map(usize::from);
        // Of float32 or float64.
        let mut between = [const { MaybeUninit::<u64>::uninit() }; RUN];
        let between = between.as_mut_ptr().cast::<u8>();
        for start in (0..run.n).step_by(RUN) {
            let n = RUN.min(run.n - start);
            let (from, to) = (run.from.wrapping_add(start * size), run.to.wrapping_add(start * to_size));
            // SAFETY: R1; the buffer has room for the elements and lies apart.
            unsafe { (self.0.first)(Conversion { from, to: between, n }) };
            // SAFETY: R1; the elements between were just stored.
            unsafe { last(Conversion { from: between, to, n }) };
        }
    }
}

/// The dtype by way of which a conversion goes that has no function of its own. A half is rounded from float32 and a
/// complex number has a real part, so in two steps the result is the same, the time nearly so, and half of the
/// functions are spared.
const fn way(from: DType, to: DType) -> Option<DType> {
    use DType::{BF16, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8};
    match (from, to) {
        (F16 | BF16, F32) | (F32, F16 | BF16) => None,
        (F16 | BF16, _) | (_, F16 | BF16) => Some(F32),
        (C64, U8 | I8 | I16 | I32 | I64) | (DType::Bool | U8 | I8 | I16 | I32 | I64, C64) => Some(F32),
        (C128, U8 | I8 | I16 | I32 | I64) | (DType::Bool | U8 | I8 | I16 | I32 | I64, C128) => Some(F64),
        _ => None,
    }
}

/// The conversion between two dtypes at a level, or at the best one below it that the host has; `None` if they are
/// equal.
pub(crate) fn cast(from: DType, to: DType, level: Level) -> Option<Cast> {
    if from == to {
        return None;
    }
    /// Tables of the levels, each filled when it is first asked.
    static TABLES: [OnceLock<Table>; 3] = [const { OnceLock::new() }; 3];
    let [portable, avx2, avx512] = &TABLES;
    let (table, fill) = level.choose(
        (portable, table::<Portable> as fn() -> Table),
        #[cfg(target_arch = "x86_64")]
        [(avx2, table::<Avx2>), (avx512, table::<Avx512>)],
    );
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (avx2, avx512);
    Some(Cast(&table.get_or_init(fill)[from as usize][to as usize]))
}

type Table = [[Steps; DType::COUNT]; DType::COUNT];

/// The conversions compiled for a level.
fn table<I: Isa>() -> Table {
    DType::ALL.map(|from| {
        DType::ALL.map(|to| {
            let sizes = [from.size() as u8, to.size() as u8];
            match way(from, to) {
                None => Steps { first: step::<I>(from, to), last: None, sizes },
                Some(way) => Steps { first: step::<I>(from, way), last: Some(step::<I>(way, to)), sizes },
            }
        })
    })
}

/// The function of a conversion that has one, compiled for a level.
fn step<I: Isa>(from: DType, to: DType) -> Step {
    with_element!(from, A => with_element!(to, B => Dense::<A, B>::step::<I>()))
}

struct Dense<A, B>(PhantomData<(A, B)>);

impl<A: CpuElement, B: CpuElement> Dense<A, B>
where
    A::Repr: Convert<<B as Compute>::Repr>,
{
    fn step<I: Isa>() -> Step {
        // Of equal dtypes, or by way of another: not compiled.
        const fn has_none(from: DType, to: DType) -> bool {
            from as u8 == to as u8 || way(from, to).is_some()
        }
        if const { has_none(A::DTYPE, B::DTYPE) } { I::entry::<Dense<bool, u8>>() } else { I::entry::<Self>() }
    }
}

impl<A: CpuElement, B: CpuElement, I: Isa> Entry<I> for Dense<A, B>
where
    A::Repr: Convert<<B as Compute>::Repr>,
{
    type Args = Conversion;

    #[inline(always)]
    unsafe fn run(run: Conversion) {
        // What has runs of its own is computed as float32, and converted to it and from it alone (`way`).
        if const { A::DTYPE as u8 == DType::F32 as u8 && converts_in_runs::<B, I>() } {
            // SAFETY: whoever makes a `Conversion` promises R1 and R2 for its runs, here of float32 and of `B`; the
            // caller of an entry promises that the host has the level `I`.
            return unsafe { B::narrow_run::<I>(run.from.cast(), run.to, run.n) };
        }
        if const { B::DTYPE as u8 == DType::F32 as u8 && converts_in_runs::<A, I>() } {
            // SAFETY: whoever makes a `Conversion` promises R1 and R2 for its runs, here of `A` and of float32; the
            // caller of an entry promises that the host has the level `I`.
            return unsafe { A::widen_run::<I>(run.from, run.to.cast(), run.n) };
        }
        for i in 0..run.n {
            // SAFETY: R1.
            let x = unsafe { load::<A>(run.from, i) };
            // SAFETY: R1.
            unsafe { store::<B>(run.to, i, x.convert()) };
        }
    }
}

/// Elements that are converted at a time where a conversion goes by way of another dtype.
const RUN: usize = 256;

/// Moves `n` elements of `size` bytes from one stride (in bytes) to another.
///
/// # Safety
///
/// R1, R2; `size` is that of a dtype.
pub(crate) unsafe fn moved(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, size: usize, n: usize) {
    if from_stride == size as isize && to_stride == size as isize {
        // SAFETY: R1, R2; dense runs of `n` elements have `n · size` bytes.
        return unsafe { memcpy(from, to, n * size) };
    }
    match size {
        // SAFETY: the caller promises R1 and R2 for elements of `size` bytes, which is the size of a `u8`.
        1 => unsafe { moved_as::<u8>(from, from_stride, to, to_stride, n) },
        // SAFETY: the caller promises R1 and R2 for elements of `size` bytes, which is the size of a `u16`.
        2 => unsafe { moved_as::<u16>(from, from_stride, to, to_stride, n) },
        // SAFETY: the caller promises R1 and R2 for elements of `size` bytes, which is the size of a `u32`.
        4 => unsafe { moved_as::<u32>(from, from_stride, to, to_stride, n) },
        // SAFETY: the caller promises R1 and R2 for elements of `size` bytes, which is the size of a `u64`.
        8 => unsafe { moved_as::<u64>(from, from_stride, to, to_stride, n) },
        // SAFETY: the caller promises R1 and R2 for elements of `size` bytes, the size of a dtype: the one that is
        // left is 16.
        _ => unsafe { moved_as::<[u64; 2]>(from, from_stride, to, to_stride, n) },
    }
}

/// Copies elements of the size of `T`.
///
/// # Safety
///
/// R1, R2 for elements of the size of `T`.
#[inline(always)]
pub(crate) unsafe fn moved_as<T: Copy>(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, n: usize) {
    let dense = size_of::<T>() as isize;
    if from_stride == 0 && n > 0 {
        // SAFETY: R1: `n > 0`, so there is a first element.
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
    if (from_stride, to_stride) == (-dense, dense) {
        // A known stride, so that the compiler reverses whole vectors.
        for i in 0..n {
            let at = to.cast::<T>().wrapping_add(i);
            // SAFETY: element `i < n` of the source, which lies so many elements before the first (R1).
            let value = unsafe { from.cast::<T>().wrapping_sub(i).read_unaligned() };
            // SAFETY: element `i < n` of the dense target (R1), which is no part of the source (R2).
            unsafe { at.write_unaligned(value) };
        }
        return;
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
                // SAFETY: `i < n`, so element `i` is in bounds, and nobody else uses it, by the caller's promise.
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
                    // SAFETY: R1, R2: both buffers have N elements and are distinct; `cast` asks the host for the
                    // level.
                    unsafe { cast.run(from.as_ptr(), to.as_mut_ptr(), N) };
                    canonical(to, b)
                };
                let want = run(Level::Portable);
                for level in Level::available() {
                    assert!(run(level) == want, "{a} to {b} at {level}");
                }
            }
        }
    }

    /// Also those that go by way of another dtype.
    #[test]
    fn runs_convert_as_single_values_do() {
        let from = bytes();
        for a in DType::ALL {
            for b in DType::ALL.into_iter().filter(|&b| b != a) {
                let (mut to, mut want) = (vec![0u8; N * b.size()], vec![0u8; N * b.size()]);
                let cast = cast(a, b, Level::detected()).unwrap();
                // SAFETY: R1, R2: both buffers have N elements and are distinct.
                unsafe { cast.run(from.as_ptr(), to.as_mut_ptr(), N) };
                with_element!(a, A => with_element!(b, B => {
                    for i in 0..N {
                        // SAFETY: `i < N`, and `from` has N * 16 bytes, which hold N elements of any dtype.
                        let x = unsafe { load::<A>(from.as_ptr(), i) };
                        // SAFETY: `i < N`, and `want` has room for N elements of `B`; it is a local.
                        unsafe { store::<B>(want.as_mut_ptr(), i, x.convert()) };
                    }
                }));
                assert!(canonical(to, b) == canonical(want, b), "{a} to {b}");
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
