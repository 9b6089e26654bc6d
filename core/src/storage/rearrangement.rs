//! Copies whose elements come from other places than those at which they are written: what a device is told of one.
//! Owns the description and the check that it stays within a tensor; how a device copies is its own.
//!
//! ```text
//!   source a b c d      reflected   c b | a b c d | c       segments of 2 (step -1), 4 (step 1) and 1
//!                       replicated  a a | a b c d | d       segments of 2 (step 0), 4 (step 1) and 1
//!                       padded      0 0 | a b c d | 0       segments of 2 (filled), 4 (step 1) and 1 (filled)
//!                       rolled          c d | a b           segments of 2 and 2 (step 1)
//! ```
#![deny(clippy::arithmetic_side_effects)]

use crate::geometry::strides::DimVec;
use smallvec::SmallVec;

/// Neighbours along a dimension of a new tensor, and where along the same dimension of the source they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The dimension.
    pub dim: usize,
    /// How many elements there are.
    pub length: i64,
    /// What they are.
    pub source: SegmentSource,
}

/// What the elements of a [`Segment`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentSource {
    /// One number, whatever the places in other dimensions are.
    Filler,
    /// Those of the source from `first` on, each `step` behind the one before: 1, 0 or -1.
    Elements {
        /// The place of the first one.
        first: i64,
        /// From one to the next.
        step: i64,
    },
}

impl Segment {
    /// True if all its elements are in a dimension of this size.
    fn is_in(&self, size: i64) -> bool {
        let within = |place: i64| (0..size).contains(&place);
        match self.source {
            _ if self.length <= 0 => self.length == 0,
            SegmentSource::Filler => true,
            SegmentSource::Elements { first, step: 0 } => within(first),
            SegmentSource::Elements { first, step: 1 } => within(first) && self.length <= size.saturating_sub(first),
            SegmentSource::Elements { first, step: -1 } => within(first) && self.length <= first.saturating_add(1),
            SegmentSource::Elements { .. } => false,
        }
    }
}

/// A part of a dimension that is split: some of its places, at equal distances, which go to a dimension of a new
/// tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The dimension that is split.
    pub dim: usize,
    /// From one place to the next.
    pub step: i64,
    /// How many there are.
    pub size: i64,
    /// The dimension of the new tensor; of several parts of one, the last one's places are neighbours.
    pub to: usize,
}

/// What is written where.
#[derive(Clone, Debug)]
pub enum Rearrangement {
    /// Each dimension made of segments, in their order; one that no segment names is as it was.
    Segments {
        /// The segments of all dimensions.
        segments: SmallVec<[Segment; 6]>,
        /// The number that fillers are: the bytes of an element.
        filler: [u8; 16],
    },
    /// Dimensions split into parts, which make the dimensions of the new tensor, in their order.
    Parts(SmallVec<[Part; 6]>),
    /// The elements of matrices, the last two dimensions, on one side of a diagonal and on it; 0 on the other side.
    Triangle {
        /// How far above the main diagonal it lies.
        diagonal: i64,
        /// Whether the elements above it are kept, or those below.
        is_upper: bool,
    },
}

impl Rearrangement {
    /// The sizes of what is made of a tensor of these sizes; `None` where it would reach out of the tensor, or its
    /// sizes do not fit.
    pub fn sizes(&self, of: &[i64]) -> Option<DimVec> {
        let mut sizes = DimVec::from_slice(of);
        let segments = match self {
            Rearrangement::Segments { segments, .. } => segments,
            Rearrangement::Parts(parts) => return sizes_of_parts(parts, of),
            Rearrangement::Triangle { .. } => return (of.len() >= 2).then_some(sizes),
        };
        for segment in segments {
            *sizes.get_mut(segment.dim)? = 0;
        }
        for segment in segments {
            if !segment.is_in(*of.get(segment.dim)?) {
                return None;
            }
            let size = sizes.get_mut(segment.dim)?;
            *size = size.checked_add(segment.length)?;
        }
        Some(sizes)
    }
}

/// The sizes of a tensor whose dimensions parts of others make; `None` where a part has places that there are not, no
/// part makes a dimension, or sizes do not fit.
fn sizes_of_parts(parts: &[Part], of: &[i64]) -> Option<DimVec> {
    let mut last = DimVec::from_elem(0, of.len());
    let mut sizes = DimVec::new();
    for part in parts {
        match part.to.checked_sub(sizes.len()) {
            Some(0) => sizes.push(part.size),
            None if part.to.checked_add(1)? == sizes.len() => {
                let size = sizes.last_mut()?;
                *size = size.checked_mul(part.size)?;
            }
            _ => return None,
        }
        if part.size < 1 || part.step < 0 {
            return None;
        }
        let last = last.get_mut(part.dim)?;
        *last = last.checked_add(part.size.checked_sub(1)?.checked_mul(part.step)?)?;
    }
    last.iter().zip(of).all(|(last, size)| last < size).then_some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(segments: &[(usize, i64, SegmentSource)], of: &[i64]) -> Option<Vec<i64>> {
        let segments = segments.iter().map(|&(dim, length, source)| Segment { dim, length, source }).collect();
        Rearrangement::Segments { segments, filler: [0; 16] }.sizes(of).map(|sizes| sizes.to_vec())
    }

    /// Every segment of every kind, against its places one by one.
    #[test]
    fn segments_reach_what_they_say() {
        for (size, length, first, step) in (0..4)
            .flat_map(|size| (-1..5).map(move |length| (size, length)))
            .flat_map(|(size, length)| (-1..5).map(move |first| (size, length, first)))
            .flat_map(|(size, length, first)| (-2..3).map(move |step| (size, length, first, step)))
        {
            let all_in = (0..length).all(|i| (0..size).contains(&(first + i * step)));
            let is_known = length == 0 || (-1..=1).contains(&step);
            let want = (length >= 0 && all_in && is_known).then_some(vec![7, length]);
            let got = sizes(&[(1, length, SegmentSource::Elements { first, step })], &[7, size]);
            assert_eq!(got, want, "{length} elements from {first} on by {step} of {size}");
        }
    }

    /// Parts are within what they are parts of, and each dimension is made by some, one after the other.
    #[test]
    fn parts_make_dimensions() {
        let sizes = |parts: &[[i64; 4]], of: &[i64]| {
            let part = |&[dim, step, size, to]: &[i64; 4]| Part { dim: dim as usize, step, size, to: to as usize };
            Rearrangement::Parts(parts.iter().map(part).collect()).sizes(of).map(|sizes| sizes.to_vec())
        };
        let shuffled = [[0, 2, 3, 1], [0, 1, 2, 1]];
        let split = |rest: &[[i64; 4]]| [&[[1, 1, 5, 0]][..], rest].concat();
        assert_eq!(sizes(&split(&shuffled), &[6, 5]), Some(vec![5, 6]));
        assert_eq!(sizes(&split(&shuffled), &[5, 5]), None, "place 5 of 5");
        assert_eq!(sizes(&split(&shuffled), &[6, 4]), None, "five places of 4");
        assert_eq!(sizes(&shuffled, &[6, 5]), None, "nothing makes the first dimension");
        assert_eq!(sizes(&split(&[[0, 1, 2, 1], [0, 1, 2, 0]]), &[6, 5]), None, "back at the first dimension");
        assert_eq!(sizes(&split(&[[2, 1, 2, 1]]), &[6, 5]), None, "no such dimension");
        assert_eq!(sizes(&split(&[[0, -1, 2, 1]]), &[6, 5]), None, "backwards");
        assert_eq!(sizes(&split(&[[0, 1, 0, 1]]), &[6, 5]), None, "no places");
        assert_eq!(sizes(&split(&[[0, i64::MAX, 3, 1]]), &[6, 5]), None, "too far");
        assert_eq!(sizes(&[[0, 0, i64::MAX, 0], [0, 0, 2, 0]], &[1]), None, "too large");
        assert_eq!(sizes(&[], &[0]), None, "of nothing");
        assert_eq!(sizes(&[], &[]), Some(vec![]));
    }

    #[test]
    fn sizes_are_sums_and_fit() {
        let (filler, one) = (SegmentSource::Filler, SegmentSource::Elements { first: 0, step: 0 });
        assert_eq!(sizes(&[(0, 2, filler), (1, 3, one), (0, 4, one)], &[1, 1]), Some(vec![6, 3]));
        assert_eq!(sizes(&[], &[3]), Some(vec![3]));
        assert_eq!(sizes(&[(1, 2, filler)], &[3]), None, "no such dimension");
        assert_eq!(sizes(&[(0, i64::MAX, filler), (0, 1, filler)], &[3]), None, "too large");
        assert_eq!(sizes(&[(0, -1, filler)], &[3]), None, "below zero");
        let triangle = Rearrangement::Triangle { diagonal: 0, is_upper: false };
        assert_eq!((triangle.sizes(&[3]), triangle.sizes(&[3, 2])), (None, Some(DimVec::from_slice(&[3, 2]))));
    }
}
