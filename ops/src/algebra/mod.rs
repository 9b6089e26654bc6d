//! The value algebra: the traits that a formula is generic over (tagless final).
//!
//! A formula such as `a + alpha * b` names no number type and no machine. It is written once over `V: Num` and then
//! instantiated: a CPU value (an element with an instruction set) gives the kernel, [`sym::Sym`] gives C text, [`Dual`]
//! gives the derivative. Every difference between classes of dtypes (bool adds by *or*, integers wrap,
//! float16 divides through its own precision) lives in an implementation of these traits, never in a formula.
//!
//! | trait | who has it | what it says |
//! | --- | --- | --- |
//! | [`Value`] | all | select, truth, constants; the types of masks and of the real part |
//! | [`Mask`] | bool | the result of a comparison: `& \| ^ !` |
//! | [`Num`] | all | `+ - *`, negation, zero, one |
//! | [`Equal`] | all | `eq`, `ne` |
//! | [`Ordered`] | bool, integers, floats | `lt le gt ge`; `minimum`, `maximum`, which propagate NaN; `fmin`, `fmax` |
//! | [`Bits`] | bool, integers | `& \| ^ !` |
//! | [`Shift`] | integers | shifts by any amount |
//! | [`Magnitude`] | all | `abs`, of the type of the real part |
//! | [`TrueDivision`] | floats, complex | `/` |
//! | [`RoundedDivision`] | integers, floats | quotients rounded to zero or down, remainders; which divisors fail |
//! | [`Divisor`] | integers | gcd, lcm |
//! | [`Rounding`] | integers, floats | floor, ceil, trunc, round |
//! | [`Signum`] | all | the direction of a value, its conjugate |
//! | [`Signed`] | bool, integers, floats | the sign bit |
//! | [`Classify`] | all | whether a value is infinite, and what stands for what is not finite |
//! | [`Real`] | floats | NaN test, copied signs, fused multiply-add |
//! | [`Format`] | floats | the next number, hypot |
//! | [`Exponential`] | floats, complex | exp, exp2, expm1 |
//! | [`Logarithm`] | floats, complex | log, log2, log10, log1p |
//! | [`Root`] | floats, complex | sqrt, rsqrt |
//! | [`Trigonometric`] | floats, complex | sin, cos, tan, their inverses |
//! | [`Coordinate`] | floats | atan2 |
//! | [`Hyperbolic`] | floats, complex | sinh, cosh, tanh, their inverses, sigmoid |
//! | [`Gaussian`] | floats | erf, erfc, erfinv, gelu |
//! | [`Gamma`] | floats | the gamma function's logarithm and its derivatives, the zeta function |
//! | [`Zeta`] | floats | Hurwitz's zeta function of two elements |
//! | [`IncompleteGamma`] | floats | the shares of the gamma function's integral below and above a value |
//! | [`Power`] | all | powers of elements and of numbers |
//! | [`Cartesian`] | complex | parts |
//! | [`Components`] | floats, complex | one real component, or two |
//! | [`Widen`] | all | a type to accumulate in, with more precision where there is one |
//! | [`FromIndex`] | floats, complex | the value of a count |
//! | [`Repeat`] | floats | loops whose number of steps the data tell |
//!
//! "Who has it" is about dtypes: bool has [`Num`] because sums and products of bools are defined; which operator
//! accepts bool is that operator's domain.
//!
//! *Invariant:* no method here can panic, whatever the values.

mod bits;
mod cartesian;
mod classify;
pub mod complex;
mod components;
mod division;
mod divisor;
mod dual;
mod dual_steps;
mod exponential;
mod format;
mod gamma;
mod gaussian;
mod hyperbolic;
mod index;
mod logarithm;
mod magnitude;
mod num;
mod order;
#[cfg(feature = "special")]
mod polynomial;
mod power;
mod real;
mod repeat;
mod root;
mod rounding;
mod sign;
pub mod sym;
mod trigonometric;
mod value;
mod widen;

pub use bits::{Bits, Shift};
pub use cartesian::Cartesian;
pub use classify::Classify;
pub use components::{Components, squared};
pub use division::{RoundedDivision, TrueDivision};
pub use divisor::Divisor;
pub use dual::Dual;
pub use exponential::Exponential;
pub use format::Format;
pub use gamma::{Gamma, IncompleteGamma, Zeta};
pub use gaussian::Gaussian;
pub use hyperbolic::Hyperbolic;
pub use index::FromIndex;
pub use logarithm::{Logarithm, log_of_sum, real_log_sum_exp};
pub use magnitude::Magnitude;
pub use num::Num;
pub use order::{Equal, Ordered};
#[cfg(feature = "special")]
pub(crate) use polynomial::{chebyshev, polynomial};
pub use power::Power;
pub use real::Real;
pub use repeat::{Bundle, Repeat};
pub use root::Root;
pub use rounding::Rounding;
pub use sign::{Signed, Signum};
pub use trigonometric::{Coordinate, Trigonometric, real_angle};
pub use value::{Mask, Value};
pub use widen::Widen;
