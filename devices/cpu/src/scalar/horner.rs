//! Polynomials, written out: a loop over coefficients would stop vectorisation.

/// Horner's scheme: `horner!(fma, x; c2, c1, c0)` is c2·x² + c1·x + c0 by the given multiply-add.
macro_rules! horner {
    ($fma:path, $x:expr; $first:expr $(, $rest:expr)*) => {{
        let sum = $first;
        $(let sum = $fma(sum, $x, $rest);)*
        sum
    }};
}
pub(super) use horner;

/// The same with x² given, two coefficients at a time: nearly as many steps, but half as many of them wait for each
/// other.
macro_rules! paired {
    ($fma:expr, $x:expr, $square:expr; $first:expr, $second:expr $(, $odd:expr, $even:expr)*) => {{
        let sum = $fma($first, $x, $second);
        $(let sum = $fma(sum, $square, $fma($x, $odd, $even));)*
        sum
    }};
    ($fma:expr, $x:expr, $square:expr; $first:expr $(, $odd:expr, $even:expr)*) => {{
        let sum = $first;
        $(let sum = $fma(sum, $square, $fma($x, $odd, $even));)*
        sum
    }};
}
pub(super) use paired;

/// Declares multiply and add, fused where the level can.
macro_rules! fma {
    ($name:ident $float:ident) => {
        /// a·b + c, fused where the level can.
        #[inline(always)]
        pub(super) fn $name<I: crate::isa::Isa>(a: $float, b: $float, c: $float) -> $float {
            if I::FMA { a.mul_add(b, c) } else { a * b + c }
        }
    };
}
fma! { fma_f32 f32 }
fma! { fma_f64 f64 }
