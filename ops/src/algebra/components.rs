//! Values as vectors of real components: one of a float, two of a complex number. What spreads and norms are made of.

use super::Num;

/// A float, or a complex value, as a vector of one or two real components.
#[diagnostic::on_unimplemented(message = "the formula takes real components, which `{Self}` does not have")]
pub trait Components: Num {
    /// Whether there are two components: the value is complex.
    const ARE_TWO: bool;

    /// Each component times the same factor.
    fn scaled(self, factor: Self::Re) -> Self;

    /// The components; the second of a real value is zero.
    fn components(self) -> [Self::Re; 2];
}

/// The sum of the squares of the components.
#[inline(always)]
pub fn squared<V: Components<Re: Num>>(x: V) -> V::Re {
    let [re, im] = x.components();
    if const { V::ARE_TWO } { re * re + im * im } else { re * re }
}
