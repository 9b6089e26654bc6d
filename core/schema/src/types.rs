//! The types of arguments and results: a base, what wraps it, and the alias annotation of a tensor. Owns what a type
//! *is*; whether a default fits one is in `literal.rs`.

/// A type of the schema language: a base such as `Tensor`, wrapped from the inside out by `?` and `[]`.
///
/// ```
/// use monomorph_schema::{Base, Schema, Wrap};
///
/// let schema = Schema::parse("f(Tensor(a!)[] x, int[1]? dim) -> ()")?;
/// let dim = schema.arg("dim").unwrap().ty();
/// assert_eq!(dim.base(), Base::Int);
/// assert!(matches!(dim.wraps(), [Wrap::List(Some(1)), Wrap::Optional]));
/// # Ok::<(), monomorph_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    pub(crate) base: Base,
    pub(crate) wraps: Vec<Wrap>,
    pub(crate) alias: Option<Box<Alias>>,
}

/// One step of wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// `T?`: a `T` or `None`.
    Optional,
    /// `T[]` or `T[N]`: a list. With a size, a bare `T` stands for N copies of it; other lengths are still accepted.
    List(Option<u8>),
}

/// The alias annotation of a tensor: the sets of storages that it may be in before and after the call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    pub(crate) before: Vec<Box<str>>,
    pub(crate) write: bool,
    pub(crate) after: Vec<Box<str>>,
}

impl Type {
    /// How many `?` and `[]` a type may have. PyTorch's own types have at most two.
    pub(crate) const MAX_WRAPS: usize = 4;

    /// The innermost type.
    pub fn base(&self) -> Base {
        self.base
    }

    /// What wraps the base, innermost first.
    pub fn wraps(&self) -> &[Wrap] {
        &self.wraps
    }

    /// The alias annotation, if there is one; only a tensor can have one.
    pub fn alias(&self) -> Option<&Alias> {
        self.alias.as_deref()
    }

    /// True for `Tensor`, `Tensor?`, `Tensor[]` and so on.
    pub fn is_tensor(&self) -> bool {
        self.base == Base::Tensor
    }

    /// True for `Tensor` itself, neither optional nor a list.
    #[inline]
    pub fn is_plain_tensor(&self) -> bool {
        self.base == Base::Tensor && self.wraps.is_empty()
    }

    /// True if `None` is a value of the type: the outermost wrap is `?`.
    pub fn is_optional(&self) -> bool {
        matches!(self.wraps.last(), Some(Wrap::Optional))
    }

    /// True for a list and for an optional list.
    pub fn is_list(&self) -> bool {
        self.wraps.iter().any(|wrap| matches!(wrap, Wrap::List(_)))
    }
}

impl Alias {
    /// The sets before the call, `*` being any; empty for the fresh set of `Tensor!`.
    pub fn before(&self) -> impl ExactSizeIterator<Item = &str> {
        self.before.iter().map(|set| &**set)
    }

    /// The sets after the call where they differ (`a -> *`); empty where they are those before it.
    pub fn after(&self) -> impl ExactSizeIterator<Item = &str> {
        self.after.iter().map(|set| &**set)
    }

    /// True if the operator writes the tensor.
    pub fn is_write(&self) -> bool {
        self.write
    }

    /// True for `Tensor!`: a write to a set of its own, which no result can name.
    pub fn is_fresh(&self) -> bool {
        self.before.is_empty()
    }
}

/// The innermost types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Base {
    /// `Tensor`.
    Tensor,
    /// `Scalar`: a bool, an integer, a float or a complex number.
    Scalar,
    /// `int`: 64 bits; also names such as `Mean` in defaults.
    Int,
    /// `SymInt`: an integer that a tracer may leave open; here an `int`.
    SymInt,
    /// `float`: 64 bits.
    Float,
    /// `bool`.
    Bool,
    /// `SymBool`: a bool that a tracer may leave open.
    SymBool,
    /// `complex`: two 64-bit floats.
    Complex,
    /// `str`.
    Str,
    /// `ScalarType`: a dtype.
    ScalarType,
    /// `Layout`.
    Layout,
    /// `Device`.
    Device,
    /// `DeviceIndex`.
    DeviceIndex,
    /// `MemoryFormat`.
    MemoryFormat,
    /// `Dimname`: the name of a dimension.
    Dimname,
    /// `Generator`: a source of random numbers.
    Generator,
    /// `QScheme`: a quantization scheme.
    QScheme,
    /// `Storage`.
    Storage,
    /// `Stream`.
    Stream,
}

impl Base {
    /// Every base.
    pub const ALL: [Base; 19] = [
        Base::Tensor,
        Base::Scalar,
        Base::Int,
        Base::SymInt,
        Base::Float,
        Base::Bool,
        Base::SymBool,
        Base::Complex,
        Base::Str,
        Base::ScalarType,
        Base::Layout,
        Base::Device,
        Base::DeviceIndex,
        Base::MemoryFormat,
        Base::Dimname,
        Base::Generator,
        Base::QScheme,
        Base::Storage,
        Base::Stream,
    ];

    /// The name as it is written in a schema.
    pub const fn name(self) -> &'static str {
        match self {
            Base::Tensor => "Tensor",
            Base::Scalar => "Scalar",
            Base::Int => "int",
            Base::SymInt => "SymInt",
            Base::Float => "float",
            Base::Bool => "bool",
            Base::SymBool => "SymBool",
            Base::Complex => "complex",
            Base::Str => "str",
            Base::ScalarType => "ScalarType",
            Base::Layout => "Layout",
            Base::Device => "Device",
            Base::DeviceIndex => "DeviceIndex",
            Base::MemoryFormat => "MemoryFormat",
            Base::Dimname => "Dimname",
            Base::Generator => "Generator",
            Base::QScheme => "QScheme",
            Base::Storage => "Storage",
            Base::Stream => "Stream",
        }
    }

    /// The base of this name.
    pub fn from_name(name: &str) -> Option<Base> {
        Base::ALL.into_iter().find(|base| base.name() == name)
    }
}
