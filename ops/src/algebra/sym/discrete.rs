//! The algebra of rounding, signs and divisors on symbolic values.

use super::element::{Floating, Integer, Ordering, Quotient};
use super::graph::Op;
use super::{Compute, Sym};
use crate::algebra::{Classify, Divisor, Equal, Format, Rounding, Signed, Signum, Value};

impl<C: Quotient> Rounding for Sym<C> {
    fn floor(self) -> Self {
        self.unary(Op::Floor)
    }
    fn ceil(self) -> Self {
        self.unary(Op::Ceil)
    }
    fn trunc(self) -> Self {
        self.unary(Op::Trunc)
    }
    fn round(self) -> Self {
        self.unary(Op::Round)
    }
}

impl<C: Compute> Signum for Sym<C> {
    fn sgn(self) -> Self {
        self.unary(Op::Sgn)
    }
    fn conj(self) -> Self {
        if C::DTYPE.is_complex() { self.unary(Op::Conj) } else { self }
    }
}

impl<C: Ordering> Signed for Sym<C> {
    fn is_negative(self) -> Self::Mask {
        self.unary(Op::IsNegative)
    }
}

/// What stands for a real value.
fn real_or<C: Compute>(x: Sym<C>, [nan, positive, negative]: [Sym<C>; 3]) -> Sym<C> {
    let infinite = |sign: f64| x.eq(Sym::from_f64(sign * f64::INFINITY));
    let finite = Sym::select(infinite(1.0), positive, Sym::select(infinite(-1.0), negative, x));
    Sym::select(x.ne(x), nan, finite)
}

impl<C: Compute> Classify for Sym<C> {
    fn is_infinite(self) -> Self::Mask {
        self.unary(Op::IsInfinite)
    }
    fn finite_or(self, nan: Self, positive: Self, negative: Self) -> Self {
        if !C::DTYPE.is_complex() {
            return if C::DTYPE.is_floating() { real_or(self, [nan, positive, negative]) } else { self };
        }
        let others = [nan, positive, negative].map(|x| x.unary::<C::Re>(Op::Re));
        let [re, im] = [Op::Re, Op::Im].map(|part| real_or(self.unary::<C::Re>(part), others));
        super::graph::apply(Op::Make, C::DTYPE, [re.into(), im.into()])
    }
}

impl<C: Integer> Divisor for Sym<C> {
    const IS_NARROW: bool = C::DTYPE.size() < size_of::<i32>();

    fn gcd(self, other: Self) -> Self {
        self.binary(Op::Gcd, other)
    }
}

impl<C: Floating> Format for Sym<C> {
    fn next_after(self, toward: Self) -> Self {
        self.binary(Op::NextAfter, toward)
    }
    fn mantissa(self) -> Self {
        self.unary(Op::Mantissa)
    }
    fn exponent(self) -> Self {
        self.unary(Op::Exponent)
    }
    fn hypot(self, other: Self) -> Self {
        self.binary(Op::Hypot, other)
    }
}
