//! What a call of an operator on matrices reads and writes, matrix after matrix.

use super::{Input, Kind, MatrixCall, Order, Output, Owner};
use monomorph_core::strides::{self, DimVec};
use monomorph_core::structured::Operand;
use monomorph_core::{DType, DeviceId, Options, Result, list};

/// The strides of matrices column by column, behind each other, as PyTorch counts them of empty ones.
fn by_columns(sizes: &[i64]) -> DimVec {
    let mut strides = strides::contiguous_strides(sizes);
    if let ([.., down, across], [.., rows, _]) = (&mut strides[..], sizes) {
        (*down, *across) = (1, (*rows).max(1));
    }
    strides
}

/// The strides of matrices in an order.
pub(super) fn strides_in(order: Order, sizes: &[i64]) -> DimVec {
    if order == Order::Columns { by_columns(sizes) } else { strides::contiguous_strides(sizes) }
}

impl MatrixCall<'_, '_, '_> {
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
        let matrix = match sizes[batch.len()..] {
            [rows, columns] => [rows as usize, columns as usize],
            _ => [size, 1],
        };
        self.plan.inputs.push(Input { strides, matrix, size, numbers, is_integer });
        Ok(())
    }

    /// Which matrix of an operand with these batch dimensions belongs to each of the call.
    fn numbers(&self, batch: &[i64]) -> Result<Vec<usize>> {
        let matrices = strides::numel(&self.batch)?;
        let own = strides::contiguous_strides(batch);
        let before = self.batch.len().saturating_sub(batch.len());
        let mut numbers = list::with_capacity(matrices)?;
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
        self.plan.inputs.push(Input {
            strides: DimVec::new(),
            matrix: [0; 2],
            size: 0,
            numbers: None,
            is_integer: false,
        });
    }

    fn options(&self, kind: Kind) -> Options {
        let device = self.operands.iter().find_map(Operand::tensor).map_or(DeviceId::CPU, |t| t.device());
        let dtype = match kind {
            Kind::Elements => self.dtype(),
            Kind::Complex => self.dtype().to_complex(),
            Kind::Reals => self.dtype().to_real(),
            Kind::Integers => DType::I32,
            Kind::Counts => DType::I64,
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
            run: None,
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
        self.plan.outputs.push(Output {
            kind: Kind::Integers,
            size: 1,
            run: None,
            turned: None,
            numbers: None,
            owner: Owner::Info,
        });
        Ok(())
    }

    /// The next output as the first rows of matrices of `height` rows, column by column: PyTorch solves in a copy of
    /// the right-hand sides. A vector is one column.
    pub(super) fn first_rows(&mut self, matrix: &[i64], height: i64) -> Result<()> {
        let (mut sizes, mut whole) = (self.batch.clone(), self.batch.clone());
        sizes.extend_from_slice(matrix);
        whole.push(height);
        whole.extend_from_slice(&matrix[1..]);
        let order = if matrix.len() == 2 { Order::Columns } else { Order::Rows };
        self.declare(Kind::Elements, &sizes, &strides_in(order, &whole), strides::numel(matrix)?, None)?;
        if let Some(output) = self.plan.outputs.last_mut() {
            output.run = Some([matrix[0] as usize, height as usize]);
        }
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
        self.plan.outputs.push(Output { kind, size, run: None, turned, numbers: None, owner: Owner::Caller });
        Ok(())
    }
}
