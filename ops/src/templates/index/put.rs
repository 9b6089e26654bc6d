//! `index`, `index_put` and their unsafe relatives, over any device: masks are turned into indices, then one call
//! moves the elements.

use super::advanced::{AdvancedIndexFn, AdvancedPutFn, Chosen, check_mask, chosen};
use super::{IndexInputs, Indexed};
use crate::copies::{clone_tensor, reshape};
use crate::functions::{clamp_max, clamp_min, logical_not, masked_fill};
use crate::kernels::AllKernels;
use crate::selection::masked_fill_from_;
use crate::table::native;
use monomorph_core::structured::{Functional, Operand, Out, OutputSink, call, in_place};
use monomorph_core::{AnyTensor, DType, Error, ErrorKind, OptionalTensors, Result, Scalar, Tensor, list, observe};

fn gathered<'a, D: AllKernels, S: OutputSink<'a, D>>(
    this: &'a Tensor<D>,
    chosen: &'a Chosen<D>,
    sink: S,
) -> Result<S::Output<Indexed<AdvancedIndexFn>>> {
    let operands = std::iter::once(this).chain(&chosen.tensors).map(Operand::from);
    call::<Indexed<AdvancedIndexFn>, D, S>(&IndexInputs::of(operands).with_sizes(&chosen.dims), sink)
}

/// `index.Tensor`.
pub fn index<D: AllKernels>(this: &Tensor<D>, indices: OptionalTensors<'_>) -> Result<Tensor<D>> {
    let _span = observe::operator("index", [this.geometry()]);
    let make = || {
        let [result] = gathered(this, &chosen(this.sizes(), indices)?, Functional::default())?;
        Ok(result)
    };
    make().map_err(|e: Error| e.of("index"))
}

/// `index.Tensor_out`.
pub fn index_out<'a, D: AllKernels>(
    this: &Tensor<D>,
    indices: OptionalTensors<'_>,
    out: &'a mut Tensor<D>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("index", [this.geometry(), out.geometry()]);
    let mut make = || {
        gathered(this, &chosen(this.sizes(), indices)?, Out([&mut *out]))?;
        Ok(())
    };
    make().map_err(|e: Error| e.of("index"))?;
    Ok(out)
}

/// The mask, if one number is written where a single mask holds, which fills.
fn filling<'t, D: AllKernels>(
    this: &Tensor<D>,
    indices: OptionalTensors<'t>,
    values: &Tensor<D>,
) -> Result<Option<Tensor<D>>> {
    let mut given = (0..indices.len()).filter_map(|i| Some((i, indices.get(i)?)));
    let (Some((dim, mask)), None, 1) = (given.next(), given.next(), values.numel()) else { return Ok(None) };
    let Some(mask) = mask.downcast_ref::<D>() else { return Ok(None) };
    if !matches!(mask.dtype(), DType::Bool | DType::U8) {
        return Ok(None);
    }
    check_mask(this.sizes(), dim, mask.sizes())?;
    let mut sizes = mask.sizes().to_vec();
    sizes.resize(sizes.len().max(this.ndim().saturating_sub(dim)), 1);
    Ok(Some(reshape(mask, &sizes)?))
}

/// `index_put_`.
pub fn index_put_<'a, D: AllKernels>(
    this: &'a mut Tensor<D>,
    indices: OptionalTensors<'_>,
    values: &Tensor<D>,
    accumulate: bool,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("index_put_", [this.geometry(), values.geometry()]);
    let make = |this: &'a mut Tensor<D>| {
        let (got, want) = (indices.len(), this.ndim());
        if got > want {
            return Err(ErrorKind::ListLength { arg: "indices", got, want }.into());
        }
        if !accumulate && let Some(mask) = filling(this, indices, values)? {
            return masked_fill_from_(this, &mask, &reshape(values, &[])?);
        }
        let Chosen { dims, tensors } = chosen::<D>(this.sizes(), indices)?;
        in_place(this, |input, sink, _| {
            let first = [Operand::from(input), Operand::from(values)];
            let operands = first.into_iter().chain(tensors.iter().map(Operand::from));
            let inputs = IndexInputs::of(operands).with_sizes(&dims).with_flag(accumulate);
            call::<Indexed<AdvancedPutFn>, D, _>(&inputs, sink)
        })
    };
    make(this).map_err(|e: Error| e.of("index_put_"))
}

/// `index_put`: of a copy.
pub fn index_put<D: AllKernels>(
    this: &Tensor<D>,
    indices: OptionalTensors<'_>,
    values: &Tensor<D>,
    accumulate: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("index_put", [this.geometry(), values.geometry()]);
    let mut copy = clone_tensor(this, None)?;
    index_put_(&mut copy, indices, values, accumulate).map_err(|e| e.called("index_put"))?;
    Ok(copy)
}

/// `_index_put_impl_`: `index_put_`, which checks all the same.
pub fn index_put_impl_<'a, D: AllKernels>(
    this: &'a mut Tensor<D>,
    indices: OptionalTensors<'_>,
    values: &Tensor<D>,
    accumulate: bool,
    _unchecked: bool,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("_index_put_impl_", [this.geometry(), values.geometry()]);
    index_put_(this, indices, values, accumulate).map_err(|e| e.called("_index_put_impl_"))
}

/// `_index_put_impl`.
pub fn index_put_impl<D: AllKernels>(
    this: &Tensor<D>,
    indices: OptionalTensors<'_>,
    values: &Tensor<D>,
    accumulate: bool,
    _unchecked: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_index_put_impl", [this.geometry(), values.geometry()]);
    index_put(this, indices, values, accumulate).map_err(|e| e.called("_index_put_impl"))
}

/// An error for a mask.
fn only_integers(indices: OptionalTensors<'_>) -> Result<()> {
    let integers = |t: &&AnyTensor| matches!(t.dtype(), DType::I64 | DType::I32);
    match (0..indices.len()).filter_map(|i| indices.get(i)).find(|t| !integers(t)) {
        None => Ok(()),
        Some(t) => {
            let (what, accepted) = ("argument indices has dtype", "int64 and int32");
            Err(ErrorKind::DTypeNotSupported { what, got: t.dtype(), accepted }.into())
        }
    }
}

/// `_unsafe_index.Tensor`: `index` by integers, which checks all the same.
pub fn unsafe_index<D: AllKernels>(this: &Tensor<D>, indices: OptionalTensors<'_>) -> Result<Tensor<D>> {
    let _span = observe::operator("_unsafe_index", [this.geometry()]);
    let make = || {
        only_integers(indices)?;
        index(this, indices)
    };
    make().map_err(|e: Error| e.called("_unsafe_index"))
}

/// `_unsafe_index_put`.
pub fn unsafe_index_put<D: AllKernels>(
    this: &Tensor<D>,
    indices: OptionalTensors<'_>,
    values: &Tensor<D>,
    accumulate: bool,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_unsafe_index_put", [this.geometry(), values.geometry()]);
    index_put(this, indices, values, accumulate).map_err(|e| e.called("_unsafe_index_put"))
}

/// The indices, those out of range at the nearest end.
fn clamped<D: AllKernels>(sizes: &[i64], indices: OptionalTensors<'_>) -> Result<Vec<Option<AnyTensor>>> {
    only_integers(indices)?;
    let mut all = list::with_capacity(indices.len())?;
    for (i, &size) in (0..indices.len()).zip(sizes) {
        let Some(index) = indices.get(i).and_then(|t| t.downcast_ref::<D>()) else {
            all.push(None);
            continue;
        };
        let low = clamp_min(index, size.wrapping_neg())?;
        all.push(Some(clamp_max(&low, size.wrapping_sub(1))?.into_any()));
    }
    Ok(all)
}

/// `_unsafe_masked_index`: elements where the mask holds, `fill` elsewhere; there indices may be out of range.
pub fn unsafe_masked_index<D: AllKernels>(
    this: &Tensor<D>,
    mask: &Tensor<D>,
    indices: OptionalTensors<'_>,
    fill: impl Into<Scalar>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_unsafe_masked_index", [this.geometry(), mask.geometry()]);
    let make = || {
        let indices_within = clamped::<D>(this.sizes(), indices)?;
        let fill = fill.into();
        if this.numel() > 0 {
            let chosen = index(this, OptionalTensors::Some(&indices_within))?;
            return masked_fill(&chosen, &logical_not(mask)?, fill);
        }
        // Of no element nothing is chosen, whatever the mask: the result has the sizes, and is all `fill`.
        let one = |(d, &size): (usize, &i64)| if size == 0 && indices.get(d).is_some() { 1 } else { size };
        let sizes: Vec<i64> = this.sizes().iter().enumerate().map(one).collect();
        let mut hollow = crate::factory::empty::<D>(&sizes, Some(this.dtype()), None, Some(this.device()), None, None)?;
        crate::fill::fill_(&mut hollow, fill)?;
        index(&hollow, OptionalTensors::Some(&indices_within))
    };
    make().map_err(|e: Error| e.called("_unsafe_masked_index"))
}

/// `_unsafe_masked_index_put_accumulate`: adds values where the mask holds.
pub fn unsafe_masked_index_put_accumulate<D: AllKernels>(
    this: &Tensor<D>,
    mask: &Tensor<D>,
    indices: OptionalTensors<'_>,
    values: &Tensor<D>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("_unsafe_masked_index_put_accumulate", [this.geometry(), values.geometry()]);
    let make = || {
        let within = clamped::<D>(this.sizes(), indices)?;
        if this.numel() == 0 {
            return clone_tensor(this, None);
        }
        let values = masked_fill(values, &logical_not(mask)?, 0)?;
        index_put(this, OptionalTensors::Some(&within), &values, true)
    };
    make().map_err(|e: Error| e.called("_unsafe_masked_index_put_accumulate"))
}

native! {
    family: AdvancedIndexing, functions: crate::kernels::AllKernels;

    structured: Indexed<AdvancedIndexFn>;
    structured: Indexed<AdvancedPutFn>;

    /// The elements that tensors of indices choose, one for each dimension; where there is none, the dimension is
    /// whole.
    ///
    /// Indices, int64 or int32, broadcast; negative ones count from the end. A mask, bool or uint8, is as good as the
    /// coordinates of its true elements, and has the sizes of the dimensions that it indexes. If the dimensions that
    /// are indexed are beside each other, those of the indices stand in their place, else in front.
    ///
    /// ```
    /// # use monomorph::crates::core::OptionalTensors;
    /// let x = tensor![[1, 2], [3, 4]];
    /// let at = [tensor![1i64, 0].into_any(), tensor![1i64].into_any()];
    /// assert_eq!(x.index(OptionalTensors::All(&at))?.to_vec::<i32>()?, [4, 2]);
    /// let mask = [x.gt(2)?.into_any()];
    /// assert_eq!(x.index(OptionalTensors::All(&mask))?.to_vec::<i32>()?, [3, 4]);
    /// ```
    func: index.Tensor(Tensor self, Tensor?[] indices) -> Tensor, variants: function, method, kernel: index;

    func: index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: index_out;

    /// A copy in which `values` stand where [`index`](super::functions::index) reads; with `accumulate` they are
    /// added.
    ///
    /// `values` broadcast to the sizes of what is indexed, and have the tensor's dtype; where a single mask chooses,
    /// one number of any dtype may be written. Where indices name an element twice the last value stays, or all are
    /// added. An index out of range is an error, which leaves all as it was.
    ///
    /// ```
    /// # use monomorph::crates::core::OptionalTensors;
    /// let x = tensor![1, 2, 3];
    /// let at = [tensor![0i64, 0].into_any()];
    /// let sum = IndexPut { accumulate: true, ..Default::default() };
    /// let got = x.index_put_with(OptionalTensors::All(&at), &tensor![10, 20], sum)?;
    /// assert_eq!(got.to_vec::<i32>()?, [31, 2, 3]);
    /// ```
    func: index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor,
    autogen: index_put.out, variants: function, method, kernel: index_put;

    /// Writes `values` where [`index`](super::functions::index) reads; with `accumulate` adds them.
    ///
    /// [`index_put`](super::functions::index_put) in place.
    ///
    /// ```
    /// # use monomorph::crates::core::OptionalTensors;
    /// let mut x = tensor![1, 2, 3];
    /// let at = [tensor![true, false, true].into_any()];
    /// x.index_put_(OptionalTensors::All(&at), &tensor![7, 8])?;
    /// assert_eq!(x.to_vec::<i32>()?, [7, 2, 8]);
    /// ```
    func: index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!),
    variants: function, method, kernel: index_put_;

    func: _index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False,
        bool unsafe=False) -> Tensor,
    autogen: _index_put_impl.out, kernel: index_put_impl;

    func: _index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False,
        bool unsafe=False) -> Tensor(a!),
    kernel: index_put_impl_;

    func: _unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor, kernel: unsafe_index;

    func: _unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor,
    kernel: unsafe_index_put;

    func: _unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor,
    kernel: unsafe_masked_index;

    func: _unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor,
    kernel: unsafe_masked_index_put_accumulate;
}
