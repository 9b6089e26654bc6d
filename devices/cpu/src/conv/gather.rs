//! A tile of what taps see: the matrix of a product.

use super::lattice::{Lattice, Tap};
use crate::tile_product::Number;

/// The part of the run `k..k + length` that is visible, of those that are.
#[inline]
fn within((low, high): (usize, usize), k: usize, length: usize) -> (usize, usize) {
    let end = k + length;
    let low = low.clamp(k, end);
    (low, high.clamp(low, end))
}

/// Writes what one tap sees of one channel at the pixels `start..start + n` to a run; zeros beyond an edge.
///
/// # Safety
///
/// `channel` is the first element of a channel that has the sizes of the lattice's bounds and these steps, initialised,
/// which nobody writes; `to` has room for `n` elements that nobody else uses.
pub(super) unsafe fn row<T: Number>(
    lattice: &Lattice,
    tap: &Tap,
    channel: *const T,
    steps: &[isize],
    (start, n): (usize, usize),
    to: *mut T,
) {
    let [outer, middle, inner] = &lattice.lines;
    let step = inner.moves.wrapping_mul(steps[2]);
    let visible = inner.visible(tap.offset[2], 0, inner.count);
    lattice.runs(start, n, |[i, j, k], length, done| {
        let place = [i as isize * outer.moves + tap.offset[0], j as isize * middle.moves + tap.offset[1]];
        let is_inside = (0..outer.bound).contains(&place[0]) && (0..middle.bound).contains(&place[1]);
        let (low, high) = if is_inside { within(visible, k, length) } else { (k, k) };
        let to = to.wrapping_add(done);
        // Calls even of no element take time: most runs lie within the edges.
        if low > k {
            // SAFETY: `low` and `high` lie in `k..k + length`, so each part is within the run of `length` elements,
            // which is within the `n` that there is room for. Zero bytes are a value of `T`.
            unsafe { to.write_bytes(0, low - k) };
        }
        if high < k + length {
            // SAFETY: as said for the part before.
            unsafe { to.wrapping_add(high - k).write_bytes(0, k + length - high) };
        }
        if low == high {
            return;
        }
        let first = place[0]
            .wrapping_mul(steps[0])
            .wrapping_add(place[1].wrapping_mul(steps[1]))
            .wrapping_add((low as isize * inner.moves + tap.offset[2]).wrapping_mul(steps[2]));
        let (from, to, n) = (channel.wrapping_offset(first), to.wrapping_add(low - k), high - low);
        if step == 1 {
            // SAFETY: the elements are visible, so they are in bounds of the channel, one behind the other since the
            // step is 1; the tile is memory of its own.
            return unsafe { to.copy_from_nonoverlapping(from, n) };
        }
        for i in 0..n {
            // SAFETY: the element is visible, so it is in bounds of the channel.
            let x = unsafe { from.wrapping_offset((i as isize).wrapping_mul(step)).read() };
            // SAFETY: `i` is within the part of the run that is visible.
            unsafe { to.wrapping_add(i).write(x) };
        }
    });
}

/// Writes what one tap sees of `channels` channels, which lie one behind the other, at the pixels `start..start + n`: a
/// run for each pixel, `pitch` elements apart.
///
/// # Safety
///
/// That of [`row`] for each of the channels; `to` has room for `n` runs.
pub(super) unsafe fn pixels<T: Number>(
    lattice: &Lattice,
    tap: &Tap,
    (channel, channels): (*const T, usize),
    steps: &[isize],
    (start, n): (usize, usize),
    (to, pitch): (*mut T, usize),
) {
    let [outer, middle, inner] = &lattice.lines;
    let visible = inner.visible(tap.offset[2], 0, inner.count);
    lattice.runs(start, n, |[i, j, k], length, done| {
        let place = [i as isize * outer.moves + tap.offset[0], j as isize * middle.moves + tap.offset[1]];
        let is_inside = (0..outer.bound).contains(&place[0]) && (0..middle.bound).contains(&place[1]);
        let (low, high) = if is_inside { within(visible, k, length) } else { (k, k) };
        let row = place[0].wrapping_mul(steps[0]).wrapping_add(place[1].wrapping_mul(steps[1]));
        for at in k..k + length {
            let to = to.wrapping_add((done + at - k) * pitch);
            if at < low || at >= high {
                // SAFETY: the run of a pixel has room for `channels` elements, of which zero bytes are values.
                unsafe { to.write_bytes(0, channels) };
                continue;
            }
            let first = row.wrapping_add((at as isize * inner.moves + tap.offset[2]).wrapping_mul(steps[2]));
            // SAFETY: the pixel is visible, so its channels are in bounds; the tile is memory of its own.
            unsafe { to.copy_from_nonoverlapping(channel.wrapping_offset(first), channels) };
        }
    });
}
