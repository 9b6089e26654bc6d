//! Borrowed views of foreign memory, checked when they are made.
//!
//! Invariants of both views:
//! * F1: every element that `sizes` and `strides` reach from `data` is an initialised `T::Stored`, aligned, and inside
//!   the memory that is borrowed for `'a`.
//! * F2: a mutable view's memory is borrowed by it alone.

use crate::DimVec;
use monomorph_core::{BoolByte, Element, Error, ErrorKind, Result, strides};
use std::marker::PhantomData;

/// Where the elements of a view lie.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) data: *mut u8,
    pub(super) sizes: DimVec,
    pub(super) strides: DimVec,
}

/// Memory that is only read. `T` is the type of the elements; bool elements are stored as [`BoolByte`].
#[derive(Clone, Debug)]
pub struct ForeignView<'a, T: Element> {
    pub(super) place: Place,
    memory: PhantomData<&'a [T::Stored]>,
}

/// Memory that is written, and may be read.
#[derive(Debug)]
pub struct ForeignViewMut<'a, T: Element> {
    pub(super) place: Place,
    memory: PhantomData<&'a mut [T::Stored]>,
}

// SAFETY: F1: it is a `&[T::Stored]` with a geometry, and `T::Stored` is Sync.
unsafe impl<T: Element> Send for ForeignView<'_, T> {}
// SAFETY: F1: it is a `&[T::Stored]` with a geometry, and those are Sync.
unsafe impl<T: Element> Sync for ForeignView<'_, T> {}
// SAFETY: F2: it is a `&mut [T::Stored]` with a geometry, and `T::Stored` is Send.
unsafe impl<T: Element> Send for ForeignViewMut<'_, T> {}

/// The geometry as signed numbers, with as many strides as sizes and a number of elements that can be counted.
fn geometry(sizes: &[usize], strides_in: &[isize]) -> Result<(DimVec, DimVec)> {
    if sizes.len() != strides_in.len() {
        return Err(ErrorKind::ListLength { arg: "strides", got: strides_in.len(), want: sizes.len() }.into());
    }
    let signed: DimVec = sizes.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    strides::numel(&signed)?;
    Ok((signed, strides_in.iter().map(|&s| s as i64).collect()))
}

/// Lowest and highest element reached, relative to the first; `None` if it reaches none, or beyond what can be
/// addressed.
fn reach(sizes: &DimVec, strides: &DimVec) -> Result<Option<(i64, i64)>> {
    if sizes.contains(&0) {
        return Ok(None);
    }
    let (mut low, mut high) = (0i64, 0i64);
    for (&n, &stride) in sizes.iter().zip(strides) {
        let overflow = || Error::new(ErrorKind::SizeOverflow { sizes: sizes.to_vec(), strides: strides.to_vec() });
        let far = (n - 1).checked_mul(stride).ok_or_else(overflow)?;
        let end = if far < 0 { &mut low } else { &mut high };
        *end = end.checked_add(far).ok_or_else(overflow)?;
    }
    Ok(Some((low, high)))
}

/// Checks that a geometry whose first element is number `offset` of `len` stays among them.
fn check_bounds(sizes: &DimVec, strides: &DimVec, offset: usize, len: usize, element: usize) -> Result<()> {
    let Some((low, high)) = reach(sizes, strides)? else { return Ok(()) };
    let (first, last) = (-i128::from(low), len as i128 - 1 - i128::from(high));
    let accepted = first..=last;
    if accepted.contains(&(offset as i128)) {
        return Ok(());
    }
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    if accepted.is_empty() {
        let need = (i128::from(high) - i128::from(low) + 1).unsigned_abs() * element as u128;
        let (sizes, strides) = (sizes.to_vec(), strides.to_vec());
        return Err(ErrorKind::OutOfStorage { sizes, strides, offset, need, have: len.saturating_mul(element) }.into());
    }
    let clamp = |x: i128| i64::try_from(x).unwrap_or(i64::MAX);
    Err(ErrorKind::OutOfRange { arg: "offset", got: offset, low: clamp(first), high: clamp(last) }.into())
}

/// A checked place inside `len` elements at `data`.
fn place_in<S>(data: *mut S, len: usize, sizes: &[usize], strides: &[isize], offset: usize) -> Result<Place> {
    let (sizes, strides) = geometry(sizes, strides)?;
    check_bounds(&sizes, &strides, offset, len, size_of::<S>())?;
    // An empty view may have any offset; nothing is accessed through it.
    Ok(Place { data: data.wrapping_add(offset).cast(), sizes, strides })
}

/// A checked place of elements of type `S` inside bytes, which must be aligned for it.
fn place_in_bytes<S>(
    bytes: *mut u8,
    len: usize,
    sizes: &[usize],
    strides: &[isize],
    byte_offset: usize,
) -> Result<Place> {
    let unaligned = || ErrorKind::Unaligned { arg: "a foreign view", align: align_of::<S>() };
    let first = bytes.wrapping_add(byte_offset);
    if !first.cast::<S>().is_aligned() {
        return Err(unaligned().into());
    }
    // Whole elements before and after the first one; all are aligned as it is.
    let before = byte_offset / size_of::<S>();
    let after = len.saturating_sub(byte_offset) / size_of::<S>();
    let (sizes, strides) = geometry(sizes, strides)?;
    check_bounds(&sizes, &strides, before, before + after, size_of::<S>())?;
    Ok(Place { data: first, sizes, strides })
}

/// A place that the caller vouches for.
fn place_at<S>(data: *mut S, sizes: &[usize], strides: &[isize]) -> Result<Place> {
    if data.is_null() || !data.is_aligned() {
        return Err(ErrorKind::Unaligned { arg: "a foreign view", align: align_of::<S>() }.into());
    }
    let (sizes, strides) = geometry(sizes, strides)?;
    reach(&sizes, &strides)?;
    Ok(Place { data: data.cast(), sizes, strides })
}

/// Row-major strides.
fn row_major(sizes: &[usize]) -> Result<smallvec::SmallVec<[isize; 6]>> {
    let (signed, _) = geometry(sizes, &smallvec::SmallVec::<[isize; 6]>::from_elem(0, sizes.len()))?;
    Ok(strides::contiguous_strides(&signed).iter().map(|&s| s as isize).collect())
}

macro_rules! views {
    ($(
        $view:ident, [$($mutability:tt)*], |$slice:ident| $first:expr, |$pointer:ident: $raw:ty| $writable:expr;
    )*) => {$(
        impl<'a, T: Element<Stored = T>> $view<'a, T> {
            /// Elements of a slice: the first is number `offset`, strides count elements and may be negative.
            ///
            /// Errors: an index outside of the slice, lists of different lengths, sizes that overflow.
            pub fn from_slice(
                data: &'a $($mutability)* [T],
                sizes: &[usize],
                strides: &[isize],
                offset: usize,
            ) -> Result<$view<'a, T>> {
                $view::from_stored(data, sizes, strides, offset)
            }

            /// The first elements of a slice in row-major order. Errors as for `from_slice`.
            pub fn contiguous(data: &'a $($mutability)* [T], sizes: &[usize]) -> Result<$view<'a, T>> {
                let strides = row_major(sizes)?;
                $view::from_stored(data, sizes, &strides, 0)
            }
        }

        impl<'a> $view<'a, bool> {
            /// Truth values of a slice of bytes. As `from_slice` otherwise.
            pub fn from_bool_bytes(
                data: &'a $($mutability)* [BoolByte],
                sizes: &[usize],
                strides: &[isize],
                offset: usize,
            ) -> Result<$view<'a, bool>> {
                $view::from_stored(data, sizes, strides, offset)
            }
        }

        impl<'a, T: Element> $view<'a, T> {
            fn from_stored(
                data: &'a $($mutability)* [T::Stored],
                sizes: &[usize],
                strides: &[isize],
                offset: usize,
            ) -> Result<$view<'a, T>> {
                let $slice = data;
                let len = $slice.len();
                let place = place_in($first, len, sizes, strides, offset)?;
                Ok($view { place, memory: PhantomData })
            }

            /// Elements in bytes that came from elsewhere: the first begins at `byte_offset`, strides count elements
            /// and may be negative.
            ///
            /// Errors: as for `from_slice`, and a first element that is not aligned.
            pub fn from_bytes(
                bytes: &'a $($mutability)* [u8],
                sizes: &[usize],
                strides: &[isize],
                byte_offset: usize,
            ) -> Result<$view<'a, T>> {
                let $slice = bytes;
                let len = $slice.len();
                let place = place_in_bytes::<T::Stored>($first, len, sizes, strides, byte_offset)?;
                Ok($view { place, memory: PhantomData })
            }

            /// Elements at a pointer. An error if it is null or unaligned, if the lists have different lengths, or if
            /// the reach overflows.
            ///
            /// # Safety
            ///
            /// F1, and for a mutable view F2: every element that the geometry reaches is initialised and inside memory
            /// that stays valid for `'a`, is not written by others meanwhile, and, if this view is mutable, not read
            /// either.
            pub unsafe fn from_raw_parts($pointer: $raw, sizes: &[usize], strides: &[isize]) -> Result<$view<'a, T>> {
                let place = place_at::<T::Stored>($writable, sizes, strides)?;
                Ok($view { place, memory: PhantomData })
            }

            /// The sizes.
            pub fn sizes(&self) -> &[i64] {
                &self.place.sizes
            }

            /// The strides in elements.
            pub fn strides(&self) -> &[i64] {
                &self.place.strides
            }
        }
    )*};
}
views! {
    ForeignView, [], |slice| slice.as_ptr().cast_mut(), |data: *const T::Stored| data.cast_mut();
    ForeignViewMut, [mut], |slice| slice.as_mut_ptr(), |data: *mut T::Stored| data;
}
