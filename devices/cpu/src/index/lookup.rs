//! Tensors of indices: turned into places in the base block by block, and checked on the way or all at once.

use super::kernels::BLOCK;
use super::placed::Placed;
use crate::isa::{Isa, Kernel, Level};
use monomorph_core::{DType, ErrorKind, Result};
use monomorph_ops::index::IndexRange;
use smallvec::SmallVec;
use std::marker::PhantomData;

/// A tensor of indices, and what they mean.
#[derive(Clone)]
pub(super) struct Lookup {
    pub(super) data: *const u8,
    pub(super) tensor: Placed,
    /// What indices are below.
    pub(super) size: i64,
    pub(super) range: IndexRange,
    /// Bytes in the base from one index to the next; of indices that `dims` takes apart 1.
    pub(super) step: isize,
    /// Sizes of a base that is indexed as a whole and does not lie in one piece, and the bytes from one element of each
    /// dimension to the next, from the last dimension on.
    pub(super) dims: SmallVec<[(u64, isize); 4]>,
    pub(super) arg: &'static str,
    pub(super) dim: Option<usize>,
    pub(super) level: Level,
}

/// Indices at equal distances, and the places that they get.
///
/// Invariant: index `i` lies `i * step` bytes from `from`, in bounds and initialised, for each of the places.
struct IndexRun<'a> {
    lookup: &'a Lookup,
    from: *const u8,
    step: isize,
    places: &'a mut [isize],
}

/// The work in the frame of a level, where products of indices and steps are taken by vectors of them.
///
/// Invariant: the indices are of type `T`.
struct Placing<'a, T, const ADDS: bool>(IndexRun<'a>, PhantomData<T>);

impl<I: Isa, T: Copy + Into<i64>, const ADDS: bool> Kernel<I> for Placing<'_, T, ADDS> {
    type Output = bool;
    type Home = T;

    #[inline(always)]
    fn run(self, _: I) -> bool {
        let IndexRun { lookup, from, step, places } = self.0;
        let (low, size, base) = (lookup.low(), lookup.size, lookup.step as i64);
        let span = size.wrapping_sub(low) as u64;
        let put = |place: &mut isize, from_start: i64| {
            let at = from_start.wrapping_mul(base) as isize;
            *place = if ADDS { place.wrapping_add(at) } else { at };
        };
        // SAFETY: index `i` is in bounds and initialised.
        let at = |i: usize| unsafe { from.wrapping_offset(i as isize * step).cast::<T>().read_unaligned() }.into();
        // SAFETY: index `i`, which is dense, is in bounds and initialised.
        let dense = |i: usize| unsafe { from.cast::<T>().wrapping_add(i).read_unaligned() }.into();
        if lookup.range == IndexRange::Modulo {
            for (i, place) in places.iter_mut().enumerate() {
                // The answer says so if the size is 0.
                put(place, at(i).checked_rem_euclid(size).unwrap_or(0));
            }
            return size != 0;
        }
        let mut bad = false;
        if step == size_of::<T>() as isize {
            for (i, place) in places.iter_mut().enumerate() {
                let index: i64 = dense(i);
                bad |= index.wrapping_sub(low) as u64 >= span;
                put(place, index.wrapping_add(index >> 63 & size));
            }
        } else {
            for (i, place) in places.iter_mut().enumerate() {
                let index: i64 = at(i);
                bad |= index.wrapping_sub(low) as u64 >= span;
                put(place, index.wrapping_add(index >> 63 & size));
            }
        }
        !bad
    }
}

impl Lookup {
    /// Bytes that the places of indices are apart at most, or more.
    pub(super) fn reach(&self) -> usize {
        match self.dims.is_empty() {
            true => (self.size as usize).saturating_mul(self.step.unsigned_abs()),
            false => usize::MAX,
        }
    }

    /// The lowest index in range.
    fn low(&self) -> i64 {
        match self.range {
            IndexRange::FromStart => 0,
            IndexRange::FromBothEnds => -self.size,
            // Of size 0 none is.
            IndexRange::Modulo => {
                if self.size == 0 {
                    0
                } else {
                    i64::MIN
                }
            }
        }
    }

    /// True if indices are int64, not int32.
    fn is_wide(&self) -> bool {
        self.tensor.dtype == DType::I64
    }

    /// Writes, or adds, the places of `places.len()` indices; false if one is out of range.
    ///
    /// # Safety
    ///
    /// Index `i` lies `i * step` bytes from `from`, in bounds and initialised.
    pub(super) unsafe fn place(&self, from: *const u8, step: isize, places: &mut [isize], adds: bool) -> bool {
        // Of the type that the tensor's dtype says.
        let run = IndexRun { lookup: self, from, step, places: &mut *places };
        let is_in_range = match (self.is_wide(), adds) {
            (true, false) => self.level.enter(Placing::<i64, false>(run, PhantomData)),
            (true, true) => self.level.enter(Placing::<i64, true>(run, PhantomData)),
            (false, false) => self.level.enter(Placing::<i32, false>(run, PhantomData)),
            (false, true) => self.level.enter(Placing::<i32, true>(run, PhantomData)),
        };
        if !self.dims.is_empty() && is_in_range {
            places.iter_mut().for_each(|place| *place = self.taken_apart(*place as u64));
        }
        is_in_range
    }

    /// The place of an element that has this number in row-major order.
    #[inline]
    fn taken_apart(&self, number: u64) -> isize {
        let (mut left, mut place) = (number, 0_isize);
        for &(size, step) in &self.dims {
            // Halves of 32 bits are divided in a third of the time.
            let (quotient, rest) = match (u32::try_from(left), u32::try_from(size)) {
                (Ok(left), Ok(size)) => (u64::from(left / size.max(1)), u64::from(left % size.max(1))),
                _ => (left / size.max(1), left % size.max(1)),
            };
            place = place.wrapping_add((rest as isize).wrapping_mul(step));
            left = quotient;
        }
        place
    }

    /// Looks at every index; an error names the first that is out of range.
    ///
    /// # Safety
    ///
    /// P1; nobody writes the tensor.
    pub(super) unsafe fn check(&self) -> Result<()> {
        let tensor = &self.tensor;
        let (n, numel) = (tensor.sizes.last().map_or(1, |&n| n as usize), tensor.numel());
        if numel == 0 {
            return Ok(());
        }
        let step = tensor.sizes.len().checked_sub(1).map_or(0, |last| tensor.step(last));
        let mut places = [0_isize; BLOCK];
        // One run where all lie side by side.
        let (n, step) = if tensor.is_contiguous() { (numel, tensor.dtype.size() as isize) } else { (n, step) };
        for row in 0..numel / n {
            let (mut at, mut left) = (self.data, row);
            for d in (0..tensor.sizes.len().saturating_sub(1)).rev().filter(|_| n != numel) {
                let size = tensor.sizes[d] as usize;
                at = at.wrapping_offset((left % size) as isize * tensor.step(d));
                left /= size;
            }
            for start in (0..n).step_by(BLOCK) {
                let from = at.wrapping_offset(start as isize * step);
                let places = &mut places[..BLOCK.min(n - start)];
                // SAFETY: indices of one row, which the tensor has (P1).
                if !unsafe { self.place(from, step, places, false) } {
                    let ok = |i: &usize| {
                        let at = from.wrapping_offset(*i as isize * step);
                        // SAFETY: one of them.
                        unsafe { self.place(at, step, &mut [0], false) }
                    };
                    let first = (0..places.len()).find(|i| !ok(i)).unwrap_or(0);
                    // SAFETY: one of them.
                    return Err(unsafe { self.error(from.wrapping_offset(first as isize * step)) });
                }
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// There is an index.
    #[cold]
    unsafe fn error(&self, at: *const u8) -> monomorph_core::Error {
        let got = match self.is_wide() {
            // SAFETY: an int64 (the caller's promise).
            true => unsafe { at.cast::<i64>().read_unaligned() },
            // SAFETY: an int32 (the caller's promise).
            false => unsafe { at.cast::<i32>().read_unaligned() }.into(),
        };
        let Lookup { arg, dim, size, .. } = *self;
        let low = self.low();
        ErrorKind::IndexOutOfRange { arg, got, dim, size, low }.into()
    }
}
