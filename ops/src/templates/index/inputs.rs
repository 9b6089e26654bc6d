//! The arguments of index operators: one list of tensors, and the parameters that any of them has.

use monomorph_core::structured::{FromArgs, Operand, SinkState};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result, Scalar};
use smallvec::SmallVec;

/// The arguments of a call, each sort in the order of the schema.
#[derive(Default)]
pub struct IndexInputs<'t> {
    operands: SmallVec<[Operand<'t>; 3]>,
    ints: SmallVec<[i64; 4]>,
    flags: SmallVec<[bool; 2]>,
    number: Option<Scalar>,
    text: Option<&'t str>,
    sizes: &'t [i64],
}

impl<'t> IndexInputs<'t> {
    /// Arguments that are all tensors.
    pub fn of(operands: impl IntoIterator<Item = Operand<'t>>) -> IndexInputs<'t> {
        IndexInputs { operands: operands.into_iter().collect(), ..IndexInputs::default() }
    }

    /// The same with one integer.
    pub fn with_int(mut self, int: i64) -> IndexInputs<'t> {
        self.ints.push(int);
        self
    }

    /// The same with one flag.
    pub fn with_flag(mut self, flag: bool) -> IndexInputs<'t> {
        self.flags.push(flag);
        self
    }

    /// The same with a list of integers.
    pub fn with_sizes(mut self, sizes: &'t [i64]) -> IndexInputs<'t> {
        self.sizes = sizes;
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

    /// Integer `i`, if there are as many.
    pub fn optional_int(&self, i: usize) -> Option<i64> {
        self.ints.get(i).copied()
    }

    /// Integer `i`.
    pub fn int(&self, i: usize) -> i64 {
        self.optional_int(i).unwrap_or(0)
    }

    /// Flag `i`.
    pub fn flag(&self, i: usize) -> bool {
        self.flags.get(i).copied().unwrap_or(false)
    }

    /// The number.
    pub fn number(&self) -> Option<Scalar> {
        self.number
    }

    /// The string.
    pub fn text(&self) -> &'t str {
        self.text.unwrap_or("")
    }

    /// The list of integers.
    pub fn sizes(&self) -> &'t [i64] {
        self.sizes
    }

    /// The dtype of tensor `i`; an error if it is absent.
    pub(super) fn dtype(&self, i: usize) -> Result<DType> {
        let rule = "a tensor argument is absent; index operators need all of them";
        self.operand(i).dtype().ok_or_else(|| ErrorKind::ArgumentRule { rule }.into())
    }

    /// An error if tensor `i` has another dtype than the first.
    pub(super) fn check_dtype(&self, arg: &'static str, i: usize) -> Result<()> {
        let (want, got) = (self.dtype(0)?, self.dtype(i)?);
        if got == want { Ok(()) } else { Err(ErrorKind::DTypeMismatch { arg, got, want }.into()) }
    }

    /// Declares the output: sizes, in the dtype of the first tensor.
    pub(super) fn declare(&self, sink: &mut SinkState<'_>, sizes: &[i64], hint: Option<&[i64]>) -> Result<()> {
        self.declare_as(sink, sizes, hint, self.dtype(0)?)
    }

    /// The same in another dtype.
    pub(super) fn declare_as(
        &self,
        sink: &mut SinkState<'_>,
        sizes: &[i64],
        hint: Option<&[i64]>,
        dtype: DType,
    ) -> Result<()> {
        let device = self.operand(0).tensor().map_or(DeviceId::CPU, |t| t.device());
        sink.set_output_raw_strided(0, sizes, hint, Options::new(dtype, device), None)
    }
}

/// An argument, put where those of its sort are.
trait Put<'t> {
    fn put(self, inputs: &mut IndexInputs<'t>);
}

macro_rules! puts {
    ($($ty:ty: |$value:ident, $inputs:ident| $put:expr;)*) => {$(
        impl<'t> Put<'t> for $ty {
            fn put(self, $inputs: &mut IndexInputs<'t>) {
                let $value = self;
                $put;
            }
        }
    )*};
}
puts! {
    Operand<'t>: |x, inputs| inputs.operands.push(x);
    i64: |x, inputs| inputs.ints.push(x);
    Option<i64>: |x, inputs| inputs.ints.extend(x);
    bool: |x, inputs| inputs.flags.push(x);
    Scalar: |x, inputs| inputs.number = Some(x);
    &'t str: |x, inputs| inputs.text = Some(x);
    &'t [i64]: |x, inputs| inputs.sizes = x;
}

macro_rules! from_args {
    ($($($T:ident $t:ident)*;)*) => {$(
        #[allow(private_bounds, reason = "which types are arguments is decided here")]
        impl<'t, $($T: Put<'t>),*> FromArgs<($($T,)*)> for IndexInputs<'t> {
            fn from_args(($($t,)*): ($($T,)*)) -> Result<Self> {
                let mut inputs = IndexInputs::default();
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
}
