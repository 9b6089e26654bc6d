//! [`TensorIter`]: a finished plan. Shapes, strides and dtypes of all operands, without a pointer; how they came about
//! is in `plan`, how they are walked in `walk`.

use crate::finish;
use monomorph_core::{DType, ErrorKind, Result};
use smallvec::SmallVec;

/// Byte offsets, one per operand.
pub type Offsets = SmallVec<[isize; 4]>;

/// What is fixed about one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fixed {
    pub(crate) dtype: DType,
    pub(crate) loop_dtype: DType,
    pub(crate) conj: bool,
    pub(crate) neg: bool,
}

/// A planned iteration over several strided operands, outputs first.
///
/// The shape is innermost first, and neighbouring dimensions that every operand walks as one are merged.
///
/// Whatever is asked of an operand or a dimension that there is none of has the answer of an absent one: no strides, no
/// bits, not reduced, and the common dtype.
///
/// Invariants, relied on by the walks:
/// * I1: `strides` has `shape.len()` entries per operand, operand by operand.
/// * I2: for each operand, every index within `shape` is an index within the operand's own sizes (after broadcasting),
///   so `Σ index·stride` is the byte offset of an element from the operand's first.
/// * I3: `numel` is the product of `shape`, and no partial product overflows unless one size is 0.
/// * I4: unless `serial` is set, elements of different indices of an output that is not reduced lie apart, and no
///   output shares bytes with another operand except at equal indices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TensorIter {
    pub(crate) shape: SmallVec<[usize; 6]>,
    pub(crate) perm: SmallVec<[usize; 6]>,
    pub(crate) strides: SmallVec<[isize; 20]>,
    pub(crate) operands: SmallVec<[Fixed; 4]>,
    pub(crate) noutputs: usize,
    pub(crate) numel: usize,
    pub(crate) common: Option<DType>,
    pub(crate) serial: bool,
    pub(crate) reduction: bool,
    /// At most one dimension, in which every operand is dense or, unless it is an output, has stride 0; no bits.
    pub(crate) flat: bool,
}

/// A part of an iteration, and where its operands begin.
#[derive(Clone, Debug)]
pub struct Narrowed {
    /// The part.
    pub iter: TensorIter,
    /// Bytes from each operand's base of the whole to its base of the part.
    pub offsets: Offsets,
}

impl Narrowed {
    /// The bases of the part, from those of the whole. They are dangling if the bases are.
    pub fn bases(&self, whole: &[*mut u8]) -> SmallVec<[*mut u8; 4]> {
        whole.iter().zip(&self.offsets).map(|(p, &offset)| p.wrapping_offset(offset)).collect()
    }
}

impl TensorIter {
    /// The number of dimensions after coalescing.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// The sizes, innermost first, coalesced.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        self.numel
    }

    /// The number of outputs; they are the first operands.
    #[inline]
    pub fn noutputs(&self) -> usize {
        self.noutputs
    }

    /// The number of inputs.
    #[inline]
    pub fn ninputs(&self) -> usize {
        self.operands.len().saturating_sub(self.noutputs)
    }

    /// The number of operands, outputs and inputs.
    #[inline]
    pub fn noperands(&self) -> usize {
        self.operands.len()
    }

    /// The strides of operand `k` in bytes, innermost first.
    #[inline]
    pub fn strides(&self, k: usize) -> &[isize] {
        let n = self.shape.len();
        let start = k.saturating_mul(n);
        self.strides.get(start..start.saturating_add(n)).unwrap_or(&[])
    }

    /// The dtype of operand `k` as it lies in memory.
    #[inline]
    pub fn dtype(&self, k: usize) -> DType {
        self.operands.get(k).map_or_else(|| self.common_dtype(), |op| op.dtype)
    }

    /// The dtype that the loop computes with for operand `k`: the common dtype for a promoted input or a cast output,
    /// bool for a mask, else its own. Where it differs from [`dtype`](TensorIter::dtype) the loop converts on load or
    /// store.
    #[inline]
    pub fn loop_dtype(&self, k: usize) -> DType {
        self.operands.get(k).map_or_else(|| self.common_dtype(), |op| op.loop_dtype)
    }

    /// True if some operand is converted on load or store.
    pub fn has_casts(&self) -> bool {
        self.operands.iter().any(|op| op.dtype != op.loop_dtype)
    }

    /// The common dtype of the inputs; that of output 0 if there is no input, or if they differ and are not promoted.
    pub fn common_dtype(&self) -> DType {
        self.common.or(self.operands.first().map(|op| op.loop_dtype)).unwrap_or(DType::F32)
    }

    /// The common dtype, if the inputs have one.
    pub fn maybe_common_dtype(&self) -> Option<DType> {
        self.common
    }

    /// True if the stored elements of operand `k` are the conjugates of its values.
    #[inline]
    pub fn is_conj(&self, k: usize) -> bool {
        self.operands.get(k).is_some_and(|op| op.conj)
    }

    /// True if the stored elements of operand `k` are the negatives of its values.
    #[inline]
    pub fn is_neg(&self, k: usize) -> bool {
        self.operands.get(k).is_some_and(|op| op.neg)
    }

    /// True if it is not known that the operands lie apart, so that elements must be done one after the other, in
    /// order.
    #[inline]
    pub fn must_be_serial(&self) -> bool {
        self.serial
    }

    /// True if this is a reduction.
    pub fn is_reduction(&self) -> bool {
        self.reduction
    }

    /// True if every operand is one dense run of elements in the order of the walk.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.numel == 1 || (self.ndim() == 1 && self.has_contiguous_first_dim())
    }

    /// True if the innermost dimension of every operand is dense.
    pub fn has_contiguous_first_dim(&self) -> bool {
        let dense = |(k, op): (usize, &Fixed)| self.strides(k).first() == Some(&(op.dtype.size() as isize));
        self.ndim() == 0 || self.operands.iter().enumerate().all(dense)
    }

    /// True if there is at most one dimension, in which every operand is a dense run or, if it is an input, one element
    /// for all; and stored elements are the values.
    #[inline]
    pub fn is_flat(&self) -> bool {
        self.flat
    }

    /// The dtypes of the operands as they lie in memory, outputs first.
    #[inline]
    pub fn dtypes(&self) -> impl Iterator<Item = DType> + '_ {
        self.operands.iter().map(|op| op.dtype)
    }

    /// Finds out whether the iteration [is flat](TensorIter::is_flat).
    pub(crate) fn find_flat(&mut self) {
        let run = |(k, op): (usize, &Fixed)| {
            let fits = |&stride: &isize| stride == op.dtype.size() as isize || (stride == 0 && k >= self.noutputs);
            !op.conj && !op.neg && self.strides(k).first().is_none_or(fits)
        };
        self.flat = self.ndim() <= 1 && self.operands.iter().enumerate().all(run);
    }

    /// For each dimension in the order of the walk, before coalescing, which dimension of the broadcast shape it is.
    /// Empty if the fast set-up made sorting needless.
    pub fn perm(&self) -> &[usize] {
        &self.perm
    }

    /// True if some output has stride 0 in dimension `dim`, which has more than one element.
    pub fn is_dim_reduced(&self, dim: usize) -> bool {
        let size = self.shape.get(dim).copied().unwrap_or(0);
        size > 1 && (0..self.noutputs).any(|k| self.strides(k).get(dim) == Some(&0))
    }

    /// How many dimensions are reduced.
    pub fn num_reduce_dims(&self) -> usize {
        (0..self.ndim()).filter(|&d| self.is_dim_reduced(d)).count()
    }

    /// How many elements output 0 has.
    pub fn num_output_elements(&self) -> usize {
        if self.numel == 0 && self.shape.is_empty() {
            return 0;
        }
        (0..self.ndim()).filter(|&d| !self.is_dim_reduced(d)).map(|d| self.shape[d]).fold(1, usize::saturating_mul)
    }

    /// True if every offset within every operand fits 32 bits.
    pub fn can_use_32bit_indexing(&self) -> bool {
        let max = i32::MAX as usize;
        if self.numel > max {
            return false;
        }
        (0..self.noperands()).all(|k| {
            let reach =
                |(&size, &stride): (&usize, &isize)| size.saturating_sub(1).saturating_mul(stride.unsigned_abs());
            self.shape.iter().zip(self.strides(k)).map(reach).fold(1, usize::saturating_add) <= max
        })
    }

    /// The part with `len` indices of dimension `dim` from `start`. An error if the iteration has no such indices.
    pub fn narrow(&self, dim: usize, start: usize, len: usize) -> Result<Narrowed> {
        let high = self.shape.get(dim).copied();
        let end = start.checked_add(len);
        if high.is_none_or(|size| end.is_none_or(|end| end > size)) {
            let clamp = |x: usize| i64::try_from(x).unwrap_or(i64::MAX);
            return Err(ErrorKind::OutOfRange {
                arg: "start + length",
                got: clamp(start.saturating_add(len)),
                low: 0,
                high: clamp(high.unwrap_or(0)),
            }
            .into());
        }
        let mut iter = self.clone();
        iter.shape[dim] = len;
        let offsets = (0..self.noperands()).map(|k| self.strides(k)[dim].wrapping_mul(start as isize)).collect();
        iter.numel = finish::product(&iter.shape);
        if len == 1 {
            finish::coalesce(&mut iter);
        }
        Ok(Narrowed { iter, offsets })
    }

    /// Both halves of dimension `dim`.
    pub fn split(&self, dim: usize) -> Result<[Narrowed; 2]> {
        let size = self.shape.get(dim).copied().unwrap_or(0);
        let half = size / 2;
        Ok([self.narrow(dim, 0, half)?, self.narrow(dim, half, size - half)?])
    }

    /// The dimension whose halving separates the operands most: the one with the largest reach in bytes. `None` if
    /// there is nothing to halve.
    pub fn dim_to_split(&self) -> Option<usize> {
        let reach = |d: usize| {
            let strides = (0..self.noperands()).map(|k| self.strides(k)[d].unsigned_abs());
            strides.max().unwrap_or(0).saturating_mul(self.shape[d].saturating_sub(1))
        };
        (0..self.ndim()).filter(|&d| self.shape[d] > 1).max_by_key(|&d| reach(d))
    }
}
