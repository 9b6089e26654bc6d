//! Accumulators next to each other. Owns where the parts of each lie; refuses to know what they mean.
//!
//! Whoever uses lanes keeps B2 of `body.rs`.

use monomorph_ops::reduce::Accumulator;
use std::mem::MaybeUninit;

/// Where accumulators lie: the run of their first parts and that of their second parts.
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
    pub(super) unsafe fn of<'a, A: Accumulator>(
        self,
        n: usize,
    ) -> (&'a mut [MaybeUninit<A::First>], &'a mut [MaybeUninit<A::Second>]) {
        // SAFETY: B2: in bounds, aligned, used by nobody else.
        let first = unsafe { std::slice::from_raw_parts_mut(self.first.cast(), n) };
        // SAFETY: as above; the parts lie apart.
        let second = unsafe { std::slice::from_raw_parts_mut(self.second.cast(), n) };
        (first, second)
    }

    /// The lanes from lane `j` on.
    #[inline(always)]
    pub(super) fn from<A: Accumulator>(self, j: usize) -> Lanes {
        Lanes {
            first: self.first.cast::<A::First>().wrapping_add(j).cast(),
            second: self.second.cast::<A::Second>().wrapping_add(j).cast(),
        }
    }

    /// # Safety
    ///
    /// B2 for lane `j`.
    #[inline(always)]
    pub(super) unsafe fn get<A: Accumulator>(self, j: usize) -> A {
        let first = self.first.cast::<A::First>().wrapping_add(j);
        let second = self.second.cast::<A::Second>().wrapping_add(j);
        // SAFETY: B2.
        let first = unsafe { first.read() };
        // SAFETY: B2.
        let second = unsafe { second.read() };
        A::join(first, second)
    }

    /// # Safety
    ///
    /// B2 for lane `j`, which need not hold anything.
    #[inline(always)]
    pub(super) unsafe fn set<A: Accumulator>(self, j: usize, acc: A) {
        let (first, second) = acc.split();
        let at = self.first.cast::<A::First>().wrapping_add(j);
        // SAFETY: B2.
        unsafe { at.write(first) };
        let at = self.second.cast::<A::Second>().wrapping_add(j);
        // SAFETY: B2.
        unsafe { at.write(second) };
    }
}
