//! Sorts keys with indices, each pair packed into one word: a radix sort of the digits that matter, and the comparison
//! sort of the standard library for short rows and for what a few digits leave equal.
//!
//! ```text
//! key    shared bits │ varying bits ────────────│ lost      64 bits, or fewer
//! word                 varying bits │ index                64 bits
//! ```
//!
//! 1. Bits that all keys share do not matter. Of the others as many go into a word as an index leaves room for, and are
//!    cut into digits of a byte, from the top.
//! 2. Up to [`ALL_DIGITS`] digits are sorted by, from the lowest to the highest, each pass stable.
//! 3. Of keys with more digits only the highest ones are sorted by, about as many as tell this number of random keys
//!    apart. Runs of keys that these leave equal are sorted by comparison: none or short ones for random keys, and at
//!    worst one sort of the whole row.

use super::key::{Keys, Word};
use monomorph_core::{Result, list};
use std::ops::Range;

/// Rows shorter than this are sorted by comparison: counting 256 digits costs more.
const SHORT: usize = 256;

/// Keys of up to so many digits are sorted by all of them.
const ALL_DIGITS: u32 = 4;

const DIGITS: usize = 256;

/// The sorted keys of a row, with their indices.
pub(crate) struct Packed {
    items: Vec<u64>,
    spare: Vec<u64>,
    /// Bits of an index.
    bits: u32,
    /// Varying bits of keys that are in no item.
    lost: u32,
    /// Bits that all keys share.
    shared: u64,
}

impl Packed {
    /// Memory for rows of up to `n` elements.
    pub(crate) fn new(n: usize) -> Result<Packed> {
        Ok(Packed { items: list::with_capacity(n)?, spare: Vec::new(), bits: 0, lost: 0, shared: 0 })
    }

    /// Sorts a row by its keys, equal ones by their indices.
    pub(crate) fn sort<U: Word>(&mut self, keys: &Keys<U>, row: &[U]) -> Result<()> {
        self.items.clear();
        let Some(&first) = row.first() else { return Ok(()) };
        let first = keys.key(first).wide();
        let mut differing = 0;
        keys.each(row, |key| differing |= key.wide() ^ first);
        let varying = u64::BITS - differing.leading_zeros();
        let mask = u64::MAX.checked_shr(u64::BITS - varying).unwrap_or(0);
        let bits = usize::BITS - (row.len() - 1).leading_zeros();
        let lost = (varying + bits).saturating_sub(u64::BITS);
        (self.bits, self.lost, self.shared) = (bits, lost, first & !mask);
        keys.extend(row, &mut self.items, |key, i| (key.wide() & mask) >> lost << bits | i as u64);
        let lowest = match row.len() {
            ..SHORT => {
                self.items.sort_unstable();
                bits
            }
            _ => self.radix(bits..bits + varying - lost)?,
        };
        if lowest > bits || lost > 0 {
            let mut items = std::mem::take(&mut self.items);
            for run in items.chunk_by_mut(|a, b| a >> lowest == b >> lowest).filter(|run| run.len() > 1) {
                run.sort_unstable_by_key(|&item| {
                    let index = self.index(item);
                    (keys.key(row[index]), index)
                });
            }
            self.items = items;
        }
        Ok(())
    }

    /// Sorts the items by digits of these bits. Gives the bit from which on all are sorted: items that differ only
    /// below it are in the order in which they were.
    fn radix(&mut self, bits: Range<u32>) -> Result<u32> {
        let (items, spare) = (&mut self.items, &mut self.spare);
        let all = (bits.end - bits.start).div_ceil(8);
        let passes = if all <= ALL_DIGITS { all } else { enough(items.len()).min(all) };
        let lowest = bits.end.saturating_sub(8 * passes).max(bits.start);
        let digit = |item: u64, pass: u32| (item >> (lowest + 8 * pass)) as u8 as usize;
        if spare.len() < items.len() {
            *spare = list::with_capacity(items.len())?;
            spare.resize(items.len(), 0);
        }
        spare.truncate(items.len());
        let mut counts = [[0_usize; DIGITS]; 8];
        for item in &*items {
            for (pass, counts) in (0..passes).zip(&mut counts) {
                counts[digit(*item, pass)] += 1;
            }
        }
        for (pass, counts) in (0..passes).zip(&mut counts) {
            if counts.contains(&items.len()) {
                continue;
            }
            let mut next = 0;
            for count in &mut *counts {
                next += std::mem::replace(count, next);
            }
            for item in &*items {
                let place = &mut counts[digit(*item, pass)];
                spare[*place] = *item;
                *place += 1;
            }
            std::mem::swap(items, spare);
        }
        Ok(lowest)
    }

    fn index(&self, item: u64) -> usize {
        (item & !(u64::MAX << self.bits)) as usize
    }

    /// The indices in the order of their keys.
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> {
        self.items.iter().map(|&item| self.index(item))
    }

    /// The keys in order, if no bit of them was lost.
    pub(crate) fn keys<U: Word>(&self) -> Option<impl Iterator<Item = U>> {
        let key = |&item: &u64| U::of(self.shared | item >> self.bits);
        (self.lost == 0).then(|| self.items.iter().map(key))
    }
}

/// Digits that tell about this many random keys apart.
fn enough(n: usize) -> u32 {
    (n.ilog2() + 2).div_ceil(8)
}
