//! When the storages that a recording made have which contents, and which kernels touch them. Owns the bookkeeping; who
//! gives storages out is `recorder.rs`.

use super::recording::Made;
use smallvec::SmallVec;
use std::ops::Range;

/// Which kernels touch the storages that a recording made, and when the contents of each begin: they were given out
/// again because nobody had a tensor of them any more.
#[derive(Default)]
pub(super) struct Lifetimes {
    /// The storages that each kernel touches, by their position among those made.
    touched: Vec<SmallVec<[usize; 4]>>,
    /// In the order of the kernels.
    begun: Vec<Begun>,
}

/// A storage was given out.
struct Begun {
    storage: usize,
    /// The first kernel that may be of these contents.
    kernel: usize,
    /// How many bytes of it were asked for.
    bytes: usize,
}

/// What lies in memory that a recording made, and between which kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it begins, in bytes, if the storages lay one behind the other.
    pub offset: usize,
    /// Its bytes.
    pub bytes: usize,
    /// The first kernel that touches it, to the last one.
    pub kernels: Range<usize>,
}

/// The kernels between which a storage has the same contents; without an end if it has them when all have run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Contents {
    first: usize,
    end: Option<usize>,
}

impl Lifetimes {
    /// The storage is given out before this kernel, for so many bytes.
    pub(super) fn begin(&mut self, storage: usize, kernel: usize, bytes: usize) {
        self.begun.push(Begun { storage, kernel, bytes });
    }

    /// A kernel touches these storages, and those that were given out for it.
    pub(super) fn touch(&mut self, storages: impl IntoIterator<Item = usize>) {
        let kernel = self.touched.len();
        let new = self.begun.iter().rev().take_while(|begun| begun.kernel == kernel).map(|begun| begun.storage);
        let touched = new.chain(storages).collect();
        self.touched.push(touched);
    }

    /// What there is, to come back to.
    pub(super) fn mark(&self) -> [usize; 2] {
        [self.touched.len(), self.begun.len()]
    }

    /// Forgets what came later.
    pub(super) fn truncate(&mut self, [touched, begun]: [usize; 2]) {
        self.touched.truncate(touched);
        self.begun.truncate(begun);
    }

    /// The storages that a kernel touches.
    pub(super) fn touched(&self, kernel: usize) -> &[usize] {
        self.touched.get(kernel).map_or(&[], |touched| touched)
    }

    /// The contents that a storage has at a kernel.
    pub(super) fn contents(&self, storage: usize, kernel: usize) -> Option<Contents> {
        let begun = || self.begun.iter().filter(|begun| begun.storage == storage).map(|begun| begun.kernel);
        let first = begun().filter(|first| *first <= kernel).max()?;
        Some(Contents { first, end: begun().filter(|next| *next > kernel).min() })
    }

    /// Whether contents of a storage begin with one of these kernels, are touched by no other, and nobody has a tensor
    /// of them.
    pub(super) fn are_within(&self, kernels: &Range<usize>, storage: usize, contents: Contents, made: &Made) -> bool {
        let end = match contents.end {
            Some(end) => end,
            None if made.handle.header().borrow().is_unique() => self.touched.len(),
            None => return false,
        };
        contents.first >= kernels.start && (kernels.end..end).all(|k| !self.touched(k).contains(&storage))
    }

    /// The bytes that a storage was given out for, the last time.
    pub(super) fn bytes(&self, storage: usize) -> Option<usize> {
        self.begun.iter().rev().find(|begun| begun.storage == storage).map(|begun| begun.bytes)
    }

    /// For each storage that was asked for, what lies where while the kernels run; none if no kernel touches it.
    pub(super) fn asked(&self, made: &[Made]) -> Vec<Option<Block>> {
        let mut offset = 0;
        let mut offsets = Vec::with_capacity(made.len());
        for made in made {
            offsets.push(made.place.as_ref().map_or(offset, |place| place.start));
            offset += if made.place.is_none() { made.bytes.next_multiple_of(64) } else { 0 };
        }
        let block = |(i, begun): (usize, &Begun)| {
            let again = |later: &Begun| (later.storage, later.kernel) == (begun.storage, begun.kernel);
            let (made, contents) = (made.get(begun.storage)?, self.contents(begun.storage, begun.kernel)?);
            if self.begun[i + 1..].iter().any(again) {
                return None;
            }
            let end = contents.end.unwrap_or(self.touched.len());
            let touches = |k: &usize| self.touched(*k).contains(&begun.storage);
            let is_held = contents.end.is_none() && !made.handle.header().borrow().is_unique();
            let first = (begun.kernel..end).find(touches)?;
            let last = if is_held { end } else { (first..end).rev().find(touches)? + 1 };
            Some(Block { offset: offsets[begun.storage], bytes: begun.bytes, kernels: first..last })
        };
        self.begun.iter().enumerate().map(block).collect()
    }
}
