//! The loops: from the image to transformed tiles, and from those to the map.

use super::transforms::{self, MADE, POINTS, SEEN, Tiles};
use super::{Run, Winograd};
use crate::conv::shifted::products;
use crate::conv::spread::copy_run;
use crate::isa::{Isa, Kernel, Level};
use smallvec::SmallVec;
use std::ops::Range;

/// Channels of a panel: with two registers of tiles each, their sums are in registers.
pub(super) const TALL: usize = 6;

/// Tiles of a block at a level: two registers, or one.
pub(super) const fn width(level: Level, is_wide: bool) -> usize {
    let registers = match level {
        Level::Avx512 => 16,
        Level::Avx2 => 8,
        Level::Portable | Level::Sse2 => 4,
    };
    if is_wide { 2 * registers } else { registers }
}

/// Most tiles of a block, and the pixels that those of a line see.
const MOST: usize = 32;
const LINE: usize = MADE * MOST + SEEN - MADE;

/// What is done with blocks of a group.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    /// Channels of the image are transformed.
    Input,
    /// Panels of channels of the map are multiplied and transformed back.
    Output,
}

/// A piece of work. Made only where what [`Winograd::enter`] asks for holds.
pub(super) struct Piece<'a> {
    pub(super) of: &'a Winograd<'a>,
    pub(super) stage: Stage,
    pub(super) group: usize,
    /// The blocks that are in the memory.
    pub(super) blocks: Range<usize>,
    /// Channels or panels.
    pub(super) part: Range<usize>,
    /// For each block, point and channel of the image a number of each tile.
    pub(super) memory: *mut f32,
}

impl<I: Isa> Kernel<I> for Piece<'_> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        // The widths of `width`.
        if const { matches!(I::LEVEL, Level::Avx512) } {
            if self.of.is_wide { self.wide::<I, 32>() } else { self.wide::<I, 16>() }
        } else if const { matches!(I::LEVEL, Level::Avx2) } {
            if self.of.is_wide { self.wide::<I, 16>() } else { self.wide::<I, 8>() }
        } else if self.of.is_wide {
            self.wide::<I, 8>();
        } else {
            self.wide::<I, 4>();
        }
    }
}

impl Piece<'_> {
    #[inline(always)]
    fn wide<I: Isa, const W: usize>(self) {
        match self.stage {
            Stage::Input => self.input::<W>(),
            Stage::Output => self.output::<I, W>(),
        }
    }

    /// Where the numbers of a point and a channel of the image are.
    #[inline(always)]
    fn at<const W: usize>(&self, block: usize, point: usize, channel: usize) -> *mut f32 {
        let block = block - self.blocks.start;
        self.memory.wrapping_add(((block * POINTS + point) * self.of.seen + channel) * W)
    }

    #[inline(always)]
    fn input<const W: usize>(&self) {
        for block in self.blocks.clone() {
            let runs: SmallVec<[Run; 8]> = self.of.runs(block).collect();
            // Tiles that do not exist are whatever was there: nobody looks at what they give.
            let mut tiles: Tiles<W, SEEN> = [[[0.0; W]; SEEN]; SEEN];
            for channel in self.part.clone() {
                runs.iter().for_each(|run| self.load(run, channel, &mut tiles));
                let mut made = tiles;
                transforms::input(&mut made);
                for (point, tiles) in made.as_flattened().iter().enumerate() {
                    let to = self.at::<W>(block, point, channel);
                    // SAFETY: the memory has room for a number of each tile of the block, which are this piece's.
                    unsafe { to.cast::<[f32; W]>().write_unaligned(*tiles) };
                }
            }
        }
    }

    /// Loads what the tiles of a run see of a channel of the group; zeros beyond its edges.
    #[inline(always)]
    fn load<const W: usize>(&self, run: &Run, channel: usize, tiles: &mut Tiles<W, SEEN>) {
        let (image, [_, rows, columns]) = (&self.of.job.first, self.of.image);
        let from = image.at::<f32>(run.image, self.group * self.of.seen + channel, [0; 3]);
        let pixels = MADE * run.tiles + SEEN - MADE;
        let [top, left] = self.of.corner(run);
        // What of a line is within the image.
        let low = (-left).clamp(0, pixels as isize);
        let high = (columns as isize - left).clamp(low, pixels as isize);
        for (y, tiles) in tiles.iter_mut().enumerate() {
            let mut line = [0.0; LINE];
            let row = top + y as isize;
            if (0..rows as isize).contains(&row) {
                let at = row.wrapping_mul(image.steps[3]).wrapping_add(left + low);
                let to = line[low as usize..high as usize].as_mut_ptr();
                // SAFETY: A1: pixels `low..high` behind the corner are within the image, whose lines are runs; the line
                // has room for them.
                unsafe { copy_run(from.wrapping_offset(at).cast_const(), to, (high - low) as usize) };
            }
            deinterleave(&line, run, tiles);
        }
    }

    #[inline(always)]
    fn output<I: Isa, const W: usize>(&self) {
        let made = self.of.made;
        for panel in self.part.clone() {
            let (first, live) = (panel * TALL, TALL.min(made - panel * TALL));
            for block in self.blocks.clone() {
                let mut sums = [[[0.0; W]; TALL]; POINTS];
                for (point, sums) in sums.iter_mut().enumerate() {
                    let weights = self.of.weights(self.group, panel, point);
                    let from = self.at::<W>(block, point, 0).cast_const();
                    // SAFETY: there are `W` numbers of each channel of the image, which have all been computed, and
                    // `TALL` weights.
                    *sums = unsafe { products::<f32, I, TALL, W>([[0.0; W]; TALL], &self.of.rows, weights, from) };
                }
                let runs: SmallVec<[Run; 8]> = self.of.runs(block).collect();
                for m in 0..live {
                    let channel = self.group * made + first + m;
                    let of_channel = sums.each_ref().map(|panel| &panel[m]);
                    // SAFETY: A1, and a channel of the map.
                    let bias: f32 = unsafe { self.of.job.bias(channel) };
                    let tiles = transforms::output(|point| of_channel[point], bias);
                    runs.iter().for_each(|run| self.store(run, channel, &tiles));
                }
            }
        }
    }

    /// Stores the tiles of a run of a channel, but for what is beyond the edges of the map.
    #[inline(always)]
    fn store<const W: usize>(&self, run: &Run, channel: usize, tiles: &Tiles<W, MADE>) {
        let [_, rows, columns] = self.of.map;
        let (row, column) = (run.row * MADE, run.column * MADE);
        for (y, tiles) in tiles.iter().enumerate().take(rows - row) {
            let mut line = [0.0; LINE];
            interleave(tiles, run, &mut line);
            let to = self.of.job.output.at::<f32>(run.image, channel, [0, row + y, column]);
            // SAFETY: A1: so many pixels of a line of the map, which are a run that nobody else writes.
            unsafe { copy_run(line.as_ptr(), to, (MADE * run.tiles).min(columns - column)) };
        }
    }
}

/// The pixels that each tile of a run sees in a line: every fourth one for each place.
#[inline(always)]
fn deinterleave<const W: usize>(line: &[f32; LINE], run: &Run, tiles: &mut [[f32; W]; SEEN]) {
    for (x, tiles) in tiles.iter_mut().enumerate() {
        let tiles = &mut tiles[run.lane..][..run.tiles];
        for (tile, pixels) in tiles.iter_mut().zip(line[x..].chunks(MADE)) {
            *tile = pixels[0];
        }
    }
}

/// The line that the tiles of a run make up.
#[inline(always)]
fn interleave<const W: usize>(tiles: &[[f32; W]; MADE], run: &Run, line: &mut [f32; LINE]) {
    let tiles = tiles.each_ref().map(|tiles| &tiles[run.lane..][..run.tiles]);
    for (tile, pixels) in line.chunks_exact_mut(MADE).take(run.tiles).enumerate() {
        (0..MADE).for_each(|x| pixels[x] = tiles[x][tile]);
    }
}
