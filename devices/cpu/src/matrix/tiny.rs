//! Products of few elements: what the others take to begin with is more than these take. B is widened to float64, real
//! and imaginary parts apart, and rows of C accumulate beside it in the first cache; every element is rounded once.

use super::{Layout, Matrices, Product};
use crate::element::{CpuElement, load, store};
use crate::isa::{Isa, Kernel};
use monomorph_core::Complex;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The most multiplications of real numbers. Complex ones take four times as long elsewhere, too, and lose more by
/// cancellation.
const WORK: usize = 1024;

/// The most multiplications of complex numbers.
const COMPLEX_WORK: usize = 8192;

/// The most elements of B.
const ELEMENTS: usize = 2048;

/// The most columns of C.
const WIDTH: usize = 256;

/// Whether a product is one of these.
pub(super) fn suits([m, n, k]: [usize; 3], is_complex: bool) -> bool {
    let most = if is_complex { COMPLEX_WORK } else { WORK };
    n <= WIDTH && k.saturating_mul(n) <= ELEMENTS && m.saturating_mul(n).saturating_mul(k) <= most
}

/// What a value is in float64.
pub(super) trait Parts: Copy {
    /// Whether it has an imaginary part.
    const COMPLEX: bool;
    fn parts(self) -> [f64; 2];
    fn of(parts: [f64; 2]) -> Self;
}

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Parts for $t {
            const COMPLEX: bool = false;
            #[inline(always)]
            fn parts(self) -> [f64; 2] {
                [self as f64, 0.0]
            }
            #[inline(always)]
            fn of([re, _]: [f64; 2]) -> $t {
                re as $t
            }
        }
        impl Parts for Complex<$t> {
            const COMPLEX: bool = true;
            #[inline(always)]
            fn parts(self) -> [f64; 2] {
                [self.re as f64, self.im as f64]
            }
            #[inline(always)]
            fn of([re, im]: [f64; 2]) -> Complex<$t> {
                Complex::new(re as $t, im as $t)
            }
        }
    )*};
}
real! { f32 f64 }

/// Computes a product.
///
/// # Safety
///
/// M1 and M2 of [`Product::run`], for a dtype that is that of `C`; the product [`suits`].
pub(super) unsafe fn multiply<C: CpuElement<Repr: Parts>>(product: &Product, at: Matrices) -> bool {
    product.level.enter(Tiny { product, at, of: PhantomData::<C> });
    true
}

struct Tiny<'a, C> {
    product: &'a Product,
    at: Matrices,
    of: PhantomData<C>,
}

/// The place of an element.
#[inline(always)]
fn place<C: CpuElement>(layout: Layout, row: usize, col: usize) -> isize {
    layout.at(row, col).wrapping_mul(size_of::<C::Stored>() as isize)
}

/// An element, or its conjugate.
///
/// # Safety
///
/// It is in bounds and initialised.
#[inline(always)]
unsafe fn parts<C: CpuElement<Repr: Parts>>(at: *const u8, conj: bool) -> [f64; 2] {
    // SAFETY: the caller's promise.
    let [re, im] = unsafe { load::<C>(at, 0) }.parts();
    [re, if conj { -im } else { im }]
}

/// Zeros in room that nobody wrote.
#[inline(always)]
fn zeroed(room: &mut [MaybeUninit<f64>]) -> &mut [f64] {
    for number in &mut *room {
        number.write(0.0);
    }
    // SAFETY: all of it was just written.
    unsafe { room.assume_init_mut() }
}

/// The product of two numbers; of real ones, that of their real parts.
#[inline(always)]
fn times<const COMPLEX: bool>([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    if COMPLEX { [a * c - b * d, a * d + b * c] } else { [a * c, 0.0] }
}

impl<I: Isa, C: CpuElement<Repr: Parts>> Kernel<I> for Tiny<'_, C> {
    type Output = ();
    type Home = C;

    #[inline(always)]
    fn run(self, _: I) {
        let Product { m, n, k, a, b, c, conj, .. } = *self.product;
        // Room that is not written: to zero it would take longer than most of these products.
        let mut room = [[MaybeUninit::<f64>::uninit(); ELEMENTS]; 2];
        let [re_room, im_room] = &mut room;
        let (re_packed, im_packed) = (&mut re_room[..k * n], &mut im_room[..k * n]);
        for p in 0..k {
            for j in 0..n {
                // SAFETY: an element of B (M1, which `multiply` was promised).
                let [re, im] = unsafe { parts::<C>(self.at.b.wrapping_offset(place::<C>(b, p, j)), conj[1]) };
                re_packed[p * n + j].write(re);
                im_packed[p * n + j].write(im);
            }
        }
        // SAFETY: rows of `n` elements were written for each of `k`.
        let re_packed: &[f64] = unsafe { re_packed.assume_init_ref() };
        // SAFETY: as the real parts.
        let im_packed: &[f64] = unsafe { im_packed.assume_init_ref() };
        let number = |scalar: monomorph_core::Scalar| {
            let number = scalar.to_complex();
            // As the dtype has it.
            <C::Repr as Parts>::of([number.re, number.im]).parts()
        };
        let (alpha, beta) = (number(self.product.alpha), number(self.product.beta));
        let mut room = [[MaybeUninit::<f64>::uninit(); WIDTH]; 2];
        let [re_room, im_room] = &mut room;
        let (re_sums, im_sums) = (zeroed(&mut re_room[..n]), zeroed(&mut im_room[..n]));
        for i in 0..m {
            re_sums.fill(0.0);
            im_sums.fill(0.0);
            for p in 0..k {
                // SAFETY: an element of A (M1).
                let [re, im] = unsafe { parts::<C>(self.at.a.wrapping_offset(place::<C>(a, i, p)), conj[0]) };
                let (re_row, im_row) = (&re_packed[p * n..][..n], &im_packed[p * n..][..n]);
                for ((re_sum, im_sum), (x, y)) in
                    re_sums.iter_mut().zip(im_sums.iter_mut()).zip(re_row.iter().zip(im_row))
                {
                    *re_sum += re * x;
                    if <C::Repr as Parts>::COMPLEX {
                        *re_sum -= im * y;
                        *im_sum += re * y + im * x;
                    }
                }
            }
            for (j, (&re_sum, &im_sum)) in re_sums.iter().zip(im_sums.iter()).enumerate() {
                let at = self.at.c.wrapping_offset(place::<C>(c, i, j));
                let sum = [re_sum, im_sum];
                let [mut re, mut im] = match <C::Repr as Parts>::COMPLEX {
                    true => times::<true>(sum, alpha),
                    false => times::<false>(sum, alpha),
                };
                if !self.product.overwrites() {
                    // SAFETY: an element of C, which is initialised since beta is not zero (M1).
                    let before = unsafe { parts::<C>(at, false) };
                    let [x, y] = match <C::Repr as Parts>::COMPLEX {
                        true => times::<true>(before, beta),
                        false => times::<false>(before, beta),
                    };
                    (re, im) = (re + x, im + y);
                }
                // SAFETY: an element of C, which nobody else uses (M2).
                unsafe { store::<C>(at, 0, <C::Repr as Parts>::of([re, im])) };
            }
        }
    }
}
