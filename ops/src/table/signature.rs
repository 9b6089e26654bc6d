//! The argument types of a declaration as one Rust type: a tuple of [`ArgType`]s. Owns the ways from a boxed and from
//! an unboxed call to the values that operators take, so that both are compiled once for each list of types and not
//! for each operator.

use super::stack::Reader;
use monomorph_core::dispatch::tensors::Written;
use monomorph_core::dispatch::{CanonicalList, Unboxed};
use monomorph_core::structured::Operand;
use monomorph_core::{AnyTensor, ArgType, Result};

/// A list of argument types.
pub trait Signature: 'static {
    /// The arguments as operators take them.
    type Values<'t>;

    /// Reads the arguments of a boxed call. `first` stands for the first one where it is written: an in-place call.
    fn read<'t>(reader: &mut Reader<'t>, first: Option<Operand<'t>>) -> Result<Self::Values<'t>>;
}

/// What a typed handle passes for a list of argument types, in each form.
pub trait UnboxedSignature: Signature {
    /// The arguments of the functional form.
    type Functional: CanonicalList;
    /// The arguments of the in-place form: the first is written.
    type Inplace: CanonicalList;
    /// The arguments of an out= form with one output.
    type Out: CanonicalList;
    /// The arguments of an out= form with two outputs.
    type PairOut: CanonicalList;
    /// The arguments but for the first.
    type Rest<'t>;

    /// Values from arguments of the functional form.
    fn functional<'t>(args: <Self::Functional as CanonicalList>::Values<'t>) -> Self::Values<'t>;

    /// The written tensor and the other arguments of the in-place form.
    fn inplace<'t>(args: <Self::Inplace as CanonicalList>::Values<'t>) -> (&'t mut AnyTensor, Self::Rest<'t>);

    /// Values from arguments of an out= form, and the output.
    fn out<'t>(args: <Self::Out as CanonicalList>::Values<'t>) -> (Self::Values<'t>, &'t mut AnyTensor);

    /// Values from arguments of an out= form, and both outputs.
    fn pair_out<'t>(args: <Self::PairOut as CanonicalList>::Values<'t>) -> (Self::Values<'t>, [&'t mut AnyTensor; 2]);

    /// Values for a shorter time.
    fn shorten<'s, 'long: 's>(values: Self::Values<'long>) -> Self::Values<'s>;

    /// Values with `first` in front; `None` if the first argument is no tensor.
    fn join<'s, 'long: 's>(first: Operand<'s>, rest: Self::Rest<'long>) -> Option<Self::Values<'s>>;
}

macro_rules! signatures {
    ($($First:ident $first:ident $($T:ident $t:ident)*;)*) => {$(
        impl<$First: ArgType + 'static, $($T: ArgType + 'static),*> Signature for ($First, $($T,)*) {
            type Values<'t> = ($First::Value<'t>, $($T::Value<'t>,)*);

            // Always: see `BoxedEntry`.
            #[inline(always)]
            fn read<'t>(reader: &mut Reader<'t>, first: Option<Operand<'t>>) -> Result<Self::Values<'t>> {
                let $first = match first.and_then($First::from_operand) {
                    Some(value) => value,
                    None => reader.read::<$First>()?,
                };
                Ok(($first, $(reader.read::<$T>()?,)*))
            }
        }

        impl<$First: Unboxed + 'static, $($T: Unboxed + 'static),*> UnboxedSignature for ($First, $($T,)*) {
            type Functional = ($First::Canonical, $($T::Canonical,)*);
            type Inplace = (Written, $($T::Canonical,)*);
            type Out = ($First::Canonical, $($T::Canonical,)* Written);
            type PairOut = ($First::Canonical, $($T::Canonical,)* Written, Written);
            type Rest<'t> = ($($T::Value<'t>,)*);

            #[inline]
            fn functional<'t>(args: <Self::Functional as CanonicalList>::Values<'t>) -> Self::Values<'t> {
                let ($first, $($t,)*) = args;
                ($First::of($first), $($T::of($t),)*)
            }

            #[inline]
            fn inplace<'t>(args: <Self::Inplace as CanonicalList>::Values<'t>) -> (&'t mut AnyTensor, Self::Rest<'t>) {
                let ($first, $($t,)*) = args;
                ($first, ($($T::of($t),)*))
            }

            #[inline]
            fn out<'t>(args: <Self::Out as CanonicalList>::Values<'t>) -> (Self::Values<'t>, &'t mut AnyTensor) {
                let ($first, $($t,)* out) = args;
                (($First::of($first), $($T::of($t),)*), out)
            }

            #[inline]
            fn pair_out<'t>(
                args: <Self::PairOut as CanonicalList>::Values<'t>,
            ) -> (Self::Values<'t>, [&'t mut AnyTensor; 2]) {
                let ($first, $($t,)* out, second) = args;
                (($First::of($first), $($T::of($t),)*), [out, second])
            }

            #[inline]
            fn shorten<'s, 'long: 's>(values: Self::Values<'long>) -> Self::Values<'s> {
                let ($first, $($t,)*) = values;
                ($First::shorten($first), $($T::shorten($t),)*)
            }

            #[inline]
            fn join<'s, 'long: 's>(first: Operand<'s>, rest: Self::Rest<'long>) -> Option<Self::Values<'s>> {
                let ($($t,)*) = rest;
                Some(($First::from_operand(first)?, $($T::shorten($t),)*))
            }
        }
    )*};
}
signatures! {
    A a;
    A a B b;
    A a B b C c;
    A a B b C c D d;
    A a B b C c D d E e;
    A a B b C c D d E e F f;
    A a B b C c D d E e F f G g;
    A a B b C c D d E e F f G g H h;
}
