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
    /// A storage, and the first kernel that may be of these contents; in the order of the kernels.
    begun: Vec<(usize, usize)>,
}

/// The kernels between which a storage has the same contents; without an end if it has them when all have run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Contents {
    first: usize,
    end: Option<usize>,
}

impl Lifetimes {
    /// The storage is given out before this kernel.
    pub(super) fn begin(&mut self, storage: usize, kernel: usize) {
        self.begun.push((storage, kernel));
    }

    /// A kernel touches these storages, and those that were given out for it.
    pub(super) fn touch(&mut self, storages: impl IntoIterator<Item = usize>) {
        let kernel = self.touched.len();
        let new = self.begun.iter().rev().take_while(|(_, first)| *first == kernel).map(|(storage, _)| *storage);
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
        let begun = || self.begun.iter().filter(|(of, _)| *of == storage).map(|(_, first)| *first);
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
}
