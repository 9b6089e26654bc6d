//! The contraction template: products of matrices, vectors and batches of matrices, added to a tensor or not. Owns the
//! plan, which says of each operand which dimension is the batch, the rows and the columns, and the meta function that
//! all of them share.
//!
//! ```text
//!            a            b            out          k is the columns of a and the rows of b
//!   mm       rows cols    rows cols    rows cols
//!   bmm      B rows cols  B rows cols  B rows cols
//!   addbmm   B rows cols  B rows cols  rows cols       the products of all members are summed
//!   addmv    rows cols    rows         rows
//!   dot      cols         rows
//! ```
//!
//! Operands have one dtype, which is that of the result: nothing promotes.

pub mod experts;
pub mod grouped;
pub mod products;

use monomorph_core::overlap::{self, Internal, Place, Shared};
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Geometry, Options, Result, Scalar, strides::DimVec};
use monomorph_iter::MAX_ELEMENTS;
use smallvec::SmallVec;
use std::marker::PhantomData;

mod sealed {
    /// Devices follow plans without looking: only operators of this module may write them.
    pub trait Sealed {}
}

/// What the operands of a product are: which of their dimensions is which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Where batch, rows and columns of the first factor are.
    pub a: Dims,
    /// The same of the second.
    pub b: Dims,
    /// The same of the output.
    pub out: Dims,
}

/// Which dimensions of a tensor are batch, rows and columns; one that it lacks has size 1.
pub type Dims = [Option<usize>; 3];

impl Form {
    /// Matrix times matrix.
    pub const MATRICES: Form = {
        let matrix = [None, Some(0), Some(1)];
        Form { a: matrix, b: matrix, out: matrix }
    };
    /// The same of each member of a batch.
    pub const BATCHES: Form = {
        let batch = [Some(0), Some(1), Some(2)];
        Form { a: batch, b: batch, out: batch }
    };
    /// The same, all members summed.
    pub const SUM_OF_BATCHES: Form = {
        let batch = [Some(0), Some(1), Some(2)];
        Form { a: batch, b: batch, out: [None, Some(0), Some(1)] }
    };
    /// Matrix times vector.
    pub const MATRIX_VECTOR: Form =
        Form { a: [None, Some(0), Some(1)], b: [None, Some(0), None], out: [None, Some(0), None] };
    /// Vector times vector.
    pub const VECTORS: Form = Form { a: [None, None, Some(0)], b: [None, Some(0), None], out: [None; 3] };
}

/// A product: its name, and what its operands are. Sealed, since devices trust plans.
pub trait ContractFn: sealed::Sealed + Send + Sync + 'static {
    /// The name that errors carry.
    const NAME: &'static str;
    /// What the operands are.
    const FORM: Form;
    /// The names of the factors in the schema.
    const ARGS: [&'static str; 2];
    /// The conjugate of the first factor is multiplied.
    const CONJUGATES: bool = false;
    /// Whether it refuses what is added before anything is broadcast to the size of the result.
    const ADDEND_DIMS: Option<usize> = None;
}

/// The operator of `F`.
pub struct Contract<F>(PhantomData<fn() -> F>);

/// The inputs of a call.
pub struct ContractInputs<'t> {
    /// What is added, if anything, and the factors.
    operands: SmallVec<[Operand<'t>; 3]>,
    beta: Scalar,
    alpha: Scalar,
}

impl<'t> ContractInputs<'t> {
    /// What is added, unless the operator adds nothing, and the factors.
    pub fn operands(&self) -> &[Operand<'t>] {
        &self.operands
    }

    /// Whether the first operand counts.
    fn adds(&self) -> bool {
        self.operands.len() == 3 && self.beta.to_complex() != Scalar::Int(0).to_complex()
    }
}

/// A product alone.
impl<'t, A: Into<Operand<'t>>, B: Into<Operand<'t>>> FromArgs<(A, B)> for ContractInputs<'t> {
    fn from_args((a, b): (A, B)) -> Result<Self> {
        let operands = SmallVec::from_iter([a.into(), b.into()]);
        Ok(ContractInputs { operands, beta: Scalar::Int(0), alpha: Scalar::Int(1) })
    }
}

/// A product times `alpha`, and a tensor times `beta`.
impl<'t, S, A, B> FromArgs<(S, A, B, Scalar, Scalar)> for ContractInputs<'t>
where
    S: Into<Operand<'t>>,
    A: Into<Operand<'t>>,
    B: Into<Operand<'t>>,
{
    fn from_args((addend, a, b, beta, alpha): (S, A, B, Scalar, Scalar)) -> Result<Self> {
        let operands = SmallVec::from_iter([addend.into(), a.into(), b.into()]);
        Ok(ContractInputs { operands, beta, alpha })
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContractPlan {
    /// How many products there are, their rows, columns, and the elements of each sum.
    pub sizes: [usize; 4],
    /// Which dimensions are which.
    pub form: Form,
    /// Whether the first operand is added.
    pub adds: bool,
    /// What it is multiplied by, in a way that the dtype of the result has.
    pub beta: Scalar,
    /// What products are multiplied by.
    pub alpha: Scalar,
    /// The conjugate of the first factor is multiplied.
    pub conjugates: bool,
    /// The output shares memory with an input, so it may only be written when that has been read.
    pub stages: bool,
}

impl Default for ContractPlan {
    fn default() -> ContractPlan {
        let (beta, alpha) = (Scalar::Int(0), Scalar::Int(1));
        let form = Form::MATRICES;
        ContractPlan { sizes: [0; 4], form, adds: false, beta, alpha, conjugates: false, stages: false }
    }
}

impl<F: ContractFn> StructuredOp for Contract<F> {
    const NAME: &'static str = F::NAME;
    const OUTPUTS: usize = 1;
    type Inputs<'t> = ContractInputs<'t>;
    type Plan = ContractPlan;
    type Home = F;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let rule = Rule { form: F::FORM, args: F::ARGS, conjugates: F::CONJUGATES, addend_dims: F::ADDEND_DIMS };
        *plan = rule.plan(inputs, sink)?;
        Ok(())
    }
}

/// A [`ContractFn`] as a value, so that the meta function is compiled once.
struct Rule {
    form: Form,
    args: [&'static str; 2],
    conjugates: bool,
    addend_dims: Option<usize>,
}

impl Rule {
    fn plan(&self, inputs: &ContractInputs<'_>, sink: &mut SinkState<'_>) -> Result<ContractPlan> {
        let (addend, a, b) = match inputs.operands.as_slice() {
            [addend, a, b] => (Some(addend), a, b),
            [a, b] => (None, a, b),
            _ => return Err(ErrorKind::ArgumentRule { rule: "a product has two factors" }.into()),
        };
        let mut form = self.form;
        check_dims(self.args[0], a, form.a)?;
        check_dims(self.args[1], b, form.b)?;
        if let (Some(most), Some(addend)) = (self.addend_dims, addend)
            && addend.sizes().len() > most
        {
            let accepted = "0 or 1";
            return Err(ErrorKind::DimCount { arg: "self", got: addend.sizes().len(), accepted }.into());
        }
        let of = |operand: &Operand<'_>, dim: Option<usize>| dim.map_or(1, |d| operand.sizes()[d]);
        let [batch, mut m, mut k] = form.a.map(|dim| of(a, dim));
        let [other_batch, other_k, n] = form.b.map(|dim| of(b, dim));
        if [batch, k] != [other_batch, other_k] {
            let want: DimVec = expected(form.b, [batch, k, n]);
            return Err(
                ErrorKind::UnequalSizes { arg: self.args[1], got: b.sizes().into(), want: want.to_vec() }.into()
            );
        }
        for factor in [a, b] {
            check_walkable(factor.sizes(), sink.is_meta())?;
        }
        let dtype = a.dtype().unwrap_or(DType::F32);
        let mut others = [(self.args[1], Some(b)), ("self", addend)].into_iter();
        if let Some((arg, got)) =
            others.find_map(|(arg, t)| t.and_then(Operand::dtype).filter(|got| *got != dtype).map(|got| (arg, got)))
        {
            return Err(ErrorKind::DTypeMismatch { arg, got, want: dtype }.into());
        }
        let mut sizes = expected(form.out, [batch, m, n]);
        if let Some(addend) = addend {
            check_broadcasts(addend.sizes(), &sizes)?;
            // PyTorch broadcasts nothing to a matrix without elements times a vector.
            if form == Form::MATRIX_VECTOR
                && (m == 0 || k == 0)
                && sink.form() != monomorph_core::structured::Form::InPlace
            {
                sizes = DimVec::from_slice(addend.sizes());
                (m, k) = (sizes.first().copied().unwrap_or(1), 0);
                form.out[1] = form.out[1].filter(|_| !sizes.is_empty());
            }
        }
        let tensor = [Some(a), Some(b), addend].into_iter().flatten().find_map(Operand::tensor);
        let device = tensor.map_or(DeviceId::CPU, |t| t.device());
        sink.set_output_raw_strided(0, &sizes, None, Options::new(dtype, device), None)?;
        let is_empty = sizes.contains(&0);
        if dtype == DType::Bool && (self.form == Form::VECTORS || !is_empty && (k > 0 || addend.is_some())) {
            let (what, accepted) = ("the product computes in dtype", "all dtypes but bool");
            return Err(ErrorKind::DTypeNotSupported { what, got: dtype, accepted }.into());
        }
        // Halves are computed in float32, and numbers are of what is computed in.
        let computed = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
        inputs.alpha.check_fits(computed, "alpha")?;
        inputs.beta.check_fits(computed, "beta")?;
        let stages = self.check_overlap(inputs, sink)?;
        let size = |size: i64| usize::try_from(size).unwrap_or(0);
        Ok(ContractPlan {
            sizes: [batch, m, n, k].map(size),
            form,
            adds: inputs.adds(),
            beta: inputs.beta,
            alpha: inputs.alpha,
            conjugates: self.conjugates,
            stages,
        })
    }

    /// An error if the output reaches an element twice. Else whether it shares memory with an input, other than an
    /// addend that is the output.
    fn check_overlap(&self, inputs: &ContractInputs<'_>, sink: &SinkState<'_>) -> Result<bool> {
        let (Some(out), Some(written)) = (sink.existing(0), sink.written(0)) else { return Ok(false) };
        if overlap::internal(written.sizes(), written.strides()) != Internal::No {
            let (sizes, strides) = (written.sizes().to_vec(), written.strides().to_vec());
            return Err(ErrorKind::InternalOverlap { index: 0, sizes, strides }.into());
        }
        let place = Place::of(out, written);
        let mut stages = false;
        for (i, operand) in inputs.operands.iter().enumerate() {
            let Some(tensor) = operand.tensor().filter(|t| t.storage_id() == out.storage_id()) else { continue };
            let shared = overlap::shared(&place, &Place::of(tensor, tensor.geometry()));
            let is_addend = i == 0 && inputs.operands.len() == 3;
            // An addend is copied to the output, which PyTorch refuses where they overlap in part.
            if is_addend && shared == Shared::Partial && inputs.adds() {
                return Err(ErrorKind::PartialOverlap { output: 0, other: "argument self".into() }.into());
            }
            let in_place = is_addend && shared == Shared::Full && same_bits(tensor.geometry(), written);
            stages |= shared != Shared::None && !in_place;
        }
        Ok(stages)
    }
}

/// Whether elements are to their memory what those of the other are.
fn same_bits(a: &Geometry, b: &Geometry) -> bool {
    a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg()
}

/// The sizes of a tensor whose dimensions are these.
fn expected(dims: Dims, sizes: [i64; 3]) -> DimVec {
    dims.iter().zip(sizes).filter(|(dim, _)| dim.is_some()).map(|(_, size)| size).collect()
}

fn check_dims(arg: &'static str, operand: &Operand<'_>, dims: Dims) -> Result<()> {
    let (got, want) = (operand.sizes().len(), dims.iter().flatten().count());
    if got == want && !operand.is_absent() {
        return Ok(());
    }
    let accepted = ["0", "1", "2", "3"][want];
    Err(ErrorKind::DimCount { arg, got, accepted }.into())
}

/// An error for a factor of more elements than can be walked, which an expanded one may have.
fn check_walkable(sizes: &[i64], is_meta: bool) -> Result<()> {
    let numel = sizes.iter().try_fold(1_i64, |n, &size| n.checked_mul(size));
    if is_meta || numel.is_some_and(|n| n <= MAX_ELEMENTS as i64) {
        return Ok(());
    }
    Err(ErrorKind::TooManyElements { sizes: sizes.to_vec(), limit: MAX_ELEMENTS }.into())
}

/// What is added has the sizes of the result, or 1 in their place; leading ones may be missing.
fn check_broadcasts(got: &[i64], want: &[i64]) -> Result<()> {
    let fits = got.iter().rev().zip(want.iter().rev()).all(|(got, want)| got == want || *got == 1);
    if got.len() <= want.len() && fits {
        return Ok(());
    }
    Err(ErrorKind::UnequalSizes { arg: "self", got: got.to_vec(), want: want.to_vec() }.into())
}
