//! The arguments of operators on rows: lists of the tensors, integers, flags and numbers, each in the order of the
//! schema.

use monomorph_core::structured::{FromArgs, Operand};
use monomorph_core::{DType, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

/// The arguments of a call, each sort in the order of the schema.
#[derive(Default)]
pub struct RowsInputs<'t> {
    operands: SmallVec<[Operand<'t>; 5]>,
    ints: SmallVec<[i64; 4]>,
    flags: SmallVec<[bool; 2]>,
    numbers: SmallVec<[f64; 2]>,
    lists: SmallVec<[&'t [i64]; 2]>,
    dtype: Option<DType>,
}

impl<'t> RowsInputs<'t> {
    /// These tensors.
    pub(super) fn of(operands: &[Operand<'t>]) -> RowsInputs<'t> {
        RowsInputs { operands: operands.into(), ..RowsInputs::default() }
    }

    /// The same with these integers.
    pub(super) fn with_ints(self, ints: &[i64]) -> RowsInputs<'t> {
        RowsInputs { ints: ints.into(), ..self }
    }

    /// The same with these flags.
    pub(super) fn with_flags(self, flags: &[bool]) -> RowsInputs<'t> {
        RowsInputs { flags: flags.into(), ..self }
    }

    /// The same with these numbers.
    pub(super) fn with_numbers(self, numbers: &[f64]) -> RowsInputs<'t> {
        RowsInputs { numbers: numbers.into(), ..self }
    }

    /// The same with a list of integers.
    pub(super) fn with_list(mut self, list: &'t [i64]) -> RowsInputs<'t> {
        self.lists.push(list);
        self
    }

    /// The tensors, absent ones included.
    pub fn operands(&self) -> &[Operand<'t>] {
        &self.operands
    }

    /// Tensor `i`.
    pub fn operand(&self, i: usize) -> Operand<'t> {
        self.operands.get(i).copied().unwrap_or(Operand::Absent)
    }

    /// Integer `i`.
    pub fn int(&self, i: usize) -> i64 {
        self.ints.get(i).copied().unwrap_or(0)
    }

    /// Flag `i`.
    pub fn flag(&self, i: usize) -> bool {
        self.flags.get(i).copied().unwrap_or(false)
    }

    /// Number `i`.
    pub fn number(&self, i: usize) -> f64 {
        self.numbers.get(i).copied().unwrap_or(0.0)
    }

    /// The only number of an operator that has a default for it, if there is one.
    pub(super) fn optional_number(&self) -> Option<f64> {
        self.numbers.first().copied()
    }

    /// List `i` of integers.
    pub fn list(&self, i: usize) -> &'t [i64] {
        self.lists.get(i).copied().unwrap_or_default()
    }

    /// The dtype among the arguments.
    pub(super) fn asked_dtype(&self) -> Option<DType> {
        self.dtype
    }

    /// The dtype of tensor `i`; an error if it is absent.
    pub(super) fn dtype(&self, i: usize) -> Result<DType> {
        let rule = "a tensor argument is absent; accepted is a tensor";
        self.operand(i).dtype().ok_or_else(|| ErrorKind::ArgumentRule { rule }.into())
    }
}

/// An argument, put where those of its sort are.
trait Put<'t> {
    fn put(self, inputs: &mut RowsInputs<'t>);
}

macro_rules! puts {
    ($($ty:ty: |$value:ident, $inputs:ident| $put:expr;)*) => {$(
        impl<'t> Put<'t> for $ty {
            fn put(self, $inputs: &mut RowsInputs<'t>) {
                let $value = self;
                $put;
            }
        }
    )*};
}
puts! {
    Operand<'t>: |x, inputs| inputs.operands.push(x);
    i64: |x, inputs| inputs.ints.push(x);
    bool: |x, inputs| inputs.flags.push(x);
    f64: |x, inputs| inputs.numbers.push(x);
    Option<f64>: |x, inputs| inputs.numbers.extend(x);
    Scalar: |x, inputs| inputs.numbers.push(x.to_f64());
    &'t [i64]: |x, inputs| inputs.lists.push(x);
    DType: |x, inputs| inputs.dtype = Some(x);
}

macro_rules! from_args {
    ($($($T:ident $t:ident)*;)*) => {$(
        #[allow(private_bounds, reason = "which types are arguments is decided here")]
        impl<'t, $($T: Put<'t>),*> FromArgs<($($T,)*)> for RowsInputs<'t> {
            fn from_args(($($t,)*): ($($T,)*)) -> Result<Self> {
                let mut inputs = RowsInputs::default();
                $($t.put(&mut inputs);)*
                Ok(inputs)
            }
        }
    )*};
}
from_args! {
    A a B b;
    A a B b C c;
    A a B b C c D d;
    A a B b C c D d E e;
    A a B b C c D d E e F f;
    A a B b C c D d E e F f G g;
    A a B b C c D d E e F f G g H h;
    A a B b C c D d E e F f G g H h I i;
}
