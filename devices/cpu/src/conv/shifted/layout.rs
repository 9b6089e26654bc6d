//! How the pixels of a lattice are laid out for a call: what only hangs on sizes and steps, and is kept for later runs.

use super::blocks::Blocks;
use crate::conv::lattice::{Lattice, Tap};
use crate::conv::padded::{Padded, View};
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

/// Rows that take as long as it takes to write pixels one by one.
const SCATTERED: usize = 32;

/// Multiplications that take as long as it takes to copy an element alone.
const COPIED: usize = 64;

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
/// pixels is one block, of little more than these, unless sums of taps are kept apart.
fn by_channels(level: Level, size: usize, pixels: usize, in_turn: bool) -> Option<(usize, usize)> {
    let (wide, most) = match (level, size) {
        (Level::Avx512, 4) => (32, 8),
        (Level::Avx2, 4) => (16, 6),
        _ => return None,
    };
    let fitting = [2, 4].into_iter().find(|&few| pixels <= few && !in_turn);
    Some((fitting.unwrap_or(most), wide))
}

/// What is in the lanes of registers.
#[derive(Debug)]
pub(super) enum Lanes {
    /// Pixels: blocks of those that lie one behind the other.
    Pixels(Blocks),
    /// Channels of the panel: so many pixels are a block, and see this.
    Channels(usize, View),
}

/// A lattice with pixels in lanes.
struct InPixels {
    spread: Spread,
    blocks: Blocks,
    /// Channels of a panel.
    tall: usize,
    /// Multiplications that it takes as long as.
    cost: usize,
    /// Too many are of pixels that nobody stores.
    is_wasteful: bool,
}

impl InPixels {
    /// None if channels would be spread over too much memory.
    fn new<T: Number>(
        job: &Job<'_>,
        lattice: &Lattice,
        [seen, made, depth]: [usize; 3],
        in_turn: bool,
        is_direct: bool,
    ) -> Result<Option<InPixels>> {
        let spread = Spread::new(lattice);
        if !spread.is_compact(lattice) {
            return Ok(None);
        }
        let tall = match made {
            1 if !in_turn => SINGLE,
            _ if made.next_multiple_of(TALL) * 8 > made.next_multiple_of(LOW) * 9 => LOW,
            _ => TALL,
        };
        let width = width(job.level, size_of::<T>(), tall, in_turn);
        let blocks = Blocks::new(lattice, &spread, &job.output, width)?;
        let (computed, pixels) = (blocks.len().saturating_mul(width), lattice.pixels());
        let may_waste = if is_direct { pixels / 16 } else { pixels / 8 };
        let is_wasteful =
            (is_direct || made.saturating_mul(depth) > WEIGHTS) && computed > pixels.saturating_add(may_waste);
        // Where channels are last, elements of a line are copied and stored one by one.
        let bounds = lattice.lines.iter().map(|line| line.bound as usize).product::<usize>();
        let copied = if is_last(&job.first, seen) { bounds.saturating_mul(seen).saturating_mul(COPIED) } else { 0 };
        let rows = if is_last(&job.output, made) { depth.saturating_add(SCATTERED) } else { depth };
        // Sums of a tap in half the registers wait for each other.
        let sums = computed.saturating_mul(made.next_multiple_of(tall) << u8::from(in_turn));
        let cost = sums.saturating_mul(rows).saturating_add(copied);
        Ok(Some(InPixels { spread, blocks, tall, cost, is_wasteful }))
    }
}

/// A lattice with channels in lanes.
struct InChannels {
    padded: Padded,
    /// Pixels of a block, and channels of a panel.
    pixels: usize,
    wide: usize,
    /// Multiplications that it takes as long as.
    cost: usize,
}

impl InChannels {
    /// None if there is no such kernel, or a copy would be much larger than what is seen.
    fn new<T: Number>(
        job: &Job<'_>,
        lattice: &Lattice,
        [seen, made, depth]: [usize; 3],
        in_turn: bool,
    ) -> Result<Option<InChannels>> {
        let all = lattice.pixels();
        let Some((pixels, wide)) = by_channels(job.level, size_of::<T>(), all, in_turn) else { return Ok(None) };
        let rows = if is_last(&job.output, made) { depth } else { depth.saturating_add(TURNED) };
        let sums = all.next_multiple_of(pixels).saturating_mul(made.next_multiple_of(wide));
        let cost = sums.saturating_mul(rows);
        let padded = Padded::new(lattice, &job.first, seen, size_of::<T>())?;
        Ok(padded.map(|padded| InChannels { padded, pixels, wide, cost }))
    }
}

/// Whether the channels of a pixel, of which there are so many, lie one behind the other, and pixels do not.
pub(in crate::conv) fn is_last(side: &Array, channels: usize) -> bool {
    side.steps[1] == 1 && channels > 1 && side.steps[4] != 1
}

/// How a lattice is computed, the same for all groups and images.
#[derive(Debug)]
pub(in crate::conv) struct Layout {
    pub(super) lattice: Lattice,
    /// How the channels of a group are copied, unless they are seen where they lie.
    pub(super) copies: Option<Copies>,
    /// Elements of that copy.
    pub(super) size: usize,
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
        let is_nothing = depth == 0 || lattice.pixels() == 0 || plan.batch * plan.groups * made == 0;
        if is_nothing || plan.rounds || is_plain && !is_direct {
            return Ok(None);
        }
        let in_turn = in_turn(plan, lattice);
        let sizes = [seen, made, depth];
        let lines = InPixels::new::<T>(job, lattice, sizes, in_turn, is_direct)?;
        let channels = if is_direct { None } else { InChannels::new::<T>(job, lattice, sizes, in_turn)? };
        let offsets = |offset: &dyn Fn(&Tap) -> isize| lattice.taps.iter().map(offset).collect::<Vec<isize>>();
        let (lanes, tall, copies, size, channel, offsets) = match (lines, channels) {
            (lines, Some(own)) if lines.as_ref().is_none_or(|lines| lines.is_wasteful || own.cost < lines.cost) => {
                let Padded { view, size, copies } = own.padded;
                let offsets = offsets(&|tap| view.tap(tap));
                (Lanes::Channels(own.pixels, view), own.wide, copies, size, view.channel, offsets)
            }
            (Some(own), _) if !own.is_wasteful => {
                let (lanes, offsets) = (Lanes::Pixels(own.blocks), offsets(&|tap| own.spread.offset(tap) as isize));
                if is_direct {
                    (lanes, own.tall, None, 0, source.steps[1], offsets)
                } else {
                    let (copies, channel) = (own.spread.copies(lattice, source)?, own.spread.channel);
                    (lanes, own.tall, Some(copies), channel.saturating_mul(seen), channel as isize, offsets)
                }
            }
            _ => return Ok(None),
        };
        let (mut rows, mut places) = (list::with_capacity(depth)?, list::with_capacity(depth)?);
        let start = job.weight::<T>(0, 0, 0, [0; 3]).addr() as isize;
        let mut push = |seen: usize, tap: usize| {
            rows.push((seen as isize).wrapping_mul(channel).wrapping_add(offsets[tap]));
            let at = job.weight::<T>(0, 0, seen, lattice.taps[tap].place).addr() as isize;
            places.push(at.wrapping_sub(start) / size_of::<T>() as isize);
        };
        let taps = lattice.taps.len();
        match in_turn {
            true => (0..taps).for_each(|tap| (0..seen).for_each(|seen| push(seen, tap))),
            false => (0..seen).for_each(|seen| (0..taps).for_each(|tap| push(seen, tap))),
        }
        let step = (lattice.lines[2].step as isize).wrapping_mul(job.output.steps[4]);
        let lattice = lattice.clone();
        Ok(Some(Layout { lattice, copies, size, seen, made, tall, rows, places, in_turn, lanes, step }))
    }

    pub(super) fn depth(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn blocks(&self) -> usize {
        match &self.lanes {
            Lanes::Pixels(blocks) => blocks.len(),
            Lanes::Channels(pixels, _) => self.lattice.pixels().div_ceil(*pixels),
        }
    }

    pub(super) fn panels(&self) -> usize {
        self.made.div_ceil(self.tall)
    }
}
