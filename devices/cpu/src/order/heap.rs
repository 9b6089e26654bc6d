//! The few elements of a long row that come first in order, by a heap of those that do so far.

use super::key::{Item, Keys, Word};
use super::select;
use crate::isa::{Isa, Kernel};

/// Elements that are compared with the threshold of the heap at once: hardly any block has one that enters.
const BLOCK: usize = 64;

/// A part of a block: where one does, it is in few of them.
const PART: usize = 16;

/// Replaces items of a heap by those of elements that come before them. An element that equals the top does not enter,
/// as in a partial sort.
pub(super) struct EnterHeap<'a, U, I> {
    pub(super) keys: Keys<U>,
    /// The heap, which has an item; the last one in order is on top.
    pub(super) heap: &'a mut [I],
    /// The elements, and the index of the first one.
    pub(super) elements: &'a [U],
    pub(super) start: usize,
}

impl<U: Word, I: Item, A: Isa> Kernel<A> for EnterHeap<'_, U, I> {
    type Home = U;
    type Output = ();

    #[inline(always)]
    fn run(mut self, _: A) {
        let (blocks, rest) = self.elements.as_chunks::<BLOCK>();
        let mut threshold = U::of(self.heap[0].key());
        let mut start = self.start;
        for block in blocks {
            if self.keys.any_below(block, threshold) {
                for (i, part) in block.as_chunks::<PART>().0.iter().enumerate() {
                    if self.keys.any_below(part, threshold) {
                        threshold = self.enter(part, start + i * PART);
                    }
                }
            }
            start += BLOCK;
        }
        self.enter(rest, start);
    }
}

impl<U: Word, I: Item> EnterHeap<'_, U, I> {
    /// Lets elements in one by one, of which the first one has this index. The key of the top then.
    fn enter(&mut self, elements: &[U], start: usize) -> U {
        let mut threshold = U::of(self.heap[0].key());
        for (i, &x) in elements.iter().enumerate() {
            let key = self.keys.key(x);
            if key < threshold {
                select::replace_top(self.heap, I::new(key.wide(), start + i), &super::row::less);
                threshold = U::of(self.heap[0].key());
            }
        }
        threshold
    }
}
