//! Linear algebra: operators on the matrices that the last two dimensions of tensors hold. Owns what all have in
//! common: batches that broadcast, the order in which matrices lie, and what a device is told of it ([`MatrixPlan`]).
//! An operator is a [`MatrixFn`]; how one matrix is computed is the device's.
//!
//! ```text
//! lu.rs             factors L and U
//! determinants.rs   determinants
//! solve.rs          systems of equations, inverses
//! triangular.rs     systems with triangular matrices
//! cholesky.rs       Cholesky factors, and systems that have them
//! ldl.rs            LDL factors of matrices that are not definite
//! functions.rs      exponentials, square roots, polar factors
//! orthogonal.rs     QR factors
//! spectral.rs       eigenvalues, singular values
//! least_squares.rs  systems with more equations or fewer
//! failures.rs       what `info` tells of matrices that have no such factors
//! ranks.rs, composed.rs   what is composed of these
//! ```
//!
//! Matrices lie column by column, as LAPACK has them, so that PyTorch's strides are the same.
#![deny(clippy::arithmetic_side_effects)]

mod call;
pub mod cholesky;
pub mod composed;
mod declared;
pub mod determinants;
pub mod failures;
pub mod functions;
pub mod ldl;
pub mod least_squares;
pub mod lu;
pub mod orthogonal;
pub mod ranks;
pub mod solve;
pub mod spectral;
pub mod triangular;

pub use call::MatrixCall;
pub use failures::Failure;

use monomorph_core::Result;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::{Operand, SinkState, StructuredOp};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::marker::PhantomData;

/// An operator on matrices.
pub trait MatrixFn: Sized + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// The number of outputs.
    const OUTPUTS: usize;
    /// What the arguments besides tensors say. Varies per operator.
    type Options: Copy + Default + Debug + Send + Sync + 'static;

    /// Checks a call and declares its inputs and outputs.
    fn declare(call: &mut MatrixCall<'_, '_, '_>, options: &mut Self::Options) -> Result<()>;

    /// What a matrix fails of, if the call is to fail with it: the last integers that are declared tell whether it
    /// does.
    fn checks(_options: &Self::Options) -> Option<Failure> {
        None
    }
}

/// The operator of `F`.
pub struct OnMatrices<F>(PhantomData<fn() -> F>);

/// The inputs of a call.
pub struct MatrixInputs<'t, F: MatrixFn> {
    operands: SmallVec<[Operand<'t>; 3]>,
    options: F::Options,
}

impl<'t, F: MatrixFn> MatrixInputs<'t, F> {
    fn new<const N: usize>(operands: [Operand<'t>; N], options: F::Options) -> MatrixInputs<'t, F> {
        MatrixInputs { operands: operands.into_iter().collect(), options }
    }

    /// The tensors, in the order of the schema.
    pub fn operands(&self) -> &[Operand<'t>] {
        &self.operands
    }
}

/// How operators take their arguments: tensors, then what their options are made of.
macro_rules! arguments {
    ($($of:ty: [$($tensor:ident),+] $($name:ident: $ty:ty),* => $options:expr;)+) => {$(
        impl<'t, $($tensor: Into<Operand<'t>>),+> FromArgs<($($tensor,)+ $($ty,)*)> for MatrixInputs<'t, $of> {
            #[allow(non_snake_case, reason = "the name of a tensor is that of its type, too")]
            fn from_args(($($tensor,)+ $($name,)*): ($($tensor,)+ $($ty,)*)) -> Result<Self> {
                Ok(MatrixInputs::new([$($tensor.into()),+], $options))
            }
        }
    )+};
}
use arguments;

/// In which order the elements of a matrix lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Column by column.
    Columns,
    /// Row by row.
    Rows,
}

/// What an output holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Numbers of the dtype of the matrices.
    Elements,
    /// Real numbers of their precision.
    Reals,
    /// Complex numbers of their precision.
    Complex,
    /// Numbers of rows, or what a matrix failed of: int32.
    Integers,
    /// Such numbers, as int64.
    Counts,
}

/// Whose numbers are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The caller's: an output.
    Caller,
    /// The device's, which works with them: those of one matrix serve all.
    Device,
    /// What each matrix failed of, in a call that fails with it.
    Info,
}

/// How a device reads an input: matrix after matrix, dense.
#[derive(Clone, Debug)]
pub struct Input {
    /// The strides in which it is read: those of matrices one after another.
    pub strides: DimVec,
    /// Rows and columns of a matrix; a vector is one column.
    pub matrix: [usize; 2],
    /// Elements of one matrix.
    pub size: usize,
    /// Which of its matrices belongs to each of the call, if it does not have as many.
    pub numbers: Option<Vec<usize>>,
    /// It holds int32.
    pub is_integer: bool,
}

impl Input {
    /// Whether this matrix of the call has another of the operand than the one before.
    pub fn is_new(&self, matrix: usize) -> bool {
        match (&self.numbers, matrix) {
            (Some(numbers), 1..) => numbers[matrix] != numbers[matrix.saturating_sub(1)],
            _ => true,
        }
    }
}

/// How a device writes an output: matrix after matrix, dense.
#[derive(Clone, Debug)]
pub struct Output {
    /// What it holds.
    pub kind: Kind,
    /// Elements of one matrix.
    pub size: usize,
    /// Elements that lie behind each other, and from the first of them to the first of the next, if not all do.
    pub run: Option<[usize; 2]>,
    /// Rows and columns of what is computed column by column and written row by row.
    pub turned: Option<[usize; 2]>,
    /// Which of its matrices belongs to each of the call, if it does not have as many.
    pub numbers: Option<Vec<usize>>,
    /// Whose it is.
    pub owner: Owner,
}

/// What a device needs besides operands and outputs.
#[derive(Clone, Debug)]
pub struct MatrixPlan<O> {
    /// What the arguments besides tensors say.
    pub options: O,
    /// The number of matrices.
    pub matrices: usize,
    /// The inputs, as many as there are.
    pub inputs: SmallVec<[Input; 3]>,
    /// The outputs, all of them.
    pub outputs: SmallVec<[Output; 4]>,
    /// Rows and columns of the matrix, and columns of right-hand sides.
    pub sizes: [usize; 3],
    /// An output may overwrite inputs, so those are to be copied first.
    pub copies: bool,
}

impl<O: Default> Default for MatrixPlan<O> {
    fn default() -> Self {
        MatrixPlan {
            options: O::default(),
            matrices: 0,
            inputs: SmallVec::new(),
            outputs: SmallVec::new(),
            sizes: [0; 3],
            copies: false,
        }
    }
}

impl<F: MatrixFn> StructuredOp for OnMatrices<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = F::OUTPUTS;
    type Inputs<'t> = MatrixInputs<'t, F>;
    type Plan = MatrixPlan<F::Options>;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let mut call = MatrixCall::new(&inputs.operands, sink);
        let mut options = inputs.options;
        F::declare(&mut call, &mut options)?;
        let MatrixPlan { matrices, inputs, outputs, sizes, copies, .. } = call.plan()?;
        *plan = MatrixPlan { options, matrices, inputs, outputs, sizes, copies };
        Ok(())
    }
}
