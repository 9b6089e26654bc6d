//! Elements gathered by a table of where they are: how small dimensions of any order are copied to dense memory, where
//! rows are so short that beginning one would take longer than copying it. The table is made once and used for every
//! place of the dimensions around; an element costs two loads and a store. Knows no dtype.

use smallvec::{SmallVec, smallvec};

/// Where the source begins, and the target.
#[derive(Clone, Copy)]
pub(crate) struct Sides {
    pub(crate) to: *mut u8,
    pub(crate) from: *const u8,
}

// SAFETY: addresses that are followed only by who takes a part of the target for itself.
unsafe impl Send for Sides {}
// SAFETY: a shared reference gives no more than a copy does, which may be sent.
unsafe impl Sync for Sides {}

impl Sides {
    /// So many bytes further.
    #[inline(always)]
    pub(crate) fn at(self, to: isize, from: isize) -> Sides {
        Sides { to: self.to.wrapping_offset(to), from: self.from.wrapping_offset(from) }
    }
}

/// Where elements lie in the source, in bytes from its start, in the order in which they are written.
pub(crate) struct Offsets(SmallVec<[i32; 64]>);

impl Offsets {
    /// The most that a table has: more would not stay in the first-level cache beside what they name.
    pub(crate) const MOST: usize = 1024;

    /// That of one element, the first.
    pub(crate) fn new() -> Offsets {
        Offsets(smallvec![0])
    }

    /// Adds a dimension around those that are there, each place of which begins so many bytes from the start.
    pub(crate) fn repeat(&mut self, places: impl Iterator<Item = isize>) {
        let inner = std::mem::take(&mut self.0);
        for place in places {
            // The caller has seen that all fit.
            self.0.extend(inner.iter().map(|offset| offset.wrapping_add(place as i32)));
        }
    }

    /// Copies the elements.
    ///
    /// # Safety
    ///
    /// Each offset from the source on leads to an element of the size of `T`, in bounds and initialised; as many dense
    /// ones are in bounds from the target on, and nobody else uses them. The sides are apart, or each element is its
    /// own source.
    #[inline(always)]
    pub(crate) unsafe fn gather<T: Copy>(&self, Sides { to, from }: Sides) {
        for (i, &offset) in self.0.iter().enumerate() {
            // SAFETY: the offset leads to an element, by the caller's promise.
            let value = unsafe { from.wrapping_offset(offset as isize).cast::<T>().read_unaligned() };
            // SAFETY: there are as many elements as offsets, by the caller's promise.
            unsafe { to.cast::<T>().wrapping_add(i).write_unaligned(value) };
        }
    }
}
