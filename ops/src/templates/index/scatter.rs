//! Elements written to the places that a tensor of indices names: `scatter`, `scatter_add`, `scatter_reduce`, `put`.

use super::sealed::Sealed;
use super::select::{at_least_1d, fits_within, indexed};
use super::{
    Axis, Combine, IndexFn, IndexInputs, IndexPlan, IndexRange, IndexTensor, Indexed, Indexes, Scatter, Transfer,
    Written, along, check_index, overlap,
};
use crate::table::native;
use monomorph_core::strides::{self, wrap_dim};
use monomorph_core::structured::{Form, Operand, SinkState};
use monomorph_core::{DType, ErrorKind, Result};

/// The number that is written, or the tensor that is operand 2.
fn written(inputs: &IndexInputs<'_>) -> Result<Written> {
    let number = match inputs.operand(2) {
        Operand::Number(number) => Some(number.scalar()),
        _ => inputs.number(),
    };
    let Some(number) = number else {
        inputs.check_dtype("src", 2)?;
        return Ok(Written::Input(2));
    };
    number.check_fits(inputs.dtype(0)?, "value")?;
    Ok(Written::Number(number))
}

/// The plan of a scatter by an index that steps with the values, in the other dimensions also with the base.
fn scattered(
    inputs: &IndexInputs<'_>,
    sink: &mut SinkState<'_>,
    combine: Combine,
    include_self: bool,
) -> Result<IndexPlan> {
    let (this, index) = (inputs.operand(0), inputs.operand(1));
    let (sizes, ndim) = (index.sizes(), this.sizes().len());
    let dim = wrap_dim(inputs.int(0), ndim, "dim")?;
    let values = written(inputs)?;
    // PyTorch asks nothing of an index without elements.
    let looks = !sizes.contains(&0);
    if looks {
        check_index("index", &index, true)?;
        fits_within("index", sizes, this.sizes(), dim)?;
        if let Written::Input(i) = values {
            covers(sizes, inputs.operand(i).sizes())?;
        }
    }
    inputs.declare(sink, this.sizes(), None)?;
    let serial = overlap::check(inputs, sink, &[1, 2], &[0])?;
    let axes = sizes.iter().enumerate().map(|(d, &size)| Axis {
        size,
        base: if d == dim || ndim == 0 { None } else { along(d) },
        values: along(d),
    });
    let dims = (0..sizes.len()).map(Some).collect();
    let index = IndexTensor { operand: 1, arg: "index", dims, of: indexed(dim, ndim), range: IndexRange::FromStart };
    Ok(IndexPlan {
        transfer: Transfer::Scatter(Scatter {
            include_self,
            wide: combine != Combine::Replace,
            ..Scatter::of(values, combine)
        }),
        axes: axes.collect(),
        indices: looks.then_some(index).into_iter().collect(),
        fresh: sink.form() == Form::Functional,
        serial,
        flat: false,
    })
}

/// Checks that there is a value for each index.
fn covers(index: &[i64], src: &[i64]) -> Result<()> {
    let (index, src) = (at_least_1d(index), at_least_1d(src));
    if src.len() != index.len() {
        return Err(ErrorKind::DimCount { arg: "src", got: src.len(), accepted: "as many as index has" }.into());
    }
    match index.iter().zip(src).find(|(want, got)| want > got) {
        None => Ok(()),
        Some((&low, &got)) => Err(ErrorKind::OutOfRange { arg: "src", got, low, high: i64::MAX }.into()),
    }
}

/// `scatter`, with an option `reduce` or without.
pub struct ScatterFn;

impl Sealed for ScatterFn {}

impl IndexFn for ScatterFn {
    const NAME: &'static str = "scatter";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        scattered(inputs, sink, Combine::Replace, true)
    }
}

/// `scatter.reduce` and `scatter.value_reduce`.
pub struct ScatterCombinedFn;

impl Sealed for ScatterCombinedFn {}

impl IndexFn for ScatterCombinedFn {
    const NAME: &'static str = "scatter";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let combine = match inputs.text() {
            "add" => Combine::Add,
            "multiply" => Combine::Multiply,
            got => {
                let (arg, accepted) = ("reduce", "add and multiply");
                return Err(ErrorKind::UnknownOption { arg, got: got.into(), accepted }.into());
            }
        };
        scattered(inputs, sink, combine, true)
    }
}

/// `scatter_add`.
pub struct ScatterAddFn;

impl Sealed for ScatterAddFn {}

impl IndexFn for ScatterAddFn {
    const NAME: &'static str = "scatter_add";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        scattered(inputs, sink, Combine::Add, true)
    }
}

/// `scatter_reduce`.
pub struct ScatterReduceFn;

impl Sealed for ScatterReduceFn {}

impl IndexFn for ScatterReduceFn {
    const NAME: &'static str = "scatter_reduce";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let combine = match inputs.text() {
            "sum" => Combine::Add,
            "prod" => Combine::Multiply,
            "mean" => Combine::Mean,
            "amax" => Combine::Max,
            "amin" => Combine::Min,
            got => {
                let accepted = "sum, prod, mean, amax and amin";
                return Err(ErrorKind::UnknownOption { arg: "reduce", got: got.into(), accepted }.into());
            }
        };
        let plan = scattered(inputs, sink, combine, inputs.flag(0))?;
        let got = inputs.dtype(0)?;
        let accepted = match combine {
            Combine::Mean if got == DType::Bool => "all but bool",
            Combine::Max | Combine::Min if got.is_complex() => "all but complex ones",
            _ => return Ok(plan),
        };
        if plan.is_empty() {
            return Ok(plan);
        }
        Err(ErrorKind::DTypeNotSupported { what: "self, reduced so, has dtype", got, accepted }.into())
    }
}

/// `put`.
pub struct PutFn;

impl Sealed for PutFn {}

impl IndexFn for PutFn {
    const NAME: &'static str = "put";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let (this, index, source) = (inputs.operand(0), inputs.operand(1), inputs.operand(2));
        check_index("index", &index, false)?;
        inputs.check_dtype("source", 2)?;
        let (got, want) = (strides::numel(source.sizes())?, strides::numel(index.sizes())?);
        if got != want {
            return Err(ErrorKind::ListLength { arg: "source", got, want }.into());
        }
        let hint = this.geometry().map(|g| strides::preserve_strides(g.sizes(), g.strides()));
        inputs.declare(sink, this.sizes(), hint.as_deref())?;
        let serial = overlap::check(inputs, sink, &[1, 2], &[0])?;
        let combine = if inputs.flag(0) { Combine::Add } else { Combine::Replace };
        let dims = [(!index.sizes().is_empty()).then_some(0)].into_iter().collect();
        let index =
            IndexTensor { operand: 1, arg: "index", dims, of: Indexes::Elements, range: IndexRange::FromBothEnds };
        Ok(IndexPlan {
            transfer: Transfer::Scatter(Scatter::of(Written::Input(2), combine)),
            axes: [Axis { size: want as i64, base: None, values: along(0) }].into_iter().collect(),
            indices: [index].into_iter().collect(),
            fresh: sink.form() == Form::Functional,
            serial,
            flat: true,
        })
    }
}

native! {
    family: Scatters;

    /// Writes elements: that of `src` at the place of an index to the place in the dimension `dim` that the index
    /// names, and the place of the index in the others.
    ///
    /// `src` is a tensor of the tensor's dtype, in all dimensions as long as `index` or longer, or a number. Indices
    /// are int32 or int64, from 0 on. Where several name one place, the last one stays. An index that the dimension
    /// does not have is an error, which leaves all as it was.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// let index = tensor![[1i64, 0]];
    /// assert_eq!(x.scatter(0, &index, &tensor![[7, 8]])?.to_vec::<i32>()?, [1, 8, 7, 4]);
    /// assert_eq!(x.scatter(0, &index, 0)?.to_vec::<i32>()?, [1, 0, 0, 4]);
    /// ```
    func: scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor,
    inplace: scatter_.src, out: scatter.src_out, variants: function, method, structured: Indexed<ScatterFn>;

    func: scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor,
    inplace: scatter_.value, out: scatter.value_out, structured: Indexed<ScatterFn>;

    func: scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor,
    inplace: scatter_.reduce, out: scatter.reduce_out, structured: Indexed<ScatterCombinedFn>;

    func: scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor,
    inplace: scatter_.value_reduce, out: scatter.value_reduce_out, structured: Indexed<ScatterCombinedFn>;

    /// Adds elements where [`scatter`](super::functions::scatter) writes them.
    ///
    /// Values that meet are all added, in row-major order. `src` has the dtype of the tensor.
    ///
    /// ```
    /// let x = tensor![1, 2, 3];
    /// assert_eq!(x.scatter_add(0, &tensor![0i64, 0], &tensor![10, 20])?.to_vec::<i32>()?, [31, 2, 3]);
    /// ```
    func: scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor,
    inplace: scatter_add_, out: scatter_add.out, variants: function, method, structured: Indexed<ScatterAddFn>;

    /// Combines elements, where [`scatter`](super::functions::scatter) writes them, by `sum`, `prod`, `mean`, `amax`
    /// or `amin`.
    ///
    /// Without `include_self` elements that are written do not count as values themselves. Means of integers are
    /// rounded down. `mean` takes all dtypes but bool, `amax` and `amin` all but complex ones.
    ///
    /// ```
    /// let (x, index) = (tensor![1.0f32, 9.0], tensor![0i64, 0]);
    /// assert_eq!(x.scatter_reduce(0, &index, &tensor![3.0f32, 5.0], "mean")?.to_vec::<f32>()?, [3.0, 9.0]);
    /// let without = ScatterReduce { include_self: false, ..Default::default() };
    /// let mean = x.scatter_reduce_with(0, &index, &tensor![3.0f32, 5.0], "mean", without)?;
    /// assert_eq!(mean.to_vec::<f32>()?, [4.0, 9.0]);
    /// ```
    func: scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *,
        bool include_self=True) -> Tensor,
    inplace: scatter_reduce_.two, out: scatter_reduce.two_out, variants: function, method,
    structured: Indexed<ScatterReduceFn>;

    /// Writes the elements of `source` to places of the tensor read as one dimension, in row-major order; with
    /// `accumulate` adds them.
    ///
    /// There are as many indices, int64, as elements of `source`, which has the tensor's dtype. Negative indices count
    /// from the end. Where several name one place, the last one stays, or all are added.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.put(&tensor![0i64, -1], &tensor![7, 8])?.to_vec::<i32>()?, [7, 2, 3, 8]);
    /// ```
    func: put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor,
    inplace: put_, autogen: put.out, variants: function, method, structured: Indexed<PutFn>;
}
