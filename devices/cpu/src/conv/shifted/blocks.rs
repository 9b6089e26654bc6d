//! A lattice cut into blocks of pixels that are computed together.

use crate::conv::Array;
use crate::conv::lattice::Lattice;
use crate::conv::spread::Spread;
use monomorph_core::{Result, list};
use std::ops::Range;

/// Pixels that are computed together: where the first tap sees them, and which are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) at: usize,
    first_run: usize,
    runs: usize,
}

/// Pixels that lie one behind the other: those of the block from `from` on, and where they go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) from: usize,
    pub(super) length: usize,
    pub(super) to: isize,
}

/// The blocks of a lattice.
#[derive(Debug)]
pub(super) struct Blocks {
    all: Vec<Block>,
    runs: Vec<Run>,
}

impl Blocks {
    /// Cuts a lattice into blocks of `width` pixels, which are stored by the steps of `output`.
    pub(super) fn new(lattice: &Lattice, spread: &Spread, output: &Array, width: usize) -> Result<Blocks> {
        let [planes, lines, columns] = lattice.counts();
        let extent = spread.extents()[2];
        // All of a plane's lines with what lies between them, or each for itself.
        let across = (lines.saturating_sub(1)).saturating_mul(extent).saturating_add(columns).div_ceil(width);
        let apart = columns >= width && lines * columns.div_ceil(width) <= across;
        // No line is in more, wherever blocks begin.
        let of_line = columns.div_ceil(width) + 1;
        let most = planes.saturating_mul(lines).saturating_mul(of_line);
        let mut blocks = Blocks { all: list::with_capacity(most)?, runs: list::with_capacity(most)? };
        let to = |at: [usize; 3]| {
            let target = lattice.target(at);
            (0..3).fold(0_isize, |to, d| to.wrapping_add((target[d] as isize).wrapping_mul(output.steps[2 + d])))
        };
        for z in 0..planes {
            if apart {
                for y in 0..lines {
                    for x in (0..columns).step_by(width) {
                        // The last one begins where it does not go beyond the end; what is stored already is not again.
                        let start = x.min(columns - width);
                        let run = Run { from: x - start, length: width - (x - start), to: to([z, y, x]) };
                        blocks.push(spread.line([z, y]) + start, [run]);
                    }
                }
                continue;
            }
            // Across the edges of lines, which are `extent` apart.
            let all = (lines - 1) * extent + columns;
            for q in (0..all).step_by(width) {
                let runs = (q / extent..lines.min((q + width).div_ceil(extent))).filter_map(|y| {
                    let (low, high) = ((y * extent).max(q), (y * extent + columns).min(q + width));
                    let run = || Run { from: low - q, length: high - low, to: to([z, y, low - y * extent]) };
                    (low < high).then(run)
                });
                blocks.push(spread.line([z, 0]) + q, runs);
            }
        }
        Ok(blocks)
    }

    /// Adds a block, unless nothing of it is stored: where windows are wide and lines short, most may be.
    fn push(&mut self, at: usize, runs: impl IntoIterator<Item = Run>) {
        let first_run = self.runs.len();
        self.runs.extend(runs);
        let runs = self.runs.len() - first_run;
        if runs > 0 {
            self.all.push(Block { at, first_run, runs });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn of(&self, range: Range<usize>) -> &[Block] {
        &self.all[range]
    }

    /// What is stored of a block.
    pub(super) fn runs(&self, block: &Block) -> &[Run] {
        &self.runs[block.first_run..block.first_run + block.runs]
    }
}
