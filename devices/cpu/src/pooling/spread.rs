//! The gradient of means, window by window: each window's share of the gradient is divided once, and added where the
//! window lies.
//!
//! ```text
//!   gradient   a     b     c            windows that tile the row: each place is written once, and none is read
//!              ┌─┴─┐ ┌─┴─┐ ┌─┴─┐
//!   row        A A A B B B C C C        A = a / divisor, rounded
//! ```
//!
//! Places are added to in row-major order of the windows, and rounded at each step, as by the blocks of `kernel`.

use super::kernel::{Row, Tap};
use super::numbers::{Average, divided};
use crate::element::{load, store};
use crate::isa::{Isa, Kernel, Level};
use std::marker::PhantomData;

/// True if each place of a row of this width is covered by one window.
pub(super) fn tiles(covered: &[Tap], width: i64) -> bool {
    let mut end = 0;
    let follows = covered.iter().all(|tap| {
        let follows = tap.start == end;
        end = tap.start + tap.count;
        follows
    });
    follows && end == width
}

/// # Safety
///
/// N1, N2; elements of `C`. There are no lanes, and the places that windows cover are some of the row.
pub(super) unsafe fn spread<C: Average>(level: Level, row: &Row<'_>, _: &mut [u64]) {
    level.enter(Spread::<C>(row, PhantomData));
}

struct Spread<'a, C>(&'a Row<'a>, PhantomData<C>);

impl<C: Average, I: Isa> Kernel<I> for Spread<'_, C> {
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        match self.0.to[0] == size_of::<C::Stored>() as isize {
            true => spread_to::<C, true>(self.0),
            false => spread_to::<C, false>(self.0),
        }
    }
}

/// Computes a row, whose elements lie side by side if `DENSE`.
#[inline(always)]
fn spread_to<C: Average, const DENSE: bool>(row: &Row<'_>) {
    let step = if DENSE { size_of::<C::Stored>() as isize } else { row.to[0] };
    let at = |i: i64| row.values.wrapping_offset(step.wrapping_mul(i as isize));
    let mut is_first = true;
    let whole = Tap { start: 0, count: row.width as i64 };
    if !row.tiles || row.taps.iter().any(|tap| tap.count < 1) {
        is_first = false;
        for i in whole.places() {
            // SAFETY: an element of the row of the output, in bounds and nobody else's (N2).
            unsafe { store::<C>(at(i), 0, C::ZERO) };
        }
    }
    let along = |d: usize, i: i64| (i as isize).wrapping_mul(row.strides[d]);
    for d in row.taps[0].places() {
        for h in row.taps[1].places() {
            let line = row.input.wrapping_offset(along(0, d).wrapping_add(along(1, h)));
            let outer = [(0, d), (1, h)].map(|(k, i)| row.divisors[k].get(i as usize).copied().unwrap_or(1));
            for (o, (tap, &divisor)) in row.covered.iter().zip(row.divisors[2]).enumerate() {
                // SAFETY: N1: a window that covers the row; of the last dimension each covers some of it.
                let x = unsafe { load::<C>(line.wrapping_offset(along(2, o as i64)), 0) };
                // A sum that begins with zero, which is never -0.
                let share = C::plus(C::ZERO, divided::<C, true>(x, row.fold, [outer[0], outer[1], divisor]));
                for i in tap.places() {
                    // SAFETY: N2, since the places are some of the row, and written before.
                    let sum = if is_first { share } else { C::plus(unsafe { load::<C>(at(i), 0) }, share) };
                    // SAFETY: N2, since the places are some of the row.
                    unsafe { store::<C>(at(i), 0, sum) };
                }
            }
            is_first = false;
        }
    }
}
