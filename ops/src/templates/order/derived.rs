//! What follows from operators on rows: argsort, msort, the median of all elements, combinations.

use super::{Order, OrderInputs, SortFn};
use crate::copies::{reshape, to_dtype};
use crate::factory::{empty, full};
use crate::functions::{median_dim, nanmedian_dim};
use crate::kernels::AllKernels;
use crate::table::native;
use monomorph_core::structured::{FromArgs, Functional, Out, call};
use monomorph_core::{DType, Error, ErrorKind, Result, Tensor, list, observe, with_element};

/// Values and indices in order.
fn sorted<D: AllKernels>(this: &Tensor<D>, dim: i64, descending: bool) -> Result<[Tensor<D>; 2]> {
    let inputs = OrderInputs::<SortFn>::from_args((this, dim, descending))?;
    call::<Order<SortFn>, D, _>(&inputs, Functional::default())
}

/// The same in tensors of the caller.
fn sorted_to<D: AllKernels>(this: &Tensor<D>, dim: i64, descending: bool, out: [&mut Tensor<D>; 2]) -> Result<()> {
    let inputs = OrderInputs::<SortFn>::from_args((this, dim, descending))?;
    call::<Order<SortFn>, D, _>(&inputs, Out(out)).map(drop)
}

/// A tensor without elements, to be resized.
fn unsized_tensor<D: AllKernels>(this: &Tensor<D>, dtype: DType) -> Result<Tensor<D>> {
    empty(&[0], Some(dtype), None, Some(this.device()), None, None)
}

/// `argsort`: the indices of the elements in order.
pub fn argsort<D: AllKernels>(this: &Tensor<D>, dim: i64, descending: bool) -> Result<Tensor<D>> {
    let _span = observe::operator("argsort", [this.geometry()]);
    let [_, indices] = sorted(this, dim, descending).map_err(|e| e.of("argsort"))?;
    Ok(indices)
}

/// `argsort.stable`: the same; sorting is always stable.
pub fn argsort_stable<D: AllKernels>(this: &Tensor<D>, _stable: bool, dim: i64, descending: bool) -> Result<Tensor<D>> {
    let _span = observe::operator("argsort", [this.geometry()]);
    argsort(this, dim, descending)
}

/// `argsort.stable_out`.
pub fn argsort_stable_out<D: AllKernels>(
    this: &Tensor<D>,
    _stable: bool,
    dim: i64,
    descending: bool,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("argsort", [this.geometry()]);
    let mut values = unsized_tensor(this, this.dtype())?;
    sorted_to(this, dim, descending, [&mut values, out]).map_err(|e| e.of("argsort"))
}

/// `msort`: the elements in order along the first dimension.
pub fn msort<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("msort", [this.geometry()]);
    let [values, _] = sorted(this, 0, false).map_err(|e| e.of("msort"))?;
    Ok(values)
}

/// `msort.out`.
pub fn msort_out<D: AllKernels>(this: &Tensor<D>, out: &mut Tensor<D>) -> Result<()> {
    let _span = observe::operator("msort", [this.geometry()]);
    let mut indices = unsized_tensor(this, DType::I64)?;
    sorted_to(this, 0, false, [out, &mut indices]).map_err(|e| e.of("msort"))
}

/// A tensor's elements as a row; `None` if there are none.
fn row<D: AllKernels>(this: &Tensor<D>) -> Result<Option<Tensor<D>>> {
    if this.numel() == 0 { Ok(None) } else { reshape(this, &[-1]).map(Some) }
}

/// The median of no elements: NaN, converted.
fn of_nothing<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let nan = full(&[], f64::NAN, Some(DType::F32), None, Some(this.device()), None)?;
    to_dtype(&nan, this.dtype(), false, false, None)
}

/// `median` of all elements.
pub fn median<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("median", [this.geometry()]);
    let make = || match row(this)? {
        Some(row) => Ok(median_dim(&row, 0)?.0),
        None => of_nothing(this),
    };
    make().map_err(|e: Error| e.of("median"))
}

/// `nanmedian` of all elements.
pub fn nanmedian<D: AllKernels>(this: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("nanmedian", [this.geometry()]);
    let make = || match row(this)? {
        Some(row) => Ok(nanmedian_dim(&row, 0)?.0),
        None => of_nothing(this),
    };
    make().map_err(|e: Error| e.of("nanmedian"))
}

/// `combinations`: the choices of `r` elements of a row, in the order of their places.
pub fn combinations<D: AllKernels>(this: &Tensor<D>, r: i64, with_replacement: bool) -> Result<Tensor<D>> {
    let _span = observe::operator("combinations", [this.geometry()]);
    let make = || {
        if this.ndim() != 1 {
            return Err(ErrorKind::DimCount { arg: "self", got: this.ndim(), accepted: "1" }.into());
        }
        let Ok(length) = usize::try_from(r) else {
            return Err(ErrorKind::OutOfRange { arg: "r", got: r, low: 0, high: i64::MAX }.into());
        };
        if length == 0 {
            return unsized_tensor(this, this.dtype());
        }
        let (count, places) = choices(this.numel(), length, with_replacement)?;
        if D::MEMORY.is_none() {
            return Tensor::zeros_contiguous(this.dtype(), &[count as i64, r]);
        }
        with_element!(this.dtype(), T => {
            let elements = this.to_vec::<T>()?;
            let mut chosen = list::with_capacity(places.len())?;
            chosen.extend(places.iter().filter_map(|&place| elements.get(place as usize).copied()));
            Tensor::<D>::from_slice_on(this.device().index, &chosen, [count as i64, r])
        })
    };
    make().map_err(|e: Error| e.of("combinations"))
}

/// The places of all choices one after another, and the number of choices.
fn choices(n: usize, length: usize, with_replacement: bool) -> Result<(usize, Vec<u32>)> {
    // How many there are: of n places, or of as many more as may repeat.
    let total = if with_replacement { n.saturating_add(length.saturating_sub(1)) } else { n };
    let mut count = if n == 0 || length > total { 0 } else { 1_usize };
    // As many as there are of those that are left out.
    for i in 0..length.min(total.saturating_sub(length)) {
        let (more, by) = (total.saturating_sub(i), i.saturating_add(1));
        let product = (count as u128).saturating_mul(more as u128).checked_div(by as u128).unwrap_or(0);
        // There are only more of longer choices, and these are too many already.
        let Ok(so_far) = usize::try_from(product) else {
            count = usize::MAX;
            break;
        };
        count = so_far;
    }
    let limit = u32::MAX as usize;
    if count > 0 && (n > limit || length > limit) {
        return Err(ErrorKind::TooManyElements { sizes: vec![n as i64, length as i64], limit }.into());
    }
    let all = count.saturating_mul(length);
    let mut places: Vec<u32> = list::with_capacity(all)?;
    if count == 0 {
        return Ok((0, places));
    }
    let next = u32::from(!with_replacement);
    let mut choice: Vec<u32> = list::with_capacity(length)?;
    choice.extend((0..length as u32).map(|i| i.saturating_mul(next)));
    let behind = |i: usize| length.saturating_sub(1).saturating_sub(i).saturating_mul(next as usize);
    let last = |i: usize| n.saturating_sub(1).saturating_sub(behind(i));
    loop {
        places.extend_from_slice(&choice);
        // The last place that can move moves on, and those behind it follow.
        let Some(moving) = (0..length).rev().find(|&i| (choice[i] as usize) < last(i)) else { break };
        let mut place = choice[moving].saturating_add(1);
        for at in choice.iter_mut().skip(moving) {
            *at = place;
            place = place.saturating_add(next);
        }
    }
    Ok((count, places))
}

native! {
    family: Sorted, functions: crate::kernels::AllKernels;

    /// The indices of the elements of each row along the dimension `dim` in order.
    ///
    /// They are those that [`sort`](super::functions::sort) gives.
    ///
    /// ```
    /// assert_eq!(tensor![3, 1, 2].argsort(0)?.to_vec::<i64>()?, [1, 2, 0]);
    /// ```
    func: argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor,
    variants: function, positional: [dim], kernel: argsort;

    func: argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor,
    kernel: argsort_stable;

    func: argsort.stable_out(Tensor self, *, bool stable, int dim=-1, bool descending=False, Tensor(a!) out)
        -> Tensor(a!),
    kernel: argsort_stable_out;

    /// The elements in order along the first dimension.
    ///
    /// ```
    /// assert_eq!(tensor![[3, 1], [2, 4]].msort()?.to_vec::<i32>()?, [2, 1, 3, 4]);
    /// ```
    func: msort(Tensor self) -> Tensor,
    variants: function, kernel: msort;

    func: msort.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!),
    kernel: msort_out;

    /// The median of all elements, the lower one of two.
    ///
    /// NaN is the median if there is one. So it is of no elements, which in integers is the lowest number or 0.
    ///
    /// ```
    /// assert_eq!(tensor![[3, 9], [1, 7]].median()?.item()?, 3.into());
    /// ```
    func: median(Tensor self) -> Tensor,
    autogen: median.out, variants: function, kernel: median;

    /// The median of all elements that are not NaN, the lower one of two.
    ///
    /// ```
    /// assert_eq!(tensor![3.0f32, f32::NAN, 1.0].nanmedian()?.item()?, 1.0.into());
    /// ```
    func: nanmedian(Tensor self) -> Tensor,
    autogen: nanmedian.out, variants: function, kernel: nanmedian;

    /// The choices of two elements of a row, or of `r`, as the rows of a matrix.
    ///
    /// They come in the order of the places of their elements; with `with_replacement` an element is chosen more than
    /// once.
    ///
    /// ```
    /// let pairs = tensor![1, 2, 3].combinations()?;
    /// assert_eq!(pairs.to_vec::<i32>()?, [1, 2, 1, 3, 2, 3]);
    /// ```
    func: combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor,
    variants: function, kernel: combinations;
}
