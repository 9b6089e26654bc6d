//! Signatures of unboxed kernels: lists of parameters and results, the schema that a Rust function implies, and the
//! passage between the two doors of a kernel. Owns lists; one parameter is in `parameter.rs`.

use super::kernel::Frame;
use super::parameter::{Canonical, Kind, Parameter};
use super::returns::{KernelReturn, Returned};
use super::set::KeySet;
use crate::error::{Error, ErrorKind, Result};
use crate::options::DeviceId;
use crate::schema::Schema;
use crate::tensor::AnyTensor;
use crate::value::{IValue, Stack, argument_count};

/// The canonical forms of a list of parameters, as a tuple.
pub trait CanonicalList: 'static {
    /// The arguments.
    type Values<'a>;
    /// Their schema types.
    const KINDS: &'static [Kind];

    /// The arguments in boxed values.
    fn unbox<'a>(stack: &'a mut [IValue], schema: &Schema) -> Result<Self::Values<'a>>;
    /// The arguments as boxed values.
    fn enbox(values: &Self::Values<'_>) -> Stack;
    /// Gives the written tensor at a position the geometry that a boxed kernel left it with.
    fn restore(values: &mut Self::Values<'_>, position: usize, result: &IValue);
    /// Visits the tensors of all arguments.
    fn tensors(values: &Self::Values<'_>, visit: &mut dyn FnMut(&AnyTensor));
    /// The dispatch keys that the arguments bring.
    fn keys(values: &Self::Values<'_>) -> KeySet;
    /// The device that an argument names.
    fn device(values: &Self::Values<'_>) -> Option<DeviceId>;
}

/// A list of parameters, as a tuple such as `(&AnyTensor, Scalar)`.
pub trait ParameterList {
    /// Their canonical forms.
    type Canonical: CanonicalList;
}

#[cold]
fn wrong_kind(value: &IValue, position: usize, schema: &Schema) -> Error {
    let arg = schema.args().nth(position);
    let name = arg.map_or(String::new(), |a| a.name().to_owned());
    let want = arg.map_or(String::new(), |a| a.ty().to_string());
    ErrorKind::ArgumentKind { position, arg: name, got: value.kind_name(), want }.into()
}

/// A Rust function as a kernel. `M` only tells apart functions of different parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel",
    label = "not a function that a kernel can be made of",
    note = "tensors are passed as `&AnyTensor` or `&Tensor<D>`, as `&mut ..` if the schema marks a write, as \
            `Option<&AnyTensor>` or `&[AnyTensor]`; nothing else is passed as `&mut`, and no tensor by value",
    note = "numbers are passed as `i64`, `f64`, `bool`, `Scalar`, because narrower ones lose values that a schema \
            allows; lists and text as `&[i64]`, `&[f64]`, `&[bool]`, `&str`, not as `Vec` or `String`; and `DType`, \
            `Layout`, `DeviceId`, `MemoryFormat`, and `Option` of each",
    note = "results are `AnyTensor`, `Tensor<D>`, tuples of two or three, `Vec<AnyTensor>`, `i64`, `f64`, `bool`, \
            `Scalar`, or `()` if the schema returns what it marks as written; or a `Result` of these",
    note = "there are up to ten parameters, `&Frame` in front of them if the kernel hands calls on; make others \
            `KernelFunction::boxed`",
    note = "a closure's parameters need their types written out: `|x: &AnyTensor| ..`"
)]
pub trait KernelFn<M>: Send + Sync + 'static {
    /// The canonical forms of its parameters.
    type Args: CanonicalList;
    /// The canonical form of its result.
    type Output: Returned;

    /// Calls the function.
    fn invoke(&self, frame: &Frame<'_>, values: <Self::Args as CanonicalList>::Values<'_>) -> Result<Self::Output>;
}

/// Marks functions whose first parameter is the frame of the call.
#[derive(Debug)]
pub struct WithFrame;

macro_rules! lists {
    ($($($p:ident $v:ident $at:literal)*;)*) => {$(
        #[allow(unused_variables, unused_mut, non_snake_case, clippy::unused_unit, reason = "a list may be empty")]
        const _: () = {
            impl<$($p: Canonical),*> CanonicalList for ($($p,)*) {
                type Values<'a> = ($($p::Value<'a>,)*);
                const KINDS: &'static [Kind] = &[$($p::KIND),*];

                fn unbox<'a>(stack: &'a mut [IValue], schema: &Schema) -> Result<Self::Values<'a>> {
                    let given = stack.len();
                    let [$($v),*] = stack else {
                        let want = <Self as CanonicalList>::KINDS.len();
                        return Err(argument_count(given, want, schema));
                    };
                    // The checks come first, since what is lent to the kernel can't be lent to a message.
                    $(
                        if $p::unbox($v).is_none() {
                            return Err(wrong_kind($v, $at, schema));
                        }
                    )*
                    $(let Some($v) = $p::unbox($v) else { unreachable!("checked above") };)*
                    Ok(($($v,)*))
                }

                fn enbox(values: &Self::Values<'_>) -> Stack {
                    let ($($v,)*) = values;
                    vec![$($p::enbox($v)),*]
                }

                fn restore(values: &mut Self::Values<'_>, position: usize, result: &IValue) {
                    let ($($v,)*) = values;
                    match position {
                        $($at => $p::restore($v, result),)*
                        _ => {}
                    }
                }

                fn tensors(values: &Self::Values<'_>, visit: &mut dyn FnMut(&AnyTensor)) {
                    let ($($v,)*) = values;
                    $($p::tensors($v, visit);)*
                }

                #[inline]
                fn keys(values: &Self::Values<'_>) -> KeySet {
                    let ($($v,)*) = values;
                    KeySet::EMPTY $(| $p::keys($v))*
                }

                fn device(values: &Self::Values<'_>) -> Option<DeviceId> {
                    let ($($v,)*) = values;
                    None$(.or_else(|| $p::device($v)))*
                }
            }

            impl<$($p: Parameter),*> ParameterList for ($($p,)*) {
                type Canonical = ($($p::Canonical,)*);
            }

            impl<F, R, $($p: Parameter),*> KernelFn<fn($($p),*) -> R> for F
            where
                R: KernelReturn,
                F: Fn($($p),*) -> R + for<'a> Fn($($p::Item<'a>),*) -> R + Send + Sync + 'static,
            {
                type Args = ($($p::Canonical,)*);
                type Output = R::Returned;

                #[inline]
                fn invoke(
                    &self,
                    _: &Frame<'_>,
                    values: <Self::Args as CanonicalList>::Values<'_>,
                ) -> Result<R::Returned> {
                    let ($($v,)*) = values;
                    $(let $v = $p::convert($v, $at)?;)*
                    self($($v),*).into_result()
                }
            }

            impl<F, R, $($p: Parameter),*> KernelFn<(WithFrame, fn($($p),*) -> R)> for F
            where
                R: KernelReturn,
                F: for<'f> Fn(&'f Frame<'f>, $($p),*) -> R
                    + for<'f, 'a> Fn(&'f Frame<'f>, $($p::Item<'a>),*) -> R
                    + Send
                    + Sync
                    + 'static,
            {
                type Args = ($($p::Canonical,)*);
                type Output = R::Returned;

                #[inline]
                fn invoke(
                    &self,
                    frame: &Frame<'_>,
                    values: <Self::Args as CanonicalList>::Values<'_>,
                ) -> Result<R::Returned> {
                    let ($($v,)*) = values;
                    $(let $v = $p::convert($v, $at)?;)*
                    self(frame, $($v),*).into_result()
                }
            }
        };
    )*};
}
lists! {
    ;
    A a 0;
    A a 0 B b 1;
    A a 0 B b 1 C c 2;
    A a 0 B b 1 C c 2 D d 3;
    A a 0 B b 1 C c 2 D d 3 E e 4;
    A a 0 B b 1 C c 2 D d 3 E e 4 G g 5;
    A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6;
    A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7;
    A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7 J j 8;
    A a 0 B b 1 C c 2 D d 3 E e 4 G g 5 H h 6 I i 7 J j 8 K k 9;
}
