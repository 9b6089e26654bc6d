//! DimCounter: a position in a shape, moved in steps of up to three dimensions through a range of element numbers.
//! Knows no memory.
//! Total: shapes and ranges may be any, and a counter only moves by steps of its own.
#![deny(clippy::arithmetic_side_effects)]

use smallvec::SmallVec;
use std::ops::Range;

/// Walks the element numbers of a range in steps of at most three dimensions. Dimension 0 is the innermost.
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
                // No size is 0 where there are elements.
                *value = rest.checked_rem(size).unwrap_or(0);
                rest = rest.checked_div(size).unwrap_or(0);
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

    /// The largest step from here that stays in one row, or covers whole rows of one plane; no step when the range is
    /// used up.
    #[inline]
    pub fn max_2d_step(&self) -> [usize; 2] {
        if self.is_done() {
            return [0, 0];
        }
        let left = self.end.wrapping_sub(self.offset);
        let (Some((&row, outer)), Some((&at, at_outer))) = (self.shape.split_first(), self.values.split_first()) else {
            return [left, 1];
        };
        // A position is below its size, so there is a step of one element at least.
        let step0 = left.min(row.wrapping_sub(at));
        match (outer.first(), at_outer.first()) {
            (Some(&rows), Some(&at)) if step0 == row => {
                [row, left.checked_div(row).unwrap_or(0).min(rows.wrapping_sub(at))]
            }
            _ => [step0, 1],
        }
    }

    /// The largest step from here that stays in one plane, or covers whole planes: elements, rows, planes.
    #[inline]
    pub fn max_3d_step(&self) -> [usize; 3] {
        let [cols, rows] = self.max_2d_step();
        let (&[row, plane, planes, ..], &[_, _, at, ..]) = (self.shape, &self.values[..]) else {
            return [cols, rows, 1];
        };
        // A step of as many elements and rows as there are begins where a plane does.
        if [cols, rows] != [row, plane] {
            return [cols, rows, 1];
        }
        let left = self.end.wrapping_sub(self.offset);
        [cols, rows, left.checked_div(cols.saturating_mul(rows)).unwrap_or(0).min(planes.wrapping_sub(at))]
    }

    /// Moves on by [`max_2d_step`](DimCounter::max_2d_step).
    #[inline]
    pub fn advance(&mut self) {
        let [cols, rows] = self.max_2d_step();
        self.increment([cols, rows, 1]);
    }

    /// Moves on by a step that [`max_3d_step`](DimCounter::max_3d_step) gave.
    #[inline]
    pub(crate) fn increment(&mut self, step: [usize; 3]) {
        // Up to the end of the range, since the step is one within it.
        self.offset = self.offset.saturating_add(step[0].saturating_mul(step[1]).saturating_mul(step[2]));
        let (first, mut carry) = match step {
            [cols, 1, 1] => (0, cols),
            [_, rows, 1] => (1, rows),
            [_, _, planes] => (2, planes),
        };
        for (value, &size) in self.values.iter_mut().zip(self.shape).skip(first) {
            // A step ends at the end of a row or a plane, if not within it.
            *value = value.wrapping_add(carry);
            if *value < size {
                return;
            }
            *value = value.wrapping_sub(size);
            carry = 1;
        }
    }
}
