//! Elements of the computed side that see the same elements of the window, at positions that move alike.
//!
//! ```text
//!   a map:    every element sees all taps; one step on, the taps are `stride` further in the image
//!   an image: element i sees the taps k with  i + padding - k·dilation  a multiple of the stride, at that over the
//!             stride in the map; every stride-th element sees the same taps, one step further each
//! ```

use super::Job;
use monomorph_ops::conv::{ConvAxis, Pass};

/// Elements along one dimension, and what they see.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The first element, steps from one to the next, and how many there are.
    pub(super) first: usize,
    pub(super) step: usize,
    pub(super) count: usize,
    /// Elements of what is seen, and how far each step moves there.
    pub(super) bound: isize,
    pub(super) moves: isize,
    /// The taps that are seen, and where by the first element.
    taps: Vec<(usize, isize)>,
}

impl Line {
    /// All lines of a dimension.
    fn all(axis: &ConvAxis, pass: Pass) -> Vec<Line> {
        let (stride, padding, dilation) = (axis.stride as isize, axis.padding as isize, axis.dilation as isize);
        let taps = 0..axis.taps as usize;
        if pass == Pass::Map {
            let taps = taps.map(|tap| (tap, tap as isize * dilation - padding)).collect();
            let (count, bound) = (axis.map as usize, axis.image as isize);
            return vec![Line { first: 0, step: 1, count, bound, moves: stride, taps }];
        }
        let residues = 0..(stride as usize).min(axis.image as usize);
        let line = |first: usize| {
            let at = |tap: usize| first as isize + padding - tap as isize * dilation;
            let taps = taps.clone().filter(|&tap| at(tap) % stride == 0).map(|tap| (tap, at(tap) / stride)).collect();
            let count = (axis.image as usize - first).div_ceil(stride as usize);
            Line { first, step: stride as usize, count, bound: axis.map as isize, moves: 1, taps }
        };
        // Elements that see nothing are no part of a lattice.
        residues.map(line).filter(|line| !line.taps.is_empty()).collect()
    }

    /// Elements `start..start + n` of the line that see something at an offset: the first such and the end.
    #[inline]
    pub(super) fn visible(&self, offset: isize, start: usize, n: usize) -> (usize, usize) {
        // 0 <= offset + j * moves < bound; what moves moves by one or more.
        let up = |x: isize| (x + self.moves - 1).div_euclid(self.moves).max(0) as usize;
        let (low, high) = (up(-offset), up(self.bound - offset));
        let end = start + n;
        let low = low.clamp(start, end);
        (low, high.clamp(low, end))
    }
}

/// A tap: where in the weight, and where it is seen by the first element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    pub(super) place: [usize; 3],
    pub(super) offset: [isize; 3],
}

/// Elements that see the same taps.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    pub(super) lines: [Line; 3],
    pub(super) taps: Vec<Tap>,
}

impl Lattice {
    /// The lattices that make up the computed side.
    pub(super) fn all(job: &Job<'_>, pass: Pass) -> Vec<Lattice> {
        let [a, b, c] = job.plan.axes.each_ref().map(|axis| Line::all(axis, pass));
        let mut all = Vec::with_capacity(a.len() * b.len() * c.len());
        for a in &a {
            for b in &b {
                all.extend(c.iter().map(|c| Lattice::new([a.clone(), b.clone(), c.clone()])));
            }
        }
        all
    }

    fn new(lines: [Line; 3]) -> Lattice {
        let mut taps = Vec::with_capacity(lines.iter().map(|line| line.taps.len()).product());
        for &(i, x) in &lines[0].taps {
            for &(j, y) in &lines[1].taps {
                taps.extend(lines[2].taps.iter().map(|&(k, z)| Tap { place: [i, j, k], offset: [x, y, z] }));
            }
        }
        Lattice { lines, taps }
    }

    /// The same elements without taps that are beyond an edge for all of them, as most are that are dilated far: they
    /// add nothing.
    pub(super) fn without_unseen(mut self) -> Lattice {
        let lines = &self.lines;
        self.taps.retain(|tap| {
            lines.iter().zip(tap.offset).all(|(line, offset)| {
                let (low, high) = line.visible(offset, 0, line.count);
                low < high
            })
        });
        self
    }

    /// Elements of each dimension.
    pub(super) fn counts(&self) -> [usize; 3] {
        self.lines.each_ref().map(|line| line.count)
    }

    /// Elements.
    pub(super) fn pixels(&self) -> usize {
        self.counts().iter().product()
    }

    /// Whether elements are seen one by one as they lie: one tap that is never beyond an edge.
    pub(super) fn is_identity(&self) -> bool {
        let same = |line: &Line| line.moves == 1 && line.step == 1 && line.count as isize <= line.bound;
        matches!(&*self.taps, [tap] if tap.offset == [0; 3]) && self.lines.iter().all(same)
    }

    /// The same elements as one line, for sides whose elements all lie one behind the other.
    pub(super) fn as_line(&self) -> Lattice {
        let pixels = self.pixels();
        let line = |n: usize| Line { first: 0, step: 1, count: n, bound: n as isize, moves: 1, taps: Vec::new() };
        Lattice { lines: [line(1), line(1), line(pixels)], taps: self.taps.clone() }
    }

    /// Where on the computed side an element lies.
    pub(super) fn target(&self, at: [usize; 3]) -> [usize; 3] {
        std::array::from_fn(|d| self.lines[d].first + at[d] * self.lines[d].step)
    }

    /// Calls `f` for each run of the elements `start..start + n` in row-major order that lie in one line: where it
    /// begins, how long it is, and how many elements were before.
    #[inline]
    pub(super) fn runs(&self, start: usize, n: usize, mut f: impl FnMut([usize; 3], usize, usize)) {
        let [_, rows, columns] = self.counts();
        // Divided once: a run of few elements takes no longer than a division.
        let (row, column) = (start / columns.max(1), start % columns.max(1));
        let mut at = [row / rows.max(1), row % rows.max(1), column];
        let mut done = 0;
        while done < n {
            let length = (columns - at[2]).min(n - done);
            f(at, length, done);
            done += length;
            let next = at[1] + 1;
            at = if next == rows { [at[0] + 1, 0, 0] } else { [at[0], next, 0] };
        }
    }
}
