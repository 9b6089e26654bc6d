//! Slices of a dimension that a vector of indices names, written: `index_add`, `index_copy`, `index_fill`,
//! `index_reduce`.

use super::sealed::Sealed;
use super::select::{slice_axes, slice_index};
use super::{
    Combine, IndexFn, IndexInputs, IndexPlan, IndexRange, IndexTensor, Indexed, Scatter, Transfer, Written,
    check_index, overlap,
};
use crate::table::native;
use monomorph_core::strides::{self, DimVec, wrap_dim};
use monomorph_core::structured::{Form, Operand, SinkState};
use monomorph_core::{DType, ErrorKind, Result, Scalar};

/// The tensor, the dimension, and the vector of indices in it.
struct Slices<'i> {
    sizes: &'i [i64],
    dim: usize,
    /// The number of indices.
    n: i64,
    index: IndexTensor,
}

impl<'i> Slices<'i> {
    fn of(inputs: &'i IndexInputs<'_>) -> Result<Slices<'i>> {
        let sizes = inputs.operands().first().map_or(&[][..], Operand::sizes);
        let dim = wrap_dim(inputs.int(0), sizes.len(), "dim")?;
        let (n, index) = slice_index("index", &inputs.operand(1), dim, sizes.len())?;
        Ok(Slices { sizes, dim, n, index: IndexTensor { operand: 1, ..index } })
    }

    /// True if the tensor has no element but what an index would choose.
    fn is_hollow(&self) -> bool {
        self.sizes.iter().enumerate().any(|(d, &size)| d != self.dim && size == 0)
    }

    /// The plan, with the indices where they are to be looked at.
    fn plan(self, sink: &SinkState<'_>, how: Scatter, serial: bool, looks: bool) -> IndexPlan {
        IndexPlan {
            transfer: Transfer::Scatter(how),
            axes: slice_axes(self.sizes, self.dim, if looks { self.n } else { 0 }).collect(),
            indices: looks.then_some(self.index).into_iter().collect(),
            fresh: sink.form() == Form::Functional,
            serial,
            flat: false,
        }
    }

    /// The checks of operators that accumulate: source has a slice for each index.
    fn check_accumulated(&self, inputs: &IndexInputs<'_>) -> Result<()> {
        check_index("index", &inputs.operand(1), true)?;
        inputs.check_dtype("source", 2)?;
        let (source, ndim) = (inputs.operand(2), self.sizes.len());
        let got = source.sizes().len();
        let length = match (source.sizes().get(self.dim), self.dim) {
            (Some(&length), _) => length,
            (None, 0) => 1,
            (None, _) => return Err(ErrorKind::DimCount { arg: "source", got, accepted: "as many as self has" }.into()),
        };
        if self.n != length {
            return Err(ErrorKind::ListLength { arg: "index", got: self.n as usize, want: length as usize }.into());
        }
        let whole = got == 0 || ndim == 0;
        let slice = |sizes: &[i64]| if whole { sizes.into() } else { without(sizes, self.dim) };
        same_slices(slice(source.sizes()), slice(self.sizes))
    }
}

/// The sizes without those of `dim`.
fn without(sizes: &[i64], dim: usize) -> DimVec {
    sizes.iter().enumerate().filter(|(d, _)| *d != dim).map(|(_, &size)| size).collect()
}

fn same_slices(got: DimVec, want: DimVec) -> Result<()> {
    if got == want {
        return Ok(());
    }
    Err(ErrorKind::UnequalSizes { arg: "source", got: got.to_vec(), want: want.to_vec() }.into())
}

/// `index_add`.
pub struct IndexAddFn;

impl Sealed for IndexAddFn {}

impl IndexFn for IndexAddFn {
    const NAME: &'static str = "index_add";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let slices = Slices::of(inputs)?;
        slices.check_accumulated(inputs)?;
        inputs.declare(sink, slices.sizes, None)?;
        let serial = overlap::check(inputs, sink, &[1, 2], &[0])?;
        let alpha = inputs.number().unwrap_or(Scalar::Int(1));
        alpha.check_fits(inputs.dtype(0)?, "alpha")?;
        let scale = (alpha.to_complex() != Scalar::Int(1).to_complex()).then_some(alpha);
        // What PyTorch does by way of `scatter_add` is rounded once, and else after each addition.
        let ndim = slices.sizes.len();
        let is_outermost = slices.dim == 0 || slices.dim.saturating_add(1) == ndim;
        let wide = ndim > 1 && is_outermost && scale.is_none() && inputs.operand(1).dtype() == Some(DType::I64);
        let how = Scatter { scale, wide, ..Scatter::of(Written::Input(2), Combine::Add) };
        // PyTorch does not look at indices where there is nothing to add to.
        let looks = slices.sizes.len() < 2 || !slices.sizes.contains(&0);
        Ok(slices.plan(sink, how, serial, looks))
    }
}

/// `index_copy`.
pub struct IndexCopyFn;

impl Sealed for IndexCopyFn {}

impl IndexFn for IndexCopyFn {
    const NAME: &'static str = "index_copy";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let slices = Slices::of(inputs)?;
        let (source, ndim) = (inputs.operand(2), slices.sizes.len());
        let got = source.sizes().len();
        if got != ndim && got != 0 && ndim != 0 {
            return Err(ErrorKind::DimCount { arg: "source", got, accepted: "as many as self has, or 0" }.into());
        }
        check_index("index", &inputs.operand(1), false)?;
        inputs.check_dtype("source", 2)?;
        same_slices(without(source.sizes(), slices.dim), without(slices.sizes, slices.dim))?;
        let length = source.sizes().get(slices.dim).copied().unwrap_or(1);
        if slices.n != length {
            return Err(ErrorKind::ListLength { arg: "index", got: slices.n as usize, want: length as usize }.into());
        }
        inputs.declare(sink, slices.sizes, None)?;
        let serial = overlap::check(inputs, sink, &[1, 2], &[0])?;
        let looks = !slices.is_hollow();
        Ok(slices.plan(sink, Scatter::of(Written::Input(2), Combine::Replace), serial, looks))
    }
}

/// `index_fill`.
pub struct IndexFillFn;

impl Sealed for IndexFillFn {}

impl IndexFn for IndexFillFn {
    const NAME: &'static str = "index_fill";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let slices = Slices::of(inputs)?;
        check_index("index", &inputs.operand(1), false)?;
        let values = filled(inputs, 2)?;
        let this = inputs.operand(0);
        let hint = this.geometry().map(|g| strides::preserve_strides(g.sizes(), g.strides()));
        inputs.declare(sink, slices.sizes, hint.as_deref())?;
        let serial = overlap::check_apart(inputs, sink, &[1], &[0])?;
        let looks = !slices.is_hollow();
        let index = IndexTensor { range: IndexRange::FromBothEnds, ..slices.index.clone() };
        let plan = Slices { index, ..slices }.plan(sink, Scatter::of(values, Combine::Replace), serial, looks);
        Ok(plan)
    }
}

/// What is written everywhere: the number, or the tensor without dimensions that is operand `i`.
fn filled(inputs: &IndexInputs<'_>, i: usize) -> Result<Written> {
    let (value, dtype) = (inputs.operand(i), inputs.dtype(0)?);
    let number = match value {
        Operand::Number(number) => Some(number.scalar()),
        _ => inputs.number(),
    };
    if let Some(number) = number {
        number.check_fits(dtype, "value")?;
        return Ok(Written::Number(number));
    }
    let got = value.sizes().len();
    if got != 0 {
        return Err(ErrorKind::DimCount { arg: "value", got, accepted: "0; take one element of it" }.into());
    }
    let from = inputs.dtype(i)?;
    if from.is_complex() && !dtype.is_complex() {
        return Err(ErrorKind::Cast { from, to: dtype }.into());
    }
    Ok(Written::Input(i))
}

/// `index_reduce`.
pub struct IndexReduceFn;

impl Sealed for IndexReduceFn {}

impl IndexFn for IndexReduceFn {
    const NAME: &'static str = "index_reduce";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let combine = match inputs.text() {
            "prod" => Combine::Multiply,
            "mean" => Combine::Mean,
            "amax" => Combine::Max,
            "amin" => Combine::Min,
            got => {
                let accepted = "prod, mean, amax and amin";
                return Err(ErrorKind::UnknownOption { arg: "reduce", got: got.into(), accepted }.into());
            }
        };
        let (slices, include_self) = (Slices::of(inputs)?, inputs.flag(0));
        slices.check_accumulated(inputs)?;
        inputs.declare(sink, slices.sizes, None)?;
        let serial = overlap::check(inputs, sink, &[1, 2], &[0])?;
        let got = inputs.dtype(0)?;
        let takes_all = include_self && slices.sizes.len() > 1;
        let is_taken = match got {
            DType::Bool => takes_all && combine != Combine::Mean,
            _ if got.is_complex() => takes_all && matches!(combine, Combine::Multiply | Combine::Mean),
            _ => true,
        };
        if !is_taken && slices.n > 0 {
            let (what, accepted) = ("self, reduced so, has dtype", "integers and floating dtypes");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        let how = Scatter { include_self, ..Scatter::of(Written::Input(2), combine) };
        Ok(slices.plan(sink, how, serial, true))
    }
}

native! {
    family: IndexedSlices;

    /// Adds slices: slice `i` of `source`, times `alpha`, to the slice of the dimension `dim` that index `i` names.
    ///
    /// Where an index is there twice, both slices are added. Indices are int32 or int64, from 0 on, and `source` has
    /// the dtype of the tensor. An index that the dimension does not have is an error, which leaves all as it was.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// let sum = x.index_add(0, &tensor![1i64, 1], &tensor![[10, 20], [30, 40]])?;
    /// assert_eq!(sum.to_vec::<i32>()?, [1, 2, 43, 64]);
    /// ```
    func: index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor,
    inplace: index_add_, out: index_add.out, variants: function, method, structured: Indexed<IndexAddFn>;

    /// Writes slices: slice `i` of `source` in place of the slice of the dimension `dim` that index `i` names.
    ///
    /// Where an index is there twice, the last slice stays. Indices are int64, from 0 on, and `source` has the dtype
    /// of the tensor. An index that the dimension does not have is an error, which leaves all as it was.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.index_copy(1, &tensor![0i64], &tensor![[7], [8]])?.to_vec::<i32>()?, [7, 2, 8, 4]);
    /// ```
    func: index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor,
    inplace: index_copy_, out: index_copy.out, variants: function, method, structured: Indexed<IndexCopyFn>;

    func: index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor,
    inplace: index_fill_.int_Scalar, autogen: index_fill.int_Scalar_out, structured: Indexed<IndexFillFn>;

    /// Writes a number to the slices of the dimension `dim` that a vector of indices names.
    ///
    /// The number may be a tensor without dimensions. Indices are int64; negative ones count from the end. An index
    /// that the dimension does not have is an error, which leaves all as it was.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.index_fill(0, &tensor![-1i64], 7)?.to_vec::<i32>()?, [1, 2, 7, 7]);
    /// ```
    func: index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor,
    inplace: index_fill_.int_Tensor, autogen: index_fill.int_Tensor_out, variants: function, method,
    structured: Indexed<IndexFillFn>;

    /// Combines slices: slice `i` of `source` with the slice of the dimension `dim` that index `i` names, by `prod`,
    /// `mean`, `amax` or `amin`.
    ///
    /// Without `include_self` elements that are written do not count as values themselves. Means of integers are
    /// rounded down. Indices are int32 or int64, from 0 on, and `source` has the dtype of the tensor. An index that
    /// the dimension does not have is an error, which leaves all as it was.
    ///
    /// ```
    /// let x = tensor![1.0f32, 2.0];
    /// let product = x.index_reduce(0, &tensor![1i64, 1], &tensor![3.0f32, 4.0], "prod")?;
    /// assert_eq!(product.to_vec::<f32>()?, [1.0, 24.0]);
    /// ```
    func: index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *,
        bool include_self=True) -> Tensor,
    inplace: index_reduce_, out: index_reduce.out, variants: function, method, structured: Indexed<IndexReduceFn>;
}
