//! Plane rotations, and the columns of vectors that they turn.
//!
//! Golub & Van Loan, *Matrix Computations*, 5.1.8; the choice of signs, which the signs of vectors follow from, is that
//! of LAPACK's xLARTG: Bindel, Demmel, Kahan & Marques, *On computing Givens rotations reliably and efficiently*,
//! LAPACK Working Note 148, and Anderson, *Algorithm 978: safe scaling in the level 1 BLAS*, ACM Trans. Math. Softw.
//! 44(1), 2017.

use super::super::number::{Number, identity, zeros};
use super::super::scale::{power_into, scale, times_power, with_sign};
use super::super::vectors::rotate;
use monomorph_core::Result;

/// Sums of squares between these lose nothing that counts to underflow, and do not overflow.
const SAFE_SQUARES: std::ops::Range<f64> = f64::from_bits((1023 - 800) << 52)..f64::from_bits((1023 + 800) << 52);

/// A rotation `[c s; -s c]`.
#[derive(Clone, Copy)]
pub(super) struct Rotation {
    /// c.
    pub(super) cosine: f64,
    /// s.
    pub(super) sine: f64,
}

impl Rotation {
    /// The rotation that maps `(f, g)` to `(r, 0)`, and r, which has the sign of f: that of LAPACK from 3.10 on.
    pub(super) fn new(f: f64, g: f64) -> (Self, f64) {
        if g == 0.0 {
            return (Rotation { cosine: 1.0, sine: 0.0 }, f);
        }
        if f == 0.0 {
            return (Rotation { cosine: 0.0, sine: with_sign(1.0, g) }, g.abs());
        }
        let square = f * f + g * g;
        if !SAFE_SQUARES.contains(&square) && f.is_finite() && g.is_finite() {
            // Subnormal numbers would round the cosine and the sine.
            let mut scaled = [f, g];
            let power = power_into(&(0..=0), f.abs().max(g.abs()));
            scale(&mut scaled, power);
            let (rotation, r) = Rotation::new(scaled[0], scaled[1]);
            return (rotation, times_power(r, -power));
        }
        let r = with_sign(square.sqrt(), f);
        (Rotation { cosine: f / r, sine: g / r }, r)
    }

    /// The same, but r is positive where g is not smaller than f: that of LAPACK up to 3.9.
    ///
    /// MKL, which PyTorch's wheels for x86 come with, has this one for eigenvectors still.
    pub(super) fn new_before_3_10(f: f64, g: f64) -> (Self, f64) {
        let (Rotation { cosine, sine }, r) = Rotation::new(f, g);
        if (f < 0.0 && f.abs() <= g.abs()) || (f == 0.0 && g < 0.0) {
            return (Rotation { cosine: -cosine, sine: -sine }, -r);
        }
        (Rotation { cosine, sine }, r)
    }
}

/// Columns of equal height, of real numbers; none at all where only values are asked for.
pub(super) struct Columns<'a> {
    /// Column by column.
    pub(super) elements: &'a mut [f64],
    /// Elements of a column.
    pub(super) height: usize,
}

impl Columns<'_> {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.elements.len() / self.height.max(1)
    }

    /// One column.
    pub(super) fn column(&self, k: usize) -> &[f64] {
        &self.elements[k * self.height..][..self.height]
    }

    /// Two columns.
    fn pair(&mut self, a: usize, b: usize) -> (&mut [f64], &mut [f64]) {
        let (low, high) = (a.min(b), a.max(b));
        let (head, tail) = self.elements.split_at_mut(high * self.height);
        let (low, high) = (&mut head[low * self.height..][..self.height], &mut tail[..self.height]);
        if a < b { (low, high) } else { (high, low) }
    }

    /// Turns two columns: `a` becomes `c·a + s·b`, and `b` becomes `c·b - s·a`.
    pub(super) fn rotate(&mut self, a: usize, b: usize, rotation: Rotation) {
        let Rotation { cosine, sine } = rotation;
        if self.is_empty() || (cosine == 1.0 && sine == 0.0) {
            return;
        }
        let (a, b) = self.pair(a, b);
        rotate(a, b, cosine, sine);
    }

    /// Exchanges two columns.
    pub(super) fn swap(&mut self, a: usize, b: usize) {
        if !self.is_empty() && a != b {
            let (a, b) = self.pair(a, b);
            a.swap_with_slice(b);
        }
    }

    /// Negates one column.
    pub(super) fn negate(&mut self, k: usize) {
        if !self.is_empty() {
            self.elements[k * self.height..][..self.height].iter_mut().for_each(|x| *x = -*x);
        }
    }
}

/// The vectors before any rotation.
pub(super) fn unturned(n: usize) -> Result<Vec<f64>> {
    let mut elements = zeros(n * n)?;
    identity(&mut elements, n);
    Ok(elements)
}

/// Real numbers as elements.
pub(super) fn widen<E: Number>(real: &[f64]) -> Result<Vec<E>> {
    let mut elements = zeros(real.len())?;
    elements.iter_mut().zip(real).for_each(|(x, &real)| *x = E::one() * real);
    Ok(elements)
}

/// A block of a tridiagonal or bidiagonal matrix, walked from either end: the same recurrence chases a bulge upwards
/// or downwards.
///
/// ```text
///   d₀          place(0)   first              last        where reversed
///    e₀         link(0)    first              last - 1
///     d₁        place(1)   first + 1          last - 1
///      e₁       link(1)    first + 1          last - 2
/// ```
#[derive(Clone, Copy)]
pub(super) struct Walk {
    /// The first row of the block.
    pub(super) first: usize,
    /// The last row of the block.
    pub(super) last: usize,
    /// Whether the walk starts at the last row.
    pub(super) reversed: bool,
}

impl Walk {
    /// The number of links: one less than the rows.
    pub(super) fn links(&self) -> usize {
        self.last - self.first
    }

    /// The index of the diagonal element after `k` steps.
    pub(super) fn place(&self, k: usize) -> usize {
        if self.reversed { self.last - k } else { self.first + k }
    }

    /// The index of the element beside the diagonal between the places `k` and `k + 1`.
    pub(super) fn link(&self, k: usize) -> usize {
        if self.reversed { self.last - 1 - k } else { self.first + k }
    }
}
