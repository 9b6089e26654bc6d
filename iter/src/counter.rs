//! DimCounter: a position in a shape, moved in two-dimensional steps through a range of element numbers. Knows no memory.

use smallvec::SmallVec;
use std::ops::Range;

/// Walks the element numbers of a range in steps of at most two dimensions. Dimension 0 is the innermost.
#[derive(Clone, Debug)]
pub struct DimCounter<'a> {
    shape: &'a [usize],
    values: SmallVec<[usize; 6]>,
    offset: usize,
    end: usize,
}

impl<'a> DimCounter<'a> {
    /// A counter at the start of `range`, which is cut to the elements that the shape has.
    pub fn new(shape: &'a [usize], range: Range<usize>) -> DimCounter<'a> {
        let numel = if shape.contains(&0) { 0 } else { shape.iter().fold(1usize, |n, &s| n.saturating_mul(s)) };
        let end = range.end.min(numel);
        let mut values = SmallVec::from_elem(0, shape.len());
        let mut rest = range.start.min(end);
        let offset = rest;
        if rest > 0 {
            for (value, &size) in values.iter_mut().zip(shape) {
                *value = rest % size;
                rest /= size;
            }
        }
        DimCounter { shape, values, offset, end }
    }

    /// True when the range is used up.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.offset >= self.end
    }

    /// The index of the next element in each dimension.
    #[inline]
    pub fn values(&self) -> &[usize] {
        &self.values
    }

    /// The number of the next element.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The largest step from here that stays in one row, or covers whole rows of one plane.
    #[inline]
    pub fn max_2d_step(&self) -> [usize; 2] {
        let left = self.end - self.offset;
        let Some((&row, outer)) = self.shape.split_first() else { return [left, 1] };
        let step0 = left.min(row - self.values[0]);
        match outer.first() {
            Some(&rows) if step0 == row => [row, (left / row).min(rows - self.values[1])],
            _ => [step0, 1],
        }
    }

    /// Moves on by a step that [`max_2d_step`](DimCounter::max_2d_step) gave.
    #[inline]
    pub fn increment(&mut self, step: [usize; 2]) {
        self.offset += step[0] * step[1];
        if self.shape.is_empty() {
            return;
        }
        let mut first = 0;
        let mut carry = step[0];
        if step[1] != 1 {
            first = 1;
            carry = step[1];
        }
        for (value, &size) in self.values[first..].iter_mut().zip(&self.shape[first..]) {
            *value += carry;
            if *value < size {
                return;
            }
            *value -= size;
            carry = 1;
        }
    }
}
