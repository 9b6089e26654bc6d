//! Kernels as dispatch holds them: an unboxed door where the kernel is a Rust function of known signature, a boxed door
//! always, and the way from one to the other. Owns kinds of kernels and their calling; which kernel a call means is
//! decided elsewhere.

use super::composed::{Calls, Known};
use super::door::Object;
use super::handle::OperatorHandle;
use super::inferred::Inferred;
use super::key::DispatchKey;
use super::lock::retire;
use super::set::KeySet;
use super::signature::KernelFn;
use super::{Dispatcher, completion};
use crate::error::{DispatchError, Result, cut};
use crate::schema::Schema;
use crate::storage::Device;
use crate::value::Stack;
use std::any::type_name;
use std::fmt;
use std::sync::Arc;

/// The call that a kernel serves.
#[derive(Debug)]
pub struct Frame<'a> {
    pub(super) handle: &'a OperatorHandle,
    pub(super) schema: &'a Schema,
    pub(super) silent: crate::value::annotations::Silent,
    pub(super) keys: KeySet,
    pub(super) key: DispatchKey,
}

impl Frame<'_> {
    /// The operator that was called.
    pub fn operator(&self) -> &OperatorHandle {
        self.handle
    }

    /// Its schema.
    pub fn schema(&self) -> &Schema {
        self.schema
    }

    /// The keys of the call.
    pub fn keys(&self) -> KeySet {
        self.keys
    }

    /// The key that the kernel serves.
    pub fn key(&self) -> DispatchKey {
        self.key
    }

    /// Where composed kernels look up the operators that they are composed of.
    pub fn dispatcher(&self) -> &Dispatcher {
        self.handle.dispatcher()
    }

    /// Hands the call on to the next key below this kernel's.
    pub fn redispatch(&self, stack: &mut Stack) -> Result<()> {
        self.handle.redispatch(self.keys.below(self.key), stack)
    }
}

/// A boxed kernel: takes all arguments off the stack, in schema order, and leaves the results. On an error the stack is
/// as it was.
pub type BoxedKernel = fn(&Frame<'_>, &mut Stack) -> Result<()>;

/// How a kernel was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelKind {
    /// A function that is known when the program is compiled, or a closure without captures.
    Function,
    /// A function pointer.
    Pointer,
    /// Made anew for each look-up, by a constructor that keeps its arguments.
    Functor,
    /// A function over the stack.
    Boxed,
    /// Calls of other operators.
    Composed,
    /// None: the call goes on to the next key.
    Fallthrough,
}

/// A kernel that can be registered.
#[derive(Clone)]
pub struct KernelFunction {
    name: &'static str,
    kind: KernelKind,
    body: Body,
    inferred: Option<Inferred>,
    /// The operator that the whole call goes on to.
    redirect: Option<Arc<str>>,
}

#[derive(Clone)]
enum Body {
    /// Without state, so every look-up shares it.
    Shared(Arc<Object>),
    /// Its state belongs to a look-up.
    Made(Arc<Maker>),
    None,
}

/// A constructor of kernels with state. What a user owns in it is dropped by [`retire`].
struct Maker(Box<dyn Fn() -> Object + Send + Sync>);

impl Drop for Maker {
    fn drop(&mut self) {
        // A closure without captures takes no memory.
        retire(std::mem::replace(&mut self.0, Box::new(|| Object::boxed(|_, _| Ok(())))));
    }
}

impl KernelFunction {
    /// A kernel from a function, or from a closure without captures. A captured value would be state that all calls
    /// share: a closure with captures does not compile here, see [`functor`](KernelFunction::functor).
    pub fn function<M: 'static, F: KernelFn<M>>(f: F) -> KernelFunction {
        const {
            assert!(
                size_of::<F>() == 0,
                "a kernel without state captures nothing: make it a `functor`, whose constructor keeps the captured \
                 values, or a `pointer` if this is one"
            );
        }
        KernelFunction::shared(KernelKind::Function, f)
    }

    /// A kernel from a function pointer that is chosen at run time.
    pub fn pointer<M: 'static, F: KernelFn<M> + Copy>(f: F) -> KernelFunction {
        KernelFunction::shared(KernelKind::Pointer, f)
    }

    /// A kernel with state of its own, such as a cache. `make` keeps the constructor's arguments; it makes an object
    /// for each look-up of the operator at the first call, so two handles share no state, and cloning a handle makes a
    /// fresh one.
    pub fn functor<M: 'static, F: KernelFn<M>>(make: impl Fn() -> F + Send + Sync + 'static) -> KernelFunction {
        KernelFunction {
            name: type_name::<F>(),
            kind: KernelKind::Functor,
            body: Body::Made(Arc::new(Maker(Box::new(move || Object::unboxed(make()))))),
            inferred: Some(Inferred::of::<F::Args, F::Output>()),
            redirect: None,
        }
    }

    /// A kernel over the stack, for any schema. It can be called unboxed too.
    pub fn boxed(f: impl Fn(&Frame<'_>, &mut Stack) -> Result<()> + Send + Sync + 'static) -> KernelFunction {
        let body = Body::Shared(Arc::new(Object::boxed(f)));
        KernelFunction { name: "a boxed function", kind: KernelKind::Boxed, body, inferred: None, redirect: None }
    }

    /// A boxed kernel that does not ask which call it serves.
    pub fn stack(f: impl Fn(&mut Stack) -> Result<()> + Send + Sync + 'static) -> KernelFunction {
        KernelFunction::boxed(move |_, stack| f(stack))
    }

    /// A kernel from a function, with a boxed door of its own, which may take more than the function can be given:
    /// numbers in place of tensors.
    #[inline]
    pub fn with_stack<M: 'static, F: KernelFn<M>>(
        f: F,
        boxed: impl Fn(&mut Stack) -> Result<()> + Send + Sync + 'static,
    ) -> KernelFunction {
        KernelFunction {
            name: type_name::<F>(),
            kind: KernelKind::Function,
            body: Body::Shared(Arc::new(Object::with_stack(f, boxed))),
            inferred: Some(Inferred::of::<F::Args, F::Output>()),
            redirect: None,
        }
    }

    /// A kernel that is composed of other operators, for an alias key such as `CompositeImplicit`. It is over the
    /// stack, and is called with what it calls them with; their handles are kept per look-up.
    pub fn composed(f: impl Fn(&Calls<'_>, &mut Stack) -> Result<()> + Send + Sync + 'static) -> KernelFunction {
        let f = Arc::new(f);
        let make = move || {
            let (f, known) = (f.clone(), Known::default());
            Object::boxed(move |frame, stack| f(&Calls::new(frame, &known), stack))
        };
        KernelFunction {
            name: "a composed function",
            kind: KernelKind::Composed,
            body: Body::Made(Arc::new(Maker(Box::new(make)))),
            inferred: None,
            redirect: None,
        }
    }

    /// A kernel that is another operator: the whole call goes on to it. A ring of such kernels is refused when its last
    /// is registered.
    pub fn redirect(to: impl Into<Box<str>>) -> KernelFunction {
        let to: Arc<str> = to.into().into();
        let redirect = Some(to.clone());
        let kernel = KernelFunction::composed(move |calls, stack| calls.call(&to, stack));
        KernelFunction { redirect, ..kernel.named("another operator's name") }
    }

    /// An out= kernel that is written by hand for device `D`, behind what structured operators have: the operator's
    /// meta kernel has checked the arguments, outputs have their sizes, and numbers and 0-dim CPU tensors in place of
    /// tensors are tensors of the device. What is left to `f` is to compute; dtypes and sizes of its arguments may
    /// differ as the operator lets them.
    pub fn after_meta<D: Device, M: 'static, F: KernelFn<M>>(f: F) -> KernelFunction {
        let inner = Object::unboxed(f);
        let boxed = move |frame: &Frame<'_>, stack: &mut Stack| {
            completion::after_meta::<D>(frame, stack, |stack| inner.call_unchecked(frame, stack))
        };
        KernelFunction {
            name: type_name::<F>(),
            kind: KernelKind::Function,
            body: Body::Shared(Arc::new(Object::boxed(boxed))),
            inferred: Some(Inferred::of::<F::Args, F::Output>()),
            redirect: None,
        }
    }

    /// No kernel: a call skips the key.
    pub fn fallthrough() -> KernelFunction {
        let (kind, body) = (KernelKind::Fallthrough, Body::None);
        KernelFunction { name: "fallthrough", kind, body, inferred: None, redirect: None }
    }

    /// The same under a name for messages and printed tables.
    #[must_use]
    pub fn named(self, name: &'static str) -> KernelFunction {
        KernelFunction { name, ..self }
    }

    fn shared<M: 'static, F: KernelFn<M>>(kind: KernelKind, f: F) -> KernelFunction {
        KernelFunction {
            name: type_name::<F>(),
            kind,
            body: Body::Shared(Arc::new(Object::unboxed(f))),
            inferred: Some(Inferred::of::<F::Args, F::Output>()),
            redirect: None,
        }
    }

    /// The name in messages: that of the Rust function, unless another was given.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How the kernel was made.
    pub fn kind(&self) -> KernelKind {
        self.kind
    }

    /// The schema that the Rust function implies; `None` for a boxed one.
    pub fn inferred(&self) -> Option<&Inferred> {
        self.inferred.as_ref()
    }

    /// The operator that the whole call goes on to, if that is all that the kernel does.
    pub(super) fn redirects_to(&self) -> Option<&str> {
        self.redirect.as_deref()
    }

    /// True if the object's state belongs to a look-up.
    pub(super) fn is_made(&self) -> bool {
        matches!(self.body, Body::Made(_))
    }

    /// The object of a kernel without state.
    #[inline]
    pub(super) fn shared_object(&self) -> Option<&Object> {
        if let Body::Shared(object) = &self.body { Some(object) } else { None }
    }

    /// A new object of a kernel with state.
    pub(super) fn make(&self) -> Result<Option<Object>> {
        let Body::Made(make) = &self.body else { return Ok(None) };
        // The constructor is user code that has seen none of our state, so nothing is left half-done.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (make.0)())).map(Some).map_err(|panic| {
            let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
                (Some(text), _) => cut(text).into_owned(),
                (_, Some(text)) => cut(text).into_owned(),
                _ => {
                    // A value of the user's: its drop might panic again, out of a call that is to be an error.
                    std::mem::forget(panic);
                    "no message".to_owned()
                }
            };
            DispatchError::ConstructorPanicked { kernel: self.name.to_owned(), message }.into()
        })
    }
}

impl fmt::Debug for KernelFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.kind, self.name)
    }
}
