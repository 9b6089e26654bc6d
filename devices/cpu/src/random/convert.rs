//! Draws on their way to the tensor, and parameters on theirs from one, as C++ converts them: the one place where loops
//! know the dtype.

use crate::element::{CpuElement, load, store};
use monomorph_core::{DType, bf16, f16};

/// An element type of draws.
trait Drawn: CpuElement {
    /// A number converted.
    fn of_float(x: f64) -> Self::Repr;
    /// A whole number converted.
    fn of_whole(x: i64) -> Self::Repr;
    /// The number that an element is.
    fn number(x: Self::Repr) -> f64;
}

/// What the processor converts to 32 bits: the least number stands for what they do not hold.
fn truncated(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}

/// The same of 64 bits.
pub(super) fn truncated_long(x: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) { x as i64 } else { i64::MIN }
}

macro_rules! drawn {
    ($($t:ty: |$float:ident| $of_float:expr, |$whole:ident| $of_whole:expr, |$own:ident| $number:expr;)*) => {$(
        impl Drawn for $t {
            fn of_float($float: f64) -> Self::Repr { $of_float }
            fn of_whole($whole: i64) -> Self::Repr { $of_whole }
            fn number($own: Self::Repr) -> f64 { $number }
        }
    )*};
}
drawn! {
    bool: |x| x != 0.0, |x| x != 0, |x| f64::from(x);
    u8: |x| truncated(x) as u8, |x| x as u8, |x| f64::from(x);
    i8: |x| truncated(x) as i8, |x| x as i8, |x| f64::from(x);
    i16: |x| truncated(x) as i16, |x| x as i16, |x| f64::from(x);
    i32: |x| truncated(x), |x| x as i32, |x| f64::from(x);
    i64: |x| truncated_long(x), |x| x, |x| x as f64;
    f16: |x| x as f32, |x| x as f32, |x| f64::from(x);
    bf16: |x| x as f32, |x| x as f32, |x| f64::from(x);
    f32: |x| x as f32, |x| x as f32, |x| f64::from(x);
    f64: |x| x, |x| x as f64, |x| x;
}

/// Writes draws, the bits of float64 or of int64, to elements that lie so many bytes apart. Unsafe to call: there are
/// as many elements, in bounds, of the dtype, which nobody else uses.
pub(super) type Store = unsafe fn(*mut u8, isize, &[u64]);

/// Reads elements that lie so many bytes apart. Unsafe to call: there are as many as there is room for, in bounds, of
/// the dtype, initialised, which nobody writes meanwhile.
pub(super) type Load = unsafe fn(*const u8, isize, &mut [f64]);

/// # Safety
///
/// That of [`Store`].
unsafe fn put<T: Drawn, const WHOLE: bool>(to: *mut u8, stride: isize, draws: &[u64]) {
    for (i, &bits) in draws.iter().enumerate() {
        let value = if WHOLE { T::of_whole(bits as i64) } else { T::of_float(f64::from_bits(bits)) };
        // SAFETY: there is an element for each draw, which nobody else uses.
        unsafe { store::<T>(to.wrapping_offset(stride.wrapping_mul(i as isize)), 0, value) };
    }
}

/// # Safety
///
/// That of [`Load`].
unsafe fn get<T: Drawn>(from: *const u8, stride: isize, values: &mut [f64]) {
    for (i, value) in values.iter_mut().enumerate() {
        // SAFETY: there is an initialised element for each value.
        *value = T::number(unsafe { load::<T>(from.wrapping_offset(stride.wrapping_mul(i as isize)), 0) });
    }
}

macro_rules! by_dtype {
    ($($dtype:ident $t:ty),*) => {
        /// How draws are written to a dtype.
        pub(super) fn store_of(dtype: DType, is_whole: bool) -> Option<Store> {
            Some(match dtype {
                $(DType::$dtype if is_whole => put::<$t, true>,
                DType::$dtype => put::<$t, false>,)*
                _ => return None,
            })
        }

        /// How parameters are read of a dtype.
        pub(super) fn load_of(dtype: DType) -> Option<Load> {
            Some(match dtype {
                $(DType::$dtype => get::<$t>,)*
                _ => return None,
            })
        }
    };
}
by_dtype!(Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64);

/// The nearest number of a floating dtype, by way of float32 for those that are narrower.
pub(super) fn rounded(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::from(f16::from_f32(x as f32)),
        DType::BF16 => f64::from(bf16::from_f32(x as f32)),
        DType::F32 => f64::from(x as f32),
        _ => x,
    }
}
