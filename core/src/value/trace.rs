//! Calls of operators that a traced function makes: the name, the arguments, the results. Owns the notes, and how
//! arguments and results of typed functions become values. Typed functions note their calls on the meta device, and
//! only there: for others the branch is not compiled.

use super::{Generator, IValue, OptionalTensors, TensorOrNumber};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::options::{DeviceId, Layout, MemoryFormat};
use crate::storage::Device;
use crate::structured::Operand;
use crate::tensor::traced::{Tracing, enter};
use crate::tensor::{AnyTensor, Storage, Tensor};
use std::borrow::{Borrow, Cow};
use std::cell::RefCell;

pub use crate::tensor::traced::is_tracing;

/// One call.
#[derive(Clone, Debug)]
pub struct TracedCall {
    /// The operator's name with its overload.
    pub name: Cow<'static, str>,
    /// Its arguments in the order of the schema; `None` for one that has its default.
    pub args: Vec<Option<IValue>>,
    /// What it gave: shapes.
    pub results: Vec<IValue>,
}

thread_local! {
    /// What the functions that this thread traces have called, the innermost last.
    static CALLS: RefCell<Vec<Vec<TracedCall>>> = const { RefCell::new(Vec::new()) };
}

/// Runs a function and gives, beside its result, the operators that it called on the meta device in turn.
///
/// Operators that these call are not among them, nor are calls on other threads.
pub fn calls<R>(function: impl FnOnce() -> R) -> (R, Vec<TracedCall>) {
    /// Ends the notes, also where the function panics.
    struct Ends(usize);
    impl Drop for Ends {
        fn drop(&mut self) {
            CALLS.with_borrow_mut(|calls| calls.truncate(self.0));
        }
    }
    let outer = CALLS.with_borrow_mut(|calls| {
        calls.push(Vec::new());
        calls.len() - 1
    });
    let _ends = Ends(outer);
    let result = {
        let _tracing = enter(Tracing::Function);
        function()
    };
    let calls = CALLS.with_borrow_mut(|calls| calls.get_mut(outer).map(std::mem::take));
    (result, calls.unwrap_or_default())
}

/// Makes a call and notes it if it succeeds. Its arguments stand as they are before the call.
#[cold]
pub fn note<R>(
    name: impl Into<Cow<'static, str>>,
    args: Vec<Option<IValue>>,
    call: impl FnOnce() -> Result<R>,
    results: impl FnOnce(&R) -> Vec<IValue>,
) -> Result<R> {
    let result = {
        let _tracing = enter(Tracing::Operator);
        call()?
    };
    let call = TracedCall { name: name.into(), args, results: results(&result) };
    CALLS.with_borrow_mut(|calls| {
        if let Some(calls) = calls.last_mut() {
            calls.push(call);
        }
    });
    Ok(result)
}

/// The same for a typed function.
#[cold]
pub fn typed<R: TraceResults, const N: usize>(
    name: &'static str,
    args: [Option<IValue>; N],
    call: impl FnOnce() -> Result<R>,
) -> Result<R> {
    note(name, args.into(), call, R::values)
}

/// An argument of a typed function as a boxed value.
pub trait TraceArg {
    /// The value.
    fn value(&self) -> IValue;
}

impl<T: TraceArg + ?Sized> TraceArg for &T {
    fn value(&self) -> IValue {
        (**self).value()
    }
}

impl<T: TraceArg + ?Sized> TraceArg for &mut T {
    fn value(&self) -> IValue {
        (**self).value()
    }
}

impl<T: TraceArg> TraceArg for Option<T> {
    fn value(&self) -> IValue {
        self.as_ref().map_or(IValue::None, T::value)
    }
}

impl<D: Device> TraceArg for Tensor<D> {
    fn value(&self) -> IValue {
        self.clone().into()
    }
}

impl<D: Device> TraceArg for TensorOrNumber<'_, D> {
    fn value(&self) -> IValue {
        match self {
            TensorOrNumber::Tensor(tensor) => tensor.value(),
            TensorOrNumber::Number(number) => number.value(),
        }
    }
}

impl TraceArg for Operand<'_> {
    fn value(&self) -> IValue {
        match self {
            Operand::Tensor(tensor) => tensor.to_meta().into(),
            Operand::Number(number) => number.scalar().into(),
            Operand::Absent => IValue::None,
        }
    }
}

impl TraceArg for OptionalTensors<'_> {
    fn value(&self) -> IValue {
        IValue::OptionalTensors((0..self.len()).map(|i| self.get(i).cloned()).collect())
    }
}

/// Values that are boxed as they are, and lists of them.
macro_rules! plain {
    ($($t:ty)*; $($list:ident of $item:ty)*) => {
        $(impl TraceArg for $t {
            fn value(&self) -> IValue {
                IValue::from(self.clone())
            }
        })*
        $(impl TraceArg for [$item] {
            fn value(&self) -> IValue {
                IValue::$list(self.to_vec())
            }
        })*
    };
}
plain! {
    bool i64 f64 Scalar DType Layout DeviceId MemoryFormat Generator Storage;
    Ints of i64
    Floats of f64
    Bools of bool
    Scalars of Scalar
    Tensors of AnyTensor
}

impl TraceArg for str {
    fn value(&self) -> IValue {
        IValue::Str(self.into())
    }
}

/// A list of tensors as a boxed value.
pub fn tensors<D: Device>(list: &[impl Borrow<Tensor<D>>]) -> IValue {
    IValue::Tensors(AnyTensor::list(list.iter().map(|tensor| tensor.borrow().clone()).collect()))
}

/// What a typed function gives, as boxed values.
pub trait TraceResults {
    /// The values, in order.
    fn values(&self) -> Vec<IValue>;
}

impl<D: Device> TraceResults for Vec<Tensor<D>> {
    fn values(&self) -> Vec<IValue> {
        vec![tensors(self)]
    }
}

macro_rules! results {
    ($($t:ty)*; $(($($one:ident)+))*) => {
        impl<D: Device> TraceResults for Tensor<D> {
            fn values(&self) -> Vec<IValue> {
                vec![self.value()]
            }
        }
        impl<D: Device> TraceResults for &mut Tensor<D> {
            fn values(&self) -> Vec<IValue> {
                vec![self.value()]
            }
        }
        $(impl TraceResults for $t {
            fn values(&self) -> Vec<IValue> {
                vec![self.value()]
            }
        })*
        $(impl<$($one: TraceArg),+> TraceResults for ($($one,)+) {
            #[allow(non_snake_case, reason = "a value of each type")]
            fn values(&self) -> Vec<IValue> {
                let ($($one,)+) = self;
                vec![$($one.value()),+]
            }
        })*
    };
}
results! {
    bool i64 f64 Scalar DType;
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
}
