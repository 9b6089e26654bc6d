//! Reductions whose elements are computed in the loop that accumulates them, where their operands suit it: lanes are
//! along a kept dimension, along which each operand is dense or has one element.
//!
//! ```text
//!           lanes: centres k          x[n, 1, d] − c[1, k, d], summed along d
//!          c[0,d] c[1,d] c[2,d] …     c is small: a copy has k innermost
//! rows: d  x[n,d] x[n,d] x[n,d] …     x has one element a row: a register full of it
//! ```

use super::driver::{Compute, Driver, TaskRunner};
use super::fused_block::{BLOCK_LANES, OperandRow, OperandRows};
use super::fused_kernel::{FusedKernel, FusedKernels};
use super::lanes::Lanes;
use super::layout::{Dim, DimVec, Task, Vectorization};
use super::rows::GROUP_ROWS;
use super::runs::Runs;
use crate::pointwise::Producer;
use monomorph_core::{DType, Result, Strided, list};
use monomorph_iter::TensorIter;
use smallvec::SmallVec;
use std::ops::Range;

/// The most lanes of a row. Longer rows are computed in windows, which read each operand in order.
const MAX_LANES: usize = 128;

/// An operand is copied if the reduction has at least so many times its elements.
const MIN_USES: usize = 8;

/// A reduction of elements that are computed where they are accumulated.
pub(super) struct Fused {
    kernel: FusedKernel,
    /// Sizes of the dimensions of the iteration that computes the elements, innermost first.
    shape: SmallVec<[usize; 4]>,
    operands: SmallVec<[Source; 4]>,
    lanes: Part,
    /// The reduced dimensions, innermost first, as the elements lie.
    reduced: DimVec,
    /// Bytes of an element.
    size: usize,
}

/// One operand.
struct Source {
    /// Bytes from one element to the next along each dimension.
    strides: SmallVec<[isize; 4]>,
    /// Bytes of an element.
    size: usize,
    /// Bytes from one element to the next along the lanes and along the innermost reduced dimension, and from the lanes
    /// of one output to those of the next.
    steps: [isize; 3],
    reordered: Option<Reordered>,
}

/// An operand in another order, copied for each run anew.
struct Reordered {
    own: Vec<u128>,
    dtype: DType,
    /// Sizes of the dimensions that it has, and strides of the operand and of the copy, in elements.
    dims: [SmallVec<[i64; 4]>; 3],
}

/// Dimensions of a reduction are those of the iteration that computes the elements, or several of them in one, or parts
/// of them: one such part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    size: usize,
    /// The dimension of the iteration.
    dim: usize,
    /// How many of its elements are between one of the part's and the next.
    step: usize,
}

impl Part {
    /// The parts of a dimension of a reduction, innermost first, over elements of so many bytes.
    fn of(dim: &Dim, iter: &TensorIter) -> Option<SmallVec<[Part; 2]>> {
        let (mut parts, mut low, end) = (SmallVec::new(), dim.input, dim.input.checked_mul(dim.size as isize)?);
        while low < end {
            let has = |&d: &usize| (iter.strides(0)[d]..iter.strides(0)[d] * iter.shape()[d] as isize).contains(&low);
            let d = (0..iter.ndim()).find(has)?;
            let stride = iter.strides(0)[d];
            let high = end.min(stride * iter.shape()[d] as isize);
            if low % stride != 0 || high % low != 0 {
                return None;
            }
            parts.push(Part { size: (high / low) as usize, dim: d, step: (low / stride) as usize });
            low = high;
        }
        Some(parts)
    }

    /// Bytes between two elements of an operand with these strides.
    fn stride(&self, strides: &[isize]) -> isize {
        strides[self.dim] * self.step as isize
    }
}

impl Fused {
    /// The way to compute a reduction of what the producer gives by one of the kernels; `None` if its operands suit
    /// none.
    pub(super) fn new(
        FusedKernels(kernels): FusedKernels,
        driver: &Driver,
        producer: &Producer,
        iter: &TensorIter,
    ) -> Result<Option<Fused>> {
        let (layout, size) = (&driver.layout, iter.dtype(0).size());
        let Vectorization::Outer(dim, _) = layout.vectorization else { return Ok(None) };
        let parts = |dims: &[Dim]| -> Option<SmallVec<[Part; 2]>> {
            dims.iter().map(|dim| Part::of(dim, iter)).try_fold(SmallVec::new(), |mut all, parts| {
                all.extend(parts?);
                Some(all)
            })
        };
        let (Some(kept), Some(reduced)) = (parts(&[dim]), parts(&layout.reduced)) else { return Ok(None) };
        let (Some((&lanes, outputs)), Some(&rows)) = (kept.split_first(), reduced.first()) else { return Ok(None) };
        // Groups of rows are the same wherever runs end that are whole groups.
        let has_whole_groups = reduced.len() == 1 || rows.size.is_multiple_of(GROUP_ROWS);
        let suits = (BLOCK_LANES..=MAX_LANES).contains(&lanes.size) && outputs.len() <= 1 && has_whole_groups;
        if !suits || !driver.stager.is_direct() || driver.stager.size() != size {
            return Ok(None);
        }
        let mut operands = SmallVec::new();
        for k in 1..iter.noperands() {
            let Some(element) = producer.direct(k) else { return Ok(None) };
            let mut source = Source { strides: iter.strides(k).into(), size: element, steps: [0; 3], reordered: None };
            if ![0, element as isize].contains(&lanes.stride(&source.strides)) && !source.reorder(k, iter, lanes)? {
                return Ok(None);
            }
            let step = |part: Option<&Part>| part.map_or(0, |part| part.stride(&source.strides));
            source.steps = [step(Some(&lanes)), step(Some(&rows)), step(outputs.first())];
            operands.push(source);
        }
        let mut broadcast = operands.iter().enumerate().filter(|(_, source): &(usize, &Source)| source.steps[0] == 0);
        let kernel = match (broadcast.next(), broadcast.next()) {
            (None, _) => kernels[0],
            (Some((k, _)), None) => kernels.get(1 + k).copied().flatten(),
            _ => None,
        };
        let Some(kernel) = kernel else { return Ok(None) };
        let as_elements = |part: &Part| Dim { size: part.size, input: part.stride(iter.strides(0)), outs: [0; 2] };
        let (reduced, shape) = (reduced.iter().map(as_elements).collect(), iter.shape().into());
        Ok(Some(Fused { kernel, shape, operands, lanes, reduced, size }))
    }

    /// Copies what is copied, as it is now.
    ///
    /// # Safety
    ///
    /// The inputs of the producer, which these operands are, are borrowed.
    pub(super) unsafe fn load(&mut self, producer: &Producer) -> Result<()> {
        for (k, source) in self.operands.iter_mut().enumerate() {
            if let Some(Reordered { own, dtype, dims: [sizes, from, to] }) = &mut source.reordered {
                let strided = |data, strides| Strided { data, strides, dtype: *dtype, conj: false, neg: false };
                let (to, from) = (strided(own.as_mut_ptr().cast(), to), strided(producer.base(k + 1), from));
                // SAFETY: C1 and C2 of `Device::copy`: the operand is borrowed, and has elements of the dtype wherever
                // its strides lead; the copy has room for as many, which dense strides reach once each.
                unsafe { crate::copy::copy(sizes, to, from) }?;
            }
        }
        Ok(())
    }

    /// Lanes of a row, of which a task must have whole ones.
    pub(super) fn unit(&self) -> usize {
        self.lanes.size
    }

    /// A run of it; `params` are the formula's parameters.
    pub(super) fn over<'a>(&'a self, producer: &'a Producer, params: *const ()) -> FusedElements<'a> {
        FusedElements { fused: self, producer, params }
    }
}

impl Source {
    /// Lets a small operand be copied, so that it is dense along the lanes. False if that is not worth it.
    fn reorder(&mut self, k: usize, iter: &TensorIter, lanes: Part) -> Result<bool> {
        let others = (0..iter.ndim()).filter(|&d| d != lanes.dim && self.strides[d] != 0);
        let dims: SmallVec<[usize; 4]> = std::iter::once(lanes.dim).chain(others).collect();
        let count = dims.iter().map(|&d| iter.shape()[d]).product::<usize>();
        let is_whole = lanes.step == 1 && lanes.size == iter.shape()[lanes.dim];
        if !is_whole || count > iter.numel() / MIN_USES {
            return Ok(false);
        }
        let size = self.size as isize;
        if dims.iter().any(|&d| self.strides[d] % size != 0) {
            return Ok(false);
        }
        let from = dims.iter().map(|&d| (self.strides[d] / size) as i64).collect();
        let mut next = 1;
        for &d in &dims {
            self.strides[d] = next * size;
            next *= iter.shape()[d] as isize;
        }
        let to = dims.iter().map(|&d| (self.strides[d] / size) as i64).collect();
        let words = (count * self.size).div_ceil(size_of::<u128>());
        let mut own = list::with_capacity(words)?;
        own.resize(words, 0);
        let sizes = dims.iter().map(|&d| iter.shape()[d] as i64).collect();
        self.reordered = Some(Reordered { own, dtype: iter.dtype(k), dims: [sizes, from, to] });
        Ok(true)
    }
}

/// One run of a fused reduction.
pub(super) struct FusedElements<'a> {
    fused: &'a Fused,
    producer: &'a Producer,
    params: *const (),
}

// SAFETY: `params` points to a formula's parameters, which are `Sync` and only read; the operands are only read.
unsafe impl Sync for FusedElements<'_> {}

impl FusedElements<'_> {
    /// The operands' elements that belong to the element with this number.
    fn at(&self, number: usize) -> SmallVec<[OperandRow; 4]> {
        let Fused { shape, operands, .. } = self.fused;
        let row = |(k, source): (usize, &Source)| {
            let mut rest = number;
            let offset = shape.iter().zip(&source.strides).fold(0_isize, |offset, (&size, &stride)| {
                let digit = rest % size;
                rest /= size;
                offset.wrapping_add(stride.wrapping_mul(digit as isize))
            });
            let own = source.reordered.as_ref().map(|copy| copy.own.as_ptr().cast::<u8>());
            let base = own.unwrap_or_else(|| self.producer.base(k + 1).cast_const());
            let [lane, row, output] = source.steps;
            OperandRow { at: base.wrapping_offset(offset), strides: [row, output], lane }
        };
        operands.iter().enumerate().map(row).collect()
    }
}

impl Compute for FusedElements<'_> {
    unsafe fn run_tasks(&self, runner: &TaskRunner<'_>, tasks: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { runner.run_each(tasks) };
    }

    unsafe fn reduce(&self, runner: &TaskRunner<'_>, task: &Task, chunks: Range<usize>, into: Lanes) -> bool {
        if chunks.len() > 1 {
            return false;
        }
        let (driver, layout, fused) = (runner.driver, &runner.driver.layout, self.fused);
        let (range, size) = (layout.elements_of(chunks), fused.size as isize);
        for run in Runs::new(&fused.reduced, range.clone()) {
            let number = (task.input + run.offset) / size;
            let rows = OperandRows {
                operands: &self.at(number as usize),
                rows: run.len,
                lanes: fused.lanes.size,
                outputs: task.lanes / fused.lanes.size,
                start: run.start,
                fresh: run.start == range.start,
                numbers: driver.numbers,
                params: self.params,
            };
            // SAFETY: A1: the kernel was chosen for this host; A2: these are the task's lanes, whole rows of them
            // (`unit`), by the caller's promise; FR1: the operands are borrowed, and these are the elements that belong
            // to those of the task; FR2: the parameters are the formula's.
            unsafe { (fused.kernel)(into, &rows) };
        }
        true
    }
}
