//! Groups of one channel on either side: elements are summed where they lie, many side by side.
//!
//! ```text
//!   row-major       a line of a channel: neighbours see a tap in neighbours, times the same weight
//!   channels-last   the channels of a pixel: each sees a tap in itself, times a weight of its own
//! ```
//!
//! Either way it is a number of runs, each times a run or a number, added to a run ([`Runs`]).

use super::lattice::Lattice;
use super::tiles::{scratch, share_fallible};
use super::{Array, Job};
use crate::isa::{Isa, Kernel};
use crate::tile_product::Number;
use monomorph_core::Result;
use monomorph_ops::conv::Pass;
use smallvec::SmallVec;

/// Elements that are summed side by side: of float32, two registers of AVX-512.
const LANES: usize = 32;

/// Elements that are worth a piece of work for a thread.
const WORK: usize = 1 << 16;

/// Computes the map or the image.
///
/// # Safety
///
/// A1 for elements of `T`; nobody else uses the output.
pub(super) unsafe fn run<T: Number>(job: &Job<'_>) -> Result<()> {
    let groups = job.plan.groups;
    let is_unit = |array: &Array| array.steps[1] == 1;
    let by_pixel = is_unit(&job.first) && is_unit(&job.output);
    let lattices = Lattice::all(job, job.plan.pass);
    // SAFETY: A1, and nobody else uses the output: the caller's promise.
    unsafe { super::tiles::fill_unseen::<T>(job, &lattices) };
    for lattice in lattices {
        // A map of windows of several taps is spread out where its lines lie side by side.
        let is_window = job.plan.pass == Pass::Map && lattice.taps.len() > 1;
        // SAFETY: A1, and nobody else uses the output: the caller's promise.
        if !by_pixel && is_window && unsafe { super::shifted::run::<T>(job, &lattice) }? {
            continue;
        }
        // The weights of a tap for all channels, one behind the other, and biases.
        let mut weights: Vec<T> = scratch((lattice.taps.len() + 1) * groups)?;
        for (tap, weights) in weights.chunks_mut(groups.max(1)).enumerate() {
            for (group, weight) in weights.iter_mut().enumerate() {
                *weight = match (lattice.taps.get(tap), &job.bias) {
                    // SAFETY: A1: an element of the weight.
                    (Some(tap), _) => unsafe { job.second.at::<T>(group, 0, tap.place).read() },
                    // SAFETY: A1: the bias has an element for each channel.
                    (None, Some(bias)) => unsafe { bias.at::<T>(0, group, [0; 3]).read() },
                    (None, None) => T::default(),
                };
            }
        }
        let [planes, lines, columns] = lattice.counts();
        // Lines of all planes and, one channel after the other, of all channels.
        let side = if by_pixel { 1 } else { groups };
        let all = job.plan.batch * side * planes * lines;
        let of_line = columns * if by_pixel { groups } else { 1 };
        let together = (WORK / (of_line * lattice.taps.len()).max(1)).clamp(1, all.max(1));
        let depthwise = Depthwise { job, lattice: &lattice, weights: &weights, by_pixel };
        share_fallible(all.div_ceil(together), |piece| {
            // SAFETY: A1, and lines are apart.
            job.level.enter(Lines { of: &depthwise, lines: piece * together..all.min((piece + 1) * together) });
            Ok(())
        })?;
    }
    debug_assert!(job.plan.pass != Pass::Weight);
    Ok(())
}

/// One lattice of a call.
#[derive(Clone, Copy)]
struct Depthwise<'a, T> {
    job: &'a Job<'a>,
    lattice: &'a Lattice,
    weights: &'a [T],
    by_pixel: bool,
}

/// Lines of a lattice. Made only where A1 holds for elements of `T`, and nobody else uses these lines.
struct Lines<'a, T> {
    of: &'a Depthwise<'a, T>,
    lines: std::ops::Range<usize>,
}

impl<T: Number, I: Isa> Kernel<I> for Lines<'_, T> {
    type Home = Self;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        for line in self.lines {
            // SAFETY: the lines are those of this piece (the struct's promise).
            unsafe { self.of.line::<I>(line) };
        }
    }
}

/// What a tap sees, and its weight: the first element of a run each.
type Term<T> = (*const T, *const T);

impl<T: Number> Depthwise<'_, T> {
    /// Computes a line.
    ///
    /// # Safety
    ///
    /// A1; nobody else uses the line.
    #[inline(always)]
    unsafe fn line<I: Isa>(&self, line: usize) {
        let Depthwise { job, lattice, by_pixel, .. } = *self;
        let groups = job.plan.groups;
        let [planes, lines, columns] = lattice.counts();
        let (of, i, j) = (line / (planes * lines), line / lines % planes, line % lines);
        let (image, group) = if by_pixel { (of, 0) } else { (of / groups, of % groups) };
        let [outer, middle, inner] = &lattice.lines;
        let target = lattice.target([i, j, 0]);
        let to = job.output.at::<T>(image, group, target);
        let from = job.first.at::<T>(image, group, [0; 3]).cast_const();
        let steps = job.first.steps;
        let (seen_step, made_step) =
            (inner.moves.wrapping_mul(steps[4]), (inner.step as isize).wrapping_mul(job.output.steps[4]));
        let weight = |tap: usize| self.weights[tap * groups + group..].as_ptr();
        let bias = weight(lattice.taps.len());
        // The taps that see this line, and where from which element on.
        let mut terms: SmallVec<[(Term<T>, usize, usize); 32]> = SmallVec::new();
        for (t, tap) in lattice.taps.iter().enumerate() {
            let place = [i as isize * outer.moves + tap.offset[0], j as isize * middle.moves + tap.offset[1]];
            if !(0..outer.bound).contains(&place[0]) || !(0..middle.bound).contains(&place[1]) {
                continue;
            }
            let (low, high) = inner.visible(tap.offset[2], 0, columns);
            let first = place[0]
                .wrapping_mul(steps[2])
                .wrapping_add(place[1].wrapping_mul(steps[3]))
                .wrapping_add(tap.offset[2].wrapping_mul(steps[4]));
            terms.push(((from.wrapping_offset(first), weight(t)), low, high));
        }
        let low = terms.iter().map(|term| term.1).max().unwrap_or(0);
        let high = terms.iter().map(|term| term.2).min().unwrap_or(columns).max(low);
        let at = |column: usize| to.wrapping_offset((column as isize).wrapping_mul(made_step));
        let seen = |p: *const T, column: usize| p.wrapping_offset((column as isize).wrapping_mul(seen_step));
        let mut visible: SmallVec<[Term<T>; 32]> = SmallVec::new();
        let mut column = 0;
        while column < columns {
            // Pixels that all taps see are one run; others, and pixels of channels, are one at a time.
            let inside = (low..high).contains(&column);
            let n = if inside && !by_pixel { high - column } else { 1 };
            visible.clear();
            let sees = |term: &&(Term<T>, usize, usize)| (term.1..term.2).contains(&column);
            visible.extend(terms.iter().filter(sees).map(|((p, w), ..)| (seen(*p, column), *w)));
            let runs = Runs { to: at(column), terms: &visible, bias };
            // SAFETY, of all: the elements are visible, so they are in bounds (A1), for the `n` pixels or the channels
            // of one; weights and biases have an element for each channel.
            match (by_pixel, seen_step, made_step) {
                // SAFETY: see above.
                (true, ..) => unsafe { runs.sum::<I, true>(groups, [1, 1]) },
                // SAFETY: see above.
                (_, 1, 1) => unsafe { runs.sum::<I, false>(n, [1, 1]) },
                // SAFETY: see above.
                _ => unsafe { runs.sum::<I, false>(n, [made_step, seen_step]) },
            }
            column += n;
        }
    }
}

/// Runs that are added to the bias, each times a weight, and where to.
struct Runs<'a, T> {
    to: *mut T,
    terms: &'a [Term<T>],
    bias: *const T,
}

impl<T: Number> Runs<'_, T> {
    /// Sums `n` elements with these steps on the computed and the seen side; `OWN` if each has weights of its own.
    ///
    /// # Safety
    ///
    /// So many elements are in bounds, of the terms initialised, and nobody else uses those that are written.
    #[inline(always)]
    unsafe fn sum<I: Isa, const OWN: bool>(&self, n: usize, [made, seen]: [isize; 2]) {
        let mut i = 0;
        while i + LANES <= n {
            // SAFETY: `LANES` elements from `i` on.
            unsafe { self.lanes::<I, OWN, LANES>(i, [made, seen]) };
            i += LANES;
        }
        while i < n {
            // SAFETY: element `i`.
            unsafe { self.lanes::<I, OWN, 1>(i, [made, seen]) };
            i += 1;
        }
    }

    /// Sums `N` elements from `i` on.
    ///
    /// # Safety
    ///
    /// That of [`sum`](Self::sum).
    #[inline(always)]
    unsafe fn lanes<I: Isa, const OWN: bool, const N: usize>(&self, i: usize, [made, seen]: [isize; 2]) {
        let own = |p: *const T, lane: usize| if OWN { p.wrapping_add(i + lane) } else { p };
        // SAFETY: there is a bias for each channel.
        let mut sums: [T; N] = std::array::from_fn(|lane| unsafe { own(self.bias, lane).read() });
        for &(p, w) in self.terms {
            let p = p.wrapping_offset((i as isize).wrapping_mul(seen));
            for (lane, sum) in sums.iter_mut().enumerate() {
                // SAFETY: in bounds and initialised: the caller's promise.
                let x = unsafe { p.wrapping_offset((lane as isize).wrapping_mul(seen)).read() };
                // SAFETY: there is a weight for each channel.
                let w = unsafe { own(w, lane).read() };
                *sum = if I::FMA { sum.plus::<true>(x, w) } else { sum.plus::<false>(x, w) };
            }
        }
        let to = self.to.wrapping_offset((i as isize).wrapping_mul(made));
        for (lane, sum) in sums.into_iter().enumerate() {
            // SAFETY: in bounds, and nobody else's: the caller's promise.
            unsafe { to.wrapping_offset((lane as isize).wrapping_mul(made)).write(sum) };
        }
    }
}
