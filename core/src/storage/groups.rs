//! Kernels that follow each other and compute elements of the same places from each other, run block by block: what one
//! gives is in the cache when the next reads it, and what nobody else reads lies in a block of its own instead of
//! memory. Owns which kernels may be run so; how a part of a kernel is run, its device knows. `blocks.rs` runs them.
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
//!   of the group, are touched by no other, and are nobody's tensor. All operands of the storage in that time are the
//!   same run of elements, and redirected to the same block.

use super::blocks::{Group, MAX_OPERANDS, Member};
use super::elementwise::{Elementwise, PartOperand};
use super::lifetimes::Lifetimes;
use super::recording::{BoundKernel, Made};
use smallvec::SmallVec;
use std::ops::Range;

/// The most kernels of a group, whose operands are compared with each other.
const MAX_KERNELS: usize = 64;

/// The addresses of an operand.
fn bytes(operand: &PartOperand, numel: usize) -> Range<usize> {
    let (start, bytes) = match *operand {
        PartOperand::Run(data, size) => (data.addr(), size.saturating_mul(numel)),
        // An element has no more than 16 bytes.
        PartOperand::One(data) => (data.addr(), 16),
        PartOperand::Number(_) => return 0..0,
    };
    start..start.saturating_add(bytes)
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
    let common = |one: &Elementwise| one.operands.iter().any(|o| o.size().is_some() && next.operands.contains(o));
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
    let suits = |call: &Elementwise| call.numel >= least.max(1) && call.operands.len() <= MAX_OPERANDS;
    for k in range.start..=end {
        let next = all[..end].get(k).and_then(|kernel| kernel.elementwise()).filter(suits);
        if !next.as_ref().is_some_and(|next| may_follow(&group, next)) {
            if group.len() > 1 {
                let kernels = k - group.len()..k;
                let members = members(&kernels, &group, lifetimes, made);
                found.push(Group::new(kernels, std::mem::take(&mut group), members));
            }
            group.clear();
        }
        group.extend(next);
    }
    found
}

/// The storage that an operand of a kernel of a group is in, if it is redirected to a block (G3).
fn redirected(
    (k, operand): (usize, &PartOperand),
    (kernels, calls): (&Range<usize>, &[Elementwise]),
    lifetimes: &Lifetimes,
    made: &[Made],
) -> Option<usize> {
    let block = |storage: usize| {
        let start = made[storage].data.addr();
        start..start + made[storage].bytes
    };
    let is_in = |operand: &PartOperand, storage: usize| block(storage).contains(&bytes(operand, 1).start);
    operand.size()?;
    let storage = lifetimes.touched(k).iter().copied().find(|&storage| is_in(operand, storage))?;
    let contents = lifetimes.contents(storage, k)?;
    let at_that_time = |k: usize| lifetimes.contents(storage, k) == Some(contents);
    let calls = kernels.clone().zip(calls).filter(|(k, _)| at_that_time(*k));
    let is_one_run = calls.flat_map(|(_, call)| &call.operands).filter(|o| is_in(o, storage)).all(|o| o == operand);
    (is_one_run && lifetimes.are_within(kernels, storage, contents, &made[storage])).then_some(storage)
}

/// What there is to know of each kernel of a group. Blocks are numbered by their storages.
fn members(kernels: &Range<usize>, calls: &[Elementwise], lifetimes: &Lifetimes, made: &[Made]) -> Vec<Member> {
    let mut storages: Vec<usize> = Vec::new();
    let mut members = Vec::with_capacity(calls.len());
    for (i, call) in calls.iter().enumerate() {
        let block = |operand| {
            let storage = redirected((kernels.start + i, operand), (kernels, calls), lifetimes, made)?;
            Some(storages.iter().position(|known| *known == storage).unwrap_or_else(|| {
                storages.push(storage);
                storages.len() - 1
            }))
        };
        let blocks: SmallVec<[Option<usize>; 4]> = call.operands.iter().map(block).collect();
        let mut later = calls[i + 1..].iter().flat_map(|call| &call.operands);
        let is_read_soon = blocks[0].is_some() || later.any(|operand| *operand == call.operands[0]);
        members.push(Member { blocks, is_read_soon });
    }
    members
}
