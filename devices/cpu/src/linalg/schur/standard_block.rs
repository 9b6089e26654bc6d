//! The standard form of a real 2×2 block (*LAPACK Users' Guide*, 2.4.5; Golub & Van Loan, *Matrix Computations*,
//! 7.4.1): a rotation makes it triangular if its eigenvalues are real, else its diagonal elements equal.

use super::super::scale::with_sign;
use num_complex::Complex;

/// A block `[a b; c d]` in standard form, and the rotation `[cos sin; -sin cos]` that gives it.
pub(super) struct StandardBlock {
    pub(super) elements: [f64; 4],
    pub(super) cos: f64,
    pub(super) sin: f64,
}

impl StandardBlock {
    /// Of the block `[a b; c d]`.
    pub(super) fn new([a, b, c, d]: [f64; 4]) -> Self {
        let difference = a - d;
        if c == 0.0 || difference == 0.0 && b != 0.0 && b.signum() != c.signum() {
            return StandardBlock { elements: [a, b, c, d], cos: 1.0, sin: 0.0 };
        }
        if b == 0.0 {
            return StandardBlock { elements: [d, -c, 0.0, a], cos: 0.0, sin: 1.0 };
        }
        let half = 0.5 * difference;
        let large = b.abs().max(c.abs());
        let small = b.abs().min(c.abs()) * b.signum() * c.signum();
        let scale = half.abs().max(large);
        // The discriminant, by the scale; about 0 counts as complex, and is made exact below.
        let discriminant = (half / scale) * half + (large / scale) * small;
        if discriminant >= 4.0 * f64::EPSILON {
            let z = half + with_sign(scale.sqrt() * discriminant.sqrt(), half);
            let norm = c.hypot(z);
            let elements = [d + z, b - c, 0.0, d - (large / z) * small];
            return StandardBlock { elements, cos: z / norm, sin: c / norm };
        }
        Self::with_equal_diagonal([a, b, c, d])
    }

    /// Of a block whose eigenvalues are complex, or real and nearly equal.
    fn with_equal_diagonal([a, b, c, d]: [f64; 4]) -> Self {
        let (difference, sum) = (a - d, b + c);
        let norm = sum.hypot(difference);
        let cos = (0.5 * (1.0 + sum.abs() / norm)).sqrt();
        let sin = -with_sign(0.5 * difference / (norm * cos), sum);
        let [a, b, c, d] = [a * cos + b * sin, b * cos - a * sin, c * cos + d * sin, d * cos - c * sin];
        let [a, b, c, d] = [a * cos + c * sin, b * cos + d * sin, c * cos - a * sin, d * cos - b * sin];
        let mean = 0.5 * (a + d);
        let mut block = StandardBlock { elements: [mean, b, c, mean], cos, sin };
        if c != 0.0 && b == 0.0 {
            block = StandardBlock { elements: [mean, -c, 0.0, mean], cos: -sin, sin: cos };
        } else if c != 0.0 && b.signum() == c.signum() {
            // The eigenvalues are real after all.
            let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
            let root = with_sign(root_b * root_c, c);
            let scale = (b + c).abs().sqrt().recip();
            let (cos_after, sin_after) = (root_b * scale, root_c * scale);
            block = StandardBlock {
                elements: [mean + root, b - c, 0.0, mean - root],
                cos: cos * cos_after - sin * sin_after,
                sin: cos * sin_after + sin * cos_after,
            };
        }
        block
    }

    /// The eigenvalues; of a conjugate pair the one with the positive imaginary part first.
    pub(super) fn values(&self) -> [Complex<f64>; 2] {
        let [a, b, c, d] = self.elements;
        if c == 0.0 {
            return [a.into(), d.into()];
        }
        let imaginary = b.abs().sqrt() * c.abs().sqrt();
        [Complex::new(a, imaginary), Complex::new(d, -imaginary)]
    }
}
