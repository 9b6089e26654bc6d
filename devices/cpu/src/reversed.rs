//! Runs of elements copied backwards, in the frame of a level: single bytes and halves are turned by one instruction a
//! register there, which the baseline of x86-64 has none for. Knows no dtype, only the size of an element.

use crate::isa::{Isa, Kernel, Level};
use std::marker::PhantomData;

/// Copies `n` elements of `size` bytes, of which each lies before the one before it, to dense memory.
///
/// # Safety
///
/// R1, R2 of `cast.rs` for the run from the element at `from` downwards, and elements of the size of a dtype.
pub(crate) unsafe fn reverse(level: Level, from: *const u8, to: *mut u8, size: usize, n: usize) {
    match size {
        1 => level.enter(Reverse::<u8>(from, to, n, PhantomData)),
        2 => level.enter(Reverse::<u16>(from, to, n, PhantomData)),
        4 => level.enter(Reverse::<u32>(from, to, n, PhantomData)),
        8 => level.enter(Reverse::<u64>(from, to, n, PhantomData)),
        _ => level.enter(Reverse::<[u64; 2]>(from, to, n, PhantomData)),
    }
}

/// One run; R1 and R2 hold for it, and elements have the size of `T`.
struct Reverse<T>(*const u8, *mut u8, usize, PhantomData<T>);

impl<T: Copy, I: Isa> Kernel<I> for Reverse<T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Reverse(from, to, n, _) = self;
        for i in 0..n {
            // SAFETY: element `i < n` of the source, which lies so many elements before the first (R1).
            let value = unsafe { from.cast::<T>().wrapping_sub(i).read_unaligned() };
            // SAFETY: element `i < n` of the dense target (R1), which is no part of the source (R2).
            unsafe { to.cast::<T>().wrapping_add(i).write_unaligned(value) };
        }
    }
}
