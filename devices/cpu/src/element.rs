//! Elements between memory and registers: how one is widened when it is loaded, and rounded when it is stored.
//!
//! ```text
//!            memory (`Stored`)         register (`Repr`)
//! f16, bf16  16 bits      ─ widen ─►   f32
//!                         ◄ narrow ─   (rounds once)
//! bool       a byte       ─ widen ─►   bool (any nonzero byte is true)
//! others     themselves
//! ```
//!
//! Owns the layout of a single element; refuses loops, but for those of float16, which has an instruction for many
//! elements and none for one.

use crate::half_bits::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::half_runs;
use crate::isa::{Isa, Level};
use crate::scalar::Compute;
use half::{bf16, f16};
use monomorph_core::{BoolByte, Complex, Element};

/// An element type that the CPU's kernels load, compute with and store.
pub trait CpuElement: Element + Compute {
    /// The value of a stored element: float16 and bfloat16 widen, any nonzero byte is true.
    fn widen(stored: Self::Stored) -> Self::Repr;

    /// A value as it is stored: float16 and bfloat16 round here, once.
    fn narrow(value: Self::Repr) -> Self::Stored;

    /// A value that the element type can represent, as it is stored: nothing is rounded.
    #[inline(always)]
    fn narrow_exact(value: Self::Repr) -> Self::Stored {
        Self::narrow(value)
    }

    /// True if two neighbours are loaded and stored faster as one word than one by one: the halves of a word are
    /// widened by a shift and a mask, where single elements need shuffles into a wider register and back, which compete
    /// for one port (29 instructions for 32 elements, 20 in pairs: decision 0010).
    const PAIRED: bool = false;

    /// Loads elements `2 * i` and `2 * i + 1`.
    ///
    /// # Safety
    ///
    /// Both are in bounds from `from` and initialised.
    #[inline(always)]
    unsafe fn load_pair(from: *const u8, i: usize) -> [Self::Repr; 2] {
        // SAFETY: the caller promises that element `2 * i` is in bounds and initialised.
        let first = unsafe { load::<Self>(from, 2 * i) };
        // SAFETY: the caller promises that element `2 * i + 1` is in bounds and initialised.
        [first, unsafe { load::<Self>(from, 2 * i + 1) }]
    }

    /// Stores elements `2 * i` and `2 * i + 1`; those of an `exact` pair are values that the element type can
    /// represent.
    ///
    /// # Safety
    ///
    /// Both are in bounds from `to`, and nobody else reads or writes them.
    #[inline(always)]
    unsafe fn store_pair(to: *mut u8, i: usize, [a, b]: [Self::Repr; 2], exact: bool) {
        // SAFETY: the caller promises that element `2 * i` is in bounds and nobody else's.
        unsafe { store_narrow::<Self>(to, 2 * i, a, exact) };
        // SAFETY: the caller promises that element `2 * i + 1` is in bounds and nobody else's.
        unsafe { store_narrow::<Self>(to, 2 * i + 1, b, exact) };
    }

    /// The level from which on whole runs are widened and narrowed faster than element by element in the loop that
    /// computes: float16, by its instruction. The compiler vectorises every other conversion by itself.
    const CONVERTED_IN_RUNS_FROM: Option<Level> = None;

    /// Widens a dense run of `n` elements.
    ///
    /// # Safety
    ///
    /// R1 and R2 of `cast.rs`, and the host has the level `I`.
    #[inline(always)]
    unsafe fn widen_run<I: Isa>(from: *const u8, to: *mut Self::Repr, n: usize) {
        for i in 0..n {
            // SAFETY: `i < n`, so element `i` of the source is in bounds and initialised (R1).
            let x = unsafe { load::<Self>(from, i) };
            // SAFETY: `i < n`, so element `i` of the destination is in bounds and nobody else's (R1).
            unsafe { to.wrapping_add(i).write_unaligned(x) };
        }
    }

    /// Narrows a dense run of `n` values.
    ///
    /// # Safety
    ///
    /// R1 and R2 of `cast.rs`, and the host has the level `I`.
    #[inline(always)]
    unsafe fn narrow_run<I: Isa>(from: *const Self::Repr, to: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: `i < n`, so element `i` of the source is in bounds and initialised (R1).
            let x = unsafe { from.wrapping_add(i).read_unaligned() };
            // SAFETY: `i < n`, so element `i` of the destination is in bounds and nobody else's (R1).
            unsafe { store::<Self>(to, i, x) };
        }
    }
}

macro_rules! elements {
    ($($element:ty: |$stored:ident| $widen:expr, |$value:ident| $narrow:expr;)*) => {$(
        impl CpuElement for $element {
            #[inline(always)]
            fn widen($stored: Self::Stored) -> Self::Repr {
                $widen
            }
            #[inline(always)]
            fn narrow($value: Self::Repr) -> Self::Stored {
                $narrow
            }
        }
    )*};
}
elements! {
    bool: |s| s.0 != 0, |v| BoolByte(v as u8);
    u8: |s| s, |v| v;
    i8: |s| s, |v| v;
    i16: |s| s, |v| v;
    i32: |s| s, |v| v;
    i64: |s| s, |v| v;
    f32: |s| s, |v| v;
    f64: |s| s, |v| v;
    Complex<f32>: |s| s, |v| v;
    Complex<f64>: |s| s, |v| v;
}

impl CpuElement for bf16 {
    #[inline(always)]
    fn widen(stored: bf16) -> f32 {
        bf16_to_f32(stored.to_bits())
    }
    #[inline(always)]
    fn narrow(value: f32) -> bf16 {
        bf16::from_bits(f32_to_bf16(value))
    }
    #[inline(always)]
    fn narrow_exact(value: f32) -> bf16 {
        bf16::from_bits((value.to_bits() >> 16) as u16)
    }
    const PAIRED: bool = cfg!(target_endian = "little");
    #[inline(always)]
    unsafe fn load_pair(from: *const u8, i: usize) -> [f32; 2] {
        // SAFETY: elements `2 * i` and `2 * i + 1`, which make the word, are in bounds and initialised, by the caller's
        // promise.
        let word = unsafe { from.cast::<u32>().wrapping_add(i).read_unaligned() };
        [bf16_to_f32(word as u16), bf16_to_f32((word >> 16) as u16)]
    }
    #[inline(always)]
    unsafe fn store_pair(to: *mut u8, i: usize, [a, b]: [f32; 2], exact: bool) {
        let narrow = |x| u32::from(if exact { Self::narrow_exact(x) } else { Self::narrow(x) }.to_bits());
        let [a, b] = [narrow(a), narrow(b)];
        // SAFETY: elements `2 * i` and `2 * i + 1`, which make the word, are in bounds and nobody else's, by the
        // caller's promise.
        unsafe { to.cast::<u32>().wrapping_add(i).write_unaligned(a | b << 16) };
    }
}

impl CpuElement for f16 {
    #[inline(always)]
    fn widen(stored: f16) -> f32 {
        f16_to_f32(stored.to_bits())
    }
    #[inline(always)]
    fn narrow(value: f32) -> f16 {
        f16::from_bits(f32_to_f16(value))
    }
    const CONVERTED_IN_RUNS_FROM: Option<Level> = Some(Level::Avx2);

    #[inline(always)]
    unsafe fn widen_run<I: Isa>(from: *const u8, to: *mut f32, n: usize) {
        // SAFETY: H1 and H2 say of these runs what R1 and R2 do; H3: the caller promises that the host has the level.
        unsafe { half_runs::widen::<I>(from.cast(), to, n) };
    }
    #[inline(always)]
    unsafe fn narrow_run<I: Isa>(from: *const f32, to: *mut u8, n: usize) {
        // SAFETY: H1 and H2 say of these runs what R1 and R2 do; H3: the caller promises that the host has the level.
        unsafe { half_runs::narrow::<I>(from, to.cast(), n) };
    }
}

/// Whether runs of these elements are converted as a whole at the level.
pub(crate) const fn converts_in_runs<C: CpuElement, I: Isa>() -> bool {
    match C::CONVERTED_IN_RUNS_FROM {
        Some(level) => I::LEVEL as u8 >= level as u8,
        None => false,
    }
}

/// Loads element `i`.
///
/// # Safety
///
/// Element `i` from `from` is in bounds and initialised.
#[inline(always)]
pub(crate) unsafe fn load<C: CpuElement>(from: *const u8, i: usize) -> C::Repr {
    // SAFETY: element `i` is in bounds, so the offset stays within the allocation.
    let at = unsafe { from.cast::<C::Stored>().add(i) };
    // SAFETY: the element is in bounds and initialised, by the caller's promise, and every bit pattern is a value of
    // `Stored`.
    C::widen(unsafe { at.read_unaligned() })
}

/// Stores element `i`.
///
/// # Safety
///
/// Element `i` from `to` is in bounds, and nobody else reads or writes it.
#[inline(always)]
pub(crate) unsafe fn store<C: CpuElement>(to: *mut u8, i: usize, value: C::Repr) {
    // SAFETY: the caller promises that element `i` is in bounds and nobody else's.
    unsafe { store_narrow::<C>(to, i, value, false) };
}

/// Stores element `i`; an `exact` value is one that the element type can represent.
///
/// # Safety
///
/// Element `i` from `to` is in bounds, and nobody else reads or writes it.
#[inline(always)]
pub(crate) unsafe fn store_narrow<C: CpuElement>(to: *mut u8, i: usize, value: C::Repr, exact: bool) {
    let stored = if exact { C::narrow_exact(value) } else { C::narrow(value) };
    // SAFETY: element `i` is in bounds, so the offset stays within the allocation.
    let at = unsafe { to.cast::<C::Stored>().add(i) };
    // SAFETY: the element is in bounds and nobody else's, by the caller's promise.
    unsafe { at.write_unaligned(stored) };
}
