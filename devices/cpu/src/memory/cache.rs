//! Large blocks, kept by size when they are freed. Owns the sizes, the limit and the counts; refuses system calls.
//!
//! A fresh block costs the system's work of clearing its pages, which takes longer than most operators need to fill it.
//! So a freed block waits for the next one of its size. Sizes are classes, eight to a power of two, so that at most an
//! eighth is lost, of the address range more than of memory: pages that nobody writes are never made. What is kept
//! beyond the limit is returned, the block that waited longest first.
//!
//! Every byte of a kept block has been zero or written, so reuse shows nothing uninitialised.

use super::pages::{self, PAGE};
use monomorph_core::Contents;
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The environment variable that limits the bytes of freed blocks that are kept.
pub const LIMIT_VARIABLE: &str = "MONOMORPH_CACHE_BYTES";

/// The limit unless the environment or a call sets one.
const DEFAULT_LIMIT: usize = 1 << 30;

/// Counts of the large blocks of the CPU: of 1 MiB and more, and the pages that those of 64 KiB and more share. Bytes
/// are those of whole blocks, which are rounded up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Bytes of the blocks that tensors hold, and kernels that work in them.
    pub live: usize,
    /// Bytes of the blocks that are kept for reuse.
    pub cached: usize,
    /// The most bytes that were live at once.
    pub peak: usize,
    /// Allocations that a kept block served.
    pub hits: u64,
    /// Allocations that took fresh pages.
    pub misses: u64,
}

/// A block that is kept.
struct Kept {
    block: NonNull<u8>,
    /// When it was freed, as a running number.
    since: u64,
}

// SAFETY: a kept block belongs to the cache alone, and memory may be used from any thread.
unsafe impl Send for Kept {}

/// Blocks that are to be returned, each with its bytes. They are returned without the lock.
type Surplus = Vec<(Kept, usize)>;

struct State {
    /// Per class, the blocks in the order in which they were freed. No class is empty.
    kept: BTreeMap<usize, VecDeque<Kept>>,
    /// `None` until it is first asked for.
    limit: Option<usize>,
    clock: u64,
    counts: Statistics,
}

/// The blocks of one process.
pub(super) struct Cache(Mutex<State>);

/// The size of the block for so many bytes: the next of eight steps to a power of two. `None` if no block is so large.
fn class(bytes: usize) -> Option<usize> {
    let bytes = bytes.max(PAGE);
    let step = ((1usize << bytes.ilog2()) / 8).max(PAGE);
    let class = bytes.checked_next_multiple_of(step)?;
    (class <= isize::MAX as usize).then_some(class)
}

impl Cache {
    pub(super) const fn new() -> Cache {
        let counts = Statistics { live: 0, cached: 0, peak: 0, hits: 0, misses: 0 };
        Cache(Mutex::new(State { kept: BTreeMap::new(), limit: None, clock: 0, counts }))
    }

    /// The state. Nothing in here panics half-way, so a poisoned lock is as good as any.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn allocate(&self, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
        let class = class(bytes)?;
        let kept = self.state().take(class);
        if let Some(block) = kept {
            if contents == Contents::Zeroed {
                // SAFETY: a block of the class has at least `bytes` bytes, and is nobody else's now.
                unsafe { block.write_bytes(0, bytes) };
            }
            return Some(block);
        }
        let block = pages::map(class).or_else(|| {
            // The system has no more: perhaps it has with what is kept here.
            (self.empty() > 0).then(|| pages::map(class)).flatten()
        })?;
        self.state().lend(class, false);
        Some(block)
    }

    /// # Safety
    ///
    /// The block is one of [`allocate`](Cache::allocate) with this byte count, and is not used again.
    pub(super) unsafe fn free(&self, block: NonNull<u8>, bytes: usize) {
        // A block of this byte count exists, so its class does.
        let Some(class) = class(bytes) else { return };
        let surplus = {
            let mut state = self.state();
            state.give_back(block, class);
            state.beyond_limit()
        };
        // SAFETY: the blocks were kept, and are so no longer.
        unsafe { unmap_all(surplus) };
    }

    pub(super) fn limit(&self) -> usize {
        self.state().limit()
    }

    pub(super) fn set_limit(&self, bytes: usize) {
        let surplus = {
            let mut state = self.state();
            state.limit = Some(bytes);
            state.beyond_limit()
        };
        // SAFETY: the blocks were kept, and are so no longer.
        unsafe { unmap_all(surplus) };
    }

    pub(super) fn empty(&self) -> usize {
        let surplus = self.state().beyond(0);
        let bytes = surplus.iter().map(|(_, bytes)| bytes).sum();
        // SAFETY: the blocks were kept, and are so no longer.
        unsafe { unmap_all(surplus) };
        bytes
    }

    pub(super) fn statistics(&self) -> Statistics {
        self.state().counts
    }
}

impl State {
    /// The limit; the first time, what the environment says.
    fn limit(&mut self) -> usize {
        *self.limit.get_or_insert_with(|| {
            let value = std::env::var(LIMIT_VARIABLE).ok();
            value.and_then(|value| value.trim().parse().ok()).unwrap_or(DEFAULT_LIMIT)
        })
    }

    /// The block of a class that was freed last: the caches of the processor may still hold some of it.
    fn take(&mut self, class: usize) -> Option<NonNull<u8>> {
        let blocks = self.kept.get_mut(&class)?;
        let kept = blocks.pop_back()?;
        if blocks.is_empty() {
            self.kept.remove(&class);
        }
        self.counts.cached -= class;
        self.lend(class, true);
        Some(kept.block)
    }

    /// Counts a block that a tensor gets.
    fn lend(&mut self, class: usize, hit: bool) {
        let counts = &mut self.counts;
        *(if hit { &mut counts.hits } else { &mut counts.misses }) += 1;
        counts.live += class;
        counts.peak = counts.peak.max(counts.live);
    }

    /// Keeps a block.
    fn give_back(&mut self, block: NonNull<u8>, class: usize) {
        self.clock += 1;
        self.counts.live -= class;
        self.counts.cached += class;
        self.kept.entry(class).or_default().push_back(Kept { block, since: self.clock });
    }

    /// Takes out what is kept beyond the limit.
    fn beyond_limit(&mut self) -> Surplus {
        let limit = self.limit();
        self.beyond(limit)
    }

    /// Takes out what is kept beyond so many bytes, the oldest first.
    fn beyond(&mut self, bytes: usize) -> Surplus {
        let mut surplus = Surplus::new();
        while self.counts.cached > bytes {
            let oldest = |blocks: &VecDeque<Kept>| blocks.front().map_or(u64::MAX, |kept| kept.since);
            let Some(class) = self.kept.iter().min_by_key(|(_, blocks)| oldest(blocks)).map(|(&class, _)| class) else {
                break;
            };
            let Some(blocks) = self.kept.get_mut(&class) else { break };
            if let Some(kept) = blocks.pop_front() {
                surplus.push((kept, class));
                self.counts.cached -= class;
            }
            if blocks.is_empty() {
                self.kept.remove(&class);
            }
        }
        surplus
    }
}

/// # Safety
///
/// The blocks are ones of [`pages::map`] with these byte counts, and nobody uses them again.
unsafe fn unmap_all(surplus: Surplus) {
    for (kept, bytes) in surplus {
        // SAFETY: the caller promises that `pages::map` made the block with this byte count, and that nobody uses it
        // again.
        unsafe { pages::unmap(kept.block, bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    const MIB: usize = 1 << 20;

    fn get(cache: &Cache, bytes: usize) -> NonNull<u8> {
        cache.allocate(bytes, Contents::Unspecified).unwrap()
    }

    fn put(cache: &Cache, block: NonNull<u8>, bytes: usize) {
        // SAFETY: every test frees what it got, once.
        unsafe { cache.free(block, bytes) };
    }

    fn limited(bytes: usize) -> Cache {
        let cache = Cache::new();
        cache.set_limit(bytes);
        cache
    }

    #[test]
    fn classes_cover_their_bytes_and_waste_an_eighth() {
        for bytes in (1..4096).map(|i| i * 4097 * 13).chain([MIB, MIB + 64, 64 * MIB + 64, 1 << 40]) {
            let class = class(bytes).unwrap();
            assert!(
                class >= bytes && class.is_multiple_of(PAGE) && class - bytes <= bytes / 8 + PAGE,
                "{bytes}: {class}"
            );
            assert_eq!(super::class(class), Some(class));
        }
        assert_eq!(class(usize::MAX), None);
        assert_eq!(class(isize::MAX as usize), None);
    }

    #[test]
    fn freed_blocks_serve_their_class_again() {
        let cache = limited(64 * MIB);
        let first = get(&cache, 3 * MIB);
        assert_eq!(cache.statistics(), Statistics { live: 3 * MIB, peak: 3 * MIB, misses: 1, ..Statistics::default() });
        put(&cache, first, 3 * MIB);
        assert_eq!(cache.statistics().cached, 3 * MIB);
        let again = get(&cache, 3 * MIB - 5);
        assert_eq!(again, first);
        let other = get(&cache, 4 * MIB);
        assert_ne!(other, first);
        let want = Statistics { live: 7 * MIB, cached: 0, peak: 7 * MIB, hits: 1, misses: 2 };
        assert_eq!(cache.statistics(), want);
        put(&cache, again, 3 * MIB - 5);
        put(&cache, other, 4 * MIB);
        assert_eq!(cache.empty(), 7 * MIB);
        let end = cache.statistics();
        assert_eq!((end.live, end.cached, end.peak), (0, 0, 7 * MIB));
        assert_eq!(cache.empty(), 0);
    }

    #[test]
    fn beyond_the_limit_the_oldest_goes() {
        let cache = limited(5 * MIB);
        let [a, b, c] = [2, 3, 2].map(|n| (get(&cache, n * MIB), n * MIB));
        put(&cache, a.0, a.1);
        put(&cache, b.0, b.1);
        assert_eq!(cache.statistics().cached, 5 * MIB);
        put(&cache, c.0, c.1);
        assert_eq!(cache.statistics().cached, 5 * MIB);
        assert_eq!(get(&cache, c.1), c.0);
        cache.set_limit(0);
        assert_eq!(cache.statistics().cached, 0);
        put(&cache, c.0, c.1);
        assert_eq!((cache.statistics().cached, cache.limit()), (0, 0));
    }

    #[test]
    fn zeroes_are_zeroes_also_in_used_blocks() {
        let cache = limited(64 * MIB);
        for _ in 0..3 {
            let block = cache.allocate(MIB + 7, Contents::Zeroed).unwrap();
            // SAFETY: the block has so many bytes, initialised.
            let bytes = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), MIB + 7) };
            assert!(bytes.iter().all(|&b| b == 0));
            bytes.fill(0xff);
            put(&cache, block, MIB + 7);
        }
        assert_eq!(cache.statistics().hits, 2);
        cache.empty();
    }

    #[test]
    fn what_cannot_be_had_is_none_and_counts_nothing() {
        let cache = limited(64 * MIB);
        let block = get(&cache, MIB);
        put(&cache, block, MIB);
        assert_eq!(cache.allocate(1 << 55, Contents::Zeroed), None);
        let counts = cache.statistics();
        // Refused, it gave back what it kept, and asked again.
        assert_eq!((counts.live, counts.cached, counts.misses), (0, 0, 1));
    }

    #[test]
    fn threads_never_share_a_block() {
        let cache = limited(24 * MIB);
        let next = AtomicU64::new(1);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut held = VecDeque::new();
                    for round in 0..200 {
                        let mark = next.fetch_add(1, Ordering::Relaxed);
                        let bytes = MIB + (mark as usize % 5) * MIB / 2;
                        let block = get(&cache, bytes);
                        let ends = [block.cast::<u64>(), block.map_addr(|a| a.saturating_add(bytes - 8)).cast()];
                        for end in ends {
                            // SAFETY: inside the block, which is this thread's.
                            unsafe { end.write_unaligned(mark) };
                        }
                        held.push_back((block, bytes, mark, ends));
                        if round % 7 == 0 {
                            cache.empty();
                        }
                        if held.len() > 3
                            && let Some((block, bytes, mark, ends)) = held.pop_front()
                        {
                            for end in ends {
                                // SAFETY: inside the block, which is this thread's, and written when the block was
                                // taken.
                                assert_eq!(unsafe { end.read_unaligned() }, mark);
                            }
                            put(&cache, block, bytes);
                        }
                    }
                    for (block, bytes, ..) in held {
                        put(&cache, block, bytes);
                    }
                });
            }
        });
        let counts = cache.statistics();
        assert_eq!((counts.live, counts.hits + counts.misses), (0, 1600));
        assert!(counts.cached <= 24 * MIB && counts.peak >= MIB && counts.peak <= 32 * 3 * MIB);
        cache.empty();
    }
}
