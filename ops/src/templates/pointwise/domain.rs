//! Domains: the set of dtypes that a formula computes in, as a type that devices can walk class by class.

use super::formula::PointwiseFn;
use super::trace::SymDomain;
use monomorph_core::{DType, Kind};

mod sealed {
    pub trait Sealed {}
}

/// A class that belongs to the domain.
pub struct Yes;
/// A class that does not.
pub struct No;
impl sealed::Sealed for Yes {}
impl sealed::Sealed for No {}

/// The float class belongs to the domain without float16 and bfloat16.
pub struct Wide;
impl sealed::Sealed for Wide {}
impl Membership for Wide {
    const IN: bool = true;
    const HALVES: bool = false;
    type WithoutHalves = Wide;
}

/// Whether a class belongs to a domain.
pub trait Membership: sealed::Sealed + 'static {
    /// [`Yes`] is true.
    const IN: bool;
    /// Whether float16 and bfloat16 do, if the class of floats does.
    const HALVES: bool = true;
    /// The answer for the class without them.
    type WithoutHalves: Membership;
}
impl Membership for Yes {
    const IN: bool = true;
    type WithoutHalves = Wide;
}
impl Membership for No {
    const IN: bool = false;
    type WithoutHalves = No;
}

/// The class of bool.
pub struct BoolClass;
/// The class of uint8 to int64.
pub struct IntClass;
/// The class of float16 to float64.
pub struct RealClass;
/// The class of complex64 and complex128.
pub struct ComplexClass;

/// A domain by its classes: [`Yes`] or [`No`] for bool, integers, floats and complex dtypes.
pub struct Exact<B, I, R, C>(std::marker::PhantomData<(B, I, R, C)>);

/// All twelve dtypes.
pub type AllDTypes = Exact<Yes, Yes, Yes, Yes>;
/// All but bool.
pub type Numeric = Exact<No, Yes, Yes, Yes>;
/// bool, integers and floats: what has an order.
pub type Ordered = Exact<Yes, Yes, Yes, No>;
/// Integers and floats.
pub type Real = Exact<No, Yes, Yes, No>;
/// bool and integers.
pub type Integral = Exact<Yes, Yes, No, No>;
/// Integers.
pub type Integers = Exact<No, Yes, No, No>;
/// Floats and complex.
pub type FloatComplex = Exact<No, No, Yes, Yes>;
/// Floats.
pub type Reals = Exact<No, No, Yes, No>;
/// float32 and float64.
pub type WideReals = Exact<No, No, Wide, No>;

/// A set of dtypes.
pub trait DomainSet: sealed::Sealed + 'static {
    /// Bit `d as usize` is set for each dtype `d` in the set.
    const MASK: u16;
    /// The set in words.
    const WORDS: &'static str;
}

impl<B, I, R, C> sealed::Sealed for Exact<B, I, R, C> {}
impl<B: Membership, I: Membership, R: Membership, C: Membership> DomainSet for Exact<B, I, R, C> {
    const MASK: u16 = {
        let mut mask = 0;
        let mut d = 0;
        while d < DType::COUNT {
            let member = match DType::ALL[d].kind() {
                Kind::Bool => B::IN,
                Kind::Int => I::IN,
                Kind::Float => R::IN && (R::HALVES || DType::ALL[d].size() > 2),
                Kind::Complex => C::IN,
            };
            mask |= (member as u16) << d;
            d += 1;
        }
        mask
    };
    const WORDS: &'static str = match (B::IN, I::IN, R::IN, C::IN) {
        (true, true, true, true) => "all dtypes",
        (false, true, true, true) => "integers, floats and complex",
        (true, true, true, false) => "bool, integers and floats",
        (false, true, true, false) => "integers and floats",
        (true, true, false, false) => "bool and integers",
        (false, true, false, false) => "integers",
        (false, false, true, true) => "floating and complex dtypes",
        (false, false, true, false) if !R::HALVES => "float32 and float64",
        (false, false, true, false) => "floating dtypes",
        (false, false, false, true) => "complex dtypes",
        (true, false, false, false) => "bool",
        _ => "some classes of dtypes",
    };
}

/// A domain on which the formula `F` exists. The bound is the symbolic value's: every device has the same functions on
/// the same classes.
#[diagnostic::on_unimplemented(
    message = "the formula `{F}` does not cover its domain `{Self}`",
    label = "the domain names a class of dtypes on which the formula cannot be computed",
    note = "narrow the domain in `pointwise!`, or give the formula a bound that these dtypes have"
)]
pub trait Domain<F: ?Sized>: DomainSet {}
impl<F: PointwiseFn, S: SymDomain<F>> Domain<F> for S {}

/// Checks at compile time that the formula covers its domain.
pub const fn covered<F: PointwiseFn, S: Domain<F>>() {}
