//! Several tensors of indices at once, as in `x[i, :, j]`: `index` and `index_put`. Owns how masks become indices,
//! where the indexed dimensions go, and the plans; what all other operators of the kind are made of is in `put.rs`.
//!
//! ```text
//!   self [a, b, c, d]   indices  None, [i, j], None, None     result [a, i, j, c, d]   beside each other: in place
//!                                [i, j], None, [i, j], None          [i, j, b, d]      apart: in front
//! ```

use super::nonzero::nonzero;
use super::sealed::Sealed;
use super::{
    Axis, Combine, IndexFn, IndexInputs, IndexPlan, IndexRange, IndexTensor, Indexes, Scatter, Transfer, Written,
    along, overlap,
};
use crate::functions::select;
use crate::kernels::AllKernels;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::structured::{Form, Operand, SinkState};
use monomorph_core::{DType, ErrorKind, OptionalTensors, Result, Tensor};
use monomorph_iter::{Config, View, build_over};

/// Indices and the dimensions that they index, from the first to the last.
pub(super) struct Chosen<D: monomorph_core::Device> {
    pub(super) dims: DimVec,
    pub(super) tensors: Vec<Tensor<D>>,
}

/// Indices of a tensor of sizes `sizes`. A mask is as good as the coordinates of its true elements.
pub(super) fn chosen<D: AllKernels>(sizes: &[i64], indices: OptionalTensors<'_>) -> Result<Chosen<D>> {
    let (got, want) = (indices.len(), sizes.len());
    if got > want {
        return Err(ErrorKind::ListLength { arg: "indices", got, want }.into());
    }
    let (mut all, mut dim) = (Chosen { dims: DimVec::new(), tensors: Vec::new() }, 0);
    for i in 0..got {
        let Some(any) = indices.get(i) else {
            dim += 1;
            continue;
        };
        let Some(index) = any.downcast_ref::<D>() else {
            let rule = "argument indices has a tensor on another device; all tensors must be on one";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        };
        match index.dtype() {
            DType::I64 | DType::I32 => {
                all.dims.push(dim);
                all.tensors.push(index.clone());
                dim += 1;
            }
            DType::Bool | DType::U8 => {
                check_mask(sizes, dim as usize, index.sizes())?;
                let found = nonzero(index)?;
                for d in 0..index.ndim() as i64 {
                    all.dims.push(dim);
                    all.tensors.push(select(&found, 1, d)?);
                    dim += 1;
                }
            }
            got => {
                let (what, accepted) = ("argument indices has dtype", "int64, int32, bool and uint8");
                return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
            }
        }
    }
    if all.tensors.is_empty() {
        let rule = "argument indices has no tensor that chooses from a dimension; give at least one";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    if let Some(d) = all.dims.iter().find(|&&d| d as usize >= want) {
        return Err(ErrorKind::ListLength { arg: "indices", got: *d as usize + 1, want }.into());
    }
    Ok(all)
}

/// An error for a mask at dimension `dim` whose sizes are not those from there on.
pub(super) fn check_mask(sizes: &[i64], dim: usize, mask: &[i64]) -> Result<()> {
    let want = sizes.get(dim..).unwrap_or(&[]);
    let want = &want[..mask.len().min(want.len())];
    if mask == want {
        return Ok(());
    }
    Err(ErrorKind::MaskSizes { arg: "indices", got: mask.to_vec(), want: want.to_vec() }.into())
}

/// Where the dimensions of the indices and of the tensor that is indexed are in the result.
struct Arranged {
    sizes: DimVec,
    /// For each dimension of the result that of the base which it is; `None` for one of the indices.
    base: DimVecOf<Option<usize>>,
    /// Where the dimensions of the indices begin, and how many they are.
    before: usize,
    ndim: usize,
}

type DimVecOf<T> = smallvec::SmallVec<[T; 6]>;

impl Arranged {
    /// `indices` are operands `first..`, which index the dimensions that `inputs` lists.
    fn of(inputs: &IndexInputs<'_>, first: usize) -> Result<Arranged> {
        let base = inputs.operands().first().map_or(&[][..], Operand::sizes);
        let (dims, indices) = (inputs.sizes(), inputs.operands().get(first..).unwrap_or(&[]));
        let mut common = DimVec::new();
        for index in indices {
            common = strides::broadcast_sizes(&common, index.sizes())?;
        }
        let start = dims.first().copied().unwrap_or(0);
        let adjacent = dims.iter().zip(start..).all(|(&d, want)| d == want);
        let before = if adjacent { start as usize } else { 0 };
        let rest = (0..base.len()).filter(|&d| !dims.contains(&(d as i64)));
        let mut arranged = Arranged { sizes: DimVec::new(), base: DimVecOf::new(), before, ndim: common.len() };
        arranged.base.extend(rest.map(Some));
        arranged.base.insert_many(before, common.iter().map(|_| None));
        let mut of_indices = common.iter();
        for dim in &arranged.base {
            let size = dim.map(|d| base[d]).or_else(|| of_indices.next().copied());
            arranged.sizes.extend(size);
        }
        if dims.iter().any(|&d| base[d as usize] == 0) && !common.contains(&0) {
            let rule = "argument indices has an index for a dimension of size 0, which has none";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        Ok(arranged)
    }

    /// The dimension of an index that steps with each dimension of the result.
    fn steps(&self, index: &[i64]) -> DimVecOf<Option<usize>> {
        let missing = self.ndim - index.len();
        let step = |r: usize| {
            let d = r.checked_sub(self.before + missing).filter(|&d| d < index.len())?;
            (index[d] != 1).then_some(d)
        };
        (0..self.sizes.len()).map(step).collect()
    }

    /// The strides of a new result: those of the walk over base and indices, which PyTorch sorts by their strides.
    fn strides(&self, inputs: &IndexInputs<'_>, first: usize) -> Result<Option<DimVec>> {
        let stepped = |operand: &Operand<'_>, steps: &[Option<usize>]| -> DimVec {
            let own = operand.geometry().map_or(&[][..], |g| g.strides());
            steps.iter().map(|d| d.and_then(|d| own.get(d).copied()).unwrap_or(0)).collect()
        };
        let mut all = vec![stepped(&inputs.operand(0), &self.base)];
        for index in inputs.operands().get(first..).unwrap_or(&[]) {
            all.push(stepped(index, &self.steps(index.sizes())));
        }
        let views: Vec<View<'_>> = all.iter().map(|s| View::new(DType::U8, &self.sizes, s)).collect();
        let config = Config { shape: Some(&self.sizes), ..Config::default() };
        let walk = build_over(&config, &[], &views)?;
        let (mut strides, mut next) = (DimVec::from_elem(0, self.sizes.len()), 1_i64);
        if walk.perm().is_empty() || walk.perm().iter().rev().enumerate().all(|(d, &other)| d == other) {
            return Ok(None);
        }
        for &d in walk.perm() {
            strides[d] = next;
            next = next.saturating_mul(self.sizes[d]);
        }
        Ok(Some(strides))
    }

    /// The plan, with steps of the values where they have dimensions of the result.
    fn plan(&self, inputs: &IndexInputs<'_>, first: usize, transfer: Transfer, values: &[i64]) -> IndexPlan {
        let missing = self.sizes.len() - values.len();
        let value = |r: usize| r.checked_sub(missing).filter(|&d| values[d] != 1 || self.sizes[r] == 1).and_then(along);
        let axes = self.sizes.iter().zip(&self.base).enumerate();
        let axes = axes.map(|(r, (&size, base))| Axis { size, base: base.and_then(along), values: value(r) });
        let index = |(k, index): (usize, &Operand<'_>)| IndexTensor {
            operand: first + k,
            arg: "indices",
            dims: self.steps(index.sizes()).into_iter().collect(),
            of: Indexes::Dim(inputs.sizes()[k] as usize),
            range: IndexRange::FromBothEnds,
        };
        let indices = inputs.operands().get(first..).unwrap_or(&[]).iter().enumerate().map(index);
        // PyTorch does not look at indices where nothing is moved.
        let looks = !self.sizes.contains(&0);
        IndexPlan {
            transfer,
            axes: axes.collect(),
            indices: indices.filter(|_| looks).collect(),
            fresh: false,
            serial: false,
            flat: false,
        }
    }
}

/// `index` by tensors of integers, which are the operands behind the first.
pub struct AdvancedIndexFn;

impl Sealed for AdvancedIndexFn {}

impl IndexFn for AdvancedIndexFn {
    const NAME: &'static str = "index";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        let arranged = Arranged::of(inputs, 1)?;
        let hint = arranged.strides(inputs, 1)?;
        inputs.declare(sink, &arranged.sizes, hint.as_deref())?;
        let apart: DimVecOf<usize> = (0..inputs.operands().len()).collect();
        let serial = overlap::check(inputs, sink, &apart, &[])?;
        let plan = arranged.plan(inputs, 1, Transfer::Gather, &arranged.sizes);
        Ok(IndexPlan { fresh: sink.form() == Form::Functional, serial, ..plan })
    }
}

/// `index_put_` by tensors of integers, which are the operands behind the values.
pub struct AdvancedPutFn;

impl Sealed for AdvancedPutFn {}

impl IndexFn for AdvancedPutFn {
    const NAME: &'static str = "index_put_";

    fn plan(inputs: &IndexInputs<'_>, sink: &mut SinkState<'_>) -> Result<IndexPlan> {
        inputs.declare(sink, inputs.operand(0).sizes(), None)?;
        let apart: DimVecOf<usize> = (1..inputs.operands().len()).collect();
        let serial = overlap::check_apart(inputs, sink, &apart, &[0])?;
        let arranged = Arranged::of(inputs, 2)?;
        let values = inputs.operand(1);
        let is_fitting = values.sizes().len() <= arranged.sizes.len()
            && strides::broadcast_sizes(values.sizes(), &arranged.sizes)? == arranged.sizes;
        if !is_fitting {
            let (got, want) = (values.sizes().to_vec(), arranged.sizes.to_vec());
            return Err(ErrorKind::UnequalSizes { arg: "values", got, want }.into());
        }
        inputs.check_dtype("values", 1)?;
        let combine = if inputs.flag(0) { Combine::Add } else { Combine::Replace };
        let transfer = Transfer::Scatter(Scatter::of(Written::Input(1), combine));
        Ok(IndexPlan { serial, ..arranged.plan(inputs, 2, transfer, values.sizes()) })
    }
}
