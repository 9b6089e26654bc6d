//! Coordinates of the elements that are not 0: `nonzero` and what follows from it. The number of rows is found by a
//! sum first; then one pass over the mask writes the coordinates.

use super::overlap;
use crate::copies::reshape;
use crate::functions::{ne, select, sum};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::strides::DimVec;
use monomorph_core::structured::{Functional, Operand, Out, OutputSink, SinkState, StructuredOp, call};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, Options, Result, Tensor, list, observe};

/// The arguments of a call.
pub struct CoordinatesInputs<'t> {
    /// The mask, and tensors that an output must not share memory with.
    operands: [Operand<'t>; 2],
    rows: i64,
    fill: i64,
    by_column: bool,
}

/// What a device needs besides operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CoordinatesPlan {
    /// What rows hold for which there is no element.
    pub fill: i64,
}

/// The coordinates of the true elements of a mask in row-major order, one in each row of an int64 matrix: as many as
/// the matrix has rows.
pub struct Coordinates;

impl StructuredOp for Coordinates {
    const NAME: &'static str = "nonzero";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = CoordinatesInputs<'t>;
    type Plan = CoordinatesPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operands
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let mask = &inputs.operands[0];
        match mask.dtype() {
            Some(DType::Bool) => {}
            got => {
                let (what, got) = ("the mask has dtype", got.unwrap_or(DType::F32));
                return Err(ErrorKind::DTypeNotSupported { what, got, accepted: "bool" }.into());
            }
        }
        let (rows, columns) = (inputs.rows, mask.sizes().len() as i64);
        let strides = [1, rows];
        let device = mask.tensor().map_or(DeviceId::CPU, |t| t.device());
        let hint = inputs.by_column.then_some(&strides[..]);
        sink.set_output_raw_strided(0, &[rows, columns], hint, Options::new(DType::I64, device), None)?;
        overlap::check_operands(&inputs.operands, sink, &[0, 1], &[])?;
        *plan = CoordinatesPlan { fill: inputs.fill };
        Ok(())
    }
}

/// Where an element is not 0.
fn truth<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    if this.dtype() == DType::Bool { Ok(this.clone()) } else { ne(this, 0) }
}

/// The coordinates of all true elements of `mask`, which is `this` or made of it.
fn coordinates<'a, D: AllKernels, S: OutputSink<'a, D>>(
    this: &'a Tensor<D>,
    mask: &'a Tensor<D>,
    sink: S,
) -> Result<S::Output<Coordinates>> {
    let rows = sum(mask, ..)?.item()?.to_i64();
    let operands = [Operand::from(mask), Operand::from(this)];
    call::<Coordinates, D, S>(&CoordinatesInputs { operands, rows, fill: 0, by_column: true }, sink)
}

/// `nonzero`.
pub fn nonzero<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("nonzero", [this.geometry()]);
    let make = || {
        let [found] = coordinates(this, &truth(this)?, Functional::default())?;
        Ok(found)
    };
    make().map_err(|e: Error| e.of("nonzero"))
}

/// `nonzero.out`.
pub fn nonzero_out<'a, D: AllKernels>(this: &Tensor<D>, out: &'a mut Tensor<D>) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("nonzero", [this.geometry(), out.geometry()]);
    let mut make = || {
        coordinates(this, &truth(this)?, Out([&mut *out]))?;
        Ok(())
    };
    make().map_err(|e: Error| e.of("nonzero"))?;
    Ok(out)
}

/// The row-major places of the true elements of a mask.
pub(super) fn places<D: AllKernels>(mask: &Tensor<D>) -> Result<Tensor<D>> {
    let flat = reshape(mask, &[-1])?;
    let [found] = coordinates(&flat, &flat, Functional::default())?;
    select(&found, 1, 0)
}

fn found_static<'a, D: AllKernels, S: OutputSink<'a, D>>(
    this: &'a Tensor<D>,
    mask: &'a Tensor<D>,
    (rows, fill): (i64, i64),
    sink: S,
) -> Result<S::Output<Coordinates>> {
    if rows < 0 {
        return Err(ErrorKind::OutOfRange { arg: "size", got: rows, low: 0, high: i64::MAX }.into());
    }
    let operands = [Operand::from(mask), Operand::from(this)];
    call::<Coordinates, D, S>(&CoordinatesInputs { operands, rows, fill, by_column: false }, sink)
}

/// `nonzero_static`: so many rows, whatever the data; what is missing is filled.
pub fn nonzero_static<D: AllKernels>(this: &Tensor<D>, size: i64, fill_value: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("nonzero_static", [this.geometry()]);
    let make = || {
        let [found] = found_static(this, &truth(this)?, (size, fill_value), Functional::default())?;
        Ok(found)
    };
    make().map_err(|e: Error| e.called("nonzero_static"))
}

/// `nonzero_static.out`.
pub fn nonzero_static_out<'a, D: AllKernels>(
    this: &Tensor<D>,
    size: i64,
    fill_value: i64,
    out: &'a mut Tensor<D>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("nonzero_static", [this.geometry(), out.geometry()]);
    let mut make = || {
        found_static(this, &truth(this)?, (size, fill_value), Out([&mut *out]))?;
        Ok(())
    };
    make().map_err(|e: Error| e.called("nonzero_static"))?;
    Ok(out)
}

/// `nonzero_numpy`: the columns of `nonzero`; a tensor without dimensions counts as a vector.
pub fn nonzero_numpy<D: AllKernels>(this: &Tensor<D>) -> Result<Vec<Tensor<D>>> {
    let _span = observe::operator("nonzero_numpy", [this.geometry()]);
    let make = || {
        let found = if this.ndim() == 0 { nonzero(&reshape(this, &[1])?)? } else { nonzero(this)? };
        let columns: DimVec = (0..found.sizes()[1]).collect();
        let mut parts = list::with_capacity(columns.len())?;
        for d in columns {
            parts.push(select(&found, 1, d)?);
        }
        Ok(parts)
    };
    make().map_err(|e: Error| e.called("nonzero_numpy"))
}

/// `argwhere`: another name of `nonzero`.
pub fn argwhere<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("argwhere", [this.geometry()]);
    nonzero(this).map_err(|e| e.called("argwhere"))
}

native! {
    family: CoordinatesOf, functions: crate::kernels::AllKernels;

    structured: Coordinates;

    /// The coordinates of the elements that are not 0, one in each row, in row-major order.
    ///
    /// The result is an int64 matrix with a column for each dimension. NaN is not 0. How many rows there are depends
    /// on the data, so a meta tensor is an error.
    ///
    /// ```
    /// let x = tensor![[0, 7], [8, 9]];
    /// assert_eq!(x.nonzero()?.to_vec::<i64>()?, [0, 1, 1, 0, 1, 1]);
    /// ```
    func: nonzero(Tensor self) -> Tensor, variants: function, method, kernel: nonzero;

    func: nonzero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!), variants: function, kernel: nonzero_out;

    /// The first `size` rows of [`nonzero`](super::functions::nonzero); where there are not as many, rows of
    /// `fill_value`, which is -1.
    ///
    /// The sizes of the result depend on no data, so it is there on meta tensors, too.
    ///
    /// ```
    /// let x = tensor![0, 7, 8];
    /// assert_eq!(x.nonzero_static(3)?.to_vec::<i64>()?, [1, 2, -1]);
    /// ```
    func: nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor,
    variants: function, method, kernel: nonzero_static;

    func: nonzero_static.out(Tensor self, *, SymInt size, int fill_value=-1, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: nonzero_static_out;

    /// The columns of [`nonzero`](super::functions::nonzero), one int64 vector for each dimension.
    ///
    /// A tensor without dimensions counts as one of one element.
    ///
    /// ```
    /// let at = tensor![[0, 7], [8, 0]].nonzero_numpy()?;
    /// assert_eq!(at[0].to_vec::<i64>()?, [0, 1]);
    /// assert_eq!(at[1].to_vec::<i64>()?, [1, 0]);
    /// ```
    func: nonzero_numpy(Tensor self) -> Tensor[], variants: function, method, kernel: nonzero_numpy;

    /// Another name of [`nonzero`](super::functions::nonzero).
    ///
    /// ```
    /// assert_eq!(tensor![0, 7, 8].argwhere()?.to_vec::<i64>()?, [1, 2]);
    /// ```
    func: argwhere(Tensor self) -> Tensor, variants: function, method, kernel: argwhere;
}
