//! Arguments: the inputs of a reduction, made from the arguments of a schema. Which schemas a reduction has is said by
//! [`Takes`], so that a row with other arguments is a compile error.

use super::fold::Numbers;
use monomorph_core::structured::{FromArgs, Operand};
use monomorph_core::{DType, Result};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// `(Tensor self)`.
pub struct Whole;
/// `(Tensor self, *, ScalarType? dtype)`.
pub struct WholeDtype;
/// `(Tensor self, int dim, bool keepdim)`.
pub struct Dim;
/// `(Tensor self, int? dim, bool keepdim)`.
pub struct OptionalDim;
/// `(Tensor self, int[]? dim, bool keepdim)`.
pub struct OptionalDims;
/// `(Tensor self, int[] dim, bool keepdim)`.
pub struct ListedDims;
/// `(Tensor self, int[]? dim, bool keepdim, *, ScalarType? dtype)`.
pub struct DimsDtype;

/// `(Tensor self, int dim, bool keepdim, *, ScalarType? dtype)`.
pub struct DimDtype;

/// Reductions that have a schema with the arguments `S`: [`Whole`], [`Dim`], ….
#[diagnostic::on_unimplemented(
    message = "the reduction `{Self}` has no overload with the arguments `{S}`",
    note = "`impl Takes<{S}> for {Self} {{}}` gives it one"
)]
pub trait Takes<S> {}

/// The dims of a call as it named them.
#[derive(Clone, Copy, Debug)]
pub enum Dims<'t> {
    /// All.
    All,
    /// These; what an empty list means depends on the reduction.
    List(&'t [i64]),
    /// This one.
    One(i64),
}

impl Dims<'_> {
    /// The dims as a list; `None` for all.
    pub(super) fn list(&self) -> Option<&[i64]> {
        match self {
            Dims::All => None,
            Dims::List(list) => Some(list),
            Dims::One(dim) => Some(std::slice::from_ref(dim)),
        }
    }
}

/// The inputs of a call of reduction `F`.
pub struct ReduceInputs<'t, F> {
    pub(super) operand: [Operand<'t>; 1],
    pub(super) call: Call<'t>,
    fold: PhantomData<fn() -> F>,
}

/// The parameters of a call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'t> {
    pub(super) dims: Dims<'t>,
    pub(super) keepdim: bool,
    pub(super) dtype: Option<DType>,
    /// Without a dtype that is asked for, an existing output decides.
    pub(super) dtype_from_out: bool,
    /// What the fold is told besides the elements, if it asks for it.
    pub(super) numbers: Option<Numbers>,
}

impl<'t> Call<'t> {
    const ALL: Call<'t> = Call { dims: Dims::All, keepdim: false, dtype: None, dtype_from_out: false, numbers: None };
}

impl<'t, F> ReduceInputs<'t, F> {
    /// The inputs of a call with these parameters.
    pub(super) fn of(operand: Operand<'t>, call: Call<'t>) -> Self {
        ReduceInputs { operand: [operand], call, fold: PhantomData }
    }
}

impl<F> ReduceInputs<'_, F> {
    /// The operand that is reduced.
    pub fn operand(&self) -> &Operand<'_> {
        &self.operand[0]
    }

    /// What the fold is told besides the elements: [`Fold::one_by`](super::Fold::one_by). `None` for most folds, which
    /// ignore it.
    pub fn numbers(&self) -> Option<Numbers> {
        self.call.numbers
    }
}

impl<'t, F> ReduceInputs<'t, F> {
    /// The inputs of a call whose fold is told numbers, for operators that choose the fold by them. Without `dtype` the
    /// input has its own, or that of an existing output if that `decides`.
    pub(crate) fn told(
        operand: Operand<'t>,
        (dims, keepdim): (Dims<'t>, bool),
        (dtype, decides): (Option<DType>, bool),
        numbers: Numbers,
    ) -> Self {
        let call = Call { dims, keepdim, dtype, dtype_from_out: decides, numbers: Some(numbers) };
        ReduceInputs::of(operand, call)
    }
}

/// Arguments of pointwise operators, and behind them those of a reduction that has a schema with the arguments `S`.
#[diagnostic::on_unimplemented(
    message = "the arguments `{Self}` are not operands, at most six, and behind them those of `{S}`"
)]
pub trait BeforeReduction<'t, S> {
    /// The number of arguments of the pointwise operators.
    const COUNT: usize;

    /// Both.
    fn split(self) -> (SmallVec<[Operand<'t>; 4]>, Call<'t>);
}

/// So many arguments before those of a reduction.
macro_rules! before {
    ($marker:ty, [$($before:ident)+], [$($arg:ident: $type:ty),*], $call:expr) => {
        impl<'t, $($before: Into<Operand<'t>>),+> BeforeReduction<'t, $marker> for ($($before,)+ $($type,)*) {
            const COUNT: usize = [$(stringify!($before)),+].len();

            #[allow(non_snake_case, reason = "the type parameters double as names of the tuple's fields")]
            fn split(self) -> (SmallVec<[Operand<'t>; 4]>, Call<'t>) {
                let ($($before,)+ $($arg,)*) = self;
                (SmallVec::from_iter([$($before.into()),+]), $call)
            }
        }
    };
}

/// One row per overload: the marker, the arguments, the call.
macro_rules! overloads {
    ($($marker:ty: ($($arg:ident: $type:ty),*) => $call:expr;)*) => {$(
        impl<'t, F: Takes<$marker>, A: Into<Operand<'t>>> FromArgs<(A, $($type,)*)> for ReduceInputs<'t, F> {
            fn from_args((operand, $($arg,)*): (A, $($type,)*)) -> Result<Self> {
                Ok(ReduceInputs::of(operand.into(), $call))
            }
        }
        before! { $marker, [A], [$($arg: $type),*], $call }
        before! { $marker, [A B], [$($arg: $type),*], $call }
        before! { $marker, [A B C], [$($arg: $type),*], $call }
        before! { $marker, [A B C D], [$($arg: $type),*], $call }
        before! { $marker, [A B C D E], [$($arg: $type),*], $call }
        before! { $marker, [A B C D E F], [$($arg: $type),*], $call }
    )*};
}
overloads! {
    Whole: () => Call::ALL;
    WholeDtype: (dtype: Option<DType>) => Call { dtype, ..Call::ALL };
    Dim: (dim: i64, keepdim: bool) => Call { dims: Dims::One(dim), keepdim, ..Call::ALL };
    OptionalDim: (dim: Option<i64>, keepdim: bool) =>
        Call { dims: dim.map_or(Dims::All, Dims::One), keepdim, ..Call::ALL };
    OptionalDims: (dims: Option<&'t [i64]>, keepdim: bool) =>
        Call { dims: dims.map_or(Dims::All, Dims::List), keepdim, ..Call::ALL };
    ListedDims: (dims: &'t [i64], keepdim: bool) => Call { dims: Dims::List(dims), keepdim, ..Call::ALL };
    DimsDtype: (dims: Option<&'t [i64]>, keepdim: bool, dtype: Option<DType>) =>
        Call { dims: dims.map_or(Dims::All, Dims::List), keepdim, dtype, dtype_from_out: true, ..Call::ALL };
    DimDtype: (dim: i64, keepdim: bool, dtype: Option<DType>) =>
        Call { dims: Dims::One(dim), keepdim, dtype, dtype_from_out: true, ..Call::ALL };
}
