//! What combines a value with an element: sums, products, quotients, minima and maxima of registers, as PyTorch has
//! them for integers, NaN and bool.

use monomorph_core::Complex;

/// What the rules need of a register.
pub(super) trait Arithmetic: Copy {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
}

impl Arithmetic for bool {
    fn plus(self, other: bool) -> bool {
        self | other
    }
    fn times(self, other: bool) -> bool {
        self & other
    }
    fn over(self, _: bool) -> bool {
        self
    }
    fn least(self, other: bool) -> bool {
        self & other
    }
    fn greatest(self, other: bool) -> bool {
        self | other
    }
}

macro_rules! arithmetic {
    ($($t:ty: |$a:ident, $b:ident| $plus:expr, $times:expr, $over:expr, $least:expr, $greatest:expr;)*) => {$(
        impl Arithmetic for $t {
            #[inline(always)]
            fn plus(self, $b: $t) -> $t { let $a = self; $plus }
            #[inline(always)]
            fn times(self, $b: $t) -> $t { let $a = self; $times }
            #[inline(always)]
            fn over(self, $b: $t) -> $t { let $a = self; $over }
            #[inline(always)]
            fn least(self, $b: $t) -> $t { let $a = self; $least }
            #[inline(always)]
            fn greatest(self, $b: $t) -> $t { let $a = self; $greatest }
        }
    )*};
}
/// A quotient rounded down; a divisor of 0 counts as 1.
macro_rules! floored {
    ($a:ident, $b:ident) => {{
        let quotient = $a.checked_div($b).unwrap_or($a);
        let rest = $a.wrapping_sub(quotient.wrapping_mul($b));
        #[allow(unused_comparisons, reason = "one list for signed and unsigned integers")]
        let below = $b != 0 && rest != 0 && (rest < 0) != ($b < 0);
        quotient.wrapping_sub(below.into())
    }};
}
arithmetic! {
    u8: |a, b| a.wrapping_add(b), a.wrapping_mul(b), floored!(a, b), a.min(b), a.max(b);
    i8: |a, b| a.wrapping_add(b), a.wrapping_mul(b), floored!(a, b), a.min(b), a.max(b);
    i16: |a, b| a.wrapping_add(b), a.wrapping_mul(b), floored!(a, b), a.min(b), a.max(b);
    i32: |a, b| a.wrapping_add(b), a.wrapping_mul(b), floored!(a, b), a.min(b), a.max(b);
    i64: |a, b| a.wrapping_add(b), a.wrapping_mul(b), floored!(a, b), a.min(b), a.max(b);
    f32: |a, b| a + b, a * b, if b == 0.0 { a } else { a / b },
        if b < a || b.is_nan() { b } else { a }, if b > a || b.is_nan() { b } else { a };
    f64: |a, b| a + b, a * b, if b == 0.0 { a } else { a / b },
        if b < a || b.is_nan() { b } else { a }, if b > a || b.is_nan() { b } else { a };
    // Complex numbers have no order; meta functions refuse them.
    Complex<f32>: |a, b| a + b, a * b, if b == Complex::ZERO { a } else { a / b }, first(a, b), first(a, b);
    Complex<f64>: |a, b| a + b, a * b, if b == Complex::ZERO { a } else { a / b }, first(a, b), first(a, b);
}

fn first<T>(a: T, _: T) -> T {
    a
}
