//! Linear algebra on the CPU: matrices in double precision whatever the dtype, and rounded once. Owns how matrices are
//! read and results written, matrix after matrix; what is computed of one is a [`Kernel`].

mod blocks;
mod cholesky;
mod decompositions;
mod functions;
mod householder;
mod ldl;
mod least_squares;
mod lu;
mod number;
mod precision;
mod product;
mod reflections;
mod scale;
mod schur;
mod solvers;
mod source;
mod spectra;
mod triangle;
mod vectors;

use crate::dense::Target;
use crate::device::Cpu;
use crate::left_out::{left_out, no_kernel};
use crate::scratch::{Scratch, scratch};
use half::{bf16, f16};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Result};
use monomorph_ops::linalg::{Failure, Input, Kind, MatrixFn, MatrixInputs, MatrixPlan, OnMatrices, Output, Owner};
use num_complex::Complex;
use number::Number;
use precision::Precision;
use smallvec::SmallVec;
use source::Source;

/// An operator, as it is computed.
pub(super) trait Kernel: MatrixFn {
    /// Computes what it says of one matrix.
    fn compute<E: Number>(part: &mut Part<'_, E>, plan: &MatrixPlan<Self::Options>) -> Result<()>;
}

/// One matrix of every input and output: inputs in the order of the schema, outputs in that of their kind. What is not
/// there is empty. Outputs begin as zeros; hidden ones keep what they had for the matrix before.
pub(super) struct Part<'a, E> {
    inputs: [&'a [E]; 3],
    /// The input of int32.
    pivots: &'a [i32],
    /// The precision of the dtype.
    precision: Precision,
    /// The first input is not that of the part before.
    is_first: bool,
    elements: [&'a mut [E]; 4],
    reals: [&'a mut [f64]; 2],
    complex: [&'a mut [Complex<f64>]; 2],
    integers: [&'a mut [i32]; 2],
}

/// A call bound to memory.
#[derive(Debug)]
pub struct Ready {
    inputs: SmallVec<[Source; 3]>,
    targets: SmallVec<[Target; 4]>,
    dtype: DType,
}

// SAFETY: every element of the inputs is in bounds, and every one of the outputs written: a `Target` writes all.
unsafe impl<F: Kernel> Executes<OnMatrices<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(
        plan: &MatrixPlan<F::Options>,
        inputs: &MatrixInputs<'_, F>,
        outputs: &Outputs<'_>,
    ) -> Result<Ready> {
        // SAFETY: E1, E2: the caller's promises.
        unsafe { bind((&plan.inputs, &plan.outputs), plan.copies, inputs.operands(), outputs) }
    }

    unsafe fn run(ready: &mut Ready, plan: &MatrixPlan<F::Options>) -> Result<()> {
        for input in &mut ready.inputs {
            // SAFETY: E2: the operand is borrowed.
            unsafe { input.elements.load() }?;
        }
        let call = Call { inputs: &plan.inputs, outputs: &plan.outputs, matrices: plan.matrices };
        let failure = F::checks(&plan.options);
        if ready.dtype.is_complex() {
            call.run::<Complex<f64>>(ready, failure, &mut |part| F::compute(part, plan))
        } else {
            call.run::<f64>(ready, failure, &mut |part| F::compute(part, plan))
        }
    }
}

/// # Safety
///
/// E1 and E2 for operands and outputs.
unsafe fn bind(
    (read, written): (&[Input], &[Output]),
    copies: bool,
    operands: &[Operand<'_>],
    outputs: &Outputs<'_>,
) -> Result<Ready> {
    let dtype = operands.first().and_then(Operand::dtype).unwrap_or(DType::F32);
    if left_out(dtype).is_some() {
        return Err(no_kernel(dtype, "float32 and float64").into());
    }
    let wide = if dtype.is_complex() { DType::C128 } else { DType::F64 };
    let mut inputs = SmallVec::new();
    for (input, operand) in read.iter().zip(operands) {
        let operand = if input.size == 0 { &Operand::Absent } else { operand };
        // SAFETY: E2: the operand is borrowed as long as the result lives.
        inputs.push(unsafe { Source::new(operand, input, (dtype, wide), copies) }?);
    }
    let written = written.iter().filter(|output| output.owner == Owner::Caller);
    let targets = written.enumerate().map(|(i, output)| {
        let g = outputs.geometry(i);
        let run = output.run.unwrap_or([g.numel(); 2]);
        // SAFETY: E2, and an input that shares memory with it was copied. E1: meta functions ask for the strides of
        // matrices that lie one after another, in one order or the other, which are dense but for such runs.
        unsafe { Target::in_runs(outputs, i, g.strides(), run) }
    });
    Ok(Ready { inputs, targets: targets.collect(), dtype })
}

/// A plan without what one operator alone knows.
struct Call<'a> {
    inputs: &'a [Input],
    outputs: &'a [Output],
    matrices: usize,
}

/// What an output is computed in.
enum Buffer<E> {
    Elements(Scratch<E>),
    Reals(Scratch<f64>),
    Complex(Scratch<Complex<f64>>),
    Integers(Scratch<i32>),
}

impl<E: Number> Buffer<E> {
    fn new(output: &Output, matrices: usize) -> Result<Buffer<E>> {
        let own = output.numbers.as_ref().map_or(matrices, |numbers| numbers.iter().max().map_or(0, |last| last + 1));
        let size = output.size * if output.owner == Owner::Device { 1 } else { own };
        Ok(match output.kind {
            Kind::Elements => Buffer::Elements(scratch(size)?),
            Kind::Reals => Buffer::Reals(scratch(size)?),
            Kind::Complex => Buffer::Complex(scratch(size)?),
            Kind::Integers | Kind::Counts => Buffer::Integers(scratch(size)?),
        })
    }
}

/// Which matrix of an operand or output belongs to this one of the call.
fn own(numbers: Option<&Vec<usize>>, matrix: usize) -> usize {
    numbers.map_or(matrix, |numbers| numbers[matrix])
}

/// Puts what is computed to its place in a part.
fn place<'a, T>(place: Option<&mut &'a mut [T]>, computed: &'a mut [T]) {
    if let Some(place) = place {
        *place = computed;
    }
}

impl Call<'_> {
    fn run<E: Number>(
        &self,
        ready: &mut Ready,
        failure: Option<Failure>,
        compute: &mut dyn FnMut(&mut Part<'_, E>) -> Result<()>,
    ) -> Result<()> {
        let Ready { inputs, targets, dtype } = ready;
        if self.outputs.iter().all(|output| output.size == 0 || output.owner != Owner::Caller) {
            // However many matrices there are.
            return Ok(());
        }
        let mut buffers = SmallVec::<[Buffer<E>; 6]>::new();
        for output in self.outputs {
            buffers.push(Buffer::new(output, self.matrices)?);
        }
        let is_narrow = !matches!(dtype, DType::F64 | DType::C128);
        let precision = if is_narrow { Precision::Single } else { Precision::Double };
        let mut loaded = SmallVec::<[Scratch<E>; 3]>::new();
        for (input, source) in self.inputs.iter().zip(&*inputs) {
            loaded.push(scratch(if source.is_direct() { 0 } else { input.size })?);
        }
        for matrix in 0..self.matrices {
            for ((input, source), loaded) in self.inputs.iter().zip(&*inputs).zip(&mut loaded) {
                if !source.is_direct() && input.is_new(matrix) {
                    source.load(own(input.numbers.as_ref(), matrix) * input.size, input, loaded);
                }
            }
            compute(&mut self.part(matrix, precision, (inputs, &loaded), &mut buffers))?;
        }
        // The last integers are those that tell of failures.
        let info = buffers.iter().rev().find_map(|buffer| match buffer {
            Buffer::Integers(info) => Some(info),
            _ => None,
        });
        // Before anything is written.
        if let (Some(failure), Some(info)) = (failure, info) {
            failure.check(info)?;
        }
        let mut targets = targets.iter_mut();
        for (output, buffer) in self.outputs.iter().zip(&buffers).filter(|(output, _)| output.owner == Owner::Caller) {
            let Some(target) = targets.next() else { break };
            let turned = output.turned;
            match buffer {
                // The real parts: halves are not complex.
                Buffer::Elements(from) if *dtype == DType::F16 => {
                    target.write(|out| write(from, out, turned, |x: E| f16::from_f64(x.re()).to_bits()))
                }
                Buffer::Elements(from) if *dtype == DType::BF16 => {
                    target.write(|out| write(from, out, turned, |x: E| bf16::from_f64(x.re()).to_bits()))
                }
                Buffer::Elements(from) if is_narrow => target.write(|out| write(from, out, turned, E::narrow)),
                Buffer::Elements(from) => target.write(|out| write(from, out, turned, |x: E| x)),
                Buffer::Reals(from) if is_narrow => target.write(|out| write(from, out, turned, f64::narrow)),
                Buffer::Reals(from) => target.write(|out| write(from, out, turned, |x: f64| x)),
                Buffer::Complex(from) if is_narrow => target.write(|out| write(from, out, turned, Complex::narrow)),
                Buffer::Complex(from) => target.write(|out| write(from, out, turned, |x: Complex<f64>| x)),
                Buffer::Integers(from) if output.kind == Kind::Counts => {
                    target.write(|out| write(from, out, turned, i64::from))
                }
                Buffer::Integers(from) => target.write(|out| write(from, out, turned, |x: i32| x)),
            }?;
        }
        Ok(())
    }

    /// What belongs to one matrix.
    fn part<'a, E: Number>(
        &self,
        matrix: usize,
        precision: Precision,
        (inputs, loaded): (&'a [Source], &'a [Scratch<E>]),
        buffers: &'a mut [Buffer<E>],
    ) -> Part<'a, E> {
        let mut part = Part {
            precision,
            inputs: [&[]; 3],
            pivots: &[],
            is_first: self.inputs.first().is_none_or(|input| input.is_new(matrix)),
            elements: Default::default(),
            reals: Default::default(),
            complex: Default::default(),
            integers: Default::default(),
        };
        for (i, ((input, source), loaded)) in self.inputs.iter().zip(inputs).zip(loaded).enumerate() {
            let first = own(input.numbers.as_ref(), matrix) * input.size;
            match input.is_integer {
                true => part.pivots = &source.elements.elements()[first..][..input.size],
                false if source.is_direct() => part.inputs[i] = &source.elements.elements()[first..][..input.size],
                false => part.inputs[i] = loaded,
            }
        }
        let (mut elements, mut reals) = (part.elements.iter_mut(), part.reals.iter_mut());
        let (mut complex, mut integers) = (part.complex.iter_mut(), part.integers.iter_mut());
        for (output, buffer) in self.outputs.iter().zip(buffers) {
            let first =
                if output.owner == Owner::Device { 0 } else { own(output.numbers.as_ref(), matrix) * output.size };
            match buffer {
                Buffer::Elements(all) => place(elements.next(), &mut all[first..][..output.size]),
                Buffer::Reals(all) => place(reals.next(), &mut all[first..][..output.size]),
                Buffer::Complex(all) => place(complex.next(), &mut all[first..][..output.size]),
                Buffer::Integers(all) => place(integers.next(), &mut all[first..][..output.size]),
            }
        }
        part
    }
}

/// Writes an output: as it was computed, or with rows and columns in the other order.
fn write<F: Copy, T>(from: &[F], out: &mut [T], turned: Option<[usize; 2]>, round: impl Fn(F) -> T) -> Result<()> {
    match turned {
        None => out.iter_mut().zip(from).for_each(|(out, &x)| *out = round(x)),
        Some([rows, columns]) => {
            let size = (rows * columns).max(1);
            for (from, out) in from.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
                for (row, out) in out.chunks_exact_mut(columns).enumerate() {
                    let elements = from[row..].iter().step_by(rows);
                    out.iter_mut().zip(elements).for_each(|(out, &x)| *out = round(x));
                }
            }
        }
    }
    Ok(())
}
