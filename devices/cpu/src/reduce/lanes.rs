//! Accumulators in memory, next to each other as a structure of arrays: lane `j` of an accumulator of two parts is
//! element `j` of each of two runs. Two runs vectorise where one of pairs does not. What an element of a run is depends
//! on the fold and the dtype alone, not on the level (`parts.rs`).
//!
//! Invariants of whoever uses lanes, and of every call to the kernels of a fold (`fold_kernels.rs`):
//! * A1: the host has the level that the kernels were chosen for.
//! * A2: every lane that is read holds an accumulator of this fold, of this dtype; runs of lanes are in bounds, lie
//!   apart, and nobody else uses them. Both are aligned to [`PART`](super::parts::PART) bytes, or begin a whole number
//!   of parts behind such a place.
//! * A3: rows that are read have as many initialised elements of the dtype as there are lanes, and lie apart from them.

use super::parts::Parts;
use std::mem::MaybeUninit;

/// The run of first parts and that of second parts. The methods name an accumulator `A` of any level: its parts are the
/// same at every level.
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
    /// A2 for these lanes, which need not hold anything, as long as the result lives.
    #[inline(always)]
    #[allow(clippy::type_complexity, reason = "two slices, named by the accumulator's parts")]
    pub(super) unsafe fn of<'a, A: Parts>(
        self,
        n: usize,
    ) -> (&'a mut [MaybeUninit<A::First>], &'a mut [MaybeUninit<A::Second>]) {
        // SAFETY: the run has `n` first parts in bounds, aligned for them, which nobody else uses as long as the
        // slice lives (A2); a `MaybeUninit` need not be initialised.
        let first = unsafe { std::slice::from_raw_parts_mut(self.first.cast(), n) };
        // SAFETY: the run has `n` second parts in bounds, aligned for them, apart from the first parts, which nobody
        // else uses as long as the slice lives (A2); a `MaybeUninit` need not be initialised.
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

    /// The lanes from lane `j` on, of accumulators of parts of so many bytes.
    pub(super) fn offset(self, parts: [usize; 2], j: usize) -> Lanes {
        Lanes { first: self.first.wrapping_add(j * parts[0]), second: self.second.wrapping_add(j * parts[1]) }
    }

    /// The accumulator in lane `j`.
    ///
    /// # Safety
    ///
    /// A2 for lane `j`, which holds an accumulator.
    #[inline(always)]
    pub(super) unsafe fn get<A: Parts>(self, j: usize) -> A {
        let first = self.first.cast::<A::First>().wrapping_add(j);
        let second = self.second.cast::<A::Second>().wrapping_add(j);
        // SAFETY: the first part of lane `j` is in bounds, aligned, and an initialised `A::First` that nobody writes
        // (A2).
        let first = unsafe { first.read() };
        // SAFETY: the second part of lane `j` is in bounds, aligned, and an initialised `A::Second` that nobody
        // writes (A2).
        let second = unsafe { second.read() };
        A::join(first, second)
    }

    /// Sets lane `j` to an accumulator.
    ///
    /// # Safety
    ///
    /// A2 for lane `j`, which need not hold anything.
    #[inline(always)]
    pub(super) unsafe fn set<A: Parts>(self, j: usize, acc: A) {
        let (first, second) = acc.split();
        let at = self.first.cast::<A::First>().wrapping_add(j);
        // SAFETY: the first part of lane `j` is in bounds, aligned, and nobody else uses it (A2).
        unsafe { at.write(first) };
        let at = self.second.cast::<A::Second>().wrapping_add(j);
        // SAFETY: the second part of lane `j` is in bounds, aligned, and nobody else uses it (A2).
        unsafe { at.write(second) };
    }
}
