//! How the pixels of a lattice are laid out for a call: what only hangs on sizes and steps, and is kept for later runs.

use super::blocks::Blocks;
use crate::conv::lattice::Lattice;
use crate::conv::spread::{Copies, Spread};
use crate::conv::tiles::in_turn;
use crate::conv::{Array, Job};
use crate::isa::Level;
use crate::tile_product::Number;
use monomorph_core::{Result, list};
use monomorph_ops::conv::Pass;

/// Channels of a panel: with two registers of pixels each, their sums are in registers.
pub(super) const TALL: usize = 6;
/// Where that would leave too many rows unused.
pub(super) const LOW: usize = 4;
/// Of groups of one channel: blocks are twice as wide.
pub(super) const SINGLE: usize = 1;

/// Weights of a group that stay in the second cache while blocks go by. More are read from farther away, in parts by a
/// product of matrices; that takes longer unless blocks reach much beyond the pixels.
const WEIGHTS: usize = 1 << 16;

/// Weights that stay in the first cache while what is seen directly goes by. More of them a product of matrices, which
/// takes it as it lies as well, reads in parts.
const NEAR_WEIGHTS: usize = 1 << 13;

/// Rows that take as long as it takes to turn a block of channels into pixels.
const TURNED: usize = 24;

/// Pixels of a block of `tall` channels at a level, for elements of so many bytes: two registers; four of one channel,
/// and half as many where sums of taps are kept apart, which takes as many again.
pub(super) fn width(level: Level, size: usize, tall: usize, in_turn: bool) -> usize {
    let bytes = match level {
        Level::Avx512 => 128,
        Level::Avx2 => 64,
        Level::Portable | Level::Sse2 => 32,
    };
    let wide = if tall == SINGLE { 2 * bytes } else { bytes };
    wide / size / if in_turn { 2 } else { 1 }
}

/// Pixels and channels of a block where channels are in lanes: two registers of channels for each pixel. What has few
/// pixels is one block, of little more than these.
fn by_channels(level: Level, size: usize, pixels: usize) -> Option<(usize, usize)> {
    let (wide, most) = match (level, size) {
        (Level::Avx512, 4) => (32, 8),
        (Level::Avx2, 4) => (16, 6),
        _ => return None,
    };
    Some(([2, 4].into_iter().find(|&few| pixels <= few).unwrap_or(most), wide))
}

/// What is in the lanes of registers.
#[derive(Debug)]
pub(super) enum Lanes {
    /// Pixels: blocks of those that lie one behind the other.
    Pixels(Blocks),
    /// Channels of the panel: so many pixels are a block.
    Channels(usize),
}

/// How a lattice is computed, the same for all groups and images.
#[derive(Debug)]
pub(in crate::conv) struct Layout {
    pub(super) lattice: Lattice,
    pub(super) spread: Spread,
    pub(super) copies: Copies,
    /// Channels are seen where they lie, and not copied.
    pub(super) is_direct: bool,
    /// Channels of a group on the seen and on the computed side.
    pub(super) seen: usize,
    pub(super) made: usize,
    /// Channels of a panel.
    pub(super) tall: usize,
    /// Where each row is, from the first channel on.
    pub(super) rows: Vec<isize>,
    /// How far each row's weight is behind that of the first row, the same for every channel that is made.
    pub(super) places: Vec<isize>,
    /// What each tap contributes is summed for itself.
    pub(super) in_turn: bool,
    pub(super) lanes: Lanes,
    /// Steps of the output between pixels of a run.
    pub(super) step: isize,
}

impl Layout {
    /// The layout of a lattice for elements of `T`, or none if it is computed otherwise.
    pub(in crate::conv) fn new<T: Number>(job: &Job<'_>, lattice: &Lattice) -> Result<Option<Layout>> {
        let plan = job.plan;
        let (seen, made) = match plan.pass {
            Pass::Map => (plan.image_channels, plan.map_channels),
            _ => (plan.map_channels, plan.image_channels),
        };
        let depth = seen * lattice.taps.len();
        let source: &Array = &job.first;
        let bounds = lattice.lines.each_ref().map(|line| line.bound as usize);
        // Nothing would be gathered.
        let is_plain = lattice.is_identity() && lattice.counts() == bounds && source.pixel_step(bounds).is_some();
        let is_run = |side: &Array| side.steps[4] == 1 && side.pixel_step(bounds) == Some(1);
        let is_near = made.saturating_mul(depth) <= NEAR_WEIGHTS;
        let is_direct = is_plain && is_near && is_run(source) && is_run(&job.output);
        let line = is_direct.then(|| lattice.as_line());
        let lattice = line.as_ref().unwrap_or(lattice);
        // Where channels are last, a pixel's are a run.
        let by_pixel = source.steps[1] == 1 && seen > 1 && source.steps[4] != 1;
        let is_nothing = depth == 0 || lattice.pixels() == 0 || plan.batch * plan.groups * made == 0;
        if is_nothing || plan.rounds || by_pixel || is_plain && !is_direct {
            return Ok(None);
        }
        let in_turn = in_turn(plan, lattice);
        let spread = Spread::new(lattice);
        if !spread.is_compact(lattice) {
            return Ok(None);
        }
        let mut tall = match made {
            1 if !in_turn => SINGLE,
            _ if made.next_multiple_of(TALL) * 8 > made.next_multiple_of(LOW) * 9 => LOW,
            _ => TALL,
        };
        let width = width(job.level, size_of::<T>(), tall, in_turn);
        let blocks = Blocks::new(lattice, &spread, &job.output, width)?;
        let (computed, pixels) = (blocks.len().saturating_mul(width), lattice.pixels());
        let sums = computed.saturating_mul(made.next_multiple_of(tall));
        let mut lanes = Lanes::Pixels(blocks);
        if let Some((few, wide)) = by_channels(job.level, size_of::<T>(), pixels).filter(|_| !in_turn && !is_direct) {
            // Results are turned round, which takes as long as so many rows.
            let own = pixels.next_multiple_of(few).saturating_mul(made.next_multiple_of(wide));
            if own.saturating_mul(depth.saturating_add(TURNED)) < sums.saturating_mul(depth) {
                (lanes, tall) = (Lanes::Channels(few), wide);
            }
        }
        let may_waste = if is_direct { pixels / 16 } else { pixels / 8 };
        let is_wasteful = computed > pixels.saturating_add(may_waste);
        if (is_direct || made * depth > WEIGHTS) && is_wasteful && matches!(lanes, Lanes::Pixels(_)) {
            return Ok(None);
        }
        let mut layout = Layout {
            lattice: lattice.clone(),
            copies: spread.copies(lattice, source)?,
            is_direct,
            spread,
            seen,
            made,
            tall,
            rows: list::with_capacity(depth)?,
            places: list::with_capacity(depth)?,
            in_turn,
            lanes,
            step: (lattice.lines[2].step as isize).wrapping_mul(job.output.steps[4]),
        };
        layout.find_rows::<T>(job);
        Ok(Some(layout))
    }

    /// Finds where rows are, and their weights.
    fn find_rows<T: Number>(&mut self, job: &Job<'_>) {
        let taps = &self.lattice.taps;
        let channel = if self.is_direct { job.first.steps[1] } else { self.spread.channel as isize };
        let offsets: Vec<isize> = taps.iter().map(|tap| self.spread.offset(tap) as isize).collect();
        let start = job.weight::<T>(0, 0, 0, [0; 3]).addr() as isize;
        let mut push = |seen: usize, tap: usize| {
            self.rows.push((seen as isize).wrapping_mul(channel).wrapping_add(offsets[tap]));
            let at = job.weight::<T>(0, 0, seen, taps[tap].place).addr() as isize;
            self.places.push(at.wrapping_sub(start) / size_of::<T>() as isize);
        };
        match self.in_turn {
            true => (0..taps.len()).for_each(|tap| (0..self.seen).for_each(|seen| push(seen, tap))),
            false => (0..self.seen).for_each(|seen| (0..taps.len()).for_each(|tap| push(seen, tap))),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn blocks(&self) -> usize {
        match &self.lanes {
            Lanes::Pixels(blocks) => blocks.len(),
            Lanes::Channels(pixels) => self.lattice.pixels().div_ceil(*pixels),
        }
    }

    pub(super) fn panels(&self) -> usize {
        self.made.div_ceil(self.tall)
    }
}
