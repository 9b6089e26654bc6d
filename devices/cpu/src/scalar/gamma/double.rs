//! Numbers of twice a float64's digits, one at a time: what keeps the gamma functions' digits where terms cancel. Sums
//! and products are good to 2⁻¹⁰⁰, logarithms to 2⁻⁶⁵. Fused products are the library's where the level has none: they
//! are exact either way.
//!
//! Formulas are written over [`Number`], which float64 is, too: its digits are enough for a float32.

use crate::isa::Portable;
use crate::scalar::log::{log_f64, reduced_f64};
use crate::scalar::pair::{fast_sum_f64, sum_f64};
use std::ops::{Add, Mul, Neg, Sub};

/// What the formulas compute with.
pub(super) trait Number:
    Copy + From<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// The nearest number to a constant of a head and a tail.
    fn constant(c: [f64; 2]) -> Self;

    /// The leading digits.
    fn head(self) -> f64;

    /// The quotient.
    fn over(self, divisor: Self) -> Self;

    /// c₀ + c₁·x + …, the first coefficients `heads` being heads and tails: in the others' place x has made errors
    /// small.
    fn series(self, heads: &[[f64; 2]], rest: &[f64]) -> Self;

    /// The logarithm of a positive number.
    fn logarithm(self) -> Self;
}

impl Number for f64 {
    fn constant([head, _]: [f64; 2]) -> f64 {
        head
    }

    fn head(self) -> f64 {
        self
    }

    fn over(self, divisor: f64) -> f64 {
        self / divisor
    }

    fn series(self, heads: &[[f64; 2]], rest: &[f64]) -> f64 {
        let tail = rest.iter().rev().fold(0.0, |sum, c| sum * self + c);
        heads.iter().rev().fold(tail, |sum, [c, _]| sum * self + c)
    }

    #[inline(never)]
    fn logarithm(self) -> f64 {
        log_f64::<Portable>(self)
    }
}

/// A number as the sum of a head and a tail, the tail below half of the head's last place.
#[derive(Clone, Copy)]
pub(super) struct Double {
    pub(super) head: f64,
    pub(super) tail: f64,
}

impl From<f64> for Double {
    fn from(head: f64) -> Double {
        Double { head, tail: 0.0 }
    }
}

/// a + b, exactly.
pub(super) fn sum(a: f64, b: f64) -> Double {
    let (head, tail) = sum_f64(a, b);
    Double { head, tail }
}

impl Add for Double {
    type Output = Double;
    #[inline]
    fn add(self, other: Double) -> Double {
        let (head, rest) = sum_f64(self.head, other.head);
        let (low, lowest) = sum_f64(self.tail, other.tail);
        let (head, rest) = fast_sum_f64(head, rest + low);
        let (head, tail) = fast_sum_f64(head, rest + lowest);
        Double { head, tail }
    }
}

impl Neg for Double {
    type Output = Double;
    #[inline]
    fn neg(self) -> Double {
        Double { head: -self.head, tail: -self.tail }
    }
}

impl Sub for Double {
    type Output = Double;
    #[inline]
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;
    #[inline]
    fn mul(self, other: Double) -> Double {
        let head = self.head * other.head;
        let rest = self.head.mul_add(other.head, -head);
        let (head, tail) = fast_sum_f64(head, rest + (self.head * other.tail + self.tail * other.head));
        Double { head, tail }
    }
}

impl Double {
    /// The nearest float64.
    pub(super) fn value(self) -> f64 {
        self.head + self.tail
    }
}

impl Number for Double {
    fn constant([head, tail]: [f64; 2]) -> Double {
        Double { head, tail }
    }

    fn head(self) -> f64 {
        self.head
    }

    fn over(self, divisor: Double) -> Double {
        let first = self.head / divisor.head;
        let rest = self - divisor * first.into();
        let (head, tail) = fast_sum_f64(first, rest.value() / divisor.head);
        Double { head, tail }
    }

    fn series(self, heads: &[[f64; 2]], rest: &[f64]) -> Double {
        let tail = rest.iter().rev().fold(0.0, |sum, c| sum * self.head + c);
        heads.iter().rev().fold(tail.into(), |sum, &c| sum * self + Double::constant(c))
    }

    /// The inverse hyperbolic tangent's series in f / (2 + f), f and k being those of `log.rs`.
    #[inline(never)]
    fn logarithm(self) -> Double {
        const HEADS: [[f64; 2]; 2] =
            [[0.666_666_666_666_666_6, 3.700_743_415_417_188e-17], [0.4, -2.220_446_049_250_313_2e-17]];
        const REST: [f64; 11] = [
            0.285_714_285_714_285_7,
            0.222_222_222_222_222_2,
            0.181_818_181_818_181_82,
            0.153_846_153_846_153_85,
            0.133_333_333_333_333_33,
            0.117_647_058_823_529_41,
            0.105_263_157_894_736_84,
            0.095_238_095_238_095_23,
            0.086_956_521_739_130_43,
            0.08,
            0.074_074_074_074_074_07,
        ];
        // ln 2, of which k times the first part is exact.
        const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
        let (f, k) = reduced_f64(self.head);
        let (f, low) = fast_sum_f64(f, self.tail / self.head * (1.0 + f));
        let f = Double { head: f, tail: low };
        let s = f.over(f + 2.0.into());
        let z = s * s;
        let log = (s + s) + s * z * z.series(&HEADS, &REST);
        log + sum(k * LN2[0], k * LN2[1])
    }
}
