//! Declarations as data: what `native!` makes of a row, for those who register, print or count
//! operators. Owns no kernel.

use crate::composite::{derived, each};
use monomorph_core::dispatch::{AliasKey, Calls, KernelFunction};
use monomorph_core::{Device, Result, Stack};
use std::fmt;

/// One declared operator: an overload with the forms that follow from it.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// The name of its functional form, such as `add.Tensor`.
    pub name: &'static str,
    /// The module that declares it, with `::native` behind.
    pub module: &'static str,
    /// How it is defined: `structured`, `operator`, `view`, `views`, `kernel`, `composite`, `composed`, `each` or
    /// `redirect`.
    pub kind: &'static str,
    /// Its definition: the path of a type or function, or another operator's name.
    pub definition: &'static str,
    /// The arguments of the functional form.
    pub parameters: &'static [Parameter],
    /// The number of results.
    pub results: usize,
    /// Whether results share storage with arguments though the schema does not say so.
    pub silent_view: bool,
    /// The arguments that have it write others although the schema does not say so, where one is given and not false.
    pub silent_write: &'static [&'static str],
    /// Its forms, as listed.
    pub forms: &'static [Form],
}

/// One argument of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its schema type.
    pub ty: &'static str,
}

/// One form of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// What becomes of the outputs.
    pub kind: FormKind,
    /// Its schema; `None` for a second Rust function of a form that is listed before.
    pub schema: Option<&'static str>,
    /// Its Rust function; `None` for a form that is called by name only.
    pub function: Option<&'static str>,
}

impl Form {
    /// The name by which the form is called, such as `add.out`.
    pub fn overload(&self) -> Option<&'static str> {
        self.schema.map(|schema| schema.split('(').next().unwrap_or(schema))
    }
}

/// What becomes of the outputs of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormKind {
    /// New tensors, or views.
    Functional,
    /// The first argument is written.
    Inplace,
    /// Tensors of the caller are written.
    Out,
    /// The same, made of the functional form: compute, resize, copy.
    Autogen,
    /// The same, where the output must lie apart from the inputs.
    OutApart,
    /// The same, where the output must have the dtype of the result and gets its layout, also where the sizes agree.
    OutRestrided,
    /// The same, where the output must have the dtype of the result and may not overlap an input in part.
    OutIterated,
    /// The same, where it must have the sizes of the result, too.
    OutSized,
    /// The same, where the output may have another dtype, which the result is converted to.
    OutCopied,
    /// The same, where the output may have any dtype that the result can be cast to.
    OutCast,
    /// The same, where an output without elements and of the result's dtype gets its layout, too.
    OutMatrix,
    /// A contiguous copy of a view.
    Copy,
    /// The out= form of that.
    CopyOut,
    /// The same with outputs that keep their sizes and dtypes.
    CopyInto,
}

impl fmt::Display for FormKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FormKind::Functional => "functional",
            FormKind::Inplace => "inplace",
            FormKind::Out => "out",
            FormKind::Autogen => "autogen",
            FormKind::OutApart => "out_apart",
            FormKind::OutRestrided => "out_restrided",
            FormKind::OutIterated => "out_iterated",
            FormKind::OutSized => "out_sized",
            FormKind::OutCopied => "out_copied",
            FormKind::OutCast => "out_cast",
            FormKind::OutMatrix => "out_matrix",
            FormKind::Copy => "copy",
            FormKind::CopyOut => "copy_out",
            FormKind::CopyInto => "copy_into",
        })
    }
}

impl Declaration {
    /// The forms that are called by name.
    pub fn overloads(&self) -> impl Iterator<Item = (FormKind, &'static str)> + use<> {
        self.forms.iter().filter_map(|form| Some((form.kind, form.schema?)))
    }

    /// The out= form that completes the others, on devices that have a kernel of it alone.
    pub(super) fn completing(&self) -> Option<&'static str> {
        let computes = matches!(self.kind, "structured" | "operator");
        self.forms.iter().find(|form| computes && form.kind == FormKind::Out)?.overload()
    }
}

/// The declaration whose name has this [hash](name).
#[derive(Clone, Copy, Debug)]
pub struct Row<const NAME: u64>;

/// The hash of an operator's name (64-bit FNV-1a). Two names with one hash would not compile.
pub const fn name(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// A name that is declared.
#[diagnostic::on_unimplemented(
    message = "no operator of this name is declared",
    note = "the name is that of the functional overload, such as `add.Tensor` or `relu`; it brings the in-place and \
        out= forms along"
)]
pub trait Declared {
    /// What was declared.
    const DECLARATION: &'static Declaration;

    /// The kernels that are composed of other operators, for all devices.
    fn composition() -> Composition {
        Composition::None
    }
}

/// A declaration that a device can run.
#[diagnostic::on_unimplemented(
    message = "`{D}` does not run this operator",
    note = "a device runs an operator by implementing `Executes` for its `StructuredOp`; others are registered by \
        `register_memory`, or kernel by kernel with `Library::kernel`"
)]
pub trait RunsOn<D: Device>: Declared {
    /// The kernels of the device: one for each form with a name, in the order of the declaration; none if the
    /// operator is composed.
    fn kernels() -> Vec<KernelFunction>;
}

/// A composed function: reads its arguments off the stack and leaves results there.
pub type Composed = fn(&Calls<'_>, &mut Stack) -> Result<()>;

/// Makes the kernel of a form of a declaration, out of what its row says. It comes with the row, so that a program has
/// the code of those ways to compose that its rows take.
pub(super) type MakeForm<T> = fn(FormKind, &'static Declaration, T) -> KernelFunction;

/// What of an operator is composed of others.
#[derive(Clone, Copy, Debug)]
pub enum Composition {
    /// Nothing.
    None,
    /// All forms, at this key.
    All(AliasKey, Composed, MakeForm<Composed>),
    /// The forms of devices that have no kernels of their own.
    Otherwise(AliasKey, Composed, MakeForm<Composed>),
    /// The forms of another operator, for each item of the lists among the arguments.
    Each(&'static Declaration, MakeForm<&'static Declaration>),
    /// All forms are those of another operator.
    Redirect(&'static str),
}

impl Composition {
    /// [`Composition::All`] of a function.
    pub fn all(key: AliasKey, f: Composed) -> Composition {
        Composition::All(key, f, derived::form)
    }

    /// The same of an operator with several results.
    pub fn all_of_several(key: AliasKey, f: Composed) -> Composition {
        Composition::All(key, f, derived::form_of_several)
    }

    /// [`Composition::Otherwise`] of a function.
    pub fn otherwise(key: AliasKey, f: Composed) -> Composition {
        Composition::Otherwise(key, f, derived::checked_form)
    }

    /// The same of an operator with several results.
    pub fn otherwise_of_several(key: AliasKey, f: Composed) -> Composition {
        Composition::Otherwise(key, f, derived::checked_form_of_several)
    }

    /// [`Composition::Each`] of the operator of one item.
    pub fn each(of: &'static Declaration) -> Composition {
        Composition::Each(of, each::form)
    }
}
