//! Elements and slices chosen by one tensor of indices: `index_select`, `gather`, `take`, `take_along_dim`.

use super::sealed::Sealed;
use super::{
    Axis, IndexFn, IndexInputs, IndexPlan, IndexRange, IndexTensor, Indexed, Indexes, Transfer, along, check_index,
    overlap,
};
use crate::table::native;
use monomorph_core::strides::{self, DimVec, wrap_dim};
use monomorph_core::structured::{Form, Operand, SinkState};
use monomorph_core::{ErrorKind, Result};

/// The plan of a gather through one index.
pub(super) fn gathered(
    sink: &SinkState<'_>,
    serial: bool,
    axes: impl Iterator<Item = Axis>,
    index: IndexTensor,
) -> IndexPlan {
    let fresh = sink.form() == Form::Functional;
    let indices = [index].into_iter().collect();
    IndexPlan { transfer: Transfer::Gather, axes: axes.collect(), indices, fresh, serial, flat: false }
}

/// What an index in dimension `dim` of a tensor of `ndim` dimensions chooses: the element, if there are none.
pub(super) fn indexed(dim: usize, ndim: usize) -> Indexes {
    if ndim == 0 { Indexes::Elements } else { Indexes::Dim(dim) }
}

/// The axes of a walk over whole slices: `dim` of the sliced tensor, where there is one, is stepped through by an
/// index of `n` entries, which is a dimension of the other tensor.
pub(super) fn slice_axes(sizes: &[i64], dim: usize, n: i64) -> impl Iterator<Item = Axis> + Clone {
    let sliced = sizes.iter().enumerate().map(move |(d, &size)| match d == dim {
        true => Axis { size: n, base: None, values: along(d) },
        false => Axis { size, base: along(d), values: along(d) },
    });
    // Without dimensions there is one slice, the only element.
    let only = sizes.is_empty().then_some(Axis { size: n, base: None, values: along(0) });
    sliced.chain(only)
}

/// An index of one dimension or none, which steps with axis `dim` of a walk over slices.
pub(super) fn slice_index(
    arg: &'static str,
    index: &Operand<'_>,
    dim: usize,
    ndim: usize,
) -> Result<(i64, IndexTensor)> {
    let &[n] = index.sizes() else {
        if index.sizes().is_empty() {
            let dims = (0..ndim.max(1)).map(|_| None).collect();
            return Ok((
                1,
                IndexTensor { operand: 0, arg, dims, of: indexed(dim, ndim), range: IndexRange::FromStart },
            ));
        }
        return Err(ErrorKind::DimCount { arg, got: index.sizes().len(), accepted: "0 or 1" }.into());
    };
    let dims = (0..ndim.max(1)).map(|d| (d == dim).then_some(0)).collect();
    Ok((n, IndexTensor { operand: 0, arg, dims, of: indexed(dim, ndim), range: IndexRange::FromStart }))
}

/// `index_select`.
pub struct IndexSelectFn;

impl Sealed for IndexSelectFn {}

impl IndexFn for IndexSelectFn {
    const NAME: &'static str = "index_select";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let (this, index) = (inputs.operand(0), inputs.operand(1));
        let ndim = this.sizes().len();
        let dim = wrap_dim(inputs.int(0), ndim, "dim")?;
        check_index("index", &index, true)?;
        if let Some(out) = sink.existing(0) {
            overlap::check_single(out.geometry())?;
        }
        let (n, tensor) = slice_index("index", &index, dim, ndim)?;
        if ndim == 0 && n != 1 {
            return Err(ErrorKind::ListLength { arg: "index", got: n as usize, want: 1 }.into());
        }
        let mut sizes = DimVec::from_slice(this.sizes());
        sizes.iter_mut().skip(dim).take(1).for_each(|size| *size = n);
        inputs.declare(sink, &sizes, None)?;
        let serial = overlap::check(inputs, sink, &[0, 1], &[])?;
        Ok(gathered(sink, serial, slice_axes(this.sizes(), dim, n), IndexTensor { operand: 1, ..tensor }))
    }
}

/// The sizes of a tensor, of which one without dimensions counts as having one.
pub(super) fn at_least_1d(sizes: &[i64]) -> &[i64] {
    if sizes.is_empty() { &[1] } else { sizes }
}

/// Checks that an index of the sizes `got` has the dimensions of the tensor that it steps with, and fits in it but
/// along `dim`.
pub(super) fn fits_within(arg: &'static str, got: &[i64], want: &[i64], dim: usize) -> Result<()> {
    let (got, want) = (at_least_1d(got), at_least_1d(want));
    if got.len() != want.len() {
        return Err(ErrorKind::DimCount { arg, got: got.len(), accepted: "as many as self has" }.into());
    }
    match got.iter().zip(want).enumerate().find(|(d, (got, want))| *d != dim && got > want) {
        None => Ok(()),
        Some((_, (&got, &high))) => Err(ErrorKind::OutOfRange { arg, got, low: 0, high }.into()),
    }
}

/// `gather`.
pub struct GatherFn;

impl Sealed for GatherFn {}

impl IndexFn for GatherFn {
    const NAME: &'static str = "gather";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let (this, index) = (inputs.operand(0), inputs.operand(1));
        let ndim = this.sizes().len();
        let dim = wrap_dim(inputs.int(0), ndim, "dim")?;
        let sizes = index.sizes();
        if sizes.contains(&0) {
            // PyTorch asks nothing of an index without elements.
            inputs.declare(sink, sizes, None)?;
            overlap::check(inputs, sink, &[0], &[1])?;
            return Ok(IndexPlan::default());
        }
        check_index("index", &index, true)?;
        fits_within("index", sizes, this.sizes(), dim)?;
        inputs.declare(sink, sizes, None)?;
        let serial = overlap::check(inputs, sink, &[0], &[1])?;
        let axes = sizes.iter().enumerate().map(|(d, &size)| Axis {
            size,
            base: if d == dim || ndim == 0 { None } else { along(d) },
            values: along(d),
        });
        let dims = (0..sizes.len()).map(Some).collect();
        let index =
            IndexTensor { operand: 1, arg: "index", dims, of: indexed(dim, ndim), range: IndexRange::FromStart };
        Ok(gathered(sink, serial, axes, index))
    }
}

/// `take`.
pub struct TakeFn;

impl Sealed for TakeFn {}

impl IndexFn for TakeFn {
    const NAME: &'static str = "take";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let index = inputs.operand(1);
        check_index("index", &index, false)?;
        let sizes = index.sizes();
        inputs.declare(sink, sizes, None)?;
        let serial = overlap::check(inputs, sink, &[0, 1], &[])?;
        let axes = sizes.iter().enumerate().map(|(d, &size)| Axis { size, base: None, values: along(d) });
        let dims = (0..sizes.len()).map(Some).collect();
        let index =
            IndexTensor { operand: 1, arg: "index", dims, of: Indexes::Elements, range: IndexRange::FromBothEnds };
        Ok(gathered(sink, serial, axes, index))
    }
}

/// `take_along_dim`.
pub struct TakeAlongDimFn;

impl Sealed for TakeAlongDimFn {}

impl IndexFn for TakeAlongDimFn {
    const NAME: &'static str = "take_along_dim";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let (this, index) = (inputs.operand(0), inputs.operand(1));
        let Some(dim) = inputs.optional_int(0) else { return take_flat(inputs, sink) };
        check_index("indices", &index, false)?;
        let ndim = this.sizes().len();
        if index.sizes().len() != ndim {
            let (got, accepted) = (index.sizes().len(), "as many as self has");
            return Err(ErrorKind::DimCount { arg: "indices", got, accepted }.into());
        }
        let dim = wrap_dim(dim, ndim, "dim")?;
        if ndim == 0 {
            return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more" }.into());
        }
        let mut others = DimVec::from_slice(this.sizes());
        others[dim] = 1;
        let mut sizes = strides::broadcast_sizes(&others, index.sizes())?;
        sizes[dim] = index.sizes()[dim];
        inputs.declare(sink, &sizes, None)?;
        let serial = overlap::check(inputs, sink, &[0], &[1])?;
        let axes = sizes.iter().enumerate().map(|(d, &size)| Axis {
            size,
            base: if d == dim || this.sizes()[d] == 1 { None } else { along(d) },
            values: along(d),
        });
        let dims = (0..ndim).map(|d| (index.sizes()[d] != 1).then_some(d)).collect();
        let index = IndexTensor { operand: 1, arg: "indices", dims, of: Indexes::Dim(dim), range: IndexRange::Modulo };
        Ok(gathered(sink, serial, axes, index))
    }
}

/// `take_along_dim` without a dim: both as their elements in row-major order, which needs views of them.
fn take_flat(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
    let index = inputs.operand(1);
    for i in 0..2 {
        if let Some(geometry) = inputs.operand(i).geometry() {
            crate::view::view(geometry, &[-1])?;
        }
    }
    let n = strides::numel(index.sizes())? as i64;
    if n > 0 {
        check_index("indices", &index, true)?;
    }
    inputs.declare(sink, &[n], None)?;
    let serial = overlap::check(inputs, sink, &[0], &[1])?;
    if n == 0 {
        return Ok(IndexPlan::default());
    }
    let steps = strides::contiguous_strides(index.sizes());
    let axes = index.sizes().iter().zip(&steps).map(|(&size, &factor)| Axis {
        size,
        base: None,
        values: Some(super::Step { dim: 0, factor }),
    });
    let dims = (0..steps.len()).map(Some).collect();
    let index = IndexTensor { operand: 1, arg: "indices", dims, of: Indexes::Elements, range: IndexRange::FromStart };
    Ok(gathered(sink, serial, axes, index))
}

native! {
    family: Selects;

    /// The slices of the dimension `dim` that a vector of indices names, in its order.
    ///
    /// The result has the dtype and the sizes of the tensor, but for `dim`, which gets one entry for each index.
    /// Indices are int32 or int64, from 0 on; one that the dimension does not have is an error.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4], [5, 6]];
    /// assert_eq!(x.index_select(0, &tensor![2i64, 0])?.to_vec::<i32>()?, [5, 6, 1, 2]);
    /// ```
    func: index_select(Tensor self, int dim, Tensor index) -> Tensor,
    out: index_select.out, variants: function, method, structured: Indexed<IndexSelectFn>;

    /// For each index the element at that place of the dimension `dim`, and at the place of the index in the others.
    ///
    /// The result has the sizes of `index`, which in dimensions other than `dim` are at most those of the tensor, and
    /// the tensor's dtype. Indices are int32 or int64, from 0 on. `sparse_grad` is about gradients and changes
    /// nothing.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.gather(1, &tensor![[0i64, 0], [1, 0]])?.to_vec::<i32>()?, [1, 1, 4, 3]);
    /// ```
    func: gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor,
    out: gather.out, variants: function, method, structured: Indexed<GatherFn>;

    /// The elements at these places of the tensor read as one dimension, in row-major order.
    ///
    /// The result has the sizes of `index`, int64, and the tensor's dtype. Negative indices count from the end.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.take(&tensor![2i64, -1])?.to_vec::<i32>()?, [3, 4]);
    /// ```
    func: take(Tensor self, Tensor index) -> Tensor,
    out: take.out, variants: function, method, structured: Indexed<TakeFn>;

    /// What [`gather`](super::functions::gather) gives of tensor and indices after they are broadcast, but along
    /// `dim`.
    ///
    /// Indices are int64, and taken modulo the size. Without `dim` both are read as one dimension. It undoes what
    /// orders the elements of a dimension: indices come from a sort along `dim`.
    ///
    /// ```
    /// let x = tensor![[30, 10], [20, 40]];
    /// let at = TakeAlongDim { dim: Some(1), ..Default::default() };
    /// assert_eq!(x.take_along_dim_with(&tensor![[1i64], [0]], at)?.to_vec::<i32>()?, [10, 20]);
    /// ```
    func: take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor,
    out: take_along_dim.out, variants: function, method, structured: Indexed<TakeAlongDimFn>;
}
