//! Sorts keys with indices: a radix sort of the digits that matter, and the comparison sort of the standard library for
//! short rows and for what a few digits leave equal.
//!
//! 1. Bits that all keys share do not matter. The others are cut into digits of a byte, from the top.
//! 2. Up to [`ALL_DIGITS`] digits are sorted by, from the lowest to the highest, each pass stable.
//! 3. Of keys with more digits only the highest ones are sorted by, about as many as tell this number of random keys
//!    apart. Runs of keys that these leave equal are sorted by comparison: none or short ones for random keys, and at
//!    worst one sort of the whole row.

use super::key::Item;
use monomorph_core::{Result, list};

/// Rows shorter than this are sorted by comparison: counting 256 digits costs more.
const SHORT: usize = 256;

/// Keys of up to so many digits are sorted by all of them.
const ALL_DIGITS: u32 = 4;

const DIGITS: usize = 256;

/// Sorts the items, whose indices ascend. `spare` is memory to be used again.
pub(crate) fn sort<I: Item>(items: &mut Vec<I>, spare: &mut Vec<I>) -> Result<()> {
    if items.len() < SHORT {
        items.sort_unstable();
        return Ok(());
    }
    let first = items[0].key();
    let varying = 64 - items.iter().fold(0, |bits, item| bits | item.key() ^ first).leading_zeros();
    let all = varying.div_ceil(8);
    let passes = if all <= ALL_DIGITS { all } else { enough(items.len()).min(all) };
    let lowest = varying.saturating_sub(8 * passes);
    if spare.len() < items.len() {
        *spare = list::with_capacity(items.len())?;
        spare.resize(items.len(), I::default());
    }
    spare.truncate(items.len());
    let mut counts = [[0_usize; DIGITS]; 8];
    for item in &*items {
        for (pass, counts) in (0..passes).zip(&mut counts) {
            counts[digit(*item, lowest + 8 * pass)] += 1;
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
            let place = &mut counts[digit(*item, lowest + 8 * pass)];
            spare[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, spare);
    }
    if lowest > 0 {
        for run in items.chunk_by_mut(|a, b| a.key() >> lowest == b.key() >> lowest) {
            if run.len() > 1 {
                run.sort_unstable();
            }
        }
    }
    Ok(())
}

fn digit<I: Item>(item: I, shift: u32) -> usize {
    (item.key() >> shift) as u8 as usize
}

/// Digits that tell about this many random keys apart.
fn enough(n: usize) -> u32 {
    (n.ilog2() + 2).div_ceil(8)
}
