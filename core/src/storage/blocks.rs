//! Groups of kernels while they run: block after block, in as many pieces as the device makes of the work. Owns the
//! memory of blocks and what is fetched ahead; which kernels are a group, and G1 to G3, is `groups.rs`'s.

use super::elementwise::{Elementwise, Part, PartOperand};
use super::recording::BoundKernel;
use smallvec::SmallVec;
use std::ops::Range;

/// The most operands of a kernel of a group.
pub(super) const MAX_OPERANDS: usize = 8;

/// Bytes that a block has of all operands together: they stay in the first-level cache, or not far behind it. A call of
/// a kernel costs as much as some hundred elements, so that shorter blocks are slower (decision 0034).
const BLOCK_BYTES: usize = 32 << 10;

/// Kernels that are run block by block.
pub(super) struct Group {
    pub(super) kernels: Range<usize>,
    members: Vec<Member>,
    /// Elements of a block.
    length: usize,
    /// What is read from memory.
    read: Vec<PartOperand>,
    /// Blocks that operands are redirected to, and lines of each.
    blocks: usize,
    lines: usize,
    scratch: Vec<CacheLine>,
    calls: Vec<Elementwise>,
}

// SAFETY: addresses are followed only in `run`, whose caller has the memory.
unsafe impl Send for Group {}

/// A kernel of a group.
pub(super) struct Member {
    /// The block that each operand is redirected to.
    pub(super) blocks: SmallVec<[Option<usize>; 4]>,
    /// Another kernel of the group uses its output.
    pub(super) is_read_soon: bool,
}

/// Memory for blocks, which kernels write and read by its address.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine(#[expect(dead_code, reason = "reached by its address")] [u8; 64]);

impl Group {
    /// The group of these kernels, for which G1 to G3 hold.
    pub(super) fn new(kernels: Range<usize>, calls: Vec<Elementwise>, members: Vec<Member>) -> Group {
        let mut in_memory: Vec<PartOperand> = Vec::new();
        let mut read: Vec<PartOperand> = Vec::new();
        for (call, member) in calls.iter().zip(&members) {
            // Inputs first: what is read and then written is read from memory.
            for (k, (operand, block)) in call.operands.iter().zip(&member.blocks).enumerate().rev() {
                if block.is_none() && operand.size().is_some() && !in_memory.contains(operand) {
                    in_memory.push(*operand);
                    read.extend((k > 0).then_some(*operand));
                }
            }
        }
        let blocks = members.iter().flat_map(|member| &member.blocks).flatten().max().map_or(0, |last| last + 1);
        let size = calls.iter().flat_map(|call| &call.operands).filter_map(PartOperand::size).max().unwrap_or(1);
        let length = (BLOCK_BYTES / (blocks + in_memory.len()).max(1) / size).max(1);
        let length = if length.is_power_of_two() { length } else { length.next_power_of_two() / 2 };
        let lines = (length * size).div_ceil(size_of::<CacheLine>());
        Group { kernels, members, length, read, blocks, lines, scratch: Vec::new(), calls }
    }

    /// Runs all kernels, which are those of the group.
    ///
    /// # Safety
    ///
    /// As for [`BoundKernel::run`], for each of them.
    pub(super) unsafe fn run(&mut self, kernels: &[Box<dyn BoundKernel>]) {
        // They have addresses in the kernels, which may have been moved.
        self.calls.clear();
        self.calls.extend(kernels.iter().filter_map(|kernel| kernel.elementwise()));
        debug_assert_eq!(self.calls.len(), self.members.len(), "a call is elementwise each time, or never");
        let Some(&Elementwise { numel, pieces, share, finish, .. }) = self.calls.first() else { return };
        let each = numel.div_ceil(pieces.max(1)).next_multiple_of(self.length);
        let pieces = numel.div_ceil(each);
        let lines = self.blocks * self.lines;
        if self.scratch.len() < pieces * lines {
            self.scratch.resize(pieces * lines, CacheLine([0; 64]));
        }
        let scratch = self.scratch.as_mut_ptr();
        let running = Running { group: self, scratch };
        share(pieces, &|piece| {
            let running = &running;
            let places = running.places(running.scratch.wrapping_add(piece * lines));
            let end = numel.min((piece + 1) * each);
            for start in (piece * each..end).step_by(running.group.length) {
                // SAFETY: the caller's promise; pieces have different elements, and each has blocks of its own, of
                // which there are enough for so many pieces.
                unsafe { running.block(start..end.min(start + running.group.length), &places) };
            }
            finish();
        });
    }
}

/// A group that is being run.
struct Running<'g> {
    group: &'g Group,
    scratch: *mut CacheLine,
}

// SAFETY: calls are asked for nothing but parts, which several threads may run at the same time (E4), and each thread
// uses blocks of its own.
unsafe impl Sync for Running<'_> {}

/// Where an operand of a kernel is for one thread: the first element, and bytes from one element to the next.
struct Place {
    first: *mut u8,
    step: usize,
}

impl Running<'_> {
    /// The operands of all kernels, one after another, with blocks at `scratch`.
    fn places(&self, scratch: *mut CacheLine) -> SmallVec<[Place; 64]> {
        let Group { members, calls, lines, .. } = self.group;
        let operands = calls.iter().zip(members).flat_map(|(call, member)| call.operands.iter().zip(&member.blocks));
        let place = |(operand, block): (&PartOperand, &Option<usize>)| match (block, operand) {
            (Some(block), _) => Place { first: scratch.wrapping_add(block * lines).cast(), step: 0 },
            (None, PartOperand::Run(data, size)) => Place { first: *data, step: *size },
            (None, PartOperand::One(data)) => Place { first: *data, step: 0 },
            (None, PartOperand::Number(number)) => {
                Place { first: std::ptr::from_ref(number).cast_mut().cast(), step: 0 }
            }
        };
        operands.map(place).collect()
    }

    /// Runs all kernels on some elements.
    ///
    /// # Safety
    ///
    /// As for [`Group::run`]; `places` are those of this group, whose blocks nobody else uses, and nobody else runs
    /// these elements.
    unsafe fn block(&self, elements: Range<usize>, places: &[Place]) {
        let Group { members, calls, .. } = self.group;
        let numel = elements.len();
        let share = |i: usize| elements.end + i * numel / members.len();
        let mut places = places;
        for (i, (call, member)) in calls.iter().zip(members).enumerate() {
            self.fetch(call, share(i)..share(i + 1));
            let mut at = [std::ptr::null_mut(); MAX_OPERANDS];
            let (own, rest) = places.split_at(call.operands.len());
            places = rest;
            for (at, place) in at.iter_mut().zip(own) {
                *at = place.first.wrapping_add(elements.start * place.step);
            }
            let part = Part { at: &at[..own.len()], numel, is_read_soon: member.is_read_soon };
            // SAFETY: E4: the call is that of a kernel which stays where it is. E5: the elements are those of the
            // operands (the caller's promise) or, of all operands that are equal, one block, which a kernel of the
            // group has filled before it is read (G3); a number is in the call; what is written is apart from the rest,
            // in memory (G2) and in blocks, of which each storage has one.
            unsafe { (call.run)(&call.context, &part) };
        }
    }

    /// Has elements fetched that a later block reads.
    fn fetch(&self, call: &Elementwise, elements: Range<usize>) {
        for operand in &self.group.read {
            if let PartOperand::Run(data, size) = operand {
                (call.prefetch)(data.wrapping_add(elements.start * size), elements.len() * size);
            }
        }
    }
}
