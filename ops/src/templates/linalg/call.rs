//! A call of an operator on matrices while it is checked: sizes and dtypes of its operands, batches that broadcast. Its
//! inputs and outputs are declared in `declared.rs`.

use super::declared::strides_in;
use super::{MatrixPlan, Order};
use crate::order::check_overlap;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{DType, Error, ErrorKind, Geometry, Result};

/// The name of a tensor, and the beginning of what is said of its dtype.
pub(super) type Name = (&'static str, &'static str);

pub(super) const OF_A: Name = ("A", "argument A has dtype");
pub(super) const OF_B: Name = ("B", "argument B has dtype");
pub(super) const OF_SELF: Name = ("self", "argument self has dtype");

/// A call that is being checked.
pub struct MatrixCall<'a, 's, 't> {
    pub(super) operands: &'a [Operand<'t>],
    pub(super) sink: &'a mut SinkState<'s>,
    pub(super) batch: DimVec,
    pub(super) plan: MatrixPlan<()>,
}

/// An error for a tensor of these sizes, which should have others.
pub(super) fn sizes_differ(arg: &'static str, got: &[i64], want: &[i64]) -> Error {
    ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() }.into()
}

impl<'a, 's, 't> MatrixCall<'a, 's, 't> {
    pub(super) fn new(operands: &'a [Operand<'t>], sink: &'a mut SinkState<'s>) -> Self {
        MatrixCall { operands, sink, batch: DimVec::new(), plan: MatrixPlan::default() }
    }

    /// The plan of a call that was declared.
    pub(super) fn plan(self) -> Result<MatrixPlan<()>> {
        let MatrixCall { operands, sink, batch, mut plan } = self;
        plan.matrices = strides::numel(&batch)?;
        (_, plan.copies) = check_overlap(operands, sink, false)?;
        Ok(plan)
    }

    /// The sizes of an operand.
    pub(super) fn sizes(&self, operand: usize) -> &'a [i64] {
        self.operands[operand].sizes()
    }

    /// The dtype of the matrices: that of the first operand.
    pub(super) fn dtype(&self) -> DType {
        self.operands[0].dtype().unwrap_or(DType::F32)
    }

    /// Whether an operand lies row by row.
    pub(super) fn is_contiguous(&self, operand: usize) -> bool {
        self.operands[operand].geometry().is_none_or(Geometry::is_contiguous)
    }

    /// Whether an operand has a matrix for each of the call, column by column and to be conjugated.
    pub(super) fn is_conj_by_columns(&self, operand: usize) -> bool {
        let Some(g) = self.operands[operand].geometry().filter(|g| g.is_conj()) else { return false };
        let strides = strides_in(Order::Columns, g.sizes());
        let mut dims = g.sizes().iter().zip(g.strides().iter().zip(&strides));
        self.batch_of(operand, 2) == &self.batch[..] && dims.all(|(&size, (got, want))| size == 1 || got == want)
    }

    /// Whether the outputs have memory.
    pub(super) fn has_memory(&self) -> bool {
        !self.sink.is_meta()
    }

    /// The rows and columns of an operand.
    pub(super) fn matrix(&self, operand: usize, arg: &'static str) -> Result<[i64; 2]> {
        match *self.sizes(operand) {
            [.., rows, columns] => Ok([rows, columns]),
            ref other => Err(ErrorKind::DimCount { arg, got: other.len(), accepted: "2 or more" }.into()),
        }
    }

    /// The rows of an operand, which has as many columns.
    pub(super) fn square(&self, operand: usize, arg: &'static str) -> Result<i64> {
        let [rows, columns] = self.matrix(operand, arg)?;
        if rows == columns {
            return Ok(rows);
        }
        let want: Vec<i64> = self.batch_of(operand, 1).iter().copied().chain([rows]).collect();
        Err(sizes_differ(arg, self.sizes(operand), &want))
    }

    /// The dimensions before the matrices of an operand.
    pub(super) fn batch_of(&self, operand: usize, matrix_dims: usize) -> &'a [i64] {
        let sizes = self.sizes(operand);
        &sizes[..sizes.len().saturating_sub(matrix_dims)]
    }

    /// Checks that the operands are of one dtype, that of the first, which is floating or complex.
    ///
    /// Of halves no values are computed, as in PyTorch. `arguments` say which operands those are: "argument A has
    /// dtype".
    pub(super) fn check_dtypes(&self, arguments: &[(usize, &'static str)]) -> Result<()> {
        for &(operand, what) in arguments {
            let computes = self.has_memory() && !self.sizes(operand).contains(&0);
            let Some(got @ (DType::F16 | DType::BF16)) = self.operands[operand].dtype().filter(|_| computes) else {
                continue;
            };
            let accepted = "float32, float64, complex64 and complex128";
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        self.check_numbers(arguments)
    }

    /// The same with halves.
    pub(super) fn check_numbers(&self, arguments: &[(usize, &'static str)]) -> Result<()> {
        let want = self.dtype();
        for &(operand, what) in arguments {
            let Some(got) = self.operands[operand].dtype() else { continue };
            if got.is_integral(true) {
                return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "floating and complex dtypes" }.into());
            }
            if got != want {
                return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "that of the other matrices" }.into());
            }
        }
        Ok(())
    }

    /// Refuses halves even where no values are computed.
    pub(super) fn check_wide(&self, what: &'static str) -> Result<()> {
        let (got, accepted) = (self.dtype(), "float32, float64, complex64 and complex128");
        match got {
            DType::F16 | DType::BF16 => Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into()),
            _ => Ok(()),
        }
    }

    /// Checks that an operand is of int32.
    pub(super) fn check_integers(&self, operand: usize, what: &'static str) -> Result<()> {
        match self.operands[operand].dtype() {
            Some(got) if got != DType::I32 => Err(ErrorKind::DTypeNotSupported { what, got, accepted: "int32" }.into()),
            _ => Ok(()),
        }
    }

    /// What the dimensions before the matrices of operands broadcast to, of which each has so many at its end.
    pub(super) fn broadcast(&mut self, operands: &[(usize, usize)]) -> Result<()> {
        let mut batch = DimVec::new();
        for &(operand, matrix_dims) in operands {
            batch = strides::broadcast_sizes(&batch, self.batch_of(operand, matrix_dims))?;
        }
        self.batch = batch;
        Ok(())
    }

    /// What a call with one operand has in common: a matrix of numbers. Returns its rows and columns.
    pub(super) fn one(&mut self, name: Name) -> Result<[i64; 2]> {
        let sizes = self.matrix(0, name.0)?;
        self.check_dtypes(&[(0, name.1)])?;
        self.broadcast(&[(0, 2)])?;
        Ok(sizes)
    }

    /// The same of a square matrix. Returns its rows.
    pub(super) fn one_square(&mut self, name: Name) -> Result<i64> {
        let size = self.square(0, name.0)?;
        self.one(name)?;
        Ok(size)
    }

    /// What a call with a square matrix and right-hand sides has in common: A X = B or, if not `left`, X A = B. Returns
    /// the rows and columns of the latter.
    pub(super) fn system(&mut self, a: (usize, Name), b: (usize, Name), left: bool) -> Result<[i64; 2]> {
        let ((a, a_name), (b, b_name)) = (a, b);
        let size = self.square(a, a_name.0)?;
        self.check_dtypes(&[(a, a_name.1), (b, b_name.1)])?;
        let [rows, columns] = self.right_hand_sides(b, b_name.0, size, left)?;
        self.broadcast(&[(a, 2), (b, 2)])?;
        self.set_sizes([size, size, if left { columns } else { rows }]);
        Ok([rows, columns])
    }

    /// The sizes of right-hand sides as matrices, which fit the rows of A or, from the right, the columns.
    pub(super) fn right_hand_sides(
        &self,
        operand: usize,
        arg: &'static str,
        size: i64,
        left: bool,
    ) -> Result<[i64; 2]> {
        let [rows, columns] = self.matrix(operand, arg)?;
        if size == if left { rows } else { columns } {
            return Ok([rows, columns]);
        }
        let mut want = self.sizes(operand).to_vec();
        if let [.., rows, columns] = &mut want[..] {
            *(if left { rows } else { columns }) = size;
        }
        Err(sizes_differ(arg, self.sizes(operand), &want))
    }
}
