//! Bytes resampled in fixed point: one dimension after the other, the last one first, each rounded to bytes. Weights
//! are integers, so results are exact, whatever the order.

use crate::index::placed::Placed;
use monomorph_core::{Result, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::resample::{ResamplePlan, Taps};
use std::sync::{Mutex, PoisonError};

/// The weights of a dimension, and by how many bits they are shifted; none for one that keeps its size.
type Weights = Option<(Taps, u32)>;

/// One call. Invariant: P1 for both tensors, which share no memory and have one batch, channels, and two dimensions.
struct Call<'a> {
    input: &'a Placed,
    target: &'a Placed,
    weights: [Weights; 2],
}

// SAFETY: threads read the input, which nobody writes, and write planes of their own.
unsafe impl Sync for Call<'_> {}

/// Resamples the last two dimensions of four.
///
/// # Safety
///
/// P1 for both, which have elements of one byte, and whose sizes are those of the plan; they share no memory; nobody
/// else writes them.
pub(super) unsafe fn run(plan: &ResamplePlan, input: &Placed, target: &Placed) -> Result<()> {
    let [height, width] = &plan.axes[..] else { return Ok(()) };
    let call = Call { input, target, weights: [height.fixed_point()?, width.fixed_point()?] };
    let planes = input.sizes[0] as usize * input.sizes[1] as usize;
    let elements = target.numel();
    let together = if is_parallel(elements, GRAIN / 4) { (GRAIN / 4 * planes / elements).max(1) } else { planes };
    let failed = Mutex::new(None);
    share(planes.div_ceil(together), |piece| {
        for plane in piece * together..planes.min((piece + 1) * together) {
            // SAFETY: P1 for a plane that no other piece has.
            if let Err(error) = unsafe { call.plane(plane) } {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// The byte that weighted bytes sum to.
fn rounded(taps: &Taps, bits: u32, o: usize, byte: impl Fn(usize) -> u8) -> u8 {
    let half = if bits == 0 { 0 } else { 1_i64 << (bits - 1) };
    let range = taps.first[o]..taps.first[o + 1];
    let products = taps.index[range.clone()].iter().zip(&taps.weight[range]);
    let sum = products.fold(half, |sum, (&i, &weight)| sum + weight as i64 * i64::from(byte(i as usize)));
    (sum >> bits).clamp(0, 255) as u8
}

impl Call<'_> {
    /// # Safety
    ///
    /// P1; nobody else uses the plane of the target.
    unsafe fn plane(&self, plane: usize) -> Result<()> {
        let Call { input, target, weights } = self;
        let channels = input.sizes[1] as usize;
        let first = |t: &Placed| {
            let (n, c) = ((plane / channels) as isize, (plane % channels) as isize);
            t.data.wrapping_offset(n.wrapping_mul(t.step(0))).wrapping_offset(c.wrapping_mul(t.step(1)))
        };
        let (from, to) = (first(input), first(target));
        let place = |t: &Placed, h: usize, w: usize| {
            (h as isize).wrapping_mul(t.step(2)).wrapping_add((w as isize).wrapping_mul(t.step(3)))
        };
        let [rows, _] = [input.sizes[2] as usize, input.sizes[3] as usize];
        let [height, width] = [target.sizes[2] as usize, target.sizes[3] as usize];
        // SAFETY: an element of the plane (P1).
        let byte = |h: usize, w: usize| unsafe { from.wrapping_offset(place(input, h, w)).read() };
        let mut resized: Vec<u8> = Vec::new();
        if let Some((taps, bits)) = &weights[1] {
            resized = list::with_capacity(rows.saturating_mul(width))?;
            for h in 0..rows {
                resized.extend((0..width).map(|w| rounded(taps, *bits, w, |i| byte(h, i))));
            }
        }
        let is_resized = weights[1].is_some();
        let source = |h: usize, w: usize| if is_resized { resized[h * width + w] } else { byte(h, w) };
        for h in 0..height {
            for w in 0..width {
                let value = match &weights[0] {
                    Some((taps, bits)) => rounded(taps, *bits, h, |i| source(i, w)),
                    None => source(h, w),
                };
                // SAFETY: an element of the plane (P1), which nobody else uses.
                unsafe { to.wrapping_offset(place(target, h, w)).write(value) };
            }
        }
        Ok(())
    }
}
