//! Matrices of two rows and columns, decomposed without overflow and to nearly all bits.
//!
//! Demmel & Kahan, *Accurate singular values of bidiagonal matrices*, SIAM J. Sci. Stat. Comput. 11(5), 1990, section
//! 5 and appendix; LAPACK Working Note 3. The signs are those of LAPACK's xLAEV2 and xLASV2.

use super::super::scale::with_sign;
use super::rotation::Rotation;

/// What [`eigen`] finds.
pub(super) struct Eigen {
    /// The eigenvalue of the larger absolute value.
    pub(super) large: f64,
    /// The eigenvalue of the smaller absolute value.
    pub(super) small: f64,
    /// `(cosine, sine)` is the unit vector that belongs to `large`.
    pub(super) rotation: Rotation,
}

/// Eigenvalues and vectors of the symmetric matrix `[a b; b c]`.
pub(super) fn eigen(a: f64, b: f64, c: f64) -> Eigen {
    let (sum, difference, twice) = (a + c, a - c, b + b);
    let (larger, smaller) = if a.abs() > c.abs() { (a, c) } else { (c, a) };
    let root = difference.hypot(twice);
    // The smaller value is the determinant by the larger one, since a difference would cancel.
    let quotient = |large: f64| (larger / large) * smaller - (b / large) * b;
    let (large, small) = match sum {
        _ if sum < 0.0 => (0.5 * (sum - root), quotient(0.5 * (sum - root))),
        _ if sum > 0.0 => (0.5 * (sum + root), quotient(0.5 * (sum + root))),
        _ => (0.5 * root, -0.5 * root),
    };
    let along = if difference >= 0.0 { difference + root } else { difference - root };
    let (cosine, sine) = if along.abs() > twice.abs() {
        let tangent = -twice / along;
        let sine = (1.0 + tangent * tangent).sqrt().recip();
        (tangent * sine, sine)
    } else if twice == 0.0 {
        (1.0, 0.0)
    } else {
        let tangent = -along / twice;
        let cosine = (1.0 + tangent * tangent).sqrt().recip();
        (cosine, tangent * cosine)
    };
    // So far this is the vector of one value or of the other, as the signs say.
    let is_other = (sum >= 0.0) == (difference >= 0.0);
    let (cosine, sine) = if is_other { (-sine, cosine) } else { (cosine, sine) };
    Eigen { large, small, rotation: Rotation { cosine, sine } }
}

/// What [`singular`] finds; the values have signs.
pub(super) struct Singular {
    /// The singular value of the larger absolute value.
    pub(super) large: f64,
    /// The singular value of the smaller absolute value.
    pub(super) small: f64,
    /// `(cosine, sine)` is the left vector that belongs to `large`.
    pub(super) left: Rotation,
    /// `(cosine, sine)` is the right vector that belongs to `large`.
    pub(super) right: Rotation,
}

/// Singular values and vectors of the triangular matrix `[f g; 0 h]`.
pub(super) fn singular(f: f64, g: f64, h: f64) -> Singular {
    let is_swapped = h.abs() > f.abs();
    let (front, back) = if is_swapped { (h, f) } else { (f, h) };
    let (front_size, back_size, size) = (front.abs(), back.abs(), g.abs());
    let (large, small, left, right);
    let sign = |x: f64| with_sign(1.0, x);
    if g == 0.0 {
        (large, small) = (front_size, back_size);
        (left, right) = ((1.0, 0.0), (1.0, 0.0));
    } else if front_size / size < 0.5 * f64::EPSILON {
        large = size;
        small = if back_size > 1.0 { front_size / (size / back_size) } else { (front_size / size) * back_size };
        (left, right) = ((1.0, back / g), (front / g, 1.0));
    } else {
        let gap = front_size - back_size;
        let relative = if gap == front_size { 1.0 } else { gap / front_size };
        let ratio = g / front;
        let (square, complement) = (ratio * ratio, 2.0 - relative);
        let s = (complement * complement + square).sqrt();
        let r = if relative == 0.0 { ratio.abs() } else { (relative * relative + square).sqrt() };
        let mean = 0.5 * (s + r);
        (large, small) = (front_size * mean, back_size / mean);
        let tangent = if square != 0.0 {
            (ratio / (s + complement) + ratio / (r + relative)) * (1.0 + mean)
        } else if relative == 0.0 {
            2.0 * sign(front) * sign(g)
        } else {
            g / with_sign(gap, front) + ratio / complement
        };
        let length = (tangent * tangent + 4.0).sqrt();
        right = (2.0 / length, tangent / length);
        left = ((right.0 + right.1 * ratio) / mean, (back / front) * right.1 / mean);
    }
    let (left, right) = if is_swapped { ((right.1, right.0), (left.1, left.0)) } else { (left, right) };
    // The sign follows from the element that the larger value is most of.
    let of_large = if g != 0.0 && size > front_size {
        sign(right.1) * sign(left.0) * sign(g)
    } else if is_swapped {
        sign(right.1) * sign(left.1) * sign(h)
    } else {
        sign(right.0) * sign(left.0) * sign(f)
    };
    Singular {
        large: large * of_large,
        small: small * (of_large * sign(f) * sign(h)),
        left: Rotation { cosine: left.0, sine: left.1 },
        right: Rotation { cosine: right.0, sine: right.1 },
    }
}

/// The smaller singular value of the triangular matrix `[f g; 0 h]`.
pub(super) fn smaller_singular(f: f64, g: f64, h: f64) -> f64 {
    let (f, g, h) = (f.abs(), g.abs(), h.abs());
    let (small, large) = (f.min(h), f.max(h));
    if small == 0.0 {
        return 0.0;
    }
    let (sum, difference) = (1.0 + small / large, (large - small) / large);
    if g < large {
        let square = (g / large) * (g / large);
        return small * (2.0 / ((sum * sum + square).sqrt() + (difference * difference + square).sqrt()));
    }
    let ratio = large / g;
    if ratio == 0.0 {
        return small * large / g;
    }
    let root = |x: f64| (1.0 + (x * ratio) * (x * ratio)).sqrt();
    small * (root(sum) + root(difference)).recip() * ratio * 2.0
}
