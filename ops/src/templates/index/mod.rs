//! The index template: elements moved between a tensor that is indexed, the *base*, and one that is walked in step
//! with the indices, the *values*. Owns the plan, which says where each dimension of the walk steps, and the operator
//! that every plan makes.
//!
//! ```text
//!   for each point p of the walk:      at(p) = p · base steps + Σ index_k[p] · base stride of the dimension it
//! indexes
//!     gather:   values[p] = base[at(p)]                        the output is the values
//!     scatter:  base[at(p)] = combine(base[at(p)], values[p])  the output is the base, a copy of self first
//! ```
//!
//! An operator is a function from its arguments to a plan ([`IndexFn`]): which dimensions step where, and which rule
//! combines. Devices run plans; none of them knows an operator. Every index is checked before anything is written.

pub mod advanced;
pub mod bags;
pub mod embedding;
mod inputs;
pub mod masked;
pub mod nonzero;
mod overlap;
pub mod put;
pub mod repeats;
pub mod scatter;
pub mod segments;
pub mod select;
pub mod slices;
pub mod unfold;

pub use inputs::IndexInputs;

use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use monomorph_core::{DType, ErrorKind, Result, Scalar};
use smallvec::SmallVec;
use std::marker::PhantomData;

mod sealed {
    /// Devices follow plans without looking: only operators of this module may write them.
    pub trait Sealed {}
}

/// An operator as a function from arguments to a plan. Sealed, since devices trust plans.
pub trait IndexFn: sealed::Sealed + Sized + 'static {
    /// The name that errors carry.
    const NAME: &'static str;

    /// Checks the arguments, declares the output, and says what is walked.
    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan>;
}

/// The operator of `F`.
pub struct Indexed<F>(PhantomData<fn() -> F>);

impl<F: IndexFn> StructuredOp for Indexed<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 1;
    type Inputs<'t> = IndexInputs<'t>;
    type Plan = IndexPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        inputs.operands()
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        *plan = F::plan(inputs, sink)?;
        Ok(())
    }
}

/// A step along a dimension of a tensor: so many elements of it for each step of the walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The dimension.
    pub dim: usize,
    /// How many of its elements.
    pub factor: i64,
}

/// One dimension of the walk; a tensor without a step stays where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// The number of points.
    pub size: i64,
    /// The steps in the base; two where dimensions of the walk share one of its own.
    pub base: Option<Step>,
    /// The step in the values.
    pub values: Option<Step>,
}

/// A tensor of indices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexTensor {
    /// Which operand it is.
    pub operand: usize,
    /// Its name in the schema.
    pub arg: &'static str,
    /// For each axis of the walk the dimension of the tensor that steps with it.
    pub dims: SmallVec<[Option<usize>; 4]>,
    /// What of the base it indexes.
    pub of: Indexes,
    /// Which indices are in range.
    pub range: IndexRange,
}

/// Which indices of a dimension of some size are in range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexRange {
    /// Those from 0 on, below the size.
    FromStart,
    /// Those, and negative ones, which count from the end.
    FromBothEnds,
    /// All, modulo the size, which is not 0.
    Modulo,
}

/// What of the base an index chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indexes {
    /// A place in a dimension.
    Dim(usize),
    /// An element, in row-major order.
    Elements,
}

/// How a value is written to an element that may have been written before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combine {
    /// The value replaces the element; the last one stays.
    Replace,
    /// Their sum.
    Add,
    /// Their product.
    Multiply,
    /// The smaller one; NaN if either is.
    Min,
    /// The larger one; NaN if either is.
    Max,
    /// The mean of all values that meet, and of the element.
    Mean,
}

/// What a scatter begins with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start {
    /// The first operand; in place it is there already.
    This,
    /// Zeros.
    Zeros,
}

/// What a scatter writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Written {
    /// The elements of an operand, converted to the dtype of the base.
    Input(usize),
    /// A number.
    Number(Scalar),
}

/// What a scatter does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scatter {
    /// What the base begins with.
    pub start: Start,
    /// The values.
    pub values: Written,
    /// What values are multiplied by.
    pub scale: Option<Scalar>,
    /// How they are written.
    pub combine: Combine,
    /// Whether elements that are written count as values themselves.
    pub include_self: bool,
    /// Halves are combined in float32, and rounded once.
    pub wide: bool,
}

impl Scatter {
    /// Values that are combined with the elements of the first operand.
    pub(super) fn of(values: Written, combine: Combine) -> Scatter {
        Scatter { start: Start::This, values, scale: None, combine, include_self: true, wide: false }
    }
}

/// Which way elements go.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Transfer {
    /// Nowhere: there is none.
    #[default]
    Nothing,
    /// From the first operand, the base, to the output, the values.
    Gather,
    /// To the output, the base.
    Scatter(Scatter),
}

/// What a device needs besides operands.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IndexPlan {
    /// Which way elements go.
    pub transfer: Transfer,
    /// The walk.
    pub axes: SmallVec<[Axis; 4]>,
    /// The indices.
    pub indices: SmallVec<[IndexTensor; 2]>,
    /// A wrong index found halfway leaves nothing behind: the output is new.
    pub fresh: bool,
    /// The output may reach an element twice, so that it is written by one thread.
    pub serial: bool,
    /// Values and indices are read as one dimension, in row-major order.
    pub flat: bool,
}

impl IndexPlan {
    /// True if nothing is walked.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.size == 0)
    }
}

/// A step of one element.
fn along(dim: usize) -> Option<Step> {
    Some(Step { dim, factor: 1 })
}

/// An index of a dtype that the operator takes.
fn check_index(arg: &'static str, index: &Operand<'_>, takes_i32: bool) -> Result<()> {
    let dtype = index.dtype().unwrap_or(DType::F32);
    if dtype == DType::I64 || takes_i32 && dtype == DType::I32 {
        return Ok(());
    }
    let what = match arg {
        "indices" => "argument indices has dtype",
        _ => "argument index has dtype",
    };
    let accepted = if takes_i32 { "int32 and int64" } else { "int64" };
    Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into())
}
