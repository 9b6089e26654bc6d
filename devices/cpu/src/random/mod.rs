//! Random numbers on the CPU: one walk over the elements in the order of memory, in blocks that a distribution fills
//! and that are then converted to the dtype. Owns the walk and what is checked of parameters before anything is
//! written.
//!
//! The stream is locked from the first number to the last. A call is serial, since each number depends on those before.

mod convert;
mod distribution;
mod gamma;
mod normal;

use crate::dense::Dense;
use crate::device::Cpu;
use crate::isa::Level;
use convert::{Load, load_of, store_of};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, ErrorKind, Generator, Mt19937, Result, bf16, f16, list};
use monomorph_iter::TensorIter;
use monomorph_ops::random::{Distribution, Draw, DrawInputs, DrawPlan};
use normal::{BLOCK, Transform};

/// Elements that are drawn before they are converted.
const BUFFER: usize = 16 * BLOCK;

/// A call bound to memory.
///
/// Invariants:
/// * D1: `bases` are the first elements of the output and of the parameters that the plan walks over, and `dtypes`
///   their dtypes.
/// * D2: `weights` is a matrix of the plan's rows and columns.
pub struct Ready {
    bases: Vec<*mut u8>,
    parameters: Vec<DType>,
    weights: Option<Dense>,
    distribution: Distribution,
    generator: Generator,
    level: Level,
    /// Parameters that are numbers.
    _own: Vec<u128>,
}

// SAFETY: the plan walks over the output and the parameters, of which `meta` made it; each element of the output is
// written, and lies apart from all others; a matrix of weights is dense (D2).
unsafe impl Executes<Draw> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &DrawPlan, inputs: &DrawInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let (mut bases, mut parameters, mut own) = (vec![outputs.data(0)], Vec::new(), list::with_capacity(2)?);
        let mut weights = None;
        for operand in inputs.parameters() {
            let dtype = operand.dtype().unwrap_or(DType::F32);
            parameters.push(dtype);
            match operand {
                _ if plan.weights.is_some() => {
                    // SAFETY: E2: the operand is borrowed as long as the result lives.
                    weights = Some(unsafe { Dense::new(operand, dtype, false) }?);
                }
                // SAFETY: E2: the storage is borrowed as long as the result lives.
                Operand::Tensor(tensor) => bases.push(unsafe { tensor.data() }),
                Operand::Number(number) => {
                    own.push(u128::from_ne_bytes(number.bytes()));
                    // The list does not grow beyond its room, so its items stay where they are.
                    bases.push(own.as_mut_ptr().wrapping_add(own.len() - 1).cast());
                }
                Operand::Absent => {}
            }
        }
        let (distribution, generator, level) = (inputs.distribution(), inputs.generator().clone(), crate::level()?);
        Ok(Ready { bases, parameters, weights, distribution, generator, level, _own: own })
    }

    unsafe fn run(ready: &mut Ready, plan: &DrawPlan) -> Result<()> {
        // SAFETY: E2: the operands are borrowed.
        ready.weights.as_mut().map_or(Ok(()), |weights| unsafe { weights.load() })?;
        let (Some(iter), Some(dtype)) = (&plan.iter, plan.dtype) else { return Ok(()) };
        // SAFETY: D1 by `ready`, and E2 keeps the memory borrowed.
        unsafe { ready.draw(plan, iter, dtype) }
    }
}

/// Numbers of a matrix of weights as float64.
fn numbers(weights: &Dense, dtype: DType, count: usize) -> Result<Vec<f64>> {
    let mut all = list::with_capacity(count)?;
    match dtype {
        DType::F64 => all.extend(weights.elements::<u64>().iter().map(|&bits| f64::from_bits(bits))),
        DType::F32 => all.extend(weights.elements::<u32>().iter().map(|&bits| f64::from(f32::from_bits(bits)))),
        DType::F16 => all.extend(weights.elements::<u16>().iter().map(|&bits| f64::from(f16::from_bits(bits)))),
        _ => all.extend(weights.elements::<u16>().iter().map(|&bits| f64::from(bf16::from_bits(bits)))),
    }
    Ok(all)
}

fn rule(rule: &'static str) -> Result<()> {
    Err(ErrorKind::ArgumentRule { rule }.into())
}

/// What is wrong with weights: PyTorch's checks, row by row.
fn check_weights(weights: &[f64], columns: usize, dtype: DType) -> Result<()> {
    let sums = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    for row in weights.chunks(columns.max(1)) {
        if row.iter().any(|&weight| !(weight >= 0.0 && weight.is_finite())) {
            return rule("argument self has an element that is below 0, infinite or NaN");
        }
        let sum = row.iter().fold(0.0, |sum, &weight| convert::rounded(sum + weight, sums));
        if sum.is_nan() || sum <= 0.0 {
            return rule("argument self has a row whose weights are all 0; accepted are sums above 0");
        }
    }
    Ok(())
}

impl Ready {
    /// # Safety
    ///
    /// D1, and nobody else uses the output, or writes the parameters, meanwhile.
    unsafe fn draw(&self, plan: &DrawPlan, iter: &TensorIter, dtype: DType) -> Result<()> {
        let first = self.parameters.first().copied();
        let [rows, columns] = plan.weights.unwrap_or_default();
        let weights = match (&self.weights, first) {
            (Some(weights), Some(dtype)) => {
                let weights = numbers(weights, dtype, rows * columns)?;
                check_weights(&weights, columns, dtype)?;
                weights
            }
            _ => Vec::new(),
        };
        // SAFETY: D1; nothing is written.
        unsafe { self.check(iter) }?;
        let numel = iter.numel();
        if let Distribution::Normal { mean, std } = self.distribution
            && plan.is_contiguous
            && numel >= BLOCK
        {
            // SAFETY: D1: the output has so many elements in a row.
            return unsafe { self.normal(numel, dtype, mean, std) };
        }
        let mut sampler = distribution::sampler(self.distribution, dtype, first, (weights, columns), numel)?;
        let no_kernel = || crate::left_out::no_kernel(dtype, "bool, integers and floats");
        let store = store_of(dtype, sampler.is_whole).ok_or_else(no_kernel)?;
        let mut stream = self.generator.lock();
        let mut draws = [0; BUFFER];
        let each = |to: *mut u8, stride: isize, by: [&[f64]; 2], count: usize| {
            (sampler.fill)(&mut stream, by, &mut draws[..count]);
            // SAFETY: so many elements of the output are in bounds, and nobody else uses them.
            unsafe { store(to, stride, &draws[..count]) };
        };
        // SAFETY: D1; nobody else uses the output or writes the parameters: the caller's promise.
        unsafe { self.each_block(iter, each) };
        Ok(())
    }

    /// Calls `f` for blocks of elements in the order of the walk: the first of the output, bytes to the next one, their
    /// parameters, and how many there are.
    ///
    /// # Safety
    ///
    /// D1, and nobody else uses the output, or writes the parameters, meanwhile.
    unsafe fn each_block(&self, iter: &TensorIter, mut f: impl FnMut(*mut u8, isize, [&[f64]; 2], usize)) {
        let loads = self.loads();
        let mut by = [[0.0; BUFFER]; 2];
        let each = |at: &[*mut u8], strides: &[isize], columns: usize, rows: usize| {
            for row in 0..rows as isize {
                for start in (0..columns).step_by(BUFFER) {
                    let count = BUFFER.min(columns - start);
                    let place = |k: usize| place(at, strides, k, row, start as isize);
                    // SAFETY: so many elements of each operand follow in the row of the walk (D1).
                    unsafe { load_each(&loads, &mut by, count, strides, place) };
                    f(place(0), strides[0], [&by[0][..count], &by[1][..count]], count);
                }
            }
        };
        // SAFETY: W1 by D1; W2: nobody else uses the output or writes the parameters: the caller's promise.
        unsafe { iter.serial_for_each(&self.bases, 0..iter.numel(), each) };
    }

    /// How each tensor of parameters in the walk is read.
    fn loads(&self) -> [Option<Load>; 2] {
        let load = |k: usize| (k + 1 < self.bases.len()).then(|| load_of(*self.parameters.get(k)?)).flatten();
        [load(0), load(1)]
    }

    /// What is wrong with parameters in tensors.
    ///
    /// # Safety
    ///
    /// D1, and nobody writes the parameters meanwhile.
    unsafe fn check(&self, iter: &TensorIter) -> Result<()> {
        let (is_accepted, message): (fn(f64, [f64; 2]) -> bool, _) = match self.distribution {
            Distribution::PoissonOf => (|rate, _| rate >= 0.0, "a rate is below 0; accepted are rates of 0 or more"),
            Distribution::GammaOf => {
                (|shape, _| gamma::is_shape(shape), "a shape is NaN or -2/3 or less; accepted are shapes above")
            }
            Distribution::SlopeOf { .. } => (
                |x, [lower, upper]| x > 0.0 || x.is_nan() || lower <= upper && upper - lower <= f64::MAX,
                "argument lower is above argument upper, or infinite; accepted is an interval [lower, upper)",
            ),
            _ => return Ok(()),
        };
        let bounds = match self.distribution {
            Distribution::SlopeOf { lower, upper } => [lower, upper],
            _ => [0.0; 2],
        };
        let mut holds = true;
        let each = |_: *mut u8, _: isize, by: [&[f64]; 2], _: usize| {
            holds &= by[0].iter().all(|&x| is_accepted(x, bounds));
        };
        // SAFETY: D1; nobody writes the parameters, and nothing is written.
        unsafe { self.each_block(iter, each) };
        if holds { Ok(()) } else { rule(message) }
    }

    /// Normal numbers in a row: blocks of 16, the last of which begins 16 elements before the end. In float32 and
    /// float64 PyTorch draws for all elements first, so the numbers of an incomplete block are drawn and dropped.
    ///
    /// # Safety
    ///
    /// The output has `numel` elements in a row, 16 or more, which nobody else uses.
    unsafe fn normal(&self, numel: usize, dtype: DType, mean: f64, std: f64) -> Result<()> {
        let no_kernel = || crate::left_out::no_kernel(dtype, "floating dtypes");
        let store = store_of(dtype, false).ok_or_else(no_kernel)?;
        let mut stream = self.generator.lock();
        let fill: &dyn Fn(&mut Mt19937, &mut [u64]) = match dtype {
            DType::F64 => &|stream, to| wide(stream, to, mean, std),
            _ => &|stream, to| self.narrow(stream, to, mean as f32, std as f32),
        };
        let mut draws = [0; BUFFER];
        let size = dtype.size();
        let (whole, rest) = (numel - numel % BLOCK, numel % BLOCK);
        let mut put = |stream: &mut Mt19937, start: usize, count: usize| {
            fill(stream, &mut draws[..count]);
            let to = self.bases[0].wrapping_add(start * size);
            // SAFETY: elements `start..start + count` are in bounds, and nobody else uses them.
            unsafe { store(to, size as isize, &draws[..count]) };
        };
        for start in (0..whole).step_by(BUFFER) {
            put(&mut stream, start, BUFFER.min(whole - start));
        }
        if rest > 0 {
            for _ in 0..rest {
                match dtype {
                    DType::F64 => drop(stream.bits64()),
                    DType::F32 => drop(stream.bits32()),
                    _ => {}
                }
            }
            put(&mut stream, numel - BLOCK, BLOCK);
        }
        Ok(())
    }

    fn narrow(&self, stream: &mut Mt19937, to: &mut [u64], mean: f32, std: f32) {
        let mut numbers = [0.0; BUFFER];
        let numbers = &mut numbers[..to.len()];
        numbers.iter_mut().for_each(|x| *x = stream.unit_f32());
        Transform { numbers, mean, std }.at(self.level);
        for (to, &mut x) in to.iter_mut().zip(numbers) {
            *to = f64::from(x).to_bits();
        }
    }
}

fn wide(stream: &mut Mt19937, to: &mut [u64], mean: f64, std: f64) {
    for to in to.chunks_exact_mut(BLOCK) {
        let mut block = std::array::from_fn(|_| stream.unit_f64());
        normal::transform(&mut block, mean, std);
        for (to, x) in to.iter_mut().zip(block) {
            *to = x.to_bits();
        }
    }
}

/// Operand `k` at a row and an element of a walk.
fn place(at: &[*mut u8], strides: &[isize], k: usize, row: isize, element: isize) -> *mut u8 {
    let (inner, outer) = (strides[k], strides[at.len() + k]);
    at[k].wrapping_offset(inner.wrapping_mul(element).wrapping_add(outer.wrapping_mul(row)))
}

/// Reads the next `count` parameters of each tensor.
///
/// # Safety
///
/// `place` gives the first of so many elements of operand `k`, which nobody writes meanwhile.
unsafe fn load_each(
    loads: &[Option<Load>; 2],
    by: &mut [[f64; BUFFER]; 2],
    count: usize,
    strides: &[isize],
    place: impl Fn(usize) -> *mut u8,
) {
    for (k, (load, by)) in loads.iter().zip(by).enumerate() {
        if let Some(load) = load {
            // SAFETY: so many elements of operand `k + 1` are in bounds, and nobody writes them.
            unsafe { load(place(k + 1), strides[k + 1], &mut by[..count]) };
        }
    }
}
