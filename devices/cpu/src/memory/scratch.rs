//! Memory that a call works in: elements of its own, from the same blocks as those of tensors. What one call leaves is
//! there for the next; fresh pages, which the system clears one by one, take longer than many a pass over them.

use super::{allocate, free, shared};
use crate::dense::Plain;
use crate::device::Cpu;
use monomorph_core::{Contents, Device, DeviceId, ErrorKind, Result};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Elements of no particular values.
///
/// Invariant: `block` is one of [`allocate`], for `len` elements, which are initialised, and is nobody else's.
pub(crate) struct Scratch<T: Plain> {
    block: NonNull<T>,
    len: usize,
}

// SAFETY: the block is this value's alone, and memory may be used and freed from any thread.
unsafe impl<T: Plain> Send for Scratch<T> {}
// SAFETY: a shared scratch only gives shared elements, which are `Sync`.
unsafe impl<T: Plain> Sync for Scratch<T> {}

impl<T: Plain> Scratch<T> {
    /// # Errors
    /// [`ErrorKind::Allocation`] if there is no memory for so many elements.
    pub(crate) fn new(len: usize) -> Result<Scratch<T>> {
        const { assert!(align_of::<T>() <= 16, "blocks are aligned to 16 at least") };
        let refused = || ErrorKind::Allocation {
            bytes: len.saturating_mul(size_of::<T>()),
            device: DeviceId { kind: Cpu::KIND, index: 0 },
        };
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(refused)?;
        // The bytes of large blocks have been zero or written (`cache.rs`); small ones are the global allocator's.
        let contents = if bytes < shared::UNIT { Contents::Zeroed } else { Contents::Unspecified };
        let block = allocate(0, bytes, contents).ok_or_else(refused)?.cast();
        Ok(Scratch { block, len })
    }
}

impl<T: Plain> Drop for Scratch<T> {
    fn drop(&mut self) {
        // SAFETY: the block is one of `allocate` for this byte count (the invariant), and is not used again.
        unsafe { free(0, self.block.cast(), self.len * size_of::<T>()) };
    }
}

impl<T: Plain> Deref for Scratch<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: the block has `len` initialised elements (the invariant), aligned to 16, and any bits are a `T`.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the block is nobody else's.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_written_and_read_at_every_size() {
        for len in [0, 1, 100, 10_000, 100_000, 1 << 20] {
            for _ in 0..2 {
                let mut all = Scratch::<u64>::new(len).unwrap();
                let mut other = Scratch::<u64>::new(len).unwrap();
                assert_eq!((all.len(), all.as_ptr().addr() % 16), (len, 0));
                all.iter_mut().zip(0..).for_each(|(to, i)| *to = i);
                other.fill(u64::MAX);
                assert!(all.iter().zip(0..).all(|(&x, i)| x == i));
            }
        }
        assert!(Scratch::<u64>::new(usize::MAX / 4).is_err());
        assert!(Scratch::<u64>::new(isize::MAX as usize / 8).is_err());
    }
}
