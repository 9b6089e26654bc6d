//! Groups of equal elements or rows: the unique family. Owns the operator that finds groups, whose outputs have room
//! for as many as there are elements, and the functions that cut them to the number that there is. That depends on
//! data, so on meta tensors these are errors, as in PyTorch.
#![deny(clippy::arithmetic_side_effects)]

use crate::copies::{clone_tensor, contiguous, reshape};
use crate::kernels::AllKernels;
use crate::order::check_overlap;
use crate::pointwise::{DomainSet, Ordered};
use crate::table::native;
use crate::{rearrange, view};
use monomorph_core::strides::wrap_dim;
use monomorph_core::structured::{FromArgs, Functional, Operand, SinkState, StructuredOp, call};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, MemoryFormat, Options, Result, Tensor, observe};

/// Which rows make a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grouping {
    /// Equal elements; groups in ascending order. Rows have one element.
    #[default]
    Sorted,
    /// Equal rows; groups in lexicographic order.
    SortedRows,
    /// Equal rows one after another.
    Consecutive,
}

/// The operator that finds groups of the rows of a matrix: the first row of each, the group of each row, the size of
/// each group, and their number. NaN is equal to nothing.
pub struct Groups;

/// The inputs of a call.
pub struct GroupInputs<'t> {
    operand: [Operand<'t>; 1],
    grouping: Grouping,
    wants: [bool; 2],
}

impl<'t> GroupInputs<'t> {
    /// The matrix.
    pub fn operand(&self) -> &Operand<'t> {
        &self.operand[0]
    }
}

type Grouped<'t> = (Operand<'t>, Grouping, bool, bool);

impl<'t> FromArgs<Grouped<'t>> for GroupInputs<'t> {
    fn from_args((operand, grouping, inverse, counts): Grouped<'t>) -> Result<Self> {
        Ok(GroupInputs { operand: [operand], grouping, wants: [inverse, counts] })
    }
}

/// What a device needs besides the operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GroupPlan {
    /// Which rows make a group.
    pub grouping: Grouping,
    /// Rows of the matrix.
    pub rows: usize,
    /// Elements of a row.
    pub columns: usize,
    /// An output may overwrite the input, so that is to be copied first.
    pub copies: bool,
}

impl StructuredOp for Groups {
    const NAME: &'static str = "unique";
    const OUTPUTS: usize = 4;
    type Inputs<'t> = GroupInputs<'t>;
    type Plan = GroupPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.operand
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let operand = inputs.operand();
        let &[rows, columns] = operand.sizes() else {
            let (arg, got) = ("self", operand.sizes().len());
            return Err(ErrorKind::DimCount { arg, got, accepted: "2" }.into());
        };
        let dtype = operand.dtype().unwrap_or(DType::F32);
        check_dtype(dtype)?;
        let device = operand.tensor().map_or(DeviceId::CPU, |t| t.device());
        let only_if = |wanted: bool| if wanted { rows } else { 0 };
        sink.set_output_contiguous(0, &[rows, columns], Options::new(dtype, device), None)?;
        for (i, size) in [(1, only_if(inputs.wants[0])), (2, only_if(inputs.wants[1])), (3, 1)] {
            sink.set_output_contiguous(i, &[size], Options::new(DType::I64, device), None)?;
        }
        let (_, copies) = check_overlap(&inputs.operand, sink, false)?;
        *plan = GroupPlan { grouping: inputs.grouping, rows: rows as usize, columns: columns as usize, copies };
        Ok(())
    }
}

fn check_dtype(got: DType) -> Result<()> {
    if Ordered::MASK.checked_shr(got as u32).is_some_and(|bits| bits & 1 == 1) {
        return Ok(());
    }
    let (what, accepted) = ("argument self has dtype", <Ordered as DomainSet>::WORDS);
    Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
}

type Three<D> = (Tensor<D>, Tensor<D>, Tensor<D>);

/// The groups of the rows of a contiguous matrix, as many as there are: of those one after another parts of longer
/// tensors, as in PyTorch, which resizes them.
fn groups<D: AllKernels>(matrix: &Tensor<D>, grouping: Grouping, inverse: bool, counts: bool) -> Result<Three<D>> {
    let inputs = GroupInputs::from_args((matrix.into(), grouping, inverse, counts))?;
    let [values, inverse, counts, number] = call::<Groups, D, _>(&inputs, Functional::default())?;
    let number = number.at::<i64>(0)?;
    let first = |t: Tensor<D>| match t.sizes().first() {
        Some(&size) if size > number => {
            let narrowed = t.with_geometry(view::narrow(t.geometry(), 0, 0, number)?)?;
            match grouping {
                Grouping::Consecutive => Ok(narrowed),
                _ => clone_tensor(&narrowed, Some(MemoryFormat::Contiguous)),
            }
        }
        _ => Ok(t),
    };
    Ok((first(values)?, inverse, first(counts)?))
}

/// The groups of the elements of a tensor, in row-major order.
fn flat<D: AllKernels>(this: &Tensor<D>, grouping: Grouping, inverse: bool, counts: bool) -> Result<Three<D>> {
    let n = this.numel() as i64;
    let matrix = contiguous(&reshape(this, &[n, 1])?, MemoryFormat::Contiguous)?;
    let (values, places, counts) = groups(&matrix, grouping, inverse, counts)?;
    let values = values.with_geometry(view::view(values.geometry(), &[values.numel() as i64])?)?;
    let places = match inverse {
        true => places.with_geometry(view::view(places.geometry(), this.sizes())?)?,
        false => places,
    };
    Ok((values, places, counts))
}

/// The groups of the slices of a tensor along a dimension.
fn along<D: AllKernels>(this: &Tensor<D>, dim: i64, grouping: Grouping) -> Result<Three<D>> {
    if this.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
    }
    let dim = wrap_dim(dim, this.ndim(), "dim")?;
    check_dtype(this.dtype())?;
    let rows = this.sizes()[dim];
    if this.sizes().iter().enumerate().any(|(d, &size)| size == 0 && d != dim) {
        let rule = "a dimension other than dim has size 0, so slices have no elements; accepted are sizes of 1 or more";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let moved = this.with_geometry(rearrange::movedim_int(this.geometry(), dim as i64, 0)?)?;
    let columns = moved.sizes().iter().skip(1).fold(1, |columns: i64, &size| columns.saturating_mul(size));
    let matrix = contiguous(&reshape(&moved, &[rows, columns])?, MemoryFormat::Contiguous)?;
    let (values, inverse, counts) = groups(&matrix, grouping, true, true)?;
    if rows == 0 {
        let empty = values.with_geometry(view::view(values.geometry(), this.sizes())?)?;
        return Ok((empty, inverse, counts));
    }
    let mut sizes = moved.sizes().to_vec();
    sizes.iter_mut().take(1).for_each(|size| *size = counts.numel() as i64);
    let shaped = view::view(values.geometry(), &sizes)?;
    let values = values.with_geometry(rearrange::movedim_int(&shaped, 0, dim as i64)?)?;
    Ok((values, inverse, counts))
}

/// `_unique`: each element once, in ascending order whatever `sorted` says, as in PyTorch on the CPU.
pub fn unique<D: AllKernels>(this: &Tensor<D>, _sorted: bool, inverse: bool) -> Result<(Tensor<D>, Tensor<D>)> {
    let _span = observe::operator("_unique", [this.geometry()]);
    let (values, inverse, _) = flat(this, Grouping::Sorted, inverse, false).map_err(|e: Error| e.of("_unique"))?;
    Ok((values, inverse))
}

/// `_unique2`: the same with the number of times that each is there.
pub fn unique2<D: AllKernels>(this: &Tensor<D>, _sorted: bool, inverse: bool, counts: bool) -> Result<Three<D>> {
    let _span = observe::operator("_unique2", [this.geometry()]);
    flat(this, Grouping::Sorted, inverse, counts).map_err(|e: Error| e.of("_unique2"))
}

/// `unique_dim`: each slice once, in lexicographic order.
pub fn unique_dim<D: AllKernels>(
    this: &Tensor<D>,
    dim: i64,
    _sorted: bool,
    _inverse: bool,
    _counts: bool,
) -> Result<Three<D>> {
    let _span = observe::operator("unique_dim", [this.geometry()]);
    along(this, dim, Grouping::SortedRows).map_err(|e: Error| e.of("unique_dim"))
}

/// `unique_consecutive`: of equal elements one after another the first, or of slices along a dimension.
pub fn unique_consecutive<D: AllKernels>(
    this: &Tensor<D>,
    inverse: bool,
    counts: bool,
    dim: Option<i64>,
) -> Result<Three<D>> {
    let _span = observe::operator("unique_consecutive", [this.geometry()]);
    let groups = match dim {
        Some(dim) if dim != 0 || this.ndim() != 1 => along(this, dim, Grouping::Consecutive),
        _ => flat(this, Grouping::Consecutive, inverse, counts),
    };
    groups.map_err(|e: Error| e.of("unique_consecutive"))
}

/// `unique_dim_consecutive`: of equal slices one after another the first.
pub fn unique_dim_consecutive<D: AllKernels>(
    this: &Tensor<D>,
    dim: i64,
    _inverse: bool,
    _counts: bool,
) -> Result<Three<D>> {
    let _span = observe::operator("unique_dim_consecutive", [this.geometry()]);
    along(this, dim, Grouping::Consecutive).map_err(|e: Error| e.of("unique_dim_consecutive"))
}

native! {
    family: Grouped, functions: crate::kernels::AllKernels;

    structured: Groups;

    func: _unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor),
    autogen: _unique.out, kernel: unique;

    /// Each element once, in ascending order, with what the options ask for.
    ///
    /// The second result is the place of each element among them with `return_inverse`, the third how often each is
    /// there with `return_counts`; without, they have no elements. NaN is equal to nothing. The elements of all
    /// dimensions count. Complex numbers are an error, and so are meta tensors.
    ///
    /// ```
    /// let all = Unique { return_inverse: true, return_counts: true, ..Default::default() };
    /// let (values, inverse, counts) = tensor![3, 1, 3].unique_with(all)?;
    /// assert_eq!(values.to_vec::<i32>()?, [1, 3]);
    /// assert_eq!(inverse.to_vec::<i64>()?, [1, 0, 1]);
    /// assert_eq!(counts.to_vec::<i64>()?, [1, 2]);
    /// ```
    func: _unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False)
        -> (Tensor, Tensor, Tensor),
    autogen: _unique2.out, variants: function, name: unique, kernel: unique2;

    /// Each slice along the dimension `dim` once, in lexicographic order.
    ///
    /// The second result is the place of each slice among them, the third how often each is there. NaN is equal to
    /// nothing. Complex numbers are an error, and so are meta tensors.
    ///
    /// ```
    /// let (rows, inverse, counts) = tensor![[3, 4], [1, 2], [3, 4]].unique_dim(0)?;
    /// assert_eq!(rows.to_vec::<i32>()?, [1, 2, 3, 4]);
    /// assert_eq!(inverse.to_vec::<i64>()?, [1, 0, 1]);
    /// assert_eq!(counts.to_vec::<i64>()?, [1, 2]);
    /// ```
    func: unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False)
        -> (Tensor, Tensor, Tensor),
    autogen: unique_dim.out, variants: function, kernel: unique_dim;

    /// Of equal elements one after another the first.
    ///
    /// The second result is the place of each element among them with `return_inverse`, the third how many each stands
    /// for with `return_counts`; without, they have no elements. The option `dim` compares slices along a dimension.
    /// NaN is equal to nothing. Complex numbers are an error, and so are meta tensors.
    ///
    /// ```
    /// let (values, _, _) = tensor![1, 1, 2, 1].unique_consecutive()?;
    /// assert_eq!(values.to_vec::<i32>()?, [1, 2, 1]);
    /// ```
    func: unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None)
        -> (Tensor, Tensor, Tensor),
    autogen: unique_consecutive.out, variants: function, kernel: unique_consecutive;

    /// Of equal slices along the dimension `dim` one after another the first.
    ///
    /// The second result is the place of each slice among them, the third how many each stands for. NaN is equal to
    /// nothing. Complex numbers are an error, and so are meta tensors.
    ///
    /// ```
    /// let (rows, _, counts) = tensor![[1, 2], [1, 2], [3, 4]].unique_dim_consecutive(0)?;
    /// assert_eq!(rows.to_vec::<i32>()?, [1, 2, 3, 4]);
    /// assert_eq!(counts.to_vec::<i64>()?, [2, 1]);
    /// ```
    func: unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False)
        -> (Tensor, Tensor, Tensor),
    autogen: unique_dim_consecutive.out, variants: function, kernel: unique_dim_consecutive;
}
