//! Singular values of matrices: `linalg_svdvals`. Owns what is checked and the sizes of the result; how they are
//! computed is the device's. Norms and condition numbers that follow from them are composed (`matrix_norms.rs`).
#![deny(clippy::arithmetic_side_effects)]

use crate::order::check_overlap;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Operand, SinkState, StructuredOp};
use monomorph_core::{DType, DeviceId, ErrorKind, Options, Result};

/// The operator of singular values.
pub struct SingularValues;

/// The inputs of a call.
pub struct SingularInputs<'t> {
    operand: [Operand<'t>; 1],
    has_driver: bool,
}

impl<'t> SingularInputs<'t> {
    /// The matrices.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

impl<'t, A: Into<Operand<'t>>> FromArgs<(A, Option<&'t str>)> for SingularInputs<'t> {
    fn from_args((operand, driver): (A, Option<&'t str>)) -> Result<Self> {
        Ok(SingularInputs { operand: [operand.into()], has_driver: driver.is_some() })
    }
}

/// What a device needs besides the operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SingularPlan {
    /// Rows of a matrix.
    pub rows: usize,
    /// Columns of a matrix.
    pub columns: usize,
    /// The output may overwrite the input, so that is to be copied first.
    pub copies: bool,
}

/// A matrix has no singular values if an element is NaN, which only its elements tell.
pub const NOT_A_NUMBER: ErrorKind = ErrorKind::ArgumentRule {
    rule: "argument A has a matrix with NaN, which has no singular values; accepted are matrices of numbers",
};

/// The bound on sweeps was reached. No matrix is known that does.
pub const NOT_CONVERGED: ErrorKind = ErrorKind::ArgumentRule {
    rule: "the singular values of a matrix in argument A did not converge; scale its rows or columns to similar norms",
};

impl StructuredOp for SingularValues {
    const NAME: &'static str = "linalg_svdvals";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = SingularInputs<'t>;
    type Plan = SingularPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let operand = inputs.operand();
        let sizes = operand.sizes();
        let [batch @ .., rows, columns] = sizes else {
            return Err(ErrorKind::DimCount { arg: "A", got: sizes.len(), accepted: "2 or more" }.into());
        };
        let computes = !sizes.contains(&0) && !sink.is_meta();
        let dtype = operand.dtype().unwrap_or(DType::F32);
        check_dtype(dtype, computes)?;
        if computes && inputs.has_driver {
            let rule = "argument driver names a solver of CUDA; accepted is none";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
        let values: Vec<i64> = batch.iter().copied().chain([*rows.min(columns)]).collect();
        sink.set_output_contiguous(0, &values, Options::new(dtype.to_real(), device), None)?;
        let (_, copies) = check_overlap(&inputs.operand, sink, false)?;
        *plan = SingularPlan { rows: *rows as usize, columns: *columns as usize, copies };
        Ok(())
    }
}

/// Halves have shapes, but no values are computed of them, as in PyTorch.
fn check_dtype(got: DType, computes: bool) -> Result<()> {
    let refused = |accepted| -> Result<()> {
        Err(ErrorKind::DTypeNotSupported { what: "argument A has dtype", got, accepted }.into())
    };
    match got {
        DType::F16 | DType::BF16 if computes => refused("float32, float64, complex64 and complex128"),
        got if got.is_integral(true) => refused("floating and complex dtypes"),
        _ => Ok(()),
    }
}

native! {
    family: SingularValuesOf;

    /// The singular values of matrices, in descending order.
    ///
    /// A matrix is the last two dimensions of `A`; the result has as many values as the smaller of them has elements.
    /// They are real and not negative, of the precision of `A`, which is float32, float64, complex64 or complex128. An
    /// infinite element makes all values of its matrix NaN; NaN is an error, and so is the option `driver`, which
    /// chooses a solver on CUDA.
    ///
    /// ```
    /// let x = tensor![[3.0f64, 0.0, 0.0], [0.0, 0.0, -4.0]];
    /// assert_eq!(ops::linalg_svdvals(&x)?.to_vec::<f64>()?, [4.0, 3.0]);
    /// ```
    func: linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor,
    out: linalg_svdvals.out, variants: function, structured: SingularValues;
}
