//! Memory that kernels work in while they run. A thread keeps a few blocks that it was done with, so that a kernel that
//! runs again allocates none.

use bytemuck::Pod;
use monomorph_core::{Result, list};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Sixteen bytes, to which every number is aligned.
type Unit = u128;

/// The most blocks that a thread keeps, and the most units of one.
const KEPT: usize = 4;
const LARGEST: usize = (1 << 20) / size_of::<Unit>();

thread_local! {
    static SPARE: RefCell<Vec<Vec<Unit>>> = const { RefCell::new(Vec::new()) };
}

/// Elements that begin as zeros.
pub(crate) struct Scratch<T> {
    /// As many as `elements` need.
    units: Vec<Unit>,
    elements: usize,
    of: PhantomData<T>,
}

/// Zeros for a kernel to work in. An error where there is no memory.
pub(crate) fn scratch<T: Pod>(elements: usize) -> Result<Scratch<T>> {
    const { assert!(align_of::<T>() <= align_of::<Unit>()) };
    let size = elements.saturating_mul(size_of::<T>()).div_ceil(size_of::<Unit>());
    let kept = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let fitting = spare.iter().enumerate().filter(|(_, block)| block.capacity() >= size);
        let best = fitting.min_by_key(|(_, block)| block.capacity()).map(|(i, _)| i);
        best.map(|i| spare.swap_remove(i))
    });
    let mut units = match kept {
        Ok(Some(block)) => block,
        _ => list::with_capacity(size)?,
    };
    units.clear();
    units.resize(size, 0);
    Ok(Scratch { units, elements, of: PhantomData })
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        let block = std::mem::take(&mut self.units);
        if block.capacity() == 0 || block.capacity() > LARGEST {
            return;
        }
        // A thread that is about to end keeps nothing.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            match spare.len() < KEPT {
                true => spare.push(block),
                // The smallest goes: a larger one serves more kernels.
                false => {
                    let smallest = spare.iter_mut().min_by_key(|kept| kept.capacity());
                    if let Some(smallest) = smallest.filter(|kept| kept.capacity() < block.capacity()) {
                        *smallest = block;
                    }
                }
            }
        });
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the units have as many bytes and are aligned to `T`; zero bytes are a value, and what was written
        // since, was written as values.
        unsafe { std::slice::from_raw_parts(self.units.as_ptr().cast(), self.elements) }
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the units have as many bytes, are aligned to `T` and hold values, as for `deref`; nobody else has
        // them, and `self` is borrowed meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.units.as_mut_ptr().cast(), self.elements) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_done_with_is_given_out_again_as_zeros() {
        let mut first = scratch::<f32>(1000).expect("memory");
        first.fill(1.5);
        let place = first.as_ptr();
        drop(first);
        let second = scratch::<i64>(400).expect("memory");
        assert_eq!((second.as_ptr().cast(), &*second), (place, &[0; 400][..]));
        // It is in use, so that another one lies elsewhere.
        let third = scratch::<f32>(1000).expect("memory");
        assert_ne!(third.as_ptr(), place);
        assert!(scratch::<f64>(0).expect("memory").is_empty());
        assert!(scratch::<f64>(usize::MAX).is_err());
    }
}
