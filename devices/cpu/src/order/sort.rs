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
//! 2. Up to [`ALL_DIGITS`] digits are sorted by, from the lowest to the highest, each pass stable. If no cache holds
//!    the items, the highest digit comes first: it makes buckets that one does hold (P. M. McIlroy, K. Bostic, M. D.
//!    McIlroy, *Engineering Radix Sort*, Computing Systems 6(1), 1993).
//! 3. Of keys with more digits only the highest ones are sorted by, about as many as tell this number of random keys
//!    apart. Runs of keys that these leave equal are sorted by comparison: none or short ones for random keys, and at
//!    worst one sort of the whole row.

use super::key::{Keys, Word};
use crate::scratch::{Scratch, unwritten};
use monomorph_core::Result;
use monomorph_iter::{GRAIN, is_parallel, pieces, share};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Rows shorter than this are sorted by comparison: counting 256 digits costs more.
const SHORT: usize = 256;

/// Keys of up to so many digits are sorted by all of them.
const ALL_DIGITS: u32 = 4;

const DIGITS: usize = 256;

/// So many items, with room for as many, stay in the second-level cache.
const CACHED: usize = 1 << 14;

/// The sorted keys of a row, with their indices.
pub(crate) struct Packed {
    /// Room for the longest row, and how many are there.
    items: Scratch<u64>,
    len: usize,
    /// The same room, if a row needs it.
    spare: Option<Scratch<u64>>,
    /// Bits of an index.
    bits: u32,
    /// Varying bits of keys that are in no item.
    lost: u32,
    /// The least key, from which the others are counted: those of small numbers on both sides of 0 differ in all bits.
    least: u64,
}

impl Packed {
    /// Memory for rows of up to `n` elements.
    pub(crate) fn new(n: usize) -> Result<Packed> {
        Ok(Packed { items: unwritten(n)?, len: 0, spare: None, bits: 0, lost: 0, least: 0 })
    }

    /// Sorts a row by its keys, equal ones by their indices.
    pub(crate) fn sort<U: Word>(&mut self, keys: &Keys<U>, row: &[U]) -> Result<()> {
        self.len = row.len();
        let Some(&first) = row.first() else { return Ok(()) };
        let first = keys.key(first).wide();
        let (mut least, mut most) = (first, first);
        keys.each(row, |key| (least, most) = (least.min(key.wide()), most.max(key.wide())));
        let varying = u64::BITS - (most - least).leading_zeros();
        let bits = usize::BITS - (row.len() - 1).leading_zeros();
        let lost = (varying + bits).saturating_sub(u64::BITS);
        (self.bits, self.lost, self.least) = (bits, lost, least);
        keys.fill(row, &mut self.items, |key, i| (key.wide() - least) >> lost << bits | i as u64);
        let lowest = match row.len() {
            ..SHORT => {
                self.items[..row.len()].sort_unstable();
                bits
            }
            _ => self.radix(bits..bits + varying - lost)?,
        };
        if lowest > bits || lost > 0 {
            let items = &mut self.items[..row.len()];
            for run in items.chunk_by_mut(|a, b| a >> lowest == b >> lowest).filter(|run| run.len() > 1) {
                run.sort_unstable_by_key(|&item| {
                    let index = index(item, bits);
                    (keys.key(row[index]), index)
                });
            }
        }
        Ok(())
    }

    /// Sorts the items by digits of these bits. Gives the bit from which on all are sorted.
    fn radix(&mut self, bits: Range<u32>) -> Result<u32> {
        let n = self.len;
        let all = (bits.end - bits.start).div_ceil(8);
        let passes = if all <= ALL_DIGITS { all } else { enough(n).min(all) };
        let lowest = bits.end.saturating_sub(8 * passes).max(bits.start);
        let top = bits.end.saturating_sub(8).max(lowest);
        let spare = match &mut self.spare {
            Some(spare) => spare,
            none => none.insert(unwritten(self.items.len())?),
        };
        let (items, room) = (&mut self.items[..n], &mut spare[..n]);
        let ends = if n > CACHED && passes > 1 { by_digit(items, room, top) } else { None };
        match ends {
            Some(ends) => {
                // They are in the spare room now, which has the items from here on.
                std::mem::swap(&mut self.items, spare);
                let (items, spare) = (&mut self.items[..n], &mut spare[..n]);
                Buckets { items, spare, ends, lowest, passes: (top - lowest).div_ceil(8) }.sort();
            }
            None => by_digits(items, room, lowest, passes),
        }
        Ok(lowest)
    }

    /// The indices in the order of their keys.
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> {
        self.items[..self.len].iter().map(|&item| index(item, self.bits))
    }

    /// The keys in order, if no bit of them was lost.
    pub(crate) fn keys<U: Word>(&self) -> Option<impl Iterator<Item = U>> {
        let key = |&item: &u64| U::of(self.least + (item >> self.bits));
        (self.lost == 0).then(|| self.items[..self.len].iter().map(key))
    }
}

/// The index in an item, which has so many bits.
fn index(item: u64, bits: u32) -> usize {
    (item & !(u64::MAX << bits)) as usize
}

/// Items that are in order of their highest digit, one bucket for each, with room for as many.
struct Buckets<'a> {
    items: &'a mut [u64],
    spare: &'a mut [u64],
    /// Where each bucket ends.
    ends: [usize; DIGITS],
    /// The digits to be sorted by: the lowest bit of the first one, and how many there are.
    lowest: u32,
    passes: u32,
}

impl Buckets<'_> {
    /// Sorts each bucket; several threads do so for several at a time.
    fn sort(self) {
        let n = self.items.len();
        let together = if is_parallel(n, GRAIN) { n.div_ceil(pieces()) } else { n };
        let (mut items, mut spare, mut done) = (self.items, self.spare, 0);
        let (mut parts, mut part) = (Vec::new(), Vec::new());
        for end in self.ends {
            let (bucket, rest) = items.split_at_mut(end - done);
            let (room, spare_rest) = spare.split_at_mut(end - done);
            (items, spare, done) = (rest, spare_rest, end);
            part.push((bucket, room));
            if done >= (parts.len() + 1) * together {
                parts.push(Mutex::new(std::mem::take(&mut part)));
            }
        }
        parts.push(Mutex::new(part));
        share(parts.len(), |i| {
            let mut part = parts[i].lock().unwrap_or_else(PoisonError::into_inner);
            for (bucket, room) in &mut *part {
                by_digits(bucket, room, self.lowest, self.passes);
            }
        });
    }
}

/// Sorts items by so many digits from this bit on, the lowest one first. Items that differ only below it may change
/// places if there are few.
fn by_digits(items: &mut [u64], spare: &mut [u64], lowest: u32, passes: u32) {
    if items.len() < SHORT {
        return items.sort_unstable();
    }
    let mut is_in_spare = false;
    for pass in 0..passes {
        let (from, to) = if is_in_spare { (&*spare, &mut *items) } else { (&*items, &mut *spare) };
        is_in_spare ^= by_digit(from, to, lowest + 8 * pass).is_some();
    }
    if is_in_spare {
        items.copy_from_slice(spare);
    }
}

/// Moves items to where they are in order of the digit at this bit, and those that share it in the order that they had.
/// Gives where the items of each digit end; `None` if all share it, and none moves.
fn by_digit(from: &[u64], to: &mut [u64], bit: u32) -> Option<[usize; DIGITS]> {
    let digit = |item: u64| (item >> bit) as u8 as usize;
    let mut places = [0; DIGITS];
    for &item in from {
        places[digit(item)] += 1;
    }
    if places.contains(&from.len()) {
        return None;
    }
    let mut next = 0;
    for place in &mut places {
        next += std::mem::replace(place, next);
    }
    for &item in from {
        let place = &mut places[digit(item)];
        to[*place] = item;
        *place += 1;
    }
    Some(places)
}

/// Digits that tell about this many random keys apart.
fn enough(n: usize) -> u32 {
    (n.ilog2() + 2).div_ceil(8)
}
