//! Kernels that follow each other and compute elements of the same places from each other, run block by block: what one
//! gives is in the cache when the next reads it, and what nobody else reads lies in a block of its own instead of
//! memory. Owns which kernels may be run so; how a part of a kernel is run, its device knows.
//!
//! ```text
//! one after another:   a[0 1 2 3 4 5 6 7] ─► b[0 1 2 3 4 5 6 7] ─► c[0 1 2 3 4 5 6 7]
//! block by block:      a[0 1] ─► block ─► c[0 1],  a[2 3] ─► block ─► c[2 3], ...
//! ```
//!
//! Invariants of a group:
//! * G1: its kernels have as many elements, and are cut in pieces by one device.
//! * G2: what one of them writes is, for every operand of any other, that very run of elements or apart from it. So
//!   each element hangs on elements of its own place alone, and blocks may be computed in any order.
//! * G3: an operand that is redirected to a block lies in a storage of the recording whose contents begin with a kernel
//!   of the group and are read by no other: those in between run on the same elements of the same dtype's size, and
//!   nobody has a tensor of it. All operands of the storage in that time are redirected, to the same block.

use super::elementwise::{Elementwise, Part, PartOperand};
use super::recording::{BoundKernel, Made};
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of a block of one operand: those of a few operands stay in the second-level cache, and a call of a kernel is
/// nothing beside the elements.
const BLOCK_BYTES: usize = 16 << 10;

/// The most kernels of a group, whose operands are compared with each other.
const MAX_KERNELS: usize = 64;

/// The most operands of a kernel of a group.
const MAX_OPERANDS: usize = 8;

/// Which kernels touch the storages that a recording made, and when the contents of each begin: they were given out
/// again because nobody had a tensor of them any more.
#[derive(Default)]
pub(super) struct Lifetimes {
    /// The storages that each kernel touches, by their position among those made.
    touched: Vec<SmallVec<[usize; 4]>>,
    /// A storage, and the first kernel that may be of these contents.
    begun: Vec<(usize, usize)>,
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

    /// The kernels between which a storage has the contents that it has at one of them; the last is open if they are
    /// there at the end.
    fn contents(&self, storage: usize, kernel: usize) -> Option<(usize, Option<usize>)> {
        let begun = || self.begun.iter().filter(|(of, _)| *of == storage).map(|(_, first)| *first);
        let first = begun().filter(|first| *first <= kernel).max()?;
        Some((first, begun().filter(|next| *next > kernel).min()))
    }

    /// Whether contents of a storage at a kernel are made and read within a group.
    fn are_within(&self, group: &Range<usize>, storage: usize, kernel: usize, made: &Made) -> bool {
        let Some((first, next)) = self.contents(storage, kernel) else { return false };
        let end = match next {
            Some(next) => next,
            None if made.handle.header().borrow().is_unique() => self.touched.len(),
            None => return false,
        };
        let touches = |k: &usize| self.touched.get(*k).is_some_and(|touched| touched.contains(&storage));
        first >= group.start && (group.end..end).all(|k| !touches(&k))
    }
}

/// Kernels that are run block by block.
pub(super) struct Group {
    pub(super) kernels: Range<usize>,
    /// Elements of a block.
    block: usize,
    members: Vec<Member>,
    /// The blocks that operands are redirected to, by storage: how many.
    slots: usize,
    /// Bytes of each.
    slot_bytes: usize,
    scratch: Vec<CacheLine>,
    calls: Vec<Elementwise>,
}

/// A kernel of a group.
struct Member {
    /// The block that each operand is redirected to.
    slots: SmallVec<[Option<usize>; 4]>,
    is_read_soon: bool,
}

/// Memory for blocks, which kernels write and read by its address.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine(#[expect(dead_code, reason = "reached by its address")] [u8; 64]);

// SAFETY: addresses are followed only in `run`, whose caller has the memory.
unsafe impl Send for Group {}

/// The bytes of an operand.
fn bytes(operand: &PartOperand, numel: usize) -> Range<usize> {
    let start = operand.data.addr();
    // An element has no more than 16 bytes.
    start..start.saturating_add(if operand.step == 0 { 16 } else { operand.step.saturating_mul(numel) })
}

/// Whether an operand may be written by one kernel of a group while the other is an operand of another (G2).
fn is_compatible(written: &PartOperand, other: &PartOperand, numel: usize) -> bool {
    let (a, b) = (bytes(written, numel), bytes(other, numel));
    written == other || a.end <= b.start || b.end <= a.start
}

/// Whether a kernel may follow those of a group, and had better do so: it has an operand in common with them.
fn may_follow(group: &[Elementwise], next: &Elementwise) -> bool {
    let Some(first) = group.first() else { return true };
    let numel = first.numel;
    let is_alike = next.numel == numel && next.pieces == first.pieces && std::ptr::fn_addr_eq(next.share, first.share);
    let compatible = |one: &Elementwise, other: &Elementwise| {
        one.operands.first().is_some_and(|written| other.operands.iter().all(|o| is_compatible(written, o, numel)))
    };
    let common = |one: &Elementwise| one.operands.iter().any(|o| o.step != 0 && next.operands.contains(o));
    is_alike
        && group.len() < MAX_KERNELS
        && group.iter().any(common)
        && group.iter().all(|one| compatible(one, next) && compatible(next, one))
}

/// The groups among kernels whose outputs have `least` elements or more.
pub(super) fn find(
    all: &[Box<dyn BoundKernel>],
    range: Range<usize>,
    least: usize,
    lifetimes: &Lifetimes,
    made: &[Made],
) -> Vec<Group> {
    let mut found = Vec::new();
    let mut group: Vec<Elementwise> = Vec::new();
    let end = range.end.min(all.len());
    for k in range.start..=end {
        let suits = |call: &Elementwise| {
            call.numel >= least.max(1)
                && call.operands.len() <= MAX_OPERANDS
                && call.operands.iter().any(|o| o.step != 0)
        };
        let next = all.get(k).filter(|_| k < end).and_then(|kernel| kernel.elementwise()).filter(suits);
        if !next.as_ref().is_some_and(|next| may_follow(&group, next)) {
            if group.len() > 1 {
                found.push(Group::new(k - group.len()..k, std::mem::take(&mut group), lifetimes, made));
            }
            group.clear();
        }
        group.extend(next);
    }
    found
}

impl Group {
    fn new(kernels: Range<usize>, calls: Vec<Elementwise>, lifetimes: &Lifetimes, made: &[Made]) -> Group {
        let numel = calls[0].numel;
        let step = calls.iter().flat_map(|call| &call.operands).map(|operand| operand.step).max().unwrap_or(1);
        let block = (BLOCK_BYTES / step.max(1)).clamp(1, numel);
        // The storage of each operand, if it is redirected.
        let redirected = |k: usize, operand: &PartOperand| -> Option<usize> {
            let is_inside = |m: &&usize| {
                (made[**m].data.addr()..made[**m].data.addr() + made[**m].bytes).contains(&operand.data.addr())
            };
            let storage = lifetimes.touched.get(k)?.iter().find(is_inside).copied()?;
            if operand.step == 0 || !lifetimes.are_within(&kernels, storage, k, &made[storage]) {
                return None;
            }
            let contents = lifetimes.contents(storage, k);
            let of_storage = kernels.clone().zip(&calls).filter(|(j, _)| lifetimes.contents(storage, *j) == contents);
            let mut others = of_storage.flat_map(|(_, call)| &call.operands).filter(|other| {
                let start = made[storage].data.addr();
                (start..start + made[storage].bytes).contains(&other.data.addr())
            });
            others.all(|other| other == operand).then_some(storage)
        };
        let mut storages: Vec<usize> = Vec::new();
        let mut members = Vec::with_capacity(calls.len());
        for (k, call) in kernels.clone().zip(&calls) {
            let slots = call.operands.iter().map(|operand| {
                let storage = redirected(k, operand)?;
                Some(storages.iter().position(|known| *known == storage).unwrap_or_else(|| {
                    storages.push(storage);
                    storages.len() - 1
                }))
            });
            let slots: SmallVec<[Option<usize>; 4]> = slots.collect();
            let later = calls.iter().skip(members.len() + 1).flat_map(|call| &call.operands);
            let is_read_soon = slots[0].is_some() || later.into_iter().any(|operand| *operand == call.operands[0]);
            members.push(Member { slots, is_read_soon });
        }
        let slot_bytes = (block * step).next_multiple_of(size_of::<CacheLine>());
        let (slots, scratch) = (storages.len(), Vec::new());
        Group { kernels, block, members, slots, slot_bytes, scratch, calls }
    }

    /// Runs all kernels, which are those of the group.
    ///
    /// # Safety
    ///
    /// As for [`BoundKernel::run`], for each of them.
    pub(super) unsafe fn run(&mut self, kernels: &[Box<dyn BoundKernel>]) {
        // Numbers lie in the kernels themselves, so that addresses are asked for again.
        self.calls.clear();
        self.calls.extend(kernels.iter().filter_map(|kernel| kernel.elementwise()));
        let Some(first) = self.calls.first() else { return };
        let (numel, share) = (first.numel, first.share);
        let each = numel.div_ceil(first.pieces.max(1)).next_multiple_of(self.block);
        let pieces = numel.div_ceil(each);
        let lines = self.slots * self.slot_bytes / size_of::<CacheLine>();
        if self.scratch.len() < pieces * lines {
            self.scratch.resize(pieces * lines, CacheLine([0; 64]));
        }
        let whole = Whole { kernels, calls: &self.calls, members: &self.members, slot_bytes: self.slot_bytes };
        let scratch = Scratch { data: self.scratch.as_mut_ptr().cast(), bytes: lines * size_of::<CacheLine>() };
        let block = self.block;
        share(pieces, &|piece| {
            let (whole, scratch) = (&whole, &scratch);
            let end = numel.min((piece + 1) * each);
            for start in (piece * each..end).step_by(block) {
                // SAFETY: the caller's promise; pieces have different elements, and each has blocks of its own, of
                // which there are enough for so many pieces.
                unsafe { whole.block(start..end.min(start + block), scratch.of(piece)) };
            }
        });
    }
}

/// The blocks of all pieces.
struct Scratch {
    data: *mut u8,
    bytes: usize,
}

// SAFETY: each piece uses bytes of its own.
unsafe impl Sync for Scratch {}

impl Scratch {
    fn of(&self, piece: usize) -> *mut u8 {
        self.data.wrapping_add(piece * self.bytes)
    }
}

/// A group that is being run.
struct Whole<'g> {
    kernels: &'g [Box<dyn BoundKernel>],
    calls: &'g [Elementwise],
    members: &'g [Member],
    slot_bytes: usize,
}

// SAFETY: kernels are asked for nothing but parts, which several threads may run at the same time (E4).
unsafe impl Sync for Whole<'_> {}

impl Whole<'_> {
    /// Runs all kernels on some elements.
    ///
    /// # Safety
    ///
    /// As for [`Group::run`]; nobody else runs these elements, or uses the blocks at `scratch`.
    unsafe fn block(&self, elements: Range<usize>, scratch: *mut u8) {
        let mut at = [std::ptr::null_mut(); MAX_OPERANDS];
        for ((kernel, call), member) in self.kernels.iter().zip(self.calls).zip(self.members) {
            for ((at, operand), slot) in at.iter_mut().zip(&call.operands).zip(&member.slots) {
                *at = match slot {
                    Some(slot) => scratch.wrapping_add(slot * self.slot_bytes),
                    None => operand.data.wrapping_add(elements.start * operand.step),
                };
            }
            let (at, numel) = (&at[..call.operands.len()], elements.len());
            // SAFETY: E4: the kernel is elementwise. E5: the elements are those of the operands (the caller's promise)
            // or, of all operands that are equal, one block, which a kernel of the group has filled before it is read
            // (G3); what is written is apart from the rest, in memory (G2) and in blocks, of which each storage has
            // one.
            unsafe { kernel.run_part(&Part { at, numel, is_read_soon: member.is_read_soon }) };
        }
    }
}
