//! Which algorithm computes a map or an image: the lattices of a job, and what is chosen for each. That hangs on sizes
//! and steps alone, so it is chosen by the first run of a job, for all others.

use super::direct::{self, Lines, Planes};
use super::lattice::Lattice;
use super::shifted::{self, Layout};
use super::{Job, tiles};
use crate::scratch::Scratch;
use crate::tile_product::Number;
use monomorph_core::Result;
use monomorph_iter::share;
use monomorph_ops::conv::{ConvAxis, Pass};
use std::sync::OnceLock;

/// How a lattice is computed.
#[derive(Debug)]
enum Algorithm {
    /// It has no elements.
    Nothing,
    /// As products of a tile after the other.
    Tiles,
    /// From spread-out channels.
    Shifted(Box<Layout>),
    /// A channel alone: planes of it.
    Planes(Box<Planes>),
    /// A channel alone: lines of it.
    Lines(Lines),
}

/// What is chosen for a lattice.
#[derive(Debug)]
struct Chosen {
    lattice: Lattice,
    algorithm: Algorithm,
    /// The weight in the order of its kernel, if it may be kept.
    kept: OnceLock<Scratch<u128>>,
}

/// What is chosen for all lattices of a job.
#[derive(Debug)]
pub(super) struct Algorithms(Vec<Chosen>);

impl Algorithms {
    pub(super) fn of<T: Number>(job: &Job<'_>) -> Result<Algorithms> {
        let plan = job.plan;
        let is_alone = plan.image_channels == 1 && plan.map_channels == 1 && plan.groups > 1 && !plan.rounds;
        let chosen = |lattice: Lattice| {
            let algorithm = match lattice.pixels() {
                0 => Algorithm::Nothing,
                _ if is_alone => match Planes::new(job, &lattice)? {
                    Some(planes) => Algorithm::Planes(Box::new(planes)),
                    None => Algorithm::Lines(Lines::new(job, &lattice)?),
                },
                _ => Layout::new::<T>(job, &lattice)?
                    .map_or(Algorithm::Tiles, |layout| Algorithm::Shifted(Box::new(layout))),
            };
            Ok(Chosen { lattice, algorithm, kept: OnceLock::new() })
        };
        Lattice::all(job, plan.pass)
            .into_iter()
            .map(Lattice::without_unseen)
            .map(chosen)
            .collect::<Result<_>>()
            .map(Algorithms)
    }

    /// Computes the map or the image.
    ///
    /// # Safety
    ///
    /// A1 for elements of `T`; nobody else uses the output; the choice was made for a job of these sizes and steps.
    pub(super) unsafe fn run<T: Number>(&self, job: &Job<'_>) -> Result<()> {
        if !self.are_all(job) {
            // SAFETY: A1, and nobody else uses the output: the caller's promise.
            unsafe { fill::<T>(job) };
        }
        for Chosen { lattice, algorithm, kept } in &self.0 {
            let job = &Job { kept: job.kept.map(|_| kept), ..*job };
            match algorithm {
                Algorithm::Nothing => {}
                // SAFETY: A1, and nobody else uses the output: the caller's promise.
                Algorithm::Tiles => unsafe { tiles::run::<T>(job, lattice) }?,
                // SAFETY: A1, and nobody else uses the output: the caller's promise, as are these sizes and steps.
                Algorithm::Shifted(layout) => unsafe { shifted::run::<T>(job, layout) }?,
                // SAFETY: A1, nobody else uses the output (the caller's promise), and these are the lattice's planes.
                Algorithm::Planes(planes) => unsafe { direct::by_planes::<T>(job, lattice, planes) }?,
                // SAFETY: A1, nobody else uses the output (the caller's promise), and these are the lattice's lines.
                Algorithm::Lines(lines) => unsafe { direct::by_lines::<T>(job, lattice, lines) }?,
            }
        }
        Ok(())
    }

    /// Whether a run has kept the weight for all lattices: then later ones do not read it.
    pub(super) fn are_laid_out(&self) -> bool {
        self.0
            .iter()
            .all(|Chosen { algorithm, kept, .. }| matches!(algorithm, Algorithm::Nothing) || kept.get().is_some())
    }

    /// Whether the lattices have all elements of the computed side: otherwise there are some that see nothing.
    fn are_all(&self, job: &Job<'_>) -> bool {
        let computed = |axis: &ConvAxis| if job.plan.pass == Pass::Map { axis.map } else { axis.image } as usize;
        let all: usize = job.plan.axes.iter().map(computed).product();
        self.0.iter().map(|chosen| chosen.lattice.pixels()).sum::<usize>() == all
    }
}

/// Writes the bias to all elements of an image.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output.
unsafe fn fill<T: Number>(job: &Job<'_>) {
    let plan = job.plan;
    let channels = plan.groups * plan.image_channels;
    let [planes, rows, columns] = plan.axes.map(|axis| axis.image as usize);
    share(plan.batch * channels, |i| {
        let (image, channel) = (i / channels, i % channels);
        // SAFETY: A1, and a channel of the output.
        let bias: T = unsafe { job.bias(channel) };
        for line in 0..planes * rows {
            for column in 0..columns {
                let to = job.output.at::<T>(image, channel, [line / rows, line % rows, column]);
                // SAFETY: an element of the output (A1) of a channel that nobody else uses.
                unsafe { to.write(bias) };
            }
        }
    });
}
