//! Rearrangements of every sort against one element at a time.

use super::rearrange;
use monomorph_core::strides::DimVec;
use monomorph_core::{DType, Rearrangement, Segment, SegmentSource, Strided, strides};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).for_each(|i| order.swap(i, self.below(i + 1)));
        order
    }

    /// Strides with the dimensions in some order, gaps between them if they are wanted, some of them 0.
    fn strides(&mut self, sizes: &[i64], may_have_gaps: bool) -> DimVec {
        let mut strides = DimVec::from_elem(1, sizes.len());
        let mut next = 1;
        for d in self.order(sizes.len()) {
            strides[d] = next;
            next *= sizes[d].max(1);
            if may_have_gaps {
                next += [0, 0, 1, 3][self.below(4)];
                if self.below(8) == 0 {
                    strides[d] = 0;
                }
            }
        }
        strides
    }

    /// Segments of a dimension, of one element or more in all.
    fn segments(&mut self, dim: usize, size: i64) -> Vec<Segment> {
        let mut segments = Vec::new();
        for _ in 0..1 + self.below(3) {
            let first = self.below(size as usize) as i64;
            let step = self.below(3) as i64 - 1;
            let most = [first + 1, 3, size - first][(step + 1) as usize];
            let (length, source) = match self.below(5) {
                0 => (self.below(3) as i64, SegmentSource::Filler),
                1 => (0, SegmentSource::Elements { first, step }),
                _ => (1 + self.below(most as usize) as i64, SegmentSource::Elements { first, step }),
            };
            segments.push(Segment { dim, length, source });
        }
        segments.push(Segment { dim, length: 1, source: SegmentSource::Elements { first: 0, step: 0 } });
        segments
    }
}

const SIZES: [(DType, usize); 5] =
    [(DType::U8, 1), (DType::BF16, 2), (DType::F32, 4), (DType::I64, 8), (DType::C128, 16)];

/// Every index of these sizes, the last dimension first.
fn indices(sizes: &[i64]) -> impl Iterator<Item = Vec<i64>> + '_ {
    let numel = sizes.iter().product::<i64>();
    (0..numel).map(move |mut flat| {
        let mut index = vec![0; sizes.len()];
        for (i, size) in index.iter_mut().zip(sizes).rev() {
            (*i, flat) = (flat % size, flat / size);
        }
        index
    })
}

fn offset(index: &[i64], strides: &[i64]) -> usize {
    index.iter().zip(strides).map(|(i, stride)| i * stride).sum::<i64>() as usize
}

/// Where the place of a dimension comes from; `None` is the filler.
fn place_of(segments: &[Segment], dim: usize, place: i64) -> Option<i64> {
    let own = segments.iter().filter(|segment| segment.dim == dim);
    let mut start = 0;
    for segment in own.clone() {
        if place < start + segment.length {
            return match segment.source {
                SegmentSource::Filler => None,
                SegmentSource::Elements { first, step } => Some(first + step * (place - start)),
            };
        }
        start += segment.length;
    }
    assert_eq!(own.count(), 0, "the place is in a segment");
    Some(place)
}

/// Runs a rearrangement on elements that all differ, and holds it against `want`, which says where an element comes
/// from: an index of the source, or the bytes that are there.
fn check(
    sizes: &[i64],
    from_strides: &[i64],
    to_strides: &[i64],
    how: &Rearrangement,
    want: impl Fn(&[i64]) -> Result<Vec<i64>, [u8; 16]>,
) {
    let to_sizes = how.sizes(sizes).expect("within the source");
    for (dtype, size) in SIZES {
        let extent = strides::extent(sizes, from_strides).expect("small");
        let source: Vec<u8> = (0..extent * size).map(|i| ((i * 2_654_435_761) >> 11) as u8).collect();
        let numel = to_sizes.iter().product::<i64>() as usize;
        // Whatever is around the target stays.
        let mut target = vec![0xa5_u8; numel * size + 64];
        let side =
            |data: *const u8, strides| Strided { data: data.cast_mut(), strides, dtype, conj: false, neg: false };
        let (to, from) = (side(target.as_mut_ptr().wrapping_add(32), to_strides), side(source.as_ptr(), from_strides));
        // SAFETY: both sides are in bounds of vectors of their own, the target is dense, and the segments are within
        // the source, as `sizes` has found.
        unsafe { rearrange(0, sizes, to, from, how) }.expect("a level");
        for index in indices(&to_sizes) {
            let at = 32 + offset(&index, to_strides) * size;
            let want: Vec<u8> = match want(&index) {
                Ok(from) => source[offset(&from, from_strides) * size..][..size].to_vec(),
                Err(bytes) => bytes[..size].to_vec(),
            };
            assert_eq!(
                target[at..at + size],
                want,
                "{index:?} of {to_sizes:?} from {sizes:?} {from_strides:?}, {how:?}"
            );
        }
        assert!(target[..32].iter().chain(&target[32 + numel * size..]).all(|byte| *byte == 0xa5), "around {how:?}");
    }
}

fn check_segments(sizes: &[i64], from_strides: &[i64], to_strides: &[i64], segments: &[Segment]) {
    let filler: [u8; 16] = std::array::from_fn(|i| 0x70 + i as u8);
    let how = Rearrangement::Segments { segments: segments.into(), filler };
    check(sizes, from_strides, to_strides, &how, |index| {
        let places = index.iter().enumerate().map(|(dim, &place)| place_of(segments, dim, place));
        places.collect::<Option<Vec<i64>>>().ok_or(filler)
    });
}

#[test]
fn segments_show_the_elements_that_they_name() {
    let mut random = Random(7);
    for _ in 0..3000 {
        let sizes: Vec<i64> = (0..random.below(5)).map(|_| 1 + random.below(6) as i64).collect();
        let mut segments = Vec::new();
        for (dim, &size) in sizes.iter().enumerate() {
            if random.below(3) > 0 {
                segments.extend(random.segments(dim, size));
            }
        }
        let how = Rearrangement::Segments { segments: segments.as_slice().into(), filler: [0; 16] };
        let to_sizes = how.sizes(&sizes).expect("within the source");
        let (from, to) = (random.strides(&sizes, true), random.strides(&to_sizes, false));
        check_segments(&sizes, &from, &to, &segments);
    }
}

/// Large enough for several threads, for blocks of a transposed source, and for runs that are copied as bytes.
#[test]
fn large_tensors_are_cut_anywhere() {
    let mut random = Random(11);
    for (sizes, dims) in [(&[3, 70, 90][..], 3), (&[50_000], 1), (&[40_000, 2], 2), (&[2, 20_000], 2), (&[90, 130], 2)]
    {
        let segments: Vec<Segment> = (0..dims)
            .flat_map(|dim| {
                let size = sizes[dim];
                let (a, b) = (size / 3, size / 4);
                let elements = |length, first, step| (length, SegmentSource::Elements { first, step });
                [elements(b, b, -1), elements(size, 0, 1), (2, SegmentSource::Filler), elements(a, size - a, 1)]
                    .map(|(length, source)| Segment { dim, length, source })
            })
            .collect();
        let how = Rearrangement::Segments { segments: segments.as_slice().into(), filler: [0; 16] };
        let to_sizes = how.sizes(sizes).expect("within the source");
        for segments in [&segments[..], &segments[..4]] {
            let to_sizes = if segments.len() == 4 {
                DimVec::from_iter([to_sizes[0]].into_iter().chain(sizes[1..].iter().copied()))
            } else {
                to_sizes.clone()
            };
            let to = strides::contiguous_strides(&to_sizes);
            check_segments(sizes, &strides::contiguous_strides(sizes), &to, segments);
            check_segments(sizes, &random.strides(sizes, true), &to, segments);
            let reversed: Vec<i64> = sizes.iter().rev().copied().collect();
            let across: DimVec = strides::contiguous_strides(&reversed).into_iter().rev().collect();
            check_segments(sizes, &across, &to, segments);
        }
    }
}

#[test]
fn triangles_are_copied_on_their_side() {
    let mut random = Random(3);
    let sizes = [&[1_i64, 1][..], &[3, 5], &[5, 3], &[2, 4, 4], &[2, 3, 2, 7], &[20, 17], &[2, 33, 40], &[3, 130, 120]];
    for sizes in sizes {
        let to = strides::contiguous_strides(sizes);
        let (last, n) = (sizes.len() - 1, sizes.len());
        let mut across = to.clone();
        (across[n - 2], across[n - 1]) = (1, sizes[n - 2]);
        for from in [to.clone(), across, random.strides(sizes, true)] {
            for diagonal in [0, 1, -1, 3, -2, 100, -100, i64::MAX, i64::MIN] {
                for is_upper in [false, true] {
                    let how = Rearrangement::Triangle { diagonal, is_upper };
                    check(sizes, &from, &to, &how, |index| {
                        let above = i128::from(index[last]) - i128::from(index[last - 1]);
                        let is_kept = match is_upper {
                            true => above >= diagonal.into(),
                            false => above <= diagonal.into(),
                        };
                        if is_kept { Ok(index.to_vec()) } else { Err([0; 16]) }
                    });
                }
            }
        }
    }
}
