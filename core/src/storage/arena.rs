//! One block for all that a recording makes: what lives at different times shares its bytes. Owns where each storage
//! lies, and the storages in the block.
//!
//! A recording that gave out storages from a pool knows how many bytes were asked for and between which kernels they
//! live. Recorded once more, the same calls ask for the same, in the same order, and find theirs in the block. Places
//! are found as for the memory of embedded inference (Pisarchyk and Lee, "Efficient memory management for deep neural
//! net inference", 2020, "greedy by size"): the largest first, each in the narrowest gap that is wide enough between
//! those that live at the same time.
//!
//! Invariant A1: of storages of a block that share bytes, the recording alone has a handle of all but one. A call that
//! asks for a place that somebody else still has a part of gets other memory.

use super::lent::Lent;
use super::lifetimes::Block;
use super::recording::Made;
use super::{Handle, Memory};
use crate::error::Result;
use crate::options::DeviceId;
use std::ops::Range;
use std::sync::Arc;

/// Bytes to which places are aligned: a line of the cache.
const ALIGN: usize = 64;

/// Where storages lie in one block, in the order in which calls ask for them; none for those that lie elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    places: Vec<Option<Range<usize>>>,
    bytes: usize,
}

impl Arrangement {
    /// The places of blocks that live between these kernels. Kernels of a group run a part of each at a time, so that
    /// what two of them touch shares no byte, or is the same run of bytes.
    pub(super) fn of(blocks: &[Option<Block>], groups: &[Range<usize>]) -> Arrangement {
        let mut largest_first: Vec<usize> = (0..blocks.len()).collect();
        let bytes_of = |i: usize| blocks[i].as_ref().map_or(0, |block| block.bytes);
        largest_first.sort_by_key(|&i| std::cmp::Reverse(bytes_of(i)));
        let mut places: Vec<Option<Range<usize>>> = vec![None; blocks.len()];
        let mut bytes = 0;
        for i in largest_first {
            let Some(block) = blocks[i].as_ref().filter(|block| block.bytes > 0) else { continue };
            let (mut apart, mut mates) = (Vec::new(), Vec::new());
            for (other, place) in blocks.iter().zip(&places) {
                let (Some(other), Some(place)) = (other, place) else { continue };
                let in_both = |group: &Range<usize>| meet(group, &block.kernels) && meet(group, &other.kernels);
                if meet(&block.kernels, &other.kernels) {
                    apart.push(place.clone());
                } else if groups.iter().any(in_both) {
                    mates.push(place.clone());
                }
            }
            let is_free = |place: &&Range<usize>| {
                place.len() == block.bytes
                    && !apart.iter().any(|other| meet(other, place))
                    && mates.iter().all(|other| other == *place || !meet(other, place))
            };
            let start = match mates.iter().find(is_free) {
                Some(place) => place.start,
                None => {
                    apart.extend(mates);
                    apart.sort_by_key(|place| place.start);
                    narrowest_gap(&apart, block.bytes)
                }
            };
            places[i] = Some(start..start + block.bytes);
            bytes = bytes.max(start + block.bytes);
        }
        Arrangement { places, bytes }
    }

    /// Bytes of the block.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Whether two ranges have something in common.
fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Where so many bytes begin that lie apart from these places, which are in order: in the narrowest gap between them
/// that is wide enough, else behind them.
fn narrowest_gap(places: &[Range<usize>], bytes: usize) -> usize {
    let (mut end, mut best) = (0_usize, None);
    for place in places {
        let start = end.next_multiple_of(ALIGN);
        let room = place.start.saturating_sub(start);
        if room >= bytes && best.is_none_or(|(narrowest, _)| room < narrowest) {
            best = Some((room, start));
        }
        end = end.max(place.end);
    }
    best.map_or(end.next_multiple_of(ALIGN), |(_, start)| start)
}

/// The block while calls are recorded.
pub(super) struct Arena {
    block: Arc<Lent>,
    memory: &'static Memory,
    device: DeviceId,
    places: std::vec::IntoIter<Option<Range<usize>>>,
}

impl Arena {
    /// A block on a device, for storages of its memory.
    pub(super) fn new(memory: &'static Memory, device: DeviceId, arrangement: Arrangement) -> Result<Arena> {
        let handle = Handle::unrecorded(memory, device, arrangement.bytes)?;
        Ok(Arena { block: Lent::new(&handle)?, memory, device, places: arrangement.places.into_iter() })
    }

    /// The storage at the place of the next one that is asked for, if that is of these bytes and nobody has a part of
    /// it.
    pub(super) fn next(
        &mut self,
        memory: &'static Memory,
        device: DeviceId,
        bytes: usize,
        made: &[Made],
    ) -> Option<Made> {
        let place = self.places.next()??;
        let overlaps = |made: &&Made| made.place.as_ref().is_some_and(|other| meet(other, &place));
        let is_ours = |made: &Made| made.handle.header().borrow().is_unique();
        let is_alike = std::ptr::eq(memory, self.memory) && device == self.device && place.len() == bytes;
        if !is_alike || !made.iter().filter(overlaps).all(is_ours) {
            return None;
        }
        // SAFETY: the place lies in the block, which has the bytes of the arrangement, and is aligned to 64. A1: what
        // else has bytes of it nobody but the recording has a handle of.
        let handle = unsafe { self.block.part(place.start, bytes, super::BLOCK_ALIGN) };
        // SAFETY: nobody else has the handle yet; the address is followed only as long as this lasts.
        let data = unsafe { handle.header().data() };
        Some(Made { handle, data, bytes, place: Some(place) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: usize, kernels: Range<usize>) -> Option<Block> {
        Some(Block { offset: 0, bytes, kernels })
    }

    /// A number that follows from the one before.
    fn next(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    #[test]
    fn what_lives_at_the_same_time_lies_apart() {
        let mut state = 1;
        for _ in 0..200 {
            let blocks: Vec<Option<Block>> = (0..next(&mut state) % 40)
                .map(|_| {
                    let start = next(&mut state) % 30;
                    let end = start + 1 + next(&mut state) % 8;
                    let bytes = next(&mut state) % 1000;
                    if next(&mut state).is_multiple_of(5) { None } else { block(bytes, start..end) }
                })
                .collect();
            let groups = [3..9, 20..22];
            let Arrangement { places, bytes } = Arrangement::of(&blocks, &groups);
            for (i, (block, place)) in blocks.iter().zip(&places).enumerate() {
                let wanted = block.as_ref().map(|block| block.bytes).filter(|&bytes| bytes > 0);
                assert_eq!(place.as_ref().map(Range::len), wanted);
                let (Some(block), Some(place)) = (block, place) else { continue };
                assert!(place.start.is_multiple_of(ALIGN) && place.end <= bytes);
                for (other, other_place) in blocks[..i].iter().zip(&places) {
                    let (Some(other), Some(other_place)) = (other, other_place) else { continue };
                    let in_both = |group: &Range<usize>| meet(group, &block.kernels) && meet(group, &other.kernels);
                    let may_share =
                        !meet(&block.kernels, &other.kernels) && (place == other_place || !groups.iter().any(in_both));
                    let said = format!("{block:?} at {place:?} and {other:?} at {other_place:?}");
                    assert!(may_share || !meet(place, other_place), "{said}");
                }
            }
        }
    }

    #[test]
    fn a_chain_of_layers_takes_no_more_than_its_widest_step() {
        let sizes = [640, 1280, 64, 2560, 640, 640, 128];
        let blocks: Vec<_> = sizes.iter().enumerate().map(|(i, &bytes)| block(bytes, i..i + 2)).collect();
        let widest = sizes.windows(2).map(|pair| pair.iter().sum::<usize>()).max();
        assert_eq!(Some(Arrangement::of(&blocks, &[]).bytes()), widest);
        // In a group those of the same bytes alone share a place.
        let same: Vec<_> = (0..6).map(|i| block(640, i..i + 2)).collect();
        let group = std::slice::from_ref(&(0..6));
        assert_eq!(Arrangement::of(&same, group).bytes(), 1280);
        let other: Vec<_> = (0..4).map(|i| block(64 << i, i..i + 2)).collect();
        assert_eq!(Arrangement::of(&other, group).bytes(), 64 * 15);
    }

    #[test]
    fn the_narrowest_gap_is_taken() {
        assert_eq!(narrowest_gap(&[0..64, 256..320, 448..512], 100), 320);
        assert_eq!(narrowest_gap(&[0..64, 256..320, 448..512], 150), 64);
        assert_eq!(narrowest_gap(&[0..64, 256..320, 448..512], 300), 512);
        assert_eq!(narrowest_gap(&[128..130, 64..700], 50), 0);
    }
}
