//! Loops over columns, which the unblocked algorithms consist of: long ones at the best level of instructions.

use super::number::Number;
use crate::isa::{Isa, Kernel, Level};

/// Sums that a product of columns is computed as, so that additions need not wait for each other.
const SUMS: usize = 8;

/// Shorter columns are not worth the call of another level.
const LONG: usize = 32;

/// Below this, the square of a number has lost bits to underflow.
const TINY: f64 = f64::from_bits((1023 - 485) << 52);

/// Above this, a sum of squares may overflow.
const HUGE: f64 = f64::from_bits((1023 + 490) << 52);

fn level() -> Level {
    Level::current().unwrap_or(Level::Portable)
}

/// The sum of `conj(a)·b`.
#[inline]
pub(super) fn dot<E: Number>(a: &[E], b: &[E]) -> E {
    if a.len() < LONG { summed(a, b) } else { level().enter(Dot { a, b }) }
}

#[inline(always)]
fn summed<E: Number>(a: &[E], b: &[E]) -> E {
    let mut sums = [E::zero(); SUMS];
    let (a_chunks, b_chunks) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        // No closure, which might not be inlined into a level's frame.
        for ((sum, a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a.conj() * b;
        }
    }
    let rest = rest.fold(E::zero(), |sum, (a, &b)| sum + a.conj() * b);
    sums.iter().fold(rest, |sum, &x| sum + x)
}

struct Dot<'a, E> {
    a: &'a [E],
    b: &'a [E],
}

impl<I: Isa, E: Number> Kernel<I> for Dot<'_, E> {
    type Output = E;
    type Home = Self;

    #[inline(always)]
    fn run(self, _: I) -> E {
        summed(self.a, self.b)
    }
}

/// `y += x·factor`.
#[inline]
pub(super) fn add_scaled<E: Number>(y: &mut [E], x: &[E], factor: E) {
    if y.len() < LONG { added(y, x, factor) } else { level().enter(AddScaled { y, x, factor }) }
}

#[inline(always)]
fn added<E: Number>(y: &mut [E], x: &[E], factor: E) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += x * factor;
    }
}

struct AddScaled<'a, E> {
    y: &'a mut [E],
    x: &'a [E],
    factor: E,
}

impl<I: Isa, E: Number> Kernel<I> for AddScaled<'_, E> {
    type Output = ();
    type Home = Self;

    #[inline(always)]
    fn run(self, _: I) {
        added(self.y, self.x, self.factor);
    }
}

/// A rotation of two columns: `a` becomes `c·a + s·b`, and `b` becomes `c·b - s·a`.
#[inline]
pub(super) fn rotate(a: &mut [f64], b: &mut [f64], cosine: f64, sine: f64) {
    if a.len() < LONG { rotated(a, b, cosine, sine) } else { level().enter(Rotate { a, b, cosine, sine }) }
}

#[inline(always)]
fn rotated(a: &mut [f64], b: &mut [f64], cosine: f64, sine: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
    }
}

struct Rotate<'a> {
    a: &'a mut [f64],
    b: &'a mut [f64],
    cosine: f64,
    sine: f64,
}

impl<I: Isa> Kernel<I> for Rotate<'_> {
    type Output = ();
    type Home = Self;

    #[inline(always)]
    fn run(self, _: I) {
        rotated(self.a, self.b, self.cosine, self.sine);
    }
}

/// The Euclidean norm, without overflow or underflow of the squares.
pub(super) fn norm<E: Number>(x: &[E]) -> f64 {
    let largest = x.iter().fold(0.0_f64, |largest, x| largest.max(x.re().abs()).max(x.im().abs()));
    let factor = match largest {
        0.0 => return if x.iter().any(|x| x.is_nan()) { f64::NAN } else { 0.0 },
        _ if largest < TINY => HUGE,
        _ if largest > HUGE => TINY,
        _ => 1.0,
    };
    let square = |x: &E| {
        let x = *x * factor;
        x.re() * x.re() + x.im() * x.im()
    };
    x.iter().map(square).sum::<f64>().sqrt() / factor
}
