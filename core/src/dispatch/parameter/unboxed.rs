//! Arguments of operators as typed handles pass them: from the canonical form of a schema type to the value that an
//! operator takes.

use super::Canonical;
use super::tensors::{List, Maybe, Read};
use super::values;
use crate::arg::{
    ArgType, BoolArg, BoolsArg, DTypeArg, DeviceArg, FloatArg, FloatsArg, IntArg, IntsArg, LayoutArg, MemoryFormatArg,
    Optional, OptionalTensorArg, ScalarArg, StrArg, TensorArg, TensorsArg,
};
use crate::structured::Operand;
use crate::tensor::AnyTensor;

/// A schema type whose arguments typed handles can pass.
pub trait Unboxed: ArgType {
    /// The form in which both sides of the call pass it.
    type Canonical: Canonical;

    /// The argument as operators take it.
    fn of<'a>(value: <Self::Canonical as Canonical>::Value<'a>) -> Self::Value<'a>
    where
        'a: 'a;
}

impl Unboxed for TensorArg {
    type Canonical = Read;
    #[inline]
    fn of<'a>(value: &'a AnyTensor) -> Operand<'a>
    where
        'a: 'a,
    {
        Operand::from(value)
    }
}

impl Unboxed for OptionalTensorArg {
    type Canonical = Maybe;
    #[inline]
    fn of<'a>(value: Option<&'a AnyTensor>) -> Operand<'a>
    where
        'a: 'a,
    {
        value.map_or(Operand::Absent, Operand::from)
    }
}

impl Unboxed for TensorsArg {
    type Canonical = List;
    #[inline]
    fn of<'a>(value: &'a [AnyTensor]) -> &'a [AnyTensor]
    where
        'a: 'a,
    {
        value
    }
}

/// Types whose canonical form is the value itself, and their optionals.
macro_rules! as_it_is {
    ($($arg:ty: $form:ty, $maybe:ty;)*) => {$(
        impl Unboxed for $arg {
            type Canonical = $form;
            #[inline]
            fn of<'a>(value: <$form as Canonical>::Value<'a>) -> Self::Value<'a>
            where
                'a: 'a,
            {
                value
            }
        }
        impl Unboxed for Optional<$arg> {
            type Canonical = $maybe;
            #[inline]
            fn of<'a>(value: <$maybe as Canonical>::Value<'a>) -> Self::Value<'a>
            where
                'a: 'a,
            {
                value
            }
        }
    )*};
}
as_it_is! {
    ScalarArg: values::Number, values::MaybeNumber;
    IntArg: values::Int, values::MaybeInt;
    FloatArg: values::Float, values::MaybeFloat;
    BoolArg: values::Truth, values::MaybeTruth;
    DTypeArg: values::Type, values::MaybeType;
    DeviceArg: values::Place, values::MaybePlace;
    LayoutArg: values::Arrangement, values::MaybeArrangement;
    MemoryFormatArg: values::Format, values::MaybeFormat;
    StrArg: values::Text, values::MaybeText;
    IntsArg: values::Ints, values::MaybeInts;
    FloatsArg: values::Floats, values::MaybeFloats;
    BoolsArg: values::Truths, values::MaybeTruths;
}
