//! One value between a register and memory, for the loops: [`LoadStore`] of [`Lane`], which knows its element type and
//! level.
//!
//! An element is *wide* if it lies in a buffer as a register holds it (float16 as float32). Loops over converted runs
//! (`element_loop.rs`) read and write wide elements, all others those that tensors hold.

use crate::element::{self, CpuElement};
use crate::isa::Isa;
use crate::scalar::Lane;
use monomorph_ops::algebra::Value;

/// A value that can be loaded from and stored to one element of memory: of its dtype, or, `WIDE`, as a register holds
/// it.
pub trait LoadStore: Value {
    /// Bytes per stored element.
    const SIZE: usize;
    /// Bytes per wide element.
    const WIDE_SIZE: usize;

    /// Loads element `i`.
    ///
    /// # Safety
    ///
    /// Element `i` from `from` is in bounds and initialised; a wide one is aligned.
    unsafe fn load<const WIDE: bool>(from: *const u8, i: usize) -> Self;

    /// Stores element `i`; an `exact` value is one that needs no rounding.
    ///
    /// # Safety
    ///
    /// Element `i` from `to` is in bounds, and nobody else reads or writes it; a wide one is aligned.
    unsafe fn store<const WIDE: bool>(self, to: *mut u8, i: usize, exact: bool);

    /// Whether two neighbours are loaded and stored as one word.
    const PAIRED: bool;

    /// Loads elements `2 * i` and `2 * i + 1`.
    ///
    /// # Safety
    ///
    /// Both are in bounds from `from` and initialised.
    unsafe fn load_pair(from: *const u8, i: usize) -> [Self; 2];

    /// Stores elements `2 * i` and `2 * i + 1`.
    ///
    /// # Safety
    ///
    /// Both are in bounds from `to`, and nobody else reads or writes them.
    unsafe fn store_pair(pair: [Self; 2], to: *mut u8, i: usize, exact: bool);

    /// Widens `n` stored elements.
    ///
    /// # Safety
    ///
    /// R1 and R2 of `cast.rs`, and the host has the value's level.
    unsafe fn widen_run(from: *const u8, to: *mut u8, n: usize);

    /// Narrows `n` wide elements.
    ///
    /// # Safety
    ///
    /// R1 and R2 of `cast.rs`, and the host has the value's level.
    unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize);
}

impl<C: CpuElement, I: Isa> LoadStore for Lane<C, I>
where
    Lane<C, I>: Value,
{
    const SIZE: usize = size_of::<C::Stored>();
    const WIDE_SIZE: usize = size_of::<C::Repr>();

    #[inline(always)]
    unsafe fn load<const WIDE: bool>(from: *const u8, i: usize) -> Self {
        Lane::new(if WIDE {
            // SAFETY: the caller promises that wide element `i`, a `C::Repr`, is in bounds, aligned and initialised.
            unsafe { from.cast::<C::Repr>().wrapping_add(i).read() }
        } else {
            // SAFETY: the caller promises that element `i` is in bounds and initialised.
            unsafe { element::load::<C>(from, i) }
        })
    }

    #[inline(always)]
    unsafe fn store<const WIDE: bool>(self, to: *mut u8, i: usize, exact: bool) {
        if WIDE {
            // SAFETY: the caller promises that wide element `i`, a `C::Repr`, is in bounds, aligned and nobody else's.
            unsafe { to.cast::<C::Repr>().wrapping_add(i).write(self.get()) };
        } else {
            // SAFETY: the caller promises that element `i` is in bounds and nobody else's.
            unsafe { element::store_narrow::<C>(to, i, self.get(), exact) };
        }
    }

    const PAIRED: bool = C::PAIRED;

    #[inline(always)]
    unsafe fn load_pair(from: *const u8, i: usize) -> [Self; 2] {
        // SAFETY: the caller promises that elements `2 * i` and `2 * i + 1` are in bounds and initialised.
        let [a, b] = unsafe { C::load_pair(from, i) };
        [Lane::new(a), Lane::new(b)]
    }

    #[inline(always)]
    unsafe fn store_pair([a, b]: [Self; 2], to: *mut u8, i: usize, exact: bool) {
        // SAFETY: the caller promises that elements `2 * i` and `2 * i + 1` are in bounds and nobody else's.
        unsafe { C::store_pair(to, i, [a.get(), b.get()], exact) };
    }

    #[inline(always)]
    unsafe fn widen_run(from: *const u8, to: *mut u8, n: usize) {
        // SAFETY: the caller promises R1, R2 and that the host has level `I`; a wide element is a `C::Repr`.
        unsafe { C::widen_run::<I>(from, to.cast(), n) };
    }

    #[inline(always)]
    unsafe fn narrow_run(from: *const u8, to: *mut u8, n: usize) {
        // SAFETY: the caller promises R1, R2 and that the host has level `I`; a wide element is a `C::Repr`.
        unsafe { C::narrow_run::<I>(from.cast(), to, n) };
    }
}
