//! The gamma function's relatives on symbolic values: each is a function of the prelude (`gamma.c`).

use super::Sym;
use super::element::Floating;
use super::graph::Op;
use crate::algebra::{Gamma, IncompleteGamma, Zeta};

impl<C: Floating> Gamma for Sym<C> {
    fn lgamma(self) -> Self {
        self.unary(Op::Lgamma)
    }
    fn digamma(self) -> Self {
        self.unary(Op::Digamma)
    }
    fn trigamma(self) -> Self {
        self.unary(Op::Trigamma)
    }
    fn zeta_number(self, exponent: Self) -> Self {
        exponent.binary(Op::Zeta, self)
    }
}

impl<C: Floating> Zeta for Sym<C> {
    fn zeta(self, q: Self) -> Self {
        self.binary(Op::Zeta, q)
    }
}

impl<C: Floating> IncompleteGamma for Sym<C> {
    fn igamma(self, x: Self) -> Self {
        self.binary(Op::Igamma, x)
    }
    fn igammac(self, x: Self) -> Self {
        self.binary(Op::Igammac, x)
    }
}
