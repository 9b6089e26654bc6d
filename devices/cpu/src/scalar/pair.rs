//! Numbers as a head and a tail: error-free transforms (T. J. Dekker, *A floating-point technique for extending the
//! available precision*, Numerische Mathematik 18, 1971; D. E. Knuth, *The Art of Computer Programming* 2, 4.2.2). Owns
//! the steps that elementary functions share; refuses to normalise results, which callers do where they need it.

use crate::isa::Isa;

/// Declares the transforms of one float type.
macro_rules! transforms {
    ($float:ident: $fast_sum:ident, $product:ident, $rest:ident; split $split:literal) => {
        /// a + b, and what the rounded sum lacks. The magnitude of `a` is not below that of `b`, or `a` is zero.
        #[inline(always)]
        pub(super) fn $fast_sum(a: $float, b: $float) -> ($float, $float) {
            let sum = a + b;
            (sum, b - (sum - a))
        }

        /// a · b, and what the rounded product lacks.
        #[inline(always)]
        pub(super) fn $product<I: Isa>(a: $float, b: $float) -> ($float, $float) {
            let product = a * b;
            if I::FMA {
                return (product, a.mul_add(b, -product));
            }
            // Half the digits of each factor, so that products of halves are exact (G. W. Veltkamp).
            let halves = |x: $float| {
                let scaled = x * $split;
                let high = scaled - (scaled - x);
                (high, x - high)
            };
            let ((ah, al), (bh, bl)) = (halves(a), halves(b));
            (product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
        }

        /// c - a · b, where the product nearly cancels `c`.
        #[inline(always)]
        pub(super) fn $rest<I: Isa>(c: $float, a: $float, b: $float) -> $float {
            if I::FMA {
                return (-a).mul_add(b, c);
            }
            let (product, low) = $product::<I>(a, b);
            (c - product) - low
        }
    };
}

transforms! { f32: fast_sum_f32, product_f32, rest_f32; split 4097.0 }
transforms! { f64: fast_sum_f64, product_f64, rest_f64; split 134217729.0 }

/// a + b, and what the rounded sum lacks, whichever is larger.
#[inline(always)]
pub(super) fn sum_f64(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let t = sum - a;
    (sum, (a - (sum - t)) + (b - t))
}
