//! The integers: arithmetic wraps, and no divisor panics.

use super::{Lane, operator};
use crate::isa::Isa;
use monomorph_ops::algebra::{Bits, Equal, Magnitude, Num, Ordered, Power, RoundedDivision, Shift, Value};

macro_rules! wrapping_abs {
    ($a:expr) => {
        $a.wrapping_abs()
    };
}

macro_rules! itself {
    ($a:expr) => {
        $a
    };
}

/// Every bit the sign bit.
macro_rules! sign_fill {
    ($a:expr) => {
        if $a < 0 { !0 } else { 0 }
    };
}

macro_rules! no_sign {
    ($a:expr) => {
        0
    };
}

/// One less where the rest is not zero and its sign is not the divisor's.
macro_rules! signed_floor {
    ($quotient:expr, $rest:expr, $divisor:expr) => {
        $quotient.wrapping_sub((($rest != 0) & (($rest ^ $divisor) < 0)).into())
    };
}

/// Without signs the quotient is rounded down already.
macro_rules! unsigned_floor {
    ($quotient:expr, $rest:expr, $divisor:expr) => {{
        let _ = $rest;
        $quotient
    }};
}

/// The quotient of integers of at most 16 bits: that of two float32 does not round to an integer unless it is one.
macro_rules! in_f32 {
    ($a:expr, $b:expr, $int:ident) => {
        ($a as f32 / $b as f32) as i32 as $int
    };
}

/// The quotient of integers of 32 bits: that of two float64 does not round to an integer unless it is one. Processors
/// have no vectors of integer quotients.
macro_rules! in_f64 {
    ($a:expr, $b:expr, $int:ident) => {
        // The least integer has no negative.
        if $b == -1 { $a.wrapping_neg() } else { (f64::from($a) / f64::from($b)) as $int }
    };
}

macro_rules! in_integers {
    ($a:expr, $b:expr, $int:ident) => {
        $a.wrapping_div($b)
    };
}

/// Implements the algebra for integer types. The words of a row name what signed and unsigned ones do apart, and how
/// quotients are taken.
macro_rules! integer {
    ($($int:ident: abs $abs:ident, sign $sign:ident, floor $floor:ident, quotient $quotient:ident);+ $(;)?) => {$(
        impl<I: Isa> Value for Lane<$int, I> {
            type Mask = Lane<bool, I>;
            type Re = Self;

            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                if mask.get() { yes } else { no }
            }
            #[inline(always)]
            fn truth(self) -> Self::Mask {
                Lane::new(self.get() != 0)
            }
            #[inline(always)]
            fn from_bool(x: bool) -> Self {
                Lane::new(x as $int)
            }
            #[inline(always)]
            fn from_i64(x: i64) -> Self {
                Lane::new(x as $int)
            }
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                Lane::new(x as $int)
            }
            #[inline(always)]
            fn from_complex(re: f64, _: f64) -> Self {
                Self::from_f64(re)
            }
        }

        operator!($int: Add::add = |a, b| a.wrapping_add(b));
        operator!($int: Sub::sub = |a, b| a.wrapping_sub(b));
        operator!($int: Mul::mul = |a, b| a.wrapping_mul(b));
        operator!($int: Neg::neg = |a| a.wrapping_neg());
        operator!($int: BitAnd::bitand = |a, b| a & b);
        operator!($int: BitOr::bitor = |a, b| a | b);
        operator!($int: BitXor::bitxor = |a, b| a ^ b);
        operator!($int: Not::not = |a| !a);

        impl<I: Isa> Num for Lane<$int, I> {}
        impl<I: Isa> Bits for Lane<$int, I> {}

        impl<I: Isa> Shift for Lane<$int, I> {
            #[inline(always)]
            fn shift_left(self, amount: Self) -> Self {
                // As an unsigned number a negative amount is too large, too.
                let amount = amount.get() as i64 as u64;
                let inside = amount < $int::BITS as u64;
                let shifted = self.get().wrapping_shl(amount as u32);
                Lane::new(if inside { shifted } else { 0 })
            }
            #[inline(always)]
            fn shift_right(self, amount: Self) -> Self {
                let amount = amount.get() as i64 as u64;
                let inside = amount < $int::BITS as u64;
                let shifted = self.get().wrapping_shr(amount as u32);
                Lane::new(if inside { shifted } else { $sign!(self.get()) })
            }
        }

        impl<I: Isa> Magnitude for Lane<$int, I> {
            #[inline(always)]
            fn abs(self) -> Self {
                Lane::new($abs!(self.get()))
            }
        }

        impl<I: Isa> Equal for Lane<$int, I> {
            #[inline(always)]
            fn eq(self, other: Self) -> Self::Mask {
                Lane::new(self.get() == other.get())
            }
            #[inline(always)]
            fn ne(self, other: Self) -> Self::Mask {
                Lane::new(self.get() != other.get())
            }
        }

        impl<I: Isa> Ordered for Lane<$int, I> {
            #[inline(always)]
            fn lt(self, other: Self) -> Self::Mask {
                Lane::new(self.get() < other.get())
            }
            #[inline(always)]
            fn le(self, other: Self) -> Self::Mask {
                Lane::new(self.get() <= other.get())
            }
        }

        impl<I: Isa> Power for Lane<$int, I> {
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self {
                let (base, exponent) = (self.get(), exponent.get() as i64);
                let (mut square, mut rest) = (base, if exponent < 0 { 0 } else { exponent });
                let mut product: $int = 1;
                if I::FMA & ($int::BITS <= 32) {
                    // A straight line, which vectorises: s = base^(2^k) of an odd base is 1 in its last k + 2 digits,
                    // so that (s − 1)² vanishes and s^m is 1 + m (s − 1). Of an even base s vanishes.
                    let mut rest = rest as $int;
                    for _ in 0..match $int::BITS { 8 => 3, 16 => 6, _ => 14 } {
                        product = if rest & 1 == 1 { product.wrapping_mul(square) } else { product };
                        square = square.wrapping_mul(square);
                        rest >>= 1;
                    }
                    product = product.wrapping_mul(rest.wrapping_mul(square.wrapping_sub(1)).wrapping_add(1));
                    product = if (rest != 0) & (base & 1 == 0) { 0 } else { product };
                } else {
                    while rest != 0 {
                        product = if rest & 1 == 1 { product.wrapping_mul(square) } else { product };
                        square = square.wrapping_mul(square);
                        rest >>= 1;
                    }
                }
                // The reciprocal of the product, cut: 1 and -1 are their own.
                let unit = (base == 1) | (base == (0 as $int).wrapping_sub(1)) & ($int::MIN != 0);
                let reciprocal = if unit & (exponent & 1 == 1) { base } else { unit as $int };
                Lane::new(if exponent < 0 { reciprocal } else { product })
            }
            #[inline(always)]
            fn pow_number(self, exponent: Self) -> Self {
                // The exponent is the same for the whole loop, so this is no branch in it.
                Lane::new(match exponent.get() {
                    2 => self.get().wrapping_mul(self.get()),
                    3 => self.get().wrapping_mul(self.get()).wrapping_mul(self.get()),
                    _ => return self.pow(exponent),
                })
            }
        }

        impl<I: Isa> RoundedDivision for Lane<$int, I> {
            #[inline(always)]
            fn div_trunc(self, divisor: Self) -> Self {
                let (a, b) = (self.get(), divisor.get());
                let safe = if b == 0 { 1 } else { b };
                Lane::new(if b == 0 { 0 } else { $quotient!(a, safe, $int) })
            }
            #[inline(always)]
            fn div_floor(self, divisor: Self) -> Self {
                let (quotient, rest) = (self.div_trunc(divisor).get(), self.rem_trunc(divisor).get());
                Lane::new($floor!(quotient, rest, divisor.get()))
            }
            #[inline(always)]
            fn rem_trunc(self, divisor: Self) -> Self {
                let (a, b) = (self.get(), divisor.get());
                let safe = if b == 0 { 1 } else { b };
                Lane::new(if b == 0 { 0 } else { a.wrapping_sub($quotient!(a, safe, $int).wrapping_mul(b)) })
            }
            #[inline(always)]
            fn rem_floor(self, divisor: Self) -> Self {
                let (rest, b) = (self.rem_trunc(divisor).get(), divisor.get());
                // As much below zero as the quotient that is rounded down is below the other.
                let down = (0 as $int).wrapping_sub($floor!((0 as $int), rest, b));
                Lane::new(rest.wrapping_add(down.wrapping_mul(b)))
            }
            #[inline(always)]
            fn faults(divisor: Self) -> Self::Mask {
                Lane::new(divisor.get() == 0)
            }
        }
    )+};
}

integer! {
    u8: abs itself, sign no_sign, floor unsigned_floor, quotient in_f32;
    i8: abs wrapping_abs, sign sign_fill, floor signed_floor, quotient in_f32;
    i16: abs wrapping_abs, sign sign_fill, floor signed_floor, quotient in_f32;
    i32: abs wrapping_abs, sign sign_fill, floor signed_floor, quotient in_f64;
    i64: abs wrapping_abs, sign sign_fill, floor signed_floor, quotient in_integers;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Portable;

    /// Quotients and rests of two integers are those of the machine, which has none by zero.
    macro_rules! as_the_machine {
        ($int:ident, $numbers:expr) => {{
            let numbers: Vec<$int> = $numbers;
            for (&a, &b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b))).filter(|(_, b)| **b != 0) {
                let (x, y) = (Lane::<$int, Portable>::new(a), Lane::new(b));
                assert_eq!(x.div_trunc(y).get(), a.wrapping_div(b), "{a} / {b}");
                assert_eq!(x.rem_trunc(y).get(), a.wrapping_rem(b), "{a} % {b}");
            }
        }};
    }

    /// Powers without branches are those of the machine.
    #[test]
    fn powers_of_few_steps_are_exact() {
        macro_rules! powers {
            ($($int:ident)+) => {$(
                let mixed = |i: u64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 50)) as $int;
                let pairs = (0..20_000).map(|i| (mixed(i), mixed(i ^ 0xAAAA)));
                for (base, exponent) in pairs.filter(|(_, e)| *e >= 0 as $int) {
                    let got = Lane::<$int, crate::isa::Avx2>::new(base).pow(Lane::new(exponent)).get();
                    assert_eq!(got, base.wrapping_pow(exponent as u32), "{base} to the power of {exponent}");
                }
            )+};
        }
        powers!(u8 i8 i16 i32);
    }

    #[test]
    fn quotients_through_floats_are_exact() {
        as_the_machine!(u8, (0..=u8::MAX).collect());
        as_the_machine!(i8, (i8::MIN..=i8::MAX).collect());
        let edges = |bits: u32| (0..bits).flat_map(|bit| (-2..3).map(move |near| (1_i64 << bit) + near));
        let numbers =
            |bits| edges(bits).flat_map(|x| [x, -x]).chain((0..200).map(|k| 7_654_321 * k * k - 5_000_000_000 * k));
        as_the_machine!(i16, numbers(16).map(|x| x as i16).collect());
        as_the_machine!(i32, numbers(32).map(|x| x as i32).collect());
        as_the_machine!(i64, numbers(63).collect());
    }
}
