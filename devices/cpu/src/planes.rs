//! Planes that elements are added to, each plane for itself: what columns and gradients of continued tensors have in
//! common. Which element is added where, and in which order, is the operator's.

use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel, Level};
use crate::left_out::no_kernel;
use half::{bf16, f16};
use monomorph_core::{Complex, DType, Result};
use monomorph_iter::{GRAIN, is_parallel, share};
use std::marker::PhantomData;
use std::ops::Range;

/// What is added to planes.
pub(crate) trait PlaneSum: Sync {
    /// Adds the elements of one plane, from `from` on, to those of `to`, which are zero.
    ///
    /// Must be `#[inline(always)]`, since it is compiled for a level.
    ///
    /// # Safety
    ///
    /// P1 and P2 of [`Planes`] for one plane of elements of `C`.
    unsafe fn add<C: Added>(&self, from: *const u8, to: *mut u8);
}

/// What the threads of a call share. Invariants:
/// * P1: `from` are dense elements of the dtype, `read` for each plane, which nobody writes;
/// * P2: so is `to`, with `written` for each plane, which nobody else uses.
pub(crate) struct Planes<'a, P> {
    pub(crate) sum: &'a P,
    pub(crate) count: usize,
    pub(crate) from: *const u8,
    pub(crate) read: usize,
    pub(crate) to: *mut u8,
    pub(crate) written: usize,
}

// SAFETY: threads read `from`, and write planes of their own.
unsafe impl<P: Sync> Sync for Planes<'_, P> {}

/// Computes planes. Unsafe to call: P1, P2 for a dtype, whose kernel it is, and these planes of `to` are nobody else's.
type PlanesKernel<P> = unsafe fn(Level, &Planes<'_, P>, Range<usize>);

impl<P: PlaneSum> Planes<'_, P> {
    /// An error unless elements of the dtype can be added.
    pub(crate) fn check(dtype: DType) -> Result<()> {
        Self::kernel(dtype).map(drop)
    }

    fn kernel(dtype: DType) -> Result<PlanesKernel<P>> {
        Ok(match dtype {
            DType::Bool => sums::<bool, P>,
            #[cfg(feature = "halves")]
            DType::F16 => sums::<f16, P>,
            #[cfg(feature = "halves")]
            DType::BF16 => sums::<bf16, P>,
            DType::F32 => sums::<f32, P>,
            DType::F64 => sums::<f64, P>,
            #[cfg(feature = "complex")]
            DType::C64 => sums::<Complex<f32>, P>,
            #[cfg(feature = "complex")]
            DType::C128 => sums::<Complex<f64>, P>,
            _ => return Err(no_kernel(dtype, "others").into()),
        })
    }

    /// Computes all planes.
    ///
    /// # Safety
    ///
    /// P1 and P2 for the dtype.
    pub(crate) unsafe fn run(&self, level: Level, dtype: DType) -> Result<()> {
        let kernel = Self::kernel(dtype)?;
        let is_shared = is_parallel(self.count * self.read, GRAIN);
        let together = if is_shared { (GRAIN / self.read.max(1)).max(1) } else { self.count.max(1) };
        share(self.count.div_ceil(together), |piece| {
            let planes = piece * together..self.count.min((piece + 1) * together);
            // SAFETY: P1, P2 for the dtype, whose kernel this is, by the caller's promise; each plane is one piece's.
            unsafe { kernel(level, self, planes) };
        });
        Ok(())
    }
}

/// # Safety
///
/// P1, P2 for elements of `C`; nobody else uses these planes of `to`.
unsafe fn sums<C: Added, P: PlaneSum>(level: Level, of: &Planes<'_, P>, planes: Range<usize>) {
    level.enter(Sums::<C, P>(of, planes, PhantomData));
}

struct Sums<'a, C, P>(&'a Planes<'a, P>, Range<usize>, PhantomData<C>);

impl<C: Added, P: PlaneSum, I: Isa> Kernel<I> for Sums<'_, C, P> {
    type Home = C;
    type Output = ();

    #[inline(always)]
    fn run(self, _: I) {
        let (Sums(call, planes, _), size) = (self, size_of::<C::Stored>());
        for plane in planes {
            let to = call.to.wrapping_add(plane * call.written * size);
            for i in 0..call.written {
                // SAFETY: an element of the plane (P2).
                unsafe { store::<C>(to, i, C::ZERO) };
            }
            // SAFETY: P1 and P2 for this plane, whose elements were just set to zero.
            unsafe { call.sum.add::<C>(call.from.wrapping_add(plane * call.read * size), to) };
        }
    }
}

/// Elements that are added.
pub(crate) trait Added: CpuElement {
    const ZERO: Self::Repr;
    fn plus(a: Self::Repr, b: Self::Repr) -> Self::Repr;
}
macro_rules! added {
    ($($t:ty: $zero:expr, |$a:ident, $b:ident| $plus:expr;)*) => {$(
        impl Added for $t {
            const ZERO: Self::Repr = $zero;
            #[inline(always)]
            fn plus($a: Self::Repr, $b: Self::Repr) -> Self::Repr {
                $plus
            }
        }
    )*};
}
added! {
    bool: false, |a, b| a | b;
    f16: 0.0, |a, b| a + b;
    bf16: 0.0, |a, b| a + b;
    f32: 0.0, |a, b| a + b;
    f64: 0.0, |a, b| a + b;
    Complex<f32>: Complex::new(0.0, 0.0), |a, b| a + b;
    Complex<f64>: Complex::new(0.0, 0.0), |a, b| a + b;
}

/// Adds `n` elements to those that lie `stride` elements apart.
///
/// # Safety
///
/// As many elements are initialised, and so are those that are added to, which nobody else uses.
#[inline(always)]
pub(crate) unsafe fn add_line<C: Added>(from: *const u8, to: *mut u8, n: usize, stride: usize) {
    let add = |i: usize, at: usize| {
        // SAFETY: `i < n`, and element `at` was written before: the caller's promise.
        let sum = unsafe { load::<C>(to, at) };
        // SAFETY: `i < n`: the caller's promise.
        let x = unsafe { load::<C>(from, i) };
        // SAFETY: `i < n`: the caller's promise.
        unsafe { store::<C>(to, at, C::plus(sum, x)) };
    };
    match stride {
        1 => (0..n).for_each(|i| add(i, i)),
        _ => (0..n).for_each(|i| add(i, i * stride)),
    }
}
