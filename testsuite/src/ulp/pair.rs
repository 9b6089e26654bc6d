//! Elementary functions in twice the precision of float64, one number at a time: the reference that kernels are
//! measured with. Owns values good to about 2⁻⁹⁵; refuses speed and special values. Verified against numbers of 200
//! bits.

/// A number as the sum of a head and a tail (T. J. Dekker, *A floating-point technique for extending the available
/// precision*, 1971).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The nearest float64.
    pub head: f64,
    /// What it lacks.
    pub tail: f64,
}

fn sum(a: f64, b: f64) -> Pair {
    let head = a + b;
    let t = head - a;
    Pair { head, tail: (a - (head - t)) + (b - t) }
}

impl From<f64> for Pair {
    fn from(head: f64) -> Pair {
        Pair { head, tail: 0.0 }
    }
}

impl std::ops::Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        let (high, low) = (sum(self.head, other.head), sum(self.tail, other.tail));
        let high = sum(high.head, high.tail + low.head);
        sum(high.head, high.tail + low.tail)
    }
}

impl std::ops::Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair { head: -self.head, tail: -self.tail }
    }
}

impl std::ops::Mul for Pair {
    type Output = Pair;
    fn mul(self, other: Pair) -> Pair {
        let product = self.head * other.head;
        let low = self.head.mul_add(other.head, -product);
        sum(product, low + (self.head * other.tail + self.tail * other.head))
    }
}

impl std::ops::Div for Pair {
    type Output = Pair;
    fn div(self, other: Pair) -> Pair {
        let first = self.head / other.head;
        let rest = self + -(other * Pair::from(first));
        let second = rest.head / other.head;
        let rest = rest + -(other * Pair::from(second));
        sum(first, second) + Pair::from(rest.head / other.head)
    }
}

impl Pair {
    const ONE: Pair = Pair { head: 1.0, tail: 0.0 };

    /// The number times a power of two, where nothing is lost.
    fn scaled(self, n: i32) -> Pair {
        let half = n / 2;
        let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
        let by = |x: f64| x * power(half) * power(n - half);
        Pair { head: by(self.head), tail: by(self.tail) }
    }

    /// `n` and the exponential of the number times 2⁻ⁿ: ln 2 in three parts, then Taylor's series of an eighth.
    pub fn exp_parts(self) -> (i32, Pair) {
        let n = (self.head * std::f64::consts::LOG2_E).round();
        // 40 bits each, so that products with the 11 bits of n are exact; the rest rounded.
        let high = f64::from_bits(0x3fe6_2e42_fefa_2000);
        let middle = f64::from_bits(0x3d69_ef35_793c_6000);
        let low = f64::from_bits(0x3ae6_7300_7e5e_d5e8);
        let r = sum(self.head, -n * high) + sum(-n * middle, self.tail) + Pair::from(-n * low);
        let r = Pair { head: r.head / 8.0, tail: r.tail / 8.0 };
        let mut series = Pair::ONE;
        for k in (1..=18).rev() {
            series = Pair::ONE + series * r / Pair::from(f64::from(k));
        }
        for _ in 0..3 {
            series = series * series;
        }
        (n as i32, series)
    }

    /// The exponential, where it is a normal number.
    pub fn exp(self) -> Pair {
        let (n, e) = self.exp_parts();
        e.scaled(n)
    }

    /// The natural logarithm of a positive, normal number: one step of Newton's from float64's.
    pub fn ln(self) -> Pair {
        let exponent = (self.head.to_bits() >> 52) as i32 - 1023;
        let significand = self.scaled(-exponent);
        let ln2 = Pair { head: std::f64::consts::LN_2, tail: 2.319_046_813_846_299_6e-17 };
        let guess = Pair::from(significand.head.ln());
        let fine = guess + (significand * (-guess).exp() + -Pair::ONE);
        ln2 * Pair::from(f64::from(exponent)) + fine
    }

    /// The hyperbolic tangent of a number from -40 to 40.
    pub fn tanh(self) -> Pair {
        let square = self * self;
        if self.head.abs() < 1e-3 {
            let coefficient = |p: f64, q: f64| Pair::from(p) / Pair::from(q);
            let series = [(62.0, 2835.0), (-17.0, 315.0), (2.0, 15.0), (-1.0, 3.0)]
                .iter()
                .fold(coefficient(-1382.0, 155_925.0), |s, &(p, q)| s * square + coefficient(p, q));
            return self + self * square * series;
        }
        let e = (self + self).exp();
        (e + -Pair::ONE) / (e + Pair::ONE)
    }

    /// The error function of a number from -6 to 6: a series whose terms are all of one sign.
    pub fn erf(self) -> Pair {
        let square = self * self;
        let double = square + square;
        let (mut term, mut total, mut odd) = (self, self, 1.0);
        while term.head.abs() > total.head.abs() * 1e-34 {
            odd += 2.0;
            term = term * double / Pair::from(odd);
            total = total + term;
        }
        let factor = Pair { head: std::f64::consts::FRAC_2_SQRT_PI, tail: 1.533_545_961_316_588e-17 };
        (-square).exp() * total * factor
    }
}
