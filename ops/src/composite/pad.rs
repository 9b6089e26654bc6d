//! Tensors put into larger ones: constant_pad_nd, pad_sequence, block_diag, _chunk_cat. Each is a tensor of one number
//! into which parts are copied.
#![deny(clippy::arithmetic_side_effects)]

use super::callees::Fillers;
use crate::table::native;
use monomorph_core::dispatch::Calls;
use monomorph_core::strides::{self, DimVec};
use monomorph_core::{
    AnyTensor, Category, DType, DeviceId, ErrorKind, MemoryFormat, Rearrangement, Result, ResultType, Scalar, Segment,
    SegmentSource, list, scalar_bytes,
};
use smallvec::SmallVec;
use std::borrow::Borrow;

pub(super) fn overflow(sizes: &[i64]) -> ErrorKind {
    ErrorKind::SizeOverflow { sizes: sizes.to_vec(), strides: Vec::new() }
}

/// `constant_pad_nd`: with `value` around it. `pad` has a pair for each dimension from the last one on: how much is
/// added in front and behind, or cut off where it is negative.
pub fn constant_pad_nd<C: Fillers>(calls: &C, this: &C::Tensor, pad: &[i64], value: Scalar) -> Result<C::Tensor> {
    let t = C::any(this);
    if pad.len() & 1 == 1 || pad.len() > t.ndim().saturating_mul(2) {
        let rule = "argument pad has two numbers for each dimension that is padded; accepted is an even length, at \
            most twice the number of dimensions";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let (mut inside, mut sizes) = (SmallVec::<[_; 6]>::new(), DimVec::from_slice(t.sizes()));
    let pairs = || (0..t.ndim()).rev().zip(pad.chunks_exact(2));
    for (d, pair) in pairs() {
        let &[front, behind] = pair else { continue };
        let size = t.sizes()[d];
        // What is cut off, of the tensor; and the size with what is added.
        let (start, end) = (front.min(0).saturating_neg(), size.saturating_add(behind.min(0)));
        let length = end.saturating_sub(start);
        let padded = size.checked_add(front).and_then(|size| size.checked_add(behind));
        sizes[d] = padded.ok_or_else(|| overflow(t.sizes()))?;
        if length < 0 || sizes[d] < 0 {
            return Err(ErrorKind::OutOfRange {
                arg: "pad",
                got: front.min(behind),
                low: size.saturating_neg(),
                high: i64::MAX,
            }
            .into());
        }
        inside.push((d, start, length));
    }
    let format = strides::suggest_format(t.sizes(), t.strides());
    let how = || {
        let segments = pairs().zip(&inside).flat_map(|((dim, pair), &(_, first, length))| {
            let border = |by: i64| Segment { dim, length: by.max(0), source: SegmentSource::Filler };
            let inside = Segment { dim, length, source: SegmentSource::Elements { first, step: 1 } };
            [border(pair[0]), inside, border(pair[1])]
        });
        Rearrangement::Segments { segments: segments.collect(), filler: scalar_bytes(value, t.dtype()) }
    };
    let adds = pad.iter().any(|&by| by > 0);
    if adds
        && value.check_fits(t.dtype(), "value").is_ok()
        && let Some(result) = calls.rearranged(this, how, format)?
    {
        return Ok(result);
    }
    let mut inner = this.clone();
    for (d, start, length) in inside {
        if (start, length) != (0, t.sizes()[d]) {
            inner = calls.narrow(&inner, d, start, length)?;
        }
    }
    if !adds {
        return calls.cloned(&inner, MemoryFormat::Preserve);
    }
    let result = calls.empty(&sizes, t.dtype(), t.device(), format)?;
    calls.fill(result.clone(), value)?;
    let mut place = result.clone();
    for (d, pair) in pairs() {
        place = calls.narrow(&place, d, pair[0].max(0), C::any(&inner).sizes()[d])?;
    }
    calls.copy_into(place, &inner)?;
    Ok(result)
}

/// `pad_sequence`: sequences of several lengths in one tensor, the shorter ones filled up.
pub fn pad_sequence<C: Fillers, T: Borrow<C::Tensor>>(
    calls: &C,
    sequences: &[T],
    batch_first: bool,
    padding_value: f64,
    padding_side: &str,
) -> Result<C::Tensor> {
    let accepted = "left and right";
    let is_left = match padding_side {
        "left" => true,
        "right" => false,
        got => return Err(ErrorKind::UnknownOption { arg: "padding_side", got: got.into(), accepted }.into()),
    };
    let Some(first) = sequences.first() else {
        return Err(ErrorKind::ArgumentRule { rule: "argument sequences is empty; give at least one tensor" }.into());
    };
    let lengths = list_of(sequences, |t: &T| match C::any(t.borrow()).sizes() {
        [] => Err(ErrorKind::DimCount { arg: "sequences", got: 0, accepted: "1 or more" }.into()),
        [length, ..] => Ok(*length),
    })?;
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let batch = usize::from(!batch_first);
    let mut sizes = DimVec::from_slice(&[longest; 2]);
    sizes[batch] = lengths.len() as i64;
    sizes.extend(C::any(first.borrow()).sizes().iter().skip(1).copied());
    let result = calls.full_like(first.borrow(), &sizes, padding_value.into())?;
    for (i, (sequence, &length)) in sequences.iter().zip(&lengths).enumerate() {
        let start = if is_left { longest.saturating_sub(length) } else { 0 };
        let place = calls.narrow(&calls.select(&result, batch, i as i64)?, 0, start, length)?;
        calls.copy_into(place, sequence.borrow())?;
    }
    Ok(result)
}

/// What `make` makes of each tensor.
fn list_of<T, R>(tensors: &[T], make: impl FnMut(&T) -> Result<R>) -> Result<Vec<R>> {
    let mut made = list::with_capacity(tensors.len())?;
    for one in tensors.iter().map(make) {
        made.push(one?);
    }
    Ok(made)
}

/// `block_diag`: matrices along the diagonal of one, zeros elsewhere.
pub fn block_diag<C: Fillers, T: Borrow<C::Tensor>>(calls: &C, tensors: &[T]) -> Result<C::Tensor> {
    let any = || tensors.iter().map(|t| C::any(t.borrow()));
    let (mut types, mut sizes) = (ResultType::default(), DimVec::from_slice(&[0, 0]));
    let device = any().next().map_or(DeviceId::CPU, AnyTensor::device);
    for t in any() {
        if t.device() != device {
            let (got, want) = (t.device(), device);
            return Err(ErrorKind::DeviceMismatch { arg: "tensors".into(), got, want }.into());
        }
        types.push(t.dtype(), if t.ndim() == 0 { Category::ZeroDim } else { Category::Dimensioned });
        for (size, part) in sizes.iter_mut().zip(matrix(t)?) {
            *size = size.checked_add(part).ok_or_else(|| overflow(t.sizes()))?;
        }
    }
    if tensors.is_empty() {
        sizes[0] = 1;
    }
    let dtype = types.dtype().unwrap_or(DType::F32);
    let result = calls.empty(&sizes, dtype, device, MemoryFormat::Contiguous)?;
    calls.fill(result.clone(), Scalar::Int(0))?;
    let [mut row, mut column] = [0_i64; 2];
    for t in tensors {
        let [rows, columns] = matrix(C::any(t.borrow()))?;
        let place = calls.narrow(&calls.narrow(&result, 0, row, rows)?, 1, column, columns)?;
        calls.copy_into(place, t.borrow())?;
        // Within the sizes of the result, which were checked.
        (row, column) = (row.saturating_add(rows), column.saturating_add(columns));
    }
    Ok(result)
}

/// The sizes of a tensor as a matrix: a vector is a row.
fn matrix(t: &AnyTensor) -> Result<[i64; 2]> {
    match t.sizes() {
        [] => Ok([1, 1]),
        [columns] => Ok([1, *columns]),
        [rows, columns] => Ok([*rows, *columns]),
        more => Err(ErrorKind::DimCount { arg: "tensors", got: more.len(), accepted: "at most 2" }.into()),
    }
}

/// `_chunk_cat`: each tensor in `num_chunks` parts along `dim`, zeros where they do not fill the last; the parts of one
/// number of all tensors side by side, flattened.
pub fn chunk_cat(calls: &Calls<'_>, tensors: &[AnyTensor], dim: i64, num_chunks: i64) -> Result<AnyTensor> {
    if num_chunks < 1 {
        return Err(ErrorKind::OutOfRange { arg: "num_chunks", got: num_chunks, low: 1, high: i64::MAX }.into());
    }
    let Some(first) = tensors.first() else {
        return Err(ErrorKind::ArgumentRule { rule: "argument tensors is empty; give at least one tensor" }.into());
    };
    let accepted = "1 or more, and more than dim";
    if first.ndim() == 0 {
        return Err(ErrorKind::DimCount { arg: "tensors", got: 0, accepted }.into());
    }
    let dim = strides::wrap_dim(dim, first.ndim(), "dim")?;
    let mut parts = list::with_capacity(tensors.len())?;
    for t in tensors {
        super::repeat::one_dtype(first, t)?;
        if t.ndim() <= dim {
            return Err(ErrorKind::DimCount { arg: "tensors", got: t.ndim(), accepted }.into());
        }
        if t.sizes()[..dim] != first.sizes()[..dim] {
            let (got, want) = (t.sizes().to_vec(), first.sizes().to_vec());
            return Err(ErrorKind::UnequalSizes { arg: "tensors", got, want }.into());
        }
        if t.numel() == 0 {
            let rule = "argument tensors has a tensor without elements; accepted are tensors with some";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        // Not below zero, and more than 0 of `num_chunks`: what is missing to whole parts.
        let missing = t.sizes()[dim].wrapping_neg().checked_rem_euclid(num_chunks).unwrap_or(0);
        // A pair for each dimension from the last one on.
        let mut pad = vec![0; t.ndim().saturating_sub(dim).saturating_mul(2)];
        if let Some(last) = pad.last_mut() {
            *last = missing;
        }
        let padded = if missing == 0 { t.clone() } else { constant_pad_nd(calls, t, &pad, Scalar::Int(0))? };
        let mut sizes = DimVec::from_slice(&first.sizes()[..dim]);
        sizes.extend([num_chunks, -1]);
        parts.push(super::callees::Callees::reshape(calls, &padded, &sizes)?);
    }
    super::callees::Callees::cat(calls, parts, dim.saturating_add(1))
}

native! {
    family: Pads, functions: crate::fill::Fills;

    /// The tensor with a border of `value`, 0 unless options say otherwise.
    ///
    /// `pad` has two numbers for each dimension that is padded, from the last one on: how many elements are added in
    /// front and behind. Negative numbers cut elements off. The result is a copy.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.constant_pad_nd((1, 0))?.to_vec::<i32>()?, [0, 1, 2, 0, 3, 4]);
    /// assert_eq!(x.constant_pad_nd((0, -1, 1, 0))?.to_vec::<i32>()?, [0, 1, 3]);
    /// ```
    func: constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor,
    autogen: constant_pad_nd.out, variants: function, direct: true, composed: explicit constant_pad_nd;

    /// Sequences of several lengths in one tensor; where one ends early there is `padding_value`.
    ///
    /// The sizes are `[longest, sequences, ..]`, or `[sequences, longest, ..]` with the option `batch_first`; the dtype
    /// is that of the first sequence. With `padding_side` `"left"` the padding comes first.
    ///
    /// ```
    /// let all = [tensor![1, 2, 3], tensor![4]];
    /// let padded = ops::pad_sequence_with(&all, PadSequence { batch_first: true, ..Default::default() })?;
    /// assert_eq!(padded.to_vec::<i32>()?, [1, 2, 3, 4, 0, 0]);
    /// ```
    func: pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str padding_side="right")
        -> Tensor,
    variants: function, composed: implicit pad_sequence;

    /// A matrix with the given ones along its diagonal, and 0 elsewhere.
    ///
    /// A vector is a matrix of one row. The dtype is the one that all promote to.
    ///
    /// ```
    /// let blocks = ops::block_diag(&[tensor![[1, 2]], tensor![[3]]])?;
    /// assert_eq!(blocks.to_vec::<i32>()?, [1, 2, 0, 0, 0, 3]);
    /// ```
    func: block_diag(Tensor[] tensors) -> Tensor,
    autogen: block_diag.out, variants: function, composed: explicit block_diag;

    func: _chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor,
    out: _chunk_cat.out, composite: explicit chunk_cat;
}
