//! The borrows of a call: one of each storage, whatever the number of tensors over it. Owns the list; what a borrow is,
//! and when it ends, is the storage's (`storage/borrow.rs`, `storage/held.rs`).

use crate::error::Result;
use crate::storage::{Header, Held, borrow};

/// Borrows of different storages, those for writing first.
#[derive(Default)]
pub(super) struct Borrows<'t> {
    /// The first of them, without gaps. An array of options, since few are asked for and none is asked for by its
    /// place.
    few: [Option<Held<'t>>; 4],
    #[allow(clippy::box_collection, reason = "most calls have no more, and ask that by one word")]
    more: Option<Box<Vec<Held<'t>>>>,
    /// Some of them are borrows only when they are confirmed.
    announced: bool,
}

impl<'t> Borrows<'t> {
    /// Adds what `borrow` gives, unless the storage is there; 1 if it was added.
    #[inline]
    pub(super) fn add(&mut self, header: &Header, borrow: impl FnOnce() -> Result<Held<'t>>) -> Result<usize> {
        for place in &mut self.few {
            match place {
                None => {
                    let held = place.insert(borrow()?);
                    self.announced |= held.is_announced();
                    return Ok(1);
                }
                Some(held) if std::ptr::eq(held.header(), header) => return Ok(0),
                Some(_) => {}
            }
        }
        self.add_more(header, borrow)
    }

    #[cold]
    fn add_more(&mut self, header: &Header, borrow: impl FnOnce() -> Result<Held<'t>>) -> Result<usize> {
        let more = self.more.get_or_insert_default();
        if more.iter().any(|held| std::ptr::eq(held.header(), header)) {
            return Ok(0);
        }
        let held = borrow()?;
        self.announced |= held.is_announced();
        more.push(held);
        Ok(1)
    }

    /// Makes borrows of what was announced.
    #[inline]
    pub(super) fn confirm(&self) -> Result<()> {
        if !self.announced {
            return Ok(());
        }
        borrow::fence();
        for held in self.few.iter().flatten() {
            held.confirm()?;
        }
        match &self.more {
            None => Ok(()),
            Some(more) => more.iter().try_for_each(Held::confirm),
        }
    }

    /// The storages.
    pub(super) fn headers(&self) -> impl Iterator<Item = &Header> {
        self.few.iter().flatten().chain(self.more.iter().flat_map(|more| more.iter())).map(Held::header)
    }

    /// Counts a write of each of the first `written`.
    #[inline]
    pub(super) fn count_writes(&self, written: usize) {
        for held in self.few.iter().take(written).flatten() {
            held.header().bump_version();
        }
        if written > self.few.len() {
            for held in self.more.iter().flat_map(|more| more.iter()).take(written - self.few.len()) {
                held.header().bump_version();
            }
        }
    }

    /// The borrow of the storage with this header.
    pub(super) fn of(&mut self, header: &Header) -> Option<&mut Held<'t>> {
        let more = self.more.iter_mut().flat_map(|more| more.iter_mut());
        self.few.iter_mut().flatten().chain(more).find(|held| std::ptr::eq(held.header(), header))
    }
}
