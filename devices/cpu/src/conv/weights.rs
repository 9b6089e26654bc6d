//! A weight: what taps see in the image, times the map, summed over the pixels of all images.
//!
//! Pieces of work are columns of the weight, each of which one thread sums over all images in turn, so results do not
//! depend on the number of threads.

use super::gather;
use super::lattice::Lattice;
use super::tiles::share_fallible;
use super::{Array, Job};
use crate::scratch::{Scratch, scratch};
use crate::tile_product::{Matrix, Number, multiply};
use monomorph_core::Result;
use monomorph_ops::conv::Pass;

/// Columns and rows of the weight that a piece of work sums, and pixels of a tile: 256 KiB of float32.
const COLUMNS: usize = 128;
const ROWS: usize = 256;
const PIXELS: usize = 512;

/// Computes the weight.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output.
pub(super) unsafe fn run<T: Number>(job: &Job<'_>) -> Result<()> {
    let plan = job.plan;
    // What a map sees of the image is one lattice.
    let Some(lattice) = Lattice::all(job, Pass::Map).pop() else { return Ok(()) };
    let depth = plan.image_channels * lattice.taps.len();
    let (columns, rows) = (depth.div_ceil(COLUMNS), plan.map_channels.div_ceil(ROWS));
    let image: &Array = &job.first;
    let by_pixel = image.steps[1] == 1 && plan.image_channels > 1;
    let map_step = job.second.pixel_step(lattice.counts());
    let sums = Sums { job, lattice, by_pixel, map_step };
    share_fallible(plan.groups * rows * columns, |piece| {
        let (of, column) = (piece / columns, piece % columns * COLUMNS);
        let (group, row) = (of / rows, of % rows * ROWS);
        let size = [ROWS.min(plan.map_channels - row), COLUMNS.min(depth - column)];
        // SAFETY: A1, and pieces are apart.
        unsafe { sums.piece::<T>(group, [row, column], size) }
    })
}

/// The sums of a weight.
struct Sums<'a> {
    job: &'a Job<'a>,
    lattice: Lattice,
    /// Channels of a pixel of the image lie one behind the other, so tiles have a row for each pixel.
    by_pixel: bool,
    /// The step from one pixel of the map to the next, if there is one.
    map_step: Option<isize>,
}

impl Sums<'_> {
    /// Channel and tap of a column.
    fn column(&self, column: usize) -> (usize, usize) {
        let (taps, channels) = (self.lattice.taps.len(), self.job.plan.image_channels);
        if self.by_pixel { (column % channels, column / channels) } else { (column / taps, column % taps) }
    }

    /// Computes rows and columns of a group.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`; nobody else uses these elements of the weight.
    unsafe fn piece<T: Number>(
        &self,
        group: usize,
        [row, column]: [usize; 2],
        [rows, columns]: [usize; 2],
    ) -> Result<()> {
        let plan = self.job.plan;
        let all = self.lattice.pixels();
        let pixels = PIXELS.min(all);
        let mut sums: Scratch<T> = scratch(rows * columns)?;
        let mut tile: Scratch<T> = scratch(columns * pixels)?;
        let mut of_map: Scratch<T> = scratch(if self.map_step.is_some() { 0 } else { rows * pixels })?;
        let channel = group * plan.map_channels + row;
        for image in 0..plan.batch {
            let mut start = 0;
            while start < all {
                let n = pixels.min(all - start);
                // SAFETY: A1; the tile has room for so many columns and pixels.
                let b = unsafe { self.seen(image, group, (start, n), (column, columns), tile.as_mut_ptr()) };
                let a = match self.map_step {
                    Some(step) => {
                        let first = self.job.second.at::<T>(image, channel, [0; 3]).cast_const();
                        let data = first.wrapping_offset((start as isize).wrapping_mul(step));
                        Matrix { data, row: self.job.second.steps[1], column: step }
                    }
                    // SAFETY: A1; there is room for so many rows and pixels.
                    None => unsafe { self.map(image, channel, (start, n), rows, of_map.as_mut_ptr()) },
                };
                let c = Matrix { data: sums.as_mut_ptr(), row: columns as isize, column: 1 };
                // SAFETY: parts of the map, the tile, and memory of our own, which is initialised.
                unsafe { multiply([rows, columns, n], a, b, c, true) }?;
                start += n;
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            let (c, tap) = self.column(column + i % columns);
            let place = self.lattice.taps[tap].place;
            // SAFETY: an element of the weight (A1) of this piece.
            unsafe { self.job.output.at::<T>(channel + i / columns, c, place).write(*sum) };
        }
        Ok(())
    }

    /// A tile of what is seen of the image: columns are those of the weight, rows are pixels.
    ///
    /// # Safety
    ///
    /// A1; `to` has room for as many elements.
    unsafe fn seen<T: Number>(
        &self,
        image: usize,
        group: usize,
        pixels: (usize, usize),
        (first, columns): (usize, usize),
        to: *mut T,
    ) -> Matrix<*const T> {
        let source = &self.job.first;
        let channels = self.job.plan.image_channels;
        let channel = |c: usize| source.at::<T>(image, group * channels + c, [0; 3]).cast_const();
        if !self.by_pixel {
            for i in 0..columns {
                let (c, tap) = self.column(first + i);
                let (tap, to) = (&self.lattice.taps[tap], to.wrapping_add(i * pixels.1));
                // SAFETY: A1: the channel has the sizes of the bounds; the tile has room for a row of pixels.
                unsafe { gather::row(&self.lattice, tap, channel(c), &source.steps[2..], pixels, to) };
            }
            return Matrix { data: to, row: 1, column: pixels.1 as isize };
        }
        let mut done = 0;
        while done < columns {
            let (c, tap) = self.column(first + done);
            let each = (channels - c).min(columns - done);
            let (tap, to) = (&self.lattice.taps[tap], to.wrapping_add(done));
            let (from, steps) = ((channel(c), each), &source.steps[2..]);
            // SAFETY: A1: the channels have the sizes of the bounds and lie one behind the other; the tile has room for
            // a row of `columns` elements for each pixel, of which these are a part.
            unsafe { gather::pixels(&self.lattice, tap, from, steps, pixels, (to, columns)) };
            done += each;
        }
        Matrix { data: to, row: columns as isize, column: 1 }
    }

    /// A copy of rows of the map: a row for each channel.
    ///
    /// # Safety
    ///
    /// A1; `to` has room for as many elements.
    unsafe fn map<T: Number>(
        &self,
        image: usize,
        channel: usize,
        (start, n): (usize, usize),
        rows: usize,
        to: *mut T,
    ) -> Matrix<*const T> {
        let step = self.job.second.steps[4];
        for row in 0..rows {
            self.lattice.runs(start, n, |at, length, done| {
                let from = self.job.second.at::<T>(image, channel + row, at).cast_const();
                for i in 0..length {
                    // SAFETY: A1: an element of the map.
                    let x = unsafe { from.wrapping_offset((i as isize).wrapping_mul(step)).read() };
                    // SAFETY: there is room for `n` elements in each row.
                    unsafe { to.wrapping_add(row * n + done + i).write(x) };
                }
            });
        }
        Matrix { data: to, row: n as isize, column: 1 }
    }
}
