//! Memory that kernels work in while they run. A thread keeps a few blocks that it was done with, so that a kernel that
//! runs again allocates none. They and larger ones come from where the memory of tensors does (`memory`), which keeps
//! freed blocks, too: fresh pages, which the system clears one by one, take longer than many a pass over them.

use crate::device::Cpu;
use crate::memory::{Block, block, release};
use bytemuck::Pod;
use monomorph_core::{Contents, Device, DeviceId, ErrorKind, Result};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The most blocks that a thread keeps, and the most bytes of one.
const KEPT: usize = 4;
const LARGEST: usize = 1 << 20;

thread_local! {
    static SPARE: RefCell<Spare> = const { RefCell::new(Spare(Vec::new())) };
}

/// Blocks that a thread is done with.
struct Spare(Vec<Block>);

impl Drop for Spare {
    fn drop(&mut self) {
        for block in self.0.drain(..) {
            // SAFETY: the block is in no list any more, and nobody else has it.
            unsafe { release(block) };
        }
    }
}

impl Spare {
    /// The smallest block of so many bytes or more.
    fn take(&mut self, bytes: usize) -> Option<Block> {
        let fitting = self.0.iter().enumerate().filter(|(_, block)| block.bytes() >= bytes);
        let best = fitting.min_by_key(|(_, block)| block.bytes()).map(|(i, _)| i);
        best.map(|i| self.0.swap_remove(i))
    }

    /// Keeps a block; gives what is too much: the smallest, since a larger one serves more kernels.
    fn give(&mut self, block: Block) -> Option<Block> {
        if self.0.len() < KEPT {
            self.0.push(block);
            return None;
        }
        let smallest = self.0.iter_mut().min_by_key(|kept| kept.bytes());
        match smallest.filter(|kept| kept.bytes() < block.bytes()) {
            Some(smallest) => Some(std::mem::replace(smallest, block)),
            None => Some(block),
        }
    }
}

/// Elements to work in.
///
/// Invariant: the block has room for the elements, which are initialised, and nobody else has it.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    block: Block,
    elements: usize,
    of: PhantomData<T>,
}

// SAFETY: a scratch has its block for itself, and memory may be used and freed from any thread.
unsafe impl<T: Send> Send for Scratch<T> {}
// SAFETY: a shared scratch gives shared elements.
unsafe impl<T: Sync> Sync for Scratch<T> {}

/// Zeros for a kernel to work in. An error where there is no memory.
pub(crate) fn scratch<T: Pod>(elements: usize) -> Result<Scratch<T>> {
    allocate(elements, Contents::Zeroed)
}

/// Elements of no particular values. An error where there is no memory.
pub(crate) fn unwritten<T: Pod>(elements: usize) -> Result<Scratch<T>> {
    allocate(elements, Contents::Unspecified)
}

fn allocate<T: Pod>(elements: usize, contents: Contents) -> Result<Scratch<T>> {
    const { assert!(align_of::<T>() <= 16, "blocks are aligned to 16 at least") };
    let bytes = elements.saturating_mul(size_of::<T>());
    let kept =
        if bytes > LARGEST { None } else { SPARE.try_with(|spare| spare.borrow_mut().take(bytes)).ok().flatten() };
    let block = match kept {
        Some(block) => {
            if contents == Contents::Zeroed {
                // SAFETY: the block has so many bytes at least, and is nobody else's now.
                unsafe { block.start.write_bytes(0, bytes) };
            }
            block
        }
        None => {
            let device = DeviceId { kind: Cpu::KIND, index: 0 };
            block(bytes, contents).ok_or(ErrorKind::Allocation { bytes, device })?
        }
    };
    Ok(Scratch { block, elements, of: PhantomData })
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        let block = self.block;
        let give = |block| SPARE.try_with(|spare| spare.borrow_mut().give(block));
        // A thread that is about to end keeps nothing.
        let surplus = if block.bytes() > LARGEST { Some(block) } else { give(block).unwrap_or(Some(block)) };
        if let Some(block) = surplus {
            // SAFETY: the block is this value's, or one that was in the list, and is not used again.
            unsafe { release(block) };
        }
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the block has room for the elements, aligned to 16, which are initialised (the invariant); any bits
        // are a `T`.
        unsafe { std::slice::from_raw_parts(self.block.start.as_ptr().cast(), self.elements) }
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`; nobody else has the block, and `self` is borrowed meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.block.start.as_ptr().cast(), self.elements) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_not_seen_by_who_asks_for_zeros() {
        for elements in [0, 1, 100, 1000, 10_000, 100_000, 1 << 20] {
            for _ in 0..2 {
                let mut first = unwritten::<u64>(elements).expect("memory");
                let mut other = scratch::<f32>(elements).expect("memory");
                assert_eq!((first.len(), first.as_ptr().addr() % 16), (elements, 0));
                assert!(other.iter().all(|&x| x.to_bits() == 0), "{elements}");
                first.iter_mut().zip(0..).for_each(|(to, i)| *to = i);
                other.fill(1.5);
                assert!(first.iter().zip(0..).all(|(&x, i)| x == i), "{elements}");
            }
        }
        assert!(scratch::<f64>(usize::MAX).is_err());
        assert!(unwritten::<u128>(isize::MAX as usize / 16).is_err());
    }

    #[test]
    fn a_block_that_is_done_with_is_given_out_again() {
        let mut first = scratch::<f32>(1000).expect("memory");
        first.fill(1.5);
        let place = first.as_ptr();
        drop(first);
        let second = scratch::<i64>(400).expect("memory");
        assert_eq!((second.as_ptr().cast(), &*second), (place, &[0; 400][..]));
        // It is in use, so that another one lies elsewhere.
        assert_ne!(scratch::<f32>(1000).expect("memory").as_ptr(), place);
        // Of a size that no other test asks for.
        let place = |elements| unwritten::<u8>(elements).expect("memory").as_ptr().addr();
        assert_eq!(place(37 << 20), place(37 << 20));
    }

    #[test]
    fn of_many_blocks_a_thread_keeps_the_largest() {
        std::thread::spawn(|| {
            let all: Vec<Scratch<u8>> = (1..10).map(|i| scratch(i << 10).expect("memory")).collect();
            drop(all);
            let kept = SPARE.with(|spare| spare.borrow().0.iter().map(Block::bytes).min());
            assert_eq!(kept, Some(6 << 10));
        })
        .join()
        .expect("nothing panics");
    }
}
