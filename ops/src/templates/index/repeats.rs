//! Slices repeated as often as numbers say, and classes as unit vectors: `repeat_interleave`, `one_hot`.

use crate::copies::{clone_tensor, reshape, to_dtype};
use crate::functions::{index_select, new_zeros, scatter_, unsqueeze};
use crate::kernels::AllKernels;
use crate::table::native;
use crate::view::expand;
use monomorph_core::strides::{DimVec, wrap_dim};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, MemoryFormat, Result, Tensor, list, observe};

fn check_counts(got: DType) -> Result<()> {
    if got.is_integral(false) {
        return Ok(());
    }
    Err(ErrorKind::DTypeNotSupported { what: "argument repeats has dtype", got, accepted: "integers" }.into())
}

/// `repeat_interleave.Tensor`: index `i` as often as entry `i` of `repeats` says.
pub fn repeated_indices<D: AllKernels>(repeats: &Tensor<D>, output_size: Option<i64>) -> Result<Tensor<D>> {
    let _span = observe::operator("repeat_interleave", [repeats.geometry()]);
    let make = || {
        let dtype = repeats.dtype();
        if repeats.ndim() != 1 {
            return Err(ErrorKind::DimCount { arg: "repeats", got: repeats.ndim(), accepted: "1" }.into());
        }
        check_counts(dtype)?;
        if let (Some(size), DeviceId::META) = (output_size, repeats.device()) {
            return crate::factory::empty::<D>(&[size], Some(dtype), None, Some(repeats.device()), None, None);
        }
        let counts = to_dtype(repeats, DType::I64, false, false, None)?.to_vec::<i64>()?;
        if let Some(&got) = counts.iter().find(|&&n| n < 0) {
            return Err(ErrorKind::OutOfRange { arg: "repeats", got, low: 0, high: i64::MAX }.into());
        }
        let overflow = || ErrorKind::SizeOverflow { sizes: Vec::new(), strides: Vec::new() };
        let total = counts.iter().try_fold(0_i64, |sum, &n| sum.checked_add(n)).ok_or_else(overflow)?;
        if let Some(got) = output_size.filter(|&size| size != total && !counts.is_empty()) {
            return Err(ErrorKind::OutOfRange { arg: "output_size", got, low: total, high: total }.into());
        }
        let mut indices: Vec<i64> = list::with_capacity(usize::try_from(total).map_err(|_| overflow())?)?;
        for (i, &n) in (0..).zip(&counts) {
            indices.extend(std::iter::repeat_n(i, n as usize));
        }
        let made = Tensor::<D>::from_slice_on(repeats.device().index, &indices, indices.len())?;
        to_dtype(&made, dtype, false, false, None)
    };
    make().map_err(|e: Error| e.called("repeat_interleave"))
}

/// The tensor and its dimension; without one, all as one dimension.
fn along<D: AllKernels>(this: &Tensor<D>, dim: Option<i64>) -> Result<(Tensor<D>, usize)> {
    match dim {
        None => Ok((reshape(this, &[-1])?, 0)),
        Some(_) if this.ndim() == 0 => {
            Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more where a dim is given" }.into())
        }
        Some(dim) => Ok((this.clone(), wrap_dim(dim, this.ndim(), "dim")?)),
    }
}

/// `repeat_interleave.self_Tensor`: each slice of a dimension as often as `repeats` says.
pub fn repeat_interleave<D: AllKernels>(
    this: &Tensor<D>,
    repeats: &Tensor<D>,
    dim: Option<i64>,
    output_size: Option<i64>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("repeat_interleave", [this.geometry(), repeats.geometry()]);
    let make = || {
        let (input, dim) = along(this, dim)?;
        let size = input.sizes().get(dim).copied().unwrap_or(1);
        let counts = match repeats.sizes() {
            [] | [1] => {
                let one = reshape(repeats, &[1])?;
                one.with_geometry(expand(one.geometry(), &[size], false)?)?
            }
            &[n] if n == size => repeats.clone(),
            &[n] => {
                return Err(ErrorKind::ListLength { arg: "repeats", got: n as usize, want: size as usize }.into());
            }
            more => return Err(ErrorKind::DimCount { arg: "repeats", got: more.len(), accepted: "0 or 1" }.into()),
        };
        check_counts(repeats.dtype())?;
        // Lazy bits stay what they are: elements are moved as they lie in memory.
        let (conj, neg) = (input.geometry().is_conj(), input.geometry().is_neg());
        let bare = input.with_geometry(input.geometry().clone().with_conj(false).with_neg(false))?;
        let counts = to_dtype(&counts, DType::I64, false, false, None)?;
        let result = index_select(&bare, dim as i64, &repeated_indices(&counts, output_size)?)?;
        result.with_geometry(result.geometry().clone().with_conj(conj).with_neg(neg))
    };
    make().map_err(|e: Error| e.called("repeat_interleave"))
}

/// `repeat_interleave.self_int`: each slice of a dimension so often.
pub fn repeat_interleave_times<D: AllKernels>(
    this: &Tensor<D>,
    repeats: i64,
    dim: Option<i64>,
    output_size: Option<i64>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("repeat_interleave", [this.geometry()]);
    let make = || {
        let (input, dim) = along(this, dim)?;
        if repeats < 0 {
            return Err(ErrorKind::OutOfRange { arg: "repeats", got: repeats, low: 0, high: i64::MAX }.into());
        }
        let spread = unsqueeze(&input, dim as i64 + 1)?;
        let (mut sizes, mut merged) = (DimVec::from_slice(spread.sizes()), DimVec::from_slice(input.sizes()));
        sizes[dim + 1] = repeats;
        let overflow = || ErrorKind::SizeOverflow { sizes: sizes.to_vec(), strides: Vec::new() };
        merged[dim] = sizes[dim].checked_mul(repeats).ok_or_else(overflow)?;
        if let Some(got) = output_size.filter(|&size| size != merged[dim]) {
            return Err(ErrorKind::OutOfRange { arg: "output_size", got, low: merged[dim], high: merged[dim] }.into());
        }
        let spread = spread.with_geometry(expand(spread.geometry(), &sizes, false)?)?;
        reshape(&clone_tensor(&spread, Some(MemoryFormat::Contiguous))?, &merged)
    };
    make().map_err(|e: Error| e.called("repeat_interleave"))
}

/// `one_hot`: each class as a vector of zeros with a one at its place.
pub fn one_hot<D: AllKernels>(this: &Tensor<D>, num_classes: i64) -> Result<Tensor<D>> {
    let _span = observe::operator("one_hot", [this.geometry()]);
    let make = || {
        if this.dtype() != DType::I64 {
            let (what, got, accepted) = ("argument self has dtype", this.dtype(), "int64");
            return Err(ErrorKind::DTypeNotSupported { what, got, accepted }.into());
        }
        if this.device() == DeviceId::META && num_classes > 0 || this.numel() == 0 {
            if num_classes <= 0 {
                let rule = "argument num_classes must be given where no element of self says how many there are";
                return Err(ErrorKind::ArgumentRule { rule }.into());
            }
            let sizes: Vec<i64> = this.sizes().iter().copied().chain([num_classes]).collect();
            return crate::factory::empty::<D>(&sizes, Some(DType::I64), None, Some(this.device()), None, None);
        }
        let classes = this.to_vec::<i64>()?;
        let (low, high) = classes.iter().fold((i64::MAX, i64::MIN), |(low, high), &c| (low.min(c), high.max(c)));
        let classes = if num_classes == -1 { high.saturating_add(1) } else { num_classes };
        for got in [low, high] {
            if !(0..classes).contains(&got) {
                return Err(ErrorKind::OutOfRange { arg: "self", got, low: 0, high: classes.saturating_sub(1) }.into());
            }
        }
        let sizes: Vec<i64> = this.sizes().iter().copied().chain([classes]).collect();
        let (mut vectors, place) = (new_zeros(this, sizes)?, unsqueeze(this, -1)?);
        scatter_(&mut vectors, -1, &place, 1)?;
        Ok(vectors)
    };
    make().map_err(|e: Error| e.called("one_hot"))
}

native! {
    family: RepeatedSlices, functions: crate::kernels::AllKernels;

    func: repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor,
    autogen: repeat_interleave.Tensor_out, kernel: repeated_indices;

    /// Each slice of the dimension `dim` as often as the entry of `repeats` at its place says.
    ///
    /// `repeats` is a vector of int64 or int32 with an entry for each slice, or one entry for all. Without `dim` the
    /// tensor is read as one dimension. `output_size` says how many slices the result has, and must be right; on meta
    /// tensors it has to be given.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// let rows = RepeatInterleave { dim: Some(0), ..Default::default() };
    /// let got = x.repeat_interleave_with(&tensor![2i64, 1], rows)?;
    /// assert_eq!(got.to_vec::<i32>()?, [1, 2, 1, 2, 3, 4]);
    /// ```
    func: repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *,
        SymInt? output_size=None) -> Tensor,
    variants: function, method, kernel: repeat_interleave;

    /// Each slice of the dimension `dim` so often.
    ///
    /// Without `dim` the tensor is read as one dimension.
    ///
    /// ```
    /// assert_eq!(tensor![1, 2].repeat_interleave_times(2)?.to_vec::<i32>()?, [1, 1, 2, 2]);
    /// ```
    func: repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *,
        SymInt? output_size=None) -> Tensor,
    variants: function, method, name: repeat_interleave_times, kernel: repeat_interleave_times;

    /// Each class as a vector of zeros with a one at its place, in a new last dimension.
    ///
    /// Classes are int64, from 0 on and below `num_classes`, which by default is as small as it can be.
    ///
    /// ```
    /// assert_eq!(tensor![1i64, 0].one_hot()?.to_vec::<i64>()?, [0, 1, 1, 0]);
    /// ```
    func: one_hot(Tensor self, int num_classes=-1) -> Tensor, variants: function, method, kernel: one_hot;
}
