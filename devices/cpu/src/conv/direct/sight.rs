//! Which pixels of a lattice see which taps: the same for all channels.

use crate::conv::lattice::Lattice;
use monomorph_core::{Result, list};
use std::ops::Range;

/// Pixels of a line that lie side by side and see the same taps.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) columns: Range<usize>,
    pub(super) taps: Vec<usize>,
}

/// The runs of lines that see the same lines.
#[derive(Debug)]
pub(super) struct Line {
    /// The taps that see something of such lines.
    taps: Vec<usize>,
    pub(super) runs: Vec<Run>,
}

/// What all pixels see.
#[derive(Debug)]
pub(super) struct Sight {
    kinds: Vec<Line>,
    /// The kind of each line.
    lines: Vec<usize>,
}

/// Pixels of a line that a tap sees something for.
fn visible(lattice: &Lattice, tap: usize) -> Range<usize> {
    let (low, high) = lattice.lines[2].visible(lattice.taps[tap].offset[2], 0, lattice.counts()[2]);
    low..high
}

impl Line {
    fn new(lattice: &Lattice, taps: Vec<usize>) -> Line {
        let visible: Vec<_> = taps.iter().map(|&tap| (tap, visible(lattice, tap))).collect();
        let mut cuts: Vec<usize> = visible.iter().flat_map(|(_, columns)| [columns.start, columns.end]).collect();
        cuts.extend([0, lattice.counts()[2]]);
        cuts.sort_unstable();
        cuts.dedup();
        let run = |columns: Range<usize>| {
            let sees = visible.iter().filter(|(_, visible)| visible.contains(&columns.start));
            Run { taps: sees.map(|(tap, _)| *tap).collect(), columns }
        };
        let runs = cuts.windows(2).map(|ends| run(ends[0]..ends[1])).collect();
        Line { taps, runs }
    }
}

impl Sight {
    pub(super) fn new(lattice: &Lattice) -> Result<Sight> {
        let [planes, lines, _] = lattice.counts();
        let [outer, middle, _] = &lattice.lines;
        let mut sight = Sight { kinds: Vec::new(), lines: list::with_capacity(planes * lines)? };
        let mut taps = list::with_capacity(lattice.taps.len())?;
        for line in 0..planes * lines {
            let (i, j) = ((line / lines) as isize * outer.moves, (line % lines) as isize * middle.moves);
            taps.clear();
            taps.extend((0..lattice.taps.len()).filter(|&tap| {
                let [plane, line, _] = lattice.taps[tap].offset;
                (0..outer.bound).contains(&(i + plane)) && (0..middle.bound).contains(&(j + line))
            }));
            let last = sight.lines.last().copied().filter(|&kind: &usize| sight.kinds[kind].taps == taps);
            let kind = last.or_else(|| sight.kinds.iter().position(|kind| kind.taps == taps)).unwrap_or_else(|| {
                sight.kinds.push(Line::new(lattice, taps.clone()));
                sight.kinds.len() - 1
            });
            sight.lines.push(kind);
        }
        Ok(sight)
    }

    /// What a line sees.
    #[inline(always)]
    pub(super) fn line(&self, line: usize) -> &Line {
        &self.kinds[self.lines[line]]
    }
}
