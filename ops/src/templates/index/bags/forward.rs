//! `embedding_bag`: the folds.

use super::{bags_of, cast, check_ndim, check_rows, entries, host_ints, scaled, sum_dtype, vector};
use crate::factory::empty;
use crate::functions::{div, gather, index_add_, index_select, masked_fill_, new_zeros, unsqueeze};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::structured::Operand;
use monomorph_core::{DType, DeviceId, Error, ErrorKind, Result, Tensor, list, observe};

/// Rows of the bags, the bag of each index, sizes of the bags, indices of the maxima.
pub(super) type Folded<D> = (Tensor<D>, Tensor<D>, Tensor<D>, Tensor<D>);

/// The dtype of integer results: that of both lists, or the wider one.
pub(super) fn index_dtype<D: AllKernels>(indices: &Tensor<D>, offsets: &Tensor<D>) -> Result<DType> {
    let both = [indices.dtype(), offsets.dtype()];
    if let Some(&got) = both.iter().find(|dtype| !dtype.is_integral(false)) {
        let (what, accepted) = ("argument indices or offsets has dtype", "int64 and int32");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    match both {
        _ if both.contains(&DType::I64) => Ok(DType::I64),
        _ if both.contains(&DType::I32) => Ok(DType::I32),
        [got, _] => {
            let (what, accepted) = ("argument indices has dtype", "int64 and int32");
            Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into())
        }
    }
}

/// The checks that need no data.
fn check<D: AllKernels>(
    weight: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    mode: i64,
    per_sample_weights: Operand<'_>,
) -> Result<()> {
    check_ndim(weight, "weight", 2)?;
    check_ndim(indices, "indices", 1)?;
    check_ndim(offsets, "offsets", 1)?;
    if !weight.dtype().is_floating() {
        let (what, got, accepted) = ("argument weight has dtype", weight.dtype(), "floating dtypes");
        return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
    }
    if !(0..=2).contains(&mode) {
        return Err(ErrorKind::OutOfRange { arg: "mode", got: mode, low: 0, high: 2 }.into());
    }
    let Some(got) = per_sample_weights.dtype() else { return Ok(()) };
    if mode != 0 {
        let rule = "argument per_sample_weights is accepted with mode 0, which sums";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    if got != weight.dtype() {
        return Err(ErrorKind::DTypeMismatch { arg: "per_sample_weights", got, want: weight.dtype() }.into());
    }
    let sizes = per_sample_weights.sizes();
    if sizes != indices.sizes() {
        let (arg, got, want) = ("per_sample_weights", sizes.to_vec(), indices.sizes().to_vec());
        return Err(ErrorKind::UnequalSizes { arg, got, want }.into());
    }
    Ok(())
}

/// Offsets from 0 on that do not decrease, nor go behind the indices.
fn check_offsets(offsets: &[i64], n: i64) -> Result<()> {
    let starts = std::iter::once(&0).chain(offsets);
    let wrong = starts.zip(offsets).find(|(before, at)| at < before || **at > n).map(|(_, &at)| at);
    match (offsets.first(), wrong) {
        (Some(&got), _) if got != 0 => Err(ErrorKind::OutOfRange { arg: "offsets", got, low: 0, high: 0 }.into()),
        (_, Some(got)) => Err(ErrorKind::OutOfRange { arg: "offsets", got, low: 0, high: n }.into()),
        _ => Ok(()),
    }
}

/// `_embedding_bag`.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn forward<D: AllKernels>(
    weight: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    _scale_grad_by_freq: bool,
    mode: i64,
    _sparse: bool,
    per_sample_weights: Option<&Tensor<D>>,
    include_last_offset: bool,
    padding_idx: i64,
) -> Result<Folded<D>> {
    let _span = observe::operator("_embedding_bag", [weight.geometry(), indices.geometry(), offsets.geometry()]);
    folded(weight, indices, offsets, mode, given(per_sample_weights), include_last_offset, padding_idx, true)
}

/// `_embedding_bag_forward_only`: of sums, PyTorch makes the sizes of bags as long as the offsets then.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn forward_only<D: AllKernels>(
    weight: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    _scale_grad_by_freq: bool,
    mode: i64,
    _sparse: bool,
    per_sample_weights: Option<&Tensor<D>>,
    include_last_offset: bool,
    padding_idx: i64,
) -> Result<Folded<D>> {
    let _span = observe::operator("_embedding_bag_forward_only", [weight.geometry(), indices.geometry()]);
    folded(weight, indices, offsets, mode, given(per_sample_weights), include_last_offset, padding_idx, mode != 0)
}

#[allow(clippy::too_many_arguments, reason = "they are those of the schema, and what is made of them")]
fn folded<D: AllKernels>(
    weight: &Tensor<D>,
    indices: &Tensor<D>,
    offsets: &Tensor<D>,
    mode: i64,
    per_sample_weights: Operand<'_>,
    include_last_offset: bool,
    padding_idx: i64,
    of_bags: bool,
) -> Result<Folded<D>> {
    let make = || {
        check(weight, indices, offsets, mode, per_sample_weights)?;
        super::check_contiguous(indices)?;
        super::check_contiguous(offsets)?;
        let dtype = index_dtype(indices, offsets)?;
        let (n, columns) = (indices.sizes()[0], weight.sizes()[1]);
        let bags = offsets.sizes()[0] - i64::from(include_last_offset);
        if bags < 0 {
            let rule = "argument offsets is empty; with include_last_offset it has one entry or more";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        // PyTorch's direct path for sums does not say which index is in which bag.
        let is_dense = |operand: &Operand<'_>| operand.geometry().is_none_or(|g| g.strides() == [1]);
        let direct = mode == 0
            && weight.dtype() != DType::F64
            && weight.strides()[1] == 1
            && padding_idx < 0
            && is_dense(&per_sample_weights);
        let known = if direct { 0 } else { n };
        let lengths = if of_bags { bags } else { offsets.sizes()[0] };
        if weight.device() == DeviceId::META {
            let new = |sizes: &[i64], dtype| empty::<D>(sizes, Some(dtype), None, Some(weight.device()), None, None);
            let maxima: &[i64] = if mode == 2 { &[bags, columns] } else { &[lengths] };
            return Ok((
                new(&[bags, columns], weight.dtype())?,
                new(&[known], dtype)?,
                new(&[lengths], dtype)?,
                new(maxima, dtype)?,
            ));
        }
        let (all, starts) = (host_ints(indices)?, host_ints(offsets)?);
        check_offsets(&starts, n)?;
        check_rows(&all, weight.sizes()[0])?;
        let of = bags_of(&starts[..bags as usize], all.len());
        let end = if include_last_offset && direct { starts[bags as usize] } else { n };
        let counts = |i: &usize| all[*i] != padding_idx && of[*i] >= 0 && (*i as i64) < end;
        let kept: Vec<usize> = (0..all.len()).filter(counts).collect();
        let pick = |from: &[i64]| kept.iter().map(|&i| from[i]).collect::<Vec<i64>>();
        let mut sizes = vec![0_i64; bags as usize];
        kept.iter().for_each(|&i| sizes[of[i] as usize] += 1);
        let chosen = Chosen { indices: pick(&all), bags: pick(&of), sizes: &sizes };
        let (result, maxima) = match mode {
            2 => chosen.maxima(weight)?,
            _ => {
                let places: Vec<i64> = kept.iter().map(|&i| i as i64).collect();
                (chosen.sums(weight, mode == 1, per_sample_weights, &places)?, None)
            }
        };
        let no_sizes = vec![0; lengths as usize];
        let sizes = vector(weight, if mode == 0 { &no_sizes } else { &sizes }, dtype)?;
        let maxima = match maxima {
            Some(maxima) => cast(&maxima, dtype)?,
            None => crate::copies::clone_tensor(&sizes, None)?,
        };
        Ok((result, vector(weight, &of[..known as usize], dtype)?, sizes, maxima))
    };
    make().map_err(|e: Error| e.called("embedding_bag"))
}

/// Indices that count, the bag of each, and how many are in each bag.
struct Chosen<'a> {
    indices: Vec<i64>,
    bags: Vec<i64>,
    sizes: &'a [i64],
}

impl Chosen<'_> {
    /// Sums, or means, of rows times the entries `places` of the weights.
    fn sums<D: AllKernels>(
        &self,
        weight: &Tensor<D>,
        mean: bool,
        per_sample_weights: Operand<'_>,
        places: &[i64],
    ) -> Result<Tensor<D>> {
        let dtype = sum_dtype(weight.dtype());
        let mut rows = cast(&index_select(weight, 0, &vector(weight, &self.indices, DType::I64)?)?, dtype)?;
        if per_sample_weights.dtype().is_some() {
            rows = scaled(&rows, &entries(per_sample_weights, &vector(weight, places, DType::I64)?)?)?;
        }
        let mut sums = new_zeros(&rows, [self.sizes.len() as i64, weight.sizes()[1]])?;
        index_add_(&mut sums, 0, &vector(weight, &self.bags, DType::I64)?, &rows)?;
        if mean {
            let counts: Vec<i64> = self.sizes.iter().map(|&n| n.max(1)).collect();
            sums = div(&sums, &unsqueeze(&vector(weight, &counts, dtype)?, 1)?)?;
        }
        cast(&sums, weight.dtype())
    }

    /// The first maximum of each bag and column, 0 in bags without an index, and which row it is of.
    fn maxima<D: AllKernels>(&self, weight: &Tensor<D>) -> Result<(Tensor<D>, Option<Tensor<D>>)> {
        let columns = weight.sizes()[1] as usize;
        let rows = index_select(weight, 0, &vector(weight, &self.indices, DType::I64)?)?;
        let values = cast(&rows, DType::F64)?.to_vec::<f64>()?;
        let n = self.sizes.len().saturating_mul(columns);
        let mut best: Vec<Option<(f64, i64)>> = list::with_capacity(n)?;
        best.resize(n, None);
        for (k, (&bag, &index)) in self.bags.iter().zip(&self.indices).enumerate() {
            for j in 0..columns {
                let (value, place) = (values[k * columns + j], &mut best[bag as usize * columns + j]);
                if place.is_none_or(|(most, _)| value > most) {
                    *place = Some((value, index));
                }
            }
        }
        let which: Vec<i64> = best.iter().map(|place| place.map_or(0, |(_, index)| index)).collect();
        let sizes = [self.sizes.len() as i64, columns as i64];
        let which = Tensor::<D>::from_slice_on(weight.device().index, &which, sizes)?;
        if self.indices.is_empty() {
            return Ok((new_zeros(weight, sizes)?, Some(which)));
        }
        let mut maxima = gather(weight, 0, &which)?;
        let hollow: Vec<bool> = self.sizes.iter().map(|&n| n == 0).collect();
        let hollow = Tensor::<D>::from_slice_on(weight.device().index, &hollow, [sizes[0], 1])?;
        masked_fill_(&mut maxima, &hollow, 0)?;
        Ok((maxima, Some(which)))
    }
}

/// An operand that may be absent.
pub(in crate::templates::index) fn given<'t, D: AllKernels>(t: Option<&'t Tensor<D>>) -> Operand<'t> {
    t.map_or(Operand::Absent, Operand::from)
}

native! {
    family: BagFolds, functions: crate::kernels::AllKernels;

    func: _embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0,
        bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False,
        int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor),
    autogen: _embedding_bag.out, kernel: forward;

    func: _embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False,
        int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False,
        int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor),
    autogen: _embedding_bag_forward_only.out, kernel: forward_only;
}
