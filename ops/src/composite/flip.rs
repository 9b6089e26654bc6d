//! Elements in another order along dimensions: flip and its relatives, roll, rot90. A flip is one copy that reads from
//! the end of a dimension; the others are flips, transposes and joins.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Callees;
use crate::table::native;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{
    Device, Error, ErrorKind, MemoryFormat, Rearrangement, Result, Segment, SegmentSource, Tensor, observe,
};

/// `flip`: in reverse order along `dims`.
pub fn flip<D: Device>(this: &Tensor<D>, dims: &[i64]) -> Result<Tensor<D>> {
    let _span = observe::operator("flip", [this.geometry()]);
    let is_in = strides::wrap_dims(dims, this.ndim(), "dims");
    let flipped =
        is_in.and_then(|mask| this.reversed(|d| mask.checked_shr(d as u32).is_some_and(|bits| bits & 1 == 1)));
    flipped.map_err(|e: Error| e.of("flip"))
}

/// A flip of a dimension that the tensor must have.
fn flipped<C: Callees>(calls: &C, this: &C::Tensor, dim: usize, accepted: &'static str) -> Result<C::Tensor> {
    let got = C::any(this).ndim();
    if got <= dim {
        return Err(ErrorKind::DimCount { arg: "self", got, accepted }.into());
    }
    calls.flip(this, &[dim as i64])
}

/// `fliplr`: in reverse order along the second dimension.
pub fn fliplr<C: Callees>(calls: &C, this: &C::Tensor) -> Result<C::Tensor> {
    flipped(calls, this, 1, "2 or more")
}

/// `flipud`: in reverse order along the first dimension.
pub fn flipud<C: Callees>(calls: &C, this: &C::Tensor) -> Result<C::Tensor> {
    flipped(calls, this, 0, "1 or more")
}

/// `rot90`: the plane of two dimensions turned by quarters.
pub fn rot90<C: Callees>(calls: &C, this: &C::Tensor, k: i64, dims: &[i64]) -> Result<C::Tensor> {
    let &[first, second] = dims else {
        return Err(ErrorKind::ListLength { arg: "dims", got: dims.len(), want: 2 }.into());
    };
    let ndim = C::any(this).ndim();
    if ndim < 2 {
        return Err(ErrorKind::DimCount { arg: "self", got: ndim, accepted: "2 or more" }.into());
    }
    let (a, b) = (strides::wrap_dim(first, ndim, "dims")?, strides::wrap_dim(second, ndim, "dims")?);
    if a == b {
        return Err(ErrorKind::DimRepeated { arg: "dims", dim: a }.into());
    }
    match k.rem_euclid(4) {
        1 => calls.transpose(&calls.flip(this, &[b as i64])?, a, b),
        2 => calls.flip(this, &[a as i64, b as i64]),
        3 => calls.transpose(&calls.flip(this, &[a as i64])?, a, b),
        _ => calls.cloned(this, MemoryFormat::Contiguous),
    }
}

/// `roll`: moved along dimensions, those that leave at the end entering at the start; without dims along all of them,
/// in row-major order.
pub fn roll<C: Callees>(calls: &C, this: &C::Tensor, shifts: &[i64], dims: &[i64]) -> Result<C::Tensor> {
    let Some((&shift, others)) = shifts.split_first() else {
        return Err(ErrorKind::ArgumentRule { rule: "argument shifts is empty; give at least one shift" }.into());
    };
    // What has no elements is moved by whatever is given.
    if C::any(this).numel() == 0 && (dims.len(), shifts.len()) == (1, 1) {
        return calls.cloned(this, MemoryFormat::Preserve);
    }
    if dims.is_empty() && others.is_empty() {
        let flat = calls.view(&contiguous(calls, this)?, &[C::any(this).numel() as i64])?;
        let rolled = match rolled_at_once(calls, &flat, &[shift], &[0])? {
            Some(rolled) => rolled,
            None => rolled(calls, &flat, shift, 0)?,
        };
        return calls.view(&rolled, C::any(this).sizes());
    }
    if dims.len() != shifts.len() {
        return Err(ErrorKind::ListLength { arg: "dims", got: dims.len(), want: shifts.len() }.into());
    }
    if let Some(rolled) = rolled_at_once(calls, this, shifts, dims)? {
        return Ok(rolled);
    }
    let mut all = shifts.iter().zip(dims);
    let first = all.next().map_or_else(|| Ok(this.clone()), |(&shift, &dim)| rolled(calls, this, shift, dim))?;
    all.try_fold(first, |t, (&shift, &dim)| rolled(calls, &t, shift, dim))
}

fn contiguous<C: Callees>(calls: &C, this: &C::Tensor) -> Result<C::Tensor> {
    let (t, format) = (C::any(this), MemoryFormat::Contiguous);
    if t.is_contiguous() { Ok(this.clone()) } else { calls.cloned(this, format) }
}

/// Along one dimension.
fn rolled<C: Callees>(calls: &C, this: &C::Tensor, shift: i64, dim: i64) -> Result<C::Tensor> {
    let t = C::any(this);
    if t.numel() == 0 {
        return calls.cloned(this, MemoryFormat::Preserve);
    }
    if t.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "self", got: 0, accepted: "1 or more where dims are named" }.into());
    }
    let dim = strides::wrap_dim(dim, t.ndim(), "dims")?;
    let size = t.sizes()[dim];
    let start = start_of(shift, size);
    let tail = calls.narrow(this, dim, start, size.wrapping_sub(start))?;
    let head = calls.narrow(this, dim, 0, start)?;
    calls.cat(vec![tail, head], dim)
}

/// Which place a dimension of this size, more than 0, begins with when it has been rolled.
fn start_of(shift: i64, size: i64) -> i64 {
    shift.checked_rem_euclid(size).map_or(0, |shift| size.wrapping_sub(shift).checked_rem(size).unwrap_or(0))
}

/// Along all dimensions in one pass, where the device has a kernel for it; errors are left to the steps one by one.
fn rolled_at_once<C: Callees>(calls: &C, this: &C::Tensor, shifts: &[i64], dims: &[i64]) -> Result<Option<C::Tensor>> {
    let t = C::any(this);
    if t.numel() == 0 || t.ndim() == 0 {
        return Ok(None);
    }
    let (mut starts, mut strides) = (DimVec::from_elem(0, t.ndim()), DimVec::from_slice(t.strides()));
    let mut format = MemoryFormat::Contiguous;
    for (&shift, &dim) in shifts.iter().zip(dims) {
        let Ok(dim) = strides::wrap_dim(dim, t.ndim(), "dims") else { return Ok(None) };
        let size = t.sizes()[dim];
        let start = start_of(shift, size);
        // Of two places of the dimension, which do not overflow together.
        starts[dim] = starts[dim].wrapping_add(start).checked_rem(size).unwrap_or(0);
        format = joined_format(t.sizes(), &strides, dim, start);
        strides = strides::strides_for(t.sizes(), format)?;
    }
    let how = || {
        let parts = starts.iter().zip(t.sizes()).enumerate().filter(|(_, (start, _))| **start > 0);
        let segments = parts.flat_map(|(dim, (&start, &size))| {
            [(size.wrapping_sub(start), start), (start, 0)].map(|(length, first)| Segment {
                dim,
                length,
                source: SegmentSource::Elements { first, step: 1 },
            })
        });
        Rearrangement::Segments { segments: segments.collect(), filler: [0; 16] }
    };
    calls.rearranged(this, how, format)
}

/// The format of a tensor's two parts, from `start` on and before it, when they are joined: the one that both prefer.
fn joined_format(sizes: &[i64], strides: &[i64], dim: usize, start: i64) -> MemoryFormat {
    let format = |length: i64| {
        let mut part = DimVec::from_slice(sizes);
        part[dim] = length;
        strides::suggest_format(&part, strides)
    };
    let tail = format(sizes[dim].wrapping_sub(start));
    if tail == format(start) { tail } else { MemoryFormat::Contiguous }
}

native! {
    family: Flips, functions: crate::fill::Fills;

    /// A copy with the elements in reverse order along the dimensions `dims`.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.flip(0)?.to_vec::<i32>()?, [3, 4, 1, 2]);
    /// assert_eq!(x.flip((0, 1))?.to_vec::<i32>()?, [4, 3, 2, 1]);
    /// ```
    func: flip(Tensor self, int[] dims) -> Tensor,
    autogen: flip.out, variants: function, kernel: flip;

    /// A copy with the elements in reverse order along the second dimension: left and right change places.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].fliplr()?.to_vec::<i32>()?, [2, 1, 4, 3]);
    /// ```
    func: fliplr(Tensor self) -> Tensor,
    variants: function, composed: implicit fliplr;

    /// A copy with the elements in reverse order along the first dimension: above and below change places.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].flipud()?.to_vec::<i32>()?, [3, 4, 1, 2]);
    /// ```
    func: flipud(Tensor self) -> Tensor,
    variants: function, composed: implicit flipud;

    /// Turns the plane of two dimensions by `k` quarters, from the first towards the second.
    ///
    /// `k` is 1 and the dimensions are the first two unless options say otherwise; the result is always a copy.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2], [3, 4]].rot90()?.to_vec::<i32>()?, [2, 4, 1, 3]);
    /// ```
    func: rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor,
    autogen: rot90.out, variants: function, composed: explicit rot90;

    /// Moves elements along dimensions; those that leave at the end enter at the start.
    ///
    /// Each shift is along one of the option `dims`. Without it there is one shift, of all elements in row-major order.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.roll(1)?.to_vec::<i32>()?, [6, 1, 2, 3, 4, 5]);
    /// let rows = x.roll_with(1, Roll { dims: &[1], ..Default::default() })?;
    /// assert_eq!(rows.to_vec::<i32>()?, [3, 1, 2, 6, 4, 5]);
    /// ```
    func: roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor,
    autogen: roll.out, variants: function, direct: true, composed: explicit roll;
}
