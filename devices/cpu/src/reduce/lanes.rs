//! Accumulators next to each other. Owns where the parts of each lie; refuses to know what they mean.
//!
//! Whoever uses lanes keeps B2 of `body.rs`.

use super::parts::Parts;
use std::mem::MaybeUninit;

/// Where accumulators lie: the run of their first parts and that of their second parts. The methods name an
/// accumulator `A`, of which the level does not matter: its parts are the same at any (`parts.rs`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    pub(super) first: *mut u8,
    pub(super) second: *mut u8,
}

impl Lanes {
    /// Lanes `0..n`, their first and their second parts.
    ///
    /// # Safety
    ///
    /// B2 for these lanes, which need not hold anything, as long as the result lives.
    #[inline(always)]
    #[allow(clippy::type_complexity, reason = "two slices, named by the accumulator's parts")]
    pub(super) unsafe fn of<'a, A: Parts>(
        self,
        n: usize,
    ) -> (&'a mut [MaybeUninit<A::First>], &'a mut [MaybeUninit<A::Second>]) {
        // SAFETY: the run has `n` first parts in bounds, aligned for them, which nobody else uses as long as the
        // slice lives (B2); a `MaybeUninit` need not be initialised.
        let first = unsafe { std::slice::from_raw_parts_mut(self.first.cast(), n) };
        // SAFETY: the run has `n` second parts in bounds, aligned for them, apart from the first parts, which nobody
        // else uses as long as the slice lives (B2); a `MaybeUninit` need not be initialised.
        let second = unsafe { std::slice::from_raw_parts_mut(self.second.cast(), n) };
        (first, second)
    }

    /// The lanes from lane `j` on.
    #[inline(always)]
    pub(super) fn from<A: Parts>(self, j: usize) -> Lanes {
        Lanes {
            first: self.first.cast::<A::First>().wrapping_add(j).cast(),
            second: self.second.cast::<A::Second>().wrapping_add(j).cast(),
        }
    }

    /// What lane `j` holds.
    ///
    /// # Safety
    ///
    /// B2 for lane `j`, which holds an accumulator.
    #[inline(always)]
    pub(super) unsafe fn get<A: Parts>(self, j: usize) -> A {
        let first = self.first.cast::<A::First>().wrapping_add(j);
        let second = self.second.cast::<A::Second>().wrapping_add(j);
        // SAFETY: the first part of lane `j` is in bounds, aligned, and an initialised `A::First` that nobody writes
        // (B2).
        let first = unsafe { first.read() };
        // SAFETY: the second part of lane `j` is in bounds, aligned, and an initialised `A::Second` that nobody
        // writes (B2).
        let second = unsafe { second.read() };
        A::join(first, second)
    }

    /// Lets lane `j` hold an accumulator.
    ///
    /// # Safety
    ///
    /// B2 for lane `j`, which need not hold anything.
    #[inline(always)]
    pub(super) unsafe fn set<A: Parts>(self, j: usize, acc: A) {
        let (first, second) = acc.split();
        let at = self.first.cast::<A::First>().wrapping_add(j);
        // SAFETY: the first part of lane `j` is in bounds, aligned, and nobody else uses it (B2).
        unsafe { at.write(first) };
        let at = self.second.cast::<A::Second>().wrapping_add(j);
        // SAFETY: the second part of lane `j` is in bounds, aligned, and nobody else uses it (B2).
        unsafe { at.write(second) };
    }
}
