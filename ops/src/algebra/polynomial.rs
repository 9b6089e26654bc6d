//! Sums of powers and of Chebyshev polynomials, written out: a loop over coefficients would stop vectorisation.

/// Horner's scheme: `polynomial! { x; c2, c1, c0 }` is c2·x² + c1·x + c0, of the value type that is called `V` where it
/// stands.
macro_rules! polynomial {
    ($x:expr; $first:expr $(, $rest:expr)* $(,)?) => {{
        let x: V = $x;
        let sum = V::from_f64($first);
        $(let sum = sum.mul_add(x, V::from_f64($rest));)*
        sum
    }};
}
pub(crate) use polynomial;

/// C. W. Clenshaw's recurrence (1955): `chebyshev! { x; c2, c1, c0 }` is c2·T₂(x/2) + c1·T₁(x/2) + c0/2.
macro_rules! chebyshev {
    ($x:expr; $first:expr $(, $rest:expr)* $(,)?) => {{
        let x: V = $x;
        let sums = [V::from_f64($first), V::zero(), V::zero()];
        $(let sums = [x.mul_add(sums[0], V::from_f64($rest) - sums[1]), sums[0], sums[1]];)*
        (sums[0] - sums[2]) * V::from_f64(0.5)
    }};
}
pub(crate) use chebyshev;
