//! More elementary functions in twice the precision of float64, from those of `pair.rs`: series where something would
//! cancel, half angles, one step of Newton's. Refuses speed and special values.

use super::Pair;

/// ln 2.
pub(super) const LN_2: Pair = Pair { head: std::f64::consts::LN_2, tail: 2.319_046_813_846_299_6e-17 };
/// ln 10.
pub(super) const LN_10: Pair = Pair { head: std::f64::consts::LN_10, tail: -2.170_756_223_382_249_4e-16 };
/// π / 2.
const HALF_PI: Pair = Pair { head: std::f64::consts::FRAC_PI_2, tail: 6.123_233_995_736_766e-17 };
/// What π / 2 has beyond.
const HALF_PI_REST: f64 = -1.497_384_904_859_169_8e-33;
/// 2 / √π.
const SLOPE: Pair = Pair { head: std::f64::consts::FRAC_2_SQRT_PI, tail: 1.533_545_961_316_588e-17 };

fn number(x: f64) -> Pair {
    Pair::from(x)
}

impl std::ops::Sub for Pair {
    type Output = Pair;
    fn sub(self, other: Pair) -> Pair {
        self + -other
    }
}

/// Σ x^(2k+1) cₖ from the first coefficient, until terms vanish: `next` is cₖ₊₁ / cₖ.
fn odd_series(x: Pair, next: impl Fn(f64) -> Pair) -> Pair {
    let square = x * x;
    let (mut power, mut total, mut k) = (x, x, 0.0);
    while power.head.abs() > total.head.abs() * 1e-34 {
        power = power * square * next(k);
        total = total + power;
        k += 1.0;
    }
    total
}

impl Pair {
    fn half(self) -> Pair {
        Pair { head: self.head * 0.5, tail: self.tail * 0.5 }
    }

    /// The square root of a positive number.
    fn sqrt(self) -> Pair {
        let guess = number(self.head.sqrt());
        guess + (self - guess * guess) / (guess + guess)
    }

    /// e to its power, less one.
    pub(super) fn exp_m1(self) -> Pair {
        if self.head.abs() > 0.5 {
            return self.exp() - number(1.0);
        }
        let (mut term, mut total, mut k) = (self, self, 1.0);
        while term.head.abs() > total.head.abs() * 1e-34 {
            k += 1.0;
            term = term * self / number(k);
            total = total + term;
        }
        total
    }

    /// The inverse of the hyperbolic tangent.
    pub(super) fn atanh(self) -> Pair {
        if self.head.abs() > 0.1 {
            return ((number(1.0) + self) / (number(1.0) - self)).ln().half();
        }
        let square = self * self;
        let (mut power, mut total, mut odd) = (self, self, 1.0);
        while power.head.abs() > total.head.abs() * 1e-34 {
            odd += 2.0;
            power = power * square;
            total = total + power / number(odd);
        }
        total
    }

    /// The logarithm of one more.
    pub(super) fn ln_1p(self) -> Pair {
        if self.head.abs() > 0.1 {
            return (number(1.0) + self).ln();
        }
        let half = (self / (number(2.0) + self)).atanh();
        half + half
    }

    /// The hyperbolic sine.
    pub(super) fn sinh(self) -> Pair {
        if self.head.abs() < 0.5 {
            return odd_series(self, |k| number(1.0) / number((2.0 * k + 2.0) * (2.0 * k + 3.0)));
        }
        let e = self.exp();
        (e - number(1.0) / e).half()
    }

    /// The hyperbolic cosine.
    pub(super) fn cosh(self) -> Pair {
        let e = self.exp();
        (e + number(1.0) / e).half()
    }

    /// The inverse of the hyperbolic sine.
    pub(super) fn asinh(self) -> Pair {
        if self.head.abs() > 1e3 {
            let a = if self.head < 0.0 { -self } else { self };
            let result = (a + (number(1.0) + a * a).sqrt()).ln();
            return if self.head < 0.0 { -result } else { result };
        }
        let half = (self / (number(1.0) + (number(1.0) + self * self).sqrt())).atanh();
        half + half
    }

    /// The inverse of the hyperbolic cosine, from 1.
    pub(super) fn acosh(self) -> Pair {
        if self.head == 1.0 {
            return number(0.0);
        }
        if self.head > 1e3 {
            return (self + (self * self - number(1.0)).sqrt()).ln();
        }
        let half = ((self - number(1.0)) / (self + number(1.0))).sqrt().atanh();
        half + half
    }

    /// The quadrant and the rest of an angle below 10⁶.
    fn reduced(self) -> (i64, Pair) {
        let n = (self.head / HALF_PI.head).round();
        let rest = self - number(n) * number(HALF_PI.head) - number(n) * number(HALF_PI.tail);
        (n as i64, rest - number(n * HALF_PI_REST))
    }

    fn sine_of_rest(self) -> Pair {
        odd_series(self, |k| number(-1.0) / number((2.0 * k + 2.0) * (2.0 * k + 3.0)))
    }

    fn cosine_of_rest(self) -> Pair {
        // 1 − 2 sin²(x / 2)
        let s = self.half().sine_of_rest();
        number(1.0) - (s * s + s * s)
    }

    fn turned(self, turn: i64) -> Pair {
        let (quadrant, rest) = self.reduced();
        let quadrant = quadrant + turn;
        let value = if quadrant % 2 == 0 { rest.sine_of_rest() } else { rest.cosine_of_rest() };
        if quadrant.rem_euclid(4) >= 2 { -value } else { value }
    }

    /// The sine.
    pub(super) fn sin(self) -> Pair {
        self.turned(0)
    }

    /// The cosine.
    pub(super) fn cos(self) -> Pair {
        self.turned(1)
    }

    /// The inverse of the tangent, by half angles.
    pub(super) fn atan(self) -> Pair {
        if self.head.abs() > 1e3 {
            let quarter = if self.head < 0.0 { -HALF_PI } else { HALF_PI };
            return quarter - (number(1.0) / self).atan();
        }
        let mut x = self;
        let mut times = 1.0;
        while x.head.abs() > 0.05 {
            x = x / (number(1.0) + (number(1.0) + x * x).sqrt());
            times *= 2.0;
        }
        let square = x * x;
        let (mut power, mut total, mut odd) = (x, x, 1.0);
        while power.head.abs() > total.head.abs() * 1e-34 {
            odd += 2.0;
            power = -(power * square);
            total = total + power / number(odd);
        }
        Pair { head: total.head * times, tail: total.tail * times }
    }

    /// The inverse of the sine.
    pub(super) fn asin(self) -> Pair {
        let cosine = ((number(1.0) - self) * (number(1.0) + self)).sqrt();
        (self / cosine).atan()
    }

    /// The inverse of the cosine.
    pub(super) fn acos(self) -> Pair {
        let half = ((number(1.0) - self) / (number(1.0) + self)).sqrt().atan();
        half + half
    }

    /// The complement of the error function, below 27: far out a continued fraction.
    pub(super) fn erfc(self) -> Pair {
        if self.head < 4.0 {
            return number(1.0) - self.erf();
        }
        let below = (1..=300).rev().fold(self, |below, k| self + number(f64::from(k) * 0.5) / below);
        (-(self * self)).exp() * SLOPE.half() / below
    }

    /// The inverse of the error function, from a value that is good to float64.
    pub(super) fn erfinv(self, guess: f64) -> Pair {
        let y = number(guess);
        let off = y.erf() - self;
        y - off / (SLOPE * (-(y * y)).exp())
    }
}
