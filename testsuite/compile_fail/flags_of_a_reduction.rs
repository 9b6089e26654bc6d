//! A reduction that resizes its outputs.
use monomorph::pointwise::*;

use monomorph::crates::iter::Flags;
const FLAGS: Flags = Flags { is_reduction: true, ..Flags::UNARY };

pointwise! { Reduces "reduces": Reals, Same<1>; () => Common; Rule { flags: FLAGS, ..Rule::UNARY } }
impl<V: monomorph::algebra::Real> Map<V> for Reduces {
    fn eval([x]: [V; 1], (): ()) -> V {
        x
    }
}

fn main() {}
