//! Blocks of 64 KiB up to 1 MiB: runs of units in shared pages, each the size of a huge one. Owns which units are
//! taken; refuses to know where pages come from.
//!
//! ```text
//! a page of 2 MiB   | 0 1 2 | 3 | 4 5 . . | 8 9 10 11 | . . . .        32 units of 64 KiB, one bit each
//!                     block   block         block
//! ```
//!
//! Of a malloc they would be mapped and unmapped for every call, or cut from its heap and trimmed again, either of
//! which faults in every 4 KiB anew; and the processor would look up so many translations for one run. A page that
//! holds nothing any more goes where it came from.

use monomorph_core::Contents;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The unit that blocks are made of.
pub(super) const UNIT: usize = 64 << 10;

/// The bytes of a page, a bit of whose mask stands for each unit.
pub(super) const PAGE: usize = UNIT * u32::BITS as usize;

/// Where pages come from, and go to.
pub(super) struct Source {
    pub(super) map: fn() -> Option<NonNull<u8>>,
    /// The page is one of `map`, and is not used again.
    pub(super) unmap: unsafe fn(NonNull<u8>),
}

/// A page in use. Its address is kept as a pointer, which may be made into those of blocks.
struct Page {
    start: NonNull<u8>,
    taken: u32,
}

// SAFETY: a page belongs to its `Shared` alone, which hands out every unit once; memory may be used from any thread.
unsafe impl Send for Page {}

#[derive(Default)]
struct State {
    /// By address. No page is empty.
    pages: BTreeMap<usize, Page>,
    /// The addresses of pages, by the length of the longest run that is free.
    by_room: [BTreeSet<usize>; u32::BITS as usize],
}

/// The shared pages of one process.
pub(super) struct Shared {
    state: Mutex<Option<State>>,
    source: Source,
}

/// The units of a block of so many bytes, at most 32.
fn units(bytes: usize) -> u32 {
    (bytes.div_ceil(UNIT) as u32).clamp(1, u32::BITS)
}

/// A run of so many bits from the lowest on.
fn run(units: u32) -> u32 {
    u32::MAX >> (u32::BITS - units)
}

/// Bit `i` is set if the `units` bits from `i` on are clear in `taken`.
fn starts(taken: u32, units: u32) -> u32 {
    (1..units).fold(!taken, |free, _| free & (free >> 1))
}

/// The longest run of clear bits.
fn room(taken: u32) -> usize {
    // Each step takes a bit off every run that is free.
    std::iter::successors(Some(!taken), |free| Some(free & (free >> 1))).take_while(|&free| free != 0).count()
}

impl Shared {
    pub(super) const fn new(source: Source) -> Shared {
        Shared { state: Mutex::new(None), source }
    }

    /// Calls `act` with the state. Nothing in here panics half-way, so a poisoned lock is as good as any.
    fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        act(state.get_or_insert_default())
    }

    /// A block of `bytes` bytes, at most [`PAGE`], aligned to 64.
    pub(super) fn allocate(&self, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
        let units = units(bytes);
        let taken = self.with(|state| state.take(units));
        let block = match taken {
            Some(block) => block,
            None => {
                let page = (self.source.map)()?;
                self.with(|state| state.add(page, units))
            }
        };
        if contents == Contents::Zeroed {
            // SAFETY: a block has at least `bytes` bytes, and is nobody else's now.
            unsafe { block.write_bytes(0, bytes) };
        }
        Some(block)
    }

    /// # Safety
    ///
    /// The block is one of [`allocate`](Shared::allocate) with this byte count, and is not used again.
    pub(super) unsafe fn free(&self, block: NonNull<u8>, bytes: usize) {
        if let Some(page) = self.with(|state| state.give_back(block, units(bytes))) {
            // SAFETY: the page came from the source, and holds no block any more.
            unsafe { (self.source.unmap)(page) };
        }
    }
}

impl State {
    /// A run of so many units in the page with the least room for it: the first of those.
    fn take(&mut self, units: u32) -> Option<NonNull<u8>> {
        let address = *self.by_room[units as usize - 1..].iter().find_map(BTreeSet::first)?;
        let page = self.pages.get_mut(&address)?;
        let first = starts(page.taken, units).trailing_zeros();
        // SAFETY: the run lies in the page.
        let block = unsafe { page.start.add(first as usize * UNIT) };
        self.set(address, |taken| taken | run(units) << first);
        Some(block)
    }

    /// A new page, of which the first units are taken.
    fn add(&mut self, start: NonNull<u8>, units: u32) -> NonNull<u8> {
        let address = start.addr().get();
        self.pages.insert(address, Page { start, taken: 0 });
        self.set(address, |_| run(units));
        start
    }

    /// Frees a run; its page, if that holds nothing else, and is no longer in use here.
    fn give_back(&mut self, block: NonNull<u8>, units: u32) -> Option<NonNull<u8>> {
        let at = block.addr().get();
        let address = *self.pages.range(..=at).next_back()?.0;
        let first = (at - address) / UNIT;
        self.set(address, |taken| taken & !(run(units) << first));
        self.pages.get(&address).filter(|page| page.taken == 0)?;
        self.pages.remove(&address).map(|page| page.start)
    }

    /// Changes which units of a page are taken. An empty page is listed nowhere.
    fn set(&mut self, address: usize, change: impl FnOnce(u32) -> u32) {
        let Some(page) = self.pages.get_mut(&address) else { return };
        let before = page.taken;
        page.taken = change(before);
        let list = |taken: u32| (taken != 0).then(|| room(taken)).filter(|&room| room > 0);
        if let Some(room) = list(before) {
            self.by_room[room - 1].remove(&address);
        }
        if let Some(room) = list(page.taken) {
            self.by_room[room - 1].insert(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static MAPPED: AtomicUsize = AtomicUsize::new(0);

    fn map() -> Option<NonNull<u8>> {
        MAPPED.fetch_add(1, Ordering::Relaxed);
        pages::map(PAGE)
    }

    unsafe fn unmap(page: NonNull<u8>) {
        MAPPED.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: `Shared` promises that the page is one of `map`, which gets `PAGE` bytes from `pages::map`, and that
        // it is not used again.
        unsafe { pages::unmap(page, PAGE) };
    }

    #[test]
    fn runs_are_found_where_they_are_free() {
        assert_eq!((units(1), units(UNIT), units(UNIT + 1), units(PAGE)), (1, 1, 2, 32));
        assert_eq!((room(0), room(u32::MAX), room(0b1001), room(1 << 31)), (32, 0, 28, 31));
        for taken in [0, 1, 0b1011_0111, 0xffff_0000, 0x00ff_00ff, 0x7fff_ffff, u32::MAX] {
            for units in 1..=32 {
                let free = |i: u32| i + units <= 32 && taken & (run(units) << i) == 0;
                let want = (0..32).filter(|&i| free(i)).fold(0, |bits, i| bits | 1 << i);
                assert_eq!(starts(taken, units), want, "{taken:b} {units}");
            }
            assert_eq!(room(taken), (1..=32).rev().find(|&n| starts(taken, n) != 0).unwrap_or(0) as usize);
        }
    }

    #[test]
    fn blocks_lie_apart_and_pages_go_back() {
        let shared = Shared::new(Source { map, unmap });
        let mut held: Vec<(NonNull<u8>, usize, u8)> = Vec::new();
        for round in 0..2000usize {
            let mark = round as u8;
            let bytes = UNIT + round * 7919 % (15 * UNIT);
            let contents = if round % 3 == 0 { Contents::Zeroed } else { Contents::Unspecified };
            let block = shared.allocate(bytes, contents).expect("there is memory");
            assert_eq!(block.addr().get() % 64, 0);
            // SAFETY: the block has so many bytes, initialised.
            let slice = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), bytes) };
            assert!(contents != Contents::Zeroed || slice.iter().all(|&byte| byte == 0));
            slice.fill(mark);
            held.push((block, bytes, mark));
            if held.len() > 40 {
                let (block, bytes, mark) = held.swap_remove(round * 31 % held.len());
                // SAFETY: the block has so many bytes, initialised, and nobody else uses it before it is freed.
                let slice = unsafe { std::slice::from_raw_parts(block.as_ptr(), bytes) };
                assert!(slice.iter().all(|&byte| byte == mark), "somebody else wrote");
                // SAFETY: the block came from `allocate`, and is not used again.
                unsafe { shared.free(block, bytes) };
            }
        }
        // 40 blocks of at most a MiB: half of that on average, and pages are not left half empty.
        assert!((1..40).contains(&MAPPED.load(Ordering::Relaxed)));
        for (block, bytes, _) in held {
            // SAFETY: the block came from `allocate` with this byte count, and is not used again.
            unsafe { shared.free(block, bytes) };
        }
        assert_eq!(MAPPED.load(Ordering::Relaxed), 0);
        assert!(shared.with(|state| state.pages.is_empty() && state.by_room.iter().all(BTreeSet::is_empty)));
    }
}
