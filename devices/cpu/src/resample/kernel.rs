//! The loops of weighted sums.

use super::Rows;
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel, Level};
use half::{bf16, f16};
use monomorph_core::DType;
use std::marker::PhantomData;

/// Lanes of a block: of float32 a register of AVX-512.
const LANES: usize = 16;

/// Offsets and weights of the elements that one is made of.
type Taps<'a> = (&'a [isize], &'a [f64]);

/// A row of the output: invariants Q1 and Q2 of [`Shape`].
pub(super) struct Row<'a> {
    pub(super) input: *const u8,
    pub(super) output: *mut u8,
    pub(super) outer: [Taps<'a>; 2],
}

/// What all rows have in common. Invariants, for each row:
/// * Q1: offsets of the outer dimensions and of the last one lead from `input` to elements; without lanes, `used` is
///   the range of the last dimension that they lead to, `input_step` bytes apart; with lanes, as many elements lie
///   there side by side;
/// * Q2: `width` elements of the output, `step` bytes apart, or as many times the lanes, are nobody else's;
/// * Q3: places lie within the range that is used or one behind it, and where `taps` is not 0, each element has
///   so many.
pub(super) struct Shape<'a> {
    /// Where the taps of each element begin, their offsets and weights.
    pub(super) last: (&'a [usize], &'a [isize], &'a [f64]),
    /// Where elements are in the range that is used, or behind it, and their weights.
    pub(super) places: (&'a [usize], &'a [f64]),
    /// How many places each element has, or 0 if they differ in that and are those of `last`.
    pub(super) taps: usize,
    /// Channels side by side, or 0.
    pub(super) lanes: usize,
    pub(super) width: usize,
    pub(super) step: isize,
    pub(super) input_step: isize,
    pub(super) used: [usize; 2],
}

/// Computes rows at a level. Unsafe to call: Q1, Q2, and the elements have the dtype that it was chosen for. The
/// scratch memory has a word for each element that is used, one more, which is 0, and one for each element of the row;
/// it is not read with lanes.
pub(super) type RowKernel = unsafe fn(Level, &Shape<'_>, &mut Rows<'_>, &mut [u64]);

/// The kernel for a dtype.
pub(super) fn row_kernel(dtype: DType) -> Option<RowKernel> {
    Some(match dtype {
        #[cfg(feature = "halves")]
        DType::F16 => sums::<f16>,
        #[cfg(feature = "halves")]
        DType::BF16 => sums::<bf16>,
        DType::F32 => sums::<f32>,
        DType::F64 => sums::<f64>,
        _ => return None,
    })
}

/// The arithmetic of weighted sums.
///
/// # Safety
///
/// `Repr` is a float of at most 64 bits, so any bits are a value.
unsafe trait Weighted: CpuElement {
    const ZERO: Self::Repr;
    fn weight(x: f64) -> Self::Repr;
    fn times(a: Self::Repr, b: Self::Repr) -> Self::Repr;
    fn plus(a: Self::Repr, b: Self::Repr) -> Self::Repr;
}
macro_rules! weighted {
    ($($t:ty: $repr:ty;)*) => {$(
        // SAFETY: it is float32 or float64.
        unsafe impl Weighted for $t {
            const ZERO: $repr = 0.0;
            #[inline(always)]
            fn weight(x: f64) -> $repr {
                x as $repr
            }
            #[inline(always)]
            fn times(a: $repr, b: $repr) -> $repr {
                a * b
            }
            #[inline(always)]
            fn plus(a: $repr, b: $repr) -> $repr {
                a + b
            }
        }
    )*};
}
weighted! {
    f16: f32;
    bf16: f32;
    f32: f32;
    f64: f64;
}

/// # Safety
///
/// Q1, Q2; elements of `C`.
unsafe fn sums<C: Weighted>(level: Level, shape: &Shape<'_>, rows: &mut Rows<'_>, scratch: &mut [u64]) {
    level.enter(Sums::<C>(shape, rows, scratch, PhantomData));
}

struct Sums<'s, 'a, C>(&'s Shape<'s>, &'s mut Rows<'a>, &'s mut [u64], PhantomData<C>);

impl<C: Weighted, I: Isa> Kernel<I> for Sums<'_, '_, C> {
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let Sums(shape, rows, scratch, _) = self;
        while let Some(row) = rows.next() {
            if shape.lanes == 0 {
                // SAFETY: Q1, Q2.
                unsafe { shape.through_one_row::<C>(&row, scratch) };
                continue;
            }
            for o in 0..shape.width {
                let whole = shape.lanes - shape.lanes % LANES;
                for lane in (0..whole).step_by(LANES) {
                    // SAFETY: Q1, Q2 for these lanes.
                    unsafe { shape.lanes_of::<C, LANES>(&row, o, lane) };
                }
                for lane in whole..shape.lanes {
                    // SAFETY: Q1, Q2 for this lane.
                    unsafe { shape.lanes_of::<C, 1>(&row, o, lane) };
                }
            }
        }
    }
}

impl Shape<'_> {
    /// Element `o`, of `N` lanes.
    ///
    /// # Safety
    ///
    /// Q1, Q2 for these lanes.
    #[inline(always)]
    unsafe fn lanes_of<C: Weighted, const N: usize>(&self, row: &Row<'_>, o: usize, lane: usize) {
        let size = size_of::<C::Stored>();
        let range = self.last.0[o]..self.last.0[o + 1];
        let mut sums = [C::ZERO; N];
        for (&of_depth, &weight) in row.outer[0].0.iter().zip(row.outer[0].1) {
            let depth = C::weight(weight);
            for (&of_row, &weight) in row.outer[1].0.iter().zip(row.outer[1].1) {
                let height = C::times(depth, C::weight(weight));
                for (&offset, &weight) in self.last.1[range.clone()].iter().zip(&self.last.2[range.clone()]) {
                    let weight = C::times(height, C::weight(weight));
                    let at = row.input.wrapping_offset(of_depth).wrapping_offset(of_row).wrapping_offset(offset);
                    let at = at.wrapping_add(lane * size);
                    for (k, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: the element of a lane of the call (Q1).
                        let x = unsafe { load::<C>(at, k) };
                        *sum = C::plus(*sum, C::times(weight, x));
                    }
                }
            }
        }
        let to = row.output.wrapping_offset((o as isize).wrapping_mul(self.step)).wrapping_add(lane * size);
        for (k, sum) in sums.into_iter().enumerate() {
            // SAFETY: Q2 for this lane.
            unsafe { store::<C>(to, k, sum) };
        }
    }

    /// Sums rows of the input with the weights of the outer dimensions, and then elements of that row.
    ///
    /// # Safety
    ///
    /// Q1, Q2; there are no lanes.
    #[inline(always)]
    unsafe fn through_one_row<C: Weighted>(&self, row: &Row<'_>, scratch: &mut [u64]) {
        let n = self.used[1] - self.used[0] + 1;
        assert!(scratch.len() >= n + self.width, "there is a word for each element that is used or made, and one more");
        // SAFETY: there are as many words, of which each is aligned and large enough for a float; any bits are one.
        let words = unsafe { std::slice::from_raw_parts_mut(scratch.as_mut_ptr().cast::<C::Repr>(), n + self.width) };
        let (all, made) = words.split_at_mut(n);
        let Some((behind, sums)) = all.split_last_mut() else { return };
        *behind = C::ZERO;
        let first = (self.used[0] as isize).wrapping_mul(self.input_step);
        let is_dense = self.input_step == size_of::<C::Stored>() as isize;
        let mut is_first = true;
        for (&of_depth, &weight) in row.outer[0].0.iter().zip(row.outer[0].1) {
            let depth = C::weight(weight);
            for (&of_row, &weight) in row.outer[1].0.iter().zip(row.outer[1].1) {
                let weight = C::times(depth, C::weight(weight));
                let from = row.input.wrapping_offset(of_depth).wrapping_offset(of_row).wrapping_offset(first);
                let at = |i: usize| match is_dense {
                    true => from.wrapping_add(i * size_of::<C::Stored>()),
                    false => from.wrapping_offset((i as isize).wrapping_mul(self.input_step)),
                };
                // SAFETY: elements of the row that are used (Q1).
                let x = |i: usize| unsafe { load::<C>(at(i), 0) };
                match (is_first, is_dense) {
                    (true, _) => sums.iter_mut().enumerate().for_each(|(i, sum)| *sum = C::times(weight, x(i))),
                    (false, true) => {
                        for (i, sum) in sums.iter_mut().enumerate() {
                            // SAFETY: an element of the row that is used (Q1).
                            *sum = C::plus(*sum, C::times(weight, unsafe { load::<C>(from, i) }));
                        }
                    }
                    (false, false) => {
                        sums.iter_mut().enumerate().for_each(|(i, sum)| *sum = C::plus(*sum, C::times(weight, x(i))));
                    }
                }
                is_first = false;
            }
        }
        if is_first {
            sums.fill(C::ZERO);
        }
        match self.taps {
            // SAFETY: Q2, Q3.
            1 => unsafe { self.sums_of::<C, 1>(row.output, all, made) },
            // SAFETY: Q2, Q3.
            2 => unsafe { self.sums_of::<C, 2>(row.output, all, made) },
            // SAFETY: Q2, Q3.
            3 => unsafe { self.sums_of::<C, 3>(row.output, all, made) },
            // SAFETY: Q2, Q3.
            4 => unsafe { self.sums_of::<C, 4>(row.output, all, made) },
            _ => {
                for o in 0..self.width {
                    let range = self.last.0[o]..self.last.0[o + 1];
                    let mut sum = C::ZERO;
                    for (&place, &weight) in self.places.0[range.clone()].iter().zip(&self.last.2[range]) {
                        let x = all.get(place).copied().unwrap_or(C::ZERO);
                        sum = C::plus(sum, C::times(C::weight(weight), x));
                    }
                    // SAFETY: Q2 for this element.
                    unsafe { store::<C>(row.output.wrapping_offset((o as isize).wrapping_mul(self.step)), 0, sum) };
                }
            }
        }
    }

    /// The elements of the row, each the sum of `N` of `row`. Halves are made together from floats in `made`.
    ///
    /// # Safety
    ///
    /// Q2; Q3 for `N`.
    #[inline(always)]
    unsafe fn sums_of<C: Weighted, const N: usize>(&self, output: *mut u8, row: &[C::Repr], made: &mut [C::Repr]) {
        let are_halves = size_of::<C::Stored>() != size_of::<C::Repr>();
        let together = are_halves && self.step == size_of::<C::Stored>() as isize;
        let (places, weights) = (self.places.0.as_chunks::<N>().0, self.places.1.as_chunks::<N>().0);
        let (step, width) = (self.step, made.len());
        assert!(places.len() >= width && weights.len() >= width, "each element of the row has its places (Q3)");
        // An index and few bases, which stay in registers.
        for o in 0..width {
            let mut sum = C::ZERO;
            for t in 0..N {
                // SAFETY: a place in the range that is used or behind it (Q3); `row` has all of these elements.
                let x = unsafe { *row.get_unchecked(places[o][t]) };
                sum = C::plus(sum, C::times(C::weight(weights[o][t]), x));
            }
            if together {
                made[o] = sum;
            } else {
                // SAFETY: Q2 for this element.
                unsafe { store::<C>(output.wrapping_offset((o as isize).wrapping_mul(step)), 0, sum) };
            }
        }
        if together {
            for (o, sum) in made.iter().enumerate() {
                // SAFETY: Q2: an element of a dense row.
                unsafe { store::<C>(output, o, *sum) };
            }
        }
    }
}
