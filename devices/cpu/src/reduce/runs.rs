//! The elements of one output, in order, as runs along the innermost reduced dimension.

use super::layout::Dim;
use smallvec::SmallVec;
use std::ops::Range;

/// Some elements in a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Bytes from the output's first element to the run's.
    pub(super) offset: isize,
    /// Bytes from one element to the next.
    pub(super) stride: isize,
    pub(super) len: usize,
    /// The number of the first element.
    pub(super) start: usize,
}

/// The runs of a range of elements.
pub(super) struct Runs<'a> {
    dims: &'a [Dim],
    index: SmallVec<[usize; 4]>,
    next: usize,
    end: usize,
}

impl<'a> Runs<'a> {
    /// The runs of elements `range` of the dimensions `dims`, innermost first.
    pub(super) fn new(dims: &'a [Dim], range: Range<usize>) -> Runs<'a> {
        let mut rest = range.start;
        let mut digit = |dim: &Dim| {
            let digit = rest % dim.size.max(1);
            rest /= dim.size.max(1);
            digit
        };
        Runs { dims, index: dims.iter().map(&mut digit).collect(), next: range.start, end: range.end }
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.next >= self.end {
            return None;
        }
        let left = self.end - self.next;
        let Some(inner) = self.dims.first() else {
            let run = Run { offset: 0, stride: 0, len: 1, start: self.next };
            self.next += 1;
            return Some(run);
        };
        // I2 of the iteration: offsets of elements do not overflow.
        let offset = self.dims.iter().zip(&self.index).map(|(dim, &i)| dim.input.wrapping_mul(i as isize));
        let offset = offset.fold(0, isize::wrapping_add);
        let len = left.min(inner.size - self.index[0]);
        let run = Run { offset, stride: inner.input, len, start: self.next };
        self.next += len;
        self.index[0] += len;
        for d in 0..self.dims.len() {
            if self.index[d] < self.dims[d].size {
                break;
            }
            self.index[d] = 0;
            if let Some(outer) = self.index.get_mut(d + 1) {
                *outer += 1;
            }
        }
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_visit_every_element_once_in_order() {
        let dim = |size, input| Dim { size, input, outs: [0; 2] };
        let dims = [dim(3, 4), dim(2, 100), dim(2, -1000)];
        let offset = |i: usize| (i % 3 * 4 + i / 3 % 2 * 100) as isize - (i / 6) as isize * 1000;
        for start in 0..=12 {
            for end in start..=12 {
                let mut at = start;
                for run in Runs::new(&dims, start..end) {
                    assert_eq!(run.start, at);
                    for i in 0..run.len {
                        assert_eq!(run.offset + run.stride * i as isize, offset(at), "element {at} of {start}..{end}");
                        at += 1;
                    }
                }
                assert_eq!(at, end);
            }
        }
        assert_eq!(Runs::new(&[], 0..1).map(|run| run.len).sum::<usize>(), 1);
    }
}
