//! Parameters of unboxed kernels: which Rust types stand for which schema types. Each schema type has one form in which
//! both sides of an unboxed call pass it, so that a kernel over `&Tensor<Cpu>` can be called by a caller who has
//! `&AnyTensor`. Owns the mapping of one argument; lists of them are in `signature.rs`.

use super::set::KeySet;
use crate::error::Result;
use crate::options::DeviceId;
use crate::schema::{Base, Type, Wrap};
use crate::tensor::AnyTensor;
use crate::value::IValue;
use std::fmt;

pub mod tensors;
mod unboxed;
pub mod values;

pub use unboxed::Unboxed;

/// The schema type that a parameter stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    base: Base,
    optional: bool,
    list: bool,
    write: bool,
}

impl Kind {
    pub(super) const fn of(base: Base) -> Kind {
        Kind { base, optional: false, list: false, write: false }
    }

    pub(super) const fn optional(self) -> Kind {
        Kind { optional: true, ..self }
    }

    pub(super) const fn list(self) -> Kind {
        Kind { list: true, ..self }
    }

    const fn written(self) -> Kind {
        Kind { write: true, ..self }
    }

    /// True if this is what a schema declares: the same base, where an `int` may be symbolic, the same `?` and `[]`,
    /// and the same mark of a write. The length of a list and the names of alias sets are the schema's alone.
    pub fn fits(self, ty: &Type) -> bool {
        let base = match ty.base() {
            Base::SymInt => Base::Int,
            Base::SymBool => Base::Bool,
            base => base,
        };
        let write = ty.alias().is_some_and(|alias| alias.is_write());
        (base, write) == (self.base, self.write) && self.is_wrapped_as(ty)
    }

    /// True if `?` and `[]` are those of the type, in the one order that there is a Rust type for: no list of
    /// optionals, no list of lists.
    fn is_wrapped_as(self, ty: &Type) -> bool {
        match ty.wraps() {
            [] => !self.list && !self.optional,
            [Wrap::Optional] => !self.list && self.optional,
            [Wrap::List(_)] => self.list && !self.optional,
            [Wrap::List(_), Wrap::Optional] => self.list && self.optional,
            _ => false,
        }
    }

    /// True if a result that a schema declares is of this kind. Its alias annotation says where it comes from, not what
    /// it is.
    pub(super) fn fits_result(self, ty: &Type) -> bool {
        let base = if ty.base() == Base::SymInt { Base::Int } else { ty.base() };
        base == self.base && self.is_wrapped_as(ty)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.name())?;
        f.write_str(if self.write { "(a!)" } else { "" })?;
        f.write_str(if self.list { "[]" } else { "" })?;
        f.write_str(if self.optional { "?" } else { "" })
    }
}

/// The form in which both sides of an unboxed call pass an argument of one schema type.
pub trait Canonical: 'static {
    /// The argument.
    type Value<'a>;
    /// The schema type.
    const KIND: Kind;

    /// The argument in a boxed value, if it is one of this type.
    fn unbox(value: &mut IValue) -> Option<Self::Value<'_>>;

    /// The argument as a boxed value. A tensor shares its storage.
    fn enbox(value: &Self::Value<'_>) -> IValue;

    /// Gives a written tensor the geometry that a boxed kernel left it with.
    fn restore(_value: &mut Self::Value<'_>, _result: &IValue) {}

    /// The dispatch keys that the argument brings.
    #[inline]
    fn keys(_value: &Self::Value<'_>) -> KeySet {
        KeySet::EMPTY
    }

    /// Visits the tensors of the argument.
    fn tensors(_value: &Self::Value<'_>, _visit: &mut dyn FnMut(&AnyTensor)) {}

    /// The device that the argument names where no tensor gives one.
    fn device(_value: &Self::Value<'_>) -> Option<DeviceId> {
        None
    }
}

/// A type that a kernel may have as a parameter.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot have a parameter of type `{Self}`",
    label = "no schema type is passed as this",
    note = "tensors: `&AnyTensor` or `&Tensor<D>`, `&mut ..` if the schema marks a write, `Option<&AnyTensor>`, \
        `&[AnyTensor]`",
    note = "numbers: `i64` for int, `f64` for float, `bool`, `Scalar`; narrower ones lose values that a schema allows",
    note = "lists and text are borrowed: `&[i64]`, `&[f64]`, `&[bool]`, `&str`, not `Vec` or `String`",
    note = "others: `DType`, `Layout`, `DeviceId`, `MemoryFormat`; and `Option` of each that is not a tensor to be \
        written"
)]
pub trait Parameter {
    /// What both sides pass.
    type Canonical: Canonical;
    /// The parameter's own type, for a call of lifetime `'a`.
    type Item<'a>;

    /// The parameter; an error if a tensor is on another device than the parameter's.
    fn convert<'a>(value: <Self::Canonical as Canonical>::Value<'a>, position: usize) -> Result<Self::Item<'a>>
    where
        'a: 'a;
}
