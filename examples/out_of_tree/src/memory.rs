//! The memory of the arenas: blocks of a byte array that only this file reaches, at addresses that are no pointers of
//! the host. Owns allocation, transfers and their counts; every access is checked against the live blocks.
//!
//! ```text
//! address   0x0A00_0000_0000_0000 | arena << 48 | bytes from the start of the arena
//! ```

use monomorph::crates::core::{Contents, Memory, Reach};
use monomorph::{ErrorKind, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many arenas there are: devices 0 and 1 of the kind.
pub const ARENAS: u8 = 2;

/// The bytes of an arena.
pub const CAPACITY: usize = 64 << 20;

/// Blocks begin at multiples of so many bytes.
const ALIGN: usize = 64;
const TAG: usize = 0x0A << 56;
/// What a block holds that nobody asked to be zero.
const GARBAGE: u8 = 0xA5;

/// What an arena has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Live blocks.
    pub blocks: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Blocks that were ever allocated.
    pub allocated: usize,
    /// Bytes that came from the host.
    pub written: usize,
    /// Bytes that went to the host.
    pub read: usize,
}

/// One arena. Invariant A1: live blocks lie inside `bytes` and do not overlap.
pub(crate) struct Bytes {
    bytes: Vec<u8>,
    /// The live blocks: start and length.
    blocks: BTreeMap<usize, usize>,
    usage: Usage,
}

static ARENA: [Mutex<Bytes>; ARENAS as usize] = [const { Mutex::new(Bytes::NEW) }; ARENAS as usize];

/// The functions that the library calls.
pub(crate) static MEMORY: Memory = Memory { allocate, free, copy, reach: Reach::Transfer { write, read, refusal } };

/// What an arena holds and has done. There is none with another index.
pub fn usage(index: u8) -> Option<Usage> {
    Some(arena(index)?.usage)
}

/// An arena, for as long as the result lives: a kernel holds it while it runs.
pub(crate) fn arena(index: u8) -> Option<MutexGuard<'static, Bytes>> {
    ARENA.get(usize::from(index)).map(|arena| arena.lock().unwrap_or_else(PoisonError::into_inner))
}

fn address(index: u8, offset: usize) -> *mut u8 {
    std::ptr::without_provenance_mut(TAG | usize::from(index) << 48 | offset)
}

/// The arena and the place in it of an address.
fn place(address: *const u8) -> (u8, usize) {
    let bits = address.addr() & !TAG;
    ((bits >> 48) as u8, bits & ((1 << 48) - 1))
}

impl Bytes {
    const NEW: Bytes = Bytes {
        bytes: Vec::new(),
        blocks: BTreeMap::new(),
        usage: Usage { blocks: 0, bytes: 0, allocated: 0, written: 0, read: 0 },
    };

    /// The first gap that has room.
    fn gap(&self, bytes: usize) -> Option<usize> {
        let mut start = 0usize;
        for (&block, &length) in &self.blocks {
            if block - start >= bytes {
                return Some(start);
            }
            start = (block + length).next_multiple_of(ALIGN);
        }
        (bytes <= CAPACITY && start <= CAPACITY - bytes).then_some(start)
    }

    fn allocate(&mut self, bytes: usize, contents: Contents) -> Option<usize> {
        let start = self.gap(bytes)?;
        let end = start + bytes;
        if self.bytes.len() < end {
            self.bytes.resize(end, GARBAGE);
        }
        self.bytes[start..end].fill(if contents == Contents::Zeroed { 0 } else { GARBAGE });
        self.blocks.insert(start, bytes);
        self.usage.blocks += 1;
        self.usage.bytes += bytes;
        self.usage.allocated += 1;
        Some(start)
    }

    fn free(&mut self, start: usize, bytes: usize) {
        if self.blocks.get(&start) == Some(&bytes) {
            self.blocks.remove(&start);
            self.usage.blocks -= 1;
            self.usage.bytes -= bytes;
        }
    }

    /// Where `bytes` bytes from an address on lie, if they are all of one live block.
    fn inside(&self, at: *const u8, bytes: usize) -> Option<Range<usize>> {
        let (_, start) = place(at);
        let (&block, &length) = self.blocks.range(..=start).next_back()?;
        let end = start.checked_add(bytes)?;
        (end <= block + length).then_some(start..end)
    }

    /// `bytes` bytes from an address on.
    pub(crate) fn load(&self, at: *const u8, bytes: usize) -> Result<&[u8]> {
        let range = self.inside(at, bytes).ok_or_else(stray)?;
        Ok(&self.bytes[range])
    }

    /// The same to be written.
    pub(crate) fn store(&mut self, at: *mut u8, bytes: usize) -> Result<&mut [u8]> {
        let range = self.inside(at, bytes).ok_or_else(stray)?;
        Ok(&mut self.bytes[range])
    }
}

/// What a kernel that is wrong gets, in place of somebody else's bytes.
#[cold]
fn stray() -> monomorph::Error {
    ErrorKind::ArgumentRule { rule: "an address has to lie in a live block of the current arena" }.into()
}

fn allocate(index: u8, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    NonNull::new(address(index, arena(index)?.allocate(bytes, contents)?))
}

/// There is no arena of this index; otherwise it is full.
fn refusal(index: u8) -> Option<monomorph::Error> {
    arena(index).is_none().then(|| ErrorKind::ArgumentRule { rule: "there are arenas 0 and 1" }.into())
}

unsafe fn free(index: u8, block: NonNull<u8>, bytes: usize) {
    if let Some(mut arena) = arena(index) {
        arena.free(place(block.as_ptr()).1, bytes);
    }
}

unsafe fn copy(index: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize) {
    let Some(mut arena) = arena(index) else { return };
    if let (Some(to), Some(from)) = (arena.inside(to.as_ptr(), bytes), arena.inside(from.as_ptr(), bytes)) {
        arena.bytes.copy_within(from, to.start);
    }
}

unsafe fn write(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    let mut arena = arena(index).ok_or_else(stray)?;
    // SAFETY: M4: so many bytes of the host lie there, and nobody writes them.
    let from = unsafe { std::slice::from_raw_parts(from, bytes) };
    arena.store(to, bytes)?.copy_from_slice(from);
    arena.usage.written += bytes;
    Ok(())
}

unsafe fn read(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    let mut arena = arena(index).ok_or_else(stray)?;
    // SAFETY: M4: so many bytes of the host lie there, and they are the caller's alone.
    let to = unsafe { std::slice::from_raw_parts_mut(to, bytes) };
    to.copy_from_slice(arena.load(from, bytes)?);
    arena.usage.read += bytes;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_used_again_and_addresses_are_checked() {
        let mut arena = Bytes::NEW;
        let [a, b, c] = [100, 10, 200].map(|n| arena.allocate(n, Contents::Unspecified).unwrap());
        assert_eq!([a, b, c], [0, 128, 192]);
        assert!(arena.load(address(0, 127), 1).is_err() && arena.load(address(0, 96), 5).is_err());
        assert_eq!(arena.load(address(0, 138), 0).unwrap(), [0u8; 0]);
        arena.free(b, 9);
        assert_eq!(arena.usage.blocks, 3, "freed as something else");
        arena.free(b, 10);
        assert_eq!(arena.allocate(65, Contents::Zeroed), Some(392usize.next_multiple_of(ALIGN)));
        assert_eq!(arena.allocate(64, Contents::Zeroed), Some(b));
        assert_eq!(arena.load(address(0, b), 64).unwrap(), [0; 64]);
        assert_eq!(arena.allocate(CAPACITY, Contents::Zeroed), None);
        assert_eq!(arena.allocate(usize::MAX, Contents::Zeroed), None);
        assert_eq!(place(address(1, 64)), (1, 64));
    }
}
