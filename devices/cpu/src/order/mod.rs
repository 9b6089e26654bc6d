//! Operators on rows on the CPU: sort, topk, kthvalue, median, mode.
//!
//! A row is gathered into dense memory, its elements become [keys](key) with indices, those are [sorted](sort) or
//! [selected](select) from, and values and indices go where the outputs are. All of it is written for the four widths
//! of elements, not for dtypes. Rows are shared among threads; a row is one thread's, so results do not depend on their
//! number.

mod heap;
pub(crate) mod key;
mod row;
pub(crate) mod select;
pub(crate) mod sort;

use crate::cast::{Bits, moved};
use crate::device::Cpu;
use key::{Item, Word};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Geometry, Result, Strided, list, strides};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::order::{Order, OrderFn, OrderInputs, OrderPlan};
use row::{Row, RowWork};
use std::sync::Mutex;

/// A dimension: its size, and bytes from one element to the next in the input and in both outputs.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: usize,
    steps: [isize; 3],
}

/// A tensor of a call: its first element, its dtype, and what turns stored elements into values.
#[derive(Clone, Copy, Debug)]
struct Part {
    data: *mut u8,
    dtype: DType,
    bits: Bits,
}

/// A call bound to memory.
///
/// Invariants:
/// * O1: `parts` are the input and both outputs, which have the sizes of `rows` and along the dimension `size` elements
///   (`results` in outputs), with these strides in bytes.
/// * O2: rows of the outputs lie apart from each other, or `serial` is set; outputs share no memory with the input.
pub struct Ready {
    parts: [Part; 3],
    row: Axis,
    results: usize,
    rows: Vec<Axis>,
    serial: bool,
    /// The copy of an input that an output would overwrite, or the bytes of a number.
    _own: Vec<u128>,
}

// SAFETY: threads that share a call read its input, which nobody writes, and write rows of their own (O2).
unsafe impl Sync for Ready {}

// SAFETY: every element of the input is read, and every one of the outputs written, within their geometries: the axes
// are their dimensions (O1).
unsafe impl<F: OrderFn> Executes<Order<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &OrderPlan, inputs: &OrderInputs<'_, F>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E1, E2: the caller's promises.
        unsafe { bind(plan, inputs.operand(), outputs) }
    }

    unsafe fn run(ready: &mut Ready, plan: &OrderPlan) -> Result<()> {
        // SAFETY: E2 keeps the memory of O1 and O2 borrowed.
        unsafe { ready.run(plan) }
    }
}

/// The call, bound to its memory.
///
/// # Safety
///
/// E1 and E2 for the operand and the outputs.
unsafe fn bind(plan: &OrderPlan, operand: &Operand<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
    let mut own: Vec<u128> = Vec::new();
    let mut input_strides: strides::DimVec = operand.strides().into();
    let mut input = match operand {
        Operand::Tensor(tensor) => {
            let g = tensor.geometry();
            // SAFETY: E2: the storage is borrowed as long as the result lives.
            let data = unsafe { tensor.data() };
            Part { data, dtype: g.dtype(), bits: Bits::of(g.dtype(), g.is_conj(), g.is_neg()) }
        }
        Operand::Number(number) => {
            own.push(u128::from_ne_bytes(number.bytes()));
            Part { data: own.as_mut_ptr().cast(), dtype: number.dtype(), bits: Bits::default() }
        }
        Operand::Absent => return Err(ErrorKind::ArgumentRule { rule: "argument self is absent" }.into()),
    };
    if plan.copies && operand.geometry().is_some_and(|g| g.numel() > 0) {
        // SAFETY: E1, E2: the operand has these sizes, and lies there as long as the call runs.
        own = unsafe { copied(operand.sizes(), &input_strides, &input) }?;
        input = Part { data: own.as_mut_ptr().cast(), bits: Bits::default(), ..input };
        input_strides = strides::contiguous_strides(operand.sizes());
    }
    let output = |i: usize| {
        let g = outputs.geometry(i);
        Part { data: outputs.data(i), dtype: g.dtype(), bits: Bits::of(g.dtype(), g.is_conj(), g.is_neg()) }
    };
    let parts = [input, output(0), output(1)];
    // Modulo 2^64: exact in a dimension of two elements or more, and of one element nothing is multiplied by it but 0.
    let bytes = |stride: i64, part: usize| (stride as isize).wrapping_mul(parts[part].dtype.size() as isize);
    let axis = |d: usize| {
        // Of an output the dimension may be gone.
        let place = match plan.dim {
            Some(dim) if !plan.keeps_dim && d > dim => Some(d - 1),
            Some(dim) if !plan.keeps_dim && d == dim => None,
            _ => Some(d),
        };
        let of = |i: usize| place.map_or(0, |place| bytes(outputs.geometry(i).strides()[place], i + 1));
        Axis { size: operand.sizes()[d] as usize, steps: [bytes(input_strides[d], 0), of(0), of(1)] }
    };
    let rows = (0..operand.sizes().len()).filter(|d| Some(*d) != plan.dim).map(axis).collect();
    let row = plan.dim.map_or(Axis { size: 1, steps: [0; 3] }, axis);
    let result = |g: &Geometry| plan.dim.filter(|_| plan.keeps_dim).map_or(1, |dim| g.sizes()[dim] as usize);
    let results = result(outputs.geometry(0));
    Ok(Ready { parts, row, results, rows, serial: plan.serial, _own: own })
}

/// Elements of rows, and rows, from which on transposed ones are copied as a whole: a copy that takes squares meets
/// each line of memory once (a sort of 256 × 256 float32 took 1.27 ms row by row, and takes 0.81).
const TRANSPOSED: usize = 64;

/// Zeros in the place of a tensor's elements.
fn room_for(sizes: &[i64], dtype: DType) -> Result<Vec<u128>> {
    let words = strides::numel(sizes)?.saturating_mul(dtype.size()).div_ceil(size_of::<u128>());
    let mut own = list::with_capacity(words)?;
    own.resize(words, 0_u128);
    Ok(own)
}

/// A dense copy of an input, as values.
///
/// # Safety
///
/// The input has these sizes and strides, is initialised, and nobody writes it meanwhile.
unsafe fn copied(sizes: &[i64], input_strides: &[i64], input: &Part) -> Result<Vec<u128>> {
    let mut own = room_for(sizes, input.dtype)?;
    let dense = strides::contiguous_strides(sizes);
    let to = Strided { data: own.as_mut_ptr().cast(), strides: &dense, dtype: input.dtype, conj: false, neg: false };
    let Bits { conj, neg } = input.bits;
    let from = Strided { data: input.data, strides: input_strides, dtype: input.dtype, conj, neg };
    // SAFETY: C1 and C2 of `Device::copy`: the input is in bounds and initialised (the caller's promise), and the
    // target is memory of our own with room for all elements.
    unsafe { crate::copy::copy(sizes, to, from) }?;
    Ok(own)
}

impl Ready {
    /// True if rows of the input or of an output are long and not dense, and lie side by side there.
    fn is_transposed(&self, part: usize) -> bool {
        let size = self.parts[part].dtype.size() as isize;
        let across = |axis: &Axis| axis.steps[part] == size && axis.size >= TRANSPOSED;
        let n = if part == 0 { self.row.size } else { self.results };
        n >= TRANSPOSED && self.row.steps[part] != size && self.rows.iter().any(across)
    }

    /// The sizes of a tensor of the call, rows last, and its strides in elements.
    fn rows_last(&self, part: usize) -> (strides::DimVec, strides::DimVec) {
        let size = self.parts[part].dtype.size() as isize;
        let axes = || self.rows.iter().chain([&self.row]);
        let mut sizes: strides::DimVec = axes().map(|axis| axis.size as i64).collect();
        if let Some(n) = sizes.last_mut().filter(|_| part > 0) {
            *n = self.results as i64;
        }
        (sizes, axes().map(|axis| (axis.steps[part] / size) as i64).collect())
    }

    /// Answers for transposed rows by way of dense ones.
    ///
    /// # Safety
    ///
    /// O1, O2.
    unsafe fn by_dense_rows(&self, plan: &OrderPlan) -> Result<()> {
        let mut dense = Ready { rows: self.rows.clone(), _own: Vec::new(), ..*self };
        let mut own: [Vec<u128>; 3] = Default::default();
        for (i, own) in own.iter_mut().enumerate().filter(|&(i, _)| self.is_transposed(i)) {
            let (sizes, from) = self.rows_last(i);
            let part = &mut dense.parts[i];
            *own = match i {
                // SAFETY: O1: the input has these sizes and strides; nobody writes it meanwhile (O2).
                0 => unsafe { copied(&sizes, &from, part) }?,
                _ => room_for(&sizes, part.dtype)?,
            };
            *part = Part { data: own.as_mut_ptr().cast(), bits: Bits::default(), ..*part };
            let size = part.dtype.size() as isize;
            let axes = dense.rows.iter_mut().chain([&mut dense.row]);
            for (axis, stride) in axes.zip(strides::contiguous_strides(&sizes)) {
                axis.steps[i] = stride as isize * size;
            }
        }
        // SAFETY: O1, O2: what takes the place of a tensor has its sizes, and memory of its own.
        unsafe { dense.run_where_it_lies(plan) }?;
        for i in (1..3).filter(|&i| self.is_transposed(i)) {
            let (sizes, to) = self.rows_last(i);
            let (part, from) = (self.parts[i], strides::contiguous_strides(&sizes));
            let Bits { conj, neg } = part.bits;
            let to = Strided { data: part.data, strides: &to, dtype: part.dtype, conj, neg };
            let from = Strided { data: dense.parts[i].data, strides: &from, conj: false, neg: false, ..to };
            // SAFETY: C1 and C2 of `Device::copy`: the output has these sizes and strides (O1), and the other side is
            // memory of our own, all of which was written.
            unsafe { crate::copy::copy(&sizes, to, from) }?;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// O1, O2.
    unsafe fn run(&self, plan: &OrderPlan) -> Result<()> {
        let rows = self.rows.iter().fold(1, |rows: usize, axis| rows.saturating_mul(axis.size));
        if rows > 0 && self.results > 0 && !self.serial && (0..3).any(|i| self.is_transposed(i)) {
            // SAFETY: O1, O2.
            return unsafe { self.by_dense_rows(plan) };
        }
        // SAFETY: O1, O2.
        unsafe { self.run_where_it_lies(plan) }
    }

    /// # Safety
    ///
    /// O1, O2.
    unsafe fn run_where_it_lies(&self, plan: &OrderPlan) -> Result<()> {
        let rows = self.rows.iter().fold(1, |rows: usize, axis| rows.saturating_mul(axis.size));
        if rows == 0 || self.results == 0 {
            return Ok(());
        }
        let dtype = self.parts[0].dtype;
        match dtype.size() {
            // A complex number alone is the result.
            size if dtype.is_complex() => match (rows, self.row.size, self.results) {
                // SAFETY: O1, O2: the caller's promises; there is one element.
                (1, 1, 1) => unsafe { self.single(size) },
                _ => Err(crate::left_out::no_kernel(dtype, "bool, integers and floats").into()),
            },
            // SAFETY: O1, O2: the caller's promises; the width is that of the elements.
            1 => unsafe { self.all::<u8, u64>(plan, rows) },
            // SAFETY: as above, for this width.
            2 => unsafe { self.all::<u16, u64>(plan, rows) },
            // SAFETY: as above, for this width.
            4 => unsafe { self.all::<u32, u64>(plan, rows) },
            // SAFETY: as above, for this width, the last that real dtypes have.
            _ => unsafe { self.all::<u64, u128>(plan, rows) },
        }
    }

    /// # Safety
    ///
    /// O1, O2, and the input is one element of so many bytes.
    unsafe fn single(&self, size: usize) -> Result<()> {
        let [input, values, indices] = self.parts;
        let mut element = [0_u64; 2];
        let at = element.as_mut_ptr().cast::<u8>();
        let bits = Bits { conj: input.bits.conj != values.bits.conj, neg: input.bits.neg != values.bits.neg };
        // SAFETY: R1 by O1; R2: the element is a local with room for any dtype.
        unsafe { moved(input.data, 0, at, 0, size, 1) };
        // SAFETY: the local was just written.
        unsafe { bits.apply(input.dtype, at, 1) };
        // SAFETY: R1 by O1; R2 as above.
        unsafe { moved(at, 0, values.data, 0, size, 1) };
        // SAFETY: R1 by O1, R2: zero is its own negative, and a local.
        unsafe { moved([0_u64; 1].as_ptr().cast(), 0, indices.data, 0, size_of::<i64>(), 1) };
        Ok(())
    }

    /// # Safety
    ///
    /// O1, O2, and the elements of the input have the width of `U`.
    unsafe fn all<U: Word, I: Item>(&self, plan: &OrderPlan, rows: usize) -> Result<()> {
        let n = self.row.size;
        if n > I::MOST {
            return Err(ErrorKind::TooManyElements { sizes: vec![n as i64], limit: I::MOST }.into());
        }
        let parallel = !self.serial && is_parallel(rows.saturating_mul(n), GRAIN);
        let together = if parallel { (GRAIN / n.max(1)).max(1) } else { rows };
        let failed = Mutex::new(None);
        share(rows.div_ceil(together), |piece| {
            let work = || {
                let mut work = RowWork::<U, I>::new(plan.task, self.parts[0].dtype, n)?;
                let mut staged = Staged { row: Vec::new(), values: Vec::new(), indices: Vec::new() };
                for row in piece * together..rows.min((piece + 1) * together) {
                    // SAFETY: O1, O2 for a row that no other piece has.
                    unsafe { self.one(&mut work, &mut staged, self.at(row)) }?;
                }
                Ok(())
            };
            if let Err(error) = work() {
                failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
            }
        });
        failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Bytes from the first element of each tensor to the first of a row.
    fn at(&self, mut row: usize) -> [isize; 3] {
        let mut at = [0_isize; 3];
        for axis in self.rows.iter().rev() {
            let place = (row % axis.size) as isize;
            row /= axis.size;
            for (at, step) in at.iter_mut().zip(axis.steps) {
                *at = at.wrapping_add(place.wrapping_mul(step));
            }
        }
        at
    }

    /// # Safety
    ///
    /// O1, O2 for the row that begins there, which nobody else writes; the elements have the width of `U`.
    unsafe fn one<U: Word, I: Item>(
        &self,
        work: &mut RowWork<U, I>,
        staged: &mut Staged<U>,
        at: [isize; 3],
    ) -> Result<()> {
        let [input, values, indices] = self.parts;
        let [from, to, to_index] = [0, 1, 2].map(|i| self.parts[i].data.wrapping_offset(at[i]));
        let [step, to_step, to_index_step] = self.row.steps;
        let (n, m) = (self.row.size, self.results);
        // SAFETY: `n` initialised elements of the row are in bounds (O1), which nobody writes (O2).
        let elements = match unsafe { dense(from.cast(), step, n, input.bits) } {
            Some(elements) => elements,
            None => {
                let row = room(&mut staged.row, n)?;
                // SAFETY: R1: `n` elements of the row are in bounds (O1), and there is room for as many; R2: it is
                // ours.
                unsafe { moved(from, step, row.cast(), size_of::<U>() as isize, size_of::<U>(), n) };
                // SAFETY: the row was just filled.
                unsafe { input.bits.apply(input.dtype, row.cast(), n) };
                // SAFETY: as many elements were just written.
                unsafe { staged.row.set_len(n) };
                &staged.row
            }
        };
        // Rows that may share memory with each other are not written where they are, but one after another.
        let is_direct = |data: *mut u8, step: isize, part: &Part| {
            let size = part.dtype.size();
            !self.serial && (step == size as isize || m == 1) && part.bits.is_none() && data.addr().is_multiple_of(size)
        };
        let (direct, direct_index) = (is_direct(to, to_step, &values), is_direct(to_index, to_index_step, &indices));
        let at_values: *mut U = if direct { to.cast() } else { room(&mut staged.values, m)? };
        let at_indices: *mut i64 = if direct_index { to_index.cast() } else { room(&mut staged.indices, m)? };
        let row = Row {
            elements,
            // SAFETY: there are `m` aligned elements, in the row of the output (O1), which nobody else uses (O2), or in
            // memory of our own; they need not be initialised.
            values: unsafe { std::slice::from_raw_parts_mut(at_values.cast(), m) },
            // SAFETY: as for the values; the second output is of int64 (E1).
            indices: unsafe { std::slice::from_raw_parts_mut(at_indices.cast(), m) },
        };
        work.answer(row)?;
        if !direct {
            // SAFETY: all `m` values were written, and are ours.
            unsafe { values.bits.apply(values.dtype, at_values.cast(), m) };
            // SAFETY: R1: there are `m` results in the row of the output (O1), which nobody else writes; R2: they come
            // from memory of our own.
            unsafe { moved(at_values.cast(), size_of::<U>() as isize, to, to_step, size_of::<U>(), m) };
        }
        if !direct_index {
            let size = size_of::<i64>();
            // SAFETY: all `m` indices were written, and are ours.
            unsafe { indices.bits.apply(indices.dtype, at_indices.cast(), m) };
            // SAFETY: as for the values.
            unsafe { moved(at_indices.cast(), size as isize, to_index, to_index_step, size, m) };
        }
        Ok(())
    }
}

/// Dense copies of what does not lie so: a row, and its results.
struct Staged<U> {
    row: Vec<U>,
    values: Vec<U>,
    indices: Vec<i64>,
}

/// Room for `n` elements at the start of a list, which has none then.
fn room<T>(list: &mut Vec<T>, n: usize) -> Result<*mut T> {
    list.clear();
    if list.capacity() < n {
        *list = list::with_capacity(n)?;
    }
    Ok(list.as_mut_ptr())
}

/// The elements of a row where they lie, if they lie one after another and as values.
///
/// # Safety
///
/// `n` initialised elements with this stride in bytes are there, and nobody writes them as long as the result lives.
unsafe fn dense<'a, U: Word>(from: *const U, step: isize, n: usize, bits: Bits) -> Option<&'a [U]> {
    if (step != size_of::<U>() as isize && n != 1) || !bits.is_none() || !from.is_aligned() {
        return None;
    }
    // SAFETY: `n` aligned elements one after another, by the caller's promise; any bits are a `U`.
    Some(unsafe { std::slice::from_raw_parts(from, n) })
}
