//! The innermost loops: elements at a block of places, and a row at one place. Bytes are moved by the size of an
//! element; only what computes is compiled for each dtype.

use super::arithmetic::Arithmetic;
use crate::element::{CpuElement, load, store};
use half::{bf16, f16};
use monomorph_core::{Complex, DType, Element};

/// Points of the walk that are placed before they are moved: their places fill a part of the first-level cache.
pub(super) const BLOCK: usize = 512;

/// A run of values and what they are multiplied by. Loops are unsafe to call:
/// * V1: the first element and `step` bytes from one to the next are those of so many values of the loop's dtype or
///   size, in bounds and initialised, and written by nobody else; a gather may write them.
/// * V2: `scale` is a number of the dtype that the loop computes in, if it scales.
#[derive(Clone, Copy)]
pub(super) struct Values {
    pub(super) data: *mut u8,
    pub(super) step: isize,
    pub(super) scale: *const u8,
}

/// Loops over one element size or dtype. Unsafe to call: V1, V2, and
/// * B1: elements of the base are in bounds at all places, and for a row at `step` bytes from one to the next; nobody
///   else writes them, and a scatter is alone with them.
#[derive(Clone, Copy)]
pub(super) struct Loops {
    /// Values and the places in the base, one each.
    pub(super) points: unsafe fn(*mut u8, &[isize], Values),
    /// Values and as many elements of the base from one place on.
    pub(super) row: unsafe fn(*mut u8, isize, usize, Values),
}

/// One value and one element of the base.
trait Rule {
    /// The number that values are multiplied by.
    type Scale: Copy;

    /// # Safety
    ///
    /// V2.
    #[inline(always)]
    unsafe fn scale(_: *const u8) -> Option<Self::Scale> {
        None
    }

    /// # Safety
    ///
    /// Both are elements, by V1 and B1.
    unsafe fn apply(base: *mut u8, value: *mut u8, scale: Option<Self::Scale>);

    /// Bytes of a value.
    const SIZE: usize;
}

/// # Safety
///
/// V1, V2, B1 for the rule's elements.
unsafe fn points<R: Rule>(base: *mut u8, places: &[isize], values: Values) {
    // SAFETY: V2.
    let scale = unsafe { R::scale(values.scale) };
    if values.step == R::SIZE as isize {
        for (i, &place) in places.iter().enumerate() {
            // SAFETY: V1 and B1 for place `i`.
            unsafe { R::apply(base.wrapping_offset(place), values.data.wrapping_add(i * R::SIZE), scale) };
        }
        return;
    }
    for (i, &place) in places.iter().enumerate() {
        let value = values.data.wrapping_offset(i as isize * values.step);
        // SAFETY: V1 and B1 for place `i`.
        unsafe { R::apply(base.wrapping_offset(place), value, scale) };
    }
}

/// # Safety
///
/// V1, V2, B1 for the rule's elements.
unsafe fn row<R: Rule>(base: *mut u8, step: isize, n: usize, values: Values) {
    // SAFETY: V2.
    let scale = unsafe { R::scale(values.scale) };
    if (step, values.step) == (R::SIZE as isize, R::SIZE as isize) {
        for i in 0..n {
            // SAFETY: V1 and B1 for element `i`.
            unsafe { R::apply(base.wrapping_add(i * R::SIZE), values.data.wrapping_add(i * R::SIZE), scale) };
        }
        return;
    }
    for i in 0..n as isize {
        let value = values.data.wrapping_offset(i * values.step);
        // SAFETY: V1 and B1 for element `i`.
        unsafe { R::apply(base.wrapping_offset(i * step), value, scale) };
    }
}

const fn loops<R: Rule>() -> Loops {
    Loops { points: points::<R>, row: row::<R> }
}

/// The base's element becomes the value.
struct Get<T>(T);
/// The value becomes the base's element.
struct Set<T>(T);

impl<T: Copy> Rule for Get<T> {
    type Scale = ();
    const SIZE: usize = size_of::<T>();
    #[inline(always)]
    unsafe fn apply(base: *mut u8, value: *mut u8, _: Option<()>) {
        // SAFETY: an element of this size (B1), initialised since the base is an input.
        let element = unsafe { base.cast::<T>().read_unaligned() };
        // SAFETY: a value that is ours to write (V1).
        unsafe { value.cast::<T>().write_unaligned(element) };
    }
}

impl<T: Copy> Rule for Set<T> {
    type Scale = ();
    const SIZE: usize = size_of::<T>();
    #[inline(always)]
    unsafe fn apply(base: *mut u8, value: *mut u8, _: Option<()>) {
        // SAFETY: a value of this size, initialised (V1).
        let element = unsafe { value.cast::<T>().read_unaligned() };
        // SAFETY: an element that is ours to write (B1).
        unsafe { base.cast::<T>().write_unaligned(element) };
    }
}

/// Copies a row; of dense ones the bytes.
///
/// # Safety
///
/// V1 and B1 for elements of the size, which lie apart from each other.
unsafe fn moved_row<const SIZE: usize, const GETS: bool>(base: *mut u8, step: isize, n: usize, values: Values) {
    let (from, from_step, to, to_step) = match GETS {
        true => (base, step, values.data, values.step),
        false => (values.data, values.step, base, step),
    };
    // SAFETY: R1 by V1 and B1; R2: the walk's base and values share no memory.
    unsafe { crate::cast::moved(from, from_step, to, to_step, SIZE, n) };
}

/// The loops that copy elements of `size` bytes, from the base or to it.
pub(super) fn moving(size: usize, gets: bool) -> Loops {
    macro_rules! of {
        ($t:ty) => {
            match gets {
                true => Loops { points: points::<Get<$t>>, row: moved_row::<{ size_of::<$t>() }, true> },
                false => Loops { points: points::<Set<$t>>, row: moved_row::<{ size_of::<$t>() }, false> },
            }
        };
    }
    match size {
        1 => of!(u8),
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => of!([u64; 2]),
    }
}

/// What computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Computed {
    /// The sum.
    Add,
    /// The sum with the value times the scale.
    AddScaled,
    /// The product.
    Multiply,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// The quotient by the value, of integers rounded down; a divisor of 0 counts as 1.
    Divide,
}

/// The rule `O`, numbered as in [`Computed`], on elements `C`.
struct Compute<C, const O: u8>(C);

impl<C: CpuElement, const O: u8> Rule for Compute<C, O>
where
    C::Repr: Arithmetic,
{
    type Scale = C::Repr;
    const SIZE: usize = size_of::<C::Stored>();

    #[inline(always)]
    unsafe fn scale(number: *const u8) -> Option<C::Repr> {
        // SAFETY: V2: there is a number of this type.
        (O == Computed::AddScaled as u8).then(|| unsafe { number.cast::<C::Repr>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn apply(base: *mut u8, value: *mut u8, scale: Option<C::Repr>) {
        // SAFETY: an initialised element (B1): a scatter begins with a base that is.
        let element = unsafe { load::<C>(base, 0) };
        // SAFETY: an initialised value (V1).
        let value = unsafe { load::<C>(value, 0) };
        // Of halves the product is rounded, too.
        let value = scale.map_or(value, |scale| C::widen(C::narrow(value.times(scale))));
        let combined = match O {
            0 | 1 => element.plus(value),
            2 => element.times(value),
            3 => element.least(value),
            4 => element.greatest(value),
            _ => element.over(value),
        };
        // SAFETY: an element that is ours to write (B1).
        unsafe { store::<C>(base, 0, combined) };
    }
}

/// The loops that compute.
pub(super) fn computing(computed: Computed, dtype: DType) -> Loops {
    macro_rules! of {
        ($($dtype:ident $c:ty,)*) => {
            match dtype {
                $(DType::$dtype => match computed {
                    Computed::Add => loops::<Compute<$c, 0>>(),
                    Computed::AddScaled => loops::<Compute<$c, 1>>(),
                    Computed::Multiply => loops::<Compute<$c, 2>>(),
                    Computed::Min => loops::<Compute<$c, 3>>(),
                    Computed::Max => loops::<Compute<$c, 4>>(),
                    Computed::Divide => loops::<Compute<$c, 5>>(),
                },)*
            }
        };
    }
    of! {
        Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64,
        C64 Complex<f32>, C128 Complex<f64>,
    }
}

const _: () = assert!(size_of::<<f16 as Element>::Stored>() == 2 && size_of::<<bool as Element>::Stored>() == 1);
