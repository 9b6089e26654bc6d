//! Resampling on the CPU, in one of three ways:
//!
//! * nearest elements are picked as they are, whatever their dtype, by a table of offsets;
//! * weighted ones are summed row by row: where channels lie side by side these are the lanes; else rows of the input
//!   are summed to one row first, with the weights of the outer dimensions, and elements of that row then;
//! * of bytes each dimension is resampled by itself in fixed point, the last one first, as PyTorch rounds.
//!
//! Tables of elements and weights are made once for a call. An input that has lazy bits, or that the output may
//! overwrite, is copied first; an output that does not suit is written elsewhere and copied.

mod bytes;
mod kernel;

use crate::device::Cpu;
use crate::index::placed::{Argument, Own, Placed, product};
use crate::isa::Level;
use crate::left_out::no_kernel;
use crate::memcpy::memcpy;
use crate::upsample::pick;
use half::{bf16, f16};
use kernel::{Row, Shape, row_kernel};
use monomorph_core::structured::{Executes, Outputs};
use monomorph_core::{DType, ErrorKind, Result, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::resample::{
    Mode, Precision, ResampleAxis, ResampleFn, ResampleInputs, ResamplePlan, Resampled, Taps,
};
use smallvec::SmallVec;
use std::sync::{Mutex, PoisonError};

/// The elements of a dimension that each element of the output is made of: bytes to them, and weights.
#[derive(Default)]
struct Table {
    first: Vec<usize>,
    offset: Vec<isize>,
    weight: Vec<f64>,
    /// Elements counted from the first one that is used. Where there are few for each, as many for one as for another:
    /// those that are missing are the place behind the last one, with a weight of 0.
    place: Vec<usize>,
    /// Their weights, if some are missing; else they are `weight`.
    filled: Vec<f64>,
    /// How many places each element has, or 0 if they differ in that.
    taps: usize,
}

/// The most elements for which missing ones are filled in: sums of so many have loops of their own.
const FEW: usize = 4;

impl Table {
    /// The one element of a dimension that there is not.
    fn single() -> Table {
        Table { first: vec![0, 1], offset: vec![0], weight: vec![1.0], place: vec![0], filled: Vec::new(), taps: 1 }
    }

    fn new(taps: Taps, step: isize) -> Result<Table> {
        let mut offset = list::with_capacity(taps.index.len())?;
        // Modulo 2^64: exact in a dimension of two elements or more, and of one element nothing is multiplied by it but
        // 0.
        offset.extend(taps.index.iter().map(|&i| (i as isize).wrapping_mul(step)));
        let lowest = taps.index.iter().copied().min().unwrap_or(0);
        let counts = || taps.first.windows(2).map(|pair| pair[1] - pair[0]);
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let (mut place, mut filled): (Vec<usize>, Vec<f64>);
        let index = |tap: usize| (taps.index[tap] - lowest) as usize;
        if least < most && most <= FEW {
            let behind = taps.index.iter().max().map_or(0, |highest| (highest - lowest) as usize + 1);
            let all = most * (taps.first.len() - 1);
            (place, filled) = (list::with_capacity(all)?, list::with_capacity(all)?);
            for pair in taps.first.windows(2) {
                let missing = most - (pair[1] - pair[0]);
                place.extend((pair[0]..pair[1]).map(index).chain(std::iter::repeat_n(behind, missing)));
                filled.extend(taps.weight[pair[0]..pair[1]].iter().copied().chain(std::iter::repeat_n(0.0, missing)));
            }
        } else {
            (place, filled) = (list::with_capacity(taps.index.len())?, Vec::new());
            place.extend((0..taps.index.len()).map(index));
        }
        let same = if least == most || most <= FEW { most } else { 0 };
        Ok(Table { first: taps.first, offset, weight: taps.weight, place, filled, taps: same })
    }

    /// The weights of places.
    fn weights(&self) -> &[f64] {
        if self.filled.is_empty() { &self.weight } else { &self.filled }
    }

    /// Offsets and weights of element `o`.
    fn of(&self, o: usize) -> (&[isize], &[f64]) {
        let range = self.first[o]..self.first[o + 1];
        (&self.offset[range.clone()], &self.weight[range])
    }
}

/// A call bound to memory. P1 for both tensors; offsets of tables lead to elements of the input.
pub struct Ready {
    input: Placed,
    output: Placed,
    level: Level,
    tables: [Table; 3],
    /// The elements of the last dimension that any element of the output is made of.
    used: [usize; 2],
    way: Way,
    _own: Own,
}

/// How elements are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Nothing,
    Picked,
    Summed,
    Bytes,
}

// SAFETY: tables lead to elements of the input, and every element of the output is written once.
unsafe impl<F: ResampleFn> Executes<Resampled<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &ResamplePlan, inputs: &ResampleInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E2: storages are borrowed as long as the result lives.
        let Argument::Tensor(input) = (unsafe { Argument::of(inputs.operand()) }) else {
            return Err(ErrorKind::ArgumentRule { rule: "resampling needs a tensor of images" }.into());
        };
        // SAFETY: E1, E2.
        unsafe { Ready::new(plan, input, Placed::output(outputs)) }
    }

    unsafe fn run(ready: &mut Ready, plan: &ResamplePlan) -> Result<()> {
        // SAFETY: E2 keeps the memory of P1 borrowed.
        unsafe { ready.run(plan) }
    }
}

/// The elements that those of a dimension of the output are made of, with weights as the dtype has them.
fn taps(axis: &ResampleAxis, plan: &ResamplePlan, dtype: DType) -> Result<Taps> {
    let precision = if dtype == DType::F64 { Precision::Double } else { Precision::Single };
    let mut taps = axis.taps(precision)?;
    if plan.backward {
        return taps.transposed(axis.input);
    }
    // In one of PyTorch's two ways, weights of halves are halves.
    let rounded: Option<fn(f64) -> f64> = match dtype {
        _ if axis.plain => None,
        DType::F16 => Some(|x| f16::from_f32(x as f32).to_f64()),
        DType::BF16 => Some(|x| bf16::from_f32(x as f32).to_f64()),
        _ => None,
    };
    if let Some(rounded) = rounded {
        taps.weight.iter_mut().for_each(|weight| *weight = rounded(*weight));
        if axis.mode == Mode::Linear {
            // The first weight is what the rounded second one leaves.
            taps.weight.chunks_exact_mut(2).for_each(|pair| pair[0] = rounded(1.0 - pair[1]));
        }
    }
    Ok(taps)
}

impl Ready {
    /// # Safety
    ///
    /// P1; the plan is of these tensors.
    unsafe fn new(plan: &ResamplePlan, input: Placed, output: Placed) -> Result<Ready> {
        let is_nearest = plan.axes.iter().all(|axis| axis.mode.is_nearest()) && !plan.backward;
        let way = match output.dtype {
            _ if output.numel() == 0 => Way::Nothing,
            _ if is_nearest => Way::Picked,
            DType::U8 => Way::Bytes,
            dtype if row_kernel(dtype).is_some() => Way::Summed,
            dtype => return Err(no_kernel(dtype, "others").into()),
        };
        let (tables, level) = ([Table::single(), Table::single(), Table::single()], crate::level()?);
        let mut ready = Ready { input, output, level, tables, used: [0; 2], way, _own: Own::new() };
        if way == Way::Nothing {
            return Ok(ready);
        }
        if plan.copies || !ready.input.is_plain() {
            // SAFETY: P1; nobody writes an input.
            (ready._own, ready.input) = unsafe { ready.input.copied(ready.input.dtype) }?;
        }
        if way == Way::Bytes {
            return Ok(ready);
        }
        let (n, dims) = (plan.axes.len(), ready.input.sizes.len());
        for (d, axis) in plan.axes.iter().enumerate() {
            let taps = taps(axis, plan, ready.output.dtype)?;
            if d == n - 1 {
                let low = taps.index.iter().copied().min().unwrap_or(0);
                let high = taps.index.iter().copied().max().map_or(0, |high| high + 1);
                ready.used = [low as usize, high as usize];
            }
            ready.tables[3 - n + d] = Table::new(taps, ready.input.step(dims - n + d))?;
        }
        Ok(ready)
    }

    /// # Safety
    ///
    /// P1; E2.
    unsafe fn run(&self, plan: &ResamplePlan) -> Result<()> {
        if self.way == Way::Nothing {
            return Ok(());
        }
        let last = self.output.sizes.len() - 1;
        let size = self.output.dtype.size() as isize;
        let lanes = self.lanes(&self.output);
        let suits = lanes || self.way == Way::Summed || self.output.step(last) == size;
        let is_direct = self.output.is_plain() && !plan.serial && suits;
        let (_own, target) = match is_direct {
            true => (Own::new(), self.output.clone()),
            false => self.output.zeroed(self.output.dtype)?,
        };
        let call = Call { ready: self, target: &target, lanes: self.lanes(&target) };
        match self.way {
            // SAFETY: P1, for the target as well.
            Way::Bytes => unsafe { bytes::run(plan, &self.input, &target) }?,
            // SAFETY: P1, for the target as well.
            _ => unsafe { call.run() }?,
        }
        if !is_direct {
            // SAFETY: P1 for both; the target lies apart from the output, and both are ours.
            unsafe { target.copy_to(&self.output) }?;
        }
        Ok(())
    }

    /// True if channels lie side by side in the input and there.
    fn lanes(&self, target: &Placed) -> bool {
        self.input.sizes[1] > 1 && self.input.strides[1] == 1 && target.strides[1] == 1
    }
}

/// A call, shared by the threads that do it.
struct Call<'a> {
    ready: &'a Ready,
    target: &'a Placed,
    lanes: bool,
}

// SAFETY: threads read the input, which nobody writes, and write different rows of the target, which lie apart.
unsafe impl Sync for Call<'_> {}

/// A dimension that rows are counted along, with bytes from one to the next in the target and in the input. Those in
/// the input are of dimensions that are not resampled; the others have a table.
struct Axis {
    size: usize,
    to: isize,
    from: isize,
    table: Option<usize>,
}

impl<'a> Call<'a> {
    /// Dimensions that rows are counted along: all but the last one, and the channels where these are lanes.
    fn axes(&self) -> SmallVec<[Axis; 5]> {
        let (target, input) = (self.target, &self.ready.input);
        let dims = target.sizes.len();
        let axis = |d: usize| {
            let table = (d + 3).checked_sub(dims).filter(|_| d >= 2);
            let from = if table.is_some() { 0 } else { input.step(d) };
            Axis { size: target.sizes[d] as usize, to: target.step(d), from, table }
        };
        (0..dims - 1).filter(|&d| !(self.lanes && d == 1)).map(axis).collect()
    }

    /// # Safety
    ///
    /// P1.
    unsafe fn run(&self) -> Result<()> {
        let axes = self.axes();
        let rows = product(axes.iter().map(|axis| axis.size));
        let elements = self.target.numel();
        let together = if is_parallel(elements, GRAIN / 4) { (GRAIN / 4 * rows / elements).max(1) } else { rows };
        let failed = Mutex::new(None);
        share(rows.div_ceil(together), |piece| {
            let first = piece * together;
            let rows = Rows::new(self, &axes, first, together.min(rows - first));
            // SAFETY: P1; rows of the target lie apart, and this piece alone writes these.
            if let Err(error) = unsafe { self.piece(rows) } {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// # Safety
    ///
    /// P1; nobody else uses these rows of the target.
    unsafe fn piece(&self, mut rows: Rows<'a>) -> Result<()> {
        let Call { ready, target, lanes } = *self;
        if ready.way == Way::Picked {
            while let Some(row) = rows.next() {
                // SAFETY: P1; the caller's promise for the row.
                unsafe { self.pick(&row) };
            }
            return Ok(());
        }
        let Some(kernel) = row_kernel(target.dtype) else { return Ok(()) };
        let (last, dim) = (&ready.tables[2], target.sizes.len() - 1);
        let shape = Shape {
            last: (&last.first, &last.offset, &last.weight),
            places: (&last.place, last.weights()),
            taps: last.taps,
            lanes: if lanes { ready.input.sizes[1] as usize } else { 0 },
            width: target.sizes[dim] as usize,
            step: target.step(dim),
            input_step: ready.input.step(dim),
            used: ready.used,
        };
        let mut scratch: Vec<u64> = Vec::new();
        if !lanes {
            // Elements that are used, one more, which is 0, and those of the row.
            let words = ready.used[1] - ready.used[0] + 1 + shape.width;
            scratch = list::with_capacity(words)?;
            scratch.resize(words, 0);
        }
        // SAFETY: P1; the dtype is that of both tensors.
        unsafe { kernel(ready.level, &shape, &mut rows, &mut scratch) };
        Ok(())
    }

    /// # Safety
    ///
    /// P1; nobody else uses the row of the target.
    unsafe fn pick(&self, row: &Row<'_>) {
        let Call { ready, target, lanes } = *self;
        let (offsets, size) = (&ready.tables[2].offset, target.dtype.size());
        let from = row.outer.iter().fold(row.input, |from, (offsets, _)| {
            // There is one element for each.
            from.wrapping_offset(offsets.first().copied().unwrap_or(0))
        });
        if !lanes {
            // SAFETY: elements of the input lie at the offsets (P1); the row of the target is dense, and has one
            // element for each.
            return unsafe { pick(from, offsets, row.output, size) };
        }
        let (bytes, step) = (ready.input.sizes[1] as usize * size, target.step(target.sizes.len() - 1));
        for (o, &offset) in offsets.iter().enumerate() {
            let to = row.output.wrapping_offset((o as isize).wrapping_mul(step));
            // SAFETY: channels lie side by side in both (P1), which share no memory.
            unsafe { memcpy(from.wrapping_offset(offset), to, bytes) };
        }
    }
}

/// Rows of the target, one after the other.
struct Rows<'a> {
    axes: &'a [Axis],
    tables: &'a [Table; 3],
    places: SmallVec<[usize; 5]>,
    from: *const u8,
    to: *mut u8,
    left: usize,
}

impl<'a> Rows<'a> {
    /// So many rows from the one with number `first` on.
    fn new(call: &Call<'a>, axes: &'a [Axis], first: usize, left: usize) -> Rows<'a> {
        let (tables, input, target) = (&call.ready.tables, &call.ready.input, call.target);
        let mut rows = Rows { axes, tables, places: SmallVec::new(), from: input.data, to: target.data, left };
        rows.places.resize(axes.len(), 0);
        let mut rest = first;
        for (axis, place) in axes.iter().zip(&mut rows.places).rev() {
            (*place, rest) = (rest % axis.size, rest / axis.size);
            rows.from = rows.from.wrapping_offset(axis.from.wrapping_mul(*place as isize));
            rows.to = rows.to.wrapping_offset(axis.to.wrapping_mul(*place as isize));
        }
        rows
    }

    fn next(&mut self) -> Option<Row<'a>> {
        self.left = self.left.checked_sub(1)?;
        let mut at = [0; 3];
        for (axis, &place) in self.axes.iter().zip(&self.places) {
            if let Some(table) = axis.table {
                at[table] = place;
            }
        }
        let outer = [0, 1].map(|k| self.tables[k].of(at[k]));
        let row = Row { input: self.from, output: self.to, outer };
        for (axis, place) in self.axes.iter().zip(&mut self.places).rev() {
            *place += 1;
            let is_behind = *place == axis.size;
            let by = if is_behind { 1 - axis.size as isize } else { 1 };
            self.from = self.from.wrapping_offset(axis.from.wrapping_mul(by));
            self.to = self.to.wrapping_offset(axis.to.wrapping_mul(by));
            if !is_behind {
                break;
            }
            *place = 0;
        }
        Some(row)
    }
}
