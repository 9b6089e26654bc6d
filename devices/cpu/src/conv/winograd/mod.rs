//! A map of windows of 3×3 that move by one pixel, by fewer multiplications: where a window goes over a tile of 4×4
//! pixels, 36 products instead of 144.
//!
//! ```text
//!    image               tiles, 6×6 each          a product for each point                 map
//!   ┌─────────┐  Bᵀ d B  ┌────────────┐   weights  M × C   C × tiles   M × tiles  Aᵀ m A  ┌─────────┐
//!   │ C       │ ───────► │ 36 × C     │  36 × (  G w Gᵀ  ·  d       =  m      ) ────────► │ M       │
//!   └─────────┘          └────────────┘                                                   └─────────┘
//! ```
//!
//! Sums have other terms than those of PyTorch's convolution, and some ten times their error; so it is done where
//! roundings are [relaxed](monomorph_core::rounding) and the weight, whose transform takes four times its memory,
//! stays.
//! Blocks of tiles go through all of it before the next, so that they stay in the second-level cache.
//!
//! Sources: Winograd, "Arithmetic complexity of computations", 1980; Lavin and Gray, "Fast algorithms for convolutional
//! neural networks", 2016.

mod kernel;
mod transforms;

use super::{Job, LaidOut, Memory};
use crate::converted::zeroed;
use crate::scratch::{Scratch, unwritten};
use kernel::{Piece, Stage, TALL, width};
use monomorph_core::{DType, Result, list};
use monomorph_iter::{is_parallel, pieces, share};
use monomorph_ops::conv::{ConvAxis, Pass};
use std::ops::Range;
use transforms::{MADE, POINTS, TAPS};

/// Bytes of the transformed tiles that are computed together.
const TILES: usize = 384 << 10;

/// Channels below which transforms take longer than what they save.
const FEW: usize = 32;

/// Tiles below which the weights are read longer than they are computed with.
const FEW_TILES: usize = 12;

/// Multiplications that are worth a piece of work for a thread.
const WORK: usize = 1 << 20;

/// How a map is computed.
struct Winograd<'a> {
    job: &'a Job<'a>,
    /// Channels of a group on either side.
    seen: usize,
    made: usize,
    image: [usize; 3],
    map: [usize; 3],
    /// How far the image begins behind the first window, in lines and columns.
    padding: [isize; 2],
    /// Rows and columns of tiles.
    tiles: [usize; 2],
    is_wide: bool,
    /// Tiles of a block.
    width: usize,
    /// For each group, panel, point and channel of the image the weights of the panel.
    transformed: LaidOut<'a>,
    /// Where the numbers of each channel of the image are, from those of the first on.
    rows: Vec<isize>,
}

/// Tiles of a block that lie in a row.
struct Run {
    /// Where in the block.
    lane: usize,
    tiles: usize,
    image: usize,
    /// Where the first one is.
    row: usize,
    column: usize,
}

/// Computes the map, or says that it is none of these.
///
/// # Safety
///
/// A1 for elements of float32; nobody else uses the output.
pub(super) unsafe fn run(job: &Job<'_>) -> Result<bool> {
    // SAFETY: A1: the caller's promise.
    let Some(winograd) = (unsafe { Winograd::new(job) })? else { return Ok(false) };
    let (block, blocks) = (POINTS * winograd.seen * winograd.width, winograd.blocks());
    let together = (TILES / (block * size_of::<f32>())).clamp(1, blocks);
    let mut own = unwritten::<f32>(together * block)?;
    let memory = Memory(own.as_mut_ptr());
    let work = together.saturating_mul(block).saturating_mul(winograd.made);
    let threads = if is_parallel(work, WORK) { pieces() } else { 1 };
    for group in 0..job.plan.groups {
        for first in (0..blocks).step_by(together) {
            let blocks = first..blocks.min(first + together);
            for (stage, parts) in [(Stage::Input, winograd.seen), (Stage::Output, winograd.panels())] {
                let each = parts.div_ceil(threads);
                share(parts.div_ceil(each), |piece| {
                    let part = piece * each..parts.min((piece + 1) * each);
                    // SAFETY: A1; the memory has room for these blocks; pieces are apart, and all channels of the image
                    // have been transformed when the first panel is computed.
                    unsafe { winograd.enter(stage, group, blocks.clone(), part, &memory) };
                });
            }
        }
    }
    Ok(true)
}

/// Whether nothing is done along a dimension.
fn is_absent(axis: &ConvAxis) -> bool {
    *axis == ConvAxis::default()
}

/// Whether a window of three elements moves by one along a dimension.
fn is_filtered(axis: &ConvAxis) -> bool {
    axis.taps == TAPS as i64 && axis.stride == 1 && axis.dilation == 1
}

impl<'a> Winograd<'a> {
    /// # Safety
    ///
    /// A1 for elements of float32.
    unsafe fn new(job: &'a Job<'a>) -> Result<Option<Self>> {
        let plan = job.plan;
        let [plane, line, column] = &plan.axes;
        let (seen, made) = (plan.image_channels, plan.map_channels);
        let is_one = plan.pass == Pass::Map && is_absent(plane) && is_filtered(line) && is_filtered(column);
        let are_runs = job.first.steps[4] == 1 && job.output.steps[4] == 1;
        if !is_one || !plan.relaxed || !are_runs || seen.min(made) < FEW || job.kept.is_none() {
            return Ok(None);
        }
        let image = plan.axes.map(|axis| axis.image as usize);
        let map = plan.axes.map(|axis| axis.map as usize);
        let tiles = [map[1].div_ceil(MADE), map[2].div_ceil(MADE)];
        let all = plan.batch * tiles[0] * tiles[1];
        // Nine products a pixel would be made otherwise.
        let is_less = all.saturating_mul(POINTS) <= plan.batch * map[1] * map[2] * (TAPS * TAPS) / 2;
        if all < FEW_TILES || !is_less {
            return Ok(None);
        }
        let [wide, narrow] = [true, false].map(|is_wide| all.next_multiple_of(width(job.level, is_wide)));
        let is_wide = wide * 4 <= narrow * 5;
        let width = width(job.level, is_wide);
        let mut rows = list::with_capacity(seen)?;
        rows.extend((0..seen).map(|channel| (channel * width) as isize));
        let padding = [line, column].map(|axis| axis.padding as isize);
        let mut winograd = Winograd {
            job,
            seen,
            made,
            image,
            map,
            padding,
            tiles,
            is_wide,
            width,
            transformed: LaidOut::Kept(&[]),
            rows,
        };
        // SAFETY: A1: the caller's promise.
        winograd.transformed = job.laid_out(|| unsafe { winograd.transform() })?;
        Ok(Some(winograd))
    }

    fn blocks(&self) -> usize {
        (self.job.plan.batch * self.tiles[0] * self.tiles[1]).div_ceil(self.width)
    }

    fn panels(&self) -> usize {
        self.made.div_ceil(TALL)
    }

    /// Where the weights of a panel are for a point, counted in numbers.
    fn place(&self, group: usize, panel: usize, point: usize) -> usize {
        ((group * self.panels() + panel) * POINTS + point) * self.seen * TALL
    }

    fn weights(&self, group: usize, panel: usize, point: usize) -> *const f32 {
        self.transformed.as_ptr().cast::<f32>().wrapping_add(self.place(group, panel, point))
    }

    /// The weights, transformed; those of channels that do not exist are zeros.
    ///
    /// # Safety
    ///
    /// A1 for elements of float32.
    unsafe fn transform(&self) -> Result<Scratch<u128>> {
        let groups = self.job.plan.groups;
        let mut own = zeroed(self.place(groups, 0, 0), DType::F32)?;
        let to = own.as_mut_ptr().cast::<f32>();
        for group in 0..groups {
            for (made, seen) in (0..self.made).flat_map(|made| (0..self.seen).map(move |seen| (made, seen))) {
                let tap = |y: usize, x: usize| {
                    let at = self.job.weight::<f32>(group, made, seen, [0, y, x]);
                    // SAFETY: A1: an element of the weight.
                    f64::from(unsafe { at.read() })
                };
                let window = std::array::from_fn(|y| std::array::from_fn(|x| tap(y, x)));
                for (point, weight) in transforms::weight(window).into_iter().enumerate() {
                    let at = self.place(group, made / TALL, point) + seen * TALL + made % TALL;
                    // SAFETY: there is room for `TALL` weights for each channel of the image, point and panel.
                    unsafe { to.wrapping_add(at).write(weight) };
                }
            }
        }
        Ok(own)
    }

    /// The tiles of a block, row by row of each image.
    fn runs(&self, block: usize) -> impl Iterator<Item = Run> {
        let ([rows, columns], width) = (self.tiles, self.width);
        let (start, all) = (block * width, self.job.plan.batch * rows * columns);
        let mut lane = 0;
        std::iter::from_fn(move || {
            let tile = start + lane;
            if lane == width || tile >= all {
                return None;
            }
            let (line, column) = (tile / columns, tile % columns);
            let tiles = (columns - column).min(width - lane).min(all - tile);
            let run = Run { lane, tiles, image: line / rows, row: line % rows, column };
            lane += tiles;
            Some(run)
        })
    }

    /// Line and column of the image where what the tiles of a run see begins.
    fn corner(&self, run: &Run) -> [isize; 2] {
        [(run.row * MADE) as isize - self.padding[0], (run.column * MADE) as isize - self.padding[1]]
    }

    /// Transforms channels of the image, or computes panels of the map.
    ///
    /// # Safety
    ///
    /// A1; the memory has room for the blocks; nobody else uses these channels of it, or these panels of the output;
    /// where panels are computed, all channels of the blocks have been transformed.
    unsafe fn enter(&self, stage: Stage, group: usize, blocks: Range<usize>, part: Range<usize>, memory: &Memory<f32>) {
        self.job.level.enter(Piece { of: self, stage, group, blocks, part, memory: memory.0 });
    }
}
