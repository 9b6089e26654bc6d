//! A call of an operator on matrices while it is checked: sizes of its operands, batches that broadcast, outputs.

use super::{Input, Kind, MatrixPlan, Order, Output, Owner};
use crate::order::check_overlap;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, Geometry, Options, Result};

/// A call that is being checked.
pub struct MatrixCall<'a, 's, 't> {
    operands: &'a [Operand<'t>],
    sink: &'a mut SinkState<'s>,
    batch: DimVec,
    plan: MatrixPlan<()>,
}

pub(super) fn rule(rule: &'static str) -> Error {
    ErrorKind::ArgumentRule { rule }.into()
}

/// An error for a tensor of these sizes, which should have others.
pub(super) fn sizes_differ(arg: &'static str, got: &[i64], want: &[i64]) -> Error {
    ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() }.into()
}

/// The strides of matrices column by column, behind each other, as PyTorch counts them of empty ones.
fn by_columns(sizes: &[i64]) -> DimVec {
    let mut strides = strides::contiguous_strides(sizes);
    if let ([.., down, across], [.., rows, _]) = (&mut strides[..], sizes) {
        (*down, *across) = (1, (*rows).max(1));
    }
    strides
}

/// The strides of matrices in an order.
fn strides_in(order: Order, sizes: &[i64]) -> DimVec {
    if order == Order::Columns { by_columns(sizes) } else { strides::contiguous_strides(sizes) }
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
        let strides = by_columns(g.sizes());
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

    /// Rows and columns of the matrix, and columns of right-hand sides.
    pub(super) fn set_sizes(&mut self, sizes: [i64; 3]) {
        self.plan.sizes = sizes.map(|size| size as usize);
    }

    /// Declares the next input, whose last `matrix_dims` dimensions are one matrix.
    pub(super) fn input(&mut self, matrix_dims: usize, order: Order) -> Result<()> {
        let operand = self.plan.inputs.len();
        let sizes = self.sizes(operand);
        let batch = self.batch_of(operand, matrix_dims);
        let size = strides::numel(&sizes[batch.len()..])?;
        let numbers = if batch == &self.batch[..] { None } else { Some(self.numbers(batch)?) };
        let is_integer = self.operands[operand].dtype() == Some(DType::I32);
        let order = if matrix_dims == 2 { order } else { Order::Rows };
        let strides = strides_in(order, sizes);
        self.plan.inputs.push(Input { strides, size, numbers, is_integer });
        Ok(())
    }

    /// Which matrix of an operand with these batch dimensions belongs to each of the call.
    fn numbers(&self, batch: &[i64]) -> Result<Vec<usize>> {
        let matrices = strides::numel(&self.batch)?;
        let own = strides::contiguous_strides(batch);
        let before = self.batch.len().saturating_sub(batch.len());
        let mut numbers = monomorph_core::list::with_capacity(matrices)?;
        for matrix in 0..matrices as i64 {
            let (mut rest, mut number) = (matrix, 0_i64);
            for (dim, &size) in self.batch.iter().enumerate().rev() {
                let at = rest.checked_rem(size).unwrap_or(0);
                rest = rest.checked_div(size).unwrap_or(0);
                if dim >= before && batch[dim.saturating_sub(before)] != 1 {
                    number = number.saturating_add(at.saturating_mul(own[dim.saturating_sub(before)]));
                }
            }
            numbers.push(number as usize);
        }
        Ok(numbers)
    }

    /// Declares the next input as one that the device does not read.
    pub(super) fn unread(&mut self) {
        self.plan.inputs.push(Input { strides: DimVec::new(), size: 0, numbers: None, is_integer: false });
    }

    fn options(&self, kind: Kind) -> Options {
        let device = self.operands.iter().find_map(Operand::tensor).map_or(DeviceId::CPU, |t| t.device());
        let dtype = match kind {
            Kind::Elements => self.dtype(),
            Kind::Complex => self.dtype().to_complex(),
            Kind::Reals => self.dtype().to_real(),
            Kind::Integers => DType::I32,
        };
        Options::new(dtype, device)
    }

    /// Declares the next output, of these sizes behind those of the batch.
    pub(super) fn output(&mut self, kind: Kind, matrix: &[i64], order: Order) -> Result<()> {
        let mut sizes = self.batch.clone();
        sizes.extend_from_slice(matrix);
        // What has one dimension has one order.
        let order = if matrix.len() == 2 { order } else { Order::Rows };
        self.declare(kind, &sizes, &strides_in(order, &sizes), strides::numel(matrix)?, None)
    }

    /// The same of a matrix that is computed in one order and lies in the other.
    pub(super) fn turned(&mut self, matrix: [i64; 2], order: Order) -> Result<()> {
        let [rows, columns] = matrix;
        let mut sizes = self.batch.clone();
        sizes.extend_from_slice(&matrix);
        // Row by row is the transposed matrix column by column.
        let turned = if order == Order::Rows { [rows, columns] } else { [columns, rows] };
        let strides = strides_in(order, &sizes);
        self.declare(Kind::Elements, &sizes, &strides, strides::numel(&matrix)?, Some(turned))
    }

    /// The same of vectors, whose strides PyTorch takes for those of matrices that have them as rows.
    pub(super) fn vectors(&mut self, size: i64) -> Result<()> {
        let mut sizes = self.batch.clone();
        sizes.push(size);
        let turned = self.batch.last().map(|&count| [size, count]);
        self.declare(Kind::Elements, &sizes, &by_columns(&sizes), size as usize, turned)
    }

    /// The same of one that comes from operand `operand` alone, an input already: it has its matrices.
    pub(super) fn own_output(&mut self, operand: usize, is_there: bool, kind: Kind, matrix: &[i64]) -> Result<()> {
        if !is_there {
            return self.hidden(kind, matrix);
        }
        let own = self.batch_of(operand, 2).into();
        let batch = std::mem::replace(&mut self.batch, own);
        self.output(kind, matrix, Order::Columns)?;
        self.batch = batch;
        let numbers = self.plan.inputs[operand].numbers.clone();
        if let Some(output) = self.plan.outputs.last_mut() {
            output.numbers = numbers;
        }
        Ok(())
    }

    /// Numbers that the device works with in place of a further output.
    pub(super) fn hidden(&mut self, kind: Kind, matrix: &[i64]) -> Result<()> {
        self.plan.outputs.push(Output {
            kind,
            size: strides::numel(matrix)?,
            turned: None,
            numbers: None,
            owner: Owner::Device,
        });
        Ok(())
    }

    /// The next output if it is there, else as many numbers to work with.
    pub(super) fn output_or_hidden(&mut self, is_there: bool, kind: Kind, matrix: &[i64]) -> Result<()> {
        if is_there { self.output(kind, matrix, Order::Columns) } else { self.hidden(kind, matrix) }
    }

    /// The number of the row where each matrix failed, as the next output if it is there.
    pub(super) fn info(&mut self, is_there: bool) -> Result<()> {
        if is_there {
            return self.output(Kind::Integers, &[], Order::Columns);
        }
        let output = Output { kind: Kind::Integers, size: 1, turned: None, numbers: None, owner: Owner::Info };
        self.plan.outputs.push(output);
        Ok(())
    }

    /// The same of an output that was not asked for.
    pub(super) fn nothing(&mut self, kind: Kind) -> Result<()> {
        self.declare(kind, &[0], &[1], 0, None)
    }

    fn declare(
        &mut self,
        kind: Kind,
        sizes: &[i64],
        strides: &[i64],
        size: usize,
        turned: Option<[i64; 2]>,
    ) -> Result<()> {
        let turned = turned.map(|sizes| sizes.map(|size| size as usize));
        let i = self.plan.outputs.iter().filter(|output| output.owner == Owner::Caller).count();
        self.sink.set_output_strided(i, sizes, strides, self.options(kind), None)?;
        self.plan.outputs.push(Output { kind, size, turned, numbers: None, owner: Owner::Caller });
        Ok(())
    }
}
